# SPDX-License-Identifier: BSD-3-Clause
"""How much is tried by day and at night: examples that Hypothesis draws, and pairs of what can be combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings


def examples(share: float) -> settings:
    """Return settings with so many times the examples of the profile: fewer where each takes long."""
    return settings(max_examples=max(round(share * settings.default.max_examples), 1))


def by_day(values: Sequence[Any], count: int) -> list[Any]:
    """Return all values as parameters: so many by day, spread evenly over all from the first on; the others are slow.

    A value that is a tuple stands for several parameters.
    """
    here = {place * len(values) // count for place in range(count)}
    found = []
    for number, value in enumerate(values):
        several = value if isinstance(value, tuple) else (value,)
        found.append(pytest.param(*several, marks=() if number in here else (pytest.mark.slow,)))
    return found


def pairs(ones: Sequence[Any], others: Sequence[Any], each: int = 2) -> list[Any]:
    """Return all pairs as parameters: by day so many of each one, with which each of the others comes about as often.

    All other pairs are slow tests.
    """
    found = []
    for place, one in enumerate(ones):
        here = {(place + step * len(others) // each) % len(others) for step in range(each)}
        for number, other in enumerate(others):
            marks = () if number in here else (pytest.mark.slow,)
            found.append(pytest.param(one, other, marks=marks, id=f"{one}-{other}"))
    return found
