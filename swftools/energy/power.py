# SPDX-License-Identifier: BSD-3-Clause
"""Power of the machine over time: an exact step function, from the runs of a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.energy.node_power import NodePower, OnNodes, power_on_nodes
from swftools.energy.switched_off import SwitchedOff, find_switched_off
from swftools.errors import ParameterError
from swftools.parameters import Parameters, is_number, number, truth
from swftools.simulator.allocations import machine_of
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.step_functions import Changes, add_changes, changes_at, instants_of
from swftools.simulator.schedule import Schedule

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EnergyParameters(Parameters):
    """Parameters of the power of a machine.

    Parameters
    ----------
    busy_power : float, optional
        Power of a busy processor, W: for all jobs, or for those whose power is not logged.
    logged : bool
        If a job has a ``mean_power``, use it. On a pool, divided by its logged width, it is the power of each of its
        processors; on nodes it is that of the job, however many cores it holds.
    idle_power : float
        Power of a processor that runs no job, W; 0: only jobs count.
    static_power : float
        Power of everything else that is always on, W: network, storage, cooling.
    percentiles : sequence of float
        Percentiles of the power over time, from 0 to 100.
    window : (float, float), optional
        Begin and end of the time that counts, s; by default the first submission and the last end.
    off_after : float, optional
        On a machine of nodes: a node on which nothing has run for so long is switched off until its next run, s. By
        default nodes are always on.
    off_power : float
        Power of a node that is off, W.
    boot_time : float
        How long a node takes to come on, s.
    boot_power : float, optional
        Power of a node while it boots, W; by default what it takes while it is idle.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "energy"

    busy_power: float | None = number(None, least=0, unit="W", optional=True)
    logged: bool = truth(True)
    idle_power: float = number(0.0, least=0, unit="W")
    static_power: float = number(0.0, least=0, unit="W")
    percentiles: Sequence[float] = (50, 95, 99)
    window: tuple[float, float] | None = None
    off_after: float | None = number(None, least=0, unit="s", optional=True)
    off_power: float = number(0.0, least=0, unit="W")
    boot_time: float = number(0.0, least=0, unit="s")
    boot_power: float | None = number(None, least=0, unit="W", optional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        points, window = self.percentiles, self.window
        sound = isinstance(points, Sequence) and all(is_number(point, 0, 100) for point in points)
        self._require("percentiles", sound and len(set(points)) == len(points), "different numbers from 0 to 100")
        sound = window is None or (
            isinstance(window, Sequence) and len(window) == 2 and all(map(is_number, window)) and window[0] < window[1]
        )
        self._require("window", sound, "(begin, end) in seconds, the end behind the beginning")


class RunPower(NamedTuple):
    """Power of a schedule, W: of each run, by the rows of its segments, and of the machine while nothing runs.

    ``idle`` is what the processors of each run take while they are idle, where that is said by kinds of nodes; None
    where all processors are alike. ``is_assumed``: of which jobs the power is not logged. ``nodes``: the power of the
    nodes, where it is said by their kinds.
    """

    watts: FloatArray
    idle: FloatArray | None
    is_assumed: npt.NDArray[np.bool_]
    idle_of_machine: float
    always_on: float
    nodes: OnNodes | None = None


def power_of_runs(
    schedule: Schedule, parameters: EnergyParameters, powers: Mapping[str, NodePower] | None = None
) -> RunPower:
    """Return the power of each run, and of the machine while nothing runs; by nodes if ``powers`` or a time-out ask it.

    Raises
    ------
    ParameterError
        Jobs have no logged power, and nothing says what a busy processor takes.
    """
    jobs, runs = schedule.jobs, schedule.segments
    row, width = rows_of(runs, jobs), column_of(runs, "allocated_processors")
    of_jobs = _logged_power(schedule) if parameters.logged else np.full(len(jobs), np.nan)
    is_assumed = np.isnan(of_jobs)
    logged = of_jobs[row] if schedule.machine is not None else of_jobs[row] * width
    if powers is None and parameters.off_after is None:
        if is_assumed.any() and parameters.busy_power is None:
            raise ParameterError(f"{_unlogged(is_assumed)}; give the power of a busy processor by busy_power= (W)")
        busy = np.nan if parameters.busy_power is None else parameters.busy_power
        watts = np.where(is_assumed[row], busy * width, logged)
        idle_of_machine = schedule.processors * parameters.idle_power
        return RunPower(watts, None, is_assumed, idle_of_machine, parameters.static_power)
    on_nodes = power_on_nodes(schedule, powers or {}, parameters.busy_power, parameters.idle_power)
    of_runs = np.where(is_assumed[row], on_nodes.busy, logged)
    if np.isnan(of_runs).any():
        raise ParameterError(
            f"{_unlogged(is_assumed)}, and kinds of nodes that they had no power of a busy core; give it in powers=, "
            "or for all by busy_power= (W)"
        )
    always_on = float(on_nodes.rest.sum()) + parameters.static_power
    idle_of_machine = float((machine_of(schedule).cores * on_nodes.idle_core).sum())
    return RunPower(of_runs, on_nodes.idle, is_assumed, idle_of_machine, always_on, on_nodes)


def _logged_power(schedule: Schedule) -> FloatArray:
    """Return the logged power of each job, W, NaN if it is not logged: on nodes of all of it, on a pool of a processor.

    What a job holds on nodes need not be what its logged width counts: hardware threads, or nodes that it has alone.
    """
    jobs = schedule.jobs
    if "mean_power" not in jobs:
        return np.full(len(jobs), np.nan)
    power = column_of(jobs, "mean_power")
    if schedule.machine is not None:
        return power
    width = column_of(jobs, "width" if "width" in jobs else "allocated_processors")
    return np.divide(power, width, out=np.full(len(jobs), np.nan), where=width > 0)


def _unlogged(is_assumed: npt.NDArray[np.bool_]) -> str:
    """Return how many jobs have no logged power, in words."""
    return f"{int(is_assumed.sum()):,} of {len(is_assumed):,} jobs have no mean_power in the log"


def power_over_time(
    schedule: Schedule,
    parameters: EnergyParameters | None = None,
    *,
    powers: Mapping[str, NodePower] | None = None,
    **changes: Any,
) -> pd.DataFrame:
    """Return the power of the machine from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        A schedule; its jobs may have the log's column ``mean_power``.
    parameters : EnergyParameters, optional
        Defaults if not given.
    powers : mapping of str to NodePower, optional
        Of a schedule on a machine of nodes: the power of nodes by the name of their kind.
    **changes
        Single parameters by name: ``busy_power=200``.

    Returns
    -------
    pandas.DataFrame
        One row for each instant at which a run starts or ends, a job is submitted, or a node goes off, boots or comes
        on, with rising times; values hold to the next one's, and of the last row for ever.

        * time: s.
        * job_power: W of all busy processors, also during overhead and for work that is lost later.
        * idle_power: W of all idle processors.
        * saved_power, with ``off_after``: W that nodes take less as they are off; negative while one boots that takes
          more then than while it is idle.
        * power: W of busy and idle processors and of everything that is always on, without what is saved.

    Raises
    ------
    ParameterError
        Jobs have no power, a parameter is outside its domain, or the machine has no nodes of a kind that has power.

    Notes
    -----
    A job takes its mean power from its start to its end. On a pool, on another width than the logged one, its power is
    proportional to its processors.
    """
    chosen = chosen_parameters(parameters, changes)
    return steps_of(schedule, power_of_runs(schedule, chosen, powers), chosen)


def chosen_parameters(parameters: EnergyParameters | None, changes: dict[str, Any]) -> EnergyParameters:
    """Return parameters with some of them changed."""
    given = parameters or EnergyParameters()
    if not changes:
        return given
    return EnergyParameters.from_mapping({name: getattr(given, name) for name in given.names()} | changes)


def steps_of(schedule: Schedule, power: RunPower, parameters: EnergyParameters) -> pd.DataFrame:
    """Return what ``power_over_time`` returns, of runs whose power is known."""
    runs = schedule.segments
    width = column_of(runs, "allocated_processors")
    starts, ends = (changes_at(column_of(runs, name)) for name in ("start_time", "end_time"))
    submits = changes_at(column_of(schedule.jobs, "submit_time"))
    switched = switched_off(schedule, power, parameters)
    times = instants_of(submits.at, starts.at, ends.at, *(each.at for each, _ in switched))

    def running(amount: FloatArray) -> FloatArray:
        total = np.zeros(len(times))
        add_changes(times, starts.at, starts.of(amount), 1.0, total)
        add_changes(times, ends.at, ends.of(amount), -1.0, total)
        return np.cumsum(total, out=total)

    busy = running(width)
    # Sums of powers that are no whole numbers end a rounding error from 0.
    of_jobs = np.where(busy > 0, np.maximum(running(power.watts), 0.0), 0.0)
    if power.idle is None:
        idle = (schedule.processors - busy) * parameters.idle_power
    else:
        idle = np.maximum(power.idle_of_machine - running(power.idle), 0.0)
    columns = {"time": times, "job_power": of_jobs, "idle_power": idle}
    whole = of_jobs + idle + power.always_on
    if parameters.off_after is not None:
        saved = sum_of(times, [(at, -watts) for at, watts in switched])
        columns |= {"saved_power": saved}
        whole = np.maximum(whole - saved, 0.0)
    return pd.DataFrame({**columns, "power": whole})


def sum_of(times: FloatArray, changes: Sequence[tuple[Changes, FloatArray]]) -> FloatArray:
    """Return the sum of all that has changed up to each instant; amounts are in the rows of their changes."""
    total = np.zeros(len(times))
    for change, amount in changes:
        add_changes(times, change.at, change.of(amount), 1.0, total)
    return np.cumsum(total, out=total)


def switched_off(
    schedule: Schedule, power: RunPower, parameters: EnergyParameters, of_nodes: npt.NDArray[np.bool_] | None = None
) -> list[tuple[Changes, FloatArray]]:
    """Return when nodes go off, boot and are on again, and by how many W the power of the machine changes then.

    Without a time-out nothing does. ``of_nodes``: only of these nodes.
    """
    if parameters.off_after is None or power.nodes is None:
        return []
    found = find_off(schedule, parameters)
    if of_nodes is not None:
        found = SwitchedOff._make(each[of_nodes[found.node]] for each in found)
    idle = (machine_of(schedule).cores * power.nodes.idle_core + power.nodes.rest)[found.node]
    off = np.full(len(idle), float(parameters.off_power))
    boot = idle if parameters.boot_power is None else np.full(len(idle), float(parameters.boot_power))
    again = np.isfinite(found.on)
    return [
        (changes_at(found.off), off - idle),
        (changes_at(found.boot[again]), (boot - off)[again]),
        (changes_at(found.on[again]), (idle - boot)[again]),
    ]


def find_off(schedule: Schedule, parameters: EnergyParameters) -> SwitchedOff:
    """Return when nodes are off by the time-out; of a schedule without jobs, and without a window, never."""
    first = float(column_of(schedule.jobs, "submit_time").min(initial=np.inf))
    since = first if parameters.window is None else min(first, float(parameters.window[0]))
    off_after = np.inf if parameters.off_after is None else float(parameters.off_after)
    return find_switched_off(schedule, off_after, float(parameters.boot_time), since)
