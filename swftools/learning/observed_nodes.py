# SPDX-License-Identifier: BSD-3-Clause
"""What is seen of a machine of nodes and its queue at a decision: more columns and rows than of a pool.

A row of a job, and that of the machine, begins with the columns that a pool has. Behind the row of the machine is a row
of each kind of node, and of each partition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.kernel.pointers import Lent
from swftools.learning.observation import (
    FEATURES,
    FITS,
    FREE_SHARE,
    GOES_AHEAD,
    HOUR,
    IS_JOB,
    OF_A_POOL,
    QUEUE,
    RESERVES,
    SHOWN,
    SPARE_SHARE,
    TIME,
    TIME_TO_END,
    TIME_TO_HEAD,
    WAITED,
    WIDTH,
    Form,
    ObservedJobs,
    empty_seen,
    observe,
    seen_at,
    show_end,
    show_no_more,
)
from swftools.machines.node_table import NodeTable
from swftools.simulator.engine.changes import next_change
from swftools.simulator.instants import time_until
from swftools.simulator.machine.state import CAPACITY, FREE, HELD, NOW, RUNNING, SUBMITTED, WAITING, WAKE
from swftools.simulator.machine.views import expected_time, first_waiting, width
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import any_may_start
from swftools.simulator.nodes.exchange import instead_of
from swftools.simulator.nodes.searching import find_both
from swftools.simulator.nodes.shadow import reserve
from swftools.simulator.nodes.state import HEAD, IS_FRESH, NodeMachine, Places
from swftools.simulator.nodes.verbs import fits_on_nodes
from swftools.simulator.nodes.words import HALF, WHOLE, cores_in, gpus_in, memory_in

NODES, CORES, MEMORY, GPUS, ALONE, FREE_THERE, PARTITIONS = range(FEATURES, FEATURES + 7)
"""What is seen of a waiting job beside what a pool shows; from ``PARTITIONS`` on a column for each partition."""

FREE_CORES, FREE_MEMORY, FREE_GPUS, IDLE, SIZE = range(5)
"""What is seen of a kind of nodes, or of a partition, in a row each, beside ``CORES``, ``MEMORY`` and ``GPUS``."""

AMOUNTS = 4
"""What is counted of nodes: cores, memory, GPUs, and those on which nothing runs."""

WIDE, RESOURCES = range(2)
"""Places in ``ObservedOnNodes.sizes``: columns; rows of kinds and partitions."""


class ObservedOnNodes(NamedTuple):
    """What is seen, as ``ObservedJobs`` has it, and what the machine is like.

    Nodes of one kind and of the same partitions are a group. Those that stand side by side are a stretch: stretch s is
    the nodes from ``first[s]`` up to ``first[s + 1]``, of the group ``alike[s]``. Group g counts for the rows from
    ``begins[g]`` up to ``begins[g + 1]`` of ``counted_in``. ``one_of`` is by row, and behind the last row of the
    machine, 1 through each of the four amounts that it has in all; ``sums`` is room for what is free by group, ``free``
    by row. ``most`` is 1 through the nodes of the machine, and through the most cores, memory and GPUs of a node.
    ``fixed`` has the rows with what does not change, ``marks`` by place the partitions.
    """

    observation: npt.NDArray[np.float32]
    mask: npt.NDArray[np.int8]
    job: IntArray
    counts: IntArray
    sizes: IntArray
    first: IntArray
    alike: IntArray
    begins: IntArray
    counted_in: IntArray
    one_of: FloatArray
    sums: IntArray
    free: FloatArray
    most: FloatArray
    fixed: npt.NDArray[np.float32]
    marks: npt.NDArray[np.float32]


def form_of(table: NodeTable | None) -> Form:
    """Return in what form a machine is seen; None is a pool."""
    if table is None:
        return OF_A_POOL
    return Form(PARTITIONS + len(table.partitions), len(table.kinds) + len(table.partitions))


def on_this_machine(seen: ObservedJobs, places: Places, table: NodeTable, order: IntArray) -> ObservedOnNodes:
    """Return what is seen of a machine of nodes, in the arrays of ``seen``.

    Parameters
    ----------
    seen : ObservedJobs
        Room of the form that ``form_of`` tells.
    places : Places
        Where the jobs may run.
    table : NodeTable
        The machine.
    order : numpy.ndarray of int64, shape (nodes,)
        Numbers of the nodes, in the order in which the placement has them.
    """
    columns, rows = form_of(table)
    kinds, partitions, nodes = len(table.kinds), len(table.partitions), len(table)
    is_in = np.zeros((nodes, rows), np.bool_)
    is_in[np.arange(nodes), table.kind] = True
    for number, partition in enumerate(table.partitions):
        is_in[partition.nodes, kinds + number] = True
    groups, alike = np.unique(is_in[order], axis=0, return_inverse=True)
    alike = alike.ravel()
    first = np.flatnonzero(np.diff(alike, prepend=-1))
    amounts = np.column_stack([table.cores, table.memory, table.gpus, np.ones(nodes, np.int64)])
    totals = np.vstack([is_in.T.astype(np.int64) @ amounts, amounts.sum(axis=0)])
    largest = amounts.max(axis=0)
    fixed = np.zeros((rows, columns))
    fixed[:, SIZE] = totals[:-1, AMOUNTS - 1] / nodes
    for row in range(rows):
        own = amounts[is_in[:, row]]
        fixed[row, CORES : GPUS + 1] = (own.max(axis=0) * _one_of(largest))[:3] if len(own) else 0.0
        fixed[row, PARTITIONS:] = is_in[is_in[:, row]][:, kinds:].any(axis=0)
    fixed[kinds:, PARTITIONS:] = np.eye(partitions)
    bits = [(places.partitions0, places.partitions1)[number >= HALF] >> number % HALF for number in range(partitions)]
    return ObservedOnNodes(
        *seen,
        np.array([columns, rows]),
        np.append(first, nodes),
        alike[first].astype(np.int64),
        np.concatenate([[0], np.cumsum(groups.sum(axis=1))]).astype(np.int64),
        np.nonzero(groups)[1].astype(np.int64),
        _one_of(totals).ravel(),
        np.zeros(len(groups) * AMOUNTS, np.int64),
        np.zeros((rows + 1) * AMOUNTS),
        _one_of(np.array([nodes, *largest[:3]])),
        fixed.astype(np.float32).ravel(),
        (np.array(bits).T & 1).astype(np.float32).ravel(),
    )


def _one_of(amounts: Any) -> FloatArray:
    """Return 1 through amounts; 0 where there is nothing."""
    return np.divide(1.0, amounts, out=np.zeros(np.shape(amounts)), where=np.asarray(amounts) > 0)


def empty_seen_on_nodes() -> ObservedOnNodes:
    """Return what is of the kinds of arrays that all have."""
    seen: Any = empty_seen(1)
    whole, real, small = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.float32)
    return ObservedOnNodes._make((*seen, whole, whole, whole, whole, whole, real, whole, real, real, small, small))


seen_on_nodes_at = instead_of(seen_at)(Lent(empty_seen_on_nodes))


@instead_of(observe)
@kernel(allocates=False)
def observe_on_nodes(machine: NodeMachine, seen: ObservedOnNodes) -> bool:
    """Write what is seen, and what is allowed; return whether there is a job to choose.

    Of a job to come, and of how long a job really runs, nothing is looked up.
    """
    shown, mask, queue, rows = seen.observation, seen.mask, machine.queue, len(seen.job)
    counts, places, now = machine.counts, len(machine.queue.job), machine.clock[NOW]
    columns, share = seen.sizes[WIDE], 1.0 / counts[CAPACITY]
    show_resources(machine, seen)
    free = free_cores(machine, seen)
    head, reserves, shadow, spare, rest = first_waiting(machine), seen.counts[RESERVES] > 0, now, free, 0.0
    is_head_fitting = fits_on_nodes(machine, head)
    if is_head_fitting:
        spare -= width(machine, head)
    elif head != NOBODY:
        shadow = reserve(machine, head)
        spare, rest = 0, np.inf  # where it has no reservation, as its nodes are not known to be back
        if shadow < np.inf:
            spare, rest = cores_then(machine), time_until(now, shadow)
    row, choices, place, used = 0, 0, queue.used[1], queue.used[0]
    while place < used and row < rows:
        if queue.least[2 * (place + places)] < np.inf:
            job, at = queue.job[place], row * columns
            is_fitting = is_head_fitting if job == head else fits_on_nodes(machine, job)
            show_job(machine, seen, job, at)
            shown[at + FITS] = is_fitting
            shown[at + GOES_AHEAD] = is_fitting and (
                job == head or (not is_head_fitting and delays_nobody(machine, job, rest))
            )
            is_allowed = is_fitting or reserves
            mask[row], seen.job[row] = is_allowed, job
            choices += is_allowed
            row += 1
        place += 1
    machine.classes.counts[HEAD], machine.classes.counts[IS_FRESH] = NOBODY, 0  # a policy may protect others
    show_no_more_on_nodes(seen, row)
    at = rows * columns
    shown[at + FREE_SHARE] = free * share
    shown[at + TIME_TO_HEAD] = (shadow - now) / (shadow - now + HOUR) if shadow < np.inf else 1.0
    shown[at + QUEUE] = counts[WAITING] / (counts[WAITING] + rows)
    shown[at + SPARE_SHARE] = max(spare, 0) * share
    rest = 0.0
    if counts[RUNNING] > 0:
        rest = max(machine.expected_end[machine.running[0]] - now, 0.0)
    shown[at + TIME_TO_END] = rest / (rest + HOUR)
    is_to_come = counts[SUBMITTED] < len(machine.allocated) or counts[HELD] > 0
    changes = min(machine.clock[WAKE], next_change(machine))
    mask[rows] = counts[RUNNING] > 0 or is_to_come or changes < np.inf
    return choices > 0 and any_may_start(machine)


@kernel(allocates=False)
def show_job(machine: NodeMachine, seen: ObservedOnNodes, job: int, at: int) -> None:
    """Write what a waiting job asks for, and how long it has waited."""
    shown, asked, places, most = seen.observation, machine.asked, machine.places, seen.most
    need, place, now = asked.need[job], asked.place[job], machine.clock[NOW]
    time, wait = expected_time(machine, job), now - machine.requests.submit_time[job]
    shown[at + WIDTH] = width(machine, job) / machine.counts[CAPACITY]
    shown[at + TIME] = time / (time + HOUR)
    shown[at + WAITED] = wait / (wait + HOUR)
    shown[at + IS_JOB] = 1.0
    shown[at + NODES] = asked.nodes[job] * most[0]
    shown[at + CORES] = cores_in(need) * most[1]
    shown[at + MEMORY] = memory_in(need) * most[2]
    shown[at + GPUS] = gpus_in(need) * most[3]
    shown[at + ALONE] = need & WHOLE != 0
    partitions = seen.sizes[WIDE] - PARTITIONS
    first = seen.sizes[RESOURCES] - partitions  # the rows of kinds are before those of partitions
    free = 0.0
    for group in range(places.sets[place], places.sets[place + 1]):
        free = max(free, seen.free[(first + places.partition[group]) * AMOUNTS])
    shown[at + FREE_THERE] = free
    for partition in range(partitions):
        shown[at + PARTITIONS + partition] = seen.marks[place * partitions + partition]


@kernel(allocates=False)
def delays_nobody(machine: NodeMachine, job: int, rest: float) -> bool:
    """Whether a job that fits now ends within the time to the reservation of the first job, or fits beside it."""
    classes, wanted = machine.classes, machine.asked.nodes[job]
    if expected_time(machine, job) <= rest:
        return True
    slot = classes.slot[classes.class_of[job]] - 1
    if classes.fit_then[slot] < wanted:
        return False
    got, _ = find_both(machine, job)
    if got < wanted:
        classes.fit_then[slot] = got
    return got == wanted


@kernel(allocates=False)
def is_away(machine: NodeMachine, node: int) -> bool:  # noqa: ARG001 (a machine with outages needs them)
    """Whether a node is away now: none is, but on a machine with outages."""
    return False


@kernel(allocates=False)
def free_cores(machine: NodeMachine, seen: ObservedOnNodes) -> int:  # noqa: ARG001 (likewise)
    """Return how many cores are free now."""
    return machine.counts[FREE]


@kernel(allocates=False)
def cores_then(machine: NodeMachine) -> int:
    """Return the cores that will be free when the first job has what is reserved for it."""
    total = 0
    for node in range(np.uint64(0), np.uint64(len(machine.nodes.then))):
        total += cores_in(machine.nodes.then[node])
    return total


@kernel(allocates=False)
def show_resources(machine: NodeMachine, seen: ObservedOnNodes) -> None:
    """Write what is free of each kind of nodes, of each partition, and of the machine."""
    sums, free, shown = seen.sums, seen.free, seen.observation
    columns, rows = seen.sizes[WIDE], seen.sizes[RESOURCES]
    for i in range(len(sums)):
        sums[i] = 0
    for i in range(len(free)):
        free[i] = 0.0
    words = machine.nodes.free
    for stretch in range(len(seen.alike)):
        cores = memory = gpus = idle = 0
        for node in range(np.uint64(seen.first[stretch]), np.uint64(seen.first[stretch + 1])):
            if is_away(machine, node):
                continue
            word = words[node]
            cores += cores_in(word)
            memory += memory_in(word)
            gpus += gpus_in(word)
            idle += word & WHOLE != 0
        at = seen.alike[stretch] * AMOUNTS
        sums[at] += cores
        sums[at + 1] += memory
        sums[at + 2] += gpus
        sums[at + 3] += idle
    for group in range(len(seen.begins) - 1):
        for amount in range(AMOUNTS):
            of_group = sums[group * AMOUNTS + amount]
            free[rows * AMOUNTS + amount] += of_group
            for i in range(seen.begins[group], seen.begins[group + 1]):
                free[seen.counted_in[i] * AMOUNTS + amount] += of_group
    for i in range(len(free)):
        free[i] *= seen.one_of[i]
    begin = (len(seen.job) + 1) * columns
    for i in range(rows * columns):
        shown[begin + i] = seen.fixed[i]
    for row in range(rows):
        for amount in range(AMOUNTS):
            shown[begin + row * columns + amount] = free[row * AMOUNTS + amount]
    at = len(seen.job) * columns
    shown[at + NODES], shown[at + CORES] = free[rows * AMOUNTS + IDLE], free[rows * AMOUNTS]
    shown[at + MEMORY], shown[at + GPUS] = free[rows * AMOUNTS + FREE_MEMORY], free[rows * AMOUNTS + FREE_GPUS]


@instead_of(show_no_more)
@kernel(allocates=False)
def show_no_more_on_nodes(seen: ObservedOnNodes, rows: int) -> None:
    """Clear the rows behind the first ones in which there were jobs."""
    columns = seen.sizes[WIDE]
    for row in range(rows, seen.counts[SHOWN]):
        for at in range(row * columns, (row + 1) * columns):
            seen.observation[at] = 0.0
        seen.mask[row], seen.job[row] = 0, NOBODY
    seen.counts[SHOWN] = rows


@instead_of(show_end)
@kernel(allocates=False)
def show_end_on_nodes(seen: ObservedOnNodes) -> None:
    """Show that nothing is left to decide: no job, nothing of the machine, and waiting is all that is allowed."""
    show_no_more_on_nodes(seen, 0)
    rows = len(seen.job)
    for at in range(rows * seen.sizes[WIDE], len(seen.observation)):
        seen.observation[at] = 0.0
    seen.mask[rows] = 1
