# SPDX-License-Identifier: BSD-3-Clause
"""Which months of which logs are simulated, at which load, and a table of them as the paper's Table 3 is.

The paper's own log, of the IA-64 cluster at NCSA, is not public. It says that results on two others are qualitatively
the same and leaves them out (section 1): SDSC-SP2 and KTH-SP2, which are simulated here.

Reading chosen
    The jobs with a run time (0 s among them) and allocated processors. A month counts if the log has a whole week
    before it, for the warm-up, and goes on after it, for the cool-down, and if its load is below 0.9, so that times
    between submissions are shrunk to reach 0.9: 17 months of SDSC-SP2 and 9 of KTH-SP2. Its load is the work of its
    jobs over what the machine can do in the month (Table 3). The factor, load / 0.9, is the month's own, and applies to
    the warm-up and to all that comes later too. Months begin at midnight by the log's standard time all year round; the
    other reading puts clocks forward in summer, which moves single jobs from month to month.

    Of a log without any such month, as the shipped excerpt, what lies between its first week and its last is measured,
    as one, whatever its load.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.header import SwfHeader, zone_of
from swftools.models.arrivals import ArrivalParameters, apply_arrivals, generate_arrivals
from swftools.offered_work import work_of_jobs
from swftools.parameters import Parameters, choice
from swftools.selection import select_jobs
from swftools.trace import Trace

LOGS = {"SDSC-SP2": "SDSC-SP2-1998-4.2-cln", "KTH-SP2": "KTH-SP2-1996-2.1-cln"}
"""The logs, by short names."""

STANDARD, SUMMER = "standard", "summer"
"""Whether months begin by standard time all year round, or by clocks that are put forward in summer."""

HIGH_LOAD = 0.9
"""The load that months are brought to, and below which theirs must be."""

WARM_UP = 7 * 86_400.0
"""Jobs submitted so long before a month are simulated too, s of the log."""

BETWEEN = "between"
"""What the measured part is called of a log without months that count."""

_SHORT = {log: short for short, log in LOGS.items()}


def short_name(log: str) -> str:
    """Return a short name for a log; of any but the two its own."""
    return _SHORT.get(log, log)


@dataclass(frozen=True)
class Month:
    """What is measured: name, beginning and end (not of it), s of the log, and offered load."""

    name: str
    begin: float
    end: float
    load: float


def months_of(kept: Trace, clock: str = STANDARD) -> list[Month]:
    """Return the months of a trace that are measured; see the module for the rule.

    Parameters
    ----------
    kept : Trace
        Of ``kept_jobs``, of a machine whose size is known.
    clock : {"standard", "summer"}
        When a month begins.

    Returns
    -------
    list of Month
        In order; empty where the log is not even longer than two weeks.
    """
    submit = kept.arrays.submit_time
    if not len(submit):
        return []
    first, last = float(np.nanmin(submit)), float(np.nanmax(submit))
    whole = [
        _month(kept, name, begin, end)
        for name, begin, end in _calendar(kept.header, first, last, clock)
        if begin - WARM_UP >= first and end <= last
    ]
    chosen = [month for month in whole if 0 < month.load < HIGH_LOAD]
    if not chosen:
        chosen = [month for month in [_month(kept, BETWEEN, first + WARM_UP, last - WARM_UP)] if month.load > 0]
    return chosen


def jobs_of(kept: Trace, month: Month, load: float | None, cool_down: float | None = None) -> Trace:
    """Return the jobs that are simulated for a month.

    Parameters
    ----------
    kept : Trace
        Of ``kept_jobs``.
    month : Month
        Of ``months_of``.
    load : float, optional
        All times between submissions are multiplied by the month's load over this one; as logged where none is given.
    cool_down : float, optional
        Up to so long after the month, s of the log; to its end where none is given.

    Returns
    -------
    Trace
        From the warm-up on, with the column is_measured: the jobs of the month.
    """
    end = None if cool_down is None else month.end + cool_down
    window = select_jobs(kept, begin=month.begin - WARM_UP, end=end)
    submit = window.arrays.submit_time
    marked = window.with_jobs(window.jobs.assign(is_measured=(submit >= month.begin) & (submit < month.end)))
    if load is None:
        return marked
    arrivals = generate_arrivals(marked, ArrivalParameters(model="scaled", factor=month.load / load))
    scaled = apply_arrivals(marked.with_jobs(marked.jobs.join(arrivals)))
    return scaled.with_jobs(scaled.jobs.drop(columns="model_submit_time"))


def _calendar(header: SwfHeader, first: float, last: float, clock: str) -> Iterator[tuple[str, float, float]]:
    """Yield name, beginning and end, s of the log, of each month from that of the first second to that of the last."""
    if header.start is None:
        return
    start, zone = header.start, _standard_time(header) if clock == STANDARD else zone_of(header)
    day = (start + timedelta(seconds=first)).astimezone(zone)
    begin = datetime(day.year, day.month, 1, tzinfo=zone)
    while (begin - start).total_seconds() <= last:
        end = datetime(begin.year + begin.month // 12, begin.month % 12 + 1, 1, tzinfo=zone)
        yield f"{begin:%Y-%m}", (begin - start).total_seconds(), (end - start).total_seconds()
        begin = end


def _standard_time(header: SwfHeader) -> tzinfo:
    """Return a log's standard time, by the offset of its header; without one its local time."""
    offset = header.time_zone
    return zone_of(header) if offset is None or abs(offset) >= 86_400 else timezone(timedelta(seconds=offset))


def _month(kept: Trace, name: str, begin: float, end: float) -> Month:
    """Return a month with the load that its jobs bring, 0 of one that lasts no time."""
    arrays, processors = kept.arrays, kept.processors
    is_in = (arrays.submit_time >= begin) & (arrays.submit_time < end)
    work = float(work_of_jobs(arrays.width, arrays.run_time)[is_in].sum())
    return Month(name, begin, end, work / (processors * (end - begin)) if processors and end > begin else 0.0)


@dataclass(frozen=True)
class PopulationOfPaper(Parameters):
    """When months begin."""

    NAME = "population"
    clock: str = choice(STANDARD, SUMMER)


COLUMNS = {
    "jobs": ("jobs", "jobs submitted in the month"),
    "load": ("%", "their processors x run times over what the machine can do in the month"),
    "mean N": ("processors", "mean processors"),
    "mean T": ("h", "mean run time"),
    "mean N x T": ("h", "mean product of both, processor-hours"),
    "N <= 8": ("%", "share of the jobs with so many processors"),
    "8 < N <= 32": ("%", "share of the jobs with so many processors"),
    "32 < N": ("%", "share of the jobs with so many processors"),
    "T < 5 h": ("%", "share of the jobs that ran so long"),
    "5 h <= T < 10 h": ("%", "share of the jobs that ran so long"),
    "10 h <= T": ("%", "share of the jobs that ran so long"),
}
"""Units and definitions of the columns of Table 3."""

UNITS = {name: unit for name, (unit, _) in COLUMNS.items()}

RULE = "of all months those with a whole week of the log before them, jobs after them, and a load below 0.9"
"""Which months these are, in words."""

POPULATION = Run("population", PopulationOfPaper())


def measure_population(trace: Trace, parameters: PopulationOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (draws nothing)
    """Return the columns of Table 3 for each month, which is the place of a curve."""
    kept = kept_jobs(trace)
    arrays = kept.arrays
    rows: list[tuple[str, str, str, float | None]] = []
    for month in months_of(kept, parameters.clock):
        is_in = (arrays.submit_time >= month.begin) & (arrays.submit_time < month.end)
        values = _population(arrays.width[is_in].astype(float), arrays.run_time[is_in] / 3600)
        values["load"] = 100 * month.load
        rows += [("month", month.name, name, values[name]) for name in COLUMNS]
    return measured(rows)


def _population(width: npt.NDArray[np.float64], hours: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return what Table 3 says of jobs, but for their load."""
    return {
        "jobs": float(len(width)),
        "mean N": float(width.mean()),
        "mean T": float(hours.mean()),
        "mean N x T": float((width * hours).mean()),
        "N <= 8": 100 * float((width <= 8).mean()),
        "8 < N <= 32": 100 * float(((width > 8) & (width <= 32)).mean()),
        "32 < N": 100 * float((width > 32).mean()),
        "T < 5 h": 100 * float((hours < 5).mean()),
        "5 h <= T < 10 h": 100 * float(((hours >= 5) & (hours < 10)).mean()),
        "10 h <= T": 100 * float((hours >= 10).mean()),
    }


def runs_of_months(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of any log, quick as it is)
    """Return the run of Table 3."""
    return [POPULATION]


def cells_of_months(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints another log's)
    """Yield the cells of Table 3, a row for each month."""
    rows = found.table[found.table["experiment"] == POPULATION.text]
    for log, month, measure, value in rows[["log", "x", "measure", "value"]].itertuples(index=False, name=None):
        unit, definition = COLUMNS[measure]
        yield Cell(f"{short_name(log)} {month}", measure, float(value), definition, unit=unit, reading=RULE)
