# SPDX-License-Identifier: BSD-3-Clause
"""When conservative backfilling promised each job a start on nodes, if all jobs end as estimated.

Then nobody's reservation ever moves, and where it was shows in the schedule. So a job was promised the earliest time
from which on enough nodes of one of its sets have room until it ends, beside the runs of those that were before it in
the queue, and are there as far as outages tell that are known from the beginning. Where jobs end early, reservations
move in ways that a schedule does not show. Nothing here is shared with the engine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray, kernel
from swftools.machines.outages import DRAIN, NodeOutages, who_may
from swftools.simulator.instants import instant
from swftools.simulator.validation.node_heads import COLUMNS, CORES, EXCLUSIVE, GPUS, MEMORY, USERS, NodeStarts, fits_on
from swftools.simulator.validation.promises import Broken
from swftools.trace import Trace

MOST_LOOKED_AT = 1000
"""So many promises are looked at; of more some, the same number apart."""


class KnownOutages(NamedTuple):
    """Outages by node: those of a node are from ``first[node]`` up to ``first[node + 1]``; times in s.

    Where one ``keeps``, nobody is there meanwhile; else nobody starts. ``is_out`` tells by job and by ``who`` has the
    node whether it is away for the job. ``ends`` are all their ends, in order.
    """

    first: IntArray
    begin: FloatArray
    end: FloatArray
    keeps: BoolArray
    who: IntArray
    is_out: BoolArray
    ends: FloatArray


def known_outages(outages: NodeOutages, nodes: int, trace: Trace, row: IntArray) -> KnownOutages:
    """Return outages of so many nodes; ``row`` has the trace's row of each job."""
    group, may, _ = who_may(trace, outages)
    own = outages.of(np.argsort(outages.node, kind="stable"))
    first = np.concatenate([[0], np.cumsum(np.bincount(own.node, minlength=nodes))])
    is_out = np.column_stack([np.ones(len(row), np.bool_), ~may[group[row]]])  # of nobody's, which is 0 from here on
    return KnownOutages(first, own.begin, own.end, own.kind != DRAIN, own.who + 1, is_out, np.unique(own.end))


class _Others(NamedTuple):
    """Who is in the way of a job: of those before it in the queue who end after it came; and lists of them by node.

    ``newest`` has by node the last part that somebody has of it, ``before`` of each part the one before, ``who`` whose
    it is.
    """

    jobs: IntArray
    newest: IntArray
    before: IntArray
    who: IntArray
    used: IntArray


def are_exact(starts: NodeStarts, tolerance: float) -> bool:
    """Whether each job takes some time, and as long as estimated."""
    off = np.abs(starts.end - starts.expected)
    return bool((starts.end > starts.start).all() and (off <= tolerance).all())


def find_late_on_nodes(starts: NodeStarts, away: KnownOutages, tolerance: float) -> Broken:
    """Find jobs that start later than was promised at their submission; ``latest`` is the promise.

    Parameters
    ----------
    starts : NodeStarts
        In order of the queue, all of which end as estimated.
    away : KnownOutages
        When nodes are away.
    tolerance : float
        Seconds by which times may be off.

    Notes
    -----
    Cost: for each promise that is looked at, times at which others or outages end, times nodes, times who has these.
    """
    count = len(starts.start)
    step = -(-count // MOST_LOOKED_AT) if count else 1
    some = np.arange(0, count, step)
    parts, nodes = int((starts.high - starts.low + 1).sum()), len(starts.has)
    others = _Others(
        np.empty(count, np.int64),
        np.empty(nodes, np.int64),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.zeros((nodes, COLUMNS), np.int64),
    )
    latest = np.full(len(some), np.nan)
    _find_earlier(starts, away, some, tolerance, others, latest)
    late = np.flatnonzero(~np.isnan(latest))
    return Broken(some[late], latest[late], count, 0, len(some) if step > 1 else None)


@kernel
def _find_earlier(
    starts: NodeStarts, away: KnownOutages, some: IntArray, tolerance: float, others: _Others, latest: FloatArray
) -> None:
    """Fill ``latest`` with the earliest time at which a job had room, where that is before its start."""
    for i in range(len(some)):
        job = some[i]
        count = _list_others(starts, job, others)
        low, high = np.searchsorted(away.ends, starts.submit[job]), np.searchsorted(away.ends, starts.start[job])
        times = np.empty(count + 1 + max(high - low, 0))
        times[0] = starts.submit[job]
        for k in range(count):
            times[k + 1] = starts.end[others.jobs[k]]
        times[count + 1 :] = away.ends[low:high]
        times.sort()
        for time in times:
            if time >= starts.start[job] - tolerance:
                break
            if _has_room(starts, away, job, time, others):
                latest[i] = time
                break


@kernel(allocates=False)
def _list_others(starts: NodeStarts, job: int, others: _Others) -> int:
    """List who was before a job and ends after it came, and the nodes of these; return how many they are."""
    others.newest[:] = -1
    count = parts = 0
    for other in range(job):
        if starts.end[other] <= starts.submit[job]:
            continue
        others.jobs[count] = other
        count += 1
        for place in range(starts.begin[other], starts.begin[other + 1]):
            for node in range(starts.low[place], starts.high[place] + 1):
                others.who[parts], others.before[parts] = other, others.newest[node]
                others.newest[node] = parts
                parts += 1
    return count


@kernel(allocates=False)
def _has_room(starts: NodeStarts, away: KnownOutages, job: int, time: float, others: _Others) -> bool:
    """Whether enough nodes of a set have room for a job from a time on until it would end."""
    where, end = starts.place[job], instant(time + (starts.end[job] - starts.start[job]))
    for group in range(starts.first_set[where], starts.first_set[where + 1]):
        count = 0
        for member in range(starts.set_begin[group], starts.set_begin[group + 1]):
            node = starts.members[member]
            count += _is_there(away, job, node, time, end) and _is_free(starts, job, node, time, end, others)
        if count >= starts.nodes[job]:
            return True
    return False


@kernel(allocates=False)
def _is_there(away: KnownOutages, job: int, node: int, time: float, end: float) -> bool:
    """Whether no outage keeps a job from a node from one time to another."""
    for i in range(away.first[node], away.first[node + 1]):
        begin = away.begin[i]
        is_in_the_way = away.end[i] > time and (begin < end if away.keeps[i] else begin <= time)
        if is_in_the_way and away.is_out[job, away.who[i]]:
            return False
    return True


@kernel(allocates=False)
def _is_free(starts: NodeStarts, job: int, node: int, time: float, end: float, others: _Others) -> bool:
    """Whether a node has room for a job from one time to another: at the first, and whenever somebody begins there."""
    part = others.newest[node]
    if not _fits_at(starts, job, node, time, others):
        return False
    while part >= 0:
        begin = starts.start[others.who[part]]
        if time < begin < end and not _fits_at(starts, job, node, begin, others):
            return False
        part = others.before[part]
    return True


@kernel(allocates=False)
def _fits_at(starts: NodeStarts, job: int, node: int, time: float, others: _Others) -> bool:
    """Whether a job fits on a node beside who is there at a time; who ends then is there no more."""
    used, part = others.used, others.newest[node]
    used[node, :] = 0
    while part >= 0:
        other = others.who[part]
        if starts.start[other] <= time < starts.end[other]:
            used[node, CORES] += starts.cores[other]
            used[node, MEMORY] += starts.memory[other]
            used[node, GPUS] += starts.gpus[other]
            used[node, USERS] += 1
            used[node, EXCLUSIVE] += starts.is_exclusive[other]
        part = others.before[part]
    return fits_on(starts, job, node, used)
