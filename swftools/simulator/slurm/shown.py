# SPDX-License-Identifier: BSD-3-Clause
"""What runs had under Slurm's rules, as columns of a schedule's segments: nodes, CPUs of each, and who started them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.machines.node_table import NodeTable
from swftools.simulator.slurm.placed import columns_of_parts
from swftools.simulator.slurm.state import SlurmMemory

STARTED_BY = ("", "main", "backfill", "log")


def columns_of_runs(memory: SlurmMemory, job: npt.NDArray[np.int32], table: NodeTable) -> dict[str, Any]:
    """Return the columns of runs, by the job of each; ``started_by`` is ``main``, ``backfill`` or, followed, ``log``."""
    given, state = memory.given, memory.state
    count = state.held_count[job]
    first = np.concatenate(([0], np.cumsum(count)))
    place = np.repeat(given.first_held[job] - first[:-1], count) + np.arange(first[-1])
    of_part = np.repeat(job, count)
    node, cores = state.held_node[place], state.held_cores[place]
    memory_held = given.memory_per_cpu[of_part] * cores + given.memory_per_node[of_part]
    partition = state.ran_in[job]
    alone = (given.is_exclusive[job] != 0) | (given.partition_alone[partition] != 0)
    columns = columns_of_parts(first, node, cores, memory_held, state.held_gpus[place], table, partition, alone)
    names = np.array(STARTED_BY, object)[state.by[job]]
    return {**columns, "started_by": pd.array(names, dtype="str")}
