# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the study: models of Cedar and Graham, earlier days only, and Slurm's estimates.

The network itself is not made anew (``models``), so what is printed of it stands beside nothing; what is printed of the
linear model is compared where all days are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import nan

from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run, Within
from pipelines.papers.popa2023.by_days import error_of
from pipelines.papers.popa2023.checks import ESTIMATES
from pipelines.papers.popa2023.fits import fit_run, past_run
from pipelines.papers.popa2023.models import BOOSTING, CONSTANT, LINEAR
from pipelines.papers.popa2023.polls import HONEST, THEIRS

CEDAR, GRAHAM, SLURM = "mila-cedar-2021", "mila-graham-2021", "slurm-estimates"

RUNS = 10
"""Trainings of the network whose predictions the study counts together."""

NETWORK = "network (not made anew)"

MADE_OF = {
    "constant": (CONSTANT, THEIRS),
    "linear": (LINEAR, THEIRS),
    "boosted trees": (BOOSTING, THEIRS),
    "linear, known at the poll": (LINEAR, HONEST),
    "boosted trees, known at the poll": (BOOSTING, HONEST),
}
"""Rows of the tables: model, and what it learns from; the 76 columns of the study unless it says otherwise."""

FIGURES = {
    "train": ("train", "mse"),
    "valid": ("valid", "mse"),
    "test": ("test", "mse"),
    "within 2": ("test", "within 2"),
    "within 3": ("test", "within 3"),
}
"""Columns of the tables: of which part, which measure."""

DEFINITIONS = {
    "mse": "mean squared error of log10 seconds",
    "within 2": "% of the test rows whose prediction is within a factor of 2",
    "within 3": "% of the test rows whose prediction is within a factor of 3",
}

LINEAR_RULE = Within(relative=0.05)
"""The study's linear model is trained with penalties, and told to four digits."""


def name_of(log: str) -> str:
    """Return the cluster of a card, or the name of another."""
    return {CEDAR: "Cedar", GRAHAM: "Graham"}.get(log, log)


def days_missing(found: Measurements, log: str, run: Run) -> str:
    """Return of which parts days are missing, in words; nothing if all are there."""
    parts = []
    for part in ("train", "valid", "test"):
        days, there = (found.value(log, run, part, name) for name in ("days", "days found"))
        if there < days:
            parts.append(f"{days - there:.0f} of {days:.0f} days for {part}")
    return f"{', '.join(parts)} are missing here" if parts else ""


def _is_polls(log: str) -> bool:
    return log != SLURM


# ---------------------------------------------------------------- rows


def plan_rows(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the run that counts rows."""
    return [fit_run(CONSTANT)] if _is_polls(log) else []


def cells_rows(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (all are alike)
    """Yield the rows of each part; the study tells how many predictions ten runs made of the test rows."""
    for log in filter(_is_polls, found.logs):
        run, row = fit_run(CONSTANT), name_of(log)
        missing = days_missing(found, log, run)
        for part in ("train", "valid", "test"):
            yield Cell(
                row, f"{part} rows", found.value(log, run, part, "rows"), "rows without a missing value", unit="rows"
            )
        yield Cell(
            row,
            "predictions",
            RUNS * found.value(log, run, "test", "rows"),
            "test rows, in each of ten runs",
            unit="predictions",
            printed=printed.get(row, {}).get("predictions"),
            rule=None if missing else Within(absolute=0.5),
            note=missing or None,
        )


# ---------------------------------------------------------------- models


def plan_models(only: str, log: str, quick: bool) -> list[Run]:
    """Return the runs of all models."""
    return [fit_run(*made) for made in MADE_OF.values()] if log == only or (quick and _is_polls(log)) else []


def cells_models(only: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield what is printed of the network, and a row a model."""
    for log in found.logs:
        if not plan_models(only, log, quick):
            continue
        missing = days_missing(found, log, fit_run(CONSTANT))
        for row in (NETWORK, *MADE_OF):
            for column, (part, measure) in FIGURES.items():
                text = printed.get(row, {}).get(column) or None
                error = nan
                if row != NETWORK:
                    run = fit_run(*MADE_OF[row])
                    value, error = found.value(log, run, part, measure), error_of(found, log, run, measure, part)
                    told = f"{DEFINITIONS[measure]}"
                elif text is None:
                    continue
                else:
                    value, told = nan, f"{DEFINITIONS[measure]}"
                is_share = measure != "mse"
                yield Cell(
                    row,
                    column,
                    100.0 * value if is_share else value,
                    told,
                    unit="%" if is_share else "1",
                    spread=100.0 * error if is_share else error,
                    printed=None if quick else text,
                    rule=LINEAR_RULE if row == "linear" and text and not missing and not quick else None,
                    note=_why_not(row, text, missing),
                )


def _why_not(row: str, text: str | None, missing: str) -> str | None:
    """Return why a printed value is not compared."""
    if text is None:
        return None
    return "the network is not made anew" if row == NETWORK else missing or None


# ---------------------------------------------------------------- earlier days

PAST = {"constant": CONSTANT, "linear": LINEAR, "boosted trees": BOOSTING}
"""Rows of the table of earlier days: models that learn from the 76 columns of the study."""


def plan_past(log: str, quick: bool) -> list[Run]:
    """Return the runs on earlier days."""
    return [past_run(quick, model, THEIRS) for model in PAST.values()] if _is_polls(log) else []


def cells_past(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the last day, and all days that are asked, of each model."""
    for log in filter(_is_polls, found.logs):
        for row, model in PAST.items():
            run = past_run(quick, model, THEIRS)
            for column, (part, measure) in FIGURES.items():
                value, is_share = found.value(log, run, part, measure), measure != "mse"
                yield Cell(
                    f"{name_of(log)}: {row}",
                    column,
                    100.0 * value if is_share else value,
                    f"{DEFINITIONS[measure]}; the test is the last day",
                    unit="%" if is_share else "1",
                )
            yield Cell(
                f"{name_of(log)}: {row}",
                "all days",
                found.value(log, run, "all", "mse"),
                "mean squared error of the days that are asked: from the 21st on each eighth, the last among them",
                spread=error_of(found, log, run, "mse"),
            )
        for column, text in printed.get(name_of(log), {}).items():
            definition = DEFINITIONS[FIGURES[column][1]]
            yield Cell(
                f"{name_of(log)}: {NETWORK}",
                column,
                nan,
                f"{definition}; the test is the last day",
                unit="1" if FIGURES[column][1] == "mse" else "%",
                printed=text,
                note="the network is not made anew",
            )


# ---------------------------------------------------------------- Slurm's estimates


def plan_slurm(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (as it is)
    """Return the run of the estimates."""
    return [ESTIMATES] if log == SLURM else []


SLURM_COLUMNS = {
    "estimates": ("estimates", "estimates", "jobs that were submitted to ask and to see", Within(absolute=0.5)),
    "mean difference": (
        "mean of log10 s",
        "1",
        "mean of log10 of the seconds between the start and the estimate of it, without sign",
        Within(absolute=0.00005),
    ),
    "mean of squares": (
        "mean of squared log10 s",
        "1",
        "mean of the squares of these; neither is the error of a wait, whose submission is not told",
        None,
    ),
    "median apart": ("median apart", "s", "median of the seconds between start and estimate", None),
    "started later": ("started later", "1", "share of jobs that started later than they were told", None),
}
"""Columns: measure, unit, definition, rule."""


def cells_slurm(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (as it is)
    """Yield a row a cluster."""
    for log in found.logs:
        for cluster in found.subjects(log, ESTIMATES):
            row = cluster.capitalize()
            for column, (measure, unit, definition, rule) in SLURM_COLUMNS.items():
                text = printed.get(row, {}).get(column) or None
                value = found.value(log, ESTIMATES, cluster, measure)
                yield Cell(row, column, value, definition, unit=unit, printed=text, rule=rule if text else None)


MADE: dict[str, tuple[Plan, Cells]] = {
    "rows": (plan_rows, cells_rows),
    "cedar": (partial(plan_models, CEDAR), partial(cells_models, CEDAR)),
    "graham": (partial(plan_models, GRAHAM), partial(cells_models, GRAHAM)),
    "past": (plan_past, cells_past),
    "slurm": (plan_slurm, cells_slurm),
}
"""How each table is made; statements stand beside."""
