# SPDX-License-Identifier: BSD-3-Clause
"""What a version says of itself: on the terminal, in its manifest, page and data package, and in its Parquet files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.facts import origin_of
from pipelines.tasks.log_task import LogTask
from swftools import Trace
from tests.pipelines import luigi_runs
from tests.pipelines.luigi_runs import SWFTOOLS, run
from tests.pipelines.small_logs import build, small_log

ODD_LOG = """\
; Version: 2.2
; Computer: Cray X
; Installation: Somewhere
; Acknowledge: Ann Example, who kept it
; Acknowledge: Bo Beispiel
; Information: http://example.org/
;   and more
; Conversion: by hand
; MaxProcs: 8
1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1
1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1
2 10 -1 -1 -1 -1 -1 8 -1 -1 5 7 -1 -1 3 -1 -1 -1
3 20 5 60 16 -1 -1 16 90 -1 1 8 -1 -1 1 -1 -1 -1
this is no job
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a log without a card that has something of everything, published and compared."""
    folder = tmp_path_factory.mktemp("odd")
    log = folder / "odd.swf"
    log.write_text(ODD_LOG)
    where = {"log": str(log), "data_root": str(folder / "data")}
    assert build(BuildAugmentedTrace(**where))
    assert build(ComparePolicies(**where, policies="fcfs,easy"))
    return folder


def version_of(folder: Path, data_set: str = "odd") -> Path:
    """Return the directory of the latest version."""
    return Path(DataRoot.open(folder / "data").path(data_set))


def manifest_of(folder: Path, data_set: str = "odd") -> dict[str, Any]:
    """Return the manifest of the latest version."""
    return DataRoot.open(folder / "data").manifest(data_set)


def test_the_account_balances_and_names_every_rule(folder: Path) -> None:
    """Five job lines were read: what became of each."""
    account = manifest_of(folder)["account"]
    assert {
        "job_lines_read": 5,
        "jobs_kept": 2,
        "quarantined": {"read": 1, "duplicates": 1, "wider-than-machine": 1},
        "merged": {},
        "repaired": {},
        "flagged": {"cancelled": 1, "never-started": 1},
    } == {**account, "flagged": {name: account["flagged"][name] for name in ("cancelled", "never-started")}}
    assert account["job_lines_read"] == account["jobs_kept"] + sum(account["quarantined"].values())
    assert account == manifest_of(folder, "odd-policies")["account"]


def test_repairs_and_merges_are_counted(tmp_path: Path) -> None:
    """By rule, and the jobs repaired are among those kept."""
    (tmp_path / "log.swf").write_text(small_log(3).replace(" 60 4 ", " 600 4 ", 1))
    task = BuildAugmentedTrace(
        log=str(tmp_path / "log.swf"),
        data_root=str(tmp_path / "data"),
        augment="",
        rules='[{"rule": "run-over-request", "action": "cut-run"}]',
    )
    assert build(task)
    account = manifest_of(tmp_path, "log")["account"]
    assert ({"run-over-request": 1}, 3) == (account["repaired"], account["jobs_kept"])


def test_the_terminal_shows_it_also_when_it_is_complete(folder: Path) -> None:
    """In words, by rule, and what had to be assumed."""
    result = luigi_runs.build(folder, "--BuildAugmentedTrace-log", str(folder / "odd.swf"))
    assert result.stdout.startswith("already complete: ")
    for line in (
        "5 job lines read: 2 jobs kept (0 of them repaired), 3 quarantined, 0 merged",
        "quarantined by reading: 1",
        "quarantined by rule wider-than-machine: 1",
        "assumed: The log has no card",
        "assumed: 1 of 2 jobs have no requested time",
        "assumed: No queue has a priority rank",
        "assumed: The log does not say when it began",
    ):
        assert line in result.stdout, result.stdout
    assert "size of the machine" not in result.stdout


def test_nothing_is_assumed_of_a_log_that_tells_all(tmp_path: Path) -> None:
    """The shipped log has a card with ranks, a start and requested times."""
    task = BuildAugmentedTrace(data_root=str(tmp_path / "data"), augment="utility")
    assert build(task)
    assert [] == manifest_of(tmp_path, SHIPPED_LOG)["assumptions"]


@pytest.mark.parametrize(("augment", "is_said"), [("utility", True), ("", False)])
def test_what_is_assumed_depends_on_what_is_there(tmp_path: Path, augment: str, is_said: bool) -> None:
    """Ranks matter only to utility; a header without MaxProcs does not tell the machine; a model has no card."""
    (tmp_path / "log.swf").write_text(small_log(3, header=""))
    task = BuildAugmentedTrace(log=str(tmp_path / "log.swf"), data_root=str(tmp_path / "data"), augment=augment)
    assert build(task)
    said = " ".join(manifest_of(tmp_path, "log")["assumptions"])
    assert ("priority rank" in said) == is_said
    assert "size of the machine is not known" in said
    model = BuildAugmentedTrace(log="lublin-feitelson:jobs=20", data_root=str(tmp_path / "data"), augment="")
    assert build(model)
    (only,) = manifest_of(tmp_path, model.data_set_name)["assumptions"]
    assert "20 of 20 jobs have no requested time: a simulation takes their run time for it." == only


def test_a_log_without_a_card_is_known_by_its_header(folder: Path) -> None:
    """Whom to thank, site, machine, address and conversion; also in the catalogue."""
    manifest = manifest_of(folder)
    assert "Ann Example, who kept it\nBo Beispiel" == manifest["acknowledgement"]
    assert ("Cray X", "Somewhere", "by hand") == tuple(manifest[n] for n in ("computer", "installation", "conversion"))
    assert "http://example.org/\nand more" == manifest["information"]
    assert "none stated: the log has no card" == manifest["licence"]
    assert "Ann Example" in (folder / "data" / "catalog.yaml").read_text()


def test_the_copyright_of_a_header_is_the_licence_of_a_log_without_a_card(tmp_path: Path) -> None:
    """It must be kept with every copy."""
    (tmp_path / "log.swf").write_text(small_log(2, header="; Copyright: (c) 1999 A. Site\n; MaxProcs: 8\n"))
    task = BuildAugmentedTrace(log=str(tmp_path / "log.swf"), data_root=str(tmp_path / "data"), augment="")
    assert build(task)
    assert "by the log's header: (c) 1999 A. Site" == manifest_of(tmp_path, "log")["licence"]


def test_the_card_goes_before_the_header(tmp_path: Path) -> None:
    """What the card says of licence and acknowledgement holds; the header's site stands beside it."""
    assert build(BuildAugmentedTrace(data_root=str(tmp_path / "data"), augment=""))
    manifest = manifest_of(tmp_path, SHIPPED_LOG)
    assert "Dror Feitelson and the Parallel Workloads Archive" in manifest["acknowledgement"]
    assert ("none stated", "SDSC Blue Horizon") == (manifest["licence"], manifest["installation"])


@pytest.mark.parametrize("data_set", ["odd", "odd-policies"])
def test_every_parquet_file_tells_where_it_is_from(folder: Path, data_set: str) -> None:
    """A file copied alone names log, data set, version, licence and acknowledgement."""
    version, manifest = version_of(folder, data_set), manifest_of(folder, data_set)
    files = list(version.glob("*/*.parquet"))
    assert len(files) == len(manifest["tables"])
    for file in files:
        notes = {key.decode(): value.decode() for key, value in pq.read_schema(file).metadata.items()}
        assert (data_set, version.name) == (notes["data_set"], notes["version"])
        assert ("odd", manifest["log"]["sha256"]) == (notes["log"], notes["log_sha256"])
        assert (manifest["licence"], manifest["acknowledgement"]) == (notes["licence"], notes["acknowledgement"])
        assert file.parent.name == notes["table"]


@pytest.mark.parametrize("data_set", ["odd", "odd-policies"])
def test_the_page_tells_what_the_manifest_does(folder: Path, data_set: str) -> None:
    """Tables with rows, how to read them, licence, acknowledgement, assumptions, how it was made."""
    version, manifest = version_of(folder, data_set), manifest_of(folder, data_set)
    page = (version / "README.md").read_text()
    for table, described in manifest["tables"].items():
        assert f"| `{table}` |" in page
        assert f"| {described['rows']:,} |" in page
    for text in (
        *(manifest["licence"], "* Bo Beispiel", "Computer: Cray X", version.name, manifest["log"]["sha256"]),
        *(f"assumed: {sentence}" for sentence in manifest["assumptions"]),
        *("quarantined by rule duplicates: 1", "marked by rule cancelled: 1"),
        *(f"By the task `{manifest['made_by']}`", f'pd.read_parquet("{manifest["main_table"]}")'),
        *(
            f"`{name}`"
            for name in manifest["files"]
            if "/" not in name and name not in ("README.md", "croissant.json", "datapackage.json")
        ),
    ):
        assert text in page, text
    assert str(folder) not in page


def test_latest_elsewhere_is_said_with_the_way_back(tmp_path: Path) -> None:
    """After a rollback "already complete" is not the whole truth."""
    (tmp_path / "log.swf").write_text(small_log(3))
    flags = ["--log", "log.swf", "--augment", "none"]
    assert 0 == run([*SWFTOOLS, "augment", *flags], tmp_path).returncode
    second = run([*SWFTOOLS, "augment", *flags, "--rules", "duplicates"], tmp_path)
    assert "latest is" not in second.stdout
    root = DataRoot.open(tmp_path / "data")
    newer = root.latest("log")
    older = root.rollback("log")
    again = run([*SWFTOOLS, "augment", *flags, "--rules", "duplicates"], tmp_path)
    (line,) = [line for line in again.stdout.splitlines() if "latest is" in line]
    command = f"swftools promote log {newer} --data-root ./data"
    assert f"  latest is {older}, not this version; to move it: {command}" == line
    assert 0 == run([*SWFTOOLS, *command.split()[1:]], tmp_path).returncode
    assert newer == root.latest("log")


@pytest.mark.parametrize("task", [BuildAugmentedTrace, ComparePolicies])
def test_the_card_is_part_of_the_version(
    tmp_path: Path, task: type[BuildAugmentedTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another acknowledgement is another version: the manifest holds it."""
    found = task(data_root=str(tmp_path)).found
    assert found.card is not None
    versions = set()
    for acknowledgement in ("as it is", "as it was"):
        other = replace(found, card=replace(found.card, acknowledgement=acknowledgement))
        monkeypatch.setattr(LogTask, "found", other)
        versions.add(task(data_root=str(tmp_path)).version)
    assert 2 == len(versions)


def test_one_text_by_two_names_is_two_versions(tmp_path: Path) -> None:
    """The name stands in the manifest, and a stage that both share does not lend one the other's."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.swf").write_text(small_log(3))
        where = {"log": str(tmp_path / f"{name}.swf"), "data_root": str(tmp_path / "data")}
        assert build(BuildAugmentedTrace(**where, augment=""))
        assert name == manifest_of(tmp_path, name)["log"]["name"]
    assert 1 == len(list((tmp_path / "data" / ".work" / "cleaned").glob("[!.]*")))
    assert CleanTrace(**where).load().provenance["name"] == "one"


def test_anomalies_are_counted_in_words() -> None:
    """One record, two records; behind what the card says. The words stand in manifests, READMEs and on the terminal."""
    log = find_log(SHIPPED_LOG)
    trace = Trace.from_columns(job_number=[1])
    told = {"an end before its start": 1, "no width": 2, "an unknown state": 1_200}
    odd = origin_of(log, replace(trace, provenance={"anomalies": told}))["anomalies"]
    assert log.card is not None
    assert odd == [
        *log.card.anomalies,
        "an end before its start: 1 record.",
        "no width: 2 records.",
        "an unknown state: 1,200 records.",
    ]
    assert origin_of(log, trace)["anomalies"] == list(log.card.anomalies)
