# SPDX-License-Identifier: BSD-3-Clause
"""Long logs: read, computed and written in pieces they come out as at once; by month, readers skip most of them."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import duckdb
import luigi
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import swftools
from pipelines import BuildAugmentedTrace, MeasureSchedule
from pipelines.store.data_root import DataRoot
from pipelines.tasks import build as building
from pipelines.tasks import long_jobs
from pipelines.tasks import simulate as simulating
from pipelines.tasks.augmentations import registry
from swftools import tables as swf_tables
from swftools.errors import ParameterError, SchemaError
from swftools.fields.dictionary import arrow_schema
from swftools.tables import QUICK_OPTIONS, RowGroups, read_frame, read_table, to_pandas, write_frame, write_table
from swftools.trace import Trace

PIECE = 1_000
"""Of the 5,000 jobs of the shipped log."""


def build(root: Path, **parameters: object) -> tuple[BuildAugmentedTrace, Path]:
    """Publish the shipped log in this process."""
    task = BuildAugmentedTrace(data_root=str(root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return task, Path(task.output().path)


def files_of(version: Path) -> dict[str, bytes]:
    """Return what stands in a version, but what differs with where row groups end."""
    return {path.name: path.read_bytes() for path in version.iterdir() if path.is_file()}


def test_in_pieces_as_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, SWF text and files are the same; row groups, hashes of tables and rounding of means are not."""
    _, whole = build(tmp_path / "whole")
    with monkeypatch.context() as patch:
        _shorten(patch)
        _, pieces = build(tmp_path / "pieces")
    assert whole.name == pieces.name
    for table in (path.name for path in whole.iterdir() if path.is_dir()):
        assert pq.read_table(whole / table).equals(pq.read_table(pieces / table)), table
    file = pq.ParquetFile(next((pieces / "jobs").iterdir()))
    rows = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    assert [PIECE] * (len(rows) - 1) == rows[:-1]
    assert len(rows) > 3
    assert pq.ParquetFile(next((whole / "jobs").iterdir())).metadata.row_group(0).sorting_columns == (
        file.metadata.row_group(0).sorting_columns
    )
    same = {"README.md", "datapackage.json"}
    one, other = files_of(whole), files_of(pieces)
    assert one.keys() == other.keys()
    swf = next(name for name in one if name.endswith(".swf.gz"))
    assert swftools.read_swf(whole / swf).equals(swftools.read_swf(pieces / swf))
    for name in one.keys() - {swf, "manifest.json", "croissant.json", *same}:
        assert one[name] == other[name], name
    manifests = [DataRoot.open(tmp_path / root).manifest(whole.parent.name, whole.name) for root in ("whole", "pieces")]
    ours, theirs = (each["tables"]["jobs"] for each in manifests)
    assert ours["rows"] == theirs["rows"]
    assert ours.keys() == theirs.keys()
    for name, column in ours["columns"].items():
        assert column.keys() == theirs["columns"][name].keys()
        for key, value in column.items():
            assert value == (
                pytest.approx(theirs["columns"][name][key]) if key == "mean" else theirs["columns"][name][key]
            )


def _shorten(patch: pytest.MonkeyPatch) -> None:
    for options in (swf_tables.PARQUET_OPTIONS, swf_tables.QUICK_OPTIONS):
        patch.setitem(options, "row_group_size", PIECE)
    for module in (registry, long_jobs, building):
        patch.setattr(module, "PIECE", PIECE)
    patch.setattr(swf_tables, "LONG", 100)


def test_by_month(tmp_path: Path) -> None:
    """A file a month of submission, in their order all jobs; DuckDB and polars read one month's alone."""
    task, version = build(tmp_path, augment="none", by_month=True)
    other, whole = build(tmp_path, augment="none")
    assert task.version != other.version
    parts = sorted((version / "jobs").iterdir())
    assert ["part-2000-05.parquet", "part-2000-06.parquet"] == [path.name for path in parts]
    assert pq.read_table(version / "jobs").equals(pq.read_table(whole / "jobs"))
    months = [pd.read_parquet(path)["submit_timestamp"].dt.strftime("%Y-%m").unique().tolist() for path in parts]
    assert [["2000-05"], ["2000-06"]] == months
    root = DataRoot.open(tmp_path)
    assert [] == root.verify(version.parent.name, version.name)
    assert root.read_table(version.parent.name, "jobs", version.name).num_rows == len(pd.read_parquet(whole / "jobs"))
    # DuckDB's plan says how many row groups it read.
    june = "submit_timestamp >= timestamptz '2000-06-02 00:00:00+00'"
    query = f"from read_parquet('{version}/jobs/*.parquet') select avg(run_time) where"
    plan = duckdb.sql(f"explain analyze {query} {june}").fetchall()[0][1]
    assert "Row Groups Scanned: 1 / 2" in " ".join(plan.split())
    assert duckdb.sql(f"{query} {june}").fetchall()[0][0] == pytest.approx(
        pd.read_parquet(whole / "jobs").query("submit_timestamp >= '2000-06-02T00:00Z'")["run_time"].mean()
    )
    # So does polars, where it is asked to talk.
    program = (
        "import polars as pl; from datetime import datetime, timezone as z; "
        f"frame = pl.scan_parquet('{version}/jobs/*.parquet')"
        ".filter(pl.col('submit_timestamp') >= datetime(2000, 6, 2, tzinfo=z.utc)).select('run_time'); "
        "print(frame.explain()); frame.collect()"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "POLARS_VERBOSE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    scan = told.stdout[told.stdout.index("Parquet SCAN") :]
    assert 'SELECTION: col("submit_timestamp") >=' in scan
    assert "reading 0 / 1 row groups" in told.stderr
    assert "reading 1 / 1 row groups" in told.stderr


def test_by_month_needs_dates_in_order(tmp_path: Path) -> None:
    """Else it is said why not, and what to do."""
    (tmp_path / "undated.swf").write_text("; MaxProcs: 4\n1 0 1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n")
    (tmp_path / "unsorted.swf").write_text(
        "; MaxProcs: 4\n; UnixStartTime: 957000000\n"
        "1 9000000 1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n2 0 1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n"
    )
    for name, rules, message in (
        ("undated", "", "1 of 1 jobs have no submit_timestamp"),
        ("unsorted", "duplicates", "submission-order"),
    ):
        task = BuildAugmentedTrace(
            data_root=str(tmp_path / "data"),
            log=str(tmp_path / f"{name}.swf"),
            rules=rules,
            augment="none",
            by_month=True,
        )
        assert luigi.build(task.stages(), local_scheduler=True, log_level="WARNING")
        with pytest.raises(ParameterError, match=message):
            task.contents()


# ---------------------------------------------------------------- files, row group by row group


@pytest.mark.parametrize("rows", [1, 999, 1_000, 1_001, 2_000, 3_500])
def test_a_frame_is_written_as_a_table(cleaned: Trace, tmp_path: Path, rows: int) -> None:
    """Byte for byte, sorted or not; and read back a column at a time."""
    for number, frame in enumerate((cleaned.jobs.iloc[:rows], cleaned.jobs.iloc[:rows][::-1].reset_index(drop=True))):
        options = {**QUICK_OPTIONS, "row_group_size": 1_000}
        once, parts = tmp_path / f"once-{number}", tmp_path / f"parts-{number}"
        write_table(swf_tables.to_arrow(frame, "jobs"), once, "jobs", options)
        write_frame(frame, parts, "jobs", options)
        assert once.read_bytes() == parts.read_bytes()


def test_a_long_table_is_read_as_a_short_one(cleaned: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, types, missing ones; also a column that is missing throughout can be written to."""
    write_frame(cleaned.jobs, tmp_path / "jobs.parquet", "jobs", QUICK_OPTIONS)
    whole = to_pandas(read_table(tmp_path / "jobs.parquet", "jobs"), "jobs")
    monkeypatch.setattr(swf_tables, "LONG", 10)
    parts = read_frame(tmp_path / "jobs.parquet", "jobs")
    pd.testing.assert_frame_equal(whole, parts)
    empty = [name for name in parts if parts[name].dtype == "Int64" and parts[name].isna().all()]
    assert empty
    parts.loc[0, empty[0]] = 7
    assert 7 == parts[empty[0]].sum()


def test_columns_that_are_alike_share_their_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Till somebody writes to one of them; bit for bit, so that 0.0 and -0.0 differ, and with what is missing."""
    monkeypatch.setattr(swf_tables, "LONG", 3)
    count, times = 300, np.arange(300.0)
    jobs = Trace.from_columns(
        job_number=range(count), allocated_processors=[4] * count, requested_processors=[4] * count, run_time=times
    ).jobs.assign(
        requested_time=np.where(np.arange(count) == 150, 9e9, times),  # not among the first that are looked at
        submit_time=np.zeros(count),
        logged_utility=np.full(count, -0.0),
        user_id=pd.array([0] * count, dtype="Int64"),
        group_id=pd.array([None, *[0] * (count - 1)], dtype="Int64"),
    )
    write_frame(jobs, tmp_path / "jobs.parquet", "jobs", QUICK_OPTIONS)
    back = read_frame(tmp_path / "jobs.parquet", "jobs")
    pd.testing.assert_frame_equal(jobs[list(back)], back)
    assert np.signbit(back["logged_utility"]).all()
    assert not np.signbit(back["submit_time"]).any()

    def are_one(*names: str) -> bool:
        first, second = (swf_tables._parts(back[name])[0] for name in names)
        return bool(np.shares_memory(first, second))

    assert are_one("allocated_processors", "requested_processors")
    assert are_one("wait_time", "used_memory")
    for pair in (("run_time", "requested_time"), ("submit_time", "logged_utility"), ("user_id", "group_id")):
        assert not are_one(*pair)
    back.loc[7, "requested_processors"] = 9
    back.loc[7, "wait_time"] = 5.0
    assert (4, 9) == (back["allocated_processors"][7], back["requested_processors"][7])
    assert back["wait_time"].sum() == 5
    assert back["used_memory"].isna().all()


@pytest.mark.parametrize("last", ["a", "b", None])
def test_words_that_are_alike_are_there_once(last: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts of the same word throughout; all others come back as they were too."""
    monkeypatch.setattr(swf_tables, "ALIKE", 4)
    words = [*"aaaa", *"aaaa", *"abaa", *[None] * 4, *"bbbb", *"aaaa", *[None] * 4, *"aaa", last]
    once = swf_tables._alike_parts_once(pa.array(words, pa.string()))
    assert words == once.to_pylist()
    places = [part.buffers()[2].address for part in once.chunks]
    assert (places[0], places[0]) == (places[1], places[5])
    assert (places[3] == places[6], places[7] == places[0]) == (True, last == "a")
    assert places[2] != places[0] != places[4]
    assert words[1:30] == swf_tables._alike_parts_once(pa.array(words, pa.string()).slice(1, 29)).to_pylist()


def test_a_long_log_is_simulated_and_measured_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, also where runs are stopped."""

    def made(root: Path) -> dict[str, bytes]:
        task = MeasureSchedule(data_root=str(root), augment="utility,speedup", policy="scojo-p", overrun="kill")
        assert luigi.build([task], local_scheduler=True, log_level="WARNING")
        files = (root / ".work").rglob("*")
        return {str(path.relative_to(root)): path.read_bytes() for path in files if path.is_file()}

    short = made(tmp_path / "short")
    monkeypatch.setattr(swf_tables, "LONG", 100)
    monkeypatch.setattr(swf_tables, "ALIKE", 64)
    monkeypatch.setattr(simulating, "LONG", 100)
    assert short == made(tmp_path / "long")


def test_what_is_wrong_is_told_of_the_whole(cleaned: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the row in the whole table; no file is left, and none that is damaged is read."""
    wrong = cleaned.jobs.assign(run_time=np.where(np.arange(len(cleaned)) == 2_345, -5.0, 1.0))
    options = {**QUICK_OPTIONS, "row_group_size": 1_000}
    with pytest.raises(SchemaError, match="row 2345"):
        write_frame(wrong, tmp_path / "jobs.parquet", "jobs", options)
    assert [] == list(tmp_path.iterdir())
    monkeypatch.setattr(swf_tables, "LONG", 10)
    write_frame(cleaned.jobs, tmp_path / "jobs.parquet", "jobs", options)
    with pytest.raises(SchemaError, match="unknown columns"):
        read_frame(tmp_path / "jobs.parquet", "segments")
    (tmp_path / "jobs.parquet").write_bytes((tmp_path / "jobs.parquet").read_bytes()[:-20])
    with pytest.raises(SchemaError, match="not a readable Parquet file"):
        read_frame(tmp_path / "jobs.parquet", "jobs")
    with pytest.raises(FileNotFoundError):
        read_frame(tmp_path / "none.parquet", "jobs")


def test_row_groups_check_what_they_are_given(cleaned: Trace, tmp_path: Path) -> None:
    """A row group that differs from the dictionary ends the file, of which nothing is left."""
    table = swf_tables.to_arrow(cleaned.jobs, "jobs")
    schema = arrow_schema("jobs", cleaned.jobs.columns)

    def write() -> None:
        with RowGroups(tmp_path / "jobs.parquet", "jobs", schema, is_sorted=True) as file:
            file.write(table)
            file.write(table.drop_columns(["run_time"]))

    with pytest.raises(SchemaError):
        write()
    assert [] == list(tmp_path.iterdir())


def test_columns_that_nothing_is_in(cleaned: Trace) -> None:
    """Zeros, missing values and a mixture of both come back as they were."""
    jobs = cleaned.jobs.iloc[:4].reset_index(drop=True)
    for values in ([0, 0, 0, 0], [0, 5, 0, 0], [None] * 4, [0, None, 0, 0], [7, 0, 0, None]):
        frame = jobs.assign(status=pd.array(values, dtype="Int64"))
        back = to_pandas(swf_tables.to_arrow(frame, "jobs"), "jobs")
        assert values == [None if value is pd.NA else value for value in back["status"]]


def test_months_read_each_row_group_once(cleaned: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they end within a row group, with it or in a later one, they have the rows that they are asked for."""
    path, read = tmp_path / "jobs.parquet", []
    write_frame(cleaned.jobs, path, "jobs", {**QUICK_OPTIONS, "row_group_size": 1_000})
    whole, usual = pq.read_table(path), pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda file, group: read.append(group) or usual(file, group))
    jobs = long_jobs.LongJobs(path, [])
    ends = [0, 10, 400, 1_000, 1_001, 3_500, 3_500, len(cleaned)]
    for begin, end in pairwise(ends):
        assert jobs.between(begin, end, keeps=True).equals(whole.slice(begin, end - begin))
    assert read == list(range(5))
    assert jobs.between(5, 15).equals(whole.slice(5, 10))
