# SPDX-License-Identifier: BSD-3-Clause
"""The GPUs of nodes, each by itself, and the workload by which fragments are told.

A node has as many places for GPUs as the node with most; those that it lacks are marked, and nothing fits there.
"""

from __future__ import annotations

from typing import NamedTuple

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.machines.node_table import GPU

LACKING = -1
"""Stands for a GPU that a node does not have."""

WIDTH, MOST_CPU, MOST_GPU, EXACT, TIES, DRAWN, LENGTH = range(7)
"""Places in ``GpuNodes.counts``: GPUs of the node with most; most CPU, and most of all GPUs, that a node has, in
thousandths; whether scores are compared exactly, not as whole numbers; what becomes of ties; the last random number."""

FIRST, RANDOM, FRAGMENTS = range(3)
"""What ``counts[TIES]`` may be: of equal nodes the first is taken, any, or that with the smallest fragment then."""

ANY_MODEL = -1
"""All bits: whoever asks for no model of GPU may have each."""

_PRIME, _MULTIPLIER = (1 << 31) - 1, 48271


class GpuNodes(NamedTuple):
    """The GPUs of the nodes of a machine.

    ``free`` has thousandths of each GPU, those of a node side by side. ``kinds`` counts by node who runs there: jobs
    with a part of a GPU, with one, with two and so on. ``model`` has by node, in a bit, which model its GPUs are. A
    class of the typical workload is a ``share`` of all jobs, that asks for ``cpu`` thousandths, ``number`` GPUs,
    ``milli`` thousandths of each, and ``models`` in bits.
    """

    free: IntArray
    kinds: IntArray
    counts: IntArray
    model: IntArray
    share: FloatArray
    cpu: IntArray
    number: IntArray
    milli: IntArray
    models: IntArray


@kernel(allocates=False)
def is_sharing(number: int, milli: int) -> bool:
    """Whether a job asks for a part of one GPU."""
    return number == 1 and milli < GPU


@kernel(allocates=False)
def kind_of(number: int, milli: int) -> int:
    """Return where jobs are counted that ask for so much: 0 for a part of a GPU, else how many."""
    return 0 if is_sharing(number, milli) else number


@kernel(allocates=False)
def free_in(gpus: GpuNodes, free: IntArray, node: int) -> int:
    """Return how much of all GPUs of a node is free, in thousandths."""
    width, left = gpus.counts[WIDTH], 0
    for gpu in range(node * width, node * width + width):
        left += max(free[gpu], 0)
    return left


@kernel(allocates=False)
def fits_gpus(gpus: GpuNodes, free: IntArray, node: int, number: int, milli: int) -> bool:
    """Whether so many GPUs of a node have so much free."""
    width, found = gpus.counts[WIDTH], 0
    for gpu in range(node * width, node * width + width):
        found += free[gpu] >= milli
    return number == 0 or found >= number


@kernel(allocates=False)
def hold_gpus(gpus: GpuNodes, free: IntArray, node: int, number: int, milli: int, chosen: int) -> int:
    """Take GPUs of a node: the chosen one of who shares it, else the first that fit; return them in bits."""
    width, bits, rest = gpus.counts[WIDTH], 0, number
    for gpu in range(width):
        is_taken = gpu == chosen if chosen >= 0 else free[node * width + gpu] >= milli
        if rest > 0 and is_taken:
            free[node * width + gpu] -= milli
            bits |= 1 << gpu
            rest -= 1
    return bits


@kernel(allocates=False)
def give_back_gpus(gpus: GpuNodes, free: IntArray, node: int, milli: int, bits: int) -> None:
    """Give back GPUs of a node, which are told in bits."""
    width = gpus.counts[WIDTH]
    for gpu in range(width):
        if (bits >> gpu) & 1 != 0:
            free[node * width + gpu] += milli


@kernel(allocates=False)
def draw_below(gpus: GpuNodes, limit: int) -> int:
    """Return a random number below a limit: the generator of Park and Miller (1988), with the multiplier of 1993."""
    drawn = gpus.counts[DRAWN] * _MULTIPLIER % _PRIME
    gpus.counts[DRAWN] = drawn
    return drawn * limit // _PRIME
