# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: what genetic scheduling brings on other logs and loads, and beside a search for the same.

Reading chosen
    Of each log the jobs that ran from line 5,000 on, 1,500 of them, so close together that they offer the load that is
    asked for. All are of one priority, since not every log has queues. What is compared is aggregate utility over that
    of EASY on the same jobs.

    A search of 50,000 placements takes about as long for a decision as 50 generations of 20 individuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from pipelines.papers.yuan2010.populations import kept_jobs, short_name
from swftools.parameters import Parameters, number, text, whole
from swftools.selection import scale_to_load
from swftools.simulator import simulate
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions
from swftools.utility.model import UtilityParameters, generate_utility

LOADS = (0.7, 0.8, 0.9, 1.0)
SEEDS = (0, 1)
"""Of utility functions, and of what the policies draw."""

POLICIES = {
    "EASY": "easy",
    "conservative": "conservative",
    "genetic": "genetic:generations=50",
    "genetic, plans by request": "genetic:generations=50,plan_clock=requested",
    "genetic, warm start": "genetic:generations=50,warm_start=true",
    "search": "search:objective=lexical(lost-utility),nodes=50000",
}
"""What is compared, by what it is called here."""


@dataclass(frozen=True)
class ElsewhereParameters(Parameters):
    """A policy, and the stretch of a log on which it is tried.

    Parameters
    ----------
    policy : str
        With its parameters.
    load : float
        That the stretch is brought to.
    first, jobs : int
        Index of its first job, of those that ran, and how many there are.
    """

    NAME = "elsewhere"

    policy: str = text("easy")
    load: float = number(0.9, above=0, most=10)
    first: int = whole(5_000, least=0)
    jobs: int = whole(1_500, least=1)


def logged_stretch(trace: Trace, first: int, jobs: int) -> Trace:
    """Return a stretch of a log, of the jobs that ran; a shorter log gives its last jobs."""
    kept = kept_jobs(trace)
    begin = max(min(first, len(kept) - jobs), 0)
    return kept.with_jobs(kept.jobs.iloc[begin : begin + jobs].reset_index(drop=True))


def stretch_of(trace: Trace, first: int, jobs: int, load: float) -> Trace:
    """Return the same brought to a load; the first job comes at 0."""
    logged = logged_stretch(trace, first, jobs)
    submit_time = logged.jobs["submit_time"] - logged.jobs["submit_time"].min()
    return scale_to_load(logged.with_jobs(logged.jobs.assign(submit_time=submit_time)), load, trace.processors)


def with_utility(trace: Trace, logged: Trace, seed: int) -> Trace:
    """Return a trace whose jobs are worth what the model says of the log that they are of."""
    columns = generate_utility(logged, UtilityParameters(seed=seed))
    return trace.with_jobs(trace.jobs.drop(columns=columns.columns, errors="ignore").join(columns))


def valued_stretch(trace: Trace, parameters: Any, seed: int) -> Trace:
    """Return the stretch that parameters name by ``first``, ``jobs`` and ``load``, with what its jobs are worth."""
    first, jobs = parameters.first, parameters.jobs
    return with_utility(stretch_of(trace, first, jobs, parameters.load), logged_stretch(trace, first, jobs), seed)


def worth_of(jobs: pd.DataFrame, trace: Trace) -> pd.Series[float]:
    """Return what each simulated job of a trace earned at the turnaround that it got; jobs are in the trace's order."""
    functions = UtilityFunctions.from_arrow(trace.jobs["utility"])
    return pd.Series(functions.evaluate((jobs["end_time"] - jobs["submit_time"]).to_numpy(dtype=float)))


def measure_elsewhere(trace: Trace, parameters: ElsewhereParameters, seed: int) -> pd.DataFrame:
    """Return the aggregate utility of a policy."""
    crowd = valued_stretch(trace, parameters, seed)
    schedule = simulate(crowd, parameters.policy, trace.processors, seed=seed)
    return measured([("all", "", "utility", float(np.nansum(worth_of(schedule.jobs, crowd))))])


def run_of(policy: str, load: float, seed: int, quick: bool) -> Run:
    """Return the run of a policy at a load."""
    parameters = ElsewhereParameters(policy=POLICIES[policy], load=load)
    if quick:
        fewer = POLICIES[policy].replace("generations=50", "generations=2").replace("nodes=50000", "nodes=500")
        parameters = replace(parameters, policy=fewer, jobs=300)
    return Run("elsewhere", parameters, seed)


def runs_of_elsewhere(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the runs of every policy at every load."""
    loads, seeds = (LOADS[-1:], SEEDS[:1]) if quick else (LOADS, SEEDS)
    return [run_of(policy, load, seed, quick) for load in loads for policy in POLICIES for seed in seeds]


def cells_of_elsewhere(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield what each policy earns of what EASY does."""
    for log in found.logs:
        for load in LOADS[-1:] if quick else LOADS:
            easy = np.array(found.values(log, run_of("EASY", load, 0, quick), "all", "utility"))
            for policy in POLICIES:
                if policy == "EASY":
                    continue
                ratios = np.array(found.values(log, run_of(policy, load, 0, quick), "all", "utility")) / easy
                spread = ratios.std(ddof=1) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
                yield Cell(
                    f"{short_name(log)}, load {load:g}",
                    policy,
                    float(ratios.mean()) if len(ratios) else float("nan"),
                    "aggregate utility over that of EASY, mean over seeds",
                    spread=float(spread),
                )


MADE = (runs_of_elsewhere, cells_of_elsewhere)
"""How the table is made."""
