# SPDX-License-Identifier: BSD-3-Clause
"""When a waiting job could start on nodes if nobody else did: what a copy without the others does says it too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.machines.outages import DOWN, RESERVATION, NodeOutages
from swftools.simulator import Stepper
from swftools.simulator.nodes.words import WHOLE
from tests.interpreted import all_interpreted
from tests.naive.nodes_away import Rule
from tests.nodes_drawn import draw_machine
from tests.simulator.nodes.test_away import (
    ALWAYS,
    HEADS,
    INF,
    PLACEMENTS,
    SURPRISE,
    AwayCase,
    Engine,
    case_by_lot,
    engine,  # noqa: F401 (a fixture)
    runs_of,
    trace_of,
)


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with all_interpreted():
        yield


def alone(stepper: Stepper, job: int) -> tuple[float, int]:
    """Return when a job starts if all others that wait or come vanish, and the cores that are free just then."""
    ahead = stepper.copy()
    simulation = ahead._simulation.without_later_jobs()
    others = [other for other in stepper.waiting.tolist() if other != job]
    rows = np.zeros(len(simulation.trace), np.bool_)
    rows[simulation._rows[others]] = True
    simulation.without(rows)
    ahead._brought = None  # nothing was decided in vain: it is another queue
    while not simulation._machine.allocated[job] and np.isnan(ahead.first_start(job)):
        if ahead.is_deciding and job in ahead.fitting:
            ahead.start(job)
        else:
            ahead.advance(to="event")
    return simulation.now, ahead.free


def check_at_decisions(stepper: Stepper, *, checks_free: bool) -> int:
    """Check some of those that wait, at all decisions; return how many were to wait.

    Who has whole nodes may have other ones later, which leave more or less; a run of 0 s is over then.
    """
    machine: Any = stepper._machine
    checked = 0
    while stepper.skip():
        for job in stepper.waiting.tolist()[:4]:
            time, extra = stepper.shadow(job)
            start, free = alone(stepper, job)
            assert time == start, (stepper.now, job)
            is_plain = checks_free and not machine.asked.need[job] & WHOLE and stepper.requested_time[job] > 0
            assert not is_plain or extra == free
            checked += time > stepper.now
        if len(stepper.waiting):
            assert stepper.shadow() == stepper.shadow(int(stepper.waiting[0]))
    return checked


@pytest.mark.parametrize("policy", ["easy", "fcfs", "conservative"])
def test_on_machines_by_lot(policy: str, engine: Engine) -> None:  # noqa: F811
    """If all jobs run as long as they ask to; nothing is changed by it."""
    checked = 0
    for seed in range(100, 104):
        workload, _ = case_by_lot(seed, known=True)
        has_outages = policy != "conservative" and seed % 2 == 0
        table = workload.table if has_outages else replace(workload.table, outages=NodeOutages())
        engine.asks(workload)
        trace = trace_of(workload, Rule())
        trace = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["requested_time"]))
        options: dict[str, Any] = {"heads": HEADS[seed % 2], "compiled": False}
        placement = PLACEMENTS[seed % len(PLACEMENTS)]
        if policy == "conservative" and placement.startswith("contiguous"):
            placement = "first-fit"
        stepper = Stepper(trace, policy, machine=table, placement=placement, **options)
        checked += check_at_decisions(stepper, checks_free=not has_outages)
        whole = Stepper(trace, policy, machine=table, placement=placement, **options).finish()
        assert runs_of(stepper.schedule()) == runs_of(whole)
    assert checked > 10


def test_by_hand(engine: Engine) -> None:  # noqa: F811
    """Nodes that are away are not waited for longer than it is known; their cores are not left over."""
    outages = ((0, 20, 30, DOWN, ALWAYS, -1), (1, 0, 40, DOWN, SURPRISE, -1), (2, 15, 50, RESERVATION, ALWAYS, 0))
    jobs = "job submit run nodes / A 0 10 1 / B 2 4 1 / C 2 13 1 / D 2 6 2 / E 2 1 3 / F 3 9 3"
    case = AwayCase("", "count cores / 4 2", (*outages, (3, 0, INF, DOWN, SURPRISE, -1)), jobs, "")
    workload = case.workload()
    engine.asks(workload)
    stepper = Stepper(trace_of(workload, Rule()), "fcfs", machine=workload.table, compiled=False)
    stepper.advance()
    stepper.start(0, nodes=[0])
    while stepper.now < 3.0:
        stepper.advance(to="event")
    assert stepper.shadow(1) == (3.0, 2)  # beside A on node 0, and node 2 is left
    assert stepper.shadow(2) == (3.0, 0)  # on node 0 too, until 16 s, when node 2 is not there for it any more
    assert stepper.shadow(5) == (INF, 0)
    with pytest.raises(PolicyError, match="job 0 does not wait: give one of waiting"):
        stepper.shadow(0)


def test_after_an_act() -> None:
    """It is asked of a copy then; nobody waits any more when all were started."""
    machine = draw_machine("count cores / 2 2", "p:0-1")
    trace = Trace.from_columns(
        job_number=[1, 2, 3], submit_time=[0, 0, 0], run_time=[9, 5, 3], requested_processors=[2, 2, 4]
    )
    stepper = Stepper(trace, machine=machine, compiled=False)
    stepper.advance()
    assert stepper.shadow(2) == (0.0, 0)
    stepper.start(0)
    assert (stepper.shadow(1), stepper.shadow(2)) == ((0.0, 0), (9.0, 0))
    stepper.start(1)
    assert stepper.shadow() == (9.0, 0)
    stepper.advance()
    stepper.advance()
    stepper.start(2)
    with pytest.raises(PolicyError, match="no job waits"):
        stepper.shadow()
