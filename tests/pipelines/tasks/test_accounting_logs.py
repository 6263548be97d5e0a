# SPDX-License-Identifier: BSD-3-Clause
"""Accounting logs through the pipeline: from a listing to a published version, names published or withheld."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.simulate import SimulatePolicy
from swftools import read_log
from swftools.errors import ParameterError
from tests.pipelines.accounting_logs import FORMAT, SECRETS, bytes_below, listing, step
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run
from tests.pipelines.small_logs import build


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a listing."""
    path = tmp_path / "history.txt"
    path.write_text(listing())
    return path


def test_a_listing_is_published(log: Path) -> None:
    """By one command; jobs, names, merged lines and the quarantine are there, and the account balances."""
    done = run([*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", log.name, "--format", FORMAT], log.parent)
    assert 0 == done.returncode, done.stderr
    assert "read as loadleveler:" in done.stderr
    assert "11 job lines read: 5 jobs kept (0 of them repaired), 5 quarantined, 1 merged" in done.stdout
    root = DataRoot.open(log.parent / "data")
    (data_set,) = root.data_sets()
    assert data_set == "history"
    jobs, names, merged = (pd.read_parquet(f"{root.path(data_set)}/{table}") for table in ("jobs", "names", "merged"))
    assert jobs["log_id"].tolist() == [f"wombat.{number}.0" for number in (0, 93, 1, 2, 3)]
    assert jobs["width"].unique().tolist() == [16]
    assert names["name"].tolist() == [*SECRETS[:2], "/home/zebulon/axolotl", SECRETS[2]]
    assert len(merged) == 1
    manifest = root.manifest(data_set)
    assert manifest["machine_processors"] == 64
    assert any("started more than once" in told for told in manifest["anomalies"])
    assert manifest["log"]["format"] == FORMAT


@pytest.mark.parametrize("how", ["numbers", "hash"])
def test_nothing_published_names_anybody(log: Path, how: str) -> None:
    """No name, host, path or command of the log is in any byte published, nor in what is said."""
    flags = ["--format", FORMAT, "--anonymise", how, "--augment", "utility"]
    done = run([*SWFTOOLS, "augment", "--log", log.name, *flags], log.parent, SWFTOOLS_ANONYMISE_KEY="my secret")
    assert 0 == done.returncode, done.stderr
    told = bytes_below(log.parent / "data") + (done.stdout + done.stderr).encode()
    assert b"quarantine" in told
    assert [word for word in (*SECRETS, "my secret") if word.encode() in told] == []
    assert b"not ended" in told, "reasons are told, without values"
    assert (b"user,1," in told) == (how == "hash")


def test_the_console_names_nobody(log: Path) -> None:
    """Neither do the commands that print."""
    flags = ["--format", FORMAT, "--anonymise", "numbers"]
    for command in (["describe"], ["validate"], ["simulate"], ["convert"]):
        output = ["out.parquet"] if command == ["convert"] else []
        done = run([*SWFTOOLS, *command, log.name, *output, *flags], log.parent)
        assert done.returncode in (0, 1), done.stderr
        assert not [word for word in (*SECRETS, "nan", "Traceback") if word in done.stdout + done.stderr]
    assert not [word for word in SECRETS if word.encode() in bytes_below(log.parent / "out.parquet")]
    told = bytes_below(log.parent)
    assert b"zebulon" in told, "the log itself, by which the test sees that it looks"


def test_other_ways_to_read_are_other_versions(log: Path, tmp_path: Path) -> None:
    """The format's options, the way names are withheld and its key determine the version; SWF's key is what it was."""

    def version(**flags: str) -> str:
        return str(BuildAugmentedTrace(log=str(log), data_root=str(tmp_path), augment="none", **flags).version)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SWFTOOLS_ANONYMISE_KEY", "a")
        versions = [version(format=FORMAT), version(format=f"{FORMAT},requested_time=hard"), version()]
        versions += [version(format=FORMAT, anonymise=how) for how in ("numbers", "hash")]
        patch.setenv("SWFTOOLS_ANONYMISE_KEY", "b")
        versions.append(version(format=FORMAT, anonymise="hash"))
        patch.delenv("SWFTOOLS_ANONYMISE_KEY")
        with pytest.raises(ParameterError, match="SWFTOOLS_ANONYMISE_KEY"):
            version(format=FORMAT, anonymise="hash")
    assert len(set(versions)) == 6
    with pytest.raises(ParameterError, match="no log format 'loadlever'"):
        version(format="loadlever")


@pytest.mark.slow
def test_a_folder_grows(tmp_path: Path) -> None:
    """A folder of daily files is a log; with another day it is the same log, grown."""
    folder = tmp_path / "history"
    folder.mkdir()
    for day in range(2):
        (folder / f"{day}").write_text("".join(step(10 * day + each, 86400 * day + 60 * each) for each in range(3)))

    def task() -> BuildAugmentedTrace:
        root = str(tmp_path / "data")
        return BuildAugmentedTrace(log=str(folder), format=FORMAT, data_root=root, augment="none")

    assert build(task())
    first = task().version
    assert task().complete()
    (folder / "2.gz").write_bytes(gzip.compress(step(20, 3 * 86400).encode()))
    assert task().version != first
    assert build(task())
    root = DataRoot.open(tmp_path / "data")
    assert len(root.versions("history")) == 2
    assert len(pd.read_parquet(f"{root.path('history')}/jobs")) == 7
    (folder / "0").write_text(step(1, 60))
    assert not build(task()), "another beginning is another log"


def test_a_folder_is_acquired_as_it_is(tmp_path: Path) -> None:
    """Files of one name in several folders too."""
    for part in ("a", "b"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "acct").write_text(step(ord(part), 100 * ord(part)))
    simulation = SimulatePolicy(
        log=f"{tmp_path}/*/acct", format=FORMAT, data_root=str(tmp_path / "data"), policy="fcfs"
    )
    assert build(simulation)
    assert simulation.complete()
    gone = SimulatePolicy(log=f"{tmp_path}/*/acc", format=FORMAT, data_root=str(tmp_path / "data"), policy="fcfs")
    assert "neither a file nor a card" in str(gone.found.problem)


def test_a_card_says_how_a_log_is_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Format and options; what its machine says is taken for options that are not given."""
    digest = read_log(log, FORMAT).provenance["sha256"]
    card = {
        **dict.fromkeys(("title", "producer", "acknowledgement", "citation", "licence"), "A site"),
        "sha256": digest,
        "bytes": log.stat().st_size,
        "jobs": 10,
        "format": "loadleveler",
        "options": {"executable": "job-name"},
        "machine": {"name": "Big", "processors": 40, "processors_per_node": 4, "time_zone": "Asia/Tokyo"},
    }
    catalog = log.parent / "catalog.yaml"
    catalog.write_text(json.dumps({"logs": {"MINE": card}}))
    monkeypatch.chdir(log.parent)
    done = run([*SWFTOOLS, "convert", log.name, "out.swf", "--raw"], log.parent, SWFTOOLS_CATALOG=str(catalog))
    assert 0 == done.returncode, done.stderr
    text = (log.parent / "out.swf").read_text()
    for line in ("; Computer: Big", "; Installation: A site", "; TimeZoneString: Asia/Tokyo", "; MaxProcs: 40"):
        assert f"{line}\n" in text
    assert "StartTime: Fri Jan 01 00:00:00 JST 2010" in text
    assert {line.split()[4] for line in text.splitlines() if not line.startswith(";")} == {"8", "-1"}
    assert {line.split()[13] for line in text.splitlines() if not line.startswith(";")} == {"-1"}, (
        "there is no Job Name"
    )
    card["options"] = {"zone": "UTC"}
    catalog.write_text(json.dumps({"logs": {"MINE": card}}))
    done = run([*SWFTOOLS, "describe", log.name], log.parent, SWFTOOLS_CATALOG=str(catalog))
    assert 0 != done.returncode
    assert "logs > MINE > options: loadleveler: unknown parameters ['zone']" in done.stderr
