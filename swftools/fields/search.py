# SPDX-License-Identifier: BSD-3-Clause
"""The columns of what a search notes: of each decision, each better order it found, and the order it chose."""

from __future__ import annotations

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, Field
from swftools.fields.jobs import JOB_NUMBER, JOB_OCCURRENCE

MOST_MEASURES = 4
"""An objective has as many measures at most."""


def _noted(name: str, meaning: str, unit: str = "1") -> Field:
    """Return a number of the search that is always there."""
    return Field(
        name, FLOAT64 if unit == "s" else INT64, unit, meaning, NEVER, stage="simulate", minimum=0, known="never"
    )


def _values(name: str, order: str) -> tuple[Field, ...]:
    """Return the values of the objective's measures under an order."""
    return tuple(
        Field(
            f"{name}_{place}",
            FLOAT64,
            "measure's unit",
            f"Measure {place} of the objective under {order}, as planned; of a mean the mean.",
            "null: the objective has fewer measures",
            stage="simulate",
            minimum=0,
            known="never",
        )
        for place in range(1, MOST_MEASURES + 1)
    )


_DECISION = _noted("decision", "Number of the decision, from 0.")

SEARCH_DECISIONS = (
    _DECISION,
    _noted("time", "Instant of the decision, in seconds from the start of the log.", "s"),
    _noted("waiting", "Jobs that waited.", "jobs"),
    _noted("nodes", "Placements of a job that were tried: nodes of the tree of orders that were visited."),
    _noted("paths", "Whole orders that were compared, the heuristic's among them."),
    _noted("improvements", "How often an order was found that is better than the best before."),
    Field("is_exhausted", BOOL, "1", "Nothing was left to search.", NEVER, stage="simulate", known="never"),
    _noted("started", "Jobs that were started.", "jobs"),
    *_values("first", "the heuristic's order"),
    *_values("best", "the chosen order"),
)

SEARCH_IMPROVEMENTS = (
    _DECISION,
    _noted("nodes", "Placements of a job that were tried until this order was found."),
    _noted("iteration", "Iteration of the traversal; 0: the heuristic's order."),
    *_values("value", "this order"),
)

SEARCH_ORDERS = (
    _DECISION,
    JOB_NUMBER,
    JOB_OCCURRENCE,
    _noted("chosen_place", "Place of the job in the chosen order, from 0."),
    _noted("heuristic_place", "Place of the job in the heuristic's order, from 0."),
    _noted("planned_start", "When the chosen order plans the job to start.", "s"),
    _noted("heuristic_planned_start", "When the heuristic's order would plan the job to start.", "s"),
)
