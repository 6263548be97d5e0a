# SPDX-License-Identifier: BSD-3-Clause
"""What is in use on each node, from one start or end of a run to the next; nothing here is shared with the engine."""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray, TinyArray, kernel
from swftools.machines.node_table import NodeTable
from swftools.simulator.validation.in_use import in_order
from swftools.simulator.validation.node_runs import NodeRuns

FINE, CORES, MEMORY, GPUS, COMPANY, TOO_SMALL = range(6)
"""What is wrong with a run where it starts: nothing, too much of something is in use, it is not alone, a small node."""

USERS, EXCLUSIVE = GPUS + 1, GPUS + 2
_COLUMNS = 6  # of what is counted by node; the first stays empty


def find_overfull_nodes(
    start: FloatArray, end: FloatArray, held: NodeRuns, table: NodeTable
) -> tuple[TinyArray, ShortArray]:
    """Return what is wrong with each run on some node where it starts, and on which; of all that is, one thing.

    Ends come before starts at one instant, and starts in their order: of several who start, the last is said to be too
    many. A run of no length must fit beside those that run on then, and takes nothing from others.

    Parameters
    ----------
    start, end : numpy.ndarray of float64
        Of each run, s.
    held : NodeRuns
        What each has; who is not sound has nothing.
    table : NodeTable
        The machine.
    """
    wrong, where = np.zeros(len(start), np.int8), np.full(len(start), -1, np.int32)
    has = np.zeros((len(table), _COLUMNS), np.int64)
    for column, values in ((CORES, table.cores), (MEMORY, table.memory), (GPUS, table.gpus)):
        has[:, column] = values
    used = np.zeros_like(has)
    orders = in_order(start), in_order(end)
    _find_overfull(start, end, *orders, held, has, used, wrong, where)
    return wrong, where


@kernel(allocates=False)
def _find_overfull(
    start: FloatArray,
    end: FloatArray,
    by_start: ShortArray,
    by_end: ShortArray,
    held: NodeRuns,
    has: IntArray,
    used: IntArray,
    wrong: TinyArray,
    where: ShortArray,
) -> None:
    """Fill ``wrong`` and ``where``."""
    ended = i = 0
    while i < len(by_start):
        now = start[by_start[i]]
        while ended < len(by_end) and end[by_end[ended]] <= now:
            run = by_end[ended]
            ended += 1
            if held.sound[run] and end[run] > start[run]:
                _take(held, run, used, -1)
        following = i
        while following < len(by_start) and start[by_start[following]] == now:
            run = by_start[following]
            following += 1
            if held.sound[run] and end[run] <= start[run]:
                _take(held, run, used, 1)
                _judge(held, run, has, used, wrong, where)
                _take(held, run, used, -1)
        for place in range(i, following):
            run = by_start[place]
            if held.sound[run] and end[run] > start[run]:
                _take(held, run, used, 1)
                _judge(held, run, has, used, wrong, where)
        i = following


@kernel(allocates=False)
def _take(held: NodeRuns, run: int, used: IntArray, sign: int) -> None:
    """Count what a run has on its nodes as used, or as used no more."""
    exclusive = 1 if held.is_exclusive[run] else 0
    for place in range(held.begin[run], held.begin[run + 1]):
        for node in range(held.low[place], held.high[place] + 1):
            used[node, CORES] += sign * held.cores[run]
            used[node, MEMORY] += sign * held.memory[run]
            used[node, GPUS] += sign * held.gpus[run]
            used[node, USERS] += sign
            used[node, EXCLUSIVE] += sign * exclusive


@kernel(allocates=False)
def _judge(held: NodeRuns, run: int, has: IntArray, used: IntArray, wrong: TinyArray, where: ShortArray) -> None:
    """Fill in what is wrong with a run on the first of its nodes on which something is."""
    for place in range(held.begin[run], held.begin[run + 1]):
        for node in range(held.low[place], held.high[place] + 1):
            found = FINE
            is_small = held.cores[run] > has[node, CORES] or held.memory[run] > has[node, MEMORY]
            if is_small or held.gpus[run] > has[node, GPUS]:
                found = TOO_SMALL
            elif used[node, EXCLUSIVE] > 0 and used[node, USERS] > 1:
                found = COMPANY
            elif used[node, CORES] > has[node, CORES]:
                found = CORES
            elif used[node, MEMORY] > has[node, MEMORY]:
                found = MEMORY
            elif used[node, GPUS] > has[node, GPUS]:
                found = GPUS
            if found != FINE:
                wrong[run], where[run] = found, node
                return
