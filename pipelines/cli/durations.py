# SPDX-License-Identifier: BSD-3-Clause
"""Times of a command line."""

from __future__ import annotations

import math
from typing import Any

import click

from swftools.parameters.durations import seconds_of


class Duration(click.ParamType):  # type: ignore[type-arg]  # as of which version it takes any
    """A time, in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return its seconds; fail if it is none."""
        if isinstance(value, int | float):
            return float(value)
        seconds = seconds_of(value)
        if seconds is None or not math.isfinite(seconds):
            self.fail(f"{value!r} is not a time such as 90 (seconds), 30m, 4h, 04:00:00 or 1-12:00:00", param, ctx)
        return seconds
