# SPDX-License-Identifier: BSD-3-Clause
"""Files that somebody writes by hand, or a command prints: what they are is looked at before they are read.

A path may be mistyped: that of a log of 20 GB, of a folder, or of a device that never ends. So no more is read than
such a file may have.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

SIZE_LIMIT = 1 << 20
"""Most bytes of a file of settings: no one writes more by hand."""

PRINTED_LIMIT = 1 << 28
"""Most bytes of what a command prints of a queue or a machine, or of a table beside a log."""


def read_small_file(path: str | os.PathLike[str], most: int = SIZE_LIMIT) -> bytes:
    """Return what a file has, which may be a pipe.

    Raises
    ------
    OSError
        It cannot be read, or has more than so many bytes; ``strerror`` says which.
    """
    with Path(path).open("rb") as file:
        _refuse(os.fstat(file.fileno()), path, most)
        data = file.read(most + 1)
    if len(data) > most:
        raise _too_large(path, most)
    return data


def require_small(path: str | os.PathLike[str], most: int = PRINTED_LIMIT) -> None:
    """Raise OSError, as ``read_small_file`` does, if others had better not read a file whole; a pipe is let through."""
    found = Path(path).stat()
    _refuse(found, path, most)
    if stat.S_ISCHR(found.st_mode):
        raise OSError(errno.EINVAL, "a device, and not a file", os.fspath(path))


def hash_of_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, of which little is in memory at once.

    Raises
    ------
    OSError
        It cannot be read, or is no file.
    """
    with Path(path).open("rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a plain file", os.fspath(path))
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse(found: os.stat_result, path: str | os.PathLike[str], most: int) -> None:
    """Raise OSError if what is found at a path is no file, or too large."""
    if stat.S_ISBLK(found.st_mode):
        raise OSError(errno.EINVAL, "a disk, and not a file", os.fspath(path))
    if stat.S_ISREG(found.st_mode) and found.st_size > most:
        raise _too_large(path, most, found.st_size)


def _too_large(path: str | os.PathLike[str], most: int, size: int | None = None) -> OSError:
    told = f"{size:,} bytes, " if size else ""
    return OSError(errno.EFBIG, f"{told}more than {most:,} bytes: is this the right file?", os.fspath(path))
