# SPDX-License-Identifier: BSD-3-Clause
"""How full nodes are on which GPUs are held: what packing of GPUs is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.metrics.over_time_on_nodes import NodeFigures
from swftools.simulator.schedule import Schedule


def figures_of_packing(schedule: Schedule, window: tuple[float, float] | None) -> Iterator[NodeFigures]:
    """Yield the share of GPUs that runs hold, among the GPUs of nodes on which any is held, over time.

    None where none is held for any time; nothing where the machine has no GPUs.
    """
    machine = machine_of(schedule)
    if not machine.gpus.any():
        return
    segments = schedule.segments
    may_hold = (segments["gpus_per_node"] > 0) | segments["is_exclusive"]
    held = allocations_of(replace(schedule, segments=segments[may_hold.to_numpy(np.bool_)]))
    begin, end = window or (-np.inf, np.inf)
    start, stop = np.maximum(held.start, begin), np.minimum(held.end, end)
    counts = stop > start
    node, gpus, start, stop = held.node[counts], held.gpus[counts], start[counts], stop[counts]
    busy, begun = float((gpus * (stop - start)).sum()), _time_begun(node, start, stop, len(machine))
    whole = float((begun * machine.gpus).sum())
    yield NodeFigures("gpu_packing", "time_mean", busy / whole if whole > 0 else None)


def _time_begun(node: IntArray, start: FloatArray, stop: FloatArray, count: int) -> FloatArray:
    """Return for how long something is held on each node, s."""
    at, node = np.concatenate([start, stop]), np.concatenate([node, node])
    change = np.repeat([1, -1], len(start))
    order = np.lexsort((at, node))
    at, node, users = at[order], node[order], np.cumsum(change[order])  # 0 again behind the last end of each node
    lasts = np.where((users > 0)[:-1], np.diff(at), 0.0) if len(at) else np.zeros(0)
    total: FloatArray = np.bincount(node[:-1], weights=lasts, minlength=count).astype(np.float64)
    return total
