# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of ``wait_reasons.py``: the runs of a schedule swept by time, and why each kind of request cannot start.

What holds up a job depends on what it asks for and on the state of the nodes, and on nothing else. So it is found for
each shape of request that waits (partition, what it needs of a node), not for each job. A group is a shape with a
number of nodes; it has a clock for each reason, and a job waited as long for a reason as the clock of its group went on
between its entry and its start. At one instant everything happens before one looks.

While a request fits, its partition tells whether anybody goes first: it has a clock that goes on while all who wait for
its nodes fit, too.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.metrics.node_sweep import RunsInSweep
from swftools.simulator.metrics.reason_state import (
    AWAY,
    CORES,
    CYCLE,
    FRAGMENTED,
    GPUS,
    MEMORY,
    NO_REASON,
    ORDER,
    WHOLE_NODES,
    Found,
    FreeNodes,
    GroupsInSweep,
    Outages,
    Partitions,
    Queues,
    Shapes,
    ShapesInSweep,
    Waiters,
)


@kernel(allocates=False)
def sweep_reasons(  # noqa: PLR0913, PLR0917 (tables of different lengths)
    runs: RunsInSweep,
    outages: Outages,
    waiters: Waiters,
    partitions: Partitions,
    shapes: Shapes,
    nodes: FreeNodes,
    kept: ShapesInSweep,
    groups: GroupsInSweep,
    queues: Queues,
    found: Found,
) -> None:
    """Fill ``seconds`` and ``waiting``.

    The caller guarantees that all nodes are free, that nobody waits, and that both are 0. Each waiter starts later than
    it enters.
    """
    started = ended = entered = left = went = came = 0
    for instant in range(len(found.times)):
        now = found.times[instant]
        touched = 0
        if instant > 0:
            for reason in range(found.waiting.shape[1]):
                found.waiting[instant, reason] = found.waiting[instant - 1, reason]
            found.waiting[instant, ORDER] += found.waiting[instant, CYCLE]
            found.waiting[instant, CYCLE] = 0
        while started < len(runs.by_start) and runs.start[runs.by_start[started]] == now:
            touched = _move(runs, runs.by_start[started], 1, partitions, shapes, nodes, kept, touched)
            started += 1
        while ended < len(runs.by_end) and runs.end[runs.by_end[ended]] == now:
            touched = _move(runs, runs.by_end[ended], -1, partitions, shapes, nodes, kept, touched)
            ended += 1
        while went < len(outages.by_begin) and outages.begin[outages.by_begin[went]] == now:
            node = outages.node[outages.by_begin[went]]
            touched = _recount(runs, node, -1, partitions, shapes, nodes, kept, touched)
            nodes.away[node] += 1
            touched = _recount(runs, node, 1, partitions, shapes, nodes, kept, touched)
            went += 1
        while came < len(outages.by_end) and outages.end[outages.by_end[came]] == now:
            node = outages.node[outages.by_end[came]]
            touched = _recount(runs, node, -1, partitions, shapes, nodes, kept, touched)
            nodes.away[node] -= 1
            touched = _recount(runs, node, 1, partitions, shapes, nodes, kept, touched)
            came += 1
        while left < len(waiters.by_start) and waiters.start[waiters.by_start[left]] == now:
            _leave(waiters, shapes, kept, groups, queues, found, waiters.by_start[left], instant)
            left += 1
        while entered < len(waiters.by_entry) and waiters.entry[waiters.by_entry[entered]] == now:
            job = waiters.by_entry[entered]
            shape = _shape_of(shapes, waiters.group[job])
            if kept.waiting[shape] == 0:
                _look_at(runs, partitions, shapes, nodes, kept, shape)
            kept.waiting[shape] += 1
            _enter(waiters, groups, queues, shapes.partition[shape], found, job, instant)
            if groups.reason[waiters.group[job]] == NO_REASON:
                touched = _touch(kept, shape, touched)
            entered += 1
        for place in range(touched):
            _look_again(shapes, kept, groups, queues, found, kept.touched[place], instant)
        for partition in range(len(queues.fitting)):
            if queues.kept_back[partition] == 0:
                found.waiting[instant, CYCLE] += queues.fitting[partition]
                found.waiting[instant, ORDER] -= queues.fitting[partition]


@kernel(allocates=False)
def _enter(
    waiters: Waiters, groups: GroupsInSweep, queues: Queues, partition: int, found: Found, job: int, instant: int
) -> None:
    """Let a job wait: note the clock of its group, which has no reason yet if nobody else waits in it."""
    group = waiters.group[job]
    if groups.waiting[group] == 0:
        groups.reason[group] = NO_REASON
    _advance(groups, queues, partition, group, found.counted[instant])
    for reason in range(found.seconds.shape[1]):
        found.seconds[job, reason] = -groups.clock[group, reason]
    groups.waiting[group] += 1
    if groups.reason[group] != NO_REASON:
        _count_waiting(queues, partition, found, instant, groups.reason[group], 1)


@kernel(allocates=False)
def _leave(
    waiters: Waiters,
    shapes: Shapes,
    kept: ShapesInSweep,
    groups: GroupsInSweep,
    queues: Queues,
    found: Found,
    job: int,
    instant: int,
) -> None:
    """Let a job wait no more; if it was the last of its shape, the shape is no longer kept."""
    group = waiters.group[job]
    shape = _shape_of(shapes, group)
    partition = shapes.partition[shape]
    _advance(groups, queues, partition, group, found.counted[instant])
    for reason in range(found.seconds.shape[1]):
        found.seconds[job, reason] += groups.clock[group, reason]
    _count_waiting(queues, partition, found, instant, groups.reason[group], -1)
    groups.waiting[group] -= 1
    kept.waiting[shape] -= 1
    if kept.waiting[shape] == 0:
        kept.many[partition] -= 1
        last = kept.active[kept.room[partition] + kept.many[partition]]
        kept.active[kept.place[shape]] = last
        kept.place[last] = kept.place[shape]


@kernel(allocates=False)
def _look_again(
    shapes: Shapes,
    kept: ShapesInSweep,
    groups: GroupsInSweep,
    queues: Queues,
    found: Found,
    shape: int,
    instant: int,
) -> None:
    """Find the reason of each group of a shape that waits; where it is another one, its clock begins to go."""
    kept.is_touched[shape] = 0
    partition = shapes.partition[shape]
    for group in range(shapes.groups[shape], shapes.groups[shape + 1]):
        if groups.waiting[group] > 0:
            reason, before = _reason(shapes, kept, shape, groups.nodes[group]), groups.reason[group]
            if reason != before:
                _advance(groups, queues, partition, group, found.counted[instant])
                groups.reason[group] = reason
                _count_waiting(queues, partition, found, instant, reason, groups.waiting[group])
                if before != NO_REASON:
                    _count_waiting(queues, partition, found, instant, before, -groups.waiting[group])


@kernel(allocates=False)
def _count_waiting(queues: Queues, partition: int, found: Found, instant: int, reason: int, more: int) -> None:
    """Count jobs of a partition that wait for a reason from now on; who does not fit keeps others back."""
    found.waiting[instant, reason] += more
    if reason == ORDER:
        queues.fitting[partition] += more
        return
    clock = found.counted[instant]
    for place in range(queues.begins[partition], queues.begins[partition + 1]):
        other = queues.beside[place]
        queues.idle[other] = _idle_until(queues, other, clock)
        queues.since[other] = clock
        queues.kept_back[other] += more


@kernel(allocates=False)
def _idle_until(queues: Queues, partition: int, clock: float) -> float:
    """Return how long nobody who waits for nodes of a partition was kept back, until now."""
    if queues.kept_back[partition] > 0:
        return queues.idle[partition]
    return queues.idle[partition] + clock - queues.since[partition]


@kernel(allocates=False)
def _shape_of(shapes: Shapes, group: int) -> int:
    """Return the shape of a group, by bisection: the last whose groups begin at it or before."""
    low, high = 0, len(shapes.partition)
    while high - low > 1:
        middle = (low + high) // 2
        if shapes.groups[middle] <= group:
            low = middle
        else:
            high = middle
    return low


@kernel(allocates=False)
def _advance(groups: GroupsInSweep, queues: Queues, partition: int, group: int, clock: float) -> None:
    """Let the clock of the reason of a group go on until now; of one that fits, that of the cycle if all fitted."""
    reason, idle = groups.reason[group], _idle_until(queues, partition, clock)
    if reason != NO_REASON:
        seconds = clock - groups.since[group]
        if reason == ORDER:
            alone = min(max(idle - groups.idle_since[group], 0.0), seconds)  # both are sums, which are rounded
            groups.clock[group, CYCLE] += alone
            seconds -= alone
        groups.clock[group, reason] += seconds
    groups.since[group] = clock
    groups.idle_since[group] = idle


@kernel(allocates=False)
def _touch(kept: ShapesInSweep, shape: int, touched: int) -> int:
    """Note that a shape is to be looked at, once; return how many are."""
    if kept.is_touched[shape]:
        return touched
    kept.is_touched[shape] = 1
    kept.touched[touched] = shape
    return touched + 1


@kernel(allocates=False)
def _look_at(
    runs: RunsInSweep, partitions: Partitions, shapes: Shapes, nodes: FreeNodes, kept: ShapesInSweep, shape: int
) -> None:
    """Begin to keep what is free for a shape."""
    partition = shapes.partition[shape]
    kept.place[shape] = kept.room[partition] + kept.many[partition]
    kept.active[kept.place[shape]] = shape
    kept.many[partition] += 1
    kept.fits[shape] = kept.is_there[shape] = 0
    for resource in range(3):
        kept.enough[shape, resource] = kept.free[shape, resource] = 0
    for place in range(partitions.begins[partition], partitions.begins[partition + 1]):
        node = partitions.nodes[place]
        if _is_large(runs, shapes, shape, node):
            _count(shapes, nodes, kept, shape, node, 1)


@kernel(allocates=False)
def _is_large(runs: RunsInSweep, shapes: Shapes, shape: int, node: int) -> bool:
    """Whether a node has, while it is idle, what a shape needs."""
    return (
        runs.whole_cores[node] >= shapes.cores[shape]
        and runs.whole_memory[node] >= shapes.memory[shape]
        and runs.whole_gpus[node] >= shapes.gpus[shape]
    )


@kernel(allocates=False)
def _count(shapes: Shapes, nodes: FreeNodes, kept: ShapesInSweep, shape: int, node: int, sign: int) -> None:
    """Add what a node has free to what is kept of a shape (sign 1), or take it away (-1)."""
    cores = int(nodes.cores[node] >= shapes.cores[shape])
    memory = int(nodes.memory[node] >= shapes.memory[shape])
    gpus = int(nodes.gpus[node] >= shapes.gpus[shape])
    kept.enough[shape, CORES] += sign * cores
    kept.enough[shape, MEMORY] += sign * memory
    kept.enough[shape, GPUS] += sign * gpus
    kept.free[shape, CORES] += sign * nodes.cores[node]
    kept.free[shape, MEMORY] += sign * nodes.memory[node]
    kept.free[shape, GPUS] += sign * nodes.gpus[node]
    if cores + memory + gpus == 3 and not (shapes.is_exclusive[shape] and nodes.users[node] > 0):
        kept.fits[shape] += sign
        kept.is_there[shape] += sign * int(nodes.away[node] == 0)


@kernel(allocates=False)
def _move(
    runs: RunsInSweep,
    run: int,
    sign: int,
    partitions: Partitions,
    shapes: Shapes,
    nodes: FreeNodes,
    kept: ShapesInSweep,
    touched: int,
) -> int:
    """Let a run take its nodes (sign 1), or give them back (-1); return how many shapes are to be looked at."""
    for place in range(runs.begins[run], runs.begins[run + 1]):
        for node in range(runs.first[place], runs.last[place] + 1):
            touched = _recount(runs, node, -1, partitions, shapes, nodes, kept, touched)
            if runs.is_exclusive[run]:
                nodes.cores[node] -= sign * runs.whole_cores[node]
                nodes.memory[node] -= sign * runs.whole_memory[node]
                nodes.gpus[node] -= sign * runs.whole_gpus[node]
            else:
                nodes.cores[node] -= sign * runs.cores[run]
                nodes.memory[node] -= sign * runs.memory[run]
                nodes.gpus[node] -= sign * runs.gpus[run]
            nodes.users[node] += sign
            touched = _recount(runs, node, 1, partitions, shapes, nodes, kept, touched)
    return touched


@kernel(allocates=False)
def _recount(
    runs: RunsInSweep,
    node: int,
    sign: int,
    partitions: Partitions,
    shapes: Shapes,
    nodes: FreeNodes,
    kept: ShapesInSweep,
    touched: int,
) -> int:
    """Count a node for all shapes that wait for its partitions (sign 1), or no longer (-1)."""
    for of_node in range(partitions.begins_of_node[node], partitions.begins_of_node[node + 1]):
        partition = partitions.of_node[of_node]
        for place in range(kept.room[partition], kept.room[partition] + kept.many[partition]):
            shape = kept.active[place]
            if _is_large(runs, shapes, shape, node):
                _count(shapes, nodes, kept, shape, node, sign)
                touched = _touch(kept, shape, touched)
    return touched


@kernel(allocates=False)
def _reason(shapes: Shapes, kept: ShapesInSweep, shape: int, many: int) -> int:
    """Return what holds up a job of a shape that asks for so many nodes."""
    if kept.fits[shape] >= many:
        return ORDER if kept.is_there[shape] >= many else AWAY
    scarcest = NO_REASON
    if kept.free[shape, GPUS] < many * shapes.gpus[shape]:
        scarcest = GPUS
    if kept.free[shape, CORES] < many * shapes.cores[shape] and (
        scarcest == NO_REASON or kept.enough[shape, CORES] < kept.enough[shape, scarcest]
    ):
        scarcest = CORES
    if kept.free[shape, MEMORY] < many * shapes.memory[shape] and (
        scarcest == NO_REASON or kept.enough[shape, MEMORY] < kept.enough[shape, scarcest]
    ):
        scarcest = MEMORY
    if scarcest != NO_REASON:
        return scarcest
    return WHOLE_NODES if shapes.is_exclusive[shape] else FRAGMENTED
