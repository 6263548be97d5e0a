# SPDX-License-Identifier: BSD-3-Clause
"""Whose waits count: the jobs of Table 3.2, and the queues of Tables 4.1 and 4.2.

Reading chosen
    Of CTC the jobs with a requested time, and of SDSC Blue Horizon those of the queues high, low, normal and express
    that ran: so counted they are the jobs of Table 3.2, exactly of CTC and to 33 of 149,633 of Blue Horizon. The log of
    DataStar in the archive is of another period than the paper's. Of any other log the jobs that ran, by queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pipelines.papers.entries import Entry, made_of
from pipelines.papers.paper import Run, Within, measured
from swftools.parameters import Parameters, choice
from swftools.trace import Trace


@dataclass(frozen=True)
class Population:
    """Jobs of a log that count.

    Parameters
    ----------
    log : str
        Name of its card.
    queues : mapping of int to str
        Names of the queues that count, by number; none: all jobs are one.
    is_other_period : bool
        The paper has a log of the same machine from another time.
    """

    log: str
    queues: Mapping[int, str] = field(default_factory=dict)
    is_other_period: bool = False


POPULATIONS = {
    "ctc": Population("CTC-SP2-1996-3.1-cln"),
    "sdscblue": Population("SDSC-BLUE-2000-4.2-cln", {2: "high", 4: "low", 3: "normal", 1: "express"}),
    "datastar": Population(
        "SDSC-DS-2004-2.1-cln", {12: "TGnormal", 1: "express", 2: "high", 3: "normal"}, is_other_period=True
    ),
}
"""The logs of the paper that are public, by its names for them."""

ANY = "any"
"""The population of another log: its jobs that ran, by queue."""

NO_QUEUE = -1
"""Stands for a queue that is not known."""

OTHER_PERIOD = "the paper's log is of another period of this machine, and not public"


def population_of(log: str) -> str:
    """Return the paper's name for a log, or ``ANY``."""
    return next((name for name, population in POPULATIONS.items() if population.log == log), ANY)


def select(trace: Trace, population: str) -> dict[str, Trace]:
    """Return the jobs that count, by row of the tables, as far as there are any."""
    jobs = trace.jobs
    if population == "ctc":
        return {"ctc/ALL": _part(trace, (jobs["requested_time"] > 0).fillna(False))}
    ran, queue = (jobs["run_time"] > 0).fillna(False), jobs["queue_id"].fillna(NO_QUEUE)
    if population == ANY:
        queues = {int(each): "unknown" if each == NO_QUEUE else str(each) for each in sorted(queue[ran].unique())}
    else:
        queues = dict(POPULATIONS[population].queues)
    parts = {f"{population}/{name}": ran & (queue == each) for each, name in queues.items()}
    return {row: _part(trace, chosen) for row, chosen in parts.items() if chosen.any()}


def _part(trace: Trace, chosen: pd.Series) -> Trace:
    """Return the chosen jobs of a trace."""
    return trace.with_jobs(trace.jobs[chosen.astype(bool)].reset_index(drop=True))


@dataclass(frozen=True)
class PopulationParameters(Parameters):
    """Which jobs count."""

    NAME = "population"
    population: str = choice(ANY, *POPULATIONS)


def measure_population(
    trace: Trace,
    parameters: PopulationParameters,
    seed: int,  # noqa: ARG001 (draws nothing)
) -> pd.DataFrame:
    """Return how many waits there are, and their mean, median and standard deviation (as of a whole population), s."""
    parts = select(trace, parameters.population).values()
    known = (part.jobs["wait_time"].dropna().to_numpy(dtype=np.float64) for part in parts)
    waits = np.concatenate([np.zeros(0), *known])
    found = {"jobs": len(waits)}
    if len(waits):
        found |= {"mean": waits.mean(), "median": np.median(waits), "standard deviation": waits.std()}
    return measured((parameters.population, "", name, value) for name, value in found.items())


def population_run(log: str) -> Run:
    """Return the run of a log."""
    return Run("population", PopulationParameters(population_of(log)))


COLUMNS = {"jobs": "jobs", "mean": "s", "median": "s", "standard deviation": "s"}


_READINGS = {
    "ctc": "jobs with a requested time",
    "sdscblue": "jobs of queues 1 to 4 that ran",
    "datastar": "jobs of queues 1, 2, 3 and 12 that ran",
}


def entries_of_waits(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield the cells of Table 3.2."""
    name = population_of(log)
    other = name != ANY and POPULATIONS[name].is_other_period
    for column, unit in COLUMNS.items():
        yield Entry(
            log if name == ANY else name,
            column,
            population_run(log),
            column,
            "of the waits of the jobs that count",
            unit,
            name,
            reading=_READINGS.get(name, "jobs that ran"),
            rule=None if other else Within(relative=0.005),
            note=OTHER_PERIOD if other else None,
        )


MADE = made_of(entries_of_waits)
"""How the table is made."""
