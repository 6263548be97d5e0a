# SPDX-License-Identifier: BSD-3-Clause
"""The percentile that reservations ask for: that of the target, or one that adapts to how many were met.

References
----------
Gibbs and Candes 2021, "Adaptive conformal inference under distribution shift", equation 2: each miss asks for a higher
quantile from then on, each reservation that was met for a slightly lower one.

Differs from the paper
    A reservation tells whether it was met when it starts, or when it should have: long after others were planned. The
    level stays between .01 and .99: beyond, nobody would be accepted, and nothing learnt any more.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.reservations.start_table import MOST, least_percent


class AskedPercent:
    """The percentile of each group.

    Parameters
    ----------
    probability : float
        The target.
    rate : float
        By how much the level moves at a reservation whose outcome becomes known; 0: it stays.
    groups : int
        How many there are.

    Attributes
    ----------
    version : int
        Raised whenever a percentile may have changed.
    """

    def __init__(self, probability: float, rate: float, groups: int) -> None:
        self.probability, self.rate, self.version = probability, rate, 0
        self.level = np.full(groups, probability)
        self._open = np.zeros(0, np.int64)

    def of(self, group: int) -> int:
        """Return the percentile that jobs of a group ask for."""
        return least_percent(float(self.level[group]))

    def submitted(self, job: int) -> None:
        """Take in that a job with a reservation is submitted; nothing is asked of it where the level stays."""
        if self.rate > 0.0:
            self._open = np.append(self._open, job)

    def settle(self, now: float, group: IntArray, start_by: FloatArray, begin: FloatArray) -> None:
        """Learn of the reservations whose outcome is known now: they started, or should have before.

        Parameters
        ----------
        now : float
            In s.
        group, start_by, begin : ndarray
            Of all jobs: group, when each is to run, and when it started, s; NaN where it has not.
        """
        if not len(self._open):
            return
        starts, due = begin[self._open], start_by[self._open]
        is_over = ~np.isnan(starts) | (due < now)
        if not is_over.any():
            return
        met = starts[is_over] <= due[is_over]
        for place, is_met in zip(group[self._open[is_over]].tolist(), met.tolist(), strict=True):
            level = self.level[place] + self.rate * (self.probability - is_met)
            self.level[place] = min(max(level, 0.01), MOST / 100.0)
        self._open = self._open[~is_over]
        self.version += 1
