# SPDX-License-Identifier: BSD-3-Clause
"""Moldability for the jobs of a trace: a speedup curve and the widths that each job could run on.

A log has one width and one run time for each job. A model adds the rest, for schedulers that choose widths: Cirne and
Berman's survey of users, the simple curve of Barsanti and Sodan, or Downey's parameters. Draws are keyed by job. The
curves themselves are in ``swftools.models.speedup``.

References
----------
Cirne and Berman 2001, "A model for moldable supercomputer jobs".
Barsanti and Sodan 2006, "Adaptive job scheduling via predictive job resource allocation", section 4.6 and table 1.
Downey 1997, "A model for speedup of parallel programs".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.fields.definition import INTEGERS
from swftools.kernel import kernel
from swftools.keyed_random import (
    STATE_LENGTH,
    WordArray,
    count_occurrences,
    next_normal,
    next_uniform,
    start_stream,
    step_key,
)
from swftools.models import speedup
from swftools.parameters import LARGEST_SEED, Parameters, choice, number, whole
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Integer = int | np.int64

MODELS = ("cirne-berman", "simple", "downey")
SIMPLE_MODEL, DOWNEY_MODEL = 1, 2
KINDS = ("rigid", "power-of-two", "square", "even", "multiple-of-4", "any")
RIGID, POWER_OF_TWO, SQUARE, EVEN, MULTIPLE_OF_4, ANY = range(6)
CONSTRAINTS = {"any": ANY, "power-of-two": POWER_OF_TWO, "p2bias": 6, "survey": 7}
P2BIAS, SURVEY = CONSTRAINTS["p2bias"], CONSTRAINTS["survey"]
_STEPS = (0, 0, 0, 2, 4, 1)  # by kind: those of which every width is a multiple

SURVEY_SHARES = (0.02, 0.10, 0.02, 0.08, 0.08, 0.70)
"""Cirne and Berman: shares of the kinds of constraint among the users' answers, in the order of ``KINDS``."""

# Cirne and Berman: uniform-log numbers have the distribution function slope * log2(x) + offset.
LEAST_SLOPE, LEAST_OFFSET = 0.0692, 0.6279
CHOICES_SLOPE, CHOICES_OFFSET = 0.1918, 0.1876
A_SLOPE_LOG, A_SLOPE, A_OFFSET_LOG, A_OFFSET = 0.009548, 0.07468, -0.01877, -0.009198
"""Average parallelism A: slope (factor of log2 of the least width, and constant) and offset (likewise)."""

SIGMA_MEAN, SIGMA_SD = 1.209, 1.132
"""Sigma is a normal number, or 0 where that is negative."""

LARGEST_SIGMA = 2.0  # Downey
MOST_CHOICES, _MOST_DRAWN = 100, 19


@dataclass(frozen=True)
class SpeedupParameters(Parameters):
    """Parameters of the models.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Logs share the draws of a seed (docs/concepts.md, Seeds): give each its own.
    model : {"cirne-berman", "simple", "downey"}
        The model of curves and bounds.
    moldable_share : float
        Share of jobs that are moldable, not counting the rigid ones of the constraint "survey"; Barsanti and Sodan use
        0.8, 0.9 and 1.
    constraint : {"p2bias", "any", "power-of-two", "survey"}
        Widths that a job can have between its bounds. p2bias: powers of two if its own width is one, else any.
        survey: 2 % rigid, 10 % powers of two, 2 % squares, 8 % even, 8 % multiples of 4, 70 % any.
    sigma_factor : float
        Multiplies sigma (cirne-berman): the larger it is, the slower speedup rises.
    choices : int, optional
        Number of widths that each job offers, if that many are allowed, up to 100; drawn by default.
    max_parallelism : int, optional
        Largest A (downey); the machine's processors by default.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "speedup"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    model: Literal["cirne-berman", "simple", "downey"] = choice(*MODELS)
    moldable_share: float = number(1.0, least=0, most=1)
    constraint: Literal["p2bias", "any", "power-of-two", "survey"] = choice(*CONSTRAINTS, default="p2bias")
    sigma_factor: float = number(1.0, least=0, most=1e6)
    choices: int | None = whole(None, least=1, most=MOST_CHOICES, optional=True)
    max_parallelism: int | None = whole(None, least=1, most=2**40, optional=True)


class _Jobs(NamedTuple):
    """What the kernel needs of each job."""

    job_number: IntArray
    occurrence: IntArray
    width: IntArray
    run_time: FloatArray


class _Model(NamedTuple):
    """What the kernel needs of the parameters; ``shares`` are cumulative, ``choices`` is 0 where drawn."""

    seed: np.uint64
    step: np.uint64
    model: int
    machine: int
    moldable_share: float
    constraint: int
    shares: FloatArray
    sigma_factor: float
    choices: int
    max_parallelism: float


class _Columns(NamedTuple):
    """What the kernel fills, prepared as missing; ``bounds`` are minimum, optimum and maximum in columns."""

    moldable: npt.NDArray[np.bool_]
    curve: npt.NDArray[np.int8]
    a: FloatArray
    sigma: FloatArray
    sequential: FloatArray
    bounds: IntArray
    kind: npt.NDArray[np.int8]
    offsets: IntArray
    choices: IntArray


def generate_speedup(trace: Trace, parameters: SpeedupParameters | None = None) -> pd.DataFrame:
    """Generate a speedup curve and the possible widths of every job of a trace.

    Parameters
    ----------
    trace : Trace
        Its width, run time, key (job_number, job_occurrence) and processors are used. If the size of the machine is
        unknown, it is the largest width. Missing values: without a width every column is null and is_moldable is
        False; without a run time (or with a negative one) sequential_run_time is null.
    parameters : SpeedupParameters, optional
        Defaults if not given.

    Returns
    -------
    pandas.DataFrame
        One row for each job, with the index of ``trace.jobs``; the columns are those of the table
        ``speedup`` behind the key, processor_choices as an Arrow list.

    Notes
    -----
    *cirne-berman*: the least width and, given it, A are uniform-log, sigma is a normal number cut at 0, the largest
    width is the largest useful one. *downey*: A uniform-log from 1 to ``max_parallelism``, sigma uniform from 0 to 2,
    least width 1. *simple*: half to twice the job's width, nothing drawn. The choices are the job's width and others,
    drawn without replacement from the widths that bounds and constraint allow. Draws are keyed by seed, job_number
    and job_occurrence (``swftools.keyed_random``).

    **Differs from the papers**: a job's own width is always within its bounds, allowed and offered, whatever the
    draws; choices are distinct; times are not rounded (``run_time`` can); jobs without a run time get none (Cirne
    and Berman's program draws one, from 1 s to the request). The rest of Downey's workload is not modelled.

    References
    ----------
    Cirne and Berman 2001. Barsanti and Sodan 2006, section 4.6. Downey 1997. Bentley and Floyd 1987, "A sample of
    brilliance", for the draw of choices.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=128, job_number=[1], run_time=[100], allocated_processors=[8])
    >>> row = generate_speedup(trace, SpeedupParameters(model="simple")).iloc[0]
    >>> print(row["optimal_processors"], row["sequential_run_time"], list(row["processor_choices"]))
    8 520.0 [4, 8, 16]
    """
    columns = _generated(trace, parameters or SpeedupParameters())
    missing = columns.kind < 0
    lists = pa.ListArray.from_arrays(columns.offsets, columns.choices, type=INTEGERS, mask=pa.array(missing))
    least, best, most = (pd.arrays.IntegerArray(bounds.copy(), missing.copy()) for bounds in columns.bounds.T)
    frame: dict[str, Any] = {
        "is_moldable": columns.moldable,
        "speedup_curve": _texts(columns.curve, speedup.CURVES),
        "downey_a": columns.a,
        "downey_sigma": columns.sigma,
        "sequential_run_time": columns.sequential,
        "minimum_processors": least,
        "optimal_processors": best,
        "maximum_processors": most,
        "processor_constraint": _texts(columns.kind, KINDS),
        "processor_choices": pd.arrays.ArrowExtensionArray(pa.chunked_array([lists])),
    }
    return pd.DataFrame(frame, index=trace.jobs.index)


def _generated(trace: Trace, parameters: SpeedupParameters) -> _Columns:
    """Return the columns of every job."""
    arrays = trace.views
    run = np.where(arrays.run_time >= 0, arrays.run_time, np.nan)
    jobs = _Jobs(arrays.job_number, count_occurrences(trace.jobs), arrays.width, run)
    machine = min(trace.processors or int(arrays.width.max(initial=1)), 2**62)
    model = _Model(
        np.uint64(parameters.seed),
        np.uint64(step_key("speedup")),
        MODELS.index(parameters.model),
        machine,
        float(parameters.moldable_share),
        CONSTRAINTS[parameters.constraint],
        np.cumsum(SURVEY_SHARES),
        float(parameters.sigma_factor),
        parameters.choices or 0,
        float(parameters.max_parallelism or min(machine, 2**40)),
    )
    count = len(jobs.width)
    a, sigma, sequential = np.full((3, count), np.nan)
    columns = _Columns(
        np.zeros(count, np.bool_),
        np.full(count, speedup.NO_CURVE, np.int8),
        a,
        sigma,
        sequential,
        np.ones((count, 3), np.int64),
        np.full(count, -1, np.int8),
        np.zeros(count + 1, np.int64),
        np.empty(count * (parameters.choices or _MOST_DRAWN), np.int64),
    )
    _generate(jobs, model, columns)
    return columns._replace(choices=columns.choices[: columns.offsets[-1]])


def _texts(codes: npt.NDArray[np.int8], names: tuple[str, ...]) -> Any:
    """Return the names of codes as a pandas array; -1 is missing."""
    return pa.DictionaryArray.from_arrays(codes, list(names), mask=codes < 0).cast(pa.string()).to_pandas().array


@kernel
def _generate(jobs: _Jobs, model: _Model, out: _Columns) -> None:
    """Fill ``out``, choices one job behind the other; the caller guarantees the room."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    end = 0
    for i in range(len(jobs.width)):
        width = jobs.width[i]
        if width >= 1:
            start_stream(state, model.seed, model.step, jobs.job_number[i], jobs.occurrence[i])
            is_moldable = next_uniform(state) < model.moldable_share
            kind = _draw_kind(next_uniform(state), width, model)
            out.bounds[i, :] = width
            if is_moldable and kind != RIGID:
                out.moldable[i] = True
                out.kind[i] = kind
                end += _draw_job(state, i, width, kind, jobs.run_time[i], model, out, out.choices[end:])
            else:
                out.kind[i] = RIGID
                out.choices[end] = width
                end += 1
        out.offsets[i + 1] = end


@kernel
def _draw_kind(draw: float, width: Integer, model: _Model) -> int:
    """Return the constraint of a job."""
    if model.constraint == P2BIAS:
        return POWER_OF_TWO if width & (width - 1) == 0 else ANY
    if model.constraint != SURVEY:
        return model.constraint
    kind = 0
    while kind < ANY and draw >= model.shares[kind]:
        kind += 1
    return kind


@kernel(allocates=False)
def _draw_job(
    state: WordArray, i: int, width: Integer, kind: int, run_time: float, model: _Model, out: _Columns, room: IntArray
) -> int:
    """Fill in the curve, bounds and choices of moldable job i; return the number of choices, put in ``room``."""
    if model.model == SIMPLE_MODEL:
        least = width // 2 + width % 2
        most = model.machine if width > model.machine // 2 else 2 * width
        out.curve[i] = speedup.SIMPLE
        out.sequential[i] = run_time * speedup.simple_speedup_at(width, width)
    else:
        c_min, a, sigma = _draw_downey(state, model)
        c_max = speedup.downey_maximum_at(a, sigma)
        least = np.int64(min(c_min, c_max, float(width)))
        most = model.machine if c_max >= model.machine else np.int64(c_max)
        out.curve[i] = speedup.DOWNEY
        out.a[i], out.sigma[i] = a, sigma
        out.sequential[i] = run_time * speedup.downey_speedup_at(width, a, sigma)
    most = max(most, width)
    out.bounds[i, 0], out.bounds[i, 2] = least, most
    if model.model != SIMPLE_MODEL:
        out.bounds[i, 1] = _best_width(kind, least, most, width, out.a[i], out.sigma[i])
    count = model.choices
    if count == 0:
        count = max(2, int(np.ceil(_uniform_log(next_uniform(state), CHOICES_SLOPE, CHOICES_OFFSET))))
    drawn: int = _draw_choices(state, kind, least, most, width, count, room)
    return drawn


@kernel(allocates=False)
def _draw_downey(state: WordArray, model: _Model) -> tuple[float, float, float]:
    """Return the least width, A and sigma of a job."""
    if model.model == DOWNEY_MODEL:
        a = model.max_parallelism ** next_uniform(state)
        return 1.0, a, LARGEST_SIGMA * next_uniform(state)
    c_min = max(1.0, np.ceil(_uniform_log(next_uniform(state), LEAST_SLOPE, LEAST_OFFSET)))
    sigma = model.sigma_factor * max(0.0, SIGMA_MEAN + SIGMA_SD * next_normal(state))
    log = np.log2(c_min)
    a = _uniform_log(next_uniform(state), A_SLOPE_LOG * log + A_SLOPE, A_OFFSET_LOG * log + A_OFFSET)
    return c_min, max(1.0, a), sigma


@kernel
def _uniform_log(u: float, slope: float, offset: float) -> float:
    """Return the x at which slope * log2(x) + offset is u."""
    x: float = 2.0 ** ((u - offset) / slope)
    return x


@kernel
def _best_width(kind: int, least: Integer, most: Integer, width: Integer, a: float, sigma: float) -> Integer:
    """Return the allowed width with the least n / S(n)^2, which falls up to a real n and rises after it."""
    below = _index(kind, np.int64(min(max(speedup.downey_optimum_at(a, sigma), least), most)))
    first, last = _index(kind, least - 1) + 1, _index(kind, most)
    best, cost = width, width / speedup.downey_speedup_at(width, a, sigma) ** 2
    for k in range(max(below, first), min(below + 1, last) + 1):
        n = _width(kind, k)
        other = n / speedup.downey_speedup_at(n, a, sigma) ** 2
        if other < cost or (other == cost and n < best):
            best, cost = n, other
    return best


@kernel(allocates=False)
def _draw_choices(
    state: WordArray, kind: int, least: Integer, most: Integer, width: Integer, wanted: int, choices: IntArray
) -> int:
    """Fill in a job's width and other allowed ones, ascending, up to ``wanted``; return how many.

    The others are numbered from 0 and drawn by Floyd's algorithm: each of the last ``count`` numbers in turn gives
    its place to a uniform number no larger, unless that is taken.
    """
    first, own = _index(kind, least - 1) + 1, _index(kind, width)
    is_numbered = _width(kind, own) == width
    others = _index(kind, most) - first + 1 - is_numbered
    count = int(min(wanted - 1, others))
    for k in range(count):
        top = others - count + k
        pick = min(np.int64(next_uniform(state) * (top + 1.0)), top)
        if not _insert(choices, k, pick):
            _insert(choices, k, top)
    for k in range(count):
        index = first + choices[k]
        choices[k] = _width(kind, index + 1 if is_numbered and index >= own else index)
    _insert(choices, count, width)
    return count + 1


@kernel
def _insert(numbers: IntArray, count: int, number: Integer) -> bool:
    """Put a number in its place among the first, ascending ones; return False, and leave them, if it is there."""
    place = count
    while place > 0 and numbers[place - 1] > number:
        place -= 1
    if place > 0 and numbers[place - 1] == number:
        return False
    for k in range(count, place, -1):  # a slice would be checked for its shape, with 3 s of numba's texts to compile
        numbers[k] = numbers[k - 1]
    numbers[place] = number
    return True


@kernel
def _index(kind: int, processors: Integer) -> Integer:
    """Return the index of the largest width of a kind that is at most so many processors."""
    if kind == POWER_OF_TWO:
        exponent = -1
        while processors > 0:
            processors >>= 1
            exponent += 1
        return exponent
    if kind == SQUARE:
        root = np.int64(np.sqrt(np.float64(processors)))
        return root - 1 if root * root > processors else root
    return processors // _STEPS[kind]


@kernel
def _width(kind: int, index: Integer) -> Integer:
    """Return the width of a kind with an index."""
    if kind == POWER_OF_TWO:
        return np.int64(1) << index
    return index * index if kind == SQUARE else index * _STEPS[kind]
