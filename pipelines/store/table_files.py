# SPDX-License-Identifier: BSD-3-Clause
"""A table of a version as a Parquet file: equal rows give equal bytes, and a damaged file one clear error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.names import PART
from pipelines.store.manifest import describe_table
from pipelines.store.parts import LongTable, PartedTable, Shared, describe_parts, measure_part, part_name
from swftools.errors import SchemaError
from swftools.fields.dictionary import arrow_schema
from swftools.tables import RowGroups, check_table, write_table


def write_part(data: pa.Table, table: str, directory: Path, notes: Mapping[str, str]) -> dict[str, Any]:
    """Write a table into a new directory, with notes in its metadata, and return its description for the manifest.

    Raises
    ------
    SchemaError
        The table differs from the column dictionary.
    """
    data = _as_written(data, table, notes)
    directory.mkdir()
    _write(data, directory / PART, table)
    return describe_table(data, table)


def write_parts(
    data: PartedTable, table: str, directory: Path, notes: Mapping[str, str], shared: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Write the new parts of a table into a new directory, and return its description for the manifest.

    Parameters
    ----------
    data : PartedTable
        All parts.
    table : str
        Name of the table.
    directory : Path
        Where to.
    notes : mapping of str to str
        For the metadata of each part; nothing that the next version would say otherwise.
    shared : mapping of str to mapping
        What the manifest of the other version says of each part that is shared, by the name of its file.

    Raises
    ------
    SchemaError, ParameterError
        A part differs from the column dictionary, or from the others.
    """
    directory.mkdir()
    measured: dict[str, Mapping[str, Any]] = {}
    for label, part in sorted(data.parts.items()):
        name = part_name(label)
        if isinstance(part, Shared):
            measured[name] = shared[name]
            continue
        whole = part if isinstance(part, pa.Table) else part()
        whole = _as_written(whole.select(data.columns), table, notes)
        _write(whole, directory / name, table)
        measured[name] = measure_part(whole)
    columns = arrow_schema(table, data.columns).names
    return describe_parts(table, columns, measured)


def write_long(data: LongTable, table: str, directory: Path, notes: Mapping[str, str]) -> dict[str, Any]:
    """Write a long table into a new directory a row group at a time, and return its description for the manifest.

    Raises
    ------
    SchemaError
        A piece differs from the column dictionary.
    """
    directory.mkdir()
    schema = arrow_schema(table, data.columns)
    measured: dict[str, Mapping[str, Any]] = {}
    with RowGroups(directory / PART, table, schema, notes=notes, is_sorted=data.is_sorted) as file:
        pieces = iter(data.pieces())
        while (piece := next(pieces, None)) is not None:
            whole = _as_written(piece, table, notes)
            del piece
            file.write(whole)
            measured[f"{len(measured)}"] = measure_part(whole)
            del whole  # before the next piece is read
    described = describe_parts(table, schema.names, measured)
    del described["parts"]
    return described


def _write(data: pa.Table, path: Path, table: str) -> None:
    """Write a file of a version on its way, which is synced with all others before it appears."""
    with path.open("xb") as file:
        write_table(data, file, table)


def _as_written(data: pa.Table, table: str, notes: Mapping[str, str]) -> pa.Table:
    """Return a table as one chunk a column in the dictionary's own schema: else bytes would tell how it was made."""
    check_table(data, table)
    schema = arrow_schema(table, data.column_names)
    return data.select(schema.names).combine_chunks().cast(schema).replace_schema_metadata(dict(notes))


def read_part(
    file: BufferedReader, table: str, address: str, remedy: str, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read a table, or some of its columns, and check it against the column dictionary.

    Raises
    ------
    SchemaError
        The file is damaged, which the message says with its address and the remedy, or differs from the dictionary.
    """
    try:
        data = pq.ParquetFile(file, page_checksum_verification=True).read(columns)
    except (pa.ArrowException, OSError) as error:
        cause = " ".join(str(error).split())
        raise SchemaError(f"{address}: damaged Parquet file ({cause}); {remedy}") from None
    if columns is None:
        check_table(data, table)
    return data


def concat_parts(
    parts: Sequence[pa.Table], table: str, names: Iterable[str], columns: Sequence[str] | None
) -> pa.Table:
    """Return parts as one table; where there are none, one without rows."""
    if not parts:
        return arrow_schema(table, names if columns is None else columns).empty_table()
    return pa.concat_tables(parts)
