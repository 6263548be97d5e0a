# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of the rest of a wait, which the study does not have: whether they keep their promise, and how tight they are.

QBETS learns the rests of waits of a partition, or of a partition and class of width. A rival learns from what was known
at the poll: gradient boosting of the quantile, as it is or with conformal calibration by partition
(``swftools.qbets.rivals``). Each poll is told from waits that were over at it, and from nothing else.

Reading chosen
    A row is a job that is submitted at the poll and waits for the rest of its wait. QBETS trims, and groups by
    requested times, as by default; but it does not ask whether the machine is available, which polls once a day do not
    tell. A group has 100 waits for training. The rival is fitted every seven polls, once 2,000 waits are known. All
    rows are taken, as bounds need no column that may be missing; trees take what is missing as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pipelines.logs.tables import Tables
from pipelines.papers.paper import Run, measured
from pipelines.papers.popa2023.fits import FIRST_PAST
from pipelines.papers.popa2023.models import boosted, figures_of
from pipelines.papers.popa2023.polls import HONEST, Rows, columns_of, rows_of
from swftools.kernel import FloatArray, IntArray
from swftools.parameters import Parameters, choice, number, whole
from swftools.qbets import replay
from swftools.qbets.rivals import ConformalGradientBoosting, Course
from swftools.trace import Trace

PARTITION, WIDTH, BOOSTED, CONSTANT = METHODS = ("qbets-partition", "qbets-partition-width", "boosting", "constant")
"""What is compared; the constant is the quantile of all waits that are known."""

CALIBRATED, STEADY = OF_TREES = ("boosting-conformal", "boosting-conformal:rate=0")
"""What boosting tells once it is calibrated, with a level that adapts or stays: measured with it, of the same trees.

The level moves with each wait that becomes known. Between two polls these are thousands at once, so it overshoots.
"""

WIDTHS = (1, 4, 16, 64)
"""Classes of requested processors end at these; the last has no end."""

MEDIAN, TARGET = 0.5, 0.95
"""Quantiles that are bounded: one to compare predictions, one that is a promise."""

UNITS = {"rows": "rows", "told": "rows", "days": "days"}


@dataclass(frozen=True)
class BoundsOfWaits(Parameters):
    """Which bound of which quantile; rows of the days from ``first`` on, from 0 on, count."""

    NAME = "bounds"
    method: str = choice(*METHODS)
    quantile: float = number(TARGET, above=0, most=0.99)
    first: int = whole(FIRST_PAST, least=1)
    training: int = whole(100, least=1)
    first_fit: int = whole(2000, least=1)
    refit_every: int = whole(7, least=1)


def measure_bounds(polls: Tables, parameters: BoundsOfWaits, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return how many rows are told a bound, how many of these wait no longer, how tight it is, and the same by day.

    ``days kept`` is the share of days on which ``share kept`` is at least the quantile; ``median ratio``: of bound and
    wait; figures of the bound as a prediction.
    """
    rows = rows_of(polls, polls.table.sort_values(["poll_time", "submit_time"], kind="mergesort", ignore_index=True))
    told = told_by(rows, parameters)
    return measured(each for method, bound in told.items() for each in _measures(rows, parameters, method, bound))


def told_by(rows: Rows, parameters: BoundsOfWaits) -> dict[str, FloatArray]:
    """Return what each row is told, s, NaN where that is nothing; of boosting also calibrated, in two ways."""
    if parameters.method in (PARTITION, WIDTH):
        return {parameters.method: _qbets(rows, parameters)}
    course = course_of(rows)
    told = {parameters.method: _rival(rows, parameters, course)}
    if parameters.method == BOOSTED:
        adapting = ConformalGradientBoosting(quantile=parameters.quantile)
        steady = ConformalGradientBoosting(quantile=parameters.quantile, rate=0.0)
        told |= {CALIBRATED: adapting.bounds(told[BOOSTED], course), STEADY: steady.bounds(told[BOOSTED], course)}
    return told


def _measures(
    rows: Rows, parameters: BoundsOfWaits, method: str, bound: FloatArray
) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield the measures of what one method tells."""
    wait = rows.table["wait_ahead"].to_numpy(np.float64)
    asked = rows.day >= parameters.first
    is_told = asked & ~np.isnan(bound)
    yield method, "", "rows", float(asked.sum())
    yield method, "", "told", float(is_told.sum())
    if not is_told.any():
        return
    kept, day = (wait <= bound)[is_told], rows.day[is_told]
    target, predicted = rows.target[is_told], np.log10(np.maximum(bound[is_told], 1.0))
    days = pd.Series(kept.astype(float)).groupby(day).agg(["mean", "size"])
    values = {
        "share kept": float(kept.mean()),
        "days": float(len(days)),
        "days kept": float((days["mean"] >= parameters.quantile).mean()),
        "median ratio": float(np.median(bound[is_told] / wait[is_told])),
        "median bound": float(np.median(bound[is_told])),
        **figures_of(target, predicted),
    }
    yield from ((method, "", name, value) for name, value in values.items())
    for place, mean in zip(days.index, days["mean"], strict=True):
        own = day == place
        figures = {"share kept": mean, "rows": float(own.sum()), **figures_of(target[own], predicted[own])}
        yield from ((method, rows.days[int(place)], name, value) for name, value in figures.items())


def _qbets(rows: Rows, parameters: BoundsOfWaits) -> FloatArray:
    """Return the bounds of a replay of rows as if they were jobs that are submitted at their polls."""
    table = rows.table
    wait = table["wait_ahead"].to_numpy(np.float64)
    log = Trace.from_columns(
        job_number=np.arange(1, len(table) + 1),
        submit_time=table["poll_time"].to_numpy(np.float64),
        wait_time=wait,
        run_time=table["run_time"].to_numpy(np.float64),
        requested_time=table["requested_time"].to_numpy(np.float64),
        requested_processors=table["processors"].to_numpy(np.int64),
        queue_id=_codes(table["partition"]),
        group_id=width_class(table["processors"].to_numpy(np.float64)),
    )
    by = ["queue", "group"] if parameters.method == WIDTH else ["queue"]
    told = replay(
        log, "binomial", by=by, quantile=parameters.quantile, availability=False, training=parameters.training
    )
    return told["wait_bound"].to_numpy(np.float64, na_value=np.nan)


def width_class(processors: FloatArray) -> IntArray:
    """Return the class of each width: 1 processor, 2 to 4, 5 to 16, 17 to 64, more."""
    return np.searchsorted(WIDTHS, processors, side="left").astype(np.int64)


def course_of(rows: Rows) -> Course:
    """Return when waits become known, by row: those that were over at a poll are known at it."""
    poll, wait = (rows.table[name].to_numpy(np.float64) for name in ("poll_time", "wait_ahead"))
    start = poll + wait
    learnt = np.argsort(start, kind="mergesort")
    known = np.searchsorted(start[learnt], poll, side="right")
    return Course(wait, _codes(rows.table["partition"]), learnt, known)


def _rival(rows: Rows, parameters: BoundsOfWaits, course: Course) -> FloatArray:
    """Return what the model in force at each poll predicts, s; it is fitted to all waits that are known then."""
    columns = columns_of(rows.table, HONEST).replace([np.inf, -np.inf], np.nan).to_numpy()
    predicted = np.full(len(columns), np.nan)
    polls = [
        place for place in np.unique(rows.day) if course.known[np.argmax(rows.day == place)] >= parameters.first_fit
    ]
    for turn in range(0, len(polls), parameters.refit_every):
        known = course.learnt[: course.known[np.argmax(rows.day == polls[turn])]]
        asked = np.flatnonzero(np.isin(rows.day, polls[turn : turn + parameters.refit_every]))
        if parameters.method == CONSTANT:
            predicted[asked] = np.quantile(course.wait[known], parameters.quantile)
        else:
            told = _quantile_trees(columns[known], rows.target[known], columns[asked], parameters.quantile)
            predicted[asked] = 10.0**told
    return predicted


def _quantile_trees(known: FloatArray, target: FloatArray, asked: FloatArray, quantile: float) -> FloatArray:
    """Return the quantile of the target that trees predict; leaves have a hundred waits at least."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (looks up libraries)

    trees = boosted(loss="quantile", quantile=quantile, min_samples_leaf=100)
    with threadpool_limits(limits=1, user_api="openmp"):  # sums in several threads round differently
        told: FloatArray = trees.fit(known, target).predict(asked)
    return told


def _codes(column: pd.Series[Any]) -> IntArray:
    """Return the place of each value among those that there are."""
    return pd.factorize(column, sort=True)[0].astype(np.int64)


def bounds_run(quick: bool, method: str, quantile: float) -> Run:
    """Return the run that measures a method."""
    few = {"first": 4, "training": 5, "first_fit": 60} if quick else {}
    return Run("bounds", BoundsOfWaits(BOOSTED if method in OF_TREES else method, quantile, **few))
