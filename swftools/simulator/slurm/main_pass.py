# SPDX-License-Identifier: BSD-3-Clause
"""The main scheduler: jobs in order, until one finds its nodes busy: then its partition is closed, with all its nodes."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.holding import ask_in_plan
from swftools.simulator.slurm.limits import BEHIND, LACKS, NONE, why_not_after, why_not_before
from swftools.simulator.slurm.starting import begin_on_chosen, set_reason
from swftools.simulator.slurm.state import (
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    DEPTH,
    ENTRIES,
    LEFT_OUT,
    LIMIT_STOPS,
    MAIN_STARTS,
    NO_ARRAYS,
    NO_CLOSING,
    PARTITION_DEPTH,
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
    copy_set,
    count_nodes,
)
from swftools.simulator.slurm.totals import put_totals


@kernel(allocates=False)
def run_main(given: Given, state: Dynamic, machine: Machine, is_full: bool) -> None:
    """Run a pass of the main scheduler."""
    words, number, now = state.counts[WORDS], given.number, machine.clock[NOW]
    out = int(number[LEFT_OUT])
    copy_set(state.up, 0, state.allowed, 0, words)
    for partition in range(len(given.tier)):
        state.failed[partition] = state.tested[partition] = 0
    depth = starts = 0
    refused = refused_in = UNKNOWN
    for place in range(state.counts[ENTRIES]):
        job, partition = state.entry_job[place], state.entry_partition[place]
        if state.is_on[job] != 0:
            continue
        if number[MAIN_STARTS] > 0.0 and starts >= number[MAIN_STARTS]:
            break
        array = given.array[job] if out != NO_ARRAYS else UNKNOWN
        if array != UNKNOWN and array == refused and partition == refused_in:
            continue
        if array != UNKNOWN:
            refused, refused_in = array, partition  # unless it starts
        if number[PARTITION_DEPTH] > 0.0:
            state.tested[partition] += 1
            if state.tested[partition] > number[PARTITION_DEPTH]:
                set_reason_if_free(state, machine, job, BEHIND)
                continue
        depth += 1
        if not is_full and depth > number[DEPTH] + 1:
            break
        if state.failed[partition] != 0:
            set_reason_if_free(state, machine, job, BEHIND)
            continue
        reason = why_not_before(given, state, job, partition)
        if reason != NONE:
            set_reason(state, machine, job, reason)
            continue
        for word in range(words):
            state.available[word] = state.allowed[word] & given.partition_bits[partition * words + word]
        closes = False
        if count_nodes(state.available, 0, words) < given.min_nodes[job]:
            set_reason(state, machine, job, LACKS)
            closes = True
        else:
            if given.nodes_allowed[job] != UNKNOWN:
                for word in range(words):
                    state.available[word] &= given.set_bits[given.nodes_allowed[job] * words + word]
            count = choose_nodes(given, state, job, state.available, state.now)
            if count > 0:
                put_totals(given, state, job, partition, count, state.now)
                reason = why_not_after(given, state, job, partition)
                if reason == NONE:
                    begin_on_chosen(given, state, machine, job, partition, count, 1)
                    refused = UNKNOWN
                    starts += 1
                    continue
                set_reason(state, machine, job, reason)
                closes = number[LIMIT_STOPS] > 0.0
            else:
                ask_in_plan(given, state, job, partition, given.min_nodes[job])
                reason = why_not_after(given, state, job, partition)
                if reason == NONE:
                    set_reason(state, machine, job, LACKS)
                    closes = True
                else:
                    set_reason(state, machine, job, reason)
                    closes = number[LIMIT_STOPS] > 0.0
        if closes and number[BF_MIN_AGE] > 0.0 and now - state.eligible[job] < number[BF_MIN_AGE]:
            closes = False
        if closes and state.entry_priority[place] < number[BF_MIN_PRIORITY]:
            closes = False
        if closes and out != NO_CLOSING:
            state.failed[partition] = 1
            for word in range(words):
                state.allowed[word] &= ~given.partition_bits[partition * words + word]


@kernel(allocates=False)
def set_reason_if_free(state: Dynamic, machine: Machine, job: int, reason: int) -> None:
    """Write down a reason for a job that waits for nothing else than resources."""
    if state.reason[job] in (NONE, LACKS):
        set_reason(state, machine, job, reason)
