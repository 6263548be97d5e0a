# SPDX-License-Identifier: BSD-3-Clause
"""Machines and pods that are drawn, for the engine's kernels and for their naive twin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swftools import Trace
from swftools.machines.node_table import NodeTable, PartitionNodes
from tests.naive.gpu_inflation import Node, Pod

MODELS = ("A", "B")


def table_of(nodes: Sequence[Node]) -> NodeTable:
    """Return nodes, none of which is in use, as a table."""
    size = len(nodes)
    return NodeTable(
        tuple(f"n{number:03d}" for number in range(size)),
        np.array([MODELS.index(node.model) for node in nodes]),
        MODELS,
        np.array([node.cpu // 1000 for node in nodes]),
        np.array([node.memory for node in nodes]),
        np.array([sum(node.gpus) for node in nodes]),
        np.ones(size, np.int64),
        (PartitionNodes("all", np.arange(size)),),
        tuple(frozenset({model}) for model in MODELS),
    )


def trace_of(pods: Sequence[Pod]) -> Trace:
    """Return pods as the jobs of a log."""
    trace = Trace.from_columns(submit_time=list(range(len(pods))), requested_processors=[1] * len(pods))
    return trace.with_jobs(
        trace.jobs.assign(
            requested_cores_per_node=[pod.cpu / 1000 for pod in pods],
            requested_memory_per_node=[float(pod.memory) for pod in pods],
            requested_gpus_per_node=[pod.asked / 1000 for pod in pods],
            gpu_types=[pod.models or None for pod in pods],
        )
    )


def drawn(seed: int, size: int = 4, count: int = 30) -> tuple[list[Node], list[Pod]]:
    """Return a machine and pods, many of which ask for the same."""
    draws = np.random.default_rng(seed)
    nodes = [
        Node(
            int(draws.choice([8, 16, 128])) * 1000,
            64,
            (1000,) * int(draws.choice([1, 2, 4, 8])),
            str(draws.choice(MODELS)),
        )
        for _ in range(size - 1)
    ]
    nodes.append(Node(128_000, 64, (1000,) * 8, "B"))  # the twin's scores are shares of so large a node
    kinds = []
    for _ in range(8):
        gpus = int(draws.choice([0, 1, 1, 1, 2, 4]))
        milli = 0 if gpus == 0 else 1000 if gpus > 1 else int(draws.choice([200, 333, 500, 700, 1000]))
        models = str(draws.choice(["", "", "A", "A|B", "B"])) if gpus else ""
        kinds.append(Pod(int(draws.integers(0, 9)) * 500, int(draws.choice([0, 1, 16])), gpus, milli, models))
    return nodes, [kinds[int(draws.integers(len(kinds)))] for _ in range(count)]
