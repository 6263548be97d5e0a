# SPDX-License-Identifier: BSD-3-Clause
"""The generated catalogue: what it says, and that intake 2 opens it as it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from pipelines.store import intake_catalog
from pipelines.store.data_root import DataRoot
from pipelines.store.intake_catalog import CatalogVersion, blocks_of, catalog_text
from tests.pipelines.store.samples import jobs

RECORD = {"licence": "none stated", "source_url": "https://example.org/sdsc.swf.gz", "citation": "Zoë {x}: data(x)"}


def publish(root: DataRoot, data_set: str, version: str, rows: int = 3) -> None:
    """Publish a small version."""
    root.publish(data_set, version, {"jobs": jobs(rows)}, manifest=RECORD)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Publish two data sets, one with two versions, below a directory with an awkward name."""
    place = tmp_path / "my data%20#{x}"
    root = DataRoot.open(place)
    publish(root, "SDSC-SP2.v4", "3f2a")
    publish(root, "SDSC-SP2.v4", "9c+1", rows=5)
    publish(root, "ctc", "77", rows=2)
    return place


def open_catalog(place: Path) -> Any:
    """Open the catalogue of a root with intake."""
    return pytest.importorskip("intake").open_catalog(str(place / "catalog.yaml"))


def table_as_frame(place: Path, data_set: str, version: str) -> pd.DataFrame:
    """Read a table by its path."""
    return pd.read_parquet(place / data_set / version / "jobs")


def test_intake_reads_latest_and_every_version(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From another working directory, intake reads each entry as the DataFrame that the table is."""
    monkeypatch.chdir(tmp_path)
    catalog = open_catalog(place)
    versions = {
        "SDSC-SP2.v4.jobs": ("SDSC-SP2.v4", "9c+1"),
        "SDSC-SP2.v4@9c+1.jobs": ("SDSC-SP2.v4", "9c+1"),
        "SDSC-SP2.v4@3f2a.jobs": ("SDSC-SP2.v4", "3f2a"),
        "ctc.jobs": ("ctc", "77"),
        "ctc@77.jobs": ("ctc", "77"),
    }
    assert versions.keys() == catalog.entries.keys()
    for name, (data_set, version) in versions.items():
        pd.testing.assert_frame_equal(table_as_frame(place, data_set, version), catalog[name].read())


def test_intake_reads_aliases_as_attributes(place: Path) -> None:
    """Each entry has an alias that is a Python name; intake lists these."""
    catalog = open_catalog(place)
    names = ["SDSC_SP2_v4_3f2a_jobs", "SDSC_SP2_v4_9c_1_jobs", "SDSC_SP2_v4_jobs", "ctc_77_jobs", "ctc_jobs"]
    assert names == sorted(catalog)
    assert all(name.isidentifier() for name in catalog)
    pd.testing.assert_frame_equal(table_as_frame(place, "SDSC-SP2.v4", "9c+1"), catalog.SDSC_SP2_v4_jobs.read())
    assert 2 == len(catalog.ctc_77_jobs.read())


def test_intake_shows_what_a_reader_must_know(place: Path) -> None:
    """Version, rows, units, hash, licence and source are metadata of every entry."""
    reader = open_catalog(place)["SDSC-SP2.v4.jobs"]
    manifest = DataRoot.open(place).manifest("SDSC-SP2.v4")
    assert ("SDSC-SP2.v4", "9c+1", "jobs", 5) == tuple(
        reader.metadata[key] for key in ("data_set", "version", "table", "rows")
    )
    assert ("s", "KB") == (reader.metadata["units"]["run_time"], reader.metadata["units"]["used_memory"])
    part = "jobs/part-0.parquet"
    assert {part: manifest["files"][part]["sha256"]} == reader.metadata["sha256"]
    assert RECORD == {key: reader.metadata[key] for key in RECORD}
    assert reader.metadata["acknowledgement"] is None


def test_a_moved_root_keeps_its_catalogue(place: Path, tmp_path: Path) -> None:
    """Addresses are relative to the catalogue, so that a copied or moved root works."""
    moved = tmp_path / "moved"
    shutil.move(place, moved)
    assert 5 == len(open_catalog(moved)["SDSC-SP2.v4.jobs"].read())


def test_catalogue_follows_rollback_and_promotion(place: Path) -> None:
    """The entry of the latest version follows the pointer at once, and comes back byte for byte."""
    root, before = DataRoot.open(place), (place / "catalog.yaml").read_bytes()
    root.rollback("SDSC-SP2.v4", "3f2a")
    assert 3 == len(open_catalog(place)["SDSC-SP2.v4.jobs"].read())
    root.promote("SDSC-SP2.v4", "9c+1")
    assert before == (place / "catalog.yaml").read_bytes()


def test_text_depends_on_content_alone(place: Path) -> None:
    """Versions in any order give the same text, which plain YAML reads, without anchors."""
    root = DataRoot.open(place)
    versions = [
        CatalogVersion(
            name,
            listed.version,
            listed.is_latest,
            blocks_of(name, listed.version, root.manifest(name, listed.version)),
        )
        for name in root.data_sets()
        for listed in root.versions(name)
    ]
    text = catalog_text(versions)
    assert text == catalog_text(reversed(versions))
    assert text == (place / "catalog.yaml").read_text(encoding="utf-8")
    assert text.startswith("# Generated")
    assert "*id" not in text
    assert 2 == yaml.safe_load(text)["version"]
    assert str(place) not in text


PLAIN = ["a", "n/a", "null", "yes", "-1", "1_0", "1e5", ".inf", "2001-01-01", "12:30", "~", "=", "<<", "", " ", "a: b"]
PLAIN += ["c #d", "- e", "{data(x)}", "%", "@", "`", "!f", "&g", "*h", "[", "? i", "---", "'", '"', "it's", "a" * 300]
PLAIN += ["word " * 60, "a" * 119 + " b", " c ", "d:", "0x1F", "\\", "a, b", "#", "|", ">"]
ODD = ["Zoë", "日本語", "\U0001f600", "\u2028", "\x85", "\ufeff", "a\nb", "\n", " \n\n", "\t", "\x00", "\u202e", "\x7f"]
ODD += ["é" * 200]
"""Texts that YAML would take for something else, that are long, or that a terminal would obey."""
CONTENTS = [content for text in (*PLAIN, *ODD) for content in ({"units": {"a": text}}, {"sha256": {text: 1}})]
CONTENTS += [{"n": [0, -7, 1.5, None, True, {}, [], ""]}]


@pytest.mark.parametrize("content", CONTENTS)
def test_lines_do_not_tell_by_what_they_were_written(content: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """With libyaml, and without it, texts of any kind are written alike, and read back as they are."""
    text = intake_catalog._dump({"data": content})
    monkeypatch.setattr(intake_catalog, "_QUICK_DUMPER", yaml.SafeDumper)
    assert text == intake_catalog._dump({"data": content})
    assert yaml.safe_load(text) == {"data": content}


def test_libyaml_writes_what_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML has it; else the other dumper writes all."""
    assert intake_catalog._QUICK_DUMPER is getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    used: list[Any] = []
    dump = yaml.dump
    monkeypatch.setattr(yaml, "dump", lambda *args, **how: used.append(how["Dumper"]) or dump(*args, **how))
    for text in ("plain", "odd\n", "é"):
        intake_catalog._dump({"a": text})
    assert used == [intake_catalog._QUICK_DUMPER, yaml.SafeDumper, yaml.SafeDumper]


def test_an_empty_root_gives_an_empty_catalogue(tmp_path: Path) -> None:
    """Without any version the catalogue is still one that intake opens."""
    (tmp_path / "catalog.yaml").write_text(catalog_text([]))
    assert [] == list(open_catalog(tmp_path))


def test_names_that_differ_in_punctuation_only_share_no_alias() -> None:
    """An alias that two entries would share is left out; the full names still tell them apart."""
    manifest: dict[str, Any] = {"tables": {"jobs": {"rows": 0, "columns": {}}}, "files": {}}
    names = ("a-b", "a.b", "9")
    text = catalog_text(CatalogVersion(name, "1", True, blocks_of(name, "1", manifest)) for name in names)
    catalog = yaml.safe_load(text)
    assert {"_9_jobs": "9.jobs", "_9_1_jobs": "9@1.jobs"} == catalog["aliases"]
    assert {"a-b.jobs", "a-b@1.jobs", "a.b.jobs", "a.b@1.jobs", "9.jobs", "9@1.jobs"} == catalog["entries"].keys()
