# SPDX-License-Identifier: BSD-3-Clause
"""Make running jobs narrower when many wait and wider when none does: the rule of SCOJO for malleable jobs.

The optimal widths of all running and waiting jobs are added up. If they need more than the machine has, and jobs wait,
running jobs shrink. If they need no more, and nobody waits, running jobs widen. One factor (the size of the machine
over the sum) is applied to the optimal width of each job, within the bounds of its curve, so all give and get alike.

References
----------
Barsanti and Sodan 2006, "Adaptive job scheduling via predictive job resource allocation", section 4.1.

Differs from the paper
----------------------
The paper says what SCOJO does, but not how often. Here a job keeps a width for at least ``resize_every`` seconds. If
the free processors do not suffice for all, jobs that are expected to run longest widen first.
"""

from __future__ import annotations

from typing import Any

from swftools.kernel import IntArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import CAPACITY, FREE, NOW, RUNNING, Machine
from swftools.simulator.machine.verbs import resize
from swftools.simulator.machine.work import stretch_on
from swftools.simulator.policies.class_line import Line, resized


@kernel(allocates=False)
def common_factor(machine: Machine, line: Line, count: int) -> float:
    """Return the machine over the optimal widths of all running jobs and of ``count`` waiting ones."""
    needed = 0
    for i in range(machine.counts[RUNNING]):
        needed += line.optimum[machine.running[i]]
    for i in range(count):
        needed += line.optimum[line.order[i]]
    return machine.counts[CAPACITY] / max(needed, 1)


@kernel(allocates=False)
def shrink_running(machine: Machine, line: Line, parameters: Any, scratch: IntArray, factor: float) -> None:
    """Make running jobs narrower that are wider than the factor gives them."""
    for i in range(_may_change(machine, parameters, scratch)):
        job = scratch[i]
        _change(machine, job, min(resized(line, job, factor), machine.allocated[job]))


@kernel(allocates=False)
def widen_running(machine: Machine, line: Line, parameters: Any, scratch: IntArray, factor: float) -> None:
    """Make running jobs wider, up to what the factor gives them, while processors are free; longest first."""
    for i in range(_may_change(machine, parameters, scratch) - 1, -1, -1):
        job = scratch[i]
        held = machine.allocated[job]
        _change(machine, job, max(min(resized(line, job, factor), held + machine.counts[FREE]), held))


@kernel(allocates=False)
def _may_change(machine: Machine, parameters: Any, scratch: IntArray) -> int:
    """Note the running jobs that have had their width for long enough, in the order of their ends; return how many."""
    found = 0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if machine.clock[NOW] >= instant(machine.start_time[job] + parameters.resize_every):
            scratch[found] = job
            found += 1
    return found


@kernel(allocates=False)
def _change(machine: Machine, job: int, processors: int) -> None:
    """Give a running job a width that its curve has."""
    if processors != machine.allocated[job] and stretch_on(machine, job, processors) > 0.0:
        resize(machine, job, processors)
