# SPDX-License-Identifier: BSD-3-Clause
"""What single searches find: how many jobs wait at decisions, how much of the tree is searched, how much it helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipelines.papers.chiang2008.months import months_of, short_name
from pipelines.papers.chiang2008.policies import NODES, NODES_QUICK
from pipelines.papers.chiang2008.schedules import PolicyOfPaper, Row, begin_month
from pipelines.papers.entries import Entry, made_of
from pipelines.papers.paper import Run, measured
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.parameters import Parameters, text, whole
from swftools.simulator.metrics.columns import column_of
from swftools.trace import Trace

DECISIONS = "decisions"
"""The subject of what is measured here: the decisions in all months."""


@dataclass(frozen=True)
class DecisionsOfPaper(Parameters):
    """The objective, and how many nodes a search may visit."""

    NAME = "decisions"
    objective: str = text("tradeoff-a(T_w:avgX)")
    nodes: int = whole(NODES, least=0)


MEASURES = {
    "decisions": ("decisions", "decisions at which a search was made: a job waited that fits"),
    "median waiting": ("jobs", "median number of jobs that waited at them"),
    "10 or more wait": ("%", "share of decisions with 10 waiting jobs or more"),
    "30 or fewer wait": ("%", "share with 30 or fewer"),
    "exhausted": ("%", "share at which the whole tree was searched"),
    "a better order": ("%", "share at which a better order was found than the heuristic's"),
    "mean improvements": ("1", "how often a better one was found, mean of those"),
}
"""Units and definitions of the columns."""

UNITS = {name: unit for name, (unit, _) in MEASURES.items()}
OBJECTIVES = {"Tradeoff(T_w:avgX)": "tradeoff-a(T_w:avgX)"}


def measure_decisions(trace: Trace, parameters: DecisionsOfPaper, seed: int) -> pd.DataFrame:
    """Return what is told of the decisions in all months of a log, at load 0.9."""
    kept = kept_jobs(trace)
    search = PolicyOfPaper(objective=parameters.objective, nodes=parameters.nodes)
    parts = []
    for month in months_of(kept):
        simulation, begin, end = begin_month(kept, month, search, seed, explain=True)
        decisions = simulation.run(until=end).notes[DECISIONS]
        parts.append(decisions[decisions["time"].between(begin, end)])
    rows = list(_told(pd.concat(parts))) if parts else []
    return measured(rows)


def _told(decisions: pd.DataFrame) -> Iterator[Row]:
    """Yield what is told of decisions."""
    waiting, improvements = column_of(decisions, "waiting"), column_of(decisions, "improvements")
    values = {
        "decisions": float(len(decisions)),
        "median waiting": float(np.median(waiting)),
        "10 or more wait": 100 * float((waiting >= 10).mean()),
        "30 or fewer wait": 100 * float((waiting <= 30).mean()),
        "exhausted": 100 * float(decisions["is_exhausted"].to_numpy(bool).mean()),
        "a better order": 100 * float((improvements > 0).mean()),
        "mean improvements": float(improvements[improvements > 0].mean()) if (improvements > 0).any() else 0.0,
    }
    yield from ((DECISIONS, "", name, values[name]) for name in MEASURES)


def decisions_run(objective: str, quick: bool) -> Run:
    """Return the run of an objective."""
    return Run(DecisionsOfPaper.NAME, DecisionsOfPaper(objective, NODES_QUICK if quick else NODES))


def entries_of_decisions(log: str, quick: bool) -> Iterator[Entry]:
    """Yield the cells of the table."""
    for name, objective in OBJECTIVES.items():
        for column, (unit, definition) in MEASURES.items():
            row, run = f"{short_name(log)} {name}", decisions_run(objective, quick)
            yield Entry(row, column, run, column, definition, unit, DECISIONS)


MADE = made_of(entries_of_decisions)
"""How the table is made."""
