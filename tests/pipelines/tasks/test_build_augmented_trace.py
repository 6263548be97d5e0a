# SPDX-License-Identifier: BSD-3-Clause
"""BuildAugmentedTrace as its users meet it: what is published, under which version, and with which exit status."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import duckdb
import intake
import luigi
import pandas as pd
import polars as pl
import pytest

import pipelines
import swftools
from pipelines.logs.find import SHIPPED_LOG
from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.parquet import read_parquet
from swftools.utility.functions import UtilityFunctions
from tests.pipelines.luigi_runs import LUIGI, build, run

TINY_LOG = """\
; Version: 2.2
; MaxProcs: 8
; UnixStartTime: 956700003
1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1
2 10 -1 -1 -1 -1 -1 8 90 -1 5 7 -1 -1 3 -1 -1 -1
3 20 5 60 16 -1 -1 16 90 -1 1 8 -1 -1 1 -1 -1 -1
this is no job
"""


@pytest.fixture
def tiny_log(tmp_path: Path) -> Path:
    """A log of three jobs, one wider than the machine, and a line that is none."""
    path = tmp_path / "tiny.swf"
    path.write_text(TINY_LOG)
    return path


def publish(data_root: Path, **parameters: object) -> BuildAugmentedTrace:
    """Build in this process and return the finished task."""
    task = BuildAugmentedTrace(data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.complete()
    return task


def tables_of(task: BuildAugmentedTrace) -> dict[str, pd.DataFrame]:
    """Return every published table as pandas reads it."""
    return {path.name: pd.read_parquet(path) for path in Path(task.output().path).iterdir() if path.is_dir()}


def test_one_command_publishes_the_shipped_log_and_says_how_to_read_it(tmp_path: Path) -> None:
    """The printed snippet, run as it is, gives the 5,000 jobs; a second run finds the version complete."""
    first = build(tmp_path)
    assert (first.returncode, first.stdout.startswith("published: ")) == (0, True)
    snippet = "\n".join(line.strip() for line in first.stdout.partition("read it with\n")[2].splitlines())
    names: dict[str, pd.DataFrame] = {}
    exec(snippet, names)
    assert len(names["jobs"]) == 5000
    assert {"utility", "utility_decay", "priority_rank", "is_cancelled"} <= set(names["jobs"])
    second = build(tmp_path)
    assert (second.returncode, second.stdout.startswith("already complete: ")) == (0, True)
    assert first.stdout.splitlines()[1:] == second.stdout.splitlines()[1:]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> BuildAugmentedTrace:
    """Publish the tiny log, for all who only read."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.swf").write_text(TINY_LOG)
    return publish(folder / "data", log=str(folder / "tiny.swf"))


def test_nothing_is_lost_between_the_log_and_the_data_set(tiny: BuildAugmentedTrace) -> None:
    """Four lines: two jobs, one quarantined by a rule, one by the reader, each with its number and text."""
    tables = tables_of(tiny)
    assert tables["jobs"]["job_number"].tolist() == [1, 2]
    assert list(tables["quarantine"][["line_number", "rule"]].itertuples(index=False, name=None)) == [
        (7, "read"),
        (6, "wider-than-machine"),
    ]
    assert TINY_LOG.splitlines()[5] == tables["quarantine"]["text"][1]
    report = tables["cleaning_report"]
    assert report["jobs_in"][0] == len(tables["jobs"]) + report["quarantined"].sum() + report["merged"].sum()


def test_an_empty_list_of_rules_cleans_nothing(tiny_log: Path, tmp_path: Path) -> None:
    """No rule is not the same as no choice: the job wider than the machine stays."""
    tables = tables_of(publish(tmp_path / "data", log=str(tiny_log), rules="[]"))
    assert ([1, 2, 3], ["read"]) == (tables["jobs"]["job_number"].tolist(), tables["cleaning_report"]["rule"].tolist())


def test_cancelled_jobs_are_kept_and_marked(tiny: BuildAugmentedTrace) -> None:
    """Job 2 never ran: it stays, with both flags."""
    jobs = tables_of(tiny)["jobs"].set_index("job_number")
    assert jobs["is_cancelled"].tolist() == [False, True]
    assert jobs["is_never_started"].tolist() == [False, True]


def test_timestamps_are_absolute(tiny: BuildAugmentedTrace) -> None:
    """Second 10 of a log that began at UnixStartTime is that instant in UTC."""
    jobs = tables_of(tiny)["jobs"]
    assert pd.Timestamp(956700013, unit="s", tz="UTC") == jobs["submit_timestamp"][1]


def test_the_extended_swf_file_holds_the_same_jobs(tiny: BuildAugmentedTrace) -> None:
    """Reading the SWF beside the Parquet gives the columns of the Parquet, utility functions included."""
    (path,) = Path(tiny.output().path).glob("*.swf.gz")
    again = swftools.read_swf(path, strict=True)
    published = read_parquet(Path(tiny.output().path) / "jobs" / "part-0.parquet")
    for name in SWF_NAMES:
        assert published.jobs[name].equals(again.jobs[name]), name
    ours, theirs = (UtilityFunctions.from_arrow(jobs["utility"].array) for jobs in (published.jobs, again.jobs))
    assert ours.to_arrow().equals(theirs.to_arrow())


def test_equal_inputs_give_equal_bytes(tiny_log: Path, tmp_path: Path) -> None:
    """Two data roots filled from one log with one seed hold the same files."""
    roots = [Path(publish(tmp_path / name, log=str(tiny_log), seed=5).output().path) for name in ("one", "two")]
    ours, theirs = ({p.relative_to(r): p.read_bytes() for p in r.rglob("*") if p.is_file()} for r in roots)
    assert ours == theirs


def test_a_changed_parameter_is_a_new_version_and_moves_latest(tiny_log: Path, tmp_path: Path) -> None:
    """Seed, parameter, rules, augmentations: all versions stay; latest is the newest one."""
    root = DataRoot.open(tmp_path / "data")
    found = [publish(tmp_path / "data", log=str(tiny_log)).version]
    changes: list[dict[str, object]] = [
        {"seed": 1},
        {"parameters": '{"utility": {"deadline_basis": "wait"}}'},
        {"rules": "default,missing-processors"},
        {"augment": ""},
    ]
    for change in changes:
        found.append(publish(tmp_path / "data", log=str(tiny_log), **change).version)
        assert found[-1] == root.latest("tiny")
    assert len(set(found)) == 5
    assert set(found) == {item.version for item in root.versions("tiny")}


def test_a_changed_input_is_a_new_version(tiny_log: Path, tmp_path: Path) -> None:
    """The same path with more bytes is a log that has grown."""
    before = publish(tmp_path / "data", log=str(tiny_log)).version
    tiny_log.write_text(f"{TINY_LOG}neither is this\n")
    assert before != publish(tmp_path / "data", log=str(tiny_log)).version


def test_a_changed_code_version_is_a_new_version(
    tiny_log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raising the number of any stage's code makes all that depends on it again."""
    task = publish(tmp_path / "data", log=str(tiny_log))
    first = task.version
    found = {first}
    for stage in ("CleanTrace", "AddUtility", "AddSpeedup", "BuildAugmentedTrace", "ParseLog"):
        with monkeypatch.context() as patch:
            patch.setattr(getattr(pipelines, stage), "code_version", 99)
            again = BuildAugmentedTrace(data_root=str(tmp_path / "data"), log=str(tiny_log))
            assert not again.complete()
            found.add(again.version)
    assert len(found) == 6
    monkeypatch.setattr(pipelines.ParseLog, "code_version", 99)
    assert publish(tmp_path / "data", log=str(tiny_log)).version in found - {first}


def test_a_changed_rule_of_the_users_own_is_a_new_version(tiny_log: Path, tmp_path: Path) -> None:
    """No number of ours speaks for it, so its source counts."""
    versions = set()
    for limit in (5, 15):
        source = "from swftools.cleaning.decisions import Decision\n\n\ndef late(trace):\n"
        source += f"    return Decision(quarantine=trace.arrays.submit_time > {limit}, reason='late')\n"
        (tmp_path / "my_rules.py").write_text(source)
        result = build(tmp_path, "--BuildAugmentedTrace-log", str(tiny_log), "--rules", "my_rules:late")
        assert 0 == result.returncode, result.stderr
        versions.add(result.stdout.splitlines()[0])
    assert 2 == len(versions)


def test_the_compression_of_a_log_does_not_count(tiny_log: Path, tmp_path: Path) -> None:
    """A version depends on the log's text."""
    packed = tmp_path / "tiny.swf.gz"
    packed.write_bytes(gzip.compress(tiny_log.read_bytes()))
    plain, zipped = (
        BuildAugmentedTrace(log=str(path), data_root=str(tmp_path / "data")) for path in (tiny_log, packed)
    )
    assert (plain.version, plain.data_set_name) == (zipped.version, zipped.data_set_name)


def test_a_file_that_is_a_cards_log_gets_the_card(shipped_log: Path, tmp_path: Path) -> None:
    """The shipped log under another name is recognised by its text."""
    copy = tmp_path / "some-name.swf.gz"
    copy.write_bytes(shipped_log.read_bytes())
    named, found = (BuildAugmentedTrace(log=log, data_root=str(tmp_path)) for log in (SHIPPED_LOG, str(copy)))
    assert (named.version, SHIPPED_LOG) == (found.version, found.data_set_name)


def test_the_manifest_tells_all(tmp_path: Path) -> None:
    """Seed, parameters, code versions, software, licence, acknowledgement, counts and checksums are there."""
    task = publish(tmp_path / "data", seed=3)
    text = (Path(task.output().path) / "manifest.json").read_text()
    manifest = json.loads(text)
    assert 3 == manifest["seed"] == manifest["parameters"]["utility"]["seed"]
    added = {"AddUtility", "AddCheckpoints", "AddArrivals", "AddSpeedup"}
    assert {"ParseLog", "CleanTrace", *added, "BuildAugmentedTrace"} == set(manifest["code_versions"])
    assert "synthetic" == manifest["parameters"]["checkpoints"]["survey"]
    assert manifest["licence"] == "none stated"
    assert "Travis Earheart" in manifest["acknowledgement"]
    assert manifest["tables"]["jobs"]["rows"] == 5000
    assert manifest["software"]["swftools"] == swftools.__version__
    assert any("Travis Earheart" in line for line in manifest["header"])
    assert str(tmp_path) not in text
    assert task.output().root.verify(task.data_set_name, task.version) == []


def test_every_reader_opens_it(tiny: BuildAugmentedTrace) -> None:
    """pandas, polars and DuckDB by path, intake by the generated catalogue, from any directory."""
    jobs = f"{tiny.output().path}/jobs"
    assert len(pd.read_parquet(jobs)) == 2
    assert pl.read_parquet(f"{jobs}/*.parquet").height == 2
    assert duckdb.sql(f"SELECT count(*) FROM '{jobs}/*.parquet'").fetchall() == [(2,)]
    catalog = intake.open_catalog(str(Path(str(tiny.data_root)) / "catalog.yaml"))
    assert catalog["tiny.jobs"].read()["job_number"].tolist() == [1, 2]


def test_a_missing_log_is_exit_status_20_and_one_clear_line(tmp_path: Path) -> None:
    """Not a failure of ours, not a success, and the message says what would do."""
    result = build(tmp_path, "--BuildAugmentedTrace-log", "no-such-log")
    assert result.returncode == 20
    assert re.search(r"error: log 'no-such-log' is neither a file nor a card .*SDSC-SP2-1998-4.2-cln", result.stderr)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\x89PNG\r\n\x1a\n\x00\x00", "not one of 3 lines is a job"), (b"\x1f\x8b\x08\x00abc", "gzip data truncated")],
    ids=["picture", "damaged gzip"],
)
def test_a_damaged_log_is_a_failure_without_traceback(tmp_path: Path, content: bytes, said: str) -> None:
    """The exit status is neither 0 nor that of a missing log, and one line says why."""
    (tmp_path / "bad.swf").write_bytes(content)
    result = build(tmp_path, "--BuildAugmentedTrace-log", "bad.swf")
    assert result.returncode == 30
    assert (said in result.stderr, "Traceback" in result.stderr) == (True, False)
    assert not list((tmp_path / "data").glob("bad*"))


def test_a_bad_parameter_is_exit_status_2(tmp_path: Path) -> None:
    """The status of a wrong command line, and one line that names parameter and domain."""
    result = build(tmp_path, "--parameters", '{"utility": {"globmax": -1}}')
    assert result.returncode == 2
    assert "utility: globmax=-1 is not a number from 1e-100 to 1e100" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_ranks_of_a_card_can_be_chosen_by_name(tmp_path: Path) -> None:
    """The alternative is used where asked for, recorded in full, and an unknown one is refused in one line."""
    ranks = '{"utility": {"queue_ranks": "over-fitted"}}'
    task = publish(tmp_path / "data", augment="utility", parameters=ranks)
    recorded = task.output().root.manifest(task.data_set_name)["parameters"]["utility"]["queue_ranks"]
    assert (0, 1, 2) == (recorded["2"], recorded["0"], recorded["23"])
    result = build(tmp_path, "--parameters", '{"utility": {"queue_ranks": "best"}}')
    assert 2 == result.returncode
    assert ("there are: over-fitted" in result.stderr, "Traceback" in result.stderr) == (True, False)


def test_a_name_cannot_leave_the_data_root(tmp_path: Path) -> None:
    """A data set named ../evil is refused, and nothing is written beside the root."""
    result = build(tmp_path, "--data-set", "../evil")
    assert result.returncode == 2
    assert ("'../evil'" in result.stderr, "Traceback" in result.stderr) == (True, False)
    assert not (tmp_path / "evil").exists()


def test_a_configuration_of_the_users_own_wins(tmp_path: Path) -> None:
    """luigi.cfg in the current directory sets the data root; what it leaves out is as shipped."""
    (tmp_path / "luigi.cfg").write_text("[swftools]\ndata_root = ./elsewhere\n")
    (tmp_path / "tiny.swf").write_text(TINY_LOG)
    flags = ["--BuildAugmentedTrace-log", "tiny.swf", "--augment", ""]
    assert run([*LUIGI, "BuildAugmentedTrace", *flags], tmp_path).returncode == 0
    assert (tmp_path / "elsewhere" / "tiny" / "latest").is_file()
    assert build(tmp_path, "--BuildAugmentedTrace-log", "no-such-log").returncode == 20
