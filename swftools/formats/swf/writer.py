# SPDX-License-Identifier: BSD-3-Clause
"""Write the Standard Workload Format 2.2; what ``write_swf`` writes, ``read_swf`` reads back as the same Trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import SchemaError, SwfFormatError, UtilityError
from swftools.fields.definition import STRING
from swftools.fields.dictionary import SWF_FIELDS, SWF_NAMES
from swftools.formats.compression import LogSource, create_log
from swftools.formats.swf import dialects
from swftools.formats.swf.block import MOST_FIELDS
from swftools.formats.swf.kernel import LONGEST_LINE
from swftools.formats.swf.words import Words, end_lines, join_fields, words_of
from swftools.header import UTILITY_NOTE, SwfHeader
from swftools.tables import to_arrow
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions
from swftools.utility.tuples import format_tuples

_LINES_AT_ONCE = 1 << 13  # so that they stay in the processor's cache
_TAILS_AT_ONCE = 1 << 28  # bytes, so that they fit into an Arrow array of 2 GiB
_POINT = 50  # most bytes of a time and a value, each of them 24 and a blank
_CHECKED_AT_ONCE = 1 << 17
_LEVEL = 6
_LEVEL_OF_UTILITY = 1  # long decimals hardly compress: a fifth of the time for a tenth more bytes
_MOST_EXTRA = MOST_FIELDS - len(SWF_FIELDS)
_EXTRA_FIELDS = rf"^[^\x00-\x20]+([ \t]+[^\x00-\x20]+){{0,{_MOST_EXTRA - 1}}}$"


def write_swf(trace: Trace, target: LogSource, *, as_read: bool = False) -> None:
    r"""Write a trace in the Standard Workload Format 2.2, extended if jobs have utility functions.

    Parameters
    ----------
    trace : Trace
        Missing values are written as -1. After the 18 fields come the alternating times and values of the column
        ``utility``, announced by a Note; or, without that column, the ``extra_fields``. Columns that have no place in
        SWF, and in an extended file the ``extra_fields``, are not written.
    target : path or binary file object
        The suffix .gz, .bz2, .xz or .zst chooses the compression, always with a checksum. A path appears, or is
        replaced, only when all is written; equal traces give equal bytes. A file object receives plain text.
    as_read : bool
        Write the dialect that the log was read from: 21 fields, fields 5 and 8 as they were, submit times since 1970
        (``swftools.formats.swf.dialects``). Values are the same; how they are written may differ.

    Raises
    ------
    SwfFormatError
        A value or header entry would not read back, such as a negative time.
    UtilityError
        A utility function breaks the form.
    StorageError
        The target cannot be written; an old file stays as it was.
    ParameterError
        The target is neither a path nor a binary file object, or its suffix is .Z.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_swf(Trace.from_columns(job_number=[1], submit_time=[0], run_time=[2.5]), file)
    >>> file.getvalue()
    b'1 0 -1 2.5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n'
    """
    if as_read:
        trace = dialects.as_they_came(trace)
    tail = _tail_of(trace.jobs.columns)
    columns = [*SWF_NAMES, tail] if tail else list(SWF_NAMES)
    try:
        table = to_arrow(trace.jobs[columns], "jobs")
    except SchemaError as error:
        raise SwfFormatError(f"cannot be written as SWF: {error}") from error
    write_jobs(trace.header, table, target, as_read=as_read)


def write_jobs(header: SwfHeader, table: pa.Table, target: LogSource, *, as_read: bool = False) -> None:
    """Write the jobs of a table as ``write_swf`` does those of a trace.

    Parameters
    ----------
    header : SwfHeader
        The log's header.
    table : pyarrow.Table
        Jobs that ``swftools.tables.check_table`` accepts, in whole columns: the 18 fields, and what may stand behind
        them.
    target : path or binary file object
        As in ``write_swf``.
    as_read : bool
        Submit times may be taken for seconds since 1970; else the header says where they are not.

    Raises
    ------
    SwfFormatError, UtilityError, StorageError, ParameterError
        As in ``write_swf``.
    """
    write_pieces(header, table.column_names, [table], target, as_read=as_read)


def write_pieces(
    header: SwfHeader,
    columns: Iterable[str],
    pieces: Iterable[pa.Table],
    target: LogSource,
    *,
    as_read: bool = False,
) -> None:
    """Write jobs as ``write_jobs`` does, of which no more than a piece is in memory; columns are aligned in each.

    Parameters
    ----------
    header : SwfHeader
        The log's header.
    columns : iterable of str
        Of all pieces.
    pieces : iterable of pyarrow.Table
        The jobs, one behind the other.
    target : path or binary file object
        As in ``write_swf``.
    as_read : bool
        As in ``write_jobs``.

    Raises
    ------
    SwfFormatError, UtilityError, StorageError, ParameterError
        As in ``write_swf``.
    """
    tail, waiting = _tail_of(columns), iter(pieces)
    header = header.without_note(UTILITY_NOTE).without_note(dialects.RELATIVE_NOTE)
    first: list[pa.Table] = []  # up to the first submit time that is known
    for table in waiting:
        first.append(table)
        is_epoch = dialects.is_epoch(header, table.select(["submit_time"]).to_pandas())
        if is_epoch is not None:
            if is_epoch and not as_read:
                header = header.with_entry("Note", dialects.RELATIVE_NOTE)
            break
    table = None  # no piece is held for longer than it takes to write it
    if tail == "utility":
        header = header.with_entry("Note", UTILITY_NOTE)
    comments = [line.encode() for line in header.to_lines()]
    if any(len(line) >= LONGEST_LINE for line in comments):
        raise SwfFormatError(f"a header entry of {LONGEST_LINE:,} bytes and more would not read back; shorten it")
    with create_log(target, gzip_level=_LEVEL_OF_UTILITY if tail == "utility" else _LEVEL) as stream:
        stream.write(b"".join(line + b"\n" for line in comments))
        while (table := first.pop(0) if first else next(waiting, None)) is not None:
            _check(table, tail)
            fields = [words_of(table[name]) for name in SWF_NAMES]
            rows, behind = table.num_rows, table[tail] if tail else None
            del table
            for start, stop in _pieces(behind, rows):
                tails = None if behind is None else _tails(behind[start:stop])
                stream.write(_lines(fields, start, stop, tails))
            del fields, behind


def _check(table: pa.Table, tail: str | None) -> None:
    """Raise at the first value that would not read back."""
    if (row := pc.index(table["status"], -1).as_py()) >= 0:
        raise SwfFormatError(f"row {row}: status -1 would read back as missing; make it null")
    if tail == "utility":
        column = table["utility"]
        try:
            for begin in range(0, len(column), _CHECKED_AT_ONCE):  # since it makes copies
                UtilityFunctions.from_arrow(column[begin : begin + _CHECKED_AT_ONCE])
        except UtilityError:
            UtilityFunctions.from_arrow(column)  # says which of all it is
            raise
    elif tail == "extra_fields":
        _check_extras(table["extra_fields"])


def _tail_of(columns: Iterable[str]) -> str | None:
    """Return which column stands behind the 18 fields; None if none does."""
    return next((name for name in ("utility", "extra_fields") if name in columns), None)


def _pieces(tails: pa.ChunkedArray | None, jobs: int) -> Iterator[tuple[int, int]]:
    """Yield the first row of each piece of a table, and the one behind the last: as many lines as are written at once.

    Pieces of long tails are shorter, but have a row at least.
    """
    sizes = np.zeros(jobs + 1, np.int64)
    if tails is not None:
        lengths = pc.binary_length(tails) if tails.type == STRING else pc.multiply(pc.list_value_length(tails), _POINT)
        np.cumsum(pc.fill_null(lengths, 0), out=sizes[1:])
    stop = 0
    while stop < jobs:
        start = stop
        fitting = int(np.searchsorted(sizes, sizes[start] + _TAILS_AT_ONCE, "right")) - 1
        stop = max(start + 1, min(start + _LINES_AT_ONCE, fitting))
        yield start, stop


def _tails(column: pa.ChunkedArray) -> pa.StringArray:
    """Return the texts behind the 18th field, none where missing."""
    texts = column.combine_chunks()
    return pc.fill_null(texts if texts.type == STRING else format_tuples(UtilityFunctions.from_arrow(texts)), "")


def _lines(fields: list[Words], start: int, stop: int, tails: pa.StringArray | None) -> bytes:
    """Return the text of some jobs."""
    lines = join_fields(fields, start, stop)
    room = LONGEST_LINE - lines.shape[1]
    if tails is not None and (row := pc.index(pc.greater_equal(pc.binary_length(tails), room), True).as_py()) >= 0:
        raise SwfFormatError(
            f"row {start + row}: a line of {LONGEST_LINE:,} bytes and more would not read back; "
            "shorten its utility function or extra_fields"
        )
    return end_lines(lines, tails).tobytes()


def _check_extras(extras: pa.ChunkedArray) -> None:
    """Raise at the first text behind the 18th field that would not read back."""
    row = pc.index(pc.match_substring_regex(extras, _EXTRA_FIELDS), False).as_py()
    if row >= 0:
        raise SwfFormatError(
            f"row {row}: extra_fields {extras[row].as_py()[:80]!r} would not read back; give 1 to {_MOST_EXTRA} "
            "words parted by blanks, or null"
        )
