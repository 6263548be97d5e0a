# SPDX-License-Identifier: BSD-3-Clause
"""When jobs of a schedule were kept back by limits of Slurm: of their associations, and of QOS.

Where policy ``slurm`` made the schedule, its reasons tell it. Else the limits that the machine's ``slurm`` has are
tried against what ran at each instant: a job is limited while it and the running jobs that count with it would exceed
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.allocations import machine_of
from swftools.simulator.logged import LOGGED
from swftools.simulator.metrics.columns import rows_of
from swftools.simulator.schedule import Schedule, contiguous

if TYPE_CHECKING:
    from swftools.simulator.metrics.slurm_limits import Limit

_HAVE_LIMITS = frozenset({"", LOGGED, "slurm"})
"""Policies of schedules in which Slurm's limits held; simulated ones know none, and what has no name may be Slurm's."""

_SMALL = 1e-9
"""Of amounts, which may be fractions."""


class Times(NamedTuple):
    """Times of jobs: the row of each in ``schedule.jobs``, from when to when, s. Of one job they do not overlap."""

    job: IntArray
    begin: FloatArray
    end: FloatArray


def limited_times(schedule: Schedule, begin: FloatArray, end: FloatArray) -> Times:
    """Return when jobs were kept back by limits, between two times of each, s.

    Limits of what has been used (``GrpTRESMins``), and those of a single job, are not tried.
    """
    if "wait_reasons" in schedule.notes:
        return _united(_of_notes(schedule), begin, end)
    if machine_of(schedule).slurm is None or schedule.policy not in _HAVE_LIMITS:
        return _united([], begin, end)
    return _united(_of_limits(schedule, begin, end), begin, end)


def unlimited_parts(limited: Times, begin: FloatArray, end: FloatArray) -> Times:
    """Return the rest of the time between two times of each job, s."""
    jobs = np.arange(len(begin))
    # What is left begins at the first time, or where one that is taken ends; and ends where the next one begins.
    job = np.concatenate([jobs, limited.job])
    low, high = np.concatenate([begin, limited.end]), np.concatenate([limited.begin, end])
    by_low, by_high = np.lexsort((low, job)), np.lexsort((high, np.concatenate([limited.job, jobs])))
    job, low, high = job[by_low], low[by_low], high[by_high]
    some = low < high
    return Times(job[some], low[some], high[some])


def _united(found: list[Times], begin: FloatArray, end: FloatArray) -> Times:
    """Return times without overlaps, cut at two times of each job."""
    empty = Times(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    job, low, high = (np.concatenate(columns) for columns in zip(empty, *found, strict=True))
    low, high = np.maximum(low, begin[job]), np.minimum(high, end[job])
    some = low < high
    order = np.lexsort((low[some], job[some]))
    job, low, high = (each[some][order] for each in (job, low, high))
    if not len(job):
        return empty
    until = pd.Series(high).groupby(job).cummax().to_numpy()
    is_new = np.ones(len(job), bool)
    is_new[1:] = (job[1:] != job[:-1]) | (low[1:] > until[:-1])
    first = np.flatnonzero(is_new)
    return Times(job[first], low[first], until[np.append(first[1:], len(job)) - 1])


def _of_notes(schedule: Schedule) -> list[Times]:
    """Return when the policy's own reasons were limits."""
    told = schedule.notes["wait_reasons"]
    told = told[told["reason"].isin(limit_reasons())]
    row = rows_of(told, schedule.jobs)
    return [Times(row, told["begin"].to_numpy(np.float64), told["end"].fillna(np.inf).to_numpy(np.float64))]


def limit_reasons() -> frozenset[str]:
    """Return Slurm's names of reasons that are limits: of associations, QOS and arrays."""
    from swftools.simulator.slurm.reasons import REASON_NAMES  # noqa: PLC0415 (where such a policy ran only)

    return frozenset(REASON_NAMES.values()) - {"None", "Resources", "Priority", "BeginTime"}


def _of_limits(schedule: Schedule, begin: FloatArray, end: FloatArray) -> list[Times]:
    """Return when limits of the machine's ``slurm`` stood against jobs, each by itself."""
    from swftools.simulator.metrics.slurm_limits import limits_of  # noqa: PLC0415 (where Slurm has limits only)

    runs = contiguous(schedule.segments, "start_time"), contiguous(schedule.segments, "end_time")
    row = rows_of(schedule.segments, schedule.jobs)
    waits = begin < end
    return [
        times
        for limit in limits_of(schedule, row)
        if (limit.stands & waits[limit.counts]).any()
        for times in _over(limit, row, *runs, begin, end)
    ]


def _over(
    limit: Limit, row: IntArray, start: FloatArray, stop: FloatArray, begin: FloatArray, end: FloatArray
) -> Iterator[Times]:
    """Yield when a limit stood against jobs, of each group and amount that waits."""
    group = np.full(len(begin), -1, np.int64)
    group[limit.counts] = limit.group
    stands = np.zeros(len(begin), bool)
    stands[limit.counts] = limit.stands
    waiting = np.flatnonzero(stands & (begin < end))
    of_run = group[row]
    for place in np.unique(group[waiting]):
        run, own = np.flatnonzero(of_run == place), waiting[group[waiting] == place]
        amount = limit.amount[row[run]]
        times, inverse = np.unique(np.concatenate([start[run], stop[run]]), return_inverse=True)
        used = np.cumsum(np.bincount(inverse, np.concatenate([amount, -amount]), len(times)).astype(np.float64))
        if used.max(initial=0.0) + limit.amount[own].max() <= limit.most + _SMALL:
            continue
        for asked in np.unique(limit.amount[own]):
            jobs = own[limit.amount[own] == asked]
            low, high = _steps_above(times, used, limit.most - asked + _SMALL)
            first = np.searchsorted(high, begin[jobs], "right")
            many = np.maximum(np.searchsorted(low, end[jobs], "left") - first, 0)
            at = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)
            yield Times(np.repeat(jobs, many), low[at], high[at])


def _steps_above(times: FloatArray, values: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return from when to when a step function is above a level; before its first time it is 0."""
    is_above = np.concatenate([[level < 0.0], values > level])
    change = np.flatnonzero(is_above[1:] != is_above[:-1])
    begins, ends = times[change[is_above[1:][change]]], times[change[~is_above[1:][change]]]
    if is_above[0]:
        begins = np.concatenate([[-np.inf], begins])
    if is_above[-1]:
        ends = np.concatenate([ends, [np.inf]])
    return begins, ends
