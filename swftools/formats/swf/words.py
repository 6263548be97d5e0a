# SPDX-License-Identifier: BSD-3-Clause
"""The fields of SWF lines as text, compiled: digits that read back exactly, in straight columns.

A field is as wide in every line as its longest word. So the fields of all lines stand at the same places, and are
written column by column. Below ``writer.py``, which knows traces and files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.fields.definition import INT64, STRING
from swftools.kernel import kernel

ByteArray = npt.NDArray[np.uint8]
DigitArray = npt.NDArray[np.int8]
OffsetArray = npt.NDArray[np.int32]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_POWERS_OF_TEN = np.array([10.0**power for power in range(7)])
_UNIQUE = 1e15  # no two decimal numbers of at most 15 digits are the same float64
_EXPONENT = 1e10  # from here on, and below 1e-6, pyarrow writes exponents
_ZERO, _TEN, _DIGIT = np.uint64(0), np.uint64(10), np.uint64(ord("0"))
_NEXT = np.uint64(1)


class Words(NamedTuple):
    """The words of a field, one a job."""

    width: int  # bytes of the longest
    column: pa.ChunkedArray  # numbers, null where missing; or where one of them has too many digits, text


def words_of(column: pa.ChunkedArray) -> Words:
    """Return the words of a column, Int64 or float64: as pyarrow writes them, and -1 where missing."""
    if column.type == INT64:
        extremes = pc.min_max(pc.fill_null(column, -1)).as_py().values()
        return Words(max(1 if extreme is None else len(str(extreme)) for extreme in extremes), column)
    if (found := _digits(column)) is not None:
        longest = found[2].tolist()
        return Words(max(2 if column.null_count else 1, *map(_width, longest, range(len(longest)))), column)
    text = pc.fill_null(column.cast(pa.string()), "-1")
    return Words(pc.max(pc.binary_length(text)).as_py(), text)


def _digits(column: pa.ChunkedArray) -> tuple[IntArray, DigitArray, IntArray] | None:
    """Return sign and digits of numbers, how many of them are decimals, and the largest by that; None if that fails.

    The arrays are copies: those of Arrow cannot be written to, which is another type to numba, to be compiled anew.
    """
    decimals, longest = np.zeros(len(column), np.int8), np.full(len(_POWERS_OF_TEN), -1)
    if column.type == INT64:
        return np.array(pc.fill_null(column, -1), np.int64), decimals, longest
    numbers = np.empty(len(column), np.int64)
    is_split = _split(np.array(column, np.float64), numbers, decimals, longest, _POWERS_OF_TEN)
    return (numbers, decimals, longest) if is_split else None


def _width(number: int, decimals: int) -> int:
    """Return how many bytes a decimal number takes; none if it is negative, which stands for no number."""
    return (max(len(str(number)), decimals + 1) + bool(decimals)) * (number >= 0)


def join_fields(fields: Sequence[Words], start: int, stop: int) -> ByteArray:
    """Return the fields of some jobs, parted and ended by a blank.

    Parameters
    ----------
    fields : sequence of Words
        All fields of all jobs.
    start, stop : int
        The first job, and the one behind the last.

    Returns
    -------
    numpy.ndarray of uint8, shape (jobs, bytes)
        The bytes of a line by job.
    """
    lines = np.full((stop - start, sum(field.width + 1 for field in fields)), ord(" "), np.uint8)
    end = 0
    for field in fields:
        end += field.width
        part = field.column[start:stop]
        if found := _digits(part) if part.type != STRING else None:
            _put_numbers(lines, end, *found[:2])
        else:
            _put_text(lines, end, *_offsets_and_bytes(part.combine_chunks()))
        end += 1
    return lines


def end_lines(lines: ByteArray, tails: pa.StringArray | None) -> ByteArray:
    """Return the text of lines that end in a blank: each with the tail behind the blank, or without the blank.

    Parameters
    ----------
    lines : numpy.ndarray of uint8, shape (jobs, bytes)
        As ``join_fields`` returns them; they are changed.
    tails : pyarrow.StringArray, optional
        One a line, none of them null; an empty one is none.
    """
    if tails is None:
        lines[:, -1] = ord("\n")
        return lines
    offsets, text = _offsets_and_bytes(tails)
    joined = np.empty(lines.size + len(lines) + int(offsets[-1] - offsets[0]), np.uint8)
    return joined[: _join(lines, offsets, text, joined)]


def _offsets_and_bytes(text: pa.StringArray) -> tuple[OffsetArray, ByteArray]:
    """Return where each word starts, and the last ends, in the bytes of all."""
    _, offsets, data = text.buffers()
    return np.frombuffer(offsets, np.int32)[text.offset :][: len(text) + 1], np.frombuffer(data or b"", np.uint8)


@kernel(allocates=False)
def _split(values: FloatArray, numbers: IntArray, decimals: DigitArray, longest: IntArray, powers: FloatArray) -> bool:
    """Split values into digits and how many of them are decimals; return whether that could be done with all.

    ``longest`` gets the largest number by how many decimals it has. NaN becomes -1. A value that is the float64 nearest
    to a decimal number of 15 digits is nearest to no other one, so these digits are the fewest that read back.
    """
    for row in range(len(values)):
        value = values[row]
        if np.isnan(value):
            numbers[row] = -1
            decimals[row] = 0
            continue
        # The sign tells negative zero, too.
        if np.signbit(value) or value >= _EXPONENT:
            return False
        places = 0
        whole = np.rint(value)
        while whole / powers[places] != value:
            places += 1
            if places == len(powers):
                return False
            whole = np.rint(value * powers[places])
        if whole >= _UNIQUE:
            return False
        numbers[row] = int(whole)
        decimals[row] = places
        longest[places] = max(longest[places], numbers[row])
    return True


@kernel(allocates=False)
def _put_numbers(lines: ByteArray, end: int, numbers: IntArray, decimals: DigitArray) -> None:
    """Write each number into its line so that it ends before the byte ``end``; the caller guarantees room.

    Positions are unsigned, since a signed one is asked at each use whether it counts from the end.
    """
    for line in range(len(numbers)):
        row = np.uint64(line)
        at = np.uint64(end)
        left = np.uint64(abs(numbers[row]))
        for _ in range(decimals[row]):
            at -= _NEXT
            lines[row, at] = _DIGIT + left % _TEN
            left //= _TEN
        if decimals[row] > 0:
            at -= _NEXT
            lines[row, at] = 46  # .
        at -= _NEXT
        lines[row, at] = _DIGIT + left % _TEN
        left //= _TEN
        while left > _ZERO:
            at -= _NEXT
            lines[row, at] = _DIGIT + left % _TEN
            left //= _TEN
        if numbers[row] < 0:
            lines[row, at - _NEXT] = 45  # -


@kernel(allocates=False)
def _put_text(lines: ByteArray, end: int, offsets: OffsetArray, text: ByteArray) -> None:
    """Write each word into its line so that it ends before the byte ``end``; the caller guarantees room."""
    for line in range(len(offsets) - 1):
        first = end - (offsets[line + 1] - offsets[line])
        for at in range(first, end):
            lines[line, at] = text[offsets[line] + at - first]


@kernel(allocates=False)
def _join(lines: ByteArray, offsets: OffsetArray, text: ByteArray, joined: ByteArray) -> int:
    """Write lines with their tails one behind the other, each ended by a newline; return how many bytes that are."""
    to = np.uint64(0)
    for line in range(len(lines)):
        row = np.uint64(line)
        first, end = np.uint64(offsets[row]), np.uint64(offsets[row + _NEXT])
        width = lines.shape[1] - (first == end)
        for at in range(width):
            joined[to + np.uint64(at)] = lines[row, np.uint64(at)]
        to += np.uint64(width)
        while first < end:
            joined[to] = text[first]
            to += _NEXT
            first += _NEXT
        joined[to] = 10
        to += _NEXT
    return int(to)
