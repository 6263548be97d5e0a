# SPDX-License-Identifier: BSD-3-Clause
"""A light copy of a simulation: of the jobs that wait, run or are held back, and of as many to come as are asked for.

It costs what there is now, not what the log has. Jobs get new numbers, in the same order: those that are over are not
in it. What a policy remembers is taken along by the policy (``swftools.simulator.carrying``).
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np

from swftools.errors import PolicyError
from swftools.kernel import IntArray, kernel
from swftools.simulator.engine.replay import (
    ANSWERED,
    COMING,
    DECIDING,
    DONE,
    FULL,
    IN_VAIN,
    STALE,
    Coming,
    Ends,
    Log,
    coming_at,
    replay_at,
)
from swftools.simulator.job_table import JobTable
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.state import (
    CAPACITY,
    ENDED,
    HELD,
    RUNNING,
    STARTED,
    STOPPED,
    SUBMITTED,
    Machine,
    Requests,
)
from swftools.simulator.machine.waiting_queue import NOBODY, WaitingQueue, index
from swftools.simulator.policy_abi import Memory, machine_at, pack
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.rooms import Rooms


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
    counts, progress = driver.machine.counts, driver.replay.counts
    if driver.rooms is None:
        driver.rooms = _rooms_for(simulation)
    remembers = driver.rooms.remembers
    if progress[DECIDING] and (counts[STARTED] or counts[STOPPED]):
        raise PolicyError("you have already acted in this decision: fork before, or call advance() first")
    submitted = int(counts[SUBMITTED])
    to_come = int(progress[COMING]) - submitted
    if later is not None:
        to_come = min(to_come, max(later, 0))
    present = submitted - int(progress[DONE]) + (int(counts[ENDED]) if remembers else 0)
    jobs = present + to_come
    lease = driver.rooms.take(driver, jobs)
    room = lease.room
    parts = room.parts
    (_, (coming, _)), (_, (machine, _)), (_, (replay, _)), _, _ = room.laid_out.parts
    take = take_along_kernel()
    take = take.compiled if driver.called.is_compiled else take.py_func
    take(*driver.places(), coming, machine, replay, parts.origin, 1 if remembers else 0, to_come)
    origin = parts.origin[:jobs].copy()
    rows = parts.trace_row
    simulation._rows.take(origin, out=rows[:jobs], mode="clip")  # which is the fastest, and never needed
    table = simulation._table.copy()
    theirs = driver.with_parts(room.laid_out, jobs, lease, Numbers(table, rows))
    if remembers:
        if driver.policy.carry:
            driver.policy.carry(driver.decider.memory, theirs.decider.memory, origin[:present])
        if "rng" in remembers:
            theirs.decider = theirs.decider._replace(rng=copy.deepcopy(driver.decider.rng))
    return simulation._with_driver(theirs, table, rows, origin), origin


class Numbers:
    """Tells what a user calls a job of a copy: its number in the trace."""

    def __init__(self, table: JobTable, rows: Any) -> None:
        self._table, self._rows = table, rows

    def __call__(self, job: int) -> object:
        """Return the number of a job."""
        return self._table.number(int(self._rows[job]))


def _rooms_for(simulation: Simulation) -> Rooms:
    """Return where rooms for copies are kept; refuse what remembers jobs, and cannot tell them by other numbers."""
    driver = simulation._driver
    policy = driver.policy.made_for(simulation._chosen)
    remembers = tuple(name for name in policy.own if name != "parameters")
    refused = {
        f"policy {policy.name!r}": "memory" in remembers and policy.carry is None,
        f"predictor {driver.predictor.name!r}": driver.predictor.observes,
        "the predictor in Python": driver.asked,
        f"the function of policy {driver.policy.name!r}": driver.policy.in_python,
    }
    for what, it in refused.items():
        if it:
            raise PolicyError(f"{what} has a memory that a fork cannot copy; use copy()")
    size, chosen = int(driver.machine.counts[CAPACITY]), simulation._chosen

    def empty(jobs: int) -> Memory:
        return pack((), policy.empty_memory(jobs, size, chosen), driver.decider.rng).memory

    return Rooms(remembers, empty if remembers else None)


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
    present = note_present(machine, origin, with_ended)
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
        take_job(coming, machine, replay.requests, origin[new], theirs, ours, again.requests, new, new < present)
    for i in range(ended):
        ours.ended[i] = number_of(origin, present, machine.ended[i])
    for i in range(machine.counts[RUNNING]):
        ours.running[i] = number_of(origin, present, machine.running[i])
    for i in range(machine.counts[HELD]):
        ours.held[i], ours.held_until[i] = number_of(origin, present, machine.held[i]), machine.held_until[i]
    take_queue(machine.queue, ours.queue, origin, present)
    take_runs(machine, replay.log, ours, again.log, again.ends, origin, present)


@kernel(allocates=False)
def note_present(machine: Machine, jobs: IntArray, with_ended: int) -> int:
    """Write the jobs that wait, run or are held back into an array, rising, and those that ended; return how many."""
    queue, count, rises = machine.queue, 0, True
    for place in range(queue.used[0]):
        job = queue.job[place]
        if job != NOBODY:
            rises = rises and (count == 0 or jobs[count - 1] < job)
            jobs[count] = job
            count += 1
    others = machine.counts[HELD] + (machine.counts[ENDED] if with_ended > 0 else 0)
    for i in range(others):
        held = machine.counts[HELD]
        jobs[count] = machine.held[i] if i < held else machine.ended[i - held]
        count += 1
    if not rises or others > 0:
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
def take_job(
    coming: Coming,
    machine: Machine,
    requests: Requests,
    job: int,
    theirs: Coming,
    ours: Machine,
    asked: Requests,
    new: int,
    is_known: bool,
) -> None:
    """Copy all that is of one job; of one that is to come nothing is known yet."""
    take_coming(coming, job, theirs, new)
    asked.submit_time[new] = requests.submit_time[job] if is_known else np.nan
    asked.processors[new] = requests.processors[job] if is_known else -1
    asked.requested_time[new] = requests.requested_time[job] if is_known else np.nan
    asked.limit[new] = requests.limit[job] if is_known else np.nan
    asked.user_id[new] = requests.user_id[job] if is_known else -1
    asked.queue_id[new] = requests.queue_id[job] if is_known else -1
    if len(requests.priority_rank) > 0:
        asked.priority_rank[new] = requests.priority_rank[job] if is_known else -1
    if len(requests.checkpoint_interval) > 0:
        asked.checkpoint_interval[new] = requests.checkpoint_interval[job] if is_known else np.nan
    if len(requests.speedup) > 0:
        for i in range(requests.speedup.shape[1]):
            asked.speedup[new, i] = requests.speedup[job, i] if is_known else np.nan
    if len(requests.utility) > 0:
        for i in range(requests.utility.shape[1]):
            for k in range(2):
                asked.utility[new, i, k] = requests.utility[job, i, k] if is_known else np.nan
    if len(requests.restart_overhead) > 0:
        asked.restart_overhead[new] = requests.restart_overhead[job] if is_known else np.nan
    ours.allocated[new], ours.run[new] = machine.allocated[job], NOBODY
    ours.start_time[new], ours.expected_end[new] = machine.start_time[job], machine.expected_end[job]
    ours.done[new], ours.overhead[new] = machine.done[job], machine.overhead[job]
    ours.queue.place[new] = NOBODY


@kernel(allocates=False)
def take_coming(coming: Coming, job: int, theirs: Coming, new: int) -> None:
    """Copy what the engine alone knows of a job."""
    row, their_row = coming.row[job], theirs.row[new]
    theirs.run_time[new], theirs.limit[new], theirs.told[new] = (
        coming.run_time[job],
        coming.limit[job],
        coming.told[job],
    )
    theirs.submit_time[their_row], theirs.processors[their_row] = coming.submit_time[row], coming.processors[row]
    theirs.user_id[their_row], theirs.queue_id[their_row] = coming.user_id[row], coming.queue_id[row]
    if len(coming.priority_rank) > 0:
        theirs.priority_rank[their_row] = coming.priority_rank[row]
    if len(coming.checkpoint_interval) > 0:
        theirs.checkpoint_interval[their_row] = coming.checkpoint_interval[row]
    if len(coming.speedup) > 0:
        for i in range(coming.speedup.shape[1]):
            theirs.speedup[their_row, i] = coming.speedup[row, i]
    if len(coming.utility) > 0:
        for i in range(coming.utility.shape[1]):
            for k in range(2):
                theirs.utility[their_row, i, k] = coming.utility[row, i, k]
    if len(coming.restart_overhead) > 0:
        theirs.restart_overhead[new] = coming.restart_overhead[job]


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
    machine: Machine, log: Log, ours: Machine, new_log: Log, new_ends: Ends, origin: IntArray, present: int
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
        new_log.job[run], new_log.start[run], new_log.end[run] = job, log.start[old], log.end[old]
        new_log.processors[run], new_log.ended_by[run] = log.processors[old], log.ended_by[old]
        new_log.before[run], new_log.work[run], new_log.overhead[run] = (
            log.before[old],
            log.work[old],
            log.overhead[old],
        )
        push(new_ends.times, runs, run, log.end[old], run)  # it takes places of runs that were read
    new_log.size[0] = new_ends.size[0] = count


@cache
def take_along_kernel() -> Any:
    """Return ``take_along`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    places = [types.int64] * 6
    return kernel(types.void(*places, types.int64[::1], types.int64, types.int64), allocates=False)(take_along)
