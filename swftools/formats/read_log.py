# SPDX-License-Identifier: BSD-3-Clause
"""The front door: any log of any format that is known becomes a Trace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from swftools.errors import LogFormatError
from swftools.formats.compression import TEXT_LIMIT, LogSource, Progress, source_name
from swftools.formats.detect import detect
from swftools.formats.fetch import on_this_machine
from swftools.formats.multi_file import LogFiles, log_files
from swftools.formats.privacy import Privacy
from swftools.formats.registry import LogFormat, Reading, find_format
from swftools.parameters import refuse_unknown
from swftools.trace import Trace

Source = LogSource | Sequence[str | os.PathLike[str]]


def read_log(
    source: Source,
    format: str | None = None,  # noqa: A002 (what a user would call it)
    *,
    strict: bool = False,
    anonymise: str = "no",
    key: str | None = None,
    max_bytes: int = TEXT_LIMIT,
    progress: Progress | None = None,
    sha256: str | None = None,
    **options: Any,
) -> Trace:
    """Read a log of any format.

    Parameters
    ----------
    source : path, binary file object, or sequence of paths
        Plain or compressed (gzip, bzip2, xz, Zstandard), recognised by content. A folder, a pattern such as
        ``acct/2023*`` or several paths are parts of one log; they are read in the order of their first records.
        ``archive.zip#name`` is a file in a zip archive. An https address is fetched into the cache once, and read from
        there afterwards (``swftools.formats.fetch``).
    format : str, optional
        Name of a format, with options if need be, as in ``"slurm:time_zone=Europe/Berlin"``; ``module:name`` names one
        of your own. By default it is recognised from the text.
    strict : bool
        Raise at the first record that is not a job.
    anonymise : {"no", "numbers", "hash"}
        Names of users, groups, executables, queues and partitions as they are, as numbers only, or as keyed hashes.
        Unless "no", nothing else of the log is quoted either: no ids, no texts of lines, no values in reasons.
    key : str, optional
        The secret of the hashes.
    max_bytes : int
        Largest size of the text once decompressed; a plain file may be larger.
    progress : callable, optional
        As in ``open_log``.
    sha256 : str, optional
        Hash of what is at an address: of the file, or of its decompressed text.
    **options
        Options of the format.

    Returns
    -------
    Trace
        For an accounting log: ``jobs`` sorted and numbered by submission, with second 0 at the first
        submission, and with the columns of accounting logs that the log has; ``quarantine`` with every record that
        is not a job and why; ``merged`` with every line that became part of a job; ``names``; ``provenance`` with
        format, options and ``anomalies``, with the number of each. For SWF: what ``read_swf`` returns.

    Raises
    ------
    UnreadableLogError
        A file is missing, truncated, corrupt or too large.
    AcquireError
        What is at an address cannot be fetched, or has another hash.
    LogFormatError
        The text looks like no known format, or like several, or an option is needed to read it, such as a time zone.
    ParameterError
        There is no such format or option.
    SwfFormatError
        With ``strict``; it names file, line and reason.

    Examples
    --------
    >>> import io
    >>> trace = read_log(io.BytesIO(b"1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1"))
    >>> trace.jobs["run_time"].tolist()
    [60.0]
    """
    source = on_this_machine(source, sha256=sha256, max_bytes=max_bytes)
    return read_as(source, format, options, Reading(strict, Privacy(anonymise, key), max_bytes, progress))


def iter_log(
    source: Source,
    format: str | None = None,  # noqa: A002 (as above)
    *,
    chunk_bytes: int = 1 << 22,
    strict: bool = False,
    anonymise: str = "no",
    key: str | None = None,
    max_bytes: int = TEXT_LIMIT,
    **options: Any,
) -> Iterator[Trace]:
    """Read a log of any format in chunks, with little memory.

    Yields one Trace a chunk, in the order of the records. Together their jobs are those of ``read_log``, with the same
    numbers and times, which only the whole log tells: an accounting log is read twice, so that it must be a file, and
    some 100 bytes a record are kept from the first time.

    Parameters
    ----------
    chunk_bytes : int
        About how many bytes of text make a chunk; 4 MiB by default.
    source, format, strict, anonymise, key, max_bytes, **options
        As in ``read_log``.

    Raises
    ------
    UnreadableLogError, LogFormatError, ParameterError, SwfFormatError
        As in ``read_log``.
    """
    files, reader, _ = open_as(on_this_machine(source, max_bytes=max_bytes), format, options)
    how = Reading(strict, Privacy(anonymise, key), max_bytes, chunk_bytes=chunk_bytes)
    yield from reader.iterate(files, how)


def read_as(
    source: Source, name: str | None, options: dict[str, Any], how: Reading, called: str | None = None
) -> Trace:
    """Read a log as ``read_log`` does; ``called`` as in ``open_as``."""
    files, reader, why = open_as(source, name, options, called)
    trace = reader.read(files, how)
    if name is None and "format" in trace.provenance:
        return replace(trace, provenance={**trace.provenance, "recognised_by": why})
    return trace


def open_as(
    source: Source, name: str | None, options: dict[str, Any], called: str | None = None
) -> tuple[LogFiles, LogFormat, str]:
    """Return the files of a log in order, what reads them, and why it was chosen.

    ``called`` is the name of the log where it is not that of the source, such as of a copy.
    """
    files = log_files(source)
    files.name = called or files.name
    heads = files.heads()
    why = "it was asked for"
    given: dict[str, Any] = {}
    if name is None:
        paths = [source_name(each) for each in files.sources] if files.are_several else [files.name]
        named = [(head, path) for head, path in zip(heads, paths, strict=True) if head.strip()]
        found = dict(detect(head, path) for head, path in named or [(b"", files.name)])
        if len(found) > 1:
            kinds = ", ".join(sorted(found))
            raise LogFormatError(f"{files.name}: its files are of several formats ({kinds}); give those of one")
        name, why = next(iter(found.items()))
    kind, given = find_format(name)
    refuse_unknown(kind.NAME, options, kind.names())
    reader = kind(**given | options)
    reader.put_in_order(files, heads)
    return files, reader, why
