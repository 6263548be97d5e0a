# SPDX-License-Identifier: BSD-3-Clause
"""Columns of an accounting log as stretches of its text, and what they mean: words, numbers, durations, sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.formats.accounting.kernel import (
    DOUBTFUL,
    StateArray,
    fill_durations,
    fill_numbers,
    fill_sizes,
    gather,
)
from swftools.kernel import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Spans:
    """One value a row.

    Parameters
    ----------
    text : bytes
        The text that they stand in.
    start, end : ndarray of int64, shape (rows,)
        Where each begins and ends, without blanks around it; a start of -1 where there is none.
    """

    text: bytes
    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return len(self.start)

    def rows(self, chosen: npt.NDArray[Any] | slice) -> Spans:
        """Return the values of some rows: by a mask, by their numbers, or by where they begin and end."""
        return Spans(self.text, self.start[chosen], self.end[chosen])

    def or_else(self, other: Spans) -> Spans:
        """Return these values, and where there is none the other's."""
        absent = self.is_absent
        return Spans(self.text, np.where(absent, other.start, self.start), np.where(absent, other.end, self.end))

    @property
    def is_absent(self) -> BoolArray:
        """Whether a row has no value, or an empty one."""
        return (self.start < 0) | (self.start == self.end)


class Read(NamedTuple):
    """Numbers read from spans.

    Parameters
    ----------
    value : ndarray of float64
        NaN where there is none, or one that cannot be read.
    is_bad : ndarray of bool
        Where there is one that cannot be read.
    """

    value: FloatArray
    is_bad: BoolArray


def line_ends(text: bytes, end: int | None = None) -> int:
    """Return how many line ends a text has before a place; several times as fast as ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8)[:end] == ord("\n")))


def texts(spans: Spans) -> pa.LargeStringArray:
    """Return the values as text, null where absent: UTF-8, or Latin-1 as older logs have it, which decodes anything."""
    absent = spans.is_absent
    sizes = np.where(absent, 0, spans.end - spans.start)
    offsets = np.zeros(len(spans) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    letters = np.empty(offsets[-1], np.uint8)
    gather(spans.text, spans.start, offsets, letters)
    validity = pa.array(~absent).buffers()[1]
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(letters)]
    values = pa.Array.from_buffers(pa.large_binary(), len(spans), buffers)
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([None if value is None else decode(value) for value in values.to_pylist()], pa.large_string())


def decode(value: bytes) -> str:
    """Return bytes as text: UTF-8, or else Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def numbers(spans: Spans, *, none: Collection[str] = (), plain: tuple[FloatArray, StateArray] | None = None) -> Read:
    """Return the values as numbers; the words of ``none`` say that there is none.

    ``plain`` has what became of values that have been read already: numbers, and the state of each.
    """
    if plain is None:
        value, state = _room(len(spans))
        fill_numbers(spans.text, spans.start, spans.end, value, state)
    else:
        value, state = plain[0].copy(), plain[1]
    return _judged(spans, value, state, none, _float)


def durations(spans: Spans, *, none: Collection[str] = ()) -> Read:
    """Return durations in seconds; the words of ``none`` say that there is none.

    Read are ``[DAYS+]HH:MM:SS[.fff]`` with +, - or : behind the days, ``MM:SS``, seconds, and what stands in brackets:
    ``00:10:00 (600 seconds)``, which counts.
    """
    value, state = _room(len(spans))
    fill_durations(spans.text, spans.start, spans.end, value, state)
    return _judged(spans, value, state, none, None)


def sizes(spans: Spans, *, unit: float = 1.0, none: Collection[str] = ()) -> tuple[Read, StateArray]:
    """Return sizes in bytes, and the letter that stands behind each unit, 0 where none does.

    Parameters
    ----------
    spans : Spans
        ``12.5gb``, ``4G``, ``3 kb``, ``4000Mc``; units are powers of 1024. Bytes in brackets count.
    unit : float
        Bytes that a number without a unit means.
    none : collection of str
        Words that say that there is none.
    """
    value, state = _room(len(spans))
    suffix = np.zeros(len(spans), np.int8)
    fill_sizes(spans.text, spans.start, spans.end, unit, value, suffix, state)
    return _judged(spans, value, state, none, None), suffix


def is_any(spans: Spans, words: Collection[str]) -> BoolArray:
    """Return whether each value is one of some words."""
    found = pc.is_in(texts(spans), pa.array(list(words), pa.large_string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)


def _room(rows: int) -> tuple[FloatArray, StateArray]:
    return np.empty(rows, np.float64), np.empty(rows, np.int8)


def _float(text: str) -> float:
    """Return a number as Python reads it, if it is one of plain digits and an exponent."""
    return float(text) if text.isascii() and "_" not in text else np.nan


def _judged(
    spans: Spans,
    value: FloatArray,
    state: StateArray,
    none: Collection[str],
    otherwise: Callable[[str], float] | None,
) -> Read:
    """Judge the values that a kernel left: each different one once."""
    is_bad = state == DOUBTFUL
    rows = np.flatnonzero(is_bad)
    if len(rows):
        found = texts(spans.rows(rows)).dictionary_encode()
        judged = np.full(len(found.dictionary), np.nan)
        is_none = np.zeros(len(judged), bool)
        for place, text in enumerate(found.dictionary.to_pylist()):
            is_none[place] = text in none
            if otherwise and not is_none[place]:
                try:
                    judged[place] = otherwise(text)
                except ValueError:
                    continue
        places = found.indices.to_numpy(zero_copy_only=False)
        value[rows] = judged[places]
        is_bad[rows] = ~is_none[places] & ~np.isfinite(judged[places])
        value[is_bad] = np.nan
    return Read(value, is_bad)
