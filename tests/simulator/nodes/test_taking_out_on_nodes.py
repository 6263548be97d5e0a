# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are taken out of a simulation on nodes: what is left goes on as the naive twin has it without them."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.machines import requests
from swftools.machines.requests import ask_of
from swftools.simulator import Simulation, delays_from_submission, simulate
from swftools.simulator.validation.report import validate
from tests.examples import by_day, pairs
from tests.naive.nodes import DECISIONS, Placement, jobs_of, simulate_on_nodes
from tests.nodes_drawn import Workload, draw_machine, draw_workload, random_workload, ranges_of
from tests.simulator.nodes.test_engine import HEADS, PLACEMENTS, log_of, starts_and_nodes, with_requests
from tests.simulator.nodes.test_going_on import MACHINE, check_equal, crowd, runs_of

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

POLICIES = [name for name in DECISIONS if "rank" not in name and name not in ("weighted-priority", "prio-fifo")]


def left_naively(
    workload: Workload, policy: str, placement: str, heads: str, gone: set[int], until: float
) -> list[tuple[int, float, str]]:
    """Return job, start and nodes of the jobs that are left, by the naive twin."""
    jobs = simulate_on_nodes(
        jobs_of(workload.asked, workload.submit, workload.run, workload.request, workload.rank),
        workload.table,
        DECISIONS[policy],
        placement=Placement.read(placement),
        heads=heads,
        gone=gone,
        gone_after=until,
    )
    return sorted((job.row, float(job.start or 0.0), ranges_of(job.where)) for job in jobs)


def check_by_lot(
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    placement: str,
    heads: str,
    seed: int,
    *,
    compiled: bool = False,
    one_that_waits: bool = False,
) -> int:
    """Take some jobs out at some time, of a machine by lot, or one that waits; return how many ran or waited then."""
    workload = with_requests(random_workload(seed, most_jobs=24))
    trace, lot = log_of(workload), random.Random(seed)
    gone = {row for row in range(len(trace)) if lot.random() < 0.3}
    until = lot.choice([-1.0, *(workload.submit[row] for row in sorted(gone))]) + lot.choice([0, 0, 1, 5])
    with monkeypatch.context() as patch:
        patch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
        options = {"machine": workload.table, "placement": placement, "heads": heads, "overrun": "run-on"}
        simulation = Simulation(trace, policy, compiled=compiled, **options).run(until=until)
        before = simulation.copy()
        there = pd.concat([simulation.waiting, simulation.running])["job_number"]
        if one_that_waits and len(simulation.waiting):
            gone = {int(lot.choice(simulation.waiting["job_number"].tolist()))}
        mask = np.isin(np.arange(len(trace)), list(gone))
        simulation.without(mask).run()
        whole = simulate(trace, policy, compiled=compiled, **options)
    want = left_naively(workload, policy, placement, heads, gone, until)
    assert starts_and_nodes(simulation.schedule()) == want, (policy, placement, heads, seed)
    check_equal(before.run().schedule(), whole)  # what a copy went on with is its own
    return int(there.isin(list(gone)).sum())


@pytest.mark.parametrize(("policy", "placement"), pairs(POLICIES, PLACEMENTS, 4))
def test_as_the_naive_twin(policy: str, placement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits, runs or is to come; the others have the starts and nodes that they would have without them."""
    first, place = POLICIES.index(policy), PLACEMENTS.index(placement)
    check_by_lot(monkeypatch, policy, placement, HEADS[(first + place) % 2], seed=11 * first + place)


@pytest.mark.parametrize("first", by_day(range(300, 340, 8), 1))
@pytest.mark.parametrize("policy", ["easy", "easy:reservations=2", "easy:reservations=4,backfill_order=sjf"])
def test_one_that_waits(policy: str, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had reserved is in nobody's way, though nobody has started or ended since."""
    for seed in range(first, first + 8):
        check_by_lot(monkeypatch, policy, PLACEMENTS[seed % len(PLACEMENTS)], "partition", seed, one_that_waits=True)


def test_who_is_taken_out_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those by lot some run, or wait, when they are taken out; so the others gain by it."""
    assert sum(check_by_lot(monkeypatch, "easy", "best-fit", "partition", seed) for seed in range(200, 208)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf-backfill", "lxf-backfill"])
def test_as_the_naive_twin_compiled(policy: str, placement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is compiled, on many machines."""
    for seed in range(1000, 1060):
        check_by_lot(monkeypatch, policy, placement, HEADS[seed % 2], seed, compiled=True)


def test_who_waits_and_who_runs() -> None:
    """Who runs gives back its nodes, and who waits with a reservation keeps them from nobody."""
    trace = crowd(2)
    for what in ("running", "waiting"):
        simulation = Simulation(trace, "easy", machine=MACHINE, compiled=False).run(until=20)
        out = getattr(simulation, what)
        assert len(out) > 0
        simulation.without(out)
        assert what == "running" or not len(simulation.waiting)
        schedule = simulation.run().schedule()
        assert len(schedule) == len(trace) - len(out)
        assert schedule.is_partial
        assert sorted(schedule.excluded["job_number"]) == sorted(out["job_number"])
        assert validate(schedule, trace=trace).ok


def test_by_hand() -> None:
    """A holds both nodes, B waits for them, C for one: without A B starts at once, and C when B has ended."""
    times = {"submit_time": [0, 1, 2], "run_time": [9, 5, 2], "requested_time": [9, 5, 2]}
    trace = Trace.from_columns(job_number=[1, 2, 3], requested_processors=[8, 8, 4], **times)
    table = draw_machine("count cores / 2 4", "p:0-1")
    simulation = Simulation(trace, "easy", machine=table, compiled=False).run(until=3)
    simulation.without(pd.DataFrame({"job_number": [1]}))
    assert simulation.running["job_number"].tolist() == [2]
    assert runs_of(simulation.run().schedule()) == [(2, 2.0, "0-1"), (3, 7.0, "0")]


def test_a_reservation_goes_with_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """D keeps from node 1 what C has reserved from 10 on; without C, at 3, it starts there, and ends before B's 20."""
    workload = draw_workload(
        "count cores / 2 2",
        "p:0-1 q:1",
        """
        job submit run nodes cores partition
        E   0      20  1     2     p
        A   0      10  1     1     q
        B   1      9   2     2     p
        C   2      5   1     2     q
        D   3      15  1     1     p
        """,
    )
    monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
    simulation = Simulation(log_of(workload), "easy", machine=workload.table, compiled=False).run(until=3)
    assert simulation.waiting["job_number"].tolist() == [2, 3, 4]
    simulation.without(pd.DataFrame({"job_number": [3]}))
    assert simulation.now == 3.0
    assert simulation.waiting["job_number"].tolist() == [2]
    rows = runs_of(simulation.run().schedule())
    assert rows == [(0, 0.0, "0"), (1, 0.0, "1"), (2, 20.0, "0-1"), (4, 3.0, "1")]


def test_without_those_that_are_to_come() -> None:
    """It is the simulation of the others, from the first on; all have what they ask for themselves."""
    trace = crowd(4)
    is_out = np.arange(len(trace)) % 3 == 1
    simulation = Simulation(trace, "easy", machine=MACHINE, compiled=False).without(is_out)
    assert len(np.unique(ask_of(trace, MACHINE).nodes)) > 1
    want = simulate(trace.with_jobs(trace.jobs[~is_out]), "easy", machine=MACHINE, compiled=False)
    assert runs_of(simulation.run().schedule()) == runs_of(want)


def test_delays_by_later_jobs() -> None:
    """Under EASY the start without later jobs is that of a simulation of the jobs up to it."""
    trace = crowd(6, jobs=24)
    found = delays_from_submission(trace, "easy", machine=MACHINE, compiled=False)
    assert (found["delay"] != 0).any()
    for number, want in zip(found["job_number"], found["start_without_later"], strict=True):
        up_to = trace.with_jobs(trace.jobs[(trace.jobs["job_number"] <= number).to_numpy(dtype=bool)])
        starts = simulate(up_to, "easy", machine=MACHINE, compiled=False).jobs.set_index("job_number")["start_time"]
        assert starts[number] == want
