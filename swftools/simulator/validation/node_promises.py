# SPDX-License-Identifier: BSD-3-Clause
"""What policies promise on machines of nodes, recomputed from a schedule and from what its jobs ask for.

With one head a partition, partitions that have no node and no job in common are machines of their own, and each has a
first waiting job; so has the machine with one head. Whoever waits as the first of a second partition beside others is
promised no time: the first of all goes before it. If none before it waits for a node of its partition, it starts as
soon as it fits there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.asked import Asked, Place
from swftools.machines.node_table import NodeTable
from swftools.simulator.validation.in_use import in_order
from swftools.simulator.validation.node_heads import (
    COLUMNS,
    CORES,
    GPUS,
    MEMORY,
    NodeStarts,
    Room,
    first_rooms,
    reserve,
)
from swftools.simulator.validation.node_runs import NodeRuns
from swftools.simulator.validation.promises import Broken
from swftools.simulator.validation.runs import SoundJobs

STEPS = 150
"""About how many nodes are looked at for reservations, for each node that a run has: the cost of them is kept to about
that of all else. Where there are more reservations some are left out."""

_OF_JOBS = NodeStarts._fields.index("begin")  # so many fields of it have one element a job

LEAST_LOOKED_AT = 2000
"""So many reservations are looked at, whatever it costs."""


Promise = Callable[[IntArray, NodeStarts, IntArray, FloatArray, BoolArray], FloatArray]
"""Returns the reservations of heads: takes the places of some jobs in the queue, these jobs by themselves, which of
them are heads, since when, and of which times it is known what ran before."""


class NodeQueue(NamedTuple):
    """The jobs of a schedule in order of the queue, and what they ask for.

    ``group`` tells which jobs wait in one queue; ``job`` has their rows in the schedule.
    """

    starts: NodeStarts
    group: IntArray
    job: IntArray
    asked: Asked
    row: IntArray
    table: NodeTable


def read_queue(
    jobs: SoundJobs,
    queued: SoundJobs,
    order: IntArray | None,
    run: IntArray,
    held: NodeRuns,
    asked: Asked,
    row: IntArray,
    table: NodeTable,
    one_head: bool,
) -> NodeQueue:
    """Return the jobs in order of the queue.

    Parameters
    ----------
    jobs, queued : SoundJobs
        The jobs of a schedule, and as they entered the queue.
    order : numpy.ndarray of int64, optional
        Their rows in order of the queue; None if they are.
    run, row : numpy.ndarray of int64
        The run of each job, and its row in the trace.
    held : NodeRuns
        What each run has.
    asked : Asked
        What the jobs of the trace ask for.
    table : NodeTable
        The machine.
    one_head : bool
        Whether the machine has one first waiting job, and not each partition.
    """
    rows = np.arange(len(run)) if order is None else order
    run, of_trace = run[rows], row[rows]
    length = np.diff(held.begin)[run]
    begin = np.concatenate([[0], np.cumsum(length)])
    place = np.arange(begin[-1]) + np.repeat(held.begin[run] - begin[:-1], length)
    has = np.zeros((len(table), COLUMNS), np.int64)
    for column, values in ((CORES, table.cores), (MEMORY, table.memory), (GPUS, table.gpus)):
        has[:, column] = values
    starts = NodeStarts(
        queued.submit[rows],
        jobs.start[rows],
        jobs.end[rows],
        jobs.start[rows] + jobs.estimated[rows],
        asked.nodes[of_trace],
        asked.cores[of_trace],
        asked.memory[of_trace],
        asked.gpus[of_trace],
        asked.is_exclusive[of_trace],
        asked.place[of_trace],
        begin,
        held.low[place],
        held.high[place],
        *_flat([list(where.nodes) for where in asked.places]),
        has,
    )
    group = np.zeros(len(asked.places) or 1, np.int64)
    if not one_head:
        joined = _joined_partitions([asked.places[place] for place in np.unique(starts.place)], table)
        group = np.array([joined[where.partitions[0]] if where.partitions else 0 for where in asked.places], np.int64)
    return NodeQueue(starts, group[starts.place], rows, asked, of_trace, table)


def _joined_partitions(places: list[Place], table: NodeTable) -> list[int]:
    """Return a number for each partition, one for those that have nodes or jobs in common, or do so through others.

    ``places`` are those that jobs ask for. In a partition that none asks for nobody is the first: it joins no others.
    """
    asked_for = {partition for where in places for partition in where.partitions}
    number = list(range(len(table.partitions)))
    of_node = np.full(len(table), -1)

    def join(one: int, other: int) -> None:
        was, will = number[one], number[other]
        number[:] = [will if each == was else each for each in number]

    for place in sorted(asked_for):
        part = table.partitions[place]
        for other in np.unique(of_node[part.nodes]):
            if other >= 0:
                join(place, int(other))
        of_node[part.nodes] = place
    for where in places:
        for other in where.partitions[1:]:
            join(where.partitions[0], other)
    return number


def promises_on_nodes(
    queue: NodeQueue, tolerance: float, *, one_decision: bool, one_head: bool, promise: Promise | None = None
) -> dict[str, Callable[[], Broken]]:
    """Return how each promise that can be checked on nodes is checked.

    ``promise`` is how reservations are recomputed where nodes are away; then it is not checked whether heads idle.
    """
    heads = partial(find_delayed_heads, queue, tolerance, one_decision=one_decision, promise=promise)
    idle = {"no-idle-head": partial(find_idle_heads, queue, tolerance, one_head=one_head)}
    return {
        "order": partial(find_out_of_order, queue, tolerance, one_head=one_head),
        **({} if promise else idle),
        "head-reservation": partial(heads, at_every_start=False),
        "backfilling": partial(heads, at_every_start=True),
    }


def find_out_of_order(queue: NodeQueue, tolerance: float, *, one_head: bool) -> Broken:
    """Find jobs that start before one that was before them in the queue; ``latest`` is the start of that one.

    With one head a partition only who waited for a partition that has some node of the job is before it.
    """
    starts, count = queue.starts, len(queue.job)
    if one_head:
        earlier = _latest_before(starts.start)
        job = np.flatnonzero(starts.start < earlier - tolerance)
        return Broken(job, earlier[job], count, 0)
    latest = np.full(count, -np.inf)
    of_job = np.repeat(np.arange(count), np.diff(starts.begin))
    for number, part in enumerate(queue.table.partitions):
        waits = np.array([number in where.partitions for where in queue.asked.places], np.bool_)
        earlier = _latest_before(np.where(waits[starts.place], starts.start, -np.inf))
        late = np.flatnonzero((starts.start < earlier - tolerance)[of_job])
        inside = np.zeros(len(queue.table) + 1, np.int64)
        inside[part.nodes + 1] = 1
        inside = np.cumsum(inside)
        job = of_job[late[inside[starts.high[late] + 1] > inside[starts.low[late]]]]
        latest[job] = np.maximum(latest[job], earlier[job])
    job = np.flatnonzero(latest > -np.inf)
    return Broken(job, latest[job], count, 0)


def find_idle_heads(queue: NodeQueue, tolerance: float, *, one_head: bool) -> Broken:
    """Find first waiting jobs that wait although they fit; ``latest`` is the first such moment.

    With one head a partition that is who waits for one while nobody before it waits for any that has a node of it.
    """
    count = len(queue.job)
    earliest, is_first = np.full(count, np.inf), np.zeros(count, np.bool_)
    for jobs, part, heads, since in _first_of_all(queue, tolerance) if one_head else _first_of_each(queue, tolerance):
        latest = np.full(len(heads), np.nan)
        orders = in_order(part.start), in_order(part.end)
        first_rooms(part, heads, since, *orders, tolerance, _room(part), latest)
        earliest[jobs[heads]] = np.fmin(earliest[jobs[heads]], latest)
        is_first[jobs[heads]] = True
    job = np.flatnonzero(earliest < np.inf)
    return Broken(job, earliest[job], int(is_first.sum()), 0)


def count_unpromised(queue: NodeQueue, tolerance: float) -> int:
    """Return how many jobs waited as the first of a partition, and were promised nothing as another was before them."""
    starts = queue.starts
    is_first, is_promised = np.zeros((2, len(queue.job)), np.bool_)
    for number in range(len(queue.table.partitions)):
        asks = _asks_for(queue, {number})
        since = np.maximum(starts.submit, _latest_before(np.where(asks, starts.start, -np.inf)))
        is_first |= asks & (starts.start > since + tolerance)
    for jobs, _, heads, _ in _first_of_all(queue, tolerance):
        is_promised[jobs[heads]] = True
    return int((is_first & ~is_promised).sum())


def _asks_for(queue: NodeQueue, partitions: set[int]) -> BoolArray:
    """Return which jobs ask for some of these partitions."""
    asks = np.array([not partitions.isdisjoint(where.partitions) for where in queue.asked.places], np.bool_)
    return np.asarray(asks[queue.starts.place])


def _first_of_all(queue: NodeQueue, tolerance: float) -> Iterator[tuple[IntArray, NodeStarts, IntArray, FloatArray]]:
    """Yield the jobs of each queue, as places in the whole and by themselves; who waits as its first, and from when."""
    for jobs, part in _groups(queue):
        yield jobs, part, *_blocked_heads(part, tolerance)


def _first_of_each(queue: NodeQueue, tolerance: float) -> Iterator[tuple[IntArray, NodeStarts, IntArray, FloatArray]]:
    """Yield for each partition the jobs that ask for it or have a node of it, who waits as the first, and from when.

    The sets of nodes are those of this partition only.
    """
    starts, parts = queue.starts, queue.table.partitions
    of_job = np.repeat(np.arange(len(queue.job)), np.diff(starts.begin))
    for number, own in enumerate(parts):
        asks = _asks_for(queue, {number})
        if not asks.any():
            continue
        inside = np.zeros(len(queue.table) + 1, np.int64)
        inside[own.nodes + 1] = 1
        overlapping = {other for other, part in enumerate(parts) if inside[part.nodes + 1].any()}
        before = np.where(_asks_for(queue, overlapping), starts.start, -np.inf)
        since = np.maximum(starts.submit, _latest_before(before))
        inside = np.cumsum(inside)
        is_here = asks.copy()
        is_here[of_job[inside[starts.high + 1] > inside[starts.low]]] = True
        jobs = np.flatnonzero(is_here)
        sets = [
            [nodes for nodes, partition in zip(where.nodes, where.partitions, strict=True) if partition == number]
            for where in queue.asked.places
        ]
        first_set, set_begin, members = _flat(sets)
        part = _some(starts, jobs)._replace(first_set=first_set, set_begin=set_begin, members=members)
        heads = np.flatnonzero(asks[jobs] & (part.start > since[jobs] + tolerance))
        yield jobs, part, heads, since[jobs][heads]


def _flat(sets: list[list[IntArray]]) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the sets of each place begin, and the nodes of each set, and these nodes."""
    each = [nodes for own in sets for nodes in own]
    return (
        np.concatenate([[0], np.cumsum([len(own) for own in sets])]).astype(np.int64),
        np.concatenate([[0], np.cumsum([len(nodes) for nodes in each])]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *each]),
    )


def find_delayed_heads(
    queue: NodeQueue, tolerance: float, *, one_decision: bool, at_every_start: bool, promise: Promise | None = None
) -> Broken:
    """Find first waiting jobs that start later than their reservation; ``latest`` is the reservation.

    It is the earliest time at which enough nodes of a set fit the job if the jobs that run when it becomes the first
    end as estimated, or, ``at_every_start``, those that run whenever another overtakes it. Whoever overtakes it then
    does not count. If ``one_decision`` is false, all that can have run at an instant with several events counts.

    Promises that were open while a job outlived its estimate are excused. Of very many promises some are looked at,
    the same number apart. ``promise`` recomputes them where nodes are away.
    """
    groups = []
    for jobs, part in _groups(queue):
        heads, time = _blocked_heads(part, tolerance)
        if at_every_start:
            heads, time = _overtaken(part, heads, time)
        groups.append((jobs, part, heads, time))
    made = sum(len(heads) for *_, heads, _ in groups)
    had = int((queue.starts.high - queue.starts.low + 1).sum())
    most = LEAST_LOOKED_AT // 4 if promise else max(LEAST_LOOKED_AT, STEPS * had // len(queue.table))
    step = -(-made // most) if made else 1
    found, excused, looked_at = [], 0, 0
    for jobs, part, every_head, every_time in groups:
        heads, time = every_head[::step], every_time[::step]
        known = _is_known(part, time, one_decision)
        if promise:
            latest = promise(jobs, part, heads, time, known)
        else:
            latest, running = np.empty(len(heads)), np.empty(len(part.start), np.int32)
            reserve(part, heads, time, known, in_order(part.start), running, _room(part), latest)
        excuse = _is_excused(part, heads, time, tolerance)
        wrong = (part.start[heads] > latest + tolerance) & ~excuse
        first = np.diff(heads[wrong], prepend=-1) > 0
        found.append((jobs[heads[wrong][first]], latest[wrong][first]))
        excused, looked_at = excused + int(excuse.sum()), looked_at + len(heads)
    return _joined(found, made, excused)._replace(looked_at=looked_at if step > 1 else None)


def _groups(queue: NodeQueue) -> Iterator[tuple[IntArray, NodeStarts]]:
    """Yield the jobs of each queue, as places in the whole, and by themselves."""
    starts = queue.starts
    for number in np.unique(queue.group):
        jobs = np.flatnonzero(queue.group == number)
        if len(jobs) == len(queue.group):
            yield jobs, starts
            return
        yield jobs, _some(starts, jobs)


def _some(starts: NodeStarts, jobs: IntArray) -> NodeStarts:
    """Return some jobs, in their order, by themselves."""
    length = np.diff(starts.begin)[jobs]
    begin = np.concatenate([[0], np.cumsum(length)])
    place = np.arange(begin[-1]) + np.repeat(starts.begin[jobs] - begin[:-1], length)
    of_jobs = {name: getattr(starts, name)[jobs] for name in NodeStarts._fields[:_OF_JOBS]}
    return starts._replace(**of_jobs, begin=begin, low=starts.low[place], high=starts.high[place])


def _room(part: NodeStarts) -> Room:
    """Return what is used when nothing is."""
    most_sets = int(np.diff(part.first_set).max(initial=1))
    return Room(np.zeros_like(part.has), np.zeros(len(part.has), np.int64), np.zeros(most_sets, np.int64))


def _latest_before(time: FloatArray) -> FloatArray:
    """Return of each job the latest time of those before it."""
    return np.concatenate([[-np.inf], np.maximum.accumulate(time)[:-1]])


def _blocked_heads(part: NodeStarts, tolerance: float) -> tuple[IntArray, FloatArray]:
    """Return the jobs that waited as the first of all, and since when."""
    since = np.maximum(part.submit, _latest_before(part.start))
    heads = np.flatnonzero(part.start > since + tolerance)
    return heads, since[heads]


def _overtaken(part: NodeStarts, heads: IntArray, since: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the first waiting jobs once for each instant at which another starts before they do, and the instant."""
    instants = np.unique(part.start)
    first = np.searchsorted(instants, since, side="right")
    count = np.searchsorted(instants, part.start[heads], side="left") - first
    begin = np.cumsum(count) - count
    place = np.arange(int(count.sum())) + np.repeat(first - begin, count)
    return np.repeat(heads, count), instants[place]


def _is_known(part: NodeStarts, times: FloatArray, one_decision: bool) -> BoolArray:
    """Return of which times it is known what ran before the decision, since there was but one."""

    def count(of: FloatArray) -> IntArray:
        ordered = np.sort(of)
        left, right = (np.searchsorted(ordered, times, side=side) for side in ("left", "right"))
        return np.asarray(right - left)

    at_once = count(part.end[part.end <= part.start])  # after these there is another decision
    if one_decision:
        return np.asarray(at_once == 0)
    return np.asarray((count(part.end) + count(part.submit) == 1) & (at_once == 0))


def _is_excused(part: NodeStarts, heads: IntArray, times: FloatArray, tolerance: float) -> BoolArray:
    """Return which promises were open while a job ran longer than estimated."""
    outlived = part.end > part.expected + tolerance
    begun = np.searchsorted(np.sort(part.start[outlived]), part.start[heads], side="left")
    over = np.searchsorted(np.sort(part.end[outlived]), times, side="left")
    return np.asarray(begun > over)


def _joined(found: list[tuple[IntArray, FloatArray]], made: int, excused: int) -> Broken:
    """Return what is broken in all groups."""
    job = np.concatenate([np.zeros(0, np.int64), *(jobs for jobs, _ in found)])
    return Broken(job, np.concatenate([np.zeros(0), *(latest for _, latest in found)]), made, excused)


def run_of_jobs(run_job: IntArray, count: int) -> IntArray:
    """Return the run of each job, of those that have one each; -1 where there is none."""
    run = np.full(count, -1)
    known = run_job >= 0
    run[run_job[known]] = np.flatnonzero(known)
    return run
