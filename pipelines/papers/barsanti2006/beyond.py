# SPDX-License-Identifier: BSD-3-Clause
"""What the paper has not: each rule by itself, running jobs resized, requests as users make them, and logs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from pipelines.papers.barsanti2006.comparison import (
    APPROACHES,
    CIRNE_BERMAN,
    FIXED,
    NOT_PREDICTIVE,
    RESPONSE,
    SCOJO,
    SLOWDOWN,
    TOLERANT,
)
from pipelines.papers.barsanti2006.tables import MEANINGS, PAIRED, runs_of_comparisons
from pipelines.papers.barsanti2006.values import LOG, mean_of, ratio_of, runs_of, runs_on_log
from pipelines.papers.barsanti2006.workloads import ALL, CLASSES
from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run

LOGS = {"KTH-SP2": "KTH-SP2-1996-2.1-cln", "SDSC-SP2": "SDSC-SP2-1998-4.2-cln"}
"""Logs whose jobs are given curves, by short names."""

CURVES = ("simple", "cirne-berman")


def plan_set(approaches: str, log: str, quick: bool) -> list[Run]:
    """Return the runs of a set of approaches on both workloads."""
    return runs_of_comparisons(log, quick, *({"workload": each, "approaches": approaches} for each in ("W1", "W2")))


def cells_of_set(approaches: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield the mean response time of each approach over that of the second, SCOJO-P itself, by class."""
    for workload in ("W1", "W2"):
        runs = runs_of(quick, workload=workload, approaches=approaches)
        for name in APPROACHES[approaches]:
            for kind in (ALL, *CLASSES):
                yield _cell(f"{workload}: {name}", kind, ratio_of(found, runs, name, SCOJO, RESPONSE, kind), PAIRED)


def plan_requests(log: str, quick: bool) -> list[Run]:
    """Return the runs with requests as users make them."""
    return runs_of_comparisons(
        log, quick, *({"workload": each, **given} for each in ("W1", "W2") for given in REQUESTS)
    )


REQUESTS: tuple[dict[str, Any], ...] = tuple(
    {"approaches": approaches, "requests": requests}
    for requests in ("exact", "estimated")
    for approaches in ("paper", "tolerance")
)


def cells_of_requests(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield each approach over fixed widths, with exact requests and with estimated ones."""
    for workload in ("W1", "W2"):
        for given in REQUESTS:
            runs = runs_of(quick, workload=workload, **given)
            names = (SCOJO, NOT_PREDICTIVE, CIRNE_BERMAN) if given["approaches"] == "paper" else (TOLERANT,)
            for name in names:
                told = ratio_of(found, runs, name, FIXED, RESPONSE, ALL)
                yield _cell(f"{workload}: {name} / {FIXED}", given["requests"], told, PAIRED)


def plan_logs(log: str, quick: bool) -> list[Run]:
    """Return the runs on a log."""
    if log not in LOGS.values():
        return []
    return [run for given in OF_LOGS for run in runs_on_log(quick, **given)]


OF_LOGS: tuple[dict[str, Any], ...] = tuple(
    {"curves": curves, "approaches": approaches} for curves in CURVES for approaches in ("paper", "tolerance")
)


def cells_of_logs(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield means of logs whose jobs have curves that are drawn."""
    for short, log in LOGS.items():
        for given in OF_LOGS:
            runs = runs_on_log(quick, **given)
            names = (FIXED, SCOJO, NOT_PREDICTIVE, CIRNE_BERMAN) if given["approaches"] == "paper" else (TOLERANT,)
            for name in names:
                for measure, unit in ((RESPONSE, "h"), (SLOWDOWN, "1")):
                    told = mean_of(found, runs, name, measure, ALL, log)
                    row = f"{short}, {given['curves']}: {name}"
                    yield _cell(row, measure, told, MEANINGS[measure], unit)


def _cell(row: str, column: str, told: Any, definition: str, unit: str = "1") -> Cell:
    return Cell(row=row, column=column, ours=told.mean, spread=told.error, definition=definition, unit=unit)


MADE: dict[str, tuple[Plan, Cells]] = {
    **{name: (partial(plan_set, name), partial(cells_of_set, name)) for name in ("rules", "malleable")},
    "requests": (plan_requests, cells_of_requests),
    "logs": (plan_logs, cells_of_logs),
}
"""How each table is made."""

ALL_LOGS = [LOG, *LOGS.values()]
