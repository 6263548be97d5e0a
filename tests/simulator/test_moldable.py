# SPDX-License-Identifier: BSD-3-Clause
"""Moldable jobs: started on other widths than their own, by the speedup curves that the trace has."""

from __future__ import annotations

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator.entry_points import simulate
from swftools.simulator.machine.state import FREE
from swftools.simulator.machine.verbs import start_on
from swftools.simulator.machine.views import first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.machine.work import stretch_on
from swftools.simulator.registry import Policy
from swftools.simulator.validation.report import validate
from tests.drawn import draw_trace


def takes_all(machine):  # type: ignore[no-untyped-def]
    """Start jobs in order of submission on all processors that are free, or as many as their curve allows."""
    job = first_waiting(machine)
    while job != NOBODY:
        processors = machine.counts[FREE]
        while processors > 0 and stretch_on(machine, job, processors) <= 0.0:
            processors -= 1
        if processors == 0:
            return
        start_on(machine, job, processors)
        job = first_waiting(machine)


def moldable_trace() -> Trace:
    """Make jobs of each curve: downey (A = 4, sigma = 0), simple, rigid, and downey with a least width of 3."""
    trace = draw_trace("submit run width / 0 40 2 / 50 26 4 / 100 10 3 / 150 30 3")
    return trace.with_jobs(
        trace.jobs.assign(
            is_moldable=[True, True, False, True],
            speedup_curve=["downey", "simple", None, "downey"],
            downey_a=[4.0, np.nan, np.nan, 8.0],
            downey_sigma=[0.0, np.nan, np.nan, 0.0],
            sequential_run_time=[80.0, 67.6, np.nan, 90.0],
            minimum_processors=[1, 2, 3, 3],
            maximum_processors=[4, 8, 3, 100],
        )
    )


@pytest.mark.parametrize(("processors", "widths", "run_times"), [(8, [4, 8, 3, 8], [20, 26 * 0.65 / 0.8, 10, 11.25])])
def test_moldable_jobs(compiled: bool, processors: int, widths: list[int], run_times: list[float]) -> None:
    """A job on n processors takes S(own width) / S(n) times as long; the schedule is valid and says so."""
    schedule = simulate(moldable_trace(), Policy("takes-all", takes_all), processors, compiled=compiled)
    assert widths == schedule.jobs["allocated_processors"].tolist()
    assert run_times == pytest.approx(schedule.jobs["run_time"].tolist())
    assert run_times == pytest.approx((schedule.segments["end_time"] - schedule.segments["start_time"]).tolist())
    report = validate(schedule, trace=moldable_trace())
    assert report.ok, str(report)


def test_a_machine_smaller_than_the_largest_width_bounds_it() -> None:
    """The curve's maximum is cut at the machine."""
    schedule = simulate(moldable_trace(), Policy("takes-all", takes_all), 5)
    assert [4, 5, 3, 5] == schedule.jobs["allocated_processors"].tolist()


def doubles(machine):  # type: ignore[no-untyped-def]
    """Start the first job on twice its width, whatever its curve says."""
    job = first_waiting(machine)
    if job != NOBODY:
        start_on(machine, job, 2 * machine.requests.processors[job])


def test_a_width_that_cannot_be_is_a_fault(compiled: bool) -> None:
    """Of a rigid job, or without curves at all."""
    message = "started or resized job 0 of the queue .* to a width that its speedup curve does not allow"
    with pytest.raises(PolicyError, match=message):
        simulate(draw_trace("submit run width / 0 5 2"), Policy("doubles", doubles), 8, compiled=compiled)
    with pytest.raises(PolicyError, match="at 100 s: started or resized job 2"):
        simulate(moldable_trace(), Policy("doubles", doubles), 8, compiled=compiled)


def test_the_validator_knows_moldable_jobs_from_wrong_widths() -> None:
    """Another width is right only within the job's bounds, and with the run time that belongs to it."""
    schedule = simulate(moldable_trace(), Policy("takes-all", takes_all), 8)
    bounded = moldable_trace().jobs.assign(maximum_processors=[3, 8, 3, 100])
    wrong = validate(schedule, trace=moldable_trace().with_jobs(bounded))
    assert [(1, "trace"), (1, "trace")] == list(
        wrong.violations[["job_number", "rule"]].itertuples(index=False, name=None)
    )
