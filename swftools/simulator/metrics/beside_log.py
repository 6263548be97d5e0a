# SPDX-License-Identifier: BSD-3-Clause
"""The log's own schedule beside a simulated one, over the same jobs; how far they are apart, and what may be why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.dictionary import SWF_NAMES
from swftools.kernel import BoolArray, FloatArray
from swftools.output.amounts import counted, duration, percent
from swftools.simulator.logged import logged_schedule
from swftools.simulator.metrics.columns import rows_of
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

FACTOR = 1.5
"""By which mean or median wait may differ without a word."""

SMALL = 60.0
"""s: a smaller difference says nothing."""

GAP = 4 * 3600.0
"""s without a start, although somebody waits, which are told."""

IN_USE = 0.5
"""The share of the machine that may be in use meanwhile: with more jobs may just be long."""

BEGINNING, ENOUGH = 86_400.0, 10
"""s from the first submission, a twentieth of the log at most, whose jobs are looked at by themselves: so many."""

UNTOLD = ("wasted_load", "preemptions")
"""Measures that a log does not tell: of the runs of a job it has the last one."""

_KEYS = ["job_number", "job_occurrence"]
GROUPED = ("eligible_time", "account", "qos")
"""Columns of a log that its own schedule on a pool keeps beside those of SWF, to be measured by groups."""


class BesideLog(NamedTuple):
    """A simulated schedule beside that of the log.

    Parameters
    ----------
    logged : Schedule
        What the log tells, with jobs that are not simulated.
    is_shared : numpy.ndarray of bool, shape (jobs of logged,)
        Which of its jobs the simulated schedule has too.
    sentence : str
        What differs, and what may be why; empty if mean and median wait differ by less than ``FACTOR``.
    """

    logged: Schedule
    is_shared: BoolArray
    sentence: str

    @property
    def shared(self) -> Schedule:
        """What the log tells of the jobs that the simulated schedule has too."""
        jobs, runs = self.logged.jobs, self.logged.segments
        own = jobs[self.is_shared].reset_index(drop=True)
        kept = runs[self.is_shared[rows_of(runs, jobs)]].reset_index(drop=True)
        return replace(self.logged, jobs=own, segments=kept)


def beside_log(schedule: Schedule, trace: Trace) -> BesideLog | None:
    """Return the schedule that a log tells beside a simulated one; None if the log tells none of these jobs.

    Parameters
    ----------
    schedule : Schedule
        Of the trace, at the times of the log: with another load nothing can be set beside it.
    trace : Trace
        The log. Where it does not say on which nodes jobs ran, its schedule is one on a pool of as many processors.
    """
    logged = logged_of(schedule, trace)
    if logged is None:
        return None
    both = (
        logged.jobs[_KEYS]
        .assign(row=np.arange(len(logged)))
        .merge(schedule.jobs[_KEYS].assign(place=np.arange(len(schedule))), on=_KEYS)
    )
    if not len(both):
        return None
    is_shared = np.zeros(len(logged), np.bool_)
    is_shared[both["row"]] = True
    return BesideLog(logged, is_shared, _sentence(schedule, logged, both, trace))


def logged_of(schedule: Schedule, trace: Trace) -> Schedule | None:
    """Return the schedule that a log tells, on the machine of a simulated one; None if it tells no starts."""
    if schedule.machine is not None:
        try:
            return logged_schedule(trace, schedule.machine)
        except ParameterError:
            pass  # it names no nodes, or others
    kept = [name for name in trace.jobs if name in SWF_NAMES or name in GROUPED]
    pool = replace(trace.with_jobs(trace.jobs[kept]), machine_processors=schedule.processors)
    if schedule.machine is not None:
        pool = _in_partitions(pool, [each.name for each in schedule.machine.partitions])
    try:
        return logged_schedule(pool)
    except ParameterError:
        return None


def _in_partitions(trace: Trace, names: list[str]) -> Trace:
    """Return a log in the partitions of a machine, where its queues are these (as Slurm's are), and its own are not."""
    known = trace.known_names
    of_log = [{*known.get(kind, {}).values()} for kind in ("partition", "queue")]
    if not of_log[0].isdisjoint(names) or of_log[1].isdisjoint(names):
        return trace
    kind = trace.names["kind"]
    told = [trace.names[kind != "partition"], trace.names[kind == "queue"].assign(kind="partition")]
    jobs = trace.jobs.assign(partition_id=trace.jobs["queue_id"])
    return replace(trace.with_jobs(jobs), names=pd.concat(told, ignore_index=True))


def _sentence(schedule: Schedule, logged: Schedule, both: pd.DataFrame, trace: Trace) -> str:
    """Return what is said of two schedules; nothing where they are near."""
    of_log, simulated = (
        each.jobs["wait_time"].to_numpy(np.float64)[both[place]]
        for each, place in ((logged, "row"), (schedule, "place"))
    )
    pairs = [("mean", float(simulated.mean()), float(of_log.mean()))]
    pairs.append(("median", float(np.median(simulated)), float(np.median(of_log))))
    told = [
        f"the {name} wait is {duration(own)}, by the log {duration(other)}"
        for name, own, other in pairs
        if _are_far(own, other)
    ]
    if not told:
        return ""
    is_shorter = any(own < other for _, own, other in pairs if _are_far(own, other))
    why = [*_reasons(logged, both, trace, simulated, of_log, is_shorter=is_shorter)]
    other = f"the log tells no reason: its scheduler had other rules or limits than {schedule.policy or 'this one'}"
    return f"{' and '.join(told)}: {'; '.join(why) or other}"


def _are_far(own: float, other: float) -> bool:
    low, high = sorted((own, other))
    return high > FACTOR * low and high - low >= SMALL


def _reasons(
    logged: Schedule,
    both: pd.DataFrame,
    trace: Trace,
    simulated: FloatArray,
    of_log: FloatArray,
    *,
    is_shorter: bool,
) -> Iterator[str]:
    """Yield what the log tells of why a simulation may differ from it; ``is_shorter``: with shorter waits."""
    lacks = int((~(trace.views.requested_time > 0)).sum())
    if lacks > 0.05 * len(trace):
        yield f"{percent(lacks, len(trace))} of the jobs request no time, and are planned with their run times"
    if not is_shorter:
        return  # what follows only lets jobs wait less than they did
    if (left := len(logged) - len(both)) > 0:
        yield f"{counted(left, 'job')} that ran by the log {'is' if left == 1 else 'are'} left out"
    submit = logged.jobs["submit_time"].to_numpy(np.float64)[both["row"]]
    first = submit <= submit.min() + min(BEGINNING, 0.05 * float(np.ptp(submit)))
    early, own = float(of_log[first].mean()), float(simulated[first].mean())
    if first.sum() >= ENOUGH and own < early / 4.0 and early >= max(SMALL, 0.5 * float(of_log.mean())):
        yield (
            f"the first {first.sum():,} jobs waited {duration(early)} by the log, and {duration(own)} on a machine "
            "that is empty at the start"
        )
    gaps = gaps_of(logged)
    if len(gaps):
        longest = int(np.argmax(gaps[:, 1] - gaps[:, 0]))
        begin, hours = gaps[longest, 0], float((gaps[:, 1] - gaps[:, 0]).sum())
        yield (
            f"{counted(len(gaps), 'time')} nobody started in the log though jobs waited and half of the machine was "
            f"free ({duration(hours)} in all, the longest from {begin:,.0f} s on): it may have been down, or reserved"
        )


def gaps_of(logged: Schedule) -> npt.NDArray[np.float64]:
    """Return when nobody started for ``GAP`` seconds, though somebody waited and ``IN_USE`` of the machine was free.

    Returns
    -------
    numpy.ndarray of float64, shape (gaps, 2)
        Begin and end of each, s.
    """
    jobs = logged.jobs
    start, end, submit = (jobs[name].to_numpy(np.float64) for name in ("start_time", "end_time", "submit_time"))
    width = jobs["allocated_processors"].to_numpy(np.float64)
    order = np.argsort(start, kind="stable")
    start, submit, started = start[order], submit[order], np.cumsum(width[order])
    by_end = np.argsort(end, kind="stable")
    ended = np.concatenate(([0.0], np.cumsum(width[by_end])))
    at = np.flatnonzero(np.diff(start) >= GAP)
    earliest = np.minimum.accumulate(submit[::-1])[::-1]  # of all who start then, or later
    busy = started[at] - ended[np.searchsorted(end[by_end], start[at + 1], side="right")]
    is_gap = (earliest[at + 1] <= start[at]) & (busy <= IN_USE * logged.processors)
    return np.column_stack([start[at], start[at + 1]])[is_gap]
