# SPDX-License-Identifier: BSD-3-Clause
"""The publishing store on a local file system: layout, content, immutability, and the pointer."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.names import CATALOG_NOTES, MANIFEST
from pipelines.store.data_root import DataRoot, Publication
from swftools.errors import (
    ParameterError,
    SchemaError,
    VersionNotFoundError,
)
from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING
from swftools.fields.dictionary import COMMON_VERSION, JOBS, SWF_NAMES, arrow_schema
from tests.pipelines.store.samples import RECORD, as_published, contents, date, jobs, publish, quarantine, staged


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Open a data root without anything in it."""
    return DataRoot.open(place)


def test_layout(root: DataRoot, place: Path, tmp_path: Path) -> None:
    """A version is tables, extra files and a manifest; beside it stand the pointer and the catalogue."""
    log = tmp_path / "any name"
    log.write_bytes(b"\x1f\x8b not really gzip")
    made = root.publish("sdsc", "v1", {"jobs": jobs()}, manifest=RECORD, files={"sdsc.swf.gz": log})

    assert Publication(str(place / "sdsc" / "v1"), "v1", is_new=True) == made
    found = contents(place)
    expected = {"catalog.yaml", "sdsc/latest", *(f"sdsc/v1/{n}" for n in ("jobs/part-0.parquet", MANIFEST))}
    assert expected | {"sdsc/v1/sdsc.swf.gz", CATALOG_NOTES} == found.keys()
    assert b"v1\n" == found["sdsc/latest"]
    assert log.read_bytes() == found["sdsc/v1/sdsc.swf.gz"]
    assert [] == staged(place)


def test_manifest_describes_tables_and_files(root: DataRoot) -> None:
    """The manifest adds rows, column statistics, hashes and versions to what the caller says."""
    publish(root, "v1")
    manifest = root.manifest("sdsc")

    assert RECORD == {key: manifest[key] for key in RECORD}
    assert ("sdsc", "v1", COMMON_VERSION) == tuple(manifest[key] for key in ("data_set", "version", "schema_version"))
    assert {"jobs": 3, "quarantine": 1} == {name: table["rows"] for name, table in manifest["tables"].items()}
    expected = {
        "type": "double", "unit": "s", "meaning": "Wall-clock time from start to end as logged.",
        "missing": "null (-1 in SWF)", "nulls": 1, "min": 0.0, "max": 2.5, "mean": 1.25,
    }  # fmt: skip
    assert expected == manifest["tables"]["jobs"]["columns"]["run_time"]
    assert {"jobs/part-0.parquet", "quarantine/part-0.parquet"} == manifest["files"].keys()
    assert [] == root.verify("sdsc")


def test_statistics_of_every_type(root: DataRoot) -> None:
    """Timestamps are ISO text, flags true or false, and text and lists have no extremes."""
    start = datetime(1998, 4, 24, tzinfo=UTC)
    steps = [{"time": 0.0, "value": 3.0}, {"time": 60.0, "value": 0.0}]
    least: dict[pa.DataType, object] = {BOOL: False, INT64: 0, FLOAT64: 0.0, STRING: "linear"}
    row = {field.name: least[field.type] if field.missing == NEVER else None for field in JOBS}
    row |= {"submit_timestamp": start, "utility": steps, "processor_choices": [1, 2], "width": 2**62}
    table = pa.Table.from_pylist([row, row, row], schema=arrow_schema("jobs"))
    root.publish("sdsc", "v1", {"jobs": table}, manifest={})

    columns = root.manifest("sdsc")["tables"]["jobs"]["columns"]
    shown = {name: {k: v for k, v in columns[name].items() if k in ("nulls", "min", "max", "mean")} for name in columns}
    instant = "1998-04-24T00:00:00+00:00"
    assert {"nulls": 0, "min": instant, "max": instant} == shown["submit_timestamp"]
    assert {"nulls": 0, "min": False, "max": False} == shown["is_cancelled"]
    assert {"nulls": 0} == shown["utility"] == shown["utility_decay"] == shown["processor_choices"]
    assert {"nulls": 3, "min": None, "max": None, "mean": None} == shown["run_time"]
    assert {"nulls": 0, "min": 2**62, "max": 2**62, "mean": 2.0**62} == shown["width"]


def test_manifest_never_holds_nan(root: DataRoot, place: Path) -> None:
    """A statistic that JSON cannot hold is null, and such a value is refused in the caller's part."""
    row = {"line_number": 1, "job_number": 1, "rule": "r", "column": "run_time", "old_value": None, "new_value": 1e308}
    root.publish("sdsc", "v1", {"repairs": pa.Table.from_pylist([row] * 3, arrow_schema("repairs"))}, manifest={})

    columns = root.manifest("sdsc")["tables"]["repairs"]["columns"]
    assert (3, None, None, None) == tuple(columns["old_value"][key] for key in ("nulls", "min", "max", "mean"))
    assert (1e308, None) == tuple(columns["new_value"][key] for key in ("max", "mean"))
    with pytest.raises(ParameterError, match=r"not JSON compliant.*finite numbers"):
        root.publish("sdsc", "v2", {"jobs": jobs()}, manifest={"load": math.nan})
    assert not (place / "sdsc" / "v2").exists()
    assert [] == staged(place)


def test_manifest_keys_of_the_store_are_refused(root: DataRoot) -> None:
    """A caller cannot write the entries that the store writes itself."""
    with pytest.raises(ParameterError, match=r"tables"):
        root.publish("sdsc", "v1", {}, manifest={"tables": {}})


def test_same_content_gives_same_bytes(tmp_path: Path) -> None:
    """Neither time, place, order of columns nor the way a table was built shows in any file."""
    times = pa.array(np.random.default_rng(1).random(3000))
    whole = jobs(3000).set_column(1, arrow_schema("jobs").field("submit_time"), times)
    pieces = pa.concat_tables([whole.slice(start, 7) for start in range(0, 3000, 7)])
    pieces = pieces.select(SWF_NAMES[::-1]).replace_schema_metadata()
    here, there = DataRoot.open(tmp_path / "here"), DataRoot.open(tmp_path / "elsewhere" / "there")
    here.publish("sdsc", "v1", {"jobs": whole, "quarantine": quarantine()}, manifest={"a": 1, "b": 2})
    there.publish("sdsc", "v1", {"quarantine": quarantine(), "jobs": pieces}, manifest={"b": 2, "a": 1})

    assert contents(tmp_path / "here") == contents(tmp_path / "elsewhere" / "there")


def test_manifest_holds_no_clock_time_and_no_path_of_the_machine(root: DataRoot, place: Path) -> None:
    """A manifest is what the caller and the content say and nothing else, sorted and indented."""
    publish(root, "v1")
    text = (place / "sdsc" / "v1" / MANIFEST).read_text()

    own = {"data_set", "files", "schema_version", "tables", "version"}
    assert own | RECORD.keys() == json.loads(text).keys()
    assert str(place.parent) not in text
    assert json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n" == text


def test_table_that_breaks_the_schema_is_refused(root: DataRoot, place: Path) -> None:
    """A table that differs from the column dictionary is not published, nor the tables beside it."""
    with pytest.raises(SchemaError, match=r"unknown columns"):
        root.publish("sdsc", "v1", {"quarantine": quarantine(), "jobs": pa.table({"colour": [1]})}, manifest={})
    assert {} == contents(place)
    assert [] == root.data_sets()


@pytest.mark.parametrize("reader", ["pandas", "polars", "duckdb"])
def test_readers_open_a_table_in_one_line(root: DataRoot, reader: str) -> None:
    """Pandas, polars and DuckDB read a table by its path alone."""
    path = publish(root, "v1").path
    if reader == "pandas":
        found = pd.read_parquet(f"{path}/jobs")["run_time"].to_list()
    elif reader == "polars":
        polars = pytest.importorskip("polars")
        found = polars.read_parquet(f"{path}/jobs")["run_time"].to_list()
    else:
        duckdb = pytest.importorskip("duckdb")
        found = [row[0] for row in duckdb.sql(f"SELECT run_time FROM '{path}/jobs/*.parquet'").fetchall()]
    assert [0.0, 2.5] == found[:2]
    assert pd.isna(found[2])


def test_units_travel_with_the_file(root: DataRoot) -> None:
    """Units and meanings are metadata of the Parquet fields."""
    schema = pq.read_schema(f"{publish(root, 'v1').path}/jobs/part-0.parquet")
    assert {b"unit": b"KB", b"swf_position": b"7"}.items() <= schema.field("used_memory").metadata.items()


def test_read_table_returns_what_was_published(root: DataRoot) -> None:
    """A table comes back as it went, by version or through `latest`."""
    publish(root, "v1")
    publish(root, "v2", rows=5)
    assert jobs(3).equals(as_published(root, "v1"), check_metadata=True)
    assert jobs(5).equals(as_published(root), check_metadata=True)


# Versions and the pointer


def test_a_version_is_never_rewritten(root: DataRoot, place: Path) -> None:
    """Publishing an existing version changes no byte, nor where `latest` points."""
    publish(root, "v1")
    publish(root, "v2")
    root.rollback("sdsc", "v1")
    before = contents(place)

    assert Publication(str(place / "sdsc" / "v2"), "v2", is_new=False) == publish(root, "v2", rows=9)
    assert before == contents(place)
    assert "v1" == root.latest("sdsc")


def test_versions_are_listed_newest_first(root: DataRoot, place: Path) -> None:
    """Each version shows when it was published, its jobs and bytes, and whether it is the latest."""
    publish(root, "b", rows=4)
    publish(root, "a", rows=2)
    publish(root, "c")
    date(place, "b", "a", "c")
    listed = root.versions("sdsc")

    assert [("c", 3, True), ("a", 2, False), ("b", 4, False)] == [(v.version, v.jobs, v.is_latest) for v in listed]
    assert datetime(2026, 1, 3, tzinfo=UTC) == listed[0].published_at
    files = contents(place / "sdsc" / "c")
    assert sum(len(content) for name, content in files.items() if name != MANIFEST) == listed[0].bytes


def test_publication_time_is_now(root: DataRoot) -> None:
    """The time of publication is that of the manifest, in UTC."""
    publish(root, "v1")
    assert abs(datetime.now(UTC) - root.versions("sdsc")[0].published_at) < timedelta(minutes=5)


def test_a_version_without_jobs_has_no_count_of_jobs(root: DataRoot) -> None:
    """A version of other tables is listed without a number of jobs."""
    root.publish("sdsc", "v1", {"quarantine": quarantine()}, manifest={})
    assert [None] == [listed.jobs for listed in root.versions("sdsc")]


def test_rollback_goes_back_one_version_at_a_time(root: DataRoot, place: Path) -> None:
    """Without a version, rollback moves to the one published just before the current one, until none is left."""
    for version in ("b", "a", "c"):
        publish(root, version)
    date(place, "b", "a", "c")

    assert ["a", "b"] == [root.rollback("sdsc"), root.rollback("sdsc")]
    assert "b\n" == (place / "sdsc" / "latest").read_text()
    with pytest.raises(VersionNotFoundError, match=r"no version before 'b'.*it has c, a, b.*swftools versions"):
        root.rollback("sdsc")
    assert "b" == root.latest("sdsc")


def test_after_a_rollback_only_a_promotion_or_a_new_version_moves_latest(root: DataRoot) -> None:
    """An existing version never takes `latest` back; promote and new versions do."""
    publish(root, "v1")
    publish(root, "v2")
    assert "v1" == root.rollback("sdsc", "v1")
    publish(root, "v2")
    assert "v1" == root.latest("sdsc")
    assert "v2" == root.promote("sdsc", "v2") == root.latest("sdsc")
    root.rollback("sdsc", "v1")
    publish(root, "v3")
    assert "v3" == root.latest("sdsc")


def test_unknown_names_list_what_there_is(root: DataRoot) -> None:
    """An unknown data set or version is answered with those that exist and how to list them."""
    publish(root, "v1")
    publish(root, "w1", data_set="ctc")
    for ask in (root.versions, root.manifest, root.verify, root.rollback):
        with pytest.raises(VersionNotFoundError, match=r"no data set 'kth'; there are ctc, sdsc .*`swftools versions`"):
            ask("kth")
    for ask in (root.manifest, root.verify, root.promote, root.rollback):
        with pytest.raises(VersionNotFoundError, match=r"'sdsc' has no version 'v9'; it has v1 .*`swftools versions`"):
            ask("sdsc", "v9")
    with pytest.raises(VersionNotFoundError, match=r"no table 'merged'; it has jobs, quarantine"):
        root.read_table("sdsc", "merged")


def test_an_empty_root_holds_nothing(root: DataRoot) -> None:
    """Asking a root that does not exist yet is no mistake, and does not create it."""
    assert ([], None, False) == (root.data_sets(), root.latest("sdsc"), root.is_published("sdsc", "v1"))
    with pytest.raises(VersionNotFoundError, match=r"there are none"):
        root.versions("sdsc")
    assert not Path(root.location).exists()


def test_paths_are_for_users(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative root gives absolute paths, `latest` that of its version."""
    monkeypatch.chdir(place.parent)
    root = DataRoot.open("data")
    publish(root, "v1")
    assert str(place / "sdsc" / "v1") == root.path("sdsc", "v1") == root.path("sdsc")
    assert str(place) == root.location


def test_home_directory_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A root given with a tilde, as in a configuration file, is in the home directory."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(tmp_path / "data") == DataRoot.open("~/data").location
