# SPDX-License-Identifier: BSD-3-Clause
"""Promises of schedules that do not show who stood in the queue: of jobs that were held back, or of half a run."""

from __future__ import annotations

from dataclasses import replace

from swftools.simulator import SUBMISSION, Simulation, hold, now, simulate, validate
from swftools.simulator.predictors.kinds import Predictor
from tests.strategies import crowded_trace


def holds_every_fifth(event, machine, job):  # type: ignore[no-untyped-def]
    """Hold jobs back at their submission."""
    if event == SUBMISSION and job % 5 == 0:
        hold(machine, job, now(machine) + 300.0)


def test_jobs_that_were_held_back() -> None:
    """The schedule counts them, and is not held to what is promised of the queue; all else is checked."""
    trace = crowded_trace(100)
    schedule = simulate(trace, "easy", predictor=Predictor("holds", holds_every_fifth))
    assert 20 == schedule.holds
    report = validate(schedule, trace=trace)
    assert report.ok
    assert "promises not checked: jobs were held back" in report.notes
    assert not validate(replace(schedule, holds=0), trace=trace).ok
    early = schedule.jobs.assign(start_time=schedule.jobs["start_time"] - 1)
    assert not validate(replace(schedule, jobs=early), trace=trace).ok


def test_half_a_run() -> None:
    """Jobs that wait still are not in it: what would follow from them is no fault."""
    trace = crowded_trace(100)
    simulation = Simulation(trace, "easy").run(until=2000)
    schedule = simulation.schedule()
    assert schedule.is_partial
    report = validate(schedule, trace=trace)
    assert report.ok
    assert "promises not checked: the simulation was not over" in report.notes
    assert not validate(replace(schedule, is_partial=False), trace=trace).ok
    cut = simulation.copy().without_later_jobs().run().schedule()
    assert not cut.is_partial
    assert "head-reservation" in validate(cut, trace=trace).checked
    assert validate(cut, trace=trace).ok
    assert not simulation.run().schedule().is_partial
