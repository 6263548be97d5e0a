# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of a simulation so far: what is read of its state, and the schedule that is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.header import local_start_of
from swftools.kernel import FloatArray
from swftools.machines.node_table import NodeTable
from swftools.simulator.engine.dependents import ready_times
from swftools.simulator.machine.state import CAPACITY, HELD, HOLDS, SUBMITTED, Machine, Requests
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.state import NO_SET
from swftools.simulator.nodes.placed import OnNodes, columns_of_nodes
from swftools.simulator.run.driver import Driver
from swftools.simulator.schedule import Schedule
from swftools.simulator.schedule_columns import Done, schedule_of, what_was_done
from swftools.simulator.workload import Workload
from swftools.trace import Trace


class Outcome(NamedTuple):
    """What a simulation did so far, and nothing else of its state, so that the rest can be forgotten.

    ``is_over`` says which jobs have ended, and ``ready_time`` when each was eligible, s, where dependencies were
    followed; ``is_stuck`` which left as they never could start; ``nodes`` are what runs had of nodes, None of a pool,
    and where the policy keeps the nodes itself the ``table`` of these, and columns by run. The rest is as ``Schedule``
    has it.
    """

    done: Done
    is_over: npt.NDArray[np.bool_]
    is_stuck: npt.NDArray[np.bool_]
    ready_time: FloatArray | None
    nodes: OnNodes | tuple[NodeTable, dict[str, Any]] | None
    unfinished: str
    processors: int
    holds: int
    is_partial: bool


def outcome_of(
    driver: Driver,
    workload: Workload,
    taken_out: FloatArray,
    unfinished: str,
    table: NodeTable | None,
    *,
    goes_on: bool,
) -> Outcome:
    """Return what a simulation did so far.

    Parameters
    ----------
    driver : Driver
        Has its state.
    workload : Workload
        What is simulated, without the room for more.
    taken_out : numpy.ndarray of float64, shape (jobs,) or (0,)
        When each job was taken out, s; NaN where it was not. No rows where nobody was.
    unfinished : str
        Why jobs are left out that have not ended and were not taken out.
    table : NodeTable, optional
        The nodes; None of a pool.
    goes_on : bool
        Whether the simulation does; else its arrays become columns of the schedule.
    """
    machine, replay, jobs = driver.machine, driver.replay, len(workload.coming.row)
    why_out: tuple[str, ...] = ()
    if driver.policy.gone is not None:
        gone, why_out = driver.policy.gone(driver.decider.memory)
        taken_out = np.zeros(0) if np.isnan(gone).all() else gone[:jobs]
    requests = Requests._make([column[:jobs] for column in replay.requests])
    is_stuck = stuck_jobs(machine, jobs)
    is_over = _ended(machine, replay.log.job[: int(replay.log.size[0])], jobs) & ~is_stuck
    lacks_some = False
    if len(taken_out):
        is_out = ~np.isnan(taken_out)
        is_over &= ~is_out
        lacks_some = bool(is_out[: machine.counts[SUBMITTED]].any())
    had: OnNodes | tuple[NodeTable, dict[str, Any]] | None = None
    if table is not None and driver.policy.shown is not None:
        job = replay.log.job[: int(replay.log.size[0])]
        had = table, driver.policy.shown(driver.decider.memory, job[is_over[job]], table)
    elif table is not None:
        had = OnNodes.of(machine, table)
    copies = goes_on or driver.seat.arena.is_whole  # or a column would keep all memory of the simulation
    return Outcome(
        what_was_done(workload, requests, replay.log, taken_out, copies=copies)._replace(why_out=why_out),
        is_over,
        is_stuck,
        ready_times(replay, jobs),
        had,
        unfinished,
        int(machine.counts[CAPACITY]),
        int(machine.counts[HOLDS]),
        lacks_some or not driver.is_over,
    )


def _ended(machine: Machine, job: npt.NDArray[np.int32], jobs: int) -> npt.NDArray[np.bool_]:
    """Return which jobs ran, by the jobs of all runs, and neither wait nor are held back."""
    is_over = np.zeros(jobs, np.bool_)
    is_over[job] = True
    is_over &= machine.queue.place[:jobs] == NOBODY
    is_over[machine.held[: machine.counts[HELD]]] = False
    return is_over


def stuck_jobs(machine: Any, jobs: int) -> npt.NDArray[np.bool_]:
    """Return which of the first jobs left the queue for good, as they need nodes that never come back."""
    if not hasattr(machine, "outages"):
        return np.zeros(jobs, np.bool_)
    return np.asarray(machine.nodes.group[:jobs] == NO_SET)


def schedule_from(
    trace: Trace,
    outcome: Outcome,
    policy: str,
    options: Mapping[str, Any],
    notes: Mapping[str, pd.DataFrame],
    assumptions: tuple[str, ...],
) -> Schedule:
    """Return the schedule of the jobs that ended.

    Parameters
    ----------
    trace : Trace
        Its jobs.
    outcome : Outcome
        What became of them; its arrays become columns. What does not is forgotten on the way, if nobody else has it.
    policy, options, notes, assumptions
        As ``Schedule`` has them.
    """
    done, is_over, is_stuck, ready_time, nodes, unfinished, processors, holds, is_partial = outcome
    of_nodes: dict[str, Any] = {}
    table = None
    if isinstance(nodes, OnNodes):
        table = nodes.table
        job = done.log.job
        of_nodes = columns_of_nodes(nodes, options["placement"], job, is_over[job])
    elif nodes:
        table, of_nodes = nodes
    left = [done]  # so that nothing here keeps what schedule_of forgets
    del outcome, nodes, done
    schedule = schedule_of(*(trace, left.pop(), is_over, unfinished, processors, policy, options, ready_time, is_stuck))
    if of_nodes:
        schedule = replace(schedule, segments=schedule.segments.assign(**of_nodes), machine=table)
    if "allocated_processors" in of_nodes:
        schedule = replace(schedule, jobs=_with_last_widths(schedule))
    return replace(
        schedule,
        holds=holds,
        is_partial=is_partial,
        notes=notes,
        assumptions=assumptions,
        origin=local_start_of(trace.header),
        known_names=trace.known_names,
    )


def _with_last_widths(schedule: Schedule) -> pd.DataFrame:
    """Return the jobs of a schedule with the processors of their last runs, where the policy says what these held."""
    keys, name = ["job_number", "job_occurrence"], "allocated_processors"
    last = schedule.segments[[*keys, name]].drop_duplicates(keys, keep="last")
    held = schedule.jobs[keys].merge(last, "left", on=keys)[name]
    return schedule.jobs.assign(**{name: held.astype("Int64").array})
