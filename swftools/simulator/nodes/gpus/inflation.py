# SPDX-License-Identifier: BSD-3-Clause
"""Inflation: jobs come one after the other and stay, what does not fit is dropped, until the machine is more than full.

The experiment of Weng et al. (USENIX ATC 2023): no times, no queue, nobody leaves. What counts is how much of the GPUs
is allocated when so much has been asked for, and how much of what is free is a fragment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, ShortArray, kernel
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.nodes.gpus.choosing import (
    TIES,
    GpuPlacement,
    find_gpu_placement,
    fragment_then,
    gpu_for,
    score_node,
)
from swftools.simulator.nodes.gpus.fragments import as_compared, fragment_of
from swftools.simulator.nodes.gpus.state import (
    FRAGMENTS,
    RANDOM,
    WIDTH,
    GpuNodes,
    draw_below,
    give_back_gpus,
    hold_gpus,
    kind_of,
)
from swftools.simulator.nodes.gpus.state import TIES as HOW_TIES
from swftools.simulator.nodes.gpus.workload import Asks, Typical, asks_of, gpu_nodes, models_of, typical_of
from swftools.trace import Trace

DROPPED = -1
"""In place of the node of a job that fitted nowhere."""


class Nodes(NamedTuple):
    """What is free of nodes beside GPUs, thousandths of CPU and MB; and what is known of their GPUs.

    ``largest`` has the most that is free of one GPU, ``idle`` how many are free as a whole, ``fragment`` what is a
    fragment. ``version`` counts changes of a node. By class of jobs and node: the ``score``, the ``fragment`` that the
    node would then have, and of which version they are (``known``).
    """

    cpu: IntArray
    memory: IntArray
    largest: IntArray
    idle: IntArray
    fragment: FloatArray
    version: ShortArray
    score: FloatArray
    then: FloatArray
    known: ShortArray


@kernel(allocates=False)
def fits_node(gpus: GpuNodes, nodes: Nodes, asks: Asks, node: int, kind: int) -> bool:
    """Whether a job of a class fits a node."""
    if nodes.cpu[node] < asks.cpu[kind] or nodes.memory[node] < asks.memory[kind]:
        return False
    number = asks.number[kind]
    if number == 0:
        return True
    if gpus.model[node] & asks.models[kind] == 0:
        return False
    return nodes.largest[node] >= asks.milli[kind] if number == 1 else nodes.idle[node] >= number


@kernel(allocates=False)
def look_at_gpus(gpus: GpuNodes, nodes: Nodes, node: int) -> None:
    """Write down what is free of the GPUs of a node, and what of it is a fragment."""
    width, largest, idle = gpus.counts[WIDTH], 0, 0
    for gpu in range(node * width, node * width + width):
        largest = max(largest, gpus.free[gpu])
        idle += gpus.free[gpu] == GPU
    nodes.largest[node], nodes.idle[node] = largest, idle
    nodes.fragment[node] = fragment_of(gpus, gpus.free, node, nodes.cpu[node])


@kernel(allocates=False)
def rate(gpus: GpuNodes, nodes: Nodes, asks: Asks, node: int, kind: int) -> int:
    """Score a node for a class of jobs, unless that is known; return where the score stands."""
    at = kind * len(nodes.cpu) + node
    if nodes.known[at] != nodes.version[node]:
        nodes.known[at] = nodes.version[node]
        cpu, asked = nodes.cpu[node], asks.cpu[kind]
        number, milli = asks.number[kind], asks.milli[kind]
        nodes.score[at] = as_compared(gpus, score_node(gpus, gpus.free, node, cpu, asked, number, milli))
        if gpus.counts[HOW_TIES] == FRAGMENTS:
            nodes.then[at] = fragment_then(gpus, gpus.free, node, cpu, asked, number, milli)
    return at


@kernel(allocates=False)
def best_node(gpus: GpuNodes, nodes: Nodes, asks: Asks, kind: int) -> int:
    """Return the node that a job of a class gets, or DROPPED where it fits nowhere."""
    best, best_at, alike, ties = DROPPED, 0, 0, gpus.counts[HOW_TIES]
    for node in range(len(nodes.cpu)):
        if not fits_node(gpus, nodes, asks, node, kind):
            continue
        at = rate(gpus, nodes, asks, node, kind)
        if best == DROPPED or nodes.score[at] > nodes.score[best_at]:
            best, best_at, alike = node, at, 1
        elif nodes.score[at] == nodes.score[best_at]:
            alike += 1
            if ties == FRAGMENTS and nodes.then[at] < nodes.then[best_at]:
                best, best_at = node, at
    if ties != RANDOM or alike < 2:
        return best
    rest, score = draw_below(gpus, alike), nodes.score[best_at]
    for node in range(best, len(nodes.cpu)):
        if fits_node(gpus, nodes, asks, node, kind) and nodes.score[kind * len(nodes.cpu) + node] == score:
            if rest == 0:
                return node
            rest -= 1
    return best


@kernel(allocates=False)
def take(gpus: GpuNodes, nodes: Nodes, asks: Asks, node: int, kind: int) -> int:
    """Let a job of a class begin on a node that it fits; return the GPUs that it gets, in bits."""
    cpu, asked = nodes.cpu[node], asks.cpu[kind]
    number, milli = asks.number[kind], asks.milli[kind]
    chosen = gpu_for(gpus, gpus.free, node, cpu, asked, number, milli)
    bits = hold_gpus(gpus, gpus.free, node, number, milli, chosen)
    if number > 0:
        gpus.kinds[node * (gpus.counts[WIDTH] + 1) + kind_of(number, milli)] += 1
    nodes.cpu[node] -= asked
    nodes.memory[node] -= asks.memory[kind]
    nodes.version[node] += 1
    look_at_gpus(gpus, nodes, node)
    return bits


@kernel(allocates=False)
def give_back(gpus: GpuNodes, nodes: Nodes, asks: Asks, node: int, kind: int, bits: int) -> None:
    """Let a job of a class end on a node, where it has GPUs."""
    number, milli = asks.number[kind], asks.milli[kind]
    give_back_gpus(gpus, gpus.free, node, milli, bits)
    if number > 0:
        gpus.kinds[node * (gpus.counts[WIDTH] + 1) + kind_of(number, milli)] -= 1
    nodes.cpu[node] += asks.cpu[kind]
    nodes.memory[node] += asks.memory[kind]
    nodes.version[node] += 1
    look_at_gpus(gpus, nodes, node)


@kernel(allocates=False)
def fill(
    gpus: GpuNodes, nodes: Nodes, asks: Asks, order: IntArray, placed: IntArray, held: IntArray, fragments: FloatArray
) -> None:
    """Let jobs come in an order; write down where each goes, the GPUs that it gets in bits, and all fragments then."""
    for node in range(len(nodes.cpu)):
        look_at_gpus(gpus, nodes, node)
    for turn in range(len(order)):
        kind = asks.which[order[turn]]
        node = best_node(gpus, nodes, asks, kind)
        placed[turn], held[turn] = node, 0
        if node != DROPPED:
            held[turn] = take(gpus, nodes, asks, node, kind)
        total = 0.0
        for other in range(len(nodes.cpu)):
            total += nodes.fragment[other]
        fragments[turn] = total


@dataclass(frozen=True)
class Inflation:
    """What became of jobs that came one after the other.

    Parameters
    ----------
    jobs : pandas.DataFrame
        A row a job, in the order in which they came: ``row`` in the trace; ``node``, the place of its node in the
        table, -1 where it was dropped; ``gpus``, the GPUs that it has there, as a list; ``asked`` and ``allocated``,
        all GPUs that were asked for and given by then, and ``fragment``, what is free and a fragment, in GPUs.
    total : float
        GPUs of the machine.
    """

    jobs: pd.DataFrame
    total: float

    def curve(self) -> pd.DataFrame:
        """Return what was allocated, and what was a fragment, by how much had been asked for.

        Returns
        -------
        pandas.DataFrame
            By ``asked``, percent of all GPUs, whole numbers: ``allocated``, percent of all GPUs, with two decimals as
            the authors' logs print them; ``fragment_ratio``, percent of the free GPUs that is a fragment; ``fragment``,
            the same as percent of all GPUs. Each is the mean over the jobs at which so much, rounded half to even, had
            been asked for; where there is none, over those at one percent more and less; else missing.
        """
        asked = (100 * self.jobs["asked"] / self.total).round().astype("int64")
        held = 100 * (1000 * self.jobs["allocated"]).round() / (1000 * self.total)  # of whole thousandths of a GPU
        free = self.total - self.jobs["allocated"]
        values = pd.DataFrame(
            {
                "asked": asked,
                "allocated": [round(each, 2) for each in held.tolist()],  # pandas rounds 45.995, a bit less, up
                "fragment_ratio": 100 * self.jobs["fragment"] / free.where(free > 0),
                "fragment": 100 * self.jobs["fragment"] / self.total,
            }
        )
        found = values.groupby("asked").mean().reindex(range(int(asked.max()) + 1 if len(asked) else 0))
        for percent in found.index[found["allocated"].isna()]:
            found.loc[percent] = values[values["asked"].between(percent - 1, percent + 1)].drop(columns="asked").mean()
        return found.rename_axis("asked")


def inflate(
    trace: Trace,
    machine: NodeTable,
    placement: str | GpuPlacement = "fgd",
    *,
    order: IntArray,
    typical: Typical | None = None,
) -> Inflation:
    """Let jobs come one after the other to a machine of nodes with GPUs; what does not fit is dropped, nobody leaves.

    Parameters
    ----------
    trace : Trace
        The jobs, by what they ask of a node, as ``asks_of`` reads it; each asks for one node, and times do not count.
    machine : NodeTable
        The machine; of equal nodes the first in it is taken, unless the placement breaks ties in another way.
    placement : str or GpuPlacement
        As ``fgd``, or ``fgd:ties=random,exact=true,seed=3``.
    order : numpy.ndarray of int64
        Rows of the trace as they come; ``until_asked`` draws one.
    typical : Typical, optional
        By which fragments are told; that of the trace by default.

    Raises
    ------
    ParameterError
        There is no such placement, the order names a row that is not there, or the machine or a job is not as
        ``gpu_nodes`` and ``asks_of`` take them.
    """
    chosen = find_gpu_placement(placement)
    asks, texts = asks_of(trace, models_of(machine))
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and (order.min() < 0 or order.max() >= len(trace)):
        raise ParameterError(
            f"the order names rows from {order.min()} to {order.max()}; the trace has {len(trace)} rows"
        )
    ties = TIES[chosen.ties or chosen.rule.ties]
    gpus = gpu_nodes(machine, typical or typical_of(asks, texts), exact=chosen.exact, ties=ties, seed=chosen.seed)
    nodes = idle_nodes(machine, len(asks.cpu))
    placed, held, fragments = np.empty(len(order), np.int64), np.empty(len(order), np.int64), np.empty(len(order))
    chosen.rule.made(fill)(gpus, nodes, asks, order, placed, held, fragments)
    each = (asks.number * asks.milli)[asks.which[order]]
    jobs = pd.DataFrame(
        {
            "row": order,
            "node": placed,
            "gpus": [[gpu for gpu in range(bits.bit_length()) if bits >> gpu & 1] for bits in held.tolist()],
            "asked": np.cumsum(each) / GPU,
            "allocated": np.cumsum(np.where(placed != DROPPED, each, 0)) / GPU,
            "fragment": fragments / GPU,
        }
    )
    return Inflation(jobs, int(machine.gpus.sum()) / GPU)


def idle_nodes(machine: NodeTable, classes: int) -> Nodes:
    """Return the nodes of an idle machine, of which nothing is known yet."""
    size = len(machine)
    return Nodes(
        1000 * machine.cores,
        machine.memory.copy(),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size),
        np.ones(size, np.int32),
        np.zeros(classes * size),
        np.zeros(classes * size),
        np.zeros(classes * size, np.int32),
    )
