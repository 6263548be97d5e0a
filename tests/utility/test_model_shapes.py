# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic utility functions have the start values, deadlines and shapes that are declared, by their statistics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from swftools import UtilityParameters, generate_utility
from swftools.utility import model as utility
from tests.utility.samples import JOBS, RANKS, functions_of, many_jobs, only

FloatArray = npt.NDArray[np.float64]


# Priority and start value


def test_ranks() -> None:
    """The rank is that of the queue; unknown and missing queues have the lowest, or the one given."""
    trace = many_jobs(queue_id=[1, 2, 3, 9, -1])
    assert [1, 0, 2, 2, 2] == generate_utility(trace, UtilityParameters(queue_ranks=RANKS))["priority_rank"].tolist()
    default = UtilityParameters(queue_ranks=RANKS, default_rank=0)
    assert [1, 0, 2, 0, 0] == generate_utility(trace, default)["priority_rank"].tolist()
    assert {0} == set(generate_utility(trace)["priority_rank"])


def truncated_normal(mean: float, sd: float) -> tuple[float, float]:
    """Return mean and standard deviation of a normal distribution above 0."""
    a = -mean / sd
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    above = 0.5 * math.erfc(a / math.sqrt(2))
    ratio = density / above
    return mean + sd * ratio, sd * math.sqrt(1 + a * ratio - ratio * ratio)


@pytest.mark.parametrize("sd", [0.5, 0.1, 2.0])
def test_start_values_are_normal_around_the_middle_of_the_ranks_bin(sd: float) -> None:
    """Equation 2.2, rank 0 worth most: mean (N - 1 - rank + 0.5) / N x globmax, sd in bins, cut at 0."""
    globmax = 30.0
    chosen = UtilityParameters(globmax=globmax, queue_ranks=RANKS, start_value_sd=sd)
    generated = generate_utility(many_jobs(queue_id=np.arange(JOBS) % 3 + 1), chosen)
    starts = functions_of(generated).start_values
    assert starts.min() > 0
    for rank in range(3):
        drawn = starts[(generated["priority_rank"] == rank).to_numpy(dtype=bool)]
        mean, deviation = truncated_normal((2 - rank + 0.5) / 3 * globmax, sd * globmax / 3)
        error = deviation / math.sqrt(len(drawn))
        assert mean == pytest.approx(drawn.mean(), abs=4 * error)
        assert deviation == pytest.approx(drawn.std(), abs=4 * error)


def test_higher_priority_is_worth_more() -> None:
    """Against equation 2.2 as printed, and with its text: rank 0 has the highest values."""
    generated = generate_utility(many_jobs(queue_id=np.arange(JOBS) % 3 + 1), UtilityParameters(queue_ranks=RANKS))
    starts = pd.Series(functions_of(generated).start_values).groupby(generated["priority_rank"])
    assert starts.mean().is_monotonic_decreasing
    assert starts.quantile(0.1)[0] > starts.quantile(0.9)[2]


def test_start_value_without_deviation_is_the_middle() -> None:
    """With standard deviation 0 the start value is the formula itself, times processors and minutes (equation 2.3)."""
    trace = many_jobs(
        queue_id=[2, 1, 3],
        allocated_processors=[8, -1, 0],
        requested_processors=[64, 4, 2],
        requested_time=[60, 600, 30],
    )
    starts = functions_of(
        generate_utility(trace, UtilityParameters(globmax=6, queue_ranks=RANKS, start_value_sd=0))
    ).start_values
    assert [5.0 * 8 * 1, 3.0 * 4 * 10, 1.0 * 2 * 0.5] == pytest.approx(starts.tolist(), rel=1e-15)


def test_missing_size() -> None:
    """For a missing requested time the run time stands, then a minute; for a missing width one processor."""
    trace = many_jobs(
        requested_time=[120, -1, 0, -1, -1], run_time=[300, 300, 180, 0, -1], requested_processors=[2, 2, 2, 2, -1]
    )
    starts = functions_of(generate_utility(trace, UtilityParameters(globmax=2, start_value_sd=0))).start_values
    assert [2.0 * 2, 5.0 * 2, 3.0 * 2, 1.0 * 2, 1.0] == starts.tolist()


def test_value_is_in_units_of_globmax() -> None:
    """Twice globmax is twice every value, at the same times."""
    trace = many_jobs(job_number=np.arange(500))
    one, two = (functions_of(generate_utility(trace, UtilityParameters(globmax=g))) for g in (1, 2))
    np.testing.assert_array_equal(one.times, two.times)
    np.testing.assert_allclose(2 * one.values, two.values, rtol=1e-14)


# Deadline and clock


@pytest.mark.parametrize(
    ("parameters", "deadlines"),
    [
        ({}, [800.0, 200.0, 600.0, 10.0, 10.0]),
        ({"deadline_basis": "wait"}, [200.0, 200.0, 10.0, 10.0, 10.0]),
        ({"deadline_factor": 0.5, "minimum_deadline": 60}, [200.0, 60.0, 150.0, 60.0, 60.0]),
    ],
)
def test_deadlines(parameters: dict[str, Any], deadlines: list[float]) -> None:
    """The deadline is a multiple of the logged turnaround or wait, missing parts being 0, and at least the minimum."""
    trace = many_jobs(wait_time=[100, 100, -1, -1, 0], run_time=[300, -1, 300, -1, 2])
    for kind in utility.DECAY_KINDS:
        assert deadlines == functions_of(generate_utility(trace, only(kind, **parameters))).deadlines.tolist()


@pytest.mark.parametrize(("clock", "times"), [("turnaround", [400.0, 150.0]), ("wait", [100.0, 150.0])])
def test_logged_utility_is_that_at_the_clock(clock: Any, times: list[float]) -> None:
    """Logged utility is the function at the logged turnaround, or wait."""
    trace = many_jobs(wait_time=[100, 150], run_time=[300, 0])
    generated = generate_utility(trace, UtilityParameters(utility_clock=clock, deadline_basis="turnaround"))
    assert functions_of(generated).evaluate(times).tolist() == generated["logged_utility"].tolist()
    assert (generated["logged_utility"] > 0).all()


def test_unknown_times_have_no_logged_utility() -> None:
    """A job whose turnaround (or wait) the log does not tell has earned nothing that could be told."""
    trace = many_jobs(wait_time=[100, -1, 100], run_time=[-1, 300, 300])
    assert [True, True, False] == generate_utility(trace)["logged_utility"].isna().tolist()
    by_wait = generate_utility(trace, UtilityParameters(utility_clock="wait"))
    assert [False, True, False] == by_wait["logged_utility"].isna().tolist()


# Shapes


def within(expected: float, drawn: FloatArray, sd: float) -> bool:
    """Return whether a mean is within four standard errors."""
    return bool(abs(drawn.mean() - expected) < 4 * sd / math.sqrt(len(drawn)))


UNIFORM_SD = 1 / math.sqrt(12)


def test_kinds_come_in_their_shares() -> None:
    """A third of each by default; otherwise in proportion to the shares, and none where the share is 0."""
    trace = many_jobs(job_number=np.arange(JOBS))
    for shares in (
        {"linear": 1, "exponential": 1, "step": 1},
        {"linear": 1, "exponential": 3},
        {"step": 2, "exponential": 2},
    ):
        chosen = UtilityParameters(decay_shares=shares) if len(shares) < 3 else UtilityParameters()
        counts = generate_utility(trace, chosen)["utility_decay"].value_counts()
        assert set(shares) == set(counts.index)
        for kind, share in shares.items():
            p = share / sum(shares.values())
            assert JOBS * p == pytest.approx(counts[kind], abs=4 * math.sqrt(JOBS * p * (1 - p)))


def test_the_kind_does_not_depend_on_the_start_value() -> None:
    """Kinds have equal start values on average."""
    generated = generate_utility(many_jobs(job_number=np.arange(JOBS)))
    starts = pd.Series(functions_of(generated).start_values).groupby(generated["utility_decay"])
    for _, drawn in starts:
        assert within(starts.mean().mean(), drawn.to_numpy(), float(drawn.std()))


@pytest.mark.parametrize("points", [0, 1, 5, 20])
@pytest.mark.parametrize("kind", ["linear", "exponential"])
def test_declines_have_their_points(kind: str, points: int) -> None:
    """A decline has the start, the intermediate points, and ends at the deadline with nothing."""
    functions = functions_of(
        generate_utility(many_jobs(job_number=np.arange(2000)), only(kind, intermediate_points=points))
    )
    assert {points + 2} == set(np.diff(functions.offsets))
    assert {0.0} == set(functions.values[functions.offsets[1:] - 1])


def shares_of(kind: str, points: int = 5) -> tuple[FloatArray, FloatArray]:
    """Return inner times as shares of the deadline and inner values as shares of the start value, a row a job."""
    functions = functions_of(
        generate_utility(many_jobs(job_number=np.arange(20_000)), only(kind, intermediate_points=points))
    )
    times, values = functions.times.reshape(20_000, -1), functions.values.reshape(20_000, -1)
    return times[:, 1:-1] / times[:, -1:], values[:, 1:] / values[:, :1]


def test_times_are_uniform() -> None:
    """Inner times are uniform between submission and deadline: the k-th of five has the mean k / 6."""
    for kind in ("linear", "exponential"):
        times, _ = shares_of(kind)
        for k in range(5):
            assert within((k + 1) / 6, times[:, k], UNIFORM_SD)
        tenths = np.bincount((10 * times.ravel()).astype(int), minlength=10)
        assert abs(tenths - 10_000).max() < 5 * math.sqrt(10_000)


def test_linear_values_are_uniform() -> None:
    """Linear: inner values are uniform below the start value: the k-th highest of five has the mean 1 - k / 6."""
    _, values = shares_of("linear")
    for k in range(5):
        assert within(1 - (k + 1) / 6, values[:, k], UNIFORM_SD)
    tenths = np.bincount((10 * values[:, :5].ravel()).astype(int), minlength=10)
    assert abs(tenths - 10_000).max() < 5 * math.sqrt(10_000)


def test_exponential_values_halve() -> None:
    """Exponential: each value is uniform below the one before, hence half of it on average."""
    _, values = shares_of("exponential")
    inner = np.column_stack((np.ones(len(values)), values[:, :5]))
    for k in range(5):
        assert within(0.5, inner[:, k + 1] / inner[:, k], UNIFORM_SD)
        assert within(0.5 ** (k + 1), inner[:, k + 1], float(inner[:, k + 1].std()))


def test_steps_drop_once_and_end() -> None:
    """Step: full value until a uniform time, then a uniform lower value, until the deadline."""
    functions = functions_of(generate_utility(many_jobs(job_number=np.arange(20_000)), only("step")))
    times, values = functions.times.reshape(-1, 4), functions.values.reshape(-1, 4)
    assert {800.0} == set(times[:, 3])
    np.testing.assert_array_equal(values[:, 0], values[:, 1])
    np.testing.assert_array_equal(values[:, 2], values[:, 3])
    np.testing.assert_allclose(times[:, 2] - times[:, 1], 0.001, rtol=1e-6)
    assert within(0.5, times[:, 1] / 800, UNIFORM_SD)
    assert within(0.5, values[:, 2] / values[:, 0], UNIFORM_SD)
    late = functions.evaluate(np.column_stack((np.full(20_000, 800.0), np.full(20_000, 800.001))))
    np.testing.assert_array_equal(np.column_stack((values[:, 2], np.zeros(20_000))), late)


@pytest.mark.parametrize("jump", [0.001, 2.4])
def test_jumps(jump: float) -> None:
    """A drop takes the given time, and lies between submission and deadline even of the shortest one."""
    trace = many_jobs(job_number=np.arange(5000), wait_time=0, run_time=0)
    times = functions_of(generate_utility(trace, only("step", jump=jump))).times.reshape(-1, 4)
    np.testing.assert_allclose(times[:, 2] - times[:, 1], jump, rtol=1e-6)
    assert times[:, 1].min() >= jump
    assert times[:, 2].max() <= 10 - jump * (1 - 1e-9)


def test_jumps_of_far_deadlines() -> None:
    """Where floats cannot tell a time from itself plus the jump, the drop takes as long as they need."""
    trace = many_jobs(run_time=[1e10] * 200, wait_time=1e10)
    functions = functions_of(generate_utility(trace, only("step", jump=1e-9, deadline_factor=1e6)))
    times = functions.times.reshape(-1, 4)
    np.testing.assert_allclose(times[:, 2] - times[:, 1], 2e16 * utility.LEAST_GAP, rtol=1e-3)
