# SPDX-License-Identifier: BSD-3-Clause
"""How many switches runs span: what placements by switches and by neighbouring nodes are for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.metrics.over_time_on_nodes import NodeFigures
from swftools.simulator.schedule import Schedule, contiguous


def figures_of_switches(schedule: Schedule, window: tuple[float, float] | None) -> Iterator[NodeFigures]:
    """Yield the mean number of switches to which the nodes of a run are attached, over the runs of several nodes.

    Those that start in the window count. Nodes of which no switch is told count as attached to one. None where no run
    has several nodes; nothing where the machine tells no switch.
    """
    machine = machine_of(schedule)
    if not machine.switches:
        return
    if window is not None:
        start = contiguous(schedule.segments, "start_time")
        schedule = replace(schedule, segments=schedule.segments[(start >= window[0]) & (start < window[1])])
    held = allocations_of(schedule)
    count = len(machine.switches) + 1
    pairs = np.unique(held.run * count + machine.switch_by_node[held.node] + 1)
    spanned = np.bincount(pairs // count, minlength=len(schedule.segments))
    has_several = np.bincount(held.run, minlength=len(schedule.segments)) > 1
    yield NodeFigures("switches_spanned", "mean", float(spanned[has_several].mean()) if has_several.any() else None)
