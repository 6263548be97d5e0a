# SPDX-License-Identifier: BSD-3-Clause
"""Blocked heads of whole logs, beside the counts of an independent prototype; needs the full logs.

With requests we are 0, 2 and 3 heads short of it. Where predictions are outlived it matters that this engine decides at
that moment too, which makes heads fewer by 2 to 4 %: the prototype, as the simulator of Yuan et al. 2010 (section
5.1.1), decides at submissions and completions only. A policy that rests at other instants is within .3 % of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.papers.yuan2010.easy_at_events import EASY_AT_EVENTS
from swftools import Trace, read_swf
from swftools.simulator import find_heads, find_policy, simulate

PROCESSORS = {"CTC-SP2-1996-3.1-cln": 430, "SDSC-BLUE-2000-4.2-cln": 1152, "SDSC-DS-2004-2.1-cln": 1664}

WITH_REQUESTS = {"CTC-SP2-1996-3.1-cln": 4_582, "SDSC-BLUE-2000-4.2-cln": 14_990, "SDSC-DS-2004-2.1-cln": 6_581}
WITH_LAST_MODEL = {"CTC-SP2-1996-3.1-cln": 3_460, "SDSC-BLUE-2000-4.2-cln": 10_089, "SDSC-DS-2004-2.1-cln": 4_532}
"""Jobs that were ever the blocked head under EASY, there."""


def those_that_ran(shared: Path, log: str) -> Trace:
    """Return the jobs of a log with a run time and processors."""
    trace = read_swf(next((shared / "traces").glob(f"{log}*")))
    allocated = trace.jobs["allocated_processors"].fillna(0).to_numpy() > 0
    return trace.with_jobs(trace.jobs[(trace.arrays.run_time >= 0) & allocated].reset_index(drop=True))


@pytest.mark.slow
@pytest.mark.parametrize("log", PROCESSORS)
def test_as_many_as_an_independent_prototype_found(shared: Path, log: str) -> None:
    """By requests nearly to the job; by predictions as far off as the moments of decision make it."""
    trace = those_that_ran(shared, log)
    found = {
        (policy.name, predictor): len(
            find_heads(simulate(trace, policy, PROCESSORS[log], predictor=predictor, overrun="extend"))
        )
        for policy, predictor in (
            (find_policy("easy"), "request"),
            (find_policy("easy"), "last-model"),
            (EASY_AT_EVENTS, "request"),
            (EASY_AT_EVENTS, "last-model"),
        )
    }
    assert found["easy", "request"] == found["easy-at-events", "request"]
    assert found["easy", "request"] == pytest.approx(WITH_REQUESTS[log], abs=3)
    assert found["easy-at-events", "last-model"] == pytest.approx(WITH_LAST_MODEL[log], rel=0.003)
    assert 0.95 * WITH_LAST_MODEL[log] < found["easy", "last-model"] < 0.99 * WITH_LAST_MODEL[log]
