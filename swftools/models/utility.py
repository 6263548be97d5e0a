"""Synthetic utility functions for the jobs of a trace, from queue priority, size and logged waits.

A model for want of recorded functions: it does not claim to recover what any one user wanted, only not to
contradict what a survey found about the shapes. Draws are keyed by job, so equal seeds give equal functions in
any order of jobs.

References
----------
Lee 2009, "On the user-scheduler dialogue", section 2.6 and equations 2.2 and 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from numba import njit

from swftools.errors import ParameterError
from swftools.keyed_random import STATE_LENGTH, next_normal, next_uniform, start_stream, step_key
from swftools.trace import Trace
from swftools.utility_functions import UtilityFunctions

Clock = Literal["turnaround", "wait"]

DECAY_KINDS = ("linear", "exponential", "step")
CLOCKS = ("turnaround", "wait")
LEAST_TIME = 60.0
"""Seconds that stand for a job's requested time where neither request nor run time is known."""


@dataclass(frozen=True)
class UtilityParameters:
    """Parameters of the model; defaults are those under which the published results are met best.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1.
    globmax : float
        Upper end of the range of start values per processor-minute (Lee's *globmax*); the unit of value.
    queue_ranks : mapping of int to int
        Priority rank of each queue, 0 highest; from the log's card. Empty: every job has rank 0 of 1.
    default_rank : int, optional
        Rank of jobs whose queue is missing or not in ``queue_ranks``; the lowest by default.
    start_value_sd : float
        Standard deviation of start values, in bins; the bin is globmax / number of ranks. Not in the paper.
    decay_shares : mapping of str to float
        Shares of the kinds linear, exponential and step; any positive numbers.
    intermediate_points : int
        Points between the first and the last of linear and exponential functions (not in the paper).
    deadline_basis : {"turnaround", "wait"}
        Logged time that the deadline is a multiple of. The text says wait; only turnaround gives the shape of
        the published Table 4.1.
    deadline_factor : float
        The multiple.
    minimum_deadline : float
        Shortest deadline, seconds.
    utility_clock : {"turnaround", "wait"}
        Logged time at which ``logged_utility`` is taken, and at which a simulation evaluates utility.
    jump : float
        Seconds between the two points of a step's drop.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    seed: int = 0
    globmax: float = 1.0
    queue_ranks: Mapping[int, int] = field(default_factory=dict)
    default_rank: int | None = None
    start_value_sd: float = 0.5
    decay_shares: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DECAY_KINDS, 1.0))
    intermediate_points: int = 5
    deadline_basis: Clock = "turnaround"
    deadline_factor: float = 2.0
    minimum_deadline: float = 10.0
    utility_clock: Clock = "turnaround"
    jump: float = 0.001

    def __post_init__(self) -> None:
        _require(isinstance(self.seed, int) and 0 <= self.seed < 2**64, "seed", self.seed, "an integer from 0 to 2**64 - 1")
        for name in ("globmax", "deadline_factor", "minimum_deadline", "jump"):
            _require(_is_number(getattr(self, name)) and getattr(self, name) > 0, name, getattr(self, name), "a positive number")
        sd = self.start_value_sd
        _require(_is_number(sd) and 0 <= sd <= 100, "start_value_sd", sd, "a number from 0 to 100")
        points = self.intermediate_points
        _require(isinstance(points, int) and 0 <= points <= 1000, "intermediate_points", points, "an integer from 0 to 1000")
        for name in ("deadline_basis", "utility_clock"):
            _require(getattr(self, name) in CLOCKS, name, getattr(self, name), "turnaround or wait")
        _require(4 * self.jump < self.minimum_deadline, "jump", self.jump, "less than a quarter of minimum_deadline")
        shares = self.decay_shares
        _require(
            isinstance(shares, Mapping)
            and set(shares) <= set(DECAY_KINDS)
            and all(_is_number(share) and share >= 0 for share in shares.values())
            and sum(shares.values()) > 0,
            "decay_shares", shares, f"shares of {', '.join(DECAY_KINDS)}, none negative, not all zero",
        )
        ranks = sorted(set(self.queue_ranks.values()))
        _require(ranks == list(range(len(ranks))), "queue_ranks", dict(self.queue_ranks), "ranks 0 to N - 1 without a gap")
        if self.default_rank is not None:
            _require(0 <= self.default_rank < self.rank_count, "default_rank", self.default_rank, "one of the ranks")

    @property
    def rank_count(self) -> int:
        """Number of ranks, at least 1."""
        return max(self.queue_ranks.values(), default=0) + 1

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any]) -> UtilityParameters:
        """Make parameters from a mapping, as a command line or a file gives them.

        Raises
        ------
        ParameterError
            A name is unknown or a value outside its domain.
        """
        known = list(cls.__dataclass_fields__)
        if unknown := sorted(set(parameters) - set(known)):
            raise ParameterError(f"utility: unknown parameters {unknown}; there are {', '.join(known)}")
        values = dict(parameters)
        if "queue_ranks" in values:
            try:
                values["queue_ranks"] = {int(queue): int(rank) for queue, rank in dict(values["queue_ranks"]).items()}
            except (TypeError, ValueError) as error:
                raise ParameterError(f"utility: queue_ranks={values['queue_ranks']!r}: {error}") from error
        return cls(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _require(condition: bool, name: str, value: object, domain: str) -> None:
    if not condition:
        raise ParameterError(f"utility: {name}={value!r} is not {domain}")


class _Inputs(NamedTuple):
    """What the kernel needs of each job."""

    job_number: npt.NDArray[np.int64]
    occurrence: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    processor_minutes: npt.NDArray[np.float64]
    deadline: npt.NDArray[np.float64]


def generate_utility(trace: Trace, parameters: UtilityParameters | None = None) -> pd.DataFrame:
    """Generate a utility function for every job of a trace.

    Parameters
    ----------
    trace : Trace
        Its width, requested, wait and run time, queue, and key (job_number, job_occurrence) are used. Missing
        values: a missing wait or run time counts as 0 in the deadline, which is then the minimum; for a missing
        requested time the run time stands, for both ``LEAST_TIME``; a missing width counts as 1 processor.
    parameters : UtilityParameters, optional
        Defaults if not given.

    Returns
    -------
    pandas.DataFrame
        One row a job, in the order of the trace: priority_rank, utility_decay, utility (Arrow list of time,
        value) and logged_utility.

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

    Differs from the paper: equation 2.2 as printed gives the highest priority the lowest values, against the
    text; see ``UtilityParameters.deadline_basis`` for the deadline.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1], submit_time=[0], wait_time=[50], run_time=[100],
    ...                            requested_time=[120], requested_processors=[4])
    >>> generated = generate_utility(trace, UtilityParameters(seed=7))
    >>> UtilityFunctions.from_arrow(generated["utility"].array._pa_array).deadlines.tolist()
    [300.0]
    """
    chosen = parameters or UtilityParameters()
    arrays = trace.arrays
    wait, run = np.nan_to_num(arrays.wait_time, nan=0.0), np.nan_to_num(arrays.run_time, nan=0.0)
    basis = wait if chosen.deadline_basis == "wait" else wait + run
    requested = np.where(arrays.requested_time > 0, arrays.requested_time, run)
    requested = np.where(requested > 0, requested, LEAST_TIME)
    jobs = _Inputs(
        arrays.job_number,
        _occurrence(trace),
        _ranks(arrays.queue_id, chosen),
        np.maximum(arrays.width, 1) * requested / 60.0,
        np.maximum(chosen.deadline_factor * basis, chosen.minimum_deadline),
    )
    shares = np.cumsum([chosen.decay_shares.get(kind, 0.0) for kind in DECAY_KINDS])
    room = max(chosen.intermediate_points + 2, 4)
    times, values = np.empty((len(trace), room)), np.empty((len(trace), room))
    kinds, lengths = np.empty(len(trace), np.int64), np.empty(len(trace), np.int64)
    _generate(
        jobs,
        (np.uint64(chosen.seed), np.uint64(step_key("utility"))),
        (chosen.globmax, chosen.start_value_sd, chosen.rank_count, chosen.intermediate_points, chosen.jump),
        shares / shares[-1],
        (times, values, kinds, lengths),
    )
    used = np.arange(room) < lengths[:, None]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    functions = UtilityFunctions(offsets, times[used], values[used])
    clock = wait if chosen.utility_clock == "wait" else wait + run
    return pd.DataFrame(
        {
            "priority_rank": pd.Series(jobs.rank, dtype="Int64"),
            "utility_decay": pd.Series(pd.Categorical.from_codes(kinds, list(DECAY_KINDS)).astype("str")),
            "utility": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([functions.to_arrow()]))),
            "logged_utility": functions.evaluate(clock),
        }
    )


def _occurrence(trace: Trace) -> npt.NDArray[np.int64]:
    """Return job_occurrence, counted in the order of the jobs where cleaning has not set it."""
    if "job_occurrence" in trace.jobs:
        return trace.jobs["job_occurrence"].to_numpy(dtype=np.int64)
    return trace.jobs.groupby("job_number", dropna=False).cumcount().to_numpy(dtype=np.int64)


def _ranks(queue_id: npt.NDArray[np.int64], parameters: UtilityParameters) -> npt.NDArray[np.int64]:
    """Return the priority rank of each job."""
    default = parameters.rank_count - 1 if parameters.default_rank is None else parameters.default_rank
    ranks = np.full(len(queue_id), default)
    for queue, rank in parameters.queue_ranks.items():
        ranks[queue_id == queue] = rank
    return ranks


@njit(cache=True, nogil=True)
def _generate(jobs, keys, model, shares, out):  # type: ignore[no-untyped-def]
    """Fill times, values, kinds and lengths of every job's function; draws are keyed by job."""
    globmax, sd, rank_count, points, jump = model
    times, values, kinds, lengths = out
    bin_width = globmax / rank_count
    state = np.zeros(STATE_LENGTH, np.uint64)
    for i in range(len(jobs.job_number)):
        start_stream(state, keys[0], keys[1], jobs.job_number[i], jobs.occurrence[i])
        mean = (rank_count - 1 - jobs.rank[i] + 0.5) * bin_width  # equation 2.2, rank 0 highest
        start = mean + sd * bin_width * next_normal(state)
        while start <= 0.0:
            start = mean + sd * bin_width * next_normal(state)
        start *= jobs.processor_minutes[i]  # equation 2.3
        deadline = jobs.deadline[i]
        draw = next_uniform(state)
        kind = 0
        while kind < 2 and draw >= shares[kind]:
            kind += 1
        kinds[i] = kind
        t, v = times[i], values[i]
        t[0], v[0] = 0.0, start
        if kind == 2:
            t[1] = jump + (deadline - 3.0 * jump) * next_uniform(state)
            t[2] = t[1] + jump
            t[3] = deadline
            v[1] = start
            v[2] = start * next_uniform(state)
            v[3] = v[2]
            lengths[i] = 4
            continue
        for k in range(1, points + 1):
            t[k] = deadline * next_uniform(state)
        for k in range(1, points + 1):
            v[k] = start * next_uniform(state) if kind == 0 else v[k - 1] * next_uniform(state)
        t[1 : points + 1].sort()
        if kind == 0:
            v[1 : points + 1] = np.sort(v[1 : points + 1])[::-1]
        last = 0  # equal times, which a draw of 53 bits hardly ever gives, are drawn as one point
        for k in range(1, points + 1):
            if t[last] < t[k] < deadline:
                last += 1
                t[last], v[last] = t[k], v[k]
        t[last + 1], v[last + 1] = deadline, 0.0
        lengths[i] = last + 2
