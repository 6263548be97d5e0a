"""The event loop: jobs in, starts and ends out. One source, compiled or interpreted, bit for bit the same.

At one instant all completions come first, then submissions, then wake-ups, then one decision of the policy. The other
semantics restate other simulators: ``pyss`` takes submissions first and decides after every event, and counts the
processors of jobs that are expected to end now as free already; ``cqsim`` takes completions first and decides after
every event.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.choices import INSTANT, PYSS
from swftools.kernel import kernel
from swftools.simulator.event_queue import pop, push
from swftools.simulator.interface import (
    CAPACITY,
    ENDED,
    ENDLESS,
    FREE,
    IDLE,
    LENGTH,
    NOW,
    PREEMPTED,
    RUNNING,
    STARTED,
    WAITING,
    WAKE,
    Machine,
    Memory,
    Requests,
    expect_end,
    fail,
    first_waiting,
    forget_end,
    stretch_on,
)
from swftools.simulator.waiting_queue import NOBODY, empty_queue, put

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

PATIENCE = 1_000_000
"""Decisions, one after the other, between which no job comes or ends, after which a policy is stopped."""


class Events(NamedTuple):
    """What is to happen to running jobs: a heap, which job each event is of, and how many there are.

    Event 2 r is the end of run r of the log, event 2 r + 1 the end that was expected, where that comes before; so of
    runs that end at one instant the one that started first ends first.
    """

    times: FloatArray
    events: IntArray
    size: IntArray


class Log(NamedTuple):
    """What happened: the runs of jobs, one row each, preempted ones too, and how many.

    A run ``overtook`` if a job that was submitted earlier was left waiting at its start.
    """

    job: IntArray
    start: FloatArray
    end: FloatArray
    processors: IntArray
    overtook: npt.NDArray[np.bool_]
    size: IntArray


SUBMITTED, DONE, IN_VAIN, LEFT = range(4)
"""Places in ``Replay.counts``: jobs submitted, jobs ended, decisions since one of either, instants before a stop."""


class Replay(NamedTuple):
    """How far a simulation is: what the engine goes on with when it is called again.

    ``row`` has the row of each job's present run in the log, -1 if it does not run; ``accuracy`` that of each user's
    last finished job, and last that of unknown users, who have none.
    """

    log: Log
    events: Events
    row: IntArray
    accuracy: FloatArray
    counts: IntArray


class Options(NamedTuple):
    """How the engine runs.

    ``learns``: 1 if the predictor scales requests by the accuracy of the user's last finished job; ``rests``: 1 if the
    policy need not be asked while no waiting job fits into the free processors.
    """

    semantics: int
    learns: int
    rests: int


def empty_machine(jobs: int, processors: int) -> Machine:
    """Return an idle machine for a number of jobs."""
    counts = np.zeros(LENGTH, np.int64)
    counts[FREE] = counts[CAPACITY] = processors
    most = min(jobs, processors) + 1
    return Machine(
        counts,
        empty_queue(jobs),
        np.empty(most, np.int64),
        np.empty(2 * most, np.int64),
        np.empty(2 * most, np.int64),
        np.empty(most, np.int64),
        np.zeros(jobs, np.int64),
        np.full(jobs, np.nan),
        np.full(jobs, np.nan),
        np.full(2, np.inf),
    )


def begin_replay(jobs: int, processors: int) -> Replay:
    """Return the beginning of a simulation of a number of jobs."""
    room = 2 * (min(jobs, processors) + 1)
    log = Log(
        *(np.empty(jobs, np.int64), np.empty(jobs), np.empty(jobs), np.empty(jobs, np.int64)),
        *(np.zeros(jobs, np.bool_), np.zeros(1, np.int64)),
    )
    events = Events(np.empty(room), np.empty(room, np.int64), np.zeros(1, np.int64))
    return Replay(log, events, np.full(jobs, -1), np.ones(jobs + 1), np.zeros(4, np.int64))


def simulate_events(run_time, requests, machine, options, parameters, memory, rng, decide, replay):  # type: ignore[no-untyped-def]
    """Replay jobs, sorted by submission, to the end of the last; return the log of their runs, and the rest of it.

    Or for the instants that ``replay`` has left: called with what it returned it goes on where it stopped, and where
    it stops changes nothing. The caller guarantees that every job fits the machine, that times are finite and not
    negative, and that ``requests.user_id`` numbers users from 0, or is -1.
    """
    jobs = len(run_time)
    counts = machine.counts
    log, events, row, accuracy = replay.log, replay.events, replay.row, replay.accuracy
    submitted, done, in_vain = replay.counts[SUBMITTED], replay.counts[DONE], replay.counts[IN_VAIN]
    instants = replay.counts[LEFT]
    while done < jobs and instants > 0:
        instants -= 1
        now = machine.clock[WAKE]
        if submitted < jobs:
            now = min(now, requests.submit_time[submitted])
        if events.size[0] > 0:
            now = min(now, events.times[0])
        if now == np.inf or in_vain > PATIENCE:
            fail(counts, IDLE if counts[RUNNING] == 0 else ENDLESS, first_waiting(machine))
        machine.clock[NOW] = now
        if options.semantics == PYSS:
            release_expected(machine, now)
        at_once = jobs if options.semantics == INSTANT else 1
        ends_first = options.semantics != PYSS or submitted == jobs or requests.submit_time[submitted] > now
        happened = 0
        while ends_first and happened < at_once and events.size[0] > 0 and events.times[0] == now:
            event = pop(events.times, events.events, events.size[0])
            events.size[0] -= 1
            job = log.job[event >> 1]
            if row[job] != event >> 1:
                continue  # that run was preempted
            if event & 1:
                expire(machine, requests, job, now)
            else:
                if machine.allocated[job] > 0:
                    release(machine, job)
                log.end[row[job]] = now
                row[job] = -1
                machine.ended[counts[ENDED]] = job
                counts[ENDED] += 1
                done += 1
                happened += 1
                if options.learns > 0 and requests.user_id[job] >= 0:
                    accuracy[requests.user_id[job]] = min(run_time[job] / max(requests.limit[job], 1e-9), 1.0)
        while happened < at_once and submitted < jobs and requests.submit_time[submitted] == now:
            if options.learns > 0:
                requests.requested_time[submitted] = requests.limit[submitted] * accuracy[requests.user_id[submitted]]
            put(machine.queue, submitted, float(requests.processors[submitted]), requests.requested_time[submitted])
            counts[WAITING] += 1
            submitted += 1
            happened += 1
        if machine.clock[WAKE] <= now:
            machine.clock[WAKE] = np.inf
        if options.rests > 0 and machine.queue.processors[1] > counts[FREE]:
            counts[ENDED] = 0
            continue  # no waiting job fits
        counts[STARTED] = counts[PREEMPTED] = 0
        decide(now, machine, requests, parameters, memory, rng)
        counts[ENDED] = 0
        in_vain = 0 if happened > 0 else in_vain + 1
        # What the decision did goes into the log, and what follows from it into the events.
        for i in range(counts[PREEMPTED]):
            job = machine.preempted[i]
            if row[job] >= 0:
                log.end[row[job]] = now
                row[job] = -1
        head = first_waiting(machine)
        for i in range(counts[STARTED]):
            job = machine.started[i]
            if machine.allocated[job] == 0 or row[job] >= 0:
                continue  # preempted in the same decision
            if log.size[0] == len(log.job):
                log = longer_log(log)
            if events.size[0] + 2 > len(events.times):
                events = larger_events(events)
            run = log.size[0]
            log.size[0] += 1
            row[job] = run
            log.job[run], log.start[run], log.end[run] = job, now, np.nan
            log.processors[run] = machine.allocated[job]
            log.overtook[run] = head != NOBODY and head < job
            end = now + run_time[job] * stretch_on(requests, job, machine.allocated[job])
            push(events.times, events.events, events.size[0], end, 2 * run)
            events.size[0] += 1
            if machine.expected_end[job] < end:
                push(events.times, events.events, events.size[0], machine.expected_end[job], 2 * run + 1)
                events.size[0] += 1
    replay.counts[SUBMITTED], replay.counts[DONE], replay.counts[IN_VAIN] = submitted, done, in_vain
    replay.counts[LEFT] = instants
    return Replay(log, events, row, accuracy, replay.counts)


@kernel
def release(machine, job):  # type: ignore[no-untyped-def]
    """Free the processors of a running job."""
    forget_end(machine, job)
    machine.counts[FREE] += machine.allocated[job]
    machine.allocated[job] = 0


@kernel
def release_expected(machine, now):  # type: ignore[no-untyped-def]
    """Free the processors of running jobs that are expected to have ended by now; that they end now comes later."""
    while machine.counts[RUNNING] > 0 and machine.expected_end[machine.running[0]] <= now:
        release(machine, machine.running[0])


@kernel
def expire(machine, requests, job, now):  # type: ignore[no-untyped-def]
    """Expect a job that outlives its estimate to run to its limit; beyond that, to end at any moment."""
    if machine.allocated[job] > 0 and machine.expected_end[job] == now:
        end = machine.start_time[job] + requests.limit[job] * stretch_on(requests, job, machine.allocated[job])
        if end > now:
            forget_end(machine, job)
            expect_end(machine, job, end)


@kernel
def longer_log(log):  # type: ignore[no-untyped-def]
    """Return a log with twice the room."""
    more = len(log.job) + 8
    return Log(
        np.concatenate((log.job, np.empty(more, np.int64))),
        np.concatenate((log.start, np.empty(more))),
        np.concatenate((log.end, np.empty(more))),
        np.concatenate((log.processors, np.empty(more, np.int64))),
        np.concatenate((log.overtook, np.zeros(more, np.bool_))),
        log.size,
    )


@kernel
def larger_events(events):  # type: ignore[no-untyped-def]
    """Return a heap with twice the room."""
    more = len(events.times) + 8
    return Events(
        np.concatenate((events.times, np.empty(more))),
        np.concatenate((events.events, np.empty(more, np.int64))),
        events.size,
    )


@cache
def _state_types() -> tuple[Any, ...]:
    """Return numba's types of machine, requests, parameters, memory and rng, as policies are given them."""
    from numba import typeof  # noqa: PLC0415 (takes half a second, which is time enough when something is compiled)

    floats, integers = np.zeros(1), np.zeros(1, np.int64)
    requests = Requests(floats, integers, floats, floats, integers, integers, integers, np.zeros((1, 1)))
    memory = Memory(np.zeros((1, 1)), np.zeros((1, 1), np.int64))
    return tuple(typeof(value) for value in (empty_machine(1, 1), requests, floats, memory, np.random.default_rng(0)))


@cache
def policy_signature() -> Any:
    """Return the signature of a compiled policy.

    It is explicit, so that engine and policies are compiled apart and both are cached.
    """
    from numba import types  # noqa: PLC0415 (as above)

    return types.void(types.float64, *_state_types())


@cache
def compiled_engine() -> Any:
    """Return the compiled event loop; made at its first use, from then on taken from the cache on disk."""
    from numba import typeof, types  # noqa: PLC0415 (as above)

    machine, requests, *rest = _state_types()
    replay, options = typeof(begin_replay(1, 1)), typeof(Options(0, 0, 0))
    decide = types.FunctionType(policy_signature())
    signature = replay(types.float64[::1], requests, machine, options, *rest, decide, replay)
    return kernel(signature)(simulate_events)
