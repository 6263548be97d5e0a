# SPDX-License-Identifier: BSD-3-Clause
"""The workloads of the paper, its machine, and in which order pods come and nodes stand: the authors' and our own.

Reading chosen
    As the authors' program has it (commit 8f3d641735 of hkust-adsl/kubernetes-scheduler-simulator). Pods are sorted by
    name, then shuffled; the nodes are in an order that is drawn too. Ten draws between the two are lost there, which
    the authors' results show and their program does not say.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pipelines.catalog.cards import RESOURCES
from pipelines.catalog.reader import read_catalog
from pipelines.papers.weng2023.go_random import GoRandom
from swftools.kernel import IntArray
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.simulator.nodes.gpus.arrivals import SeededDraws, draw_arrivals
from swftools.simulator.nodes.gpus.workload import asks_of
from swftools.trace import Trace

PREFIX = "openb_pod_list_"

DEFAULT = f"{PREFIX}default"

LOGS = [
    DEFAULT,
    *(f"{PREFIX}gpushare{percent}" for percent in (40, 60, 80, 100)),
    *(f"{PREFIX}multigpu{percent}" for percent in (20, 30, 40, 50)),
    *(f"{PREFIX}gpuspec{percent}" for percent in (10, 20, 25, 33)),
    *(f"{PREFIX}cpu{percent:03d}" for percent in (50, 100, 200, 250)),
]

SEEDS = range(42, 52)
"""Of the authors' ten runs."""

MOST = 1.3
"""Pods come until so much of the GPUs has been asked for."""

_LOST = 10


class Order(NamedTuple):
    """Which pods come one after the other, by rows, and the nodes, by which ties are broken."""

    arrivals: IntArray
    nodes: IntArray


def workload_of(log: str) -> str:
    """Return the short name of a workload."""
    return log.removeprefix(PREFIX)


@cache
def machine() -> NodeTable:
    """Return the nodes with GPUs, sorted by name, all in one partition."""
    described = read_catalog(str(RESOURCES / "data_catalog.yaml")).logs[DEFAULT].machine.described()
    assert described is not None  # noqa: S101 (the card is shipped with this file)
    return described.table()


def in_order(table: NodeTable, nodes: IntArray) -> NodeTable:
    """Return some nodes of a machine, in an order."""
    return NodeTable(
        tuple(table.names[node] for node in nodes),
        table.kind[nodes],
        table.kinds,
        *(table.cores[nodes], table.memory[nodes], table.gpus[nodes], table.weight[nodes]),
        (PartitionNodes("all", np.arange(len(nodes))),),
        table.gpu_types,
        table.features,
    )


def by_name(trace: Trace) -> Trace:
    """Return the pods in the order of their names; other jobs as they are."""
    if "log_id" not in trace.jobs:
        return trace
    return trace.with_jobs(trace.jobs.sort_values("log_id", kind="stable", ignore_index=True))


def authors_order(trace: Trace, table: NodeTable, seed: int) -> Order:
    """Return the order of a run of the authors."""
    draws = GoRandom(seed)
    draws.number()
    arrivals = _arrivals(trace, table, draws)
    for _ in range(_LOST):
        draws.number()
    return Order(arrivals, np.argsort(draws.permutation(len(table))))


def own_order(trace: Trace, table: NodeTable, seed: int) -> Order:
    """Return an order of our own, by numpy's generator."""
    draws = SeededDraws(seed)
    return Order(_arrivals(trace, table, draws), draws.generator.permutation(len(table)))


ORDERS = {"authors": authors_order, "own": own_order}
"""By name."""


def _arrivals(trace: Trace, table: NodeTable, draws: GoRandom | SeededDraws) -> IntArray:
    """Return the pods in the order in which they come."""
    asks, _ = asks_of(trace, [])
    return draw_arrivals(asks.number[asks.which], asks.milli[asks.which], MOST * float(table.gpus.sum()), draws)
