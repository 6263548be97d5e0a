"""A stretch of SWF lines: scanned at speed, the doubtful lines judged one by one, each fault in words.

Between ``swf_kernel.py``, which knows only bytes, and ``swf.py``, which knows files and traces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import SwfFormatError
from swftools.fields import FLOAT64, INT64, SWF_FIELDS
from swftools.header import UTILITY_NOTE, SwfHeader
from swftools.swf_kernel import COMMENT, IS_INTEGER, MAX_FIELDS, ROW_OF_FIELD, STATUS, Scan, scan
from swftools.tables import empty_frame
from swftools.utility_tuples import parse_tuples

_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_LONGEST_NUMBER = 400
_SHOWN = 80
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """What a stretch of whole lines holds."""

    jobs: pd.DataFrame
    quarantine: pd.DataFrame
    comments: list[str]
    lines: pa.LargeBinaryArray


class _Job(NamedTuple):
    """A job line judged in Python: its values (missing = -1) and the text behind them."""

    line: int
    values: list[float]
    extra: str | None


class _Rejected(NamedTuple):
    """A line that is no job, and why."""

    line: int
    reason: str


def read_block(
    text: bytes, name: str, first_line: int, *, strict: bool, utility: bool | None, earlier: list[str]
) -> Block:
    """Read whole lines of SWF text.

    Parameters
    ----------
    text : bytes
        Whole lines; the last may lack its newline.
    name : str
        What messages call the file.
    first_line : int
        Number of the first line.
    strict, utility
        As in ``read_swf``.
    earlier : list of str
        Comment lines of earlier blocks, which may announce utility tuples.

    Raises
    ------
    SwfFormatError
        With ``strict``, at the first line that is neither job, comment nor blank.
    """
    if first_line == 1 and text.startswith(_BYTE_ORDER_MARK):
        text = text.replace(_BYTE_ORDER_MARK, b"   ", 1)
    if utility is None:
        # Only a comment may announce tuples, but a quick search spares the usual log the slower one.
        own = re.findall(rb"(?m)^[ \t]*;.*$", text) if UTILITY_NOTE.encode() in text else []
        utility = SwfHeader.from_lines(earlier + [_decode(line) for line in own]).has_utility
    arrays, jobs, others = scan(text, any_length=utility)
    lines = split_at(text, arrays.offsets)
    comments: list[str] = []
    late: list[_Job] = []
    rejected: list[_Rejected] = []
    for line, kind in zip(arrays.other_line[:others].tolist(), arrays.other_kind[:others].tolist(), strict=True):
        raw = lines[line].as_py()
        if kind == COMMENT:
            comments.append(_decode(raw))
        else:
            judged = _judge_line(line, raw, any_length=utility)
            (late if isinstance(judged, _Job) else rejected).append(judged)  # type: ignore[arg-type]
    frame, extras = _frame(arrays, jobs, late, first_line), _extras(text, arrays, jobs, late)
    if utility:
        functions, faults = parse_tuples(extras)
        numbers = frame["line_number"].to_numpy(dtype=np.int64)
        rejected += [_Rejected(int(numbers[i]) - first_line, f"utility function {why}") for i, why in faults.items()]
        frame["utility"] = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([functions.to_arrow()])))
        frame = frame.drop(index=list(faults)).reset_index(drop=True)
    elif extras.null_count < len(extras):
        frame["extra_fields"] = pd.Series(extras.to_pandas(), dtype="str")
    quarantine = _quarantine(lines, sorted(rejected), first_line)
    if strict and rejected:
        row = quarantine.iloc[0]
        raise SwfFormatError(
            f"{name}, line {row['line_number']}: {row['reason']}: {row['text'][:_SHOWN]!r}; mend the line, or read "
            "without strict to put it into the quarantine"
        )
    return Block(frame, quarantine, comments, lines)


def split_at(text: bytes, offsets: npt.NDArray[np.int64]) -> pa.LargeBinaryArray:
    """Return the pieces of a text between offsets, without a copy."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(text)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _decode(raw: bytes) -> str:
    """Return a line as text: UTF-8, or Latin-1 as older logs have it, which decodes anything."""
    line = raw.rstrip(b"\r\n")
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _judge_line(line: int, raw: bytes, *, any_length: bool) -> _Job | _Rejected:
    """Judge a line that the scanner left: a job after all, or why it is none."""
    stripped = raw.rstrip(b"\r\n")
    if any(byte < 32 and byte != 9 for byte in stripped):
        return _Rejected(line, "control characters within the line")
    words = stripped.split(maxsplit=len(SWF_FIELDS))
    if len(words) < len(SWF_FIELDS):
        return _Rejected(line, f"{len(words)} field{'s' * (len(words) != 1)} instead of 18")
    extra = words[18].strip() if len(words) > len(SWF_FIELDS) else b""
    count = len(SWF_FIELDS) + len(extra.split())
    if not any_length and count > MAX_FIELDS:
        return _Rejected(line, f"{count} fields; more than {MAX_FIELDS} are taken for two lines run together")
    values = []
    for position, word in enumerate(words[:18]):
        value, fault = _judge_number(word, position)
        if fault:
            shown = word[:_SHOWN].decode("utf-8", "backslashreplace")
            return _Rejected(line, f"field {position + 1} ({SWF_FIELDS[position].name}): {shown!r} {fault}")
        values.append(value)
    try:
        return _Job(line, values, extra.decode() or None)
    except UnicodeDecodeError:
        return _Rejected(line, "text behind the 18th field is not UTF-8")


def _judge_number(word: bytes, position: int) -> tuple[float, str | None]:
    """Return the value of a field, or what is wrong with it."""
    field = SWF_FIELDS[position]
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        return 0, "is not a number"
    whole = field.type == INT64 and word.lstrip(b"+-").isdigit()
    value: float = int(word) if whole else float(word)
    if field.maximum is not None and abs(value) > field.maximum:
        return 0, f"is beyond {field.maximum:g}"
    if field.type == INT64 and value != int(value):
        return 0, "is not a whole number"
    if value < 0 and value != -1 and position != STATUS:
        return 0, "is negative (only -1, missing, may be)"
    return value, None


def _order(arrays: Scan, jobs: int, late: list[_Job]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the lines of scanned and late jobs, and the order that sorts them."""
    line = np.concatenate((arrays.line[:jobs], np.array([job.line for job in late], np.int64)))
    return line, np.argsort(line, kind="stable")


def _frame(arrays: Scan, jobs: int, late: list[_Job], first_line: int) -> pd.DataFrame:
    """Return the jobs table: what the scanner read and, in their places, the jobs judged in Python."""
    line, order = _order(arrays, jobs, late)
    columns = {}
    for position, field in enumerate(SWF_FIELDS):
        table: npt.NDArray[np.generic] = arrays.integers if IS_INTEGER[position] else arrays.floats
        values = table[ROW_OF_FIELD[position], :jobs]
        if late:
            added = [job.values[position] for job in late]
            missing = -1 if IS_INTEGER[position] else np.nan
            added_values = np.array([missing if value == -1 else value for value in added], dtype=values.dtype)
            values = np.concatenate((values, added_values))[order]
        if field.type == FLOAT64:
            columns[field.name] = pd.Series(values)
        else:
            columns[field.name] = pd.Series(pd.arrays.IntegerArray(values, values == -1))
    numbers = (line[order] if late else line) + first_line
    columns["line_number"] = pd.Series(pd.arrays.IntegerArray(numbers, np.zeros(len(numbers), bool)))
    return pd.DataFrame(columns, copy=False)


def _extras(text: bytes, arrays: Scan, jobs: int, late: list[_Job]) -> pa.StringArray:
    """Return the text behind the 18th field of each row of ``_frame``, null where there is none."""
    start, end = arrays.extra_start[:jobs], arrays.extra_end[:jobs]
    rows = np.flatnonzero(end)
    # The pieces between one text and the next are split off too, and every second piece is taken.
    offsets = np.append(np.column_stack((start[rows], end[rows])).ravel(), len(text))
    found = split_at(text, offsets).take(pa.array(np.arange(0, 2 * len(rows), 2)))
    places = np.full(jobs, -1)
    places[rows] = np.arange(len(rows))
    extras = found.cast(pa.large_string()).cast(pa.string()).take(pa.array(places, mask=places < 0))
    if late:
        added = pa.array([job.extra for job in late], pa.string())
        extras = pa.concat_arrays([extras, added]).take(pa.array(_order(arrays, jobs, late)[1]))
    return extras


def _quarantine(lines: pa.LargeBinaryArray, rejected: list[_Rejected], first_line: int) -> pd.DataFrame:
    """Return the quarantine table of rejected lines."""
    frame = empty_frame("quarantine")
    if not rejected:
        return frame
    rows = {
        "line_number": [item.line + first_line for item in rejected],
        "rule": "read",
        "reason": [item.reason for item in rejected],
        "text": [_shown(lines[item.line].as_py()) for item in rejected],
    }
    return pd.DataFrame(rows).astype(frame.dtypes.to_dict())


def _shown(raw: bytes) -> str:
    """Return a line's text without its line end; bytes that are not UTF-8 as escapes, so that none is lost."""
    return raw.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
