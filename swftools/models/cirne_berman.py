# SPDX-License-Identifier: BSD-3-Clause
"""Rigid jobs by the model of Cirne and Berman: sizes, requested times and their accuracy, cancellations, arrivals.

``generate`` makes a whole Trace, which every later stage takes. Unlike ``lublin_feitelson.py`` it knows what users
request. The draws of the n-th job are keyed by n: more jobs, another site, load or start hour leave its request and
run time what they were.

References
----------
Cirne and Berman 2001, "A comprehensive model of the supercomputer workload", 4th Workshop on Workload
Characterization; constants as in the authors' simulator.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.header import SwfHeader
from swftools.kernel import kernel
from swftools.keyed_random import STATE_LENGTH, generator, next_gamma, next_uniform, start_stream, step_key
from swftools.parameters import LARGEST_SEED, Parameters, choice, number, whole
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

DAY = 86_400
CANCELLED = 5
"""SWF status of a cancelled job."""

# Uniform-log numbers have the distribution function slope * log2(x) + offset.
SIZE_SLOPE, SIZE_OFFSET = 0.12, 0.20
POWER_OF_TWO_PROBABILITY = 0.75
"""Share of jobs whose size is rounded to a power of two; others can be one by chance."""

REQUEST_SLOPE, REQUEST_OFFSET = 0.10, -0.75
ACCURACY_SHAPE, ACCURACY_SCALE = 0.6, 0.6
LEAST_ACCURACY = 1e-5
"""Accuracy, run time over requested time, is a gamma number between this and 1."""

CANCEL_PROBABILITY = 0.15
RATE_PER_JOB = 2.0
"""How much of a site's rate has to come together for one job to be submitted."""


class CirneBermanSite(NamedTuple):
    """Arrivals at a site: its machine, and a polynomial of the time of the day.

    The coefficients are those of x^13, x^12, ... 1, with x from -0.5 to 0.5 in a day that begins at 00:00; the value
    is ``RATE_PER_JOB`` times the jobs submitted a second on ``processors`` processors.
    """

    processors: int
    coefficients: tuple[float, ...]


SITES = {
    "anl": CirneBermanSite(120, (
        0, 119.4417, 1069.567, 14.435, -755.2833, -48.715, 196.0167,
        14.91917, -22.48333, -1.554433, 1.041417, 0.03766833, -0.01102533, 0.002865167,
    )),
    "ctc": CirneBermanSite(430, (
        0, 0, 0, 0, 0, 4.234, -0.4303333,
        -4.3085, 0.1407367, 1.3602, -0.06104667, -0.160515, 0.0127425, 0.009416833,
    )),
    "kth": CirneBermanSite(100, (
        -544.7167, -1024.067, 542.55, 823.4333, -210.1833, -251.8833, 39.68167,
        35.9, -3.694167, -2.247, 0.1383983, 0.03195833, 0.0003734333, 0.001618433,
    )),
    "sdsc": CirneBermanSite(128, (
        0, 0, 0, -91.66, 25.45, 50.265, -15.86583,
        -9.551333, 3.322, 0.8097167, -0.2601833, -0.04313167, 0.0061125, 0.003543667,
    )),
}  # fmt: skip


@dataclass(frozen=True)
class CirneBermanParameters(Parameters):
    """Parameters of a workload.

    Parameters
    ----------
    jobs : int
        Number of jobs; none gives an empty trace.
    processors : int
        Size of the machine. The arrival rate grows with it. Sizes of jobs go up to 128 on any machine, but no job is
        wider than the machine.
    seed : int
        From 0 to 2**64 - 1.
    site : {"anl", "ctc", "kth", "sdsc"}
        The site whose arrivals to use. kth has about half as many as its log.
    load : float, optional
        Offered load (``swftools.offered_load``) to reach, by one factor on the arrival rate. Needs two jobs. By
        default the load is that of the site's rate.
    start_hour : int
        Hour of the day at second 0.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "cirne-berman"

    jobs: int = whole(10_000, least=0, most=10**9)
    processors: int = whole(128, least=1, most=2**31 - 1)
    seed: int = whole(0, least=0, most=LARGEST_SEED)
    site: str = choice(*SITES, default="ctc")
    load: float | None = number(None, least=1e-9, most=1e9, optional=True)
    start_hour: int = whole(0, least=0, most=23)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("load", self.load is None or self.jobs >= 2, "for fewer than two jobs: there is no time between")


def generate(jobs: int, *, processors: int = 128, seed: int = 0, **parameters: Any) -> Trace:
    """Generate a workload.

    Parameters
    ----------
    jobs, processors, seed, **parameters
        As in ``CirneBermanParameters``.

    Returns
    -------
    Trace
        Jobs numbered from 1 by submission: submit_time, run_time and requested_time (whole seconds, 1 at least, the
        run time not above the requested), allocated_processors and requested_processors, and status: 5 for a
        cancelled job, else missing. All else is missing. Second 0 is ``start_hour`` of the first day. The provenance
        holds the parameters and the factor on the rate of arrivals.

    Raises
    ------
    ParameterError
        A parameter is outside its domain, or the load would have all jobs come within a second or for ever.

    Notes
    -----
    Arrivals are no random process: each second adds the site's rate, times processors over the site's, and each 2.0
    that have come together are a job. Only how much there is at second 0 is drawn. A load is met as nearly as
    submissions at whole seconds allow; at kth, which for 66 minutes of the night has no arrivals, also as nearly as
    that gap allows.

    **Inferred**: that a run time is accuracy x requested time. It is rounded up, as sizes and requested times are.

    **Differs from the authors' simulator**: there a cancelled job has a time after its submission at which it leaves.
    Whether that is before its start depends on the schedule, so it is not in the trace; the run time of a cancelled
    job is how long it would run, and counts in the load. Rates below zero, which kth's polynomial has in the night,
    count as zero; that is 0.14 % more jobs. A size rounded to a power of two is at most the largest one on the
    machine.

    Examples
    --------
    >>> trace = generate(10_000, processors=430, seed=1, site="ctc", load=0.8)
    >>> from swftools.offered_work import offered_load
    >>> len(trace), round(offered_load(trace), 5)
    (10000, 0.8)
    """
    chosen = CirneBermanParameters(jobs, processors, seed, **parameters)
    sizes, requested_times, run_times, statuses = _requests(chosen)
    day = _cumulative_jobs(chosen)
    factor = 1.0 if chosen.load is None else _factor_for_load(chosen, float((sizes * run_times).sum()), day)
    submit_times = _submit_times(np.arange(chosen.jobs), factor, chosen, day)
    if chosen.jobs and submit_times[-1] > MAX_TIME:
        raise ParameterError(
            f"cirne-berman: jobs={chosen.jobs!r} on {chosen.processors} processors would take {submit_times[-1]:.3g} s "
            f"to arrive, more than a trace holds ({MAX_TIME:.3g} s); give fewer jobs or a higher load"
        )
    trace = Trace.from_columns(
        _header(chosen),
        machine_processors=chosen.processors,
        job_number=np.arange(1, chosen.jobs + 1),
        submit_time=submit_times,
        run_time=run_times,
        allocated_processors=sizes,
        requested_processors=sizes,
        requested_time=requested_times,
        status=statuses,
    )
    provenance = {"name": chosen.NAME, "parameters": chosen.to_mapping(), "rate_factor": factor}
    return replace(trace, provenance=provenance)


def _header(parameters: CirneBermanParameters) -> SwfHeader:
    """Return a header that says what the workload is."""
    entries = {
        "Version": "2.2",
        "Computer": "none: the model of Cirne and Berman (WWC 2001)",
        "MaxJobs": str(parameters.jobs),
        "MaxProcs": str(parameters.processors),
        "Note": f"generated, {json.dumps(parameters.to_mapping())}; second 0 is {parameters.start_hour:02}:00",
    }
    header = SwfHeader()
    for label, text in entries.items():
        header = header.with_entry(label, text)
    return header


def _cumulative_jobs(parameters: CirneBermanParameters) -> FloatArray:
    """Return how many jobs have been submitted by the end of each second of a day, shape (86400,)."""
    site = SITES[parameters.site]
    rates = np.polyval(site.coefficients, np.arange(DAY) / DAY - 0.5)
    cumulative: FloatArray = np.cumsum(np.maximum(rates, 0.0) / RATE_PER_JOB)
    return cumulative * (parameters.processors / site.processors)


def _submit_times(numbers: IntArray, factor: float, parameters: CirneBermanParameters, day: FloatArray) -> FloatArray:
    """Return when given jobs, counted from 0, are submitted, s: the first second by whose end they have come together.

    With c the cumulative jobs of a day and s the start, job j is due at c(s) + (j + 1 - phase) / factor; of that, the
    whole days are divided off and the rest is looked up.
    """
    start = 3600 * parameters.start_hour
    phase = generator(parameters.seed, "cirne-berman/phase").random()
    due = (day[start - 1] if start else 0.0) + (numbers + (1.0 - phase)) / factor
    days = np.ceil(due / day[-1]) - 1.0
    seconds = days * DAY + np.searchsorted(day, due - days * day[-1], side="left") - start
    times: FloatArray = np.maximum(seconds, 0.0)
    return times


def _factor_for_load(parameters: CirneBermanParameters, work: float, day: FloatArray) -> float:
    """Return the factor on the rate of arrivals under which this work, processor-seconds, is the load."""
    load = parameters.load or 0.0
    wanted = work / (parameters.processors * load)
    if not 1.0 <= wanted <= MAX_TIME:
        least, greatest = work / (parameters.processors * MAX_TIME), work / parameters.processors
        raise ParameterError(
            f"cirne-berman: no rate of arrivals gives load={load!r} with these {parameters.jobs} jobs on "
            f"{parameters.processors} processors; it can be {least:.3g} to {greatest:.3g}"
        )
    ends = np.array([0, parameters.jobs - 1])

    def excess(logarithm: float) -> float:
        first, last = _submit_times(ends, math.exp(logarithm), parameters, day)
        return float(last - first) - wanted

    low = high = math.log((parameters.jobs - 1) / (day[-1] * wanted / DAY))  # by the mean of a day
    step = 0.01
    while excess(low) < 0:
        low, step = low - step, 2 * step
    while excess(high) > 0:
        high, step = high + step, 2 * step
    while low < (middle := (low + high) / 2) < high:  # down to neighbouring numbers
        low, high = (middle, high) if excess(middle) >= 0 else (low, middle)
    return math.exp(min(low, high, key=lambda end: abs(excess(end))))


def _requests(parameters: CirneBermanParameters) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return sizes, requested times, run times and statuses of the jobs."""
    count = parameters.jobs
    sizes, statuses = np.empty(count, np.int64), np.empty(count, np.int64)
    requested_times, run_times = np.empty(count), np.empty(count)
    seed, step = np.uint64(parameters.seed), np.uint64(step_key("cirne-berman/job"))
    machine, largest_power = parameters.processors, parameters.processors.bit_length() - 1
    _draw_jobs(sizes, requested_times, run_times, statuses, machine, largest_power, seed, step)
    return sizes, requested_times, run_times, statuses


@kernel
def _uniform_log(u: float, slope: float, offset: float) -> float:
    """Return where the distribution function slope * log2(x) + offset is u."""
    x: float = 2.0 ** ((u - offset) / slope)
    return x


@kernel
def _draw_jobs(
    sizes: IntArray,
    requested_times: FloatArray,
    run_times: FloatArray,
    statuses: IntArray,
    processors: int,
    largest_power: float,
    seed: np.uint64,
    step: np.uint64,
) -> None:
    """Fill in sizes, requested times, run times and statuses (-1 is missing); 2**largest_power fits the machine."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    for i in range(len(sizes)):
        start_stream(state, seed, step, i, 0)
        size = max(1.0, np.ceil(_uniform_log(next_uniform(state), SIZE_SLOPE, SIZE_OFFSET)))
        if next_uniform(state) < POWER_OF_TWO_PROBABILITY:
            size = 2.0 ** min(np.floor(np.log2(size) + 0.5), largest_power)
        sizes[i] = min(int(size), processors)
        requested_times[i] = max(1.0, np.ceil(_uniform_log(next_uniform(state), REQUEST_SLOPE, REQUEST_OFFSET)))
        statuses[i] = CANCELLED if next_uniform(state) < CANCEL_PROBABILITY else -1
        accuracy = min(max(ACCURACY_SCALE * next_gamma(state, ACCURACY_SHAPE), LEAST_ACCURACY), 1.0)
        run_times[i] = np.ceil(accuracy * requested_times[i])
