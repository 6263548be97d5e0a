# SPDX-License-Identifier: BSD-3-Clause
"""The state of the machine: what policies and predictors see, and the verbs change.

One element for each job; jobs are numbered from 0 in order of submission. Of a job that has not been submitted yet the
machine knows nothing: its row is NaN or -1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, ShortArray, untouched_zeros
from swftools.simulator.machine.waiting_queue import WaitingQueue, empty_queue


class Requests(NamedTuple):
    """What is known of each job that was submitted, and no more of the others than NaN or -1.

    ``requested_time`` is what the run's predictor says that the job runs (s), never more than ``limit``, the time after
    which a job is stopped or has to be done. Both are for the job's own width, ``processors``. Users are numbered from
    0; missing integers are -1. The rest has no rows where the trace does not say it:
    ``checkpoint_interval`` (s; NaN: the job writes no checkpoints);
    ``speedup``, five numbers a job: curve (``DOWNEY``, ``SIMPLE`` or ``NO_CURVE``), Downey's A and sigma, least and
    largest width; ``utility``, the points of its utility function, (time since submission, value), NaN behind the last;
    ``restart_overhead`` (s), where it is a column's.

    The engine writes it. What policies and predictors are handed is the same, read-only.
    """

    submit_time: FloatArray
    processors: IntArray
    requested_time: FloatArray
    limit: FloatArray
    user_id: ShortArray
    queue_id: IntArray
    priority_rank: IntArray
    checkpoint_interval: FloatArray
    speedup: npt.NDArray[np.float64]
    utility: npt.NDArray[np.float64]
    restart_overhead: FloatArray


FREE, CAPACITY, WAITING, RUNNING, SUBMITTED, HELD, STARTED, STOPPED, ENDED, OVER, DISTURBED = range(11)
PLANS_BY_LIMIT, HOLDS, FAULT, FAULT_JOB, FAULT_FREE, LENGTH = range(11, 17)
"""Places in ``Machine.counts``: processors free, processors, and numbers of jobs.

``OVER``: running jobs that outlived their limit, which may end at any moment; the first of ``Machine.running``.
``DISTURBED``: how often so far the queue changed otherwise than by submissions and starts: a job was stopped, held or
released, or is predicted anew while it waits. ``PLANS_BY_LIMIT``: 1 if running jobs are expected to run to their limit,
whatever is predicted. ``HOLDS``: how often so far a job was held back. ``FAULT`` and those behind it: what went wrong.
"""

NOW, WAKE = range(2)
"""Places in ``Machine.clock``."""

KILL, CHECKPOINT, SUSPEND, RESIZE = range(4)
"""How a run is stopped before the job is done: all work is lost, what was done since the last checkpoint, or none."""

AWAY = -(1 << 40)
"""The queue of a job that stands for processors that are away: no policy stops it."""

FIXED, PER_PROCESSOR = range(2)
"""Places in ``Machine.restart``."""


class Stops(NamedTuple):
    """The runs that this decision stopped: rows of the log, how, and the work (s on the job's own width) done in it."""

    run: IntArray
    how: IntArray
    work: FloatArray


class Machine(NamedTuple):
    """The state of the machine; policies read it, and change it by the verbs only.

    ``running`` has the running jobs by expected end, the first ``counts[RUNNING]`` of it; ``started`` and ``stops``
    what this decision did so far; ``ended`` the jobs that ended since the last one; ``allocated`` the processors that a
    job holds, 0 if it does not run; ``run`` the row of its present run in the log, less than 0 if it has none, also
    before the decision that started it is over. ``start_time``, ``expected_end`` and ``overhead`` are of the job's
    present, or last, run; ``done`` is its work (s on its own width) that was done before, and is kept; ``clock`` has
    the time of this decision, and when to wake at the latest; ``restart`` what it takes to go on with work that was
    done (s, and s a processor). ``predicted`` is ``requests.requested_time``, which ``predict`` writes.
    """

    counts: IntArray
    clock: FloatArray
    requests: Requests
    predicted: FloatArray
    queue: WaitingQueue
    held_until: FloatArray
    held: IntArray
    running: IntArray
    started: IntArray
    stops: Stops
    ended: IntArray
    allocated: npt.NDArray[np.int32]
    run: npt.NDArray[np.int32]
    start_time: FloatArray
    expected_end: FloatArray
    done: FloatArray
    overhead: FloatArray
    restart: FloatArray


def no_requests(
    jobs: int, *, checkpoints: bool = False, curves: bool = False, points: int = 0, overheads: bool = False
) -> Requests:
    """Return the requests of jobs of which none was submitted yet."""
    return Requests(
        submit_time=np.full(jobs, np.nan),
        processors=np.full(jobs, -1),
        requested_time=np.full(jobs, np.nan),
        limit=np.full(jobs, np.nan),
        user_id=np.full(jobs, -1, np.int32),
        queue_id=np.full(jobs, -1),
        priority_rank=np.full(jobs, -1),
        checkpoint_interval=np.full(jobs if checkpoints else 0, np.nan),
        speedup=np.full((jobs if curves else 0, 5), np.nan),
        utility=np.full((jobs if points else 0, points, 2), np.nan),
        restart_overhead=np.full(jobs if overheads else 0, np.nan),
    )


def with_requests(machine: Machine, requests: Requests) -> Machine:
    """Return a machine that shows requests, which only their owner can write to."""
    return machine._replace(requests=Requests(*map(_read_only, requests)), predicted=requests.requested_time)


def _read_only(array: Any) -> npt.NDArray[Any]:
    """Return an array that shows another, and cannot be written to."""
    shown: npt.NDArray[Any] = array[:]
    shown.flags.writeable = False
    return shown


def empty_machine(requests: Requests, processors: int, restart: FloatArray, *, plans_by_limit: bool = False) -> Machine:
    """Return an idle machine, to which the jobs of some requests will come.

    Its arrays are zeros: what is not written yet would show what the memory held before.
    """
    jobs = len(requests.submit_time)
    counts = np.zeros(LENGTH, np.int64)
    counts[FREE] = counts[CAPACITY] = processors
    counts[PLANS_BY_LIMIT] = plans_by_limit
    most = min(jobs, processors) + 1
    machine = Machine(
        counts,
        np.full(2, np.inf),
        requests,
        requests.requested_time,
        empty_queue(jobs),
        np.zeros(512),  # twice as many as the queue has places
        np.zeros(512, np.int64),
        np.zeros(most, np.int64),
        np.zeros(2 * most, np.int64),
        Stops(np.zeros(2 * most, np.int64), np.zeros(2 * most, np.int64), np.zeros(2 * most)),
        np.zeros(most, np.int64),
        np.zeros(jobs, np.int32),
        np.full(jobs, -1, np.int32),
        np.zeros(jobs),
        np.zeros(jobs),
        untouched_zeros(jobs),
        untouched_zeros(jobs),
        _read_only(restart),
    )
    return with_requests(machine, requests)
