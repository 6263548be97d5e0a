"""Read and write the Standard Workload Format, versions 1 and 2, and its extension by utility functions.

``read_swf`` is tolerant: every line that cannot be a job goes to the quarantine with its number, text and
reason, and nothing is lost. ``strict=True`` raises at the first such line instead. ``iter_swf`` reads the same
in chunks of bounded memory. What ``write_swf`` writes reads back as the same Trace.

References
----------
Chapin et al. 1999; Parallel Workloads Archive, "The Standard Workload Format" (version 2.2).
Lee 2009, section 2.6.1 (utility tuples behind the 18 fields).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.compression import TEXT_LIMIT, LogSource, create_log, open_log, source_name
from swftools.errors import SchemaError, SwfFormatError
from swftools.fields import SWF_FIELDS, SWF_NAMES
from swftools.header import UTILITY_NOTE, SwfHeader
from swftools.swf_block import Block, read_block, split_at
from swftools.tables import to_arrow
from swftools.trace import Trace
from swftools.utility_functions import UtilityFunctions
from swftools.utility_tuples import format_tuples

_LINES_AT_ONCE = 1 << 16


def read_swf(
    source: LogSource, *, strict: bool = False, utility: bool | None = None, max_bytes: int = TEXT_LIMIT
) -> Trace:
    """Read a log in the Standard Workload Format.

    Parameters
    ----------
    source : path or binary file object
        Plain, .gz, .bz2, .xz or .zst, recognised by content.
    strict : bool
        Raise at the first line that is neither a job, a comment nor blank.
    utility : bool, optional
        Whether lines end in utility tuples (extended SWF); by default as the header's Note says.
    max_bytes : int
        Most bytes that a compressed log may decompress to.

    Returns
    -------
    Trace
        ``jobs`` in the order of the file, times float64 seconds, counts Int64, missing (-1) as null, and each
        job's ``line_number``; with ``extra_fields`` where lines have more than 18 fields of unknown meaning,
        or ``utility`` where they are tuples. ``quarantine`` holds line_number, rule, reason and text.

    Raises
    ------
    UnreadableLogError
        The file is missing, truncated, corrupt or larger than ``max_bytes``.
    SwfFormatError
        With ``strict``: names file, line, field and remedy.

    Notes
    -----
    Judged leniently: tabs, CR LF, blank lines, a byte-order mark, a missing last newline, whole numbers written
    as ``4.0``, any status. Judged strictly: fewer than 18 fields; more than 32; a value that is no number,
    not whole where a whole number is due, negative (other than -1), or beyond its bound (10^10 s, 2^31
    processors): such a value is damage, and a guess would be a silently wrong row.

    Examples
    --------
    >>> import io
    >>> log = b"; MaxProcs: 8\\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\\nnot a job\\n"
    >>> trace = read_swf(io.BytesIO(log))
    >>> len(trace.jobs), trace.header.max_procs, trace.quarantine["reason"].item()
    (1, 8, '3 fields instead of 18')
    """
    name = source_name(source)
    with open_log(source, max_bytes=max_bytes) as stream:
        text = stream.read()
    block = read_block(text, name, 1, strict=strict, utility=utility, earlier=[])
    provenance = {"name": Path(name).name, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    return _trace(block, block.comments, source=block.lines, provenance=provenance)


def iter_swf(
    source: LogSource,
    *,
    chunk_bytes: int = 1 << 24,
    strict: bool = False,
    utility: bool | None = None,
    max_bytes: int = TEXT_LIMIT,
) -> Iterator[Trace]:
    """Read a log in chunks of whole lines, in memory that does not grow with the log.

    Yields one Trace a chunk; together their jobs and quarantine are those of ``read_swf``. Each carries the
    header as far as it has been read, complete from the first chunk on in logs whose comments stand first.

    Parameters
    ----------
    chunk_bytes : int
        About how many bytes of text make a chunk; 16 MiB by default.
    source, strict, utility, max_bytes
        As in ``read_swf``.

    Raises
    ------
    UnreadableLogError, SwfFormatError
        As in ``read_swf``, when the chunk is reached.
    """
    name = source_name(source)
    comments: list[str] = []
    lines = 0
    for text in _whole_lines(source, chunk_bytes, max_bytes):
        block = read_block(text, name, lines + 1, strict=strict, utility=utility, earlier=comments)
        lines += len(block.lines)
        comments += block.comments
        yield _trace(block, comments, provenance={"name": Path(name).name})


def _whole_lines(source: LogSource, chunk_bytes: int, max_bytes: int) -> Iterator[bytes]:
    """Yield a log's text in pieces that end with a line; at least one, which may be empty."""
    rest: list[bytes] = []
    empty = True
    with open_log(source, max_bytes=max_bytes) as stream:
        while data := stream.read(chunk_bytes):
            whole, newline, tail = data.rpartition(b"\n")
            if newline:
                yield b"".join((*rest, whole, newline))
                rest, empty = [], False
            rest.append(tail)
        if any(rest) or empty:
            yield b"".join(rest)


def _trace(
    block: Block, comments: list[str], *, source: pa.LargeBinaryArray | None = None, provenance: dict[str, object]
) -> Trace:
    """Return the trace of a block; the Note that announced utility tuples has become their column."""
    header = SwfHeader.from_lines(comments).without_note(UTILITY_NOTE)
    return Trace(header, block.jobs, block.quarantine, source=source, provenance=provenance)


def read_lines(source: LogSource, *, max_bytes: int = TEXT_LIMIT) -> pa.LargeBinaryArray:
    """Return every line of a log, newline included, as ``Trace.source`` holds them.

    Raises
    ------
    UnreadableLogError
        As in ``read_swf``.
    """
    with open_log(source, max_bytes=max_bytes) as stream:
        text = stream.read()
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    offsets = np.concatenate(([0], ends, [len(text)] if not text.endswith(b"\n") and text else []))
    return split_at(text, offsets.astype(np.int64))


def write_swf(trace: Trace, target: LogSource) -> None:
    """Write a trace in the Standard Workload Format 2.2, or its extension where jobs have utility functions.

    Parameters
    ----------
    trace : Trace
        Missing values are written as -1; ``extra_fields`` behind the 18 fields; a ``utility`` column as
        alternating times and values, with the Note that announces them. Columns that SWF has no place for are
        not written.
    target : path or binary file object
        The suffix .gz, .bz2, .xz or .zst compresses. A path appears only when all is written, and equal
        traces give equal bytes.

    Raises
    ------
    SwfFormatError
        A value or header entry would not read back, such as a negative time.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_swf(Trace.from_columns(job_number=[1], submit_time=[0], run_time=[2.5]), file)
    >>> file.getvalue()
    b'1 0 -1 2.5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\\n'
    """
    columns = [name for name in trace.jobs.columns if name in {*SWF_NAMES, "extra_fields", "utility"}]
    try:
        table = to_arrow(trace.jobs[columns], "jobs")
    except SchemaError as error:
        raise SwfFormatError(f"cannot be written as SWF: {error}") from error
    words = [_aligned(table[field.name].combine_chunks()) for field in SWF_FIELDS]
    header = trace.header.without_note(UTILITY_NOTE)
    tail = None
    if "utility" in columns:
        header = header.with_entry("Note", UTILITY_NOTE)
        tail = format_tuples(UtilityFunctions.from_arrow(table["utility"]))
    elif "extra_fields" in columns:
        tail = table["extra_fields"].combine_chunks()
    if tail is not None:
        words.append(pc.fill_null(tail, ""))
    lines = pc.utf8_rtrim_whitespace(pc.binary_join_element_wise(*words, " "))
    with create_log(target) as stream:
        for line in header.to_lines():
            stream.write(line.encode() + b"\n")
        for start in range(0, len(lines), _LINES_AT_ONCE):
            stream.write("\n".join(lines.slice(start, _LINES_AT_ONCE).to_pylist()).encode() + b"\n")


def _aligned(column: pa.Array) -> pa.StringArray:
    """Return the words of a field, missing as -1, padded to equal width so that columns stand straight."""
    words = pc.fill_null(column.cast(pa.string()), "-1")
    return pc.utf8_lpad(words, pc.max(pc.utf8_length(words)).as_py() or 1)
