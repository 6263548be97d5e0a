# SPDX-License-Identifier: BSD-3-Clause
"""How light nodes are to a choice: what the last test of a job with GPUs left on them.

A test of such a job, whether it is to start, to be planned or has just come, makes each node lighter that has the GPUs
it asks for, by as many as are free there, at most those it asks. Lighter nodes of a weight come first for whoever is
chosen nodes. It stays so until a job that may use the node starts or is refused by the main scheduler, or comes. Tests
of backfill leave it.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.machines.node_table import NodeTable
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.node_sets import BITS
from swftools.simulator.slurm.state import (
    KEEPS_LIGHT,
    LEFT_OUT,
    LIGHT,
    NO_GPUS,
    UNKNOWN,
    WORDS,
    Amounts,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.usable import Wanted, wanted_of

_FACTOR = 0x2545F491
_HALF, _LOW = 31, (1 << 32) - 1


def keeps_light(table: NodeTable, asked: SlurmJobs, row: IntArray) -> bool:
    """Whether jobs with and without GPUs run in a partition that has any, so that tests of some matter to others."""
    has_gpus = (asked.gpus_per_node[row] > 0) | (asked.gpus[row] > 0)
    if not has_gpus.any():
        return False
    parts = np.diff(asked.first_partition)[row]
    place = np.repeat(asked.first_partition[:-1][row] - (np.cumsum(parts) - parts), parts) + np.arange(parts.sum())
    with_gpus = np.array([bool(table.gpus[each.nodes].any()) for each in table.partitions])
    return bool(with_gpus[asked.partition[place][np.repeat(~has_gpus, parts)]].any())


@kernel(allocates=False)
def asks_gpus(given: Given, job: int) -> bool:
    """Whether a job asks for GPUs."""
    return given.gpus_per_node[job] + given.gpus_in_all[job] > 0 and int(given.number[LEFT_OUT]) != NO_GPUS


@kernel(allocates=False)
def stays_light(given: Given, job: int) -> bool:
    """Whether a test of a job leaves nodes lighter for jobs without GPUs."""
    return given.number[KEEPS_LIGHT] > 0.0 and asks_gpus(given, job)


@kernel(allocates=False)
def put_light(given: Given, state: Dynamic, job: int, node: int, free: int) -> None:
    """Let a node be as light as its free GPUs make it for a job."""
    state.light[node] = min(free, max(given.gpus_in_all[job], given.gpus_per_node[job]))
    state.lit[node // BITS] |= 1 << (node % BITS)


@kernel(allocates=False)
def put_if_free(
    given: Given, state: Dynamic, job: int, wanted: Wanted, node: int, memory: int, gpus: int, jobs: int
) -> None:
    """Let a node be light if it has the GPUs of a job free, and its memory."""
    has_room, is_free = memory >= max(wanted.memory, wanted.memory_per_cpu), not wanted.alone or jobs == 0
    if gpus >= wanted.gpus and has_room and is_free:
        put_light(given, state, job, node, gpus)


@kernel(allocates=False)
def note_light(given: Given, state: Dynamic, job: int, partition: int, allowed: IntArray, amounts: Amounts) -> None:
    """Make the nodes of a set light that have the GPUs of a job free, and its memory; its CPUs may be in use."""
    wanted = wanted_of(given, job, partition)
    for word in range(state.counts[WORDS]):
        members, node = allowed[word], word * BITS
        while members != 0:
            if members & 1 != 0:
                put_if_free(
                    given, state, job, wanted, node, amounts.memory[node], amounts.gpus[node], amounts.jobs[node]
                )
            members >>= 1
            node += 1


@kernel(allocates=False)
def note_refused(given: Given, state: Dynamic, job: int, partition: int) -> None:
    """Make the nodes light that have the GPUs of a job at all: it is asked whether it could ever start there."""
    if not stays_light(given, job):
        return
    wanted, words = wanted_of(given, job, partition), state.counts[WORDS]
    for word in range(words):
        members, node = given.partition_bits[partition * words + word], word * BITS
        if given.nodes_allowed[job] != UNKNOWN:
            members &= given.set_bits[given.nodes_allowed[job] * words + word]
        while members != 0:
            if members & 1 != 0 and given.gpus[node] >= wanted.gpus:
                put_light(given, state, job, node, given.gpus[node])
            members >>= 1
            node += 1


@kernel(allocates=False)
def forget_light(given: Given, state: Dynamic, job: int, partition: int) -> None:
    """Make all nodes of a partition that a job may use as heavy as they are."""
    if given.number[KEEPS_LIGHT] == 0.0:
        return
    words = state.counts[WORDS]
    for word in range(words):
        some = state.lit[word] & given.partition_bits[partition * words + word]
        if given.nodes_allowed[job] != UNKNOWN:
            some &= given.set_bits[given.nodes_allowed[job] * words + word]
        forget_word(state, word, some)


@kernel(allocates=False)
def forget_light_of(given: Given, state: Dynamic, some: IntArray) -> None:
    """Make the nodes of a set as heavy as they are."""
    if given.number[KEEPS_LIGHT] == 0.0:
        return
    for word in range(state.counts[WORDS]):
        forget_word(state, word, state.lit[word] & some[word])


@kernel(allocates=False)
def forget_word(state: Dynamic, word: int, some: int) -> None:
    """Make nodes of a word as heavy as they are."""
    state.lit[word] &= ~some
    node = word * BITS
    while some != 0:
        if some & 1 != 0:
            state.light[node] = 0
        some >>= 1
        node += 1


@kernel(allocates=False)
def mark_light(given: Given, state: Dynamic, job: int) -> int:
    """Write a number for how light the available nodes are into ``counts[LIGHT]``, 0 if none is; return it.

    For a job with GPUs it is 0 as well: its own test says first how light the nodes are that it can use.
    """
    mark = 0
    if given.number[KEEPS_LIGHT] > 0.0 and not asks_gpus(given, job):
        for word in range(state.counts[WORDS]):
            some, node = state.lit[word] & state.available[word], word * BITS
            while some != 0:
                if some & 1 != 0:
                    mark ^= (node << 16) + state.light[node]
                    mark = ((mark & _LOW) * _FACTOR) ^ (mark >> _HALF)
                some >>= 1
                node += 1
    state.counts[LIGHT] = mark
    return mark
