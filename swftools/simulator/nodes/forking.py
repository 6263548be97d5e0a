# SPDX-License-Identifier: BSD-3-Clause
"""What a light copy takes along of a machine of nodes: who is where; what follows from it is found anew."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401 (the function that is written names it)

from swftools.kernel import IntArray, kernel
from swftools.simulator.engine.replay import DEPENDENT, Replay
from swftools.simulator.engine.transfer import taking_a_job
from swftools.simulator.machine.state import ENDED, HELD, SUBMITTED, Machine
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.nodes.classes import join
from swftools.simulator.nodes.state import CHOOSES, HEAD, HEADS, SPARING, NodeMachine, NodeReplayState
from swftools.simulator.state.written import written


def parts_taken(machine: Any, replay: Replay, later: int) -> int:
    """Return how many nodes are asked for by the jobs that are there, and by so many that are to come.

    Of jobs that ended since the last decision too, whether they are taken along or not.
    """
    counts, queue = machine.counts, machine.queue
    waits = queue.job[: queue.used[0]]
    submitted = int(counts[SUBMITTED])
    listed = (
        waits[waits != NOBODY],
        machine.held[: counts[HELD]],
        machine.ended[: counts[ENDED]],
        replay.dependents.listed[: replay.counts[DEPENDENT]],
    )
    nodes = machine.asked.nodes
    return sum(int(nodes[jobs].sum()) for jobs in listed) + int(nodes[submitted : submitted + later].sum())


take_job_on_nodes = written(
    globals(),
    "take_job_on_nodes(coming, machine, replay, job, new_coming, new_machine, new_replay, new)",
    "Copy all that is of one job, as on a pool, and what it asks of nodes.",
    taking_a_job(NodeReplayState),
)


@kernel(allocates=False)
def take_places(machine: Machine, ours: Machine, origin: IntArray, jobs: int) -> None:
    """Copy nothing: a pool has no nodes."""


@kernel(allocates=False)
def take_places_on_nodes(machine: NodeMachine, ours: NodeMachine, origin: IntArray, jobs: int) -> None:
    """Copy where the jobs are, and how nodes stand; what each of them waits for is known else."""
    first, theirs = 0, machine.asked.first
    for job in range(jobs):
        ours.asked.first[job] = first
        for i in range(ours.asked.nodes[job]):
            ours.nodes.held[first + i] = machine.nodes.held[theirs[origin[job]] + i]
        first += ours.asked.nodes[job]
    for node in range(len(machine.nodes.free)):
        ours.nodes.free[node], ours.nodes.users[node] = machine.nodes.free[node], machine.nodes.users[node]
    for what in (HEADS, SPARING, CHOOSES):
        ours.classes.counts[what] = machine.classes.counts[what]
    class_anew(ours)


@kernel(allocates=False)
def class_anew(machine: NodeMachine) -> None:
    """Let the waiting jobs be in classes, of which nothing is known yet, and nothing be reserved."""
    classes, nodes, counts = machine.classes, machine.nodes, machine.classes.counts
    for what in range(len(counts)):
        if what not in (HEADS, SPARING, CHOOSES):
            counts[what] = 0
    counts[HEAD] = NOBODY
    for kind in range(len(classes.slot)):
        classes.slot[kind] = 0
    for at in range(len(classes.table)):
        classes.table[at] = 0
    for node in range(len(nodes.before)):
        nodes.before[node] = nodes.reserved[node] = machine.plan.stamp[node] = 0
    for place in range(machine.queue.used[0]):
        job = machine.queue.job[place]
        if job != NOBODY and is_waiting(machine.queue, job):
            join(machine, job)
