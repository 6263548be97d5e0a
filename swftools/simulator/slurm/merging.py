# SPDX-License-Identifier: BSD-3-Clause
"""The order of the queue where QOS preempt: who may preempt another stands before it, which is no order of them all.

A job of QOS high may stand behind one of QOS normal, that one behind one of QOS low, and that one behind the first. So
what comes out depends on how the queue is sorted. Slurm sorts it for each pass with the C library's ``qsort``, which
halves and merges a list in the order in which jobs came; so is it done here, wherever it matters. The tasks of an array
that wait are one entry there. It stands where its last task started, since it is made anew when one does.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import Machine
from swftools.simulator.slurm.limits import reaches_array_limit
from swftools.simulator.slurm.preemptable import BY_QOS
from swftools.simulator.slurm.queue import is_before, stands_first
from swftools.simulator.slurm.state import ENTRIES, LEFT_OUT, NO_ARRAYS, PREEMPTS_BY, UNKNOWN, Dynamic, Given


@kernel(allocates=False)
def merge_queue(given: Given, state: Dynamic, machine: Machine) -> bool:
    """Put the queue into Slurm's order for a pass; return whether that moved it: then ``put_back`` is for after."""
    if int(given.number[PREEMPTS_BY]) != BY_QOS or not has_preemptor_behind(given, state):
        return False
    many, live = state.counts[ENTRIES], 0
    for place in range(many):
        state.kept_job[place], state.kept_partition[place] = state.entry_job[place], state.entry_partition[place]
        state.kept_priority[place] = state.entry_priority[place]
        if is_live(given, state, place) and not is_behind_its_array(given, state, place):
            state.line[live] = place
            live += 1
    merge_sort(given, state, machine, live, True)
    merge_sort(given, state, machine, live, False)
    live = put_arrays_back(given, state, live)
    for place in range(many):  # who waits no more is looked over wherever it stands
        if not is_live(given, state, place):
            state.line[live] = place
            live += 1
    for place in range(many):
        other = state.line[place]
        state.entry_job[place], state.entry_partition[place] = state.kept_job[other], state.kept_partition[other]
        state.entry_priority[place] = state.kept_priority[other]
    return True


@kernel(allocates=False)
def put_back(state: Dynamic) -> None:
    """Put the queue into the order in which it is kept."""
    for place in range(state.counts[ENTRIES]):
        state.entry_job[place], state.entry_partition[place] = state.kept_job[place], state.kept_partition[place]
        state.entry_priority[place] = state.kept_priority[place]


@kernel(allocates=False)
def is_live(given: Given, state: Dynamic, place: int) -> bool:
    """Whether an entry is of a job that waits; as long as its array runs as many tasks as it may it is not there."""
    job = state.entry_job[place]
    if state.is_on[job] != 0 or state.has_left[job] != 0:
        return False
    is_task = given.array[job] != UNKNOWN and int(given.number[LEFT_OUT]) != NO_ARRAYS
    return not (is_task and reaches_array_limit(given, state, job))


@kernel(allocates=False)
def array_at(given: Given, state: Dynamic, place: int) -> int:
    """Return the array of an entry in its partition, as a place in ``state.last_task``; -1 if it is of none."""
    array = given.array[state.entry_job[place]]
    if array == UNKNOWN or int(given.number[LEFT_OUT]) == NO_ARRAYS:
        return UNKNOWN
    return array * len(given.tier) + state.entry_partition[place]


@kernel(allocates=False)
def is_behind_its_array(given: Given, state: Dynamic, place: int) -> bool:
    """Whether an entry is of an array that has one already; it is noted behind that."""
    of_array = array_at(given, state, place)
    state.next_task[place] = UNKNOWN
    if of_array == UNKNOWN:
        return False
    last = state.last_task[of_array]
    state.last_task[of_array] = place
    if last != UNKNOWN:
        state.next_task[last] = place
    return last != UNKNOWN


@kernel(allocates=False)
def put_arrays_back(given: Given, state: Dynamic, many: int) -> int:
    """Put the other tasks of arrays behind their first ones in ``state.line``; return how many entries it has then."""
    live = 0
    for i in range(many):
        place = state.line[i]
        while place != UNKNOWN:
            state.merged[live] = place
            live += 1
            place = state.next_task[place]
    for i in range(live):
        place = state.merged[i]
        state.line[i] = place
        of_array = array_at(given, state, place)
        if of_array != UNKNOWN:
            state.last_task[of_array] = UNKNOWN
    return live


@kernel(allocates=False)
def made_at(given: Given, state: Dynamic, machine: Machine, job: int) -> float:
    """Return when the entry of a job was made: when it was submitted, or the last task of its array started."""
    made, array = machine.requests.submit_time[job], given.array[job]
    return made if array == UNKNOWN else max(made, state.split_time[array])


@kernel(allocates=False)
def has_preemptor_behind(given: Given, state: Dynamic) -> bool:
    """Whether a job stands behind another one that it may preempt; if not, all orders are the same."""
    many = len(given.qos_factor)
    for qos in range(many):
        state.seen_qos[qos] = 0
    for place in range(state.counts[ENTRIES]):
        own = given.qos[state.entry_job[place]]
        if own == UNKNOWN or not is_live(given, state, place):
            continue
        for qos in range(many):
            if state.seen_qos[qos] != 0 and given.preempts[own * many + qos] != 0:
                return True
        state.seen_qos[own] = 1
    return False


@kernel(allocates=False)
def merge_sort(given: Given, state: Dynamic, machine: Machine, many: int, by_number: bool) -> None:
    """Sort ``state.line`` by halves, the first of which is the shorter one; halves that are to do are on a stack."""
    halves = state.halves
    halves[0], halves[1], halves[2], top = 0, many, 0, 3
    while top > 0:
        top -= 3
        first, size, is_halved = halves[top], halves[top + 1], halves[top + 2]
        half = size // 2
        if half == 0:
            continue
        if is_halved != 0:
            merge(given, state, machine, first, half, size, by_number)
            continue
        halves[top + 2] = 1
        halves[top + 3], halves[top + 4], halves[top + 5] = first, half, 0
        halves[top + 6], halves[top + 7], halves[top + 8] = first + half, size - half, 0
        top += 9


@kernel(allocates=False)
def merge(given: Given, state: Dynamic, machine: Machine, first: int, half: int, size: int, by_number: bool) -> None:
    """Merge two sorted neighbours of ``state.line`` into one."""
    line, merged = state.line, state.merged
    one, other = first, first + half
    for place in range(first, first + size):
        takes_one = other >= first + size
        if not takes_one and one < first + half:
            if by_number:
                takes_one = not came_first(given, state, machine, line[other], line[one])
            else:
                takes_one = not goes_before(given, state, machine, line[other], line[one])
        if takes_one:
            merged[place] = line[one]
            one += 1
        else:
            merged[place] = line[other]
            other += 1
    copy(merged, line, first, size)


@kernel(allocates=False)
def copy(source: IntArray, target: IntArray, first: int, size: int) -> None:
    """Copy a part of a list."""
    for place in range(first, first + size):
        target[place] = source[place]


@kernel(allocates=False)
def came_first(given: Given, state: Dynamic, machine: Machine, one: int, other: int) -> bool:
    """Whether an entry was made before another one, then by their jobs, then in the order of a job's partitions."""
    job, theirs = state.kept_job[one], state.kept_job[other]
    made, later = made_at(given, state, machine, job), made_at(given, state, machine, theirs)
    if made != later:
        return made < later
    if job != theirs:
        return job < theirs
    return stands_first(given, job, state.kept_partition[one], state.kept_partition[other])


@kernel(allocates=False)
def goes_before(given: Given, state: Dynamic, machine: Machine, one: int, other: int) -> bool:
    """Whether an entry goes before another one: it may preempt that, or if neither may, as the queue is kept."""
    job, theirs, many = state.kept_job[one], state.kept_job[other], len(given.qos_factor)
    qos, another = given.qos[job], given.qos[theirs]
    if min(qos, another) != UNKNOWN:
        if given.preempts[qos * many + another] != 0:
            return True
        if given.preempts[another * many + qos] != 0:
            return False
    partition, their_partition = state.kept_partition[one], state.kept_partition[other]
    priority, their_priority = state.kept_priority[one], state.kept_priority[other]
    return is_before(given, machine, job, partition, priority, theirs, their_partition, their_priority)
