# SPDX-License-Identifier: BSD-3-Clause
"""Priorities that were seen in a real run that is followed, in place of those of the rule while they held.

Slurm computes priorities once a period, and those of new jobs when they come. So what was seen in a period holds from
its beginning to its end; where it was seen several times, as changed by hand, what was seen last counts.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.queue import sort_queue
from swftools.simulator.slurm.state import ENTRIES, LAST_CALC, NEXT_CALC, UNKNOWN, Dynamic, Given

NOT_SEEN = -1.0

NEAR = 1.0
"""s around a period's beginning in which it is not certain of which period a priority is."""


@kernel(allocates=False)
def put_sampled(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let each waiting job have the priority that was seen in this period, if any was, and sort the queue."""
    if len(given.sampled_time) == 0:
        return
    is_other = False
    for place in range(state.counts[ENTRIES]):
        seen = sampled_of(given, state, state.entry_job[place], state.entry_partition[place], machine.clock[NOW])
        if seen != NOT_SEEN and seen != state.entry_priority[place]:
            state.entry_priority[place], is_other = seen, True
    if is_other:
        sort_queue(given, state, machine)


@kernel(allocates=False)
def sampled_of(given: Given, state: Dynamic, job: int, partition: int, now: float) -> float:
    """Return the priority of a job in a partition that was seen last in this period, else first; or ``NOT_SEEN``."""
    found = NOT_SEEN
    for place in range(given.sampled_first[job], given.sampled_first[job + 1]):
        time = given.sampled_time[place]
        if given.sampled_in[place] not in (partition, UNKNOWN):
            continue
        if not state.clock[LAST_CALC] + NEAR <= time < state.clock[NEXT_CALC] - NEAR:
            continue
        if time <= now or found == NOT_SEEN:
            found = given.sampled_priority[place]
    return found
