# SPDX-License-Identifier: BSD-3-Clause
"""Figure 4: three policies that are told run times with an error of a given size.

Reading chosen
    The prediction is run time x (1 + U(-x, x)), drawn once a job, never more than the request. A job that outlives it
    is expected to run to its request, as everywhere here. Ten draws each, as in the paper; with x = 0 all draws are
    equal, so there is one. The other reading, of fewer draws, is that such a job is expected to end at any moment: then
    EASY, which reserves by all that runs, hardly backfills behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import isnan, nan, sqrt
from statistics import stdev
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pipelines.papers.looks import panels
from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from pipelines.papers.yuan2010.easy_at_events import named
from pipelines.papers.yuan2010.populations import is_other, kept_jobs, logs_of_paper, short_name
from pipelines.papers.yuan2010.schedules import BOUND
from swftools.parameters import Parameters, choice, number, whole
from swftools.plots.style import count_axis, look_of
from swftools.simulator import Schedule, list_predictors, measure_jobs, simulate
from swftools.simulator.metrics.columns import column_of
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POLICIES = {"PV-EASY": "pv-easy", "FCFS-EASY": "easy-at-events", "SJF-EASY": "sjf-at-events"}
"""The policies, by the paper's names; EASY, also with the shortest job ahead, is that of its simulator."""

POLICY_OF = {"PV-EASY": "pv-easy", "FCFS-EASY": "easy", "SJF-EASY": "sjf-backfill"}
"""Those of ours that have their colours in pictures."""

METRICS = ("MBS", "MWBS")
IN_WORDS = {"MBS": "mean bounded\nslowdown (MBS)", "MWBS": "mean of the same, weighted\nby processors (MWBS)"}
"""The metrics, as they stand at an axis."""

REPETITIONS, REPETITIONS_BESIDE = 10, 3
"""Draws of predictions, by the chosen reading and by the other."""

REQUEST, ANY_MOMENT = "request", "any-moment"
"""To what a job that outlives its prediction is expected to run."""

READINGS = {
    REQUEST: "a job that outlives its prediction is expected to run to its request",
    ANY_MOMENT: "a job that outlives its prediction is expected to end at any moment",
}

PREDICTED = "predicted"
"""The subject of what is measured here; places of its curves are the repetitions."""


@dataclass(frozen=True)
class ErrorOfPaper(Parameters):
    """A policy, the largest error of predictions as a share of run times, how often they are drawn, and the reading."""

    NAME = "error"
    policy: str = choice(*POLICIES.values())
    error: float = number(0.0, least=0, most=1)
    repetitions: int = whole(REPETITIONS, least=1)
    outlived: str = choice(REQUEST, ANY_MOMENT)


def measure_error(trace: Trace, parameters: ErrorOfPaper, seed: int) -> pd.DataFrame:
    """Return the slowdowns of each repetition; those of different seeds are drawn independently."""
    jobs = kept_jobs(trace)
    rows: list[tuple[str, str, str, float | None]] = []
    for repetition in range(parameters.repetitions if len(jobs) else 0):
        drawn = seed * parameters.repetitions + repetition
        schedule = _schedule(jobs, parameters, drawn)
        slowdown = column_of(measure_jobs(schedule, bound=BOUND, slowdown="stretched"), "bounded_slowdown")
        width = column_of(schedule.jobs, "allocated_processors")
        values = (float(slowdown.mean()), float((slowdown * width).sum() / width.sum()))
        rows += [(PREDICTED, str(repetition), name, value) for name, value in zip(METRICS, values, strict=True)]
    return measured(rows)


def _schedule(jobs: Trace, parameters: ErrorOfPaper, seed: int) -> Schedule:
    """Return the schedule of jobs under predictions that are drawn by a seed."""
    policy = named(parameters.policy)
    if parameters.outlived == REQUEST:
        return simulate(jobs, policy, predictor=f"virtual:error={parameters.error}", seed=seed)
    # What the simulator expects to end at any moment is a job that outlives its request and is not cut.
    virtual, run_time = list_predictors()["virtual"], jobs.arrays.run_time
    drawn = replace(virtual, given=virtual.parameters.from_mapping({"error": parameters.error}))
    requested = drawn.told(run_time, np.fmax(run_time, jobs.arrays.requested_time), seed)
    return simulate(jobs.with_jobs(jobs.jobs.assign(requested_time=requested)), policy, overrun="run-on")


def errors(quick: bool) -> list[int]:
    """Return the errors, %."""
    return [0, 50, 100] if quick else list(range(0, 101, 10))


def repetitions(percent: int, quick: bool, outlived: str = REQUEST) -> int:
    """Return how often predictions with an error are drawn; those without any are the same each time."""
    return 1 if percent == 0 else 2 if quick else REPETITIONS if outlived == REQUEST else REPETITIONS_BESIDE


def error_run(policy: str, percent: int, quick: bool, outlived: str = REQUEST) -> Run:
    """Return the run of a policy with an error, by a reading; without an error nothing is outlived."""
    reading = REQUEST if percent == 0 else outlived
    return Run("error", ErrorOfPaper(policy, percent / 100, repetitions(percent, quick, reading), reading))


def runs_of_errors(log: str, quick: bool) -> list[Run]:
    """Return the runs of Figure 4."""
    if is_other(log):
        return []
    return [
        error_run(policy, percent, quick, outlived)
        for outlived in READINGS
        for policy in POLICIES.values()
        for percent in errors(quick)
    ]


def point(
    found: Measurements, log: str, metric: str, policy: str, percent: int, quick: bool, outlived: str = REQUEST
) -> tuple[float, float]:
    """Return the mean over repetitions and its standard error; NaN for what is not known."""
    run, places = error_run(policy, percent, quick, outlived), range(repetitions(percent, quick, outlived))
    values = [found.value(log, run, PREDICTED, metric, str(place)) for place in places]
    known = [value for value in values if not isnan(value)]
    if not known:
        return nan, nan
    return sum(known) / len(known), stdev(known) / sqrt(len(known)) if len(known) > 1 else nan


def cells_of_errors(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
    """Yield the points of Figure 4."""
    rows = product(logs_of_paper(found), METRICS, POLICIES.items(), READINGS.items())
    for log, metric, (name, policy), (outlived, reading) in rows:
        for percent in errors(quick):
            ours, spread = point(found, log, metric, policy, percent, quick, outlived)
            yield Cell(
                f"{short_name(log)} {metric} {name}",
                f"{percent} %",
                ours,
                "mean over draws of predictions with this largest error",
                reading=reading,
                is_chosen=outlived == REQUEST,
                spread=spread,
            )


def draw(measurements: pd.DataFrame) -> Figure:
    """Draw slowdowns over the largest error of predictions, a panel a log and metric, a line a policy and reading."""
    found = Measurements(measurements)
    logs = [log for log in logs_of_paper(found) if _curve(found, log, "MBS", "pv-easy", REQUEST)[0]]
    looks = {name: look_of(POLICY_OF[name]) for name in POLICIES}
    figure, axes = panels((10, 6.2), len(METRICS), len(logs))
    for (line, metric), (column, log) in product(enumerate(METRICS), enumerate(logs)):
        place = axes[line, column]
        for name, policy in POLICIES.items():
            for outlived, dashes in ((REQUEST, "-"), (ANY_MOMENT, ":")):
                label = name if outlived == REQUEST else f"{name}, may end at any moment"
                look = looks[name] | {"linestyle": dashes}
                place.errorbar(
                    *_curve(found, log, metric, policy, outlived), label=label, markersize=4, elinewidth=0.8, **look
                )
        place.set(title=short_name(log), yscale="log")
        count_axis(place, "y")
    for place, metric in zip(axes[:, 0], METRICS, strict=True):
        place.set_ylabel(IN_WORDS[metric])
    for place in axes[-1]:
        place.set_xlabel("largest error of predictions, %")
    if logs:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _curve(
    found: Measurements, log: str, metric: str, policy: str, outlived: str
) -> tuple[list[int], list[float], list[float]]:
    """Return errors that were measured, means, and standard errors, 0 where there is none."""
    for quick in (False, True):
        points = {percent: point(found, log, metric, policy, percent, quick, outlived) for percent in errors(quick)}
        known = {percent: values for percent, values in points.items() if not isnan(values[0])}
        # Of a quick run the exact predictions are those of a full one: a curve has more than these.
        if len(known) > 1:
            means, spreads = zip(*known.values(), strict=True)
            return list(known), list(means), [0.0 if isnan(spread) else spread for spread in spreads]
    return [], [], []
