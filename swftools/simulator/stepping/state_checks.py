# SPDX-License-Identifier: BSD-3-Clause
"""Whether the parts of a simulation that were read from bytes fit together: looked at once, before anything runs.

Compiled code trusts its arrays. So each number that stands for a place in one of them is compared with its length here,
and what the engine takes for granted (heaps in order, a queue that says of each job where it stands) holds or is an
error. Nothing of this is asked again while a simulation runs.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from swftools.errors import StateError
from swftools.models.speedup import DOWNEY, NO_CURVE, SIMPLE
from swftools.parameters.choices import SEMANTICS
from swftools.simulator.engine.dependents import COMES
from swftools.simulator.engine.loop import PATIENCE, EngineOptions
from swftools.simulator.engine.replay import (
    ANSWERED,
    ASKS,
    COMING,
    COMPLETED,
    DECIDED,
    DECIDING,
    DEPENDENT,
    DEPENDS,
    DONE,
    FULL,
    IN_VAIN,
    NOT_DECIDING,
    OBSERVED,
    OUTAGE,
    STALE,
    STEPS,
    Coming,
    Replay,
    ReplayState,
)
from swftools.simulator.machine.state import (
    CAPACITY,
    ENDED,
    FAULT,
    FREE,
    HELD,
    NOW,
    OVER,
    PLANS_BY_LIMIT,
    RUNNING,
    STARTED,
    STOPPED,
    SUBMITTED,
    WAITING,
    Machine,
    Requests,
)
from swftools.simulator.machine.verbs import STOPPED_HERE
from swftools.simulator.machine.waiting_queue import NOBODY, WaitingQueue, index
from swftools.simulator.state.columns import PER_JOB, columns_of, sizes_of

Array = npt.NDArray[Any]

MOST_PROCESSORS = 2**31 - 1
"""Of a machine: jobs' processors are held in 32 bits."""


def check_parts(
    coming: Coming,
    machine: Machine,
    replay: Replay,
    jobs: int,
    options: EngineOptions,
    *,
    on_nodes: bool = False,
    has_outages: bool = False,
) -> None:
    """Refuse parts of a simulation of so many jobs that do not fit together.

    Raises
    ------
    StateError
        Says which part, and what is wrong with it.
    """
    check_sizes(ReplayState(coming, machine, replay))
    _check_counts(machine, replay, jobs, options)
    _check_coming(coming, machine, replay, jobs)
    _check_requests(coming, machine, replay.requests)
    _check_machine(machine, replay, jobs, len(coming.run_time))
    _check_queue(machine.queue, machine, np.ones(len(machine.run)) if on_nodes else replay.requests.processors, jobs)
    _check_log(machine, replay, jobs, has_outages=has_outages)
    _check_dependents(machine, replay, jobs)


def check_sizes(state: ReplayState) -> None:
    """Refuse a state whose columns do not have as many numbers as the others of their kind."""
    try:
        sizes_of(state)
    except ValueError as error:
        what, _, why = str(error).partition(": ")
        refuse(what, why)


def check_same_shape(what: str, found: Any, wanted: Any) -> None:
    """Refuse a memory whose arrays are of other lengths than those that its owner asks for."""
    if isinstance(wanted, tuple):
        for ours, theirs in zip(found, wanted, strict=True):
            check_same_shape(what, ours, theirs)
    elif found.shape != wanted.shape:
        refuse(what, f"an array of shape {found.shape} where {wanted.shape} is needed")


def check_users(coming: Coming, memory: Any, jobs: int) -> None:
    """Refuse users of whom a predictor has no room to remember anything."""
    columns = [column for column in memory if isinstance(column, np.ndarray)]
    if columns:
        check_between("coming", "a user", coming.user_id[coming.row[:jobs]], NOBODY, min(map(len, columns)) - 1)


def check_between(what: str, name: str, values: Any, least: float, most: float) -> None:
    """Refuse numbers that are not all from ``least`` to ``most``; NaN is not."""
    column = np.asarray(values)
    if column.size and not (column.min() >= least and column.max() <= most):  # NaN is neither
        refuse(what, f"{name} is not from {least:g} to {most:g}")


def refuse(what: str, why: str) -> NoReturn:
    """Raise the error about a part of a state."""
    raise StateError(f"the state is damaged, or was changed: {what}: {why}; save it anew")


def _want(condition: object, what: str, why: str) -> None:
    """Refuse a part unless a condition holds."""
    if not condition:
        refuse(what, why)


def _check_counts(machine: Machine, replay: Replay, jobs: int, options: EngineOptions) -> None:
    """Look at the single numbers, by which all else is measured."""
    counts, progress = machine.counts, replay.counts
    check_between("machine", "a count", counts, 0, 2**53)
    check_between("machine", "its size", counts[CAPACITY], 1, MOST_PROCESSORS)
    check_between("machine", "free processors", counts[FREE], 0, counts[CAPACITY])
    check_between("machine", "how it plans", counts[PLANS_BY_LIMIT], 0, 1)
    _want(counts[FAULT] == 0, "machine", "it is at fault")
    check_between("replay", "a count", progress, 0, 2**62)
    check_between("replay", "jobs that come", progress[COMING], counts[SUBMITTED], jobs)
    check_between("replay", "jobs that are done", progress[DONE], 0, counts[SUBMITTED])
    check_between("replay", "where it stands", progress[[DECIDING, STEPS]], 0, DECIDED)
    check_between("replay", "decisions in vain", progress[IN_VAIN], 0, PATIENCE)
    check_between("replay", "whether its queue is full", progress[FULL], 0, 1)
    check_between("replay", "the job that is observed", progress[OBSERVED], 0, counts[SUBMITTED])
    _want(not progress[[ASKS, ANSWERED]].any(), "replay", "it asks a predictor in Python")
    for name, times in (("machine", machine.clock), ("replay", replay.until)):
        _want(not np.isnan(times).any(), name, "a time is none")
    _want((machine.clock >= 0).all(), "machine", "a time is before 0")
    _want(counts[SUBMITTED] == 0 or np.isfinite(machine.clock[NOW]), "machine", "jobs came before the first instant")
    _want((machine.restart >= 0).all() and np.isfinite(machine.restart).all(), "machine", "what a restart takes")
    _want(len(options) == len(EngineOptions._fields), "options", "of the engine")
    _want(all(type(each) is int for each in options), "options", "of the engine are no whole numbers")
    _want(options.semantics in SEMANTICS.values() and options.asks == 0, "options", "unknown semantics")


def _check_coming(coming: Coming, machine: Machine, replay: Replay, jobs: int) -> None:
    """Look at the jobs that come: rows that there are, widths that fit, times in order."""
    room, rows, what = len(coming.run_time), len(coming.submit_time), "coming"
    _want(jobs <= room, what, f"{jobs:,} jobs, and room for {room:,}")
    check_between(what, "a row", coming.row, 0, rows - 1)
    row = coming.row[:jobs]
    for column in (coming.run_time[:jobs], coming.limit[:jobs], coming.told[:jobs], coming.submit_time[row]):
        check_between(what, "a time (s)", column, 0, _LATEST)
    check_between(what, "a number of processors", coming.processors[row], 1, machine.counts[CAPACITY])
    check_between(what, "a user", coming.user_id[row], NOBODY, 2**31 - 1)
    submit = coming.submit_time[row[: replay.counts[COMING]]]
    _want((submit[1:] >= submit[:-1]).all(), what, "submissions are not in order")
    for column in (coming.checkpoint_interval, coming.restart_overhead):
        _want(((column >= 0) | np.isnan(column)).all(), what, "a time is before 0")
    _check_curves(coming.speedup, machine)
    _want(not np.isinf(coming.utility).any(), what, "a utility function is not finite")


def _check_curves(curves: Array, machine: Machine) -> None:
    """Look at speedup curves: of a known kind, with widths that are whole."""
    kind, a, sigma, least, most = curves.T
    none = np.isnan(curves).all(axis=1) | (kind == NO_CURVE)
    fine = np.isin(kind, (DOWNEY, SIMPLE))
    fine &= (np.isnan(a) | (a >= 0)) & (np.isnan(sigma) | (sigma >= 0))
    for widths in (least, most):
        fine &= np.isnan(widths) | ((widths >= 0) & (widths <= MOST_PROCESSORS))
    _want((none | fine).all() and machine.counts[CAPACITY] > 0, "coming", "a speedup curve is none")


def _check_requests(coming: Coming, machine: Machine, requests: Requests) -> None:
    """Look at what is known of jobs: of those that were submitted what they came with, of others nothing."""
    what, submitted = "requests", int(machine.counts[SUBMITTED])
    row, has_room = coming.row[:submitted], len(requests.processors) > 0
    for name, column in columns_of(Coming).items():
        if (ours := getattr(requests, name, None)) is not None:
            theirs = getattr(coming, name)
            _want(len(ours) or not len(theirs) or not has_room, what, "a column that jobs come with is missing")
            _want(ours.shape[1:] == theirs.shape[1:] or not len(theirs), what, "a column has another shape")
            if len(theirs):
                came_with = theirs[:submitted] if column.per == PER_JOB else theirs[row]
                is_same = np.array_equal(ours[:submitted], came_with, equal_nan=ours.dtype.kind == "f")
                _want(is_same, what, "of other jobs")
    check_between(what, "an estimate (s)", requests.requested_time[:submitted], 0, _LATEST)


def _check_machine(machine: Machine, replay: Replay, jobs: int, room: int) -> None:
    """Look at who runs, who is held back, and what this decision did."""
    what, counts = "machine", machine.counts
    most = min(room, int(counts[CAPACITY])) + 1
    for column, least in (
        *((column, most) for column in (machine.running, machine.ended)),
        *((column, 2 * most) for column in (machine.started, *machine.stops)),
    ):
        _want(len(column) >= least, what, f"a column of {len(column):,} numbers where {least:,} are needed")
    submitted, runs = int(counts[SUBMITTED]), int(replay.log.size[0])
    listed = {
        "running": _listed(machine.running, counts[RUNNING], submitted),
        "held": _listed(machine.held, counts[HELD], submitted),
        "ended": _listed(machine.ended, counts[ENDED], submitted),
        "started": _listed(machine.started, counts[STARTED], submitted, may_repeat=True),
    }
    check_between(what, "jobs beyond their limits", counts[OVER], 0, counts[RUNNING])
    stopped = int(counts[STOPPED])
    _want(stopped <= len(machine.started), what, "more stops than there is room for")
    check_between(what, "a run that was stopped", machine.stops.run[:stopped], 0, runs - 1)
    check_between(what, "how a run was stopped", machine.stops.how[:stopped], 0, COMPLETED - 1)
    check_between(what, "work that was done (s)", machine.stops.work[:stopped], 0, _LATEST)
    _check_stops(machine, replay, jobs)
    running, allocated = listed["running"], machine.allocated[:jobs]  # what stands behind is blanked when one comes
    is_running = np.zeros(jobs, np.bool_)
    is_running[running] = True
    _want(((allocated > 0) == is_running).all() and (allocated >= 0).all(), what, "who holds processors does not run")
    _want(int(allocated.sum(dtype=np.int64)) + counts[FREE] == counts[CAPACITY], what, "processors are missing")
    end = machine.expected_end[running]
    _want((end[1:] >= end[:-1]).all(), what, "running jobs are not in order of their ends")
    for column in (machine.start_time, machine.expected_end, machine.done, machine.overhead):
        check_between(what, "a time (s)", column[:jobs], 0, _LATEST)
    _want(_is_heap(machine.held_until, machine.held, int(counts[HELD])), what, "who is held back is not in order")
    check_between(what, "until when a job is held back", machine.held_until[: counts[HELD]], 0, _LATEST)
    check_between(what, "a run", machine.run[:jobs], STOPPED_HERE - stopped + 1, runs - 1)
    has_run = np.flatnonzero(machine.run[:jobs] >= 0)
    _want((replay.log.job[machine.run[has_run]] == has_run).all(), what, "a run is another job's")


def _check_stops(machine: Machine, replay: Replay, jobs: int) -> None:
    """Look at the runs that this decision stopped, of which each job tells; after it nobody asks for them any more."""
    stopping = np.flatnonzero(machine.run[:jobs] < NOBODY)
    stops = STOPPED_HERE - machine.run[stopping]
    made = _stops_here(machine, replay)
    _want(np.array_equal(np.sort(stops), np.arange(made)), "machine", "other runs were stopped than are listed")
    is_its_own = replay.log.job[machine.stops.run[stops]] == stopping
    _want(is_its_own.all(), "machine", "a run that was stopped is another job's")


def _stops_here(machine: Machine, replay: Replay) -> int:
    """Return how many runs the decision has stopped that is being made; their ends are not stale before it is over."""
    return int(machine.counts[STOPPED]) if replay.counts[DECIDING] != NOT_DECIDING else 0


def _listed(jobs: Array, count: int, submitted: int, *, may_repeat: bool = False) -> Array:
    """Return the first jobs of a list; refuse more than it has, jobs that there are not, and one that stands twice."""
    _want(count <= len(jobs), "machine", f"a list of {count:,} jobs, of which {len(jobs):,} are there")
    some = jobs[:count]
    check_between("machine", "a job", some, 0, submitted - 1)
    _want(may_repeat or len(np.unique(some)) == count, "machine", "a job is listed twice")
    return some


def _check_queue(queue: WaitingQueue, machine: Machine, needs: Array, jobs_known: int) -> None:
    """Look at the places of the queue, at which stands what jobs need; make the tree over them anew."""
    what, places, counts = "queue", len(queue.job), machine.counts
    _want(places >= _LEAST_PLACES and places & (places - 1) == 0, what, f"{places:,} places")
    _want(len(machine.held) >= counts[HELD], what, "no room for who is held back")
    used, first = queue.used.tolist()
    check_between(what, "places that are used", used, 0, places)
    check_between(what, "where nobody waits before", first, 0, used)
    check_between(what, "a job", queue.job, NOBODY, int(counts[SUBMITTED]) - 1)
    _want((queue.job[used:] == NOBODY).all(), what, "a job stands behind its end")
    taken = np.flatnonzero(queue.job != NOBODY)
    known = np.full(jobs_known, NOBODY)
    known[queue.job[taken]] = taken
    _want(np.array_equal(known, queue.place[:jobs_known]), what, "a job stands elsewhere than it says")
    leaves = queue.least[2 * places :].reshape(places, 2)
    waits = np.isfinite(leaves[:, 0])
    _want(not np.isnan(leaves).any() and (waits == np.isfinite(leaves[:, 1])).all(), what, "who waits is unclear")
    jobs = queue.job[waits]
    _want((jobs != NOBODY).all() and len(jobs) == counts[WAITING], what, "other jobs wait than are counted")
    _want(not waits[:first].any(), what, "a job waits before the first one")
    _want((machine.allocated[jobs] == 0).all(), what, "a job waits and runs")
    _want((leaves[waits, 0] == needs[jobs]).all(), what, "a job waits for other processors than it needs")
    _want((leaves[waits, 1] >= 0).all(), what, "a time is before 0")
    held = machine.held[: counts[HELD]]
    _want((queue.place[held] == NOBODY).all(), what, "a job is held back and stands in the queue")
    index(queue)


def _check_log(machine: Machine, replay: Replay, jobs: int, *, has_outages: bool) -> None:
    """Look at the runs so far, and at when those end that are not over."""
    what, log, ends, counts = "log", replay.log, replay.ends, machine.counts
    runs, ending, submitted = int(log.size[0]), int(ends.size[0]), int(counts[SUBMITTED])
    check_between(what, "how many runs there are", runs, 0, len(log.job))
    check_between(what, "how many runs end", ending, 0, min(len(ends.times), runs))
    check_between(what, "a job", log.job[:runs], 0, submitted - 1)
    check_between(what, "a number of processors", log.processors[:runs], 1, counts[CAPACITY])
    ended_by = log.ended_by[:runs]
    check_between(what, "how a run ended", ended_by[(ended_by != OUTAGE) | (not has_outages)], 0, COMPLETED)
    for column in (log.start, log.end, log.before, log.work, log.overhead):
        check_between(what, "a time (s)", column[:runs], 0, _LATEST)
    _want((log.end[:runs] >= log.start[:runs]).all(), what, "a run ends before it starts")
    _want((log.start[:runs] <= machine.clock[NOW]).all(), what, "a run starts later than it is now")
    _want(_is_heap(ends.times, ends.runs, ending), what, "ends are not in order")
    check_between(what, "a run that ends", ends.runs[:ending], 0, runs - 1)
    at = ends.runs[:ending]
    _want(len(np.unique(at)) == ending, what, "a run ends twice")
    is_on = machine.run[log.job[at]] == at
    _want((log.end[at[is_on]] == ends.times[:ending][is_on]).all(), what, "a run ends at two times")
    _want(int(is_on.sum()) == int((machine.run[:jobs] >= 0).sum()), what, "a run has no end")
    stopped = replay.counts[STALE] + _stops_here(machine, replay)
    _want(int((~is_on).sum()) == stopped, what, "ends of runs that were stopped")
    gone = int((machine.queue.place[:submitted] == NOBODY).sum()) - int(counts[HELD] + replay.counts[DEPENDENT])
    _want(gone == replay.counts[DONE], what, "other jobs are done than are counted")


def _check_dependents(machine: Machine, replay: Replay, jobs: int) -> None:
    """Look at who waits for whom: edges that end, of jobs that there are, and as many as are counted."""
    what, found, listed = "dependents", replay.dependents, int(replay.counts[DEPENDENT])
    edges, many = int(found.edges[0]), len(found.pending)
    lengths = {len(getattr(found, name)) for name in DEPENDS}
    _want(len(lengths) == 1, what, "some of what is told of jobs that wait is missing")
    check_between(what, "how many edges there are", edges, 0, len(found.successor))
    _want(listed == 0 or listed <= many, what, "more jobs wait for others than there are")
    if not many:
        _want(edges == 0, what, "edges of no jobs")
        return
    check_between(what, "a job that waits", found.successor[:edges], 0, jobs - 1)
    check_between(what, "an edge", found.next[:edges], NOBODY, edges - 1)
    check_between(what, "the first edge", found.edge[:jobs], NOBODY, edges - 1)
    for times in (found.think_time[:edges], found.ready[:jobs]):
        check_between(what, "a time (s)", times, 0, _LATEST)
    check_between(what, "the first free edge", found.free, NOBODY, edges - 1)
    follows = np.concatenate([found.edge[:jobs], found.free, found.next[:edges]])
    follows = follows[follows != NOBODY]
    _want(len(np.unique(follows)) == len(follows), what, "an edge follows two")
    is_live, is_free = (_reached(found.next[:edges], first) for first in (found.edge[:jobs], found.free))
    _want((is_live != is_free).all(), what, "an edge is neither free nor a job's, or goes in a circle")
    pending = np.bincount(found.successor[:edges][is_live], minlength=jobs)
    _want(np.array_equal(pending, found.pending[:jobs]), what, "a job waits for more, or fewer, than it says")
    jobs_listed = _listed(found.listed, listed, int(machine.counts[SUBMITTED]))
    at = np.full(jobs, NOBODY)
    at[jobs_listed] = np.arange(listed)
    held = machine.held[: machine.counts[HELD]]
    comes = held[found.listed_at[held] == COMES]
    at[comes] = COMES
    _want(np.array_equal(at, found.listed_at[:jobs]), what, "a job is listed elsewhere than it says")
    _want((found.pending[jobs_listed] > 0).all(), what, "a job is listed that waits for none")
    _want((machine.queue.place[jobs_listed] == NOBODY).all(), what, "a job waits for others, and in the queue")


def _reached(following: Array, first: Array) -> Array:
    """Return which edges are reached from some; no edge follows two, so that each is met once."""
    is_reached, at = np.zeros(len(following), np.bool_), first[first != NOBODY]
    while len(at):  # as long as the longest list
        is_reached[at] = True
        at = following[at]
        at = at[at != NOBODY]
    return is_reached


def _is_heap(times: Array, events: Array, count: int) -> bool:
    """Whether each time is no earlier than that of the one above it, of equal ones the event."""
    below = np.arange(1, count)
    above = (below - 1) // 2
    is_later = times[above] < times[below]
    return bool((is_later | ((times[above] == times[below]) & (events[above] <= events[below]))).all())


_LATEST = 2.0**53
"""Seconds: beyond that they are no whole ones."""

_LEAST_PLACES = 2
