"""One trace's jobs as one Parquet file, its SWF header kept as metadata: what ``swftools convert`` writes and reads.

A file for people and other tools, to be named and copied like a log. Stages of a pipeline hand a trace on whole, with
quarantine and provenance, as a directory (``trace_directory.py``).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa

from swftools.errors import SchemaError, UnreadableLogError
from swftools.header import SwfHeader
from swftools.tables import read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace

_HEADER, _MACHINE = b"swf_header", b"machine_processors"


def write_parquet(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the jobs of a trace as one Parquet file, with the header in its metadata; it appears whole.

    The quarantine and the provenance have no place in it; ``save_trace`` keeps them.

    Parameters
    ----------
    trace : Trace
        With any columns of the table ``jobs``.
    path : str or path
        File to make or replace, in a folder that exists.

    Raises
    ------
    SchemaError
        The jobs differ from the column dictionary.
    SwfFormatError
        A header entry would not read back.
    StorageError
        The file cannot be written; an old one stays as it was.
    """
    table = to_arrow(trace.jobs, "jobs")
    notes = {_HEADER: json.dumps(trace.header.to_lines()), _MACHINE: json.dumps(trace.machine_processors)}
    write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), **notes}), path, "jobs")


def read_parquet(path: str | os.PathLike[str]) -> Trace:
    """Read a jobs table as a trace: a file that ``write_parquet`` wrote, or one of a published data set.

    Raises
    ------
    UnreadableLogError
        There is no such file.
    SchemaError
        It is not Parquet, or not a jobs table of the column dictionary.
    """
    try:
        table: pa.Table = read_table(Path(path), "jobs")
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UnreadableLogError(f"{path}: {error.strerror or error}; check the path") from error
    notes = table.schema.metadata or {}
    try:
        header = SwfHeader.from_lines(json.loads(notes.get(_HEADER, b"[]")))
        machine = json.loads(notes.get(_MACHINE, b"null"))
    except ValueError as error:
        raise SchemaError(f"{path}: its metadata is damaged ({error}); convert the log again") from error
    return Trace(header, to_pandas(table, "jobs"), machine_processors=machine, provenance={"name": Path(path).name})
