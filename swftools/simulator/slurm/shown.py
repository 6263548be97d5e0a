# SPDX-License-Identifier: BSD-3-Clause
"""What runs had under Slurm's rules, as columns of a schedule's segments: nodes, CPUs of each, and who started them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import PolicyError
from swftools.machines.node_table import NodeTable
from swftools.simulator.slurm.placed import columns_of_parts
from swftools.simulator.slurm.state import PAST, SlurmMemory

STARTED_BY = ("", "main", "backfill", "log")


def columns_of_runs(memory: SlurmMemory, job: npt.NDArray[np.int32], table: NodeTable) -> dict[str, Any]:
    """Return the columns of runs, by the job of each; ``started_by``: main, backfill, or, followed, log.

    Raises
    ------
    PolicyError
        Jobs were stopped more often than there is room to keep what they had.
    """
    given, state = memory.given, memory.state
    at, count = given.first_held[job].copy(), state.held_count[job].copy()
    partition, by = state.ran_in[job].copy(), state.by[job].copy()
    held = len(state.held_node)
    stopped = int(state.counts[PAST])
    runs, stops = (np.bincount(each, minlength=len(state.by)) for each in (job, state.past_job[:stopped]))
    if (runs - 1 > stops).any():
        raise PolicyError(
            f"policy 'slurm': what jobs had when they were stopped is kept {stopped:,} times, and there were more "
            "stops; simulate fewer jobs at once, or longer grace and exempt times (preempt_exempt_time)"
        )
    run = np.flatnonzero(_is_stopped(job, state.past_job[:stopped]))
    if len(run):  # what runs had that were stopped, in their order, which is that of the log of each job
        past = np.argsort(state.past_job[:stopped], kind="stable")
        past = past[np.isin(state.past_job[past], job[run])]
        run = run[np.argsort(job[run], kind="stable")]
        at[run], count[run] = held + state.past_first[past], state.past_count[past]
        partition[run], by[run] = state.past_in[past], state.past_by[past]
    first = np.concatenate(([0], np.cumsum(count)))
    place = np.repeat(at - first[:-1], count) + np.arange(first[-1])
    of_part = np.repeat(job, count)
    node = np.concatenate([state.held_node, state.past_node])[place]
    cores = np.concatenate([state.held_cores, state.past_cores])[place]
    gpus = np.concatenate([state.held_gpus, state.past_gpus])[place]
    memory_held = given.memory_per_cpu[of_part] * cores + given.memory_per_node[of_part]
    alone = (given.is_exclusive[job] != 0) | (given.partition_alone[partition] != 0)
    columns = columns_of_parts(first, node, cores, memory_held, gpus, table, partition, alone)
    names = np.array(STARTED_BY, object)[by]
    in_all = np.add.reduceat(cores, first[:-1]) if len(job) else np.zeros(0, np.int64)
    return {**columns, "started_by": pd.array(names, dtype="str"), "allocated_processors": in_all}


def _is_stopped(job: npt.NDArray[np.int32], past_job: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which runs were stopped: of each job as many of its first runs as it was stopped."""
    found = np.zeros(len(job), np.bool_)
    if len(past_job):
        times = np.bincount(past_job, minlength=int(job.max(initial=0)) + 1)
        order = np.argsort(job, kind="stable")
        of_job = job[order]
        is_first = np.append(True, of_job[1:] != of_job[:-1])
        begin = np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))
        found[order] = np.arange(len(order)) - begin < times[of_job]
    return found
