# SPDX-License-Identifier: BSD-3-Clause
"""Runs of no time, or of a part of a second: policy, validator and slow twin agree on what they hold in a plan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace
from tests.examples import examples
from tests.naive.simulator import TWINS
from tests.simulator.twin import naive_starts

CONSERVATIVE = ["conservative", "conservative-fixed", "conservative-replanned"]


@st.composite
def short_runs(draw: st.DrawFn) -> Trace:
    """Draw a busy machine on which most jobs run for no time, or for a part of a second."""
    size = draw(st.integers(1, 7))
    count = draw(st.integers(1, 25))

    def values(of: st.SearchStrategy[float]) -> list[float]:
        return draw(st.lists(of, min_size=count, max_size=count))

    times = st.sampled_from([0.0, 0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 5.0])
    run = np.array(values(times))
    return Trace.from_columns(
        machine_processors=size,
        job_number=list(range(1, count + 1)),
        submit_time=np.sort(values(st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0, 5.0]))),
        run_time=run,
        requested_time=run + np.array(values(times)),
        requested_processors=draw(st.lists(st.integers(1, size), min_size=count, max_size=count)),
    )


@pytest.mark.parametrize("predictor", ["exact", "request"])
@pytest.mark.parametrize("policy", CONSERVATIVE)
@examples(0.25)
@given(trace=short_runs())
def test_promises_of_short_runs_are_kept(policy: str, predictor: str, trace: Trace) -> None:
    """Whatever the engine makes of them is valid, and the promise is checked."""
    report = validate(simulate(trace, policy, predictor=predictor), trace=trace)
    assert report.ok, str(report)
    assert any(checked.endswith("reservation") for checked in report.checked)


@pytest.mark.parametrize("predictor", ["exact", "request", "last-model"])
@pytest.mark.parametrize("policy", CONSERVATIVE)
@examples(0.25)
@given(trace=short_runs(), overrun=st.sampled_from(["extend", "run-on"]))
def test_short_runs_start_as_in_the_twin(policy: str, predictor: str, trace: Trace, overrun: str) -> None:
    """Job by job."""
    (twin,) = [twin for name, _, twin in TWINS if name == policy]
    schedule = simulate(trace, policy, predictor=predictor, overrun=overrun, seed=3)
    assert naive_starts(trace, twin, predictor, overrun) == schedule.jobs["start_time"].tolist()


def test_a_run_of_no_time_holds_its_processors_for_a_second() -> None:
    """When job 2 starts at 5 s job 3 is planned behind it, so job 4 has room at once, is promised that, and gets it."""
    trace = draw_trace("submit run width / 0 5 4 / 0 0 2 / 0 1 4 / 5 0 2", processors=5)
    schedule = simulate(trace, "conservative")
    assert [0.0, 5.0, 5.0, 5.0] == schedule.jobs["start_time"].tolist()
    assert validate(schedule, trace=trace).ok


def test_replanning_leaves_a_second_to_a_run_of_no_time() -> None:
    """Job 2 does not count on the processors of job 1, so job 3 goes ahead, and job 2 starts when both are gone."""
    trace = draw_trace("submit run width / 0 0 2 / 0 1 3 / 0 0 2", processors=4)
    schedule = simulate(trace, "conservative-replanned", predictor="exact")
    assert [0.0, 0.0, 0.0] == schedule.jobs["start_time"].tolist()
    assert "exact-reservation" in validate(schedule, trace=trace).checked


def test_replanned_reservations_are_excused_while_jobs_end_early() -> None:
    """Ten jobs of no time move those behind them forward, at the expense of job 21."""
    short = ["0 0 1"] * 10
    table = " / ".join(["submit run width", *short, "0 2 5", *["0 0 1"] * 6, *["0 1 1"] * 3, "1 0 2"])
    trace = draw_trace(table, processors=7)
    report = validate(simulate(trace, "conservative-replanned", predictor="exact"), trace=trace)
    assert report.ok, str(report)
    (note,) = [note for note in report.notes if note.startswith("exact-reservation")]
    assert note.startswith("exact-reservation: 21 promises, ")
    assert note.endswith(" excused: a job outlived its estimate, or ended before its plan")


def test_replanned_reservations_of_longer_jobs_are_checked() -> None:
    """Where all jobs run for some time, as long as estimated, nothing is excused."""
    trace = draw_trace("submit run width / 0 .5 3 / 0 .5 3", processors=4)
    report = validate(simulate(trace, "conservative-replanned", predictor="exact"), trace=trace)
    assert report.ok
    assert "exact-reservation: 2 promises" in report.notes


@pytest.mark.parametrize("late", [0, 1, 4])
def test_replanned_reservations_are_held_against_it_when_nobody_ends_early(late: int) -> None:
    """Job 1 ends early while job 2 waits, which is excused then; job 3 comes later, and is promised 10 s."""
    trace = draw_trace("submit run width request / 0 2 4 8 / 1 8 4 8 / 3 1 1 1", processors=4)
    schedule = simulate(trace, "conservative-replanned")
    assert [0.0, 2.0, 10.0] == schedule.jobs["start_time"].tolist()
    moved = schedule.jobs[["job_number", "start_time"]].copy()
    moved.loc[2, "start_time"] += late
    report = validate(moved, trace=trace, policy="conservative-replanned", semantics="instant")
    assert [3] * (late > 0) == report.violations["job_number"].tolist()
