# SPDX-License-Identifier: BSD-3-Clause
"""How far a simulation is: what happened, what is to happen, and what the engine goes on with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import untouched_zeros
from swftools.kernel.outside import Lent
from swftools.simulator.machine.state import HELD, RESIZE, Machine, Requests, no_requests
from swftools.simulator.machine.waiting_queue import with_more_places

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

COMPLETED = RESIZE + 1
"""How a run ends that nobody stops, beside ``KILL``, ``CHECKPOINT``, ``SUSPEND`` and ``RESIZE``."""


class Coming(NamedTuple):
    """The jobs that are to be submitted, in order; the engine alone sees it.

    ``row`` is the row of each job in the trace. ``run_time``, ``limit``, ``told`` (what is predicted at submission,
    where it was) and ``restart_overhead`` (where it is a column's), in s, have an element for each job; all others one
    for each row of the trace.
    """

    row: npt.NDArray[np.int32]
    run_time: FloatArray
    limit: FloatArray
    told: FloatArray
    submit_time: FloatArray
    processors: IntArray
    user_id: npt.NDArray[np.int32]
    queue_id: IntArray
    priority_rank: IntArray
    checkpoint_interval: FloatArray
    speedup: npt.NDArray[np.float64]
    utility: npt.NDArray[np.float64]
    restart_overhead: FloatArray


class Log(NamedTuple):
    """What happened: the runs of jobs, one row each, by start; and how many.

    ``end`` is when the run would end if it is not stopped, until then; ``ended_by`` how it ended. ``before`` is the
    work of the job that was done before the run, ``overhead`` what the run began with, ``work`` what was done in it if
    it was stopped: zero where there is none.
    """

    job: npt.NDArray[np.int32]
    start: FloatArray
    end: FloatArray
    processors: npt.NDArray[np.int32]
    ended_by: npt.NDArray[np.int8]
    before: FloatArray
    work: FloatArray
    overhead: FloatArray
    size: IntArray


class Ends(NamedTuple):
    """When running jobs end: a heap of runs, of runs that end at one instant the one that started first first."""

    times: FloatArray
    runs: IntArray
    size: IntArray


DONE, COMING, IN_VAIN, HAPPENED, LEFT, ANSWERED, ASKS, FULL, STALE, BEYOND, OBSERVED, STEPS, DECIDING = range(13)
"""Places in ``Replay.counts``: jobs ended; jobs in all; decisions since one came or ended; events at this instant so
far; instants before a stop; jobs of which a predictor in Python was asked; whether it is to be asked now; whether the
queue is full; ends of runs that were stopped before; whether the next instant is
beyond ``until``; the job that a predictor observes just now, counted from 1, 0 if it observes none;
whether to stop before each decision; and whether it stands before one."""

AT_DECISIONS, AT_EVENTS = 1, 2
"""What ``counts[STEPS]`` may be beside 0: it stops before what the policy decides; before whatever could be decided."""

NOT_DECIDING, TO_DECIDE, DECIDED = range(3)
"""What ``counts[DECIDING]`` may be: it stands between two instants, before a decision, or behind one from outside."""


class Replay(NamedTuple):
    """How far a simulation is; ``until`` is the time beyond which it does not go.

    ``requests`` are those that the machine shows, and the engine alone writes.
    """

    requests: Requests
    log: Log
    ends: Ends
    counts: IntArray
    until: FloatArray


def begin_replay(requests: Requests, processors: int) -> Replay:
    """Return the beginning of a simulation of jobs, of which nothing is known yet."""
    jobs = len(requests.submit_time)
    most = min(jobs, processors) + 1
    room = jobs + 2 * most  # or the engine would ask for more before its last decisions: ``machine.started`` is so long
    log = Log(
        job=np.empty(room, np.int32),
        start=np.empty(room),
        end=np.empty(room),
        processors=np.empty(room, np.int32),
        ended_by=np.empty(room, np.int8),
        before=untouched_zeros(room),
        work=untouched_zeros(room),
        overhead=untouched_zeros(room),
        size=np.zeros(1, np.int64),
    )
    ends = Ends(np.empty(2 * most), np.empty(2 * most, np.int64), np.zeros(1, np.int64))
    counts = np.zeros(DECIDING + 1, np.int64)
    counts[COMING] = jobs
    return Replay(requests, log, ends, counts, np.full(1, np.inf))


def _coming() -> Coming:
    floats, integers, short = np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int32)
    return Coming(
        *(short, floats, floats, floats, floats, integers, short, integers, integers, floats),
        *(np.zeros((1, 5)), np.zeros((1, 1, 2)), floats),
    )


coming_at = Lent(_coming)
replay_at = Lent(lambda: begin_replay(no_requests(1), 1))


def with_room(machine: Machine, replay: Replay) -> tuple[Machine, Replay]:
    """Return machine and replay with room for another decision, and then some; the same ones if there is room."""
    log, ends = replay.log, replay.ends
    most = len(machine.started)
    if log.size[0] + most > len(log.job):
        log = Log(*(_longer(column, most) for column in log[:-1]), size=log.size)  # type: ignore[misc]
    if ends.size[0] + most > len(ends.times):
        ends = Ends(_longer(ends.times, most), _longer(ends.runs, most), ends.size)
    if replay.counts[FULL]:
        replay.counts[FULL] = 0
        machine = machine._replace(queue=with_more_places(machine.queue))
    if machine.counts[HELD] + len(machine.queue.job) >= len(machine.held):
        more = len(machine.queue.job)
        machine = machine._replace(held_until=_longer(machine.held_until, more), held=_longer(machine.held, more))
    if log is not replay.log or ends is not replay.ends:
        replay = replay._replace(log=log, ends=ends)
    return machine, replay


def _longer(column: npt.NDArray[Any], more: int) -> npt.NDArray[Any]:
    """Return a column with twice the room, and more; what is new is zero."""
    longer = np.zeros(2 * len(column) + more, column.dtype)
    longer[: len(column)] = column
    return longer
