# SPDX-License-Identifier: BSD-3-Clause
"""Simulations on nodes that are decided on from outside, copied and forked: what comes of them is what would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools import Schedule, Trace, simulate
from swftools.errors import ParameterError, PolicyError
from swftools.machines import requests
from swftools.simulator import Stepper
from tests.interpreted import all_interpreted
from tests.nodes_drawn import Workload, draw_machine, draw_workload, random_workload
from tests.simulator.nodes.test_away import outages_by_lot
from tests.simulator.nodes.test_engine import log_of

RUNS = [
    *(("fcfs", "first-fit"), ("easy", "first-fit"), ("easy", "best-fit"), ("easy", "contiguous"), ("sjf", "worst-fit")),
    *(("lxf-backfill", "lowest-weight"), ("easy:reservations=3", "gpu-packing"), ("prio-fifo", "fewest-switches")),
    *(("weighted-priority", "first-fit:sparing=false"), ("conservative-replanned", "first-fit")),
    *(("conservative", "first-fit"), ("conservative-fixed", "worst-fit")),
]
"""Policies that a light copy takes along, each with a placement."""

Made = Callable[..., Stepper]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return what steps through a workload, whose jobs ask for what stands there."""

    def step(workload: Workload, policy: str = "easy", placement: str = "first-fit", **options: Any) -> Stepper:
        monkeypatch.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
        given = {"machine": workload.table, "placement": placement, "overrun": "run-on", "compiled": False} | options
        return Stepper(log_of(workload), policy, **given)

    return step


def runs_of(schedule: Schedule) -> dict[int, tuple[float, float, list[int]]]:
    """Return start, end and nodes of each job."""
    segments = schedule.segments
    columns = (segments[name] for name in ("job_number", "start_time", "end_time", "nodes"))
    return {job: (start, end, list(nodes)) for job, start, end, nodes in zip(*columns, strict=True)}


def look_ahead(stepper: Stepper, every: int) -> tuple[dict[Any, Any], list[tuple[float, dict[Any, Any]]]]:
    """Let the policy decide to the end; return what came of it, and of copies and forks on the way."""
    ahead, turn = [], 0
    while stepper.advance():
        turn += 1
        if turn % every == 0:
            fork = stepper.fork(None)
            ahead += [(stepper.now, runs_of(each.finish())) for each in (stepper.copy(), fork.fork(None), fork)]
        stepper.decide()
    return runs_of(stepper.schedule()), ahead


def check_ahead(stepper: Stepper, batch: Schedule, every: int, compiled: bool = False) -> int:
    """Check that it comes to the same in steps, and from wherever a copy or a fork is; return from how many."""
    with nullcontext() if compiled else all_interpreted():
        stepped, ahead = look_ahead(stepper, every)
    whole = runs_of(batch)
    assert stepped == whole
    for now, runs in ahead:
        assert runs.items() <= whole.items()
        assert all(end <= now for job, (_, end, _) in whole.items() if job not in runs)
    return len(ahead)


def cases(count: int) -> Iterator[tuple[int, str, str, str]]:
    """Yield machines by lot, each with a policy, a placement, and whom it protects."""
    for seed in range(count):
        policy, placement = RUNS[seed % len(RUNS)]
        yield 9000 + seed, policy, placement, ("partition", "machine")[seed // len(RUNS) % 2]


def check_case(made: Made, case: tuple[int, str, str, str], compiled: bool) -> int:
    """Check one machine by lot."""
    seed, policy, placement, heads = case
    workload = random_workload(seed, most_jobs=40 if compiled else 25)
    options = {"heads": heads, "compiled": compiled}
    stepper = made(workload, policy, placement, **options)
    batch = simulate(log_of(workload), policy, machine=workload.table, placement=placement, overrun="run-on", **options)
    return check_ahead(stepper, batch, 3 if compiled else 7, compiled)


def test_in_steps_copied_and_forked(made: Made) -> None:
    """On machines by lot all jobs start when and where they do in one go."""
    assert sum(check_case(made, case, compiled=False) for case in cases(24)) > 60


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_in_steps_copied_and_forked_compiled(made: Made, part: int) -> None:
    """The same, compiled, on 500 machines."""
    assert sum(check_case(made, case, compiled=True) for case in list(cases(500))[part::10]) > 150


@pytest.mark.parametrize("seed", range(8))
def test_where_nodes_go_away(made: Made, seed: int) -> None:
    """The same where nodes are drained, down or reserved; who fits, and can start, is looked at with that."""
    policy, placement = RUNS[(1, 0, 2, 6)[seed % 4]]
    workload = random_workload(8800 + seed, most_jobs=25)
    table = replace(workload.table, outages=outages_by_lot(seed, len(workload.table)))
    workload = replace(workload, table=table)
    options = {"on_outage": "requeue", "heads": ("partition", "machine")[seed % 2]}
    stepper = made(workload, policy, placement, **options)
    with all_interpreted():
        try:
            whole = runs_of(stepper.copy().finish())
        except PolicyError:
            pytest.skip("a node never returns")
        ahead, turn = [], 0
        while stepper.advance():
            turn += 1
            fits = stepper.fitting.tolist()
            for job in fits[:2]:
                each = stepper.fork()
                (there,) = np.flatnonzero(each.origin == job)
                each.start(int(there))
            for job in set(stepper.waiting.tolist()) - set(fits):
                with pytest.raises(PolicyError, match="does not fit on nodes now"):
                    stepper.copy().start(job)
            if turn % 5 == 0:
                ahead += [(stepper.now, runs_of(each.finish())) for each in (stepper.copy(), stepper.fork(None))]
            stepper.decide()
    assert runs_of(stepper.schedule()) == whole
    for _, runs in ahead:
        assert runs.items() <= whole.items()


TWO_KINDS = ("count cores / 2 4 / 2 8", "p:0-1 q:1-3")


def test_whoever_fits(made: Made) -> None:
    """Whoever fits is listed, in the order of the queue; a narrow job, and one of fewer nodes, may go ahead."""
    jobs = """
        job submit run nodes cores partition / A 0 9 1 4 p / B 0 9 2 3 p / C 0 9 2 8 q / D 0 5 1 2 p,q / E 0 5 3 1 q
    """
    stepper = made(draw_workload(*TWO_KINDS, jobs))
    with all_interpreted():
        assert stepper.advance()
        assert stepper.fitting.tolist() == [0, 1, 2, 3, 4]
        assert stepper.start(0).fitting.tolist() == [2, 3, 4]
        assert stepper.start(2).fitting.tolist() == [3]
        assert stepper.start(3).fitting.tolist() == []
        assert [stepper.nodes_of(job).tolist() for job in range(5)] == [[0], [], [2, 3], [1], []]
        stepper.advance()
        assert stepper.now == 5.0
        assert runs_of(stepper.finish()) == {
            0: (0, 9, [0, 0]),
            1: (9, 18, [0, 1]),
            2: (0, 9, [2, 3]),
            3: (0, 5, [1, 1]),
            4: (9, 14, [1, 3]),
        }


def test_reservations_are_made_anew_when_somebody_starts(made: Made) -> None:
    """C, started from outside, delays the reservation of B, for whose nodes D is then early enough."""
    jobs = "job submit run nodes / A 0 10 1 / B 1 5 3 / C 2 30 1 / D 3 20 1"
    stepper = made(draw_workload("count / 3", "p:0-2 q:2", jobs), heads="partition")
    with all_interpreted():
        while stepper.advance() and stepper.now < 3:
            stepper.decide()
        assert stepper.waiting.tolist() == [1, 2, 3]
        assert runs_of(stepper.start(2).finish()) == {
            0: (0, 10, [0, 0]),
            2: (3, 33, [1, 1]),
            3: (3, 23, [2, 2]),
            1: (33, 38, [0, 2]),
        }


@pytest.mark.parametrize("nodes", [[3], "n3", np.array([3])])
def test_on_chosen_nodes(made: Made, nodes: Any) -> None:
    """A job may be put on nodes by their numbers, or by their names, where the placement would take others."""
    stepper = made(
        draw_workload(*TWO_KINDS, "job submit run cores partition / A 0 9 2 q / B 0 9 8 q"), "easy", "best-fit"
    )
    with all_interpreted():
        assert stepper.advance()
        stepper.start(0, nodes)
        assert stepper.nodes_of(0).tolist() == [3]
        assert stepper.start(1).nodes_of(1).tolist() == [2]


@pytest.mark.parametrize("placement", ["first-fit", "lowest-weight"])
def test_on_chosen_nodes_in_another_order(made: Made, placement: str) -> None:
    """Nodes are told by their numbers, whatever the order in which the placement looks at them."""
    workload = draw_workload("cores weight / 4 9 / 4 5 / 4 1", "p:0-2", "job submit run nodes / A 0 9 2")
    stepper = made(workload, "easy", placement)
    with all_interpreted():
        stepper.advance()
        assert stepper.start(0, [2, 0]).nodes_of(0).tolist() == [0, 2]
        assert runs_of(stepper.finish()) == {0: (0, 9, [0, 0, 2, 2])}


@pytest.mark.parametrize(
    ("nodes", "error", "said"),
    [
        ([0], ParameterError, "nodes=[0]: give 2 different ones, as many as job 1 asks for"),
        ([2, 2], ParameterError, "nodes=[2, 2]: give 2 different ones, as many as job 1 asks for"),
        ([0, 2], ParameterError, "job 1 may not run there, by its partition or the features it asks for"),
        ([2, 4], ParameterError, "node 4 is not a whole number from 0 to 3"),
        ("n[2-9]", ParameterError, "the machine has no node n4"),
        ([2, 3], PolicyError, "started job 1 of the queue"),
    ],
)
def test_wrong_nodes(made: Made, nodes: Any, error: type[Exception], said: str) -> None:
    """Nodes that there are not, that are no choice of the job, or are taken, are refused, and nothing is changed."""
    jobs = "job submit run nodes cores partition / A 0 9 1 4 q / B 0 9 2 8 q"
    stepper = made(draw_workload(*TWO_KINDS, jobs))
    with all_interpreted():
        stepper.advance()
        stepper.start(0, [2])
        held = stepper._machine.nodes.held.copy()  # type: ignore[attr-defined]
        with pytest.raises(error) as caught:
            stepper.start(1, nodes)
        assert said in str(caught.value)
        assert (stepper._machine.nodes.held == held).all()  # type: ignore[attr-defined]
        assert stepper.waiting.tolist() == [1]
        assert runs_of(stepper.finish())[1] == (9, 18, [2, 3])


def test_what_a_pool_alone_can() -> None:
    """Acts that change how many processors a job has, and nodes on a pool, are refused in one sentence."""
    trace = Trace.from_columns(submit_time=[0], run_time=[5], requested_processors=[1])
    stepper = Stepper(trace, "easy", machine=draw_machine("cores / 4", "p:0"), compiled=False)
    with all_interpreted():
        stepper.advance()
        as_it_asks, by_outages = "on nodes a job runs as it asks to", "on nodes who runs is stopped by outages"
        for act, said in (
            (lambda: stepper.start_on(0, 2), as_it_asks),
            (lambda: stepper.preempt(0), by_outages),
            (lambda: stepper.resize(0, 2), as_it_asks),
        ):
            with pytest.raises(PolicyError, match=rf"\w+\(\) is of a pool of processors; {said}"):
                act()
        with pytest.raises(ParameterError, match="there is no such job"):
            stepper.start(5, [0])
        pool = Stepper(trace, "easy", 4, compiled=False)
        pool.advance()
        with pytest.raises(ParameterError, match="nodes= is of a machine of nodes"):
            pool.start(0, [0])
        assert pool.fitting.tolist() == [0]


def test_hold_and_fill(made: Made) -> None:
    """A held job comes again; whom a decision from outside protects has its nodes when they are free."""
    jobs = "job submit run nodes cores / A 0 10 1 4 / B 0 10 2 4 / C 0 9 1 4 / D 0 20 1 4"
    stepper = made(draw_workload("count cores / 2 4", "p:0-1", jobs), heads="machine")
    with all_interpreted():
        stepper.advance()
        stepper.start(0).hold(3, 2.0).start_or_fill(1)
        assert stepper.running.tolist() == [2, 0]
        assert stepper.waiting.tolist() == [1]
        stepper.advance(to="event")
        assert (stepper.now, stepper.waiting.tolist(), stepper.fitting.tolist()) == (2.0, [1, 3], [])
        assert {job: start for job, (start, _, _) in runs_of(stepper.finish()).items()} == {0: 0, 1: 10, 2: 0, 3: 20}


@pytest.mark.parametrize("heads", ["partition", "machine"])
def test_filling_spares_what_is_reserved(made: Made, heads: str) -> None:
    """Beside a job that waits for both large nodes, a long job goes ahead on a small one only."""
    jobs = "job submit run nodes cores partition / A 0 10 1 8 q / B 0 10 2 8 q / C 0 20 1 4 q / D 0 20 1 4 p,q"
    stepper = made(draw_workload(*TWO_KINDS, jobs), heads=heads)
    with all_interpreted():
        stepper.advance()
        stepper.start(0, [2]).start_or_fill(1)
        assert [stepper.nodes_of(job).tolist() for job in (2, 3)] == [[1], [0]]
        assert runs_of(stepper.finish())[1] == (10, 20, [2, 3])


def test_what_is_reserved_survives_what_cannot_be(made: Made) -> None:
    """A job that cannot start keeps the nodes that a plan has for it."""
    jobs = "job submit run nodes cores / A 0 10 1 4 / B 0 10 2 4 / C 1 5 1 4"
    stepper = made(draw_workload("count cores / 2 4", "p:0-1", jobs), "conservative")
    with all_interpreted():
        stepper.advance()
        stepper.decide().advance()
        held = stepper._machine.nodes.held.copy()  # type: ignore[attr-defined]
        assert held[1:3].tolist() == [0, 1]
        with pytest.raises(PolicyError, match="does not fit on nodes now"):
            stepper.start(1)
        assert (stepper._machine.nodes.held == held).all()  # type: ignore[attr-defined]


def test_a_copy_where_a_job_has_just_ended_early(made: Made) -> None:
    """Its plan moves reservations forward at this decision, as the whole one does."""
    stepper = made(
        draw_workload("cores / 4", "p:0", "job submit run request cores / A 0 4 10 4 / B 1 5 5 4"), "conservative"
    )
    with all_interpreted():
        while stepper.advance() and stepper.now < 4.0:
            stepper.decide()
        assert stepper.now == 4.0
        assert runs_of(stepper.fork().finish()) == {1: (4, 9, [0, 0])}


def test_a_fork_has_room_for_all_nodes() -> None:
    """However many nodes its jobs ask for."""
    table = draw_machine("count cores / 300 2", "p:0-299")
    trace = Trace.from_columns(
        job_number=np.arange(130),
        submit_time=np.repeat([0, 1], 65),
        run_time=np.full(130, 7),
        requested_processors=np.tile([600, 1, 2, 3, 40], 26),
    )
    stepper = Stepper(trace, "easy", machine=table)
    stepper.advance()
    stepper.decide()
    stepper.advance()
    assert runs_of(stepper.fork(None).finish()).items() <= runs_of(stepper.finish()).items()
