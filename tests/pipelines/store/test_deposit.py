# SPDX-License-Identifier: BSD-3-Clause
"""A version in a folder for a repository: whole, checked, and told of in what repositories read."""

from __future__ import annotations

import errno
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.store import deposit
from pipelines.store.croissant import croissant_text, semantic_version
from pipelines.store.data_root import DataRoot
from pipelines.store.deposit import export_version
from pipelines.store.deposit_files import ro_crate_text, zenodo_text
from pipelines.tasks.build import BuildAugmentedTrace
from swftools.errors import ParameterError, StorageError, VersionNotFoundError
from swftools.fields.dictionary import COMMON_VERSION
from tests.pipelines.conftest import BUCKET
from tests.pipelines.small_logs import build
from tests.pipelines.store.samples import RECORD, contents, jobs, publish, quarantine

NAME = "SDSC-BLUE-2000-4.2-cln-5000-9999"
BESIDE = {".zenodo.json", "CITATION.bib", "checksums.sha256", "manifest.json", "ro-crate-metadata.json"}
ARCHIVE = (
    "D. G. Feitelson, D. Tsafrir, D. Krakov: Experience with using the Parallel Workloads Archive. "
    "Journal of Parallel and Distributed Computing 74(10), 2967-2982, 2014"
)


@pytest.fixture(scope="module")
def shipped_root(tmp_path_factory: pytest.TempPathFactory) -> DataRoot:
    """A data root with the shipped log's data set."""
    data = tmp_path_factory.mktemp("shipped") / "data"
    assert build(BuildAugmentedTrace(data_root=str(data), augment="utility"))
    return DataRoot.open(data)


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """A data root with a small version, which the store published without croissant.json."""
    root = DataRoot.open(tmp_path / "data")
    publish(root, "v1")
    return root


def entities(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what an RO-Crate tells of, by identifier."""
    crate = json.loads((folder / "ro-crate-metadata.json").read_text())
    assert crate["@context"] == "https://w3id.org/ro/crate/1.2/context"
    return {entity["@id"]: entity for entity in crate["@graph"]}


def left_overs(folder: Path) -> list[str]:
    """Return what an export left on its way."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_the_shipped_log(shipped_root: DataRoot, tmp_path: Path) -> None:
    """Each file byte by byte, sound by sha256sum; a second folder is equal to the first."""
    made = export_version(shipped_root, NAME, tmp_path / "one")
    files = contents(tmp_path / "one")
    version = Path(shipped_root.path(NAME))
    assert contents(version) == {name: files[name] for name in files if name not in BESIDE - {"manifest.json"}}
    assert (made.version, made.files.keys()) == (version.name, files.keys())
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "checksums.sha256"], cwd=tmp_path / "one", capture_output=True, check=True
    )
    assert len(files) - 1 == checked.stdout.count(b": OK\n")
    export_version(shipped_root, NAME, tmp_path / "two", version.name[:6])
    assert files == contents(tmp_path / "two")
    assert [] == left_overs(tmp_path)


def test_the_crate_of_the_shipped_log(shipped_root: DataRoot, tmp_path: Path) -> None:
    """The root has what RO-Crate demands, and each file its hash and size."""
    made = export_version(shipped_root, NAME, tmp_path / "out")
    found = entities(tmp_path / "out")
    descriptor = found["ro-crate-metadata.json"]
    assert ("CreativeWork", {"@id": "./"}) == (descriptor["@type"], descriptor["about"])
    assert {"@id": "https://w3id.org/ro/crate/1.2"} == descriptor["conformsTo"]
    crate = found["./"]
    assert ("Dataset", made.version) == (crate["@type"], crate["version"])
    assert "SDSC Blue Horizon, 5,000 job lines of May and June 2000, cleaned" == crate["name"]
    assert f"{shipped_root.published_at(NAME, made.version):%Y-%m-%d}" == crate["datePublished"]
    assert "none stated" == found[crate["license"]["@id"]]["description"]
    assert "SDSC Blue Horizon" == found[crate["creator"]["@id"]]["name"]
    parts = [part["@id"] for part in crate["hasPart"]]
    assert sorted(set(made.files) - {"ro-crate-metadata.json", "checksums.sha256"}) == parts
    for name in parts:
        assert "File" == found[name]["@type"]
        assert made.files[name] == {"sha256": found[name]["sha256"], "bytes": int(found[name]["contentSize"])}
    assert "application/x-parquet" == found["jobs/part-0.parquet"]["encodingFormat"]


def test_what_zenodo_and_bibtex_read(shipped_root: DataRoot, tmp_path: Path) -> None:
    """No licence is chosen for the depositor; the log's citation, thanks and terms are told."""
    made = export_version(shipped_root, NAME, tmp_path / "out")
    zenodo = json.loads((tmp_path / "out" / ".zenodo.json").read_text())
    assert ("dataset", [{"name": "SDSC Blue Horizon"}], made.version) == (
        *(zenodo["upload_type"], zenodo["creators"], zenodo["version"]),
    )
    assert "license" not in zenodo
    assert [ARCHIVE] == zenodo["references"]
    assert zenodo["notes"].startswith("<p>Terms of the log: none stated</p><p>Acknowledgement: Travis Earheart")
    bibliography = (tmp_path / "out" / "CITATION.bib").read_text()
    assert f"@misc{{{NAME}-{made.version}," in bibliography
    assert "  pages = {2967--2982}," in bibliography
    assert bibliography.startswith(f"% Licence of {NAME}: none stated\n")


def test_croissant_of_the_shipped_log(shipped_root: DataRoot) -> None:
    """Values by hand; the manifest alone gives the same text."""
    version = Path(shipped_root.path(NAME))
    found = json.loads((version / "croissant.json").read_text())
    assert ("sc:Dataset", NAME, "http://mlcommons.org/croissant/1.1") == (
        *(found["@type"], found["name"], found["conformsTo"]),
    )
    assert f"{COMMON_VERSION}.0.0+{version.name}" == found["version"]
    assert [{"@type": "sc:CreativeWork", "name": "none stated"}] == found["license"]
    assert [{"@type": "sc:Organization", "name": "SDSC Blue Horizon"}] == found["creator"]
    assert "@article{feitelson2014," in found["citeAs"]
    manifest = shipped_root.manifest(NAME)
    told = {
        name: entry for name, entry in manifest["files"].items() if name not in ("croissant.json", "datapackage.json")
    }
    assert {each["@id"]: each["sha256"] for each in found["distribution"]} == {
        name: entry["sha256"] for name, entry in told.items()
    }
    (table,) = [each for each in found["recordSet"] if each["name"] == "jobs"]
    fields = {field["name"]: field for field in table["field"]}
    assert fields["run_time"]["dataType"] == "cr:Float64"
    assert fields["job_number"]["dataType"] == "cr:Int64"
    assert fields["run_time"]["source"] == {
        "fileObject": {"@id": "jobs/part-0.parquet"},
        "extract": {"column": "run_time"},
    }
    assert "unit: s" in fields["run_time"]["description"]
    assert manifest["tables"]["jobs"]["columns"].keys() - fields.keys() == {"utility"}
    assert table["description"].endswith(" Without what Croissant has no type for: utility.")
    columns = {name: each["columns"] for name, each in manifest["tables"].items()}
    assert (version / "croissant.json").read_text() == croissant_text(manifest, columns, told)


def test_versions_have_the_form_of_numbers() -> None:
    """The schema's, and the name behind a plus sign."""
    assert "7.0.0+a-b-c" == semantic_version({"schema_version": 7, "version": "a_b.c"})


def test_a_version_without_croissant_gets_one(root: DataRoot, tmp_path: Path) -> None:
    """As those that older packages published, whose datapackage.json it does not tell of, as in versions of ours."""
    root.publish(
        "sdsc",
        "v2",
        {"jobs": jobs(), "quarantine": quarantine()},
        manifest=RECORD,
        last={"datapackage.json": lambda _: "{}"},
    )
    export_version(root, "sdsc", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "croissant.json").read_text())
    assert ["jobs/part-0.parquet", "quarantine/part-0.parquet"] == [each["@id"] for each in found["distribution"]]
    assert "unknown: the log names no site" == found["creator"][0]["name"]
    assert 'title = {{Zo{\\"e} 2026}}' in (tmp_path / "out" / "CITATION.bib").read_text()


def test_texts_of_a_log_stay_texts() -> None:
    """Markup on Zenodo's page, a plus sign in an address, and what a terminal would obey."""
    facts = {"data_set": "a", "version": "b", "licence": "<b> & \x1b[2J", "acknowledgement": "Ann &\n Bo"}
    text = zenodo_text(facts, [])
    assert "\x1b" not in text
    notes = json.loads(text)["notes"]
    assert "<p>Terms of the log: &lt;b&gt; &amp; \x1b[2J</p><p>Acknowledgement: Ann &amp; Bo</p>" == notes
    files = {"a+b.csv": {"sha256": "ab", "bytes": 1}}
    *_, file = json.loads(ro_crate_text(facts, files, datetime(2026, 1, 2, tzinfo=UTC), "cited"))["@graph"]
    assert ("a%2Bb.csv", "a+b.csv", "text/csv") == (file["@id"], file["name"], file["encodingFormat"])


def test_an_empty_folder_is_taken(root: DataRoot, tmp_path: Path) -> None:
    """Also through a symbolic link, which stays one."""
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    export_version(root, "sdsc", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert BESIDE <= contents(tmp_path / "out").keys()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda out: (out.mkdir(), (out / "mine").touch()), "holds files already; name another folder, or empty it"),
        (lambda out: out.touch(), "is a file; name a folder that is not there"),
        (lambda out: out.parent.rmdir(), "make it first, or mend the path"),
    ],
)
def test_folders_that_cannot_be_made(root: DataRoot, tmp_path: Path, make: Any, said: str) -> None:
    """What stands there stays as it is."""
    out = tmp_path / "below" / "out"
    out.parent.mkdir()
    make(out)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ParameterError, match=said):
        export_version(root, "sdsc", out)
    assert before == sorted(tmp_path.rglob("*"))


def test_unknown_versions(root: DataRoot, tmp_path: Path) -> None:
    """Nothing is made."""
    for data_set, version in (("sdcs", "latest"), ("sdsc", "zzzz")):
        with pytest.raises(VersionNotFoundError, match="sdsc"):
            export_version(root, data_set, tmp_path / "out", version)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("fault", ["changed", "gone"])
def test_damage_is_not_deposited(root: DataRoot, tmp_path: Path, fault: str) -> None:
    """Of a version with a damaged file nothing is written."""
    path = tmp_path / "data" / "sdsc" / "v1" / "quarantine" / "part-0.parquet"
    if fault == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StorageError, match=r"out: nothing was written: .*quarantine/part-0.parquet"):
        export_version(root, "sdsc", tmp_path / "out")
    assert (False, []) == ((tmp_path / "out").exists(), left_overs(tmp_path))


@pytest.mark.parametrize("is_there", [False, True])
def test_a_full_disk_leaves_nothing(
    root: DataRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """Neither a half folder nor what was on its way; an empty folder stays empty."""
    if is_there:
        (tmp_path / "out").mkdir()

    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(deposit, "ro_crate_text", full)
    with pytest.raises(StorageError, match="out: nothing was written: No space left on device; free space and run"):
        export_version(root, "sdsc", tmp_path / "out")
    assert (is_there, []) == ((tmp_path / "out").exists(), left_overs(tmp_path))
    assert not is_there or not list((tmp_path / "out").iterdir())


def test_who_fills_the_folder_meanwhile_keeps_it(
    root: DataRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came into it while the export was on its way stays, and the export fails."""
    fill = deposit._fill

    def slow(*arguments: Any) -> Any:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").touch()
        return fill(*arguments)

    monkeypatch.setattr(deposit, "_fill", slow)
    with pytest.raises(StorageError, match="nothing was written"):
        export_version(root, "sdsc", tmp_path / "out")
    assert (["mine"], []) == ([path.name for path in (tmp_path / "out").iterdir()], left_overs(tmp_path))


def test_a_table_in_parts_is_a_file_set() -> None:
    """One record set, whose files are found by a pattern; each part has its hash."""
    entries = {f"jobs/part-2001-0{month}.parquet": {"sha256": "ab", "bytes": 1} for month in (1, 2)}
    column = {"type": "double", "unit": "s", "meaning": "M", "missing": "null"}
    facts = {"data_set": "a", "version": "b", "schema_version": 7, "log": {"name": "x"}}
    found = json.loads(croissant_text(facts, {"jobs": {"run_time": column}}, entries))
    assert ["cr:FileObject", "cr:FileObject", "cr:FileSet"] == [each["@type"] for each in found["distribution"]]
    assert "jobs/*.parquet" == found["distribution"][2]["includes"]
    (field,) = found["recordSet"][0]["field"]
    assert {"@id": "jobs-parts"} == field["source"]["fileSet"]
    assert "key" not in found["recordSet"][0]


@pytest.mark.usefixtures("bucket")
def test_from_s3(tmp_path: Path) -> None:
    """The same as from a folder, but for the day on which the version was published."""
    here, there = DataRoot.open(tmp_path / "data"), DataRoot.open(f"s3://{BUCKET}/root")
    for root, folder in ((here, "here"), (there, "there")):
        root.publish("sdsc", "v1", {"jobs": jobs()}, manifest=RECORD)
        export_version(root, "sdsc", tmp_path / folder)
    one, other = contents(tmp_path / "here"), contents(tmp_path / "there")
    assert one.keys() == other.keys()
    dated = {"checksums.sha256", "ro-crate-metadata.json", "CITATION.bib"}
    assert {name for name in one if one[name] != other[name]} <= dated
