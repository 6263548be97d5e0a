# SPDX-License-Identifier: BSD-3-Clause
"""Adaptive conformal calibration: the formulas, what it does at the ends, and how often its bounds hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.qbets.rivals import ConformalGradientBoosting, Course
from swftools.qbets.rivals.conformal import Calibration
from tests.examples import examples


def course(waits: list[float], starts: list[int] | None = None, groups: list[int] | None = None) -> Course:
    """Return the course of jobs in order, whose waits are known from such a job on, else from the next."""
    jobs = len(waits)
    known_from = np.array(starts or range(1, jobs + 1))
    learnt = np.lexsort((np.arange(jobs), known_from))
    known = np.searchsorted(known_from[learnt], np.arange(jobs), side="right")
    return Course(np.array(waits, float), np.array(groups or [0] * jobs), learnt, known)


def rival(**parameters: float) -> ConformalGradientBoosting:
    """Return one of few scores."""
    return ConformalGradientBoosting(**{"quantile": 0.75, "rate": 0.0, "scores": 8, **parameters})


def naive_bounds(predicted: list[float], made: Course, miss: float, rate: float, most: int) -> list[float]:
    """Return what jobs are told, by the formulas, with everything computed anew."""
    told: list[float] = []
    for job, known in enumerate(made.known):
        group = made.group[job]
        mine = [other for other in made.learnt[:known] if made.group[other] == group]
        scores = [math.log1p(made.wait[k]) - math.log1p(predicted[k]) for k in mine if not math.isnan(predicted[k])][
            -most:
        ]
        level = miss + sum(rate * (miss - (made.wait[k] > told[k])) for k in mine if not math.isnan(told[k]))
        if len(scores) + 1 < 1 / miss or math.isnan(predicted[job]):
            told.append(math.nan)
            continue
        longest = max(made.wait[k] for k in mine)
        rank = math.ceil((1 - level) * (len(scores) + 1) - 1e-9)
        log = math.log1p(predicted[job]) + sorted(scores)[min(max(rank, 1), len(scores)) - 1]
        told.append(min(max(math.ceil(math.expm1(log) * (1 - 1e-9) - 1e-9), 0), longest))
    return told


@examples(1)
@given(data=st.data())
def test_equals_the_formulas(data: st.DataObject) -> None:
    """With waits that become known in another order, several groups, jobs before the first model, and any rate."""
    jobs = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    starts = (np.arange(1, jobs + 1) + rng.integers(0, 20, jobs)).tolist()
    made = course(rng.integers(0, 1000, jobs).tolist(), starts, rng.integers(0, 3, jobs).tolist())
    predicted = rng.integers(0, 300, jobs).astype(float)
    predicted[: rng.integers(0, 10)] = np.nan
    rate, scores = data.draw(st.sampled_from([0.0, 0.01, 0.5])), data.draw(st.integers(3, 12))
    found = rival(rate=rate, scores=scores).bounds(predicted, made)
    assert found.tolist() == pytest.approx(naive_bounds(predicted.tolist(), made, 0.25, rate, scores), nan_ok=True)


def test_by_hand() -> None:
    """Predicted are 9 s; of four scores the .75 quantile is the fourth of five, so log(20 / 10): twice the 10 s."""
    waits = [4.0, 9.0, 1.0, 19.0, 0.0]
    assert np.isnan(rival().bounds(np.full(5, 9.0), course(waits))[:3]).all()
    assert rival().bounds(np.full(5, 9.0), course(waits))[3:].tolist() == [9.0, 19.0]


def test_a_shift_is_a_factor() -> None:
    """Where the model says ten times as much, so does the bound, up to the longest wait."""
    waits = [*[99.0] * 20, 1e6, 0.0, 0.0]
    predicted = np.array([*[49.0] * 21, 49.0, 499.0])
    assert rival().bounds(predicted, course(waits))[-2:].tolist() == [99.0, 999.0]


def test_the_level_moves_with_misses() -> None:
    """Up by rate times the share of misses at a wait within, down by the rest of the rate at one beyond."""
    calibration = Calibration(0.25, 0.1, 100)
    calibration.learn(5.0, 5.0, math.nan)
    assert calibration.level == 0.25
    calibration.learn(5.0, 5.0, 5.0)  # no longer than told: within
    assert calibration.level == pytest.approx(0.275)
    calibration.learn(6.0, 5.0, 5.0)
    assert calibration.level == pytest.approx(0.2)


def test_at_the_ends_of_the_level() -> None:
    """At 0 and below the highest of the last scores, at 1 and above the lowest."""
    calibration = Calibration(0.25, 0.0, 5)
    for wait in (999.0, 19.0, 29.0, 39.0, 49.0, 59.0):  # the first of these is forgotten
        calibration.learn(wait, 9.0, 9.0)
    for level, bound in ((0.25, 59.0), (1 / 3, 49.0), (0.34, 49.0), (0.0, 59.0), (-3.0, 59.0)):
        calibration.level = level
        assert calibration.bound(9.0) == bound
    for level, bound in ((0.5, 39.0), (0.99, 19.0), (1.0, 19.0), (4.0, 19.0)):
        calibration.level = level
        assert calibration.bound(9.0) == bound


def test_nothing_above_the_longest_wait() -> None:
    """Of the group so far, also of before the first model; whatever the score would say."""
    calibration = Calibration(0.25, 0.0, 5)
    calibration.learn(500.0, math.nan, math.nan)
    for _ in range(5):
        calibration.learn(99.0, 9.0, 9.0)
    assert calibration.bound(19.0) == 199.0
    assert calibration.bound(99.0) == 500.0


def test_a_wait_is_judged_when_it_is_known() -> None:
    """Jobs that wait far beyond their bounds change what others are told only when they have started."""
    waits, predicted = [10.0] * 30, np.full(30, 10.0)
    starts = [*range(1, 31)]
    waits[10:16], starts[10:16] = [1e5] * 6, [25] * 6
    found = rival().bounds(predicted, course(waits, starts))
    assert found[3:25].tolist() == [10.0] * 22
    assert found[25] == 1e5


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_coverage_where_waits_drift(quantile: float) -> None:
    """Waits become longer and longer, and the model knows nothing of it: the bounds hold as often as asked for."""
    rng = np.random.default_rng(1)
    jobs = 6000
    waits = rng.exponential(100.0, jobs) * np.exp(np.sin(np.arange(jobs) / 300.0) + np.arange(jobs) / 1000.0)
    predicted = np.full(jobs, 100.0)
    shares = {}
    for rate in (0.0, 0.02):
        made = ConformalGradientBoosting(quantile=quantile, rate=rate, scores=1000)
        told = made.bounds(predicted, course(waits.tolist()))
        scored = ~np.isnan(told)
        shares[rate] = (waits[scored] <= told[scored]).mean()
    assert shares[0.02] == pytest.approx(quantile, abs=0.01)
    assert shares[0.0] < quantile - 0.05


def test_groups_by_themselves() -> None:
    """The scores of one are not those of another."""
    waits = [10.0, 1000.0] * 30
    found = rival().bounds(np.full(60, 100.0), course(waits, groups=[0, 1] * 30))
    assert found[-2:].tolist() == [10.0, 1000.0]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"rate": -0.1}, "rate=-0.1 is not a number from 0 to 1"),
        ({"scores": 0}, "scores=0 is not an integer of 1 or more"),
        ({"quantile": 0.95, "scores": 18}, "scores=18 is not at least 19, which quantile=0.95 needs"),
        ({"quantile": 1.0}, "quantile=1.0 is not a number between 0 and 1"),
    ],
)
def test_what_is_refused(parameters: dict[str, float], says: str) -> None:
    """One clear error, by the name of the method."""
    with pytest.raises(ParameterError, match=says):
        ConformalGradientBoosting(**parameters)
