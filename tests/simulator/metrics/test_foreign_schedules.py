# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of other simulators are measured too, though they say less than ours."""

from __future__ import annotations

import pandas as pd

from swftools import Trace, measure
from swftools.simulator.validation.foreign_schedules import schedule_from_table
from tests.simulator.metrics.drawings import value_of


def test_a_table_of_starts_is_measured() -> None:
    """What it does not say, whether a job was backfilled, is missing; all else is there."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2],
        submit_time=[0, 1],
        run_time=[5, 5],
        requested_time=[5, 5],
        requested_processors=[2, 4],
    )
    schedule = schedule_from_table(pd.DataFrame({"job_number": [1, 2], "start_time": [0.0, 5.0]}), trace=trace)
    metrics = measure(schedule)
    assert (2, 2.0) == value_of(metrics, "wait", "mean")
    backfilled = metrics[metrics["measure"] == "is_backfilled"]
    assert [0, 0] == backfilled["jobs"].tolist()
    assert backfilled["value"].isna().all()
