# SPDX-License-Identifier: BSD-3-Clause
"""A job that outlives what was estimated at the very instant of its start: it was told to take no time at all."""

from __future__ import annotations

from swftools import Trace
from swftools.simulator.entry_points import simulate
from tests.naive.simulator import TWINS
from tests.simulator.twin import naive_starts


def test_an_estimate_of_no_time_is_outlived_at_once(compiled: bool) -> None:
    """A second decision follows at that instant, which expects the job to run to its request: D may go ahead then."""
    trace = Trace.from_columns(
        machine_processors=6,
        job_number=[1, 2, 3, 4, 5],
        submit_time=[0, 0, 1, 1, 1],
        run_time=[0, 2, 0, 2, 5],
        requested_time=[1, 2, 0, 2, 5],
        allocated_processors=[1, 2, 5, 2, 2],
        user_id=[1, 2, 2, 2, 1],
    )
    told = simulate(trace, "sjf-backfill", predictor="last-model", compiled=compiled)
    assert 0.0 == told.jobs["estimated_time"].iloc[4]  # its user's last job took none of what it asked for
    assert [0.0, 0.0, 6.0, 1.0, 1.0] == told.jobs["start_time"].tolist()
    (twin,) = [twin for name, parameters, twin in TWINS if name == "sjf-backfill" and not parameters]
    assert naive_starts(trace, twin, "last-model", "extend") == told.jobs["start_time"].tolist()
