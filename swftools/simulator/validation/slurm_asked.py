# SPDX-License-Identifier: BSD-3-Clause
"""Whether the runs of policy ``slurm`` have what their jobs ask of it: CPUs may lie unevenly, and be more.

Nothing here is shared with the policy but what jobs ask for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swftools.kernel import BoolArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.output.shown_text import shown
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.validation.node_parts import Parts, parts_of_runs
from swftools.simulator.validation.node_runs import NodeRuns
from swftools.simulator.validation.on_nodes import leaves_nodes, ready_of
from swftools.simulator.validation.runs import FoundViolations, SoundJobs, SoundRuns, at, margin_of, of_runs


def check_slurm_asked(
    schedule: Schedule,
    jobs: SoundJobs,
    runs: SoundRuns,
    held: NodeRuns,
    table: NodeTable,
    asked: SlurmJobs,
    row: IntArray,
    tolerance: float,
) -> Iterator[FoundViolations]:
    """Check that runs have what their jobs ask for, when they ask for it; ``row`` has the trace's row of each job."""
    of_run = at(row, runs.job, -1)
    known = of_run >= 0
    code = np.where(known, at(asked.code, of_run, 0), 0)

    def number(run: int) -> int:
        return int(jobs.number[runs.job[run]])

    yield of_runs(
        "asked",
        code != 0,
        jobs,
        runs,
        lambda i: f"job {number(i)} cannot run on this machine: {shown(asked.reasons[code[i]])}",
    )
    parts = parts_of_runs(schedule, held)
    can = known & (code == 0) & held.sound & ~parts.is_wrong
    for wrong, what in _lacks(parts, held, runs, asked, of_run):
        yield of_runs(
            "asked",
            can & wrong,
            jobs,
            runs,
            lambda i, what=what: f"a run of job {number(i)} has {what} than it asks for",  # type: ignore[misc]
        )
    whole = np.append([part.is_exclusive for part in table.partitions], False)[np.maximum(held.partition, -1)]
    alone = at(asked.is_exclusive, of_run, False) | whole
    yield of_runs(
        "asked",
        can & (held.is_exclusive != alone),
        jobs,
        runs,
        lambda i: f"job {number(i)} {'has to have' if alone[i] else 'did not ask to have'} its nodes alone",
    )
    where_not = _is_elsewhere(held, asked, of_run, len(table.partitions)) | _leaves_set(held, asked, of_run, len(table))
    yield of_runs(
        "asked",
        can & where_not,
        jobs,
        runs,
        lambda i: f"a run of job {number(i)} has nodes on which the job may not run, or not in that partition",
    )
    ready = ready_of(asked.ready_time, of_run)
    yield of_runs(
        "ready",
        runs.start < ready - margin_of(runs.start, tolerance),
        jobs,
        runs,
        lambda i: f"job {number(i)} starts at {runs.start[i]:.10g} s; it asked to run from {ready[i]:.10g} s on",
    )


def _lacks(
    parts: Parts, held: NodeRuns, runs: SoundRuns, asked: SlurmJobs, row: IntArray
) -> Iterator[tuple[BoolArray, str]]:
    """Yield which runs have other amounts than their jobs ask for, and what is wrong with these."""
    cpus, per_task, least, most, tasks, per_cpu, per_node, of_node, gpus = (
        at(values, row, 0)
        for values in (
            *(asked.cpus, asked.cpus_per_task, asked.min_nodes, asked.max_nodes, asked.tasks_per_node),
            *(asked.memory_per_cpu, asked.memory_per_node, asked.gpus_per_node, asked.gpus),
        )
    )
    per_task = np.maximum(per_task, 1)
    yield held.nodes < least, "fewer nodes"
    yield (most > 0) & (held.nodes > most), "more nodes"
    run, part, shares = parts.run, parts.held, ~held.is_exclusive
    # A task has its CPUs on one node.
    placed = parts.sums_of(part.nodes * (part.cores // per_task[run] * per_task[run]))
    yield np.where(shares, placed, runs.processors) < cpus, "fewer cores for whole tasks"
    too_many = (tasks > 0)[run] & (part.cores > (tasks * per_task)[run])
    yield shares & parts.any_of(too_many), "more tasks on a node"
    memory = np.maximum(per_node[run], per_cpu[run] * part.cores)
    yield shares & parts.any_of(part.memory < memory), "less memory on a node"
    yield parts.any_of(part.gpus < GPU * of_node[run]), "fewer GPUs on a node"
    yield parts.sums_of(part.nodes * part.gpus) < GPU * gpus, "fewer GPUs"


def _is_elsewhere(held: NodeRuns, asked: SlurmJobs, row: IntArray, partitions: int) -> BoolArray:
    """Return which runs are in another partition than their jobs ask for, where it is told."""
    jobs = np.repeat(np.arange(len(asked.cpus)), np.diff(asked.first_partition))
    pairs = jobs * partitions + asked.partition
    return np.asarray((held.partition >= 0) & ~np.isin(row * partitions + held.partition, pairs))


def _leaves_set(held: NodeRuns, asked: SlurmJobs, row: IntArray, nodes: int) -> BoolArray:
    """Return which runs have a node that has not the features that their jobs ask for."""
    of_run, leaves = at(asked.nodes_allowed, row, -1), np.zeros(len(row), np.bool_)
    for number, allowed in enumerate(asked.sets):
        own = of_run == number
        if own.any():
            leaves |= own & held.any_range(leaves_nodes(held, np.flatnonzero(allowed), nodes))
    return leaves
