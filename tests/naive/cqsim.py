# SPDX-License-Identifier: BSD-3-Clause
"""CQSim, restated from what is known of it: seconds as places of an array, one event after the other.

Completions come before submissions of the same second, those of jobs that started earlier first. A decision follows
each event: it starts jobs in order up to the first that does not fit, then plans that one and those behind it. Of
running jobs it expects that they run as long as requested; of waiting ones it knows the run time, and plans with it,
also of those that start by this very plan. Jobs that run longer than requested are stopped then; jobs of no run time do
not come at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Job(NamedTuple):
    """A job; whole seconds."""

    submit: int
    width: int
    run: int
    request: int


def simulate_as_cqsim(jobs: Sequence[Job], processors: int, *, conservative: bool) -> list[int | None]:
    """Return when each job starts, given in order of submission; None for those that CQSim drops."""
    jobs = [job._replace(run=min(job.run, job.request)) for job in jobs]
    starts: list[int | None] = [None] * len(jobs)
    coming = [number for number, job in enumerate(jobs) if job.run > 0]
    waiting: list[int] = []
    running: list[int] = []  # in order of start

    def end_of(number: int) -> int:
        start = starts[number]
        assert start is not None
        return start + jobs[number].run

    while coming or running:
        first = min(running, key=end_of, default=None)  # of equal ends the first of the list
        if first is not None and (not coming or end_of(first) <= jobs[coming[0]].submit):
            now = end_of(first)
            running.remove(first)
        else:
            now = jobs[coming[0]].submit
            waiting.append(coming.pop(0))
        free = processors - sum(jobs[number].width for number in running)
        room = _room(jobs, starts, running, now, processors, jobs_ahead=waiting)
        is_blocked = False
        for number in list(waiting):
            job = jobs[number]
            if job.width <= free and (not is_blocked or (room[: job.run] >= job.width).all()):
                starts[number] = now
                free -= job.width
                waiting.remove(number)
                running.append(number)
                # What goes ahead of the first that has to wait is planned in one go with it, by run time still.
                room[: job.run if is_blocked else job.request] -= job.width
            elif conservative or not is_blocked:
                begin = _earliest(room, job)
                room[begin : begin + job.run] -= job.width
                is_blocked = True
    return starts


def _room(
    jobs: Sequence[Job],
    starts: Sequence[int | None],
    running: Sequence[int],
    now: int,
    processors: int,
    *,
    jobs_ahead: Sequence[int],
) -> npt.NDArray[np.int64]:
    """Return how many processors are expected to be free in each second from now on, as long as it can matter."""
    ends = [(starts[number] or 0) + jobs[number].request - now for number in running]
    length = max([0, *ends]) + sum(jobs[number].run + jobs[number].request for number in jobs_ahead) + 1
    room = np.full(length, processors, dtype=np.int64)
    for number, end in zip(running, ends, strict=True):
        room[: max(end, 0)] -= jobs[number].width
    return room


def _earliest(room: npt.NDArray[np.int64], job: Job) -> int:
    """Return the first second from which on a job has room as long as it runs."""
    lacking = np.concatenate([[0], np.cumsum(room < job.width)])
    return int(np.flatnonzero(lacking[job.run :] == lacking[: len(lacking) - job.run])[0])
