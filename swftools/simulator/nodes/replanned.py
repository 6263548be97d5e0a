# SPDX-License-Identifier: BSD-3-Clause
"""Conservative backfilling on nodes by a plan that is made anew at each decision.

Reservations only take room away. So behind the last job that has room now nobody starts, nor need be planned. Jobs that
ask for the same have room or not together, and one that has none gets none in this decision.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import NOW
from swftools.simulator.machine.views import expected_time
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.nodes.classes import any_may_start, forget_then
from swftools.simulator.nodes.planned import (
    NodesPlan,
    empty_nodes_plan,
    end_in_plan,
    fits_as_planned,
    has_room_now_on_nodes,
    hold_nodes,
    hold_running_on_nodes,
    let_nodes_go,
    place_on_nodes,
    start_as_planned,
)
from swftools.simulator.nodes.state import ACTIVE, NodeMachine
from swftools.simulator.nodes.verbs import fits_on_nodes, next_waiting_on_nodes
from swftools.simulator.planning import planned_length


def replanned_memory_on_nodes(jobs: int, processors: int, nodes: NodeRoom) -> NodesPlan:  # noqa: ARG001 (as all memories)
    """Return a plan of nobody."""
    return empty_nodes_plan(jobs, nodes)


def replanned_on_nodes(machine: NodeMachine, memory: NodesPlan) -> None:
    """Plan all waiting jobs again at each event, and start those that are planned for now."""
    replan(machine, memory)


@kernel(allocates=False)
def replan(machine: NodeMachine, plan: NodesPlan) -> None:
    """Plan waiting jobs anew, in the order of the queue; start those that are to begin now, and can."""
    if not any_may_start(machine):
        return
    now, place = machine.clock[NOW], machine.queue.place
    hold_running_on_nodes(machine, plan)
    forget_then(machine)
    job = candidate = NOBODY
    while True:
        if candidate == NOBODY or place[job] >= place[candidate]:
            candidate = _next_with_room_now(machine, plan, job)
            if candidate == NOBODY:
                return
        job = next_waiting_on_nodes(machine, job)
        place_on_nodes(machine, plan, job)
        if plan.begin[job] <= now and fits_as_planned(machine, job):
            start_as_planned(machine, job)
            end = end_in_plan(machine, job)
            if end != plan.end[job]:
                let_nodes_go(machine, plan, job, now, plan.end[job])
                hold_nodes(machine, plan, job, now, end)
        if job != candidate and plan.begin[job] < instant(now + planned_length(expected_time(machine, candidate))):
            candidate = _next_with_room_now(machine, plan, job)
            if candidate == NOBODY:
                return


@kernel(allocates=False)
def _next_with_room_now(machine: NodeMachine, plan: NodesPlan, behind: int) -> int:
    """Return the first waiting job behind another (behind NOBODY: of all) that has room now, or NOBODY."""
    classes, place = machine.classes, machine.queue.place
    last = place[behind] if behind != NOBODY else NOBODY
    while True:
        found = NOBODY
        for slot in range(classes.counts[ACTIVE]):
            if classes.fit_now[slot] >= classes.nodes[slot] and classes.fit_then[slot] >= classes.nodes[slot]:
                job = classes.first[classes.slots[slot]] - 1
                while job != NOBODY and place[job] <= last:
                    job = classes.behind[job] - 1
                if job != NOBODY and (found == NOBODY or place[job] < place[found]):
                    found = job
        # Who does not fit beside those that run cannot start, and that is known of many from before.
        if found == NOBODY or (fits_on_nodes(machine, found) and has_room_now_on_nodes(machine, plan, found)):
            return found
        classes.fit_then[classes.slot[classes.class_of[found]] - 1] = 0
