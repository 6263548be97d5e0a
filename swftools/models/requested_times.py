# SPDX-License-Identifier: BSD-3-Clause
"""User estimates for the jobs of a trace that has none, such as a generated one.

Real users ask for far more time than their jobs need, and for few, round times. Schedulers that plan by requests must
be studied with such requests. The distribution of the times is that of ``distribution_of_requests.py``; here
they are handed out to jobs, none to a job that runs longer.

References
----------
Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime estimates", JSSPP.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.kernel import kernel
from swftools.keyed_random import count_occurrences, generator
from swftools.models.distribution_of_requests import (
    DISTINCT_FORMS,
    LEAST_MAXIMUM,
    Distinct,
    RequestedTimeDistribution,
    are_bins,
    requested_time_distribution,
)
from swftools.parameters import LARGEST_SEED, Parameters, choice, number, whole
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]

COLUMN = "model_requested_time"
HOUR = 3600.0


@dataclass(frozen=True)
class RequestedTimeParameters(Parameters):
    """Parameters of the model of user estimates.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Logs share the draws of a seed (docs/concepts.md, Seeds): give each its own.
    maximum : float, optional
        Longest requested time, s, from 60 to 1e10. By default the header's MaxRuntime, if no job ran longer and it is
        at least a minute; else the longest run time rounded up to a whole hour, at least one.
    bins : mapping of float to int
        Number of jobs by requested time, s, if known; see ``requested_time_distribution``.
    distinct : {"table", "power-law"}
        How the number of distinct estimates follows from the number of jobs.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "estimates"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    maximum: float | None = number(None, least=LEAST_MAXIMUM, most=MAX_TIME, unit="s", optional=True)
    bins: Mapping[float, int] = field(default_factory=dict)
    distinct: Distinct = choice(*DISTINCT_FORMS)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("bins", are_bins(self.bins), "a mapping of seconds to numbers of jobs, all positive")

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any]) -> Self:
        """Make parameters from a mapping; times of bins may be text, as JSON has them.

        Raises
        ------
        ParameterError
            A name is unknown or a value outside its domain.
        """
        values = dict(parameters)
        if isinstance(bins := values.get("bins"), Mapping):
            values["bins"] = {_number(time): count for time, count in bins.items()}
            if len(values["bins"]) < len(bins):
                raise ParameterError(f"{cls.NAME}: bins={dict(bins)!r} has a time twice")
        return super().from_mapping(values)

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name, in types that JSON holds; ``from_mapping`` takes it back."""
        values = super().to_mapping()
        values["maximum"] = None if self.maximum is None else float(self.maximum)
        values["bins"] = {f"{float(time):.17g}": self.bins[time] for time in sorted(self.bins)}
        return values


def generate_requested_times(trace: Trace, parameters: RequestedTimeParameters | None = None) -> pd.DataFrame:
    """Generate a requested time for every job of a trace, as users estimate them.

    Parameters
    ----------
    trace : Trace
        Its run times, the header's MaxRuntime, and the key of jobs (job_number, job_occurrence) are used. A missing
        run time counts as 0, so the job may get any estimate; one above the maximum counts as the maximum.
    parameters : RequestedTimeParameters, optional
        Defaults if not given.

    Returns
    -------
    pandas.DataFrame
        One row for each job, in the order and with the index of ``trace.jobs``: model_requested_time (s), never missing
        and never less than the run time, but for run times above the maximum.

    Raises
    ------
    ParameterError
        A parameter is outside its domain, the bins do not fit the trace, or a run time is longer than 1e10 s.

    Notes
    -----
    In order of descending run time, each job draws one of the remaining estimates that are long enough, all with
    equal chance. Jobs of equal run time are taken in order of (job_number, job_occurrence), and there is one
    generator, made from the seed: equal seeds give equal estimates in any order of rows. If the trace has not been
    cleaned, occurrences are counted here, by line if lines are known, else by row.

    Differs from the paper: if there are more long jobs than long estimates, the authors' program gives up. Here, if the
    k-th longest estimate is shorter than the k-th longest run time, it is raised to the least time of the distribution
    that is long enough.

    References
    ----------
    Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime estimates", JSSPP.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2], run_time=[100, 5000])
    >>> generate_requested_times(trace)["model_requested_time"].tolist()
    [7200.0, 7200.0]
    """
    run_time, estimates, rng = handed_out(trace, parameters or RequestedTimeParameters())
    order = np.lexsort((count_occurrences(trace.jobs), trace.views.job_number, -run_time))
    _assign(run_time[order], estimates, rng.random(len(estimates)))
    assigned = np.empty(len(estimates))
    assigned[order] = estimates
    return pd.DataFrame({COLUMN: assigned}, index=trace.jobs.index)


def run_times_of(trace: Trace) -> FloatArray:
    """Return the run times of jobs as the model takes them, s: a missing one as 0."""
    return np.maximum(np.nan_to_num(trace.views.run_time, nan=0.0), 0.0)


def handed_out(trace: Trace, chosen: RequestedTimeParameters) -> tuple[FloatArray, FloatArray, np.random.Generator]:
    """Return what the model hands out to the jobs of a trace.

    Returns
    -------
    run_time : array of float, shape (jobs,)
        In the order of the jobs, s, none above the maximum.
    estimates : array of float, shape (jobs,)
        Descending, s; the k-th is no less than the k-th longest run time.
    rng : numpy.random.Generator
        The source of random numbers, for what comes next.
    """
    run_time = run_times_of(trace)
    maximum = _maximum(trace, run_time) if chosen.maximum is None else float(chosen.maximum)
    rng = generator(chosen.seed, "estimates")
    distribution = requested_time_distribution(len(trace), maximum, rng=rng, bins=chosen.bins, distinct=chosen.distinct)
    run_time = np.minimum(run_time, maximum)
    return run_time, _sufficient(distribution, maximum, np.sort(run_time)[::-1]), rng


def apply_requested_times(trace: Trace, *, everywhere: bool = False) -> Trace:
    """Return the trace with generated requested times instead of missing ones.

    Parameters
    ----------
    trace : Trace
        Its jobs have the column model_requested_time of ``generate_requested_times``.
    everywhere : bool
        Also replace the requested times that are known.

    Returns
    -------
    Trace
        With requested_time taken from model_requested_time where it was missing or 0, which logs write for unknown.
        Nothing else changes; is_over_request stays as it was in the log.

    Raises
    ------
    ParameterError
        There is no such column.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2], run_time=[100, 5000], requested_time=[600, -1])
    >>> filled = apply_requested_times(trace.with_jobs(trace.jobs.join(generate_requested_times(trace))))
    >>> filled.jobs["requested_time"].tolist()
    [600.0, 7200.0]
    """
    if COLUMN not in trace.jobs:
        raise ParameterError(f"estimates: jobs lack the column {COLUMN}; add that of generate_requested_times(trace)")
    generated, logged = trace.jobs[COLUMN], trace.jobs["requested_time"]
    requested = generated if everywhere else logged.where(logged > 0, generated)
    return trace.with_jobs(trace.jobs.assign(requested_time=requested.astype(np.float64)))


def _number(time: object) -> object:
    """Return the number that a text is, or else what it is."""
    if isinstance(time, str):
        try:
            return float(time)
        except ValueError:
            return time
    return time


def _maximum(trace: Trace, run_time: FloatArray) -> float:
    """Return the longest requested time where none is given; raise if a run time is too long for any."""
    longest = float(run_time.max(initial=0.0))
    if longest > MAX_TIME:
        raise ParameterError(
            f"estimates: the longest run time of {longest:g} s is beyond {MAX_TIME:g} s; mend it, or give maximum"
        )
    allowed = trace.header.max_runtime
    if allowed is not None and max(longest, LEAST_MAXIMUM) <= allowed <= MAX_TIME:
        return float(allowed)
    return max(min(HOUR * math.ceil(longest / HOUR), MAX_TIME), HOUR)


def _sufficient(distribution: RequestedTimeDistribution, maximum: float, run_time: FloatArray) -> FloatArray:
    """Return an estimate for each job, descending, none less than the run time at its place (descending too)."""
    estimates = np.repeat(distribution.times[::-1], distribution.counts[::-1])
    short = run_time > estimates
    times = np.union1d(distribution.times, maximum)
    estimates[short] = times[np.searchsorted(times, run_time[short])]
    return estimates


@kernel
def _assign(run_time: FloatArray, estimates: FloatArray, draws: FloatArray) -> None:
    """Permute ``estimates`` so that each is that of the job at its place.

    The caller guarantees that both are descending and run_time[j] <= estimates[j]. Job j swaps its estimate with one
    drawn from those at places j to last, the last that suffices it; behind ``last`` all stand as they stood.
    """
    last = -1
    for j in range(len(run_time)):
        while last + 1 < len(run_time) and estimates[last + 1] >= run_time[j]:
            last += 1
        k = j + int(draws[j] * (last - j + 1))
        estimates[j], estimates[k] = estimates[k], estimates[j]
