# SPDX-License-Identifier: BSD-3-Clause
"""measure_drift: the table of how far the recent window is from the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.drift.aspects import DAY, Aspect, FloatArray, JobColumns, daily, list_drift_aspects
from swftools.drift.registry import NUMBERS, DriftStatistic, find_drift_statistic
from swftools.drift.sample import Sample
from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.parameters import is_number, is_whole, refuse_unknown
from swftools.trace import width_of

NEEDED_JOBS = 100
"""Jobs that a window must have for a statistic to mean anything."""

JOB_COLUMNS = (
    *("submit_time", "run_time", "allocated_processors", "requested_processors", "requested_time", "status"),
    *("user_id", "queue_id"),
)
"""The columns of jobs that drift is measured of."""

_TYPES = {
    **dict.fromkeys(("aspect", "statistic", "unit"), "str"),
    **dict.fromkeys(("recent", "reference", "drift", "threshold"), "float64"),
    **dict.fromkeys(("recent_jobs", "reference_jobs", "recent_missing", "reference_missing"), "Int64"),
    "is_beyond": "bool",
}

Thresholds = Mapping[str, Mapping[str, float | None]]


class _Window(NamedTuple):
    """Which of the columns' jobs are in a window; how long before its end each was submitted, s; and its days."""

    is_in: npt.NDArray[np.bool_]
    ago: FloatArray
    days: int


class _Chosen(NamedTuple):
    """A statistic that is measured of an aspect, and the drift beyond which it is told; NaN for never."""

    statistic: DriftStatistic
    threshold: float


def measure_drift(
    jobs: pd.DataFrame,
    processors: int | None,
    *,
    now: float,
    recent_days: int = 30,
    reference_days: int = 365,
    thresholds: Thresholds | None = None,
) -> pd.DataFrame:
    """Compare the jobs of the last days with those of the days before them.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Cleaned jobs, as ``Trace.jobs``, in any order; the columns ``JOB_COLUMNS`` are used. Times are s. Jobs outside
        both windows, and jobs without submit_time, are ignored.
    processors : int or None
        Size of the machine; None where it is not known.
    now : float
        End of the recent window, s, as submissions are counted. Later jobs are left out.
    recent_days : int
        Length of the recent window, which ends at ``now``.
    reference_days : int
        Length of the reference before that; less if the first job is later.
    thresholds : mapping, optional
        Other thresholds: ``{"run_time": {"kolmogorov_smirnov": 0.3}}``. With None instead of a number the statistic is
        measured but never reported. A statistic that is not measured by default (``list_drift_aspects``) is added.

    Returns
    -------
    pandas.DataFrame
        One row for each aspect and statistic, table ``workload_drift`` of the column dictionary: the same rows for all
        jobs. The drift is missing, and never beyond its threshold, where a window has fewer than 100 jobs with the
        aspect (of arrivals: where the reference has), where the reference is of fewer days than the recent window, and
        where the statistic has no meaning (a mean of 0 in the reference; no number of processors).

    Raises
    ------
    ParameterError
        A column is missing, a window is not a whole number of days, ``now`` is not a time, or a threshold is for a
        statistic that does not fit the aspect.

    Notes
    -----
    A log holds only jobs that have ended, so its last days lack the longest jobs. If jobs run for days, give a ``now``
    that many days before the end of the log. Days are 24 h, counted back from the end of each window.

    There are no random draws and no clock: equal jobs and ``now`` give an equal table, in any order of jobs.

    Examples
    --------
    >>> hours = np.arange(0.0, 90 * 24)
    >>> jobs = pd.DataFrame({"submit_time": hours * 3600, "run_time": np.where(hours < 60 * 24, 600.0, 1800.0)})
    >>> jobs = jobs.reindex(columns=JOB_COLUMNS).assign(requested_processors=1)
    >>> drift = measure_drift(jobs, 10, now=90 * 86400 - 1, reference_days=60).set_index(["aspect", "statistic"])
    >>> drift.loc[("run_time", "ratio_of_means"), ["recent", "reference", "drift", "threshold"]].astype(float).tolist()
    [1800.0, 600.0, 3.0, 2.0]
    >>> drift.index[drift["is_beyond"]].tolist()
    [('offered_load', 'ratio_of_means'), ('run_time', 'kolmogorov_smirnov'), ('run_time', 'ratio_of_means')]
    """
    for name, days in (("recent_days", recent_days), ("reference_days", reference_days)):
        if not is_whole(days, 1, 100_000):
            raise ParameterError(f"measure_drift: {name}={days!r} is not an integer from 1 to 100,000")
    if not is_number(now):
        raise ParameterError(f"measure_drift: now={now!r} is not a time (s)")
    if processors is not None and not is_whole(processors, 1):
        raise ParameterError(f"measure_drift: processors={processors!r} is neither an integer from 1 on nor None")
    if lacking := [name for name in JOB_COLUMNS if name not in jobs]:
        raise ParameterError(f"measure_drift: the jobs lack the columns {lacking}")
    chosen = _chosen(thresholds or {})
    submit = jobs["submit_time"].to_numpy(dtype=np.float64, na_value=np.nan)
    begin = now - recent_days * DAY
    first = float(submit[~np.isnan(submit)].min(initial=now))
    days = int(min(reference_days, np.ceil(max(begin - first, 0.0) / DAY)))
    is_wanted = (submit > begin - days * DAY) & (submit <= now)
    columns = _columns(jobs[is_wanted])
    is_recent = columns.submit_time > begin
    recent = _Window(is_recent, now - columns.submit_time[is_recent], recent_days)
    reference = _Window(~is_recent, begin - columns.submit_time[~is_recent], days)
    rows = [
        row
        for aspect, statistics in chosen
        for row in _rows(aspect, statistics, columns, recent, reference, float(processors or np.nan))
    ]
    return pd.DataFrame(rows, columns=list(table_fields("workload_drift"))).astype(_TYPES)


def _chosen(thresholds: Thresholds) -> list[tuple[Aspect, list[_Chosen]]]:
    """Return what is measured of each aspect: what is by default, and behind it what is given."""
    aspects = list_drift_aspects()
    refuse_unknown("measure_drift: thresholds", thresholds, list(aspects))
    chosen = []
    for name, aspect in aspects.items():
        given = thresholds.get(name, {})
        if not isinstance(given, Mapping):
            raise ParameterError(f"measure_drift: thresholds of {name!r} are {given!r}; give statistics and numbers")
        both: dict[str, float | None] = {**aspect.thresholds, **given}
        chosen.append((aspect, [_checked(aspect, *entry) for entry in both.items()]))
    return chosen


def _checked(aspect: Aspect, name: str, threshold: float | None) -> _Chosen:
    """Return a statistic and its threshold if both fit the aspect."""
    statistic = find_drift_statistic(name)
    if statistic.of != aspect.of:
        raise ParameterError(
            f"measure_drift: {name} compares {statistic.of}, but {aspect.name} is of {aspect.of}; by default it is "
            f"measured by {', '.join(aspect.thresholds)}"
        )
    least = statistic.least_threshold
    if threshold is not None and not is_number(threshold, least):
        raise ParameterError(
            f"measure_drift: threshold {threshold!r} of {aspect.name}, {name} is neither a number of {least:g} or more "
            f"nor None"
        )
    return _Chosen(statistic, np.nan if threshold is None else float(threshold))


def _columns(jobs: pd.DataFrame) -> JobColumns:
    """Return the columns of jobs as arrays."""
    times = {
        name: jobs[name].to_numpy(dtype=np.float64, na_value=np.nan)
        for name in ("submit_time", "run_time", "requested_time")
    }
    whole = {name: jobs[name].to_numpy(dtype=np.int64, na_value=-1) for name in JOB_COLUMNS if name not in times}
    width = width_of(whole.pop("allocated_processors"), whole.pop("requested_processors"))
    return JobColumns(width=width, **times, **whole)


def _rows(
    aspect: Aspect,
    statistics: list[_Chosen],
    columns: JobColumns,
    recent: _Window,
    reference: _Window,
    processors: float,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of an aspect."""
    values = aspect.take(columns)
    is_known = ~np.isnan(values) if values.dtype.kind == "f" else values != -1
    samples, jobs, missing = [], [], []
    for window in (recent, reference):
        known = is_known[window.is_in]
        of_window = values[window.is_in][known]
        if aspect.by_day:
            of_window = daily(of_window.astype(np.float64), window.ago[known], window.days)
        if aspect.over_capacity:
            of_window = of_window / (processors * DAY)
        samples.append(Sample(of_window))
        jobs.append(int(known.sum()))
        missing.append(len(known) - jobs[-1])
    enough = (
        (jobs[0] >= NEEDED_JOBS or not aspect.needs_recent)
        and jobs[1] >= NEEDED_JOBS
        and reference.days >= recent.days
        and not (aspect.over_capacity and np.isnan(processors))
    )
    for statistic, threshold in statistics:
        drift = statistic.compare(*samples) if enough else np.nan
        yield {
            "aspect": aspect.name,
            "statistic": statistic.name,
            "recent": statistic.figure(samples[0]),
            "reference": statistic.figure(samples[1]),
            "unit": aspect.unit if aspect.of == NUMBERS else "1",
            "drift": drift,
            "threshold": threshold,
            "is_beyond": statistic.is_beyond(drift, threshold),
            "recent_jobs": jobs[0],
            "reference_jobs": jobs[1],
            "recent_missing": missing[0],
            "reference_missing": missing[1],
        }
