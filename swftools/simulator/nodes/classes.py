# SPDX-License-Identifier: BSD-3-Clause
"""The waiting jobs in classes of equal requests, and the bounds on how many nodes fit each."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.views import expected_time
from swftools.simulator.machine.waiting_queue import enter, is_waiting, put
from swftools.simulator.nodes.state import ACTIVE, BASE, IS_FRESH, KNOWN, MANY, NodeMachine
from swftools.simulator.nodes.words import GUARD, bits_of

_LONGEST = 1e15


@kernel(allocates=False)
def enter_on_nodes(machine: NodeMachine, job: int) -> None:
    """Let a job wait behind all others."""
    enter(machine.queue, job, 1.0, 1.0)  # its index is not searched for what fits here
    join(machine, job)


@kernel(allocates=False)
def join(machine: NodeMachine, job: int) -> None:
    """Put a job that has a place in the queue into its class, by that place."""
    classes, counts, place = machine.classes, machine.classes.counts, machine.queue.place
    kind = class_for(machine, job, expected_time(machine, job))
    classes.class_of[job] = kind
    if classes.slot[kind] == 0:
        slot = counts[ACTIVE]
        counts[ACTIVE] = slot + 1
        at = machine.asked.place[job]
        classes.slot[kind] = slot + 1
        classes.slots[slot], classes.times[slot] = kind, classes.time[kind]
        classes.need[slot], classes.nodes[slot] = machine.asked.need[job], machine.asked.nodes[job]
        classes.inside0[slot], classes.inside1[slot] = bits_of(at)
        classes.fit_now[slot] = classes.fit_then[slot] = MANY
        classes.first[kind] = classes.last[kind] = job + 1
        classes.behind[job] = classes.ahead[job] = 0
        return
    ahead = classes.last[kind]
    while ahead != 0 and place[ahead - 1] > place[job]:
        ahead = classes.ahead[ahead - 1]
    behind = classes.behind[ahead - 1] if ahead != 0 else classes.first[kind]
    classes.ahead[job], classes.behind[job] = ahead, behind
    if ahead != 0:
        classes.behind[ahead - 1] = job + 1
    else:
        classes.first[kind] = job + 1
    if behind != 0:
        classes.ahead[behind - 1] = job + 1
    else:
        classes.last[kind] = job + 1


@kernel(allocates=False)
def quit_class(machine: NodeMachine, job: int) -> None:
    """Take a job out of its class, which is active no more where it was the last."""
    classes, counts = machine.classes, machine.classes.counts
    kind, ahead, behind = classes.class_of[job], classes.ahead[job], classes.behind[job]
    if ahead != 0:
        classes.behind[ahead - 1] = behind
    else:
        classes.first[kind] = behind
    if behind != 0:
        classes.ahead[behind - 1] = ahead
    else:
        classes.last[kind] = ahead
    if classes.first[kind] != 0:
        return
    slot, last = classes.slot[kind] - 1, counts[ACTIVE] - 1
    counts[ACTIVE] = last
    classes.slot[kind] = 0
    if slot < last:
        classes.slots[slot], classes.times[slot] = classes.slots[last], classes.times[last]
        classes.need[slot], classes.nodes[slot] = classes.need[last], classes.nodes[last]
        classes.inside0[slot], classes.inside1[slot] = classes.inside0[last], classes.inside1[last]
        classes.fit_now[slot], classes.fit_then[slot] = classes.fit_now[last], classes.fit_then[last]
        classes.slot[classes.slots[slot]] = slot + 1


@kernel(allocates=False)
def class_for(machine: NodeMachine, job: int, time: float) -> int:
    """Return the class of a job that is expected to run for a time; a new one where there is none."""
    classes, asked, ranks = machine.classes, machine.asked, machine.requests.priority_rank
    table, mask = classes.table, len(classes.table) - 1
    rank, at = ranks[job], hash_of(machine, job, time) & mask
    while table[at] != 0:
        kind = table[at] - 1
        like = classes.like[kind]
        same = asked.need[like] == asked.need[job] and asked.nodes[like] == asked.nodes[job]
        if same and asked.place[like] == asked.place[job] and classes.time[kind] == time and ranks[like] == rank:
            return kind
        at = (at + 1) & mask
    if classes.counts[KNOWN] == len(classes.class_of):  # jobs that are predicted anew may ask for ever more
        keep_active(machine)
        at = hash_of(machine, job, time) & mask
        while table[at] != 0:
            at = (at + 1) & mask
    kind = classes.counts[BASE] + classes.counts[KNOWN]
    classes.counts[KNOWN] += 1
    table[at] = kind + 1
    classes.like[kind], classes.time[kind] = job, time
    return kind


@kernel(allocates=False)
def hash_of(machine: NodeMachine, job: int, time: float) -> int:
    """Return a number that is the same for jobs that ask for the same."""
    asked = machine.asked
    mixed = np.uint64(asked.need[job]) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(int(min(time, _LONGEST) * 16.0)) * np.uint64(0xC2B2AE3D27D4EB4F)
    rest = asked.nodes[job] * 1000003 + asked.place[job] * 8191 + machine.requests.priority_rank[job] + 1
    mixed ^= np.uint64(rest) * np.uint64(0x165667B19E3779F9)
    return int((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(3))


@kernel(allocates=False)
def keep_active(machine: NodeMachine) -> None:
    """Forget the classes in which nobody waits; the others get numbers of the other half of those that there are."""
    classes, counts = machine.classes, machine.classes.counts
    table, mask = classes.table, len(classes.table) - 1
    for at in range(len(table)):
        table[at] = 0
    base = len(classes.class_of) - counts[BASE]
    for slot in range(counts[ACTIVE]):
        old, kind = classes.slots[slot], base + slot
        classes.first[kind], classes.last[kind] = classes.first[old], classes.last[old]
        classes.time[kind], classes.like[kind] = classes.time[old], classes.like[old]
        classes.slot[kind], classes.slot[old], classes.slots[slot] = slot + 1, 0, kind
        job = classes.first[kind]
        while job != 0:
            classes.class_of[job - 1] = kind
            job = classes.behind[job - 1]
        at = hash_of(machine, int(np.int64(classes.like[kind])), classes.time[kind]) & mask
        while table[at] != 0:
            at = (at + 1) & mask
        table[at] = kind + 1
    counts[BASE], counts[KNOWN] = base, counts[ACTIVE]


@kernel(allocates=False)
def any_may_start(machine: NodeMachine) -> bool:
    """Whether any waiting job might fit now: if not, a policy need not look further."""
    classes = machine.classes
    fit, wanted, some = classes.fit_now, classes.nodes, False
    for slot in range(np.uint64(0), np.uint64(classes.counts[ACTIVE])):
        some |= fit[slot] >= wanted[slot]
    return some


@kernel(allocates=False)
def may_start(machine: NodeMachine, job: int) -> bool:
    """Whether enough nodes might fit a waiting job now, by what is known of its class."""
    slot = machine.classes.slot[machine.classes.class_of[job]] - 1
    return is_waiting(machine.queue, job) and machine.classes.fit_now[slot] >= machine.classes.nodes[slot]


@kernel(allocates=False)
def note_found(machine: NodeMachine, job: int, got: int) -> None:
    """Note on how many nodes, at most as many as are needed, the jobs of a job's class fit now."""
    slot = machine.classes.slot[machine.classes.class_of[job]] - 1
    machine.classes.fit_now[slot] = MANY if got == machine.asked.nodes[job] else got


@kernel(allocates=False)
def raise_now(machine: NodeMachine, old: int, new: int, inside0: int, inside1: int, nodes: int) -> None:
    """Raise bounds for nodes of which more is free: each had ``old`` free and has ``new``."""
    classes = machine.classes
    needs, in0, in1, fit = classes.need, classes.inside0, classes.inside1, classes.fit_now
    for slot in range(np.uint64(0), np.uint64(classes.counts[ACTIVE])):
        fits = ((new | GUARD) - needs[slot]) & GUARD == GUARD
        fitted = ((old | GUARD) - needs[slot]) & GUARD == GUARD
        inside = ((in0[slot] & inside0) | (in1[slot] & inside1)) != 0
        fit[slot] += nodes if (fits and not fitted and inside) else 0


@kernel(allocates=False)
def raise_then(
    machine: NodeMachine, old: int, told: int, new: int, tells: int, inside0: int, inside1: int, nodes: int
) -> None:
    """Raise the bounds of who fits now and at the reserved time, when ``told`` was free, and ``tells`` is."""
    classes = machine.classes
    needs, in0, in1, fit = classes.need, classes.inside0, classes.inside1, classes.fit_then
    for slot in range(np.uint64(0), np.uint64(classes.counts[ACTIVE])):
        fits = ((new | GUARD) - needs[slot]) & ((tells | GUARD) - needs[slot]) & GUARD == GUARD
        fitted = ((old | GUARD) - needs[slot]) & ((told | GUARD) - needs[slot]) & GUARD == GUARD
        inside = ((in0[slot] & inside0) | (in1[slot] & inside1)) != 0
        fit[slot] += nodes if (fits and not fitted and inside) else 0


@kernel(allocates=False)
def forget_then(machine: NodeMachine) -> None:
    """Let nothing be known of who fits at the reserved time."""
    for slot in range(machine.classes.counts[ACTIVE]):
        machine.classes.fit_then[slot] = MANY


@kernel(allocates=False)
def wait_again_on_nodes(machine: NodeMachine, job: int) -> None:
    """Let a waiting job, of which something else is expected by now, wait at its place."""
    machine.classes.counts[IS_FRESH] = 0  # it may have a reservation, for another length
    put(machine.queue, machine.queue.place[job], 1.0, 1.0)
    quit_class(machine, job)
    join(machine, job)
