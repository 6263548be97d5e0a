# SPDX-License-Identifier: BSD-3-Clause
"""Predictors of run times for the slow simulator: lists of what ended, no arrays, no links from job to job."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

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


class Boosting:
    """Gradient boosting of run time / request, whose features are looked up in lists of all jobs each time."""

    name = "naive boosting"

    def __init__(self, *, every: int, window: int, quantile: float, **trees: Any) -> None:
        self.every, self.window = every, window
        self.model = HistGradientBoostingRegressor(
            loss="quantile", quantile=quantile, early_stopping=False, random_state=0, **trees
        )
        self.submitted: list[dict[str, Any]] = []
        self.rows: dict[int, list[float]] = {}
        self.ended: list[dict[str, Any]] = []
        self.fits = 0

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Keep what ended; where a multiple of ``every`` is passed, fit to the last of them."""
        passed = [n for n in range(len(self.ended) + 1, len(self.ended) + len(ended) + 1) if n % self.every == 0]
        self.ended += ended
        if passed:
            last = self.ended[-self.window :]
            rows = np.array([self.rows[job["job_number"]] for job in last])
            rows[:, [bool(np.isnan(column).all()) for column in rows.T]] = 0.0
            self.model.fit(rows, [accuracy(job) for job in last])
            self.fits += 1

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return what the model says; before there is one, what last-model does."""
        row = self.describe(job, now)
        self.rows[job["job_number"]] = row
        self.submitted.append(job)
        if self.fits == 0:
            return float(job["requested_time"]) * (1.0 if np.isnan(row[8]) else row[8])
        return float(job["requested_time"] * self.model.predict([row])[0])

    def describe(self, job: dict[str, Any], now: float) -> list[float]:
        """Return what is known of a job."""
        nan = float("nan")
        known = job["user_id"] is not None
        before = [other for other in self.submitted if known and other["user_id"] == job["user_id"]]
        ended = [other for other in self.ended if known and other["user_id"] == job["user_id"]][::-1]
        same = [
            [other["run_time"] for other in ended if all(other[name] == job[name] for name in names)]
            for names in (["requested_time", "width"], ["executable_id"])
        ]
        if job["executable_id"] is None:
            same[1] = []
        run_times = [other["run_time"] for other in ended[:3]]
        accuracies = [accuracy(other) for other in ended[:2]]
        return [
            job["requested_time"],
            job["width"],
            nan if job["queue_id"] is None else job["queue_id"],
            now - 86400 * math.floor(now / 86400),
            math.floor(now / 86400) - 7 * math.floor(now / 604800),
            *(run_times + [nan] * 3)[:3],
            *(accuracies + [nan] * 2)[:2],
            now - ended[0]["end_time"] if ended else nan,
            now - before[-1]["submit_time"] if before else nan,
            len(before) - len(ended) if known else nan,
            len(ended) if known else nan,
            *(times[0] if times else nan for times in same),
        ]


def accuracy(job: dict[str, Any]) -> float:
    """Return how much of its request a job used."""
    return float(min(job["run_time"] / max(job["requested_time"], 1e-9), 1.0))
