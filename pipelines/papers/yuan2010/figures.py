# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2, 3, 5 and 6: slowdowns of blocked jobs by their processors, and of all jobs.

Reading chosen
    The figures print no numbers, and do not say which groups of blocked jobs theirs are; ours are eighths of the
    machine. In Figures 2 and 3 EASY is told the Last Model (see ``tables``); in Figures 5 and 6, where "EASY-Last" is a
    bar of its own, EASY is told what users request.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pipelines.papers.entries import Entry, made_of
from pipelines.papers.looks import panels
from pipelines.papers.paper import AS_WRITTEN, Measurements
from pipelines.papers.yuan2010.errors import IN_WORDS
from pipelines.papers.yuan2010.populations import is_other, logs_of_paper, short_name
from pipelines.papers.yuan2010.schedules import BIG, BLOCKED, EASY_LAST, JOBS, NAMES, PARTS, PV_EASY, SMALL
from pipelines.papers.yuan2010.tables import EASY_READINGS, LAST, OF_SCHEDULES
from swftools.plots.style import count_axis, look_of

LOOKS = {name: look_of(policy) for name, policy in {"PV-EASY": "pv-easy", "EASY": "easy"}.items()}
LOOKS["EASY-Last"] = LOOKS["EASY"] | {"linestyle": (0, (1, 1)), "marker": "^"}
HATCHES = {"EASY-Last": "///"}
"""How the policies look; EASY-Last is EASY, told something else."""

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = {f"{part}/{PARTS}": (BLOCKED, str(part)) for part in range(1, PARTS + 1)}
"""Groups of blocked jobs by the part of the machine that they take at most: subject and place of the curve."""

COLUMNS = {"up to 1/4": (SMALL, ""), "above 1/4": (BIG, ""), **GROUPS}

DEFINITIONS = {"MBS": "mean bounded slowdown", "MWBS": "the same, weighted by processors"}


def entries_of_blocked(metric: str, log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield the cells of Figure 2 or 3: a metric of blocked jobs by the part of the machine that they take."""
    definition = f"{DEFINITIONS[metric]} of the blocked jobs on such a part of the machine, in eighths up to that"
    runs = [("PV-EASY", AS_WRITTEN, PV_EASY), *(("EASY", reading, run) for reading, run in EASY_READINGS.items())]
    for name, reading, run in [] if is_other(log) else runs:
        for column, (subject, x) in COLUMNS.items():
            place, is_chosen = f"{short_name(log)} {name}", reading in (AS_WRITTEN, LAST)
            yield Entry(
                place, column, run, metric, definition, subject=subject, x=x, reading=reading, is_chosen=is_chosen
            )


def entries_of_all(metric: str, log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield the cells of Figure 5 or 6: a metric of all jobs."""
    for name, run in ({} if is_other(log) else NAMES).items():
        yield Entry(short_name(log), name, run, metric, f"{DEFINITIONS[metric]}, of all jobs")


MADE = {
    f"figure-{number}": made_of(partial(entries, metric), OF_SCHEDULES)
    for number, entries, metric in (
        ("2", entries_of_blocked, "MBS"),
        ("3", entries_of_blocked, "MWBS"),
        ("5", entries_of_all, "MBS"),
        ("6", entries_of_all, "MWBS"),
    )
}
"""How the table of each figure is made."""


def draw_blocked(measurements: pd.DataFrame) -> Figure:
    """Draw Figures 2 and 3: slowdowns of blocked jobs by the part of the machine that they take."""
    found = Measurements(measurements)
    logs = _measured(found)
    figure, axes = panels((10, 6.2), 2, len(logs))
    for line, metric in enumerate(DEFINITIONS):
        for column, log in enumerate(logs):
            bars = {"PV-EASY": PV_EASY, "EASY": NAMES["EASY"], "EASY-Last": EASY_LAST}
            values = {
                name: [found.value(log, run, subject, metric, x) for subject, x in GROUPS.values()]
                for name, run in bars.items()
            }
            place = axes[line, column]
            for name, heights in values.items():
                # Points, not bars: a bar on a logarithmic axis has no foot, and its length says nothing.
                place.plot(np.arange(len(GROUPS)), heights, label=name, markersize=5, **LOOKS[name])
            place.set_xticks(np.arange(len(GROUPS)), list(GROUPS), rotation=45)
            place.set(title=short_name(log), yscale="log")
            count_axis(place, "y")
        axes[line, 0].set_ylabel(f"{IN_WORDS[metric]}\nof blocked jobs")
    for place in axes[-1]:
        place.set_xlabel("part of the machine, up to")
    if logs:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_all(measurements: pd.DataFrame) -> Figure:
    """Draw Figures 5 and 6: slowdowns of all jobs."""
    found = Measurements(measurements)
    logs = _measured(found)
    figure, (axes,) = panels((9, 3.4), 1, 2)
    for place, metric in zip(axes, DEFINITIONS, strict=True):
        values = {name: [found.value(log, run, JOBS, metric) for log in logs] for name, run in NAMES.items()}
        _bars(place, [short_name(log) for log in logs], values)
        place.set_ylabel(IN_WORDS[metric])
    if logs:
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _measured(found: Measurements) -> list[str]:
    """Return the logs of which something is drawn."""
    return [log for log in logs_of_paper(found) if not isnan(found.value(log, PV_EASY, JOBS, "MBS"))]


def _bars(place: Any, labels: list[str], values: dict[str, list[float]]) -> None:
    """Draw groups of bars, one of each name in each group; none where a value is not known."""
    at = np.arange(len(labels))
    for number, (name, heights) in enumerate(values.items()):
        look = LOOKS[name]
        place.bar(at + (number - 1) * 0.27, heights, 0.25, label=name, color=look["color"], hatch=HATCHES.get(name))
    place.grid(visible=False, axis="x")
    place.set_xticks(at, labels)
