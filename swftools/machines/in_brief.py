# SPDX-License-Identifier: BSD-3-Clause
"""A machine of nodes in three lines: how much there is, its kinds of nodes, its partitions."""

from __future__ import annotations

import pandas as pd

from swftools.machines.node_table import GPU, NodeTable
from swftools.output.amounts import counted


def in_brief(name: str | None, kinds: pd.DataFrame, table: NodeTable) -> list[str]:
    """Return the lines of a machine; ``kinds`` is its table of kinds of nodes."""
    gpus = f", {counted(int(table.gpus.sum()) // GPU, 'GPU')}" if table.gpus.any() else ""
    nodes = f"{counted(len(table), 'node')} of {counted(len(kinds), 'kind')}"
    by_kind = ", ".join(f"{kind} {count:,}" for kind, count in zip(kinds["kind"], kinds["nodes"], strict=True))
    parts = ", ".join(
        f"{each.name} {len(each.nodes):,}{' (default)' * (each.is_default and len(table.partitions) > 1)}"
        for each in table.partitions
    )
    return [
        f"MachineDescription: {f'{name}, ' if name else ''}{nodes}, {counted(table.processors, 'core')}{gpus}",
        f"nodes: {by_kind}",
        f"partitions: {parts}",
    ]
