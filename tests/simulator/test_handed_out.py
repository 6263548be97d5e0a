# SPDX-License-Identifier: BSD-3-Clause
"""What policies and predictors are handed: read-only or a copy; nothing of later jobs, nothing of old memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.errors import PolicyError, PolicyWarning
from swftools.simulator import Policy, Predictor, Simulation, first_waiting, fits, simulate, start
from swftools.simulator.machine.state import SUBMITTED, Machine, Requests
from tests.strategies import crowded_trace


def start_in_order(machine: Machine) -> None:
    """Start who fits, in order."""
    job = first_waiting(machine)
    while fits(machine, job):
        start(machine, job)
        job = first_waiting(machine)


def forgets_submissions(machine):  # type: ignore[no-untyped-def]
    """Let all jobs be submitted at 0."""
    machine.requests.submit_time[:] = 0.0
    start_in_order(machine)


def narrows(machine):  # type: ignore[no-untyped-def]
    """Let all jobs need one processor."""
    machine.requests.processors[:] = 1
    start_in_order(machine)


def foretells(machine):  # type: ignore[no-untyped-def]
    """Let all jobs be short."""
    machine.requests.requested_time[:] = 0.0
    start_in_order(machine)


@pytest.mark.parametrize("decide", [forgets_submissions, narrows, foretells])
def test_requests_are_not_to_be_written(decide: Any, compiled: bool) -> None:
    """It was silent, and results were others; numba refuses to compile it, and interpreted it is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolicyWarning)
        with pytest.raises(PolicyError, match=rf"policy '{decide.__name__}', at .* s: raised ValueError: .*read-only"):
            simulate(crowded_trace(20), Policy(decide.__name__, decide), compiled=compiled)


@pytest.mark.parametrize("name", [*Requests._fields, "restart"])
def test_what_a_machine_shows_is_read_only(name: str) -> None:
    """Each array of the requests; also in a copy, and when the simulation went on."""
    trace = crowded_trace(30)
    first = Simulation(trace, "easy", restart_overhead=5.0)
    for simulation in (first, first.run(until=50.0), first.copy(), first.copy().run()):
        machine = simulation._machine
        shown = machine.restart if name == "restart" else getattr(machine.requests, name)
        assert not shown.flags.writeable


def test_a_copy_shows_its_own_requests() -> None:
    """What comes to one of them does not come to the other."""
    trace = crowded_trace(60)
    first = Simulation(trace, "sjf", predictor="last-model").run(until=float(trace.arrays.submit_time[20]))
    other = first.copy().run()
    submitted = int(first._machine.counts[SUBMITTED])
    assert np.isnan(first._machine.requests.submit_time[submitted:]).all()
    assert not np.isnan(other._machine.requests.submit_time).any()
    assert other.schedule().jobs.equals(first.run().schedule().jobs)
    assert np.shares_memory(first._machine.predicted, first._machine.requests.requested_time)


def test_foretold_from_copies() -> None:
    """A predictor that writes into the run times that it is told changes nothing that is simulated."""

    def greedy(run_time: Any, limit: Any) -> Any:
        told = limit.copy()
        run_time[:] = 1.0
        limit[:] = 1.0
        return told

    trace = crowded_trace(80)
    found = simulate(trace, "easy", predictor=Predictor("greedy", foretell=greedy)).jobs
    pd.testing.assert_frame_equal(found, simulate(trace, "easy").jobs, check_exact=True)


def test_overheads_of_later_jobs_are_not_shown(compiled: bool) -> None:
    """A column of overheads is known of a job from its submission on, and counts as it did."""
    trace = crowded_trace(40)
    trace = trace.with_jobs(trace.jobs.assign(going_on=np.arange(40.0)))
    simulation = Simulation(trace, "easy", restart_overhead="column:name=going_on", compiled=compiled)
    simulation.run(until=float(trace.arrays.submit_time[15]))
    submitted = int(simulation._machine.counts[SUBMITTED])
    shown = simulation._machine.requests.restart_overhead
    assert 0 < submitted < 40
    assert shown[:submitted].tolist() == list(range(submitted))
    assert np.isnan(shown[submitted:]).all()
