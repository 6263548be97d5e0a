# SPDX-License-Identifier: BSD-3-Clause
"""``prediction_errors``: how far what was predicted is from what came."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from swftools.simulator import prediction_errors, simulate
from swftools.simulator.predictors.kinds import Predictor
from tests.drawn import draw_trace
from tests.strategies import crowded_trace


def test_by_hand() -> None:
    """Told 10, 40, 0 and 5 s of jobs of 10, 20, 0 and 50 s: one is right, one too long, one nothing, one too short."""
    trace = draw_trace(
        """
        submit run request width
        0       10     100     1
        0       20     100     1
        0        0     100     1
        0       50     100     1
        """,
        processors=4,
    )
    told = Predictor("told", foretell=lambda run_time, limit: limit * np.array([0.1, 0.4, 0.0, 0.05]))
    found = prediction_errors(simulate(trace, "easy", predictor=told))
    assert {
        "mean_absolute_error": (20 + 45) / 4,
        "relative_error": 65 / 80,
        "accuracy": pytest.approx((1 + 0.5 + 1 + 0.1) / 4),
        "underestimated": 0.25,
        "correlation": pytest.approx(50 / math.sqrt(968.75 * 1400)),
    } == found


@pytest.mark.parametrize(
    ("predictor", "accuracy", "underestimated"), [("exact", 1.0, 0.0), ("virtual:error=0.5", 0.78, 0.5)]
)
def test_of_known_predictors(predictor: str, accuracy: float, underestimated: float) -> None:
    """Of run time x U(.5, 1.5), min / max is .75 in the mean of the shorter half, ln 1.5 / .5 in that of the longer."""
    found = prediction_errors(simulate(crowded_trace(2000), "fcfs", predictor=predictor, requests="factor:factor=9"))
    assert found["accuracy"] == pytest.approx(accuracy, abs=0.02)
    assert found["underestimated"] == pytest.approx(underestimated, abs=0.03)


def test_where_nothing_can_be_said() -> None:
    """No jobs; jobs of no time; jobs all alike."""
    schedule = simulate(crowded_trace(5), "easy")
    none = replace(schedule, jobs=schedule.jobs.head(0))
    assert all(math.isnan(value) for value in prediction_errors(none).values())
    alike = draw_trace("submit run request width / 0 0 5 1 / 1 0 5 1", processors=4)
    found = prediction_errors(simulate(alike, "easy"))
    assert (5, 0, 0) == (found["mean_absolute_error"], found["accuracy"], found["underestimated"])
    assert math.isnan(found["relative_error"])
    assert math.isnan(found["correlation"])
