# SPDX-License-Identifier: BSD-3-Clause
"""What reaches the disk in which order: after a power cut, whatever can be seen must be whole."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.names import CATALOG, LATEST
from pipelines.store.data_root import DataRoot
from pipelines.store.prune import carry_out, plan_prune
from tests.pipelines.store.samples import publish

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for a descriptor's path")


class Recorder:
    """Notes every sync and rename, and when a directory tree begins to be removed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, ...]] = []
        fsync, rmtree = os.fsync, shutil.rmtree

        def note_sync(descriptor: int) -> None:
            fsync(descriptor)
            self.events.append(("sync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))

        def note_rmtree(path: Any, *args: Any, **options: Any) -> None:
            self.events.append(("remove", str(path)))
            rmtree(path, *args, **options)

        monkeypatch.setattr(os, "fsync", note_sync)
        monkeypatch.setattr(shutil, "rmtree", note_rmtree)
        for name in ("rename", "replace"):
            monkeypatch.setattr(os, name, self.noting(getattr(os, name)))

    def noting(self, move: Any) -> Any:
        """Return a move that is noted."""

        def note_move(source: Any, target: Any) -> None:
            move(source, target)
            self.events.append(("move", str(source), str(target)))

        return note_move

    def move_to(self, target: Path) -> tuple[int, Path]:
        """Return when something moved to a place, and from where."""
        found = [(i, event[1]) for i, event in enumerate(self.events) if event[0] == "move" and event[2] == str(target)]
        assert 1 == len(found), found
        return found[0][0], Path(found[0][1])

    def synced(self, first: int, last: int) -> set[Path]:
        """Return what was synced between two events."""
        return {Path(event[1]) for event in self.events[first:last] if event[0] == "sync"}


def test_a_version_is_on_disk_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of a version, and every directory's list of names, is synced before the rename that publishes."""
    recorder = Recorder(monkeypatch)
    version = Path(publish(DataRoot.open(tmp_path / "data"), "v1").path)
    when, staged = recorder.move_to(version)
    below = {staged / path.relative_to(version) for path in version.rglob("*")}
    assert len(below) >= 5
    assert below | {staged} <= recorder.synced(0, when)


def test_a_version_is_on_disk_before_latest_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory that lists the version is synced before the pointer moves, and the pointer's text before it too."""
    recorder = Recorder(monkeypatch)
    version = Path(publish(DataRoot.open(tmp_path / "data"), "v1").path)
    appeared, _ = recorder.move_to(version)
    pointed, new_pointer = recorder.move_to(version.parent / LATEST)
    assert appeared < pointed
    assert {version.parent, new_pointer} <= recorder.synced(appeared, pointed)


def test_what_is_said_to_be_published_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before publish returns, every new directory's parent is synced, and pointer and catalogue where they stand."""
    recorder = Recorder(monkeypatch)
    root = tmp_path / "new" / "data"
    publish(DataRoot.open(root), "v1")
    appeared, _ = recorder.move_to(root / "sdsc" / "v1")
    assert {tmp_path, root.parent, root} <= recorder.synced(0, appeared)
    pointed, _ = recorder.move_to(root / "sdsc" / LATEST)
    written, new_catalog = recorder.move_to(root / CATALOG)
    assert root / "sdsc" in recorder.synced(pointed, written)
    assert new_catalog in recorder.synced(pointed, written)
    assert root in recorder.synced(written, len(recorder.events))


def test_a_version_is_gone_from_disk_before_its_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rename out of sight is synced at both ends before the first file is removed."""
    root = DataRoot.open(tmp_path / "data")
    for version in ("v1", "v2"):
        publish(root, version)
    recorder = Recorder(monkeypatch)
    carry_out(plan_prune(root))
    place = tmp_path / "data" / "sdsc"
    (moved,) = [i for i, event in enumerate(recorder.events) if event[:2] == ("move", str(place / "v1"))]
    hidden = recorder.events[moved][2]
    removed = recorder.events.index(("remove", hidden))
    assert {place, place / ".staging"} <= recorder.synced(moved, removed)


def test_a_rollback_is_on_disk_when_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pointer's new text is synced before it takes its place, and its directory after."""
    root = DataRoot.open(tmp_path / "data")
    for version in ("v1", "v2"):
        publish(root, version)
    recorder = Recorder(monkeypatch)
    root.rollback("sdsc", "v1")
    pointed, new_pointer = recorder.move_to(tmp_path / "data" / "sdsc" / LATEST)
    assert new_pointer in recorder.synced(0, pointed)
    assert tmp_path / "data" / "sdsc" in recorder.synced(pointed, len(recorder.events))
