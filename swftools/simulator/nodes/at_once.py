# SPDX-License-Identifier: BSD-3-Clause
"""How many nodes have room for a job at once, at most: what tells in one pass that its reservation cannot be sooner.

The time until its reservation is cut into parts. A node counts in each part in which the job may begin there at some
time; so in no part more nodes have room at one time than count in it. What lacks of those that the job asks for lacks
until as many nodes have gained room.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW
from swftools.simulator.machine.views import expected_time
from swftools.simulator.nodes.planned import (
    NodesPlan,
    begin_search,
    list_candidates,
    mark_own,
    room_from_now,
    room_of,
    row_of_job,
)
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.timelines import NO_STEP, PARTS, ROUNDING
from swftools.simulator.planning import planned_length


@kernel(allocates=False)
def count_lacking(machine: NodeMachine, plan: NodesPlan, job: int) -> tuple[int, float]:
    """Return how many nodes more, at least, must have room before a job's reservation can be sooner.

    0: perhaps none; also returns a time before which it cannot be, infinity where nodes lack. It is to begin later than
    now.
    """
    sets, place, at_once = machine.places.sets, machine.asked.place[job], plan.at_once
    wanted, length = machine.asked.nodes[job], planned_length(expected_time(machine, job))
    now, until, lacking, soonest = machine.clock[NOW], plan.begin[job], wanted, np.inf
    scale, row = PARTS / (until - now), row_of_job(machine, plan, job, length)
    begin_search(plan)
    mark_own(machine, plan, job)
    for group in range(sets[place], sets[place + 1]):
        for part in range(PARTS + 1):
            at_once[part] = 0
        for i in range(list_candidates(machine, plan, job, group, length, until)):
            node, counted = plan.node[i], -1
            begin, gone, step = room_from_now(machine, plan, job, node, row, length, until)
            while begin < until:
                latest = gone - length + ROUNDING
                last = PARTS - 1  # where no step begins when the room ends, more may be behind it
                if step != NO_STEP and latest < until:
                    last = min(int((latest - now) * scale), PARTS - 1)
                first = max(min(int((begin - now) * scale), PARTS - 1), counted + 1)
                if first <= last:
                    at_once[first] += 1
                    at_once[last + 1] -= 1
                    counted = last
                if last == PARTS - 1:
                    break
                begin, gone, step = room_of(machine, plan, job, node, length, gone, until, step)
        count = most = 0
        for part in range(PARTS):
            count += at_once[part]
            if count >= wanted:
                soonest = min(soonest, max(now, now + part / scale - ROUNDING))
                break
            most = max(most, count)
        lacking = min(lacking, wanted - most)
    return (lacking, np.inf) if soonest == np.inf else (0, soonest)
