# SPDX-License-Identifier: BSD-3-Clause
"""The percentile that reservations ask for: by hand, and against what a simulation says of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools.qbets import WaitPredictor
from swftools.reservations import simulate_reservations
from swftools.reservations.asked_percent import AskedPercent
from swftools.reservations.start_table import least_percent
from swftools.reservations.varq import VarqRun
from swftools.reservations.varq_parameters import VarqParameters
from tests.reservations.test_varq import busy_log


def test_by_hand() -> None:
    """A miss raises the level by rate times the target, a start in time lowers it by rate times what is left to 1."""
    asked = AskedPercent(0.75, 0.1, 2)
    group, start_by = np.array([0, 0, 1, 0]), np.array([100.0, 100.0, 100.0, 200.0])
    begin = np.full(4, np.nan)
    for job in range(4):
        asked.submitted(job)
    asked.settle(100.0, group, start_by, begin)
    assert (asked.of(0), asked.of(1), asked.version) == (75, 75, 0)  # who starts at 100 s is in time
    begin[0] = 100.0
    asked.settle(101.0, group, start_by, begin)
    assert asked.level.tolist() == pytest.approx([0.75 - 0.025 + 0.075, 0.825])
    assert (asked.of(0), asked.of(1), asked.version) == (80, 83, 1)
    begin[1] = 150.0  # was a miss, and is not counted again
    begin[3] = 200.5
    asked.settle(300.0, group, start_by, begin)
    assert asked.level.tolist() == pytest.approx([0.875, 0.825])
    assert asked.version == 2


@pytest.mark.parametrize(("begin", "level"), [(np.nan, 0.99), (0.0, 0.01)])
def test_the_level_stays_where_somebody_is_accepted(begin: float, level: float) -> None:
    """Between .01 and .99."""
    asked = AskedPercent(0.5, 0.4, 1)
    for _ in range(4):
        asked.submitted(0)
    asked.settle(10.0, np.zeros(1, np.int64), np.full(1, 5.0), np.full(1, begin))
    assert asked.level.tolist() == [level]
    assert asked.of(0) == round(100 * level)


def test_without_a_rate_nothing_is_kept() -> None:
    """Nor asked for."""
    asked = AskedPercent(0.5, 0.0, 1)
    asked.submitted(0)
    asked.settle(10.0, np.zeros(1, np.int64), np.zeros(1), np.full(1, np.nan))
    assert (asked.of(0), asked.version) == (50, 0)


def levels_at(asks: pd.Series, taken: pd.DataFrame, target: float, rate: float) -> list[float]:
    """Return the level at each ask, by what had come of the reservations of before: the slow twin."""
    known = np.where(taken["start_time"] <= taken["start_by"], taken["start_time"], taken["start_by"])
    outcomes = sorted(zip(known.tolist(), taken["is_met"].astype(bool).tolist(), strict=True))
    levels = []
    for ask in asks:
        level = target
        for time, is_met in outcomes:
            if time < ask:
                level = min(max(level + rate * (target - is_met), 0.01), 0.99)
        levels.append(level)
    return levels


def test_in_a_simulation() -> None:
    """Who is accepted was promised no less than the level of the moment, and that moves; without a rate it does not."""
    log = busy_log(900, seed=4)
    waits = WaitPredictor("binomial", by=None, training=60, cluster_every=300)
    found, plain = (
        simulate_reservations(log, "easy", waits=waits, share=0.3, probability=0.5, adapt=rate).reservations
        for rate in (0.02, 0.0)
    )
    taken = found[found["is_accepted"]].sort_values("ask_time")
    levels = levels_at(taken["ask_time"], taken, 0.5, 0.02)
    asked = np.array([least_percent(level) for level in levels])
    told = (100 * taken["probability"]).round().to_numpy()
    assert len(taken) > 150
    assert (told >= asked).all()
    assert asked.min() < 40
    assert asked.max() > 60
    assert (told < asked + 1).mean() > 0.2  # the level binds
    assert not found["probability"].equals(plain["probability"])
    assert (plain.loc[plain["is_accepted"], "probability"] >= 0.5).all()


def test_plans_are_made_anew_when_the_level_moves() -> None:
    """Also where no wait became known: who is held back goes earlier for a higher percentile."""
    waits = WaitPredictor("binomial", by=None, training=60, cluster_every=300)
    varq = VarqParameters(share=0.5, probability=0.5, adapt=0.02)
    run = VarqRun(busy_log(600), "easy", None, varq, waits)
    run.stepper.advance(to="event")
    run.happen()
    while len(run._bids.job) < 5:
        assert run.stepper.skip(to="event")
        run.happen()
    jobs = run._bids.job.copy()
    before = run._lead[jobs].copy()
    run.asked.level[:] = 0.9
    run._plan_anew(run.stepper.now)
    assert (run._lead[jobs] == before).all()  # nobody says yet that it moved
    run.asked.version += 1
    run._plan_anew(run.stepper.now)
    assert (run._lead[jobs] != before).any()
