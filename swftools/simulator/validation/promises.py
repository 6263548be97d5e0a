# SPDX-License-Identifier: BSD-3-Clause
"""What policies promise of every schedule, recomputed from the schedule alone.

A promise is held against the starts that a schedule shows, whichever simulator made it; nothing here is shared with the
engine or a policy. ``swftools.simulator.validation.report`` calls this, after the rules that hold for every schedule.

References
----------
Mu'alem and Feitelson 2001, "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM
SP2 with backfilling", section 2 (EASY: the head's reservation; conservative: everyone's).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import ShortArray, kernel
from swftools.simulator.validation.in_use import in_order
from swftools.simulator.validation.reservations import PlanningManner, Starts, promised_starts

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

LEAST_PLAN = 1.0
"""Seconds for which conservative backfilling plans a job whose estimate is 0: until then it holds its processors in the
plan, or until it ends."""


def planned_times(estimated: FloatArray) -> FloatArray:
    """Return how long jobs are planned under conservative backfilling, s."""
    return np.where(estimated > 0, estimated, LEAST_PLAN)


class Broken(NamedTuple):
    """Promises that are not kept: of which jobs (places in ``Starts``), and by when they were to start.

    Of the promises ``made``, a job that outlived its estimate frees the policy from those that are ``excused``. Where
    there are very many, only so many were ``looked_at``.
    """

    job: IntArray
    latest: FloatArray
    made: int
    excused: int
    looked_at: int | None = None


def find_out_of_order(starts: Starts, tolerance: float) -> Broken:
    """Find jobs that start before one that was submitted earlier; ``latest`` is the start of that one.

    Parameters
    ----------
    starts : Starts
        In order of submission.
    tolerance : float
        Seconds by which times may be off.
    """
    earlier = _latest_before(starts.start_time)
    job = np.flatnonzero(starts.start_time < earlier - tolerance)
    return Broken(job, earlier[job], len(starts.start_time), 0)


def find_idle_heads(starts: Starts, processors: int, tolerance: float) -> Broken:
    """Find first waiting jobs that wait although enough processors are free; ``latest`` is the first such moment.

    Parameters
    ----------
    starts : Starts
        In order of submission.
    processors : int
        Size of the machine.
    tolerance : float
        Seconds by which times may be off; processors that are free no longer do not count.
    """
    head_since = np.maximum(starts.submit_time, _latest_before(starts.start_time))
    heads = np.flatnonzero(starts.start_time > head_since + tolerance)
    latest = np.full(len(heads), np.nan)
    orders = in_order(starts.start_time), in_order(starts.end_time)
    _first_fits(starts, heads, head_since[heads], *orders, processors, tolerance, latest)
    wrong = np.flatnonzero(~np.isnan(latest))
    return Broken(heads[wrong], latest[wrong], len(heads), 0)


@kernel(allocates=False)
def _first_fits(
    starts: Starts,
    heads: IntArray,
    since: FloatArray,
    by_start: ShortArray,
    by_end: ShortArray,
    processors: int,
    tolerance: float,
    latest: FloatArray,
) -> None:
    """Fill ``latest`` with the first moment, before it starts, from which on each head fits for longer than tolerated.

    The caller guarantees that no head is the first before the one that stands before it has started. Ends come before
    starts at one instant; runs that end no later than they start take nothing.
    """
    started = ended = used = 0
    for i in range(len(heads)):
        now, stop = since[i], starts.start_time[heads[i]]
        while now < stop:
            while started < len(by_start) and starts.start_time[by_start[started]] <= now:
                job = by_start[started]
                used += starts.processors[job] if starts.end_time[job] > starts.start_time[job] else 0
                started += 1
            while ended < len(by_end) and starts.end_time[by_end[ended]] <= now:
                job = by_end[ended]
                used -= starts.processors[job] if starts.end_time[job] > starts.start_time[job] else 0
                ended += 1
            following = min(stop, starts.start_time[by_start[started]])  # there is one: the head's own, at least
            if ended < len(by_end):
                following = min(following, starts.end_time[by_end[ended]])
            if following - now > tolerance and used + starts.processors[heads[i]] <= processors:
                latest[i] = now
                break
            now = following


def find_delayed_heads(
    starts: Starts, processors: int, tolerance: float, *, one_decision: bool, at_every_start: bool
) -> Broken:
    """Find first waiting jobs that start later than their reservation; ``latest`` is the reservation.

    The reservation is the earliest time at which enough processors are free if the jobs that run when the job becomes
    the first, and is blocked, end as estimated. Jobs that overtake it at that moment do not count: none may delay it.

    Parameters
    ----------
    starts : Starts
        In order of submission.
    processors : int
        Size of the machine.
    tolerance : float
        Seconds by which times may be off.
    one_decision : bool
        Whether the policy decides once an instant, after all its completions and submissions. If not, then of instants
        with several events it is not known what ran when the job was blocked, and all that can have run counts.
    at_every_start : bool
        Hold the job also against the reservation at each instant at which another overtakes it; by then jobs may have
        ended early.

    Notes
    -----
    A job that runs longer than estimated frees the policy: promises that were open while it ran are excused.
    Cost: reservations times running jobs.
    """
    head_since = np.maximum(starts.submit_time, _latest_before(starts.start_time))
    heads = np.flatnonzero(starts.start_time > head_since + tolerance)
    by_start = in_order(starts.start_time)
    head, time = heads, head_since[heads]
    if at_every_start:
        overtaking = np.unique(starts.start_time)
        first = np.searchsorted(overtaking, time, side="right")
        count = np.searchsorted(overtaking, starts.start_time[heads], side="left") - first
        head = np.repeat(heads, count)
        place = np.arange(len(head)) + np.repeat(first - (np.cumsum(count) - count), count)
        time = overtaking[place]
    latest = np.empty(len(head))
    _reserve(starts, processors, head, time, _is_known(starts, time, one_decision), by_start, latest)
    outlived = starts.end_time > starts.start_time + starts.estimated_time + tolerance
    begun = np.searchsorted(np.sort(starts.start_time[outlived]), starts.start_time[head], side="left")
    over = np.searchsorted(np.sort(starts.end_time[outlived]), time, side="left")
    excused = begun > over
    wrong = (starts.start_time[head] > latest + tolerance) & ~excused
    return _first_of_each(Broken(head[wrong], latest[wrong], len(head), int(excused.sum())))


def find_broken_reservations(starts: Starts, manner: PlanningManner, tolerance: float) -> Broken:
    """Find jobs that start later than conservative backfilling promised at their submission; ``latest`` is the promise.

    Every job is planned at its submission, at the earliest time that leaves the plans of others as they are, as long as
    estimated. At every completion those who wait are planned anew, one by one in order of submission, each at the
    earliest time that leaves the plans of the others as they are. A policy that forgets its plans promises a job only
    what holds as long as no job ends before its plan does while that one waits.

    Parameters
    ----------
    starts : Starts
        In order of submission.
    manner : PlanningManner
        How the policy plans.
    tolerance : float
        Seconds by which times may be off.

    Notes
    -----
    From the first moment at which a job runs longer than estimated all promises are excused. Jobs without a length are
    planned for ``LEAST_PLAN``, or they would keep nobody away; so they end before their plans do.
    """
    planned = starts._replace(estimated_time=planned_times(starts.estimated_time))
    promised = promised_starts(planned, manner)
    estimated_end = starts.start_time + starts.estimated_time
    outlived = starts.end_time > estimated_end + tolerance
    late = starts.start_time > promised + tolerance
    since = estimated_end[outlived].min(initial=np.inf)
    excused = starts.start_time > since
    if manner.forgets:
        early = np.sort(starts.end_time[starts.end_time < starts.start_time + planned.estimated_time - tolerance])
        by_then = np.searchsorted(early, starts.start_time, side="right")
        excused |= by_then > np.searchsorted(early, starts.submit_time, side="left")
    wrong = np.flatnonzero(late & ~excused)
    return Broken(wrong, promised[wrong], len(promised), int(excused.sum()))


def _first_of_each(broken: Broken) -> Broken:
    """Return the first broken promise of each job; those of a job stand together."""
    first = np.diff(broken.job, prepend=-1) > 0
    return broken._replace(job=broken.job[first], latest=broken.latest[first])


def _latest_before(time: FloatArray) -> FloatArray:
    """Return of each job the latest time of those before it."""
    latest = np.full(len(time), -np.inf)
    latest[1:] = np.maximum.accumulate(time)[:-1]
    return latest


def _is_known(starts: Starts, times: FloatArray, one_decision: bool) -> BoolArray:
    """Return of which times it is known what ran before the decision, since there was but one."""

    def count(of: FloatArray) -> IntArray:
        ordered = np.sort(of)
        left, right = (np.searchsorted(ordered, times, side=side) for side in ("left", "right"))
        return np.asarray(right - left, dtype=np.int64)

    at_once = count(starts.end_time[starts.end_time <= starts.start_time])  # after these there is another decision
    if one_decision:
        return np.asarray(at_once == 0)
    return np.asarray((count(starts.end_time) + count(starts.submit_time) == 1) & (at_once == 0))


@kernel
def _reserve(
    starts: Starts,
    processors: int,
    heads: IntArray,
    since: FloatArray,
    known: BoolArray,
    by_start: ShortArray,
    latest: FloatArray,
) -> None:
    """Fill ``latest`` with the reservation of each head at a time; times must increase.

    Keeps the jobs that started no later than that time and did not end before, in order of estimated end.
    """
    running = np.empty(len(by_start), np.int32)
    expected = starts.start_time + starts.estimated_time
    count, begun = 0, 0
    for i in range(len(heads)):
        head, now = heads[i], since[i]
        kept = 0
        for k in range(count):
            if starts.end_time[running[k]] >= now:
                running[kept] = running[k]
                kept += 1
        count = kept
        while begun < len(by_start) and starts.start_time[by_start[begun]] <= now:
            job = by_start[begun]
            begun += 1
            if starts.end_time[job] < now:
                continue
            place = count
            while place > 0 and expected[running[place - 1]] > expected[job]:
                running[place] = running[place - 1]
                place -= 1
            running[place] = job
            count += 1
        free = processors
        for k in range(count):
            if _counts(starts, running[k], head, now, known[i]):
                free -= starts.processors[running[k]]
        latest[i] = now
        k = 0
        while free < starts.processors[head] and k < count:
            if _counts(starts, running[k], head, now, known[i]):
                free += starts.processors[running[k]]
                latest[i] = max(expected[running[k]], now)
            k += 1
        if free < starts.processors[head]:
            latest[i] = np.inf  # wider than the machine


@kernel
def _counts(starts: Starts, job: int, head: int, now: float, known: bool) -> bool:
    """Whether a job runs before the decision: not if it has just ended, or overtakes the head just now."""
    if not known:
        return True
    if starts.start_time[job] == now:
        return job < head
    return starts.end_time[job] > now
