# SPDX-License-Identifier: BSD-3-Clause
"""The naive twin of machines of nodes does what the words say: cases by hand, other simulators, and what must hold."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, simulate
from swftools.machines.node_table import GPU, NodeTable
from tests.naive.nodes import DECISIONS, MACHINE, Job, jobs_of, simulate_on_nodes
from tests.naive.placements import Placement
from tests.nodes_cases import CASES, Case
from tests.nodes_drawn import Workload, draw_machine, outcome, random_workload, ranges_of


def run_naively(
    workload: Workload,
    policy: str,
    placement: str = "first-fit",
    heads: str = "partition",
    table: NodeTable | None = None,
) -> list[Job]:
    """Simulate by the text forms of options."""
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request, workload.rank)
    chosen = Placement.read(placement)
    return simulate_on_nodes(jobs, table or workload.table, DECISIONS[policy], placement=chosen, heads=heads)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_by_hand(case: Case) -> None:
    """Starts and nodes are those that were worked out by hand."""
    for policy, placement, heads, rows in case.runs():
        workload = case.workload()
        assert outcome(workload, run_naively(workload, policy, placement, heads)) == rows, (policy, placement, heads)


# ---------------------------------------------------------------- a pool is one node, or whole equal nodes


def pool_trace(seed: int, processors: int) -> tuple[Trace, dict[str, list[int]]]:
    """Return jobs of a pool by lot, none of which outlives its request; and their columns."""
    lot = np.random.default_rng(seed)
    count, longest = 60, int(lot.choice([10, 40]))
    run = lot.integers(0, longest, count) * lot.integers(0, 2, count)
    columns = {
        "submit_time": np.sort(lot.integers(0, int(lot.choice([30, 300])), count)).tolist(),
        "run_time": run.tolist(),
        "requested_time": (run + lot.integers(0, 10, count) * lot.integers(0, 2, count) + 1).tolist(),
        "requested_processors": lot.integers(1, processors + 1, count).tolist(),
        "priority_rank": lot.integers(0, 3, count).tolist(),
    }
    logged = {name: values for name, values in columns.items() if name != "priority_rank"}
    trace = Trace.from_columns(machine_processors=processors, job_number=list(range(1, count + 1)), **logged)
    ranks = pd.array(columns["priority_rank"], dtype="Int64")
    return trace.with_jobs(trace.jobs.assign(priority_rank=ranks)), columns


def pool_jobs(columns: dict[str, list[int]], nodes: int) -> list[Job]:
    """Return the same jobs as those of one node, or of nodes which they have alone."""
    return [
        Job(
            row,
            *(float(columns[name][row]) for name in ("submit_time", "run_time", "requested_time")),
            1 if nodes == 1 else columns["requested_processors"][row],
            columns["requested_processors"][row] if nodes == 1 else 1,
            0,
            0,
            nodes > 1,
            [list(range(nodes))],
            [0],
            columns["priority_rank"][row],
        )
        for row in range(len(columns["run_time"]))
    ]


@pytest.mark.parametrize("policy", DECISIONS)
def test_one_node_is_a_pool_and_so_are_whole_equal_nodes(policy: str) -> None:
    """Starts are those of a pool: on one node that is shared, and on as many nodes as it has processors."""
    for seed in range(2):
        processors = [8, 12][seed % 2]
        trace, columns = pool_trace(seed, processors)
        starts = simulate(trace, policy, processors=processors).jobs["start_time"].tolist()
        for table in (
            draw_machine(f"cores / {processors}", "p:0"),
            draw_machine(f"count / {processors}", f"p:0-{processors - 1}"),
        ):
            jobs = pool_jobs(columns, len(table))
            heads = [MACHINE, "partition"][seed]
            simulate_on_nodes(jobs, table, DECISIONS[policy], placement=Placement(), heads=heads)
            assert [job.start for job in jobs] == starts, (seed, len(table))


@pytest.mark.slow
def test_a_log_on_one_node_and_on_whole_nodes(shipped: Trace) -> None:
    """Jobs of a real log start on one node of 1,152 cores, and on 144 of 8 cores, as on a pool of as many."""
    few = shipped.jobs.dropna(subset=["run_time", "requested_time", "allocated_processors"]).iloc[:500]
    columns = {name: few[name].tolist() for name in ("submit_time", "run_time")}
    columns["requested_time"] = np.maximum(few["requested_time"], few["run_time"]).tolist()
    columns["priority_rank"] = [-1] * len(few)
    for nodes, cores in ((1, 1152), (144, 8)):
        width = few["allocated_processors"] if nodes == 1 else -(-few["allocated_processors"] // cores)
        given = {**columns, "requested_processors": width.astype(int).tolist()}
        logged = {name: values for name, values in given.items() if name != "priority_rank"}
        trace = Trace.from_columns(machine_processors=1152 // cores if nodes > 1 else cores, **logged)
        table = draw_machine(f"count cores / {nodes} {cores}", f"p:0-{nodes - 1}")
        for policy in ("easy", "fcfs", "lxf-backfill"):
            jobs = pool_jobs(given, nodes)
            simulate_on_nodes(jobs, table, DECISIONS[policy])
            starts = simulate(trace, policy).jobs["start_time"].tolist()
            assert [job.start for job in jobs] == starts, (nodes, policy)
            assert sum(start > submit for start, submit in zip(starts, given["submit_time"], strict=True)) > 50


# ---------------------------------------------------------------- what must hold of all


def check_possible(workload: Workload, jobs: list[Job]) -> None:
    """Check that at each start all nodes have room, and that each job has what it asked for."""
    table = workload.table
    for job in jobs:
        assert job.start is not None
        assert job.start >= job.entry
        assert len(set(job.where)) == len(job.where) == job.nodes
        assert any(set(job.where) <= set(nodes) for nodes in job.sets)
        for node in job.where:
            here = [other for other in jobs if node in other.where and other.start <= job.start < other.end]
            for each in here:
                assert not each.is_exclusive or here == [each]
            assert sum(each.cores for each in here) <= table.cores[node]
            assert sum(each.memory for each in here) <= table.memory[node]
            assert sum(each.gpus for each in here) <= table.gpus[node]


@pytest.mark.parametrize("heads", ["machine", "partition"])
@pytest.mark.parametrize("placement", ["first-fit", "lowest-weight", "best-fit"])
def test_what_comes_of_it_is_possible(placement: str, heads: str) -> None:
    """No node has more on it than it has, and no exclusive job has company."""
    for seed in range(8):
        workload = random_workload(seed)
        policies = list(DECISIONS)
        for policy in policies[seed % 3 :: 3]:
            check_possible(workload, run_naively(workload, policy, placement, heads))


def test_partitions_without_a_common_node_are_machines_of_their_own() -> None:
    """Two machines that are put side by side as partitions do as each did; not so with one head for both."""
    differ = 0
    for seed in range(12):
        left, right = (random_workload(2 * seed + side, is_plain=True, most_nodes=4) for side in (0, 1))
        for policy in ("easy", "fcfs", "lxf-backfill"):
            alone = [job.start for part in (left, right) for job in _whole(part, policy, "partition")]
            both = joined(left, right)
            simulate_on_nodes(both, _joined_table(left, right), DECISIONS[policy], heads="partition")
            by_side = sorted(both, key=lambda job: (job.partitions[0], job.row))
            assert [job.start for job in by_side] == alone
            simulate_on_nodes(
                again := joined(left, right), _joined_table(left, right), DECISIONS[policy], heads="machine"
            )
            differ += [job.start for job in sorted(again, key=lambda job: (job.partitions[0], job.row))] != alone
    assert differ > 3


def _whole(workload: Workload, policy: str, heads: str) -> list[Job]:
    """Simulate a workload whose jobs may all use all nodes, which are one partition."""
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request)
    table = workload.table
    for job in jobs:
        job.sets, job.partitions = [list(range(len(table)))], [0]
    one = draw_machine("cores / 1", "all:0").partitions[0]
    whole = NodeTable(
        table.names,
        table.kind,
        table.kinds,
        table.cores,
        table.memory,
        table.gpus,
        table.weight,
        (type(one)("all", np.arange(len(table))),),
    )
    return simulate_on_nodes(jobs, whole, DECISIONS[policy], heads=heads)


def joined(left: Workload, right: Workload) -> list[Job]:
    """Return the jobs of two machines as those of one with two partitions, in order of submission."""
    jobs = []
    for side, workload in enumerate((left, right)):
        first = side * len(left.table)
        for job in jobs_of(workload.asked, workload.submit, workload.run, workload.request):
            job.sets, job.partitions = [list(range(first, first + len(workload.table)))], [side]
            jobs.append(job)
    return sorted(jobs, key=lambda job: job.submit)


def _joined_table(left: Workload, right: Workload) -> NodeTable:
    count, more = len(left.table), len(right.table)
    parts = draw_machine(f"count / {count + more}", f"left:0-{count - 1} right:{count}-{count + more - 1}")
    arrays = (
        np.concatenate([getattr(left.table, name), getattr(right.table, name)])
        for name in ("cores", "memory", "gpus", "weight")
    )
    return NodeTable(parts.names, parts.kind, parts.kinds, *arrays, parts.partitions)


# ---------------------------------------------------------------- another simulator


def write_limit(workload: Workload, machine: Path, trace: Path) -> None:
    """Write a machine and its jobs as the simulator in C reads them."""
    table, asked = workload.table, workload.asked
    lines = [
        f"kind n{node} 1 {table.cores[node]} {table.memory[node]} {table.gpus[node] // GPU}"
        for node in range(len(table))
    ]
    for part in table.partitions:
        ranges = ranges_of(part.nodes.tolist()).split(",")
        lines.append(f"partition {part.name} 0 0 {','.join(r if '-' in r else f'{r}-{r}' for r in ranges)}")
    machine.write_text("\n".join(lines) + "\n")
    jobs = []
    for row in range(len(workload.submit)):
        can_run = asked.code[row] == 0
        times = (int(times[row]) for times in (workload.submit, workload.run, workload.request))
        place = asked.places[asked.place[row]].partitions[0] if can_run else 0
        nodes = asked.nodes[row] if can_run else 0
        gpus = asked.gpus[row] // GPU
        values = (row, *times, nodes, asked.cores[row], asked.memory[row], gpus, place, int(asked.is_exclusive[row]))
        jobs.append(" ".join(map(str, values)))
    trace.write_text("\n".join(jobs) + "\n")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_starts_are_those_of_a_simulator_in_c(tmp_path: Path, shared: Path) -> None:
    """Starts are those of another simulator, where it knows what is asked for."""
    program, starts = tmp_path / "limit_nodes", tmp_path / "starts"
    subprocess.run(["gcc", "-w", "-O2", "-o", program, shared / "limit" / "limit_nodes.c"], check=True)
    compared = 0
    for seed in range(300):
        workload = random_workload(seed, is_plain=True)
        write_limit(workload, tmp_path / "machine", tmp_path / "jobs")
        for mode, sparing in (("fcfs", "0"), ("easy", "0"), ("easy", "1")):
            command = [program, tmp_path / "machine", tmp_path / "jobs", mode, "-o", starts, "-s", sparing]
            subprocess.run(command, check=True, capture_output=True)
            other = dict(map(int, line.split()) for line in starts.read_text().splitlines())
            placement = f"first-fit:sparing={'true' if sparing == '1' else 'false'}"
            own = {job.row: job.start for job in run_naively(workload, mode, placement, MACHINE)}
            assert {row: own.get(row, -1) for row in other} == other, (seed, mode, sparing)
            compared += len(own)
    assert compared > 10_000
