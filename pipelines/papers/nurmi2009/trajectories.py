# SPDX-License-Identifier: BSD-3-Clause
"""Figures 5.2 and 5.4: how stable bounds are in a month, and when to submit a job that is to run 12 h later.

Reading chosen
    Of a log the queue with most jobs, and DataStar's queue normal; of both figures the fullest month, for DataStar
    February, as in the paper, but of 2005. In Figure 5.2 the cluster with most jobs of that month stands, and the bound
    that each of them was told. The job of Figure 5.4 is planned with what is known at the month's end: an hour on 4
    processors, 4 nodes of 8 of DataStar.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pipelines.papers.looks import panels
from pipelines.papers.nurmi2009.populations import ANY, OTHER_PERIOD, POPULATIONS, population_of, select
from pipelines.papers.nurmi2009.reservations import NODE, NORMAL
from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from swftools.parameters import Parameters, choice, text, whole
from swftools.plots.style import COLORS, duration_axis
from swftools.qbets import WaitPredictor
from swftools.reservations import ReservedJob, plan_reservation
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOUR, DAY = 3600.0, 86_400.0

AHEAD = 12 * HOUR
"""From the month's end until the job of Figure 5.4 is to run, s."""

TARGET = 0.5
"""That is asked for there."""

FEBRUARY = "2005-02"

UNITS = {
    **dict.fromkeys(("jobs",), "jobs"),
    **dict.fromkeys(("wait", "bound", "wait .05", "wait .95", "bound .05", "bound .95"), "s"),
    **dict.fromkeys(("best wait", "latest wait", "latest request"), "s"),
}


@dataclass(frozen=True)
class TrajectoryOfPaper(Parameters):
    """Of which queue and month, and how many processors the job has; without a month the fullest."""

    NAME = "trajectory"
    population: str = choice(ANY, *POPULATIONS)
    month: str | None = text(None)
    processors: int = whole(4, least=1)
    training: int = whole(1000, least=0)


def measure_trajectory(trace: Trace, parameters: TrajectoryOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return waits and bounds of a month, and the trajectory of a job at its end, with their chief numbers."""
    parts = select(trace, parameters.population)
    if not parts:
        return measured([])
    row = (
        f"{parameters.population}/normal"
        if parameters.population == NORMAL
        else max(parts, key=lambda each: len(parts[each]))
    )
    jobs = parts[row].jobs
    months = _months(parts[row])
    month = parameters.month if parameters.month in set(months) else str(months.value_counts().index[0])
    begin, end = jobs.loc[months == month, "submit_time"].agg(["min", "max"])
    predictor = WaitPredictor("binomial", by=None, training=parameters.training)
    told = predictor.replay(parts[row].with_jobs(jobs[jobs["submit_time"] <= end].reset_index(drop=True)))
    chosen = told[(told["submit_time"] >= begin) & told["wait_bound"].notna() & told["wait_time"].notna()]
    if chosen.empty:
        return measured([])
    chosen = chosen[chosen["cluster"] == chosen["cluster"].value_counts().index[0]]
    rows = [
        (row, f"{(submit - begin) / DAY:.4f}", name, value)
        for name, column in _CURVES.items()
        for submit, value in chosen[["submit_time", column]].itertuples(index=False)
    ]
    waits, bounds = (chosen[column].to_numpy(dtype=np.float64) for column in _CURVES.values())
    rows += [(row, "", "jobs", float(len(chosen))), (row, "", "within", float((waits <= bounds).mean()))]
    for name, values in (("wait", waits), ("bound", bounds)):
        rows += [
            (row, "", f"{name} {words}", float(np.quantile(values, of))) for words, of in ((".05", 0.05), (".95", 0.95))
        ]
    return measured([*rows, *_trajectory(predictor, parameters.processors, row)])


_CURVES = {"wait": "wait_time", "bound": "wait_bound"}


def _months(trace: Trace) -> pd.Series[str]:
    """Return the month of each submission: 2005-02; counted by 30 days where the log has no date."""
    seconds = trace.jobs["submit_time"].astype("float64")
    start = trace.header.unix_start_time
    if start is None:
        return "month " + (seconds // (30 * DAY)).astype("int64").astype("str")
    return pd.to_datetime(seconds + start, unit="s").dt.strftime("%Y-%m")


def _trajectory(predictor: WaitPredictor, processors: int, row: str) -> Iterator[tuple[str, str, str, float]]:
    """Yield where the probability of a start changes over the times of submission, and what is chosen of it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "waits.state"
        predictor.save(path)
        now = predictor.last
        plan = plan_reservation(path, ReservedJob(HOUR, processors), now + AHEAD, TARGET, now=now)
    table = plan.trajectory.table()
    changes = table["probability"].diff().ne(0.0).to_numpy(copy=True)
    changes[-1] = True
    for submit, probability in table.loc[changes, ["submit_time", "probability"]].itertuples(index=False):
        yield row, f"{submit - now:.0f}", "probability", float(probability)
    if plan.best_probability is not None and plan.best_submit_time is not None:
        yield row, "", "best probability", plan.best_probability
        yield row, "", "best wait", plan.best_submit_time - now
    if plan.wait is not None and plan.requested_time is not None:
        yield row, "", "latest wait", plan.wait
        yield row, "", "latest request", plan.requested_time


def trajectory_run(log: str, quick: bool) -> Run:
    """Return the run of a log."""
    name = population_of(log)
    month, processors = (FEBRUARY, 4 * NODE) if name == NORMAL else (None, 4)
    return Run("trajectory", TrajectoryOfPaper(name, month, processors, 200 if quick else 1000))


def runs_of_trajectories(log: str, quick: bool) -> list[Run]:
    """Return the run of both figures."""
    return [trajectory_run(log, quick)]


STABILITY = {
    "jobs": ("jobs", "of the cluster in the month that were told a bound", None),
    "waits": ("wait .05", "their .05 quantile", "10"),
    "to": ("wait .95", "their .95 quantile", "110000"),
    "bounds": ("bound .05", "the .05 quantile of what they were told", None),
    "and to": ("bound .95", "the .95 quantile of that", None),
    "within": ("within", "share of waits no longer than the bound", None),
}
"""Columns of Figure 5.2: the measure, what it is, and what the text prints."""

CHOICE = {
    "best": ("best probability", "the greatest probability of a start within 12 h, of any submission", "0.7"),
    "submitted at": ("best wait", "when that is, from now on", "21600"),
    "latest for .5": ("latest wait", "the latest submission of .5 or more, from now on", "40470"),
    "request": ("latest request", "what is requested then", "6330"),
}
"""Columns of Figure 5.4."""

_OTHER_MACHINE = "the paper's is another machine, NCSA's TeraGrid cluster, whose log is not public"


def cells_of_stability(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (the text prints)
    """Yield a row a log of Figure 5.2."""
    yield from _cells(found, quick, STABILITY, f"the whole range is printed, where it is DataStar; {OTHER_PERIOD}")


def cells_of_choice(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (the text prints)
    """Yield a row a log of Figure 5.4."""
    yield from _cells(found, quick, CHOICE, _OTHER_MACHINE)


def _cells(
    found: Measurements, quick: bool, columns: Mapping[str, tuple[str, str, str | None]], note: str
) -> Iterator[Cell]:
    """Yield the numbers of a figure, beside what the text says of its own."""
    for log in found.logs:
        run = trajectory_run(log, quick)
        for row in found.subjects(log, run):
            for column, (measure, definition, text_says) in columns.items():
                is_of_paper = population_of(log) == NORMAL
                yield Cell(
                    row.replace(f"{ANY}/", f"{log}/"),
                    column,
                    found.value(log, run, row, measure),
                    definition,
                    unit=UNITS.get(measure, "1"),
                    printed=text_says if is_of_paper else None,
                    note=note if is_of_paper else None,
                )


def curve_of(found: Measurements, log: str, run: Run, row: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where a curve was measured, and its values."""
    table = found.table
    chosen = (table["log"] == log) & (table["experiment"] == run.text) & (table["subject"] == row)
    curve = table[chosen & (table["measure"] == measure) & (table["x"] != "")]
    return curve["x"].astype("float64").to_numpy(), curve["value"].to_numpy(dtype=np.float64)


def draw_stability(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 5.2: waits of a month, and the bounds that jobs were told, a panel a log."""

    def draw(place: Axes, found: Measurements, log: str, run: Run, row: str) -> None:
        at, waits = curve_of(found, log, run, row, "wait")
        place.plot(at, np.maximum(waits, 1.0), ".", color=COLORS[0], markersize=2, label="wait", rasterized=True)
        at, bounds = curve_of(found, log, run, row, "bound")
        place.plot(at, np.maximum(bounds, 1.0), color=COLORS[1], drawstyle="steps-post", label="bound of .95")
        duration_axis(place, "y")
        place.set(xlabel="day of the month", ylabel="wait")

    return _figure(measurements, draw)


def draw_choice(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 5.4: the probability of a start in time by submission, a panel a log."""

    def draw(place: Axes, found: Measurements, log: str, run: Run, row: str) -> None:
        at, probability = curve_of(found, log, run, row, "probability")
        place.plot(
            at / HOUR, probability, drawstyle="steps-post", color=COLORS[0], label="probability of a start in time"
        )
        latest = found.value(log, run, row, "latest wait")
        place.axhline(TARGET, color="black", linestyle=":", linewidth=1.0)
        if not np.isnan(latest):
            place.plot([latest / HOUR], [TARGET], "o", color=COLORS[1], label="latest submission for .5")
        place.set(xlabel="submitted, h from now on", ylabel="probability", xlim=(0.0, AHEAD / HOUR), ylim=(0.0, 1.0))

    return _figure(measurements, draw)


def _figure(measurements: pd.DataFrame, draw: Any) -> Figure:
    """Draw a panel for each log in which something was measured."""
    found = Measurements(measurements)
    runs = {
        log: next(
            (run for run in (trajectory_run(log, quick) for quick in (False, True)) if found.subjects(log, run)), None
        )
        for log in found.logs
    }
    shown = [(log, run, row) for log, run in runs.items() if run for row in found.subjects(log, run)]
    figure, (axes,) = panels((1.0 + 3.2 * max(1, len(shown)), 3.4), 1, len(shown), sharey=True)
    for place, (log, run, row) in zip(axes, shown, strict=False):
        draw(place, found, log, run, row)
        place.set_title(row.replace(f"{ANY}/", f"{log}/"))
        place.label_outer()
    if shown:
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
