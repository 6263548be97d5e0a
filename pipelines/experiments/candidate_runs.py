# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a schedule to be compared with another one of the same jobs: the waits of its jobs, and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pipelines.experiments.resampling import FloatArray
from swftools.energy import NodePower, measure_energy
from swftools.errors import ParameterError
from swftools.kernel import BoolArray
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.of_jobs import measures_of_jobs
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.schedule import Schedule
from swftools.waits.groups import Groups, groups_of
from swftools.waits.study import NODE_HOURS, PROCESSOR_HOURS
from swftools.waits.widths import first_runs_of

KEYS = ["job_number", "job_occurrence"]

USUAL_GROUPINGS = ("partition", "account", "qos", "processors")
"""By which jobs are grouped where nobody says by what, if the log tells it."""

HOUR = 3600.0


@dataclass(frozen=True)
class Power:
    """The energy of a machine up to the last end, J, and what it takes while it idles, W."""

    energy: float
    idle: float


@dataclass(frozen=True)
class RunFigures:
    """What is kept of a schedule.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Of the jobs that count: ``KEYS``, submit_time (s), wait (s), bounded_slowdown, waited (node-hours, on a pool
        processor-hours).
    groups : mapping of str to Groups
        The groups of these jobs, by grouping; those of which there are several.
    utilization : float
        1 is all of the machine, from the first submission to the last end.
    size : int
        Nodes of the machine; on a pool processors.
    first, last : float
        The first submission and the last end, s.
    left_out : int
        Jobs that were not simulated, as they cannot run there.
    unit : str
        Of ``waited``, and of the time of the machine.
    power : Power, optional
        Where the power of all nodes, or of all jobs, is known.
    """

    jobs: pd.DataFrame
    groups: Mapping[str, Groups]
    utilization: float
    size: int
    first: float
    last: float
    left_out: int
    unit: str
    power: Power | None = field(default=None)

    @property
    def waits(self) -> FloatArray:
        """The waits of its jobs, s."""
        return self.jobs["wait"].to_numpy(np.float64)


def figures_of(
    schedule: Schedule,
    by: Iterable[str] | None = None,
    parameters: MetricParameters | None = None,
    where: BoolArray | None = None,
    powers: Mapping[str, NodePower] | None = None,
) -> RunFigures:
    """Return what is kept of a schedule.

    Parameters
    ----------
    schedule : Schedule
        Of any policy, or that of the log itself.
    by : iterable of str, optional
        The groupings, of ``swftools.waits.groups.GROUPINGS``; by default ``USUAL_GROUPINGS``, as far as they are told.
    parameters : MetricParameters, optional
        Of the bounded slowdown.
    where : ndarray of bool, shape (jobs,), optional
        Which jobs count; by default all.
    powers : mapping of str to NodePower, optional
        The power of nodes by kind, as of ``powers_of``; without it there is no energy.

    Raises
    ------
    ParameterError
        The log tells no job's group of a grouping that is asked for.
    """
    counts = np.ones(len(schedule.jobs), bool) if where is None else where
    start, width = first_runs_of(schedule)
    submit = schedule.jobs["submit_time"].to_numpy(np.float64)
    wait = start - submit
    slowdown = measures_of_jobs(schedule, parameters or MetricParameters())["bounded_slowdown"]()
    jobs = schedule.jobs[KEYS].assign(
        submit_time=submit, wait=wait, bounded_slowdown=slowdown, waited=wait * width / HOUR
    )
    usage = measure(schedule, where=counts).set_index(["measure", "statistic"])["value"]
    last = float(schedule.jobs["end_time"].max()) if len(jobs) else 0.0
    first = float(submit.min()) if len(jobs) else 0.0
    return RunFigures(
        jobs[counts].reset_index(drop=True),
        _groups(schedule, by, counts),
        float(usage["utilization", "time_mean"]),
        schedule.processors if schedule.machine is None else len(schedule.machine),
        first,
        last,
        len(schedule.excluded),
        PROCESSOR_HOURS if schedule.machine is None else NODE_HOURS,
        _power(schedule, powers, first, last) if powers else None,
    )


def _groups(schedule: Schedule, by: Iterable[str] | None, counts: BoolArray) -> dict[str, Groups]:
    """Return the groups of the jobs that count."""
    found = {}
    for name in USUAL_GROUPINGS if by is None else by:
        groups = groups_of(schedule, name)
        if groups is None and by is not None:
            raise ParameterError(f"by={name}: the log tells it of no job; leave it out")
        if groups is not None and len(groups.words) > 1:
            found[name] = Groups(groups.words, groups.of_job[counts])
    return found


def _power(schedule: Schedule, powers: Mapping[str, NodePower], first: float, last: float) -> Power | None:
    """Return the energy up to the last end, and the power while all is idle; None where some power is not known."""
    if not first < last:
        return None
    found = []
    for end in (last, last + HOUR):
        try:
            told = measure_energy(schedule, powers=powers, window=(first, end))
        except ParameterError:
            return None  # the power of some jobs is not known
        found.append(float(told.set_index(["measure", "statistic"])["value"]["energy", "total"]))
    return Power(found[0], (found[1] - found[0]) / HOUR)
