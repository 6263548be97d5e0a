# SPDX-License-Identifier: BSD-3-Clause
"""Plans beside nodes that are away: where a job has room, and which reservations hold when nodes go and return.

What is known of outages stands beside the timelines: a node has room for a job from a time on if its timeline has, and
if the node is there as long as the job would be. So a reservation for some is away for others only, and a drain keeps
jobs from beginning and not from being there. When nodes go that nobody knew of, reservations on them are made anew,
in order of the queue, beside all others. A job whose nodes are not known to be back ever has no reservation.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.machines.outages import DRAIN
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import DISTURBED, ENDED, HELD, NOW
from swftools.simulator.machine.views import expected_time, first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.exchange import OF_JOBS, OF_NODES, in_place_of
from swftools.simulator.nodes.away.presence import is_there, seek
from swftools.simulator.nodes.away.state import CHANGED, GOES, HOLDERS, SEEKER, TOLD, AwayMachine
from swftools.simulator.nodes.away.state import COMEBACKS as HAVE_COME_BACK
from swftools.simulator.nodes.conservative import (
    COMEBACKS,
    DISTURBANCES,
    MOVED,
    KeptNodesPlan,
    follow,
    hold_reserved,
    is_outdated,
    note_freed,
    note_node,
)
from swftools.simulator.nodes.planned import (
    ANY_NODE,
    NodesPlan,
    earliest_on_nodes,
    hold_running_on_nodes,
    let_nodes_go,
    place_on_nodes,
    reserve_nodes,
    room_of,
    row_of_job,
)
from swftools.simulator.nodes.rooms import row_for
from swftools.simulator.nodes.timelines import KNOWS, NO_STEP
from swftools.simulator.nodes.verbs import next_waiting_on_nodes
from swftools.simulator.planning import planned_length

# ---------------------------------------------------------------- where a job has room


@in_place_of(row_of_job, OF_NODES)
@kernel(allocates=False)
def row_of_job_there(machine: AwayMachine, plan: NodesPlan, job: int, length: float) -> int:
    """Return the row of a job: where nodes are reserved for some, jobs of each place have rows of their own."""
    kind = machine.asked.place[job] if machine.outages.counts[HOLDERS] > 0 else 0
    return row_for(plan.rooms, machine.asked.need[job], length, kind)


@in_place_of(room_of, OF_NODES)
@kernel(allocates=False)
def room_there(
    machine: AwayMachine, plan: NodesPlan, job: int, node: int, length: float, since: float, until: float, start: int
) -> tuple[float, float, int]:
    """Return as ``room_of`` the first time from which on a node has room, and is there; and until when."""
    machine.outages.counts[SEEKER] = machine.asked.place[job]
    while True:
        found, gone, step = room_of(machine, plan, job, node, length, since, until, start)
        if found == np.inf:
            return np.inf, np.inf, NO_STEP
        since, leaves = there_from(machine, node, found, instant(found + length))
        if since == found:
            return (found, leaves, NO_STEP) if leaves < gone else (found, gone, step)
        if since >= until:
            return np.inf, np.inf, NO_STEP
        start = NO_STEP


@kernel(allocates=False)
def there_from(machine: AwayMachine, node: int, begin: float, end: float) -> tuple[float, float]:
    """Return a time before which the job that is sought for cannot begin: ``begin`` if it can then and ends at ``end``.

    Else it is the end of an outage that is in the way. Also returns by when it must end if it begins later than that,
    and no outage is to be looked at again.
    """
    outages, now, leaves = machine.outages, machine.clock[NOW], np.inf
    allowed = outages.counts[SEEKER] * outages.counts[HOLDERS]
    for row in range(outages.next[node], outages.behind[node]):
        since, who = outages.begin[row], outages.who[row]
        is_known = outages.known[row] <= now
        if (not is_known and since > now) or (who >= 0 and outages.may[allowed + who] != 0):
            continue
        until = outages.end[row] if is_known or outages.end[row] <= now else np.inf
        if since > begin:
            leaves = min(leaves, since)
            if since >= end:
                break  # and so do all behind it
        if until > begin and (since <= begin or outages.kind[row] != DRAIN):
            return until, leaves
    return begin, leaves


@in_place_of(reserve_nodes, OF_JOBS)
@kernel(allocates=False)
def reserve_there(machine: AwayMachine, plan: NodesPlan, job: int, begin: float, group: int) -> None:
    """Reserve nodes of a set for a job, from a time on at which there are enough that are there."""
    seek(machine, job, begin)
    reserve_nodes(machine, plan, job, begin, group)


@in_place_of(place_on_nodes, OF_JOBS)
@kernel(allocates=False)
def place_there(machine: AwayMachine, plan: NodesPlan, job: int) -> None:
    """Reserve nodes for a waiting job from the earliest moment there is; none if its nodes are not known to be back."""
    begin, group = earliest_on_nodes(machine, plan, job, machine.clock[NOW], np.inf, ANY_NODE)
    if group == NOBODY:
        plan.begin[job], plan.end[job], plan.is_placed[job] = np.inf, 0.0, False
        return
    seek(machine, job, begin)
    reserve_nodes(machine, plan, job, begin, group)


# ---------------------------------------------------------------- which reservations hold


@in_place_of(follow, OF_JOBS)
@kernel(allocates=False)
def follow_there(machine: AwayMachine, memory: KeptNodesPlan) -> tuple[bool, bool, bool]:
    """Bring the plan to the present, as ``follow``, beside what has become known of outages.

    A job that comes back has no place yet; it changes nobody else's.
    """
    plan, counts, present = memory.plan, memory.counts, machine.clock[NOW]
    comebacks = machine.outages.counts[HAVE_COME_BACK]
    disturbances = machine.counts[DISTURBED] - comebacks
    anew = counts[DISTURBANCES] != disturbances or is_outdated(machine, plan.end)
    has_comeback = counts[COMEBACKS] != comebacks
    counts[DISTURBANCES], counts[COMEBACKS] = disturbances, comebacks
    is_known = plan.lines.counts[KNOWS] > 0
    has_changed, is_gained = note_changes(machine, memory, is_known and not anew)
    is_gained = is_gained or counts[MOVED] > 0
    for i in range(0 if anew else machine.counts[ENDED]):
        is_gained = let_rest_go(machine, memory, machine.ended[i], is_known) or is_gained
    if has_comeback:
        is_gained = let_stopped_go(machine, memory, is_known and not anew) or is_gained
    has_dropped = False
    if not anew and (has_changed or memory.due[0] < present):
        has_dropped = drop_reservations(machine, memory, is_known)
    if anew or not is_known:
        hold_running_on_nodes(machine, plan)
        if not anew:
            hold_reserved(machine, plan)
    may_move = (machine.counts[ENDED] > 0 or has_changed) and (is_gained or has_dropped)
    # Who has no place yet, as its nodes go for good, may have one where more became free, also if others never move.
    return anew, may_move, has_comeback or has_changed or has_dropped or is_gained


@kernel(allocates=False)
def note_changes(machine: AwayMachine, memory: KeptNodesPlan, is_kept: bool) -> tuple[bool, bool]:
    """Note what has become known of nodes at this instant; return whether outages changed, and whether nodes are back.

    Of what was known before, nothing is to be noted.
    """
    outages, present, changes = machine.outages, machine.clock[NOW], memory.plan.lines.changes
    place, is_gained = outages.counts[CHANGED], False
    while place > 0 and outages.time[place - 1] == present:
        place -= 1
        row, what = outages.of[place], outages.what[place]
        if what != TOLD and outages.known[row] < present:
            continue
        node = outages.node[row]
        changes[node] += 1
        if what != GOES and outages.begin[row] <= present:
            is_gained = True
            if is_kept:
                note_node(machine, memory, node, present, np.inf)
    return place < outages.counts[CHANGED], is_gained


@kernel(allocates=False)
def let_rest_go(machine: AwayMachine, memory: KeptNodesPlan, job: int, is_kept: bool) -> bool:
    """Let a job that runs no more have nothing of what the plan had it have; return whether that was more to come."""
    present, end = machine.clock[NOW], memory.plan.end[job]
    if is_kept and present < end:
        let_nodes_go(machine, memory.plan, job, present, end)
        note_freed(machine, memory, job, present, end)
    return present < end


@kernel(allocates=False)
def let_stopped_go(machine: AwayMachine, memory: KeptNodesPlan, is_kept: bool) -> bool:
    """Let jobs that were stopped, and wait or are held back, have nothing; return whether that was more to come."""
    plan, is_gained = memory.plan, False
    job = first_waiting(machine)
    while job != NOBODY:
        if not plan.is_placed[job]:
            is_gained = let_rest_go(machine, memory, job, is_kept) or is_gained
        job = next_waiting_on_nodes(machine, job)
    for i in range(machine.counts[HELD]):
        is_gained = let_rest_go(machine, memory, machine.held[i], is_kept) or is_gained
        plan.end[machine.held[i]] = 0.0
    return is_gained


@kernel(allocates=False)
def drop_reservations(machine: AwayMachine, memory: KeptNodesPlan, is_kept: bool) -> bool:
    """Drop reservations on nodes that are not there as long as the job would be; return whether there were some.

    One that is due and could not begin yet would begin now.
    """
    plan, present, has_dropped = memory.plan, machine.clock[NOW], False
    job = first_waiting(machine)
    while job != NOBODY:
        if plan.is_placed[job] and not are_there(machine, plan, job):
            has_dropped, plan.is_placed[job] = True, False
            begin = max(plan.begin[job], present)
            if is_kept and begin < plan.end[job]:
                let_nodes_go(machine, plan, job, begin, plan.end[job])
                note_freed(machine, memory, job, begin, plan.end[job])
            plan.end[job] = 0.0
        job = next_waiting_on_nodes(machine, job)
    return has_dropped


@kernel(allocates=False)
def are_there(machine: AwayMachine, plan: NodesPlan, job: int) -> bool:
    """Whether the nodes that a job has reserved are there as long as it would be."""
    begin = max(plan.begin[job], machine.clock[NOW])
    end, first = instant(begin + planned_length(expected_time(machine, job))), machine.asked.first[job]
    seek(machine, job, begin)
    for at in range(first, first + machine.asked.nodes[job]):
        if not is_there(machine, machine.nodes.held[at], begin, end):
            return False
    return True
