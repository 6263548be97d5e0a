# SPDX-License-Identifier: BSD-3-Clause
"""The width of a job at which the load over its run time is nearest to the ideal one: the heuristic of SCOJO-P."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import CAPACITY, NOW, RUNNING, Machine
from swftools.simulator.policies.class_line import Line, resized, time_on
from swftools.simulator.policies.expected_arrivals import Arrivals, future_work


@kernel(allocates=False)
def target_size(machine: Machine, line: Line, arrivals: Arrivals, parameters: Any, place: int, count: int) -> int:
    """Return the target size of the job at a place of the order; the ``count`` jobs behind it there wait as well.

    All sizes but those of running jobs are changed by one factor, within their bounds: from 1 on it is multiplied by
    the ideal load over the load that it gives, until that is near enough, the job's size stays what it was, or a few
    factors in a row are no better than the best before.
    """
    job = line.order[place]
    best_size = size = line.optimum[job]
    if line.least[job] == line.most[job]:
        return best_size
    factor, best, worse = 1.0, np.inf, 0
    while True:
        time = time_on(machine, job, size)
        if not 0.0 < time < np.inf:
            return best_size
        work = _work_within(machine, line, place, count, factor, time) + size * time
        if parameters.prediction:
            work += future_work(machine, arrivals, factor, time)
        load = work / (machine.counts[CAPACITY] * time)
        off = abs(load - parameters.ideal_load)
        if off < best:
            best, best_size, worse = off, size, 0
        else:
            worse += 1
            if worse >= parameters.bad_modifiers:
                return best_size
        if off <= parameters.delta:
            return best_size
        factor *= parameters.ideal_load / load
        before, size = size, resized(line, job, factor)
        if size == before:
            return best_size


@kernel(allocates=False)
def _work_within(machine: Machine, line: Line, place: int, count: int, factor: float, time: float) -> float:
    """Return the work of running jobs and of those that wait behind a place, processors times s, within a time."""
    now, work = machine.clock[NOW], 0.0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        work += machine.allocated[job] * min(max(machine.expected_end[job] - now, 0.0), time)
    for i in range(place + 1, place + 1 + count):
        job = line.order[i]
        size = resized(line, job, factor)
        work += size * min(time_on(machine, job, size), time)
    return work
