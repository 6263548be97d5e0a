"""A table of a version as a Parquet file: equal rows give equal bytes, and a damaged file one clear error."""

from __future__ import annotations

from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.store.manifest import describe_table
from swftools.errors import SchemaError
from swftools.fields.dictionary import arrow_schema
from swftools.tables import check_table, write_table

PART = "part-0.parquet"
"""The file in a table's directory."""


def write_part(data: pa.Table, table: str, directory: Path, notes: Mapping[str, str]) -> dict[str, Any]:
    """Write a table into a new directory, with notes in its metadata, and return its description for the manifest.

    Raises
    ------
    SchemaError
        The table differs from the column dictionary.
    """
    check_table(data, table)
    # One chunk a column and the dictionary's own schema: else the bytes would tell how the table was made.
    schema = arrow_schema(table, data.column_names)
    data = data.select(schema.names).combine_chunks().cast(schema).replace_schema_metadata(dict(notes))
    directory.mkdir()
    write_table(data, directory / PART, table)
    return describe_table(data, table)


def read_part(file: BufferedReader, table: str, address: str, remedy: str) -> pa.Table:
    """Read a table and check it against the column dictionary.

    Raises
    ------
    SchemaError
        The file is damaged, which the message says with its address and the remedy, or differs from the dictionary.
    """
    try:
        data = pq.ParquetFile(file, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError) as error:
        cause = " ".join(str(error).split())
        raise SchemaError(f"{address}: damaged Parquet file ({cause}); {remedy}") from None
    check_table(data, table)
    return data
