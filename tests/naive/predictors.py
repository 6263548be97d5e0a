"""Predictors of run times for the slow simulator: lists of what ended, no arrays, no links from job to job."""

from __future__ import annotations

from collections import defaultdict

from tests.naive.simulator import END, OUTLIVED, SUBMISSION, Job, Observer, State

MINUTES = [1, 5, 15, 30, 60, 2 * 60, 5 * 60, 10 * 60, 20 * 60, 50 * 60, 100 * 60]
"""By what Tsafrir, Etsion and Feitelson raise predictions that were too short, one after the other."""


def user_average(count: int = 2) -> Observer:
    """Return a predictor: the mean of the user's last so many run times, once there are so many."""
    ended: dict[int, list[float]] = defaultdict(list)

    def observe(event: str, state: State, job: Job) -> None:
        last = ended[job.user][-count:]
        if event == SUBMISSION and job.user >= 0 and len(last) == count:
            state.predict(job, sum(last) / count)
        elif event == END:
            ended[job.user].append(job.run)

    return observe


def with_increments(observer: Observer) -> Observer:
    """Return a predictor that says the same, and raises what is outlived little by little."""
    left: dict[Job, list[int]] = defaultdict(lambda: list(MINUTES))

    def observe(event: str, state: State, job: Job) -> None:
        observer(event, state, job)
        if event == OUTLIVED and job.user >= 0 and job.estimate < job.limit:
            state.predict(job, job.estimate + 60.0 * left[job].pop(0) if left[job] else job.limit)

    return observe
