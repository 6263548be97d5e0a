# SPDX-License-Identifier: BSD-3-Clause
"""EASY backfilling by classes of run time, without any adaptation: each job runs on its own width.

``fixed``
    Start the waiting jobs in order of priority until one does not fit. Reserve for it the earliest time at which enough
    processors are expected to be free. Then start, in the same order, the jobs that fit now and either are expected to
    end by that time or need only processors that will be left over then. Short jobs go first, then medium, then long
    ones; a medium or long job that has waited ``aging`` times its run time goes up one class. Within a class the order
    is that of submission. ``scojo-p`` and ``cirne-berman`` are compared with it: if all jobs are rigid, they start each
    job when this policy does.

Guarantee
    While a job stays first in the order, and if no job outlives its estimate, jobs that go ahead of it do not delay it.
    A shorter job that comes later takes its place and its reservation. Long jobs may starve while medium ones keep
    coming; even those that went up a class may starve while short ones do.
Cost of a decision
    Nothing if no waiting job fits. Else O(n + r) for n waiting and r running jobs.

References
----------
Barsanti and Sodan 2006, "Adaptive job scheduling via predictive job resource allocation", section 5.2.

Differs from the paper
----------------------
The paper does not say how far aging goes, nor in which order the jobs of a class are: here one class, and by
submission. The extra processors of its figure 4 are those free now less the first job's. Here they are those free when
the first job is to start, less its own, as in EASY; otherwise the first job could be delayed for ever.
"""

from __future__ import annotations

from typing import Any

from swftools.simulator.instants import time_until
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import can_start_any, earliest_start, expected_time, fits, free, now, width
from swftools.simulator.policies.class_line import ClassParameters, Line, carry_line, empty_line, line_up, restore_line
from swftools.simulator.registry import policy


@policy(
    "fixed",
    when="If short jobs should go first, by class; and as the baseline of `scojo-p` and `cirne-berman`.",
    parameters=ClassParameters,
    memory=empty_line,
    carry=carry_line,
    restore=restore_line,
    rests=True,
    allocates=False,
    version=2,
)
def fixed(machine: Machine, parameters: Any, memory: Line) -> None:
    """EASY backfilling in order of class; each job keeps its own width."""
    count, place = line_up(machine, memory, parameters), 0
    while place < count and fits(machine, memory.order[place]):
        start(machine, memory.order[place])
        place += 1
    if place == count or not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, memory.order[place]))
    time = time_until(now(machine), shadow)
    for i in range(place + 1, count):
        job = memory.order[i]
        processors = width(machine, job)
        if processors > free(machine) or (expected_time(machine, job) > time and processors > extra):
            continue
        if expected_time(machine, job) > time:
            extra -= processors
        start(machine, job)
