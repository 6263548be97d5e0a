# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a job at its submission, as numbers: what it asks for, when, and how its user's jobs ended."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from swftools.simulator.predictors.kinds import FloatArray

NAN = float("nan")

DAY = 86_400.0

FEATURES = (
    *("request", "width", "queue", "time_of_day", "day_of_week"),
    *("last_run_time", "run_time_before", "run_time_before_that", "last_accuracy", "accuracy_before"),
    *("since_last_end", "since_last_submission", "jobs_not_ended", "jobs_ended"),
    *("run_time_of_same_request", "run_time_of_same_executable"),
)
"""The columns, in order. Times are in s; those of day and week are counted from second 0 of the log, weeks in days.

The last run times, accuracies (run time / request) and the rest are the user's; ``run_time_of_same_request`` is that of
the last job which ended and asked for as many processors for as long. NaN where there is none, and of unknown users.
"""


class User(NamedTuple):
    """What is known of a user; those of which there are several with the last first."""

    run_times: tuple[float, float, float] = (NAN, NAN, NAN)
    accuracies: tuple[float, float] = (NAN, NAN)
    last_end: float = NAN
    last_submission: float = NAN
    submitted: int = 0
    ended: int = 0


class UserHistory:
    """The users' pasts, by what a predictor in Python is told; a copy costs as much as there are users."""

    def __init__(self) -> None:
        self._users: dict[int, User] = {}
        self._run_times: dict[Hashable, float] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> UserHistory:
        """Return a copy; what is in the tables is never changed, only replaced."""
        other = copy.copy(self)
        other._users, other._run_times = dict(self._users), dict(self._run_times)
        return other

    def submit(self, job: Mapping[str, Any], now: float) -> FloatArray:
        """Return the features of a job that is being submitted, from then on one of its user's."""
        user = user_of(job)
        known = User() if user is None else self._users.get(user, User())
        alike = [NAN if key is None else self._run_times.get(key, NAN) for key in _kinds_of(job)]
        has_one = user is not None
        row = (
            *(job["requested_time"], job["width"], _number(job.get("queue_id"))),
            *(now % DAY, now // DAY % 7),
            *known.run_times,
            *known.accuracies,
            *(now - known.last_end, now - known.last_submission),
            *((known.submitted - known.ended, known.ended) if has_one else (NAN, NAN)),
            *alike,
        )
        if user is not None:
            self._users[user] = known._replace(last_submission=now, submitted=known.submitted + 1)
        return np.array(row, dtype=np.float64)

    def end(self, job: Mapping[str, Any]) -> None:
        """Take note of a job that has ended."""
        user = user_of(job)
        if user is None:
            return
        known, run_time = self._users[user], float(job["run_time"])
        self._users[user] = known._replace(
            run_times=(run_time, *known.run_times[:2]),
            accuracies=(accuracy_of(job), known.accuracies[0]),
            last_end=job["end_time"],
            ended=known.ended + 1,
        )
        for key in _kinds_of(job):
            if key is not None:
                self._run_times[key] = run_time


def accuracy_of(job: Mapping[str, Any]) -> float:
    """Return run time / request of a job that has ended; 1 of one that ran longer."""
    return float(min(job["run_time"] / max(job["requested_time"], 1e-9), 1.0))


def user_of(job: Mapping[str, Any]) -> int | None:
    """Return the user of a job; None where unknown."""
    user = job.get("user_id")
    return None if user is None or user < 0 else int(user)


def _kinds_of(job: Mapping[str, Any]) -> tuple[Hashable | None, Hashable | None]:
    """Return as what a job is like others of its user: by its request, and by its executable."""
    user, executable = user_of(job), job.get("executable_id")
    if user is None:
        return None, None
    by_request = ("request", user, job["requested_time"], job["width"])
    return by_request, None if executable is None or executable < 0 else ("executable", user, executable)


def _number(value: Any) -> float:
    """Return a number that may be missing."""
    return NAN if value is None or value < 0 else float(value)
