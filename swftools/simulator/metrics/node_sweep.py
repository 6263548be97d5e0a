# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of ``over_time_on_nodes.py``: the runs of a schedule swept by time, with what each node has free.

At one instant everything happens before one looks: ends, submissions, starts; so a run of no length is never seen.
"""

from __future__ import annotations

from typing import NamedTuple

from swftools.kernel import FloatArray, IntArray, ShortArray, TinyArray, kernel

NOBODY = -1


class NodesInSweep(NamedTuple):
    """Of each node what is free, and how many runs it has.

    ``is_counted``: whether what runs there counts in what is held; ``knows_memory``: whether its memory does.
    ``in_view``: the last first waiting job for which the node was one, of its partition and large enough; ``fits``:
    whether that job fits there.
    """

    cores: IntArray
    memory: IntArray
    gpus: IntArray
    users: ShortArray
    is_counted: TinyArray
    knows_memory: TinyArray
    in_view: ShortArray
    fits: TinyArray


class RunsInSweep(NamedTuple):
    """Runs, by the rows of the segments: their ranges of nodes, what they hold on each, and their partition.

    ``is_exclusive`` runs hold the whole of a node; ``whole_cores``, ``whole_memory`` and ``whole_gpus`` are the sizes
    of the nodes.
    """

    start: FloatArray
    end: FloatArray
    by_start: ShortArray
    by_end: ShortArray
    begins: IntArray
    first: ShortArray
    last: ShortArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_exclusive: TinyArray
    partition: IntArray
    whole_cores: IntArray
    whole_memory: IntArray
    whole_gpus: IntArray


class QueueInSweep(NamedTuple):
    """Jobs in the order of the queue: when each enters it, s, and its first run; nodes of the partitions.

    Those of partition p are ``nodes[begins[p] : begins[p + 1]]``.
    """

    entry: FloatArray
    run: ShortArray
    begins: IntArray
    nodes: IntArray


class HeldOverTime(NamedTuple):
    """What is held from each instant on: nodes with a run, cores, memory (MB), GPUs (thousandths).

    ``is_fragmented``: whether the first job that waits has room in sum and none on nodes.
    """

    nodes: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_fragmented: TinyArray


class InView(NamedTuple):
    """What is kept of the job in view, the first of those that wait or that waited last: all of length 1.

    What the nodes of its partition that are large enough for it have free in sum, and on how many of them it fits.
    """

    job: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    fits: IntArray


@kernel(allocates=False)
def sweep_nodes(
    times: FloatArray,
    runs: RunsInSweep,
    queue: QueueInSweep,
    nodes: NodesInSweep,
    view: InView,
    held: HeldOverTime,
) -> None:
    """Fill ``held`` for each of the times, which rise and have all starts, ends and entries among them.

    The caller guarantees that all nodes are free, and that nothing is in view.
    """
    started = ended = head = 0
    for instant in range(len(times)):
        now = times[instant]
        if instant > 0:
            held.nodes[instant] = held.nodes[instant - 1]
            held.cores[instant] = held.cores[instant - 1]
            held.memory[instant] = held.memory[instant - 1]
            held.gpus[instant] = held.gpus[instant - 1]
        while started < len(runs.by_start) and runs.start[runs.by_start[started]] == now:
            _move(runs, runs.by_start[started], 1, queue, nodes, view, held, instant)
            started += 1
        while ended < len(runs.by_end) and runs.end[runs.by_end[ended]] == now:
            _move(runs, runs.by_end[ended], -1, queue, nodes, view, held, instant)
            ended += 1
        while head < len(queue.run) and queue.entry[head] <= now and runs.start[queue.run[head]] <= now:
            head += 1
        if head < len(queue.run) and queue.entry[head] <= now:
            held.is_fragmented[instant] = _is_fragmented(runs, queue, nodes, view, head)


@kernel(allocates=False)
def _move(
    runs: RunsInSweep,
    run: int,
    sign: int,
    queue: QueueInSweep,
    nodes: NodesInSweep,
    view: InView,
    held: HeldOverTime,
    instant: int,
) -> None:
    """Let a run take its nodes (sign 1), or give them back (-1)."""
    for place in range(runs.begins[run], runs.begins[run + 1]):
        for node in range(runs.first[place], runs.last[place] + 1):
            cores, memory, gpus = runs.cores[run], runs.memory[run], runs.gpus[run]
            if runs.is_exclusive[run]:
                cores, memory, gpus = runs.whole_cores[node], runs.whole_memory[node], runs.whole_gpus[node]
            nodes.cores[node] -= sign * cores
            nodes.memory[node] -= sign * memory
            nodes.gpus[node] -= sign * gpus
            before = nodes.users[node]
            nodes.users[node] += sign
            if nodes.is_counted[node]:
                held.nodes[instant] += int(nodes.users[node] > 0) - int(before > 0)
                held.cores[instant] += sign * cores
                held.memory[instant] += sign * memory * nodes.knows_memory[node]
                held.gpus[instant] += sign * gpus
            if view.job[0] != NOBODY and nodes.in_view[node] == view.job[0]:
                view.cores[0] -= sign * cores
                view.memory[0] -= sign * memory
                view.gpus[0] -= sign * gpus
                fits = int(_fits(runs, queue.run[view.job[0]], nodes, node))
                view.fits[0] += fits - nodes.fits[node]
                nodes.fits[node] = fits


@kernel(allocates=False)
def _is_fragmented(runs: RunsInSweep, queue: QueueInSweep, nodes: NodesInSweep, view: InView, head: int) -> bool:
    """Whether a job has room in sum in its partition, and not on as many nodes as it needs."""
    run = queue.run[head]
    if runs.partition[run] < 0:
        return False
    if view.job[0] != head:
        _look_at(runs, queue, nodes, view, head)
    many, cores, memory, gpus = _held_in_all(runs, run)
    has_sum = view.cores[0] >= cores and view.memory[0] >= memory and view.gpus[0] >= gpus
    return has_sum and view.fits[0] < many


@kernel(allocates=False)
def _look_at(runs: RunsInSweep, queue: QueueInSweep, nodes: NodesInSweep, view: InView, head: int) -> None:
    """Let a job be in view, and no other."""
    run = queue.run[head]
    partition = runs.partition[run]
    view.job[0] = head
    view.cores[0] = view.memory[0] = view.gpus[0] = view.fits[0] = 0
    for place in range(queue.begins[partition], queue.begins[partition + 1]):
        node = queue.nodes[place]
        if (
            runs.whole_cores[node] >= runs.cores[run]
            and runs.whole_memory[node] >= runs.memory[run]
            and runs.whole_gpus[node] >= runs.gpus[run]
        ):
            nodes.in_view[node] = head
            nodes.fits[node] = int(_fits(runs, run, nodes, node))
            view.cores[0] += nodes.cores[node]
            view.memory[0] += nodes.memory[node]
            view.gpus[0] += nodes.gpus[node]
            view.fits[0] += nodes.fits[node]


@kernel(allocates=False)
def _held_in_all(runs: RunsInSweep, run: int) -> tuple[int, int, int, int]:
    """Return how many nodes a run has, and the cores, memory and GPUs that it holds on all of them."""
    many = cores = memory = gpus = 0
    for place in range(runs.begins[run], runs.begins[run + 1]):
        many += int(runs.last[place]) - int(runs.first[place]) + 1
        if runs.is_exclusive[run]:
            for node in range(runs.first[place], runs.last[place] + 1):
                cores += runs.whole_cores[node]
                memory += runs.whole_memory[node]
                gpus += runs.whole_gpus[node]
    if not runs.is_exclusive[run]:
        cores, memory, gpus = many * runs.cores[run], many * runs.memory[run], many * runs.gpus[run]
    return many, cores, memory, gpus


@kernel(allocates=False)
def _fits(runs: RunsInSweep, run: int, nodes: NodesInSweep, node: int) -> bool:
    """Whether a node has what a run needs of it; of one that a run has alone nothing is free."""
    if runs.is_exclusive[run] and nodes.users[node] > 0:
        return False
    return (
        nodes.cores[node] >= runs.cores[run]
        and nodes.memory[node] >= runs.memory[run]
        and nodes.gpus[node] >= runs.gpus[run]
    )


@kernel(allocates=False)
def add_time(runs: RunsInSweep, seconds: FloatArray, cores: FloatArray, memory: FloatArray, gpus: FloatArray) -> None:
    """Add to each node the time of the runs that it has, times what they hold there."""
    for run in range(len(seconds)):
        for place in range(runs.begins[run], runs.begins[run + 1]):
            for node in range(runs.first[place], runs.last[place] + 1):
                if runs.is_exclusive[run]:
                    cores[node] += seconds[run] * runs.whole_cores[node]
                    memory[node] += seconds[run] * runs.whole_memory[node]
                    gpus[node] += seconds[run] * runs.whole_gpus[node]
                else:
                    cores[node] += seconds[run] * runs.cores[run]
                    memory[node] += seconds[run] * runs.memory[run]
                    gpus[node] += seconds[run] * runs.gpus[run]
