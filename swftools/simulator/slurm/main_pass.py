# SPDX-License-Identifier: BSD-3-Clause
"""The main scheduler: jobs in order. One that finds its nodes busy closes its partition, with all of its nodes."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import keep_off_reserved
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.lightness import forget_light, note_refused
from swftools.simulator.slurm.limits import (
    BEHIND,
    LACKS,
    NONE,
    TASKS,
    is_of_usage,
    reaches_array_limit,
    why_not_after,
    why_not_before,
)
from swftools.simulator.slurm.merging import merge_queue, put_back
from swftools.simulator.slurm.node_sets import count_nodes
from swftools.simulator.slurm.preempting import choose_by_preempting, stop_victims
from swftools.simulator.slurm.starting import begin_on_chosen, set_reason
from swftools.simulator.slurm.state import (
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    DEPTH,
    ENTRIES,
    LEFT_OUT,
    LIMIT_STOPS,
    MAIN,
    MAIN_STARTS,
    NO_ARRAYS,
    NO_CLOSING,
    PARTITION_DEPTH,
    UNKNOWN,
    VICTIMS,
    WORDS,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.totals import put_asked, put_totals


@kernel(allocates=False)
def run_main(given: Given, state: Dynamic, machine: Machine, is_full: bool) -> bool:
    """Run a pass of the main scheduler; return whether limits of usage stand against each job, wherever it may run.

    It says nothing of arrays of which as many tasks run as may: then jobs run.
    """
    words, number, partitions = state.counts[WORDS], given.number, len(given.tier)
    has_arrays = int(number[LEFT_OUT]) != NO_ARRAYS
    for word in range(words):
        state.allowed[word] = state.up[word] & ~state.cleaning[word]
    for partition in range(partitions):
        state.failed[partition] = state.tested[partition] = 0
    for place in range(len(state.refused)):
        state.refused[place] = NONE
    depth, starts, are_kept = 0, 0, True
    was_moved = merge_queue(given, state, machine)
    for place in range(state.counts[ENTRIES]):
        job, partition = state.entry_job[place], state.entry_partition[place]
        if state.is_on[job] != 0 or not is_waiting(machine.queue, job):  # perhaps preempted at this very instant
            continue
        if number[MAIN_STARTS] > 0.0 and starts >= number[MAIN_STARTS]:
            break  # who has started is not kept back
        of_array = given.array[job] * partitions + partition if has_arrays and given.array[job] != UNKNOWN else UNKNOWN
        if of_array != UNKNOWN:
            if state.refused[of_array] != NONE:
                set_reason(state, machine, job, state.refused[of_array])
                continue
            if reaches_array_limit(given, state, job):
                state.refused[of_array] = TASKS
                set_reason(state, machine, job, TASKS)
                continue
        state.tested[partition] += 1
        if number[PARTITION_DEPTH] > 0.0 and state.tested[partition] > number[PARTITION_DEPTH]:
            reason, are_kept = state.reason[job], False
        else:
            depth += 1
            if not is_full and depth > number[DEPTH] + 1:
                are_kept = False
                break
            reason = try_to_start(given, state, machine, job, partition, state.entry_priority[place])
        are_kept &= is_of_usage(reason)
        if reason == NONE:
            starts += 1
            continue
        set_reason(state, machine, job, reason)
        if of_array != UNKNOWN:
            state.refused[of_array] = reason
    if was_moved:
        put_back(state)
    return are_kept


@kernel(allocates=False)
def try_to_start(given: Given, state: Dynamic, machine: Machine, job: int, partition: int, priority: float) -> int:
    """Start a job, or return why not."""
    words = state.counts[WORDS]
    if state.failed[partition] != 0:
        return BEHIND
    reason = why_not_before(given, state, job, partition)
    if reason != NONE:
        return limited(given, state, partition, reason)
    for word in range(words):
        state.available[word] = state.allowed[word] & given.partition_bits[partition * words + word]
    count = 0
    if count_nodes(state.available, 0, words) >= given.min_nodes[job]:
        if given.nodes_allowed[job] != UNKNOWN:
            for word in range(words):
                state.available[word] &= given.set_bits[given.nodes_allowed[job] * words + word]
        now = np.floor(machine.clock[NOW])
        keep_off_reserved(given, state, job, now, now + given.limit[job], now)
        state.counts[VICTIMS] = 0
        forget_light(given, state, job, partition)
        count = choose_nodes(given, state, job, partition, state.available, state.now)
        if count == 0:
            count = choose_by_preempting(given, state, job, partition, state.available, now)
        if count == 0:
            note_refused(given, state, job, partition)
        if count > 0:
            amounts = state.then if state.counts[VICTIMS] > 0 else state.now
            put_totals(given, state, job, partition, count, amounts)
        else:
            put_asked(given, state, job, partition)
        reason = why_not_after(given, state, job, partition)
        if reason != NONE:  # also where nodes are busy: a limit keeps it back whatever they are, and it stops nobody
            return limited(given, state, partition, reason)
    if count == 0 or not stop_victims(given, state, machine, job, partition, count):
        if closes(given, state, machine, job, priority):
            close(given, state, partition)
        return LACKS
    begin_on_chosen(given, state, machine, job, partition, count, MAIN, priority)
    return NONE


@kernel(allocates=False)
def limited(given: Given, state: Dynamic, partition: int, reason: int) -> int:
    """Return the limit that keeps a job back; where such jobs stop others it closes its partition."""
    if given.number[LIMIT_STOPS] > 0.0:
        close(given, state, partition)
    return reason


@kernel(allocates=False)
def closes(given: Given, state: Dynamic, machine: Machine, job: int, priority: float) -> bool:
    """Whether a job that finds no nodes closes its partition: young jobs, and those of low priority, may not."""
    number = given.number
    if int(number[LEFT_OUT]) == NO_CLOSING or 0.0 < number[BF_MIN_PRIORITY] > priority:
        return False
    return np.floor(machine.clock[NOW]) - np.floor(state.eligible[job]) >= number[BF_MIN_AGE]


@kernel(allocates=False)
def close(given: Given, state: Dynamic, partition: int) -> None:
    """Let nobody start any more in a partition, nor on its nodes, in this pass."""
    words = state.counts[WORDS]
    state.failed[partition] = 1
    for word in range(words):
        state.allowed[word] &= ~given.partition_bits[partition * words + word]
