# SPDX-License-Identifier: BSD-3-Clause
"""compiled="checked": an index outside its array is an error that names policy and time; all else is the same."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.kernel import kernel
from swftools.models import lublin_feitelson
from swftools.simulator import (
    SUBMISSION,
    Policy,
    Predictor,
    first_waiting,
    fits,
    list_predictors,
    next_waiting,
    now,
    simulate,
    start,
    width,
)
from swftools.simulator.machine.state import Machine
from tests.every_policy import OURS, light, with_all_columns

JOBS = 60

needs_jit = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with all that policies need."""
    made = lublin_feitelson.generate(JOBS, processors=16, load=0.95, seed=3)
    users = pd.array(np.arange(JOBS) % 5, dtype="Int64")
    ranks = pd.array(np.arange(JOBS) % 3, dtype="Int64")
    return with_all_columns(made.with_jobs(made.jobs.assign(priority_rank=ranks, user_id=users)))


def two_arrays(jobs: int, processors: int) -> tuple[Any, ...]:
    """Return a memory of two arrays of an element a job, the second behind the first."""
    return np.zeros(jobs), np.zeros(jobs)


@kernel
def write(array: Any, place: int) -> None:
    """Write into an array."""
    array[place] = 1.0


def in_order(machine: Machine) -> None:
    """Start jobs in order of submission."""
    job = first_waiting(machine)
    while fits(machine, job):
        start(machine, job)
        job = next_waiting(machine, job)


in_order_kernel = kernel(in_order)


def writes_beyond(machine: Machine, memory: Any) -> None:
    """Write behind the end of its first array, which is in the second."""
    if now(machine) > 1000.0:
        memory[0][len(memory[0])] = 1.0
    in_order_kernel(machine)


def lets_write_beyond(machine: Machine, memory: Any) -> None:
    """Let another kernel do so."""
    if now(machine) > 1000.0:
        write(memory[0], len(memory[0]))
    in_order_kernel(machine)


def reads_before(machine: Machine, memory: Any) -> None:
    """Read before the beginning of its second array, which is in the first."""
    if memory[1][-len(memory[1]) - 1] == 0.0 and now(machine) > 1000.0:
        start(machine, -1)
    in_order_kernel(machine)


def asks_of_a_stranger(machine: Machine, memory: Any) -> None:
    """Look up a job that there is not."""
    if now(machine) > 1000.0 and width(machine, len(memory[0])) > 0:
        write(memory[0], 0)
    in_order_kernel(machine)


@needs_jit
@pytest.mark.parametrize("function", [writes_beyond, lets_write_beyond, asks_of_a_stranger])
def test_an_index_outside(trace: Trace, function: Any) -> None:
    """In the policy itself, a kernel that it calls, and a view of the machine; plainly compiled nobody looks."""
    policy = Policy("wild", function, memory=two_arrays)
    submitted = trace.arrays.submit_time
    first = submitted[submitted > 1000.0].min()
    told = r"^policy 'wild', at \d+ s: raised IndexError: index is out of bounds; compiled=False tells the line, if"
    with pytest.raises(PolicyError, match=told) as raised:
        simulate(trace, policy, compiled="checked")
    assert 1000.0 < float(str(raised.value).split(" at ")[1].split(" s:")[0]) <= first


@needs_jit
def test_before_the_beginning(trace: Trace) -> None:
    """An index from the end counts too."""
    with pytest.raises(PolicyError, match=r"'wild', at \d+ s: raised IndexError: index is out of bounds"):
        simulate(trace, Policy("wild", reads_before, memory=two_arrays), compiled="checked")


def observes_a_stranger(event: int, machine: Machine, job: int, memory: Any) -> None:
    """Remember of a user more than there are jobs."""
    if event == SUBMISSION:
        memory[0][job + len(memory[0])] = 1.0


@needs_jit
def test_a_predictor(trace: Trace) -> None:
    """Predictors are checked too."""
    wild = Predictor("wild", observes_a_stranger, memory=two_arrays)
    with pytest.raises(PolicyError, match="raised IndexError: index is out of bounds"):
        simulate(trace, "fcfs", predictor=wild, compiled="checked")


@pytest.mark.parametrize("compiled", ["yes", "Checked", 1, 0, None, ""])
def test_other_values_are_refused(trace: Trace, compiled: Any) -> None:
    """With what there is."""
    with pytest.raises(ParameterError, match=r"compiled=.* is not one of: True, False, 'checked'"):
        simulate(trace, "fcfs", compiled=compiled)


def same(trace: Trace, policy: str, **options: Any) -> None:
    """Compare the schedules of the two compiled forms."""
    plain, checked = (simulate(trace, policy, compiled=form, **options) for form in (True, "checked"))
    pd.testing.assert_frame_equal(checked.jobs, plain.jobs, check_exact=True)
    pd.testing.assert_frame_equal(checked.segments, plain.segments, check_exact=True)


def test_easy(trace: Trace) -> None:
    """No index of the engine and of EASY is outside, and the schedule is the same."""
    same(trace, "easy")


@pytest.mark.slow
@pytest.mark.parametrize("predictor", sorted(list_predictors()))
@pytest.mark.parametrize("policy", [light(name) for name in OURS])
def test_all(trace: Trace, policy: str, predictor: str) -> None:
    """Nor of any other policy, under any predictor."""
    same(trace, policy, predictor=predictor, overrun="run-on")


@needs_jit
def test_nothing_leaks(trace: Trace) -> None:
    """What is checked is freed as well."""
    simulate(trace, "easy", compiled="checked")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        simulate(trace, "easy", compiled="checked")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
