# SPDX-License-Identifier: BSD-3-Clause
"""Figure 4.2: how busy the machine was by the hour of the day, and how many jobs came.

The paper shows a graph of the whole log, from its documentation; this is of the window that is simulated, by the starts
and ends that were logged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.entries import Entry, made_of
from pipelines.papers.lee2009.values import logs_of_utility, mean
from pipelines.papers.lee2009.windows import is_of_utility, short_name, window
from pipelines.papers.looks import panels
from pipelines.papers.paper import Measurements, Run, measured
from swftools.header import zone_of
from swftools.parameters import Parameters
from swftools.plots.style import COLORS
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]

LOGGED, BUSY, COMING = "logged", "machine in use", "jobs submitted"
UNITS = {BUSY: "%", COMING: "%"}
HOURS, HOUR = 24, 3600.0


@dataclass(frozen=True)
class HoursOfPaper(Parameters):
    """Nothing can be chosen."""

    NAME = "hours"


RUN = Run("hours", HoursOfPaper())


def measure_hours(trace: Trace, parameters: HoursOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return by local hour which share of the machine was in use, and which share of the jobs came, %."""
    jobs = window(trace)
    arrays, processors = jobs.arrays, jobs.processors
    ran = (arrays.run_time > 0) & (arrays.wait_time >= 0) & (arrays.width > 0)
    if not ran.any() or not processors:
        return measured([])
    start = (arrays.submit_time + arrays.wait_time)[ran]
    header, submit = trace.header, arrays.submit_time
    begin = header.start.timestamp() if header.start else 0.0
    first = floor((begin + submit.min()) / HOUR) * HOUR - begin
    edges = np.arange(first, submit.max() + HOUR, HOUR)
    work = np.diff(work_until(edges, start, start + arrays.run_time[ran], arrays.width[ran]))
    zone = zone_of(header)
    hour = pd.to_datetime(edges[:-1] + begin, unit="s", utc=True).tz_convert(zone).hour.to_numpy()
    came = pd.to_datetime(submit + begin, unit="s", utc=True).tz_convert(zone).hour.to_numpy()
    rows = []
    for number in range(HOURS):
        if (hour == number).any():
            rows.append((LOGGED, str(number), BUSY, 100 * float(work[hour == number].mean()) / (HOUR * processors)))
        rows.append((LOGGED, str(number), COMING, 100 * float((came == number).mean())))
    return measured(rows)


def work_until(times: FloatArray, start: FloatArray, end: FloatArray, width: npt.NDArray[np.int64]) -> FloatArray:
    """Return the processor-seconds that runs did until some times.

    Examples
    --------
    >>> work_until(np.array([0.0, 5.0, 20.0]), np.array([0.0, 4.0]), np.array([10.0, 6.0]), np.array([2, 3])).tolist()
    [0.0, 13.0, 26.0]
    """
    at = np.concatenate([start, end])
    order = np.argsort(at, kind="stable")
    level = np.cumsum(np.concatenate([width, -width])[order])
    at = at[order]
    done = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(at))])
    return np.asarray(np.interp(times, at, done), float)


DEFINITIONS = {
    BUSY: "share of the machine that logged runs took in this hour of the day, local time",
    COMING: "share of the jobs that were submitted in it",
}


def entries_of_hours(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield the points of Figure 4.2."""
    for column, definition in DEFINITIONS.items():
        for hour in map(str, range(HOURS if is_of_utility(log) else 0)):
            row = f"{short_name(log)} {hour} h"
            yield Entry(row, column, RUN, column, definition, UNITS[column], LOGGED, hour)


MADE = made_of(entries_of_hours)
"""How the table is made."""


def draw(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 4.2, a panel a log."""
    found = Measurements(measurements)
    logs = logs_of_utility(found)
    figure, (axes,) = panels((1.5 + 5.5 * max(1, len(logs)), 3.4), 1, len(logs))
    for log, place in zip(logs, axes, strict=False):
        for column, color, dashes in ((BUSY, COLORS[0], "-"), (COMING, COLORS[1], "--")):
            values = [mean(found.values(log, RUN, LOGGED, column, str(number))) for number in range(HOURS)]
            place.plot(range(HOURS), values, label=column, color=color, linestyle=dashes, marker="o", markersize=3)
        place.set(title=short_name(log), xlabel="hour of the day, local time", ylabel="%", ylim=(0, None))
        place.legend()
    return figure
