# SPDX-License-Identifier: BSD-3-Clause
"""The cluster that one is asked about, brought up to date: what ``learn`` does to it, without what is compiled.

Loading numba takes longer than all that ``swftools predict`` does. So the few jobs that had not started when a state
was saved are learnt here, one by one; ``tests/qbets/test_predict_wait.py`` compares with the replay, job by job.
"""

from __future__ import annotations

from bisect import insort

import numpy as np

from swftools.kernel import FloatArray
from swftools.qbets.change_points import (
    RECENT,
    RareEvents,
    correlation_of_neighbours,
    misses_in_a_row,
    normal_scores,
)
from swftools.qbets.known_queue import KnownHistory


class AskedCluster:
    """A cluster of a history, with what it keeps.

    Parameters
    ----------
    history : KnownHistory
        Of the queue.
    x : float
        The explanatory variable of the job that is asked about.
    least : int
        Values that are kept where it is trimmed; 0: it never is.
    table : RareEvents
        How many misses in a row tell a change.

    Attributes
    ----------
    place : int
        Its number.
    kept, known : int
        How many values it keeps, and how many it ever had.
    was_kept : int
        How many it kept when the state was saved.
    first_time : float
        When the first value that it keeps became known, s; NaN before any.
    new : list of float
        The values learnt here that it keeps, s, in order.
    is_renewed : bool
        Whether it was trimmed here: then it keeps ``newest()`` and no other.
    """

    def __init__(self, history: KnownHistory, x: float, least: int, table: RareEvents) -> None:
        self.ends = history.end
        self.place = self.cluster_of(x)
        self.least, self.table = least, table
        self.kept, self.known = int(history.kept[self.place]), int(history.known[self.place])
        self.was_kept = self.kept
        self.first_time = float(history.first_time[self.place])
        self.new: list[float] = []
        self.is_renewed = False
        self._is_trimmed = bool(history.since[self.place] > 0)
        self._misses, self._calm = int(history.misses[self.place]), int(history.calm[self.place])
        self._draining = int(history.draining[self.place])
        rows = slice(None) if not len(history.x) else np.searchsorted(self.ends[:-1], history.x) == self.place
        newest = max(least, RECENT)
        self._values: list[float] = history.value[rows][-newest:].tolist()
        self._times: list[float] = history.time[rows][-newest:].tolist()

    @property
    def is_trimmed(self) -> bool:
        """Whether it has forgotten values."""
        return self.kept < self.known

    def cluster_of(self, x: float) -> int:
        """Return the cluster that a value of the explanatory variable belongs to."""
        return int(np.searchsorted(self.ends[:-1], x))

    def newest(self) -> list[float]:
        """Return the values that it keeps, if it was trimmed here, in order."""
        return self._values[-self.kept :]

    def learn(self, wait: float, told: float, time: float) -> None:
        """Learn the wait of a job of this cluster, which was told a bound (NaN: none), at a time; all in s."""
        is_missed = wait > told
        self._misses = self._misses + 1 if is_missed else 0
        if 0 < self.least <= self.kept:
            trims = self._draining > 0
            self._draining -= trims
            if is_missed and self._is_change():
                trims = True
                self._calm, self._draining = 0, self.least
            if trims and self.kept > self.least:
                self.kept, self.first_time = self.least, self._times[-self.least]
                self.is_renewed = self._is_trimmed = True
        if self.kept == 0:
            self.first_time = time
        self._values.append(wait)
        self._times.append(time)
        self.new.append(wait)
        self.kept += 1
        self.known += 1
        self._calm += 1

    def _is_change(self) -> bool:
        """Whether the misses tell a change, and it has not been trimmed just before."""
        if self._misses < self.table.misses[0]:
            return False
        count = min(self.kept, RECENT)
        newest, room = np.array(self._values[-count:]), np.zeros(RECENT)
        # They call no other kernel, so that they run as they are written.
        correlation = correlation_of_neighbours.py_func(newest, count, normal_scores(), room)
        enough = misses_in_a_row.py_func(correlation, self.table)
        return self._misses >= enough and (not self._is_trimmed or self._calm > self.least - enough)


def kept_waits(cluster: AskedCluster, state: FloatArray) -> list[float]:
    """Return the waits that a cluster keeps, s, in rising order, given those that it kept when it was saved."""
    if cluster.is_renewed:
        return sorted(cluster.newest())
    waits: list[float] = np.sort(state).tolist()
    for wait in cluster.new:
        insort(waits, wait)
    return waits
