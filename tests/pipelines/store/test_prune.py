# SPDX-License-Identifier: BSD-3-Clause
"""Pruning: what goes from a data root and a work root, what stays, and what a crash in between leaves."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from pipelines.names import CATALOG, CATALOG_NOTES, MANIFEST, PENDING
from pipelines.store.data_root import DataRoot
from pipelines.store.prune import PrunePlan, carry_out, plan_prune, plan_prune_work
from pipelines.store.staging import staging
from swftools.errors import ParameterError, StorageError, VersionNotFoundError
from tests.pipelines.killed import PROCESSES, Full, killed_at_every_step
from tests.pipelines.store.samples import check_whole, contents, date, publish, staged


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Publish v1 to v4 on successive days, the second of which is the latest, and another data set."""
    root = DataRoot.open(place)
    for version in ("v1", "v2", "v3", "v4"):
        publish(root, version)
    publish(root, "w1", data_set="ctc")
    publish(root, "w2", data_set="ctc")
    root.rollback("sdsc", "v2")
    date(place, "v1", "v2", "v3", "v4")
    return root


def named(plan: PrunePlan) -> list[str]:
    """Return the last two parts of each planned path."""
    return ["/".join(removal.path.split("/")[-2:]) for removal in plan]


def in_catalog(place: Path) -> set[str]:
    """Return the versions of sdsc that the catalogue names."""
    catalog = yaml.safe_load((place / CATALOG).read_text())
    return {source.split("/")[1] for source in catalog["data"] if source.startswith("sdsc/")}


@pytest.mark.parametrize(
    ("keep", "gone"),
    [(0, ["v4", "v3", "v1"]), (1, ["v3", "v1"]), (2, ["v1"]), (3, ["v1"]), (4, [])],
)
def test_latest_and_the_newest_stay(root: DataRoot, place: Path, keep: int, gone: list[str]) -> None:
    """Whatever neither `latest` nor the newest few need is planned with its size, and goes with its catalogue entry."""
    plan = plan_prune(root, "sdsc", keep)
    assert [f"sdsc/{version}" for version in gone] == named(plan)
    for path, size, why in plan:
        assert sum(len(content) for content in contents(Path(path)).values()) == size > 0
        assert "latest" in why
    before = contents(place)
    carry_out(plan)
    check_whole(root, place)
    left = {"v1", "v2", "v3", "v4"} - set(gone)
    assert left == {listed.version for listed in root.versions("sdsc")} == in_catalog(place)
    assert "v2" == root.latest("sdsc")
    kept = {name: content for name, content in before.items() if not name.startswith(tuple(f"sdsc/{v}/" for v in gone))}
    assert kept | {name: (place / name).read_bytes() for name in (CATALOG, CATALOG_NOTES)} == contents(place)
    assert [] == list(plan_prune(root, "sdsc", keep))


def test_planning_changes_nothing_and_covers_every_data_set(root: DataRoot, place: Path) -> None:
    """Without a name the versions of all data sets are planned, and nothing happens before it is carried out."""
    before = contents(place)
    plan = plan_prune(root)
    assert ["ctc/w1", "sdsc/v3", "sdsc/v1"] == named(plan)
    assert (3, plan.removals[1:]) == (len(plan), plan[1:])
    assert before == contents(place)


def test_a_plan_is_refused_for_what_is_not_there(root: DataRoot) -> None:
    """An unknown data set and a negative number are mistakes."""
    with pytest.raises(VersionNotFoundError, match=r"no data set 'kth'; there are ctc, sdsc"):
        plan_prune(root, "kth")
    with pytest.raises(ParameterError, match=r"keep=-1: give the number of versions"):
        plan_prune(root, keep=-1)


def test_without_a_latest_one_version_stays(root: DataRoot, place: Path) -> None:
    """If `latest` is missing, or names what is not there, the newest version is kept even with keep=0."""
    (place / "sdsc" / "latest").unlink()
    assert ["sdsc/v3", "sdsc/v2", "sdsc/v1"] == named(plan_prune(root, "sdsc", 0))
    (place / "sdsc" / "latest").write_text("v9\n")
    assert ["sdsc/v3", "sdsc/v2", "sdsc/v1"] == named(plan_prune(root, "sdsc", 0))


def test_damaged_versions_go_and_do_not_count(root: DataRoot, place: Path) -> None:
    """A damaged version is not one of the newest that are kept, but stays if `latest` names it."""
    for version in ("v2", "v4"):
        (place / "sdsc" / version / MANIFEST).write_text("{")
    date(place, "v1", "v2", "v3", "v4")
    plan = plan_prune(root, "sdsc")
    assert ["sdsc/v4", "sdsc/v1"] == named(plan)
    assert plan[0].why.startswith("damaged manifest (")
    carry_out(plan)
    assert {"v2", "v3"} == {listed.version for listed in root.versions("sdsc")}


def test_a_version_that_became_the_latest_stays(root: DataRoot, place: Path) -> None:
    """Between plan and removal `latest` may move; it never loses what it names."""
    plan = plan_prune(root, "sdsc")
    root.promote("sdsc", "v1")
    with pytest.raises(StorageError, match=r"not all versions were removed: .*v1 has become the latest"):
        carry_out(plan)
    assert ["v4", "v2", "v1"] == [listed.version for listed in root.versions("sdsc")]
    assert {"v4", "v2", "v1"} == in_catalog(place)
    check_whole(root, place)


def test_a_version_just_appearing_is_spared(root: DataRoot, place: Path) -> None:
    """A version whose publisher has yet to move `latest` is not planned, one whose publisher died long ago is."""
    publish(root, "v5")
    (place / "sdsc" / "v5" / PENDING).touch()
    root.rollback("sdsc", "v2")
    (place / "sdsc" / "v5" / PENDING).touch()
    assert "sdsc/v5" not in named(plan_prune(root, "sdsc", 0))
    date(place, "v5")
    assert "sdsc/v5" in named(plan_prune(root, "sdsc", 0))


def test_carrying_out_twice_does_no_harm(root: DataRoot, place: Path) -> None:
    """A plan that another process carries out too ends well."""
    plan = plan_prune(root)
    carry_out(plan)
    carry_out(plan)
    check_whole(root, place)


def prune(root: DataRoot) -> None:
    """Plan and remove."""
    carry_out(plan_prune(root, "sdsc"))


@pytest.mark.slow
def test_killed_at_every_step_of_pruning(root: DataRoot, place: Path, tmp_path: Path) -> None:
    """Wherever it is killed, what is seen is whole, the catalogue names nothing else, and the next one ends it."""
    work, whole = tmp_path / "work", tmp_path / "whole"
    shutil.copytree(place, whole, symlinks=True)
    prune(DataRoot.open(whole))
    seen = set()
    for _ in killed_at_every_step(prune, place, work):
        left = DataRoot.open(work)
        check_whole(left, work)
        versions = {listed.version for listed in left.versions("sdsc")}
        assert {"v2", "v4"} <= in_catalog(work) <= versions
        seen.add(len(versions))
        prune(left)
        assert contents(whole) == contents(work)
        assert [] == staged(work)
    assert {4, 3, 2} == seen


@pytest.mark.parametrize("name", ["rename", "fsync", "mkdir", "open"])
def test_a_disk_that_fails_at_every_step(
    root: DataRoot, place: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever call fails, there is one error, no half version, and the next one ends it."""
    work, whole = tmp_path / "work", tmp_path / "whole"
    shutil.copytree(place, whole, symlinks=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, counting := Full(name, 0))
        prune(DataRoot.open(whole))
    assert counting.calls
    for step in range(1, counting.calls + 1):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(place, work, symlinks=True)
        left = DataRoot.open(work)
        with monkeypatch.context() as patch:
            patch.setattr(os, name, Full(name, step))
            with pytest.raises(StorageError, match=r"not all versions were removed: .*No space left.*run again$"):
                prune(left)
        check_whole(left, work)
        assert {"v2", "v4"} <= in_catalog(work)
        prune(left)
        assert contents(whole) == contents(work)


def age(path: Path) -> None:
    """Let a directory have been left alone for two days."""
    then = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    for each in (*path.rglob("*"), path):
        os.utime(each, (then, then))


def test_what_the_dead_left_is_planned(root: DataRoot, place: Path) -> None:
    """Staging of dead processes, and of other hosts when old, is planned; of the living and the young it is not."""
    dead = PROCESSES.Process(target=int)
    dead.start()
    dead.join()
    area = place / "sdsc" / ".staging"
    with staging(place / "sdsc", "v9") as mine:
        host = mine.name.split("-")[1]
        names = [f"v5-{host}-{dead.pid}-abcd", "v6-elsewhere-7-abcd", "v7-elsewhere-7-abcd", f"v8-{host}-1-abcd"]
        for name in names:
            (area / name / "jobs").mkdir(parents=True)
            (area / name / "jobs" / "part-0.parquet").write_bytes(b"1234")
        age(area / names[1])
        age(area / names[3])
        plan = plan_prune(root, "sdsc", 4)
        assert [(str(area / name), 4) for name in names[:2]] == [(path, size) for path, size, _ in plan]
        assert all("came to no end" in why for _, _, why in plan)
        carry_out(plan)
        assert {mine.name, *names[2:]} == set(staged(place))


def test_work_is_planned_by_its_form(tmp_path: Path) -> None:
    """Stage outputs, downloads and left-overs go; what has another form stays, so that no wrong path costs a home."""
    work = tmp_path / "work"
    key, whole_hash = "0123456789abcdef", "ab" * 32
    going = {f"parsed/{key}", f"logs/{whole_hash}", "downloads", "cleaned/.staging/x-elsewhere-7-abcd"}
    staying = {"parsed/notes", "Documents/letters", "parsed/.staging/x-elsewhere-7-abcd"}
    for name in going | staying:
        (work / name).mkdir(parents=True)
        (work / name / "file").write_bytes(b"12345")
    (work / "file").touch()
    age(work / "cleaned" / ".staging" / "x-elsewhere-7-abcd")
    plan = plan_prune_work(work)
    assert {(str(work / name), 5) for name in going} == {(path, size) for path, size, _ in plan}
    carry_out(plan)
    assert {"file", *(f"{name}/file" for name in staying)} == contents(work).keys()
    assert [] == list(plan_prune_work(work)) == list(plan_prune_work(tmp_path / "nothing"))


def test_a_stage_output_goes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A removal that fails half-way leaves no half of an output where a run would take it for whole."""
    output = tmp_path / "parsed" / "0123456789abcdef"
    output.mkdir(parents=True)
    (output / "jobs.parquet").touch()

    def fail(path: Path) -> None:
        raise OSError(errno.EIO, "broken", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", fail)
        with pytest.raises(StorageError, match=r"0123456789abcdef: cannot be removed: broken"):
            carry_out(plan_prune_work(tmp_path))
    assert not output.exists()
    carry_out(plan_prune_work(tmp_path))
    assert {} == contents(tmp_path)


def test_a_rival_publication_does_not_mind(root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that is removed while another process writes the catalogue or lists is just not there any more."""
    original: Callable[[DataRoot, str], dict[str, datetime]] = DataRoot._published
    plan = plan_prune(root, "sdsc")

    def list_then_prune(self: DataRoot, data_set: str) -> dict[str, datetime]:
        found = original(self, data_set)
        if data_set == "sdsc" and plans:
            carry_out(plans.pop())
        return found

    monkeypatch.setattr(DataRoot, "_published", list_then_prune)
    plans = [plan]
    assert publish(root, "w3", data_set="ctc").is_new
    assert in_catalog(place) == {"v2", "v4"}
    monkeypatch.undo()
    assert ["v4", "v2"] == [listed.version for listed in root.versions("sdsc")]
