# SPDX-License-Identifier: BSD-3-Clause
"""The text of a log in pieces of whole lines; and a long log read from such pieces, which are not kept.

Its columns are there once, in no more memory than they need.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.fields.definition import INT64
from swftools.fields.dictionary import SWF_FIELDS
from swftools.formats.accounting.digest import Digest
from swftools.formats.compression import LogSource, LogStream, Progress, open_log
from swftools.formats.multi_file import LogFiles
from swftools.formats.place import file_of
from swftools.formats.source_lines import SourceLines
from swftools.formats.swf import dialects
from swftools.formats.swf.as_trace import provenance_of, trace_of, unread
from swftools.formats.swf.block import BYTE_ORDER_MARK, read_block, refuse_counts
from swftools.formats.swf.kernel import LONGEST_LINE, ScannerMemory
from swftools.formats.swf.row_numbers import RowNumbers
from swftools.header import SwfHeader
from swftools.kernel import untouched_zeros
from swftools.tables import empty_frame, share_alike
from swftools.trace import Trace

LONG_TEXT = 1 << 25
"""Bytes of a file, as it is stored, from which its text is read in pieces that are not kept."""

_PIECE = 1 << 23

_SPARE = 1.05
"""How much more room there is than the lines so far foretell. What is not used takes none: nobody wrote to it."""


class GrowingJobs:
    """Jobs that come piece by piece, as ``read_block`` returns them where lines have 18 fields.

    A column that is missing throughout takes no room for its numbers, one that is never missing none for that; and
    columns that are alike are there once.
    """

    def __init__(self) -> None:
        integers = {field.name: field.type == INT64 for field in SWF_FIELDS}
        self._columns = {name: _Column(is_integer) for name, is_integer in {**integers, "line_number": True}.items()}
        self._jobs = 0

    def takes(self, jobs: pd.DataFrame) -> bool:
        """Whether jobs have no columns but the 18 and their lines."""
        return list(jobs) == list(self._columns)

    def add(self, jobs: pd.DataFrame, share: float) -> None:
        """Add the next jobs.

        Parameters
        ----------
        jobs : pandas.DataFrame
            Of a piece.
        share : float
            How much of the log has been read, these jobs among it, from 0 to 1; by it the rest is foretold.
        """
        count = self._jobs + len(jobs)
        room = max(count, int(_SPARE * count / share))
        for name, column in self._columns.items():
            column.add(jobs[name].array, self._jobs, room)
        self._jobs = count

    def finish(self) -> pd.DataFrame:
        """Return the table; the pieces are forgotten."""
        made: dict[str, pd.Series[Any]] = {}
        for name in list(self._columns):
            made[name] = share_alike(self._columns.pop(name).finish(self._jobs), made.values())
        return pd.DataFrame(made, copy=False)


class _Column:
    """A column that grows."""

    def __init__(self, is_integer: bool) -> None:
        self._is_integer = is_integer
        self._values: npt.NDArray[Any] | None = None  # as long as all are missing
        self._missing: npt.NDArray[np.bool_] | None = None  # of whole numbers, as long as none is

    def add(self, array: Any, before: int, room: int) -> None:
        """Add values behind those before them."""
        missing = array.isna()
        if self._values is None and missing.all():
            return
        lacks = self._is_integer and bool(missing.any())
        values = array.to_numpy(dtype=np.int64, na_value=-1, copy=False) if self._is_integer else np.asarray(array)
        after = before + len(values)
        if self._values is None:
            self._values = np.empty(room, values.dtype)
            self._values[:before] = -1 if self._is_integer else np.nan
            if before and self._is_integer:
                self._missing = untouched_zeros(room, np.bool_)
                self._missing[:before] = True
        self._values = _with_room(self._values, before, after, room)
        self._values[before:after] = values
        if self._is_integer and (lacks or self._missing is not None):
            if self._missing is None:
                self._missing = untouched_zeros(room, np.bool_)
            self._missing = _with_room(self._missing, before, after, room)
            self._missing[before:after] = missing

    def finish(self, count: int) -> pd.Series[Any]:
        """Return the column."""
        values, missing = self._values, self._missing
        self._values = self._missing = None
        if not self._is_integer:
            return pd.Series(np.full(count, np.nan) if values is None else values[:count], copy=False)
        if values is None:
            array = pd.arrays.IntegerArray(untouched_zeros(count, np.int64), np.ones(count, np.bool_))
        else:
            none = untouched_zeros(count, np.bool_) if missing is None else missing[:count]
            array = pd.arrays.IntegerArray(values[:count], none)
        return pd.Series(array, copy=False)


def _with_room(values: npt.NDArray[Any], before: int, after: int, room: int) -> npt.NDArray[Any]:
    """Return values, with more room where there is too little."""
    if after <= len(values):
        return values
    grown = np.zeros(max(room, after), values.dtype)
    grown[:before] = values[:before]
    return grown


def is_long(source: LogSource) -> bool:
    """Whether a log is a file so long that its text is not kept."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = file_of(source)
    try:
        return path.is_file() and path.stat().st_size >= LONG_TEXT
    except OSError:  # who opens it says why
        return False


def read_pieces(
    source: LogSource,
    name: str,
    strict: bool,
    utility: bool | None,
    epoch: bool,
    width: dialects.Width,
    *,
    max_bytes: int,
    progress: Progress | None,
) -> Trace | None:
    """Read a log as ``read_swf`` does, in pieces that are forgotten; None if its lines have more than 18 fields.

    Its lines are read again from the file where they are quoted. Also None where times are seconds since 1970, whose
    first one would have to be known before.
    """
    dialects.check_width(width)
    again = SourceLines(LogFiles([source], name), mark=BYTE_ORDER_MARK)
    header, lines, others = SwfHeader(), 0, 0
    jobs, quarantine, rows = GrowingJobs(), [empty_frame("quarantine")], RowNumbers(name)
    dated: bool | None = None if epoch else False
    done, room = [0, 1], ScannerMemory()

    def tell(so_far: int, size: int | None) -> None:
        done[:] = so_far, size or 1
        if progress:
            progress(so_far, size)

    with open_log(source, max_bytes=max_bytes, progress=tell) as stream, Digest() as digest:
        hashed = _Hashed(stream, digest)
        for text in whole_lines(hashed, _PIECE):
            block = read_block(text, name, lines + 1, strict=strict, utility=utility, earlier=header, room=room)
            if not jobs.takes(block.jobs):
                return None
            rows.refuse(block.jobs)
            if dated is None:
                dated = dialects.is_epoch(block.header, block.jobs)
            if dated:
                return None
            header, utility = block.header, block.utility
            lines, others = lines + len(block.lines), others + block.others
            refuse_counts(name, lines, others)
            jobs.add(block.jobs, min(done[0] / done[1], 1.0) or 1.0)
            quarantine.append(block.quarantine)
        sha256 = digest.hexdigest()
    frame = pd.concat([each for each in quarantine if len(each)] or quarantine[:1], ignore_index=True)
    block = replace(block, header=header, jobs=jobs.finish(), quarantine=frame)
    provenance = provenance_of(name, hashed.count, sha256, stream, unread(header))
    return trace_of(block, source=again, provenance=provenance)


class _Hashed:
    """What is read from a stream, hashed and counted beside."""

    def __init__(self, stream: LogStream, digest: Digest) -> None:
        self._stream, self._digest = stream, digest
        self.count = 0

    def read(self, size: int) -> bytes:
        """Read so many bytes."""
        data = self._stream.read(size)
        self._digest.update(data)
        self.count += len(data)
        return data


def whole_lines(stream: LogStream | _Hashed, chunk_bytes: int) -> Iterator[bytes]:
    """Yield a log's text in pieces that end with a line; at least one, which may be empty.

    Of a line too long to be one, no more is kept than shows that it is.
    """
    pending = bytearray()
    is_empty = True
    while data := stream.read(chunk_bytes):
        start = data.find(b"\n") if len(pending) > LONGEST_LINE else 0
        end = data.rfind(b"\n") + 1
        if end:
            yield bytes(pending) + data[start:end]
            pending, is_empty = bytearray(data[end:]), False
        else:
            pending += data
        del pending[LONGEST_LINE + 1 :]
    if pending or is_empty:
        yield bytes(pending)
