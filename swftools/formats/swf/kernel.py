# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of SWF text: bytes in, columns of numbers out, at memory speed.

It decides nothing doubtful. A line that is not plainly a job or a comment is handed back by its number, and
``block.py`` judges it in Python with the full rules and a reason in words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.fields.definition import INT64
from swftools.fields.dictionary import SWF_FIELDS
from swftools.kernel import kernel

IS_INTEGER = np.array([field.type == INT64 for field in SWF_FIELDS])
ROW_OF_FIELD = np.where(IS_INTEGER, np.cumsum(IS_INTEGER), np.cumsum(~IS_INTEGER)) - 1
MAXIMUM = np.array([field.maximum for field in SWF_FIELDS])
STATUS = [field.name for field in SWF_FIELDS].index("status")
LONGEST_LINE = 1 << 20
"""Bytes of the longest line that can be a job or a comment, its newline included; a longer one is damage."""

JOB, COMMENT, DOUBTFUL, BLANK = 0, 1, 2, 3

_POWERS_OF_TEN = np.array([float(10**power) for power in range(19)])
_EXACT = 2**53
_NEXT = np.uint64(1)
_SHORTEST_JOB = 36  # bytes: 18 digits, 17 blanks, a newline

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Scan(NamedTuple):
    """What the scanner fills. Arrays by job or by other line have room for the most there can be."""

    integers: IntArray  # (integer fields, jobs), missing = -1
    floats: FloatArray  # (float fields, jobs), missing = NaN
    line: IntArray  # index of the line, by job
    extra_start: IntArray  # offset of the 19th field, by job; 0 where there is none
    extra_end: IntArray
    extra_words: IntArray  # how many fields follow the 18th, by job
    other_line: IntArray  # index of the line, by comment or doubtful line
    other_kind: npt.NDArray[np.int8]
    offsets: IntArray  # (lines + 1), where each line starts, and the end of the text


def count_lines(text: bytes) -> int:
    """Return how many lines a text has; the last may lack its newline."""
    newlines: int = _count_newlines(text)
    return newlines + (bool(text) and not text.endswith(b"\n"))


class ScannerMemory:
    """Memory for what the scanner fills, used again for one text after the other: that spares the system's handing out.

    What was found in a text is overwritten by the next.
    """

    def __init__(self) -> None:
        self._arrays = _arrays_for(0, 0)

    def of(self, lines: int, jobs: int) -> Scan:
        """Return arrays for so many lines, of which so many may be jobs."""
        if jobs > len(self._arrays.line) or lines > len(self._arrays.other_line):
            self._arrays = _arrays_for(lines + lines // 4, jobs + jobs // 4)
        for array in (self._arrays.extra_start, self._arrays.extra_end, self._arrays.extra_words):
            array[:jobs] = 0
        return self._arrays._replace(offsets=self._arrays.offsets[: lines + 1])


def _arrays_for(lines: int, jobs: int) -> Scan:
    """Return new arrays for so many lines, of which so many may be jobs."""
    width = int(IS_INTEGER.sum())
    # In one piece with the integers: the system hands out memory of many MB in larger pages, which is faster.
    integers = np.empty((width + 1, jobs), np.int64)
    return Scan(
        integers[:width],
        np.empty((len(SWF_FIELDS) - width, jobs), np.float64),
        integers[width],
        np.zeros(jobs, np.int64),
        np.zeros(jobs, np.int64),
        np.zeros(jobs, np.int64),
        np.empty(lines, np.int64),
        np.empty(lines, np.int8),
        np.empty(lines + 1, np.int64),
    )


def scan(text: bytes, lines: int, room: ScannerMemory | None = None) -> tuple[Scan, int, int]:
    """Scan SWF text; return the filled arrays and the numbers of jobs and of other lines.

    Parameters
    ----------
    text : bytes
        Whole lines; the last may lack its newline.
    lines : int
        How many lines they are.
    room : ScannerMemory, optional
        Where to: then the arrays may be longer than what is found.
    """
    jobs = min(lines, len(text) // _SHORTEST_JOB + 1)
    arrays = _arrays_for(lines, jobs) if room is None else room.of(lines, jobs)
    # The kernel stops at newlines and never asks where the text ends.
    whole = text if text.endswith(b"\n") else text + b"\n"
    found, others = _scan(whole, len(text), arrays, IS_INTEGER, ROW_OF_FIELD, MAXIMUM, _POWERS_OF_TEN, LONGEST_LINE)
    return arrays, found, others


@kernel(allocates=False)
def _count_newlines(text: bytes) -> int:
    """Return how many newlines there are: eight times as fast as ``bytes.count`` where lines are short."""
    count = 0
    for at in range(len(text)):
        count += text[at] == 10
    return count


@kernel(allocates=False)
def _scan(
    text: bytes,
    end: int,
    out: Scan,
    is_integer: BoolArray,
    row_of_field: IntArray,
    maximum: FloatArray,
    powers: FloatArray,
    longest: int,
) -> tuple[int, int]:
    """Fill ``out`` from ``text[:end]``; return the numbers of jobs and of other lines.

    The caller guarantees room for every line and a newline at or behind the end. A decimal number is
    mantissa / 10**decimals, which is exact to the last bit while the mantissa is at most 2**53 and the power
    at most 10**22. Positions are unsigned, since a signed one is asked at each use whether it counts from the end.
    """
    at = np.uint64(0)
    line = np.uint64(0)
    jobs = np.uint64(0)
    others = np.uint64(0)
    while at < end:
        begin = at
        out.offsets[line] = begin
        while text[at] == 32 or text[at] == 9:  # blank or tab
            at += _NEXT
        kind = DOUBTFUL
        if _at_line_end(text, at):
            kind = BLANK
        elif text[at] == 59:  # ;
            kind = COMMENT
        else:
            found = 0
            while found < 18:
                negative = text[at] == 45  # -
                if negative:
                    at += _NEXT
                mantissa = 0
                first = at
                digit = text[at] - 48
                while 0 <= digit <= 9:
                    mantissa = mantissa * 10 + digit
                    at += _NEXT
                    digit = text[at] - 48
                digits = at - first
                decimals = at - at
                if text[at] == 46:  # .
                    at += _NEXT
                    first = at
                    digit = text[at] - 48
                    while 0 <= digit <= 9:
                        mantissa = mantissa * 10 + digit
                        at += _NEXT
                        digit = text[at] - 48
                    decimals = at - first
                    digits += decimals
                # More than 18 digits may have overflowed. A line that ends early has no digits here.
                if digits == 0 or digits > 18 or not (text[at] == 32 or text[at] == 9 or _at_line_end(text, at)):
                    break
                value = float(mantissa)
                if decimals:
                    if mantissa <= _EXACT:
                        value /= powers[decimals]
                    elif is_integer[found]:
                        break
                    else:
                        value = _divide(mantissa, powers[decimals])
                missing = negative and value == 1.0
                # Negative zero is left to the judge as well, and so is NaN, which is not below the maximum.
                if (negative and not missing and found != STATUS) or not value <= maximum[found]:
                    break
                row = row_of_field[found]
                if is_integer[found]:
                    if decimals:
                        mantissa = int(value)
                        if value != mantissa:
                            break
                    out.integers[row, jobs] = -mantissa if negative else mantissa
                else:
                    out.floats[row, jobs] = np.nan if missing else value
                found += 1
                while text[at] == 32 or text[at] == 9:
                    at += _NEXT
            if found == 18:
                kind = JOB
                start = at
                stop = at
                words = 0
                while not _at_line_end(text, at):
                    while 32 < text[at] < 127:
                        at += _NEXT
                    # Control characters other than blanks, and whatever is not ASCII, make a line doubtful.
                    if not (text[at] == 32 or text[at] == 9 or _at_line_end(text, at)):
                        kind = DOUBTFUL
                        break
                    stop = at
                    words += 1
                    while text[at] == 32 or text[at] == 9:
                        at += _NEXT
        while text[at] != 10:
            at += _NEXT
        at += _NEXT
        if at - begin > longest:
            kind = DOUBTFUL
        if kind == JOB:
            if words:
                out.extra_start[jobs] = start
                out.extra_end[jobs] = stop
                out.extra_words[jobs] = words
            out.line[jobs] = line
            jobs += _NEXT
        elif kind != BLANK:
            out.other_line[others] = line
            out.other_kind[others] = kind
            others += _NEXT
        line += _NEXT
    out.offsets[line] = end
    return int(jobs), int(others)


@kernel(allocates=False)
def _divide(mantissa: int, scale: float) -> float:
    """Return the float64 nearest to mantissa / scale; NaN where it lies too near the middle of two to tell.

    The mantissa is above 2**53 and below 10**18, the scale a power of ten up to 10**18. The remainder of the
    quotient of their nearest float64s is exact by Dekker's product (Numerische Mathematik 18, 1971), and corrects
    it to twice the precision.
    """
    high = float(mantissa)
    quotient = high / scale
    left = quotient * 134217729.0  # 2**27 + 1, which splits a float64 into two halves
    left = left - (left - quotient)
    right = scale * 134217729.0
    right = right - (right - scale)
    rest_left, rest_right = quotient - left, scale - right
    product = quotient * scale
    error = ((left * right - product) + left * rest_right + rest_left * right) + rest_left * rest_right
    correction = ((high - product) - error + float(mantissa - int(high))) / scale
    value = quotient + correction * (1.0 + 1e-14)
    return value if value == quotient + correction * (1.0 - 1e-14) else np.nan


@kernel(allocates=False)
def _at_line_end(text: bytes, at: np.uint64) -> bool:
    """Whether LF or CR LF stands at ``at``."""
    return text[at] == 10 or (text[at] == 13 and text[at + _NEXT] == 10)
