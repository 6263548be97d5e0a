# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the study: what its leak is worth, days at random beside earlier days, bounds that are kept, and checks.

Errors by day are compared in pairs: each day by two models that are asked of the same rows. A standard error is that of
the mean over days, weighted by rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pipelines.papers.looks import panels
from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run
from pipelines.papers.popa2023.bounds import BOOSTED, CALIBRATED, MEDIAN, PARTITION, STEADY, TARGET, WIDTH, bounds_run
from pipelines.papers.popa2023.bounds import CONSTANT as KNOWN
from pipelines.papers.popa2023.by_days import by_day, error_of, paired, weighted
from pipelines.papers.popa2023.checks import CHECKS
from pipelines.papers.popa2023.checks import UNITS as CHECK_UNITS
from pipelines.papers.popa2023.fits import folds_run, past_run
from pipelines.papers.popa2023.models import BOOSTING, CONSTANT, LINEAR
from pipelines.papers.popa2023.polls import HONEST, THEIRS, WITHOUT_RUN_TIME
from pipelines.papers.popa2023.tables import name_of
from swftools.plots.series import look_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAK_ROWS = {
    "boosted trees, 76 columns": (BOOSTING, THEIRS),
    "boosted trees, without elapsed_time": (BOOSTING, WITHOUT_RUN_TIME),
    "boosted trees, known at the poll": (BOOSTING, HONEST),
    "linear, 76 columns": (LINEAR, THEIRS),
    "linear, known at the poll": (LINEAR, HONEST),
    "constant": (CONSTANT, HONEST),
}
"""Model, and what it learns from."""

BASE = "boosted trees, known at the poll"
"""Beside which the others stand."""


NAMES = {
    PARTITION: "QBETS by partition",
    WIDTH: "QBETS by partition and width",
    BOOSTED: "boosted trees of the quantile",
    STEADY: "the same, calibrated (conformal)",
    CALIBRATED: "the same, calibrated, with a level that adapts",
    KNOWN: "quantile of all known waits",
}


def plan_leak(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the runs on folds of days."""
    return [folds_run(*made) for made in LEAK_ROWS.values()]


def cells_leak(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield figures of each model, and by how much its error is above that of what was known at the poll."""
    for log in found.logs:
        for row, made in LEAK_ROWS.items():
            run, label = folds_run(*made), f"{name_of(log)}: {row}"
            yield from _figures(found, log, run, label, "each day asked of days of other folds")
            more, error = paired(found, log, run, folds_run(*LEAK_ROWS[BASE]))
            told = "mean squared error less that of boosted trees from what was known at the poll, of the same rows"
            yield Cell(label, "more", more, told, spread=error)


def future_runs(quick: bool) -> dict[str, Run]:
    """Return the runs that are asked of the same days, by what they learn from."""
    return {
        "from other days, at random": folds_run(BOOSTING, HONEST),
        "from earlier days": past_run(quick, BOOSTING, HONEST),
        "from earlier days, waits that were over": past_run(quick, BOOSTING, HONEST, known=True),
        "from earlier days, waits that were over: linear": past_run(quick, LINEAR, HONEST, known=True),
        "from earlier days, waits that were over: constant": past_run(quick, CONSTANT, HONEST, known=True),
        "from other days, at random, 76 columns": folds_run(BOOSTING, THEIRS),
        "from earlier days, 76 columns": past_run(quick, BOOSTING, THEIRS),
    }


def plan_future(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the runs on earlier days, and those on folds that they stand beside."""
    return list(future_runs(quick).values())


def cells_future(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield, of the days that are asked of earlier ones, the error of each way."""
    for log in found.logs:
        runs = future_runs(quick)
        days = list(by_day(found, log, runs["from earlier days"], "mse"))
        for row, run in runs.items():
            values, rows = by_day(found, log, run, "mse"), by_day(found, log, run, "rows")
            each = np.array([values.get(day, nan) for day in days])
            weight = np.array([rows.get(day, nan) for day in days])
            mean, error = weighted(each, weight)
            label, of = (
                f"{name_of(log)}: {row}",
                f"of {len(days)} days, from the 21st on each eighth, the last among them",
            )
            yield Cell(label, "mse", mean, f"mean squared error of log10 seconds, {of}", spread=error)
            yield Cell(
                label,
                "median day",
                float(np.median(each)) if len(each) else nan,
                f"median of the days' own errors, {of}",
            )
            yield Cell(label, "worst day", float(each.max()) if len(each) else nan, f"largest of them, {of}")


def plan_bounds(quantile: float) -> Plan:
    """Return what plans the bounds of a quantile."""

    def plan(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
        return [bounds_run(quick, method, quantile) for method in NAMES]

    return plan


def cells_bounds(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield how many rows are told, how often bounds are kept, and how tight they are."""
    for log in found.logs:
        for method, title in NAMES.items():
            run, label = bounds_run(quick, method, TARGET), f"{name_of(log)}: {title}"

            def value(name: str, log: str = log, run: Run = run, method: str = method) -> float:
                return found.value(log, run, method, name)

            told = value("told") / value("rows") if value("rows") else nan
            yield Cell(label, "told", told, "share of the rows, from the 21st day on, that are told a bound")
            kept = f"share of these whose rest of the wait was within the bound of the {TARGET} quantile"
            yield Cell(label, "kept", value("share kept"), kept, spread=error_of(found, log, run, "share kept", method))
            yield Cell(
                label, "days kept", value("days kept"), f"share of the days on which that share is {TARGET} or more"
            )
            yield Cell(label, "bound / wait", value("median ratio"), "median of the bound over the rest of the wait")


def cells_medians(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield the figures of medians as predictions."""
    for log in found.logs:
        for method, name in NAMES.items():
            run = bounds_run(quick, method, MEDIAN)
            label, of = f"{name_of(log)}: {name}", "of the rows, from the 21st day on, that are told a median"
            yield from _figures(found, log, run, label, of, method, method)


def plan_checks(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the run that looks at all rows."""
    return [CHECKS]


TOLD_CHECKS = {
    "files found": "days that are here",
    "files": "days of the set",
    "rows": "rows: jobs that were submitted before noon of a day and still waited at noon",
    "complete rows": "rows without a missing or infinite value, which the study keeps",
    "elapsed_time is the run time": "rows whose column elapsed_time is the run time that the job was to have",
    "eligible after the poll": "rows whose eligible_time is later than the poll",
    "shortest wait": "shortest rest of a wait",
    "median wait": "median rest of a wait",
    "level_fs is Fair Tree's": "rows whose level_fs is share / usage, as Fair Tree of policy slurm has it",
    "level_fs is missing, share and usage 0": "rows without a level_fs: neither share nor usage; Fair Tree has 0",
    "level_fs is another": "rows with another level_fs",
    "not yet known": "share of the rows before the last day whose waits were not over at its poll",
}


def cells_checks(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield what the columns are, a row a check."""
    for log in found.logs:
        for name, definition in TOLD_CHECKS.items():
            value = found.value(log, CHECKS, "all", name)
            unit = CHECK_UNITS.get(name, "1" if name == "not yet known" else "rows")
            yield Cell(name, name_of(log), value, definition, unit=unit)


MADE: dict[str, tuple[Plan, Cells]] = {
    "leak": (plan_leak, cells_leak),
    "future": (plan_future, cells_future),
    "bounds": (plan_bounds(TARGET), cells_bounds),
    "medians": (plan_bounds(MEDIAN), cells_medians),
    "checks": (plan_checks, cells_checks),
}
"""How each table is made."""


def _figures(
    found: Measurements, log: str, run: Run, label: str, of: str, subject: str = "all", by: str = "day"
) -> Iterator[Cell]:
    """Yield the three figures of a run with their standard errors, by the days of ``by``."""
    definitions = {
        "mse": f"mean squared error of log10 seconds, {of}",
        "within 2": f"share of the predictions within a factor of 2, {of}",
        "within 3": f"share of the predictions within a factor of 3, {of}",
    }
    for name, definition in definitions.items():
        value, error = found.value(log, run, subject, name), error_of(found, log, run, name, by)
        yield Cell(label, name, value, definition, spread=error)


# ---------------------------------------------------------------- pictures


def draw_bounds(measurements: pd.DataFrame) -> Figure:
    """Draw the share of rows within their bounds of the .95 quantile, day by day, a panel a cluster."""
    found = Measurements(measurements)
    figure, axes = panels((9.0, 0.8 + 2.6 * len(found.logs)), len(found.logs), 1, sharey=True)
    for place, log in zip(axes[:, 0], found.logs, strict=False):
        for number, method in enumerate((PARTITION, BOOSTED, STEADY)):
            curve = _curve(found, log, method)
            place.plot(list(curve), list(curve.values()), label=NAMES[method], markersize=3.5, **look_at(number))
        place.axhline(TARGET, color="black", linestyle=":", linewidth=1.0)
        place.set(title=name_of(log), ylabel="share within the bound", ylim=(0.0, 1.02))
        place.tick_params(axis="x", rotation=45)
        days = list(_curve(found, log, BOOSTED))
        place.set_xticks(range(0, len(days), 5), days[::5])
    if len(found.logs):
        axes[0, 0].legend()
    return figure


def _curve(found: Measurements, log: str, method: str) -> dict[str, float]:
    """Return the share that was kept by day, of the run that was measured, quick or not."""
    runs = [bounds_run(quick, method, TARGET) for quick in (False, True)]
    curves = (by_day(found, log, run, "share kept", method) for run in runs)
    return next((curve for curve in curves if curve), {})
