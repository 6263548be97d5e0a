# SPDX-License-Identifier: BSD-3-Clause
"""On how many nodes of a set jobs can run, and what of each: many requests at once.

Nodes of a set that are alike count together, so that the time does not depend on how many there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes

FITS, TOO_LONG, FEW_NODES, MANY_NODES, CORES, MANY_CORES, MEMORY, MEMORY_OF_CORE, GPUS, TOGETHER, NODES = range(11)
REASONS = {
    TOO_LONG: "requests more time than its partition allows",
    FEW_NODES: "asks for fewer nodes than its partition allows",
    MANY_NODES: "asks for more nodes than its partition allows",
    CORES: "asks for more cores on a node than any node of its partition has",
    MANY_CORES: "asks for more cores on a node than its partition allows",
    MEMORY: "asks for more memory on a node than any node of its partition has",
    MEMORY_OF_CORE: "asks for more memory a core than its partition allows",
    GPUS: "asks for more GPUs on a node than any node of its partition has",
    TOGETHER: "asks for more cores, memory and GPUs than any node of its partition has together",
    NODES: "asks for more nodes than its partition has that are large enough",
}
"""Why a job cannot run on nodes of a set."""

_AT_ONCE = 1 << 21
"""Requests times sizes of nodes that are looked at together."""
_NEVER = 1 << 60
_SMALL = 1e-6
"""What of an MB, or a thousandth of a GPU, is left by dividing and multiplying again."""


class Requests(NamedTuple):
    """Requests, a row each.

    Parameters
    ----------
    nodes : numpy.ndarray of int64
        How many; where cores are told for all nodes together, at least so many.
    cores : numpy.ndarray of int64
        Of each node; 0 where they are told for all nodes together.
    all_cores : numpy.ndarray of int64
        Of all nodes together, where ``cores`` is 0.
    memory : numpy.ndarray of int64
        MB of each node; -1 where that follows from the cores of each.
    memory_per_core : numpy.ndarray of float64
        MB, where ``memory`` is -1; NaN where it is not told, and the default of the partition counts.
    gpus : numpy.ndarray of int64
        Thousandths of each node; -1 where they are told for all nodes together.
    all_gpus : numpy.ndarray of int64
        Thousandths of all nodes together, where ``gpus`` is -1.
    requested_time : numpy.ndarray of float64
        s; NaN where it is not told.
    given_cores : numpy.ndarray of int64
        What the job was given of all nodes together, where ``counts_threads``; 0 where it is not told.
    counts_threads : numpy.ndarray of bool
        Whether cores are threads, of which a core of the nodes may have several.
    """

    nodes: IntArray
    cores: IntArray
    all_cores: IntArray
    memory: IntArray
    memory_per_core: FloatArray
    gpus: IntArray
    all_gpus: IntArray
    requested_time: FloatArray
    given_cores: IntArray
    counts_threads: BoolArray

    def take(self, rows: IntArray | BoolArray) -> Requests:
        """Return some of the requests."""
        taken: list[Any] = [column[rows] for column in self]
        return Requests(*taken)

    def in_cores(self, threads: int) -> Requests:
        """Return requests of so many threads a core as those of cores, rounded up; their memory stays as much.

        Slurm gives whole cores, also to jobs that use one thread of each: what it gave beyond the request counts, as
        far as that explains it.
        """
        if threads == 1 or not self.counts_threads.any():
            return self
        is_fixed = self.cores > 0
        told = np.where(is_fixed, self.cores, self.all_cores)
        is_given = ~is_fixed & (self.given_cores > told) & (self.given_cores <= threads * told)
        found = -(-np.where(is_given, self.given_cores, told) // threads)
        found = np.where(self.counts_threads, found, told)
        return self._replace(
            cores=np.where(is_fixed, found, 0),
            all_cores=np.where(is_fixed, self.all_cores, found),
            memory_per_core=self.memory_per_core * told / np.maximum(found, 1),
        )


class Shares(NamedTuple):
    """On how many nodes each runs, and what it takes of each; and how many threads were taken for a core of it."""

    nodes: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    threads: IntArray


class NodeSet:
    """The nodes of a set, those that are alike together.

    Parameters
    ----------
    table : NodeTable
        The machine.
    nodes : numpy.ndarray of int64
        Numbers of nodes, at least one.
    partition : PartitionNodes
        Its limits count.
    """

    def __init__(self, table: NodeTable, nodes: IntArray, partition: PartitionNodes) -> None:
        sizes = np.stack([table.cores[nodes], table.memory[nodes], table.gpus[nodes]])
        self._sizes, self._count = np.unique(sizes, axis=1, return_counts=True)
        self._threads = np.unique(table.threads_by_node[nodes]).tolist()
        self._partition = partition

    def judge(self, asked: Requests) -> tuple[Shares, IntArray]:
        """Return what each request takes, and whether that fits: ``FITS``, or why it does not.

        Where cores are told for all nodes together, a job gets as few nodes as hold them, its cores, memory and GPUs
        spread evenly and rounded up. Threads become cores by the fewest of a core of the nodes with which it fits.
        """
        shares, why = self._judge(asked, self._threads[0])
        for threads in self._threads[1:]:
            rows = np.flatnonzero(asked.counts_threads & (why != FITS))
            others, its = self._judge(asked.take(rows), threads)
            fits = its == FITS
            why[rows[fits]] = FITS
            for mine, found in zip(shares, others, strict=True):
                mine[rows[fits]] = found[fits]
        return shares, why

    def _judge(self, asked: Requests, threads: int) -> tuple[Shares, IntArray]:
        """Return what ``judge`` does, with so many threads a core."""
        asked = asked.in_cores(threads)
        limits = self._partition
        asked = asked._replace(
            memory_per_core=np.where(
                np.isnan(asked.memory_per_core), float(limits.default_memory_per_core), asked.memory_per_core
            )
        )
        is_spread = asked.cores == 0
        nodes = np.where(is_spread, np.maximum(asked.nodes, limits.min_nodes), asked.nodes)
        spread = np.flatnonzero(is_spread)
        step = max(_AT_ONCE // len(self._count), 1)
        for begin in range(0, len(spread), step):
            rows = spread[begin : begin + step]
            nodes[rows] = self._fewest(asked.take(rows), nodes[rows])
        shares = shares_of(asked, nodes)._replace(threads=np.where(asked.counts_threads, threads, 1))
        why = self._why(shares)
        why = np.where((why == FITS) & _exceeds(shares.nodes, limits.max_nodes), MANY_NODES, why)
        why = np.where((why == FITS) & (shares.nodes < limits.min_nodes), FEW_NODES, why)
        why = np.where((why == FITS) & _exceeds(shares.cores, limits.max_cores), MANY_CORES, why)
        most = limits.max_memory_per_core * shares.cores
        why = np.where((why == FITS) & (limits.max_memory_per_core > 0) & (shares.memory > most), MEMORY_OF_CORE, why)
        return shares, np.where(asked.requested_time > limits.max_time, TOO_LONG, why)

    def holds(self, shares: Shares, requested_time: FloatArray) -> BoolArray:
        """Return whether nodes of the set hold what was settled on those of another, within its limits."""
        asked = Requests(
            shares.nodes,
            shares.cores,
            np.zeros_like(shares.cores),
            shares.memory,
            np.zeros(len(shares.nodes)),
            shares.gpus,
            np.zeros_like(shares.gpus),
            requested_time,
            np.zeros_like(shares.cores),
            np.zeros(len(shares.nodes), bool),
        )
        return np.asarray(self.judge(asked)[1] == FITS)

    def _fitting(self, shares: Shares) -> IntArray:
        """Return how many nodes are large enough for each request."""
        fitting = np.zeros(len(shares.nodes), np.int64)
        for (cores, memory, gpus), count in zip(self._sizes.T.tolist(), self._count.tolist(), strict=True):
            fitting += count * ((shares.cores <= cores) & (shares.memory <= memory) & (shares.gpus <= gpus))
        return fitting

    def _why(self, shares: Shares) -> IntArray:
        """Return whether as many nodes as asked for are large enough, and what they lack where not."""
        fitting = self._fitting(shares)
        cores, memory, gpus = self._sizes.max(axis=1)
        lacks = np.select(
            [shares.cores > cores, shares.memory > memory, shares.gpus > gpus, fitting == 0],
            [CORES, MEMORY, GPUS, TOGETHER],
            NODES,
        )
        return np.where(fitting >= shares.nodes, FITS, lacks)

    def _fewest(self, asked: Requests, least: IntArray) -> IntArray:
        """Return on how few nodes each request fits, at least ``least``; that of all nodes where it never does.

        The fewest nodes are always as many as one of the sizes of nodes needs: of the nodes that hold their share at
        the fewest, none needs more, and the one that needs most needs no fewer.
        """
        needed = np.stack([self._needed(asked, *size) for size in self._sizes.T.tolist()])
        needed = np.maximum(needed, least)
        all_nodes = int(self._count.sum())
        found = np.maximum(np.minimum(asked.all_cores, all_nodes), least)  # where it never fits
        open_rows = np.arange(len(least))
        tried = np.zeros(len(least), np.int64)
        while len(open_rows):
            ahead = np.where(needed[:, open_rows] > tried[open_rows], needed[:, open_rows], _NEVER).min(axis=0)
            open_rows, ahead = open_rows[ahead <= all_nodes], ahead[ahead <= all_nodes]
            tried[open_rows] = ahead
            fits = self._fitting(shares_of(asked.take(open_rows), ahead)) >= ahead
            found[open_rows[fits]] = ahead[fits]
            open_rows = open_rows[~fits]
        return found

    def _needed(self, asked: Requests, cores: int, memory: int, gpus: int) -> IntArray:
        """Return how many nodes of a size hold each request."""
        most_cores = np.full(len(asked.nodes), float(min(cores, self._partition.max_cores or cores)))
        of_cores = (asked.memory < 0) & (asked.memory_per_core > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            held = np.floor((memory + _SMALL) / asked.memory_per_core)
            most_cores = np.where(of_cores, np.minimum(most_cores, held), most_cores)
            needed = np.where(most_cores > 0, np.ceil(asked.all_cores / most_cores), np.inf)
            wanted = (asked.gpus < 0) & (asked.all_gpus > 0)
            each = np.where(asked.all_gpus % GPU == 0, gpus // GPU * GPU, gpus)
            of_gpus = np.where(each > 0, np.ceil(asked.all_gpus / each), np.inf)
        needed = np.where(wanted, np.maximum(needed, of_gpus), needed)
        return np.where(needed < _NEVER, needed, _NEVER).astype(np.int64)


def shares_of(asked: Requests, nodes: IntArray) -> Shares:
    """Return what each request takes of each node where it has so many: even shares, rounded up.

    GPUs are shared as whole ones, where they are asked for as whole ones.
    """
    count = np.maximum(nodes, 1)
    cores = np.where(asked.cores > 0, asked.cores, -(-asked.all_cores // count))
    of_cores = np.minimum(np.ceil(np.nan_to_num(asked.memory_per_core) * cores - _SMALL), _NEVER).astype(np.int64)
    memory = np.where(asked.memory >= 0, asked.memory, of_cores)
    is_whole = asked.all_gpus % GPU == 0
    whole = -(-(asked.all_gpus // GPU) // count) * GPU
    gpus = np.where(asked.gpus >= 0, asked.gpus, np.where(is_whole, whole, -(-asked.all_gpus // count)))
    return Shares(nodes, cores, memory, gpus, np.ones_like(nodes))


def _exceeds(values: IntArray, limit: int) -> BoolArray:
    """Return which values are above a limit; none where it is 0."""
    return np.asarray((limit > 0) & (values > limit))
