# SPDX-License-Identifier: BSD-3-Clause
"""What is free of each node over future time, as steps: what reservations on nodes are planned on.

Each node has a list of steps in order of time. From the beginning of a step until that of the next so much is free, in
a word, and so many hold some of the node; the last step has no end, and nobody is there. Times that are over are
forgotten when a node is looked at next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray, ShortArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.nodes.holding import given_back
from swftools.simulator.nodes.idle_gaps import IdleGaps, empty_idle_gaps, list_gap
from swftools.simulator.nodes.words import WHOLE, cores_in, suffices, without

USED, SPARE, KNOWS, CHANGED = range(4)
"""Places in ``Timelines.counts``: steps that were ever used, the first of those that were given back, counted from 1,
whether there are timelines yet, and how many nodes are to be measured anew."""

NO_STEP = -1

ROUNDING = 1.0
"""A gap that is longer than this is long, s, by so much is not missed however times were rounded."""


PARTS = 64
"""Into so many parts of time the time until a reservation is cut."""


class Timelines(NamedTuple):
    """The steps of all nodes.

    By step: its ``time`` (s), what is ``free`` from then on, how many ``users`` the node has, and the ``next`` step of
    the node, or ``NO_STEP``. By node: its ``first`` step; and, if it ``is_measured``, of its gaps in which some core
    is free how long the ``longest`` is that ends, and when the ``last`` begins, which does not (s); behind these, for
    all nodes, the same of gaps in which nobody is there, which are listed in ``idle``. ``changes`` counts by node, from
    1 on, how often its steps changed. ``changed`` lists the nodes that are to be measured anew.
    """

    time: FloatArray
    free: IntArray
    users: ShortArray
    next: ShortArray
    first: ShortArray
    longest: FloatArray
    last: FloatArray
    is_measured: BoolArray
    idle: IdleGaps
    changes: IntArray
    changed: IntArray
    counts: IntArray


def empty_timelines(nodes: int, parts: int) -> Timelines:
    """Return room for the timelines of so many nodes, of which jobs have so many parts in all; first ``clear`` them.

    It is zeros, which take memory only where they are written to.
    """
    steps = nodes + 2 * parts + 2
    none = np.int32(0)
    time, free = np.broadcast_to(0.0, steps), np.broadcast_to(0, steps)
    users, behind, first = np.broadcast_to(none, steps), np.broadcast_to(none, steps), np.broadcast_to(none, nodes)
    longest, last, is_measured = np.zeros(2 * nodes), np.zeros(2 * nodes), np.zeros(nodes, np.bool_)
    changes, changed, counts = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(CHANGED + 1, np.int64)
    measured = longest, last, is_measured, empty_idle_gaps(nodes)
    return Timelines(time, free, users, behind, first, *measured, changes, changed, counts)


@kernel(allocates=False)
def clear(lines: Timelines, capacity: IntArray, now: float) -> None:
    """Let all nodes be idle from now on."""
    for node in range(len(capacity)):
        lines.first[node], lines.next[node] = node, NO_STEP
        lines.time[node], lines.free[node], lines.users[node] = now, capacity[node], 0
        lines.is_measured[node], lines.changed[node] = False, node
        lines.changes[node] += 1
    lines.counts[CHANGED] = len(capacity)
    lines.counts[USED], lines.counts[SPARE], lines.counts[KNOWS] = len(capacity), 0, 1


@kernel(allocates=False)
def forget_past(lines: Timelines, node: int, now: float) -> None:
    """Drop the steps of a node that are over by now."""
    step = lines.first[node]
    behind = lines.next[step]
    while behind != NO_STEP and lines.time[behind] <= now:
        _give_back(lines, step)
        step, behind = behind, lines.next[behind]
    lines.first[node] = step


@kernel(allocates=False)
def hold(lines: Timelines, node: int, begin: float, end: float, need: int) -> None:
    """Let a job have what it needs of a node from one time to another; ``begin`` is not past."""
    _change(lines, node, begin, end, need, 0)


@kernel(allocates=False)
def let_go(lines: Timelines, node: int, begin: float, end: float, need: int, capacity: int) -> None:
    """Let a job have a node no more from one time to another; ``begin`` is not past."""
    _change(lines, node, begin, end, need, capacity)


@kernel(allocates=False)
def _change(lines: Timelines, node: int, begin: float, end: float, need: int, capacity: int) -> None:
    """Take from a node, or give back where its capacity is told."""
    if not begin < end:
        return
    if lines.is_measured[node]:
        lines.is_measured[node] = False
        lines.changed[lines.counts[CHANGED]] = node
        lines.counts[CHANGED] += 1
    lines.changes[node] += 1
    ahead, step = NO_STEP, lines.first[node]
    while lines.next[step] != NO_STEP and lines.time[lines.next[step]] <= begin:
        ahead, step = step, lines.next[step]
    if lines.time[step] < begin:
        ahead, step = step, _insert(lines, step, begin)
    start, before = step, ahead
    while step != NO_STEP and lines.time[step] < end:
        behind = lines.next[step]
        if end < np.inf and (behind == NO_STEP or lines.time[behind] > end):
            behind = _insert(lines, step, end)
        if capacity == 0:
            lines.users[step] += 1
            lines.free[step] = without(lines.free[step], need)
        else:
            lines.users[step] -= 1
            lines.free[step] = given_back(lines.free[step], capacity, need, lines.users[step])
        ahead, step = step, behind
    if step != NO_STEP and _are_alike(lines, ahead, step):
        lines.next[ahead] = lines.next[step]
        _give_back(lines, step)
    if before != NO_STEP and _are_alike(lines, before, start):
        lines.next[before] = lines.next[start]
        _give_back(lines, start)


@kernel(allocates=False)
def _are_alike(lines: Timelines, step: int, other: int) -> bool:
    """Whether as much is free in two steps."""
    return lines.free[step] == lines.free[other] and lines.users[step] == lines.users[other]


@kernel(allocates=False)
def _insert(lines: Timelines, step: int, time: float) -> int:
    """Let a step begin at a time within another one; return it."""
    counts = lines.counts
    if counts[SPARE] > 0:
        new = counts[SPARE] - 1
        counts[SPARE] = lines.next[new]
    else:
        new = counts[USED]
        counts[USED] += 1
    lines.time[new], lines.free[new], lines.users[new] = time, lines.free[step], lines.users[step]
    lines.next[new], lines.next[step] = lines.next[step], new
    return new


@kernel(allocates=False)
def _give_back(lines: Timelines, step: int) -> None:
    """Let the place of a step be used again."""
    lines.next[step] = lines.counts[SPARE]
    lines.counts[SPARE] = step + 1


@kernel(allocates=False)
def free_at(lines: Timelines, node: int, time: float) -> int:
    """Return what is free of a node at a time that is not past."""
    step = lines.first[node]
    while lines.next[step] != NO_STEP and lines.time[lines.next[step]] <= time:
        step = lines.next[step]
    return lines.free[step]


@kernel(allocates=False)
def gaps_around(lines: Timelines, node: int, begin: float, end: float, is_alone: bool) -> tuple[float, float, float]:
    """Return when the first of some gaps of a node begins, when the last ends, and how long the longest is.

    They are those that have a time between two others: in which some core is free, or nobody is there.
    """
    first, last, longest, since = np.inf, -np.inf, 0.0, np.inf
    step = lines.first[node]
    while step != NO_STEP and (lines.time[step] < end or since < np.inf):
        behind = lines.next[step]
        until = lines.time[behind] if behind != NO_STEP else np.inf
        if lines.users[step] == 0 if is_alone else cores_in(lines.free[step]) > 0:
            since = min(since, lines.time[step])
            if since < end and until > begin:
                first, last, longest = min(first, since), until, max(longest, until - since)
        else:
            since = np.inf
        step = behind
    return first, last, longest


@kernel(allocates=False)
def may_have_room(lines: Timelines, node: int, need: int, duration: float, until: float) -> bool:
    """Whether a node has a gap that is long enough for a job to begin in before a time, as far as gaps tell.

    It is measured.
    """
    gap = node + (len(lines.first) if need & WHOLE else 0)
    is_any = need & WHOLE == 0 and cores_in(need) == 0  # it may be where no core is free
    return is_any or lines.longest[gap] > duration - ROUNDING or lines.last[gap] < until


@kernel(allocates=False)
def list_with_gaps(
    lines: Timelines,
    low: int,
    high: int,
    need: int,
    duration: float,
    until: float,
    own: IntArray,
    listed: IntArray,
    count: int,
) -> int:
    """List the nodes from one up to another that may have room, as ``may_have_room`` says, or are a job's own.

    They are listed behind ``count`` others; returns how many there are then. All are measured. A job's own nodes have
    the last number of ``own`` there. It is written without branches, as most nodes of large machines have no room.
    """
    mark, is_any = own[-1], need & WHOLE == 0 and cores_in(need) == 0
    ahead, shortest = np.uint64(len(lines.first) if need & WHOLE else 0), duration - ROUNDING
    behind = np.uint64(count)
    for node in range(np.uint64(low), np.uint64(high)):
        has_gap = (lines.longest[ahead + node] > shortest) | (lines.last[ahead + node] < until)
        listed[behind] = node
        behind += np.uint64(has_gap | is_any | (own[node] == mark))
    return int(np.int64(behind))


@kernel(allocates=False)
def measure_changed(lines: Timelines) -> None:
    """Measure the nodes that have changed since they were measured."""
    for i in range(lines.counts[CHANGED]):
        _measure(lines, lines.changed[i])
    lines.counts[CHANGED] = 0


@kernel(allocates=False)
def _measure(lines: Timelines, node: int) -> None:
    """Find out how long the gaps of a node are, and list those in which nobody is there."""
    lines.idle.many[node] = 0
    longest, longest_alone, since, since_alone = 0.0, 0.0, np.inf, np.inf
    step = lines.first[node]
    while step != NO_STEP:
        time = lines.time[step]
        if cores_in(lines.free[step]) > 0:
            since = min(since, time)
        else:
            longest, since = max(longest, time - since), np.inf
        if lines.users[step] == 0:
            since_alone = min(since_alone, time)
        elif since_alone < np.inf:
            list_gap(lines.idle, node, since_alone, time)
            longest_alone, since_alone = max(longest_alone, time - since_alone), np.inf
        step = lines.next[step]
    if since_alone < np.inf:
        list_gap(lines.idle, node, since_alone, np.inf)
    alone = len(lines.first) + node
    lines.longest[node], lines.last[node] = longest, since
    lines.longest[alone], lines.last[alone] = longest_alone, since_alone
    lines.is_measured[node] = True


@kernel(allocates=False)
def first_room(
    lines: Timelines,
    node: int,
    need: int,
    duration: float,
    since: float,
    until: float,
    own_begin: float,
    own_end: float,
    start: int,
) -> tuple[float, float, int]:
    """Return the first time, from ``since`` on and before ``until``, from which a node has room for a duration.

    It is infinity if there is none. From ``own_begin`` to ``own_end`` the job has the node itself, so it has room.
    Also returns until when there is room at least, and the step that begins then. ``start`` is a step to go on from,
    before which there is no room from ``since`` on; or ``NO_STEP``.
    """
    begin = stop = np.inf
    step = lines.first[node] if start == NO_STEP else start
    while step != NO_STEP:
        time, behind = lines.time[step], lines.next[step]
        if behind != NO_STEP and lines.time[behind] <= since:
            step = behind
            continue
        if suffices(lines.free[step], need) or own_begin <= time < own_end:
            if begin == np.inf:
                if time >= until:
                    return np.inf, np.inf, NO_STEP
                begin = max(time, since)
                stop = instant(begin + duration)
        else:
            if begin < np.inf and time >= stop:
                return begin, time, step
            begin = np.inf
            if time >= until:
                return np.inf, np.inf, NO_STEP
        step = behind
    return begin, np.inf, NO_STEP
