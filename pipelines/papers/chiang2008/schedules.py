# SPDX-License-Identifier: BSD-3-Clause
"""One policy on all months of a log: the simulations, and what is measured of the jobs of each month.

Reading chosen
    Policies are told the jobs' run times, as in the paper, unless something else is asked for. The simulation of a
    month goes on, with the jobs that come later, until all of its jobs have started; what waits then is let go.
    Slowdowns are (wait + max(run time, 1 min)) / max(run time, 1 min). The thresholds of excessive waits are the
    longest wait, and the 98th percentile, of the month's jobs under FCFS-backfill at the same load, told the same of
    run times. The percentile is the shortest wait of a job that 98 % of the jobs do not exceed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.chiang2008.months import HIGH_LOAD, STANDARD, SUMMER, Month, jobs_of, months_of
from pipelines.papers.paper import Run, measured
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.parameters import Parameters, choice, number, text, truth, whole
from swftools.simulator import Schedule, Simulation, measure_jobs
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.job_classes import classify
from swftools.trace import Trace
from swftools.utility.model import UtilityParameters, generate_utility

FloatArray = npt.NDArray[np.float64]
Row = tuple[str, str, str, float | None]

MONTH, CLASS = "month", "class "
"""Subjects: the jobs of a month, and of a class in all months, whose name stands behind."""

BOUND = 60.0
"""Shorter run times count as this in slowdowns, s."""

PERCENTILE = 98.0
"""Of waits under FCFS-backfill, beyond which a wait is excessive."""

DAY = 86_400.0

COOL_DOWN = 62 * DAY
"""Jobs are looked at up to so long after a month, s of the log, unless one of the month waits longer."""

CLASSES: Mapping[str, tuple[float, ...]] = {
    "allocated_processors": (1, 8, 32, 64),
    "run_time": (600, 3600, 4 * 3600, 8 * 3600),
}
"""Upper ends of the ranges of Figure 12. The text names 8 and 32 nodes, 1 hour and 8 hours; the others are ours."""

FCFS_BACKFILL, LXF_BACKFILL, SEARCH = "easy", "lxf-backfill", "search"
"""Names of the policies here."""


@dataclass(frozen=True)
class PolicyOfPaper(Parameters):
    """A policy, the load, and what it is told.

    Parameters
    ----------
    policy : {"search", "easy", "lxf-backfill"}
        Search, FCFS-backfill or LXF-backfill; those below that are of ``search`` mean nothing to the others.
    objective, traversal, branching, nodes
        As those of ``search``.
    load : float, optional
        Load of each month; as logged where none is given.
    predictor : str
        What the policy is told of run times.
    utility : bool
        Whether jobs get utility functions, all of one priority, since one of the logs has no queues.
    clock : {"standard", "summer"}
        When months begin.
    """

    NAME = "policy"
    policy: str = choice(SEARCH, FCFS_BACKFILL, LXF_BACKFILL)
    objective: str = text("tradeoff-a(T_w:avgX)")
    traversal: str = choice("dds", "lds")
    branching: str = choice("lxf", "fcfs")
    nodes: int = whole(4000, least=0)
    load: float | None = number(HIGH_LOAD, above=0, optional=True)
    predictor: str = text("exact")
    utility: bool = truth(False)
    clock: str = choice(STANDARD, SUMMER)

    def of_policy(self) -> dict[str, Any]:
        """Return the parameters of the policy; backfilling has none of these."""
        names = ("objective", "traversal", "branching", "nodes") if self.policy == SEARCH else ()
        return {name: getattr(self, name) for name in names}


class Thresholds(NamedTuple):
    """Waits beyond which one is excessive, s: the longest under FCFS-backfill, and its 98th percentile."""

    longest: float
    percentile: float


MEASURES = {
    "jobs": ("jobs", "jobs of the month"),
    "max wait": ("h", "longest wait of a job of the month"),
    "mean wait": ("h", "mean wait"),
    "mean bounded slowdown": ("1", "mean bounded slowdown"),
    "max bounded slowdown": ("1", "largest bounded slowdown"),
    "excess over the max": ("h", "sum of waits beyond the longest of FCFS-backfill, told the same, in that month"),
    "excess over 98 %": ("h", "sum of waits beyond its 98th percentile"),
    "jobs beyond 98 %": ("jobs", "jobs that waited beyond its 98th percentile"),
    "utility": ("1", "utility of all jobs of the month, as a share of what they would have been worth at once"),
}
"""Units and definitions of what is measured of a month; the last where jobs have utility functions."""

UNITS = {name: unit for name, (unit, _) in MEASURES.items()}


def policy_run(**parameters: Any) -> Run:
    """Return the run of a policy."""
    return Run(PolicyOfPaper.NAME, PolicyOfPaper(**parameters))


def measure_policy(trace: Trace, parameters: PolicyOfPaper, seed: int) -> pd.DataFrame:
    """Return what a policy does in each month, which is the place of a curve, and mean waits of classes in all."""
    kept = with_utility(kept_jobs(trace), seed) if parameters.utility else kept_jobs(trace)
    rows: list[Row] = []
    parts = []
    for month in months_of(kept, parameters.clock):
        schedule = simulate_month(kept, month, parameters, seed)
        limits = thresholds(kept, month, parameters)
        rows += [(MONTH, month.name, *row) for row in measures_of(schedule, limits)]
        parts.append(measured_jobs(schedule))
    return measured([*rows, *_of_classes(parts)])


def with_utility(kept: Trace, seed: int) -> Trace:
    """Return a trace whose jobs have utility functions, by their logged turnarounds."""
    return kept.with_jobs(kept.jobs.join(generate_utility(kept, UtilityParameters(seed=seed))[["utility"]]))


def simulate_month(kept: Trace, month: Month, parameters: PolicyOfPaper, seed: int = 0) -> Schedule:
    """Return the schedule of a month's jobs and of what is simulated beside them, up to when the last of them started.

    Parameters
    ----------
    kept : Trace
        Of ``kept_jobs``.
    month : Month
        Of ``months_of``.
    parameters : PolicyOfPaper
        The policy, the load, and what it is told.
    seed : int
        Of what predictors draw.
    """
    # Jobs that are submitted behind the last start change nothing, but cost time.
    for cool_down in (COOL_DOWN, None):
        simulation, begin, end = begin_month(kept, month, parameters, seed, cool_down=cool_down)
        if _until_all_started(simulation, begin, end, is_cut=cool_down is not None):
            break
    return simulation.without_later_jobs().without(simulation.waiting).run().schedule()


def begin_month(
    kept: Trace,
    month: Month,
    parameters: PolicyOfPaper,
    seed: int = 0,
    *,
    cool_down: float | None = COOL_DOWN,
    explain: bool = False,
) -> tuple[Simulation, float, float]:
    """Return the simulation of a month, not begun, and when the first and the last job of the month are submitted.

    Parameters
    ----------
    kept, month, parameters, seed
        As of ``simulate_month``.
    cool_down : float, optional
        As of ``jobs_of``.
    explain : bool
        Whether a search makes notes.
    """
    jobs = jobs_of(kept, month, parameters.load, cool_down)
    given = parameters.of_policy() | ({"explain": True} if explain else {})
    simulation = Simulation(jobs, parameters.policy, predictor=parameters.predictor, seed=seed, **given)
    submit = jobs.arrays.submit_time[jobs.jobs["is_measured"].to_numpy(bool)]
    return simulation, float(submit.min()), float(submit.max())


def _until_all_started(simulation: Simulation, begin: float, end: float, *, is_cut: bool) -> bool:
    """Run a simulation until the jobs submitted from begin to end have started.

    Returns whether it got there before its own last job was submitted, if jobs behind that one were cut off.
    """
    last = float(simulation.trace.arrays.submit_time.max())
    time = end
    while True:
        simulation.run(until=time)
        if not simulation.waiting["submit_time"].between(begin, end).any():
            return True
        time += DAY
        if is_cut and time > last:
            return False


def thresholds(kept: Trace, month: Month, parameters: PolicyOfPaper) -> Thresholds:
    """Return beyond which waits one is excessive, by FCFS-backfill of the same jobs that is told the same."""
    return thresholds_of(simulate_month(kept, month, replace(parameters, policy=FCFS_BACKFILL)))


def thresholds_of(fcfs: Schedule) -> Thresholds:
    """Return beyond which waits one is excessive, by the schedule of FCFS-backfill."""
    waits = column_of(measured_jobs(fcfs), "wait_time")
    return Thresholds(float(waits.max()), float(np.percentile(waits, PERCENTILE, method="inverted_cdf")))


def measured_jobs(schedule: Schedule) -> pd.DataFrame:
    """Return the jobs of a schedule that are of the month."""
    return schedule.jobs[schedule.jobs["is_measured"].to_numpy(bool)]


def measures_of(schedule: Schedule, limits: Thresholds) -> Iterator[tuple[str, float]]:
    """Yield what is measured of the jobs of a month: names of ``MEASURES`` and values in their units."""
    of_jobs = measure_jobs(schedule, bound=BOUND, slowdown="stretched")[schedule.jobs["is_measured"].to_numpy(bool)]
    wait, slowdown = column_of(of_jobs, "wait"), column_of(of_jobs, "bounded_slowdown")
    yield "jobs", float(len(wait))
    yield "max wait", float(wait.max()) / 3600
    yield "mean wait", float(wait.mean()) / 3600
    yield "mean bounded slowdown", float(slowdown.mean())
    yield "max bounded slowdown", float(slowdown.max())
    yield "excess over the max", float(np.maximum(wait - limits.longest, 0.0).sum()) / 3600
    yield "excess over 98 %", float(np.maximum(wait - limits.percentile, 0.0).sum()) / 3600
    yield "jobs beyond 98 %", float((wait > limits.percentile).sum())
    if "utility" in schedule.jobs:
        utility, start = column_of(of_jobs, "utility"), column_of(of_jobs, "start_value")
        yield "utility", float(np.nansum(utility) / np.nansum(start))


def _of_classes(parts: list[pd.DataFrame]) -> Iterator[Row]:
    """Yield the mean wait, h, and the number of jobs of each class that has any, over all months."""
    if not parts:
        return
    jobs = pd.concat(parts, ignore_index=True)
    classes = classify(jobs, CLASSES)
    wait = column_of(jobs, "wait_time")
    for number_of_class, label in enumerate(classes.labels):
        waits = wait[classes.of_job == number_of_class]
        if len(waits):
            yield f"{CLASS}{label}", "", "jobs", float(len(waits))
            yield f"{CLASS}{label}", "", "mean wait", float(waits.mean()) / 3600
