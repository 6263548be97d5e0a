# SPDX-License-Identifier: BSD-3-Clause
"""Tables in parts, of which versions share those that did not change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import fs

from pipelines.store.data_root import DataRoot
from pipelines.store.local import LocalStorage
from pipelines.store.parts import Measured, PartedTable, Shared, measured_column
from swftools.errors import ParameterError, SupersededError
from tests.pipelines.conftest import BUCKET
from tests.pipelines.store.samples import RECORD, contents, jobs

COLUMNS = tuple(jobs(1).column_names)


def publish(root: DataRoot, version: str, parts: dict[str, Any], **options: Any) -> Path:
    """Publish parts as the table of jobs."""
    tables = {"jobs": PartedTable(parts, COLUMNS)}
    return Path(root.publish("sdsc", version, tables, manifest=RECORD, **options).path)


def test_parts_are_one_table(tmp_path: Path) -> None:
    """They are read in the order of their labels, some of them, and some columns; and by pandas."""
    root = DataRoot.open(tmp_path)
    path = publish(root, "v1", {"2000-02": jobs(2), "2000-01": lambda: jobs(3)})
    assert root.read_table("sdsc", "jobs")["job_number"].to_pylist() == [1, 2, 3, 1, 2]
    one = root.read_table("sdsc", "jobs", parts=["part-2000-02.parquet"], columns=["run_time"])
    assert one.to_pydict() == {"run_time": [0.0, None]}
    assert pd.read_parquet(path / "jobs")["job_number"].tolist() == [1, 2, 3, 1, 2]
    assert root.verify("sdsc") == []


def test_manifest_describes_the_whole_table(tmp_path: Path) -> None:
    """Rows, nulls, extremes and means are those of all parts together."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1", {"a": jobs(3), "b": jobs(5)})
    publish(root, "v2", {"a": Shared("v1"), "b": Shared("v1"), "c": jobs(4)})
    whole = pa.concat_tables([jobs(3), jobs(5), jobs(4)])
    root.publish("whole", "v1", {"jobs": whole}, manifest=RECORD)
    parted, plain = root.manifest("sdsc", "v2")["tables"]["jobs"], root.manifest("whole", "v1")["tables"]["jobs"]
    assert {name: parted[name] for name in plain} == plain
    assert {name: part["rows"] for name, part in parted["parts"].items()} == {
        "part-a.parquet": 3,
        "part-b.parquet": 5,
        "part-c.parquet": 4,
    }


def test_manifest_is_short(tmp_path: Path) -> None:
    """What is measured of a part is one line of it, and reads back."""
    root = DataRoot.open(tmp_path)
    path = publish(root, "v1", {"a": jobs(3), "b": jobs(5)})
    lines = [line for line in (path / "manifest.json").read_text().splitlines() if '"measured"' in line]
    assert len(lines) == 2
    table = root.manifest("sdsc", "v1")["tables"]["jobs"]
    assert measured_column(table, "part-b.parquet", "submit_time") == Measured(0, 0.0, 40.0, 100.0)
    assert measured_column(table, "part-b.parquet", "run_time") == Measured(1, 0.0, 7.5, 15.0)


def test_shared_parts_and_files_are_links(tmp_path: Path) -> None:
    """They take no space; and stay when the version that they came from goes."""
    root = DataRoot.open(tmp_path / "root")
    page = tmp_path / "page"
    page.write_text("a page")
    first = publish(root, "v1", {"a": jobs(3)}, files={"page": page})
    second = publish(root, "v2", {"a": Shared("v1"), "b": jobs(2)}, files={"page": Shared("v1")})
    for name in ("jobs/part-a.parquet", "page"):
        assert (first / name).samefile(second / name)
    before = contents(second)
    root.withdraw([("sdsc", "v1")])
    assert contents(second) == before
    assert root.verify("sdsc") == []


def test_parts_do_not_tell_their_version(tmp_path: Path) -> None:
    """Equal parts are equal bytes in whatever version."""
    root = DataRoot.open(tmp_path)
    paths = [publish(root, version, {"a": jobs(3)}) for version in ("v1", "v2")]
    one, other = ((path / "jobs" / "part-a.parquet").read_bytes() for path in paths)
    assert one == other


@pytest.mark.parametrize("number", [1, 95])
def test_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Where the file system has no links, or no more of them, parts are copied."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1", {"a": jobs(3)})

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    second = publish(root, "v2", {"a": Shared("v1")})
    assert (second / "jobs" / "part-a.parquet").stat().st_nlink == 1
    assert root.verify("sdsc") == []


def test_other_columns_are_refused(tmp_path: Path) -> None:
    """Parts of one table have one form; nothing is published."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1", {"a": jobs(3)})
    wider = jobs(2).append_column(pa.field("line_number", pa.int64()), pa.array([1, 2], pa.int64()))
    tables = {"jobs": PartedTable({"a": Shared("v1"), "b": wider}, tuple(wider.column_names))}
    with pytest.raises(ParameterError, match=r"part-a.parquet has other columns"):
        root.publish("sdsc", "v2", tables, manifest=RECORD)
    assert [version.version for version in root.versions("sdsc")] == ["v1"]


def test_no_parts(tmp_path: Path) -> None:
    """A table of no parts has no rows."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1", {})
    assert root.read_table("sdsc", "jobs").num_rows == 0


def test_second_of_two_is_superseded(tmp_path: Path) -> None:
    """Of two versions that go on from the same one, only the first is published."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1", {"a": jobs(3)}, after=None)
    publish(root, "v2", {"a": jobs(2)}, after="v1")
    with pytest.raises(SupersededError, match="v2"):
        publish(root, "v3", {"a": jobs(4)}, after="v1")
    assert root.latest("sdsc") == "v2"
    with pytest.raises(SupersededError):
        publish(root, "v4", {"a": jobs(4)}, after=None)
    assert publish(root, "v2", {"a": jobs(2)}, after="v1").name == "v2"


def test_latest_that_moves_in_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the version's appearance and that of its name: it stays without."""
    root = DataRoot.open(tmp_path)
    publish(root, "v1", {"a": jobs(3)}, after=None)
    commit = LocalStorage.commit

    def overtaken(self: LocalStorage, *given: Any) -> bool:
        appeared = commit(self, *given)
        self.replace("sdsc/latest", b"another\n")
        return appeared

    monkeypatch.setattr(LocalStorage, "commit", overtaken)
    with pytest.raises(SupersededError, match="another run published after v1 first"):
        publish(root, "v2", {"a": jobs(2)}, after="v1")
    assert root.latest("sdsc") == "another"


@pytest.fixture(params=["local", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a storage of each kind."""
    if request.param == "local":
        return LocalStorage(tmp_path)
    request.getfixturevalue("bucket")
    from pipelines.store.s3 import S3Storage  # noqa: PLC0415 (where there is a service alone)

    return S3Storage(f"s3://{BUCKET}/exchange")


def test_exchange(storage: Any) -> None:
    """A file is replaced only if it is what it is said to be."""
    assert not storage.exchange("x", b"a", b"b")
    assert storage.exchange("x", None, b"a")
    assert not storage.exchange("x", None, b"b")
    assert not storage.exchange("x", b"c", b"b")
    assert storage.read("x") == b"a"
    assert storage.exchange("x", b"a", b"b")
    assert storage.read("x") == b"b"


def test_stamps(storage: Any) -> None:
    """They are those of the files of one folder, and change with a file."""
    storage.replace("in/a", b"1")
    storage.replace("in/b", b"1")
    storage.replace("in/deeper/c", b"1")
    before = storage.stamps("in")
    assert list(before) == ["a", "b"]
    storage.replace("in/a", b"22")
    after = storage.stamps("in")
    assert after["a"] != before["a"]
    assert after["b"] == before["b"]


def test_parts_on_s3(bucket: fs.S3FileSystem) -> None:
    """Shared parts are copied by the service, and all reads and verifies as elsewhere."""
    root = DataRoot.open(f"s3://{BUCKET}/parts")
    publish(root, "v1", {"a": jobs(3)})
    publish(root, "v2", {"a": Shared("v1"), "b": jobs(2)}, after="v1")
    root.withdraw([("sdsc", "v1")])
    assert root.read_table("sdsc", "jobs")["job_number"].to_pylist() == [1, 2, 3, 1, 2]
    assert root.verify("sdsc") == []
    with pytest.raises(SupersededError):
        publish(root, "v3", {"a": jobs(1)}, after="v1")
    assert root.latest("sdsc") == "v2"
