# SPDX-License-Identifier: BSD-3-Clause
"""The state of the machine: what policies and predictors see, and the verbs change.

One element for each job; jobs are numbered from 0 in order of submission. Of a job that has not been submitted yet the
machine knows nothing: its row is NaN or -1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, ShortArray
from swftools.simulator.machine.waiting_queue import NOBODY, WaitingQueue
from swftools.simulator.state.columns import (
    BLANK,
    PER_HELD,
    PER_JOB,
    PER_RUNNING,
    PER_STATE,
    REAL,
    RENUMBER,
    RESET,
    SHORT,
    WHOLE,
    ColumnView,
    StateColumn,
    StateSizes,
    empty,
)

Table = npt.NDArray[np.float64]

PLACES = 256
"""Places that a queue has at first: a power of two."""

UNKNOWN = -1
"""A whole number that is not known."""


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

    submit_time: Annotated[FloatArray, StateColumn(REAL, PER_JOB, empty=np.nan)]
    processors: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, empty=UNKNOWN)]
    requested_time: Annotated[FloatArray, StateColumn(REAL, PER_JOB, empty=np.nan)]
    limit: Annotated[FloatArray, StateColumn(REAL, PER_JOB, empty=np.nan)]
    user_id: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, empty=UNKNOWN)]
    queue_id: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, empty=UNKNOWN)]
    priority_rank: Annotated[IntArray, StateColumn(WHOLE, PER_JOB, empty=UNKNOWN)]
    checkpoint_interval: Annotated[FloatArray, StateColumn(REAL, PER_JOB, empty=np.nan, is_optional=True)]
    speedup: Annotated[Table, StateColumn(REAL, PER_JOB, empty=np.nan, further=(5,), is_optional=True)]
    utility: Annotated[Table, StateColumn(REAL, PER_JOB, empty=np.nan, further=("points", 2), is_optional=True)]
    restart_overhead: Annotated[FloatArray, StateColumn(REAL, PER_JOB, empty=np.nan, is_optional=True)]


FREE, CAPACITY, WAITING, RUNNING, SUBMITTED, HELD, STARTED, STOPPED, ENDED, OVER, DISTURBED = range(11)
PLANS_BY_LIMIT, HOLDS, FAULT, FAULT_JOB, FAULT_FREE, LATE, LENGTH = range(11, 18)
"""Places in ``Machine.counts``: processors free, processors, and numbers of jobs.

``OVER``: running jobs that outlived their limit, which may end at any moment; the first of ``Machine.running``.
``DISTURBED``: how often so far the queue changed otherwise than by submissions and starts: a job was stopped, held or
released, or is predicted anew while it waits. ``PLANS_BY_LIMIT``: 1 if running jobs are expected to run to their limit,
whatever is predicted. ``HOLDS``: how often so far a job was held back. ``FAULT`` and the two behind it: what went
wrong. ``LATE``: jobs that came to the queue since the last decision and had waited for others; each counts as a
disturbance, too, since others that were submitted later may stand before it.
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

    run: Annotated[IntArray, StateColumn(WHOLE, PER_RUNNING, times=2, on_fork=RESET)]
    how: Annotated[IntArray, StateColumn(WHOLE, PER_RUNNING, times=2, on_fork=RESET)]
    work: Annotated[FloatArray, StateColumn(REAL, PER_RUNNING, times=2, on_fork=RESET)]


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

    counts: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, times=LENGTH)]
    clock: Annotated[FloatArray, StateColumn(REAL, PER_STATE, times=2, empty=np.inf)]
    requests: Annotated[Requests, ColumnView("replay.requests")]
    predicted: Annotated[FloatArray, ColumnView("replay.requests.requested_time")]
    queue: WaitingQueue
    held_until: Annotated[FloatArray, StateColumn(REAL, PER_HELD)]
    held: Annotated[IntArray, StateColumn(WHOLE, PER_HELD, on_fork=RENUMBER)]
    running: Annotated[IntArray, StateColumn(WHOLE, PER_RUNNING, on_fork=RENUMBER)]
    started: Annotated[IntArray, StateColumn(WHOLE, PER_RUNNING, times=2, on_fork=RESET)]
    stops: Stops
    ended: Annotated[IntArray, StateColumn(WHOLE, PER_RUNNING, on_fork=RENUMBER)]
    allocated: Annotated[ShortArray, StateColumn(SHORT, PER_JOB)]
    run: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, empty=NOBODY, on_fork=BLANK)]
    start_time: Annotated[FloatArray, StateColumn(REAL, PER_JOB)]
    expected_end: Annotated[FloatArray, StateColumn(REAL, PER_JOB)]
    done: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_rare=True)]
    overhead: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_rare=True)]
    restart: Annotated[FloatArray, StateColumn(REAL, PER_STATE, times=2, is_given=True)]


def no_requests(jobs: int, points: int = 0, optional: Iterable[str] = ()) -> Requests:
    """Return the requests of jobs of which none was submitted yet, with some optional columns."""
    requests: Requests = empty(Requests, StateSizes(jobs=jobs, points=points, optional=frozenset(optional)))
    return requests


def empty_machine(requests: Requests, processors: int, restart: FloatArray) -> Machine:
    """Return an idle machine, to which the jobs of some requests will come."""
    jobs = len(requests.submit_time)
    sizes = StateSizes(jobs=jobs, running=min(jobs, processors) + 1, places=PLACES, held=2 * PLACES)
    machine: Machine = empty(Machine, sizes)
    machine.counts[FREE] = machine.counts[CAPACITY] = processors
    return with_requests(machine._replace(restart=read_only(restart)), requests)


def with_requests(machine: Machine, requests: Requests) -> Machine:
    """Return a machine that shows requests, which only their owner can write to."""
    return machine._replace(requests=Requests(*map(read_only, requests)), predicted=requests.requested_time)


def read_only(array: Any) -> npt.NDArray[Any]:
    """Return an array that shows another, and cannot be written to."""
    shown: npt.NDArray[Any] = array[:]
    shown.flags.writeable = False
    return shown
