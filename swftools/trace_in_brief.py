# SPDX-License-Identifier: BSD-3-Clause
"""A trace in three lines and a few rows: what ``repr`` prints, and what a notebook shows.

It is below the trace, and takes what it tells of. It makes no arrays that stay: a trace is looked at far more often
than it is simulated, and a million jobs must not cost more than a moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.fields.definition import GENERATED
from swftools.fields.dictionary import SWF_NAMES, generated_columns
from swftools.header import SwfHeader
from swftools.named import Known, with_number
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_html import chief_columns, shortened

CHIEF = (
    *("job_number", "submit_time", "wait_time", "run_time", "allocated_processors", "requested_processors"),
    *("requested_time", "status", "user_id", "queue_id"),
)
"""Columns of jobs that are shown."""

_PART = 1 << 15
_NAMED = {"user_id": "user", "queue_id": "queue"}


def lines_of(
    jobs: pd.DataFrame, header: SwfHeader, processors: int | None, name: str | None, quarantined: int
) -> list[str]:
    """Return a trace in three lines.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Of the trace.
    header : SwfHeader
        Says the date of second 0, and the name of the machine where the log has none.
    processors : int or None
        Size of the machine.
    name : str or None
        Of the log.
    quarantined : int
        Lines that are not among the jobs.
    """
    title = name or header.computer or header.installation
    begin = end = 0.0
    submit = _numbers(jobs["submit_time"])
    if not (is_known := np.isfinite(submit)).all():
        submit = submit[is_known]
    first = ["Trace: " + (f"{shortened(title)}, " if title else "") + counted(len(jobs), "job")]
    if len(submit):
        begin, end = float(submit.min()), float(submit.max())
        first.append(_period(header, begin, end))
    machine = "of unknown size" if processors is None else counted(processors, "processor")
    second = [f"machine {machine}", counted(_different(jobs["user_id"]), "user")]
    if (load := _load(jobs, processors, end - begin)) is not None:
        second.append(f"load {load:.2f}")
    if generated := generated_columns(jobs):
        second.append(f"{counted(len(generated), 'column')} {GENERATED}")
    if quarantined:
        second.append(f"{counted(quarantined, 'line')} quarantined")
    return [", ".join(first), ", ".join(second), _lacking(jobs)]


def rows_of(jobs: pd.DataFrame, names: Known) -> pd.DataFrame:
    """Return the first jobs of a trace in their chief columns, users and queues with their names where there are any.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Of the trace.
    names : mapping
        Names by kind and number.
    """
    table = chief_columns(jobs, CHIEF)
    for column, kind in _NAMED.items():
        if known := names.get(kind):
            named = [None if pd.isna(number) else with_number(int(number), known) for number in table[column]]
            table = table.assign(**{column: pd.Series(named, index=table.index, dtype="str")})
    return table


def _period(header: SwfHeader, first: float, last: float) -> str:
    """Return the days of the first and last submission, by UTC; how long it is where the log has no dates."""
    start = header.start
    try:
        days = None if start is None else [(start + timedelta(seconds=time)).date() for time in (first, last)]
    except OverflowError:  # beyond the year 9999
        days = None
    return f"over {duration(last - first)}" if days is None else f"{days[0]} to {days[1]}"


def _load(jobs: pd.DataFrame, processors: int | None, span: float) -> float | None:
    """Return the offered load, as ``swftools.offered_load`` does; None where it is not known."""
    if not processors or not span:
        return None
    allocated, requested = _whole(jobs["allocated_processors"]), _whole(jobs["requested_processors"])
    run_time = _numbers(jobs["run_time"])
    work = 0.0
    for part in _parts(len(jobs)):
        width = np.where(allocated[part] > 0, allocated[part], requested[part])
        with np.errstate(all="ignore"):  # a run time that never ends is for others to refuse
            of_jobs = np.maximum(width, 0) * run_time[part]
            work += float(of_jobs.sum()) if np.isfinite(of_jobs.min()) else float(np.nansum(of_jobs))
    return work / (processors * span)


def _lacking(jobs: pd.DataFrame) -> str:
    """Return which columns lack values, those that lack most first."""
    counts = {name: _missing(jobs[name]) for name in SWF_NAMES}
    most_first = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    return "missing: " + (", ".join(f"{name} {percent(counts[name], len(jobs))}" for name in most_first) or "nothing")


def _different(column: pd.Series[Any]) -> int:
    """Return how many different values a column has."""
    if column.dtype != pd.Int64Dtype():
        return int(column.nunique())
    values = _whole(column)
    if _missing(column):
        values = values[column.notna().to_numpy()]
    if not len(values):
        return 0
    least, most = int(values.min()), int(values.max())
    if most - least > 4 * len(values):
        return len(np.unique(values))
    is_there = np.zeros(most - least + 1, bool)  # a table is several times as fast as sorting
    for part in _parts(len(values)):
        is_there[values[part] - least] = True
    return int(np.count_nonzero(is_there))


def _parts(jobs: int) -> Iterator[slice]:
    """Yield all rows in parts whose arrays stay in the processor's cache, which takes half the time."""
    for begin in range(0, jobs, _PART):
        yield slice(begin, begin + _PART)


def _missing(column: pd.Series[Any]) -> int:
    """Return how many values are missing."""
    if column.dtype == np.float64:
        return int(np.count_nonzero(np.isnan(column.to_numpy())))
    return int(np.count_nonzero(column.isna().to_numpy()))


def _whole(column: pd.Series[Any]) -> npt.NDArray[np.int64]:
    """Return a column of whole numbers, shared with it if it can be; -1 is missing, and what is no such number."""
    if column.dtype == pd.Int64Dtype():
        return column.to_numpy(dtype=np.int64, na_value=-1)
    numbers = _numbers(column)
    return np.where(np.abs(numbers) < 2.0**63, numbers, -1.0).astype(np.int64)


def _numbers(column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Return a column as numbers, shared with it if it can be; NaN is missing, and what is not a number."""
    if column.dtype.kind not in "iufb":
        column = pd.to_numeric(column, errors="coerce")
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
