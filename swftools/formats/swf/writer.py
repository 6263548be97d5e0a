"""Write the Standard Workload Format 2.2; what ``write_swf`` writes, ``read_swf`` reads back as the same Trace."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import SchemaError, SwfFormatError
from swftools.fields.definition import STRING
from swftools.fields.jobs import SWF_FIELDS, SWF_NAMES
from swftools.formats.compression import LogSource, create_log
from swftools.formats.swf.block import MOST_FIELDS
from swftools.formats.swf.kernel import LONGEST_LINE
from swftools.header import UTILITY_NOTE
from swftools.tables import to_arrow
from swftools.trace import Trace
from swftools.utility.functions import UtilityFunctions
from swftools.utility.tuples import format_tuples

_LINES_AT_ONCE = 1 << 10  # so that even the longest lines fit into an Arrow array of 2 GiB
_MOST_EXTRA = MOST_FIELDS - len(SWF_FIELDS)
_EXTRA_FIELDS = rf"^[^\x00-\x20]+([ \t]+[^\x00-\x20]+){{0,{_MOST_EXTRA - 1}}}$"


def write_swf(trace: Trace, target: LogSource) -> None:
    r"""Write a trace in the Standard Workload Format 2.2, or its extension where jobs have utility functions.

    Parameters
    ----------
    trace : Trace
        Missing values are written as -1. Behind the 18 fields stand, where there is a ``utility`` column, its
        alternating times and values, announced by a Note, and else the ``extra_fields``. Columns that SWF has no
        place for, and in an extended file the ``extra_fields``, are not written.
    target : path or binary file object
        The suffix .gz, .bz2, .xz or .zst compresses, each with a checksum. A path appears, or is replaced, only when
        all is written, and equal traces give equal bytes. A file object receives plain text.

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
