# SPDX-License-Identifier: BSD-3-Clause
"""Where a history ends: at the last submission, unless it is one of few that stand far behind all others.

A wrong date would else put the end of the history into a year in which nothing happens, and all that is told of the
last days would be of nothing. No clock decides what is far: a version follows from files and settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

FEW = 0.01
"""Share of the jobs before a gap, below which those behind it are taken for wrongly dated."""


class Month(NamedTuple):
    """First and last submission of the jobs of a month, in seconds of the history, and how many there are."""

    first: float
    last: float
    jobs: int


class Horizon(NamedTuple):
    """Where a history ends, and the jobs that are dated behind that: how many, and the first submission of them."""

    until: float
    jobs_behind: int = 0
    first_behind: float | None = None


def horizon_of(months: Sequence[Month], longest_gap: float) -> Horizon:
    """Return where a history ends.

    Parameters
    ----------
    months : sequence of Month
        Those that have jobs, in order.
    longest_gap : float
        Seconds, at least those of a month: few jobs behind a longer time without submissions do not count.

    Examples
    --------
    >>> day = 86_400.0
    >>> horizon_of([Month(0.0, 30 * day, 5_000), Month(900 * day, 900 * day, 2)], 365 * day)
    Horizon(until=2592000.0, jobs_behind=2, first_behind=77760000.0)
    """
    before = 0
    every = sum(month.jobs for month in months)
    for month, following in pairwise(months):
        before += month.jobs
        if following.first - month.last > longest_gap and every - before < FEW * before:
            return Horizon(month.last, every - before, following.first)
    return Horizon(months[-1].last if months else 0.0)
