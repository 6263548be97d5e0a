# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic utility functions for the jobs of a trace, from queue priority, size and logged waits.

This is a model, because no functions were recorded. It does not claim to recover what any user wanted; it only agrees
with what a survey found about the shapes. Draws are keyed by job, so equal seeds give equal functions in any order of
jobs.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", section 2.6 and equations 2.2 and 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

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
from swftools.parameters import LARGEST_SEED, Parameters, choice, is_number, is_whole, number, whole
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions

Clock = Literal["turnaround", "wait"]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

DECAY_KINDS = ("linear", "exponential", "step")
LINEAR, EXPONENTIAL, STEP = range(3)
CLOCKS = ("turnaround", "wait")
LEAST_TIME = 60.0
"""Seconds that stand for a job's requested time where neither request nor run time is known."""

MOST_POINTS = 100
LEAST_GAP = 1e-12
"""A step's drop takes at least this share of the deadline, so that floats tell its two times apart."""


@dataclass(frozen=True)
class UtilityParameters(Parameters):
    """Parameters of the model; the defaults fit the published results best.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Logs share the draws of a seed (docs/concepts.md, Seeds): give each its own.
    globmax : float
        Upper end of the range of start values per processor-minute (Lee's *globmax*); the unit of value.
    queue_ranks : mapping of int to int
        Priority rank of each queue, 0 highest; from the log's card. Empty: every job has rank 0 of 1.
    default_rank : int, optional
        Rank of jobs whose queue is missing or not in ``queue_ranks``; the lowest by default.
    start_value_sd : float
        Standard deviation of start values, in bins; the bin is globmax / number of ranks. Not in the paper.
    decay_shares : mapping of str to float
        Relative shares of the kinds linear, exponential and step; any positive numbers.
    intermediate_points : int
        Points between the first and the last of linear and exponential functions, at most 100 (not in the paper).
    deadline_basis : {"turnaround", "wait"}
        The deadline is a multiple of this logged time. The text says wait; only turnaround gives the shape of the
        published Table 4.1.
    deadline_factor : float
        The multiple.
    minimum_deadline : float
        Shortest deadline, seconds.
    utility_clock : {"turnaround", "wait"}
        Logged time at which ``logged_utility`` is taken, and at which a simulation evaluates utility.
    jump : float
        Seconds between the two points of a step's drop; at least ``LEAST_GAP`` of the deadline is taken.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "utility"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    globmax: float = number(1.0, least=1e-100, most=1e100)
    queue_ranks: Mapping[int, int] = field(default_factory=dict)
    default_rank: int | None = None
    start_value_sd: float = number(0.5, least=0, most=100)
    decay_shares: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DECAY_KINDS, 1.0))
    intermediate_points: int = whole(5, least=0, most=MOST_POINTS)
    deadline_basis: Clock = choice(*CLOCKS)
    deadline_factor: float = number(2.0, least=1e-100, most=1e100)
    minimum_deadline: float = number(10.0, least=1e-100, most=1e100, unit="s")
    utility_clock: Clock = choice(*CLOCKS)
    jump: float = number(0.001, least=1e-100, most=1e100, unit="s")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("jump", 4 * self.jump < self.minimum_deadline, "less than a quarter of minimum_deadline")
        shares = self.decay_shares
        sound = isinstance(shares, Mapping) and set(shares) <= set(DECAY_KINDS)
        sound = sound and all(is_number(share, 0, 1e100) for share in shares.values()) and sum(shares.values()) > 0
        self._require("decay_shares", sound, f"shares of {', '.join(DECAY_KINDS)}, none negative, not all zero")
        queues = self.queue_ranks
        sound = isinstance(queues, Mapping) and all(map(is_whole, [*queues, *queues.values()]))
        ranks = sorted(set(queues.values())) if sound else []
        self._require("queue_ranks", sound and ranks == list(range(len(ranks))), "queues with ranks 0 to N - 1, no gap")
        rank = self.default_rank
        self._require("default_rank", rank is None or is_whole(rank, 0, self.rank_count - 1), "one of the ranks")

    @property
    def rank_count(self) -> int:
        """Number of ranks, at least 1."""
        return max(self.queue_ranks.values(), default=0) + 1

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any]) -> Self:
        """Make parameters from a mapping; queues may be text, as JSON has them.

        Raises
        ------
        ParameterError
            A name is unknown or a value outside its domain.
        """
        values = dict(parameters)
        if isinstance(ranks := values.get("queue_ranks"), Mapping):
            numbers = {queue: int(queue) for queue in ranks if isinstance(queue, str) and queue.isdecimal()}
            values["queue_ranks"] = {numbers.get(queue, queue): rank for queue, rank in ranks.items()}
        return super().from_mapping(values)

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name, in types that JSON holds; ``from_mapping`` takes it back."""
        values = super().to_mapping()
        values["queue_ranks"] = {str(queue): rank for queue, rank in sorted(self.queue_ranks.items())}
        values["decay_shares"] = {kind: float(self.decay_shares.get(kind, 0.0)) for kind in DECAY_KINDS}
        return values


class _Jobs(NamedTuple):
    """What the kernel needs of each job."""

    job_number: IntArray
    occurrence: IntArray
    rank: IntArray
    processor_minutes: FloatArray
    deadline: FloatArray


class _Model(NamedTuple):
    """What the kernel needs of the parameters; ``shares`` are cumulative, by kind of decay."""

    seed: np.uint64
    step: np.uint64
    bin_width: float
    ranks: int
    sd: float
    shares: FloatArray
    points: int
    jump: float


class _Functions(NamedTuple):
    """What the kernel fills: kinds by job, and the functions as ``UtilityFunctions`` holds them."""

    kinds: npt.NDArray[np.int8]
    offsets: IntArray
    times: FloatArray
    values: FloatArray


def generate_utility(trace: Trace, parameters: UtilityParameters | None = None) -> pd.DataFrame:
    """Generate a utility function for every job of a trace.

    Parameters
    ----------
    trace : Trace
        Its width, requested, wait and run time, queue, and key (job_number, job_occurrence) are used. Missing
        values: a missing wait or run time counts as 0 in the deadline; a missing (or zero) requested time is replaced
        by the run time, or by ``LEAST_TIME`` if both are missing; a missing width counts as 1 processor.
    parameters : UtilityParameters, optional
        Defaults if not given.

    Returns
    -------
    pandas.DataFrame
        One row for each job, in the order and with the index of ``trace.jobs``: priority_rank, utility_decay, utility
        (Arrow list of time, value) and logged_utility, which is missing where the logged time is.

    Raises
    ------
    ParameterError
        A parameter is outside its domain.

    Notes
    -----
    The start value is normal around (N - 1 - rank + 0.5) / N * globmax, redrawn while <= 0, times processors
    and requested minutes. Times between 0 and the deadline are uniform; values are uniform and sorted (linear),
    or each uniform between 0 and the one before (exponential). A step keeps its start value until a uniform
    time, then a uniform lower value until the deadline.

    The draws of a job depend on seed, job_number and job_occurrence only (``swftools.keyed_random``): equal
    jobs get equal functions in any order, in chunks, and whatever other jobs there are. If the trace has not been
    cleaned, occurrences are counted here, by line if lines are known, else by row.

    Differs from the paper: equation 2.2 as printed gives the highest priority the lowest values, against the
    text; see ``UtilityParameters.deadline_basis`` for the deadline.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1], submit_time=[0], wait_time=[50], run_time=[100],
    ...                            requested_time=[120], requested_processors=[4])
    >>> generated = generate_utility(trace, UtilityParameters(seed=7))
    >>> UtilityFunctions.from_arrow(generated["utility"]).deadlines.tolist()
    [300.0]
    """
    chosen = parameters or UtilityParameters()
    arrays = trace.views
    wait, run = np.nan_to_num(arrays.wait_time, nan=0.0), np.nan_to_num(arrays.run_time, nan=0.0)
    basis = wait if chosen.deadline_basis == "wait" else wait + run
    requested = np.where(arrays.requested_time > 0, arrays.requested_time, run)
    requested = np.where(requested > 0, requested, LEAST_TIME)
    jobs = _Jobs(
        arrays.job_number,
        count_occurrences(trace.jobs),
        _ranks(arrays.queue_id, chosen),
        np.maximum(arrays.width, 1) * requested / 60.0,
        np.maximum(chosen.deadline_factor * basis, chosen.minimum_deadline),
    )
    kinds, functions = _generated(jobs, chosen)
    clock = arrays.wait_time if chosen.utility_clock == "wait" else arrays.wait_time + arrays.run_time
    decay = pa.DictionaryArray.from_arrays(kinds, list(DECAY_KINDS)).cast(pa.string())
    columns: dict[str, Any] = {
        "priority_rank": pd.array(jobs.rank, dtype="Int64"),
        "utility_decay": decay.to_pandas().array,
        "utility": pd.arrays.ArrowExtensionArray(pa.chunked_array([functions.to_arrow()])),
        "logged_utility": functions.evaluate(clock),
    }
    return pd.DataFrame(columns, index=trace.jobs.index)


def _generated(jobs: _Jobs, parameters: UtilityParameters) -> tuple[npt.NDArray[np.int8], UtilityFunctions]:
    """Return the kind of decay and the function of every job."""
    shares = np.cumsum([parameters.decay_shares.get(kind, 0.0) for kind in DECAY_KINDS])
    model = _Model(
        np.uint64(parameters.seed),
        np.uint64(step_key("utility")),
        parameters.globmax / parameters.rank_count,
        parameters.rank_count,
        float(parameters.start_value_sd),
        shares / shares[-1],
        parameters.intermediate_points,
        float(parameters.jump),
    )
    count = len(jobs.rank)
    room = count * max(parameters.intermediate_points + 2, 4)
    out = _Functions(np.empty(count, np.int8), np.zeros(count + 1, np.int64), np.empty(room), np.empty(room))
    _generate(jobs, model, out)
    points = out.offsets[-1]
    return out.kinds, UtilityFunctions(out.offsets, out.times[:points], out.values[:points])


def _ranks(queue_id: IntArray, parameters: UtilityParameters) -> IntArray:
    """Return the priority rank of each job."""
    default = parameters.rank_count - 1 if parameters.default_rank is None else parameters.default_rank
    ranks = np.full(len(queue_id), default, np.int64)
    for queue, rank in parameters.queue_ranks.items():
        ranks[queue_id == queue] = rank
    return ranks


@kernel
def _generate(jobs: _Jobs, model: _Model, out: _Functions) -> None:
    """Fill ``out`` with every job's function, one behind the other; the caller guarantees the room."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    end = 0
    for i in range(len(jobs.rank)):
        start_stream(state, model.seed, model.step, jobs.job_number[i], jobs.occurrence[i])
        mean = (model.ranks - 1 - jobs.rank[i] + 0.5) * model.bin_width  # equation 2.2, rank 0 highest
        start = 0.0
        while start <= 0.0:
            start = mean + model.sd * model.bin_width * next_normal(state)
        start *= jobs.processor_minutes[i]  # equation 2.3
        kind, draw = LINEAR, next_uniform(state)
        while kind < STEP and draw >= model.shares[kind]:
            kind += 1
        out.kinds[i] = kind
        times, values = out.times[end:], out.values[end:]
        times[0], values[0] = 0.0, start
        if kind == STEP:
            end += _draw_step(state, jobs.deadline[i], model.jump, times, values)
        else:
            end += _draw_decline(state, jobs.deadline[i], model.points, kind, times, values)
        out.offsets[i + 1] = end


@kernel(allocates=False)
def _draw_step(state: WordArray, deadline: float, jump: float, times: FloatArray, values: FloatArray) -> int:
    """Fill in a step's drop and its end behind point 0; return the number of points."""
    gap = max(jump, LEAST_GAP * deadline)
    times[1] = gap + (deadline - 3.0 * gap) * next_uniform(state)
    times[2] = times[1] + gap
    times[3] = deadline
    values[1] = values[0]
    values[2] = values[0] * next_uniform(state)
    values[3] = values[2]
    return 4


@kernel(allocates=False)
def _draw_decline(
    state: WordArray, deadline: float, points: int, kind: int, times: FloatArray, values: FloatArray
) -> int:
    """Fill in a linear or exponential decay behind point 0; return the number of points.

    Draws are sorted by insertion as they come; point 0 is never behind another and ends each search.
    """
    for k in range(1, points + 1):
        time, place = deadline * next_uniform(state), k
        while times[place - 1] > time:
            times[place] = times[place - 1]
            place -= 1
        times[place] = time
    for k in range(1, points + 1):
        if kind == EXPONENTIAL:
            values[k] = values[k - 1] * next_uniform(state)
            continue
        value, place = values[0] * next_uniform(state), k
        while values[place - 1] < value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
    last = 0  # of equal times, which draws of 53 bits hardly ever give, the first is kept
    for k in range(1, points + 1):
        if times[last] < times[k] < deadline:
            last += 1
            times[last], values[last] = times[k], values[k]
    times[last + 1], values[last + 1] = deadline, 0.0
    return last + 2
