# SPDX-License-Identifier: BSD-3-Clause
"""The distribution of user estimates: equal to a slow twin, by hand, and well formed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.models import distribution_of_requests as model
from swftools.models.distribution_of_requests import head_sizes, requested_time_distribution
from tests.models.requested_time_samples import as_pairs, drawn
from tests.naive.requested_times import CONSTANTS, naive_distribution, naive_sizes

HOURS = 3600.0


# By hand

COMMON = CONSTANTS["COMMON_TIMES"]


@pytest.mark.parametrize(
    ("maximum", "shorter"),
    [
        (60, []), (300, []), (301, [300]), (1234, [300, 600, 900, 1200]),
        (3600, [300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700, 3000, 3300]),
        (5700, range(300, 5700, 300)), (5701, range(300, 5701, 300)),
        (36 * HOURS, [*COMMON, 20 * HOURS, 25 * HOURS, 30 * HOURS, 35 * HOURS]),
        (7200 * HOURS, [*COMMON, 6400 * HOURS, 6600 * HOURS, 6800 * HOURS, 7000 * HOURS]),
    ],
)  # fmt: skip
def test_head_times(maximum: float, shorter: Sequence[float]) -> None:
    """Twenty times from 5701 s on, as many as there are multiples of 5 minutes below."""
    assert [maximum, *shorter] == model._head_times(maximum)


@pytest.mark.parametrize(
    ("jobs", "count"),
    [(1, 1), (2, 1), (3, 2), (20, 10), (110, 15), (200, 20), (226, 20), (227, 21), (1000, 35), (5000, 59), (10_000, 90),
     (50_000, 257), (70_000, 340), (100_000, 378), (250_000, 565), (10**7, 565)],
)  # fmt: skip
def test_number_of_distinct_estimates(jobs: int, count: int) -> None:
    """Interpolated in the table, at least one, constant beyond it."""
    assert count == model._distinct_count(jobs, "table") == len(drawn(jobs, 500 * HOURS).times)


@pytest.mark.parametrize(("jobs", "count"), [(1, 1), (2, 1), (100, 8), (10_000, 101), (100_000, 358), (10**6, 1264)])
def test_number_of_distinct_estimates_by_the_power_law(jobs: int, count: int) -> None:
    """0.653566 x jobs ** 0.547761, rounded, without a bound."""
    assert count == model._distinct_count(jobs, "power-law")
    assert count == len(drawn(jobs, 500 * HOURS, distinct="power-law").times)


def test_sizes_of_the_head() -> None:
    """They decline from 21.733 %, and sum up to 89 %."""
    sizes = head_sizes()
    assert [21.733, 10.313, 8.71, 7.369] == [round(size, 3) for size in sizes[:4]]
    assert sizes == sorted(sizes, reverse=True)
    assert 89 == pytest.approx(sum(sizes))
    assert naive_sizes()[1:] == pytest.approx(sizes)


@pytest.mark.parametrize(
    ("counts", "fixed", "jobs", "corrected"),
    [
        ([50, 30, 20], [], 100, [50, 30, 20]),
        ([50, 30, 20], [], 103, [52, 31, 20]),  # ceil(3 x 0.5), ceil(3 x 0.3), nothing left
        ([20, 30, 50], [], 103, [20, 31, 52]),
        ([50, 30, 20], [0], 103, [50, 32, 21]),  # ceil(3 x 0.6), then one
        ([50, 30, 20], [], 90, [45, 27, 18]),
        ([3, 1, 1, 1], [], 4, [1, 1, 1, 1]),
        ([1, 1, 1], [], 1, [1, 0, 0]),  # the least popular are given up
        ([4, 1, 1, 1], [0], 5, [4, 1, 0, 0]),
        ([4, 1, 1], [0], 4, [4, 0, 0]),
    ],
)
def test_counts_are_corrected(counts: list[int], fixed: list[int], jobs: int, corrected: list[int]) -> None:
    """The largest first, in proportion, down to one, then to none; the fixed stay."""
    assert corrected == model._corrected(counts, [k in fixed for k in range(len(counts))], jobs)


class Rigged:
    """A generator that draws the same two places each time."""

    def __init__(self, *places: int) -> None:
        self.places = places

    def integers(self, low: int, high: int, size: int) -> tuple[int, ...]:
        """Return the two places."""
        return self.places


@pytest.mark.parametrize(
    ("places", "ranks"),
    [
        ((0, 0), [1, 3, 4, 6]),  # of 3 3 4 6; of 4 6 4 4 10 5; of 6 10 5 17 2 14
        ((-1, -1), [1, 6, 5, 3]),  # of 3 3 4 6; of 3 3 4 4 4 10 5; of 3 3 4 4 4 10 17 2 14 3
        ((-1, 0), [1, 3, 4, 6]),  # the smaller of both
        ((1, 2), [1, 3, 4, 5]),  # of 3 3 4 6; of 4 6 4 4 10 5; of 6 10 5 17 2 14
    ],
)
def test_popularity_ranks_are_drawn_from_the_pool(places: tuple[int, int], ranks: list[int]) -> None:
    """The maximum is the most popular; then the smaller of two of the ranks of the rows so far, with repetitions."""
    assert ranks == model._popularity([None] * 4, Rigged(*places))  # type: ignore[arg-type]


def test_popularity_ranks_are_all_used() -> None:
    """Each rank is used once, not before its first row, and an overdue one at once."""
    rows = {
        rank: [row for row, ranks in enumerate(CONSTANTS["POPULARITY_TABLE"]) if rank in ranks] for rank in range(1, 21)
    }
    for seed in range(200):
        ranks = model._popularity([None] * 20, np.random.default_rng(seed))
        assert list(range(1, 21)) == sorted(ranks)
        for row, rank in enumerate(ranks):
            overdue = [later for later in ranks[row:] if rows[later][-1] <= row]
            assert rows[rank][0] <= row
            assert row == 0 or not overdue or rank == min(overdue)


def test_tail_times_step_aside() -> None:
    """Times on each other move by 30, 20 or 10 seconds, within the maximum, or are left out.

    By the fractional model a third of the thirty are near 0, half near 60, the rest near 120.
    """
    times = model._tail_times(30, 30, 120.0, {60.0, 120.0})
    assert [30, 20, 10, 90, 80, 40, 70, 50, 100, 110] == times


# The slow twin

small_bins = st.dictionaries(
    st.sampled_from([60.0, 299.5, 300.0, 301.0, 1000.0, 3600.0, 5400.0, 20_000.0, 36_000.0]),
    st.integers(1, 60),
    max_size=5,
)


@given(
    jobs=st.integers(0, 3000) | st.sampled_from([1, 2, 3, 226, 227, 250_001, 10**6]),
    maximum=st.integers(60, 10**6) | st.floats(60, 10**5) | st.sampled_from([60, 3600, 5700, 5701, 36_000, 10**10]),
    seed=st.integers(0, 99),
    bins=small_bins,
    form=st.sampled_from(["table", "power-law"]),
)
def test_distribution_is_the_slow_twins(
    jobs: int, maximum: float, seed: int, bins: dict[float, int], form: Any
) -> None:
    """Times and counts are those of a plain Python version; where the bins do not fit, an error says so."""
    try:
        ours = drawn(jobs, maximum, seed, bins=bins, distinct=form)
    except ParameterError as error:
        assert bins
        assert "bins" in str(error)  # noqa: PT017
        return
    naive = naive_distribution(jobs, float(maximum), np.random.default_rng(seed), bins, form)
    assert naive == as_pairs(ours)


# Invariants


@given(
    jobs=st.integers(0, 2000) | st.integers(0, 10**6),
    maximum=st.floats(60, 10**6) | st.floats(60, 10**10),
    seed=st.integers(0, 2**32),
    form=st.sampled_from(["table", "power-law"]),
)
def test_any_distribution_is_well_formed(jobs: int, maximum: float, seed: int, form: Any) -> None:
    """Counts are positive and sum up to the jobs; times ascend to the maximum, which is the most popular."""
    times, counts = drawn(jobs, maximum, seed, distinct=form)
    assert (np.float64, np.int64) == (times.dtype, counts.dtype)
    assert jobs == counts.sum()
    assert (counts >= 1).all()
    assert (np.diff(times) > 0).all()
    assert (times > 0).all()
    assert len(times) <= model._distinct_count(jobs, form)
    if jobs:
        assert maximum == times[-1]
        assert counts.max() == counts[-1]


@given(jobs=st.integers(10, 5000), maximum=st.integers(3600, 10**6), bins=small_bins, data=st.data())
def test_bins_are_kept(jobs: int, maximum: int, bins: dict[float, int], data: st.DataObject) -> None:
    """The user's bins hold the jobs they were given, whatever else there is."""
    bins = {time: count for time, count in bins.items() if time <= maximum and count <= jobs / 10}
    if data.draw(st.booleans()):
        bins[float(maximum)] = max(jobs // 5, 1)
    times, counts = drawn(jobs, maximum, bins=bins)
    assert jobs == counts.sum()
    found = dict(zip(times.tolist(), counts.tolist(), strict=True))
    assert bins == {time: found[time] for time in bins}


# Few jobs, small maxima


@pytest.mark.parametrize("maximum", [60, 300, 3600, 86_400])
def test_no_jobs_and_one(maximum: float) -> None:
    """No jobs have no estimates; one or two have the maximum."""
    assert [] == as_pairs(drawn(0, maximum))
    assert [(maximum, 1)] == as_pairs(drawn(1, maximum))
    assert [(maximum, 2)] == as_pairs(drawn(2, maximum))


def test_few_jobs_have_the_most_popular_times() -> None:
    """Without a tail the head holds all jobs: of 226 the maximum 24.4 %, with 20 times."""
    times, counts = drawn(226, 36 * HOURS)
    assert (20, 226) == (len(times), counts.sum())
    assert 0.21733 / 0.89 * 226 == pytest.approx(counts[-1], abs=1)
    times, counts = drawn(20, 36 * HOURS)
    first_ten = np.array(head_sizes()[:10])
    assert 10 == len(times)
    assert (20 * first_ten / first_ten.sum()).tolist() == pytest.approx(np.sort(counts)[::-1].tolist(), abs=1)


def test_first_tail() -> None:
    """The one time of the tail at 227 jobs is 30 s below the maximum, with 11 % of the jobs, as in the original."""
    found = dict(as_pairs(drawn(227, 36 * HOURS)))
    assert 25 == found[36 * HOURS - 30]


def test_small_maximum() -> None:
    """An hour has twelve times for the head, in their proportions, and the tail what it finds."""
    times, counts = drawn(10_000, HOURS)
    head = times % 300 == 0
    assert 12 == head.sum()
    assert 8900 == pytest.approx(counts[head].sum(), abs=5)
    assert 90 == len(times)
    assert (times % 10 == 0).all()


def test_no_room_for_a_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no time of the tail finds a place the head holds all jobs."""
    monkeypatch.setattr(model, "TAIL_SHIFTS", (0,))
    assert [(60.0, 1000)] == as_pairs(drawn(1000, 60))


# Bins


def test_count_of_the_maximum() -> None:
    """The others of the head share the rest of 89 %, the tail keeps 11 %."""
    bins = {36 * HOURS: 4000}
    with_bins, without = dict(as_pairs(drawn(10_000, 36 * HOURS, bins=bins))), dict(as_pairs(drawn(10_000, 36 * HOURS)))
    assert 4000 == with_bins[36 * HOURS]
    assert set(without) == set(with_bins)
    others = [time for time in model._head_times(36 * HOURS) if time != 36 * HOURS]
    factor = (89 - 40) / (89 - head_sizes()[0])
    for time in others:
        assert without[time] * factor == pytest.approx(with_bins[time], abs=2)


def test_bin_at_a_default_time_takes_its_place() -> None:
    """No other time is replaced, and all other times are there."""
    plain = drawn(10_000, 36 * HOURS).times.tolist()
    assert plain == drawn(10_000, 36 * HOURS, bins={HOURS: 700}).times.tolist()


@pytest.mark.parametrize(
    ("bins", "gone"),
    [
        ({7 * HOURS: 10}, {20 * HOURS}),  # the nearest round time, though 6 and 8 hours are nearer
        ({32.5 * HOURS: 10}, {30 * HOURS}),  # of equally near ones the shorter
        ({100.0: 10, 7 * HOURS: 10, 34 * HOURS: 10, 28 * HOURS: 1}, {20 * HOURS, 25 * HOURS, 30 * HOURS, 35 * HOURS}),
        ({float(k): 10 for k in (1, 2, 3, 4, 5)}, {20 * HOURS, 25 * HOURS, 30 * HOURS, 35 * HOURS, 300.0}),
    ],
)
def test_bins_take_the_place_of_round_times(bins: dict[float, int], gone: set[float]) -> None:
    """Round times go first, nearest in seconds; common ones only where no round one is left."""
    head = model._head(36 * HOURS, dict(sorted(bins.items())), 10_000, np.random.default_rng(1))
    assert gone == set(model._head_times(36 * HOURS)) - set(head.times)
    assert set(bins) == {time for time, known in zip(head.times, head.bins, strict=True) if known is not None}


def test_bins_take_the_nearest_size() -> None:
    """870 of 10,000 jobs are 8.7 %, the third size; the next as large takes the next nearest; never the first."""
    rng = np.random.default_rng(1)
    bins = {300.0: 870, 600.0: 870, 900.0: 2500}
    head = model._head(36 * HOURS, bins, 10_000, rng)
    ranks = dict(zip(head.times, head.ranks, strict=True))
    assert {300.0: 3, 600.0: 4, 900.0: 2} == {time: ranks[time] for time in bins}
    assert 1 == ranks[36 * HOURS]


def test_bins_may_take_all_ranks_that_are_there() -> None:
    """Where bins of late times have taken the ranks of the first rows, the least unused one is drawn."""
    fixed: list[int | None] = [None] * 20
    fixed[17:] = [3, 4, 6]
    ranks = model._popularity(fixed, np.random.default_rng(1))
    assert [1, 2] == ranks[:2]
    assert list(range(1, 21)) == sorted(ranks)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": -1}, "jobs=-1 is not an integer of 0 or more"),
        ({"jobs": 1.0}, "jobs=1.0 is not an integer"),
        ({"maximum": 0}, "maximum=0 is not a number of seconds from 60 to 1e+10"),
        ({"maximum": 59.9}, "maximum=59.9 is not a number"),
        ({"maximum": math.nan}, "maximum=nan is not a number"),
        ({"maximum": 1.1e10}, "maximum=11000000000.0 is not a number"),
        ({"distinct": "linear"}, "distinct='linear' is not one of table, power-law"),
        ({"bins": {0: 3}}, "bins={0: 3} is not a mapping of seconds to numbers of jobs, all positive"),
        ({"bins": {300: -1}}, "bins={300: -1} is not a mapping"),
        ({"bins": {300: 0}}, "bins={300: 0} is not a mapping"),
        ({"bins": {300: 1.5}}, "bins={300: 1.5} is not a mapping"),
        ({"bins": {"300": 1}}, "bins={'300': 1} is not a mapping"),
        ({"bins": [300]}, "bins=[300] is not a mapping"),
        ({"bins": {36_001: 3}}, "bins has the time 36001, beyond the maximum of 36000; raise it"),
        ({"bins": {300: 600, 600: 401}}, "bins hold 1001 jobs, but there are 1000; give fewer"),
        ({"bins": {300: 900}}, "bins hold 90 % of the jobs, but the head of the distribution only 89 %; give fewer"),
        ({"bins": dict.fromkeys(range(1, 21), 1)}, "bins has 20 times below the maximum of 36000 s, but the head"),
        (
            {"jobs": 200, "bins": dict.fromkeys([*range(1, 20), 36_000], 1)},
            "bins leave 90 % of the jobs without an estimate; give more",
        ),
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(arguments: dict[str, Any], message: str) -> None:
    """The message names the parameter, its value and the remedy."""
    values = {"jobs": 1000, "maximum": 36_000, "rng": np.random.default_rng(1)} | arguments
    with pytest.raises(ParameterError) as caught:
        requested_time_distribution(**values)
    assert f"estimates: {message}" in str(caught.value)
