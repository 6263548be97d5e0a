# SPDX-License-Identifier: BSD-3-Clause
"""Measures of schedules: what is refused, and parameters as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.simulator.metrics.job_classes import classify
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.of_jobs import measure_jobs, start_delay
from swftools.simulator.metrics.over_time import mean_over_time, over_time
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_schedule
from tests.simulator.metrics.drawings import DRAWN, EMPTY, REFERENCE_RUN


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": -1}, "bound=-1 is not a number of 0 or more"),
        ({"bound": math.nan}, "bound=nan is not"),
        ({"slowdown": "plain"}, "slowdown='plain' is not one of turnaround, stretched"),
        ({"nominal": "ideal"}, "nominal='ideal' is not a column of times"),
        ({"nominal": "queue_id", "where": "queue"}, "where='queue' is not a column"),
        ({"utility_clock": "start"}, "utility_clock='start' is not one of turnaround, wait"),
        ({"percentiles": (50, 101)}, "percentiles=.* is not different numbers from 0 to 100"),
        ({"percentiles": (50, 50)}, "percentiles=.* is not different numbers"),
        ({"trimmed": 1}, "trimmed=1 is not true or false"),
        ({"threshold": -5}, "threshold=-5 is not a number of 0 or more"),
        ({"window": (5, 5)}, "window=.* is not .begin, end. in seconds"),
        ({"window": 5}, "window=5 is not"),
        ({"quantiles": (5,)}, "unknown parameters .'quantiles'.; there are: bound"),
        ({"where": [True]}, "where gives 1 values of bool; give a truth value for each of 4 jobs"),
        ({"where": [1, 0, 1, 0]}, "where gives 4 values of int64"),
        ({"where": lambda jobs: jobs["queue_id"] == 1}, "where gives 4 values of boolean"),
        ({"where": [[True] * 4]}, "where gives 0 values"),
        ({"where": "submit_time"}, "where gives 4 values of float64"),
        ({"by": "users"}, "by='users' does not name columns of the jobs; there are queue, job_number"),
        ({"by": []}, "does not name columns"),
        ({"by": {"queue_id": [3, 2]}}, "give upper ends of ranges, numbers that increase"),
        ({"by": {"queue_id": []}}, "give upper ends of ranges"),
        ({"by": {"queue_id": "12"}}, "give upper ends of ranges"),
        ({"by": {"is_backfilled": [1]}}, "a column of bool has no ranges"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    """What cannot be measured is one clear error."""
    with pytest.raises(ParameterError, match=message):
        measure(draw_schedule(DRAWN), **options)


def test_mistakes_elsewhere() -> None:
    """Other jobs in the reference, runs of unknown jobs, unknown steps: errors that name them."""
    fewer = draw_schedule("job submit width runs request / 1 0 3 0-10 10")
    with pytest.raises(ParameterError, match="has 1 jobs, not 4"):
        start_delay(draw_schedule(DRAWN), fewer)
    others = draw_schedule(REFERENCE_RUN.replace("4   4", "9   4"))
    with pytest.raises(ParameterError, match="job 4, occurrence 0, is not among the jobs"):
        measure(draw_schedule(DRAWN), reference=others)
    with pytest.raises(ParameterError, match="job 4, occurrence 0, is not among the jobs"):
        over_time(Schedule(others.jobs, draw_schedule(DRAWN).segments, others.excluded, 4, "drawn"))
    with pytest.raises(ParameterError, match="job 1, occurrence 0, is not among the jobs"):
        over_time(Schedule(EMPTY.jobs, fewer.segments, EMPTY.excluded, 4, "drawn"))
    with pytest.raises(ParameterError, match="demand='wait_time' is not one of requested_time, run_time"):
        over_time(fewer, demand="wait_time")
    with pytest.raises(ParameterError, match="no step function 'time'; there are busy_processors"):
        mean_over_time(over_time(fewer), "time")
    negative = draw_schedule(DRAWN)
    negative.jobs["standard"] = -1.0
    with pytest.raises(ParameterError, match="nominal='standard' has times below 0"):
        measure_jobs(negative, nominal="standard")
    unhashable = draw_schedule(DRAWN)
    unhashable.jobs["parts"] = [[1], [2], [3], [4]]
    with pytest.raises(ParameterError, match="cannot be classed by a column of object"):
        classify(unhashable.jobs, "parts")


def test_parameters_to_json_and_back() -> None:
    """Parameters survive JSON."""
    parameters = MetricParameters(bound=60, percentiles=(50, 99.5), window=(0, 10), threshold=3.0)
    again = MetricParameters.from_mapping(json.loads(json.dumps(parameters.to_mapping())))
    assert parameters.to_mapping() == again.to_mapping()
    ours, theirs = measure(draw_schedule(DRAWN), parameters), measure(draw_schedule(DRAWN), again)
    pd.testing.assert_frame_equal(ours, theirs)
    changed = measure(draw_schedule(DRAWN), parameters, bound=10)
    assert 10 == changed["parameter"].max()
