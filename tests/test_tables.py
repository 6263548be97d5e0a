# SPDX-License-Identifier: BSD-3-Clause
"""Tables between pandas, Arrow and Parquet: nothing lost, nothing wrong let through, equal bytes for equal tables."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from swftools import clean, generate_utility, read_swf
from swftools.errors import SchemaError
from swftools.fields.dictionary import SWF_NAMES, TABLES, arrow_schema
from swftools.tables import LONG, check_table, compacted, empty_frame, read_table, to_arrow, to_pandas, write_table
from swftools.trace import Trace
from tests.examples import examples
from tests.strategies import traces

DTYPES = {"job_number": "Int64", "run_time": "float64", "extra_fields": "str", "is_cancelled": "bool"}


def jobs(**columns: Any) -> pd.DataFrame:
    """Make three jobs, with some columns replaced or added."""
    trace = Trace.from_columns(
        job_number=[1, 2, 3], submit_time=[0, 5.5, -1], run_time=[10, -1, 0.25], user_id=[7, -1, 7]
    )
    return trace.jobs.assign(**columns)


@pytest.fixture(scope="module")
def full(shipped_log: Path) -> pa.Table:
    """The shipped log, cleaned and augmented: every column of the table jobs but extra_fields."""
    cleaned, _ = clean(read_swf(shipped_log))
    return to_arrow(pd.concat([cleaned.jobs, generate_utility(cleaned)], axis=1), "jobs")


def changed(table: pa.Table, name: str, column: Any) -> pa.Table:
    """Replace a column, whatever its type."""
    return table.set_column(table.column_names.index(name), name, column)


def written(table: pa.Table, name: str = "jobs") -> bytes:
    """Write a table to memory."""
    buffer = io.BytesIO()
    write_table(table, buffer, name)
    return buffer.getvalue()


# From pandas and back


def test_to_arrow_gives_the_declared_schema() -> None:
    """Columns come in the dictionary's order, with its types and metadata; missing is null."""
    table = to_arrow(jobs()[::1][[*reversed(SWF_NAMES), "line_number"]], "jobs")
    assert table.schema.equals(arrow_schema("jobs", table.column_names), check_metadata=True)
    assert [*SWF_NAMES, "line_number"] == table.column_names
    assert [0.0, 5.5, None] == table["submit_time"].to_pylist()
    assert [7, None, 7] == table["user_id"].to_pylist()
    assert b"s" == table.schema.field("run_time").metadata[b"unit"]


def test_to_arrow_takes_any_dtype_that_holds_the_values() -> None:
    """Whole floats, objects with None and plain integers become what is declared."""
    table = to_arrow(
        jobs(user_id=[1.0, np.nan, 3.0], group_id=np.array([1, None, 3], object), status=[1, 0, 5]), "jobs"
    )
    assert [1, None, 3] == table["user_id"].to_pylist() == table["group_id"].to_pylist()
    assert [1, 0, 5] == table["status"].to_pylist()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"node": 1}, r"unknown columns \['node'\]; add them to swftools/fields or drop them"),
        ({"user_id": [1.5, 2, 3]}, "column 'user_id': not int64: .*1.5"),
        ({"user_id": ["root", "a", "b"]}, "column 'user_id': not int64"),
        ({"run_time": ["fast", "a", "b"]}, "column 'run_time': not double"),
        ({"extra_fields": [1, 2, 3]}, "column 'extra_fields': not string"),
        ({"is_cancelled": [1.0, 0.0, np.nan]}, "column 'is_cancelled'"),
        ({"is_cancelled": pd.array([True, None, False], "boolean")}, "'is_cancelled' has 1 nulls and may have none"),
        ({"run_time": [1.0, -1.0, 2.0]}, r"column 'run_time', row 1: -1.0 is outside 0..1e\+10"),
    ],
)
def test_to_arrow_refuses_what_does_not_fit(columns: dict[str, Any], message: str) -> None:
    """The table, the column and the value are named."""
    with pytest.raises(SchemaError, match=f"table 'jobs'.*{message}"):
        to_arrow(jobs(**columns), "jobs")


def test_to_arrow_refuses_repeated_columns() -> None:
    """A frame with a column twice is no table."""
    with pytest.raises(SchemaError, match=r"columns appear twice: \['run_time'\]"):
        to_arrow(pd.concat([jobs(), jobs()[["run_time"]]], axis=1), "jobs")


@examples(0.5)
@given(traces())
def test_pandas_to_arrow_and_back(trace: Trace) -> None:
    """A trace's jobs survive the way to Arrow and back, values, missing values and dtypes."""
    back = to_pandas(to_arrow(trace.jobs, "jobs"), "jobs")
    order = [name for name in back if name in trace.jobs]
    pd.testing.assert_frame_equal(trace.jobs[order], back)


@examples(0.5)
@given(traces())
def test_parquet_and_back(trace: Trace) -> None:
    """A table survives the way to Parquet and back, metadata included."""
    table = to_arrow(trace.jobs, "jobs")
    back = read_table(io.BytesIO(written(table)), "jobs")
    assert table.equals(back)
    assert table.schema.equals(back.schema, check_metadata=True)


def test_all_columns_survive(full: pa.Table) -> None:
    """Flags, timestamps and utility functions survive both ways too."""
    frame = to_pandas(full, "jobs")
    assert full.equals(to_arrow(frame, "jobs"))
    assert full.equals(read_table(io.BytesIO(written(full)), "jobs"))
    assert "datetime64[ms, UTC]" == str(frame["submit_timestamp"].dtype)
    assert isinstance(frame["utility"].dtype, pd.ArrowDtype)


def test_other_readers_see_the_same(full: pa.Table, tmp_path: Path) -> None:
    """Pandas and polars read the file without this package: Int64, float64, bool, UTC timestamps, lists."""
    path = tmp_path / "jobs.parquet"
    write_table(full, path, "jobs")
    plain = pd.read_parquet(path)
    ours = to_pandas(full, "jobs")
    pd.testing.assert_frame_equal(ours.drop(columns="utility"), plain.drop(columns="utility"))
    by_polars = pl.read_parquet(path)
    assert full["utility"].to_pylist() == by_polars["utility"].to_list()
    assert full["queue_id"].to_pylist() == by_polars["queue_id"].to_list()


@pytest.mark.parametrize("table", TABLES)
def test_empty_frames(table: str) -> None:
    """A table without rows has its columns in their dtypes, and goes to Arrow and back."""
    frame = empty_frame(table)
    assert (0, [field.name for field in TABLES[table]]) == (len(frame), list(frame))
    assert arrow_schema(table).equals(to_arrow(frame, table).schema)


def test_frames_are_writable() -> None:
    """Columns can be written to, and writing leaves the Arrow table alone."""
    table = to_arrow(jobs(extra_fields=["a", None, "b"], is_cancelled=[True, False, False]), "jobs")
    frame = to_pandas(table, "jobs")
    assert DTYPES == {name: str(frame[name].dtype) for name in DTYPES}
    for name, value in {"job_number": 99, "run_time": 1.5, "extra_fields": "z", "is_cancelled": False}.items():
        frame.loc[0, name] = value
        assert value == frame.loc[0, name] != table[name][0].as_py()
    for name in ("job_number", "user_id"):
        frame[name].array[1] = 5
        assert (5, 2) == (frame[name][1], table["job_number"][1].as_py())


def test_chunks_and_slices() -> None:
    """A table in chunks, sliced, is the same as one in one piece."""
    table = to_arrow(jobs(), "jobs")
    pieces = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert 2 == pieces["run_time"].num_chunks
    pd.testing.assert_frame_equal(to_pandas(table, "jobs"), to_pandas(pieces, "jobs"))
    pd.testing.assert_frame_equal(
        to_pandas(table, "jobs").iloc[1:].reset_index(drop=True), to_pandas(table.slice(1), "jobs")
    )


# Checks


def test_a_right_table_is_accepted(full: pa.Table) -> None:
    """The real thing has no faults; neither has a table without rows or with nulls only."""
    check_table(full, "jobs")
    check_table(arrow_schema("jobs").empty_table(), "jobs")
    check_table(to_arrow(Trace.from_columns(job_number=[-1, -1]).jobs, "jobs"), "jobs")


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        ("run_time", pa.array([1, 2, 3]), "column 'run_time' is int64, not double"),
        ("run_time", pa.array([1.0, -0.5, None]), r"column 'run_time', row 1: -0.5 is outside 0..1e\+10"),
        ("run_time", pa.array([1.0, None, 2e10]), r"column 'run_time', row 2: 20000000000.0 is outside 0..1e\+10"),
        ("run_time", pa.array([1.0, None, float("nan")]), "'run_time', row 2: nan is not a finite number"),
        ("run_time", pa.array([float("inf"), None, 1.0]), "'run_time', row 0: inf is not a finite number"),
        ("user_id", pa.array([1, None, -2]), "column 'user_id', row 2: -2 is outside"),
        ("allocated_processors", pa.array([1, 2**31, 1]), "row 1: 2147483648 is outside 0..2.14748e"),
        ("line_number", pa.array([1, 0, 2]), "column 'line_number', row 1: 0 is outside 1..inf"),
    ],
)
def test_check_table_complains(name: str, column: pa.Array, message: str) -> None:
    """Each fault is named with its column, and a wrong value with its row."""
    with pytest.raises(SchemaError, match=f"table 'jobs' differs from the column dictionary: .*{message}"):
        check_table(changed(to_arrow(jobs(), "jobs"), name, column), "jobs")


def test_check_table_lists_every_complaint() -> None:
    """Unknown and missing columns, repeated ones and wrong values are told at once."""
    table = to_arrow(jobs(), "jobs").drop_columns(["status", "user_id"])
    table = changed(table, "run_time", pa.array([1.0, -5.0, 0.0])).append_column("node", pa.array([1, 2, 3]))
    table = table.append_column("wait_time", table["wait_time"])
    with pytest.raises(SchemaError) as caught:
        check_table(table, "jobs")
    for complaint in (
        "unknown columns ['node']",
        "missing columns ['status', 'user_id']",
        "columns appear twice: ['wait_time']",
        "column 'run_time', row 1: -5.0 is outside",
    ):
        assert complaint in str(caught.value)


def test_status_may_be_anything() -> None:
    """Real logs have statuses outside the list, also negative ones."""
    check_table(changed(to_arrow(jobs(), "jobs"), "status", pa.array([-7, 99, None])), "jobs")


def test_only_jobs_may_lack_columns() -> None:
    """A quarantine without its reason is no quarantine."""
    table = arrow_schema("quarantine").empty_table().drop_columns(["reason"])
    with pytest.raises(SchemaError, match=r"table 'quarantine' differs .*missing columns \['reason'\]"):
        check_table(table, "quarantine")


# Parquet


def test_equal_tables_give_equal_bytes(full: pa.Table) -> None:
    """Chunks, column order, lost metadata and the way through pandas leave no trace in the file."""
    expected = written(full)
    chunks = pa.concat_tables([full.slice(0, 17), full.slice(17, 1000), full.slice(1017)])
    reordered = full.select(sorted(full.column_names))
    bare = pa.Table.from_arrays(full.columns, names=full.column_names)
    nullable = bare.cast(pa.schema([pa.field(field.name, field.type) for field in full.schema]))
    for other in (chunks, reordered, bare, nullable, to_arrow(to_pandas(full, "jobs"), "jobs"), full):
        assert expected == written(other)


def test_unequal_tables_give_unequal_bytes(full: pa.Table) -> None:
    """One value is enough."""
    run_time = full["run_time"].to_pylist()
    run_time[-1] = 12345.0
    assert written(full) != written(changed(full, "run_time", pa.array(run_time, pa.float64())))


def test_further_metadata_is_kept() -> None:
    """What a caller notes beside the dictionary's metadata is written; the dictionary's own cannot be overruled."""
    table = to_arrow(jobs(), "jobs").replace_schema_metadata({"swf_header": "[]", "table": "false"})
    metadata = read_table(io.BytesIO(written(table)), "jobs").schema.metadata
    assert (b"[]", b"jobs") == (metadata[b"swf_header"], metadata[b"table"])


def test_write_table_checks_first(tmp_path: Path) -> None:
    """A wrong table is not written."""
    path = tmp_path / "jobs.parquet"
    with pytest.raises(SchemaError, match="missing columns"):
        write_table(to_arrow(jobs(), "jobs").drop_columns(["status"]), path, "jobs")
    assert not path.exists()


def test_read_table_checks(tmp_path: Path) -> None:
    """A file that differs from the dictionary is refused on reading."""
    path = tmp_path / "jobs.parquet"
    pq.write_table(to_arrow(jobs(), "jobs").drop_columns(["status"]), path)
    with pytest.raises(SchemaError, match="missing columns"):
        read_table(path, "jobs")


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "flipped"])
def test_read_table_tells_damage(tmp_path: Path, full: pa.Table, damage: str) -> None:
    """What is not a whole Parquet file is told as such, with its path."""
    path = tmp_path / "jobs.parquet"
    data = bytearray(written(full))
    data[100:1100] = bytes(1000)
    path.write_bytes(
        {"empty": b"", "text": b"job,run\n1,2\n", "cut": written(full)[:-50], "flipped": bytes(data)}[damage]
    )
    with pytest.raises(SchemaError, match=r"jobs.parquet: not a readable Parquet file \(.*\); publish it again"):
        read_table(path, "jobs")


def test_read_table_of_no_file(tmp_path: Path) -> None:
    """A missing file is the file system's error, since whoever asked knows what it was for."""
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.parquet", "jobs")


def test_a_compacted_table_is_the_same() -> None:
    """Columns of zeros, and those that are alike, here and beside; not those that differ in one place."""
    rows = LONG + 1
    numbers, nearly = np.arange(rows), np.arange(rows)
    nearly[1] = 7
    frame = pd.DataFrame(
        {
            "number": pd.array(numbers, dtype="Int64"),
            "same": pd.array(numbers, dtype="Int64"),
            "nearly": pd.array(nearly, dtype="Int64"),
            "zero": pd.array(np.zeros(rows, np.int64), dtype="Int64"),
            "missing": pd.array([None] * rows, dtype="Int64"),
            "never": np.zeros(rows, bool),
            "time": nearly.astype(np.float64),
            "nothing": np.full(rows, np.nan),
            "negative": np.full(rows, -0.0),
            "word": pd.array(["a"] * rows, dtype="str"),
        }
    )
    beside = pd.DataFrame({"clock": nearly.astype(np.float64)})
    found = compacted(frame, beside)
    pd.testing.assert_frame_equal(found, frame)
    assert np.signbit(found["negative"]).all()
    assert np.shares_memory(found["time"].to_numpy(), beside["clock"].to_numpy())
    found.loc[0, ["number", "zero", "time"]] = 5
    assert (found["same"].iloc[0], beside["clock"].iloc[0]) == (0, 0.0)
    pd.testing.assert_frame_equal(frame.iloc[:, 1:3], found.iloc[:, 1:3])
    assert frame["zero"].iloc[0] == 0
