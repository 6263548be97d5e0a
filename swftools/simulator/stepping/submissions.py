# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are submitted while a simulation runs: room for them, and their place among those that are to come.

Where a simulation has no room left it gets twice as much: arrays of jobs become longer at their ends, those that policy
and predictor remember among them, so that jobs keep their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from swftools.errors import ParameterError, PolicyError
from swftools.machines.asked import Asked
from swftools.parameters import is_whole
from swftools.parameters.choices import CQSIM, FOLLOW, IGNORE, PYSS, SEMANTICS
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.engine.dependents import put_among, take_edge
from swftools.simulator.engine.replay import COMING, COMPLETED, DEPENDS, OUTAGE, Coming
from swftools.simulator.engine.transfer import blank_jobs
from swftools.simulator.instants import LATEST, instant
from swftools.simulator.machine.state import CAPACITY, SUBMITTED
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.on_outage import Lost
from swftools.simulator.outcome import stuck_jobs
from swftools.simulator.policy_abi import Memory, Own
from swftools.simulator.simulation import Simulation
from swftools.simulator.state.columns import PER_JOB, PER_ROW, StateSizes, array_at, columns_of, empty, names_per
from swftools.simulator.stepping.policy_memory import empty_memory
from swftools.simulator.stepping.submitted_on_nodes import (
    asked_by,
    class_again,
    lacking,
    parts_used,
    write_request,
)
from swftools.simulator.workload import IN_SECONDS, prepare

LEAST = 256
"""Jobs that there is room for at least."""


def add_job(simulation: Simulation, job: Mapping[str, Any]) -> int:
    """Let a job come; return its number, which those behind it that are to come make room for.

    Parameters
    ----------
    simulation : Simulation
        Is changed.
    job : mapping
        By columns of the table ``jobs``: submit_time, requested_processors, and others that are known.

    Raises
    ------
    ParameterError
        It is no job that could be simulated.
    """
    driver = simulation._driver
    one, is_cut, asked = _described(simulation, job)
    before, think_time = named_by(simulation, job)
    used = 0 if asked is None else parts_used(driver.machine, driver.jobs)
    parts = used if asked is None else used + int(asked.nodes[0])
    has_room = driver.jobs < len(driver.coming.run_time) and parts <= driver.seat.arena.sizes.parts
    if not has_room or simulation._own_rows is None or _lacks(driver.coming, one):
        make_room(simulation, 2 * (driver.jobs + 1), one, 2 * parts)
    coming, counts, new = driver.coming, driver.replay.counts, driver.jobs
    row = simulation._table.add(job)
    last = int(counts[COMING])
    place = _place(simulation, float(job["submit_time"]), int(job["job_number"]), last)
    rows: Any = simulation._own_rows
    if simulation._is_cut is not None or is_cut:
        simulation._is_cut = _longer(
            np.zeros(0, np.bool_) if simulation._is_cut is None else simulation._is_cut, coming
        )
    if len(simulation._taken_out):
        simulation._taken_out = _longer(simulation._taken_out, coming, np.nan)
    state, of_jobs = driver.seat.arena.state, names_per(Coming, PER_JOB)
    ahead = [array_at(state, path) for path in names_per(type(state), PER_JOB, ahead=True)]
    for column in (*ahead, rows, simulation._is_cut, simulation._taken_out):
        if column is not None and len(column):
            column[place + 1 : new + 1] = column[place:new].copy()
    for name in Coming._fields:
        column = getattr(coming, name)
        if len(column):
            value = getattr(one, name)
            at = place if name in of_jobs else new
            column[at] = columns_of(Coming)[name].empty
            if len(value):
                column[(at, *map(slice, value.shape[1:]))] = value[0]
    coming.row[place] = new
    rows[place] = row
    if simulation._is_cut is not None:
        simulation._is_cut[place] = is_cut
    if len(simulation._taken_out):
        simulation._taken_out[place] = np.nan
    blank_jobs(state, new)
    put_among(state.replay.dependents, place)
    if asked is not None:
        write_request(simulation, place, asked, used)
    counts = driver.replay.counts
    driver.jobs, counts[COMING] = new + 1, last + 1
    if before is not None:
        let_wait(simulation, place, before + (before >= place), think_time)
    return place


def _longer(column: Any, coming: Coming, fill: float = 0) -> Any:
    """Return a column of jobs with as much room as those of jobs to come have; the same one if it has."""
    lacking = len(coming.run_time) - len(column)
    return np.concatenate([column, np.full(lacking, fill, column.dtype)]) if lacking > 0 else column


def _described(simulation: Simulation, job: Mapping[str, Any]) -> tuple[Coming, bool, Asked | None]:
    """Return a job as the only one that is to come, whether it is stopped at its limit, and what it asks of nodes."""
    options, driver = simulation.options, simulation._driver
    size, predictor = int(driver.machine.counts[CAPACITY]), driver.predictor
    for what, it in {
        "a predictor in Python": driver.asked,
        f"predictor {predictor.name!r}, which draws for all jobs at once,": "rng" in predictor.foretells_with,
        f"requests={options['requests']!r}": options["requests"] != "logged",
    }.items():
        if it:
            raise PolicyError(f"with {what} no job can be submitted while it runs")
    width, run, request = job["requested_processors"], job.get("run_time"), job.get("requested_time")
    if not is_whole(width, 1) and (width is not None or simulation.nodes is None):
        raise ParameterError(f"processors={width!r} is not a whole number from 1 on")
    if simulation.nodes is None and width > size:
        raise ParameterError(f"a job of {width:,} processors is wider than the machine of {size:,}")
    for name, value in (("run_time", run), ("requested_time", request)):
        if value is not None and not 0 <= float(value) < np.inf:
            raise ParameterError(f"{name}={value!r} is neither None nor seconds of 0 or more")
    for name, value in (("submit_time", job["submit_time"]), ("run_time", run), ("requested_time", request)):
        if value is not None and float(value) > LATEST:
            raise ParameterError(f"{name}={value!r}: beyond {LATEST:.0f} s (2**53) {IN_SECONDS}")
    if not request and run is None:
        raise ParameterError("a job without run_time needs requested_time (s), for as long as it is taken to run")
    semantics = SEMANTICS[options["semantics"]]
    least = 1.0 if semantics == PYSS else 0.0
    if new := lacking(simulation, job):
        simulation._table.widen(new)
    if unknown := [name for name in job if name not in simulation._table.columns]:
        raise ParameterError(f"the jobs of this simulation have no column {', '.join(unknown)}")
    is_plain = simulation._table.is_plain and "keyed" not in predictor.foretells_with and semantics != CQSIM
    if not is_plain or simulation.nodes is not None:
        return _of_table(simulation, job)
    run_time = max(float(request if run is None else run), least)  # type: ignore[arg-type]
    limit, is_cut = float(request or run_time), False
    if options["overrun"] == "extend":
        limit = max(limit, run_time)
    elif options["overrun"] == "kill":
        run_time, is_cut = min(run_time, limit), run_time > limit
    runs, limits = np.array([run_time]), np.array([limit])
    told = predictor.told(runs, limits, options["seed"]) if predictor.foretell else limits.copy()
    user, queue = job.get("user_id"), job.get("queue_id")
    columns: dict[str, Any] = {
        "row": np.zeros(1, np.int32),
        "run_time": runs,
        "limit": limits,
        "told": told,
        "submit_time": np.array([float(job["submit_time"])]),
        "processors": np.array([int(width)]),
        "user_id": np.array([_number_of_user(simulation, user)], np.int32),
        "queue_id": np.array([-1 if queue is None else int(queue)]),
    }
    one: Coming = empty(Coming, StateSizes(jobs=1, rows=1))
    return one._replace(**columns), is_cut, None


def _of_table(simulation: Simulation, job: Mapping[str, Any]) -> tuple[Coming, bool, Asked | None]:
    """Return the same of a job with other columns, or on nodes, as one of a trace is read."""
    options, driver = simulation.options, simulation._driver
    run_time = job.get("run_time")
    table = simulation._table.of_one({**job, "run_time": job.get("requested_time") if run_time is None else run_time})
    run = RunOptions.among(options)  # of a pool no others are told
    needs = ("utility",) if driver.coming.utility.shape[1] else ()
    size = int(driver.machine.counts[CAPACITY])
    asked = None if simulation.nodes is None else asked_by(simulation, table)
    run = replace(run, dependencies=IGNORE)
    workload = prepare(table, size, run, predictor=driver.predictor, needs=needs, asked=asked)
    if not len(workload.coming.row):
        raise ParameterError(f"no such job can be simulated: {workload.excluded['reason'].iloc[0]}")
    user = _number_of_user(simulation, job.get("user_id"))
    return workload.coming._replace(user_id=np.array([user], np.int32)), bool(workload.is_cut[0]), asked


def _number_of_user(simulation: Simulation, user: Any) -> int:
    """Return the number by which policies know a user, -1 of nobody; new ones get the next."""
    if user is None or user < 0:
        return -1
    if simulation._users is None:
        seen = dict.fromkeys(simulation.trace.views.user_id.tolist())
        simulation._users = {each: number for number, each in enumerate(each for each in seen if each >= 0)}
    if user not in simulation._users:  # copies have the same table, and may know others from here on
        simulation._users = {**simulation._users, int(user): len(simulation._users)}
    return simulation._users[int(user)]


def _lacks(coming: Coming, one: Coming) -> bool:
    """Whether columns have no room for what is known of a job."""
    columns: Any = zip(coming, one, strict=True)
    return any(len(theirs) and (not len(ours) or ours.shape[1:] < theirs.shape[1:]) for ours, theirs in columns)


def _place(simulation: Simulation, submit_time: float, number: int, last: int) -> int:
    """Return the place of a job among those that are to come: by submission, then by number."""
    driver = simulation._driver
    coming, first = driver.coming, int(driver.machine.counts[SUBMITTED])
    place = last
    while place > first:
        before = float(coming.submit_time[coming.row[place - 1]])
        if before < submit_time or (before == submit_time and int(driver.number_of(place - 1)) < number):  # type: ignore[call-overload]
            break
        place -= 1
    return place


def make_room(simulation: Simulation, jobs: int, like: Coming, parts: int = 0) -> None:
    """Make a simulation one with room for so many jobs, and the nodes that they ask for.

    ``like`` has the columns that jobs may have.
    """
    driver, room, nodes = simulation._driver, LEAST, simulation.nodes
    while room < jobs:
        room *= 2
    coming, arena, known = driver.coming, driver.seat.arena, driver.jobs
    sizes, size = arena.sizes, simulation.processors
    optional = {name for name, column in columns_of(Coming).items() if column.is_optional and len(getattr(like, name))}
    larger = arena.resized(
        sizes._replace(
            jobs=room,
            rows=room,
            running=max(sizes.running, min(room, size) + 1 if nodes is None else room + 1),
            parts=max(sizes.parts, parts),
            table=4 * room if nodes is not None else 0,
            points=max(sizes.points, like.utility.shape[1]),
            optional=sizes.optional | optional,
        ),
        {path: array for path, array in arena.given.items() if columns_of(arena.kind)[path].is_given},
    )
    for name in names_per(Coming, PER_ROW):
        if len(column := getattr(coming, name)):
            of_jobs = column[coming.row[:known]]
            getattr(larger.state.coming, name)[tuple(map(slice, of_jobs.shape))] = of_jobs
    larger.state.coming.row[:] = np.arange(room)
    blank_jobs(larger.state, slice(known, None))
    larger.is_clean = True
    rows = np.full(room, NOBODY, np.int32)
    rows[:known] = simulation._rows[:known]
    driver.move(
        larger,
        _with_memory(driver.observer, driver.predictor.empty_memory(room, size)),
        _with_memory(driver.decider, empty_memory(simulation, room, larger.sizes.parts)),
    )
    if nodes is not None:
        class_again(simulation)
    driver.rooms, driver.lease = driver.rooms.anew(), None
    simulation._own_rows = rows


def _with_memory(own: Own, empty: Memory) -> Own:
    """Return the same with a memory for more jobs."""
    return own._replace(memory=_lengthened(own.memory, empty))


def _lengthened(old: Any, new: Any) -> Any:
    """Return a memory for more jobs that begins with what another one has."""
    if isinstance(old, tuple):
        parts = [_lengthened(ours, theirs) for ours, theirs in zip(old, new, strict=True)]
        return tuple.__new__(type(old), parts)
    if len(new) <= len(old):
        return old
    made = np.zeros(new.shape, new.dtype)
    made[:] = new
    made[: len(old)] = old
    return made


SEVERAL = "preceding_job_numbers"


def named_by(simulation: Simulation, job: Mapping[str, Any]) -> tuple[int | None, float]:
    """Return the job that another one waits for, None if for none that could keep it waiting; and its think time, s.

    Parameters
    ----------
    simulation : Simulation
        Of a fork, jobs that are not in it have ended.
    job : mapping
        By columns of the table ``jobs``: ``preceding_job_number`` and ``think_time`` (s) are used.

    Raises
    ------
    ParameterError
        There is no job of that number, or the think time is none; or several jobs are named, which are not followed
        here.
    """
    number, think = job.get("preceding_job_number"), job.get("think_time") or 0.0
    if job.get(SEVERAL) is not None:
        raise ParameterError(f"{SEVERAL}={job[SEVERAL]!r}: a job that is submitted waits for one; name the last to end")
    if number is None or simulation.options["dependencies"] != FOLLOW:
        return None, 0.0
    if not is_whole(number, 0) or not 0.0 <= float(think) < np.inf:
        raise ParameterError(f"preceding_job_number={number!r}, think_time={think!r}: give a job's number, and seconds")
    numbers = simulation.trace.jobs["job_number"].to_numpy()
    if number not in numbers:
        raise ParameterError(f"preceding_job_number={number}: there is no such job; submit it first, or leave it out")
    jobs = np.flatnonzero(numbers[simulation._rows[: simulation._driver.jobs]] == number)
    return (int(jobs[-1]) if len(jobs) else None), float(think)


def let_wait(simulation: Simulation, job: int, other: int, think_time: float) -> None:
    """Let a job that is to come wait for another one, that has ended or not; for one that left before it does not."""
    driver = simulation._driver
    if stuck_jobs(driver.machine, driver.jobs)[other]:
        return
    arena, taken_out = driver.seat.arena, simulation._taken_out
    dependents = driver.replay.dependents
    has_room = dependents.free[0] != NOBODY or dependents.edges[0] < arena.sizes.edges
    if not len(dependents.pending) or not has_room:
        sizes = arena.sizes._replace(optional=arena.sizes.optional | DEPENDS, edges=2 * arena.sizes.edges + 64)
        driver.move(arena.resized(sizes))
        driver.rooms, driver.lease = driver.rooms.anew(), None
        dependents = driver.replay.dependents
    log = driver.replay.log
    runs = np.flatnonzero(log.job[: log.size[0]] == other)
    how = log.ended_by[runs[-1]] if len(runs) and driver.machine.run[other] < 0 else -1
    if how == COMPLETED or (how == OUTAGE and simulation.options["on_outage"] == Lost.NAME):
        dependents.ready[job] = instant(float(log.end[runs[-1]]) + think_time)
    elif not len(taken_out) or np.isnan(taken_out[other]):
        take_edge.py_func(dependents, other, job, think_time)
