"""A light copy of a simulation: of the jobs that wait, run or are held back, and of as many to come as are asked for.

It costs what there is now, not what the log has. Jobs get new numbers, in the same order: those that are over are not
in it. So the policy must decide by what the machine shows, and remember nothing by the numbers of jobs.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from swftools.errors import PolicyError
from swftools.kernel import IntArray
from swftools.simulator.engine.replay import (
    ANSWERED,
    COMING,
    DECIDING,
    DONE,
    FULL,
    IN_VAIN,
    STALE,
    Ends,
    Log,
    Replay,
)
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
    Stops,
    with_requests,
)
from swftools.simulator.machine.waiting_queue import NOBODY, WaitingQueue, empty_queue, index
from swftools.simulator.simulation import Simulation

_BY_JOB = ("row", "run_time", "limit", "told", "restart_overhead")
"""The columns of ``Coming`` that have an element for each job; the others have one for each row of the trace."""

_OF_MACHINE = ("allocated", "start_time", "expected_end", "done", "overhead")
"""Those of ``Machine`` that are taken as they are."""


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
        It was acted on in this decision already; or policy or predictor remember jobs by their numbers.
    """
    check_forgets(simulation)
    driver = simulation._driver
    machine, replay, coming = driver.machine, driver.replay, driver.coming
    if replay.counts[DECIDING] and (machine.counts[STARTED] or machine.counts[STOPPED]):
        raise PolicyError("a fork is of a moment before anything was decided: call advance() first, or fork before")
    submitted, last = int(machine.counts[SUBMITTED]), int(replay.counts[COMING])
    places = machine.queue.job[: machine.queue.used[0]]
    present = np.concatenate([places[places != NOBODY], machine.held[: machine.counts[HELD]]])
    present.sort()
    end = last if later is None else min(last, submitted + later)
    jobs = np.concatenate([present, np.arange(submitted, end)])

    def renumbered(some: Any) -> IntArray:
        return np.searchsorted(jobs, some)

    other = copy.copy(simulation)
    theirs = other._driver = copy.copy(driver)
    theirs.coming = coming._replace(**{name: _of_jobs(getattr(coming, name), jobs) for name in _BY_JOB})
    requests = Requests(*(_of_jobs(column, jobs) for column in replay.requests))
    log, ends, run = _runs_of(machine, replay, jobs, renumbered)
    counts = replay.counts.copy()
    counts[[DONE, STALE, FULL, IN_VAIN]] = 0
    counts[COMING], counts[ANSWERED] = len(jobs), min(counts[ANSWERED], len(present))
    theirs.replay = Replay(requests, log, ends, counts, replay.until.copy())
    theirs.machine = with_requests(_machine_of(machine, jobs, len(present), run, renumbered), requests)
    theirs.number_of = other._number_of
    other._workload = other._workload._replace(coming=theirs.coming)
    other._taken_out = np.zeros(0)
    return other, jobs


def check_forgets(simulation: Simulation) -> None:
    """Refuse a policy or predictor that remembers jobs by their numbers."""
    driver = simulation._driver
    remembers = {
        f"policy {driver.policy.name!r}": driver.policy.made_for(simulation._chosen).own,
        f"predictor {driver.predictor.name!r}": driver.predictor.observes,
        "the predictor in Python": driver.asked,
        f"the function of policy {driver.policy.name!r}": driver.policy.in_python,
    }
    for what, it in remembers.items():
        if it and it != ("parameters",):
            raise PolicyError(f"{what} remembers what happened, which a fork does not have; take copy()")


def _of_jobs(column: Any, jobs: IntArray) -> Any:
    """Return the rows of jobs; a column that the trace does not have stays empty."""
    return column[jobs] if len(column) else column


def _runs_of(machine: Machine, replay: Replay, jobs: IntArray, renumbered: Any) -> tuple[Log, Ends, Any]:
    """Return the log of the runs that go on, when they end, and the run of each job."""
    of_job = machine.run[jobs]
    is_on = of_job >= 0
    old = np.sort(of_job[is_on])
    room = len(jobs) + 2 * _most(machine, jobs)
    columns = []
    for column in replay.log[:-1]:
        longer = np.zeros(room, column.dtype)
        longer[: len(old)] = column[old]
        columns.append(longer)
    log = Log._make([*columns, np.array([len(old)])])
    log.job[: len(old)] = renumbered(log.job[: len(old)])
    run = np.full(len(jobs), NOBODY, np.int32)
    run[is_on] = np.searchsorted(old, of_job[is_on])
    times, runs = np.zeros(2 * _most(machine, jobs)), np.zeros(2 * _most(machine, jobs), np.int64)
    order = np.lexsort((np.arange(len(old)), log.end[: len(old)]))  # in order it is a heap, too
    times[: len(old)], runs[: len(old)] = log.end[order], order
    return log, Ends(times, runs, np.array([len(old)])), run


def _machine_of(machine: Machine, jobs: IntArray, present: int, run: Any, renumbered: Any) -> Machine:
    """Return the machine with the jobs alone."""
    most, counts = _most(machine, jobs), machine.counts.copy()
    counts[SUBMITTED], counts[[ENDED, STARTED, STOPPED]] = present, 0
    queue = _queue_of(machine.queue, len(jobs), renumbered)
    running = np.zeros(most, np.int64)
    running[: counts[RUNNING]] = renumbered(machine.running[: counts[RUNNING]])
    held = np.zeros(2 * len(queue.job), np.int64), np.zeros(2 * len(queue.job))
    held[0][: counts[HELD]] = renumbered(machine.held[: counts[HELD]])
    held[1][: counts[HELD]] = machine.held_until[: counts[HELD]]
    return machine._replace(
        counts=counts,
        clock=machine.clock.copy(),
        predicted=np.zeros(0),
        queue=queue,
        held=held[0],
        held_until=held[1],
        running=running,
        started=np.zeros(2 * most, np.int64),
        stops=Stops(np.zeros(2 * most, np.int64), np.zeros(2 * most, np.int64), np.zeros(2 * most)),
        ended=np.zeros(most, np.int64),
        run=run,
        **{
            name: getattr(machine, name)[jobs]
            for name in ("allocated", "start_time", "expected_end", "done", "overhead")
        },
    )


def _queue_of(queue: WaitingQueue, jobs: int, renumbered: Any) -> WaitingQueue:
    """Return the queue with its places closed up."""
    at = np.flatnonzero(queue.job[: queue.used[0]] != NOBODY)
    places, old = 256, len(queue.job)
    while 4 * len(at) > 3 * places:
        places *= 2
    new = empty_queue(jobs, places)
    new.job[: len(at)] = renumbered(queue.job[at])
    new.place[new.job[: len(at)]] = np.arange(len(at))
    leaves = queue.least.reshape(-1, 2)[old + at]
    new.least.reshape(-1, 2)[places : places + len(at)] = leaves
    new.used[0] = len(at)
    index(new)
    return new


def _most(machine: Machine, jobs: IntArray) -> int:
    """Return how many jobs may run at most, and one more."""
    return min(len(jobs), int(machine.counts[CAPACITY])) + 1
