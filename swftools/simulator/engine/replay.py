# SPDX-License-Identifier: BSD-3-Clause
"""How far a simulation is: what happened, what is to happen, and what the engine goes on with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray, TinyArray
from swftools.kernel.pointers import Lent
from swftools.simulator.machine.state import (
    CAPACITY,
    FREE,
    HELD,
    PLACES,
    RESIZE,
    SUBMITTED,
    UNKNOWN,
    Machine,
    Requests,
    Table,
    read_only,
    with_requests,
)
from swftools.simulator.machine.waiting_queue import NOBODY, move_leaves
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import (
    BLANK,
    PER_EDGE,
    PER_END,
    PER_JOB,
    PER_ROW,
    PER_RUN,
    PER_STATE,
    REAL,
    RENUMBER,
    RESET,
    SHORT,
    TINY,
    WHOLE,
    StateColumn,
    StateSizes,
    columns_of,
    empty,
)

COMPLETED = RESIZE + 1
"""How a run ends that nobody stops, beside ``KILL``, ``CHECKPOINT``, ``SUSPEND`` and ``RESIZE``."""

OUTAGE = COMPLETED + 2
"""How a run ends whose node goes down; between these two schedules have the runs that were cut at their limits."""


class Coming(NamedTuple):
    """The jobs that are to be submitted, in order; the engine alone sees it.

    ``row`` is the row of each job in the trace. ``run_time``, ``limit``, ``told`` (what is predicted at submission,
    where it was) and ``restart_overhead`` (where it is a column's), in s, have an element for each job; all others one
    for each row of the trace.
    """

    row: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, is_ahead=True)]
    run_time: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_ahead=True)]
    limit: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_ahead=True)]
    told: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_ahead=True)]
    submit_time: Annotated[FloatArray, StateColumn(REAL, PER_ROW, is_ahead=True)]
    processors: Annotated[IntArray, StateColumn(WHOLE, PER_ROW, is_ahead=True)]
    user_id: Annotated[ShortArray, StateColumn(SHORT, PER_ROW, is_ahead=True)]
    queue_id: Annotated[IntArray, StateColumn(WHOLE, PER_ROW, is_ahead=True)]
    priority_rank: Annotated[IntArray, StateColumn(WHOLE, PER_ROW, empty=UNKNOWN, is_optional=True, is_ahead=True)]
    checkpoint_interval: Annotated[
        FloatArray, StateColumn(REAL, PER_ROW, empty=np.nan, is_optional=True, is_ahead=True)
    ]
    speedup: Annotated[Table, StateColumn(REAL, PER_ROW, empty=np.nan, further=(5,), is_optional=True, is_ahead=True)]
    utility: Annotated[
        Table, StateColumn(REAL, PER_ROW, empty=np.nan, further=("points", 2), is_optional=True, is_ahead=True)
    ]
    restart_overhead: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_optional=True, is_ahead=True)]


class RunLog(NamedTuple):
    """What happened: the runs of jobs, one row each, by start; and how many.

    ``end`` is when the run would end if it is not stopped, until then; ``ended_by`` how it ended. ``before`` is the
    work of the job that was done before the run, ``overhead`` what the run began with, ``work`` what was done in it if
    it was stopped: zero where there is none.
    """

    job: Annotated[ShortArray, StateColumn(SHORT, PER_RUN, on_fork=RENUMBER)]
    start: Annotated[FloatArray, StateColumn(REAL, PER_RUN)]
    end: Annotated[FloatArray, StateColumn(REAL, PER_RUN)]
    processors: Annotated[ShortArray, StateColumn(SHORT, PER_RUN)]
    ended_by: Annotated[TinyArray, StateColumn(TINY, PER_RUN)]
    before: Annotated[FloatArray, StateColumn(REAL, PER_RUN, is_rare=True)]
    work: Annotated[FloatArray, StateColumn(REAL, PER_RUN, is_rare=True)]
    overhead: Annotated[FloatArray, StateColumn(REAL, PER_RUN, is_rare=True)]
    size: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, on_fork=RESET)]


class Ends(NamedTuple):
    """When running jobs end: a heap of runs, of runs that end at one instant the one that started first first."""

    times: Annotated[FloatArray, StateColumn(REAL, PER_END, on_fork=RESET)]
    runs: Annotated[IntArray, StateColumn(WHOLE, PER_END, on_fork=RESET)]
    size: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, on_fork=RESET)]


DONE, COMING, IN_VAIN, HAPPENED, LEFT, ANSWERED, ASKS, FULL, STALE, BEYOND, OBSERVED, STEPS, DECIDING, DEPENDENT = (
    range(14)
)
"""Places in ``Replay.counts``: jobs ended; jobs in all; decisions since one came or ended; events at this instant so
far; instants before a stop; jobs of which a predictor in Python was asked; whether it is to be asked now; whether the
queue is full; ends of runs that were stopped before; whether the next instant is
beyond ``until``; the job that a predictor observes just now, counted from 1, 0 if it observes none;
whether to stop before each decision; whether it stands before one; and how many jobs that came wait for others."""

AT_DECISIONS, AT_EVENTS = 1, 2
"""What ``counts[STEPS]`` may be beside 0: it stops before what the policy decides; before whatever could be decided."""

NOT_DECIDING, TO_DECIDE, DECIDED = range(3)
"""What ``counts[DECIDING]`` may be: it stands between two instants, before a decision, or behind one from outside."""


class Dependents(NamedTuple):
    """Which jobs wait for others to end; nothing where no job of the log does.

    ``pending`` is how many a job waits for, ``ready`` the earliest time at which it may start by those that have ended,
    s. ``edge`` is the first of the edges to those that wait for it: an edge has the job that waits (``successor``), its
    think time (s), and the ``next`` edge of the same job. ``listed`` has the jobs that came and wait, ``listed_at``
    where each of these stands. ``edges`` is how many edges have been written, ``free`` the first of those whose job has
    ended, to which the others are ``next``: it is used again.
    """

    pending: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, on_fork=BLANK, is_optional=True, is_ahead=True)]
    ready: Annotated[FloatArray, StateColumn(REAL, PER_JOB, is_optional=True, is_ahead=True)]
    edge: Annotated[
        ShortArray, StateColumn(SHORT, PER_JOB, empty=NOBODY, on_fork=BLANK, is_optional=True, is_ahead=True)
    ]
    listed: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, on_fork=RESET, is_optional=True)]
    listed_at: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, empty=NOBODY, on_fork=BLANK, is_optional=True)]
    successor: Annotated[ShortArray, StateColumn(SHORT, PER_EDGE, on_fork=RENUMBER)]
    think_time: Annotated[FloatArray, StateColumn(REAL, PER_EDGE)]
    next: Annotated[ShortArray, StateColumn(SHORT, PER_EDGE, empty=NOBODY, on_fork=RENUMBER)]
    edges: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, on_fork=RESET)]
    free: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, empty=NOBODY, on_fork=RESET)]


class Replay(NamedTuple):
    """How far a simulation is; ``until`` is the time beyond which it does not go.

    ``requests`` are those that the machine shows, and the engine alone writes.
    """

    requests: Requests
    log: RunLog
    ends: Ends
    dependents: Dependents
    counts: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, times=DEPENDENT + 1)]
    until: Annotated[FloatArray, StateColumn(REAL, PER_STATE, empty=np.inf)]


class ReplayState(NamedTuple):
    """All that the engine goes on with."""

    coming: Coming
    machine: Machine
    replay: Replay


def with_views(state: ReplayState) -> ReplayState:
    """Return a state whose machine shows the requests, which the engine writes."""
    return state._replace(machine=with_requests(state.machine, state.replay.requests))


DEPENDS = frozenset(name for name, column in columns_of(Dependents).items() if column.is_optional)
"""Columns that are there where jobs wait for others."""


def begin_state(
    coming: Coming, processors: int, restart: FloatArray, optional: Iterable[str] = (), **room: Any
) -> Arena[ReplayState]:
    """Return the beginning of a simulation: jobs that are to come, an idle machine, and nothing known.

    Parameters
    ----------
    coming : Coming
        The jobs. Of what there is for each row of the trace no copy is made.
    processors : int
        Size of the machine.
    restart : ndarray
        As ``Machine`` has it.
    optional : iterable of str
        Columns that there are beside those that the jobs have.
    **room : int
        More room than a simulation begins with, by names of ``StateSizes``.
    """
    first, given = given_columns(coming)
    sizes = sizes_at_first(coming, processors, optional)._replace(**room)
    arena = Arena(ReplayState, sizes, {**given, "machine.restart": read_only(restart)}, with_views, first)
    counts = arena.state.machine.counts
    counts[FREE] = counts[CAPACITY] = processors
    arena.state.replay.counts[COMING] = len(coming.row)
    return arena


def given_columns(coming: Coming) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of jobs to come, by path: those that a state has for each job, and those that it is given."""
    columns = {f"coming.{name}": getattr(coming, name) for name in columns_of(Coming)}
    given = {f"coming.{name}" for name, column in columns_of(Coming).items() if column.per == PER_ROW}
    return {path: columns[path] for path in columns if path not in given}, {path: columns[path] for path in given}


def sizes_at_first(coming: Coming, most_at_once: int, optional: Iterable[str]) -> StateSizes:
    """Return the room that a simulation begins with; ``most_at_once``: jobs that may run at once, or more."""
    jobs = len(coming.row)
    most = min(jobs, most_at_once) + 1
    return StateSizes(
        jobs=jobs,
        rows=len(coming.submit_time),
        runs=jobs + 2 * most,  # or the engine would ask for more before its last decisions: ``started`` is so long
        running=most,
        places=PLACES,
        held=2 * PLACES,
        ends=2 * most,
        points=coming.utility.shape[1],
        optional=frozenset(optional).union(
            name for name, column in columns_of(Coming).items() if column.is_optional and len(getattr(coming, name))
        ),
    )


def with_room(arena: Arena[ReplayState]) -> Arena[ReplayState]:
    """Return a state with room for another decision, and then some; the same one if there is room."""
    machine, replay, sizes = arena.state.machine, arena.state.replay, arena.sizes
    more: dict[str, Any] = {}
    most = len(machine.started)
    if replay.log.size[0] + most > sizes.runs:
        more["runs"] = 2 * sizes.runs + most
    if replay.ends.size[0] + most > sizes.ends:
        more["ends"] = 2 * sizes.ends + most
    if replay.counts[FULL]:
        more["places"] = 2 * sizes.places
    places = more.get("places", sizes.places)
    if (held := machine.counts[HELD] + replay.counts[DEPENDENT] + places) >= sizes.held:
        more["held"] = int(2 * max(sizes.held, held - places) + places)
    outages = getattr(machine, "outages", None)  # of machines whose nodes go away
    if outages is not None and outages.room[0] > sizes.kept:
        more["kept"] = 2 * int(outages.room[0])
    if not more:
        return arena
    replay.counts[FULL] = 0
    larger = arena.resized(sizes._replace(**more))
    if "places" in more:
        move_leaves(larger.state.machine.queue, sizes.places)
    return larger


def used_in(*states: ReplayState) -> dict[str, int]:
    """Return how many jobs are known in one of some states at least, and how many runs there are."""
    return {
        PER_JOB: max(int(state.machine.counts[SUBMITTED]) for state in states),
        PER_RUN: max(int(state.replay.log.size[0]) for state in states),
    }


_EXAMPLE = StateSizes(jobs=1, rows=1, runs=4, running=2, places=PLACES, held=2, ends=4, edges=1, points=1)


def _example() -> ReplayState:
    """Return a state of the kinds of arrays that every state has."""
    state = empty(ReplayState, _EXAMPLE)
    return with_views(state._replace(machine=state.machine._replace(restart=read_only(state.machine.restart))))


state_at = Lent(_example)
coming_at = Lent(lambda: _example().coming)
replay_at = Lent(lambda: _example().replay)
