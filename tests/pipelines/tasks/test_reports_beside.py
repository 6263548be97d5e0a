# SPDX-License-Identifier: BSD-3-Clause
"""Reports beside the versions that tasks publish, and the schedules of a comparison as versions of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import luigi
import pandas as pd
import pytest

from pipelines.reports import Version, page, report_page
from pipelines.store.data_root import DataRoot
from pipelines.store.schedules import read_schedule
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.publish_schedule import PublishSchedule
from pipelines.tasks.reproduce_paper import ReproducePaper
from swftools.errors import MissingLibraryError
from tests.pipelines.luigi_runs import SWFTOOLS, run

LOG = "; MaxProcs: 8\n" + "".join(f"{n} {n * 60} 5 60 4 -1 -1 4 90 -1 1 {n} -1 -1 3 -1 -1 -1\n" for n in range(1, 9))
COMMAND = [*SWFTOOLS, "compare", "--log", "mine.swf", "--policies", "fcfs,easy", "--quiet"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log, and a comparison of two policies with its report and schedules."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "mine.swf").write_text(LOG)
    done = run([*COMMAND, "--report", "--schedules"], folder)
    assert (0, "") == (done.returncode, done.stderr)
    assert f"report: {folder}/data/mine-policies/" in done.stdout
    return folder


@pytest.fixture
def folder(compared: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(compared, tmp_path / "copy")
    return tmp_path / "copy"


def report_of(folder: Path, data_set: str = "mine-policies") -> Path:
    """Return the one report of a data set."""
    (found,) = (folder / "data" / data_set).glob("*.html")
    return found


def test_it_is_that_of_the_version(compared: Path) -> None:
    """Named as the version is, with what the command report writes; the version is what it is without one."""
    root = DataRoot.open(compared / "data")
    manifest = root.manifest("mine-policies")
    assert report_of(compared).name == f"{manifest['version']}.html"
    assert report_of(compared).read_text() == report_page(Version(root, manifest))
    assert [each.version for each in root.versions("mine-policies")] == [manifest["version"]]
    assert root.verify("mine-policies") == []


def test_only_what_is_missing_is_made(folder: Path) -> None:
    """A report that is not there is written of the version that is, though nothing is left of the stages."""
    report, version = report_of(folder), folder / "data/mine-policies/latest"
    before, published = report.read_bytes(), version.stat().st_mtime_ns
    report.unlink()
    shutil.rmtree(folder / "data/.work")
    done = run([*[each for each in COMMAND if each != "--quiet"], "--report", "--schedules"], folder)
    assert done.returncode == 0, done.stderr
    assert "SimulatePolicy" not in done.stdout + done.stderr
    assert (report.read_bytes(), version.stat().st_mtime_ns) == (before, published)
    again = run([*COMMAND, "--report", "--schedules"], folder)
    assert "already complete: data set mine-policies" in again.stdout
    without = run([*COMMAND, "--schedules"], folder)
    assert "report:" not in without.stdout


def test_it_goes_with_its_version(folder: Path) -> None:
    """What is pruned leaves no report behind; that of another version stays."""
    report = report_of(folder)
    assert run([*COMMAND, "--metrics", "bound=60"], folder).returncode == 0
    (folder / "data/mine-policies/other.html").touch()
    DataRoot.open(folder / "data").withdraw([("mine-policies", report.stem)])
    assert not report.exists()
    assert (folder / "data/mine-policies/other.html").exists()


def test_what_it_takes_is_known_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No simulation whose report nobody could write; without a report nothing is asked for."""
    monkeypatch.setattr(page, "find_spec", lambda _: None)
    with pytest.raises(MissingLibraryError, match=r"pip install swftools\[report\]"):
        ComparePolicies(data_root=str(tmp_path), report=True)
    ComparePolicies(data_root=str(tmp_path))


def test_schedules_are_those_that_were_measured(compared: Path) -> None:
    """The manifest names one for each policy and seed; it is read as the simulation left it."""
    root, data = DataRoot.open(compared / "data"), str(compared / "data")
    named = root.manifest("mine-policies")["schedules"]
    assert [(each["policy"], each["seed"], each["data_set"]) for each in named] == [
        ("fcfs", 0, "mine-schedules"),
        ("easy", 0, "mine-schedules"),
    ]
    for each in named:
        found = read_schedule(root, each["data_set"], each["version"])
        task = PublishSchedule(
            log=str(compared / "mine.swf"), policy=each["policy"], data_root=data, augment="utility", parameters="{}"
        )
        simulated = task.simulation.load_schedule()
        assert task.version == each["version"]
        for name in ("jobs", "segments", "excluded"):
            pd.testing.assert_frame_equal(getattr(found, name), getattr(simulated, name))
        assert (found.policy, found.processors, found.options, found.assumptions) == (
            each["policy"],
            8,
            simulated.options,
            simulated.assumptions,
        )


def test_notes_of_a_policy_are_published(tmp_path: Path) -> None:
    """What search noted stands beside its schedule, as it was."""
    (tmp_path / "mine.swf").write_text(LOG)
    task = PublishSchedule(
        log=str(tmp_path / "mine.swf"), policy="search:nodes=10,explain=true", data_root=str(tmp_path / "data")
    )
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    version, stage = Path(task.output().path), task.simulation.output().path
    notes = sorted(path.name for path in stage.glob("search_*.parquet"))
    assert notes == sorted(path.name for path in version.glob("search_*.parquet"))
    assert notes
    assert all((version / name).read_bytes() == (stage / name).read_bytes() for name in notes)


@pytest.mark.slow
def test_a_reproduction_has_one(tmp_path: Path) -> None:
    """It names its paper in full, also where it has no value of the shipped excerpt."""
    task = ReproducePaper(paper="nurmi2009", table="4.1", quick=True, report=True, data_root=str(tmp_path))
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    report = Path(f"{task.output().path}.html")
    assert report.is_file()
    assert "D. C. Nurmi: Statistical methods" in report.read_text()
    assert "It prints no value of these logs." in report.read_text()
