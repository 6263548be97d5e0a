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
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from swftools.compression import TEXT_LIMIT, LogSource, create_log, open_log, source_name
from swftools.errors import ParameterError, SchemaError, SwfFormatError
from swftools.fields.definition import STRING
from swftools.fields.jobs import SWF_FIELDS, SWF_NAMES
from swftools.header import UTILITY_NOTE
from swftools.swf_block import MOST_FIELDS, Block, read_block, split_lines
from swftools.swf_kernel import LONGEST_LINE
from swftools.tables import to_arrow
from swftools.trace import Trace
from swftools.utility_functions import UtilityFunctions
from swftools.utility_tuples import format_tuples

_LINES_AT_ONCE = 1 << 10  # so that even the longest lines fit into an Arrow array of 2 GiB
_MOST_EXTRA = MOST_FIELDS - len(SWF_FIELDS)
_EXTRA_FIELDS = rf"^[^\x00-\x20]+([ \t]+[^\x00-\x20]+){{0,{_MOST_EXTRA - 1}}}$"


def read_swf(
    source: LogSource, *, strict: bool = False, utility: bool | None = None, max_bytes: int = TEXT_LIMIT
) -> Trace:
    r"""Read a log in the Standard Workload Format.

    Parameters
    ----------
    source : path or binary file object
        Plain, .gz, .bz2, .xz or .zst, recognised by content.
    strict : bool
        Raise at the first line that is neither a job, a comment nor blank.
    utility : bool, optional
        Whether lines end in utility tuples (extended SWF); by default as the Note says that ``write_swf`` writes,
        if it stands before the first job.
    max_bytes : int
        Most bytes of text to be had from anything but a plain file, compressed logs above all.

    Returns
    -------
    Trace
        ``jobs`` in the order of the file, times float64 seconds, counts Int64, missing (-1) as null, and each
        job's ``line_number``; with ``extra_fields`` where lines have more than 18 fields of unknown meaning,
        or ``utility`` where they are tuples. ``quarantine`` holds line_number, rule, reason and text. The header
        has all comments in order, those between jobs among them, but not the Note about utility tuples.

    Raises
    ------
    UnreadableLogError
        The file is missing, truncated, corrupt or larger than ``max_bytes``.
    SwfFormatError
        With ``strict``: names file, line, field and remedy. Without, only where lines are too many for a log.
    ParameterError
        The source is neither a path nor a binary file object.

    Notes
    -----
    Lines end in LF or CR LF, the last one also with the file; a byte-order mark is passed over. A line is

    * blank, if it has nothing but blanks and tabs;
    * a comment, if it begins with ``;``, in UTF-8 or else in Latin-1;
    * a job, if it has at least 18 fields, parted by blanks and tabs, of which the first 18 are decimal numbers
      (``7``, ``+7``, ``7.0``, ``.5``, ``7e2``; at most 400 characters, 4 of exponent) fit for their columns: whole
      where the column is Int64, none negative but -1 and statuses, none beyond the maximum of
      ``swftools.fields.dictionary`` (10^10 s, 2^31 - 1 processors);
    * else damage, which goes to the quarantine: to guess its meaning would be a silently wrong row. So do
      control characters and carriage returns within a line, text behind the 18th field that is not UTF-8 or
      makes more than 32 fields in all (unless it is utility tuples: two lines run together), a utility function
      that breaks the form, and lines beyond 1 MiB, of whose text only the first 64 KiB are kept there.

    Examples
    --------
    >>> import io
    >>> log = b"; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\nnot a job\n"
    >>> trace = read_swf(io.BytesIO(log))
    >>> len(trace.jobs), trace.header.max_procs, trace.quarantine["reason"].item()
    (1, 8, '3 fields instead of 18')
    """
    name = source_name(source)
    with open_log(source, max_bytes=max_bytes) as stream:
        text = stream.read()
    block = read_block(text, name, 1, strict=strict, utility=utility)
    provenance = {"name": Path(name).name, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    return _trace(block, source=block.lines, provenance=provenance)


def iter_swf(
    source: LogSource,
    *,
    chunk_bytes: int = 1 << 24,
    strict: bool = False,
    utility: bool | None = None,
    max_bytes: int = TEXT_LIMIT,
) -> Iterator[Trace]:
    """Read a log in chunks of whole lines, in memory that grows with the log's header alone.

    Yields one Trace a chunk; together their jobs and quarantine are those of ``read_swf``, the column
    ``extra_fields`` being there only in chunks that have such text. Each carries the header as far as it has been
    read. A chunk of comments alone is not yielded but joined to the next, so that in a log whose comments stand
    first each Trace has them all; only where a log ends in comments do they come in a Trace without jobs.

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
    ParameterError
        As in ``read_swf``, or ``chunk_bytes`` is not positive; at the first chunk.
    """
    if chunk_bytes < 1:
        raise ParameterError(f"chunk_bytes={chunk_bytes}: at least 1")
    name = source_name(source)
    provenance = {"name": Path(name).name}
    block: Block | None = None
    lines = 0
    is_pending = False
    for text in _whole_lines(source, chunk_bytes, max_bytes):
        header = block.header if block else None
        block = read_block(text, name, lines + 1, strict=strict, utility=utility, earlier=header)
        lines += len(block.lines)
        utility = block.utility
        is_pending = not (len(block.jobs) or len(block.quarantine))
        if not is_pending:
            yield _trace(block, provenance=provenance)
    if block and is_pending:
        yield _trace(block, provenance=provenance)


def _whole_lines(source: LogSource, chunk_bytes: int, max_bytes: int) -> Iterator[bytes]:
    """Yield a log's text in pieces that end with a line; at least one, which may be empty.

    Of a line too long to be one, no more is kept than shows that it is.
    """
    pending = bytearray()
    is_empty = True
    with open_log(source, max_bytes=max_bytes) as stream:
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


def _trace(block: Block, *, source: pa.LargeBinaryArray | None = None, provenance: Mapping[str, object]) -> Trace:
    """Return the trace of a block; the Note that announced utility tuples has become their column."""
    header = block.header.without_note(UTILITY_NOTE)
    return Trace(header, block.jobs, block.quarantine, source=source, provenance=provenance)


def read_lines(source: LogSource, *, max_bytes: int = TEXT_LIMIT) -> pa.LargeBinaryArray:
    """Return every line of a log, newline included, as ``Trace.source`` holds them.

    Raises
    ------
    UnreadableLogError, ParameterError
        As in ``read_swf``.
    """
    with open_log(source, max_bytes=max_bytes) as stream:
        return split_lines(stream.read())


def write_swf(trace: Trace, target: LogSource) -> None:
    r"""Write a trace in the Standard Workload Format 2.2, or its extension where jobs have utility functions.

    Parameters
    ----------
    trace : Trace
        Missing values are written as -1. Behind the 18 fields stand, where there is a ``utility`` column, its
        alternating times and values, announced by a Note, and else the ``extra_fields``. Columns that SWF has no
        place for, and in an extended file the ``extra_fields``, are not written.
    target : path or binary file object
        The suffix .gz, .bz2, .xz or .zst compresses. A path appears only when all is written, and equal
        traces give equal bytes. A file object receives plain text.

    Raises
    ------
    SwfFormatError
        A value or header entry would not read back, such as a negative time.
    UtilityError
        A utility function breaks the form.
    StorageError
        The target cannot be written.
    ParameterError
        The target is neither a path nor a binary file object.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_swf(Trace.from_columns(job_number=[1], submit_time=[0], run_time=[2.5]), file)
    >>> file.getvalue()
    b'1 0 -1 2.5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n'
    """
    tail = next((name for name in ("utility", "extra_fields") if name in trace.jobs), None)
    columns = [*SWF_NAMES, tail] if tail else list(SWF_NAMES)
    try:
        table = to_arrow(trace.jobs[columns], "jobs")
    except SchemaError as error:
        raise SwfFormatError(f"cannot be written as SWF: {error}") from error
    if (row := pc.index(table["status"], -1).as_py()) >= 0:
        raise SwfFormatError(f"row {row}: status -1 would read back as missing; make it null")
    words = [_aligned(table[name].combine_chunks()) for name in SWF_NAMES]
    header = trace.header.without_note(UTILITY_NOTE)
    if tail == "utility":
        header = header.with_entry("Note", UTILITY_NOTE)
        UtilityFunctions.from_arrow(table["utility"])  # checks them all before anything is written
    elif tail == "extra_fields":
        _check_extras(table["extra_fields"])
    comments = [line.encode() for line in header.to_lines()]
    if any(len(line) >= LONGEST_LINE for line in comments):
        raise SwfFormatError(f"a header entry of {LONGEST_LINE:,} bytes and more would not read back; shorten it")
    with create_log(target) as stream:
        stream.write(b"".join(line + b"\n" for line in comments))
        for start in range(0, len(table), _LINES_AT_ONCE):
            parts = [column.slice(start, _LINES_AT_ONCE) for column in words]
            if tail:
                parts.append(_tails(table[tail].slice(start, _LINES_AT_ONCE)))
            stream.write(_lines(parts, start))


def _tails(column: pa.ChunkedArray) -> pa.StringArray:
    """Return the texts behind the 18th field, none where missing."""
    texts = column.combine_chunks()
    return pc.fill_null(texts if texts.type == STRING else format_tuples(UtilityFunctions.from_arrow(texts)), "")


def _lines(words: list[pa.StringArray], start: int) -> bytes:
    """Return the text of some jobs, the first of which is in row ``start``, from the words of their fields."""
    lines = pc.utf8_rtrim(pc.binary_join_element_wise(*words, " "), " ")
    if (row := pc.index(pc.greater_equal(pc.binary_length(lines), LONGEST_LINE), True).as_py()) >= 0:
        raise SwfFormatError(
            f"row {start + row}: a line of {LONGEST_LINE:,} bytes and more would not read back; "
            "shorten its utility function or extra_fields"
        )
    return "\n".join([*lines.to_pylist(), ""]).encode()


def _aligned(column: pa.Array) -> pa.StringArray:
    """Return the words of a field, missing as -1, padded to equal width so that columns stand straight."""
    words = pc.fill_null(column.cast(pa.string()), "-1")
    return pc.utf8_lpad(words, pc.max(pc.utf8_length(words)).as_py() or 1)


def _check_extras(extras: pa.ChunkedArray) -> None:
    """Raise at the first text behind the 18th field that would not read back."""
    row = pc.index(pc.match_substring_regex(extras, _EXTRA_FIELDS), False).as_py()
    if row >= 0:
        raise SwfFormatError(
            f"row {row}: extra_fields {extras[row].as_py()[:80]!r} would not read back; give 1 to {_MOST_EXTRA} "
            "words parted by blanks, or null"
        )
