# SPDX-License-Identifier: BSD-3-Clause
"""Correctness over time, with QBETS and without: what Figures 4.1 and 4.2 show of single traces, by month.

The machines of these figures are not public; so they are drawn of the logs that are, as data and as a picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pipelines.papers.looks import name_months, panels
from pipelines.papers.nurmi2009.populations import ANY
from pipelines.papers.nurmi2009.predictions import replay_run, rows_of
from pipelines.papers.paper import Cell, Measurements, Printed, Run, read_printed
from swftools.plots.series import look_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CORRECT = 0.95
"""Share of the waits that must be within their bounds."""

LABELS = {False: "without QBETS", True: "with QBETS"}

BM = "BM correctness"
PRINTED = {
    LABELS[is_with]: read_printed("pipelines.papers.nurmi2009", f"published/table_{table}.csv")
    for is_with, table in ((False, "4.1"), (True, "4.2"))
}
"""The published correctness of the binomial method (BM), of all the time."""


def runs_of_coverage(log: str, quick: bool) -> list[Run]:
    """Return the runs of the binomial method, with QBETS and without."""
    return [replay_run(log, quick, "binomial", qbets=qbets) for qbets in LABELS]


def months(found: Measurements, log: str, run: Run, row: str) -> pd.Series:
    """Return the correctness of a queue by month."""
    table = found.table
    chosen = (table["log"] == log) & (table["experiment"] == run.text) & (table["subject"] == row)
    curve = table[chosen & (table["measure"] == "correctness") & (table["x"] != "")]
    return curve.set_index("x")["value"]


def months_correct(found: Measurements, log: str, run: Run, row: str) -> float:
    """Return the share of months in which a method is correct; NaN without months."""
    curve = months(found, log, run, row)
    return float((curve >= CORRECT).mean()) if len(curve) else float("nan")


def cells_of_coverage(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (nothing is printed)
    """Yield of each queue the share of months in which the binomial method is correct."""
    for log in found.logs:
        for row in rows_of(found, log, quick):
            for qbets, label in LABELS.items():
                yield Cell(
                    row.replace(f"{ANY}/", f"{log}/"),
                    label,
                    months_correct(found, log, replay_run(log, quick, "binomial", qbets=qbets), row),
                    "share of months of submission in which .95 of the waits were within the bounds of BM",
                )


def draw(measurements: pd.DataFrame) -> Figure:
    """Draw the correctness of BM by month, a panel a queue, with QBETS and without."""
    found = Measurements(measurements)
    runs = {log: {label: _run_of(found, log, qbets) for qbets, label in LABELS.items()} for log in found.logs}
    queues = [(log, row) for log in found.logs for row in found.subjects(log, runs[log][LABELS[True]])]
    queues = [at for at in queues if len(months(found, at[0], runs[at[0]][LABELS[True]], at[1]))]
    lines = max(1, -(-len(queues) // 3))
    figure, axes = panels((10, 0.8 + 2.6 * lines), lines, 3)
    axes = axes.ravel()
    for place, (log, row) in zip(axes, queues, strict=False):
        curves = {label: months(found, log, run, row) for label, run in runs[log].items()}
        for number, (label, curve) in enumerate(curves.items()):
            place.plot(np.arange(len(curve)), curve, label=label, markersize=3.5, **look_at(number))
        for number, (label, printed) in enumerate(PRINTED.items()):
            if known := printed.get(row):
                # Beside the last month: the paper prints one number of all the time.
                color = look_at(number)["color"]
                end = len(curves[label]) + 0.5
                place.plot([end], [float(known[BM])], "<", color=color, markersize=7, label=f"{label}: printed, all")
        place.axhline(CORRECT, color="black", linestyle=":", linewidth=1.0)
        place.set(title=row.replace(f"{ANY}/", f"{log}/"), ylim=(0.4, 1.01))
        name_months(place, list(curves[LABELS[True]].index))
    for place in axes[len(queues) :]:
        place.set_axis_off()
    if queues:
        axes[0].set_ylabel("share of waits within")
        entries: dict[str, Any] = {}
        for place in axes[: len(queues)]:
            handles, labels = place.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=4)
    return figure


def _run_of(found: Measurements, log: str, qbets: bool) -> Run:
    """Return the run of a log that was measured, quick or not."""
    runs = [replay_run(log, quick, "binomial", qbets=qbets) for quick in (False, True)]
    return next((run for run in runs if found.subjects(log, run)), runs[0])
