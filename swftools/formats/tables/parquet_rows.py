# SPDX-License-Identifier: BSD-3-Clause
"""Rows of Parquet, in batches: no more of a file is in memory than a batch of the columns that are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from swftools.errors import UnreadableLogError
from swftools.formats.accounting.records import NAMES
from swftools.formats.tables.columns import Declaration
from swftools.formats.tables.rows import Sheet, find_columns, rows_from
from swftools.formats.tables.values import ArrowValues, is_text

_BUFFER = 1 << 20
"""Bytes of a column that are read at once."""


def parquet_sheets(
    source: BinaryIO | str, name: str, declaration: Declaration, first: int, batch: int
) -> Iterator[tuple[Sheet, tuple[str, ...], float]]:
    """Yield the rows of a Parquet file, how its columns are called, and the share that was read; at least once.

    Parameters
    ----------
    source : path or binary file object
        The file.
    name : str
        What errors call it.
    declaration : Declaration
        Which columns are asked for.
    first : int
        Number of the first row.
    batch : int
        Most rows at once.

    Raises
    ------
    UnreadableLogError
        It is damaged.
    LogFormatError
        A column that is asked for is there twice.
    """
    try:
        file = pq.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False)
        columns = tuple(file.schema_arrow.names)
        places = find_columns(columns, declaration.wanted())
        asked = [columns[place] for place in dict.fromkeys(places.values())]
        shared = _shared(file.schema_arrow, places, declaration)
        if shared:
            options = {"buffer_size": _BUFFER, "pre_buffer": False}
            file = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=shared, **options)
        row = first
        if not file.metadata.num_rows:
            yield _empty(file.schema_arrow, places), columns, 1.0
        for part in _ahead(file.iter_batches(batch_size=batch, columns=asked, use_threads=True)) if asked else ():
            yield _sheet(part, places, columns, row), columns, (row - first + len(part)) / file.metadata.num_rows
            row += len(part)
        if not asked and file.metadata.num_rows:
            yield _empty(file.schema_arrow, places), columns, 1.0
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnreadableLogError(f"{name}: a Parquet file that is damaged ({told}); fetch it again") from error


def _shared(schema: pa.Schema, places: dict[str, int], declaration: Declaration) -> list[str]:
    """Return the columns of words that many rows share, which are read as numbers of a dictionary."""
    names = [name for kind in (*NAMES, "state") if (each := declaration.columns.get(kind)) for name in each.names]
    found = [places[name] for name in names if name in places]
    return [schema.names[place] for place in dict.fromkeys(found) if is_text(schema.types[place])]


def _ahead(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, while another thread reads the next one; the last ones, or a single one, are waited for."""
    part = next(parts, None)
    if part is None:
        return
    with ThreadPoolExecutor(1) as beside:
        while part is not None:
            coming = beside.submit(next, parts, None)
            yield part
            part = coming.result()


def _empty(schema: pa.Schema, places: dict[str, int]) -> Sheet:
    nothing = np.empty(0, np.int64)
    columns = {name: ArrowValues(pa.array([], schema.types[place]), name) for name, place in places.items()}
    return Sheet({**columns}, nothing, nothing, nothing)


def _sheet(part: pa.RecordBatch, places: dict[str, int], columns: Sequence[str], first: int) -> Sheet:
    count = len(part)
    nothing = np.zeros(count, np.int64)

    def show(row: int) -> str:
        """Return what a row has in the columns that were read."""
        return json.dumps(part.slice(row, 1).to_pylist()[0], default=str)

    arrays = {name: ArrowValues(part.column(columns[place]), name) for name, place in places.items()}
    return Sheet({**arrays}, rows_from(first, count), nothing, nothing, show=show)
