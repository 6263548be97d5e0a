# SPDX-License-Identifier: BSD-3-Clause
"""The publishing store when processes are killed, disks are full, and several publish at once."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipelines.names import CATALOG, PENDING
from pipelines.store.data_root import DataRoot
from pipelines.store.local import LocalStorage
from swftools.errors import (
    StorageError,
)
from swftools.fields.dictionary import arrow_schema
from tests.pipelines.killed import PROCESSES, Full, killed_at_every_step
from tests.pipelines.store.samples import check_whole, contents, jobs, publish, staged


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Name the directory of a data root that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def root(place: Path) -> DataRoot:
    """Open a data root without anything in it."""
    return DataRoot.open(place)


# Killed or failing at every step

BEFORE, NEW = "v1", "v2"


def publish_new(root: DataRoot) -> None:
    """Publish a version beside an older one."""
    publish(root, NEW, rows=5)


def roll_back(root: DataRoot) -> None:
    """Go back to the older version."""
    root.rollback("sdsc", BEFORE)


def test_killed_at_every_step_of_a_publication(tmp_path: Path) -> None:
    """Wherever a publisher is killed, no part of a version is visible and the next one completes the same bytes."""
    base, place = tmp_path / "base", tmp_path / "data"
    publish(DataRoot.open(base), BEFORE)
    expected_root = tmp_path / "expected"
    shutil.copytree(base, expected_root, symlinks=True)
    publish_new(DataRoot.open(expected_root))
    expected = contents(expected_root)

    outcomes = set()
    for _ in killed_at_every_step(publish_new, base, place):
        root = DataRoot.open(place)
        check_whole(root, place)
        is_visible = (place / "sdsc" / NEW).exists()
        outcomes.add((is_visible, root.is_published("sdsc", NEW), root.latest("sdsc")))
        if root.is_published("sdsc", NEW):
            assert expected == {name: content for name, content in contents(place).items() if ".staging" not in name}
        publish_new(root)
        assert expected == contents(place)
        assert [] == staged(place)
        assert root.is_published("sdsc", NEW)
    assert {
        (False, False, BEFORE),
        (True, False, BEFORE),  # renamed, `latest` not yet moved
        (True, False, NEW),  # moved, the catalogue not yet written
        (True, True, NEW),
    } == outcomes


def test_all_is_on_disk_before_a_version_is_seen(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file and folder of it is synced before the one rename by which it appears."""
    synced: set[int] = set()
    versions: dict[str, list[str]] = {}
    rename = Path.rename

    def noted(path: Path, target: Path) -> Path:
        if target.parent.name == "sdsc":
            found = [path, *path.rglob("*")]
            versions[target.name] = [each.name for each in found if each.stat().st_ino not in synced]
            assert len(found) > 4
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.add(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(Path, "rename", noted)
    publish(root, "v1")
    assert versions == {"v1": []}


def test_killed_at_every_step_of_a_rollback(tmp_path: Path) -> None:
    """A pointer being moved names the old version or the new one, never anything else; again, and the link follows."""
    base, place = tmp_path / "base", tmp_path / "data"
    for version in (BEFORE, NEW):
        publish(DataRoot.open(base), version)
    outcomes = set()
    for _ in killed_at_every_step(roll_back, base, place):
        root = DataRoot.open(place)
        check_whole(root, place, is_linked=False)
        outcomes.add(root.latest("sdsc"))
        roll_back(root)
        assert BEFORE == root.latest("sdsc")
        check_whole(root, place)
        assert [] == staged(place)
    assert {BEFORE, NEW} == outcomes


@pytest.mark.parametrize("name", ["fsync", "mkdir", "rename", "replace", "open"])
def test_full_disk_at_every_step(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the disk is full, one error names path, cause and remedy; running again completes the same bytes."""
    base, whole, place = tmp_path / "base", tmp_path / "whole", tmp_path / "data"
    publish(DataRoot.open(base), BEFORE)
    shutil.copytree(base, whole, symlinks=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, counting := Full(name, 0))
        publish_new(DataRoot.open(whole))
    assert counting.calls

    for step in range(1, counting.calls + 1):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(base, place, symlinks=True)
        root = DataRoot.open(place)
        with monkeypatch.context() as patch:
            patch.setattr(os, name, Full(name, step))
            with pytest.raises(StorageError, match=r"No space left on device.*; free space and run again$") as caught:
                publish_new(root)
        assert str(place) in str(caught.value)
        assert (place / "sdsc" / NEW).exists() == ("nothing was published" not in str(caught.value))
        assert (None, True) == (caught.value.__cause__, caught.value.__suppress_context__)
        check_whole(root, place)
        assert [] == staged(place)
        publish_new(root)
        assert contents(whole) == contents(place)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_no_permission_names_path_and_remedy(
    root: DataRoot, place: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A root that cannot be written is one error, without a traceback of its cause."""

    def refuse(path: Any, *args: Any) -> None:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(
        StorageError, match=rf"nothing was published: {os.strerror(code)} .*{place}.*run again"
    ) as caught:
        publish(root, "v1")
    assert caught.value.__cause__ is None
    assert not place.exists()


def test_missing_extra_file_is_named(root: DataRoot, place: Path, tmp_path: Path) -> None:
    """An extra file that is not there stops the publication and is named."""
    with pytest.raises(StorageError, match=r"nothing was published: No such file.*gone.gz"):
        root.publish("sdsc", "v1", {"jobs": jobs()}, manifest={}, files={"x.gz": tmp_path / "gone.gz"})
    assert {} == contents(place)
    assert [] == staged(place)


def test_full_file_system(tmp_path: Path) -> None:
    """On a really full disk nothing half-made is left, and with space the same call succeeds."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    is_root = sys.platform == "linux" and os.geteuid() == 0
    if not is_root or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        root = DataRoot.open(disk)
        publish(root, "v1")
        noise = pa.array(np.random.default_rng(1).random(200_000))
        table = jobs(200_000).set_column(1, arrow_schema("jobs").field("submit_time"), noise)
        with pytest.raises(StorageError, match=r"v2: nothing was published: .*No space left.*free space and run again"):
            root.publish("sdsc", "v2", {"jobs": table}, manifest={})
        check_whole(root, disk)
        assert (["v1"], []) == ([v.version for v in root.versions("sdsc")], staged(disk))
        subprocess.run(["mount", "-o", "remount,size=16m", str(disk)], check=True)
        assert root.publish("sdsc", "v2", {"jobs": table}, manifest={}).is_new
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_catalogue_that_cannot_be_written_is_an_error_and_is_mended(
    root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version stays, does not count as published, and the next publication of it writes the catalogue."""
    publish(root, "v1")

    def fail(versions: Any) -> str:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr("pipelines.store.data_root.catalog_text", fail)
        with pytest.raises(StorageError, match=r"v2 is published, but `latest` or catalog.yaml may not show it: full"):
            publish(root, "v2")
    assert [] == root.verify("sdsc", "v2")
    assert not root.is_published("sdsc", "v2")
    assert not publish(root, "v2").is_new
    assert root.is_published("sdsc", "v2")
    assert "sdsc@v2.jobs" in (place / "catalog.yaml").read_text()


# The marker of an unfinished publication


def interrupted(root: DataRoot, place: Path, version: str) -> None:
    """Publish a version whose publisher was killed before `latest` moved."""
    before = root.latest("sdsc")
    publish(root, version)
    (place / "sdsc" / version / PENDING).touch()
    (place / "sdsc" / "latest").write_text(f"{before}\n")


def test_an_interrupted_publication_is_finished_by_the_next(root: DataRoot, place: Path) -> None:
    """A version whose publisher died is not published until it is published again, which moves `latest`."""
    publish(root, "v1")
    interrupted(root, place, "v2")
    assert not root.is_published("sdsc", "v2")
    assert not publish(root, "v2").is_new
    assert ("v2", True) == (root.latest("sdsc"), root.is_published("sdsc", "v2"))


@pytest.mark.parametrize(
    "settle", [roll_back, lambda root: root.promote("sdsc", BEFORE), lambda root: publish(root, "v3")]
)
def test_whoever_moves_latest_afterwards_settles_it(
    root: DataRoot, place: Path, settle: Callable[[DataRoot], None]
) -> None:
    """After a rollback, a promotion or a newer version, an interrupted publication never moves `latest`."""
    publish(root, BEFORE)
    interrupted(root, place, NEW)
    settle(root)
    latest = root.latest("sdsc")
    assert NEW != latest
    assert root.is_published("sdsc", NEW)
    assert not publish(root, NEW).is_new
    assert latest == root.latest("sdsc")


def test_publishing_an_old_version_settles_nothing_else(root: DataRoot, place: Path) -> None:
    """A publication that changes nothing leaves another interrupted one to its own next run."""
    publish(root, "v1")
    interrupted(root, place, "v2")
    publish(root, "v1")
    assert ("v1", False) == (root.latest("sdsc"), root.is_published("sdsc", "v2"))


def test_each_interrupted_publication_is_finished_by_its_own_next_run(root: DataRoot, place: Path) -> None:
    """Of two interrupted publications, finishing one does not take the other for finished."""
    publish(root, "v1")
    interrupted(root, place, "v2")
    interrupted(root, place, "v3")
    (place / "sdsc" / "v2" / PENDING).touch()
    publish(root, "v2")
    assert ("v2", True, False) == (root.latest("sdsc"), *(root.is_published("sdsc", name) for name in ("v2", "v3")))
    publish(root, "v3")
    assert ("v3", True) == (root.latest("sdsc"), root.is_published("sdsc", "v3"))


def test_staging_of_the_living_and_of_other_hosts_is_left_alone(root: DataRoot, place: Path) -> None:
    """Only directories of dead processes of this host are swept."""
    publish(root, "v1")
    area = place / "sdsc" / ".staging"
    dead = PROCESSES.Process(target=int)
    dead.start()
    dead.join()
    with LocalStorage(str(place)).scratch("sdsc", "v2") as path:
        host = path.name.split("-")[1]
    names = {f"v2-{host}-{dead.pid}-abcd", f"v2-{host}-{os.getppid()}-abcd", f"v2-elsewhere-{dead.pid}-abcd", "notes"}
    for name in names:
        (area / name / "jobs").mkdir(parents=True)
    publish(root, "v3")
    assert names - {f"v2-{host}-{dead.pid}-abcd"} == set(staged(place))


# Races


def race(barrier: Any, results: Any, place: Path, versions: Mapping[int, list[str]], runner: int) -> None:
    """Publish a list of versions, each at the same moment as the other runners."""
    root = DataRoot.open(place)
    for version in versions[runner]:
        barrier.wait(60)
        results.put((version, publish(root, version).is_new))


def run_race(place: Path, versions: Mapping[int, list[str]]) -> list[tuple[str, bool]]:
    """Let processes race and return what each publication said."""
    barrier, results = PROCESSES.Barrier(len(versions)), PROCESSES.Queue()
    runners = [PROCESSES.Process(target=race, args=(barrier, results, place, versions, i)) for i in versions]
    for runner in runners:
        runner.start()
    said = [results.get(timeout=120) for names in versions.values() for _ in names]
    for runner in runners:
        runner.join()
    assert [0] * len(runners) == [runner.exitcode for runner in runners]
    return said


def test_six_processes_publish_the_same_version(root: DataRoot, place: Path) -> None:
    """Exactly one publication of each version is new, the others find it there, nothing is left over."""
    names = [f"v{round_}" for round_ in range(5)]
    said = run_race(place, dict.fromkeys(range(6), names))
    assert sorted(names) == sorted(version for version, is_new in said if is_new)
    assert names[-1] == root.latest("sdsc")
    assert all(root.is_published("sdsc", name) for name in names)
    check_whole(root, place)
    assert [] == staged(place)


def test_six_processes_publish_different_versions(root: DataRoot, place: Path) -> None:
    """Find all versions there and in the catalogue, and `latest` names one of the last."""
    versions = {runner: [f"r{runner}-{round_}" for round_ in range(3)] for runner in range(6)}
    said = run_race(place, versions)
    every = sorted(name for names in versions.values() for name in names)
    assert every == sorted(version for version, is_new in said if is_new)
    assert every == sorted(listed.version for listed in root.versions("sdsc"))
    assert root.latest("sdsc") in [names[-1] for names in versions.values()]
    assert all(root.is_published("sdsc", name) for name in every)
    check_whole(root, place)
    catalog = (place / "catalog.yaml").read_text()
    root.promote("sdsc", str(root.latest("sdsc")))
    assert (place / "catalog.yaml").read_text() == catalog
    assert every == [name for name in every if f"sdsc@{name}.jobs:" in catalog]


def test_a_catalogue_overtaken_by_another_publication_is_written_again(
    root: DataRoot, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another process publishes while the catalogue is being written, neither version is missing from it."""
    replace, rivals = LocalStorage.replace, ["v2"]

    def replace_too_late(self: LocalStorage, key: str, content: bytes) -> None:
        if key == CATALOG and rivals:
            publish(DataRoot.open(place), rivals.pop())
        replace(self, key, content)

    monkeypatch.setattr(LocalStorage, "replace", replace_too_late)
    publish(root, "v1")
    text = (place / CATALOG).read_text()
    assert [True, True, True] == [f"sdsc@{version}.jobs:" in text for version in ("v1", "v2")] + [rivals == []]
