# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a cycle of backfill: records of which nodes nobody has reserved, from when to when; without who runs.

Of each record it is known in which words it may differ from the one before it, so that only those are looked at.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.slurm.absence import keep_off_reserved
from swftools.simulator.slurm.node_sets import bits_of, copy_set
from swftools.simulator.slurm.rooms import note_roomy
from swftools.simulator.slurm.state import (
    BEHIND_WORD,
    IS_TOO_LITTLE,
    LOW_WORD,
    RECORD,
    RECORDS,
    ROOMY,
    UNKNOWN,
    VERSION,
    WORDS,
    Dynamic,
    Given,
)

FIRST_WITH_SUBSETS = 17.12
"""The version from which on a later try is skipped where no other nodes are free then."""


@kernel(allocates=False)
def look_anew(given: Given, state: Dynamic, job: int, partition: int) -> None:
    """Write down which nodes a job may have at all, between which words they are, and begin at the plan's begin."""
    words, counts, at = state.counts[WORDS], state.counts, partition * state.counts[WORDS]
    low, behind = words, 0
    for word in range(words):
        some = state.up[word] & given.partition_bits[at + word]
        if given.nodes_allowed[job] != UNKNOWN:
            some &= given.set_bits[given.nodes_allowed[job] * words + word]
        state.may_have[word] = some
        state.available[word] = state.roomy[word] = 0
        if some != 0:
            low, behind = min(low, word), word + 1
    counts[LOW_WORD], counts[BEHIND_WORD], counts[RECORD], counts[ROOMY] = low, behind, 0, 0


@kernel(allocates=False)
def find_available(
    given: Given, state: Dynamic, job: int, rooms: int, from_then_on: float, until: float, now: float, is_first: bool
) -> float:
    """Write the nodes into ``state.available`` that nobody has reserved from a time to another.

    Returns when to try next; 0: never. It stops, and says so by ``IS_TOO_LITTLE``, as soon as it is sure that a job
    cannot start on these nodes before then: too few are left, or too few of them have room by then. Of a job that is to
    be tested for the first time it is not told which of them.
    """
    counts, available, before = state.counts, state.available, state.may_have
    low, behind_word, words = counts[LOW_WORD], counts[BEHIND_WORD], counts[WORDS]
    counts[IS_TOO_LITTLE] = 0
    for word in range(low, behind_word):
        available[word] = state.may_have[word]
    may_stop, behind_reserved = rooms != UNKNOWN, 0.0
    if len(given.reserved_begin) > 0:
        may_stop, before = False, state.before
        behind_reserved = keep_off_reserved(given, state, job, from_then_on, until, now)
        copy_set(available, low, before, low, behind_word - low)
    later, record = 0.0, counts[RECORD]
    while state.end[record] <= from_then_on and state.next[record] != 0:
        record = state.next[record]
    counts[RECORD] = record
    others, is_begun, free = given.number[VERSION] < FIRST_WITH_SUBSETS, False, state.free
    while True:
        behind, is_found = state.next[record], False
        if state.end[record] > from_then_on:
            if behind != 0 and later == 0.0:  # then what is available is what was available before and is free now
                is_found = others
                for word in range(max(low, state.other_low[behind]), min(behind_word, state.other_behind[behind])):
                    is_found |= before[word] & free[behind * words + word] & ~free[record * words + word] != 0
                if is_found:
                    later = state.end[record]
            if state.begin[record] > until:
                if later == 0.0 and behind != 0 and state.next[behind] != 0:
                    later = state.end[behind]
                break
            first, last = low, behind_word
            if is_begun:
                first, last = max(low, state.other_low[record]), min(behind_word, state.other_behind[record])
            for word in range(first, last):
                available[word] &= free[record * words + word]
            is_begun = True
        if is_found and may_stop and is_too_little(given, state, job, rooms, later, now, is_first):
            return later
        if behind == 0:
            break
        record = behind
    if behind_reserved > 0.0 and (later == 0.0 or behind_reserved < later):
        later = behind_reserved
    return later


@kernel(allocates=False)
def is_too_little(given: Given, state: Dynamic, job: int, rooms: int, later: float, now: float, is_first: bool) -> bool:
    """Whether a job surely cannot start by a time on the available nodes; ``IS_TOO_LITTLE`` says it as well."""
    if later < now + 1.0:
        return False
    if not are_too_few(given, state, job) and (is_first or not has_no_room(given, state, job, rooms, later)):
        return False
    state.counts[IS_TOO_LITTLE] = 1
    return True


@kernel(allocates=False)
def are_too_few(given: Given, state: Dynamic, job: int) -> bool:
    """Whether fewer nodes are available than a job needs."""
    counts, missing = state.counts, given.min_nodes[job]
    for word in range(counts[LOW_WORD], counts[BEHIND_WORD]):
        if state.available[word] != 0:
            missing -= bits_of(state.available[word])
            if missing <= 0:
                return False
    return True


@kernel(allocates=False)
def has_no_room(given: Given, state: Dynamic, job: int, rooms: int, later: float) -> bool:
    """Whether too few of the available nodes have room for a job by a time, which is no earlier than the last one."""
    counts, missing = state.counts, given.min_nodes[job]
    note_roomy(given, state, rooms, later)
    if counts[ROOMY] < missing:
        return True
    for word in range(counts[LOW_WORD], counts[BEHIND_WORD]):
        some = state.available[word] & state.roomy[word]
        if some != 0:
            missing -= bits_of(some)
            if missing <= 0:
                return False
    return True


@kernel(allocates=False)
def words_of_picked(state: Dynamic, words: int) -> tuple[int, int]:
    """Return the first word that has picked nodes, and the one behind the last."""
    low, behind = 0, words
    while low < behind and state.picked[low] == 0:
        low += 1
    while behind > low and state.picked[behind - 1] == 0:
        behind -= 1
    return low, behind


@kernel(allocates=False)
def overlaps(state: Dynamic, words: int, first: float, last: float) -> bool:
    """Whether one of the picked nodes is reserved in a slot."""
    record, (low, behind) = 0, words_of_picked(state, words)
    while True:
        if state.end[record] > first and state.begin[record] < last:
            for word in range(low, behind):
                if state.picked[word] & ~state.free[record * words + word] != 0:
                    return True
        record = state.next[record]
        if record == 0:
            return False


@kernel(allocates=False)
def split(state: Dynamic, words: int, record: int, time: float) -> None:
    """Let a record end at a time, and another one go on from there."""
    new = state.counts[RECORDS]
    state.begin[new], state.end[new], state.end[record] = time, state.end[record], time
    state.next[new], state.next[record] = state.next[record], new
    state.other_low[new] = state.other_behind[new] = 0
    copy_set(state.free, record * words, state.free, new * words, words)
    state.counts[RECORDS] += 1


@kernel(allocates=False)
def reserve(state: Dynamic, words: int, first: float, last: float) -> None:
    """Reserve the picked nodes for a slot; the first record that is as the one before it becomes one with it."""
    if first >= last:
        return
    record, is_inside, (low, behind) = 0, False, words_of_picked(state, words)
    while True:
        if state.begin[record] < first < state.end[record]:
            split(state, words, record, first)
        if state.begin[record] < last < state.end[record]:
            split(state, words, record, last)
        if is_inside != (state.begin[record] >= first and state.end[record] <= last):
            is_inside = not is_inside
            note_other(state, record, low, behind)
        if is_inside:
            for word in range(low, behind):
                state.free[record * words + word] &= ~state.picked[word]
        record = state.next[record]
        if record == 0:
            break
    record = 0
    while state.next[record] != 0:
        following, same = state.next[record], True
        for word in range(state.other_low[following], state.other_behind[following]):
            same &= state.free[record * words + word] == state.free[following * words + word]
        if same:
            state.end[record], state.next[record] = state.end[following], state.next[following]
            break
        record = following


@kernel(allocates=False)
def note_other(state: Dynamic, record: int, low: int, behind: int) -> None:
    """Note that a record may differ from the one before it in some words."""
    if state.other_low[record] < state.other_behind[record]:
        low, behind = min(low, state.other_low[record]), max(behind, state.other_behind[record])
    state.other_low[record], state.other_behind[record] = low, behind
