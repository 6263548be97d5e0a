# SPDX-License-Identifier: BSD-3-Clause
"""Conservative backfilling on nodes: every waiting job has a reservation, which says when it begins and on which nodes.

What becomes of reservations is as on a pool: they move forward, or stay, or are all made anew. A job whose reservation
could begin no earlier keeps it, and its nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.machine.state import DISTURBED, ENDED, LATE, NOW, RUNNING, SUBMITTED
from swftools.simulator.machine.verbs import wake_at
from swftools.simulator.machine.views import expected_time, first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.nodes.at_once import count_lacking
from swftools.simulator.nodes.planned import (
    ANY_NODE,
    NodesPlan,
    begin_search,
    earliest_on_nodes,
    empty_nodes_plan,
    end_in_plan,
    fits_as_planned,
    hold_nodes,
    hold_running_on_nodes,
    let_nodes_go,
    mark_own,
    place_on_nodes,
    reserve_nodes,
    room_from_now,
    row_of_job,
    start_as_planned,
)
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.timelines import KNOWS, gaps_around, may_have_room
from swftools.simulator.nodes.verbs import next_waiting_on_nodes
from swftools.simulator.nodes.words import WHOLE, bits_of, cores_in, suffices
from swftools.simulator.planning import LEAST_TIME, planned_length

SEEN, DISTURBANCES, MOVED, NOTED, COMEBACKS, LENGTH = range(6)
"""Places in ``KeptNodesPlan.counts``: jobs that had been submitted; disturbances of the queue; jobs moved at last; how
many nodes were noted so far of which more became free; how often jobs had come back whose nodes had gone away."""

GAP = 3
"""Numbers that tell of gaps."""

TOGETHER = 16
"""So many nodes that were noted one after the other have a summary."""

MOST_LISTED = 4096
"""So many nodes of which more became free are listed; who knows none of these is looked at without that."""


class KeptNodesPlan(NamedTuple):
    """A plan that is kept between decisions, the next time at which a job is due (s), and how far it has followed.

    ``node`` lists nodes of which more became free, the last ones, each in the place of an older one. ``gaps`` tells of
    the gaps that came of it, in which cores are free, and behind these of those in which nobody is there: when the
    first begins, when the last ends, and how long the longest is (s). ``of_several`` says the same of so many nodes
    together, and ``inside0`` and ``inside1`` in which places any of them is. By job, ``known`` tells how many nodes had
    been noted when it was looked at last, and ``lack`` how many nodes at least must gain room before its reservation
    could begin sooner.
    """

    plan: NodesPlan
    due: FloatArray
    counts: IntArray
    node: IntArray
    gaps: FloatArray
    of_several: FloatArray
    inside0: IntArray
    inside1: IntArray
    known: IntArray
    lack: IntArray


def plan_memory_on_nodes(jobs: int, processors: int, nodes: NodeRoom) -> KeptNodesPlan:  # noqa: ARG001 (as all memories)
    """Return a plan of nobody."""
    several = MOST_LISTED // TOGETHER
    listed = np.zeros(MOST_LISTED, np.int64), np.zeros(2 * GAP * MOST_LISTED), np.zeros(2 * GAP * several)
    inside = np.zeros(several, np.int64), np.zeros(several, np.int64)
    counts, known = np.zeros(LENGTH, np.int64), np.broadcast_to(0, jobs)
    return KeptNodesPlan(
        empty_nodes_plan(jobs, nodes), np.zeros(1), counts, *listed, *inside, known, np.broadcast_to(0, jobs)
    )


@kernel(allocates=False)
def decide_by_plan_on_nodes(machine: NodeMachine, memory: KeptNodesPlan, compress: bool) -> None:
    """Keep the plan up to date and start the jobs whose time has come."""
    plan, due, counts = memory.plan, memory.due, memory.counts
    present = machine.clock[NOW]
    anew, may_move, is_other_queue = follow(machine, memory)
    # No reservation had an earlier place when it was looked at last. It may have one where more became free since.
    compress = compress and may_move
    if anew or compress:
        counts[MOVED] = 0
    wake = np.inf
    if not anew and not compress and not is_other_queue and due[0] > present:
        job = _first_of_new(machine, counts[SEEN])
    else:
        due[0] = np.inf
        job = first_waiting(machine)
    while job != NOBODY:
        behind = next_waiting_on_nodes(machine, job)
        if anew or not plan.is_placed[job]:
            place_on_nodes(machine, plan, job)
            memory.known[job], memory.lack[job] = counts[NOTED], 1
        elif compress and plan.begin[job] > present:
            hints = _list_hints(machine, memory, job)
            if hints == ANY_NODE or hints >= memory.lack[job]:
                counts[MOVED] += _bring_forward(machine, memory, job, hints)
            else:
                memory.lack[job] -= hints
            memory.known[job] = counts[NOTED]
        if plan.begin[job] <= present and fits_as_planned(machine, job):
            start_as_planned(machine, job)
            plan.is_placed[job] = False
        else:
            due[0] = min(due[0], plan.begin[job])
            if plan.begin[job] > present:  # one that is due and cannot start keeps no other from being woken for
                wake = min(wake, plan.begin[job])
        job = behind
    counts[SEEN] = machine.counts[SUBMITTED]
    if due[0] > present:
        wake = min(wake, due[0])
    if wake < np.inf:
        wake_at(machine, wake)


@kernel(allocates=False)
def follow(machine: NodeMachine, memory: KeptNodesPlan) -> tuple[bool, bool, bool]:
    """Bring the plan to the present.

    Returns whether all is to be planned anew, whether reservations may have earlier places since jobs ended, and
    whether jobs may have no place yet that stand before those that were submitted since.
    """
    plan, counts = memory.plan, memory.counts
    present = machine.clock[NOW]
    late = machine.counts[LATE]  # who had waited for others is planned behind those that are there
    anew = counts[DISTURBANCES] + late != machine.counts[DISTURBED] or is_outdated(machine, plan.end)
    counts[DISTURBANCES] = machine.counts[DISTURBED]
    is_gained, is_known = counts[MOVED] > 0, plan.lines.counts[KNOWS] > 0
    if anew or not is_known:
        hold_running_on_nodes(machine, plan)
        if not anew:
            hold_reserved(machine, plan)
    for i in range(0 if anew else machine.counts[ENDED]):
        job = machine.ended[i]
        if present < plan.end[job]:
            is_gained = True
            if is_known:
                let_nodes_go(machine, plan, job, present, plan.end[job])
                note_freed(machine, memory, job, present, plan.end[job])
    return anew, machine.counts[ENDED] > 0 and is_gained, late > 0


@kernel(allocates=False)
def hold_reserved(machine: NodeMachine, plan: NodesPlan) -> None:
    """Let waiting jobs have the nodes that they have reserved, in a plan that was taken along."""
    job, present = first_waiting(machine), machine.clock[NOW]
    while job != NOBODY:
        if plan.is_placed[job] and plan.end[job] > present:
            hold_nodes(machine, plan, job, max(plan.begin[job], present), plan.end[job])
        job = next_waiting_on_nodes(machine, job)


@kernel(allocates=False)
def _bring_forward(machine: NodeMachine, memory: KeptNodesPlan, job: int, hints: int) -> bool:
    """Move the reservation of a job to the earliest moment there is; if none is earlier, it keeps its nodes, too."""
    plan, since = memory.plan, machine.clock[NOW]
    if machine.asked.nodes[job] > 1:  # for one node any that is listed will do
        memory.lack[job], since = count_lacking(machine, plan, job)
        if memory.lack[job] > 0:
            return False
        hints = ANY_NODE
    begin, group = earliest_on_nodes(machine, plan, job, since, plan.begin[job], hints)
    memory.lack[job] = plan.lack[0] if group == NOBODY else 1
    if group == NOBODY:
        return False
    let_nodes_go(machine, plan, job, plan.begin[job], plan.end[job])
    note_freed(machine, memory, job, plan.begin[job], plan.end[job])
    reserve_nodes(machine, plan, job, begin, group)
    return True


@kernel(allocates=False)
def note_freed(machine: NodeMachine, memory: KeptNodesPlan, job: int, begin: float, end: float) -> None:
    """List the nodes that a job had from one time to another: more is free there now."""
    first = machine.asked.first[job]
    for at in range(first, first + machine.asked.nodes[job]):
        note_node(machine, memory, machine.nodes.held[at], begin, end)


@kernel(allocates=False)
def note_node(machine: NodeMachine, memory: KeptNodesPlan, node: int, begin: float, end: float) -> None:
    """List a node: more is free there from one time to another."""
    counts, places, lines, gaps, together = (
        memory.counts,
        machine.places,
        memory.plan.lines,
        memory.gaps,
        memory.of_several,
    )
    i = counts[NOTED] % MOST_LISTED
    several = i // TOGETHER
    is_first = i % TOGETHER == 0
    memory.node[i] = node
    for alone in range(2):
        gap, of_all = (2 * i + alone) * GAP, (2 * several + alone) * GAP
        first_begin, last_end, longest = gaps_around(lines, node, begin, end, alone == 1)
        gaps[gap], gaps[gap + 1], gaps[gap + 2] = first_begin, last_end, longest
        if is_first:
            together[of_all], together[of_all + 1], together[of_all + 2] = np.inf, -np.inf, 0.0
        together[of_all] = min(together[of_all], first_begin)
        together[of_all + 1] = max(together[of_all + 1], last_end)
        together[of_all + 2] = max(together[of_all + 2], longest)
    if is_first:
        memory.inside0[several] = memory.inside1[several] = 0
    memory.inside0[several] |= places.inside0[node]
    memory.inside1[several] |= places.inside1[node]
    counts[NOTED] += 1


@kernel(allocates=False)
def _list_hints(machine: NodeMachine, memory: KeptNodesPlan, job: int) -> int:
    """List nodes that have room for a job before its reservation, and of which more became free; return how many.

    When it was looked at last, there was no earlier place for it. So where one is now, one of these nodes has room.
    """
    places, plan, i, noted = machine.places, memory.plan, memory.known[job], memory.counts[NOTED]
    if i < noted - MOST_LISTED + TOGETHER:  # some are listed no more, or have no summary any more
        return ANY_NODE
    inside0, inside1 = bits_of(machine.asked.place[job])
    need, length = machine.asked.need[job], planned_length(expected_time(machine, job))
    begin, listed, row = plan.begin[job], 0, NOBODY
    mark, is_marked = plan.own[-1] + 1, False
    alone, is_small = (1, False) if need & WHOLE else (0, cores_in(need) == 0)  # which needs no core to be free
    while i < noted:
        at = i % MOST_LISTED
        if at % TOGETHER == 0:
            several = at // TOGETHER
            is_inside = ((memory.inside0[several] & inside0) | (memory.inside1[several] & inside1)) != 0
            if not is_inside or not (is_small or _may_use(memory.of_several, 2 * several + alone, length, begin)):
                i += TOGETHER
                continue
        i += 1
        if not is_small and not _may_use(memory.gaps, 2 * at + alone, length, begin):
            continue
        node = memory.node[at]
        is_inside = ((places.inside0[node] & inside0) | (places.inside1[node] & inside1)) != 0
        if not is_inside or plan.hinted[node] == mark or not suffices(machine.nodes.capacity[node], need):
            continue
        if not is_marked:
            begin_search(plan)
            mark_own(machine, plan, job)
            row, is_marked = row_of_job(machine, plan, job, length), True
        plan.hinted[node] = mark
        if plan.own[node] != mark and not may_have_room(plan.lines, node, need, length, begin):
            continue
        if room_from_now(machine, plan, job, node, row, length, begin)[0] < begin:
            plan.hint[listed] = node
            listed += 1
    return listed


@kernel(allocates=False)
def _may_use(gaps: FloatArray, place: int, length: float, begin: float) -> bool:
    """Whether a job may begin sooner in some gaps: one is long enough, or reaches to its reservation at least.

    On its own nodes it has room from its reservation on. LEAST_TIME is for rounding.
    """
    gap = place * GAP
    return gaps[gap] < begin and (gaps[gap + 2] >= length - LEAST_TIME or gaps[gap + 1] >= begin)


@kernel(allocates=False)
def is_outdated(machine: NodeMachine, ends: FloatArray) -> bool:
    """Whether a running job is not to hold its nodes until the plan has it end, or should have ended already."""
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if end_in_plan(machine, job) != ends[job] or ends[job] <= machine.clock[NOW]:
            return True
    return False


@kernel(allocates=False)
def _first_of_new(machine: NodeMachine, seen: int) -> int:
    """Return the first waiting job of those submitted since so many had been, or NOBODY."""
    for job in range(seen, machine.counts[SUBMITTED]):
        if is_waiting(machine.queue, job):
            return job
    return NOBODY
