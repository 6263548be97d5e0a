# SPDX-License-Identifier: BSD-3-Clause
"""What policies and predictors may do to the machine. A verb takes effect at once; a wrong one ends the simulation."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.faults import (
    IN_THE_PAST,
    IS_AWAY,
    NO_SUCH_JOB,
    NO_SUCH_WAY,
    NO_SUCH_WIDTH,
    NO_TIME,
    NOT_RUNNING,
    NOT_SUBMITTED,
    NOT_WAITING,
    RESIZE_TOO_WIDE,
    TOO_MANY,
    TOO_WIDE,
    fail,
)
from swftools.simulator.machine.running_jobs import expect_end, forget_end, release
from swftools.simulator.machine.state import (
    CHECKPOINT,
    DISTURBED,
    FREE,
    HELD,
    HOLDS,
    KILL,
    NOW,
    PLANS_BY_LIMIT,
    RESIZE,
    STARTED,
    STOPPED,
    SUBMITTED,
    SUSPEND,
    WAITING,
    WAKE,
    Machine,
)
from swftools.simulator.machine.views import expected_time, is_away, is_held
from swftools.simulator.machine.waiting_queue import NOBODY, enter, is_waiting, leave, put
from swftools.simulator.machine.work import last_checkpoint, restart_overhead, stretch_on, time_to_go, work_of_run

STOPPED_HERE = -2
"""Less i, in ``Machine.run``: the run of the job was the i-th that this decision stopped, from 0."""


@kernel(allocates=False)
def start(machine: Machine, job: int) -> None:
    """Start a waiting job now, on the processors that it asks for."""
    _check(machine, job)
    _start(machine, job, machine.requests.processors[job], 1.0)


@kernel(allocates=False)
def start_on(machine: Machine, job: int, processors: int) -> None:
    """Start a waiting job now on another number of processors, which its speedup curve must allow."""
    _check(machine, job)
    stretch = stretch_on(machine, job, processors)
    if stretch <= 0.0:
        fail(machine, NO_SUCH_WIDTH, job)
    _start(machine, job, processors, stretch)


@kernel(allocates=False)
def resize(machine: Machine, job: int, processors: int) -> None:
    """Let a running job do the rest of its work on another number of processors, from now on.

    Its speedup curve must allow them. No work is lost; the run on the new width begins with the restart overhead.
    """
    _check(machine, job)
    held = machine.allocated[job]
    if held == 0:
        fail(machine, NOT_RUNNING, job)
    if processors == held:
        return
    stretch = stretch_on(machine, job, processors)
    if stretch <= 0.0:
        fail(machine, NO_SUCH_WIDTH, job)
    if processors - held > machine.counts[FREE]:
        fail(machine, RESIZE_TOO_WIDE, job)
    _stop(machine, job, RESIZE)
    occupy(machine, job, processors, stretch)


@kernel(allocates=False)
def preempt(machine: Machine, job: int, how: int) -> None:
    """Stop a running job now; it waits again at its old place in the queue.

    ``how`` is ``KILL`` (all of its work is lost), ``CHECKPOINT`` (its work since the last checkpoint is lost, or all if
    it writes none) or ``SUSPEND`` (nothing is lost).
    """
    _check(machine, job)
    if machine.allocated[job] == 0:
        fail(machine, NOT_RUNNING, job)
    if how not in (KILL, CHECKPOINT, SUSPEND):
        fail(machine, NO_SUCH_WAY, job)
    _stop(machine, job, how)
    wait_again(machine, job)
    machine.counts[WAITING] += 1
    machine.counts[DISTURBED] += 1


@kernel(allocates=False)
def hold(machine: Machine, job: int, until: float) -> None:
    """Keep a job out of the queue until a time; then it enters at the end.

    The job must be waiting, or being submitted now. A time that is not in the future changes nothing.
    """
    counts = machine.counts
    _check_known(machine, job)
    if not until < np.inf:
        fail(machine, NO_TIME, job)
    until = instant(until)
    if until <= machine.clock[NOW]:
        return
    if job < counts[SUBMITTED]:  # not being submitted, so it must wait
        if not is_waiting(machine.queue, job):
            fail(machine, NO_TIME, job)
        go_away(machine, job)
    elif is_held(machine, job):
        fail(machine, NO_TIME, job)
    counts[DISTURBED] += 1
    push(machine.held_until, machine.held, counts[HELD], until, job)
    counts[HELD] += 1
    counts[HOLDS] += 1


@kernel(allocates=False)
def predict(machine: Machine, job: int, time: float) -> None:
    """Predict how long all of a job's work takes on its own width, s; more than its limit counts as the limit.

    For predictors. The expected end of a running job changes; a job that should already have ended is expected to end
    now.
    """
    requests = machine.requests
    _check_known(machine, job)
    if np.isnan(time):
        fail(machine, NO_TIME, job)
    machine.predicted[job] = min(max(instant(time), 0.0), requests.limit[job])
    if job == machine.counts[SUBMITTED]:
        return
    if machine.allocated[job] > 0:
        forget_end(machine, job)
        stretch = stretch_on(machine, job, machine.allocated[job])
        end = machine.start_time[job] + (
            machine.overhead[job] + (requests.requested_time[job] - machine.done[job]) * stretch
        )
        expect_end(machine, job, max(instant(end), machine.clock[NOW]))
    elif is_waiting(machine.queue, job):
        wait_again(machine, job)
        machine.counts[DISTURBED] += 1


@kernel(allocates=False)
def wake_at(machine: Machine, time: float) -> None:
    """Ask for a decision at a time, if no event comes before it."""
    if not time > machine.clock[NOW]:
        fail(machine, IN_THE_PAST, NOBODY)
    exact = instant(time)
    machine.clock[WAKE] = min(machine.clock[WAKE], exact if exact > machine.clock[NOW] else time)


@kernel(allocates=False)
def _check(machine: Machine, job: int) -> None:
    """End the simulation if there is no such job."""
    if job < 0 or job >= len(machine.allocated):
        fail(machine, NO_SUCH_JOB, job)


@kernel(allocates=False)
def _check_known(machine: Machine, job: int) -> None:
    """End the simulation unless there is such a job, and it was submitted, or is being submitted just now."""
    _check(machine, job)
    if np.isnan(machine.requests.submit_time[job]):
        fail(machine, NOT_SUBMITTED, job)


@kernel(allocates=False)
def come(machine: Machine, job: int) -> None:
    """Let a job wait behind all others; for the engine, which guarantees a place."""
    enter(machine.queue, job, float(machine.requests.processors[job]), expected_time(machine, job))


@kernel(allocates=False)
def wait_again(machine: Machine, job: int) -> None:
    """Let a job that has a place wait there, for as long as it is expected to run."""
    queue = machine.queue
    put(queue, queue.place[job], float(machine.requests.processors[job]), expected_time(machine, job))


@kernel(allocates=False)
def go_away(machine: Machine, job: int) -> None:
    """Let a waiting job leave the queue for good."""
    put(machine.queue, machine.queue.place[job], np.inf, np.inf)
    leave(machine.queue, job)
    machine.counts[WAITING] -= 1


@kernel(allocates=False)
def _start(machine: Machine, job: int, processors: int, stretch: float) -> None:
    """Start a waiting job on processors."""
    counts = machine.counts
    if not is_waiting(machine.queue, job):
        fail(machine, NOT_WAITING, job)
    if processors > counts[FREE]:
        fail(machine, TOO_WIDE, job)
    put(machine.queue, machine.queue.place[job], np.inf, np.inf)
    counts[WAITING] -= 1
    occupy(machine, job, processors, stretch)


@kernel(allocates=False)
def occupy(machine: Machine, job: int, processors: int, stretch: float) -> None:
    """Let a job run on free processors from now on."""
    counts, requests = machine.counts, machine.requests
    if counts[STARTED] == len(machine.started):
        fail(machine, TOO_MANY, job)
    counts[FREE] -= processors
    machine.allocated[job] = processors
    machine.start_time[job] = machine.clock[NOW]
    overhead = restart_overhead(machine, job, processors)
    if overhead != machine.overhead[job]:
        machine.overhead[job] = overhead
    machine.started[counts[STARTED]] = job
    counts[STARTED] += 1
    time = requests.limit[job] if counts[PLANS_BY_LIMIT] > 0 else requests.requested_time[job]
    done = machine.done[job]
    if done > 0.0 and time <= done:
        time = max(requests.limit[job], done)
    expect_end(machine, job, instant(machine.clock[NOW] + time_to_go(machine, job, time, processors, stretch)))


@kernel(allocates=False)
def _stop(machine: Machine, job: int, how: int) -> None:
    """End the run of a job; what it did is kept or lost. A run of this very decision leaves no trace.

    But if this decision stopped the job before, the stricter of the two ways counts: KILL, CHECKPOINT, SUSPEND, RESIZE.
    """
    if is_away(machine, job):
        fail(machine, IS_AWAY, job)
    counts, stops = machine.counts, machine.stops
    stop = STOPPED_HERE - machine.run[job]
    if machine.run[job] >= 0:
        if counts[STOPPED] == len(stops.run):
            fail(machine, TOO_MANY, job)
        work = work_of_run(machine, job)
        stop = counts[STOPPED]
        stops.run[stop], stops.how[stop], stops.work[stop] = machine.run[job], how, work
        counts[STOPPED] += 1
        machine.run[job] = STOPPED_HERE - stop
        machine.done[job] = instant(machine.done[job] + work)
    elif stop >= 0:
        stops.how[stop] = min(stops.how[stop], how)
    if stop >= 0:
        if how == KILL:
            machine.done[job] = 0.0
        elif how == CHECKPOINT:
            machine.done[job] = last_checkpoint(machine, job, machine.done[job])
    release(machine, job)
