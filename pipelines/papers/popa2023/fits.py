# SPDX-License-Identifier: BSD-3-Clause
"""Fits on days at random, on folds of days, and on earlier days only: how far predictions are from the rest of a wait.

Rows of a day are far from independent: they stood in one queue, and many are of one array. So errors of folds and of
earlier days are told by day, too, and standard errors are those of days.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pipelines.logs.tables import Tables
from pipelines.papers.paper import Run, measured
from pipelines.papers.popa2023.models import BOOSTING, MODELS, figures_of, predict
from pipelines.papers.popa2023.polls import (
    COLUMN_SETS,
    HONEST,
    Rows,
    columns_of,
    complete_rows,
    days_before,
    random_days,
)
from swftools.kernel import FloatArray, IntArray
from swftools.parameters import Parameters, choice, truth, whole

ALL, ROWS = "all", "rows"

FIRST_PAST = 20
"""Place of the first day that is asked of all before it, from 0 on: the study begins with the 21st."""

UNITS = {ROWS: "rows", "days": "days", "days found": "days"}


@dataclass(frozen=True)
class FitOfPaper(Parameters):
    """Days at random, as the study draws them."""

    NAME = "fit"
    model: str = choice(*reversed(MODELS))
    columns: str = choice(*COLUMN_SETS)


@dataclass(frozen=True)
class FoldsOfDays(Parameters):
    """Each day asked of a model that learns from days of other folds; the seed of the run draws the folds."""

    NAME = "folds"
    model: str = choice(*reversed(MODELS))
    columns: str = choice(*COLUMN_SETS)
    folds: int = whole(5, least=2, most=100)


@dataclass(frozen=True)
class PastDays(Parameters):
    """Each ``every``-th day from ``first`` to the last asked of a model that learns from the days before it.

    ``known``: only from waits that were over at its poll. The study learns from all waits of these days.
    """

    NAME = "past"
    model: str = choice(*reversed(MODELS))
    columns: str = choice(*COLUMN_SETS)
    known: bool = truth(False)
    first: int = whole(FIRST_PAST, least=2)
    every: int = whole(8, least=1)


def measure_fit(polls: Tables, parameters: FitOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return rows, days and figures of training, validation and tests, and of each day as a curve over days."""
    rows = complete_rows(polls)
    days = random_days(rows.days)
    columns = columns_of(rows.table, parameters.columns)
    parts = {name: rows.of(part) for name, part in days._asdict().items()}
    predicted = _told(rows, columns, parameters.model, parts["train"], parts)
    found = [*_of_parts(rows, parts, predicted)]
    for name, part in parts.items():
        whole = np.full(len(rows.target), np.nan)
        whole[part] = predicted[name]
        found += _by_day(rows, whole, np.unique(rows.day[part]), name)
    told = [(name, "", "days", float(len(part))) for name, part in days._asdict().items()]
    told += [(name, "", "days found", _days_found(rows, part)) for name, part in parts.items()]
    return measured([*told, *found])


def measure_folds(polls: Tables, parameters: FoldsOfDays, seed: int) -> pd.DataFrame:
    """Return figures of all rows, and of each day as a curve over days."""
    rows = complete_rows(polls)
    columns = columns_of(rows.table, parameters.columns)
    present = np.unique(rows.day)
    fold = np.zeros(len(rows.days), np.int64)
    fold[present] = np.random.default_rng(seed).permutation(len(present)) % parameters.folds
    predicted = np.zeros(len(rows.target))
    for number in range(parameters.folds):
        is_asked = fold[rows.day] == number
        known, asked = np.flatnonzero(~is_asked), np.flatnonzero(is_asked)
        predicted[asked] = _told(rows, columns, parameters.model, known, {ALL: asked})[ALL]
    return measured([*_figures(ALL, rows.target, predicted), *_by_day(rows, predicted, present)])


def measure_past(polls: Tables, parameters: PastDays, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return figures of all rows that are asked, of each day, and of the last day's training and validation."""
    rows = complete_rows(polls)
    columns = columns_of(rows.table, parameters.columns)
    predicted = np.full(len(rows.target), np.nan)
    asked = past_places(rows, parameters.first, parameters.every)
    found: list[tuple[str, str, str, float | None]] = []
    for place in asked:
        days = days_before(rows.days, place)
        parts = {name: rows.of(part) for name, part in days._asdict().items()}
        if parameters.known:
            known = rows.known_by(float(rows.table["poll_time"].to_numpy()[parts["test"]].min()))
            parts = {name: part if name == "test" else part[known[part]] for name, part in parts.items()}
        told = _told(rows, columns, parameters.model, parts["train"], parts)
        predicted[parts["test"]] = told["test"]
        found = list(_of_parts(rows, parts, told))
    is_asked = ~np.isnan(predicted)
    figures = _figures(ALL, rows.target[is_asked], predicted[is_asked])
    return measured([*found, *figures, *_by_day(rows, predicted, asked)])


def past_places(rows: Rows, first: int, every: int) -> list[int]:
    """Return the places of the days that are asked of those before them: the last, and each ``every``-th before it.

    Days that are missing are left out.
    """
    present = set(np.unique(rows.day).tolist())
    return [place for place in range(len(rows.days) - 1, first - 1, -every) if place in present][::-1]


def _told(
    rows: Rows, columns: pd.DataFrame, model: str, known: IntArray, asked: Mapping[str, IntArray]
) -> dict[str, FloatArray]:
    """Return what a model that learns from some rows predicts of others, by part."""
    parts = {name: columns.iloc[part] for name, part in asked.items()}
    found = {name: part for name, part in parts.items() if len(part)}
    return {name: np.zeros(0) for name in parts} | predict(model, columns.iloc[known], rows.target[known], found)


def _of_parts(
    rows: Rows, parts: Mapping[str, IntArray], predicted: Mapping[str, FloatArray]
) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield the figures of parts."""
    for name, part in parts.items():
        yield from _figures(name, rows.target[part], predicted[name])


def _figures(
    subject: str, target: FloatArray, predicted: FloatArray, x: str = ""
) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield how many rows there are, and their figures."""
    yield subject, x, ROWS, float(len(target))
    yield from ((subject, x, name, value) for name, value in figures_of(target, predicted).items())


def _by_day(rows: Rows, predicted: FloatArray, places: Sequence[int] | IntArray, subject: str = "day") -> Iterator[Any]:
    """Yield the figures of days."""
    for place in places:
        own = np.flatnonzero(rows.day == place)
        yield from _figures(subject, rows.target[own], predicted[own], rows.days[place])


def _days_found(rows: Rows, part: IntArray) -> float:
    """Return of how many days some rows are."""
    return float(len(np.unique(rows.day[part])))


def fit_run(model: str = BOOSTING, columns: str = COLUMN_SETS[0]) -> Run:
    """Return the run of a model on the study's own days."""
    return Run("fit", FitOfPaper(model, columns))


def folds_run(model: str, columns: str = HONEST) -> Run:
    """Return the run of a model on folds of days."""
    return Run("folds", FoldsOfDays(model, columns))


def past_run(quick: bool, model: str, columns: str, known: bool = False) -> Run:
    """Return the run of a model on earlier days."""
    return Run("past", PastDays(model, columns, known, *((5, 3) if quick else (FIRST_PAST, 8))))
