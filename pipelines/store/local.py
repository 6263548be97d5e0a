# SPDX-License-Identifier: BSD-3-Clause
"""A data root in a local directory: versions appear by one rename and go by another."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType

from pipelines.store.staging import AREA, abandoned, discard, make_directories, sync, unchecked_staging
from pipelines.store.storage import Storage, storage_errors
from swftools.errors import UnsafeNameError

NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)
"""What a file system says that knows no links, or allows no more of them."""


class LocalStorage(Storage):
    """Files under a local directory."""

    def __init__(self, location: str | os.PathLike[str]) -> None:
        self._base = Path(location).expanduser().absolute()
        super().__init__(str(self._base))

    def address(self, key: str = "") -> str:
        """Return the absolute path of a key."""
        return str(self._base / key)

    def check_inside(self, key: str) -> str:
        """Return a key unless it leads out of the root through a symbolic link.

        Raises
        ------
        UnsafeNameError
            Names the key and where it leads.
        """
        target = Path(os.path.realpath(self._base / key))
        if not target.is_relative_to(os.path.realpath(self._base)):
            raise UnsafeNameError(
                f"{self.address(key)} leads out of the data root, to {target}; remove the symbolic link"
            )
        return key

    @contextmanager
    def scratch(self, directory: str, label: str) -> Iterator[Path]:
        """Give an empty directory on the same file system, in ``.staging``; sweep those of dead processes."""
        with unchecked_staging(self._base / directory, label) as path:
            yield path

    def commit(self, staged: Path, key: str, shared: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Rename a directory of files, once all of it is on disk, to its key; shared files are links."""
        for directory, _, names in os.walk(staged):
            for name in names:
                sync(Path(directory, name))
        for name, source in shared.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            _link(self._base / source, staged / name)
        for directory, _, _ in os.walk(staged, topdown=False):
            sync(Path(directory))
        try:
            staged.rename(self._base / key)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise
        return True

    def withdraw(self, key: str) -> None:
        """Rename a directory out of sight, then remove it."""
        path = self._base / key
        area = path.parent if path.parent.name == AREA else path.parent / AREA
        with storage_errors(f"{path}: cannot be removed"), suppress(FileNotFoundError):
            make_directories(area)
            discard(path, area)

    def left_overs(self, directory: str) -> list[str]:
        """Return the keys of what nobody works on any more in a directory's staging area."""
        area = self._base / directory / AREA
        with storage_errors(f"{area}: cannot be read"):
            return [str(path.relative_to(self._base)) for path in abandoned(area)]

    def replace(self, key: str, content: bytes) -> None:
        """Write a file beside its place and rename it there."""
        with self._new_file(key, content) as (new, target):
            new.replace(target)

    def create(self, key: str, content: bytes) -> bool:
        """Write a file beside its place and give it its name unless that is taken; return whether it was not."""
        with self._new_file(key, content) as (new, target):
            return _name_unless_taken(new, target)

    def link(self, key: str, name: str) -> None:
        """Make a symbolic link beside its place and rename it there, where the file system has such links."""
        place = self._base / key
        if os.path.lexists(place) and not place.is_symlink():
            return
        with storage_errors(f"{place}: cannot be written"):
            with self.scratch(key.rpartition("/")[0], place.name) as directory:
                new = directory / place.name
                try:
                    new.symlink_to(name, target_is_directory=True)
                except OSError as error:
                    if error.errno in NO_LINKS or os.name == "nt":
                        return
                    raise
                new.replace(place)
            sync(place.parent)

    def linked(self, key: str) -> str | None:
        """Return where a symbolic link leads; None if there is nothing, "" if something else stands there."""
        place = self._base / key
        if not os.path.lexists(place):
            return None
        return str(place.readlink()) if place.is_symlink() else ""

    @contextmanager
    def _new_file(self, key: str, content: bytes) -> Iterator[tuple[Path, Path]]:
        """Give a new file that is on disk, and the path that it is meant for."""
        target = self._base / key
        with storage_errors(f"{target}: cannot be written"):
            with self.scratch(key.rpartition("/")[0], target.name) as directory:
                new = directory / target.name
                new.write_bytes(content)
                sync(new)
                # What a pointer names must be on disk before the pointer is.
                sync(target.parent)
                yield new, target
            sync(target.parent)

    def modified(self, keys: Iterable[str]) -> list[datetime | None]:
        """Return the UTC time of each file's last change, None where there is no such file."""
        with storage_errors(f"{self.location}: cannot be read"):
            return [_modified(self._base / key) for key in keys]

    def fingerprints(self, keys: Iterable[str]) -> list[str | None]:
        """Return a text for each file that is another one if its content is, None where there is no such file."""
        with storage_errors(f"{self.location}: cannot be read"):
            return [_fingerprint(self._base / key) for key in keys]

    def directories(self, key: str = "") -> list[str]:
        """Return the sorted names of the directories in a directory, without links that lead out of the root."""
        top, names = self._base / key, []
        with storage_errors(f"{top}: cannot be listed"):
            found = sorted(path.name for path in top.iterdir() if path.is_dir()) if top.is_dir() else []
        for name in found:
            with suppress(UnsafeNameError):
                self.check_inside(f"{key}/{name}" if key else name)
                names.append(name)
        return names

    def files(self, key: str) -> dict[str, int]:
        """Return the bytes of all files in and below a directory by sorted path relative to it."""
        top = self._base / key
        with storage_errors(f"{top}: cannot be listed"):
            paths = sorted(Path(directory, name) for directory, _, names in os.walk(top) for name in names)
            return {path.relative_to(top).as_posix(): path.lstat().st_size for path in paths}

    def stamps(self, key: str) -> dict[str, tuple[str, int]]:
        """Return place, size and times of each file in a directory, and the last change, which nobody can set back."""
        found = {}
        with storage_errors(f"{self._base / key}: cannot be listed"), os.scandir(self._base / key) as entries:
            for entry in entries:
                if entry.is_file():
                    told = entry.stat()
                    stamp = f"{told.st_dev}-{told.st_ino}-{told.st_size}-{told.st_mtime_ns}-{told.st_ctime_ns}"
                    found[entry.name] = stamp, told.st_ctime_ns
        return dict(sorted(found.items()))

    @contextmanager
    def open(self, key: str) -> Iterator[BufferedReader]:
        """Open a file for reading, random access included.

        Raises
        ------
        StorageError
            The file is absent or unreadable.
        """
        path = self._base / key
        with storage_errors(f"{path}: cannot be read"), path.open("rb") as file:
            yield file

    def remove(self, key: str) -> None:
        """Delete a file; it is not a mistake if another process was faster."""
        with storage_errors(f"{self.address(key)}: cannot be removed"):
            (self._base / key).unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """Give a file a second name; copy it where the file system knows no such thing, or allows no more names."""
    try:
        target.hardlink_to(source)
    except OSError as error:
        if error.errno not in (*NO_LINKS, errno.EXDEV):
            raise
        shutil.copyfile(source, target)
        sync(target)


def _name_unless_taken(new: Path, target: Path) -> bool:
    """Give a file another name; return False if something has that name already."""
    try:
        target.hardlink_to(new)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # A file system without hard links: whoever is killed here leaves an empty file, which is told of.
        try:
            with target.open("xb") as file:
                file.write(new.read_bytes())
        except FileExistsError:
            return False
        sync(target)
    return True


def _modified(path: Path) -> datetime | None:
    """Return the UTC time of a file's last change, None if there is no such file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return datetime.fromtimestamp(found.st_mtime_ns / 1e9, UTC) if path.is_file() else None


def _fingerprint(path: Path) -> str | None:
    """Return the MD5 of a file's content, None if there is no such file."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
