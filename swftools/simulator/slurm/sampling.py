# SPDX-License-Identifier: BSD-3-Clause
"""Priorities that were seen in a real run that is followed, in place of those of the rule while they held.

Slurm computes priorities once a period, and those of new jobs when they come. So what was seen in a period holds from
its beginning to its end; where it was seen several times, as changed by hand, what was seen last counts.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.queue import sort_queue
from swftools.simulator.slurm.state import ENTRIES, LAST_CALC, NEXT_CALC, SHIFTS_OF, UNKNOWN, Dynamic, Given

NOT_SEEN = -1.0

NEAR = 1.0
"""s around a period's beginning in which it is not certain of which period a priority is."""


@kernel(allocates=False)
def put_sampled(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let each waiting job have the priority that was seen in this period, and sort the queue.

    One of which none was seen differs from the rules as that job of its association does which differs least: by what
    the rules did not know of its fair share, not by what somebody changed by hand.
    """
    if len(given.sampled_time) == 0:
        return
    period, now, is_other = state.clock[LAST_CALC], machine.clock[NOW], False
    if state.clock[SHIFTS_OF] != period:
        state.clock[SHIFTS_OF] = period
        for holder in range(len(state.shift)):
            state.shift[holder] = np.inf
    for turn in range(2):  # those that were seen, then the others
        for place in range(state.counts[ENTRIES]):
            job, holder = state.entry_job[place], given.association[state.entry_job[place]]
            seen = sampled_of(given, state, job, state.entry_partition[place], now)
            if (seen == NOT_SEEN) != (turn == 1):
                continue
            is_new = state.shifted[job] != period
            if turn == 0 and is_new and holder != UNKNOWN:
                more = seen - state.entry_priority[place]
                if abs(more) < abs(state.shift[holder]):
                    state.shift[holder] = more
            if turn == 1 and is_new and holder != UNKNOWN and state.shift[holder] < np.inf:
                seen = state.entry_priority[place] + state.shift[holder]
            if seen != NOT_SEEN and seen != state.entry_priority[place]:
                state.entry_priority[place], is_other = seen, True
    for place in range(state.counts[ENTRIES]):
        job, holder = state.entry_job[place], given.association[state.entry_job[place]]
        if holder != UNKNOWN and state.shift[holder] < np.inf:
            state.shifted[job] = period
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
