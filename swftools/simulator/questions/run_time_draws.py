# SPDX-License-Identifier: BSD-3-Clause
"""How long jobs may run that run or wait now, drawn from how wrong a predictor was of jobs that have ended.

A predictor's prediction times an error: run time / prediction of an ended job of the same user, or of anybody where the
user has few. Jobs that still run say that theirs is larger than so much (they are censored), as in the estimate of
Kaplan and Meier, and one that has run for a while draws from what is left. As what comes next is not among what was
seen, n errors say that the next one lies between any two of them, or beyond the last, with the same chance: 1 / (n +
1). So it is drawn as the larger of the two, and beyond the last one a job runs to its limit.

References
----------
Hill 1968, "Posterior distribution of percentiles: Bayes' theorem for sampling from a population", assumption A(n).
Kaplan and Meier 1958, "Nonparametric estimation from incomplete observations".
Coolen and Yan 2004, "Nonparametric predictive inference with right-censored data", section 3: both in one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import uniforms
from swftools.simulator.entry_points import simulate
from swftools.trace import Trace

LEAST_OF_USER = 10
"""Ended jobs of a user from which on they alone count for the user's own."""

LEAST_LEFT = 1.0
"""What a running job runs on at least, s."""


class Jobs(NamedTuple):
    """Jobs that have ended, or run, or wait, a row each.

    Parameters
    ----------
    user : list of str
        Empty texts: not known.
    requested_time : numpy.ndarray of float64, shape (jobs,)
        s.
    ran : numpy.ndarray of float64, shape (jobs,)
        How long, s: of ended ones in all, of those that run so far; 0 of those that wait.
    start : numpy.ndarray of float64, shape (jobs,)
        When they started, s; those that wait: now.
    """

    user: list[str]
    requested_time: FloatArray
    ran: FloatArray
    start: FloatArray


class Errors(NamedTuple):
    """A distribution of the next error: the share ``left`` is larger than each of the rising ``ratio``."""

    ratio: FloatArray
    left: FloatArray


def errors_of(ended: FloatArray, censored: FloatArray) -> Errors:
    """Return the distribution of the next error, where some are known, and of others that they are larger than so much.

    Examples
    --------
    >>> found = errors_of(np.array([0.2, 0.5, 0.5, 1.0]), np.array([0.3]))
    >>> found.ratio.tolist(), found.left.round(3).tolist()
    ([0.2, 0.5, 1.0], [0.833, 0.417, 0.208])
    """
    ratio, deaths = np.unique(ended, return_counts=True)
    every = np.sort(np.concatenate([ended, censored]))
    at_risk = len(every) - np.searchsorted(every, ratio, side="left") + 1  # the next one, too
    return Errors(ratio, np.cumprod(1.0 - deaths / at_risk, dtype=np.float64))


def draw_run_times(
    ended: Jobs, present: Jobs, draws: int, *, predictor: str = "request", seed: int = 0, compiled: bool = True
) -> FloatArray:
    """Return how long jobs run in all, as drawn.

    Parameters
    ----------
    ended, present : Jobs
        Who has ended, and who runs or waits.
    draws : int
        How often.
    predictor : str
        As for ``simulate``; ``request`` learns which part of their requests jobs use.
    seed : int
        Of the draws, which depend on it, the place of the job in ``present`` and the number of the draw.
    compiled : bool
        Whether the predictor is.

    Returns
    -------
    numpy.ndarray of float64, shape (draws, jobs)
        s; no more than requested, nor less than ``LEAST_LEFT`` after what has been run. Without any ended job as
        requested.
    """
    many = len(present.ran)
    limit = np.maximum(present.requested_time, present.ran + LEAST_LEFT)
    if not len(ended.ran):
        return np.tile(limit, (draws, 1))
    predicted = _predicted(ended, present, predictor, compiled=compiled)
    before, now = predicted[: len(ended.ran)], predicted[len(ended.ran) :]
    errors, censored = ended.ran / before, present.ran / now
    chance = uniforms(seed, "what-if/run-times", np.arange(many), np.zeros(many, np.int64), draws)
    found = np.empty((draws, many))
    for user, rows in _by_user(ended.user, present.user).items():
        own = np.array([user is None or name == user for name in ended.user], bool)
        runs = (present.ran > 0) & np.array([user is None or name == user for name in present.user], bool)
        ratio, left = errors_of(errors[own], censored[runs])
        left_now = np.append(1.0, left)[np.searchsorted(ratio, censored[rows], side="right")]
        goal = chance[rows] * left_now[:, None]
        # The first ratio of which no more than that share is left; behind the last one: the limit.
        place = np.searchsorted(-left, -goal, side="left")
        found[:, rows] = (np.append(ratio, np.inf)[place] * now[rows, None]).T
    return np.clip(found, present.ran + LEAST_LEFT, limit)


def _by_user(ended: list[str], present: list[str]) -> dict[str | None, IntArray]:
    """Return the present jobs of each user with ended jobs enough, and under None those of all others."""
    counts = pd.Series(ended, dtype=object).value_counts()
    known = set(counts.index[(counts >= LEAST_OF_USER) & (counts.index != "")])
    found: dict[str | None, list[int]] = {}
    for row, user in enumerate(present):
        found.setdefault(user if user in known else None, []).append(row)
    return {user: np.array(rows, np.int64) for user, rows in found.items()}


def _predicted(ended: Jobs, present: Jobs, predictor: str, *, compiled: bool) -> FloatArray:
    """Return what a predictor says of ended and present jobs when they start: as if each started when it came."""
    requested = np.concatenate([ended.requested_time, np.maximum(present.requested_time, LEAST_LEFT)])
    if predictor == "request":
        return requested
    start, many = np.concatenate([ended.start, present.start]), len(requested)
    users = pd.factorize(np.array([name or None for name in (*ended.user, *present.user)], object))[0]
    trace = Trace.from_columns(
        job_number=np.arange(1, many + 1),
        submit_time=start - start.min(),
        run_time=np.concatenate([ended.ran, np.maximum(present.requested_time, LEAST_LEFT)]),
        requested_time=requested,
        requested_processors=np.ones(many, np.int64),
        user_id=users,
    )
    jobs = simulate(
        trace, "fcfs", processors=many, predictor=predictor, compiled=compiled, cancelled="end-at-once"
    ).jobs
    told = jobs.set_index("job_number")["estimated_time"].reindex(np.arange(1, many + 1))
    return np.maximum(told.to_numpy(np.float64), LEAST_LEFT)
