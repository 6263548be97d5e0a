# SPDX-License-Identifier: BSD-3-Clause
"""The validator's promises once more, by trying every time: heads that are delayed, and starts that are promised."""

from __future__ import annotations

import numpy as np

from swftools.simulator.validation.reservations import Starts


def naive_delayed_heads(starts: Starts, processors: int, one_decision: bool) -> list[int]:
    """Return the jobs that start later than the reservation they got as head, by trying every time."""
    late = []
    jobs = range(len(starts.start_time))
    for head in jobs:
        since = max([starts.submit_time[head], *starts.start_time[:head]])
        if starts.start_time[head] <= since:
            continue
        at_once = any(starts.start_time[j] == since == starts.end_time[j] for j in jobs)
        events = sum(starts.end_time[j] == since for j in jobs) + sum(starts.submit_time[j] == since for j in jobs)
        known = not at_once and (one_decision or events == 1)
        running = [
            j
            for j in jobs
            if (
                starts.start_time[j] < since
                and (starts.end_time[j] > since or (starts.end_time[j] == since and not known))
            )
            or (starts.start_time[j] == since and (j < head or not known))
        ]
        ends = {j: max(since, starts.start_time[j] + starts.estimated_time[j]) for j in running}
        for time in sorted({since, *ends.values()}):
            busy = sum(starts.processors[j] for j in running if ends[j] > time)
            # At the time of the decision itself nobody has gone yet.
            busy = busy if time > since else sum(starts.processors[j] for j in running)
            enough = busy + starts.processors[head] <= processors
            if time == since and not enough:
                busy = sum(starts.processors[j] for j in running if ends[j] > time)
                enough = busy + starts.processors[head] <= processors
            if enough:
                if starts.start_time[head] > time + 1e-6:
                    late.append(head)
                break
    return late


def naive_idle_heads(starts: Starts, processors: int) -> dict[int, float]:
    """Return the first waiting jobs that wait though they fit, and since when, by a look at every instant."""
    jobs = range(len(starts.start_time))
    idle: dict[int, float] = {}
    for head in jobs:
        begin, end = max([starts.submit_time[head], *starts.start_time[:head]]), starts.start_time[head]
        instants = {begin, *starts.start_time, *starts.end_time}
        for time in sorted(float(instant) for instant in instants if begin <= instant < end):
            busy = sum(starts.processors[j] for j in jobs if starts.start_time[j] <= time < starts.end_time[j])
            if busy + starts.processors[head] <= processors:
                idle[head] = time
                break
    return idle


def naive_promises(starts: Starts, processors: int, compresses: bool) -> list[float]:
    """Return what each job is promised, with a plan that is a list of intervals; no run of no length."""
    jobs = range(len(starts.start_time))
    plan: dict[int, tuple[float, float]] = {}
    promised = [np.nan] * len(starts.start_time)

    def earliest(job: int, now: float) -> tuple[float, float]:
        taken = [(*plan[other], starts.processors[other]) for other in plan if other != job]
        for begin in sorted({now, *(end for _, end, _ in taken if end > now)}):
            end = begin + starts.estimated_time[job]
            times = {begin, *(other for other, _, _ in taken if begin <= other < end)}
            in_use = [sum(width for b, e, width in taken if b <= time < e) for time in times]
            if max(in_use) + starts.processors[job] <= processors:
                return begin, end
        raise AssertionError

    for now in sorted({*starts.submit_time, *starts.start_time, *starts.end_time}):
        ended = [job for job in plan if starts.end_time[job] == now]
        for job in ended:
            del plan[job]
        if ended and compresses:
            for job in sorted(plan):
                if plan[job][0] > now:
                    plan[job] = earliest(job, now)
        for job in jobs:
            if starts.submit_time[job] == now:
                plan[job] = earliest(job, now)
                promised[job] = plan[job][0]
    return promised


def naive_lost_work(runs: list[tuple[float, str]], interval: float) -> list[float]:
    """Return what was lost of each run of a job, given (work, ended_by) in order: a pile, from which the last is taken.

    ``interval`` is NaN for a job that writes no checkpoints.
    """
    pile: list[list[float]] = []  # run, work of it that is kept
    for run, (work, ended_by) in enumerate(runs):
        pile.append([run, work])
        done = sum(kept for _, kept in pile)
        keeps = done
        if ended_by == "killed":
            keeps = 0.0
        elif ended_by == "checkpointed":
            keeps = 0.0 if np.isnan(interval) else max(n * interval for n in range(1000) if n * interval <= done)
        excess = done - keeps
        while pile and excess > 0:
            taken = min(excess, pile[-1][1])
            pile[-1][1] -= taken
            excess -= taken
            if pile[-1][1] == 0:
                pile.pop()
    kept = dict.fromkeys(range(len(runs)), 0.0) | {int(run): work for run, work in pile}
    return [work - kept[run] for run, (work, _) in enumerate(runs)]
