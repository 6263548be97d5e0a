# SPDX-License-Identifier: BSD-3-Clause
"""Power of the machine over time: an exact step function, from the runs of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.parameters import Parameters, is_number, number, truth
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.step_functions import add_changes, changes_at, instants_of
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
        If a job has a ``mean_power``, use it, divided by its logged width, as the power of each of its processors.
    idle_power : float
        Power of a processor that runs no job, W; 0: only jobs count.
    static_power : float
        Power of everything else that is always on, W: network, storage, cooling.
    percentiles : sequence of float
        Percentiles of the power over time, from 0 to 100.
    window : (float, float), optional
        Begin and end of the time that counts, s; by default the first submission and the last end.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        points, window = self.percentiles, self.window
        sound = isinstance(points, Sequence) and all(is_number(point, 0, 100) for point in points)
        self._require("percentiles", sound and len(set(points)) == len(points), "different numbers from 0 to 100")
        sound = window is None or (
            isinstance(window, Sequence) and len(window) == 2 and all(map(is_number, window)) and window[0] < window[1]
        )
        self._require("window", sound, "(begin, end) in seconds, the end behind the beginning")


class JobPower(NamedTuple):
    """Power of each of a job's processors, W, by the jobs of a schedule; and of which it is assumed."""

    watts: FloatArray
    is_assumed: npt.NDArray[np.bool_]


def power_of_jobs(jobs: pd.DataFrame, parameters: EnergyParameters) -> JobPower:
    """Return the power of each processor of each job.

    Raises
    ------
    ParameterError
        Jobs have no logged power, and ``busy_power`` is not given.
    """
    watts = np.full(len(jobs), np.nan)
    if parameters.logged and "mean_power" in jobs:
        width = column_of(jobs, "width" if "width" in jobs else "allocated_processors")
        np.divide(column_of(jobs, "mean_power"), width, out=watts, where=width > 0)
    is_assumed = np.isnan(watts)
    if is_assumed.any():
        if parameters.busy_power is None:
            raise ParameterError(
                f"{int(is_assumed.sum()):,} of {len(jobs):,} jobs have no mean_power in the log; give the power "
                "of a busy processor by busy_power= (W)"
            )
        watts[is_assumed] = parameters.busy_power
    return JobPower(watts, is_assumed)


def power_over_time(schedule: Schedule, parameters: EnergyParameters | None = None, **changes: Any) -> pd.DataFrame:
    """Return the power of the machine from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        A schedule; its jobs may have the log's column ``mean_power``.
    parameters : EnergyParameters, optional
        Defaults if not given.
    **changes
        Single parameters by name: ``busy_power=200``.

    Returns
    -------
    pandas.DataFrame
        One row for each instant at which a run starts or ends or a job is submitted, with rising times; values hold to
        the next one's, and of the last row for ever.

        * time: s.
        * job_power: W of all busy processors, also during overhead and for work that is lost later.
        * idle_power: W of all idle processors.
        * power: W of both and of everything that is always on.

    Raises
    ------
    ParameterError
        Jobs have no power, or a parameter is outside its domain.

    Notes
    -----
    A job takes its mean power from its start to its end. On another width than the logged one, its power is
    proportional to its processors.
    """
    chosen = chosen_parameters(parameters, changes)
    return steps_of(schedule, power_of_jobs(schedule.jobs, chosen), chosen)


def chosen_parameters(parameters: EnergyParameters | None, changes: dict[str, Any]) -> EnergyParameters:
    """Return parameters with some of them changed."""
    given = parameters or EnergyParameters()
    if not changes:
        return given
    return EnergyParameters.from_mapping({name: getattr(given, name) for name in given.names()} | changes)


def steps_of(schedule: Schedule, power: JobPower, parameters: EnergyParameters) -> pd.DataFrame:
    """Return what ``power_over_time`` returns, of jobs whose power is known."""
    runs = schedule.segments
    width = column_of(runs, "allocated_processors")
    watts = power.watts[rows_of(runs, schedule.jobs)] * width
    starts, ends = (changes_at(column_of(runs, name)) for name in ("start_time", "end_time"))
    submits = changes_at(column_of(schedule.jobs, "submit_time"))
    times = instants_of(submits.at, starts.at, ends.at)

    def running(amount: FloatArray) -> FloatArray:
        total = np.zeros(len(times))
        add_changes(times, starts.at, starts.of(amount), 1.0, total)
        add_changes(times, ends.at, ends.of(amount), -1.0, total)
        return np.cumsum(total, out=total)

    busy = running(width)
    # Sums of powers that are no whole numbers end a rounding error from 0.
    of_jobs = np.where(busy > 0, np.maximum(running(watts), 0.0), 0.0)
    idle = (schedule.processors - busy) * parameters.idle_power
    columns = {"time": times, "job_power": of_jobs, "idle_power": idle}
    return pd.DataFrame({**columns, "power": of_jobs + idle + parameters.static_power})
