# SPDX-License-Identifier: BSD-3-Clause
"""What who operates a re-evaluation meets: statuses, settings that come and go, upgrades, back-ups."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.history import months, reevaluation_run
from pipelines.history.task import ReevaluateLogs, RunOutcome
from pipelines.store.manifest import version_of_table
from pipelines.tasks.replay_predictor import ReplayPredictor
from pipelines.tasks.simulate import SimulatePolicy
from swftools.errors import HistoryError, StorageError
from swftools.fields import dictionary
from swftools.fields.dictionary import COMMON_VERSION
from tests.folders import VERSION
from tests.forked import PIPELINE
from tests.pages import DOCS
from tests.pipelines.history.nights import SETTINGS, Site, copy_of, days
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, environment, run

WATCHED = "waits: {widest: 0.01, least_jobs: 5, options: {training: 5, quantile: 0.5, confidence: 0.5}}\n"
"""Settings by which each bound is too wide."""

PAGE = (DOCS / "histories.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return a history of three days."""
    site = Site(tmp_path_factory.mktemp("begun"))
    site.put("first.swf", "".join(days(3)))
    site.night()
    return site


@pytest.fixture
def site(begun: Site, tmp_path: Path) -> Site:
    """Return a copy of it."""
    return copy_of(begun, tmp_path)


def versions(site: Site) -> int:
    """Return how many versions there are."""
    return len(site.store.versions(site.name))


def test_bad_file_that_goes_again(site: Site) -> None:
    """The history is again what it was, and its version is the latest again."""
    first = site.version()
    bad = site.put("notes.txt", b"nothing of a log\n")
    second = site.night()
    assert (second.is_new, len(second.waiting)) == (True, 1)
    bad.unlink()
    third = site.night()
    assert (third.is_new, third.waiting, site.version()) == (True, [], first)
    assert site.night().is_new is False
    assert versions(site) == 2


def test_settings_that_are_put_back(site: Site) -> None:
    """So it is with settings, however often they change."""
    told = []
    for training in (5, 6, 5, 6):
        site.settings.write_text(SETTINGS.replace("training: 5", f"training: {training}"))
        told.append(site.night().version)
    assert told[0] == told[2] != told[1] == told[3]
    assert site.version().name == told[3]


def test_rollback_over_files_is_told(site: Site) -> None:
    """What was taken is not taken again in silence."""
    site.put("second.swf", days(1, first=3)[0])
    site.night()
    site.store.rollback(site.name)
    with pytest.raises(HistoryError, match="it was moved back; move it by swftools promote site"):
        site.night()


def test_a_history_without_its_latest_is_not_begun_anew(site: Site) -> None:
    """Nobody but its user knows which version is the right one."""
    version, pointer = site.version().name, site.version().with_name("latest")
    site.put("second.swf", days(1, first=3)[0])
    for left in (None, "", "0123456789abcdef\n"):
        pointer.unlink() if left is None else pointer.write_text(left)
        with pytest.raises(HistoryError, match=rf"swftools promote site VERSION; published last: {version}"):
            site.night()
        assert len(list(pointer.parent.glob(f"{VERSION}/manifest.json"))) == 1
    site.store.promote(site.name, version)
    assert [row["new"] for row in site.night().taken] == [12]


def test_a_history_that_lacks_a_part_is_not_complete(site: Site) -> None:
    """A night in which nothing came does not say that all is well."""
    next(site.version().glob("jobs/*.parquet")).unlink()
    task = ReevaluateLogs(
        settings=str(site.settings), inbox=str(site.inbox), history=site.name, data_root=site.store.location
    )
    with pytest.raises(StorageError, match=r"jobs/part-.* is missing; restore it from a copy"):
        task.complete()


def test_to_ask_writes_nothing_and_a_run_keeps_what_it_saw(tmp_path: Path) -> None:
    """What is kept of the inbox's files spares the next run to read them; whoever only asks leaves no trace."""
    site = Site(tmp_path)
    site.put("first.swf", "".join(days(2)))
    task = site.task()
    assert not task.complete()
    assert not list(tmp_path.rglob("site.json"))
    task.run()
    (kept,) = tmp_path.rglob("site.json")
    before = kept.stat().st_mtime_ns
    site.put("second.swf", "".join(days(3)))
    assert not site.task().complete()
    assert kept.stat().st_mtime_ns == before


def raised(site: Site, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> tuple[RunOutcome, set[str]]:
    """Run a night by code of another version; return which parts of tables it did not share with the last version."""
    before = site.version()
    monkeypatch.setattr(owner, name, getattr(owner, name) + 1)
    outcome = site.night()
    parts = {path.relative_to(site.version()) for path in site.version().glob("*/part-*")}
    return outcome, {path.parts[0] for path in parts if not (site.version() / path).samefile(before / path)}


SMALL = {"ingested", "waiting", "wait_coverage", "workload_drift", "policy_watch"}
"""Tables that each version has anew."""


@pytest.mark.parametrize(
    ("owner", "name", "made_anew"),
    [
        pytest.param(reevaluation_run, "CODE_VERSION", set(), marks=pytest.mark.slow),
        pytest.param(ReplayPredictor, "code_version", {"wait_predictions"}, marks=pytest.mark.slow),
        (
            months,
            "CODE_VERSION",
            {"wait_predictions", "jobs", "quarantine", "merged", "repairs", "cleaning_report"},
        ),
    ],
    ids=["evaluation", "predictions", "jobs"],
)
def test_upgrade(site: Site, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, made_anew: set[str]) -> None:
    """Code whose output is another one makes another version, and anew what depends on it; the old code goes back."""
    first = site.version()
    with monkeypatch.context() as patch:
        outcome, found = raised(site, patch, owner, name)
        assert (outcome.is_new, outcome.taken) == (True, [])
        assert site.version() != first
        assert found - SMALL == made_anew
        assert site.night().is_new is False
    assert site.night().version == first.name


def make_older(site: Site, table: str, column: str) -> None:
    """Make of the latest version one of an earlier schema, which had not yet a column that may be missing."""
    old = site.version().rename(site.version().with_name("0" * 16))
    (old.parent / "latest").write_text("0" * 16 + "\n")
    for path in (old / table).iterdir():
        pq.write_table(pq.read_table(path).drop_columns([column]), path)
    manifest = json.loads((old / "manifest.json").read_bytes())
    columns = manifest["tables"][table]["columns"]
    place = sorted(columns).index(column)
    del columns[column]
    for part in manifest["tables"][table]["parts"].values():
        del part["measured"][place]
    for name, told in manifest["files"].items():
        told["bytes"] = (old / name).stat().st_size
    manifest |= {"version": "0" * 16, "schema_version": COMMON_VERSION - 1, "jobs_key": "of then"}
    (old / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("table", "column", "count"),
    [pytest.param("records", "array_index", 33, marks=pytest.mark.slow), ("rejected", "text", 3)],
)
def test_upgrade_to_a_schema_with_another_column(tmp_path: Path, table: str, column: str, count: int) -> None:
    """What there is goes on, with nothing in the new column; all else is as if the new package had made it."""
    other = Site(tmp_path / "b")
    other.put("first.swf", "".join(days(count)) + "no job\n")
    other.night()
    site = copy_of(other, tmp_path / "a")
    make_older(site, table, column)
    for each in (site, other):
        each.put("second.swf", days(1, first=count)[0])
        assert [row["new"] for row in each.night().taken] == [12]
    assert pd.read_parquet(site.version() / table)[column].notna().sum() == 0
    here, there = site.hashes(), other.hashes()
    differs = {name for name in here if here[name] != there[name]}
    assert here.keys() == there.keys()
    telling = {"datapackage.json", "croissant.json", "manifest.json"}
    assert differs == (set() if table == "records" else {"rejected/part-000000.parquet", *telling})


@pytest.mark.parametrize("case", ["all tables", "one table", "another table"])
def test_later_schema_is_refused(site: Site, case: str) -> None:
    """A package that does not know the columns would lose them."""
    path = site.version() / "manifest.json"
    manifest = json.loads(path.read_bytes())
    if case == "all tables":
        manifest["schema_version"] = COMMON_VERSION + 1
    elif case == "one table":
        manifest["tables"]["ingested"]["schema_version"] = COMMON_VERSION + 1
    else:
        manifest["tables"]["licences"] = manifest["tables"]["ingested"] | {"rows": 0, "parts": {}}
    path.write_text(json.dumps(manifest))
    with pytest.raises(HistoryError, match="install the later one again, or go back by swftools rollback site"):
        site.night()


OF_MONTHS = {"jobs", "quarantine", "merged", "repairs", "cleaning_report", "wait_predictions"}
RAISED = {
    "jobs": OF_MONTHS,
    "records": OF_MONTHS | {"records"},
    "wait_predictions": {"wait_predictions"},
    "rejected": {"rejected"},
    "workload_drift": set(),
}


@pytest.mark.parametrize(
    "table", ["records", *(pytest.param(name, marks=pytest.mark.slow) for name in RAISED if name != "records")]
)
def test_a_raised_table_is_made_anew(site: Site, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is made of its rows; all else is shared with the version before, which was made before it was raised."""
    before = site.version()
    with monkeypatch.context() as patch:
        patch.setattr(dictionary, "RAISED_VERSIONS", {table: COMMON_VERSION + 1})
        assert site.night().is_new is True
        parts = {path.relative_to(site.version()) for path in site.version().glob("*/part-*")}
        anew = {path.parts[0] for path in parts if not (site.version() / path).samefile(before / path)}
        assert anew - SMALL == RAISED[table]
        manifest = json.loads((site.version() / "manifest.json").read_bytes())
        told = {name: version_of_table(manifest, name) for name in manifest["tables"]}
        assert told == {name: COMMON_VERSION + (name == table) for name in told}
        assert site.night().is_new is False
    with pytest.raises(HistoryError, match=f"has the table {table} of schema version {COMMON_VERSION + 1}"):
        site.night()


@pytest.mark.parametrize("table", ["names", "comparison"])
def test_a_raised_table_that_a_history_has_not_is_nothing_to_it(
    site: Site, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No version is published: its bytes would be those of the last one."""
    monkeypatch.setattr(dictionary, "RAISED_VERSIONS", {table: COMMON_VERSION + 1})
    assert site.night().is_new is False


def test_upgrade_of_policies(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another code of simulations counts where policies are replayed, and nowhere else."""
    first = site.version()
    monkeypatch.setattr(SimulatePolicy, "code_version", SimulatePolicy.code_version + 1)
    assert site.night().is_new is False
    site.settings.write_text(SETTINGS + "policies: {names: [fcfs], days: 1, warm_up_days: 1, seeds: 1}\n")
    second = site.night().version
    assert "\n* policies plan with the run times that users requested\n" in (site.version() / "summary.md").read_text()
    monkeypatch.setattr(SimulatePolicy, "code_version", SimulatePolicy.code_version + 1)
    third = site.night()
    assert third.is_new
    assert len({first.name, second, third.version}) == 3


def test_root_that_cannot_be_written(tmp_path: Path) -> None:
    """It is one line."""
    (tmp_path / "file").touch()
    site = Site(tmp_path, root=str(tmp_path / "file" / "data"))
    with pytest.raises(StorageError, match=r"inbox/site\.lock: cannot be locked: Not a directory .* choose a path"):
        site.night()


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site in the current directory, whose first night has findings."""
    monkeypatch.chdir(tmp_path)
    site = Site(tmp_path, WATCHED)
    site.put("first.swf", "".join(days(3)))
    return site


def reevaluate() -> Result:
    """Run the command as a timer does."""
    ReevaluateLogs.clear_instance_cache()
    options = ["--quiet", "--inbox", "inbox", "--history", "site", "--settings", "reevaluate.yaml"]
    return CliRunner().invoke(main, ["reevaluate", *options, "--data-root", "data"])


def assert_ends(status: int, line: str) -> None:
    """Assert how the command ends, and that the page tells of it."""
    done = reevaluate()
    assert done.exit_code == status, done.stderr
    assert line in done.stderr
    assert line.partition(": bounds are")[0] in PAGE


def test_statuses(watched: Site) -> None:
    """One status and one line for each way to end; the page quotes the line."""
    assert_ends(3, "finding: tightness: binomial, all queues, last 30 days: bounds are")
    bad = watched.put("notes.txt", b"nothing of a log\n")
    assert_ends(4, "unreadable: notes.txt: it looks like none of the known formats")
    bad.unlink()
    watched.settings.write_text("waits: {chanse: 1}\n")
    assert_ends(2, "error: reevaluate.yaml, line 1: waits > chanse: unknown key; did you mean chance?")
    watched.settings.unlink()
    assert_ends(2, "error: reevaluate.yaml: No such file or directory; check the path of the settings")
    watched.settings.write_text("# nothing but comments\n")
    assert reevaluate().exit_code == 0
    shutil.rmtree(watched.inbox)
    assert_ends(20, "error: inbox 'inbox' is not a folder; make it, or give another by --inbox")


def test_luigis_own_command_says_done(tmp_path: Path) -> None:
    """Findings are a version's, not a failure: luigi says 0, as the page warns; wrong settings are 2 there too."""
    site = Site(tmp_path, WATCHED)
    site.put("first.swf", "".join(days(3)))
    command = [*LUIGI, "ReevaluateLogs", "--inbox", "inbox", "--settings", "reevaluate.yaml"]
    done = run(command, tmp_path)
    assert (done.returncode, "finding" in done.stderr) == (0, False), done.stderr
    site.settings.write_text("waits: {chanse: 1}\n")
    assert run(command, tmp_path).returncode == 2


def test_command_for_findings(watched: Site) -> None:
    """It gets a new version's findings; if it fails, so does the night, once."""
    watched.settings.write_text(WATCHED + "on_finding: cat > told; exit 7\n")
    done = reevaluate()
    assert done.exit_code == 30
    assert "error: on_finding ended with status 7: cat > told; exit 7" in done.stderr
    assert "error: on_finding ended with status 7: " in PAGE
    told = watched.folder / "told"
    assert json.loads(told.read_text())["findings"][0]["kind"] == "tightness"
    told.unlink()
    assert reevaluate().exit_code == 3
    assert not told.exists()


def test_copy_under_the_lock(site: Site) -> None:
    """Who holds the file that the page names keeps nights away, and a copy of the root is the history."""
    lock = Path(site.root) / ".work/inbox/site.lock"
    assert "flock data/.work/inbox/blue.lock" in PAGE
    site.put("second.swf", days(1, first=3)[0])
    before = site.version()
    command = [*SWFTOOLS, "reevaluate", "--inbox", "inbox", "--history", "site", "--settings", "reevaluate.yaml"]
    reader, writer = os.pipe()
    with lock.open("rb") as held, os.fdopen(reader) as told, Path(os.devnull).open("r+b") as null:
        fcntl.flock(held, fcntl.LOCK_EX)
        with os.fdopen(writer, "wb") as stderr:
            waiting = PIPELINE.start(command, site.folder, environment(), null, null, stderr)
        assert any("this one waits for it" in line for line in told)
        assert site.version() == before
        shutil.copytree(site.root, site.folder / "copy", ignore=shutil.ignore_patterns(".work", ".staging"))
        fcntl.flock(held, fcntl.LOCK_UN)
        assert waiting.wait() == 0
    other = Site(site.folder, root=str(site.folder / "copy"))
    assert other.version().name == before.name
    other.night()
    assert other.hashes() == site.hashes()
