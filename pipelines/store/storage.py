# SPDX-License-Identifier: BSD-3-Clause
"""The floor below the publishing store: files under one root, whatever keeps them.

Files are addressed by keys relative to the root, such as ``sdsc/3f2a/manifest.json``. The kinds of storage differ
in how a directory of files becomes visible at once (``commit``), goes at once (``withdraw``), and how one small
file is replaced (``replace``). Nothing here knows what a manifest says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from swftools.errors import StorageError, SwfToolsError
from swftools.output.whole_files import remedy_of

ABANDONED_AFTER = timedelta(days=1)
"""What an unfinished publication left, and nobody here can know whether it still runs, counts as left over then."""


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn failures of the file system into one StorageError: what happened, cause and remedy.

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
    return f"{cause}; {remedy_of(error)}"


class Storage(ABC):
    """Files under one root."""

    def __init__(self, location: str) -> None:
        self.location = location
        """The root's absolute path or URI, without credentials."""

    @abstractmethod
    def address(self, key: str = "") -> str:
        """Return the path or URI of a key for people and other tools."""

    def check_inside(self, key: str) -> str:
        """Return a key unless it leads out of the root.

        Raises
        ------
        UnsafeNameError
            A symbolic link on the way points outside.
        """
        return key

    @abstractmethod
    def scratch(self, directory: str, label: str) -> AbstractContextManager[Path]:
        """Give an empty local directory, from which ``commit`` may take, for as long as the context lasts."""

    @abstractmethod
    def commit(self, staged: Path, key: str, shared: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Make a directory of files visible under a key; return False if another got there first.

        ``shared`` are further files of it, by name relative to it: the keys of files that they are the same as.
        """

    @abstractmethod
    def withdraw(self, key: str) -> None:
        """Take a directory of files out of sight at once, then remove it; it is not a mistake if it is gone already."""

    @abstractmethod
    def left_overs(self, directory: str) -> list[str]:
        """Return the keys of what publications that came to no end left in a directory."""

    @abstractmethod
    def replace(self, key: str, content: bytes) -> None:
        """Write one small file so that readers see the old content or the new, never a part."""

    @abstractmethod
    def create(self, key: str, content: bytes) -> bool:
        """Write one small file, whole or not at all, unless there is one; return whether there was none."""

    def exchange(self, key: str, old: bytes | None, new: bytes) -> bool:
        """Replace one small file that has a content, or is not there (None); return False if it is another.

        Kinds of storage that can do so at once override this; the others must be locked by the caller.
        """
        if (self.read(key) if self.exists(key) else None) != old:
            return False
        self.replace(key, new)
        return True

    @abstractmethod
    def link(self, key: str, name: str) -> None:
        """Let a symbolic link lead to the directory of that name beside it, in one step.

        Nothing happens where the storage has no such links, or something else stands there.
        """

    @abstractmethod
    def linked(self, key: str) -> str | None:
        """Return where a symbolic link leads; None if there is nothing, "" if something else stands there."""

    @abstractmethod
    def modified(self, keys: Iterable[str]) -> list[datetime | None]:
        """Return the UTC time of each file's last change, None where there is no such file."""

    @abstractmethod
    def fingerprints(self, keys: Iterable[str]) -> list[str | None]:
        """Return a text for each file that is another one if its content is, None where there is no such file.

        It is the MD5 of the content, because that is what S3 has at hand; where a bucket's encryption makes S3 give
        something else instead, it still goes with the content.
        """

    def exists(self, key: str) -> bool:
        """Return whether a file stands under a key."""
        return self.modified([key]) != [None]

    @abstractmethod
    def directories(self, key: str = "") -> list[str]:
        """Return the sorted names of the directories in a directory, none if it does not exist."""

    @abstractmethod
    def files(self, key: str) -> dict[str, int]:
        """Return the bytes of all files in and below a directory by sorted path relative to it."""

    @abstractmethod
    def stamps(self, key: str) -> dict[str, tuple[str, int]]:
        """Return of each file in a directory what changes when it does, and when it last did, in nanoseconds."""

    @abstractmethod
    def open(self, key: str) -> AbstractContextManager[BufferedReader]:
        """Open a file for reading, random access included.

        Raises
        ------
        StorageError
            The file is absent, unreadable or damaged.
        """

    def read(self, key: str) -> bytes:
        """Return a small file's content."""
        with self.open(key) as file:
            return file.read()

    @abstractmethod
    def remove(self, key: str) -> None:
        """Delete a file; it is not a mistake if another process was faster."""
