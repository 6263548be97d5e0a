"""The part file of a download: locked while it is written, with a note of what version it is a part of.

``NAME.part`` holds what has come so far, ``NAME.part.json`` the address and the server's mark of that version.
The lock is on the part file itself, so that it ends with the process however that ends, and nothing is left to
be cleared away. Where the file system has no locks, each process writes a part file of its own, which cannot be
gone on with later.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

logger = logging.getLogger(__name__)

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class PartFile:
    """An open part file that no other process writes.

    Parameters
    ----------
    path : Path
        Where it is.
    file : binary file
        It, open for reading and writing.
    waited : bool
        Another process had it: the download may be complete by now.
    """

    def __init__(self, path: Path, file: BinaryIO, *, waited: bool = False) -> None:
        self.path, self.file, self.waited = path, file, waited
        self._note = path.with_name(path.name + ".json")

    def size(self) -> int:
        """Return how many bytes it holds."""
        return self.file.seek(0, os.SEEK_END)

    def empty(self) -> None:
        """Begin anew."""
        self.file.truncate(0)
        self.file.seek(0)

    def mark(self, url: str) -> str | None:
        """Return the mark of the version that it is a part of; None if that is not known, or of another address."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return str(note["mark"]) if isinstance(note, dict) and note.get("url") == url and "mark" in note else None

    def set_mark(self, url: str, mark: str | None) -> None:
        """Note the version that is coming; None if the server does not tell versions apart."""
        self._note.unlink(missing_ok=True)
        if mark:
            self._note.write_text(json.dumps({"url": url, "mark": mark}), encoding="utf-8")

    def is_at_path(self) -> bool:
        """Tell whether the open file is still the one under the path: who had the lock may have moved it away."""
        try:
            return self.path.stat().st_ino == os.fstat(self.file.fileno()).st_ino
        except FileNotFoundError:
            return False

    def remove(self) -> None:
        """Remove it and its note, as far as they are still there."""
        if self.is_at_path():
            self.path.unlink()
        self._note.unlink(missing_ok=True)


@contextmanager
def open_part(destination: Path) -> Iterator[PartFile]:
    """Open the part file of a destination for this process alone, after any other has done with it.

    Afterwards it stays only where it holds something to go on from.

    Parameters
    ----------
    destination : Path
        The file to make; its directory is made too.

    Raises
    ------
    OSError
        The directory or the part file cannot be made.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    path = destination.with_name(destination.name + ".part")
    try:
        part = _locked(path)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        with suppress(FileNotFoundError):
            # Opened in vain; no process of this file system writes to it.
            path.unlink()
        logger.warning("%s: the file system has no locks, a download that breaks off begins anew", path.parent)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=destination.name + ".", suffix=".part")
        Path(name).chmod(0o644)
        part = PartFile(Path(name), os.fdopen(handle, "r+b"))
    with part.file:
        try:
            yield part
        finally:
            if part.path != path or not part.is_at_path() or not part.size():
                part.remove()


def _locked(path: Path) -> PartFile:
    """Open and lock the part file; again if it was moved away while waiting for the lock."""
    waited = False
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            waited = _lock(file, path) or waited
            part = PartFile(path, file, waited=waited)
            if part.is_at_path():
                return part
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: BinaryIO, path: Path) -> bool:
    """Lock a file until it is closed; tell whether that took waiting."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        logger.info("%s: another process is downloading; waiting for it", path)
        fcntl.flock(file, fcntl.LOCK_EX)
        return True
    return False
