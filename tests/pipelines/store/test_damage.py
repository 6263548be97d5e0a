# SPDX-License-Identifier: BSD-3-Clause
"""One damaged version: it is told of, and the others are listed, published and read as if nothing were."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.names import CATALOG, LATEST, MANIFEST
from pipelines.store import data_root
from pipelines.store.data_root import DataRoot
from swftools.errors import ParameterError, StorageError, VersionNotFoundError
from tests.pipelines.store.samples import as_published, contents, date, jobs, publish

PART = "jobs/part-0.parquet"

DAMAGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "deeply nested": lambda manifest: "[" * 100_000,
    "deeply nested mappings": lambda manifest: '{"a":' * 100_000,
    "not JSON": lambda manifest: "sdsc\n",
    "empty": lambda manifest: "",
    "cut off": lambda manifest: json.dumps(manifest)[:-9],
    "not UTF-8": lambda manifest: b"\xff\xfe",
    "nothing but a NaN": lambda manifest: "NaN",
    "an endless number": lambda manifest: json.dumps(manifest | {"load": float("inf")}),
    "a list": lambda manifest: [manifest],
    "no tables": lambda manifest: {name: value for name, value in manifest.items() if name != "tables"},
    "tables as a list": lambda manifest: manifest | {"tables": []},
    "another version": lambda manifest: manifest | {"version": "v2"},
    "a version that is no text": lambda manifest: manifest | {"version": 1},
    "checksum nan": lambda manifest: changed(manifest, "sha256", "nan"),
    "checksum not hexadecimal": lambda manifest: changed(manifest, "sha256", "g" * 64),
    "checksum too long": lambda manifest: changed(manifest, "sha256", "a" * 65),
    "checksum with a line end": lambda manifest: changed(manifest, "sha256", "a" * 64 + "\n"),
    "size NaN": lambda manifest: changed(manifest, "bytes", float("nan")),
    "size negative": lambda manifest: changed(manifest, "bytes", -1),
    "size a fraction": lambda manifest: changed(manifest, "bytes", 1.5),
    "size as text": lambda manifest: changed(manifest, "bytes", "12"),
    "size true": lambda manifest: changed(manifest, "bytes", True),
    "rows negative": lambda manifest: with_table(manifest, rows=-3),
    "rows NaN": lambda manifest: with_table(manifest, rows=float("nan")),
    "columns without units": lambda manifest: with_table(manifest, columns={"run_time": {}}),
    "licence nested": lambda manifest: manifest | {"licence": [["free"]]},
    "a file elsewhere": lambda manifest: manifest | {"files": manifest["files"] | {"../x": manifest["files"][PART]}},
    "a table elsewhere": lambda manifest: manifest | {"tables": {"../jobs": manifest["tables"]["jobs"]}},
    "a table without its file": lambda manifest: manifest | {"files": {}},
}


def changed(manifest: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return a manifest with another entry of a file."""
    return manifest | {"files": manifest["files"] | {PART: manifest["files"][PART] | {key: value}}}


def with_table(manifest: dict[str, Any], **entries: Any) -> dict[str, Any]:
    """Return a manifest with other entries of its table of jobs."""
    return manifest | {"tables": manifest["tables"] | {"jobs": manifest["tables"]["jobs"] | entries}}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Publish two versions on successive days."""
    root = DataRoot.open(place)
    publish(root, "v0")
    publish(root, "v1")
    date(place, "v0", "v1")
    return root


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what the store warns of."""
    said: list[str] = []
    monkeypatch.setattr(data_root.progress, "warning", lambda text, *args: said.append(text % args))
    return said


def damage(root: DataRoot, place: Path, kind: str, version: str = "v1") -> None:
    """Damage the manifest of a version."""
    bad = DAMAGES[kind](root.manifest("sdsc", version))
    text = bad if isinstance(bad, str | bytes) else json.dumps(bad)
    (place / "sdsc" / version / MANIFEST).write_bytes(text if isinstance(text, bytes) else text.encode())
    date(place, "v0", "v1")


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_version_stands_alone(root: DataRoot, place: Path, kind: str, warnings: list[str]) -> None:
    """It is listed as damaged and an error where asked for; the next publication leaves it out and says so."""
    damage(root, place, kind)
    bad, good = root.versions("sdsc")
    assert ("v1", True, None, None) == (bad.version, bad.is_latest, bad.jobs, good.damage)
    assert bad.damage
    assert sum(len(content) for content in contents(place / "sdsc" / "v1").values()) == bad.bytes
    with pytest.raises(StorageError, match=r"v1/manifest.json: damaged manifest \(.+\); restore it") as caught:
        root.read_table("sdsc", "jobs", "v1")
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)

    assert publish(root, "v2").is_new
    (warning,) = warnings
    assert f"{place}/sdsc/v1/{MANIFEST}: damaged manifest (" in warning
    assert f"{CATALOG} goes without it" in warning
    catalog = yaml.safe_load((place / CATALOG).read_text())
    assert {"v0", "v2"} == {source.split("/")[1] for source in catalog["data"]}
    assert "v2" == root.latest("sdsc")
    assert root.is_published("sdsc", "v2")
    assert jobs().equals(as_published(root, "v0"), check_metadata=True)


def test_latest_never_moves_to_a_damaged_version(root: DataRoot, place: Path) -> None:
    """Promotion and rollback by name refuse it; rollback by one passes over it, and away from it."""
    publish(root, "v2")
    damage(root, place, "checksum nan")
    for move in (root.promote, root.rollback):
        with pytest.raises(StorageError, match=r"v1/manifest.json: damaged manifest"):
            move("sdsc", "v1")
    assert "v2" == root.latest("sdsc")
    assert "v0" == root.rollback("sdsc")
    with pytest.raises(VersionNotFoundError, match=r"no version before 'v0'"):
        root.rollback("sdsc")
    (place / "sdsc" / LATEST).write_text("v1\n")
    assert "v0" == root.rollback("sdsc")


def test_a_damaged_pointer_stands_alone(root: DataRoot, place: Path, warnings: list[str]) -> None:
    """A pointer of another data set that names nothing does not stop a publication; it is told of."""
    publish(root, "w1", data_set="ctc")
    (place / "sdsc" / LATEST).write_text("../..\n")
    publish(root, "w2", data_set="ctc")
    (warning,) = warnings
    assert f"{place}/sdsc/{LATEST}: names no version" in warning
    entries = yaml.safe_load((place / CATALOG).read_text())["entries"]
    assert {"sdsc@v1.jobs", "sdsc@v0.jobs", "ctc.jobs", "ctc@w2.jobs"} < entries.keys()
    assert "sdsc.jobs" not in entries


def test_a_manifest_that_cannot_be_read_is_no_damaged_one(
    root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passing fault of the disk drops no version from the catalogue: it is an error."""

    def fail(key: str) -> bytes:
        raise StorageError("out of order")

    monkeypatch.setattr(root.storage, "read", fail)
    with pytest.raises(StorageError, match=r"out of order"):
        root.versions("sdsc")


def test_what_readers_would_refuse_is_not_published(root: DataRoot, place: Path) -> None:
    """A caller's entry that the manifest could not be read with is refused before anything appears."""
    with pytest.raises(ParameterError, match=r"manifest of sdsc/v2: licence: Input should be a valid string"):
        root.publish("sdsc", "v2", {"jobs": jobs()}, manifest={"licence": 7})
    assert not (place / "sdsc" / "v2").exists()
