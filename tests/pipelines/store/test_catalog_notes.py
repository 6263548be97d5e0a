# SPDX-License-Identifier: BSD-3-Clause
"""The notes beside the catalogue: they save reading, and never change what the catalogue says."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyarrow import fs

from pipelines.names import CATALOG, CATALOG_NOTES, MANIFEST
from pipelines.store import catalog_notes, data_root, intake_catalog
from pipelines.store.data_root import DataRoot
from pipelines.store.intake_catalog import CatalogVersion, blocks_of, catalog_text
from pipelines.store.local import LocalStorage
from swftools.errors import StorageError
from tests.pipelines.conftest import BUCKET
from tests.pipelines.killed import killed_at_every_step
from tests.pipelines.store.samples import publish


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Publish two versions of one data set and one of another."""
    root = DataRoot.open(place)
    publish(root, "v1")
    publish(root, "v2")
    publish(root, "w1", data_set="ctc")
    return root


def dumped(root: DataRoot) -> str:
    """Return the catalogue as dumping it as a whole gives it, from the manifests alone."""
    data: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    for name in root.data_sets():
        for listed in root.versions(name):
            if listed.damage:
                continue
            manifest = root.manifest(name, listed.version)
            for table in manifest["tables"]:
                source = f"{name}/{listed.version}/{table}"
                data[source] = intake_catalog._source(name, listed.version, table, manifest)
                entries[f"{name}@{listed.version}.{table}"] = intake_catalog._entry(source)
                if listed.is_latest:
                    entries[f"{name}.{table}"] = intake_catalog._entry(source)
    catalog = {
        "version": 2,
        "metadata": {"description": "Published job traces; <data set>.<table> is the latest version."},
        "user_parameters": {},
        "aliases": {intake_catalog._alias(name): name for name in entries},
        "data": data,
        "entries": entries,
    }
    text = yaml.safe_dump(catalog, allow_unicode=True, sort_keys=True, width=120)
    return f"# Generated from the published versions and written anew with each; edits are lost.\n{text}"


def check_catalog(root: DataRoot, place: Path) -> None:
    """Check that the catalogue says what the manifests say."""
    assert dumped(root) == (place / CATALOG).read_text(encoding="utf-8")


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the manifests that are read from now on."""
    read: list[str] = []
    original = LocalStorage.read

    def note(self: LocalStorage, key: str) -> bytes:
        read.extend([key] * key.endswith(MANIFEST))
        return original(self, key)

    monkeypatch.setattr(LocalStorage, "read", note)
    return read


def test_only_what_is_new_is_read(root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A publication reads its own manifest and no other, a rollback none; the catalogue is as without notes."""
    read = count_reads(monkeypatch)
    publish(root, "v3")
    assert ["sdsc/v3/manifest.json"] == read
    root._point("sdsc", "v1", settles_all=True)
    assert 1 == len(read)
    monkeypatch.undo()
    check_catalog(root, place)


def test_names_of_every_kind_are_put_together_as_yaml_has_them(root: DataRoot, place: Path) -> None:
    """Long names, numbers for names, and the sorting of keys are those of a catalogue that is dumped as a whole."""
    for name in ("1", "1e3", "on", "A" * 128, "a-b+c_d.e", "0x1F", "null"):
        publish(root, name, data_set=name)
        publish(root, "z" * 128, data_set=name)
    check_catalog(root, place)


def test_without_any_version_it_is_an_empty_catalogue() -> None:
    """Sections without entries are empty mappings."""
    catalog = yaml.safe_load(catalog_text([]))
    assert {} == catalog["aliases"] == catalog["data"] == catalog["entries"]
    listed = CatalogVersion("sdsc", "v1", True, blocks_of("sdsc", "v1", {"tables": {}, "files": {}}))
    assert catalog_text([]) == catalog_text([listed])


def test_a_manifest_damaged_since_is_told_and_left_out(
    root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes do not hide it: by each publication it is told of, until it is mended."""
    said: list[str] = []
    monkeypatch.setattr(data_root.progress, "warning", lambda text, *args: said.append(text % args))
    path = place / "sdsc" / "v1" / MANIFEST
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b'"rows": 3', b'"rows": 4'))
    publish(root, "v3")
    check_catalog(root, place)
    assert "rows: 4" in (place / CATALOG).read_text()
    path.write_bytes(sound.replace(b'"rows": 3', b'"rows":-3'))
    for version in ("v4", "v5"):
        publish(root, version)
        assert "sdsc@v1" not in (place / CATALOG).read_text()
    assert [True, True] == ["v1/manifest.json: damaged manifest (" in line for line in said]
    path.write_bytes(sound)
    publish(root, "v6")
    assert 2 == len(said)
    check_catalog(root, place)


def test_edits_of_the_catalogue_are_lost(root: DataRoot, place: Path) -> None:
    """The catalogue is made of the notes and not of the one before."""
    (place / CATALOG).write_text("version: 2\n")
    publish(root, "v3")
    check_catalog(root, place)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-40],
        lambda content: content.replace(b"licence: none stated", b"licence: all granted"),
        lambda content: b"\xff\n[]",
        lambda content: b"[]",
    ],
)
def test_damaged_notes_are_not_used(root: DataRoot, place: Path, damage: Any) -> None:
    """What was cut off or changed is read anew from the manifests; the next notes are whole."""
    whole = (place / CATALOG_NOTES).read_bytes()
    (place / CATALOG_NOTES).write_bytes(damage(whole))
    root.promote("sdsc", "v2")
    check_catalog(root, place)
    assert whole == (place / CATALOG_NOTES).read_bytes()
    (place / CATALOG_NOTES).unlink()
    root.promote("sdsc", "v2")
    assert whole == (place / CATALOG_NOTES).read_bytes()


def test_notes_of_another_code_are_not_used(root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the code writes another catalogue than the code of the notes, every entry is the new code's."""
    original = intake_catalog._entry
    monkeypatch.setattr(intake_catalog, "_entry", lambda source: {**original(source), "metadata": {"new": 1}})
    catalog_notes._form.cache_clear()
    publish(root, "v3")
    check_catalog(root, place)
    catalog = yaml.safe_load((place / CATALOG).read_text())
    assert [{"new": 1}] * len(catalog["entries"]) == [entry["metadata"] for entry in catalog["entries"].values()]
    monkeypatch.undo()
    catalog_notes._form.cache_clear()
    publish(root, "v4")
    check_catalog(root, place)


def test_notes_name_nothing_that_is_gone(root: DataRoot, place: Path) -> None:
    """What was withdrawn, or removed by hand, is no longer kept; what is published anew is read anew."""
    root.withdraw([("sdsc", "v1")])
    shutil.rmtree(place / "ctc")
    publish(root, "v3")
    notes = json.loads((place / CATALOG_NOTES).read_bytes().partition(b"\n")[2])
    assert {"sdsc/v2", "sdsc/v3"} == notes["versions"].keys()
    publish(root, "v1", rows=9)
    check_catalog(root, place)
    assert "rows: 9" in (place / CATALOG).read_text()


def test_a_manifest_that_cannot_be_read_is_an_error(
    root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passing fault of the disk drops no version from the catalogue."""
    before = (place / CATALOG).read_bytes()
    original = Path.read_bytes

    def fail(path: Path) -> bytes:
        if path.name == MANIFEST and path.parent.name == "v1":
            raise OSError(errno.EIO, "Input/output error", str(path))
        return original(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", fail)
        with pytest.raises(StorageError, match=r"v2 is published, but .*: Input/output error .*v1/manifest.json"):
            root.promote("sdsc", "v2")
    assert before == (place / CATALOG).read_bytes()


@pytest.mark.slow
def test_killed_at_every_step_the_catalogue_follows(root: DataRoot, place: Path, tmp_path: Path) -> None:
    """Wherever a publisher is killed, the next publication writes the catalogue that the manifests give."""
    work = tmp_path / "work"
    for _ in killed_at_every_step(_publish_another, place, work):
        left = DataRoot.open(work)
        publish(left, "v4")
        check_catalog(left, work)


def _publish_another(root: DataRoot) -> None:
    publish(root, "v3", rows=5)


def test_on_s3_the_service_tells_fingerprints(bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Manifests that S3 says are the same are not fetched again; one that was overwritten is."""
    from pipelines.store.s3 import S3Storage  # noqa: PLC0415 (boto3 takes half a second)

    root = DataRoot.open(f"s3://{BUCKET}/x")
    publish(root, "v1")
    read: list[str] = []
    original = S3Storage.read

    def note(self: S3Storage, key: str) -> bytes:
        read.extend([key] * key.endswith(MANIFEST))
        return original(self, key)

    monkeypatch.setattr(S3Storage, "read", note)
    publish(root, "v2")
    assert ["sdsc/v2/manifest.json"] == read
    content = original(S3Storage(root.location), "sdsc/v1/manifest.json")
    root.storage.replace("sdsc/v1/manifest.json", content.replace(b'"rows": 3', b'"rows": 4'))
    publish(root, "v3")
    assert ["sdsc/v1/manifest.json", "sdsc/v3/manifest.json"] == read[1:]
    assert dumped(root) == root.storage.read(CATALOG).decode()


def test_fingerprints_are_the_same_wherever(bucket: fs.S3FileSystem, place: Path) -> None:
    """Files of equal content have equal ones, here and on S3, also one that was sent in pieces; no file has none."""
    from pipelines.store.s3 import S3Storage  # noqa: PLC0415 (boto3 takes half a second)

    storages = [LocalStorage(place), S3Storage(f"s3://{BUCKET}/x")]
    for storage in storages:
        storage.replace("sdsc/a", b"one")
        storage.replace("sdsc/b", b"another")
    with bucket.open_output_stream(f"{BUCKET}/x/sdsc/b", compression=None) as sink:
        sink.write(b"another")
    here, there = (storage.fingerprints(["sdsc/a", "sdsc/b", "sdsc/c", "sdsc/a/b"]) for storage in storages)
    assert here == there
    assert (True, [None, None]) == (here[0] != here[1], here[2:])
