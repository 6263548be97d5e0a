# SPDX-License-Identifier: BSD-3-Clause
"""Which of the simulated jobs wait for which: what the engine is handed, and what is said of the rest.

A job that waits is eligible when all that it waits for have ended and its think time is over, and no earlier than it is
submitted; until then no policy sees it. A job that is not simulated keeps others waiting until its logged end; if that
is not known, not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.dependencies import Dependencies, find_dependencies, latest_of, logged_ends
from swftools.output.amounts import counted
from swftools.parameters.choices import FOLLOW
from swftools.simulator.instants import ROUNDING, TICKS
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]


class Dependent(NamedTuple):
    """The jobs that wait for others, among those simulated; without any row where no job waits.

    Parameters
    ----------
    pending : numpy.ndarray of int32, shape (jobs,)
        How many simulated jobs must end before each.
    ready : numpy.ndarray of float64, shape (jobs,)
        The earliest time at which those that are not simulated let it start, s; 0 where there are none.
    first : numpy.ndarray of int64, shape (jobs + 1,)
        Where those that wait for each job begin in ``successor``.
    successor : numpy.ndarray of int32
        The jobs that wait, grouped by the job that they wait for, in order.
    think_time : numpy.ndarray of float64
        s from the end of that job until each may start, as far as it depends on that.
    told : tuple of str
        What the run assumes of dependencies, in words.
    """

    pending: ShortArray
    ready: FloatArray
    first: IntArray
    successor: ShortArray
    think_time: FloatArray
    told: tuple[str, ...] = ()


def find_dependent(trace: Trace, row: npt.NDArray[np.integer], dependencies: str = FOLLOW) -> Dependent:
    """Return which of the simulated jobs wait for which.

    Parameters
    ----------
    trace : Trace
        See ``swftools.dependencies.find_dependencies``.
    row : numpy.ndarray of int, shape (jobs,)
        The rows of the trace that are simulated, in order of submission, job number and occurrence.
    dependencies : {"follow", "ignore"}
        Whether jobs wait for others.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], submit_time=[0, 5, 9], preceding_job_number=[-1, 1, 1])
    >>> found = find_dependent(trace, np.arange(3))
    >>> found.pending, found.first, found.successor
    (array([0, 1, 1], dtype=int32), array([0, 2, 2, 2]), array([1, 2], dtype=int32))
    """
    found = find_dependencies(trace)
    if not len(found.waiting) and not len(found.gone):
        return none_wait(_words_of_left_out(found))
    job = np.full(len(trace), -1, np.int64)
    job[row] = np.arange(len(row))
    waits = job[found.waiting] >= 0
    waiting, before, think = found.waiting[waits], found.before[waits], found.think_time[waits]
    gone = job[found.gone] >= 0
    is_dependent = np.zeros(len(trace), np.bool_)
    is_dependent[waiting] = is_dependent[found.gone[gone]] = True
    dependent = int(is_dependent.sum())
    if not dependent or dependencies != FOLLOW:
        return none_wait(_words_of_ignored(found, dependent, len(row)))
    is_simulated = job[before] >= 0
    own, other = job[waiting[is_simulated]], job[before[is_simulated]]
    order = np.argsort(other, kind="stable")
    outside = ~is_simulated
    ends = logged_ends(trace)[before[outside]] if outside.any() else np.zeros(0)
    is_known = np.isfinite(ends)
    until = latest_of(len(trace), waiting[outside][is_known], (ends + think[outside])[is_known])
    until = np.maximum(until, latest_of(len(trace), found.gone[gone], (found.gone_end + found.gone_think_time)[gone]))
    told = _words(found, dependent, len(row), int(is_known.sum() + gone.sum()), int((~is_known).sum()))
    return Dependent(
        np.bincount(own, minlength=len(row)).astype(np.int32),
        _rounded(until[row]),
        np.searchsorted(other[order], np.arange(len(row) + 1)),
        own[order].astype(np.int32),
        think[is_simulated][order],
        tuple(told),
    )


def none_wait(told: Iterable[str]) -> Dependent:
    """Return what there is where no job waits, or none is to; and what is said of that."""
    shorts, floats = np.zeros(0, np.int32), np.zeros(0)
    return Dependent(shorts, floats, np.zeros(0, np.int64), shorts, floats, tuple(told))


def not_before(dependent: Dependent, ready: FloatArray) -> Dependent:
    """Return the same where jobs may start no earlier than some times, s; NaN: at their submission."""
    times = np.nan_to_num(ready, nan=0.0)
    if not (times > 0.0).any():
        return dependent
    if not len(dependent.pending):
        nobody = np.zeros(len(ready), np.int32)
        dependent = dependent._replace(
            pending=nobody, ready=np.zeros(len(ready)), first=np.zeros(len(ready) + 1, np.int64)
        )
    return dependent._replace(ready=np.maximum(dependent.ready, _rounded(times)))


def _rounded(time: FloatArray) -> FloatArray:
    """Return sums of times as ``instants.instant`` would have them."""
    nearest = np.rint(time * TICKS) / TICKS
    return np.where(np.abs(nearest - time) <= ROUNDING * np.abs(time), nearest, time)


def _words(found: Dependencies, dependent: int, jobs: int, at_end: int, at_once: int) -> Iterator[str]:
    """Yield what is followed, and how far."""
    few = f"{dependent:,} of {jobs:,} jobs wait for others"
    yield f"{few}: they are eligible when these have ended and their think time is over (dependencies=follow)"
    if at_end or at_once:
        ways = [(at_end, "count as ended at their logged end"), (at_once, "as ended at once")]
        told = ", ".join(f"{count:,} {what}" for count, what in ways if count)
        yield f"jobs that others wait for and that are not simulated: {told}"
    yield from _words_of_left_out(found)


def _words_of_ignored(found: Dependencies, dependent: int, jobs: int) -> Iterator[str]:
    """Yield how many jobs would wait."""
    if dependent:
        few = f"{dependent:,} of {jobs:,} jobs depend on another"
        yield f"{few}: dependencies (preceding_job_number, think_time) are ignored"
    else:
        yield from _words_of_left_out(found)


def _words_of_left_out(found: Dependencies) -> Iterator[str]:
    """Yield what means nothing."""
    if found.dummy is not None:
        yield f"preceding_job_number is {found.dummy} in every row, which says nothing: no job waits for it"
    if found.left_out:
        told = ", ".join(f"{count:,} {_of_one(why) if count == 1 else why}" for why, count in found.left_out.items())
        total = counted(sum(found.left_out.values()), "dependency")
        yield f"{total} left out: {told}"


def _of_one(why: str) -> str:
    """Return in words what one name does that several ``name`` or ``lead``."""
    verb, rest = why.split(" ", 1)
    return f"{verb}s {rest}"
