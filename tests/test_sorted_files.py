# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files say in which order their rows are, if they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swftools.fields.dictionary import SORTED_BY, TABLES, table_fields
from swftools.formats.parquet import write_parquet
from swftools.tables import to_arrow, write_table
from swftools.trace import Trace


def order_of(path: Path) -> list[str]:
    """Return the names of the columns by which a file says that it is sorted."""
    file = pq.ParquetFile(path)
    found = file.metadata.row_group(0).sorting_columns
    assert not any(column.descending for column in found)
    return [file.schema_arrow.names[column.column_index] for column in found]


@pytest.mark.parametrize(
    ("submit_time", "order"),
    [
        ([0, 5, 5, 9], ["submit_time"]),
        ([0], ["submit_time"]),
        ([0, 5, 4, 9], []),
        ([9, 0], []),
        ([0, -1, 9], []),
        ([-1, -1], []),
    ],
)
def test_a_file_says_its_order_only_if_it_has_it(tmp_path: Path, submit_time: list[int], order: list[str]) -> None:
    """Rising, ties allowed; neither falling anywhere nor with a missing value."""
    trace = Trace.from_columns(job_number=range(1, len(submit_time) + 1), submit_time=submit_time)
    write_parquet(trace, tmp_path / "jobs.parquet")
    assert order == order_of(tmp_path / "jobs.parquet")


def test_without_the_column_there_is_no_order(tmp_path: Path) -> None:
    """Tables that the dictionary names no order of say none."""
    frame = pd.DataFrame({"line_number": [1, 2], "rule": "read", "reason": "x", "text": None})
    write_table(to_arrow(frame, "quarantine"), tmp_path / "quarantine.parquet", "quarantine")
    assert [] == order_of(tmp_path / "quarantine.parquet")


def test_the_order_is_of_columns_that_there_are() -> None:
    """Each names a table and a column of numbers of it."""
    for table, column in SORTED_BY.items():
        assert table in TABLES
        assert table_fields(table)[column].type in (pa.int64(), pa.float64())
