# SPDX-License-Identifier: BSD-3-Clause
"""What is free on a node, and what a job asks of one, in a word: so that one subtraction tells whether all suffices.

A word has memory (MB), cores, GPUs (thousandths) and whether nothing runs there, each below a bit that guards it. The
difference of two words keeps the guard of each field in which the first has no less than the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.kernel import BoolArray, IntArray, kernel
from swftools.machines.amounts import MOST_MEMORY

MEMORY_BITS, CORE_BITS, GPU_BITS = MOST_MEMORY.bit_length(), 14, 16
CORE = MEMORY_BITS + 1
_GPU = CORE + CORE_BITS + 1
_WHOLE = _GPU + GPU_BITS + 1

GUARD = 1 << MEMORY_BITS | 1 << (CORE + CORE_BITS) | 1 << (_GPU + GPU_BITS) | 1 << (_WHOLE + 1)
WHOLE = 1 << _WHOLE
"""Nothing runs on the node; or a job asks for that."""

AMOUNTS = WHOLE // 2 - 1
"""The bits of a word that are amounts: by GPUs, then cores, then memory; two more are left above them in a key."""

MOST_CORES, MOST_GPUS = (1 << CORE_BITS) - 1, (1 << GPU_BITS) - 1
"""The most of each that a word can have, beside ``MOST_MEMORY``: cores, thousandths of a GPU."""

BLOCK = 64
"""Nodes that are looked at together, by instructions that take several at once."""

HALF = 62
"""Bits of a word with a sign that tell something of as many partitions or places; two words tell of twice as many."""


def words_of(cores: Any, memory: Any, gpus: Any, is_whole: Any) -> IntArray:
    """Return words of amounts, which must not be more than the most that a word can have."""
    words: IntArray = np.asarray(memory, np.int64) | np.asarray(cores, np.int64) << CORE
    return words | np.asarray(gpus, np.int64) << _GPU | np.where(is_whole, WHOLE, 0)


def amounts_of(words: IntArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Return what ``words_of`` made words of: cores, memory, GPUs, and whether whole nodes."""
    memory, cores, gpus = words & MOST_MEMORY, (words >> CORE) & MOST_CORES, (words >> _GPU) & MOST_GPUS
    return cores, memory, gpus, words & WHOLE != 0


@kernel(allocates=False)
def suffices(free: int, need: int) -> bool:
    """Whether what is free is enough of everything."""
    return ((free | GUARD) - need) & GUARD == GUARD


@kernel(allocates=False)
def cores_in(word: int) -> int:
    """Return the cores of a word."""
    return (word >> CORE) & MOST_CORES


@kernel(allocates=False)
def memory_in(word: int) -> int:
    """Return the memory of a word, MB."""
    return word & MOST_MEMORY


@kernel(allocates=False)
def gpus_in(word: int) -> int:
    """Return the GPUs of a word, in thousandths."""
    return (word >> _GPU) & MOST_GPUS


@kernel(allocates=False)
def without_gpus(word: int) -> int:
    """Return the cores and the memory of a word."""
    return word & ((1 << _GPU) - 1)


@kernel(allocates=False)
def without(free: int, need: int) -> int:
    """Return what is left free of a node when a job begins there; one that asks for a whole node leaves nothing."""
    if need & WHOLE:
        return 0
    return free - need - (free & WHOLE)


@kernel(allocates=False)
def at_most_without(free: int, need: int) -> int:
    """Return what is left free when a job begins on a node; nothing where that is too little for it.

    A reservation of no length is there at its one instant, beside others that count it as over.
    """
    return without(free, need) if suffices(free, need) else 0


@kernel(allocates=False)
def bits_of(number: int) -> tuple[int, int]:
    """Return two words in which the bit of a number is set."""
    one: Any = np.int64(1)  # interpreted, a 1 would be as short as the number
    if number < HALF:
        return one << number, 0
    return 0, one << (number - HALF)


@kernel(allocates=False)
def has_bit(low: int, high: int, number: int) -> bool:
    """Whether the bit of a number is set in two words."""
    if number < HALF:
        return (low >> number) & 1 != 0
    return (high >> (number - HALF)) & 1 != 0
