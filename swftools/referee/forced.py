# SPDX-License-Identifier: BSD-3-Clause
"""A policy that follows a real run: at each instant its rule is tried in the state that the run had, and undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.parameters.run_option_table import RunOptions
from swftools.referee.followed import Followed
from swftools.simulator.run.driver import Driver
from swftools.simulator.run_setup import begin
from swftools.simulator.slurm.begin import RealRun
from swftools.simulator.slurm.state import ENTRIES, SlurmMemory
from swftools.trace import Trace

POLICY = "slurm"


@dataclass(frozen=True)
class Decisions:
    """What the rule would have done, a row a job of the trace.

    Parameters
    ----------
    was_tried : numpy.ndarray of bool, shape (rows,)
        Whether the job is simulated, and started in the real run.
    time : numpy.ndarray of float64, shape (rows,)
        The first instant, s, at which the rule would have started it for sure; NaN: not by its real start.
    last : numpy.ndarray of float64, shape (rows,)
        The last instant, s, at which it would have, by some order of what happened in that second; NaN: never.
    by : numpy.ndarray of int64, shape (rows,)
        By which scheduler, when it was tried last: ``MAIN`` or ``BACKFILL``; 0 where it never was.
    nodes : list of numpy.ndarray of int64
        On which nodes, when it was tried last.
    priority : numpy.ndarray of float64, shape (rows,)
        Its priority by the rule at its real start; NaN of jobs that did not start.
    """

    was_tried: BoolArray
    time: FloatArray
    last: FloatArray
    by: IntArray
    nodes: list[npt.NDArray[np.int64]]
    priority: FloatArray


class ForcedRun:
    """A run of the policy that follows a real one.

    Parameters
    ----------
    trace, table
        The log, and the machine with how Slurm is configured there.
    followed : Followed
        The run.
    compiled : bool
        Whether kernels are compiled.
    **parameters
        Of the policy, such as ``without``.
    """

    def __init__(
        self, trace: Trace, table: NodeTable, followed: Followed, *, compiled: bool = True, **parameters: Any
    ) -> None:
        begun = begin(
            trace,
            POLICY,
            None,
            RunOptions(cancelled="end-at-once", dependencies="ignore", overrun="run-on"),
            compiled=compiled,
            machine=table,
            parameters=parameters,
            number_of=lambda job: int(trace.views.job_number[self.row[job]]),
            follows=RealRun(followed.logged, followed.eligible_time, followed.leaves),
        )
        self._followed, self._rows, self.excluded = followed, len(trace), begun.workload.excluded
        self.driver: Driver = begun.driver
        self.row = np.asarray(begun.workload.coming.row, np.int64)

    @property
    def memory(self) -> SlurmMemory:
        """What the policy knows."""
        memory: SlurmMemory = self.driver.decider.memory
        return memory

    def run(self, until: float = np.inf) -> ForcedRun:
        """Go on to a time, whose events still happen, or to the end; return itself."""
        self.driver.go_on(until)
        return self

    def standing_before(self, job: int) -> list[int]:
        """Return the jobs that stand before a waiting one, in the queue's order, each once; all, if it is not there."""
        state = self.memory.state
        queue = [int(each) for each in state.entry_job[: state.counts[ENTRIES]] if not state.is_on[each]]
        return list(dict.fromkeys(queue[: queue.index(job)] if job in queue else queue))

    def decisions(self) -> Decisions:
        """Return what the rule would have done."""
        given, state = self.memory
        row, rows = self.row, self._rows
        time, last = np.full(rows, np.nan), np.full(rows, np.nan)
        by, tried = np.zeros(rows, np.int64), np.zeros(rows, bool)
        time[row], last[row], by[row] = (
            array[: len(row)] for array in (state.would_time, state.would_last, state.would_by)
        )
        tried[row] = np.isfinite(self._followed.logged.start[row])
        priority = np.full(rows, np.nan)
        priority[row] = np.where(tried[row], state.ran_priority[: len(row)], np.nan)
        nodes = [np.zeros(0, np.int64)] * rows
        for job, of_job in enumerate(row.tolist()):
            first = given.first_held[job]
            nodes[of_job] = np.sort(state.would_node[first : first + state.would_count[job]])
        return Decisions(tried, time, last, by, nodes, priority)
