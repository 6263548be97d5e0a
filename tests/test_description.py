# SPDX-License-Identifier: BSD-3-Clause
"""What ``swftools describe`` prints: figures of a log."""

from __future__ import annotations

import json
import os

import pytest

import swftools
from swftools.description import describe
from swftools.header import SwfHeader
from swftools.trace import Trace


def test_hand_drawn_figures() -> None:
    """Three jobs on four processors over 100 s: load, medians and counts as one adds them up on paper."""
    trace = Trace.from_columns(
        SwfHeader.from_lines(["; Queue: 2 normal"]),
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 60, 100],
        wait_time=[0, 10, -1],
        run_time=[100, 50, -1],
        requested_time=[90, 50, 50],
        requested_processors=[2, 1, 4],
        status=[1, 1, 5],
        queue_id=[2, 2, -1],
        user_id=[7, 8, 7],
    )
    facts = describe(trace)
    assert (3, 4, 2, 1, 1) == tuple(
        facts[key] for key in ("jobs", "processors", "users", "cancelled", "without_run_time")
    )
    assert (2 * 100 + 50) / (4 * 100) == facts["offered_load"]
    assert (50.0, 5.0, 75.0) == tuple(facts[f"median_{key}"] for key in ("interarrival_time", "wait_time", "run_time"))
    assert (1, round(7 / 3, 2)) == (facts["over_request"], facts["mean_width"])
    assert ({"2 normal": 2}, {"1": 2, "5": 1}) == (facts["jobs_by_queue"], facts["jobs_by_status"])


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_log_too_short_for_figures_has_none(jobs: int) -> None:
    """No span, no load, no medians: None, and JSON holds it."""
    trace = Trace.from_columns(job_number=list(range(jobs)), submit_time=[0] * jobs)
    facts = json.loads(json.dumps(describe(trace), allow_nan=False))
    assert (jobs, None, None, 0) == (
        facts["jobs"], facts["offered_load"], facts["median_run_time"], facts["users"],
    )  # fmt: skip


def test_the_shipped_log(shipped_log: os.PathLike[str]) -> None:
    """Figures counted by other means: 216 jobs without run time, 320 over their request, 1,283 cancelled."""
    facts = describe(swftools.read_swf(shipped_log))
    assert (5000, 216, 320, 1283) == tuple(
        facts[key] for key in ("jobs", "without_run_time", "over_request", "cancelled")
    )
