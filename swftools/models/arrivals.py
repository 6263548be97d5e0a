# SPDX-License-Identifier: BSD-3-Clause
"""New submission times for the jobs of a trace: Lublin-Feitelson, Poisson, the log's own days shuffled, or squeezed.

The jobs keep their order of submission and everything else. Only their submission times change.

References
----------
Lublin and Feitelson 2003, JPDC 63(11), for the model of that name; Efron and Tibshirani 1993, chapter 8, for the
block bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.header import SwfHeader, zone_of
from swftools.keyed_random import count_occurrences, generator
from swftools.models.daily_cycle import DAY, clock_times, fitted_weights, gamma_weights, points_at
from swftools.models.lublin_feitelson_arrivals import UnreachableError, arrival_times, types_meeting
from swftools.models.lublin_feitelson_types import JOB_TYPES, MODES
from swftools.offered_work import span_of, work_of
from swftools.parameters import LARGEST_SEED, Parameters, choice, number, whole
from swftools.trace import Trace, integer_series, submit_timestamps

FloatArray = npt.NDArray[np.float64]

MODELS = ("lublin-feitelson", "poisson", "bootstrap", "scaled")


@dataclass(frozen=True)
class ArrivalParameters(Parameters):
    """Parameters of generated arrivals.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Logs share the draws of a seed (docs/concepts.md, Seeds): give each its own.
    model : {"lublin-feitelson", "poisson", "bootstrap", "scaled"}
        See ``generate_arrivals``.
    load : float, optional
        Offered load to be met; the log's own rate of arrivals by default. Not with bootstrap.
    factor : float, optional
        For model scaled, instead of a load: the factor by which times between arrivals are multiplied.
    types : {"all", "batch", "interactive", "mix"}
        For model lublin-feitelson: the type of jobs whose arrivals to use.
    block_days : int
        For model bootstrap: days of a block; 7 keeps weeks whole.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "arrivals"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    model: str = choice(*MODELS)
    load: float | None = number(None, least=1e-9, most=1e9, optional=True)
    factor: float | None = number(None, least=1e-9, most=1e9, optional=True)
    types: str = choice(*MODES)
    block_days: int = whole(1, least=1, most=10_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        is_kept = self.load is None or self.model != "bootstrap"
        self._require("load", is_kept, "for model bootstrap, which keeps the log's own; use model=scaled")
        self._require("factor", self.factor is None or self.model == "scaled", "for another model than scaled")
        one = self.model != "scaled" or (self.load is None) != (self.factor is None)
        self._require("load", one, "given alone: model=scaled takes either load or factor")


def generate_arrivals(trace: Trace, parameters: ArrivalParameters | None = None) -> pd.DataFrame:
    """Generate another submission time for every job of a trace.

    Parameters
    ----------
    trace : Trace
        Its submit_time, and for a load its width and run_time and the machine's processors, are used.
    parameters : ArrivalParameters, optional
        Defaults if not given.

    Returns
    -------
    pandas.DataFrame
        One row for each job, in the order and with the index of ``trace.jobs``: model_submit_time, whole seconds;
        missing where submit_time is. The first job comes when it came in the log (bootstrap: when its first block
        does).

    Raises
    ------
    ParameterError
        A parameter is outside its domain; a load is asked for and cannot be met, or the trace lacks what is needed.

    Notes
    -----
    The models place n jobs between the log's first and last submission:

    * *lublin-feitelson*: gamma times between arrivals on the daily cycle of that model, with alpha solved so that
      the n arrivals take the log's own time, or the time that gives the load. The small remainder, mostly a few
      parts in a hundred thousand, is removed by stretching the points (``daily_cycle.py``), not the clock. A
      rate that no alpha gives is reached by stretching alone, unless a load was asked for.
    * *poisson*: a Poisson process whose rate follows the log's own daily cycle in half hours, given that its first
      and last of n arrivals are at the ends.
    * *bootstrap*: whole blocks of the log's own local days, drawn with replacement, until there are n arrivals. If the
      log has no whole block with a job, it keeps its times. The total time, and so the load, varies with the blocks
      drawn: its relative standard deviation is about that of the number of jobs in a block, divided by the root of the
      number of blocks. For a short log of bursts that is a lot; use ``scale_to_load`` afterwards to reach a load.
    * *scaled*: every time between arrivals multiplied by one factor.

    The log's header says at what time of the day second 0 is (UnixStartTime and time zone; without them, midnight).
    Summer time is ignored. Jobs submitted in the same second keep their order by job number, then occurrence. A trace
    with fewer than two jobs, or whose jobs all come at once, keeps its times; if a load was asked for, it is an error.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], submit_time=[0, 50, 60])
    >>> generate_arrivals(trace, ArrivalParameters(model="scaled", factor=2))["model_submit_time"].tolist()
    [0.0, 100.0, 120.0]
    """
    chosen = parameters or ArrivalParameters()
    arrays = trace.views
    submitted = np.flatnonzero(~np.isnan(arrays.submit_time))
    keys = (count_occurrences(trace.jobs)[submitted], arrays.job_number[submitted], arrays.submit_time[submitted])
    order = submitted[np.lexsort(keys)]
    logged = arrays.submit_time[order]
    target = _target_span(trace, chosen)
    times = logged
    if target > 0:
        times = _MAKERS[chosen.model](logged, target, start_of_day(trace.header), chosen)
    times = np.rint(times)
    _require_end(times[-1] if len(times) else 0.0)
    column = np.full(len(trace), np.nan)
    column[order] = times
    return pd.DataFrame({"model_submit_time": column}, index=trace.jobs.index)


def fit_factor(trace: Trace, parameters: ArrivalParameters) -> float:
    """Return the factor by which the model ``scaled`` multiplies times between arrivals.

    Parameters
    ----------
    trace : Trace
        For a load, its submit_time, width, run_time and the machine's processors are used.
    parameters : ArrivalParameters
        Of model scaled.

    Raises
    ------
    ParameterError
        A load is asked for, and the trace lacks what is needed.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 50], run_time=[100, 100],
    ...                            requested_processors=[1, 1], header=SwfHeader.from_lines(["; MaxProcs: 4"]))
    >>> fit_factor(trace, ArrivalParameters(model="scaled", load=0.5))
    2.0
    """
    if parameters.factor is not None:
        return parameters.factor
    return _target_span(trace, parameters) / span_of(trace.views.submit_time)


def scale_arrivals(trace: Trace, factor: float) -> pd.DataFrame:
    """Multiply the submission time of every job, counted from second 0 of the log, by a factor.

    A job's new time follows from its own time alone, so it stays when the trace grows. With the model scaled,
    ``generate_arrivals`` keeps the time of the first job instead.

    Parameters
    ----------
    trace : Trace
        Its submit_time is used.
    factor : float
        Positive.

    Returns
    -------
    pandas.DataFrame
        As ``generate_arrivals`` returns it.

    Raises
    ------
    ParameterError
        A time is later than a log can hold.

    Examples
    --------
    >>> scale_arrivals(Trace.from_columns(job_number=[1, 2], submit_time=[10, 50]), 2)["model_submit_time"].tolist()
    [20.0, 100.0]
    """
    times = np.rint(trace.views.submit_time * factor)
    _require_end(float(np.nanmax(times, initial=0.0)))
    return pd.DataFrame({"model_submit_time": times}, index=trace.jobs.index)


def apply_arrivals(trace: Trace, *, keeps_dependencies: bool = False) -> Trace:
    """Return a trace whose jobs arrive at their model_submit_time.

    Parameters
    ----------
    trace : Trace
        With a column model_submit_time.
    keeps_dependencies : bool
        Whether jobs wait for the same jobs as before, with the same think times: where jobs come as they came, only
        sooner or later.

    Returns
    -------
    Trace
        Sorted by submission. The logged submissions are replaced, so wait_time, think_time, preceding_job_number and
        preceding_job_numbers, which depend on them, are missing; submit_timestamp, if there is one, is computed again.
        line_number, or (job_number, job_occurrence), leads back to the log. A begin_time, the earliest start that the
        user asked for, is as long behind the submission as before.

    Raises
    ------
    ParameterError
        There is no such column.
    """
    if "model_submit_time" not in trace.jobs:
        raise ParameterError("the trace has no column model_submit_time; join what generate_arrivals returns")
    jobs = trace.jobs.assign(submit_time=trace.jobs["model_submit_time"])
    jobs["wait_time"] = np.nan
    if "begin_time" in jobs:
        jobs["begin_time"] += jobs["submit_time"] - trace.jobs["submit_time"]
    if not keeps_dependencies:
        jobs["think_time"] = np.nan
        jobs["preceding_job_number"] = integer_series(np.full(len(jobs), -1)).array
        jobs = jobs.drop(columns="preceding_job_numbers", errors="ignore")
    if "submit_timestamp" in jobs:
        jobs["submit_timestamp"] = submit_timestamps(jobs["submit_time"], trace.header)
    return trace.with_jobs(jobs.sort_values("submit_time", kind="stable").reset_index(drop=True))


def start_of_day(header: SwfHeader) -> float:
    """Return the local time of the day at second 0 of a log, s since midnight; 0 if the header does not say.

    Examples
    --------
    >>> start_of_day(SwfHeader.from_lines(["; UnixStartTime: 956700003", "; TimeZoneString: US/Pacific"])) / 3600
    15.000833333333333
    """
    if header.start is None:
        return 0.0
    try:
        offset = header.start.astimezone(zone_of(header)).utcoffset() or timedelta()
    except OverflowError:  # local time is beyond the calendar
        offset = timedelta(seconds=header.time_zone or 0)
    return float((header.start.timestamp() + offset.total_seconds()) % DAY)


def _target_span(trace: Trace, parameters: ArrivalParameters) -> float:
    """Return the time that the arrivals should take, s."""
    span = span_of(trace.views.submit_time)
    if parameters.factor is not None:
        return span * parameters.factor
    if parameters.load is None:
        return span
    work = work_of(trace)
    lacking = {
        "two jobs submitted at different times": span > 0,
        "jobs with width and run time": work > 0,
        "the machine's number of processors": trace.processors is not None,
    }
    if problems := [what for what, is_there in lacking.items() if not is_there]:
        raise ParameterError(f"arrivals: load={parameters.load!r} needs {' and '.join(problems)}; this trace has none")
    return work / ((trace.processors or 1) * parameters.load)


def _require_end(time: float) -> None:
    """Raise ParameterError if a time is later than a log can say."""
    if time > MAX_TIME:
        raise ParameterError(
            f"arrivals: the last job would come at {time:.3g} s, but a log ends at {MAX_TIME:.3g} s; ask for more "
            f"load, or another model"
        )


def _lublin_feitelson(logged: FloatArray, span: float, start: float, parameters: ArrivalParameters) -> FloatArray:
    """Return arrivals of the model of Lublin and Feitelson."""
    count, types = len(logged), {name: JOB_TYPES[name] for name in MODES[parameters.types]}
    at = start + logged[0]
    try:
        chosen = types_meeting(span, _taken, count, types, seed=parameters.seed, start=at)
    except UnreachableError as error:
        if parameters.load is not None:
            least, greatest = (parameters.load * span / reach for reach in (error.greatest, error.least))
            raise ParameterError(
                f"arrivals: no alpha gives load={parameters.load!r}; with these jobs it can be {least:.3g} to "
                f"{greatest:.3g}; model=scaled reaches any"
            ) from error
        chosen = types
    times, _ = arrival_times(count, chosen, seed=parameters.seed, start=at)
    first = types[MODES[parameters.types][0]]
    return _stretched(times + at, span, at, gamma_weights(first.anum, first.bnum)) - start


def _taken(times: FloatArray, _: Any) -> float:
    """Return the time from the first arrival to the last, s."""
    return float(times[-1] - times[0])


def _poisson(logged: FloatArray, span: float, start: float, parameters: ArrivalParameters) -> FloatArray:
    """Return arrivals of a Poisson process on the log's own daily cycle."""
    rng = generator(parameters.seed, "arrivals/poisson")
    weights = fitted_weights(logged + start)
    gaps = np.concatenate(([0.0], rng.exponential(size=len(logged) - 1)))
    return _stretched(clock_times(np.cumsum(gaps), weights), span, start + logged[0], weights) - start


def _stretched(clock: FloatArray, span: float, first: float, weights: FloatArray) -> FloatArray:
    """Return times moved and stretched, in points of the daily cycle, to begin at ``first`` and to take ``span``."""
    points = points_at(clock, weights)
    begin, end = points_at(np.array([first, first + span]), weights)
    share = (points - points[0]) / (points[-1] - points[0])
    times = clock_times(begin + share * (end - begin), weights)
    return np.clip(times, first, first + span)


def _bootstrap(logged: FloatArray, _: float, start: float, parameters: ArrivalParameters) -> FloatArray:
    """Return arrivals of blocks of the log's own days in random order."""
    length = parameters.block_days * DAY
    clock = logged + start
    begin = np.ceil(clock[0] / DAY) * DAY
    blocks = max(int((clock[-1] + 1 - begin) // length), 0)
    edges = np.searchsorted(clock, begin + length * np.arange(blocks + 1), side="left")
    if edges[0] == edges[-1]:  # no block is whole, or none of them has a job: the log is one block
        length, blocks, edges = clock[-1] - clock[0] + 1, 1, np.array([0, len(clock)])
    counts = np.diff(edges)
    _require_end(0.5 * length * len(logged) / counts.mean())  # far too late, and too many blocks to hold
    rng = generator(parameters.seed, "arrivals/bootstrap")
    drawn = np.empty(0, np.int64)
    while counts[drawn].sum() < len(logged):
        drawn = np.append(drawn, rng.integers(blocks, size=int(len(logged) / counts.mean()) + 10))
    times = [
        clock[edges[drawn[place]] : edges[drawn[place] + 1]] + length * (place - drawn[place])
        for place in np.flatnonzero(counts[drawn])
    ]
    return np.concatenate(times)[: len(logged)] - start


def _scaled(logged: FloatArray, span: float, _start: float, _parameters: ArrivalParameters) -> FloatArray:
    """Return the log's own arrivals with all times between them multiplied by one factor."""
    times: FloatArray = logged[0] + (logged - logged[0]) * (span / (logged[-1] - logged[0]))
    return times


_MAKERS = {"lublin-feitelson": _lublin_feitelson, "poisson": _poisson, "bootstrap": _bootstrap, "scaled": _scaled}
