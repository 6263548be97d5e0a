# SPDX-License-Identifier: BSD-3-Clause
"""What the store refuses and reports: unsafe names, places that are none, damaged files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.names import MANIFEST
from pipelines.store.data_root import DataRoot, check_name
from swftools.errors import (
    ParameterError,
    SchemaError,
    StorageError,
    SwfToolsError,
    UnsafeNameError,
    VersionNotFoundError,
)
from tests.pipelines.store.samples import contents, jobs, publish


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Open a data root without anything in it."""
    return DataRoot.open(place)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a..b", "../x", "a/b", "/etc", ".hidden", "-x", "a b", "a\n", "a\\b", "a\0", "ä", "x" * 201,
     "latest", "LATEST", "catalog.yaml", "manifest.json", "~", "s3://x"],
)  # fmt: skip
def test_unsafe_names_are_refused_everywhere(root: DataRoot, place: Path, tmp_path: Path, name: str) -> None:
    """No name of a data set, version, table or file can leave the root, hide, or stand for another file."""
    extra = tmp_path / "extra"
    extra.touch()
    attempts: list[Callable[[], Any]] = [
        lambda: root.publish(name, "v1", {}, manifest={}),
        lambda: root.publish("sdsc", name, {}, manifest={}),
        lambda: root.publish("sdsc", "v1", {name: jobs()}, manifest={}),
        lambda: root.publish("sdsc", "v1", {}, manifest={}, files={name: extra}),
        lambda: root.is_published("sdsc", name),
        lambda: root.latest(name),
        lambda: root.read_table("sdsc", name),
        lambda: check_name(name, "data set"),
    ]
    for attempt in attempts:
        with pytest.raises(UnsafeNameError, match=r"letters, digits"):
            attempt()
    assert not place.exists()


def test_names_of_files_may_be_longer(root: DataRoot, tmp_path: Path) -> None:
    """They may begin with that of the data set; others have their limit."""
    extra, name = tmp_path / "extra", "x" * 129
    extra.touch()
    with pytest.raises(UnsafeNameError, match="at most 128 letters"):
        check_name(name, "data set")
    root.publish("sdsc", "v1", {}, manifest={}, files={name: extra})
    assert name in root.manifest("sdsc", "v1")["files"]


@pytest.mark.parametrize("name", ["sdsc", "SDSC-SP2_v4.2+x", "3", "x" * 128])
def test_safe_names_are_accepted(name: str) -> None:
    """Names of logs and hashes are fine."""
    assert name == check_name(name, "version")


@pytest.mark.parametrize("link", ["sdsc", "sdsc/v1"])
def test_symbolic_links_out_of_the_root_are_refused(root: DataRoot, place: Path, tmp_path: Path, link: str) -> None:
    """A link planted under the name of a data set or version is neither written through nor listed."""
    outside = tmp_path / "outside"
    publish(DataRoot.open(outside), "v1")
    target = outside / "sdsc" / "v1" if "/" in link else outside / "sdsc"
    (place / link).parent.mkdir(parents=True)
    (place / link).symlink_to(target)
    before = contents(outside)

    for attempt in (lambda: publish(root, "v1"), lambda: root.manifest("sdsc", "v1"), lambda: root.path("sdsc", "v1")):
        with pytest.raises(UnsafeNameError, match=r"leads out of the data root"):
            attempt()
    assert [] == root.data_sets()
    publish(root, "w1", data_set="ctc")
    assert before == contents(outside)


def test_a_root_may_itself_be_a_link(tmp_path: Path) -> None:
    """A data root that is a link to another disk works."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    assert publish(DataRoot.open(tmp_path / "data"), "v1").is_new


@pytest.mark.parametrize("location", ["", "gs://bucket/x", "http://host/x", "file:///x"])
def test_other_places_are_refused(location: str) -> None:
    """A data root is a directory or an S3 prefix."""
    with pytest.raises(ParameterError, match=r"local directory or s3://"):
        DataRoot.open(location)


# Damage


def test_verify_finds_every_kind_of_damage(root: DataRoot, place: Path) -> None:
    """A changed, a missing and a foreign file are each reported by path."""
    path = Path(publish(root, "v1").path)
    parquet = path / "jobs" / "part-0.parquet"
    content = bytearray(parquet.read_bytes())
    content[len(content) // 2] ^= 1
    parquet.write_bytes(content)
    (path / "quarantine" / "part-0.parquet").unlink()
    (path / "jobs" / "part-1.parquet").touch()

    changed, foreign, gone = root.verify("sdsc", "v1")
    assert changed.startswith(f"{parquet}: sha256 is ")
    assert f"{path}/jobs/part-1.parquet: not in the manifest" == foreign
    assert f"{path}/quarantine/part-0.parquet: missing" == gone


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"tables": {}, "files": {}, "data_set": "sdsc", "version": "v2"}'],
)
def test_a_damaged_manifest_is_one_clear_error(root: DataRoot, place: Path, damage: bytes) -> None:
    """A truncated or foreign manifest is reported with its path and what to do, not as a traceback."""
    publish(root, "v1")
    (place / "sdsc" / "v1" / MANIFEST).write_bytes(damage)
    for ask in (root.manifest, root.verify):
        with pytest.raises(StorageError, match=r"v1/manifest.json: damaged manifest .*remove the version's directory"):
            ask("sdsc")


def test_a_damaged_table_is_one_clear_error(root: DataRoot) -> None:
    """A truncated, absent or altered Parquet file is reported with its path and what to do."""
    parquet = Path(publish(root, "v1").path, "jobs", "part-0.parquet")
    content = parquet.read_bytes()
    for damaged in (b"", content[:-20], content[:4] + bytes(200) + content[204:]):
        parquet.write_bytes(damaged)
        with pytest.raises(SchemaError, match=r"part-0.parquet: damaged Parquet file .*restore it from a copy"):
            root.read_table("sdsc", "jobs")
    pq.write_table(pa.table({"colour": [1]}), parquet)
    with pytest.raises(SchemaError, match=r"unknown columns"):
        root.read_table("sdsc", "jobs")
    parquet.unlink()
    with pytest.raises(StorageError, match=r"part-0.parquet: cannot be read: .*run again"):
        root.read_table("sdsc", "jobs")


@pytest.mark.parametrize("text", ["", "../../etc\n", "a b"])
def test_a_damaged_pointer_is_one_clear_error(root: DataRoot, place: Path, text: str) -> None:
    """A pointer that names no version is reported, and mended by a promotion."""
    publish(root, "v1")
    (place / "sdsc" / "latest").write_text(text)
    with pytest.raises(StorageError, match=r"latest: names no version.*promote"):
        root.read_table("sdsc", "jobs")
    assert "v1" == root.promote("sdsc", "v1") == root.latest("sdsc")


def test_a_pointer_to_a_removed_version_is_explained(root: DataRoot, place: Path) -> None:
    """If the latest version was removed by hand, reading says so and rollback names what is left."""
    publish(root, "v1")
    publish(root, "v2")
    shutil.rmtree(place / "sdsc" / "v2")
    with pytest.raises(VersionNotFoundError, match=r"has no version 'latest'; it has v1"):
        root.read_table("sdsc", "jobs")
    with pytest.raises(VersionNotFoundError, match=r"no version before 'v2'.*it has v1"):
        root.rollback("sdsc")
    assert "v1" == root.promote("sdsc", "v1")


def test_of_many_versions_an_error_names_ten(root: DataRoot) -> None:
    """And counts the others."""
    for number in range(1, 12):
        with pytest.raises(VersionNotFoundError) as told:
            root.read_table("sdsc", "jobs", "none")
        assert "more" not in str(told.value)
        publish(root, f"v{number:02}")
    with pytest.raises(VersionNotFoundError, match=r"it has (v\d\d, ){9}v\d\d and 1 more"):
        root.read_table("sdsc", "jobs", "none")


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_a_path_taken_by_something_else_is_not_a_version(root: DataRoot, place: Path, kind: str) -> None:
    """What stands at a version's place without a manifest is neither overwritten nor taken for a version."""
    taken = place / "sdsc" / "v1"
    taken.parent.mkdir(parents=True)
    if kind == "file":
        taken.touch()
    else:
        taken.mkdir()
        (taken / "notes").touch()
    with pytest.raises(StorageError, match=r"v1: nothing was published: the path is taken .*move that away"):
        publish(root, "v1")
    assert taken.exists()
    assert [] == root.data_sets()


def test_every_error_is_a_toolkit_error() -> None:
    """One except clause catches all that the store raises on purpose."""
    errors = (StorageError, SchemaError, UnsafeNameError, VersionNotFoundError, ParameterError)
    assert all(issubclass(error, SwfToolsError) for error in errors)
