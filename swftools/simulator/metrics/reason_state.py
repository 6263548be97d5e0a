# SPDX-License-Identifier: BSD-3-Clause
"""What the sweep of ``reason_sweep.py`` is given and keeps: shapes of requests that wait, their groups, the nodes."""

from __future__ import annotations

from typing import NamedTuple

from swftools.kernel import FloatArray, IntArray, ShortArray, TinyArray

CORES, MEMORY, GPUS, FRAGMENTED, WHOLE_NODES, ORDER, AWAY, CYCLE = range(8)
"""Columns of reasons."""

NO_REASON = -1


class Shapes(NamedTuple):
    """Shapes of requests: partition, needs of a node, and where their groups and their place begin.

    Groups of shape s are ``groups[s] : groups[s + 1]``. Shapes are ordered by partition.
    """

    partition: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_exclusive: TinyArray
    groups: IntArray


class Waiters(NamedTuple):
    """Jobs that wait: their group, and their places by entry and by start; times, s."""

    group: IntArray
    by_entry: IntArray
    by_start: IntArray
    entry: FloatArray
    start: FloatArray


class Partitions(NamedTuple):
    """Nodes of each partition, and partitions of each node: ``x[begins[i] : begins[i + 1]]``."""

    begins: IntArray
    nodes: IntArray
    begins_of_node: IntArray
    of_node: IntArray


class FreeNodes(NamedTuple):
    """Of each node what is free, how many runs it has, and how many outages."""

    cores: IntArray
    memory: IntArray
    gpus: IntArray
    users: ShortArray
    away: ShortArray


class Outages(NamedTuple):
    """Outages of nodes, and their places by begin and by end; times, s, all of them instants of the sweep."""

    node: IntArray
    begin: FloatArray
    end: FloatArray
    by_begin: IntArray
    by_end: IntArray


class ShapesInSweep(NamedTuple):
    """What is kept of each shape that waits, over the nodes of its partition that are large enough.

    ``fits``: on how many it fits, ``is_there``: on how many that are not away; ``enough`` (shape, 3): how many have
    enough cores, memory, GPUs free; ``free`` (shape, 3): what is free on them in sum; ``waiting``: jobs. ``active``
    lists shapes that wait, those of partition p from ``room[p]`` on, ``many[p]`` of them; ``place`` is where a shape
    stands there. ``touched`` lists those that are to be looked at again.
    """

    waiting: IntArray
    fits: IntArray
    is_there: IntArray
    enough: IntArray
    free: IntArray
    room: IntArray
    active: IntArray
    many: IntArray
    place: IntArray
    touched: IntArray
    is_touched: TinyArray


class GroupsInSweep(NamedTuple):
    """What is kept of each group: nodes asked for, jobs that wait, the reason, since when; its clock by reason, s.

    ``reason`` is ORDER for all that fit; ``idle_since`` is what the clock of its partition showed at ``since``.
    """

    nodes: IntArray
    waiting: IntArray
    reason: IntArray
    since: FloatArray
    idle_since: FloatArray
    clock: FloatArray


class Queues(NamedTuple):
    """What is kept of each partition: jobs that wait and do not fit, on its nodes; those that do, in itself.

    Partitions that share a node with it, and itself, are ``beside[begins[p] : begins[p + 1]]``: who waits in one of
    them and does not fit is in its ``kept_back``. ``idle`` is how long nobody was, s, up to ``since``.
    """

    begins: IntArray
    beside: IntArray
    kept_back: IntArray
    fitting: IntArray
    idle: FloatArray
    since: FloatArray


class Found(NamedTuple):
    """What is found: ``seconds`` (job, reason), and ``waiting`` (instant, reason), jobs that wait from then on.

    ``times`` rise and have all starts, ends and entries among them; ``counted`` are the same by the clock that counts.
    """

    times: FloatArray
    counted: FloatArray
    seconds: FloatArray
    waiting: IntArray
