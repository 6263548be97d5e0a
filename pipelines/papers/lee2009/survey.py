# SPDX-License-Identifier: BSD-3-Clause
"""Tables 6.1 and 6.2, Figures 6.2 to 6.5: what a survey of users says of checkpoints. A synthetic survey, made up here.

The survey of the paper is not public. The values here are those of one that is made up to have its totals
(``swftools.checkpoints.synthetic_survey``), for the jobs of another log: they say how near that comes, and nothing of
any user. Figures 6.2 to 6.5 print no numbers; what the text says of them stands beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.lee2009.values import cell_of, logs_of_checkpoints, mean
from pipelines.papers.lee2009.windows import is_of_checkpoints, short_name, surveyed
from pipelines.papers.looks import panels
from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run, Within, measured
from swftools.checkpoints.inference import CheckpointInference, CheckpointParameters, infer_checkpoints
from swftools.checkpoints.survey import CHOICES, DECLINED, YES
from swftools.checkpoints.synthetic_survey import CheckpointSurveyParameters, generate_checkpoint_survey
from swftools.parameters import Parameters, choice
from swftools.plots.style import COLORS
from swftools.simulator.metrics.columns import column_of
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
Row = tuple[str, str, str, float | None]

MADE_UP = "of a synthetic survey, made up to have the paper's totals"
"""Stands with every value."""

ANSWERS, ALL, INTERVALS = "jobs with an answer", "all jobs", "intervals"
"""Subjects, beside the choices."""

MINUTES = (1, 2, 5, 10, 15, 20, 30, 60, 120, 240)
RATIOS = (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
RUN_MINUTES = (1, 5, 15, 60, 180, 360, 720, 1080)
NODES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Where the distributions of Figures 6.2, 6.3, 6.4 and 6.5 are measured."""

CURVES = {
    "6.2": ("interval between checkpoints, min", MINUTES),
    "6.3": ("interval over run time", RATIOS),
    "6.4": ("run time, min", RUN_MINUTES),
    "6.5": ("nodes", NODES),
}

UNITS = {"responses": "answers", "share of responses": "%", "share of node-hours": "%", "share": "%"}


@dataclass(frozen=True)
class SurveyOfPaper(Parameters):
    """Of which workload is counted how many jobs write checkpoints: of the answers, or also of what is inferred."""

    NAME = "survey"
    workload: str = choice("pooled", "answers")


SURVEY = {name: Run("survey", SurveyOfPaper(name)) for name in ("answers", "pooled")}


def survey_of(trace: Trace, workload: str, seed: int) -> CheckpointInference:
    """Return what a synthetic survey of a trace says of its jobs."""
    survey = generate_checkpoint_survey(trace, CheckpointSurveyParameters(seed=seed))
    return infer_checkpoints(trace, survey, CheckpointParameters.from_mapping({"seed": seed, "workload": workload}))


def measure_survey(trace: Trace, parameters: SurveyOfPaper, seed: int) -> pd.DataFrame:
    """Return the answers by choice, distributions, and which share of the jobs and node-hours writes checkpoints."""
    jobs = surveyed(trace)
    found = survey_of(jobs, parameters.workload, seed)
    return measured([*_by_choice(found), *_distributions(jobs, found), *_checkpointing(jobs, found)])


def _by_choice(found: CheckpointInference) -> Iterator[Row]:
    """Yield Tables 6.1 and 6.2."""
    for row in found.summary.to_dict("records"):
        name = str(row["choice"])
        yield name, "", "responses", float(row["responses"])
        yield name, "", "share of responses", 100 * float(row["response_share"])
        yield name, "", "share of node-hours", 100 * float(row["processor_hours_share"])


def _distributions(jobs: Trace, found: CheckpointInference) -> Iterator[Row]:
    """Yield the curves of the figures, and what the text says of them."""
    choices = column_of(found.columns, "checkpoint_choice")
    is_own = (found.columns["checkpoint_source"] == "survey").to_numpy()
    run, nodes = np.nan_to_num(jobs.arrays.run_time), jobs.arrays.width.astype(float)
    interval = column_of(found.columns, "checkpoint_interval")
    yes = is_own & (choices == YES)
    minutes, known = interval[yes] / 60, yes & (run > 0)
    ratio = interval[known] / run[known]
    yield from _curve(INTERVALS, "6.2", minutes, MINUTES)
    yield from _curve(INTERVALS, "6.3", ratio, RATIOS)
    if len(minutes):
        yield INTERVALS, "", "median", float(np.median(minutes))
        yield INTERVALS, "", "5, 10 or 30 min", 100 * float(np.isin(minutes, (5, 10, 30)).mean())
    if len(ratio):
        yield INTERVALS, "", "at most 1/50 of the run time", 100 * float((ratio <= 1 / 50).mean())
        yield INTERVALS, "", "less than 1/4 of the run time", 100 * float((ratio < 1 / 4).mean())
    answered = is_own & (choices != DECLINED)
    for subject, part in ((ANSWERS, answered), (ALL, np.ones(len(run), bool))):
        yield subject, "", "jobs", float(part.sum())
        ran, wide = part & (jobs.arrays.run_time >= 0), part & (nodes > 0)
        yield from _curve(subject, "6.4", run[ran] / 60, RUN_MINUTES)
        yield from _curve(subject, "6.5", nodes[wide], NODES)
        for name, values in (("run time", run[ran] / 60), ("nodes", nodes[wide])):
            if len(values):
                yield subject, "", f"mean {name}", float(values.mean())
                yield subject, "", f"standard deviation of {name}", float(values.std())


def _curve(subject: str, figure: str, values: FloatArray, at: tuple[float, ...]) -> Iterator[Row]:
    """Yield which share of values is at most so large, %."""
    for limit in at if len(values) else ():
        yield subject, f"{limit:g}", f"figure {figure}", 100 * float((values <= limit).mean())


def _checkpointing(jobs: Trace, found: CheckpointInference) -> Iterator[Row]:
    """Yield which share of all jobs, and of their node-hours, writes checkpoints."""
    writes = found.columns["performs_checkpointing"].fillna(False).to_numpy(bool)
    work = np.maximum(jobs.arrays.width, 0) * np.nan_to_num(jobs.arrays.run_time)
    if len(writes):
        yield ALL, "", "share that writes checkpoints", 100 * float(writes.mean())
    if work.sum() > 0:
        yield ALL, "", "share of node-hours that writes checkpoints", 100 * float(work[writes].sum() / work.sum())


def runs_of_survey(log: str, quick: bool) -> list[Run]:
    """Return the survey's runs; every table here is of the same."""
    return list(SURVEY.values()) if is_of_checkpoints(log, quick) else []


def cells_of_choices(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the cells of Table 6.1 or 6.2: those of its columns that are measured here."""
    columns = [name for name in ("responses", "share of responses", "share of node-hours") if name in printed["0"]]
    definitions = {
        "responses": "answers with this choice; fewer in all, so that as many jobs have one as in the text",
        "share of responses": "of all answers",
        "share of node-hours": "of those of all jobs with an answer, by run time",
    }
    for log in logs_of_checkpoints(found, quick):
        for number, meaning in enumerate(CHOICES):
            for column in columns:
                text = printed[str(number)][column]
                yield cell_of(
                    f"{number} {meaning}",
                    column,
                    found.values(log, SURVEY["answers"], str(number), column),
                    definitions[column],
                    unit=UNITS[column],
                    reading=f"{MADE_UP}, for the jobs of {short_name(log)}",
                    printed=None if quick else text,
                    rule=Within(absolute=1.0) if column != "responses" else None,
                )


def cells_of_curves(figure: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001
    """Yield the points of Figure 6.2, 6.3, 6.4 or 6.5."""
    axis, at = CURVES[figure]
    subjects = (INTERVALS,) if figure in ("6.2", "6.3") else (ANSWERS, ALL)
    for log in logs_of_checkpoints(found, quick):
        for subject in subjects:
            for limit in at:
                values = found.values(log, SURVEY["answers"], subject, f"figure {figure}", f"{limit:g}")
                definition = f"share of {subject} with at most so much; {axis}"
                yield cell_of(
                    f"{short_name(log)} {subject}", f"{limit:g}", values, definition, unit="%", reading=MADE_UP
                )


def draw(measurements: pd.DataFrame) -> Figure:
    """Draw Figures 6.2 to 6.5, of the first log that has a survey."""
    found = Measurements(measurements)
    logs = [log for log in found.logs if found.values(log, SURVEY["answers"], ALL, "jobs")]
    figure, axes = panels((9, 6), 2, 2)
    axes = axes.ravel()
    for place, (number, (axis, at)) in zip(axes, CURVES.items(), strict=True):
        for subject, color, dashes in ((INTERVALS, 0, "-"), (ANSWERS, 1, "-"), (ALL, 6, "--")):
            shares = [
                mean(found.values(log, SURVEY["answers"], subject, f"figure {number}", f"{limit:g}"))
                for log in logs[:1]
                for limit in at
            ]
            if not np.isnan(shares).all():
                place.plot(at, shares, label=subject, color=COLORS[color], linestyle=dashes, marker="o", markersize=4)
        place.set(xscale="log", xlabel=axis, ylim=(0, 103), title=f"Figure {number}")
        if len(place.lines) > 1:
            place.legend()
    for place in axes[::2]:
        place.set_ylabel("share with at most so much, %")
    figure.suptitle("A synthetic survey, made up to have the paper's totals")
    return figure


MADE: dict[str, tuple[Plan, Cells]] = {
    **dict.fromkeys(("6.1", "6.2"), (runs_of_survey, cells_of_choices)),
    **{f"figure-{number}": (runs_of_survey, partial(cells_of_curves, number)) for number in CURVES},
}
"""How each table is made."""
