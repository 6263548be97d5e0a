# SPDX-License-Identifier: BSD-3-Clause
"""What happens when nodes go away and return: who runs there is stopped, and nothing that was reserved holds."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.machines.outages import DOWN
from swftools.simulator.engine.changes import WAITS, lacks_room, let_change, let_leave, next_change
from swftools.simulator.engine.replay import DONE, IN_VAIN, OUTAGE, STALE, Replay
from swftools.simulator.instants import instant, time_since
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.state import (
    CHECKPOINT,
    DISTURBED,
    ENDED,
    HELD,
    HOLDS,
    KILL,
    NOW,
    RUNNING,
    SUBMITTED,
    WAITING,
)
from swftools.simulator.machine.waiting_queue import NOBODY, leave, put
from swftools.simulator.machine.work import last_checkpoint
from swftools.simulator.nodes.acts import could_start_on_nodes
from swftools.simulator.nodes.away.exchange import OF_EVENTS, in_place_of
from swftools.simulator.nodes.away.state import (
    BESIDE_NODES,
    CHANGED,
    COMEBACKS,
    GOES,
    KEPT,
    LOST,
    MODE,
    NO_SET,
    RETURNED,
    RETURNS,
    TO_CHECKPOINT,
    AwayMachine,
)
from swftools.simulator.nodes.classes import enter_on_nodes, join
from swftools.simulator.nodes.holding import release_nodes
from swftools.simulator.nodes.state import ACTIVE, HEAD, IS_FRESH, MANY
from swftools.simulator.nodes.verbs import go_away_on_nodes, next_waiting_on_nodes


@in_place_of(next_change, OF_EVENTS)
@kernel(allocates=False)
def next_outage(machine: AwayMachine) -> float:
    """Return when the next node goes away or returns, or that is told, s; infinity: never."""
    place = machine.outages.counts[CHANGED]
    return machine.outages.time[place] if place < len(machine.outages.time) else np.inf


@in_place_of(lacks_room, OF_EVENTS)
@kernel(allocates=False)
def lacks_room_for_nodes(machine: AwayMachine, now: float) -> bool:
    """Whether there is too little room for the nodes of all who run, if nodes go away at an instant."""
    outages = machine.outages
    if next_outage(machine) > now:
        return False
    needed = outages.counts[KEPT]
    for place in range(machine.counts[RUNNING]):
        needed += BESIDE_NODES + machine.asked.nodes[machine.running[place]]
    outages.room[0] = needed
    return needed > len(outages.kept)


@in_place_of(let_change, OF_EVENTS)
@kernel(allocates=False)
def let_nodes_change(machine: AwayMachine, replay: Replay) -> int:
    """Let nodes return and go away that do so at this instant; return how many runs are stopped, as nodes went down."""
    outages, classes, now = machine.outages, machine.classes, machine.clock[NOW]
    counts, stopped = outages.counts, 0
    if next_outage(machine) > now:
        return stopped
    while next_outage(machine) <= now:
        row, what = outages.of[counts[CHANGED]], outages.what[counts[CHANGED]]
        counts[CHANGED] += 1
        if what == GOES and outages.kind[row] == DOWN:
            stopped = stop_on(machine, replay, outages.node[row], stopped)
        elif what == RETURNS:
            node = outages.node[row]
            while outages.next[node] < outages.behind[node] and outages.end[outages.next[node]] <= now:
                outages.next[node] += 1
            for slot in range(classes.counts[ACTIVE]):
                classes.fit_now[slot] = MANY
    while counts[RETURNED] < len(outages.back) and outages.end[outages.back[counts[RETURNED]]] <= now:
        counts[RETURNED] += 1
    classes.counts[HEAD], classes.counts[IS_FRESH] = NOBODY, 0
    replay.counts[IN_VAIN] = 0
    return stopped


@in_place_of(let_leave, OF_EVENTS)
@kernel(allocates=False)
def let_leave_nodes(machine: AwayMachine, replay: Replay) -> int:
    """Let waiting jobs leave that need nodes which never come back, where nothing is to come; others decide again."""
    left, job, last = 0, next_waiting_on_nodes(machine, NOBODY), len(machine.held) - 1
    while job != NOBODY:
        behind = next_waiting_on_nodes(machine, job)
        if not could_start_on_nodes(machine, job):
            if replay.until[0] < np.inf:
                return WAITS
            go_away_on_nodes(machine, job)
            machine.nodes.group[job], machine.held[last - left] = NO_SET, job
            left += 1
        job = behind
    if left > 0:
        machine.counts[DISTURBED] += 1
        replay.counts[IN_VAIN] = 0
    return left


@in_place_of(enter_on_nodes, OF_EVENTS)
@kernel(allocates=False)
def come_back(machine: AwayMachine, job: int) -> None:
    """Let a job wait behind all others; one that was submitted before comes back."""
    if job < machine.counts[SUBMITTED]:
        machine.outages.counts[COMEBACKS] += 1
    enter_on_nodes(machine, job)


@kernel(allocates=False)
def stop_on(machine: AwayMachine, replay: Replay, node: int, stopped: int) -> int:
    """Stop whoever runs on a node, and list the runs behind those that were stopped; return how many are listed."""
    place = 0
    while place < machine.counts[RUNNING]:
        job = machine.running[place]
        first, has_it = machine.asked.first[job], False
        for at in range(first, first + machine.asked.nodes[job]):
            has_it |= machine.nodes.held[at] == node
        if has_it:
            machine.stops.run[stopped], machine.stops.how[stopped] = machine.run[job], stop_run(machine, replay, job)
            stopped += 1
        else:
            place += 1
    return stopped


@kernel(allocates=False)
def stop_run(machine: AwayMachine, replay: Replay, job: int) -> int:
    """Stop a run; its job waits again, or waits to do so, or is over. Return how it was stopped."""
    counts, queue, log, now = machine.counts, machine.queue, replay.log, machine.clock[NOW]
    outages, run = machine.outages, machine.run[job]
    work = max(time_since(machine.start_time[job], now) - machine.overhead[job], 0.0)
    log.end[run], log.ended_by[run], log.work[run] = now, OUTAGE, work
    replay.counts[STALE] += 1
    keep_nodes(machine, job, run)
    release_nodes(machine, job)
    machine.run[job] = NOBODY
    if outages.counts[MODE] == LOST:
        leave(queue, job)
        machine.ended[counts[ENDED]] = job
        counts[ENDED] += 1
        replay.counts[DONE] += 1
        return OUTAGE
    how = CHECKPOINT if outages.counts[MODE] == TO_CHECKPOINT else KILL
    done = instant(machine.done[job] + work)
    machine.done[job] = last_checkpoint(machine, job, done) if how == CHECKPOINT else 0.0
    counts[DISTURBED] += 1
    outages.counts[COMEBACKS] += 1
    if outages.delay[0] > 0.0:
        leave(queue, job)
        push(machine.held_until, machine.held, counts[HELD], instant(now + outages.delay[0]), job)
        counts[HELD] += 1
        counts[HOLDS] += 1
    else:
        put(queue, queue.place[job], 1.0, 1.0)
        join(machine, job)
        counts[WAITING] += 1
    return how


@kernel(allocates=False)
def keep_nodes(machine: AwayMachine, job: int, run: int) -> None:
    """Note the nodes of a run that is stopped, since its job will have others."""
    kept, used, wanted = machine.outages.kept, machine.outages.counts[KEPT], machine.asked.nodes[job]
    kept[used], kept[used + 1], kept[used + 2] = run, machine.nodes.group[job], wanted
    first, used = machine.asked.first[job], used + BESIDE_NODES
    for i in range(wanted):
        kept[used + i] = machine.nodes.held[first + i]
    machine.outages.counts[KEPT] = used + wanted
