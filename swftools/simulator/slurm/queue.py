# SPDX-License-Identifier: BSD-3-Clause
"""The queue: an entry for each waiting job and partition, by tier, priority, submission; and priorities themselves."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, SUBMITTED, Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import fits
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.asking import ask_main
from swftools.simulator.slurm.fair_share import find_user
from swftools.simulator.slurm.holding import ask_in_plan
from swftools.simulator.slurm.lightness import forget_light, note_refused
from swftools.simulator.slurm.limits import BEHIND
from swftools.simulator.slurm.starting import set_reason
from swftools.simulator.slurm.state import (
    BEGIN,
    CPU,
    DEAD,
    ENTRIES,
    FAVORS_SMALL,
    IS_FAIR_TREE,
    IS_MULTIFACTOR,
    LEFT_OUT,
    LONG,
    MAX_AGE,
    NO_FAIR_SHARE,
    NO_MULTIFACTOR,
    NO_TIERS,
    NODES,
    PENDING,
    RESOURCES,
    SEEN,
    UNKNOWN,
    W_AGE,
    W_ASSOCIATION,
    W_CPU,
    W_FAIR_SHARE,
    W_PARTITION,
    W_QOS,
    W_SIZE,
    Dynamic,
    Given,
)


@kernel(allocates=False)
def priority_of(given: Given, state: Dynamic, job: int, partition: int, now: float, is_new: bool) -> float:
    """Return the priority of a waiting job in a partition; when it is new, whole nodes are not counted yet."""
    number, out = given.number, int(given.number[LEFT_OUT])
    if number[IS_MULTIFACTOR] == 0.0 or out == NO_MULTIFACTOR:
        return -float(job)
    age = 1.0
    if number[MAX_AGE] > 0.0:
        age = min((now - np.floor(state.eligible[job])) / number[MAX_AGE], 1.0)
    nodes, cores, association, qos = given.totals[NODES], given.totals[CPU], given.association[job], given.qos[job]
    asked = float(given.cpus[job])
    if given.partition_alone[partition] != 0 and not is_new:
        at = partition * RESOURCES
        asked = max(asked, given.min_nodes[job] * given.partition_totals[at + CPU] / given.partition_totals[at + NODES])
    size = (given.min_nodes[job] / nodes + asked / cores) / 2.0
    if number[FAVORS_SMALL] > 0.0:
        size = ((nodes - given.min_nodes[job]) / nodes + (cores - asked) / cores) / 2.0
    found = number[W_AGE] * age
    if association != UNKNOWN:
        found += number[W_ASSOCIATION] * given.association_factor[association]
        if out != NO_FAIR_SHARE:
            if number[IS_FAIR_TREE] == 0.0:
                find_user(given, state, association)
            found += number[W_FAIR_SHARE] * state.fair_share[association]
    found += number[W_SIZE] * size
    found += number[W_PARTITION] * given.partition_factor[partition]
    if qos != UNKNOWN:
        found += number[W_QOS] * given.qos_factor[qos]
    ask_in_plan(given, state, job, partition, given.min_nodes[job])
    for resource in range(RESOURCES):
        weight, there = number[W_CPU + resource], given.partition_totals[partition * RESOURCES + resource]
        if weight != 0.0 and there > 0.0:
            found += weight * (state.resources[resource] / there)
    return np.floor(max(found - given.nice[job], 1.0))


@kernel(allocates=False)
def is_before(
    given: Given,
    machine: Machine,
    job: int,
    partition: int,
    priority: float,
    other: int,
    other_partition: int,
    other_priority: float,
) -> bool:
    """Whether a job in a partition stands before another one in the queue, of which neither may preempt the other."""
    if int(given.number[LEFT_OUT]) != NO_TIERS and given.tier[partition] != given.tier[other_partition]:
        return given.tier[partition] > given.tier[other_partition]
    if priority != other_priority:
        return priority > other_priority
    submitted, later = machine.requests.submit_time[job], machine.requests.submit_time[other]
    if submitted != later:
        return submitted < later
    if job != other:
        return job < other
    return stands_first(given, job, partition, other_partition)


@kernel(allocates=False)
def stands_first(given: Given, job: int, partition: int, other: int) -> bool:
    """Whether a job names a partition before another one."""
    for place in range(given.first_partition[job], given.first_partition[job + 1]):
        if given.partition[place] == other:
            return False
        if given.partition[place] == partition:
            return True
    return False


@kernel(allocates=False)
def add_job(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Put the entries of a job into the queue, which is eligible from now on."""
    state.eligible[job] = machine.clock[NOW]
    ask_main(given, state, machine)
    set_reason(state, machine, job, BEHIND)
    first = given.partition[given.first_partition[job]]
    forget_light(given, state, job, first)  # when it comes it is asked whether it could ever run there
    note_refused(given, state, job, first)
    for i in range(given.first_partition[job], given.first_partition[job + 1]):
        partition = given.partition[i]
        priority = priority_of(given, state, job, partition, np.floor(machine.clock[NOW]), True)
        low, high = 0, state.counts[ENTRIES]
        while low < high:
            middle = (low + high) // 2
            other = state.entry_job[middle]
            theirs, height = state.entry_partition[middle], state.entry_priority[middle]
            if is_before(given, machine, job, partition, priority, other, theirs, height):
                high = middle
            else:
                low = middle + 1
        for place in range(state.counts[ENTRIES], low, -1):
            state.entry_job[place] = state.entry_job[place - 1]
            state.entry_partition[place] = state.entry_partition[place - 1]
            state.entry_priority[place] = state.entry_priority[place - 1]
        state.entry_job[low], state.entry_partition[low], state.entry_priority[low] = job, partition, priority
        state.counts[ENTRIES] += 1


@kernel(allocates=False)
def comes(given: Given, state: Dynamic, machine: Machine, job: int) -> bool:
    """Put a job into the queue; return whether it need not be looked at again.

    When everything is over, those that were cancelled come, and whoever waited for one. They run on no nodes, so that
    the event loop comes to its end, and are left out.
    """
    if machine.clock[NOW] - given.number[BEGIN] < LONG:
        add_job(given, state, machine, job)
        return True
    if np.isnan(state.gone[job]):
        state.gone[job] = np.inf
    if not fits(machine, job):
        return False
    start(machine, job)
    return True


@kernel(allocates=False)
def note_arrivals(given: Given, state: Dynamic, machine: Machine) -> None:
    """Put the jobs into the queue that wait since the last decision."""
    counts = state.counts
    drop_dead(state, machine)
    if counts[PENDING] > 0:
        left = 0
        for i in range(counts[PENDING]):
            job = state.pending[i]
            if not (is_waiting(machine.queue, job) and comes(given, state, machine, job)):
                state.pending[left] = job
                left += 1
        counts[PENDING] = left
    while counts[SEEN] < machine.counts[SUBMITTED]:
        job = counts[SEEN]
        counts[SEEN] += 1
        if not (is_waiting(machine.queue, job) and comes(given, state, machine, job)):
            state.pending[counts[PENDING]] = job
            counts[PENDING] += 1


@kernel(allocates=False)
def drop_dead(state: Dynamic, machine: Machine) -> None:
    """Drop the entries of jobs that wait no more."""
    if state.counts[DEAD] == 0:
        return
    kept = 0
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if is_waiting(machine.queue, job) and state.is_on[job] == 0 and state.has_left[job] == 0:
            state.entry_job[kept] = job
            state.entry_partition[kept] = state.entry_partition[place]
            state.entry_priority[kept] = state.entry_priority[place]
            kept += 1
    state.counts[ENTRIES], state.counts[DEAD] = kept, 0


@kernel(allocates=False)
def calculate(given: Given, state: Dynamic, machine: Machine) -> None:
    """Compute all priorities anew, and sort the queue."""
    many = state.counts[ENTRIES]
    for place in range(many):
        job, partition = state.entry_job[place], state.entry_partition[place]
        state.entry_priority[place] = priority_of(given, state, job, partition, np.floor(machine.clock[NOW]), False)
    sort_queue(given, state, machine)


@kernel(allocates=False)
def sort_queue(given: Given, state: Dynamic, machine: Machine) -> None:
    """Sort the queue by its priorities."""
    many = state.counts[ENTRIES]
    # It is nearly in order: by insertion with halved gaps, which needs no room.
    gap = 1
    while gap < many // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, many):
            job, partition, priority = (
                state.entry_job[place],
                state.entry_partition[place],
                state.entry_priority[place],
            )
            j = place
            while j >= gap:
                other, theirs, height = (
                    state.entry_job[j - gap],
                    state.entry_partition[j - gap],
                    state.entry_priority[j - gap],
                )
                if not is_before(given, machine, job, partition, priority, other, theirs, height):
                    break
                state.entry_job[j] = state.entry_job[j - gap]
                state.entry_partition[j] = state.entry_partition[j - gap]
                state.entry_priority[j] = state.entry_priority[j - gap]
                j -= gap
            state.entry_job[j], state.entry_partition[j], state.entry_priority[j] = job, partition, priority
        gap //= 3
