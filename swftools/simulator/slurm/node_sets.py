# SPDX-License-Identifier: BSD-3-Clause
"""Sets of nodes as bits in words of 62, one set behind the other in an array."""

from __future__ import annotations

from swftools.kernel import IntArray, kernel

BITS = 62
"""Nodes in a word of a set: the sign is not used."""


@kernel(allocates=False)
def has_node(bits: IntArray, at: int, node: int) -> bool:
    """Whether a node is in a set whose words begin at a place."""
    return (bits[at + node // BITS] >> (node % BITS)) & 1 != 0


@kernel(allocates=False)
def put_node(bits: IntArray, at: int, node: int) -> None:
    """Put a node into a set."""
    bits[at + node // BITS] |= 1 << (node % BITS)


@kernel(allocates=False)
def count_nodes(bits: IntArray, at: int, words: int) -> int:
    """Return how many nodes are in a set."""
    count = 0
    for i in range(words):
        count += bits_of(bits[at + i])
    return count


@kernel(allocates=False)
def bits_of(some: int) -> int:
    """Return how many bits of a word are set."""
    some -= (some >> 1) & 0x5555555555555555  # how many of 1 bit, 2, 4 and 8 bits beside each other are in it
    some = (some & 0x3333333333333333) + ((some >> 2) & 0x3333333333333333)
    some = (some + (some >> 4)) & 0x0F0F0F0F0F0F0F0F
    some += some >> 8
    some += some >> 16
    some += some >> 32
    return some & 0x7F


@kernel(allocates=False)
def copy_set(source: IntArray, at: int, target: IntArray, to: int, words: int) -> None:
    """Copy a set."""
    for i in range(words):
        target[to + i] = source[at + i]
