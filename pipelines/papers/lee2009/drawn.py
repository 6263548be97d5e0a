# SPDX-License-Identifier: BSD-3-Clause
"""Figures 1.2 and 2.11: a schedule and functions that are drawn, of made-up jobs rather than of a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from pipelines.papers.lee2009.values import cell_of, mean
from pipelines.papers.lee2009.windows import is_of_utility
from pipelines.papers.looks import panels
from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from swftools.parameters import Parameters, whole
from swftools.plots.style import COLORS
from swftools.simulator import simulate
from swftools.simulator.metrics.columns import column_of
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions
from swftools.utility.model import DECAY_KINDS, UtilityParameters, generate_utility

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MACHINE = 6
"""Processors of Figure 1.2."""


class Job(NamedTuple):
    """A job of Figure 1.2: processors, requested time and run time; the lowest of its processors, to be drawn."""

    processors: int
    request: float
    run: float
    lowest: int


JOBS = {"J0": Job(4, 10, 4, 0), "J1": Job(5, 6, 6, 0), "J2": Job(2, 10, 10, 4)}
"""In order of submission, all at once. J0 ends before it was to."""

SCENES = {
    "as planned": (("J0", "J1", "J2"), False),
    "J0 ends early": (("J0", "J1", "J2"), True),
    "without J2": (("J0", "J1"), True),
}
"""Which jobs there are, and whether they run as long as they do."""

START, END = "start", "end"

GRID = 40
"""Points at which the functions of Figure 2.11 are measured."""

ONE, AVERAGE = "one function", "mean of many"


@dataclass(frozen=True)
class PseudoDelayOfPaper(Parameters):
    """Nothing can be chosen."""

    NAME = "pseudo-delay"


@dataclass(frozen=True)
class DecayOfPaper(Parameters):
    """How many functions of each kind are drawn."""

    NAME = "decay"
    functions: int = whole(2_000, least=1)


PSEUDO_DELAY, DECAY = Run("pseudo-delay", PseudoDelayOfPaper()), Run("decay", DecayOfPaper())

UNITS = {START: "s", END: "s"}


def measure_pseudo_delay(trace: Trace, parameters: PseudoDelayOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (its own jobs)
    """Return when the jobs of Figure 1.2 start and end under conservative backfilling, by scene."""
    rows = []
    for scene, (names, is_early) in SCENES.items():
        jobs = [JOBS[name] for name in names]
        made = Trace.from_columns(
            machine_processors=MACHINE,
            job_number=range(len(jobs)),
            submit_time=[0] * len(jobs),
            requested_processors=[job.processors for job in jobs],
            requested_time=[job.request for job in jobs],
            run_time=[job.run if is_early else job.request for job in jobs],
        )
        schedule = simulate(made, "conservative").jobs
        for name, start, end in zip(
            names, column_of(schedule, "start_time"), column_of(schedule, "end_time"), strict=True
        ):
            rows += [(scene, name, START, float(start)), (scene, name, END, float(end))]
    return measured(rows)


def measure_decay(trace: Trace, parameters: DecayOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (its own jobs)
    """Return the value over the start value by time over the deadline: of one function, and of many."""
    count = parameters.functions
    made = Trace.from_columns(
        job_number=range(count), submit_time=[0] * count, wait_time=[0] * count, run_time=[500] * count
    )
    rows = []
    for kind in DECAY_KINDS:
        chosen = UtilityParameters(seed=seed, decay_shares={kind: 1.0})
        functions = UtilityFunctions.from_arrow(generate_utility(made, chosen)["utility"])
        for point in range(GRID + 1):
            part = point / GRID
            value = functions.evaluate(part * functions.deadlines) / functions.start_values
            rows += [(kind, f"{part:g}", ONE, float(value[0])), (kind, f"{part:g}", AVERAGE, float(value.mean()))]
    return measured(rows)


def runs_of_drawn(run: Run, log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (quick as it is)
    """Return the run of a figure, once."""
    return [run] if is_of_utility(log) else []


def cells_of_pseudo_delay(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
    """Yield when each job of Figure 1.2 starts."""
    for log in _first(found):
        for scene, (names, _) in SCENES.items():
            for name in names:
                values = found.values(log, PSEUDO_DELAY, scene, START, name)
                yield cell_of(scene, f"start of {name}", values, "start under conservative backfilling", unit="s")


def cells_of_decay(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
    """Yield the mean values of Figure 2.11 at some times."""
    for log in _first(found):
        for kind in DECAY_KINDS:
            for part in (0.0, 0.25, 0.5, 0.75, 1.0):
                values = found.values(log, DECAY, kind, AVERAGE, f"{part:g}")
                column = f"at {100 * part:g} % of the deadline"
                yield cell_of(kind, column, values, "value over the start value, mean of many functions")


def _first(found: Measurements) -> list[str]:
    """Return the first log of those on which the figures were made; they are the same on all."""
    return [log for log in found.logs if is_of_utility(log)][:1]


def draw_pseudo_delay(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 1.2: the three jobs on the machine, a panel a scene."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    found = Measurements(measurements)
    figure, (axes,) = panels((9, 2.9), 1, len(SCENES), sharey=True)
    for place, (scene, (names, _)) in zip(axes, SCENES.items(), strict=True):
        for log in _first(found):
            for number, name in enumerate(names):
                job = JOBS[name]
                start, end = (mean(found.values(log, PSEUDO_DELAY, scene, which, name)) for which in (START, END))
                box = Rectangle(
                    (start, job.lowest), end - start, job.processors, facecolor=COLORS[number], edgecolor="k"
                )
                place.add_patch(box)
                place.text((start + end) / 2, job.lowest + job.processors / 2, name, ha="center", va="center")
        place.set(title=scene, xlim=(0, 17), ylim=(0, MACHINE), xlabel="s")
    axes[0].set_ylabel("processors")
    return figure


def draw_decay(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 2.11: three models of decay, one function of each and the mean of many."""
    found = Measurements(measurements)
    figure, (axes,) = panels((9, 2.9), 1, len(DECAY_KINDS), sharey=True)
    parts = np.arange(GRID + 1) / GRID
    for place, (number, kind) in zip(axes, enumerate(DECAY_KINDS), strict=True):
        for log in _first(found):
            for measure, dashes in ((ONE, "-"), (AVERAGE, "--")):
                values = [mean(found.values(log, DECAY, kind, measure, f"{part:g}")) for part in parts]
                place.plot(parts, values, color=COLORS[number], linestyle=dashes, label=measure)
            place.legend()
        place.set(title=kind, xlabel="time / deadline", ylim=(0, 1.03))
    axes[0].set_ylabel("value / start value")
    return figure
