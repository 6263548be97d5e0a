# SPDX-License-Identifier: BSD-3-Clause
"""Directories for files on their way to their place, and the sweeping of those that dead processes left.

They stand in ``.staging`` beside the place, on the same file system, and tell host and process of their owner in
their names, so that whoever stages next can remove what a killed process left.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from pipelines.store.storage import ABANDONED_AFTER, storage_errors

AREA = ".staging"
"""The directory that holds what is on its way."""

_HOST = re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:64]

_IN_USE: set[str] = set()
"""Names of this process's own staging directories: with its number alone, a container's process 1 would own all
that the processes 1 before it left."""


@contextmanager
def staging(root: Path, label: str = "files", *, is_private: bool = False) -> Iterator[Path]:
    """Give an empty directory below a root, removed at the end; what dead processes left there is swept first.

    Parameters
    ----------
    root : Path
        Such as the work root; made if it does not exist.
    label : str
        What the directory is for; the first part of its name.
    is_private : bool
        Whether nobody else may look into it.

    Raises
    ------
    StorageError
        In place of any error of the operating system, also of one in the body, such as a full disk.
    """
    with (
        storage_errors(f"{root}: files on their way were given up"),
        unchecked_staging(root, label, is_private=is_private) as path,
    ):
        yield path


@contextmanager
def unchecked_staging(root: Path, label: str, *, is_private: bool = False) -> Iterator[Path]:
    """Do as ``staging``, for callers that word errors of the operating system themselves."""
    area = root / AREA
    make_directories(area)
    for path in _of_the_dead(area):
        with suppress(OSError):
            discard(path, area)
    path = _unused(area, label)
    _IN_USE.add(path.name)
    try:
        path.mkdir(mode=0o700 if is_private else 0o777)
        yield path
    finally:
        _IN_USE.discard(path.name)
        shutil.rmtree(path, ignore_errors=True)


def abandoned(area: Path) -> list[Path]:
    """Return what nobody works on any more in a staging area.

    That is what dead processes of this host left, and what hosts that cannot be asked have not touched for a day.
    """
    if not area.is_dir():
        return []
    dead = _of_the_dead(area)
    limit = (datetime.now(UTC) - ABANDONED_AFTER).timestamp()
    return dead + [path for path in _staged(area) if _owner(path)[0] != _HOST and _last_change(path) < limit]


def discard(path: Path, area: Path) -> None:
    """Remove a file or directory that readers may see: out of sight by one rename, then file by file.

    Parameters
    ----------
    path : Path
        What to remove.
    area : Path
        A staging area on the same file system, where the next sweep finds what a killed process leaves of it.

    Raises
    ------
    OSError
        It could not be moved or removed.
    """
    label = path.name.rsplit("-", 3)[0] if path.parent == area else path.name
    mine = _unused(area, label)
    _IN_USE.add(mine.name)
    try:
        # Should the owner of a staging directory live after all, it misses it before it publishes, rather than
        # having a published one emptied.
        path.rename(mine)
        # Nothing inside may be gone from the disk while the old name is still there.
        sync(path.parent)
        sync(area)
        if mine.is_dir() and not mine.is_symlink():
            shutil.rmtree(mine)
        else:
            mine.unlink()
    finally:
        _IN_USE.discard(mine.name)


def make_directories(path: Path) -> None:
    """Make a directory and those above it, each on disk once this returns."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for directory in reversed(missing):
        if not directory.exists():
            directory.mkdir(exist_ok=True)
            sync(directory.parent)


def sync(path: Path) -> None:
    """Wait until a file, or a directory's list of names, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems do not know how to sync a directory.
        if not path.is_dir() or error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _unused(area: Path, label: str) -> Path:
    """Return an unused path that tells host and process of its owner."""
    return area / f"{label}-{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"


def _owner(path: Path) -> tuple[str, int]:
    """Return host and process of a staging directory's owner."""
    _, host, process, _ = path.name.rsplit("-", 3)
    return host, int(process)


def _staged(area: Path) -> list[Path]:
    """Return what stands in a staging area under the name of an owner."""
    return sorted(path for path in area.iterdir() if re.fullmatch(r".+-[^-]*-[0-9]+-[0-9a-f]+", path.name))


def _of_the_dead(area: Path) -> list[Path]:
    """Return what dead processes of this host left in a staging area."""
    found = []
    for path in _staged(area):
        host, process = _owner(path)
        is_mine = process == os.getpid()
        if host == _HOST and (path.name not in _IN_USE if is_mine else not _is_alive(process)):
            found.append(path)
    return found


def _is_alive(process: int) -> bool:
    """Return whether a process of this host is running."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _last_change(path: Path) -> float:
    """Return when a directory or anything below it last changed, in seconds since 1970; infinity if it went."""
    try:
        return max(entry.lstat().st_mtime for entry in (path, *path.rglob("*")))
    except FileNotFoundError:
        return float("inf")
