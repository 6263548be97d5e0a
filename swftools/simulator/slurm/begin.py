# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation under Slurm's rules is set up with: its nodes, and what jobs ask of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.machines.outages import who_may
from swftools.parameters import Parameters
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.engine.replay import Coming
from swftools.simulator.registry import Policy
from swftools.simulator.slurm.alone import as_simulated
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.requests import slurm_jobs_of
from swftools.simulator.slurm.setting import Logged, Setting
from swftools.simulator.workload import limits_of
from swftools.trace import Trace


@dataclass(frozen=True)
class RealRun:
    """A run that is followed: when and where each job of a trace ran.

    Parameters
    ----------
    logged : Logged
        Starts and nodes, by row of the trace.
    eligible_time : numpy.ndarray of float64, shape (rows,)
        From when on each job could start, s.
    leaves : numpy.ndarray of float64, shape (rows,)
        When a job that never started was cancelled, s; NaN of all others.
    jobs : SlurmJobs, optional
        What jobs ask, where that is read already; else it is read of the trace.
    """

    logged: Logged
    eligible_time: FloatArray
    leaves: FloatArray
    jobs: SlurmJobs | None = None


@dataclass(frozen=True)
class OfSlurm:
    """Nodes, what jobs ask of them, and what is followed, if a log is."""

    table: NodeTable
    jobs: SlurmJobs
    logged: Logged | None = None
    leaves: FloatArray | None = None
    may: npt.NDArray[np.bool_] | None = None

    def setting(self, coming: Coming, trace: Trace) -> Setting:
        """Return the setting of the jobs to come.

        Their limits are those of the run: as requested, however long they run, or as its options have them.
        """
        row = np.asarray(coming.row, np.int64)
        limit = np.array(coming.limit[: len(row)], np.float64)
        submitted = np.asarray(trace.views.submit_time[row])
        origin = float(trace.header.unix_start_time or 0)
        return Setting(self.table, self.jobs, row, submitted, limit, self.logged, self.leaves, self.may, origin)


def asked_of_slurm(
    rule: Policy,
    trace: Trace,
    table: NodeTable | None,
    run: RunOptions,
    *,
    parameters: Parameters,
    compiled: bool,
    follows: RealRun | None = None,
) -> tuple[Asked, OfSlurm]:
    """Return what jobs ask in CPUs, as the event loop takes it, and all else that the rules take.

    Jobs that can never start have the reason. Where a real run is followed jobs are eligible when they were there, and
    those that started could.

    Parameters
    ----------
    rule, parameters : Policy and Parameters
        The policy.
    trace, table, run, follows
        As ``begin`` of a simulation has them.
    compiled : bool
        Whether the rules are.

    Raises
    ------
    ParameterError
        There are no nodes.
    """
    if table is None:
        raise ParameterError(
            f"policy {rule.name!r} needs a machine of nodes: give machine= (--machine), which swftools machine makes "
            "of slurm.conf"
        )
    if follows is not None and follows.jobs is not None:
        jobs = follows.jobs
    else:
        jobs = slurm_jobs_of(trace, table, cancelled=np.isnan(limits_of(trace, run)))
    if follows is None:
        jobs = as_simulated(trace, jobs, table, run, parameters=parameters.to_mapping(), compiled=compiled)
    ones = np.ones(len(jobs.cpus), np.int64)
    asked = Asked(
        nodes=ones,
        cores=jobs.cpus if follows is None else ones,  # nodes count there, not the event loop's pool
        memory=0 * ones,
        gpus=0 * ones,
        is_exclusive=jobs.is_exclusive,
        place=0 * ones,
        places=(),
        code=jobs.code.astype(np.int64),
        reasons=jobs.reasons,
        ready_time=jobs.ready_time if follows is None else follows.eligible_time,
        assumed=jobs.assumed,
    )
    may = None
    if len(table.outages.holders):
        group, of_group, _ = who_may(trace, table.outages)
        may = of_group[group]
    if follows is None:
        return asked, OfSlurm(table, jobs, may=may)
    return asked, OfSlurm(table, jobs, follows.logged, follows.leaves, may)
