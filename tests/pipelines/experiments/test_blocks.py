# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of time, and intervals by drawing them: by hand, by naive twins, and how often they have what is known."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

import swftools
from pipelines.experiments import blocks as module
from pipelines.experiments.blocks import (
    DAY,
    Blocks,
    blocks_of,
    can_be_told_apart,
    quantile_intervals,
    ratio_interval,
    signed_p_values,
)
from pipelines.experiments.candidate_runs import figures_of
from pipelines.experiments.candidates import study_candidates
from pipelines.experiments.resampling import p_values
from swftools import Trace


def test_blocks_are_weeks_where_there_are_enough() -> None:
    """From the first submission on; a job at the end of a week is of the next one."""
    submit = 1000.0 + 7 * DAY * np.arange(8)
    found = blocks_of(np.append(submit, 1000.0 + 7 * DAY - 1))
    assert found is not None
    assert found.name == "weeks"
    assert found.of_job.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0]
    assert found.begin.tolist() == submit.tolist()


def test_blocks_are_days_where_there_are_few_weeks() -> None:
    """Days without a job are none; with fewer than eight days there are no blocks."""
    days = np.array([0, 1, 2, 3, 20, 21, 22, 48.0])
    found = blocks_of(days * DAY)
    assert found is not None
    assert found.name == "days"
    assert (found.begin / DAY).tolist() == days.tolist()
    assert blocks_of(days[:7] * DAY) is None
    assert blocks_of(np.zeros(0)) is None


def naive_interval(total: list[float], count: list[float], resamples: int) -> tuple[float, float]:
    """Return the BCa interval of a ratio of sums as Efron 1987 has it, a block at a time."""
    rng, size, normal = np.random.default_rng(123), len(total), NormalDist()
    drawn = []
    for _ in range(resamples):
        chosen = [int(rng.integers(size)) for _ in range(size)]
        drawn.append(sum(total[each] for each in chosen) / sum(count[each] for each in chosen))
    drawn.sort()
    found = sum(total) / sum(count)
    bias = normal.inv_cdf((sum(each < found for each in drawn) + sum(each <= found for each in drawn)) / 2 / resamples)
    without = [(sum(total) - t) / (sum(count) - n) for t, n in zip(total, count, strict=True)]
    middle = sum(without) / size
    cubes, squares = (sum((middle - each) ** power for each in without) for power in (3, 2))
    acceleration = cubes / (6 * squares**1.5)
    ends = []
    for share in (0.025, 0.975):
        z = bias + normal.inv_cdf(share)
        ends.append(drawn[int(normal.cdf(bias + z / (1 - acceleration * z)) * resamples)])
    return ends[0], ends[1]


def test_interval_is_that_of_the_naive_twin() -> None:
    """Up to what other draws of blocks bring; blocks of very different sizes, and skew."""
    rng = np.random.default_rng(3)
    for size in (9, 25):
        count = rng.integers(1, 200, size).astype(float)
        total = count * rng.exponential(10, size) - 4 * count
        low, high = ratio_interval(total, count)
        naive = naive_interval(total.tolist(), count.tolist(), 3000)
        assert (low, high) == pytest.approx(naive, abs=0.08 * (naive[1] - naive[0]))
        assert low < total.sum() / count.sum() < high
        # Means of blocks would be another thing: a block counts by its jobs.
        assert abs(np.mean(total / count) - total.sum() / count.sum()) > 0.01 * (high - low)


def test_blocks_without_jobs_do_not_count() -> None:
    """And with fewer than six others there is no interval."""
    total, count = np.array([1.0, 0, 5, 2, 0, 4, 3, 7]), np.array([1.0, 0, 2, 1, 0, 1, 1, 3])
    assert ratio_interval(total, count) == ratio_interval(total[count > 0], count[count > 0])
    assert np.isnan(ratio_interval(total[:7], count[:7])).all()


def test_equal_differences_have_an_interval_of_no_length() -> None:
    """As many as there are of them, all are the same."""
    assert ratio_interval(np.array([2.0, 4, 6, 8, 10, 12]), np.array([1.0, 2, 3, 4, 5, 6])) == (2.0, 2.0)
    assert ratio_interval(np.zeros(9), np.ones(9)) == (0.0, 0.0)


def test_quantiles_are_those_of_the_jobs_of_the_drawn_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the naive twin has it, which pools the jobs of each draw, the same ones of both schedules."""
    monkeypatch.setattr(module, "QUANTILE_RESAMPLES", 60)
    rng = np.random.default_rng(8)
    of_job = np.concatenate([np.arange(9), rng.integers(0, 9, 91)])
    waits, others = (rng.integers(0, 40, 100).astype(float) * (1 + of_job) for _ in range(2))
    blocks = Blocks("weeks", of_job, np.arange(9.0))
    draws = np.random.default_rng(0).integers(9, size=(60, 9))
    differences: dict[float, list[float]] = {0.5: [], 0.9: []}
    for draw in draws:
        rows = np.concatenate([np.flatnonzero(of_job == block) for block in draw])
        for share, found in differences.items():
            one, other = (np.quantile(each[rows], share, method="inverted_cdf") for each in (waits, others))
            found.append(one - other)
    expected = [tuple(np.quantile(found, [0.025, 0.975])) for found in differences.values()]
    assert quantile_intervals(waits, others, blocks, (0.5, 0.9)) == expected


def test_quantiles_of_many_waits_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer points at which to look they move by less than those are apart."""
    rng = np.random.default_rng(9)
    of_job = np.arange(4000) % 12
    waits, others = rng.exponential(100, 4000), rng.exponential(120, 4000)
    blocks = Blocks("weeks", of_job, np.arange(12.0))
    near = quantile_intervals(waits, others, blocks, (0.5,))
    monkeypatch.setattr(module, "GRID", 10_000)
    exact = quantile_intervals(waits, others, blocks, (0.5,))
    assert near != exact
    assert near[0] == pytest.approx(exact[0], abs=1.0)


def test_p_value_of_sums_is_by_all_signs() -> None:
    """What is tested of blocks is what a naive twin finds of their sums."""
    total = np.array([3.0, -1, 4, 1, 5, -9, 2, 6])
    ways = [abs(np.dot(signs, total)) for signs in product([-1, 1], repeat=8)]
    assert p_values([total])[0] == pytest.approx(np.mean(np.array(ways) >= total.sum() - 1e-9))


def test_signs_of_many_groups_are_turned_as_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact to 13 blocks that differ; of more, as near as draws are, whatever stands beside it, and however many."""
    rng = np.random.default_rng(5)
    totals = rng.normal(0.6, 1, (6, 16))
    totals[0, 13:] = totals[1, 3:] = totals[2] = 0
    found = signed_p_values(totals, 1)
    assert found[0] == p_values([totals[0, :13]])[0]
    ways = [abs(np.dot(signs, totals[1, :3])) for signs in product([-1, 1], repeat=3)]
    assert found[1] == np.mean(np.array(ways) >= abs(totals[1, :3].sum()) - 1e-9)
    assert found[2] == 1
    signs = np.array(list(product([-1, 1], repeat=16)))
    for place in (3, 4, 5):
        exact = np.mean(np.abs(signs @ totals[place]) >= abs(totals[place].sum()) - 1e-9)
        assert found[place] == pytest.approx(exact, abs=4 * (exact / 10_000) ** 0.5)
    assert signed_p_values(totals[3:4], 1)[0] == found[3]
    assert signed_p_values(-totals, 1).tolist() == found.tolist()
    sure = np.ones((1, 40))
    assert [signed_p_values(sure, many)[0] for many in (1, 50, 400, 10**6)] == [
        1 / 10_000,
        1 / 10_001,
        1 / 80_001,
        1 / 200_001,
    ]


def test_comparisons_that_can_never_be_told_apart_are_not_counted() -> None:
    """By hand: of 3 with 7 blocks and 20 with 5, three may reach .05 / 3; no two with six blocks may."""
    seven, six, five = 2.0**-6, 2.0**-5, 2.0**-4
    assert can_be_told_apart(np.array([seven] * 3 + [five] * 20)).tolist() == [True] * 3 + [False] * 20
    assert can_be_told_apart(np.array([seven] * 4)).tolist() == [False] * 4
    assert can_be_told_apart(np.array([six, five])).tolist() == [True, False]
    assert can_be_told_apart(np.array([six, six])).tolist() == [False, False]
    assert can_be_told_apart(np.array([np.nan, six])).tolist() == [False, True]
    assert can_be_told_apart(np.zeros(0)).tolist() == []


def _log(rng: np.random.Generator, jobs: int, load: float) -> Trace:
    """Return a log of a queue M/M with a mean service of an hour, for one processor."""
    gaps = rng.exponential(3600 / load, jobs)
    run = np.maximum(rng.exponential(3600, jobs), 1.0)
    return Trace.from_columns(
        submit_time=np.cumsum(gaps).round(),
        run_time=run.round(),
        requested_time=run.round(),
        requested_processors=np.ones(jobs, int),
        machine_processors=1,
    )


@pytest.mark.slow
def test_a_known_difference_is_in_nine_of_ten_intervals() -> None:
    """Of M/M/1 and M/M/2 at a load of .5: mean waits of 1 h and 1/15 h by theory.

    BCa with two dozen blocks that depend on each other a little: somewhat fewer than 95 of 100, as its ends are known
    to be too narrow; a wrong formula has far fewer, or all of them.
    """
    rng = np.random.default_rng(20)
    known, hits, told = 3600.0 / 15 - 3600.0, 0, 0
    for _ in range(100):
        trace = _log(rng, 2000, 0.5)
        base, more = (figures_of(swftools.simulate(trace, "fcfs", size), ()) for size in (1, 2))
        study = study_candidates([base], {"more": [more]})
        row = study.candidates.query("candidate == 'more' and measure == 'wait' and statistic == 'mean'").iloc[0]
        assert row["blocks"] > 20
        hits += row["low"] <= known <= row["high"]
        told += row["is_told_apart"]
    assert 85 <= hits <= 99
    assert told == 100


@pytest.mark.slow
def test_nothing_is_seldom_told_apart() -> None:
    """Where signs of blocks are chance, one time in twenty at most, but for chance."""
    rng = np.random.default_rng(21)
    totals = [rng.normal(0, 1, 12) * rng.integers(1, 50, 12) for _ in range(400)]
    share = np.mean(signed_p_values(np.array(totals), 1) <= 0.05)
    assert 0.02 <= share <= 0.08


def test_ways_that_are_as_far_count() -> None:
    """Of 24 blocks of one size, 13 up and 11 down, all ways are as far from 0 as these but those of twelve each."""
    totals = np.array([[1.0] * 13 + [-1.0] * 11]) / 3
    assert signed_p_values(totals, 1)[0] == pytest.approx(1 - math.comb(24, 12) / 2**24, abs=0.02)
