# SPDX-License-Identifier: BSD-3-Clause
"""A job that is submitted while a simulation runs, and waits for one that is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.parameters import is_whole
from swftools.parameters.choices import FOLLOW
from swftools.simulator.engine.dependents import take_edge
from swftools.simulator.engine.replay import COMPLETED, DEPENDS
from swftools.simulator.instants import instant
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.simulation import Simulation

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
    """Let a job that is to come wait for another one, that has ended or not; for one that was taken out it does not."""
    driver = simulation._driver
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
    if len(runs) and driver.machine.run[other] < 0 and log.ended_by[runs[-1]] == COMPLETED:
        dependents.ready[job] = instant(float(log.end[runs[-1]]) + think_time)
    elif not len(taken_out) or np.isnan(taken_out[other]):
        take_edge.py_func(dependents, other, job, think_time)
