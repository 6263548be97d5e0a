# SPDX-License-Identifier: BSD-3-Clause
"""Read the Standard Workload Format, versions 1 and 2, and its extension by utility functions.

``read_swf`` is tolerant: every line that cannot be a job goes to the quarantine with its number, text and
reason, and nothing is lost. ``strict=True`` raises at the first such line instead. ``iter_swf`` reads the same
in chunks of bounded memory.

References
----------
Chapin et al. 1999; Parallel Workloads Archive, "The Standard Workload Format" (version 2.2).
Lee 2009, section 2.6.1 (utility tuples behind the 18 fields).
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from swftools.errors import LogFormatError, ParameterError, SwfFormatError
from swftools.formats.compression import TEXT_LIMIT, LogSource, Progress, open_log, source_name
from swftools.formats.swf import dialects
from swftools.formats.swf.as_trace import provenance_of, trace_of, unread, unverified
from swftools.formats.swf.block import Block, read_block, split_lines
from swftools.formats.swf.pieces import is_long, read_pieces, whole_lines
from swftools.formats.swf.row_numbers import RowNumbers
from swftools.keyed_random import OccurrenceCounter
from swftools.trace import Trace


def read_swf(
    source: LogSource,
    *,
    strict: bool = False,
    utility: bool | None = None,
    epoch: bool = True,
    width: dialects.Width = "cores",
    max_bytes: int = TEXT_LIMIT,
    progress: Progress | None = None,
) -> Trace:
    r"""Read a log in the Standard Workload Format.

    Parameters
    ----------
    source : path or binary file object
        Plain, .gz, .bz2, .xz or .zst, recognised by content. Standard input is ``sys.stdin.buffer``.
    strict : bool
        Raise at the first line that is neither a job, a comment nor blank.
    utility : bool, optional
        Whether lines end in utility tuples (extended SWF). By default the Note that ``write_swf`` writes decides, if it
        stands before the first job.
    epoch : bool
        If the log has no UnixStartTime and its first submission, as seconds since 1970, lies in the years 1990 to 2100,
        read submit times in that way. The log then begins with its first submission; the header says so in
        UnixStartTime and a Note, and ``anomalies`` counts the jobs. False takes times as they are.
    width : {"cores", "nodes", "fields"}
        Width of a job whose line of 21 fields ends in Frontier's ``machine:share:NODESxCORES``: nodes times cores,
        the nodes, or what fields 5 and 8 say.
    max_bytes : int
        Largest size of the text once decompressed; a plain file may be larger.
    progress : callable, optional
        Called with the bytes of the file read so far and its size (None for a pipe), as in ``open_log``.

    Returns
    -------
    Trace
        ``jobs`` in the order of the file: times as float64 seconds, counts as Int64, missing (-1) as null, and each
        job's ``line_number``. Text after the 18th field becomes ``extra_fields``, or ``utility`` if it is utility
        tuples, or columns of their own if it belongs to a dialect (``swftools.formats.swf.dialects``). ``quarantine``
        has line_number, rule, reason and text. The header has all comments in order, also those between jobs, but not
        the Note about utility tuples. ``provenance`` has the file's name, the size and sha256 of the text, in
        ``unverified`` why damage would not show (if the compressed file has no checksum), and in ``anomalies`` which
        numbers of the header cannot be read. An empty text, or one of comments and blank lines, gives a Trace without
        jobs.

    Raises
    ------
    UnreadableLogError
        The file is missing, truncated, corrupt or larger than ``max_bytes``, or has the name of a compressed file but
        is not compressed.
    LogFormatError
        The numbers of the rows stand in front of all fields.
    SwfFormatError
        With ``strict``; it names file, line, field and remedy. Without ``strict``, only if there are too many lines.
    ParameterError
        The source is neither a path nor a binary file object.

    Notes
    -----
    Lines end in LF or CR LF, the last one also with the file; a byte-order mark is skipped. A line is

    * blank, if it has nothing but blanks and tabs;
    * a comment, if it begins with ``;``, in UTF-8 or else in Latin-1;
    * a job, if it has at least 18 fields, separated by blanks and tabs, and the first 18 are decimal numbers
      (``7``, ``+7``, ``7.0``, ``.5``, ``7e2``; at most 400 characters, 4 of exponent) that fit their columns: whole
      numbers in Int64 columns, no negative value but -1 and statuses, and none above the maximum of
      ``swftools.fields.dictionary`` (10^10 s, 2^31 - 1 processors);
    * otherwise damaged, and goes to the quarantine: a guess at its meaning could be silently wrong. So do lines with
      control characters or carriage returns in them, lines whose text after the 18th field is not UTF-8 or makes more
      than 32 fields in all (two lines run together, unless it is utility tuples), utility functions that break the
      form, and lines above 1 MiB, of which only the first 64 KiB are kept.

    Examples
    --------
    >>> import io
    >>> log = b"; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\nnot a job\n"
    >>> trace = read_swf(io.BytesIO(log))
    >>> len(trace.jobs), trace.header.max_procs, trace.quarantine["reason"].item()
    (1, 8, '3 fields instead of 18')
    """
    name = source_name(source)
    if is_long(source):
        trace = read_pieces(source, name, strict, utility, epoch, width, max_bytes=max_bytes, progress=progress)
        if trace is not None:
            return trace
    with open_log(source, max_bytes=max_bytes, progress=progress) as stream:
        text = stream.read()
    # Hashing takes a third of the time, and both it and the scanner let other threads run.
    with ThreadPoolExecutor(1) as beside:
        digest = beside.submit(hashlib.sha256, text)
        block = read_block(text, name, 1, strict=strict, utility=utility)
        RowNumbers(name).refuse(block.jobs)
        told = unread(block.header)
        origin = dialects.first_second(block.jobs) if epoch and dialects.is_epoch(block.header, block.jobs) else None
        queues: dict[str, int] = {}
        block = _plain(block, _Way(name, strict, width, origin, 1, queues), told)
    provenance = provenance_of(name, len(text), digest.result().hexdigest(), stream, told)
    return trace_of(block, source=block.lines, provenance=provenance, queues=queues)


def iter_swf(
    source: LogSource,
    *,
    chunk_bytes: int = 1 << 24,
    strict: bool = False,
    utility: bool | None = None,
    epoch: bool = True,
    width: dialects.Width = "cores",
    max_bytes: int = TEXT_LIMIT,
) -> Iterator[Trace]:
    """Read a log in chunks of whole lines, in memory that does not grow with a log whose jobs are numbered in order.

    Yields one Trace a chunk; together their jobs and quarantine are those of ``read_swf``, the column
    ``extra_fields`` being there only in chunks that have such text. The jobs also have a column
    ``job_occurrence``: how many earlier lines of the log, also of earlier chunks, have the same job_number. So a job of
    a chunk draws the same random numbers as in the whole log. If job numbers are not in order, this takes 32 bytes for
    each of them. Each Trace has the header as far as it has been read. A chunk of only comments is joined to the next
    one, so in a log whose comments come first each Trace has all of them. Comments or blank lines at the end of a log
    come in a Trace without jobs. So at least one Trace is yielded, also for an empty log.

    Parameters
    ----------
    chunk_bytes : int
        About how many bytes of text make a chunk; 16 MiB by default.
    source, strict, utility, epoch, width, max_bytes
        As in ``read_swf``. A log whose submit times are seconds since 1970 is read twice, for the first of them.

    Raises
    ------
    UnreadableLogError, SwfFormatError
        As in ``read_swf``, when the chunk is reached.
    LogFormatError
        Its submit times are seconds since 1970, and it is a stream that can be read only once.
    ParameterError
        As in ``read_swf``, or ``chunk_bytes`` is not positive; at the first chunk.
    """
    if chunk_bytes < 1:
        raise ParameterError(f"chunk_bytes={chunk_bytes}: at least 1")
    name = source_name(source)
    block: Block | None = None
    occurrences = OccurrenceCounter()
    lines = 0
    is_pending = False
    queues: dict[str, int] = {}
    dated: bool | None = None if epoch else False
    origin: float | None = None
    again, rows = _Again(source, name), RowNumbers(name)
    with open_log(source, max_bytes=max_bytes) as stream:
        for text in whole_lines(stream, chunk_bytes):
            header = block.header if block else None
            block = read_block(text, name, lines + 1, strict=strict, utility=utility, earlier=header)
            utility = block.utility
            rows.refuse(block.jobs)
            if dated is None:
                dated = dialects.is_epoch(block.header, block.jobs)
                origin = again.first_second(chunk_bytes, max_bytes, utility) if dated else None
            told: Counter[str] = Counter()
            plain = _plain(block, _Way(name, strict, width, origin, lines + 1, queues), told)
            lines += len(block.lines)
            is_pending = not (len(plain.jobs) or len(plain.quarantine))
            counted = pd.array(occurrences.count(plain.jobs), dtype="Int64")
            plain = replace(plain, jobs=plain.jobs.assign(job_occurrence=counted))
            if not is_pending:
                odd = {"anomalies": dict(told)} if told else {}
                where = {"name": Path(name).name, **unverified(stream), **odd}
                yield trace_of(plain, provenance=where, queues=queues)
        if block and is_pending:
            yield trace_of(plain, provenance={"name": Path(name).name, **unverified(stream)})


class _Way(NamedTuple):
    """How a block becomes plain: what messages call the log, its first line, second 0 if times are since 1970."""

    name: str
    strict: bool
    width: dialects.Width
    origin: float | None
    first_line: int
    queues: dict[str, int]
    """Numbers of the names of queues so far."""


def _plain(block: Block, way: _Way, told: Counter[str]) -> Block:
    """Return a block whose jobs are in the columns of SWF 2.2, whatever dialect its lines are in; count what is odd."""
    dialects.check_width(way.width)
    jobs, found = dialects.split_fields(block.jobs, way.width)
    told.update(found)
    jobs = dialects.number_queues(jobs, way.queues)
    if way.queues:
        block = replace(block, header=block.header.with_entry("Note", dialects.QUEUES_NOTE))
    if way.origin is None:
        return block if jobs is block.jobs else replace(block, jobs=jobs)
    jobs, wrong = dialects.since(jobs, way.origin)
    rows = (wrong["line_number"].to_numpy("int64") - way.first_line).tolist()
    texts = [
        line.as_py().rstrip(b"\r\n").decode("utf-8", "backslashreplace")
        for line in block.lines.take(pa.array(rows, pa.int64()))
    ]
    rejected = dialects.reject(wrong, texts)
    if way.strict and len(rejected):
        number, reason = (rejected[column].iloc[0] for column in ("line_number", "reason"))
        raise SwfFormatError(f"{way.name}, line {number}: {reason}; mend the line, or read with epoch=False")
    told["submit times since 1970 with no UnixStartTime: taken so (epoch=false refuses)"] += len(jobs)
    quarantine = block.quarantine
    if len(rejected):
        quarantine = pd.concat([quarantine, rejected]).sort_values("line_number", ignore_index=True)
    return replace(block, header=dialects.dated(block.header, way.origin), jobs=jobs, quarantine=quarantine)


class _Again:
    """Reads a log a second time, before the first time is over."""

    def __init__(self, source: LogSource, name: str) -> None:
        self._source, self._name = source, name
        self._is_path = isinstance(source, str | os.PathLike)
        seekable = getattr(source, "seekable", None)
        self._start = source.tell() if not self._is_path and seekable and seekable() else None  # type: ignore[union-attr]

    def first_second(self, chunk_bytes: int, max_bytes: int, utility: bool | None) -> float:
        """Return the first second, since 1970, in which a job of the whole log was submitted."""
        if self._is_path:
            return self._least(chunk_bytes, max_bytes, utility)
        if self._start is None:
            raise LogFormatError(
                f"{self._name}: its submit times are seconds since 1970, so it is read twice, and this stream only "
                "once; save it as a file, or read with epoch=False"
            )
        at = self._source.tell()  # type: ignore[union-attr]
        self._source.seek(self._start)  # type: ignore[union-attr]
        least = self._least(chunk_bytes, max_bytes, utility)
        self._source.seek(at)  # type: ignore[union-attr]
        return least

    def _least(self, chunk_bytes: int, max_bytes: int, utility: bool | None) -> float:
        least = float("inf")
        with open_log(self._source, max_bytes=max_bytes) as stream:
            for text in whole_lines(stream, chunk_bytes):
                block = read_block(text, self._name, 1, strict=False, utility=utility)
                least = min(least, dialects.first_second(block.jobs))
        return least


def read_lines(source: LogSource, *, max_bytes: int = TEXT_LIMIT) -> pa.LargeBinaryArray:
    """Return every line of a log, newline included, as ``Trace.source`` holds them.

    Raises
    ------
    UnreadableLogError, ParameterError
        As in ``read_swf``.
    """
    with open_log(source, max_bytes=max_bytes) as stream:
        return split_lines(stream.read())
