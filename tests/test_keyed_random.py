# SPDX-License-Identifier: BSD-3-Clause
"""Keyed random numbers: Philox4x64-10 held against Random123's vectors and numpy, and the keys of jobs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from swftools import keyed_random
from swftools.keyed_random import count_occurrences, generator, next_gamma, next_normal, next_uniform, step_key, stream
from tests.naive.lublin_feitelson import naive_gamma

MOST = 2**64 - 1

# Counter, key and answer of philox4x64 with 10 rounds, from Random123, file tests/kat_vectors (Salmon et al. 2011).
KNOWN_ANSWERS = [
    (
        "0000000000000000 0000000000000000 0000000000000000 0000000000000000",
        "0000000000000000 0000000000000000",
        "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b",
    ),
    (
        "ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff",
        "ffffffffffffffff ffffffffffffffff",
        "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
    ),
    (
        "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
        "452821e638d01377 be5466cf34e90c6c",
        "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
    ),
]


def words(text: str) -> list[int]:
    """Read hexadecimal words."""
    return [int(word, 16) for word in text.split()]


def numpy_stream(seed: int, step: str, job: int, occurrence: int) -> np.random.Generator:
    """Make numpy's generator of the same stream; lists of large integers would become floats on the way."""
    key = np.array([seed, step_key(step)], dtype=np.uint64)
    counter = np.array([0, job % 2**64, occurrence, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def uniforms(state: npt.NDArray[np.uint64], count: int) -> list[float]:
    """Draw some numbers of a stream."""
    return [next_uniform(state) for _ in range(count)]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
@pytest.mark.parametrize("fill", [keyed_random._fill, keyed_random._fill.py_func], ids=["compiled", "interpreted"])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # numpy's word on a product modulo 2**64
def test_known_answers(counter: str, key: str, answer: str, fill: object) -> None:
    """The generator gives the published answers of Philox4x64-10."""
    state = np.array([*words(key), *words(counter), 0, 0, 0, 0, 0], dtype=np.uint64)
    fill(state)
    assert words(answer) == state[6:10].tolist()


@pytest.mark.parametrize("seed", [0, 1, 2**63, MOST])
@pytest.mark.parametrize("job", [0, 1, -1, 2**63 - 1])
@pytest.mark.parametrize("occurrence", [0, 5, 2**63 - 1])
def test_streams_are_those_of_numpy(seed: int, job: int, occurrence: int) -> None:
    """A job's stream is numpy's Philox under the documented key and counter, at the ends of every range."""
    expected = numpy_stream(seed, "utility", job, occurrence).random(9).tolist()
    assert expected == uniforms(stream(seed, "utility", job, occurrence), 9)


@given(st.integers(0, MOST), st.text(max_size=5), st.integers(-1, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_any_stream_is_that_of_numpy(seed: int, step: str, job: int, occurrence: int) -> None:
    """So is any other."""
    assert numpy_stream(seed, step, job, occurrence).random(5).tolist() == uniforms(
        stream(seed, step, job, occurrence), 5
    )


def test_streams_differ_by_every_part_of_the_key() -> None:
    """Another seed, step, job or occurrence is another stream; the same is the same."""
    keys = [(7, "a", 3, 1), (8, "a", 3, 1), (7, "b", 3, 1), (7, "a", 4, 1), (7, "a", 3, 2), (7, "a", 1, 3)]
    drawn = [tuple(uniforms(stream(*key), 4)) for key in keys]
    assert len(keys) == len(set(drawn))
    assert drawn[0] == tuple(uniforms(stream(*keys[0]), 4))


def test_uniform_numbers_are_uniform() -> None:
    """Numbers lie in [0, 1), and as many in each tenth as chance has it; so do those of successive jobs."""
    one_stream = np.array(uniforms(stream(3, "test", 1), 20_000))
    first_of_jobs = np.array([next_uniform(stream(3, "test", job)) for job in range(20_000)])
    for numbers in (one_stream, first_of_jobs):
        assert numbers.min() >= 0
        assert numbers.max() < 1
        tenths = np.bincount((10 * numbers).astype(int), minlength=10)
        assert abs(tenths - 2000).max() < 5 * np.sqrt(20_000 * 0.1 * 0.9)


def test_normal_numbers_are_normal() -> None:
    """Normal numbers have mean 0, standard deviation 1 and the normal shares within 1 and 2."""
    state = stream(5, "test", 1)
    numbers = np.array([next_normal(state) for _ in range(40_000)])
    error = 5 / np.sqrt(len(numbers))
    assert abs(numbers.mean()) < error
    assert abs(numbers.std() - 1) < error
    assert abs((abs(numbers) < 1).mean() - 0.682689) < error
    assert abs((abs(numbers) < 2).mean() - 0.954500) < error


def test_normal_numbers_take_two_uniform_ones() -> None:
    """A normal number is Box and Muller's of the stream's next two numbers."""
    first, second = uniforms(stream(5, "test", 9), 2)
    state = stream(5, "test", 9)
    assert np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second) == pytest.approx(next_normal(state), rel=1e-12)
    assert uniforms(stream(5, "test", 9), 3)[2] == next_uniform(state)


SHAPES = [0.05, 0.3, 0.999, 1.0, 1.001, 2.5, 10.46, 312.0, 1e5]


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma_numbers_are_gamma(shape: float) -> None:
    """Gamma numbers have the distribution of their shape, its mean and its variance, from one stream and from many."""
    state = stream(6, "test", 1)
    one_stream = np.array([next_gamma(state, shape) for _ in range(40_000)])
    first_of_jobs = np.array([next_gamma(stream(6, "test", job), shape) for job in range(4000)])
    for numbers in (one_stream, first_of_jobs):
        # the distance of a right sample is larger than this in one of 20,000
        distance = stats.kstest(numbers, stats.gamma(shape).cdf).statistic
        assert distance < 2.3 / np.sqrt(len(numbers))
        error = 5 / np.sqrt(len(numbers))
        assert abs(numbers.mean() - shape) < error * np.sqrt(shape)
        kurtosis = 3 + 6 / shape
        assert abs(numbers.var() / shape - 1) < error * np.sqrt(kurtosis - 1)
        assert numbers.min() >= 0


def test_gamma_numbers_of_a_tiny_shape() -> None:
    """Nearly all are too small for a float64 and become 0; none is missing."""
    state = stream(6, "test", 2)
    numbers = np.array([next_gamma(state, 1e-6) for _ in range(1000)])
    assert 0 == np.median(numbers)
    assert np.isfinite(numbers).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma_numbers_are_those_of_a_slow_twin(shape: float) -> None:
    """From the same uniform numbers, Marsaglia and Tsang's method in plain Python gives the same gamma numbers."""
    state, theirs = stream(2**64 - 1, "test", 3, 1), iter(uniforms(stream(2**64 - 1, "test", 3, 1), 2000))
    expected = [naive_gamma(theirs, shape) for _ in range(200)]
    assert expected == pytest.approx([next_gamma(state, shape) for _ in range(200)], rel=1e-12)


def test_the_generator_of_a_step_is_numpys() -> None:
    """The one generator of a whole trace is Philox under seed and step; either of them makes it another."""
    key = np.array([MOST, step_key("arrivals")], dtype=np.uint64)
    numpys = np.random.Generator(np.random.Philox(key=key)).random(5)
    assert numpys.tolist() == generator(MOST, "arrivals").random(5).tolist()
    others = [generator(seed, step).random() for seed, step in ((0, "a"), (1, "a"), (0, "b"), (1, "b"))]
    assert 4 == len(set(others))


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_interpreted_streams_are_the_compiled_ones() -> None:
    """The kernels give the same numbers interpreted."""
    compiled, interpreted = stream(MOST, "utility", 7, 2), np.zeros_like(stream(0, "", 0))
    keyed_random.start_stream.py_func(
        interpreted, np.uint64(MOST), np.uint64(step_key("utility")), np.int64(7), np.int64(2)
    )
    assert compiled.tolist() == interpreted.tolist()
    for _ in range(6):
        assert next_uniform(compiled) == keyed_random.next_uniform.py_func(interpreted)
        assert next_normal(compiled) == pytest.approx(keyed_random.next_normal.py_func(interpreted), rel=1e-15)
        for shape in SHAPES:
            ours = keyed_random.next_gamma.py_func(interpreted, shape)
            assert next_gamma(compiled, shape) == pytest.approx(ours, rel=1e-12)
    assert compiled.tolist() == interpreted.tolist()


def frame(
    numbers: list[int | None], lines: list[int | None] | None = None, index: list[int] | None = None
) -> pd.DataFrame:
    """Make jobs of numbers and lines."""
    columns = {"job_number": pd.array(numbers, dtype="Int64")}
    if lines is not None:
        columns["line_number"] = pd.array(lines, dtype="Int64")
    return pd.DataFrame(columns, index=index)


def test_occurrences_count_earlier_lines() -> None:
    """An occurrence is the number of earlier jobs of that number; jobs without one are counted alike."""
    assert [0, 0, 1, 0, 2, 1] == count_occurrences(frame([7, 8, 7, None, 7, None])).tolist()


def test_occurrences_go_by_line() -> None:
    """Earlier is by line, in whatever order the jobs stand; jobs without a line come last."""
    assert [2, 1, 0, 3] == count_occurrences(frame([7, 7, 7, 7], [30, 20, 10, None])).tolist()
    assert [0, 1] == count_occurrences(frame([7, 7], [None, None])).tolist()


def test_occurrences_mind_no_index() -> None:
    """Occurrences are in the order of the rows, whatever the index says."""
    assert [1, 0, 0] == count_occurrences(frame([7, 7, 8], [2, 1, 3], index=[5, 5, 0])).tolist()


def test_occurrences_that_are_set_stay() -> None:
    """A column job_occurrence is taken as it is: jobs may have gone since it was made."""
    assert [4, 0] == count_occurrences(frame([7, 8]).assign(job_occurrence=[4, 0])).tolist()


def test_occurrences_of_no_jobs() -> None:
    """No jobs have no occurrences."""
    assert [] == count_occurrences(frame([])).tolist()
