# SPDX-License-Identifier: BSD-3-Clause
"""Tuples as compiled code sees them in memory, so that Python hands a kernel no more than where they lie.

numba takes a tuple of arrays apart at each call from Python: of the simulator's machine that took .2 ms, nothing for a
run that takes seconds, and most of the time of a step to the next decision. What is laid out here once serves until
an array is replaced by another. Nothing is counted: whoever lays out keeps what is laid out.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from swftools.errors import KernelError

_CALLS = ("next_uint64", "next_uint32", "next_double")

_WORD = 8

_ARRAY = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
_GENERATOR = ("bit_generator", "meminfo", "parent")
_BITS = (
    "parent",
    "state_address",
    "state",
    "fnptr_next_uint64",
    "fnptr_next_uint32",
    "fnptr_next_double",
    "bit_generator",
)


class Layout:
    """A tuple laid out in memory, of integers, contiguous arrays, Generators, and of such tuples.

    Parameters
    ----------
    value : tuple
        It is kept as long as this is.
    like : tuple
        Of the same kind: what compiled code was compiled for.

    Raises
    ------
    TypeError
        An array has another type or number of dimensions than that of ``like``, or is not contiguous; a value is
        something else.
    KernelError
        numba is of a version that lays out its tuples otherwise.
    """

    def __init__(self, value: Any, like: Any) -> None:
        _check_numba()
        self._value = value
        self._arrays: list[Any] = []
        words: list[int] = []
        self._begins = _add_words(words, value, like)
        # With signs: a stride over a single element, or none, may be negative.
        self._words = np.array(words, np.int64).view(np.uint64)
        self.address = address_of_array(self._words)

    def moved(self, value: Any, blocks: Sequence[tuple[int, int, int]]) -> Layout:
        """Return how another value is laid out, whose arrays lie elsewhere, and are otherwise the same.

        Parameters
        ----------
        value : tuple
            It is kept as long as what is returned is.
        blocks : sequence of (begin, size, by)
            Where the blocks of memory lie in which these arrays do, how many bytes each has, and how many bytes behind
            it the other's lies; arrays outside the blocks are the same ones.
        """
        other = object.__new__(Layout)
        other._value, other._begins, other._arrays = value, self._begins, []
        old = self._words.view(np.int64)
        words = old.copy()
        for begin, size, by in blocks:
            words[(old >= begin) & (old < begin + size)] += by
        other._words = words.view(np.uint64)
        other.address = address_of_array(other._words)
        return other

    def changed(self, value: Any, like: Any) -> Layout:
        """Return how another value is laid out, of which many arrays are the same ones: the others are looked at.

        Parameters
        ----------
        value : tuple
            Of arrays, and of tuples of such; it is kept as long as what is returned is.
        like : tuple
            As of the whole layout.

        Raises
        ------
        TypeError
            As that of the whole layout.
        """
        other = object.__new__(Layout)
        other._value, other._begins, other._arrays = value, self._begins, _arrays_in(value)
        words, end = self._words.view(np.int64).copy(), 0
        for old, new, kind in zip(
            self._arrays or _arrays_in(self._value), other._arrays, _arrays_in(like), strict=True
        ):
            begin, end = end, end + _ARRAY_WORDS + 2 * new.ndim
            if new is not old:
                words[begin:end] = _array_words(new, kind)
        other._words = words.view(np.uint64)
        other.address = address_of_array(other._words)
        return other

    def pattern(self) -> Pattern:
        """Return how values of arrays as long as these are laid out, wherever those lie."""
        return Pattern(self._words, self._begins, self._arrays or _arrays_in(self._value))

    def part(self, place: int) -> int:
        """Return where a part of the tuple lies, by its place."""
        return self.address + _WORD * self._begins[place]


class Pattern:
    """How tuples of one kind are laid out that are alike in all but where their arrays lie.

    Parameters
    ----------
    words : numpy.ndarray of uint64
        One of them as it is laid out.
    begins : list of int
        Where each part begins.
    arrays : list of ndarray
        Its arrays. They are not kept.
    """

    def __init__(self, words: Any, begins: list[int], arrays: list[Any]) -> None:
        self._words, self._begins, self._alike = words.copy(), begins, _traits(arrays)
        sizes = [_ARRAY_WORDS + 2 * array.ndim for array in arrays]
        self._places = np.cumsum([0, *sizes[:-1]]) + _ARRAY.index("data")

    def layout(self, value: Any) -> Layout | None:
        """Return how a tuple of the same kind is laid out, which is kept as long; None if its arrays are others."""
        arrays = _arrays_in(value)
        if _traits(arrays) != self._alike:
            return None
        other = object.__new__(Layout)
        other._value, other._begins, other._arrays = value, self._begins, arrays
        other._words = self._words.copy()
        other._words[self._places] = list(map(_address, arrays))
        other.address = address_of_array(other._words)
        return other


def _traits(arrays: list[Any]) -> list[Any]:
    """Return types, shapes and steps of arrays: by these, compiled code finds their elements."""
    return [[a.dtype for a in arrays], [a.shape for a in arrays], [a.strides for a in arrays]]


def address_of_array(array: Any) -> int:
    """Return where the elements of an array lie."""
    return int(array.__array_interface__["data"][0])


def _address_in_object(array: Any) -> int:
    """Return the same, in a fifth of the time: an array's object begins with its head, and has it behind that."""
    return ctypes.c_uint64.from_address(id(array) + _HEAD).value


def _tells_addresses() -> bool:
    """Whether arrays have it there: of two that differ in it, and in little else."""
    arrays = np.zeros(3), np.zeros(3)[1:]
    whole = object.__basicsize__ == _HEAD
    return whole and all(_address_in_object(array) == address_of_array(array) for array in arrays)


_HEAD = 16
"""Bytes of the head of an object, as CPython has it."""

_address = _address_in_object if _tells_addresses() else address_of_array


@cache
def _check_numba() -> None:
    """Raise KernelError where numba lays out its tuples otherwise than it is done here."""
    from numba.core import types  # noqa: PLC0415 (takes half a second)
    from numba.core.datamodel import registry  # noqa: PLC0415
    from numba.np.random import generator_core  # noqa: F401, PLC0415 (says how it has Generators)

    models: Any = registry.default_manager

    known = {types.Array(types.int64, 1, "C"): _ARRAY, types.npy_rng: _GENERATOR, types.npy_bitgen: _BITS}
    for kind, fields in known.items():
        if models[kind]._fields != fields:
            raise KernelError(
                f"numba {importlib.metadata.version('numba')} has {kind} in memory as {models[kind]._fields}, not as "
                f"{fields}; install another version of numba"
            )


def _add_words(words: list[int], value: Any, like: Any) -> list[int]:
    """Add the words of 8 bytes that a value takes; return where each part of a tuple begins among them."""
    begins: list[int] = []
    if isinstance(value, tuple):
        if type(value) is not type(like) or len(value) != len(like):
            raise TypeError(f"{type(value).__name__} of {len(value)} is not laid out as {type(like).__name__}")
        for part, other in zip(value, like, strict=True):
            begins.append(len(words))
            _add_words(words, part, other)
    elif isinstance(value, np.ndarray):
        words += _array_words(value, like)
    elif isinstance(value, np.random.Generator):
        inner = value.bit_generator.ctypes
        words += (id(value.bit_generator), inner.state_address, inner.state.value)
        words += (ctypes.cast(getattr(inner, name), ctypes.c_void_p).value or 0 for name in _CALLS)
        words += (inner.bit_generator.value, 0, id(value))  # numba has its memory in between, which it counts
    elif isinstance(value, int):
        words.append((value + 2**63) % 2**64 - 2**63)
    else:
        raise TypeError(f"{type(value).__name__} {value!r:.40} cannot be laid out")
    return begins


_ARRAY_WORDS = 5
"""Words of an array, but for its shape and strides."""


def _array_words(value: Any, like: Any) -> tuple[int, ...]:
    """Return the words of an array."""
    if value.dtype != like.dtype or value.ndim != like.ndim or not value.flags.c_contiguous:
        raise TypeError(f"an array of {value.dtype}, {value.ndim} dimensions, is not laid out as {like.dtype}")
    return (0, 0, value.size, value.itemsize, _address(value), *value.shape, *value.strides)


def _arrays_in(value: Any) -> list[Any]:
    """Return the arrays of a tuple, and of tuples in it."""
    found: list[Any] = []
    for part in value:
        found += _arrays_in(part) if isinstance(part, tuple) else (part,)
    return found
