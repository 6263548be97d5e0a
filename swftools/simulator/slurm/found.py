# SPDX-License-Identifier: BSD-3-Clause
"""What was found of when jobs could start, kept as long as it holds.

It depends on what a job asks of nodes (its shape and partition), on the nodes that are available to it, and on the jobs
that run, until when. While none that runs is beyond its limit it does not depend on the time. It holds as long as no
job starts or ends on these nodes, nor one whose limit ends where it may move the end of a window: windows of backfill
end between the ends of any two jobs. So a cycle finds most of what the last one did, and what it did of jobs that ask
the same. Where running jobs may be preempted it depends on more, and nothing is kept.

Before which time too few nodes are free holds longer: until a job ends on them that was to end later.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.holding import memory_on
from swftools.simulator.slurm.lightness import mark_light, put_if_free
from swftools.simulator.slurm.node_sets import BITS, copy_set
from swftools.simulator.slurm.preemptable import NOBODY_PREEMPTS
from swftools.simulator.slurm.rooms import goes_before
from swftools.simulator.slurm.state import (
    CHANGES,
    FIRST_FROM,
    IS_CUT,
    LAST_TO_END,
    LIGHT,
    NOT_BEFORE,
    PREEMPTS_BY,
    RESOURCES,
    RUNNERS,
    STARTS_AND_ENDS,
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.usable import wanted_of

SPANS = 4
"""Times that bound the two spans of ``note_span``."""

AT_ONCE = -np.inf
"""When a job could start that can do so in whatever second it is."""

_HALF = BITS // 2
_LOW = (1 << _HALF) - 1
_FIRST_FACTOR, _SECOND_FACTOR = 0x5851F42D, 0x4C957F2D
"""By which halves of words are multiplied, so that each node counts wherever it is; no product is too large."""


@kernel(allocates=False)
def slot_if_kept(given: Given, state: Dynamic, job: int, partition: int, now: float) -> int:
    """Return where it is kept when a job could start on the available nodes; UNKNOWN: nowhere."""
    if int(given.number[PREEMPTS_BY]) != NOBODY_PREEMPTS:
        return UNKNOWN
    if state.counts[RUNNERS] > 0 and state.limit_end[state.runner[0]] <= now:
        return UNKNOWN
    mixed = given.shape[job] * len(given.tier) + partition + mark_light(given, state, job)
    for word in range(state.counts[WORDS]):
        mixed ^= state.available[word]
        mixed = ((mixed & _LOW) * _FIRST_FACTOR) ^ ((mixed >> _HALF) * _SECOND_FACTOR)
    return (mixed ^ (mixed >> _HALF)) % len(state.found_begin)


@kernel(allocates=False)
def is_kept(given: Given, state: Dynamic, slot: int, job: int, partition: int) -> bool:
    """Whether a slot has what was found for such a job on the available nodes, and any of it holds."""
    words, changes = state.counts[WORDS], state.counts[STARTS_AND_ENDS]
    if changes - state.found_after[slot] > CHANGES or state.found_after[slot] == UNKNOWN:
        return False
    if state.found_shape[slot] != given.shape[job] or state.found_in[slot] != partition:
        return False
    if state.found_light[slot] != state.counts[LIGHT]:
        return False
    for word in range(words):
        if state.found_sets[2 * slot * words + word] != state.available[word]:
            return False
    for change in range(state.found_after[slot], changes):
        forget_if_changed(state, slot, change % CHANGES)
    state.found_after[slot] = changes
    return True


@kernel(allocates=False)
def forget_if_changed(state: Dynamic, slot: int, row: int) -> None:
    """Forget what a change makes untrue.

    A start leaves no more free before any time, and neither does an end that was to be before it.
    """
    words, end, is_there = state.counts[WORDS], state.changed_end[row], False
    spans, at = state.found_spans, SPANS * slot
    for word in range(words):
        is_there |= state.changed_sets[row * words + word] & state.available[word] != 0
    if is_there or spans[at] <= end <= spans[at + 1] or spans[at + 2] <= end <= spans[at + 3]:
        state.found_begin[slot] = np.nan
    if is_there and state.changed_ends[row] != 0 and end >= state.found_not_before[slot]:
        state.found_not_before[slot] = -np.inf


@kernel(allocates=False)
def recall(state: Dynamic, slot: int) -> None:
    """Pick the nodes that were found, and tell what the job would hold of them."""
    words, at = state.counts[WORDS], 2 * slot * RESOURCES
    copy_set(state.found_sets, (2 * slot + 1) * words, state.picked, 0, words)
    for resource in range(RESOURCES):
        state.resources[resource] = state.found_amounts[at + resource]
        state.on_node[resource] = state.found_amounts[at + RESOURCES + resource]


@kernel(allocates=False)
def light_again(given: Given, state: Dynamic, slot: int, job: int, partition: int) -> None:
    """Make nodes as light as the test of a job did that was found, once those had left who end before its start."""
    wanted, begin, last, now = (
        wanted_of(given, job, partition),
        state.found_begin[slot],
        state.found_last[slot],
        state.now,
    )
    for word in range(state.counts[WORDS]):
        members, node = state.available[word], word * BITS
        while members != 0:
            if members & 1 != 0 and given.gpus[node] >= wanted.gpus:
                memory, gpus, jobs, held = now.memory[node], now.gpus[node], now.jobs[node], state.first_on[node]
                while begin != AT_ONCE and held != UNKNOWN:
                    other = state.held_by[held]
                    if begin < np.inf and other != last and not goes_before(state, other, state.limit_end[last], last):
                        break
                    memory += memory_on(given, other, state.held_cores[held])
                    gpus += state.held_gpus[held]
                    jobs -= 1
                    held = state.next_on[held]
                put_if_free(given, state, job, wanted, node, memory, gpus, jobs)
            members >>= 1
            node += 1


@kernel(allocates=False)
def note_found(given: Given, state: Dynamic, slot: int, job: int, partition: int, begin: float) -> None:
    """Keep when a job could start, on which nodes, and what it would hold."""
    words, at = state.counts[WORDS], 2 * slot * RESOURCES
    state.found_after[slot], state.found_begin[slot] = state.counts[STARTS_AND_ENDS], begin
    state.found_not_before[slot] = state.clock[NOT_BEFORE]
    if state.counts[IS_CUT] != 0:
        state.found_begin[slot] = np.nan
    for place in range(SPANS):
        state.found_spans[SPANS * slot + place] = state.clock[FIRST_FROM + place]
    state.found_shape[slot], state.found_in[slot] = given.shape[job], partition
    state.found_light[slot], state.found_last[slot] = state.counts[LIGHT], state.counts[LAST_TO_END]
    copy_set(state.available, 0, state.found_sets, 2 * slot * words, words)
    copy_set(state.picked, 0, state.found_sets, (2 * slot + 1) * words, words)
    for resource in range(RESOURCES):
        state.found_amounts[at + resource] = state.resources[resource]
        state.found_amounts[at + RESOURCES + resource] = state.on_node[resource]
