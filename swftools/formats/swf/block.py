# SPDX-License-Identifier: BSD-3-Clause
"""A stretch of SWF lines: scanned at speed, the doubtful lines judged one by one, each fault in words.

Between ``kernel.py``, which knows only bytes, and ``reader.py``, which knows files and traces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import SwfFormatError
from swftools.fields.definition import INT64
from swftools.fields.dictionary import SWF_FIELDS
from swftools.formats.swf.kernel import (
    COMMENT,
    IS_INTEGER,
    LONGEST_LINE,
    ROW_OF_FIELD,
    STATUS,
    Scan,
    ScannerMemory,
    count_lines,
    scan,
)
from swftools.header import SwfHeader
from swftools.tables import empty_frame
from swftools.utility.tuples import parse_tuples

MOST_FIELDS = 32
"""Real logs have up to 28 fields; many more are two lines run together. Lines with utility tuples are exempt."""

MOST_LINES = 1 << 28
MOST_COMMENTS = 1 << 22
"""Most lines, and most comments and rejected lines, of one stretch: a bomb of tiny lines stops here."""

_Number = TypeVar("_Number", np.int64, np.float64)

_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f]")
_LONGEST_NUMBER = 400
_SHOWN = 80
_KEPT = 1 << 16  # bytes of the text that the quarantine keeps of a line beyond LONGEST_LINE
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """What a stretch of whole lines holds.

    Parameters
    ----------
    header : SwfHeader
        The header so far: the earlier one, and the comments of this stretch.
    jobs, quarantine : pandas.DataFrame
        As in ``Trace``.
    lines : pyarrow.LargeBinaryArray
        Every line.
    utility : bool or None
        Whether lines end in utility tuples; None while that is open, since no job has been seen.
    others : int
        How many lines the scanner took for neither jobs nor blank: comments, damage, and what was a job after all.
    """

    header: SwfHeader
    jobs: pd.DataFrame
    quarantine: pd.DataFrame
    lines: pa.LargeBinaryArray
    utility: bool | None
    others: int


class _Job(NamedTuple):
    """A job line judged in Python: its values (missing = -1), the text behind them, and how many words that is."""

    line: int
    values: list[float]
    extra: str | None
    words: int


class _Rejected(NamedTuple):
    """A line that is not a job, and why."""

    line: int
    reason: str


class _Lines(NamedTuple):
    """The lines of a stretch, sorted by kind."""

    arrays: Scan
    jobs: int  # how many the scanner found
    others: int
    late: list[_Job]
    rejected: list[_Rejected]
    comments: list[tuple[int, str]]


def read_block(
    text: bytes,
    name: str,
    first_line: int,
    *,
    strict: bool,
    utility: bool | None,
    earlier: SwfHeader | None = None,
    room: ScannerMemory | None = None,
) -> Block:
    """Read whole lines of SWF text.

    Parameters
    ----------
    text : bytes
        Whole lines; the last may lack its newline.
    name : str
        What messages call the file.
    first_line : int
        Number of the first line; 1 also says that a byte-order mark may stand there.
    strict : bool
        As in ``read_swf``.
    utility : bool or None
        Whether lines end in utility tuples; None: as the Note says, if it stands before the first job.
    earlier : SwfHeader, optional
        The header as far as it has been read.
    room : ScannerMemory, optional
        Memory that is used again for the next stretch: the block's numbers hold until then.

    Raises
    ------
    SwfFormatError
        With ``strict``, at the first line that is neither job, comment nor blank. Else only where lines are too
        many to be a log.
    """
    if first_line == 1:
        text = text.removeprefix(BYTE_ORDER_MARK)
    found = _sort_lines(text, name, room)
    header, utility = _read_header(found, earlier or SwfHeader(), utility)
    frame, extras, words = _assemble(text, found, first_line)
    faults: dict[int, str] = {}
    if utility or (utility is None and header.has_utility):
        functions, wrong = parse_tuples(extras)
        faults = {row: f"fields behind the 18th: the utility function {why}" for row, why in wrong.items()}
        frame["utility"] = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([functions.to_arrow()])))
    else:
        for row in np.flatnonzero(words > MOST_FIELDS - len(SWF_FIELDS)).tolist():
            count = len(SWF_FIELDS) + words[row]
            faults[row] = f"{count} fields; more than {MOST_FIELDS} are taken for two lines run together"
        if extras.null_count + len(faults) < len(extras):
            frame["extra_fields"] = pd.Series(extras.to_pandas(), dtype="str")
    rejected = found.rejected
    if faults:
        numbers = frame["line_number"].to_numpy(dtype=np.int64)
        rejected = sorted([*rejected, *(_Rejected(int(numbers[row]) - first_line, faults[row]) for row in faults)])
        frame = frame.drop(index=list(faults)).reset_index(drop=True)
    quarantine = _quarantine(text, found.arrays, rejected, first_line)
    if strict and rejected:
        number, reason, line = (quarantine[column].iloc[0] for column in ("line_number", "reason", "text"))
        raise SwfFormatError(
            f"{name}, line {number}: {reason}: {line[:_SHOWN]!r}; mend the line, or read without strict to put it "
            "into the quarantine"
        )
    return Block(header, frame, quarantine, _split_at(text, found.arrays.offsets), utility, found.others)


def split_lines(text: bytes) -> pa.LargeBinaryArray:
    """Return every line of a log's text, newline included and byte-order mark not, as ``Block.lines`` holds them."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    last = [len(text)] if text and not text.endswith(b"\n") else []
    return _split_at(text, np.concatenate(([0], ends, last)).astype(np.int64))


def _split_at(text: bytes, offsets: npt.NDArray[np.int64]) -> pa.LargeBinaryArray:
    """Return the pieces of a text between offsets, without a copy."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(text)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def refuse_counts(name: str, lines: int, others: int) -> None:
    """Raise SwfFormatError if lines, or those of them that are not jobs, are too many to be a log."""
    if lines > MOST_LINES:
        raise SwfFormatError(f"{name}: {lines:,} lines are more than can be read at once; read it with iter_swf")
    if others > MOST_COMMENTS:
        raise SwfFormatError(
            f"{name}: {others:,} of {lines:,} lines are comments or not jobs, so this is hardly a log in SWF; "
            "iter_swf reads it in small chunks"
        )


def _sort_lines(text: bytes, name: str, room: ScannerMemory | None) -> _Lines:
    """Scan the text, and judge the lines that the scanner left."""
    count = count_lines(text)
    refuse_counts(name, count, 0)
    arrays, jobs, others = scan(text, count, room)
    refuse_counts(name, count, others)
    found = _Lines(arrays, jobs, others, [], [], [])
    for line, kind in zip(arrays.other_line[:others].tolist(), arrays.other_kind[:others].tolist(), strict=True):
        judged = _judge_line(line, _raw_line(text, arrays, line), is_comment=kind == COMMENT)
        if isinstance(judged, _Job):
            found.late.append(judged)
        elif isinstance(judged, _Rejected):
            found.rejected.append(judged)
        elif judged is not None:
            found.comments.append((line, judged))
    return found


def _read_header(found: _Lines, earlier: SwfHeader, utility: bool | None) -> tuple[SwfHeader, bool | None]:
    """Return the header so far, and whether lines end in utility tuples: None while no job has been seen."""
    if utility is not None or not (found.jobs or found.late):
        return earlier.extended(text for _, text in found.comments), utility
    first = min([*found.arrays.line[: found.jobs][:1].tolist(), *(job.line for job in found.late[:1])])
    header = earlier.extended(text for line, text in found.comments if line < first)
    return header.extended(text for line, text in found.comments if line > first), header.has_utility


def _raw_line(text: bytes, arrays: Scan, line: int) -> bytes:
    """Return a line with its end; of an overlong one no more than shows that it is."""
    start, end = arrays.offsets[line], arrays.offsets[line + 1]
    return text[start : min(end, start + LONGEST_LINE + 1)]


def _is_overlong(raw: bytes) -> bool:
    return len(raw.removesuffix(b"\n")) >= LONGEST_LINE


def _judge_line(line: int, raw: bytes, *, is_comment: bool) -> _Job | _Rejected | str | None:
    """Judge a line that the scanner left: a job after all, or why it is none; a comment's text; None if blank."""
    if _is_overlong(raw):
        why = " (carriage returns among them: its lines seem to end in CR alone)" if b"\r" in raw[:_KEPT] else ""
        return _Rejected(line, f"a line of {LONGEST_LINE:,} bytes and more{why}")
    stripped = raw.rstrip(b"\r\n")
    if b"\r" in stripped:
        return _Rejected(line, "a carriage return within the line; lines end in LF or CR LF")
    if is_comment:
        return _decode(stripped)
    if _CONTROL.search(stripped):
        return _Rejected(line, "control characters within the line")
    words = stripped.split(maxsplit=len(SWF_FIELDS))
    return _judge_words(line, words) if words else None


def _judge_words(line: int, words: list[bytes]) -> _Job | _Rejected:
    """Judge the fields of a line, of which the 19th is all that follows the 18th."""
    if len(words) < len(SWF_FIELDS):
        return _Rejected(line, f"{len(words)} field{'s' * (len(words) != 1)} instead of {len(SWF_FIELDS)}")
    values = []
    for position, word in enumerate(words[: len(SWF_FIELDS)]):
        value, fault = _judge_number(word, position)
        if fault:
            shown = word[:_SHOWN].decode("utf-8", "backslashreplace")
            return _Rejected(line, f"field {position + 1} ({SWF_FIELDS[position].name}): {shown!r} {fault}")
        values.append(value)
    extra = words[len(SWF_FIELDS)].strip() if len(words) > len(SWF_FIELDS) else b""
    try:
        return _Job(line, values, extra.decode() or None, len(extra.split()))
    except UnicodeDecodeError:
        return _Rejected(line, "the text behind the 18th field is not UTF-8")


def _judge_number(word: bytes, position: int) -> tuple[float, str | None]:
    """Return the value of a field, or what is wrong with it."""
    if (len(word) < 10 and word.isdigit()) or word == b"-1":
        return int(word), None  # what nearly every field is; no maximum is below
    field = SWF_FIELDS[position]
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        return 0, "is not a number"
    if field.type != INT64:
        value: Decimal | float = float(word)
    else:  # an identifier may have more digits than a float64 holds
        value = int(word) if word.lstrip(b"+-").isdigit() else Decimal(word.decode())
    if field.maximum is not None and not -field.maximum <= value <= field.maximum:
        return 0, f"is beyond {field.maximum:g}"
    if field.type == INT64 and value != int(value):
        return 0, "is not a whole number"
    if value < 0 and value != -1 and position != STATUS:
        return 0, "is negative (only -1, missing, may be)"
    return (int(value) if field.type == INT64 else float(value) + 0.0), None  # + 0.0 makes -0.0 plain zero


def _decode(line: bytes) -> str:
    """Return a line as text: UTF-8, or Latin-1 as older logs have it, which decodes anything."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _assemble(
    text: bytes, found: _Lines, first_line: int
) -> tuple[pd.DataFrame, pa.LargeStringArray, npt.NDArray[np.int64]]:
    """Return the jobs table, the text behind the 18th field of each row, and of how many words that is.

    What the scanner read and, in their places, the jobs judged in Python.
    """
    arrays, jobs, late = found.arrays, found.jobs, found.late
    late_lines = np.array([job.line for job in late], np.int64)
    places = np.searchsorted(arrays.line[:jobs], late_lines)
    columns: dict[str, Any] = {}  # of arrays: series would have their indices compared, which takes longest
    for position, field in enumerate(SWF_FIELDS):
        row, added = ROW_OF_FIELD[position], [job.values[position] for job in late]
        if IS_INTEGER[position]:
            columns[field.name] = _integers(_merge(arrays.integers[row, :jobs], places, np.array(added, np.int64)))
        else:
            known = np.array([np.nan if value == -1 else value for value in added], np.float64)
            columns[field.name] = _merge(arrays.floats[row, :jobs], places, known)
    numbers = _merge(arrays.line[:jobs], places, late_lines)
    numbers += first_line  # in place: nothing asks for the index of a job's line any more
    columns["line_number"] = _integers(numbers)
    words = _merge(arrays.extra_words[:jobs], places, np.array([job.words for job in late], np.int64))
    frame = pd.DataFrame(columns, copy=False)
    rows = np.flatnonzero(arrays.extra_words[:jobs])
    if not len(rows) and not any(job.extra for job in late):
        return frame, pa.nulls(len(frame), pa.large_string()), words
    # The pieces between one text and the next are split off too, and every second piece is taken.
    offsets = np.append(np.column_stack((arrays.extra_start[rows], arrays.extra_end[rows])).ravel(), len(text))
    pieces = _split_at(text, offsets).take(pa.array(np.arange(0, 2 * len(rows), 2))).cast(pa.large_string())
    pieces = pa.concat_arrays([pieces, pa.array([job.extra for job in late], pa.large_string())])
    which = np.full(jobs, -1)
    which[rows] = np.arange(len(rows))
    which = _merge(which, places, len(rows) + np.arange(len(late)))
    return frame, pieces.take(pa.array(which, mask=which < 0)), words


def _merge(
    values: npt.NDArray[_Number], places: npt.NDArray[np.int64], added: npt.NDArray[_Number]
) -> npt.NDArray[_Number]:
    """Return values with others inserted before given places; the values themselves where there are no others."""
    return np.insert(values, places, added) if len(added) else values


def _integers(values: npt.NDArray[np.int64]) -> pd.arrays.IntegerArray:
    """Return Int64 values in which -1 is missing, without a copy."""
    return pd.arrays.IntegerArray(values, values == -1)


def _quarantine(text: bytes, arrays: Scan, rejected: list[_Rejected], first_line: int) -> pd.DataFrame:
    """Return the quarantine table of rejected lines; bytes that are not UTF-8 as escapes, so that none is lost."""
    frame = empty_frame("quarantine")
    if not rejected:
        return frame
    texts = []
    for line, _ in rejected:
        raw = _raw_line(text, arrays, line)
        kept = raw[:_KEPT] if _is_overlong(raw) else raw
        texts.append(kept.rstrip(b"\r\n").decode("utf-8", "backslashreplace"))
    rows = {
        "line_number": [item.line + first_line for item in rejected],
        "rule": "read",
        "reason": [item.reason for item in rejected],
        "text": texts,
    }
    return pd.DataFrame(rows).astype(frame.dtypes.to_dict())
