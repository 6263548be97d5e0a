# SPDX-License-Identifier: BSD-3-Clause
"""A light copy of a simulation: of the jobs that wait, run or are held back, and of as many to come as are asked for.

It costs what there is now, not what the log has. Jobs get new numbers, in the same order: those that are over are not
in it. What a policy remembers is taken along by the policy (``swftools.simulator.memory_transfer``).
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from swftools.errors import PolicyError
from swftools.kernel import IntArray, kernel
from swftools.simulator.engine.dependents import COMES, hold_until_ready, list_job, take_edge
from swftools.simulator.engine.replay import (
    ANSWERED,
    COMING,
    DECIDING,
    DEPENDENT,
    DONE,
    FULL,
    IN_VAIN,
    STALE,
    Ends,
    Replay,
    RunLog,
    coming_at,
    replay_at,
)
from swftools.simulator.engine.transfer import take_job, take_run
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.state import (
    ENDED,
    HELD,
    NOW,
    RUNNING,
    STARTED,
    STOPPED,
    SUBMITTED,
    Machine,
)
from swftools.simulator.machine.waiting_queue import NOBODY, WaitingQueue, index
from swftools.simulator.nodes.forking import parts_taken, take_places
from swftools.simulator.policy_abi import Memory, machine_at, pack
from swftools.simulator.registry import Policy
from swftools.simulator.run.driver import Driver
from swftools.simulator.run.fork_arena import ForkMemory, take_draws
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.policy_memory import carried_out, empty_memory


def fork(simulation: Simulation, later: int | None) -> tuple[Simulation, IntArray]:
    """Return a light copy, and the number in the simulation of each of its jobs.

    Parameters
    ----------
    simulation : Simulation
        Which does not stand in the middle of a decision.
    later : int, optional
        How many of the next jobs to come are in it; None: all.

    Raises
    ------
    PolicyError
        It was acted on in this decision already; or what policy or predictor remember cannot be taken along.
    """
    driver = simulation._driver
    counts, progress, remembers = driver.machine.counts, driver.replay.counts, driver.rooms.remembers
    policy = carried_out(simulation)
    _check_forgets(driver, policy)
    if progress[DECIDING] and (counts[STARTED] or counts[STOPPED]):
        raise PolicyError("you have already acted in this decision: fork before, or call advance() first")
    submitted = int(counts[SUBMITTED])
    to_come = int(progress[COMING]) - submitted
    if later is not None:
        to_come = min(to_come, max(later, 0))
    present = submitted - int(progress[DONE]) + (int(counts[ENDED]) if remembers else 0)
    jobs = present + to_come
    parts = parts_taken(driver.machine, driver.replay, to_come) if simulation.nodes is not None else 0
    lease = driver.rooms.take(driver.seat, jobs, parts, partial(_empty_memory, simulation))
    room: ForkMemory = lease.room
    take = driver.called.taken(take_along_kernel())
    take(*driver.seat.places, *room.seat.places, room.origin, 1 if remembers else 0, to_come)
    origin, rows = room.origin[:jobs].copy(), room.trace_row
    if len(driver.replay.dependents.pending):
        follow = driver.called.taken(take_dependents)
        follow(driver.replay, room.seat.arena.state.machine, room.seat.arena.state.replay, origin)
    simulation._rows.take(origin, out=rows[:jobs], mode="clip")  # which is the fastest, and never needed
    table = simulation._table.copy()
    theirs = driver.seated(lease, jobs)
    if remembers:
        if policy.carry:
            policy.carry(driver.decider.memory, theirs.decider.memory, origin[:present])
        take_draws(theirs.decider.rng, driver.decider.rng)
    return simulation._with_driver(theirs, table, rows, origin), origin


def _check_forgets(driver: Driver, policy: Policy) -> None:
    """Refuse what remembers jobs, and cannot tell them by other numbers."""
    refused = {
        f"policy {policy.name!r}": "memory" in driver.rooms.remembers and policy.carry is None,
        f"predictor {driver.predictor.name!r}": driver.predictor.observes,
        "the predictor in Python": driver.asked,
        f"the function of policy {policy.name!r}": policy.in_python,
    }
    for what, it in refused.items():
        if it:
            raise PolicyError(f"{what} has a memory that a fork cannot copy; use copy()")


def _empty_memory(simulation: Simulation, jobs: int, parts: int) -> Memory:
    """Return what the policy remembers before the first job comes, in the form of the engine."""
    return pack((), empty_memory(simulation, jobs, parts), simulation._driver.decider.rng).memory


def take_along(
    coming_place: Any,
    machine_place: Any,
    replay_place: Any,
    new_coming_place: Any,
    new_machine_place: Any,
    new_replay_place: Any,
    origin: IntArray,
    with_ended: int,
    later: int,
) -> None:
    """Fill the room for a copy.

    Parameters
    ----------
    coming_place, machine_place, replay_place
        Where these parts of a simulation lie; interpreted the parts.
    new_coming_place, new_machine_place, new_replay_place
        The same of the room, of which ``coming.row`` is written already.
    origin : numpy.ndarray of int64
        Is written: the job of each of the room's.
    with_ended : int
        1 if those are to be in it that ended since the last decision: the policy is still to be told of them.
    later : int
        How many jobs that are to come are in it.
    """
    coming, machine, replay = coming_at(coming_place), machine_at(machine_place), replay_at(replay_place)
    theirs, ours, again = coming_at(new_coming_place), machine_at(new_machine_place), replay_at(new_replay_place)
    submitted = machine.counts[SUBMITTED]
    present = note_present(machine, replay, origin, with_ended)
    jobs = present + later
    for i in range(later):
        origin[present + i] = submitted + i
    for i in range(len(machine.counts)):
        ours.counts[i] = machine.counts[i]
    ended = machine.counts[ENDED] if with_ended > 0 else 0
    ours.counts[SUBMITTED], ours.counts[ENDED] = present, ended
    ours.counts[STARTED] = ours.counts[STOPPED] = 0
    for i in range(len(machine.clock)):
        ours.clock[i] = machine.clock[i]
    for i in range(len(replay.counts)):
        again.counts[i] = replay.counts[i]
    again.counts[COMING], again.counts[DONE] = jobs, ended
    again.counts[STALE] = again.counts[FULL] = again.counts[IN_VAIN] = 0
    again.counts[ANSWERED] = min(again.counts[ANSWERED], present)
    again.until[0] = replay.until[0]
    for new in range(jobs):
        take_job(coming, machine, replay, origin[new], theirs, ours, again, new)
    again.counts[DEPENDENT] = again.dependents.edges[0] = 0
    again.dependents.free[0] = NOBODY
    for i in range(ended):
        ours.ended[i] = number_of(origin, present, machine.ended[i])
    for i in range(machine.counts[RUNNING]):
        ours.running[i] = number_of(origin, present, machine.running[i])
    for i in range(machine.counts[HELD]):
        ours.held[i], ours.held_until[i] = number_of(origin, present, machine.held[i]), machine.held_until[i]
    take_queue(machine.queue, ours.queue, origin, present)
    take_places(machine, ours, origin, jobs)
    take_runs(machine, replay.log, ours, again.log, again.ends, origin, present)


@kernel(allocates=False)
def note_present(machine: Machine, replay: Replay, jobs: IntArray, with_ended: int) -> int:
    """Write the jobs that have come and not ended into an array, rising, and those that ended; return how many."""
    queue, count, rises = machine.queue, 0, True
    for place in range(queue.used[0]):
        job = queue.job[place]
        if job != NOBODY:
            rises = rises and (count == 0 or jobs[count - 1] < job)
            jobs[count] = job
            count += 1
    before = count
    for i in range(machine.counts[HELD]):
        jobs[count] = machine.held[i]
        count += 1
    for i in range(replay.counts[DEPENDENT]):
        jobs[count] = replay.dependents.listed[i]
        count += 1
    for i in range(machine.counts[ENDED] if with_ended > 0 else 0):
        jobs[count] = machine.ended[i]
        count += 1
    if not rises or count > before:
        sort(jobs, count)
    return count


@kernel(allocates=False)
def sort(numbers: IntArray, count: int) -> None:
    """Sort the first so many numbers of an array, rising: as a heap, since what is nearly in order takes no longer."""
    for last in range(1, count):
        place, number = last, numbers[last]
        while place > 0 and numbers[(place - 1) >> 1] < number:
            numbers[place] = numbers[(place - 1) >> 1]
            place = (place - 1) >> 1
        numbers[place] = number
    for last in range(count - 1, 0, -1):
        number, numbers[last] = numbers[last], numbers[0]
        place, child = 0, 1
        while child < last:
            if child + 1 < last and numbers[child + 1] > numbers[child]:
                child += 1
            if numbers[child] <= number:
                break
            numbers[place] = numbers[child]
            place, child = child, 2 * child + 1
        numbers[place] = number


@kernel(allocates=False)
def number_of(jobs: IntArray, count: int, job: int) -> int:
    """Return the place of a job among the first so many, which rise, and of which it is one."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) >> 1
        if jobs[middle] < job:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(allocates=False)
def take_dependents(replay: Replay, ours: Machine, again: Replay, origin: IntArray) -> None:
    """Copy who waits for whom of those that are taken along; what waits for others only waits no more.

    It is compiled only where a log has such jobs.
    """
    theirs, dependents, jobs = replay.dependents, again.dependents, len(origin)
    for new in range(jobs):
        if theirs.listed_at[origin[new]] == COMES:
            dependents.listed_at[new] = COMES
        edge = theirs.edge[origin[new]]
        while edge != NOBODY:
            other = number_of(origin, jobs, theirs.successor[edge])
            if origin[other] == theirs.successor[edge]:
                take_edge(dependents, new, other, theirs.think_time[edge])
            edge = theirs.next[edge]
    for i in range(replay.counts[DEPENDENT]):
        job = number_of(origin, jobs, theirs.listed[i])
        if dependents.pending[job] > 0:
            list_job(dependents, again.counts, job)
        else:
            hold_until_ready(ours, again, job, ours.clock[NOW])


@kernel(allocates=False)
def take_queue(queue: WaitingQueue, ours: WaitingQueue, origin: IntArray, present: int) -> None:
    """Copy the queue, with its places closed up."""
    places, ours_places, kept = len(queue.job), len(ours.job), 0
    for i in range(2 * ours_places, 4 * ours_places):
        ours.least[i] = np.inf
    for place in range(queue.used[0]):
        if queue.job[place] != NOBODY:
            job = number_of(origin, present, queue.job[place])
            ours.job[kept], ours.place[job] = job, kept
            ours.least[2 * (ours_places + kept)] = queue.least[2 * (places + place)]
            ours.least[2 * (ours_places + kept) + 1] = queue.least[2 * (places + place) + 1]
            kept += 1
    for place in range(kept, ours_places):
        ours.job[place] = NOBODY
    ours.used[0], ours.used[1] = kept, 0
    index(ours)


@kernel(allocates=False)
def take_runs(
    machine: Machine, log: RunLog, ours: Machine, new_log: RunLog, new_ends: Ends, origin: IntArray, present: int
) -> None:
    """Copy the runs that go on, in their order, and when they end."""
    runs, count = new_ends.runs, 0
    for new in range(present):
        run = machine.run[origin[new]]
        if run >= 0:
            runs[count] = run
            count += 1
    sort(runs, count)
    for run in range(len(new_log.work)):
        new_log.before[run] = new_log.work[run] = new_log.overhead[run] = 0.0
    for run in range(count):
        old = runs[run]
        job = number_of(origin, present, log.job[old])
        ours.run[job] = run
        new_log.job[run] = job
        take_run(log, old, new_log, run)
        push(new_ends.times, runs, run, log.end[old], run)  # it takes places of runs that were read
    new_log.size[0] = new_ends.size[0] = count


@cache
def take_along_kernel() -> Any:
    """Return ``take_along`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    places = [types.int64] * 6
    return kernel(types.void(*places, types.int64[::1], types.int64, types.int64), allocates=False)(take_along)
