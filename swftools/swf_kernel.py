"""The compiled scanner of SWF text: bytes in, columns of numbers out, at memory speed.

It decides nothing doubtful. A line that is not plainly a job or a comment is handed back by its offsets, and
``swf.py`` judges it in Python with the full rules and a reason in words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from swftools.fields import INT64, SWF_FIELDS

IS_INTEGER = np.array([field.type == INT64 for field in SWF_FIELDS])
ROW_OF_FIELD = np.where(IS_INTEGER, np.cumsum(IS_INTEGER), np.cumsum(~IS_INTEGER)) - 1
MAXIMUM = np.array([field.maximum for field in SWF_FIELDS])
STATUS = [field.name for field in SWF_FIELDS].index("status")
MAX_FIELDS = 32
"""Real logs have up to 28 fields; many more are two lines run together. Lines with utility tuples are exempt."""

JOB, COMMENT, DOUBTFUL, BLANK = 0, 1, 2, 3

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class Scan(NamedTuple):
    """What the scanner fills; every array has room for all lines, the counts say how much is used."""

    integers: IntArray  # (integer fields, lines), missing = -1
    floats: FloatArray  # (float fields, lines), missing = NaN
    line: IntArray  # index of the line, by job
    extra_start: IntArray  # offset of the 19th field, by job; 0 where there is none
    extra_end: IntArray
    other_line: IntArray  # index of the line, by comment or doubtful line
    other_kind: IntArray
    offsets: IntArray  # (lines + 1), where each line starts


def scan(text: bytes, *, any_length: bool) -> tuple[Scan, int, int]:
    """Scan SWF text; return the filled arrays and the numbers of jobs and of other lines.

    Parameters
    ----------
    text : bytes
        Whole lines; the last may lack its newline.
    any_length : bool
        Accept lines of any number of fields beyond 18 (extended SWF).
    """
    if text and not text.endswith(b"\n"):
        text += b"\n"  # the kernel stops at newlines and never asks where the text ends
    lines = text.count(b"\n")
    width = int(IS_INTEGER.sum())
    arrays = Scan(
        np.empty((width, lines), np.int64),
        np.empty((len(SWF_FIELDS) - width, lines), np.float64),
        np.empty(lines, np.int64),
        np.zeros(lines, np.int64),
        np.zeros(lines, np.int64),
        np.empty(lines, np.int64),
        np.empty(lines, np.int64),
        np.empty(lines + 1, np.int64),
    )
    most = np.iinfo(np.int64).max if any_length else MAX_FIELDS
    jobs, others = _scan(np.frombuffer(text, np.uint8), arrays, IS_INTEGER, ROW_OF_FIELD, MAXIMUM, POWERS_OF_TEN, most)
    return arrays, jobs, others


POWERS_OF_TEN = 10.0 ** np.arange(19)


@njit(cache=True, nogil=True)
def _scan(text, out, is_integer, row_of_field, maximum, powers, most_fields):  # type: ignore[no-untyped-def]
    """Fill ``out`` from ``text``; return the numbers of jobs and of other lines.

    The caller guarantees room for every line and a newline at the end. A decimal number is
    mantissa / 10**decimals, which is exact to the last bit while the mantissa is below 2**53 and the power
    below 10**22; anything longer is doubtful.
    """
    end = len(text)
    at = 0
    line = 0
    jobs = 0
    others = 0
    while at < end:
        out.offsets[line] = at
        while text[at] == 32 or text[at] == 9:
            at += 1
        kind = DOUBTFUL
        if text[at] == 59:  # ;
            kind = COMMENT
        elif not _at_line_end(text, at):
            found = 0
            while found < 18:
                negative = text[at] == 45  # -
                if negative:
                    at += 1
                mantissa = 0
                first = at
                byte = text[at]
                while 48 <= byte <= 57:
                    mantissa = mantissa * 10 + (byte - 48)
                    at += 1
                    byte = text[at]
                digits = at - first
                decimals = 0
                if byte == 46:  # .
                    at += 1
                    first = at
                    byte = text[at]
                    while 48 <= byte <= 57:
                        mantissa = mantissa * 10 + (byte - 48)
                        at += 1
                        byte = text[at]
                    decimals = at - first
                    digits += decimals
                    if mantissa >= 9007199254740992:
                        break
                if digits == 0 or digits > 18 or (byte > 32 or (byte != 32 and byte != 9 and not _at_line_end(text, at))):
                    break
                value = float(mantissa)
                if decimals:
                    value /= powers[decimals]
                missing = negative and value == 1.0
                if (negative and not missing and found != STATUS) or value > maximum[found]:
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
                    at += 1
                if _at_line_end(text, at):
                    break
            if found == 18:
                start = at
                stop = at
                while not _at_line_end(text, at):
                    while 32 < text[at] < 127:
                        at += 1
                    # Control characters other than blanks, and whatever is not ASCII, make a line doubtful.
                    if text[at] > 32 or (text[at] < 32 and text[at] != 9 and not _at_line_end(text, at)):
                        found = most_fields + 1
                        break
                    stop = at
                    found += 1
                    while text[at] == 32 or text[at] == 9:
                        at += 1
                if found <= most_fields:
                    kind = JOB
                    out.line[jobs] = line
                    if stop > start:
                        out.extra_start[jobs] = start
                        out.extra_end[jobs] = stop
                    jobs += 1
        else:
            kind = BLANK
        if kind != JOB and kind != BLANK:
            out.other_line[others] = line
            out.other_kind[others] = kind
            others += 1
        while text[at] != 10:
            at += 1
        at += 1
        line += 1
    out.offsets[line] = end
    return jobs, others


@njit(cache=True, nogil=True, inline="always")
def _at_line_end(text, at):  # type: ignore[no-untyped-def]
    """Whether LF or CR LF stands at ``at``."""
    return text[at] == 10 or (text[at] == 13 and text[at + 1] == 10)
