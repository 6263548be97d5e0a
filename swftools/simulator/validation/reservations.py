# SPDX-License-Identifier: BSD-3-Clause
"""The reservations of conservative backfilling, recomputed from the starts that a schedule shows.

Used by ``promises.py``. A plan is a sorted list of times and of the processors in use from each until the next; it
follows what the schedule shows of running jobs and has a place for each waiting one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.simulator.instants import instant

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

STILL_WAITING, SUBMITTED, BEGUN, ENDED_SO_FAR = range(4)
"""Places in ``ReservationPlan.counts``: jobs waiting now, and those that were submitted, started and ended by now."""

FIRST, BEHIND, OVERFULL = range(3)
"""Places in ``ReservationPlan.span``: the step that lasts now, the place behind the last, and 1 if jobs have run
otherwise than planned, so that more may be planned than there is."""


class Starts(NamedTuple):
    """Jobs in order of submission, each with its one run; times in s.

    ``estimated_time`` is what the policy took the run time for; ``turn`` counts runs in the order in which they were
    started, also at one instant.
    """

    submit_time: FloatArray
    start_time: FloatArray
    end_time: FloatArray
    processors: IntArray
    estimated_time: FloatArray
    turn: IntArray


class PlanningManner(NamedTuple):
    """How a policy plans: on how many processors, in which order at one instant, and what it does at completions.

    ``submissions_first``: submissions come before completions, and each completion is an event of its own; otherwise
    all completions come first, at once. ``compresses``: waiting jobs are planned anew at completions, one by one.
    ``forgets``: where jobs ended before their plan did, the plans of all waiting jobs are forgotten before that.
    """

    processors: int
    submissions_first: bool
    compresses: bool
    forgets: bool = False


class ReservationPlan(NamedTuple):
    """The plan, and the jobs in order of start and of end; ``planned`` is NaN before the submission, -inf if void."""

    times: FloatArray
    in_use: IntArray
    span: IntArray
    planned: FloatArray
    waiting: IntArray
    by_start: IntArray
    by_end: IntArray
    counts: IntArray


def promised_starts(starts: Starts, manner: PlanningManner) -> FloatArray:
    """Return the start that each job was promised at its submission; NaN if it is wider than the machine.

    Parameters
    ----------
    starts : Starts
        In order of submission; no run ends before it starts.
    manner : PlanningManner
        How the policy plans.

    Notes
    -----
    Cost: at each completion, waiting jobs times steps of the plan (two for each running and waiting job).

    Examples
    --------
    >>> one, ten = np.ones(2, np.int64), np.array([10.0, 10.0])
    >>> starts = Starts(np.array([0.0, 1.0]), np.array([0.0, 10.0]), np.array([10.0, 20.0]), one, ten, np.arange(2))
    >>> promised_starts(starts, PlanningManner(1, submissions_first=False, compresses=True)).tolist()
    [0.0, 10.0]
    """
    jobs = len(starts.start_time)
    promised = np.full(jobs, np.nan)
    if jobs:
        plan = ReservationPlan(
            # A job has two steps at a time, and takes them out when it is planned anew; those that are over stay.
            np.full(2 * jobs + 4, -np.inf),
            np.zeros(2 * jobs + 4, np.int64),
            np.array([0, 1, 0]),
            np.full(jobs, np.nan),
            np.empty(jobs, np.int64),
            np.lexsort((starts.turn, starts.start_time)),
            np.lexsort((starts.turn, starts.end_time)),
            np.zeros(4, np.int64),
        )
        plan.span[OVERFULL] = (starts.end_time > starts.start_time + starts.estimated_time).any()
        _follow(starts, manner, plan, promised)
    return promised


@kernel(allocates=False)
def _follow(starts: Starts, manner: PlanningManner, plan: ReservationPlan, promised: FloatArray) -> None:
    """Fill ``promised``: go through the instants of the schedule, and plan those who wait."""
    jobs = len(promised)
    counts = plan.counts
    while counts[BEGUN] < jobs:
        now = starts.start_time[plan.by_start[counts[BEGUN]]]
        if counts[SUBMITTED] < jobs:
            now = min(now, starts.submit_time[counts[SUBMITTED]])
        if counts[ENDED_SO_FAR] < jobs:
            now = min(now, starts.end_time[plan.by_end[counts[ENDED_SO_FAR]]])
        _pass(plan, now)
        new = counts[SUBMITTED]
        if manner.submissions_first:
            _submit(starts, manner, plan, now)
            _end(starts, manner, plan, now)
        else:
            _end(starts, manner, plan, now)
            _submit(starts, manner, plan, now)
        for job in range(new, counts[SUBMITTED]):
            promised[job] = plan.planned[job]
        _end_at_once(starts, manner, plan, now)
        _begin(starts, plan, now)


@kernel(allocates=False)
def _submit(starts: Starts, manner: PlanningManner, plan: ReservationPlan, now: float) -> None:
    """Plan the jobs that are submitted now."""
    counts = plan.counts
    old = counts[STILL_WAITING]
    while counts[SUBMITTED] < len(starts.submit_time) and starts.submit_time[counts[SUBMITTED]] <= now:
        plan.waiting[counts[STILL_WAITING]] = counts[SUBMITTED]
        counts[STILL_WAITING] += 1
        counts[SUBMITTED] += 1
    _plan(starts, manner, plan, now, plan.waiting[old : counts[STILL_WAITING]])


@kernel(allocates=False)
def _end(starts: Starts, manner: PlanningManner, plan: ReservationPlan, now: float) -> None:
    """Take the jobs out that end now and started before; plan the waiting ones anew, after each or after all."""
    counts = plan.counts
    any_ended = is_early = False
    while counts[ENDED_SO_FAR] < len(plan.by_end):
        job = plan.by_end[counts[ENDED_SO_FAR]]
        if starts.end_time[job] > now or starts.start_time[job] == now:
            break
        is_early = is_early or now < instant(starts.start_time[job] + starts.estimated_time[job])
        _take_out(starts, plan, now, job)
        counts[ENDED_SO_FAR] += 1
        any_ended = True
        if manner.submissions_first and manner.compresses:
            _plan(starts, manner, plan, now, plan.waiting[: counts[STILL_WAITING]])
    if is_early and manner.forgets:
        _forget(starts, plan, now, -np.inf)
    if any_ended and manner.compresses and not manner.submissions_first:
        _plan(starts, manner, plan, now, plan.waiting[: counts[STILL_WAITING]])


@kernel(allocates=False)
def _end_at_once(starts: Starts, manner: PlanningManner, plan: ReservationPlan, now: float) -> None:
    """Take the jobs out that start and end now, those that the ends of others let start among them."""
    counts = plan.counts
    behind = counts[ENDED_SO_FAR]
    while behind < len(plan.by_end) and starts.end_time[plan.by_end[behind]] <= now:
        behind += 1
    any_ended = behind > counts[ENDED_SO_FAR]
    while any_ended:
        any_ended = False
        for k in range(counts[ENDED_SO_FAR], behind):
            job = plan.by_end[k]
            if -np.inf < plan.planned[job] <= now:
                _take_out(starts, plan, now, job)
                plan.planned[job] = -np.inf
                any_ended = True
        if any_ended and manner.forgets:
            _forget(starts, plan, now, now)
        if any_ended and manner.compresses:
            _plan(starts, manner, plan, now, plan.waiting[: counts[STILL_WAITING]])
    counts[ENDED_SO_FAR] = behind


@kernel(allocates=False)
def _forget(starts: Starts, plan: ReservationPlan, now: float, after: float) -> None:
    """Take the waiting jobs out that are planned for later than some time."""
    for k in range(plan.counts[STILL_WAITING]):
        job = plan.waiting[k]
        if plan.planned[job] > after:
            _take_out(starts, plan, now, job)
            plan.planned[job] = np.nan


@kernel(allocates=False)
def _begin(starts: Starts, plan: ReservationPlan, now: float) -> None:
    """Let the jobs run that start now, as planned or not; those that should have and do not have no plan any more."""
    counts = plan.counts
    while counts[BEGUN] < len(plan.by_start) and starts.start_time[plan.by_start[counts[BEGUN]]] <= now:
        job = plan.by_start[counts[BEGUN]]
        counts[BEGUN] += 1
        if plan.planned[job] != now:
            plan.span[OVERFULL] = 1
            _take_out(starts, plan, now, job)
            if starts.end_time[job] > now:
                _use(plan, now, instant(now + starts.estimated_time[job]), starts.processors[job], now)
            plan.planned[job] = now
    kept = 0
    for k in range(counts[STILL_WAITING]):
        job = plan.waiting[k]
        if starts.start_time[job] > now:
            plan.waiting[kept] = job
            kept += 1
            if plan.planned[job] <= now:
                _take_out(starts, plan, now, job)
                plan.planned[job] = -np.inf
    counts[STILL_WAITING] = kept


@kernel(allocates=False)
def _plan(starts: Starts, manner: PlanningManner, plan: ReservationPlan, now: float, jobs: IntArray) -> None:
    """Plan jobs, one by one, at the earliest time that leaves the plans of others; not those whose time has come.

    A job that has a plan holds nothing before it, and has from then on what it needs: only times before it are looked
    at, and it is taken out if there is one. Not where more is planned than there is.
    """
    for i in range(len(jobs)):
        job = jobs[i]
        room = manner.processors - starts.processors[job]
        old = plan.planned[job]
        if old <= now or room < 0:
            continue
        stays = plan.span[OVERFULL] == 0 and now < old < np.inf
        if not stays:
            _take_out(starts, plan, now, job)
        begin = _earliest(plan, now, room, starts.estimated_time[job], old if stays else np.inf)
        if stays:
            if begin == old:
                continue
            _take_out(starts, plan, now, job)
        plan.planned[job] = begin
        if begin < np.inf:
            _use(plan, begin, instant(begin + starts.estimated_time[job]), starts.processors[job], now)


@kernel(allocates=False)
def _earliest(plan: ReservationPlan, now: float, room: int, time: float, until: float) -> float:
    """Return from when on no more than ``room`` are in use for a time, or until ``until``; that itself if never."""
    times, in_use, place, behind = plan.times, plan.in_use, plan.span[FIRST], plan.span[BEHIND]
    while True:
        while place < behind and in_use[place] > room:
            place += 1
        if place == behind or times[place] >= until:
            return until
        begin = max(times[place], now)
        stop = min(instant(begin + time), until)
        while place < behind and times[place] < stop and in_use[place] <= room:
            place += 1
        if place == behind or times[place] >= stop:
            return begin


@kernel(allocates=False)
def _take_out(starts: Starts, plan: ReservationPlan, now: float, job: int) -> None:
    """Remove what is left of a job's place in the plan, be it waiting or running."""
    planned = plan.planned[job]
    if -np.inf < planned < np.inf:
        _use(plan, planned, instant(planned + starts.estimated_time[job]), -starts.processors[job], now)


@kernel(allocates=False)
def _use(plan: ReservationPlan, begin: float, end: float, processors: int, now: float) -> None:
    """Let so many processors more be in use from one time until another; of what is past by now nothing is kept."""
    if end <= now:
        return
    times, in_use, span = plan.times, plan.in_use, plan.span
    place = _step_at(plan, max(begin, now))
    if begin > times[place] and begin > now:
        place = _insert(plan, place, begin)
    first = place
    while place < span[BEHIND] and times[place] < end:
        in_use[place] += processors
        place += 1
    if place == span[BEHIND] or times[place] > end:
        if end < np.inf:
            place = _insert(plan, place - 1, end)
            in_use[place] -= processors
    elif in_use[place] == in_use[place - 1]:
        _remove(plan, place)
    if first > span[FIRST] and in_use[first] == in_use[first - 1]:
        _remove(plan, first)


@kernel(allocates=False)
def _step_at(plan: ReservationPlan, time: float) -> int:
    """Return the place of the last step that begins no later than a time, which is not past."""
    place, behind = plan.span[FIRST], plan.span[BEHIND]
    while behind - place > 1:
        middle = (place + behind) >> 1
        if plan.times[middle] <= time:
            place = middle
        else:
            behind = middle
    return place


@kernel(allocates=False)
def _insert(plan: ReservationPlan, before: int, time: float) -> int:
    """Let a step begin at a time, behind another and with as many in use; return its place."""
    times, in_use, span = plan.times, plan.in_use, plan.span
    for k in range(span[BEHIND], before + 1, -1):
        times[k], in_use[k] = times[k - 1], in_use[k - 1]
    times[before + 1], in_use[before + 1] = time, in_use[before]
    span[BEHIND] += 1
    return before + 1


@kernel(allocates=False)
def _remove(plan: ReservationPlan, place: int) -> None:
    """Take a step out of the list."""
    plan.span[BEHIND] -= 1
    for k in range(place, plan.span[BEHIND]):
        plan.times[k], plan.in_use[k] = plan.times[k + 1], plan.in_use[k + 1]


@kernel(allocates=False)
def _pass(plan: ReservationPlan, now: float) -> None:
    """Take the steps that are over by now out of the list."""
    span = plan.span
    while span[FIRST] + 1 < span[BEHIND] and plan.times[span[FIRST] + 1] <= now:
        span[FIRST] += 1
