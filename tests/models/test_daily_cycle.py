# SPDX-License-Identifier: BSD-3-Clause
"""The daily cycle: the clock equals a walk through the half hours, and its two directions undo each other."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.models.daily_cycle import BUCKET, BUCKETS, DAY, clock_times, fitted_weights, gamma_weights, points_at
from tests.naive.lublin_feitelson import naive_arrivals, naive_weights

CYCLES = [(8.1737, 3.9631), (6.1271, 5.2740), (8.9186, 3.6680)]


def normalised(weights: list[float]) -> npt.NDArray[np.float64]:
    """Return weights of mean 1."""
    return np.array(weights) / np.mean(weights)


days = st.lists(st.sampled_from([1.0, 1.0, 0.01, 50.0]) | st.floats(0.001, 1000), min_size=48, max_size=48).map(
    normalised
)
"""Any weights of a day."""


def test_a_flat_day_is_the_clock() -> None:
    """Where every half hour has the same weight a point is half an hour."""
    points = np.array([0.0, 0.5, 1.0, 47.75, 48.0, 100.25])
    assert (1800 * points).tolist() == clock_times(points, np.ones(48)).tolist()
    assert points.tolist() == points_at(1800 * points, np.ones(48)).tolist()


def test_a_day_of_two_parts_by_hand() -> None:
    """Of a morning of weight 1/2 and an afternoon of weight 3/2 a point takes an hour, then twenty minutes."""
    weights = np.repeat([0.5, 1.5], 24)
    assert [0, 3600, 43_200, 43_200 + 1200, 86_400, 86_400 + 43_200] == pytest.approx(
        clock_times(np.array([0.0, 1, 12, 13, 48, 60]), weights).tolist()
    )


@pytest.mark.parametrize(("shape", "scale"), CYCLES)
def test_weights_are_the_slow_twins(shape: float, scale: float) -> None:
    """The weights of a gamma density, by a series of the incomplete gamma function."""
    assert naive_weights(shape, scale) == pytest.approx(gamma_weights(shape, scale).tolist(), abs=1e-11)


def test_weights_of_another_cut() -> None:
    """The cycle cut at midnight has the density's own half hours; cut later, the early ones are those of the next day.

    A shape of 1 is the exponential density, which is falling from the cut on.
    """
    expected = normalised([math.exp(-(i - 0.5) / 20) - math.exp(-(i + 0.5) / 20) for i in range(1, 49)])
    assert expected == pytest.approx(gamma_weights(1.0, 20.0, day_start=1))
    for start in (1, 11, 40):
        assert start - 1 == gamma_weights(1.0, 20.0, day_start=start).argmax()


@pytest.mark.parametrize(("shape", "scale"), CYCLES)
def test_weights_have_mean_one_and_none_is_zero(shape: float, scale: float) -> None:
    """A day has 48 points."""
    weights = gamma_weights(shape, scale)
    assert weights.mean() == pytest.approx(1, rel=1e-14)
    assert weights.min() > 0


def test_fitted_weights_by_hand() -> None:
    """Each half hour has its arrivals, of whatever day, and half an arrival more."""
    weights = fitted_weights(np.array([0.0, 1799.9, DAY, 1800.0, 3 * DAY - 1]))
    counts = np.full(48, 0.5)
    counts[[0, 1, 47]] += [3, 1, 1]
    np.testing.assert_allclose(counts / (29 / 48), weights, rtol=1e-14)
    assert [1.0] * 48 == fitted_weights(np.empty(0)).tolist()


@given(
    st.lists(st.sampled_from([1e-9, 1.0, 1800.0, 86_400.0, 442_413.0]) | st.floats(1e-3, 1e6), max_size=20),
    days | st.sampled_from(CYCLES).map(lambda cycle: gamma_weights(*cycle)),
    st.sampled_from([0.0, 8 * 3600.0, 23 * 3600.0]) | st.floats(0, DAY - 1),
)
def test_the_clock_is_the_walk_through_the_half_hours(
    gaps: list[float], weights: npt.NDArray[np.float64], start: float
) -> None:
    """The closed form gives the times of a balance carried from half hour to half hour, from any start of the day."""
    points = points_at(start, weights) + np.cumsum(np.array(gaps)) / BUCKET
    walked = naive_arrivals(gaps, weights.tolist(), start)
    # What roundings of the points are worth in the half hour that takes longest for a point.
    rounding = 1e-13 * (48 + points.max(initial=0)) * BUCKET / weights.min()
    np.testing.assert_allclose(clock_times(points, weights), walked, rtol=1e-12, atol=rounding)


@given(days, st.lists(st.floats(0, 1e4), max_size=10))
def test_points_at_undoes_clock_times(weights: npt.NDArray[np.float64], points: list[float]) -> None:
    """Points become times and those times the same points; also at the edges of half hours and days."""
    edges = np.concatenate(([0.0], np.cumsum(weights), 48 + np.cumsum(weights)))
    there = np.concatenate((edges, np.array(points)))
    np.testing.assert_allclose(points_at(clock_times(there, weights), weights), there, rtol=1e-9, atol=1e-9)


@given(days, st.lists(st.floats(0, 1e7), max_size=10))
def test_clock_times_undoes_points_at(weights: npt.NDArray[np.float64], clock: list[float]) -> None:
    """Times become points and those points the same times."""
    there = np.concatenate((BUCKET * np.arange(2 * BUCKETS + 1), np.array(clock)))
    back = clock_times(points_at(there, weights), weights)
    np.testing.assert_allclose(back, there, rtol=1e-9, atol=1e-7 / weights.min())


@given(days, st.lists(st.floats(0, 1e4), min_size=2, max_size=20))
def test_the_clock_never_goes_back(weights: npt.NDArray[np.float64], points: list[float]) -> None:
    """More points are no earlier."""
    assert (np.diff(clock_times(np.sort(points), weights)) >= 0).all()


def test_arrivals_of_a_steady_rate_follow_the_weights() -> None:
    """Evenly spread points are spread over the day as the weights are."""
    weights = gamma_weights(*CYCLES[0])
    times = clock_times(np.arange(0.005, 480, 0.01), weights)
    shares = np.bincount((times % DAY // BUCKET).astype(int), minlength=48) / len(times)
    assert abs(shares - weights / 48).max() < 3e-4
