# SPDX-License-Identifier: BSD-3-Clause
"""Comparing schedulers on parts of a log: the means are those of the simulator, the verdicts those of the interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from swftools.errors import ParameterError
from swftools.keyed_random import generator
from swftools.learning import compare_schedulers
from swftools.simulator import measure_jobs, simulate
from tests.every_policy import with_all_columns
from tests.learning.logs import crowded

OPTIONS = {"jobs": 15, "warm_up": 5}


def by_hand(policy: str, seed: int) -> list[float]:
    """Return the mean bounded slowdown of the last 15 jobs of each 20 jobs, simulated by themselves."""
    trace, found = crowded(seed, jobs=90), []
    for first in (0, 20, 40, 60):
        part = trace.with_jobs(trace.jobs.iloc[first : first + 20].reset_index(drop=True))
        slowdowns = measure_jobs(simulate(part, policy, overrun="run-on"))["bounded_slowdown"]
        found.append(float(slowdowns.iloc[5:].mean()))
    return found


def test_means_differences_and_intervals() -> None:
    """As they are by hand, in the order in which the policies are given, the baseline first."""
    found = compare_schedulers(crowded(1, jobs=90), ["sjf", "easy", "fcfs", "sjf"], **OPTIONS)
    assert found["policy"].tolist() == ["fcfs", "sjf", "easy"]
    assert found["episodes"].tolist() == [4, 4, 4]
    fcfs, random = np.array(by_hand("fcfs", 1)), generator(0, "learning/compare")
    for row in found.itertuples():
        ours = np.array(by_hand(row.policy, 1))
        assert row.mean == pytest.approx(ours.mean())
        assert row.difference == pytest.approx((ours - fcfs).mean())
        if row.policy != "fcfs":
            interval = stats.bootstrap((ours - fcfs,), np.mean, rng=random).confidence_interval
            assert (row.low, row.high) == pytest.approx(tuple(interval))
            assert row.verdict == ("better" if row.high < 0 else "worse" if row.low > 0 else "")
    assert found.iloc[0][["difference", "low", "high", "verdict"]].tolist() == [0.0, 0.0, 0.0, ""]


def test_worse_and_better() -> None:
    """The one is the other turned round."""
    trace = crowded(2, jobs=200)
    easy = compare_schedulers(trace, ["fcfs"], baseline="easy", **OPTIONS).set_index("policy")
    fcfs = compare_schedulers(trace, ["easy"], **OPTIONS).set_index("policy")
    assert easy.loc["fcfs", "verdict"] == "worse"
    assert fcfs.loc["easy", "verdict"] == "better"
    assert easy.loc["fcfs", "difference"] == pytest.approx(-fcfs.loc["easy", "difference"])
    wide = compare_schedulers(trace, ["easy"], confidence=0.99, **OPTIONS).set_index("policy")
    assert wide.loc["easy", "high"] - wide.loc["easy", "low"] > fcfs.loc["easy", "high"] - fcfs.loc["easy", "low"]


def test_another_measure_and_drawn_parts() -> None:
    """Parts are drawn by the seed where there are more than are asked for."""
    trace = crowded(3, jobs=200)
    some = [
        compare_schedulers(trace, [], measure="wait", episodes=3, seed=seed, **OPTIONS)["mean"].iloc[0]
        for seed in (1, 1, 2)
    ]
    assert some[0] == some[1] != some[2]


def test_order_in_the_trace_does_not_matter() -> None:
    """Parts are of jobs that follow one another in time."""
    trace = crowded(4, jobs=90)
    mixed = trace.with_jobs(trace.jobs.sample(frac=1, random_state=1).reset_index(drop=True))
    ours, theirs = (compare_schedulers(each, ["easy"], **OPTIONS)["mean"] for each in (trace, mixed))
    assert ours.tolist() == pytest.approx(theirs.tolist())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jobs": 60}, "the log has 90 jobs, not two parts of 65"),
        ({"jobs": 0}, "jobs=0 is not"),
        ({"warm_up": -1}, "warm_up=-1 is not"),
        ({"episodes": 1}, "episodes=1 is not an integer of 2 or more"),
        ({"confidence": 1.0}, "confidence=1.0 is not a number between 0 and 1"),
        ({"measure": "beauty"}, "measure='beauty' is not one of"),
        ({"baseline": "eazy"}, "eazy"),
    ],
)
def test_bad_input(options: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        compare_schedulers(crowded(1, jobs=90), ["easy"], **(OPTIONS | options))


def test_a_measure_of_which_more_is_better() -> None:
    """Who gets more utility is better, though the difference is above 0; progress is told part by part."""
    trace, told = with_all_columns(crowded(5, jobs=400)), []
    found = compare_schedulers(
        trace, ["easy"], measure="start_value_earned", progress=lambda *each: told.append(each), **OPTIONS
    ).set_index("policy")
    assert found.loc["easy", "low"] > 0
    assert found.loc["easy", "verdict"] == "better"
    assert told[0] == (0, 20, "fcfs")
    assert told[-1] == (20, 20, "")
    assert len(told) == 41
