# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are submitted while a simulation runs: room for them, and their place among those that are to come.

Where a simulation has no room left it gets twice as much: arrays of jobs become longer at their ends, those that policy
and predictor remember among them, so that jobs keep their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swftools.errors import ParameterError, PolicyError
from swftools.kernel import FloatArray
from swftools.parameters import is_whole
from swftools.parameters.choices import CQSIM, PYSS, SEMANTICS
from swftools.simulator.engine.replay import COMING, Coming
from swftools.simulator.instants import LATEST
from swftools.simulator.machine.state import CAPACITY, SUBMITTED, Machine, Requests, Stops, with_requests
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.requested import find_requests
from swftools.simulator.restart import find_restart_overhead
from swftools.simulator.run.driver import Driver
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.forking import Numbers
from swftools.simulator.workload import IN_SECONDS, prepare

LEAST = 256
"""Jobs that there is room for at least."""

_BY_JOB = ("row", "run_time", "limit", "told", "restart_overhead")
"""The columns of ``Coming`` that have an element for each job; the others have one for each of its rows."""


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
    one, is_cut = _described(simulation, job)
    if driver.jobs >= len(driver.coming.run_time) or simulation._own_rows is None or _lacks(driver.coming, one):
        make_room(simulation, 2 * (driver.jobs + 1), one)
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
    by_job: list[Any] = [getattr(coming, name) for name in _BY_JOB]
    for column in (*by_job, rows, simulation._is_cut, simulation._taken_out):
        if column is not None and len(column):
            column[place + 1 : new + 1] = column[place:new].copy()
    for name in Coming._fields:
        column = getattr(coming, name)
        if len(column):
            value = getattr(one, name)
            at = place if name in _BY_JOB else new
            if name == "utility":
                column[at] = np.nan
                column[at, : value.shape[1]] = value[0]
            else:
                column[at] = value[0]
    coming.row[place] = new
    rows[place] = row
    if simulation._is_cut is not None:
        simulation._is_cut[place] = is_cut
    if len(simulation._taken_out):
        simulation._taken_out[place] = np.nan
    _blank(driver, new)
    driver.jobs, counts[COMING] = new + 1, last + 1
    return place


def _longer(column: Any, coming: Coming, fill: float = 0) -> Any:
    """Return a column of jobs with as much room as those of jobs to come have; the same one if it has."""
    lacking = len(coming.run_time) - len(column)
    return np.concatenate([column, np.full(lacking, fill, column.dtype)]) if lacking > 0 else column


def _described(simulation: Simulation, job: Mapping[str, Any]) -> tuple[Coming, bool]:
    """Return a job as the only one that is to come, and whether it is stopped at its limit."""
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
    if not is_whole(width, 1):
        raise ParameterError(f"processors={width!r} is not a whole number from 1 on")
    if width > size:
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
    if unknown := [name for name in job if name not in simulation._table.columns]:
        raise ParameterError(f"the jobs of this simulation have no column {', '.join(unknown)}")
    is_plain = simulation._table.is_plain and "keyed" not in predictor.foretells_with and semantics != CQSIM
    if not is_plain:
        return _of_table(simulation, job, least)
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
    return driver.coming._replace(**columns), is_cut


def _of_table(simulation: Simulation, job: Mapping[str, Any], least: float) -> tuple[Coming, bool]:
    """Return the same of a job with other columns, as one of a trace is read."""
    options, driver = simulation.options, simulation._driver
    table = simulation._table.of_one({**job, "run_time": job.get("run_time") or job.get("requested_time")})
    workload = prepare(
        table,
        int(driver.machine.counts[CAPACITY]),
        overrun=options["overrun"],
        cancelled=options["cancelled"],
        requests=find_requests("logged"),
        predictor=driver.predictor,
        seed=options["seed"],
        least=least,
        needs=("utility",) if driver.coming.utility.shape[1] else (),
        overhead=find_restart_overhead(options["restart_overhead"]),
    )
    if not len(workload.coming.row):
        raise ParameterError(f"no such job can be simulated: {workload.excluded['reason'].iloc[0]}")
    user = _number_of_user(simulation, job.get("user_id"))
    return workload.coming._replace(user_id=np.array([user], np.int32)), bool(workload.is_cut[0])


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
    return any(len(ours) and not len(theirs) for ours, theirs in zip(one[8:], coming[8:], strict=True)) or (
        len(one.utility) > 0 and one.utility.shape[1] > coming.utility.shape[1]
    )


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


def make_room(simulation: Simulation, jobs: int, like: Coming) -> None:
    """Make a simulation one with room for so many jobs; ``like`` has the columns that jobs may have."""
    driver, room = simulation._driver, LEAST
    while room < jobs:
        room *= 2
    coming, machine, replay, known = driver.coming, driver.machine, driver.replay, driver.jobs
    at = coming.row[:known]
    points = max(coming.utility.shape[1], like.utility.shape[1])
    has = {name: len(getattr(coming, name)) or len(getattr(like, name)) for name in Coming._fields[8:]}

    def longer(column: Any, fill: Any, count: int = room) -> Any:
        new = np.full((count, *column.shape[1:]), fill, column.dtype)
        new[: min(len(column), count)] = column[:count]
        return new

    columns: dict[str, Any] = {}
    for name in Coming._fields:
        column = getattr(coming, name)
        if name in has and not has[name]:
            columns[name] = column
            continue
        of_jobs = column[:known] if name in _BY_JOB or not len(column) else column[at]
        if name == "utility":
            of_jobs = _wider(of_jobs, points)
        columns[name] = longer(of_jobs, 0)
    columns["row"] = np.arange(room, dtype=np.int32)
    asked: dict[str, Any] = {}
    for name in Requests._fields:
        column = getattr(replay.requests, name)
        if name == "utility":
            column = _wider(column, points)
        lacks = name in has and not has[name] and name != "priority_rank"  # which is there in any case
        asked[name] = column if lacks else longer(column[:known], np.nan if column.dtype.kind == "f" else -1)
    requests = Requests(**asked)
    most = min(room, int(machine.counts[CAPACITY])) + 1
    if most > len(machine.running):
        stops = Stops(*(longer(column, 0, 2 * most) for column in machine.stops))
        machine = machine._replace(
            running=longer(machine.running, 0, most),
            started=longer(machine.started, 0, 2 * most),
            stops=stops,
            ended=longer(machine.ended, 0, most),
        )
    machine = machine._replace(
        queue=machine.queue._replace(place=longer(machine.queue.place[:known], NOBODY)),
        run=longer(machine.run[:known], NOBODY),
        **{name: longer(getattr(machine, name)[:known], 0) for name in _OF_MACHINE},
    )
    rows = longer(simulation._rows[:known], NOBODY)
    driver.coming, driver.replay = Coming(**columns), replay._replace(requests=requests)
    driver.machine = with_requests(machine, requests)
    size = int(machine.counts[CAPACITY])
    policy, predictor = driver.policy, driver.predictor
    driver.decider = driver.decider._replace(
        memory=_lengthened(driver.decider.memory, policy.empty_memory(room, size, simulation._chosen))
    )
    driver.observer = driver.observer._replace(
        memory=_lengthened(driver.observer.memory, predictor.empty_memory(room, size))
    )
    driver.rooms = driver.lease = None
    simulation._own_rows = rows
    driver.number_of = Numbers(simulation._table, rows)


_OF_MACHINE = ("allocated", "start_time", "expected_end", "done", "overhead")


def _wider(utility: FloatArray, points: int) -> FloatArray:
    """Return utility functions with room for more points, which are missing."""
    new = np.full((len(utility), points, 2), np.nan)
    new[:, : utility.shape[1]] = utility
    return new


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


def _blank(driver: Driver, job: int) -> None:
    """Write that nothing is known of a job yet: the room for it may have been another's."""
    machine: Machine = driver.machine
    for column in driver.replay.requests:
        if len(column):
            column[job] = np.nan if column.dtype.kind == "f" else -1
    machine.queue.place[job] = machine.run[job] = NOBODY
    for name in _OF_MACHINE:
        getattr(machine, name)[job] = 0
