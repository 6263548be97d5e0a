# SPDX-License-Identifier: BSD-3-Clause
"""Tables 4.1 and 4.2: how often four methods are right, and how tight they are, without and with QBETS.

Reading chosen
    The first 1,000 jobs of a queue that start are not scored, and stay in the history. LogN is the plain quantile of
    the fitted distribution, though the text describes a bound with confidence, which stands beside it: only the former
    gives the published values of Table 4.1. The RMS is of over-predictions; its ratio is that of BM divided by the
    method's own, so above 1 is tighter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pipelines.papers.nurmi2009.populations import ANY, OTHER_PERIOD, POPULATIONS, population_of, select
from pipelines.papers.paper import AS_WRITTEN, UNEXPLAINED, Cell, Measurements, Printed, Run, Within, measured
from swftools.parameters import Parameters, choice, truth, whole
from swftools.qbets import evaluate, replay
from swftools.trace import Trace

METHODS = {"BM": "binomial", "LogN": "lognormal-plain", "LogU": "loguniform", "Weib": "weibull"}
"""The methods of the tables, as they are called there, and what they are here."""

UNITS = {
    "jobs": "jobs",
    "predicted": "jobs",
    "rms_over": "s",
    "fewest_clusters": "clusters",
    "most_clusters": "clusters",
}
"""Of measures that are no shares or ratios."""

BOUND = "lognormal"
"""The other reading of LogN."""

MEASURES = (
    *("jobs", "predicted", "correctness", "standard_error", "rms_over", "median_tightness", "p90_tightness"),
    *("share_not_predicted", "withheld_correctness"),
)
"""Measures of ``swftools.qbets.evaluate`` that are kept."""

EVERY = 1000
"""Submissions between two clusterings."""

WEIBULL = (
    "unexplained: neither a fit by maximum likelihood, which the text names, nor by moments or least squares gives all "
    "that is printed of Weib"
)
"""Tried on the logs of CTC and SDSC Blue Horizon, of Table 4.1; least squares come nearest there."""

QUICK_TRAINING = 200
"""Jobs of the training where it is to be quick, on an excerpt."""


@dataclass(frozen=True)
class ReplayOfPaper(Parameters):
    """How waits are predicted: with QBETS or without, and with or without its inference of availability."""

    NAME = "replay"
    population: str = choice(ANY, *POPULATIONS)
    method: str = choice(*METHODS.values(), BOUND)
    qbets: bool = truth(True)
    availability: bool = truth(True)
    training: int = whole(1000, least=0)


def measure_replay(trace: Trace, parameters: ReplayOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return the measures of a method by queue: over all jobs, and by month as curves."""
    parts: dict[str, Any] = {
        "trimming": parameters.qbets,
        "clustering": parameters.qbets,
        "availability": parameters.qbets and parameters.availability,
    }
    rows: list[tuple[str, str, str, float]] = []
    for row, jobs in select(trace, parameters.population).items():
        told = replay(jobs, parameters.method, by=None, training=parameters.training, **parts)
        table = evaluate(told, grouped_by=("all", "month"))
        for entry in table.to_dict("records"):
            x = "" if entry["grouped_by"] == "all" else str(entry["group"])
            rows += [(row, x, name, float(entry[name])) for name in MEASURES if not pd.isna(entry[name])]
        if parameters.qbets:
            rows += [(row, "", name, value) for name, value in _clusters_of(told).items()]
    return measured(rows)


def _clusters_of(told: pd.DataFrame) -> dict[str, float]:
    """Return the fewest and most clusters that were in use at once; nothing where there never were any."""
    # Found anew every 1,000 submissions: each thousand behind the first has one set of clusters, and jobs of the last.
    block = told.index.to_numpy() // EVERY
    blocks = told["cluster"].groupby(block).agg(["max", "size"])
    used = blocks.loc[(blocks.index > 0) & (blocks["size"] == EVERY), "max"] + 1
    return {"fewest_clusters": float(used.min()), "most_clusters": float(used.max())} if len(used) else {}


def replay_run(log: str, quick: bool, method: str, **parts: bool) -> Run:
    """Return the run of a method on a log."""
    training = QUICK_TRAINING if quick else 1000
    return Run("replay", ReplayOfPaper(population_of(log), method, training=training, **parts))


def plan_without(log: str, quick: bool) -> list[Run]:
    """Return the runs of Table 4.1."""
    return [replay_run(log, quick, method, qbets=False) for method in (*METHODS.values(), BOUND)]


def plan_with(log: str, quick: bool) -> list[Run]:
    """Return the runs of Table 4.2."""
    every = [replay_run(log, quick, method) for method in (*METHODS.values(), BOUND)]
    return every + [replay_run(log, quick, method, availability=False) for method in METHODS.values()]


def cells_without(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the cells of Table 4.1."""
    for log in found.logs:
        yield from _cells(found, printed, quick, log, 0.005, qbets=False)
        yield from _cells(found, printed, quick, log, 0.005, qbets=False, only="LogN", method=BOUND)


def cells_with(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the cells of Table 4.2."""
    for log in found.logs:
        yield from _cells(found, printed, quick, log, 0.01)
        yield from _cells(found, printed, quick, log, 0.01, only="LogN", method=BOUND)
        yield from _cells(found, printed, quick, log, 0.01, availability=False)


def rows_of(found: Measurements, log: str, quick: bool) -> list[str]:
    """Return the rows of a log that were scored: queues with fewer jobs than the training were not."""
    run = replay_run(log, quick, METHODS["BM"])
    other = replay_run(log, quick, METHODS["BM"], qbets=False)
    rows = found.subjects(log, run) or found.subjects(log, other)
    return [row for row in rows if max(found.value(log, one, row, "predicted") for one in (run, other)) > 0]


def _cells(
    found: Measurements,
    printed: Printed,
    quick: bool,
    log: str,
    tolerance: float,
    only: str = "",
    method: str = "",
    **parts: bool,
) -> Iterator[Cell]:
    """Yield correctness and ratio of the methods, by one reading."""
    name = population_of(log)
    other = name != ANY and POPULATIONS[name].is_other_period
    chosen = not method and parts.get("availability", True)
    for row in rows_of(found, log, quick):
        for measure in ("correctness", "RMS ratio"):
            for short, usual in METHODS.items():
                if only not in ("", short) or (measure == "RMS ratio" and short == "BM"):
                    continue
                run = replay_run(log, quick, method or usual, **parts)
                column, best = f"{short} {measure}", replay_run(log, quick, METHODS["BM"], **parts)
                if measure == "correctness":
                    ours = found.value(log, run, row, "correctness")
                    spread = found.value(log, run, row, "standard_error")
                    rule, definition = Within(absolute=tolerance), "share of waits no longer than their bounds"
                else:
                    own = found.value(log, run, row, "rms_over")
                    ours = found.value(log, best, row, "rms_over") / own if own else float("nan")
                    spread = float("nan")
                    rule, definition = Within(0.01, 0.05), "RMS of BM's over-predictions / RMS of the method's"
                yield Cell(
                    row.replace(f"{ANY}/", f"{log}/"),
                    column,
                    ours,
                    definition,
                    reading=_reading(short, method, parts.get("availability", True)),
                    is_chosen=chosen,
                    printed=printed.get(row, {}).get(column),
                    rule=None if other else rule,
                    spread=spread,
                    note=OTHER_PERIOD if other else None,
                    why=WEIBULL if short == "Weib" else UNEXPLAINED,
                )


def _reading(short: str, method: str, availability: bool) -> str:
    """Return the reading in words."""
    if method == BOUND:
        return "LogN as an upper bound with confidence .95, as the text says"
    if not availability:
        return "jobs are told a bound also where nothing seems to start"
    return "LogN as the plain quantile of the fitted distribution" if short == "LogN" else AS_WRITTEN
