# SPDX-License-Identifier: BSD-3-Clause
"""CO-VARQ: the example of Figure 6.1, and what Table 6.2 shows of machines whose logs are not public, of logs that are.

Reading chosen
    Sites are parts of one log, of equal time, as if they were machines of their own that began together. Two
    reservations of N processors for an hour are asked for every D + 1 hours, D hours ahead, at a site each; what cannot
    be planned is not asked again. Each runs for all of its hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipelines.papers.nurmi2009.populations import ANY, POPULATIONS, population_of, population_run
from pipelines.papers.paper import Cell, Measurements, Printed, Run, Within, measured
from swftools.parameters import Parameters, choice, number, whole
from swftools.qbets import WaitPredictor
from swftools.reservations import Site, simulate_sites
from swftools.reservations.co_allocation import independent_probability
from swftools.trace import Trace

HOUR = 3600.0

TRIALS = {
    "4, 1hr, 4hr": (4, 4, 0.90),
    "4, 1hr, 12hr": (4, 12, 0.75),
    "16, 1hr, 12hr": (16, 12, 0.75),
    "48, 1hr, 12hr": (48, 12, 0.75),
}
"""Rows of Table 6.2: processors, hours ahead, P_all."""

MEASURES = ("asked", "accepted", "expected", "achieved", "paid_over_needed", "cancelled", "copies")

UNITS = {"asked": "requests", "accepted": "requests", "cancelled": "jobs", "copies": "jobs"}


@dataclass(frozen=True)
class CoVarqOfPaper(Parameters):
    """Which requests, at how many parts of the log."""

    NAME = "co-varq"
    population: str = choice(ANY, *POPULATIONS)
    processors: int = whole(4, least=1)
    hours: int = whole(4, least=1)
    probability: float = number(0.9, above=0, most=0.99)
    sites: int = whole(5, least=2)
    training: int = whole(1000, least=0)


def measure_co_varq(trace: Trace, parameters: CoVarqOfPaper, seed: int) -> pd.DataFrame:
    """Return what came of the requests at the parts of a log."""
    jobs = trace.jobs[trace.jobs["submit_time"].notna()]
    submit = jobs["submit_time"].to_numpy(dtype=np.float64)
    first, span = float(submit.min()), float(submit.max() - submit.min()) / parameters.sites
    waits = WaitPredictor("binomial", by="queue", training=parameters.training)
    sites = []
    for number_of_site in range(parameters.sites):
        begin = first + number_of_site * span
        own = (submit >= begin) & (submit < begin + span)
        part = jobs[own].assign(submit_time=submit[own] - begin).reset_index(drop=True)
        sites.append(Site(f"{number_of_site + 1}", trace.with_jobs(part), "easy", trace.processors, waits=waits))
    every = (parameters.hours + 1) * HOUR
    asks = np.arange(every, span - every, every)
    table = pd.DataFrame({"request": np.repeat(np.arange(len(asks)), 2), "ask_time": np.repeat(asks, 2)})
    table = table.assign(processors=parameters.processors, requested_time=HOUR, run_time=HOUR)
    table["start_by"] = table["ask_time"] + parameters.hours * HOUR
    found = simulate_sites(sites, table, seed=seed, probability=parameters.probability).measures()
    return measured((parameters.population, "", name, found[name]) for name in MEASURES if not np.isnan(found[name]))


def _run(log: str, quick: bool, row: str) -> Run:
    """Return the run of a row."""
    processors, hours, probability = TRIALS[row]
    sites, training = (3, 100) if quick else (5, 1000)
    return Run("co-varq", CoVarqOfPaper(population_of(log), processors, hours, probability, sites, training))


def plan_trials(log: str, quick: bool) -> list[Run]:
    """Return the runs of Table 6.2."""
    return [_run(log, quick, row) for row in (list(TRIALS)[1:2] if quick else TRIALS)]


def cells_trials(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the rows of Table 6.2 of each log, beside what is printed of other machines."""
    columns = {
        "P_expected": ("expected", "mean probability of accepted requests"),
        "P_achieved": ("achieved", "share of accepted requests whose two jobs both ran by their start"),
        "accepted": ("accepted", "requests of which a plan met P_all"),
        "ratio": ("paid_over_needed", "processor-hours charged / needed, of accepted requests"),
    }
    for log in found.logs:
        name = population_of(log)
        for row in TRIALS:
            run = _run(log, quick, row)
            if not found.values(log, run, name, "asked"):
                continue
            for column, (measure, definition) in columns.items():
                yield Cell(
                    f"{log}: {row}",
                    column,
                    found.value(log, run, name, measure),
                    definition,
                    unit="requests" if column == "accepted" else "1",
                    printed=printed[row].get(column),
                    note="the paper's machines are others, and their logs not public; sites are parts of one log here",
                )


def plan_co_allocation(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (quick as it is)
    """Return a run that a table must have; its example needs none."""
    return [population_run(log)]


def cells_co_allocation(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (so)
    """Yield the example of Figure 6.1."""
    rule = Within(0.005)
    each = "P_all^(1/COUNT) of two reservations at .90"
    yield Cell("example", "P_indep", independent_probability(0.90, 2), each, printed="0.95", rule=rule)
    both = "product of the printed .952 and .953"
    yield Cell("example", "P of both", 0.952 * 0.953, both, printed="0.91", rule=rule)
