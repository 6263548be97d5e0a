# SPDX-License-Identifier: BSD-3-Clause
"""Tables of kinds of nodes, of the whole machine and of each partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from swftools.kernel import IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.numbering import kind_name
from swftools.machines.parts import UNTYPED, NodeKind


def kinds_frame(kinds: Sequence[NodeKind], of_node: IntArray) -> pd.DataFrame:
    """Return a row for each kind of nodes, as ``MachineDescription.kinds``; ``of_node`` is the kind of each node."""
    return pd.DataFrame(
        {
            "kind": [kind_name(kind) for kind in kinds],
            "nodes": np.bincount(of_node, minlength=len(kinds)),
            "cores": [kind.cores for kind in kinds],
            "memory": pd.array([kind.memory for kind in kinds], dtype="Int64"),
            "gpus": [sum(kind.gpus.values()) for kind in kinds],
            "gpu_types": [",".join(each for each in kind.gpus if each != UNTYPED) for kind in kinds],
            "features": [",".join(kind.features) for kind in kinds],
            "weight": [kind.weight for kind in kinds],
        }
    )


def partitions_frame(kinds: Sequence[NodeKind], table: NodeTable) -> pd.DataFrame:
    """Return a row for each kind of nodes of each partition, as ``MachineDescription.by_partition``."""
    rows = []
    for part in table.partitions:
        count = np.bincount(table.kind[part.nodes], minlength=len(kinds))
        rows += [
            {
                "partition": part.name,
                "kind": kind_name(kind),
                "nodes": nodes,
                "cores": nodes * kind.cores,
                "memory": None if kind.memory is None else nodes * kind.memory,
                "gpus": nodes * sum(kind.gpus.values()),
            }
            for kind, nodes in zip(kinds, count.tolist(), strict=True)
            if nodes
        ]
    return pd.DataFrame(rows).astype({"memory": "Int64"})
