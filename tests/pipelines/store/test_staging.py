# SPDX-License-Identifier: BSD-3-Clause
"""Staging directories: where they are, when they go, and the sweeping of what the dead left."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pipelines.store.staging import staging
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError, StorageError
from tests.pipelines.killed import PROCESSES


@pytest.fixture(scope="module")
def dead() -> int:
    """Return the number of a process that is no more."""
    process = PROCESSES.Process(target=int)
    process.start()
    process.join()
    assert process.pid is not None
    return process.pid


def names(area: Path) -> set[str]:
    """Return what stands in a staging area."""
    return {path.name for path in area.iterdir()}


def fill_and_fail(path: Path) -> None:
    """Write a file, then fail."""
    (path / "file").touch()
    raise ParameterError("mine")


def test_it_is_there_for_as_long_as_the_context(tmp_path: Path) -> None:
    """An empty directory below the root, made if need be, which goes with all that is in it, also on an error."""
    with staging(tmp_path / "work" / "root") as path:
        assert (tmp_path / "work" / "root" / ".staging", []) == (path.parent, list(path.iterdir()))
        (path / "jobs").mkdir()
    assert set() == names(path.parent)
    with pytest.raises(ParameterError, match=r"^mine$"), staging(tmp_path) as path:
        fill_and_fail(path)
    assert set() == names(path.parent)


def test_a_full_disk_is_one_error(tmp_path: Path) -> None:
    """An error of the operating system in the body names the root and the remedy."""
    with (
        pytest.raises(StorageError, match=rf"{tmp_path}: .*No space left on device.*; free space and run again$"),
        staging(tmp_path),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    (tmp_path / "file").touch()
    with (
        pytest.raises(StorageError, match=r"file: files on their way were given up: Not a dir"),
        staging(tmp_path / "file"),
    ):
        pytest.fail("there is no such directory")


def left_by(area: Path, host: str, process: int, label: str = "x") -> str:
    """Leave a staging directory with a file in it, and return its name."""
    name = f"{label}-{host}-{process}-0a1b2c3d"
    (area / name / "jobs").mkdir(parents=True)
    (area / name / "jobs" / "part-0.parquet").touch()
    return name


def test_only_what_the_dead_of_this_host_left_is_swept(tmp_path: Path, dead: int) -> None:
    """The living, other hosts and whatever has another form of name stay."""
    area = tmp_path / ".staging"
    with staging(tmp_path, "a-b") as mine:
        host = mine.name.split("-")[2]
        left_by(area, host, dead)
        left_by(area, host, dead, "a-b-c")
        stays = {left_by(area, host, os.getppid()), left_by(area, "elsewhere", dead), left_by(area, "x", 7, "notes-of")}
        (area / "notes").touch()
        (area / f"notes-{host}-1-of-x").touch()
        with staging(tmp_path) as other:
            assert stays | {"notes", f"notes-{host}-1-of-x", mine.name, other.name} == names(area)


def test_an_earlier_process_of_the_same_number_is_dead(tmp_path: Path) -> None:
    """In a container that is always process 1, what it left when it was killed is swept all the same."""
    with staging(tmp_path) as mine:
        host = mine.name.split("-")[1]
        left_by(mine.parent, host, os.getpid())
        with staging(tmp_path) as other:
            assert {mine.name, other.name} == names(mine.parent)


def test_a_link_is_not_followed(tmp_path: Path, dead: int) -> None:
    """Where a staging directory should be and a link stands, the link goes and what it leads to stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    with staging(tmp_path / "root") as mine:
        (mine.parent / f"x-{mine.name.split('-')[1]}-{dead}-0a1b2c3d").symlink_to(outside)
        with staging(tmp_path / "root") as other:
            assert {mine.name, other.name} == names(mine.parent)
    assert (outside / "file").exists()


def test_stages_are_swept_by_the_same_rule(tmp_path: Path, dead: int) -> None:
    """A stage that fills its output removes what any dead stage left, and leaves nothing of its own."""
    with staging(tmp_path) as mine:
        host = mine.name.split("-")[1]
    area = tmp_path / ".staging"
    left_by(area, host, dead, "0123456789abcdef")
    stays = left_by(area, "elsewhere", dead)
    target = DirectoryTarget(tmp_path / "parsed" / "0123456789abcdef")
    with target.fill() as directory:
        (directory / "jobs.parquet").touch()
        assert not target.exists()
    assert ({stays}, ["jobs.parquet"]) == (names(area), [path.name for path in target.path.iterdir()])
    assert {".staging", "parsed"} == names(tmp_path)
    other = DirectoryTarget(tmp_path / "cleaned" / "y")
    with pytest.raises(StorageError, match=r"nothing was kept of this stage"), other.fill():
        raise OSError(errno.ENOSPC, "full")
    assert ({stays}, False) == (names(area), other.path.parent.exists())
