# SPDX-License-Identifier: BSD-3-Clause
"""One policy on the paper's window, and all that the tables ask of its schedule.

Readings chosen
    Percentiles leave interactive jobs out, which are simulated all the same. The expansion factor is by the *requested*
    time, (wait + request) / request; the bounded slowdown is by the run time, of all jobs but the first N/101 and the
    last N mod 100 in order of submission. The share of the start value that a job earned is that of the turnaround that
    it got; its marks are those of the jobs that earned most: 25 % earned so much or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.lee2009.windows import DECAYS, FITTED, INTERACTIVE, RANKS, closer, window, with_utility
from pipelines.papers.paper import Run, measured
from swftools.parameters import Parameters, choice, number, whole
from swftools.simulator import Schedule, simulate
from swftools.simulator.metrics.columns import column_of
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions

FloatArray = npt.NDArray[np.float64]
Row = tuple[str, str, str, float | None]

JOBS = "jobs"
"""The one subject."""

PERCENTS = (25, 50, 75, 98, 100)
"""Marks of the percentiles."""

BOUND = 10.0
"""Shorter run times count as this in slowdowns, s."""

WAIT, EXPANSION, EARNED = "wait", "expansion factor", "start value earned"
SLOWDOWN, UTILITY = "average bounded slowdown", "aggregate utility"

UNITS = {WAIT: "s", EARNED: "%", "jobs": "jobs"}

EASY, CONSERVATIVE, PRIO, GENETIC = "easy", "conservative", "prio-fifo", "genetic"

POLICIES = (CONSERVATIVE, EASY, PRIO, GENETIC, "conservative-replanned", "conservative-fixed")

GENERATIONS, GENERATIONS_FEW, GENERATIONS_QUICK = 100, 20, 1
"""Generations: in Tables 4.1 and 4.2, as in the paper; in the figures, which have many cells; and to be quick."""

_SEEDS_APART = 10_000


@dataclass(frozen=True)
class PolicyOfPaper(Parameters):
    """Which policy, told what, and what the jobs are worth to their users: the seed of the experiment draws that.

    Parameters
    ----------
    policy : str
        One of ``POLICIES``.
    generations : int
        Of ``genetic``; the others have none.
    plan_clock : {"wait", "requested"}
        Of ``genetic``: at which time it takes a planned job's utility.
    decay : str
        How functions fall: a third each way, or all alike.
    deadline_factor : float
        Times the logged time at which a function ends.
    clock : {"turnaround", "wait"}
        Of what that is a multiple, and at which time utility is earned.
    ranks : str
        By what queues are ranked.
    load : float
        Times between submissions are divided by this.
    predictor : {"request", "exact"}
        What the policy is told.
    cancelled : {"end-at-once", "full-request", "drop"}
        What becomes of jobs without a run time.
    trial : int
        Another draw of ``genetic``, for the same functions.
    """

    NAME = "policy"
    policy: str = choice(*POLICIES, default=EASY)
    generations: int = whole(GENERATIONS, least=0)
    plan_clock: str = choice("wait", "requested")
    decay: str = choice(*DECAYS)
    deadline_factor: float = number(2.0, above=0)
    clock: str = choice("turnaround", "wait")
    ranks: str = choice(*RANKS, default=FITTED)
    load: float = number(1.0, above=0)
    predictor: str = choice("request", "exact")
    cancelled: str = choice("end-at-once", "full-request", "drop")
    trial: int = whole(0, least=0)

    def of_policy(self) -> dict[str, Any]:
        """Return the parameters of the policy."""
        is_bred = self.policy == GENETIC
        return {"generations": self.generations, "plan_clock": self.plan_clock} if is_bred else {}


def policy_run(policy: str, seed: int = 0, **parameters: Any) -> Run:
    """Return the run of a policy; what only ``genetic`` has is left as it is for the others."""
    if policy != GENETIC:
        parameters = {name: value for name, value in parameters.items() if name not in ("generations", "plan_clock")}
    return Run("policy", PolicyOfPaper(policy=policy, **parameters), seed)


def valued(trace: Trace, parameters: PolicyOfPaper, seed: int) -> Trace:
    """Return the jobs of the window with their functions, so close together as they are to come."""
    jobs = with_utility(
        window(trace),
        parameters.ranks,
        seed,
        parameters.decay,
        deadline_basis=parameters.clock,
        utility_clock=parameters.clock,
        deadline_factor=parameters.deadline_factor,
    )
    return closer(jobs, parameters.load)


def measure_policy(trace: Trace, parameters: PolicyOfPaper, seed: int) -> pd.DataFrame:
    """Return what the tables ask of a schedule."""
    schedule = simulate(
        valued(trace, parameters, seed),
        parameters.policy,
        predictor=parameters.predictor,
        cancelled=parameters.cancelled,
        seed=seed + _SEEDS_APART * parameters.trial,
        **parameters.of_policy(),
    )
    return measured(rows_of_schedule(schedule, parameters.clock))


def rows_of_schedule(schedule: Schedule, clock: str = "turnaround") -> Iterator[Row]:
    """Yield the measures of a schedule whose jobs have utility functions.

    Parameters
    ----------
    schedule : Schedule
        Of jobs with the column ``utility``.
    clock : {"turnaround", "wait"}
        At which time utility is earned.
    """
    jobs = schedule.jobs
    yield JOBS, "", "jobs", float(len(jobs))
    if not len(jobs):
        return
    wait = column_of(jobs, "wait_time")
    run = column_of(jobs, "end_time") - column_of(jobs, "submit_time") - wait
    request = np.maximum(column_of(jobs, "requested_time"), 1.0)
    functions = UtilityFunctions.from_arrow(jobs["utility"])
    earned = functions.evaluate(wait if clock == "wait" else wait + run)
    shown = column_of(jobs, "queue_id") != INTERACTIVE
    shown = shown if shown.any() else np.ones(len(jobs), bool)
    share = 100 * earned[shown] / functions.start_values[shown]
    for percent in PERCENTS:
        part = percent / 100
        yield JOBS, str(percent), WAIT, float(np.quantile(wait[shown], part))
        yield JOBS, str(percent), EXPANSION, float(np.quantile(((wait + request) / request)[shown], part))
        yield JOBS, str(percent), EARNED, float(np.quantile(share, 1 - part))
    yield JOBS, "", SLOWDOWN, average_bounded_slowdown(wait, run)
    yield JOBS, "", UTILITY, float(earned.sum())


def average_bounded_slowdown(wait: FloatArray, run: FloatArray) -> float:
    """Return the mean bounded slowdown of jobs in order of submission, without the first N/101 and the last N mod 100.

    Examples
    --------
    >>> average_bounded_slowdown(np.array([0.0, 10.0]), np.array([5.0, 20.0]))
    nan
    >>> average_bounded_slowdown(np.full(100, 10.0), np.full(100, 5.0))
    2.0
    """
    count = len(wait)
    part = slice(count // 101, count - count % 100)
    if not len(wait[part]):
        return float("nan")
    bounded = np.maximum(run[part], BOUND)
    return float(((wait[part] + bounded) / bounded).mean())
