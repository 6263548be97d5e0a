# SPDX-License-Identifier: BSD-3-Clause
"""Gradient boosting: a quantile of how much of its request a job uses, by trees fitted to the jobs that ended last.

What it knows of a job at its submission is ``FEATURES``. A quantile of run time / request, times the request, is that
of the run time; of the targets tried, among them the run time and its logarithm, this one was the nearest. Until the
first fit policies are told what ``last-model`` says. Nothing is drawn: histograms are made of all jobs of the window.
Fits and predictions take one thread, because sums in several threads round differently.

References
----------
Koenker and Bassett 1978 (the loss); Friedman 2001 (boosting); Ke et al. 2017, LightGBM, after which scikit-learn made
the histogram trees that are used here; Gaussier et al. 2015, "Improving backfilling by using machine learning to
predict running times", for most of the features.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from swftools.parameters import Parameters, number, whole
from swftools.simulator.predictors.kinds import FloatArray
from swftools.simulator.predictors.registry import python_predictor

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


ALL = 200_000
"""scikit-learn makes histograms of no more jobs, and draws them from a larger window."""


LAST_ACCURACY = FEATURES.index("last_accuracy")


@dataclass(frozen=True)
class GradientBoostingParameters(Parameters):
    """Parameters of ``gradient-boosting``.

    Parameters
    ----------
    every : int
        How many jobs end before the first fit, and between two fits.
    window : int
        How many jobs to fit to, at most: those that ended last.
    quantile : float
        The quantile of the run time to predict.
    trees : int
        How many trees a model has.
    leaves : int
        How many leaves a tree has at most.
    least_in_leaf : int
        How many jobs each leaf has at least.
    learning_rate : float
        How much each tree contributes.
    """

    every: int = whole(1000, least=2)
    window: int = whole(20_000, least=2, most=ALL)
    quantile: float = number(0.5, above=0, most=1 - 1e-9)
    trees: int = whole(50, least=1, most=10_000)
    leaves: int = whole(31, least=2, most=10_000)
    least_in_leaf: int = whole(20, least=1)
    learning_rate: float = number(0.2, above=0, most=1)


@python_predictor("gradient-boosting", parameters=GradientBoostingParameters, version=1)
class GradientBoosting:
    """Predict by trees that were fitted to the jobs that ended so far."""

    name: str

    def __init__(self, parameters: GradientBoostingParameters | None = None) -> None:
        self.parameters = parameters or GradientBoostingParameters()
        self.fits = 0
        self._history = UserHistory()
        self._going: dict[Hashable, list[FloatArray]] = {}  # the features of jobs that have not ended
        self._ended = 0
        self._rows = np.empty((self.parameters.window, len(FEATURES)))
        self._accuracies = np.empty(self.parameters.window)
        self._trees: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> GradientBoosting:
        """Return a copy that learns by itself; trees and features are never changed, so it has the same."""
        other = copy.copy(self)
        other._history = copy.deepcopy(self._history, memo)
        other._going = {key: list(rows) for key, rows in self._going.items()}
        other._rows, other._accuracies = self._rows.copy(), self._accuracies.copy()
        return other

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Take note of jobs that ended, in order of end; fit if there are enough new ones."""
        before = self._ended
        for job in ended:
            self._history.end(job)
            going = self._going[_key(job)]
            place = self._ended % self.parameters.window  # of the oldest
            self._rows[place], self._accuracies[place] = going.pop(0), accuracy_of(job)
            self._ended += 1
            if not going:
                del self._going[_key(job)]
        if before // self.parameters.every != self._ended // self.parameters.every:
            self._fit()

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return the expected run time, s."""
        row = self._history.submit(job, now)
        self._going.setdefault(_key(job), []).append(row)
        if self._trees is None:
            last = row[LAST_ACCURACY]
            return float(job["requested_time"] * (1.0 if np.isnan(last) else last))
        with _one_thread():
            return float(job["requested_time"] * self._trees.predict(row[np.newaxis])[0])

    def _fit(self) -> None:
        """Fit trees to the jobs of the window."""
        from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 (takes half a second)

        chosen = self.parameters
        trees = HistGradientBoostingRegressor(
            loss="quantile",
            quantile=chosen.quantile,
            max_iter=chosen.trees,
            max_leaf_nodes=chosen.leaves,
            min_samples_leaf=chosen.least_in_leaf,
            learning_rate=chosen.learning_rate,
            early_stopping=False,
            random_state=0,
        )
        places = np.arange(max(self._ended - chosen.window, 0), self._ended) % chosen.window
        rows = self._rows[places]
        # scikit-learn takes no column in which all is missing; one that is constant parts no leaf.
        known = np.where(np.isnan(rows).all(axis=0), 0.0, rows)
        with _one_thread():
            self._trees = trees.fit(known, self._accuracies[places])
        self.fits += 1


def _key(job: Mapping[str, Any]) -> Hashable:
    """Return by what a job is found again when it has ended; two with one key are taken in order of submission."""
    return job.get("job_number"), job.get("job_occurrence"), job["submit_time"]


def _one_thread() -> Any:
    """Return a context in which scikit-learn's trees take one thread."""
    return _threads().limit(limits=1, user_api="openmp")


@cache
def _threads() -> Any:
    """Return what sets numbers of threads; made when scikit-learn is loaded, because it looks up libraries once."""
    import sklearn.ensemble  # noqa: F401, PLC0415 (loads OpenMP, and takes half a second)
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 (as above)

    return ThreadpoolController()
