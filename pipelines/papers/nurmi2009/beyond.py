# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: by which bound to reserve, whether what is promised is met, and how many jobs may do it.

Reading chosen
    Under EASY, on each log as it is; a job that is drawn asks for the next full six hours. All methods are tried on the
    first 20,000 jobs of a log, the binomial one on all of it as well. Jobs are grouped by queue, and the first 1,000 of
    a group are for training. *binomial, adapting* asks for a percentile that rises with each reservation that is
    missed. Bounds of rivals, which are told by the queue as it stands, cannot be had of a submission to come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pipelines.papers.looks import panels
from pipelines.papers.nurmi2009.reservations import MEASURES, TARGETS, UNITS
from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run, measured
from pipelines.papers.yuan2010.populations import short_name
from swftools.parameters import Parameters, number, text, whole
from swftools.plots.series import look_at, share_interval
from swftools.qbets import WaitPredictor
from swftools.reservations import simulate_reservations
from swftools.simulator import simulate
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = (1, 10, 25, 50, 75, 95)
"""Percent of the jobs that ask."""

TOLD = TARGETS[1:]
"""Probabilities that are asked for."""

TARGET = 0.75
"""Of the comparison of methods."""

SOME = (10, 50)
"""Percent of the jobs that ask there."""

JOBS = 20_000
"""Of each log there."""

ADAPT = 0.01
"""By how much the percentile moves in all, of the method that adapts."""

METHODS = {
    "binomial": "binomial",
    "log-normal": "lognormal",
    "log-uniform": "loguniform",
    "Weibull": "weibull",
    "last 200 waits": "trailing:window=200",
    "binomial, adapting": "binomial",
}
"""What is compared, by what it is called here."""

ADAPTING = "binomial, adapting"

STEP = 0.05
"""Between two promises that are told apart."""

MET, PROMISED = "met of promised", "promised"
"""Measures of a curve over promises: the share that was met, and how many were promised so."""


@dataclass(frozen=True)
class ReservedOfLog(Parameters):
    """Who reserves, by which waits; ``jobs`` are the first of the log, all where it is 0."""

    NAME = "reserved"
    waits: str = text("binomial")
    percent: int = whole(10, least=0, most=100)
    probability: float = number(TARGET, above=0, most=0.99)
    adapt: float = number(0.0, least=0, most=1)
    jobs: int = whole(0, least=0)
    training: int = whole(1000, least=0)


def measure_reserved(trace: Trace, parameters: ReservedOfLog, seed: int) -> pd.DataFrame:
    """Return the measures of one simulation, and how often each promise was met."""
    if parameters.jobs:
        trace = trace.with_jobs(trace.jobs.head(parameters.jobs).reset_index(drop=True))
    waits = WaitPredictor(parameters.waits, by="queue", training=parameters.training)
    found = simulate_reservations(
        trace,
        "easy",
        waits=waits,
        seed=seed,
        share=parameters.percent / 100.0,
        probability=parameters.probability,
        adapt=parameters.adapt,
    )
    values = found.measures(simulate(trace, "easy", seed=seed))
    rows = [("all", "", name, values[name]) for name in MEASURES if not np.isnan(values[name])]
    for promise in found.calibration(STEP).to_dict("records"):
        x = f"{STEP * round(promise['quantile'] / STEP):.2f}"
        rows += [("all", x, MET, promise["correctness"]), ("all", x, PROMISED, float(promise["predicted"]))]
    return measured(rows)


# ---------------------------------------------------------------- what is run


def share_run(quick: bool, percent: int, target: float) -> Run:
    """Return the run of a share of a whole log."""
    return Run("reserved", ReservedOfLog(percent=percent, probability=target, training=100 if quick else 1000))


def method_run(quick: bool, method: str, percent: int) -> Run:
    """Return the run of a method on the first jobs of a log."""
    chosen = ReservedOfLog(
        METHODS[method], percent, TARGET, ADAPT if method == ADAPTING else 0.0, JOBS, 100 if quick else 1000
    )
    return Run("reserved", replace(chosen, jobs=1500) if quick else chosen)


def shares_of(quick: bool) -> tuple[int, ...]:
    """Return the shares that are tried."""
    return (10, 50) if quick else SHARES


def some_of(quick: bool) -> tuple[int, ...]:
    """Return the shares by which methods are tried."""
    return SOME[:1] if quick else SOME


def targets_of(quick: bool) -> tuple[float, ...]:
    """Return the probabilities that are asked for."""
    return TOLD[:1] if quick else TOLD


def plan_shares(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the runs by share."""
    return [share_run(quick, percent, target) for target in targets_of(quick) for percent in shares_of(quick)]


def plan_methods(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of every log)
    """Return the runs by method."""
    return [method_run(quick, method, percent) for percent in some_of(quick) for method in METHODS]


# ---------------------------------------------------------------- tables


def _met(value: Any) -> tuple[float, float]:
    """Return the share that was met, and its standard error if reservations were independent."""
    met, accepted = value("met"), value("accepted")
    return met, float(np.sqrt(met * (1.0 - met) / accepted)) if accepted else float("nan")


def _exact(one: str, by: str, value: Any) -> tuple[float, float]:
    """Return one measure divided by another."""
    return value(one) / value(by) if value(by) else float("nan"), float("nan")


OF_SHARES: dict[str, tuple[str, Any]] = {
    "met": ("share that ran by its time", _met),
    "accepted": ("accepted / asked", partial(_exact, "accepted", "asked")),
    "paid": ("processor-hours paid / needed, of accepted jobs", partial(_exact, "paid_hours", "needed_hours")),
    "others": (
        "mean wait of jobs without a reservation / that of the same jobs where nobody reserves",
        partial(_exact, "others_mean_wait", "others_mean_wait_plain"),
    ),
}
"""Tables by share of the jobs: the definition, and what is told."""


def cells_of_shares(name: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield a row a log and target, and a column a share."""
    definition, told = OF_SHARES[name]
    for log in found.logs:
        for target in targets_of(quick):
            for percent in shares_of(quick):
                value, error = told(partial(found.value, log, share_run(quick, percent, target), "all"))
                yield Cell(f"{short_name(log)}, {target:g} asked for", f"{percent} %", value, definition, spread=error)


def cells_of_methods(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield a row a log and method: met, accepted and paid by share."""
    for log in found.logs:
        for method in METHODS:
            for percent in some_of(quick):
                run = method_run(quick, method, percent)
                for name in ("met", "accepted", "paid"):
                    definition, told = OF_SHARES[name]
                    value, error = told(partial(found.value, log, run, "all"))
                    yield Cell(f"{short_name(log)}: {method}", f"{percent} %: {name}", value, definition, spread=error)


def cells_of_promises(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield a row a log and share: how often each promise was met."""
    for log in found.logs:
        for percent in shares_of(quick):
            kept = {x: (met, count) for x, met, count in promises_of(found, log, quick, percent)}
            for x in PROMISES:
                met, count = kept.get(x, (float("nan"), float("nan")))
                yield Cell(
                    f"{short_name(log)}, {percent} %",
                    f"promised {x}",
                    met,
                    "share that was met of those so promised at their submission, to the nearest .05; of 20 or more",
                    spread=float(np.sqrt(met * (1.0 - met) / count)),
                )


FEW = 20
"""Reservations of one promise that tell nothing if they are fewer."""

PROMISES = tuple(f"{STEP * place:.2f}" for place in range(14, 21))
"""That are shown, by what they are rounded to: 1.00 is .98 or .99. Who was promised less had a plan that failed."""


def promises_of(found: Measurements, log: str, quick: bool, percent: int) -> list[tuple[str, float, float]]:
    """Return promises, how often each was met, and how many were made, of all targets together."""
    sums: dict[str, list[float]] = {}
    for target in targets_of(quick):
        run = share_run(quick, percent, target)
        for place in range(1, 21):
            x = f"{STEP * place:.2f}"
            count = found.value(log, run, "all", PROMISED, x)
            if not np.isnan(count):
                so_far = sums.setdefault(x, [0.0, 0.0])
                so_far[0] += count * found.value(log, run, "all", MET, x)
                so_far[1] += count
    return [(x, met / count, count) for x, (met, count) in sorted(sums.items()) if count >= FEW]


MADE: dict[str, tuple[Plan, Cells]] = {
    **{name: (plan_shares, partial(cells_of_shares, name)) for name in OF_SHARES},
    "bounds": (plan_methods, cells_of_methods),
    "promises": (plan_shares, cells_of_promises),
}
"""How each table is made."""


# ---------------------------------------------------------------- pictures


def draw_reserved(measurements: pd.DataFrame) -> Figure:
    """Draw what was met, and others' waits, over the share of jobs that ask: a column a log."""
    from swftools.plots import plot  # noqa: PLC0415 (so)

    found, quick = _measured(measurements)
    figure, axes = panels((1.0 + 2.4 * max(1, len(found.logs)), 5.4), 2, len(found.logs), sharex=True, sharey="row")
    for column, log in enumerate(found.logs):
        rows = [
            {"share": percent / 100.0, "target": target}
            | {name: found.value(log, share_run(quick, percent, target), "all", name) for name in MEASURES}
            for target in targets_of(quick)
            for percent in shares_of(quick)
        ]
        for line, what in enumerate(("met", "others")):
            plot(pd.DataFrame(rows), "reserved", ax=axes[line, column], shows=what)
    _share_legend(figure, axes, [short_name(log) for log in found.logs])
    return figure


def draw_promises(measurements: pd.DataFrame) -> Figure:
    """Draw how often promises were met, a panel a log, a curve a share of jobs that ask."""
    found, quick = _measured(measurements)
    figure, axes = panels((1.0 + 2.4 * max(1, len(found.logs)), 3.4), 1, len(found.logs), sharex=True, sharey="row")
    ends = [float(PROMISES[0]), float(PROMISES[-1])]
    for place, log in zip(axes[0], found.logs, strict=False):
        for number_of_share, percent in enumerate(shares_of(quick)[:: 1 if quick else 2]):
            kept = [each for each in promises_of(found, log, quick, percent) if each[0] in PROMISES]
            at, met, count = (np.array([float(each[i]) for each in kept]) for i in range(3))
            low, high = share_interval(met, count)
            look: dict[str, Any] = look_at(number_of_share)
            label = f"{percent} % ask"
            place.errorbar(at, met, yerr=[met - low, high - met], label=label, markersize=4, elinewidth=0.8, **look)
        place.plot(ends, ends, label="as promised", color="black", linestyle=":", linewidth=1.0)
        place.set(xlabel="promised", ylabel="share met", ylim=(0.0, 1.02))
    _share_legend(figure, axes, [short_name(log) for log in found.logs])
    return figure


def _share_legend(figure: Figure, axes: Any, logs: list[str]) -> None:
    """Name each column of panels by its log, label the outer axes alone, and give all panels one legend."""
    entries: dict[str, Any] = {}
    for place in axes.ravel():
        handles, labels = place.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
        if place.get_legend() is not None:
            place.get_legend().remove()
        place.label_outer()
    for place, log in zip(axes[0], logs, strict=False):
        place.set_title(log)
    for place in axes[-1]:
        place.set_xlabel(place.get_xlabel().replace(" for a reservation", ""))
    if entries:
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=4)


def _measured(measurements: pd.DataFrame) -> tuple[Measurements, bool]:
    """Return what was measured, and whether it was to be quick."""
    found = Measurements(measurements)
    usual = any(found.subjects(log, share_run(False, 50, TARGET)) for log in found.logs)
    return found, not usual


EXPERIMENT_UNITS = UNITS | {PROMISED: "jobs"}
