# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that stand for others (preemption by suspend): their CPUs are free for who preempts them, and nothing else.

Memory and GPUs stay theirs, and so does their place beside jobs that may not preempt them. As they do in Slurm's gang
scheduler, those stand that do not fit beside who preempts them, and go on as soon as they fit again. Slurm knows the
cores by number; here a job fits where as many are left of each of its nodes.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import NOW, SUSPEND, Machine
from swftools.simulator.machine.verbs import preempt, start
from swftools.simulator.slurm.choosing import choose_nodes, place_tasks
from swftools.simulator.slurm.preemptable import BY_QOS, BY_TIER, keep_past, mode_of
from swftools.simulator.slurm.preemptable import SUSPEND as STANDS
from swftools.simulator.slurm.rooms import join_nodes, leave_nodes
from swftools.simulator.slurm.starting import drop, list_by_end, note_change
from swftools.simulator.slurm.state import (
    PREEMPTS_BY,
    RUNNERS,
    STANDING,
    UNKNOWN,
    VICTIMS,
    Dynamic,
    Given,
    copy_amounts,
)
from swftools.simulator.slurm.usable import is_alone


@kernel(allocates=False)
def choose_by_suspending(given: Given, state: Dynamic, job: int, partition: int, available: IntArray, many: int) -> int:
    """Choose nodes for a job as if the CPUs were free of the first jobs in ``state.victim`` that may be suspended.

    By tier, those of the next lower partition keep theirs if it fits then, too, and so on. Returns how many nodes; who
    may have to stand is left in ``state.victim``, as many as ``state.counts[VICTIMS]`` says.
    """
    copy_amounts(state.now, state.then)
    lend(given, state, many, UNKNOWN, 1)
    count = choose_nodes(given, state, job, partition, available, state.then)
    if count == 0:
        return 0
    if int(given.number[PREEMPTS_BY]) == BY_TIER:
        for other in given.by_tier:
            if not lend(given, state, many, other, -1):
                continue
            without = choose_nodes(given, state, job, partition, available, state.then)
            if without == 0:
                lend(given, state, many, other, 1)
                count = choose_nodes(given, state, job, partition, available, state.then)
                break
            count = without
    kept = 0
    for i in range(many):
        runner = state.victim[i]
        if mode_of(given, state, runner) == STANDS and count_chosen(given, state, runner, count) > 0:
            state.victim[kept] = runner
            kept += 1
    state.counts[VICTIMS] = kept
    return count


@kernel(allocates=False)
def lend(given: Given, state: Dynamic, many: int, partition: int, sign: int) -> bool:
    """Add the CPUs of jobs that may be suspended to what is thought to be free, or take them back (-1).

    They are those of the first jobs in ``state.victim`` that run in a partition, or anywhere (``UNKNOWN``), but for
    jobs that have their nodes alone. Returns whether there are any.
    """
    are_some = False
    for i in range(many):
        runner = state.victim[i]
        ran_in = state.ran_in[runner]
        if mode_of(given, state, runner) != STANDS or is_alone(given, runner, ran_in):
            continue
        if partition in (UNKNOWN, ran_in):
            lend_cores(given, state, runner, sign)
            are_some = True
    return are_some


@kernel(allocates=False)
def lend_cores(given: Given, state: Dynamic, runner: int, sign: int) -> None:
    """Add the CPUs of a running job to what is thought to be free, or take them back (-1)."""
    first = given.first_held[runner]
    for i in range(first, first + state.held_count[runner]):
        state.then.cores[state.held_node[i]] += sign * state.held_cores[i]


@kernel(allocates=False)
def count_chosen(given: Given, state: Dynamic, runner: int, count: int) -> int:
    """Return how many of the chosen nodes a running job has."""
    first, found = given.first_held[runner], 0
    for i in range(first, first + state.held_count[runner]):
        for j in range(count):
            found += state.chosen[j] == state.held_node[i]
    return found


@kernel(allocates=False)
def make_room(given: Given, state: Dynamic, machine: Machine, job: int, partition: int, count: int) -> None:
    """Let those jobs in ``state.victim`` stand that do not fit beside a job, which starts on so many chosen nodes."""
    place_tasks(given, state, job, partition, count)
    count_crowd(given, state)
    for i in range(count):
        state.crowd[state.chosen[i]] += state.got[i]
    many = 0
    for i in range(state.counts[VICTIMS]):
        runner = state.victim[i]
        if state.stands[runner] == 0:
            crowd_by(given, state, runner, -1)
            insert(given, state, runner, many)
            many += 1
    for i in range(many):
        runner = state.victim[i]
        if fits_in_crowd(given, state, runner):
            crowd_by(given, state, runner, 1)
        else:
            let_stand(given, state, machine, runner)


@kernel(allocates=False)
def insert(given: Given, state: Dynamic, job: int, many: int) -> None:
    """Put a job into its place among the first ones in ``state.victim``, of which the first keep their CPUs first."""
    at = many
    while at > 0 and keeps_sooner(given, state, job, state.victim[at - 1]):
        state.victim[at] = state.victim[at - 1]
        at -= 1
    state.victim[at] = job


@kernel(allocates=False)
def keeps_sooner(given: Given, state: Dynamic, one: int, other: int) -> bool:
    """Whether a job has its CPUs before another: of the higher tier or QOS, then who came to run first."""
    if int(given.number[PREEMPTS_BY]) == BY_QOS:
        rank, theirs = given.qos_rank[given.qos[one]], given.qos_rank[given.qos[other]]
    else:
        rank, theirs = float(given.tier[state.ran_in[one]]), float(given.tier[state.ran_in[other]])
    if rank != theirs:
        return rank > theirs
    if state.began[one] != state.began[other]:
        return state.began[one] < state.began[other]
    return one < other


@kernel(allocates=False)
def count_crowd(given: Given, state: Dynamic) -> None:
    """Write into ``state.crowd`` how many CPUs of each node jobs have that run and do not stand."""
    for node in range(len(state.crowd)):
        state.crowd[node] = 0
    for place in range(state.counts[RUNNERS]):
        if state.stands[state.by_number[place]] == 0:
            crowd_by(given, state, state.by_number[place], 1)


@kernel(allocates=False)
def crowd_by(given: Given, state: Dynamic, job: int, sign: int) -> None:
    """Add what a job has of its nodes to ``state.crowd``, or take it away (-1)."""
    first = given.first_held[job]
    for i in range(first, first + state.held_count[job]):
        state.crowd[state.held_node[i]] += sign * state.held_cores[i]


@kernel(allocates=False)
def fits_in_crowd(given: Given, state: Dynamic, job: int) -> bool:
    """Whether as many CPUs are left of each of its nodes as a job has."""
    first, fits = given.first_held[job], True
    for i in range(first, first + state.held_count[job]):
        node = state.held_node[i]
        fits &= state.crowd[node] + state.held_cores[i] <= given.cores[node]
    return fits


@kernel(allocates=False)
def let_stand(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Suspend a running job."""
    keep_past(given, state, machine, job)
    state.stands[job] = 1
    state.counts[STANDING] += 1
    state.ran[job] += np.floor(machine.clock[NOW]) - state.went_on[job]
    preempt(machine, job, SUSPEND)


@kernel(allocates=False)
def let_go_on(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let suspended jobs go on whose CPUs are free again."""
    if state.counts[STANDING] == 0:
        return
    count_crowd(given, state)
    many = 0
    for place in range(state.counts[RUNNERS]):
        job = state.by_number[place]
        if state.stands[job] != 0:
            insert(given, state, job, many)
            many += 1
    for i in range(many):
        job = state.victim[i]
        if fits_in_crowd(given, state, job):
            crowd_by(given, state, job, 1)
            resume(given, state, machine, job)


@kernel(allocates=False)
def resume(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Let a suspended job go on: its limit ends later by the time that it stood."""
    state.stands[job] = 0
    state.counts[STANDING] -= 1
    state.went_on[job] = np.floor(machine.clock[NOW])
    note_change(given, state, job, True)
    leave_nodes(given, state, job)
    drop(state.runner, state.counts[RUNNERS], job)
    state.limit_end[job] = state.went_on[job] + given.limit[job] - state.ran[job]
    list_by_end(state, job, state.counts[RUNNERS] - 1)
    join_nodes(given, state, job)
    note_change(given, state, job, False)
    start(machine, job)
