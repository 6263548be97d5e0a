# SPDX-License-Identifier: BSD-3-Clause
"""Drawn run times: the distribution of errors beside a slow twin, and what a job that runs has left of it."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator.questions.run_time_draws import LEAST_OF_USER, Jobs, draw_run_times, errors_of


def jobs(ran: list[float], limit: float | list[float] = 100.0, user: str | list[str] = "u1") -> Jobs:
    """Return jobs that ran so long."""
    many = len(ran)
    return Jobs(
        [user] * many if isinstance(user, str) else user,
        np.full(many, limit) if isinstance(limit, float) else np.array(limit),
        np.array(ran, float),
        np.arange(many, dtype=float),
    )


def naive_left(ended: list[float], censored: list[float], at: float) -> float:
    """Return which share is larger, as Efron 1967 has it: who is cut off leaves its weight to those that are larger.

    All weigh the same at first, with the next one, which is behind them all.
    """
    items = sorted([(error, 0) for error in ended] + [(error, 1) for error in censored] + [(np.inf, 2)])
    weight = [1.0 / len(items)] * len(items)
    for place, (_, is_cut_off) in enumerate(items):
        if is_cut_off == 1:
            behind = range(place + 1, len(items))
            for each in behind:
                weight[each] += weight[place] / len(behind)
            weight[place] = 0.0
    return sum(each for each, (error, _) in zip(weight, items, strict=True) if error > at)


@pytest.mark.parametrize("seed", range(5))
def test_the_twin(seed: int) -> None:
    """At each error, beside it, and where several are equal."""
    drawn = np.random.default_rng(seed)
    ended, censored = (drawn.integers(1, 9, many).astype(float).tolist() for many in (12, 7))
    found = errors_of(np.array(ended), np.array(censored))
    assert found.ratio.tolist() == sorted(set(ended))
    expected = [naive_left(ended, censored, at) for at in found.ratio.tolist()]
    np.testing.assert_allclose(found.left, expected, rtol=1e-12, atol=1e-15)


def test_waiting_jobs_use_as_much_of_their_requests_as_those_that_ended() -> None:
    """A quarter of the ended used all, the others a tenth."""
    past = jobs([10.0, 10.0, 10.0, 100.0] * 25)
    found = draw_run_times(past, jobs([0.0], 1000.0), 4000)[:, 0]
    assert set(found) == {100.0, 1000.0}
    assert abs((found == 1000.0).mean() - 0.25) < 0.03


def test_who_has_run_for_a_while() -> None:
    """At 20 s only those errors are left that are larger, and the limit; at 100 s none is: the limit, or a second."""
    past = jobs([10.0, 10.0, 30.0, 50.0] * 25)
    alone = {ran: draw_run_times(past, jobs([ran]), 2000)[:, 0] for ran in (20.0, 60.0, 100.0, 10.0)}
    assert {ran: set(found) for ran, found in alone.items()} == {
        20.0: {30.0, 50.0, 100.0},
        60.0: {100.0},
        100.0: {101.0},
        10.0: {30.0, 50.0, 100.0},  # what ended after just 10 s it did not
    }
    assert abs((alone[20.0] == 30.0).mean() - 0.5) < 0.05


def test_jobs_that_run_say_that_others_are_longer() -> None:
    """Ended ones are short because long ones still run: half of all draws would be 10 s, were it for those alone."""
    past = jobs([10.0] * 20)
    present = jobs([0.0] + [50.0] * 60)
    found = draw_run_times(past, present, 4000)[:, 0]
    assert set(found) == {10.0, 100.0}
    assert abs((found == 10.0).mean() - 0.25) < 0.03


def test_users_with_enough_ended_jobs_are_their_own() -> None:
    """u1 has enough; u2 has one too few, and no name says nothing: those draw from all."""
    few = LEAST_OF_USER - 1
    past = jobs([20.0] * LEAST_OF_USER + [60.0] * few, user=["u1"] * LEAST_OF_USER + ["u2"] * few)
    found = draw_run_times(past, jobs([0.0] * 3, user=["u1", "u2", ""]), 400)
    assert set(found[:, 0]) == {20.0, 100.0}
    assert set(found[:, 1]) == set(found[:, 2]) == {20.0, 60.0, 100.0}


def test_what_was_not_seen_yet() -> None:
    """Of ten that used a fifth the eleventh runs to its limit in one of eleven draws; where two ran on, in a third."""
    past = jobs([20.0] * 10)
    found = draw_run_times(past, jobs([0.0]), 11000)[:, 0]
    assert set(found) == {20.0, 100.0}
    assert abs((found == 100.0).mean() - 1 / 11) < 0.01
    longer = draw_run_times(jobs([20.0] * 10 + [50.0] * 2), jobs([30.0]), 6000)[:, 0]
    assert set(longer) == {50.0, 100.0}
    assert abs((longer == 100.0).mean() - 1 / 3) < 0.03


def test_without_a_past_all_run_as_long_as_they_may() -> None:
    """In each draw."""
    nothing = Jobs([], np.zeros(0), np.zeros(0), np.zeros(0))
    assert draw_run_times(nothing, jobs([0.0, 30.0, 100.0]), 2).tolist() == [[100.0, 100.0, 101.0]] * 2


def test_draws_depend_on_seed_job_and_draw_only() -> None:
    """More draws and more jobs behind leave those before as they were."""
    past = jobs(np.linspace(1.0, 99.0, 50).tolist())
    few, many = (draw_run_times(past, jobs([0.0] * count), draws) for count, draws in ((2, 3), (5, 7)))
    assert (many[:3, :2] == few).all()
    assert len(np.unique(many)) > 20
    assert (draw_run_times(past, jobs([0.0] * 2), 3, seed=1) != few).any()


def test_another_predictor() -> None:
    """The mean of the last two of a user is 10 s, whatever is requested: the errors are of that."""
    past = jobs([10.0] * 30, [1000.0] * 30)
    past = past._replace(start=np.arange(30) * 100.0)
    found = draw_run_times(past, jobs([0.0], 500.0)._replace(start=np.array([5000.0])), 50, predictor="user-average")
    assert np.median(found) == 10.0
