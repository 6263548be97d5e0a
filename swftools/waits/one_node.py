# SPDX-License-Identifier: BSD-3-Clause
"""A schedule on a pool of processors as one on a machine of a single node, which has them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.fields.definition import RANGES
from swftools.machines.amounts import MOST_MEMORY
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.simulator.schedule import Schedule


def on_one_node(schedule: Schedule) -> Schedule:
    """Return a schedule with its processors as the cores of one node; one on nodes as it is."""
    if schedule.machine is not None:
        return schedule
    none = np.zeros(1, np.int64)
    table = NodeTable(
        ("pool",),
        none,
        ("pool",),
        np.array([schedule.processors]),
        np.array([MOST_MEMORY]),
        none,
        np.ones(1, np.int64),
        (PartitionNodes("pool", none),),
    )
    runs = len(schedule.segments)
    ranges = pa.ListArray.from_arrays(
        np.arange(0, 2 * runs + 1, 2, dtype=np.int32), pa.array(np.zeros(2 * runs), pa.int32())
    )
    columns = {
        "nodes": pd.arrays.ArrowExtensionArray(ranges.cast(RANGES)),
        "cores_per_node": schedule.segments["allocated_processors"].array,
        "memory_per_node": np.zeros(runs, np.int64),
        "gpus_per_node": np.zeros(runs),
        "is_exclusive": np.zeros(runs, bool),
        "partition": pd.array(["pool"] * runs, dtype="str"),
    }
    return replace(schedule, segments=schedule.segments.assign(**columns), machine=table)
