# SPDX-License-Identifier: BSD-3-Clause
"""A published version, of a history or of a log, is a log: its jobs, header and machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import luigi
import pandas as pd
import pytest
from click.testing import CliRunner

import pipelines
import swftools
from pipelines.cli.main import main
from pipelines.logs.find import find_log
from pipelines.logs.load import load_log
from pipelines.logs.published import version_folder
from pipelines.store.data_root import DataRoot
from pipelines.tasks.acquire import _copy_version
from swftools.errors import AcquireError, SchemaError, StorageError, UnknownLogError, UnreadableLogError
from swftools.formats.parquet import read_parquet, write_parquet
from swftools.simulator import simulate
from tests.pipelines.history.nights import HEADER, Site, days, job


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the version of a history of two months; the default rules would not keep the last job."""
    site = Site(tmp_path_factory.mktemp("history"), "cleaning: {rules: [submission-order]}\n")
    site.put("a.swf", "".join(days(40)) + job(900, 3_000_000).replace(" 4 -1 -1 4 ", " 128 -1 -1 128 "))
    site.night()
    return site.version()


def test_version_of_a_history(history: Path) -> None:
    """All months in order, with the header and the machine of the manifest."""
    loaded = load_log(str(history))
    published = pd.read_parquet(history / "jobs")
    assert loaded.trace.jobs["job_number"].tolist() == published["job_number"].tolist()
    assert loaded.trace.jobs["submit_timestamp"].equals(published["submit_timestamp"].astype("datetime64[ms, UTC]"))
    assert (loaded.log.name, loaded.trace.processors) == ("site", 64)
    assert loaded.trace.header.unix_start_time == 946_684_800


@pytest.mark.parametrize("path", ["jobs", "jobs/", "."])
def test_its_jobs_folder_is_the_same_log(history: Path, path: str) -> None:
    """However the path is written."""
    by_folder, by_version = load_log(f"{history}/{path}"), load_log(str(history))
    assert by_folder.trace.jobs.equals(by_version.trace.jobs)
    assert by_folder.trace.header == by_version.trace.header
    assert by_folder.log.sha256 == by_version.log.sha256


def test_data_set_means_its_latest_version(history: Path, tmp_path: Path) -> None:
    """As the pointer says; one that is damaged, or names what is not there, means none."""
    assert find_log(str(history.parent)).sha256 == find_log(str(history)).sha256
    assert len(load_log(str(history.parent)).trace) == 481
    data_set = tmp_path / "site"
    shutil.copytree(history, data_set / "other")
    for pointer in ("gone", "..", "other/../other", "\x00", ""):
        (data_set / "latest").write_text(pointer)
        assert version_folder(data_set) is None
    (data_set / "latest").write_text("other\n")
    assert version_folder(data_set) == data_set / "other"
    assert version_folder(data_set / "other" / "jobs") == data_set / "other"


def test_it_is_not_cleaned_again(history: Path) -> None:
    """Its own rules kept a job wider than the machine; the default ones remove it where they are asked for."""
    assert 900 in set(load_log(str(history)).trace.jobs["job_number"])
    assert 900 not in set(load_log(str(history), rules=["default"]).trace.jobs["job_number"])
    report = load_log(str(history)).report
    assert report is not None
    assert report.steps["rule"].tolist() == ["read"]


def test_schedule_is_that_of_the_log(tmp_path: Path) -> None:
    """A month's end in the middle changes nothing: the policy schedules the same jobs at the same times."""
    site = Site(tmp_path)
    text = "".join(days(40))
    path = site.put("a.swf", text)
    site.night()
    schedules = [simulate(load_log(str(log)).trace, "easy").jobs for log in (site.version(), path)]
    assert schedules[0]["start_time"].equals(schedules[1]["start_time"])


def test_names_come_with_it(tmp_path: Path) -> None:
    """Those of an accounting log."""
    site = Site(tmp_path, "log: {format: 'slurm:time_zone=UTC', processors: 64}\n")
    head = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"
    line = "1|zoe|batch|COMPLETED|2024-01-01T01:00:00|2024-01-01T01:30:00|2024-01-01T02:00:00|4|600\n"
    site.put("1.txt", (head + line).encode())
    site.night()
    names = load_log(str(site.version())).trace.names
    assert sorted(names["name"]) == ["batch", "zoe"]


def test_commands(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """describe, simulate and convert take it."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    told = runner.invoke(main, ["describe", str(history), "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["jobs"] == 481
    told = runner.invoke(main, ["simulate", str(history / "jobs"), "--policy", "easy", "--output", "easy.csv"])
    assert told.exit_code == 0, told.output
    assert len(pd.read_csv("easy.csv")) == 480  # one job is too wide
    told = runner.invoke(main, ["convert", str(history), "back.swf"])
    assert told.exit_code == 0, told.output
    back = swftools.read_swf("back.swf")
    assert len(back) == 481
    assert back.header.unix_start_time == 946_684_800


def test_tasks(history: Path, tmp_path: Path) -> None:
    """What evaluate does: all jobs of the version are told their waits, as those of the log would be."""
    root = tmp_path / "data"
    found = find_log(str(history))
    assert found.sha256 is not None
    task = pipelines.EvaluateWaitPredictions(log=str(history), methods="binomial", data_root=str(root))
    assert luigi.build([task], local_scheduler=True)
    store = DataRoot.open(root)
    assert store.manifest("site-waits")["log"]["key"] == found.sha256
    predictions = store.read_table("site-waits", "wait_predictions").to_pandas()
    assert sorted(predictions["job_number"]) == sorted(pd.read_parquet(history / "jobs")["job_number"])


def test_augmented_version(tmp_path: Path) -> None:
    """A version is augmented as its log would be: draws are those of the jobs."""
    (tmp_path / "log.swf").write_text(HEADER + "".join(days(3)))
    root = str(tmp_path / "data")
    first = pipelines.BuildAugmentedTrace(log=str(tmp_path / "log.swf"), augment="speedup", data_root=root)
    assert luigi.build([first], local_scheduler=True)
    version = DataRoot.open(root).path("log")
    again = pipelines.BuildAugmentedTrace(log=version, augment="speedup,estimates", data_set="again", data_root=root)
    assert luigi.build([again], local_scheduler=True)
    one, other = (DataRoot.open(root).read_table(name, "jobs").to_pandas() for name in ("log", "again"))
    assert other["model_requested_time"].notna().all()
    pd.testing.assert_frame_equal(one, other.drop(columns="model_requested_time"))


def test_folder_of_parts(tmp_path: Path) -> None:
    """Parts without a manifest are one table, part 10 behind part 9, with the header of the first."""
    whole = swftools.read_swf(Site(tmp_path / "site").put("a.swf", "".join(days(11))))
    folder = tmp_path / "parts"
    folder.mkdir()
    for day in range(11):
        part = whole.jobs.iloc[day * 12 : (day + 1) * 12].reset_index(drop=True)
        write_parquet(whole.with_jobs(part), folder / f"part-{day}.parquet")
    trace = read_parquet(folder)
    assert trace.jobs.equals(whole.jobs)
    assert trace.header == whole.header
    loaded = load_log(str(folder))
    assert loaded.report is not None
    assert len(loaded.report.steps) > 1  # nobody says that it is clean
    write_parquet(whole.with_jobs(whole.jobs.drop(columns="line_number")), folder / "part-12.parquet")
    with pytest.raises(SchemaError, match=r"part-12\.parquet: not a part .* \['line_number'\]"):
        read_parquet(folder)


def test_folder_without_parts(tmp_path: Path) -> None:
    """Is told as such, and to load_log it is a folder without files."""
    with pytest.raises(UnreadableLogError, match=r"without a file that ends in \.parquet"):
        read_parquet(tmp_path)
    with pytest.raises(UnknownLogError):
        load_log(str(tmp_path))


@pytest.mark.parametrize(
    ("damage", "error", "told"),
    [
        (lambda top: (top / "manifest.json").write_text("{"), UnreadableLogError, "damaged manifest"),
        (lambda top: (top / "manifest.json").write_text("[]"), UnreadableLogError, "damaged manifest"),
        (lambda top: next((top / "jobs").iterdir()).unlink(), StorageError, "jobs, but its manifest says 481; restore"),
        (lambda top: shutil.rmtree(top / "jobs"), UnreadableLogError, "jobs"),
        (lambda top: next((top / "jobs").iterdir()).write_bytes(b"PAR1"), SchemaError, "not a readable Parquet file"),
    ],
)
def test_damage(history: Path, tmp_path: Path, damage: object, error: type[Exception], told: str) -> None:
    """A version that is not whole is told, with what to do; nothing is taken for all of it."""
    top = tmp_path / "copied"
    shutil.copytree(history, top)
    assert len(load_log(str(top)).trace) == 481  # wherever it stands
    damage(top)  # type: ignore[operator]
    with pytest.raises(error, match=told):
        load_log(str(top))


def test_version_without_jobs(tmp_path: Path) -> None:
    """One of schedules, say, is told to have none."""
    (tmp_path / "log.swf").write_text(HEADER + "".join(days(3)))
    root = str(tmp_path / "data")
    task = pipelines.EvaluateWaitPredictions(log=str(tmp_path / "log.swf"), methods="binomial", data_root=root)
    assert luigi.build([task], local_scheduler=True)
    with pytest.raises(UnreadableLogError, match="this version has no jobs, but wait_"):
        load_log(DataRoot.open(root).path("log-waits"))


def test_version_that_is_changed(history: Path, tmp_path: Path) -> None:
    """What a trace has of it is its key: another machine is another log, and no copy is made of two versions."""
    top = tmp_path / "copied"
    shutil.copytree(history, top)
    before = find_log(str(top))
    assert before.sha256 == find_log(str(history)).sha256
    manifest = json.loads((top / "manifest.json").read_text())
    for name, value in {"machine_processors": 32, "header": ["; UnixStartTime: 1"], "findings": ["something"]}.items():
        (top / "manifest.json").write_text(json.dumps({**manifest, name: value}))
        is_same = find_log(str(top)).sha256 == before.sha256
        assert is_same == (name == "findings")
        if not is_same:
            with pytest.raises(AcquireError, match="was changed since this run began"):
                _copy_version(before, top, tmp_path / name)
    shutil.rmtree(top)
    with pytest.raises(UnreadableLogError, match=r"manifest\.json is gone since this run began"):
        _copy_version(before, top, tmp_path / "gone")
