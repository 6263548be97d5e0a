# SPDX-License-Identifier: BSD-3-Clause
"""A whole Trace as a directory of files: how stages of a pipeline hand it on.

Not the published form (that has versions and a manifest), and not one file for people to copy (``parquet.py``):
its tables as Parquet files, the header as SWF comment lines, and the rest as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from swftools.errors import SchemaError
from swftools.formats.compression import LogSource
from swftools.formats.swf.reader import read_lines
from swftools.header import SwfHeader
from swftools.output.whole_files import create_file
from swftools.tables import QUICK_OPTIONS, check_table, empty_frame, read_frame, read_table, to_pandas, write_frame
from swftools.trace import Trace

TABLES = ("jobs", "quarantine", "merged", "names")
"""The tables of a trace."""


def save_trace(trace: Trace, directory: Path) -> None:
    """Write a trace into an existing, empty directory; its source lines are not copied.

    Each file appears whole. If all must appear at once, write into a directory of another name and rename it.

    Parameters
    ----------
    trace : Trace
        Everything but ``source`` is written.
    directory : Path
        Directory in which a file for each table, header.txt and trace.json are made.

    Raises
    ------
    SchemaError
        The jobs differ from the column dictionary, or the provenance is not what JSON can hold.
    SwfFormatError
        A header entry would not read back.
    StorageError
        A file cannot be written: no such directory, no permission, disk full.
    """
    frames = {"jobs": trace.jobs, "quarantine": trace.quarantine, "merged": trace.merged, "names": trace.names}
    for table, frame in frames.items():
        write_frame(frame, directory / f"{table}.parquet", table, QUICK_OPTIONS)
    header = "".join(f"{line}\n" for line in trace.header.to_lines())
    _write(directory / "header.txt", header)
    rest = {"machine_processors": trace.machine_processors, "provenance": dict(trace.provenance)}
    try:
        text = json.dumps(rest, indent=2, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"provenance {rest['provenance']}: {error}; give strings and numbers") from error
    _write(directory / "trace.json", f"{text}\n")


def _write(path: Path, text: str) -> None:
    """Write a small file."""
    with create_file(path) as file:
        file.write(text.encode())


def load_trace(directory: Path, source: LogSource | None = None) -> Trace:
    """Read a trace that ``save_trace`` wrote.

    Parameters
    ----------
    directory : Path
        Where it was written.
    source : path or binary file object, optional
        The log it was read from, so that source lines can be quoted again.

    Raises
    ------
    SchemaError
        A file is missing, damaged or of another schema.
    UnreadableLogError
        The source cannot be read.
    """
    try:
        frames = {name: read_frame(directory / f"{name}.parquet", name) for name in TABLES}
    except OSError as error:
        raise _unlike_ours(directory, error) from error
    return _trace_of(directory, frames, source)


def iter_trace(directory: Path) -> Iterator[Trace]:
    """Yield the trace that ``save_trace`` wrote in parts: as many jobs as a row group of its file has, in their order.

    Raises
    ------
    SchemaError
        As ``load_trace`` does.
    """
    try:
        with pq.ParquetFile(directory / "jobs.parquet", page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                yield _part_of(directory, file, group)
    except (pa.ArrowException, OSError) as error:
        raise _unlike_ours(directory, error) from error


def _part_of(directory: Path, file: pq.ParquetFile, group: int) -> Trace:
    """Return the trace of a row group."""
    part = file.read_row_group(group)
    check_table(part, "jobs")
    frames = {name: empty_frame(name) for name in TABLES} | {"jobs": to_pandas(part, "jobs")}
    return _trace_of(directory, frames, None)


def load_without_jobs(directory: Path) -> Trace:
    """Read what a trace is beside its jobs and lines: header, machine, provenance.

    Raises
    ------
    SchemaError
        As ``load_trace`` does.
    """
    return _trace_of(directory, {name: empty_frame(name) for name in TABLES}, None)


def load_tables(directory: Path, names: Iterable[str] = TABLES) -> dict[str, pa.Table]:
    """Read tables of a directory that ``save_trace`` filled, by name, as they are on disk.

    Raises
    ------
    SchemaError
        A file is missing, damaged or of another schema.
    """
    try:
        return {name: read_table(directory / f"{name}.parquet", name) for name in names}
    except OSError as error:
        raise _unlike_ours(directory, error) from error


def _trace_of(directory: Path, frames: Mapping[str, pd.DataFrame], source: LogSource | None) -> Trace:
    """Return the trace of a directory, of which some tables have been read."""
    try:
        header = SwfHeader.from_lines((directory / "header.txt").read_bytes().decode().split("\n")[:-1])
        rest = json.loads((directory / "trace.json").read_bytes())
        machine_processors, provenance = rest["machine_processors"], dict(rest["provenance"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unlike_ours(directory, error) from error
    lines = None if source is None else read_lines(source)
    return Trace(
        header,
        frames["jobs"],
        frames["quarantine"],
        machine_processors=machine_processors,
        source=lines,
        provenance=provenance,
        **{name: frames[name] for name in ("merged", "names") if name in frames},
    )


def _unlike_ours(directory: Path, error: Exception) -> SchemaError:
    """Return the error that says a directory is not what was written."""
    return SchemaError(f"{directory}: not a trace as save_trace writes it ({error}); make it again")
