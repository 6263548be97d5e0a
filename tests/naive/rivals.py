# SPDX-License-Identifier: BSD-3-Clause
"""What could be known at a submission, as one would write it down: every job looks at every other one."""

from __future__ import annotations

import math
from typing import NamedTuple


class Job(NamedTuple):
    """A job, in order of submission; None is not known. ``leave`` is when it leaves the queue."""

    submit: float
    leave: float | None
    wait: float | None
    end: float | None
    requested_time: float | None
    processors: float | None
    user: float | None
    group: str

    @property
    def work(self) -> float:
        """What it requests, processor-seconds."""
        return (self.requested_time or 0.0) * (self.processors or 0.0)


def known_waits(jobs: list[Job], number: int) -> list[int]:
    """Return the jobs whose waits are known when a job is submitted, in order of their starts."""
    now = jobs[number].submit
    found = [(job.leave, other) for other, job in enumerate(jobs[:number]) if job.wait is not None and job.leave <= now]
    return [other for _, other in sorted(found)]


def last_waits(waits: list[float]) -> dict[str, float]:
    """Return the last wait, and mean and longest of the last ten."""
    if not waits:
        return {"last_wait": math.nan, "mean_wait": math.nan, "longest_wait": math.nan}
    return {"last_wait": waits[-1], "mean_wait": sum(waits[-10:]) / len(waits[-10:]), "longest_wait": max(waits[-10:])}


def features(jobs: list[Job], number: int) -> dict[str, float | str]:
    """Return what is known of a job, by name; hour and weekday are left out."""
    one, before = jobs[number], jobs[:number]
    now = one.submit
    waiting = [job for job in before if job.leave is not None and job.leave > now]
    running = [job for job in before if job.wait is not None and job.leave <= now and (job.end or 0.0) > now]
    known = [jobs[other] for other in known_waits(jobs, number)]
    of_group = [job for job in waiting if job.group == one.group]
    started = [job.leave for job in known if job.group == one.group]
    found: dict[str, float | str] = {
        "requested_time": math.nan if one.requested_time is None else one.requested_time,
        "processors": math.nan if one.processors is None else one.processors,
        "requested_work": math.nan if None in (one.requested_time, one.processors) else one.work,
        "waiting_jobs": len(waiting),
        "waiting_processors": sum(job.processors or 0.0 for job in waiting),
        "waiting_work": sum(job.work for job in waiting),
        "running_jobs": len(running),
        "running_processors": sum(job.processors or 0.0 for job in running),
        "running_work": sum(
            (job.processors or 0.0) * max(job.leave + job.requested_time - now, 0.0)
            for job in running
            if job.requested_time is not None
        ),
        "group_waiting_jobs": len(of_group),
        "group_waiting_work": sum(job.work for job in of_group),
        "group_longest_waiting": max((now - job.submit for job in of_group), default=0.0),
        "group_since_start": now - max(started) if started else math.nan,
        "user_waiting_jobs": math.nan if one.user is None else sum(job.user == one.user for job in waiting),
        "group": one.group,
    }
    waits = [job.wait for job in known if job.group == one.group]
    found |= {f"group_{name}": value for name, value in last_waits(waits).items()}
    waits = [job.wait for job in known if job.user == one.user] if one.user is not None else []
    return found | {f"user_{name}": value for name, value in last_waits(waits).items()}
