# SPDX-License-Identifier: BSD-3-Clause
"""Simulations on nodes that are stopped, looked at, copied and continued end as one that runs through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.machines.node_table import NodeTable
from swftools.machines.requests import ask_of
from swftools.simulator import Schedule, Simulation, simulate
from swftools.simulator.validation.report import validate
from tests.naive.nodes import DECISIONS, jobs_of, simulate_on_nodes
from tests.nodes_drawn import draw_machine, ranges_of

RUNS = [("fcfs", "first-fit"), ("easy", "first-fit"), ("easy", "best-fit"), ("lxf-backfill", "first-fit")]

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

MACHINE = draw_machine("count cores memory / 4 4 80 / 3 8 160", "p:0-4 q:3-6")


def crowd(seed: int, jobs: int = 40, span: int = 60) -> Trace:
    """Return jobs by lot, of which most have to wait."""
    lot = np.random.default_rng(seed)
    run = lot.integers(0, 30, jobs)
    return Trace.from_columns(
        job_number=np.arange(1, jobs + 1),
        submit_time=np.sort(lot.integers(0, span, jobs)),
        run_time=run,
        requested_time=run + lot.integers(1, 10, jobs),
        requested_processors=lot.integers(1, 17, jobs),
    )


def with_waits(trace: Trace, seed: int) -> Trace:
    """Return the jobs, of which a third wait for an earlier one and some think time."""
    lot, count = np.random.default_rng(seed), len(trace)
    before = pd.Series(lot.integers(1, np.maximum(np.arange(count), 2)), dtype="Int64")
    before = before.where((lot.random(count) < 0.4) & (np.arange(count) > 1))
    think = pd.Series(lot.integers(0, 9, count), dtype="Float64").where(before.notna())
    return trace.with_jobs(trace.jobs.assign(preceding_job_number=before, think_time=think))


def check_equal(first: Schedule, second: Schedule) -> None:
    """Check that two schedules are the same, to the nodes of each run."""
    pd.testing.assert_frame_equal(first.segments, second.segments)
    pd.testing.assert_frame_equal(first.jobs, second.jobs)
    assert first.machine is second.machine


@pytest.mark.parametrize(("policy", "placement"), RUNS)
def test_in_pieces(policy: str, placement: str) -> None:
    """However often it is stopped, and looked at, and whichever of two copies goes on."""
    trace = crowd(1)
    whole = simulate(trace, policy, machine=MACHINE, placement=placement)
    assert len(whole) == len(trace)
    simulation = Simulation(trace, policy, machine=MACHINE, placement=placement)
    copies = []
    for until in (-1, 0, 3.5, 10, 10, 31, 60, 90):
        simulation.run(until=until)
        copies.append(simulation.copy())
        simulation.schedule()
    check_equal(simulation.run().schedule(), whole)
    for each in copies:
        check_equal(each.run().schedule(), whole)


def test_in_the_middle() -> None:
    """Who runs and who waits are those of the whole schedule; who has ended has its nodes, and others have none."""
    trace = crowd(2)
    jobs = simulate(trace, "easy", machine=MACHINE).jobs.set_index("job_number")
    whole = simulate(trace, "easy", machine=MACHINE).segments
    simulation = Simulation(trace, "easy", machine=MACHINE)
    assert simulation.nodes is MACHINE
    seen = 0
    for until in (5, 20, 40, 77):
        simulation.run(until=until)
        running = jobs.index[(jobs["start_time"] <= until) & (jobs["end_time"] > until)]
        waiting = jobs.index[(jobs["submit_time"] <= until) & (jobs["start_time"] > until)]
        assert sorted(simulation.running["job_number"]) == sorted(running)
        assert simulation.waiting["job_number"].tolist() == waiting.tolist()
        held = simulation.running.set_index("job_number")["allocated_processors"]
        assert held.sort_index().tolist() == jobs["allocated_processors"][running].sort_index().tolist()
        part = simulation.schedule()
        assert part.is_partial
        ended = whole[whole["end_time"] <= until].reset_index(drop=True)
        by_job = part.segments.sort_values("job_number", ignore_index=True)
        pd.testing.assert_frame_equal(by_job, ended.sort_values("job_number", ignore_index=True))
        seen += len(running) * len(waiting)
    assert seen > 20


def test_a_copy_goes_its_own_way() -> None:
    """Without later jobs those that are there end otherwise; the first simulation does not notice."""
    trace = crowd(3)
    whole = simulate(trace, "easy", machine=MACHINE)
    simulation = Simulation(trace, "easy", machine=MACHINE).run(until=20)
    other = simulation.copy().without_later_jobs().run().schedule()
    assert 5 < len(other) < len(trace)
    assert validate(other, trace=trace).ok
    check_equal(simulation.run().schedule(), whole)


def long_queue() -> Trace:
    """Return 430 jobs, of which nearly all wait at once, in classes that become more and more."""
    lot, count = np.random.default_rng(4), 430
    run = lot.integers(1, 40, count)
    return Trace.from_columns(
        job_number=np.arange(1, count + 1),
        submit_time=np.sort(lot.integers(0, 20, count)),
        run_time=run,
        requested_time=run + lot.integers(0, 20, count),
        requested_processors=lot.integers(1, 33, count),
    )


def naive_runs(trace: Trace, policy: str, table: NodeTable) -> list[tuple[int, float, str]]:
    """Return number, start and nodes of each job by the naive twin."""
    asked, jobs = ask_of(trace, table), trace.jobs
    times = (jobs[name].astype(float).tolist() for name in ("submit_time", "run_time", "requested_time"))
    made = simulate_on_nodes(jobs_of(asked, *times), table, DECISIONS[policy])
    return sorted((job.row + 1, float(job.start or 0.0), ranges_of(job.where)) for job in made)


def runs_of(schedule: Schedule) -> list[tuple[int, float, str]]:
    """Return the same of a schedule."""
    rows = []
    for job, start, ends in zip(
        *(schedule.segments[name] for name in ("job_number", "start_time", "nodes")), strict=True
    ):
        nodes = [node for at in range(0, len(ends), 2) for node in range(ends[at], ends[at + 1] + 1)]
        rows.append((int(job), float(start), ranges_of(nodes)))
    return sorted(rows)


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_a_long_queue(policy: str) -> None:
    """With hundreds of waiting jobs too all is as the naive twin has it, in one run and in pieces."""
    trace = long_queue()
    whole = simulate(trace, policy, machine=MACHINE)
    assert runs_of(whole) == naive_runs(trace, policy, MACHINE)
    simulation = Simulation(trace, policy, machine=MACHINE).run(until=7)
    other = simulation.copy()
    assert len(simulation.run(until=20).waiting) > 256
    check_equal(simulation.run().schedule(), whole)
    check_equal(other.run().schedule(), whole)


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_jobs_that_wait_for_others(policy: str) -> None:
    """They start no sooner than those have ended and their think time is over; in pieces as in one run."""
    trace = with_waits(crowd(5), seed=6)
    whole = simulate(trace, policy, machine=MACHINE)
    jobs, before = whole.jobs.set_index("job_number"), trace.jobs.set_index("job_number")
    waits = before[before["preceding_job_number"].notna()]
    ready = (
        jobs["end_time"].reindex(waits["preceding_job_number"].astype(int)).to_numpy() + waits["think_time"].to_numpy()
    )
    assert (jobs["start_time"][waits.index].to_numpy() >= ready).all()
    assert (ready > waits["submit_time"].to_numpy()).sum() > 5
    assert validate(whole, trace=trace).ok
    ignored = simulate(trace, policy, machine=MACHINE, dependencies="ignore")
    assert (ignored.jobs["start_time"] != whole.jobs["start_time"]).any()
    simulation = Simulation(trace, policy, machine=MACHINE)
    for until in (4, 25, 50, 80):
        copy = simulation.run(until=until).copy()
        check_equal(copy.run().schedule(), whole)
    check_equal(simulation.run().schedule(), whole)


def test_dependent_jobs_are_told_as_on_a_pool() -> None:
    """On nodes of one core each, which jobs have alone, as on a pool of as many processors."""
    trace = with_waits(crowd(7), seed=8)
    table = draw_machine("count / 16", "p:0-15")
    for policy in ("fcfs", "easy"):
        pool, nodes = simulate(trace, policy, processors=16), simulate(trace, policy, machine=table)
        columns = [name for name in pool.jobs if name in nodes.jobs]
        assert len(columns) > 10
        pd.testing.assert_frame_equal(pool.jobs[columns], nodes.jobs[columns])


def take_out_nobody_known(simulation: Simulation) -> object:
    """Take out a job that there is not."""
    return simulation.without(pd.DataFrame({"job_number": [4711]}))


def go_on_to_nowhere(simulation: Simulation) -> object:
    """Go on to a time that is none."""
    return simulation.run(until=float("nan"))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (take_out_nobody_known, "job 4711, occurrence 0, is not among the jobs"),
        (go_on_to_nowhere, "until=nan is neither a time (s) nor None, which is the end"),
    ],
)
def test_what_is_refused_changes_nothing(what: Callable[[Simulation], object], said: str) -> None:
    """The simulation goes on as if nobody had asked."""
    trace = crowd(9)
    simulation = Simulation(trace, "easy", machine=MACHINE).run(until=20)
    with pytest.raises(ParameterError) as caught:
        what(simulation)
    assert str(caught.value) == said
    check_equal(simulation.run().schedule(), simulate(trace, "easy", machine=MACHINE))
