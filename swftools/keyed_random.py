# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers that depend on what they are for, not on when they are drawn.

A draw is a pure function of (seed, step, job number, occurrence of that number, position of the draw), by the
counter-based generator Philox4x64-10. So a job gets the same numbers in any order of jobs, in chunks and on
any number of workers, in a window of the log or a copy of it. For the same reason two logs share the draws of a seed:
where they are to be independent, each takes a seed of its own. The stream of one job equals numpy's
``Philox(key=[seed, step_key(step)], counter=[0, job, occurrence, 0])``, which the tests hold against it.

References
----------
Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.kernel import kernel, untouched_zeros

WordArray = npt.NDArray[np.uint64]
"""The state of a stream."""

MASK32 = np.uint64(0xFFFFFFFF)
SHIFT32 = np.uint64(32)
SHIFT11 = np.uint64(11)
MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
ONE = np.uint64(1)


def step_key(step: str) -> int:
    """Return the 64-bit key of a step's name, so that steps with one seed draw independently.

    Examples
    --------
    >>> step_key("utility") == step_key("utility") != step_key("checkpoints")
    True
    """
    return int.from_bytes(hashlib.blake2b(step.encode(), digest_size=8).digest(), "little")


def count_occurrences(jobs: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return how many earlier lines carry each job's number: with that number, the key of its draws.

    Parameters
    ----------
    jobs : pandas.DataFrame
        With ``job_number``; all jobs of the log, since those taken away are counted too. Earlier is by
        ``line_number`` where that is there and known, else by row. ``job_occurrence``, set by cleaning before
        any job is taken away, is returned as it stands.

    Examples
    --------
    >>> count_occurrences(pd.DataFrame({"job_number": [7, 8, 7]})).tolist()
    [0, 0, 1]
    """
    if "job_occurrence" in jobs:
        return jobs["job_occurrence"].to_numpy(dtype=np.int64)
    numbers = jobs["job_number"].to_numpy(dtype=np.int64, na_value=-1)
    if (numbers[1:] > numbers[:-1]).all() or jobs["job_number"].is_unique:  # most logs are numbered in order
        return untouched_zeros(len(jobs), np.int64)
    which, _ = pd.factorize(jobs["job_number"], use_na_sentinel=False)
    by_number = np.argsort(which, kind="stable")
    if "line_number" in jobs:
        line = jobs["line_number"].to_numpy(dtype=np.float64, na_value=np.nan)
        if not (line[1:] >= line[:-1]).all():
            in_file = np.argsort(line, kind="stable")
            by_number = in_file[np.argsort(which[in_file], kind="stable")]
    is_first = np.append(True, np.diff(which[by_number]) != 0)
    place = np.arange(len(jobs))
    counts = np.empty(len(jobs), np.int64)
    counts[by_number] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return counts


class OccurrenceCounter:
    """Counts occurrences through the parts of a log, one after the other.

    It keeps how often each number has stood so far, in runs of numbers that stood equally often: two words a run. A
    log numbered from 1 on is one run; numbers without order take two runs each.

    Examples
    --------
    >>> counter = OccurrenceCounter()
    >>> [counter.count(pd.DataFrame({"job_number": part})).tolist() for part in ([7, 8, 7], [8, 9], [7])]
    [[0, 0, 1], [1, 0], [2]]
    """

    def __init__(self) -> None:
        self._begins = np.empty(0, np.int64)
        """First number of each run, rising."""
        self._times = np.zeros(1, np.int64)
        """How often each number has stood: before the first run (never), then in each run."""

    def count(self, jobs: pd.DataFrame) -> npt.NDArray[np.int64]:
        """Return how many earlier lines, also of earlier parts, carry each job's number, and count these lines.

        Parameters
        ----------
        jobs : pandas.DataFrame
            The next part, as for ``count_occurrences``; a missing ``job_number`` counts as a number too.
        """
        numbers = jobs["job_number"].to_numpy(dtype=np.int64, na_value=-1)
        earlier = self._times[np.searchsorted(self._begins, numbers, "right")]
        self._add(*np.unique(numbers, return_counts=True))
        occurrences: npt.NDArray[np.int64] = count_occurrences(jobs) + earlier
        return occurrences

    def _add(self, numbers: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
        """Count numbers, each given once and in order, so many times more."""
        begins, place = np.unique(np.concatenate((self._begins, numbers, numbers + 1)), return_inverse=True)
        steps = np.zeros(len(begins), np.int64)
        np.add.at(steps, place, np.concatenate((np.diff(self._times), counts, -counts)))
        changes = steps != 0
        self._begins = begins[changes]
        self._times = np.concatenate(([0], np.cumsum(steps[changes])))


def generator(seed: int, step: str) -> np.random.Generator:
    """Return the one generator of a model of whole traces; of equal seeds, different steps draw independently.

    Examples
    --------
    >>> generator(7, "arrivals").random() == generator(7, "arrivals").random() != generator(7, "estimates").random()
    True
    """
    return np.random.Generator(np.random.Philox(key=np.array([seed, step_key(step)], dtype=np.uint64)))


def stream(seed: int, step: str, job: int, occurrence: int = 0) -> WordArray:
    """Return the state of a job's stream, to be advanced by ``next_uniform`` in a compiled loop.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1.
    step : str
        What the numbers are for.
    job, occurrence : int
        Key of the job.
    """
    state = np.zeros(STATE_LENGTH, np.uint64)
    start_stream(state, np.uint64(seed), np.uint64(step_key(step)), job, occurrence)
    return state


def uniforms(
    seed: int, step: str, job_number: npt.NDArray[np.int64], occurrence: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.float64]:
    """Return the first numbers of the streams of many jobs, shape (jobs, count), uniform on [0, 1).

    Examples
    --------
    >>> drawn = uniforms(7, "a step", np.array([3, 5]), np.array([0, 0]), 2)
    >>> drawn.shape, bool((uniforms(7, "a step", np.array([5]), np.array([0]), 2) == drawn[1:]).all())
    ((2, 2), True)
    """
    drawn = np.empty((len(job_number), count))
    state = np.zeros(STATE_LENGTH, np.uint64)
    _fill_uniforms(drawn, state, np.uint64(seed), np.uint64(step_key(step)), job_number, occurrence)
    return drawn


STATE_LENGTH = 11
"""Words of a stream's state: key (2), counter (4), four numbers at hand (4), how many of them are used (1)."""


@kernel(allocates=False)
def start_stream(state: WordArray, seed: np.uint64, step: np.uint64, job: int, occurrence: int) -> None:
    """Put ``state`` at the beginning of the stream of a job."""
    state[0] = seed
    state[1] = step
    state[2] = np.uint64(0)
    state[3] = np.uint64(job)
    state[4] = np.uint64(occurrence)
    state[5] = np.uint64(0)
    state[10] = np.uint64(4)


@kernel(allocates=False)
def next_uniform(state: WordArray) -> float:
    """Return the next number of a stream, uniform on [0, 1) with 53 random bits; advances ``state``."""
    if state[10] == np.uint64(4):
        state[2] += ONE
        _fill(state)
        state[10] = np.uint64(0)
    word = state[np.uint64(6) + state[10]]
    state[10] += ONE
    return np.float64(word >> SHIFT11) * (1.0 / 9007199254740992.0)


@kernel(allocates=False)
def _fill_uniforms(
    drawn: npt.NDArray[np.float64],
    state: WordArray,
    seed: np.uint64,
    step: np.uint64,
    job_number: npt.NDArray[np.int64],
    occurrence: npt.NDArray[np.int64],
) -> None:
    """Fill each row of ``drawn`` with the first numbers of its job's stream; uses ``state``."""
    for i in range(drawn.shape[0]):
        start_stream(state, seed, step, job_number[i], occurrence[i])
        for k in range(drawn.shape[1]):
            drawn[i, k] = next_uniform(state)


@kernel(allocates=False)
def next_normal(state: WordArray) -> float:
    """Return a standard normal number (Box and Muller 1958, the cosine branch); takes two uniform numbers."""
    radius = np.sqrt(-2.0 * np.log(1.0 - next_uniform(state)))
    normal: float = radius * np.cos(2.0 * np.pi * next_uniform(state))
    return normal


@kernel(allocates=False)
def next_gamma(state: WordArray, shape: float) -> float:
    """Return a gamma number of a positive shape and scale 1 (Marsaglia and Tsang 2000); takes three or more."""
    boosted = shape if shape >= 1.0 else shape + 1.0
    d = boosted - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = next_normal(state)
        v: float = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(1.0 - next_uniform(state)) < 0.5 * x * x + d * (1.0 - v + np.log(v)):
            break
    if shape < 1.0:
        boost: float = (1.0 - next_uniform(state)) ** (1.0 / shape)
        return d * v * boost
    return d * v


@kernel
def _high(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the high 64 bits of the 128-bit product."""
    a_low, a_high, b_low, b_high = a & MASK32, a >> SHIFT32, b & MASK32, b >> SHIFT32
    low, middle = a_low * b_low, a_high * b_low
    middle += low >> SHIFT32
    other = a_low * b_high + (middle & MASK32)
    return a_high * b_high + (middle >> SHIFT32) + (other >> SHIFT32)


@kernel(allocates=False)
def _fill(state: WordArray) -> None:
    """Compute the four numbers of the present counter: ten rounds of Philox4x64."""
    key_0, key_1 = state[0], state[1]
    x_0, x_1, x_2, x_3 = state[2], state[3], state[4], state[5]
    for _ in range(10):
        high_0, low_0 = _high(MULTIPLIER_0, x_0), MULTIPLIER_0 * x_0
        high_1, low_1 = _high(MULTIPLIER_1, x_2), MULTIPLIER_1 * x_2
        x_0, x_1, x_2, x_3 = high_1 ^ x_1 ^ key_0, low_1, high_0 ^ x_3 ^ key_1, low_0
        key_0 += WEYL_0
        key_1 += WEYL_1
    state[6], state[7], state[8], state[9] = x_0, x_1, x_2, x_3
