# SPDX-License-Identifier: BSD-3-Clause
"""A site with its nodes and jobs, and a real run that is followed: what Slurm's rules are set up with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.simulator.slurm.asked import SlurmJobs


@dataclass(frozen=True)
class SampledPriorities:
    """Priorities as they were seen now and then in a real run, in the order of rows of the trace, then of times.

    Parameters
    ----------
    first : numpy.ndarray of int64, shape (rows + 1,)
        What was seen of row i is from ``first[i]`` up to ``first[i + 1]`` in the others.
    time, priority : numpy.ndarray of float64
        When it was seen, s, and the priority.
    partition : numpy.ndarray of int64
        In which partition, as a place in ``NodeTable.partitions``; -1: in each of the job's.
    """

    first: IntArray
    time: FloatArray
    partition: IntArray
    priority: FloatArray


@dataclass(frozen=True)
class Logged:
    """A real run that is followed, by row of the trace.

    Parameters
    ----------
    start : numpy.ndarray of float64, shape (rows,)
        When each job started, s; NaN: it did not.
    first : numpy.ndarray of int64, shape (rows + 1,)
        The nodes of row i are from ``first[i]`` up to ``first[i + 1]`` in ``node`` and ``cores``.
    node, cores : numpy.ndarray of int64
        Numbers of nodes, and CPUs of each; 0 where they are not told: then they are as the rule places them.
    by : numpy.ndarray of int64, shape (rows,)
        Who started it: ``MAIN``, ``BACKFILL``; else it is not told.
    partition : numpy.ndarray of int64, shape (rows,)
        In which it ran, as a place in ``NodeTable.partitions``; -1: it is not told.
    every : float
        The rule is tried every so many seconds. 0: when it is due, and whenever the run started a job.
    priority, eligible : numpy.ndarray of float64, shape (rows,), optional
        Of a queue as it is, which is not followed but goes on by the rules: what priority each job is told to have
        (NaN: none), and since when it could start, s. Who started runs then when the simulation begins.
    first_life : numpy.ndarray of int64, shape (rows,), optional
        Of a job that was requeued the row of its first life; of others their own.
    sampled : SampledPriorities, optional
        Priorities of the run that is followed, in place of those of the rule as long as they held.
    """

    start: FloatArray
    first: IntArray
    node: IntArray
    cores: IntArray
    by: IntArray
    partition: IntArray
    every: float = 0.0
    priority: FloatArray | None = None
    eligible: FloatArray | None = None
    first_life: IntArray | None = None
    sampled: SampledPriorities | None = None

    @property
    def is_followed(self) -> bool:
        """Whether the run is followed, in place of being where the simulation begins."""
        return self.priority is None


@dataclass(frozen=True)
class Setting:
    """A site with its nodes, and the jobs that come to it, by their numbers in a simulation.

    Parameters
    ----------
    table : NodeTable
        The nodes; ``table.slurm`` is the site.
    jobs : SlurmJobs
        What they ask, by row of the trace.
    row : numpy.ndarray of int, shape (jobs,)
        The row of each job that is simulated.
    submit_time, limit : numpy.ndarray of float64, shape (jobs,)
        s.
    logged : Logged, optional
        What is followed.
    leaves : numpy.ndarray of float64, shape (rows,), optional
        When each job of the trace leaves the queue if it has not started, s; NaN: it waits.
    may : numpy.ndarray of bool, shape (rows, holders), optional
        Which reservations jobs may use, by the holders of ``table.outages``.
    origin : float
        Second 0 of the log in seconds since 1970, s; 0 where it is not known.
    """

    table: NodeTable
    jobs: SlurmJobs
    row: Any
    submit_time: FloatArray
    limit: FloatArray
    logged: Logged | None = None
    leaves: FloatArray | None = None
    may: npt.NDArray[np.bool_] | None = None
    origin: float = 0.0
