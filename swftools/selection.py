# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the jobs of an experiment: by line, by number, by date or month, with a warm-up and a cool-down.

A simulation of a part of a log begins on an empty machine and ends on one. So jobs are taken from before and after the
part to be measured too, and ``is_measured`` says which those are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.header import SwfHeader, zone_of
from swftools.keyed_random import count_occurrences
from swftools.models.arrivals import ArrivalParameters, apply_arrivals, generate_arrivals
from swftools.parameters import is_number, is_whole
from swftools.trace import Trace

BoolArray = npt.NDArray[np.bool_]


def select_jobs(
    trace: Trace,
    *,
    lines: tuple[int, int] | None = None,
    job_numbers: tuple[int, int] | Collection[int] | None = None,
    begin: float | str | datetime | None = None,
    end: float | str | datetime | None = None,
    month: str | None = None,
    warm_up: float = 0.0,
    cool_down: float | None = 0.0,
) -> Trace:
    """Choose the jobs of an experiment, and mark which of them are measured.

    Parameters
    ----------
    trace : Trace
        As read or cleaned.
    lines : (int, int), optional
        First and last row of the trace, counted from 0. In a log as read these are its data lines, which is often meant
        by "jobs 5,000 to 10,000" of a log.
    job_numbers : (int, int) or collection of int, optional
        First and last job number, or the numbers.
    begin, end : float, str or datetime, optional
        Submission from ``begin`` up to, not including, ``end``: seconds of the log, or a date in ISO form in the log's
        time zone (``swftools.header.zone_of``).
    month : str, optional
        ``2000-07``: from its first midnight in the log's time zone to that of the next month.
    warm_up : float
        Also keep jobs submitted up to this many seconds before the first measured one.
    cool_down : float, optional
        And up to this many seconds after the last; None keeps all to the end of the trace.

    Returns
    -------
    Trace
        With a column is_measured: true for jobs that meet every given condition. job_occurrence is that of the whole
        log, so random draws for a job do not depend on which other jobs were chosen.

    Raises
    ------
    ParameterError
        A condition is malformed, or no job meets all.

    Notes
    -----
    Chiang and Vasupongayya 2008 measure one month with a warm-up of a week, and simulate on until all jobs of the month
    have started: ``month="2000-07", warm_up=7 * 86400, cool_down=None``.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3, 4], submit_time=[0, 50, 100, 150])
    >>> chosen = select_jobs(trace, begin=60, end=120, warm_up=50)
    >>> chosen.jobs["job_number"].tolist(), chosen.jobs["is_measured"].tolist()
    ([2, 3], [False, True])
    """
    submit = trace.views.submit_time
    measured = np.ones(len(trace), np.bool_)
    if lines is not None:
        first, last = _range("lines", lines)
        measured &= (np.arange(len(trace)) >= first) & (np.arange(len(trace)) <= last)
    if job_numbers is not None:
        measured &= _has_number(trace, job_numbers)
    if month is not None:
        if begin is not None or end is not None:
            raise ParameterError(f"select_jobs: month={month!r} beside begin or end; give one or the other")
        begin, end = _month(month)
    if begin is not None:
        measured &= submit >= _seconds(begin, trace.header, "begin")
    if end is not None:
        measured &= submit < _seconds(end, trace.header, "end")
    for name, value in (("warm_up", warm_up), ("cool_down", cool_down)):
        if not (is_number(value, 0) or (value is None and name == "cool_down")):
            raise ParameterError(f"select_jobs: {name}={value!r} is not a number of seconds, 0 or more")
    if not measured.any():
        span = f"{np.nanmin(submit):g} to {np.nanmax(submit):g} s" if np.isfinite(submit).any() else "no times"
        raise ParameterError(f"select_jobs: none of {len(trace)} jobs (submitted {span}) meets all conditions")
    kept = _with_surroundings(submit, measured, warm_up, np.inf if cool_down is None else cool_down)
    occurrences = pd.array(count_occurrences(trace.jobs), dtype="Int64")
    jobs = trace.jobs.assign(is_measured=measured, job_occurrence=occurrences)[kept].reset_index(drop=True)
    return trace.with_jobs(jobs)


def scale_to_load(trace: Trace, load: float, processors: int | None = None) -> Trace:
    """Return a trace with a given offered load: times between submissions are multiplied by one factor.

    Parameters
    ----------
    trace : Trace
        Its width, run time and submission are used; logged waits have no meaning afterwards and are removed. Jobs wait
        for the same jobs as before, with the same think times.
    load : float
        Offered load to reach (``swftools.offered_load``).
    processors : int, optional
        Size of the machine, if not the trace's own.

    Raises
    ------
    ParameterError
        The trace lacks what a load is computed from.
    """
    sized = trace if processors is None else replace(trace, machine_processors=processors)
    arrivals = generate_arrivals(sized, ArrivalParameters(model="scaled", load=load))
    columns = sized.jobs.drop(columns="model_submit_time", errors="ignore").join(arrivals)
    scaled = apply_arrivals(sized.with_jobs(columns), keeps_dependencies=True)
    return scaled.with_jobs(scaled.jobs.drop(columns="model_submit_time"))


def stretch_of(before: Trace, after: Trace) -> tuple[float, float]:
    """Return from which time on ``scale_to_load`` multiplied what passes between submissions (s), and by what.

    Examples
    --------
    >>> log = Trace.from_columns(submit_time=[10, 20, 30], run_time=[5, 5, 5], requested_processors=[1, 1, 1])
    >>> stretch_of(log, scale_to_load(log, 0.5, processors=1))
    (10.0, 1.5)
    """
    first, last = (float(limit(before.views.submit_time)) for limit in (np.nanmin, np.nanmax))
    then = float(np.nanmax(after.views.submit_time))
    return first, (then - first) / (last - first) if last > first else 1.0


def _with_surroundings(
    submit: npt.NDArray[np.float64], measured: BoolArray, warm_up: float, cool_down: float
) -> BoolArray:
    """Return which jobs are kept: those measured, and those submitted shortly before or after."""
    times = submit[measured & ~np.isnan(submit)]
    if not len(times):
        return measured
    first, last = times.min(), times.max()
    around: BoolArray = ((submit >= first - warm_up) & (submit < first)) | (
        (submit > last) & (submit <= last + cool_down)
    )
    return measured | around


def _range(name: str, value: Any) -> tuple[int, int]:
    """Return the two ends of a range."""
    if not (isinstance(value, tuple | list) and len(value) == 2 and all(is_whole(part) for part in value)):
        raise ParameterError(f"select_jobs: {name}={value!r} is not two integers, first and last")
    return int(value[0]), int(value[1])


def _has_number(trace: Trace, numbers: tuple[int, int] | Collection[int]) -> BoolArray:
    """Return which jobs have the numbers: of a pair those between, of another collection those in it."""
    if isinstance(numbers, tuple):
        first, last = _range("job_numbers", numbers)
        return (trace.views.job_number >= first) & (trace.views.job_number <= last)
    return np.isin(trace.views.job_number, np.array(list(numbers), dtype=np.int64))


def _month(month: str) -> tuple[str, str]:
    """Return the first days of a month and of the next."""
    try:
        first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"select_jobs: month={month!r} is not a month such as 2000-07") from error
    after = (first + timedelta(days=32)).replace(day=1)
    return f"{first:%Y-%m-%d}", f"{after:%Y-%m-%d}"


def _seconds(when: float | str | datetime, header: SwfHeader, name: str) -> float:
    """Return a time in seconds of the log."""
    if is_number(when):
        return float(when)  # type: ignore[arg-type]
    try:
        date = when if isinstance(when, datetime) else datetime.fromisoformat(str(when))
    except ValueError as error:
        raise ParameterError(
            f"select_jobs: {name}={when!r} is neither a number of seconds nor a date such as 2000-07-01"
        ) from error
    if header.start is None:
        raise ParameterError(f"select_jobs: {name}={when!r}, but the log's header has no UnixStartTime; give seconds")
    if date.tzinfo is None:
        date = date.replace(tzinfo=zone_of(header))
    return (date - header.start).total_seconds()
