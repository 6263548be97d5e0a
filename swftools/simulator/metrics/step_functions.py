# SPDX-License-Identifier: BSD-3-Clause
"""Step functions of time, from changes at instants: the arrays behind ``over_time`` and the measures of the machine.

A value changes only where something happens; so there is one grid of instants, and each function is an array on it.
``measure`` makes them one by one, since together they are what takes most of its memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.kernel import FloatArray, IntArray, ShortArray, kernel
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.of_runs import Stretches, stretches_of, were_plain
from swftools.simulator.schedule import contiguous

ONE = np.ones(1)
"""The amount of what is counted."""


class Changes(NamedTuple):
    """Instants at which something changes, s, rising; and the row of each among what changes, None: they are in order.

    Of equal instants the rows rise, so that sums over an instant are always made in the order of the rows.
    """

    at: FloatArray
    row: IntArray | None

    def of(self, amount: FloatArray) -> FloatArray:
        """Return an amount for each row in the order of the instants."""
        return amount if self.row is None else amount[self.row]


def changes_at(times: FloatArray) -> Changes:
    """Return changes at times that are given by rows; those of most tables rise, and are not copied."""
    if (times[1:] >= times[:-1]).all():
        return Changes(times, None)
    row = np.argsort(times, kind="stable")
    return Changes(times[row], row)


def instants_of(*times: FloatArray) -> FloatArray:
    """Return all instants, each once, rising; each of the arrays rises. Missing ones are one instant, the last."""
    found, left = times[0], list(times[1:])
    nothing = np.empty(0)
    while True:
        one, other = (left.pop(0) if left else nothing for _ in range(2))
        room = np.empty(len(found) + len(one) + len(other))  # what nobody writes to takes no memory
        found = room[: merge_instants(found, one, other, room)]
        if not left:
            return found


@kernel(allocates=False)
def merge_instants(first: FloatArray, second: FloatArray, third: FloatArray, out: FloatArray) -> int:
    """Fill ``out`` with the instants of three arrays that rise, each once, rising; return how many they are.

    Missing ones are behind all others, and one instant.
    """
    i = j = k = count = 0
    while i < len(first) or j < len(second) or k < len(third):
        now = np.nan
        if i < len(first):
            now = first[i]
        if j < len(second) and (second[j] < now or now != now):  # noqa: PLR0124 (is missing)
            now = second[j]
        if k < len(third) and (third[k] < now or now != now):  # noqa: PLR0124
            now = third[k]
        if now != now:  # noqa: PLR0124 (is missing)
            out[count] = now
            return count + 1
        out[count] = now
        count += 1
        while i < len(first) and first[i] == now:
            i += 1
        while j < len(second) and second[j] == now:
            j += 1
        while k < len(third) and third[k] == now:
            k += 1
    return count


@kernel(allocates=False)
def add_changes(times: FloatArray, at: FloatArray, amount: FloatArray, sign: float, total: FloatArray) -> None:
    """Add to ``total``, of each instant, the sum of the amounts that change at it, times the sign.

    A single amount is that of all changes. The caller guarantees that both times rise, and that all of
    ``at`` are among ``times``.
    """
    change = 0
    for instant in range(len(times)):
        now, sum_now = times[instant], 0.0
        while change < len(at) and (at[change] == now or now != now):  # noqa: PLR0124 (the last may be missing)
            sum_now += amount[change if len(amount) > 1 else 0]
            change += 1
        total[instant] += sign * sum_now


class MachineOverTime:
    """What the machine and the queue hold from each event of a schedule to the next: a step function at a time.

    Parameters
    ----------
    jobs, segments : pandas.DataFrame
        Of a schedule, or of some of its jobs; ``over_time`` says what is made of them.
    processors : int
        Size of the machine.
    demand : str
        Column of the time by which a waiting job's processors are multiplied.

    Raises
    ------
    ParameterError
        The segments lack a column, or one is of a job that is not there.
    """

    def __init__(self, jobs: pd.DataFrame, segments: pd.DataFrame, processors: int, demand: str) -> None:
        self._jobs, self._segments, self._processors, self._demand = jobs, segments, processors, demand
        is_plain = were_plain(segments)
        self._row = rows_of(segments, jobs).astype(np.int32)  # which is held for long
        start, end = (contiguous(segments, name) for name in ("start_time", "end_time"))
        self._submits = changes_at(contiguous(jobs, "submit_time"))
        self._starts, self._ends = changes_at(start), changes_at(end)
        self._odd = None if is_plain else _odd_changes(stretches_of(segments), self._row)
        others = self._odd.each() if self._odd else ()
        self.times = instants_of(*(changes.at for changes in (self._submits, self._starts, self._ends, *others)))
        self._is_queue: npt.NDArray[np.bool_] | None = None

    def values(self, name: str) -> FloatArray:
        """Return a function of ``over_time`` by its name, a value for each of ``times``."""
        if name == "utilization":
            busy = self._busy()
            return np.divide(busy, self._processors, out=busy)
        if name == "busy_processors":
            return self._busy()
        if name == "queue_length":
            return self._waiting(None)
        if name == "queued_processors":
            return self._waiting(contiguous(self._jobs, "allocated_processors"))
        if name == "queued_work":
            return self._queued_work()
        return self._wasted(name)

    def forget_ends(self) -> None:
        """Let go of what only utilization and busy processors are made of: 16 bytes a run."""
        del self._ends

    def _busy(self) -> FloatArray:
        """Return the processors that run a job."""
        busy = contiguous(self._segments, "allocated_processors")
        return self._steps((self._starts, busy, 1.0), (self._ends, busy, -1.0))

    def _waiting(self, amount: FloatArray | None) -> FloatArray:
        """Return the sum of a quantity of jobs over those that wait; of None, how many these are."""
        each = ONE if amount is None else amount
        again = (self._odd.returns, ONE if amount is None else amount[self._odd.again], 1.0) if self._odd else None
        started = ONE if amount is None else amount[self._row]
        total = self._steps((self._submits, each, 1.0), (self._starts, started, -1.0), again)
        if amount is None:
            self._is_queue = total > 0
        return total

    def _queued_work(self) -> FloatArray:
        """Return the work of those that wait: sums of times that are no whole numbers end a rounding error from 0."""
        is_queue = self._waiting(None) > 0 if self._is_queue is None else self._is_queue
        width, time = (column_of(self._jobs, name) for name in ("allocated_processors", self._demand))
        work = np.multiply(width, time, out=width if width.flags.owndata else None)
        total = self._waiting(work)
        np.maximum(total, 0.0, out=total)
        total[~is_queue] = 0.0
        return total

    def _wasted(self, name: str) -> FloatArray:
        """Return the processors that do lost work, or none yet."""
        if self._odd is None:
            return self._zeros()
        odd, lost = self._odd, name == "lost_processors"
        busy = odd.lost if lost else odd.late
        begin, end = (odd.lost_begin, odd.lost_end) if lost else (odd.late_begin, odd.late_end)
        return self._steps((begin, busy, 1.0), (end, busy, -1.0))

    def _zeros(self) -> FloatArray:
        """Return zeros, a value for each of ``times``, with room for one more before them: see ``mean_of_steps``."""
        return np.zeros(len(self.times) + 1)[1:]

    def _steps(self, *changes: tuple[Changes, FloatArray, float] | None) -> FloatArray:
        """Return the running sum of changes: when, how much of each row, or of all, and its sign."""
        total = self._zeros()
        for at, amount, sign in filter(None, changes):
            add_changes(self.times, at.at, amount if amount is ONE else at.of(amount), sign, total)
        return np.cumsum(total, out=total)


class _Odd(NamedTuple):
    """What runs bring along that were stopped, lost work, or had overhead.

    When stopped jobs wait again, and which; the processors of the stretches of lost work and of overhead, and when
    these begin and end.
    """

    returns: Changes
    again: ShortArray
    lost: FloatArray
    lost_begin: Changes
    lost_end: Changes
    late: FloatArray
    late_begin: Changes
    late_end: Changes

    def each(self) -> tuple[Changes, ...]:
        """Return all changes."""
        return self.returns, self.lost_begin, self.lost_end, self.late_begin, self.late_end


def _odd_changes(runs: Stretches, row: ShortArray) -> _Odd:
    """Return what changes beside starts and ends; ``row`` is the job of each run."""
    lost, late, stopped = runs.lost > 0, runs.overhead > 0, runs.is_stopped
    start, end, busy, overhead = runs.start, runs.end, runs.processors, runs.overhead
    return _Odd(
        changes_at(end[stopped]),
        row[stopped],
        busy[lost],
        changes_at(start[lost] + overhead[lost] + runs.useful[lost]),
        changes_at(end[lost]),
        busy[late],
        changes_at(start[late]),
        changes_at(start[late] + overhead[late]),
    )
