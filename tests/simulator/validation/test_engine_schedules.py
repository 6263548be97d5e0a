# SPDX-License-Identifier: BSD-3-Clause
"""The validator passes what the engine makes, and finds what is changed in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.report import validate
from tests.every_policy import light, with_all_columns
from tests.examples import examples
from tests.simulator.validation.faults import PROMISES, broken, moved, with_job, with_run
from tests.simulator.validation.strategies import workloads


@pytest.mark.parametrize("policy", PROMISES)
@examples(0.15)
@given(trace=workloads())
def test_schedules_of_the_engine_pass(policy: str, trace: Trace) -> None:
    """Whatever the engine makes of a trace is valid, and its policy keeps its promises."""
    trace = with_all_columns(trace)
    report = validate(simulate(trace, light(policy)), trace=trace)
    assert report.ok, str(report)


@pytest.mark.parametrize("policy", ["conservative-replanned", "easy"])
@given(trace=workloads(exact=True))
@examples(0.15)
def test_schedules_with_exact_estimates_pass(policy: str, trace: Trace) -> None:
    """With exact estimates the replanned reservations are kept, too, also under the semantics of CQSim.

    Those of 0 s are planned for 1 s, so that only longer jobs never end early; then they are checked.
    """
    seconds = trace.jobs["run_time"] + 1.0
    longer = trace.with_jobs(trace.jobs.assign(run_time=seconds, requested_time=seconds))
    for work, is_checked in ((trace, policy == "easy"), (longer, True)):
        for semantics in ("instant", "cqsim"):
            schedule = simulate(work, policy, predictor="exact", semantics=semantics)
            report = validate(schedule, trace=work)
            assert report.ok, str(report)
            assert not is_checked or set(PROMISES[policy]) <= set(report.checked)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf-backfill", "conservative"])
@given(trace=workloads())
@examples(0.2)
def test_schedules_by_the_semantics_of_pyss_pass(policy: str, trace: Trace) -> None:
    """Deciding after every event keeps the promises as well."""
    report = validate(simulate(trace, policy, semantics="pyss"), trace=trace)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    "option", [{"predictor": "last-model"}, {"predictor": "virtual:error=0.5"}, {"requests": "factor:factor=2"}]
)
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
@given(trace=workloads())
@examples(0.15)
def test_schedules_by_other_estimates_pass(policy: str, option: dict[str, str], trace: Trace) -> None:
    """Estimates that jobs outlive excuse promises, and break none."""
    report = validate(simulate(trace, policy, **option), trace=trace)
    assert report.ok, str(report)


@examples(0.4)
@given(trace=workloads(), pick=st.integers(0, 24), later=st.integers(1, 5))
def test_a_shifted_start_is_found(trace: Trace, pick: int, later: int) -> None:
    """A fcfs schedule, which its promises leave no choice, is not valid if one start is shifted."""
    schedule = simulate(trace, "fcfs")
    if not len(schedule):
        return
    job = schedule.jobs.iloc[pick % len(schedule)]
    for start in (job["start_time"] + later, job["start_time"] - later):
        if start >= 0:
            assert broken(moved(job["job_number"], start, schedule))


@given(trace=workloads(), pick=st.integers(0, 24))
@examples(0.2)
def test_a_wider_job_is_found(trace: Trace, pick: int) -> None:
    """A job with one more processor than the trace says is found."""
    schedule = simulate(trace, "easy")
    if not len(schedule):
        return
    row = pick % len(schedule)
    width = schedule.jobs["allocated_processors"].iloc[row] + 1
    assert "trace" in broken(with_job(row, allocated_processors=width)(schedule), trace=trace)


@pytest.mark.parametrize(
    ("policy", "rules"),
    [
        ("fcfs", {"order", "no-idle-head"}),
        ("easy", {"head-reservation", "backfilling"}),
        ("conservative", {"reservation"}),
    ],
)
def test_shipped_log_keeps_only_its_own_promises(shipped: Trace, policy: str, rules: set[str]) -> None:
    """On a real log each schedule is valid as what it is, and breaks the promises of another policy."""
    assert validate(simulate(shipped, policy), trace=shipped).ok
    other = {"fcfs": "conservative", "easy": "conservative", "conservative": "easy"}[policy]
    assert rules <= set(broken(simulate(shipped, other), policy=policy))


def test_faults_in_the_shipped_log_are_found(shipped: Trace) -> None:
    """A start that is shifted, two that are swapped and a job that is widened are found in a real schedule."""
    schedule = simulate(shipped, "easy")
    waits = schedule.jobs[schedule.jobs["wait_time"] > 1000]
    first, other = waits.iloc[0], waits.iloc[40]
    assert broken(moved(first["job_number"], first["start_time"] - 500, schedule))
    assert broken(moved(first["job_number"], first["submit_time"] - 1, schedule))
    swapped = moved(first["job_number"], other["start_time"], schedule)
    assert broken(moved(other["job_number"], first["start_time"], swapped))
    run = int(np.flatnonzero(schedule.segments["job_number"] == first["job_number"])[0])
    assert {"width": [first["job_number"]]}.items() <= broken(
        with_run(run, allocated_processors=1151)(schedule)
    ).items()
