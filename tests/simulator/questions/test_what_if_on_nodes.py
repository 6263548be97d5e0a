# SPDX-License-Identifier: BSD-3-Clause
"""A queue on nodes goes on as the simulation that it was taken from, and tells when other jobs would start."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import MachineDescription
from swftools.errors import ParameterError
from swftools.machines.node_table import NodeTable
from swftools.simulator import Stepper, what_if
from tests.drawn import rows_of
from tests.interpreted import all_interpreted
from tests.nodes_drawn import Workload, draw_machine, random_workload
from tests.simulator.nodes.test_engine import log_of

MACHINE = draw_machine("count cores memory gpus / 2 4 64 0 / 2 8 128 2", "p:0-1 q:1-3")

ASKED = ("requested_nodes", "requested_cores_per_node", "requested_memory_per_node", "requested_gpus_per_node")


def frame(table: str) -> pd.DataFrame:
    """Read jobs of a queue; ``.`` is not told."""
    headings, *rows = rows_of(table)
    names = {"time": "requested_time", "part": "partition", "cores": "requested_cores_per_node"}
    names |= {"many": "requested_nodes", "gpus": "requested_gpus_per_node", "memory": "requested_memory_per_node"}
    columns: dict[str, list[Any]] = {names.get(heading, heading): [] for heading in headings}
    for row in rows:
        for heading, cell in zip(headings, row, strict=True):
            is_text = heading in ("part", "nodes", "name")
            columns[names.get(heading, heading)].append((None if cell == "." else cell) if is_text else float(cell))
    return pd.DataFrame(columns)


NOBODY = frame("name processors time waited").iloc[:0]


def answers(running: str, waiting: str, *jobs: dict[str, Any], machine: NodeTable = MACHINE, **options: Any) -> Any:
    """Return wait and nodes of each job."""
    waits = frame(waiting) if waiting else NOBODY
    with all_interpreted():
        found = what_if(frame(running), waits, jobs, machine=machine, **options)
    return list(zip(found["wait"], found["nodes"], strict=True))


RUNNING = "name processors time elapsed nodes part / a 8 100 40 n2 q / b 4 100 10 n[0-1] p / c 6 50 0 n3 q"


def test_where_there_is_room() -> None:
    """Two cores are free on each of nodes 0, 1 and 3: room for one job of two, and in sum for more than on any node."""
    two, three, five = ({"processors": many, "requested_time": 10.0, "partition": "q"} for many in (2, 3, 5))
    assert answers(RUNNING, "", two, three, five) == [(0, 1), (50, 1), (50, 1)]
    assert answers(RUNNING, "", {**three, "partition": "p"}) == [(90, 1)]
    wide = {"requested_nodes": 3, "requested_cores_per_node": 2, "requested_time": 10.0, "partition": "q"}
    assert answers(RUNNING, "", wide) == [(60, 3)]


def test_gpus_memory_and_whole_nodes() -> None:
    """What running jobs hold of memory and GPUs counts, where it is told; a whole node is one on which nothing runs."""
    running = "name processors time elapsed nodes part gpus memory / a 1 100 40 n2 q 2 1 / b 1 90 40 n3 q 0 100"
    job = {"requested_nodes": 1, "requested_cores_per_node": 1, "requested_time": 10.0, "partition": "q"}
    assert answers(running, "", {**job, "requested_gpus_per_node": 2}) == [(0, 1)]
    assert answers(running, "", {**job, "requested_gpus_per_node": 2, "requested_memory_per_node": 30}) == [(50, 1)]
    assert answers(running, "", {**job, "is_exclusive": True}) == [(0, 1)]
    assert answers(running, "", {**job, "is_exclusive": True, "requested_cores_per_node": 5}) == [(50, 1)]


def test_behind_those_that_wait() -> None:
    """A job with a priority stands before those of a lower one."""
    waiting = "name processors time waited priority part / w 16 20 7 500 q / v 8 20 3 400 q"
    job = {"processors": 8, "requested_time": 30.0, "partition": "q"}
    assert answers(RUNNING, waiting, job) == [(80, 1)]  # behind w, on both nodes of 8 cores from 60 to 80, beside v
    assert answers(RUNNING, waiting, {**job, "priority": 450.0}) == [(80, 1)]
    assert answers(RUNNING, waiting, {**job, "priority": 900.0}) == [(50, 1)]
    assert answers(RUNNING, waiting, {**job, "priority": 500.0}) == [(80, 1)]  # behind its equals
    assert answers(RUNNING, waiting, {**job, "requested_time": 10.0}) == [(50, 1)]


def test_cores_that_are_spread_unevenly() -> None:
    """Cores by node are those that are told; else as even as there is room; the rows of one job end together."""
    running = frame("name processors time elapsed nodes part / a 5 100 0 n[0-1] p / b 7 100 50 n[2-3] q")
    with all_interpreted():
        stepper = Stepper.from_queue(running, NOBODY, machine=MACHINE)
        cores = {tuple(stepper.nodes_of(job)): int(stepper.allocated[job]) for job in stepper.running.tolist()}
        assert cores == {(0,): 3, (1,): 2, (2,): 4, (3,): 3}
        told = running.assign(node_cores=[(4, 1), (1, 6)])
        stepper = Stepper.from_queue(told, NOBODY, machine=MACHINE)
        cores = {tuple(stepper.nodes_of(job)): int(stepper.allocated[job]) for job in stepper.running.tolist()}
        assert cores == {(0,): 4, (1,): 1, (2,): 1, (3,): 6}
        assert stepper.advance(to="event")
        assert sorted(stepper.expected_end[stepper.running]) == [150.0, 150.0]
    full = frame("name processors time elapsed nodes part / a 4 100 9 n1 q / b 7 100 5 n[1-2] q")
    with all_interpreted():
        with pytest.raises(ParameterError, match="job b runs on node n1, which has no room for it beside the others"):
            Stepper.from_queue(full.assign(node_cores=[(4,), (1, 6)]), NOBODY, machine=MACHINE)
        stepper = Stepper.from_queue(full.assign(processors=[3, 7]), NOBODY, machine=MACHINE)
        held = [(stepper.nodes_of(job).tolist(), int(stepper.allocated[job])) for job in stepper.running.tolist()]
        assert sorted(held) == [([1], 1), ([1], 3), ([2], 6)]


THREADS = draw_machine("count cores / 2 4", "p:0-1")


def test_threads() -> None:
    """Where nodes have several threads a core, a queue counts these."""
    table = NodeTable(
        *(getattr(THREADS, name) for name in ("names", "kind", "kinds", "cores", "memory", "gpus", "weight")),
        THREADS.partitions,
        threads=np.full(2, 2),
    )
    running = "name processors time elapsed nodes / a 5 100 0 n0"
    jobs = [{"processors": many, "requested_time": 10.0} for many in (2, 8, 9)]
    assert answers(running, "", *jobs, machine=table) == [(0, 1), (0, 1), (100, 2)]


@pytest.mark.parametrize(
    ("running", "job", "said"),
    [
        (
            "name processors time elapsed nodes / a 4 9 1 m7",
            {},
            "job a runs on node m7, which the machine does not have",
        ),
        ("name processors time elapsed nodes / a 4 9 1 n[1", {}, "job a: its nodes cannot be read: 'n[1' is no list"),
        ("name processors time elapsed nodes / a 9 9 1 n2", {}, "job a runs on node n2, which has no room for it"),
        (
            "name processors time elapsed gpus nodes / a 4 9 1 3 n2",
            {},
            "no room for it beside the others that run there (2 G",
        ),
        (RUNNING, {"processors": 3, "requested_time": 0.0}, "requested_time is not above 0"),
        (RUNNING, {"processors": 3}, "give requested_time, and processors, requested_nodes or requested_gpus"),
        (RUNNING, {"processors": 2.5, "requested_time": 5.0}, "processors is not a whole number from 1 on"),
        (
            RUNNING,
            {"processor": 3, "requested_time": 5.0},
            "processor is not one of: requested_time, priority, processors",
        ),
        (RUNNING, {"processors": 3, "requested_time": 5.0, "priority": 7}, "the jobs that wait have no priorities"),
        (
            RUNNING,
            {"requested_nodes": 5, "requested_time": 5.0},
            "it could never run on this machine: asks for more nodes",
        ),
        (
            RUNNING,
            {"processors": 3, "requested_time": 5.0, "partition": "r"},
            "a partition that the machine does not have: r",
        ),
    ],
)
def test_bad_input(running: str, job: dict[str, Any], said: str) -> None:
    """One sentence each, before anything is simulated."""
    waiting = "name processors time waited part / w 16 20 7 q"
    with pytest.raises(ParameterError, match=re.escape(said)):
        answers(running, waiting, job or {"processors": 1, "requested_time": 5.0})


def test_two_machines() -> None:
    """Options of the other kind of machine are refused."""
    job = {"processors": 1, "requested_time": 5.0}
    for options, said in (
        ({"processors": 4}, "processors= and machine= are both given"),
        ({"away": [{"processors": 1, "after": 5.0}]}, "away= counts processors of a pool"),
    ):
        with pytest.raises(ParameterError, match=re.escape(said)):
            what_if(frame(RUNNING), NOBODY, [job], machine=MACHINE, **options)
    with pytest.raises(ParameterError, match=re.escape("placement= is of a machine of nodes; give machine= too")):
        what_if(frame(RUNNING), NOBODY, [job], 30, placement="best-fit")
    with pytest.raises(ParameterError, match="give processors=, the size of the machine, or machine="):
        what_if(frame(RUNNING), NOBODY, [job])


def test_jobs_that_could_never_run_are_counted() -> None:
    """Those that wait, and ask for more than there is, are left out; the others are not held up."""
    waiting = frame("name processors time waited part / w 64 20 7 p / v 4 20 3 p")
    with all_interpreted():
        found = what_if(frame(RUNNING), waiting, [{"processors": 1, "requested_time": 9.0}], machine=MACHINE)
    assert found.attrs["left_out"] == {"asks for more cores on a node than any node of its partition has": 1}
    assert found["behind"].tolist() == [0]


# ---------------------------------------------------------------- as the simulation from which it is taken


def told_of(stepper: Stepper, workload: Workload) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return who runs and who waits as a batch system would tell it."""
    asked, names, frames = workload.asked, workload.table.names, []
    for jobs in (stepper.running.tolist(), stepper.waiting.tolist()):
        rows = [int(stepper.job_number(job)) for job in jobs]
        frames.append(
            pd.DataFrame(
                {
                    "job_number": rows,
                    "processors": np.maximum(asked.nodes[rows] * asked.cores[rows], 1),
                    "requested_time": stepper.requested_time[jobs],
                    "partition": [
                        workload.table.partitions[asked.places[asked.place[row]].partitions[0]].name for row in rows
                    ],
                    "is_exclusive": asked.is_exclusive[rows],
                    "priority_rank": [workload.rank[row] for row in rows],
                    **dict(
                        zip(
                            ASKED,
                            (asked.nodes[rows], asked.cores[rows], asked.memory[rows], asked.gpus[rows] / 1000),
                            strict=True,
                        )
                    ),
                }
            )
        )
    running, waiting = frames
    machine = stepper._machine
    running["elapsed"] = stepper.now - machine.start_time[stepper.running]
    running["nodes"] = [",".join(names[node] for node in stepper.nodes_of(job)) for job in stepper.running.tolist()]
    waiting["waited"] = stepper.now - stepper.submit_time[stepper.waiting]
    return running, waiting


@pytest.mark.parametrize("seed", range(12))
def test_it_goes_on_as_before(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue in the middle of a simulation, told as a batch system does, has the future that it had there."""
    from swftools.machines import requests  # noqa: PLC0415 (is patched)

    workload = random_workload(7000 + seed, is_plain=True, most_jobs=30)
    policy, heads = ("easy", "fcfs", "conservative", "sjf")[seed % 4], ("partition", "machine")[seed % 2]
    options: dict[str, Any] = {"machine": workload.table, "heads": heads, "compiled": False}
    trace = log_of(workload)
    trace = trace.with_jobs(trace.jobs.assign(run_time=trace.jobs["requested_time"].clip(lower=1)))
    trace = trace.with_jobs(trace.jobs.assign(requested_time=trace.jobs["run_time"]))
    with all_interpreted():
        with monkeypatch.context() as patched:
            patched.setattr(requests, "ask_of", lambda trace, table, **others: workload.asked)
            stepper = Stepper(trace, policy, **options)
        while stepper.advance() and stepper.submit_time[len(trace) // 2] != stepper.submit_time[len(trace) // 2]:
            stepper.decide()
        running, waiting = told_of(stepper, workload)
        from_queue = Stepper.from_queue(running, waiting, policy=policy, now=stepper.now, **options)
        rows = pd.concat([running["job_number"], waiting["job_number"]]).tolist()
        whole = stepper.copy()
        whole._simulation.without_later_jobs()
        want = whole.finish().jobs.set_index("job_number")["start_time"].loc[waiting["job_number"]]
        got = from_queue.finish().jobs.set_index("job_number")["start_time"].loc[waiting["job_number"]]
    assert len(rows) == len(running) + len(waiting)
    assert got.to_dict() == want.to_dict()


# ---------------------------------------------------------------- nodes that are away


def away_answers(
    outage: dict[str, Any], *jobs: dict[str, Any], now: float | None = None, **options: Any
) -> list[float]:
    """Return the waits of jobs on two nodes of 4 cores, of which one has an outage; one core of n1 is in use."""
    machine = MachineDescription.from_mapping(
        {"nodes": [{"kind": "a", "names": "n[1-2]", "cores": 4}], "outages": [{"nodes": "n2", **outage}]}
    )
    running = frame("name processors time elapsed nodes / a 1 100 40 n1")
    with all_interpreted():
        return what_if(running, NOBODY, jobs, machine=machine, now=now, **options)["wait"].tolist()


THREE, FOUR = ({"processors": many, "requested_time": 10.0} for many in (3, 4))
BOTH = {"requested_nodes": 2, "requested_cores_per_node": 1, "requested_time": 10.0}


@pytest.mark.usefixtures("simulated_as_python_by_day")
@pytest.mark.parametrize(
    ("outage", "now", "want"),
    [
        ({"kind": "down"}, None, [0.0, 60.0, np.inf]),  # of the moment, as scontrol tells it
        ({"kind": "drain", "begin": 0, "end": 30}, None, [0.0, 30.0, 30.0]),
        ({"kind": "drain", "begin": 5}, None, [0.0, 0.0, 0.0]),
        ({"kind": "down", "begin": 5, "end": 30, "known": True}, None, [0.0, 30.0, 30.0]),
        ({"kind": "down", "begin": 20, "end": 30, "known": True}, None, [0.0, 0.0, 0.0]),
        (
            {"kind": "down", "begin": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:01:00Z", "known": True},
            1767225630.0,
            [0.0, 30.0, 30.0],
        ),
        (
            {"kind": "down", "begin": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:01:00Z"},
            1767225700.0,
            [0.0, 0.0, 0.0],
        ),
        ({"kind": "down", "begin": "2026-01-01T00:00:00Z"}, None, [0.0, 0.0, 0.0]),
    ],
)
def test_nodes_that_are_away(outage: dict[str, Any], now: float | None, want: list[float]) -> None:
    """Seconds are from now on; what has begun lasts; dates count where it is known what time it is."""
    assert away_answers(outage, THREE, FOUR, BOTH, now=now) == want


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_a_surprise() -> None:
    """Nobody knows beforehand that a node goes down; who runs there begins anew."""
    outage = {"kind": "down", "begin": 5, "end": 30}
    assert away_answers(outage, FOUR) == [0.0]
    assert away_answers(outage, FOUR, on_outage="lost") == [0.0]


@pytest.mark.usefixtures("simulated_as_python_by_day")
def test_who_runs_on_a_drained_node_goes_on() -> None:
    """It was there before; others do not start there."""
    machine = MachineDescription.from_mapping(
        {"nodes": [{"kind": "a", "names": "n[1-2]", "cores": 4}], "outages": [{"nodes": "n1", "kind": "drain"}]}
    )
    with all_interpreted():
        stepper = Stepper.from_queue(
            frame("name processors time elapsed nodes / a 1 100 40 n1"), NOBODY, machine=machine
        )
        assert stepper.nodes_of(0).tolist() == [0]
        assert stepper.run().first_start(0) == 0.0
