"""The file-system floor of the publishing store: a local directory or an S3 prefix behind one interface.

Files are addressed by keys relative to the root, such as ``sdsc/3f2a/manifest.json``. Reading and listing go
through ``pyarrow.fs`` for both; they differ in how a directory of files becomes visible at once (``commit``)
and how one small file is replaced (``replace``). Nothing here knows what a manifest says.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from pipelines.names import MANIFEST, PENDING
from swftools.errors import ParameterError, StorageError, SwfToolsError, UnsafeNameError

_HOST = re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:64]

_REMEDIES = {
    errno.ENOSPC: "free space and run again",
    errno.EDQUOT: "free space (the quota is used up) and run again",
    errno.EACCES: "check the permissions and run again",
    errno.EPERM: "check the permissions and run again",
    errno.EROFS: "mount it writable, or choose another data root, and run again",
}


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn failures of the file system or S3 into one StorageError: what happened, cause and remedy.

    Parameters
    ----------
    what : str
        Path and consequence, such as ``"/data/sdsc/3f2a: nothing was published"``.

    Raises
    ------
    StorageError
        In place of any error of the operating system or pyarrow.
    """
    try:
        yield
    except StorageError as error:
        raise StorageError(f"{what}: {error}") from None
    except SwfToolsError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{what}: {_cause_and_remedy(error)}") from None


def _cause_and_remedy(error: Exception) -> str:
    """Return what an error of the operating system or of pyarrow says, and what to do about it."""
    cause = " ".join((getattr(error, "strerror", None) or str(error)).split()) or type(error).__name__
    if filename := getattr(error, "filename", None):
        cause = f"{cause} ({filename})"
    remedy = "check endpoint, bucket and credentials and run again" if "AWS" in cause else "mend that and run again"
    return f"{cause}; {_REMEDIES.get(getattr(error, 'errno', None) or 0, remedy)}"


def open_storage(location: str | os.PathLike[str]) -> Storage:
    """Open a local directory or ``s3://bucket/prefix``; neither needs to hold anything yet.

    Parameters
    ----------
    location : str or path
        A directory (``~`` is expanded), or an S3 URI whose query may give ``region``, ``scheme`` and
        ``endpoint_override``.

    Raises
    ------
    ParameterError
        Neither a directory nor a valid S3 URI.
    StorageError
        The bucket's region cannot be found out.
    """
    text = os.fspath(location)
    if not text or ("://" in text and not text.startswith("s3://")):
        raise ParameterError(f"data root {text!r}: give a local directory or s3://bucket/prefix")
    return S3Storage(text) if text.startswith("s3://") else LocalStorage(text)


class Storage:
    """Files under one root; what local directories and S3 have in common."""

    def __init__(self, filesystem: Any, base: str, location: str) -> None:
        self.location = location
        self._fs = filesystem
        self._base = base

    def address(self, key: str = "") -> str:
        """Return the path or URI of a key for people and other tools."""
        raise NotImplementedError

    def check_inside(self, key: str) -> str:
        """Return a key unless it leads out of the root.

        Raises
        ------
        UnsafeNameError
            A symbolic link on the way points outside.
        """
        return key

    def scratch(self, directory: str, label: str) -> AbstractContextManager[Path]:
        """Give an empty local directory for as long as the context lasts."""
        raise NotImplementedError

    def commit(self, staged: Path, key: str) -> bool:
        """Make a directory of files visible under a key; return False if another got there first."""
        raise NotImplementedError

    def replace(self, key: str, content: bytes) -> None:
        """Write one small file so that readers see the old content or the new, never a part."""
        raise NotImplementedError

    def modified(self, keys: Iterable[str]) -> list[datetime | None]:
        """Return the UTC time of each file's last change, None where there is no such file."""
        paths = [self._path(key) for key in keys]
        with storage_errors(f"{self.address()}: cannot be read"):
            return [_modified(info) for info in self._fs.get_file_info(paths)]

    def exists(self, key: str) -> bool:
        """Return whether a file stands under a key."""
        return self.modified([key]) != [None]

    def directories(self, key: str = "") -> list[str]:
        """Return the sorted names of the directories in a directory, none if it does not exist."""
        with storage_errors(f"{self.address(key)}: cannot be listed"):
            found = self._fs.get_file_info(fs.FileSelector(self._path(key), allow_not_found=True))
        return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)

    def files(self, key: str) -> list[str]:
        """Return the sorted paths, relative to a directory, of all files in and below it."""
        top = self._path(key)
        with storage_errors(f"{self.address(key)}: cannot be listed"):
            found = self._fs.get_file_info(fs.FileSelector(top, recursive=True, allow_not_found=True))
        return sorted(info.path.removeprefix(f"{top}/") for info in found if info.type == fs.FileType.File)

    @contextmanager
    def open(self, key: str) -> Iterator[Any]:
        """Open a file for reading, random access included.

        Raises
        ------
        StorageError
            The file is absent, unreadable or damaged.
        """
        with storage_errors(f"{self.address(key)}: cannot be read"), self._fs.open_input_file(self._path(key)) as file:
            yield file

    def read(self, key: str) -> bytes:
        """Return a small file's content."""
        with self.open(key) as file:
            return bytes(file.read())

    def remove(self, key: str) -> None:
        """Delete a file; it is no mistake if another process was faster."""
        with storage_errors(f"{self.address(key)}: cannot be removed"), suppress(FileNotFoundError):
            self._fs.delete_file(self._path(key))

    def _path(self, key: str) -> str:
        return f"{self._base}/{key}" if key else self._base


def _modified(info: Any) -> datetime | None:
    """Return the time of a file's last change, None if it is not a file."""
    return datetime.fromtimestamp(info.mtime_ns / 1e9, UTC) if info.type == fs.FileType.File else None


class LocalStorage(Storage):
    """A local directory: versions appear by one rename, small files by another."""

    def __init__(self, location: str) -> None:
        base = str(Path(location).expanduser().absolute())
        super().__init__(fs.LocalFileSystem(), base, base)

    def address(self, key: str = "") -> str:
        """Return the absolute path of a key."""
        return self._path(key)

    def check_inside(self, key: str) -> str:
        """Return a key unless it leads out of the root through a symbolic link.

        Raises
        ------
        UnsafeNameError
            Names the key and where it leads.
        """
        path = self._path(key)
        target = Path(os.path.realpath(path))
        if not target.is_relative_to(os.path.realpath(self._base)):
            raise UnsafeNameError(f"{path} leads out of the data root, to {target}; remove the symbolic link")
        return key

    def directories(self, key: str = "") -> list[str]:
        """Return the sorted names of the directories in a directory, without links that lead out of the root."""
        names = []
        for name in super().directories(key):
            with suppress(UnsafeNameError):
                self.check_inside(f"{key}/{name}" if key else name)
                names.append(name)
        return names

    @contextmanager
    def scratch(self, directory: str, label: str) -> Iterator[Path]:
        """Give an empty directory on the same file system, in ``.staging``; sweep those of dead processes."""
        area = Path(self._path(directory), ".staging")
        area.mkdir(parents=True, exist_ok=True)
        _sweep(area)
        path = _scratch_path(area, label)
        try:
            path.mkdir()
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def commit(self, staged: Path, key: str) -> bool:
        """Rename a directory of files, once all of it is on disk, to its key."""
        for directory, _, names in os.walk(staged, topdown=False):
            for name in names:
                _sync(Path(directory, name))
            _sync(Path(directory))
        try:
            staged.rename(self._path(key))
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise
        return True

    def replace(self, key: str, content: bytes) -> None:
        """Write a file beside its place and rename it there."""
        target = Path(self._path(key))
        with storage_errors(f"{target}: cannot be written"):
            with self.scratch(key.rpartition("/")[0], target.name) as directory:
                new = directory / target.name
                new.write_bytes(content)
                _sync(new)
                # What a pointer names must be on disk before the pointer is.
                _sync(target.parent)
                new.replace(target)
            _sync(target.parent)


def _scratch_path(area: Path, label: str) -> Path:
    """Return an unused path that tells host and process of its owner."""
    return area / f"{label}-{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"


def _sweep(area: Path) -> None:
    """Remove what dead processes of this host left in a staging area."""
    for path in area.iterdir():
        label, host, pid, *_ = (*path.name.rsplit("-", 3), "", "", "")
        if host != _HOST or not pid.isdecimal() or _is_alive(int(pid)):
            continue
        # Taken over by a rename first: should the owner live after all, it misses its directory before
        # it publishes, rather than having a published one emptied.
        mine = _scratch_path(area, label)
        with suppress(OSError):
            path.rename(mine)
            shutil.rmtree(mine)


def _is_alive(pid: int) -> bool:
    """Return whether a process of this host is running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _sync(path: Path) -> None:
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


def _without_secrets(text: str) -> str:
    """Return a text without the credentials that an S3 URI in it may carry."""
    return re.sub(r"(?<=://)[^/@]*@", "", text)


class S3Storage(Storage):
    """An S3 prefix: files go under their final keys, the manifest last.

    pyarrow offers no conditional write. Two processes that publish one version at once may both be told
    that it is new; as they write the same bytes, nothing else follows from it.
    """

    def __init__(self, location: str) -> None:
        with storage_errors(f"{_without_secrets(location)}: cannot be opened"):
            try:
                filesystem, base = fs.FileSystem.from_uri(location)
            except pa.ArrowInvalid as error:
                raise ParameterError(f"data root: {_without_secrets(str(error))}; give s3://bucket/prefix") from None
        if not base:
            raise ParameterError(f"data root {location!r} names no bucket; give s3://bucket/prefix")
        _, mark, query = location.partition("?")
        super().__init__(filesystem, base, f"s3://{base}{mark}{query}")

    def address(self, key: str = "") -> str:
        """Return the URI of a key, without credentials or query."""
        return f"s3://{self._path(key)}"

    @contextmanager
    def scratch(self, directory: str, label: str) -> Iterator[Path]:  # noqa: ARG002 - those of the interface
        """Give an empty directory of the local machine."""
        with tempfile.TemporaryDirectory(prefix="swftools-") as path:
            yield Path(path)

    def commit(self, staged: Path, key: str) -> bool:
        """Upload a directory of files, the manifest last."""
        names = {path.relative_to(staged).as_posix() for path in staged.rglob("*") if path.is_file()}
        for name in [*sorted(names - {PENDING, MANIFEST}), PENDING, MANIFEST]:
            # Asked each time, so that a version is hardly ever written over while it is being published twice.
            if self.exists(f"{key}/{MANIFEST}"):
                return False
            with (staged / name).open("rb") as source, self._create(f"{key}/{name}") as sink:
                shutil.copyfileobj(source, sink, 1 << 23)
        return True

    def replace(self, key: str, content: bytes) -> None:
        """Put one object, which S3 does at once or not at all."""
        with storage_errors(f"{self.address(key)}: cannot be written"), self._create(key) as sink:
            sink.write(content)

    def _create(self, key: str) -> Any:
        """Open an object for writing; unasked, pyarrow would compress one that is called ``.gz``."""
        return self._fs.open_output_stream(self._path(key), compression=None)
