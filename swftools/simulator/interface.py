"""What a policy sees of jobs and machine, and what it may do.

A policy is a function ``(now, machine, requests, parameters, memory, rng)``, called after the events of an instant. It
looks at the waiting jobs (``first_waiting``, ``next_waiting``, ``next_fitting``) and at the running ones
(``earliest_start``), and acts by ``start``, ``preempt`` and ``wake_at``. An action takes effect at once; a wrong one
ends the simulation with PolicyError.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.models.speedup import DOWNEY, NO_CURVE, downey_speedup_at, simple_speedup_at
from swftools.simulator.waiting_queue import ANY, NOBODY, WaitingQueue, next_fitting, put

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class Requests(NamedTuple):
    """What is known of each job before it runs, one element a job in order of submission.

    ``requested_time`` is the estimate that the run is told to give to policies (s); ``limit`` the time after which a
    job is stopped or has to be done, whatever was estimated. Both are for the job's own width. Missing integers are -1.
    ``speedup`` has a row for each job, or none where the trace has no speedup curves: curve (``DOWNEY``, ``SIMPLE`` or
    ``NO_CURVE``), Downey's A and sigma, least and largest width. Run times are not among it.
    """

    submit_time: FloatArray
    processors: IntArray
    requested_time: FloatArray
    limit: FloatArray
    user_id: IntArray
    queue_id: IntArray
    priority_rank: IntArray
    speedup: npt.NDArray[np.float64]


FREE, CAPACITY, WAITING, RUNNING, STARTED, PREEMPTED, ENDED, FAULT, FAULT_JOB, FAULT_FREE, LENGTH = range(11)
"""Places in ``Machine.counts``: processors free, processors, numbers of jobs, and what went wrong."""

TOO_WIDE, NOT_WAITING, NOT_RUNNING, NO_SUCH_JOB, IN_THE_PAST, TOO_MANY, IDLE, ENDLESS, NO_SUCH_WIDTH = range(1, 10)

FAULTS = {
    TOO_WIDE: "started job {job}, which needs {width} processors, with {free} free",
    NOT_WAITING: "started job {job}, which is not waiting",
    NOT_RUNNING: "preempted job {job}, which is not running",
    NO_SUCH_JOB: "named a job {index} that there is not",
    IN_THE_PAST: "asked to be woken at a time that is not to come",
    TOO_MANY: "acted more often in one decision than there are processors",
    IDLE: "leaves {waiting} jobs waiting on an idle machine, job {job} first among them",
    ENDLESS: "decides on and on while no job comes or ends; {waiting} jobs are waiting, job {job} first among them",
    NO_SUCH_WIDTH: "started job {job} on a width that its speedup curve does not allow",
}
"""The faults of policies in words; 0 in ``counts[FAULT]`` is none."""

NOW, WAKE = range(2)
"""Places in ``Machine.clock``."""


class Machine(NamedTuple):
    """The state of the machine; policies read it, and change it by the verbs of this module only.

    ``running`` has the running jobs by expected end, the first ``counts[RUNNING]`` of it; ``started`` and ``preempted``
    what this decision did so far; ``ended`` the jobs that ended since the last one; ``allocated`` the processors that a
    job holds, 0 if it does not run; ``expected_end`` and ``start_time`` are of the job's present, or last, run;
    ``clock`` has the time of this decision, and when to wake at the latest.
    """

    counts: IntArray
    queue: WaitingQueue
    running: IntArray
    started: IntArray
    preempted: IntArray
    ended: IntArray
    allocated: IntArray
    start_time: FloatArray
    expected_end: FloatArray
    clock: FloatArray


class Memory(NamedTuple):
    """A policy's own memory, of the shapes that it asked for; zero at the beginning, kept between decisions."""

    floats: npt.NDArray[np.float64]
    integers: npt.NDArray[np.int64]


@kernel
def first_waiting(machine):  # type: ignore[no-untyped-def]
    """Return the waiting job that was submitted first, or NOBODY."""
    return next_fitting(machine.queue, 0, ANY, ANY, ANY)


@kernel
def next_waiting(machine, job):  # type: ignore[no-untyped-def]
    """Return the waiting job that was submitted next after another, or NOBODY."""
    return next_fitting(machine.queue, job + 1, ANY, ANY, ANY)


@kernel
def waiting_jobs(machine):  # type: ignore[no-untyped-def]
    """Return the waiting jobs in order of submission, as an array of their own."""
    jobs = np.empty(machine.counts[WAITING], np.int64)
    job = first_waiting(machine)
    for i in range(len(jobs)):
        jobs[i] = job
        job = next_waiting(machine, job)
    return jobs


@kernel
def waiting_that_fit(machine, first, time, spare):  # type: ignore[no-untyped-def]
    """Return the waiting jobs from ``first`` on that fit now and need at most ``time``, or ``spare`` processors.

    In order of submission. These are the jobs that may backfill: those that are expected to end in time, and those
    that need no more than is left over then.
    """
    free = machine.counts[FREE]
    jobs = np.empty(machine.counts[WAITING], np.int64)
    count = 0
    job = next_fitting(machine.queue, first, free, time, spare)
    while job != NOBODY:
        jobs[count] = job
        count += 1
        job = next_fitting(machine.queue, job + 1, free, time, spare)
    return jobs[:count]


@kernel
def can_start_any(machine):  # type: ignore[no-untyped-def]
    """Whether any waiting job fits into the free processors: if not, a policy need not look further."""
    return machine.queue.processors[1] <= machine.counts[FREE]


@kernel
def start(machine, requests, now, job):  # type: ignore[no-untyped-def]
    """Start a waiting job now, on the processors that it asked for."""
    if job < 0 or job >= len(machine.allocated):
        fail(machine.counts, NO_SUCH_JOB, job)
    _start(machine, now, job, requests.processors[job], requests.requested_time[job])


@kernel
def start_on(machine, requests, now, job, processors):  # type: ignore[no-untyped-def]
    """Start a waiting job now on another number of processors, which its speedup curve must allow."""
    if job < 0 or job >= len(machine.allocated):
        fail(machine.counts, NO_SUCH_JOB, job)
    stretch = stretch_on(requests, job, processors)
    if stretch <= 0.0:
        fail(machine.counts, NO_SUCH_WIDTH, job)
    _start(machine, now, job, processors, stretch * requests.requested_time[job])


@kernel
def stretch_on(requests, job, processors):  # type: ignore[no-untyped-def]
    """Return by what a job's times are multiplied on a number of processors; 0 if it cannot run on so many.

    That is S(own width) / S(processors) of its speedup curve; 1 on its own width.
    """
    own = requests.processors[job]
    if processors == own:
        return 1.0
    if len(requests.speedup) == 0:
        return 0.0
    curve, a, sigma, least, most = requests.speedup[job]
    if curve == NO_CURVE or processors < max(least, 1.0) or processors > most:
        return 0.0
    if curve == DOWNEY:
        stretch = downey_speedup_at(float(own), a, sigma) / downey_speedup_at(float(processors), a, sigma)
    else:
        stretch = simple_speedup_at(float(own), float(own)) / simple_speedup_at(float(processors), float(own))
    return stretch if 0.0 < stretch < np.inf else 0.0  # NaN where the curve does not reach: such a job would never end


@kernel
def _start(machine, now, job, processors, time):  # type: ignore[no-untyped-def]
    """Start a job that there is on processors for an expected time."""
    counts = machine.counts
    if machine.queue.time[job + (len(machine.queue.time) >> 1)] == np.inf:
        fail(counts, NOT_WAITING, job)
    if processors > counts[FREE]:
        fail(counts, TOO_WIDE, job)
    if counts[STARTED] == len(machine.started):
        fail(counts, TOO_MANY, job)
    put(machine.queue, job, np.inf, np.inf)
    counts[FREE] -= processors
    counts[WAITING] -= 1
    machine.allocated[job] = processors
    machine.start_time[job] = now
    machine.started[counts[STARTED]] = job
    counts[STARTED] += 1
    expect_end(machine, job, now + time)


@kernel
def preempt(machine, requests, now, job):  # type: ignore[no-untyped-def]  # noqa: ARG001 (as start)
    """Stop a running job now; it waits again, at its place of submission, and its work is lost."""
    counts = machine.counts
    if job < 0 or job >= len(machine.allocated):
        fail(counts, NO_SUCH_JOB, job)
    if machine.allocated[job] == 0:
        fail(counts, NOT_RUNNING, job)
    if counts[PREEMPTED] == len(machine.preempted):
        fail(counts, TOO_MANY, job)
    forget_end(machine, job)
    counts[FREE] += machine.allocated[job]
    machine.allocated[job] = 0
    put(machine.queue, job, float(requests.processors[job]), requests.requested_time[job])
    counts[WAITING] += 1
    machine.preempted[counts[PREEMPTED]] = job
    counts[PREEMPTED] += 1


@kernel
def wake_at(machine, now, time):  # type: ignore[no-untyped-def]
    """Ask for a decision at a time, if no event comes before it."""
    if not time > now:
        fail(machine.counts, IN_THE_PAST, NOBODY)
    machine.clock[WAKE] = min(machine.clock[WAKE], time)


@kernel
def earliest_start(machine, now, processors):  # type: ignore[no-untyped-def]
    """Return when so many processors will be free if running jobs end as expected, and how many are then left over."""
    free = machine.counts[FREE]
    when = now
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if free >= processors and machine.expected_end[job] > when:
            break
        free += machine.allocated[job]
        when = max(machine.expected_end[job], now)
    return when, free - processors


@kernel
def expect_end(machine, job, end):  # type: ignore[no-untyped-def]
    """Put a job among the running ones, behind those that are expected to end no later; policies do not call this."""
    machine.expected_end[job] = end
    place = machine.counts[RUNNING]
    running = machine.running
    while place > 0 and machine.expected_end[running[place - 1]] > end:
        running[place] = running[place - 1]
        place -= 1
    running[place] = job
    machine.counts[RUNNING] += 1


@kernel
def forget_end(machine, job):  # type: ignore[no-untyped-def]
    """Take a job out of the running ones; policies do not call this."""
    place = 0
    while machine.running[place] != job:
        place += 1
    machine.counts[RUNNING] -= 1
    for i in range(place, machine.counts[RUNNING]):
        machine.running[i] = machine.running[i + 1]


@kernel
def fail(counts, fault, job):  # type: ignore[no-untyped-def]
    """Note what is wrong and end the simulation; policies do not call this."""
    counts[FAULT], counts[FAULT_JOB], counts[FAULT_FREE] = fault, job, counts[FREE]
    raise ValueError("the policy acted wrongly")
