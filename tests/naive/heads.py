# SPDX-License-Identifier: BSD-3-Clause
"""Blocked heads of a schedule, the slow obvious way: at every instant all jobs are looked at, and then all times."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from swftools.simulator.schedule import Schedule

Key = tuple[int, int]


@dataclass(eq=False)
class Run:
    """A run; ``expected`` and ``limit`` are its ends by estimate and by request; ``following`` is what it became."""

    start: float
    end: float
    width: int
    how: str
    expected: float = math.nan
    limit: float = math.nan
    following: Run | None = None
    is_start: bool = True


@dataclass(eq=False)
class Job:
    """A job and its runs by start."""

    key: Key
    submit: float
    runs: list[Run] = field(default_factory=list)

    def waits(self, now: float) -> bool:
        """Whether it is submitted, does not run, and has a run to come."""
        runs_now = any(run.start <= now < run.end for run in self.runs)
        return self.submit <= now and not runs_now and any(run.start > now for run in self.runs)


class Head(NamedTuple):
    """The last stint of a job as the blocked head; None where there is no such time."""

    blocked_since: float
    start_time: float
    start_alone: float | None
    start_without_later: float | None
    reservation: float | None


def naive_heads(schedule: Schedule) -> dict[Key, Head]:
    """Return the blocked heads by job number and occurrence."""
    jobs = _jobs(schedule)
    instants = {job.submit for job in jobs} | {t for job in jobs for run in job.runs for t in (run.start, run.end)}
    looks: list[tuple[float, Job | None]] = []
    for now in sorted(instants):
        waiting = [job for job in jobs if job.waits(now)]
        looks.append((now, waiting[0] if waiting else None))
    heads = {}
    for head, stint in groupby(looks, key=lambda look: look[1]):
        if head is None:
            continue
        times = [now for now, _ in stint]
        begin = times[0]
        # A run of no time in the midst of it is no end of the waiting.
        start = min(run.start for run in head.runs if run.start > times[-1])
        width = next(run.width for run in head.runs if run.start > begin)
        ahead = jobs[: jobs.index(head)]
        running = [(job, run) for job in jobs for run in job.runs if run.start <= begin < run.end]
        higher = [run for job, run in running if job in ahead]
        earlier = [run for job, run in running if job in ahead or _began(job, run) < begin]
        expected = [(begin, _expected(run, begin), run.width) for _, run in running]
        room = schedule.processors - width
        heads[head.key] = Head(
            begin,
            start,
            _first_fit(begin, [part for run in higher for part in _holds(run)], room),
            _first_fit(begin, [part for run in earlier for part in _holds(run)], room),
            _first_fit(begin, expected, room),
        )
    return heads


def _first_fit(begin: float, held: list[tuple[float, float, int]], room: int) -> float | None:
    """Return the first time at which no more than so many processors are held."""
    for time in sorted({begin, *(end for _, end, _ in held)}):
        if sum(width for start, end, width in held if start <= time < end) <= room and time >= begin:
            return time if time < math.inf else None
    return None


def _holds(run: Run) -> list[tuple[float, float, int]]:
    """Return what a run holds from when to when, and what it holds after it was resized."""
    rest = _holds(run.following) if run.following else []
    return [(run.start, run.end, run.width), *rest]


def _began(job: Job, run: Run) -> float:
    """Return when the job started that was only resized since."""
    return max(other.start for other in job.runs if other.is_start and other.start <= run.start)


def _expected(run: Run, now: float) -> float:
    """Return when a running job is expected to end."""
    if run.expected > now:
        return run.expected
    return max(run.limit, now)


def _jobs(schedule: Schedule) -> list[Job]:
    """Return the jobs in order of priority."""
    jobs = []
    rows = [dict(row) for _, row in schedule.jobs.iterrows()]
    for row in sorted(rows, key=lambda row: (row["submit_time"], row["job_number"], row["job_occurrence"])):
        key = (row["job_number"], row["job_occurrence"])
        job = Job(key, row["submit_time"])
        of_job = [
            dict(run) for _, run in schedule.segments.iterrows() if (run["job_number"], run["job_occurrence"]) == key
        ]
        of_job.sort(key=lambda run: run["start_time"])
        done = 0.0
        for segment in of_job:
            run = Run(
                segment["start_time"], segment["end_time"], int(segment["allocated_processors"]), segment["ended_by"]
            )
            before = job.runs[-1] if job.runs else None
            if before and before.how == "resized" and before.end == run.start:
                before.following, run.is_start = run, False
            _expect(run, row, segment, done)
            done = _kept(row, segment, done)
            job.runs.append(run)
        jobs.append(job)
    return jobs


def _expect(run: Run, row: dict[str, Any], segment: dict[str, Any], done: float) -> None:
    """Say when a run is expected to end that goes on from some work."""
    request = row["requested_time"]
    work = row.get("estimated_time", request)
    if done > 0 and work <= done:
        work = max(request, done)
    slow = (run.end - run.start - segment["overhead"]) / segment["work"] if segment["work"] > 0 else 1.0
    slow = 1.0 if math.isclose(slow, 1.0, rel_tol=1e-9) else slow
    run.expected = run.start + (segment["overhead"] + (work - done) * slow)
    run.limit = run.start + (segment["overhead"] + (request - done) * slow)


def _kept(row: dict[str, Any], segment: dict[str, Any], done: float) -> float:
    """Return the work that is kept after a run."""
    done += segment["work"]
    if segment["ended_by"] == "killed":
        return 0.0
    if segment["ended_by"] == "checkpointed":
        interval = row["checkpoint_interval"]
        return math.floor(done / interval) * interval if interval > 0 else 0.0
    return float(done)
