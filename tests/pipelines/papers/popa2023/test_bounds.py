# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of the rest of a wait: from what they learn, and how often they are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pipelines.logs.tables import Tables
from pipelines.papers.popa2023 import bounds
from pipelines.papers.popa2023.bounds import (
    BOOSTED,
    CALIBRATED,
    CONSTANT,
    METHODS,
    PARTITION,
    STEADY,
    WIDTH,
    BoundsOfWaits,
    bounds_run,
    course_of,
    measure_bounds,
    width_class,
)
from pipelines.papers.popa2023.polls import rows_of
from swftools.kernel import FloatArray
from tests.pipelines.papers.popa2023.polls import DAY, NOON, excerpt, polls_of
from tests.pipelines.papers.popa2023.test_fits import value

QUICK = {method: bounds_run(True, method, 0.95).parameters for method in METHODS}


def told(polls: Tables, parameters: BoundsOfWaits) -> FloatArray:
    """Return what each row is told, by poll and submission; of boosting once it is calibrated."""
    table = polls.table.sort_values(["poll_time", "submit_time"], kind="mergesort", ignore_index=True)
    found = bounds.told_by(rows_of(polls, table), parameters)
    if parameters.method == BOOSTED:
        assert list(found) == [BOOSTED, CALIBRATED, STEADY]
        assert not np.array_equal(found[CALIBRATED], found[STEADY], equal_nan=True)
    return list(found.values())[-1]


def test_classes_of_width() -> None:
    """1; 2 to 4; 5 to 16; 17 to 64; more."""
    assert width_class(np.array([1.0, 2, 4, 5, 16, 17, 64, 65])).tolist() == [0, 1, 1, 2, 2, 3, 3, 4]


def test_when_waits_are_known() -> None:
    """At the first poll that is not before the start; in the order of the starts."""
    polls = polls_of([[2.0 * DAY, DAY, 5.0], [1.0, DAY + 1.0], [1.0], [1.0]], partition=["1", "2"] * 3 + ["1"])
    course = course_of(rows_of(polls, polls.table))
    assert course.known.tolist() == [0, 0, 0, 2, 2, 4, 6]
    assert course.learnt.tolist()[:4] == [2, 1, 3, 0]
    assert course.group.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert course.wait.tolist()[:2] == [2.0 * DAY, DAY]


@pytest.mark.parametrize("method", METHODS)
def test_bounds_learn_from_waits_that_are_over(method: str) -> None:
    """Waits that are not over at a poll may be anything: what is told at it, and before it, stays the same."""
    polls, last = excerpt(), NOON + 8 * DAY
    before = told(polls, QUICK[method])
    table = polls.table
    is_over = table["poll_time"] + table["wait_ahead"] <= last
    other = table.assign(wait_ahead=table["wait_ahead"].where(is_over, 40.0 * DAY + table["wait_ahead"]), run_time=1.0)
    after = told(replace(polls, table=other), QUICK[method])
    asked = np.sort(table["poll_time"].to_numpy()) <= last
    assert np.isfinite(before[asked]).sum() > 50
    np.testing.assert_array_equal(before[asked], after[asked])
    assert not np.array_equal(before[~asked], after[~asked], equal_nan=True)


def test_the_constant_by_hand() -> None:
    """The quantile of all waits that were over when it was fitted; it is fitted at every second poll."""
    waits = [[100.0, 200.0, 300.0, 400.0, 3.0 * DAY], [50.0], [60.0], [70.0], [80.0], [90.0]]
    parameters = BoundsOfWaits(CONSTANT, 0.5, first=1, training=1, first_fit=4, refit_every=2)
    of_four, later = np.median([100, 200, 300, 400]), np.median([100, 200, 300, 400, 50, 60, 3 * DAY])
    last = np.median([100, 200, 300, 400, 50, 60, 70, 80, 3 * DAY])
    expected = [np.nan] * 5 + [of_four] * 2 + [later] * 2 + [last]
    np.testing.assert_allclose(told(polls_of(waits), parameters), expected)
    found = measure_bounds(polls_of(waits), replace(parameters, first=2), 0)
    assert value(found, CONSTANT, "rows") == value(found, CONSTANT, "told") == 4
    assert value(found, CONSTANT, "share kept") == 1.0
    assert value(found, CONSTANT, "median ratio") == pytest.approx(
        np.median([of_four / 60, later / 70, later / 80, last / 90])
    )


def test_shares_that_are_kept() -> None:
    """Three of four rows of one day, none of two of the next; figures of each day are those of its rows."""
    waits = [[100.0] * 10, [50.0, 60.0, 70.0, 170.0], [150.0, 160.0]]
    found = measure_bounds(polls_of(waits), BoundsOfWaits(CONSTANT, 0.7, first=1, first_fit=1, refit_every=9), 0)
    assert value(found, CONSTANT, "share kept") == 0.5
    assert (value(found, CONSTANT, "share kept", "2021-05-02"), value(found, CONSTANT, "share kept", "2021-05-03")) == (
        0.75,
        0.0,
    )
    assert (value(found, CONSTANT, "days"), value(found, CONSTANT, "days kept")) == (2, 0.5)
    assert [value(found, CONSTANT, "rows", f"2021-05-0{day}") for day in (2, 3)] == [4, 2]
    by_day = [value(found, CONSTANT, "mse", f"2021-05-0{day}") for day in (2, 3)]
    assert value(found, CONSTANT, "mse") == pytest.approx((4 * by_day[0] + 2 * by_day[1]) / 6)
    assert by_day[0] == pytest.approx((np.log10(np.array([50.0, 60.0, 70.0, 170.0]) / 100.0) ** 2).mean())


def test_a_bound_is_kept_on_its_limit() -> None:
    """A wait as long as its bound is within; nothing is told of what nothing is known."""
    found = measure_bounds(polls_of([[100.0] * 3, [100.0]]), BoundsOfWaits(CONSTANT, 0.5, first=1, first_fit=1), 0)
    assert value(found, CONSTANT, "share kept") == 1.0
    nothing = measure_bounds(polls_of([[100.0], [100.0]]), BoundsOfWaits(CONSTANT, 0.5, first=1, first_fit=9), 0)
    assert nothing["measure"].tolist() == ["rows", "told"]
    assert nothing["value"].tolist() == [1, 0]


def test_groups_of_qbets() -> None:
    """By partition, and by width within it: narrow jobs wait for seconds there, wide ones for hours."""
    count = 80
    waits = [[1000.0 + i if i % 2 else 10.0 for i in range(count)]] * 2
    polls = polls_of(waits, processors=[100 if i % 2 else 1 for i in range(count)] * 2, partition=["7"] * 2 * count)
    parameters = BoundsOfWaits(PARTITION, 0.5, first=1, training=5)
    together, apart = told(polls, parameters)[count:], told(polls, replace(parameters, method=WIDTH))[count:]
    assert set(apart[::2]) == {10.0}
    assert (apart[1::2] > 1000.0).all()
    assert len(set(together)) == 1


def test_calibration_by_partition() -> None:
    """Waits of a partition that are ten times as long as predicted shift the bounds of that partition alone."""
    rng = np.random.default_rng(0)
    count = 60
    waits = [list(100.0 * np.exp(rng.normal(size=count)))] * 6
    partition = np.array((["1", "2"] * (count // 2)) * 6)
    plain, shifted = (
        polls_of(waits, partition=partition, wait_ahead=np.concatenate(waits) * np.where(partition == "2", factor, 1.0))
        for factor in (1.0, 10.0)
    )
    parameters = BoundsOfWaits(BOOSTED, 0.9, first=1, training=1, first_fit=30, refit_every=9)
    of_plain, of_shifted = (told(polls, parameters)[-count:] for polls in (plain, shifted))
    assert np.isfinite(of_plain).all()
    assert np.median(of_shifted[1::2]) > 5.0 * np.median(of_plain[1::2])
    assert np.median(of_shifted[::2]) < 2.0 * np.median(of_plain[::2])


def test_equal_bounds() -> None:
    """Give equal bits, in whatever order the rows are told."""
    polls = excerpt()
    shuffled = replace(polls, table=polls.table.sample(frac=1.0, random_state=0).sort_values("file", ignore_index=True))
    first, second = (measure_bounds(each, QUICK[CONSTANT], 0) for each in (polls, shuffled))
    pd.testing.assert_frame_equal(first, second)
