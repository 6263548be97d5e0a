# SPDX-License-Identifier: BSD-3-Clause
"""One trace's jobs as one Parquet file, its SWF header kept as metadata: what ``swftools convert`` writes and reads.

A file for people and other tools, to be named and copied like a log. Stages of a pipeline hand a trace on whole, with
quarantine and provenance, as a directory (``trace_directory.py``).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from swftools.errors import SchemaError, UnreadableLogError
from swftools.formats.multi_file import natural
from swftools.header import SwfHeader
from swftools.tables import empty_frame, read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace

_HEADER, _MACHINE, _NAMES = b"swf_header", b"machine_processors", b"names"


def write_parquet(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the jobs of a trace as one Parquet file, with header and names in its metadata; it appears whole.

    The quarantine and the provenance are not written; ``save_trace`` keeps them.

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
    if len(trace.names):
        notes[_NAMES] = json.dumps(trace.names.to_dict("list"))
    write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), **notes}), path, "jobs")


def read_parquet(path: str | os.PathLike[str]) -> Trace:
    """Read a jobs table as a trace: a file that ``write_parquet`` wrote, or one of a published data set.

    Parameters
    ----------
    path : str or path
        A file, or a folder of such files: the parts of one table, in the natural order of their names. The first part
        has the header and the names.

    Raises
    ------
    UnreadableLogError
        There is no such file, or none in the folder that ends in .parquet.
    SchemaError
        One is not Parquet, or not a jobs table of the column dictionary; or parts have other columns.
    """
    try:
        table = _read_parts(Path(path)) if Path(path).is_dir() else read_table(Path(path), "jobs")
    except (FileNotFoundError, PermissionError) as error:
        raise UnreadableLogError(f"{path}: {error.strerror or error}; check the path") from error
    notes = table.schema.metadata or {}
    try:
        header = SwfHeader.from_lines(json.loads(notes.get(_HEADER, b"[]")))
        machine = json.loads(notes.get(_MACHINE, b"null"))
        empty = empty_frame("names")
        names = pd.DataFrame(json.loads(notes.get(_NAMES, b"{}")), columns=empty.columns).astype(empty.dtypes.to_dict())
    except ValueError as error:
        raise SchemaError(f"{path}: its metadata is damaged ({error}); convert the log again") from error
    provenance = {"name": Path(path).name}
    return Trace(header, to_pandas(table, "jobs"), machine_processors=machine, provenance=provenance, names=names)


def is_foreign(path: str | os.PathLike[str]) -> bool:
    """Whether a file is Parquet that others wrote: it has columns, and none by which a jobs table is known.

    A damaged file is not foreign: what reads jobs tables says what is wrong with it.
    """
    try:
        columns = pq.read_schema(path).names
    except (pa.ArrowException, OSError):
        return False
    return not {"job_number", "submit_time", "run_time"} & set(columns)


def _read_parts(folder: Path) -> pa.Table:
    """Read all files of a folder as one table."""
    paths = sorted((path for path in folder.glob("*.parquet") if not path.name.startswith(".")), key=natural)
    if not paths:
        raise UnreadableLogError(f"{folder}: a folder without a file that ends in .parquet; check the path")
    parts = [read_table(path, "jobs") for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if part.column_names != parts[0].column_names:
            others = sorted(set(part.column_names) ^ set(parts[0].column_names))
            raise SchemaError(f"{path}: not a part of one table with {paths[0].name}: one alone has {others}")
    return pa.concat_tables(parts)
