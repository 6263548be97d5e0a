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


def pairs(ones: Sequence[Any], others: Sequence[Any], each: int = 2) -> list[Any]:
    """Return all pairs as parameters: by day so many of each one, with which each of the others comes about as often.

    All other pairs are slow tests.
    """
    found = []
    for place, one in enumerate(ones):
        by_day = {(place + step * len(others) // each) % len(others) for step in range(each)}
        for number, other in enumerate(others):
            marks = () if number in by_day else (pytest.mark.slow,)
            found.append(pytest.param(one, other, marks=marks, id=f"{one}-{other}"))
    return found
