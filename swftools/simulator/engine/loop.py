# SPDX-License-Identifier: BSD-3-Clause
"""The event loop: jobs in, runs out. One source, compiled or interpreted, bit for bit the same.

At one instant all completions come first, then nodes that return or go away, then predictions that are outlived, then
jobs that were held back, then submissions, then wake-ups, then one decision of the policy. A predictor observes each
event where it happens. The other semantics restate other simulators: ``pyss`` takes submissions first and decides after
every event, and counts the processors of jobs that are expected to end now as free already; ``cqsim`` takes completions
first and decides after every event.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import kernel
from swftools.kernel.pointers import Lent, call_kernel
from swftools.parameters.choices import INSTANT, PYSS
from swftools.simulator.engine.changes import WAITS, lacks_room, let_change, let_leave, next_change
from swftools.simulator.engine.dependents import CAME, COMES, GONE
from swftools.simulator.engine.replay import (
    ANSWERED,
    ASKS,
    AT_EVENTS,
    BEYOND,
    COMING,
    COMPLETED,
    DECIDED,
    DECIDING,
    DEPENDENT,
    DONE,
    FULL,
    HAPPENED,
    IN_VAIN,
    LEFT,
    NOT_DECIDING,
    OBSERVED,
    OUTAGE,
    STALE,
    STEPS,
    TO_DECIDE,
    coming_at,
    replay_at,
)
from swftools.simulator.engine.transfer import submit
from swftools.simulator.instants import instant
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.events import END, OUTLIVED, START, STOP, SUBMISSION
from swftools.simulator.machine.faults import ENDLESS, HOLDING, IDLE, fail
from swftools.simulator.machine.running_jobs import expect_end, forget_end, release
from swftools.simulator.machine.state import (
    DISTURBED,
    ENDED,
    HELD,
    LATE,
    NOW,
    OVER,
    RUNNING,
    STARTED,
    STOPPED,
    SUBMITTED,
    WAITING,
    WAKE,
    Machine,
)
from swftools.simulator.machine.verbs import come
from swftools.simulator.machine.views import can_start_any, first_waiting, is_held
from swftools.simulator.machine.waiting_queue import NOBODY, close_up, leave
from swftools.simulator.machine.work import stretch_on, time_to_go
from swftools.simulator.policy_abi import machine_at

PATIENCE = 1_000_000
"""Decisions, one after the other, between which no job comes or ends, after which a policy is stopped."""


class EngineOptions(NamedTuple):
    """How the engine runs.

    ``rests``: 1 if the policy need not be asked while no waiting job fits into the free processors; ``observes``: the
    events that the predictor wants to be told of, as the sum of 2 ** event; ``asks``: 1 if there is one in Python,
    which is asked at submissions.
    """

    semantics: int
    rests: int
    observes: int
    asks: int


class EngineRun(NamedTuple):
    """What the engine runs: ``options``, and where each of the others lies; interpreted these are what lies there.

    ``observe`` is the predictor's kernel, ``observer`` what it has of its own; ``decide`` and ``decider`` the policy's;
    ``depend`` the one for jobs that wait for others, nothing where none does.
    """

    coming: Any
    machine: Any
    replay: Any
    options: EngineOptions
    observe: Any
    observer: Any
    decide: Any
    decider: Any
    depend: Any


run_at = Lent(lambda: EngineRun(0, 0, 0, EngineOptions(0, 0, 0, 0), 0, 0, 0, 0, 0))


def simulate_events(place: Any) -> None:
    """Replay jobs, sorted by submission, to the end of the last; ``replay`` has what happened, and how far it is.

    It returns earlier after the instants that ``replay`` has left, at the first that is beyond ``replay.until``, where
    a predictor in Python is to be asked (``ASKS``), where the room for another decision lacks (``with_room``), and
    before each decision if it is told to (``STEPS``). Called again it goes on, and where it stops changes nothing. The
    caller guarantees that every job fits the machine, that times are finite and not negative, and that users are
    numbered from 0, or are -1.

    Parameters
    ----------
    place : int or EngineRun
        Where the run lies; interpreted the run.
    """
    given = run_at(place)
    coming, machine, replay = coming_at(given.coming), machine_at(given.machine), replay_at(given.replay)
    options, here, theirs, own = given.options, given.machine, given.observer, given.decider
    counts, clock, queue = machine.counts, machine.clock, machine.queue
    log, ends, progress = replay.log, replay.ends, replay.counts
    jobs, most, places = progress[COMING], len(machine.started), len(machine.queue.job)
    depends = len(replay.dependents.pending) > 0
    at_once = jobs + 1 if options.semantics == INSTANT else 1
    while progress[DONE] < jobs and progress[LEFT] > 0:
        if progress[DECIDING] == NOT_DECIDING:
            progress[OBSERVED] = 0
            if log.size[0] + most > len(log.job) or ends.size[0] + most > len(ends.times):
                break
            if counts[HELD] + progress[DEPENDENT] + places >= len(machine.held):
                break
            while progress[STALE] > 0 and machine.run[log.job[ends.runs[0]]] != ends.runs[0]:
                pop(ends.times, ends.runs, ends.size[0])  # of a run that was stopped
                ends.size[0] -= 1
                progress[STALE] -= 1
            submitted = counts[SUBMITTED]
            submission = coming.submit_time[coming.row[submitted]] if submitted < jobs else np.inf
            now = min(clock[WAKE], submission, next_change(machine))
            if ends.size[0] > 0:
                now = min(now, ends.times[0])
            if counts[OVER] < counts[RUNNING]:
                now = min(now, machine.expected_end[machine.running[counts[OVER]]])
            if counts[HELD] > 0:
                now = min(now, machine.held_until[0])
            left = let_leave(machine, replay) if now == np.inf else 0
            if left == WAITS:
                progress[BEYOND] = 1
                break
            for i in range(left):
                now, job = clock[NOW], machine.held[len(machine.held) - 1 - i]
                progress[DONE] += 1
                if depends and replay.dependents.edge[job] != NOBODY:
                    call_kernel(given.depend, GONE, here, given.replay, job)
            if now == np.inf or progress[IN_VAIN] > PATIENCE:
                if counts[WAITING] == 0 and counts[HELD] > 0:
                    fail(machine, HOLDING, machine.held[0])
                fail(machine, IDLE if counts[RUNNING] == 0 else ENDLESS, first_waiting(machine))
            if now > replay.until[0]:
                progress[BEYOND] = 1
                break
            if lacks_room(machine, now):
                break
            progress[LEFT] -= 1
            clock[NOW] = now
            if options.semantics == PYSS:
                release_expected(machine, now)
            happened = progress[HAPPENED]
            # Completions
            ends_first = options.semantics != PYSS or submission > now
            while ends_first and happened < at_once and ends.size[0] > 0 and ends.times[0] == now:
                run = pop(ends.times, ends.runs, ends.size[0])
                ends.size[0] -= 1
                job = log.job[run]
                if machine.run[job] != run:
                    progress[STALE] -= 1
                    continue  # it was stopped before
                if machine.allocated[job] > 0:
                    release(machine, job)
                machine.run[job] = NOBODY
                leave(queue, job)
                machine.ended[counts[ENDED]] = job
                counts[ENDED] += 1
                progress[DONE] += 1
                progress[IN_VAIN] = 0
                happened += 1
                if depends and replay.dependents.edge[job] != NOBODY:
                    call_kernel(given.depend, GONE, here, given.replay, job)
                if options.observes & 1 << END:
                    machine.done[job] = coming.run_time[job]
                    progress[OBSERVED] = job + 1
                    call_kernel(given.observe, END, here, job, theirs)
            for i in range(let_change(machine, replay)):
                job = log.job[machine.stops.run[i]]
                if depends and machine.stops.how[i] == OUTAGE and replay.dependents.edge[job] != NOBODY:
                    call_kernel(given.depend, GONE, here, given.replay, job)
                if options.observes & 1 << STOP:
                    progress[OBSERVED] = job + 1
                    call_kernel(given.observe, STOP, here, job, theirs)
            # Outlived predictions; not of jobs that end now, in turn
            if progress[HAPPENED] == 0 and (ends.size[0] == 0 or ends.times[0] > now):
                for _ in range(count_outlived(machine)):
                    if count_outlived(machine) > 0:
                        job = machine.running[counts[OVER]]
                        outlive(machine, job)
                        if options.observes & 1 << OUTLIVED:
                            progress[OBSERVED] = job + 1
                            call_kernel(given.observe, OUTLIVED, here, job, theirs)
                while count_outlived(machine) > 0:  # what was predicted just now was too short as well
                    outlive(machine, machine.running[counts[OVER]])
            # Jobs that were held back, then submissions
            interrupted = False
            while counts[HELD] > 0 and machine.held_until[0] <= now:
                if queue.used[0] == places:
                    close_up(queue)
                    if 4 * queue.used[0] > 3 * places:
                        interrupted = True
                        progress[FULL] = 1
                        break
                job = pop(machine.held_until, machine.held, counts[HELD])
                counts[HELD] -= 1
                counts[WAITING] += 1
                counts[DISTURBED] += 1
                if depends and replay.dependents.listed_at[job] == COMES:
                    replay.dependents.listed_at[job] = NOBODY
                    counts[LATE] += 1
                come(machine, job)
                happened += 1
            while not interrupted and happened < at_once and submitted < jobs and submission == now:
                if queue.used[0] == places:
                    close_up(queue)
                    if 4 * queue.used[0] > 3 * places:
                        interrupted = True
                        progress[FULL] = 1
                        break
                if counts[HELD] + progress[DEPENDENT] + places >= len(machine.held):
                    interrupted = True
                    break
                if options.asks > 0 and progress[ANSWERED] <= submitted:
                    interrupted = True
                    progress[ASKS] = 1
                    break
                submit(coming, replay.requests, submitted)
                held = counts[HELD]
                if options.observes & 1 << SUBMISSION:
                    progress[OBSERVED] = submitted + 1
                    call_kernel(given.observe, SUBMISSION, here, submitted, theirs)
                    coming.told[submitted] = machine.requests.requested_time[submitted]
                if depends and (replay.dependents.pending[submitted] > 0 or replay.dependents.ready[submitted] > now):
                    call_kernel(given.depend, CAME, here, given.replay, submitted)
                elif counts[HELD] == held or not is_held(machine, submitted):
                    come(machine, submitted)
                    counts[WAITING] += 1
                submitted += 1
                counts[SUBMITTED] = submitted
                progress[IN_VAIN] = 0
                submission = coming.submit_time[coming.row[submitted]] if submitted < jobs else np.inf
                happened += 1
            progress[HAPPENED] = happened
            if interrupted:
                break
            progress[HAPPENED] = 0
            if clock[WAKE] <= now:
                clock[WAKE] = np.inf
            if options.rests > 0 and progress[STEPS] != AT_EVENTS and not can_start_any(machine):
                counts[ENDED] = counts[LATE] = 0
                continue  # no waiting job fits
            counts[STARTED] = counts[STOPPED] = 0
            progress[OBSERVED] = 0
            if progress[STEPS] > 0 and progress[DONE] < jobs:
                progress[DECIDING] = TO_DECIDE
                break
        now = clock[NOW]
        if progress[DECIDING] != DECIDED:
            call_kernel(given.decide, here, own)
        progress[DECIDING] = NOT_DECIDING
        counts[ENDED] = counts[LATE] = 0
        progress[IN_VAIN] += 1  # jobs that are held back, and come again, are no progress
        # What the decision did goes into the log, and what follows from it into the ends.
        progress[STALE] += counts[STOPPED]
        for i in range(counts[STOPPED]):
            run = machine.stops.run[i]
            log.end[run], log.ended_by[run], log.work[run] = now, machine.stops.how[i], machine.stops.work[i]
            machine.run[log.job[run]] = NOBODY
            if options.observes & 1 << STOP:
                progress[OBSERVED] = log.job[run] + 1
                call_kernel(given.observe, STOP, here, log.job[run], theirs)
        for i in range(counts[STARTED]):
            job = machine.started[i]
            if machine.allocated[job] == 0 or machine.run[job] != NOBODY:
                continue  # stopped in the same decision
            run = log.size[0]
            log.size[0] += 1
            machine.run[job] = run
            processors = machine.allocated[job]
            stretch = stretch_on(machine, job, processors)
            end = instant(now + time_to_go(machine, job, coming.run_time[job], processors, stretch))
            log.job[run], log.start[run], log.end[run] = job, now, max(end, now)
            log.processors[run], log.ended_by[run] = processors, COMPLETED
            if machine.done[job] > 0.0:
                log.before[run], log.overhead[run] = machine.done[job], machine.overhead[job]
            push(ends.times, ends.runs, ends.size[0], log.end[run], run)
            ends.size[0] += 1
            if options.observes & 1 << START:
                progress[OBSERVED] = job + 1
                call_kernel(given.observe, START, here, job, theirs)


@kernel(allocates=False)
def release_expected(machine: Machine, now: float) -> None:
    """Free the processors of running jobs that are expected to have ended by now; that they end now comes later."""
    while machine.counts[RUNNING] > 0 and machine.expected_end[machine.running[0]] <= now:
        release(machine, machine.running[0])


@kernel(allocates=False)
def count_outlived(machine: Machine) -> int:
    """Return how many running jobs should have ended by now, and are not known to be beyond their limits."""
    count = machine.counts[OVER]
    while count < machine.counts[RUNNING] and machine.expected_end[machine.running[count]] <= machine.clock[NOW]:
        count += 1
    return count - machine.counts[OVER]


@kernel(allocates=False)
def outlive(machine: Machine, job: int) -> None:
    """Expect a job that outlives its prediction to run to its limit; beyond that, to end at any moment.

    It is the first of those that are not known to be beyond their limits.
    """
    limit, now = machine.requests.limit[job], machine.clock[NOW]
    work = (limit - machine.done[job]) * stretch_on(machine, job, machine.allocated[job])
    end = instant(machine.start_time[job] + (machine.overhead[job] + work))
    if end > now:
        forget_end(machine, job)
        expect_end(machine, job, end)
    else:
        machine.counts[OVER] += 1
