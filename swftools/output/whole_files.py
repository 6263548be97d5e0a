# SPDX-License-Identifier: BSD-3-Clause
"""Files that appear whole or not at all: the one way in which swftools writes to a path.

Whatever goes wrong while a file is written (a full disk, a killed process, a fault of the program), what stood under
its name before stands there still. Below every writer of a format.
"""

from __future__ import annotations

import errno
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from swftools.errors import StorageError, SwfToolsError

LONGEST_NAME_SHOWN = 300
"""Characters of a path in a message: a log's text may be passed for its path."""

_REMEDIES = {
    errno.ENOSPC: "free space",
    errno.EDQUOT: "free space (the quota is used up)",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f), or free space,",
    errno.EACCES: "check the permissions of the file and its folder",
    errno.EPERM: "check the permissions of the file and its folder",
    errno.EROFS: "choose a folder that is not mounted read-only",
    errno.ENOENT: "make the folder first, or mend the path,",
    errno.ENOTDIR: "choose a path below a folder",
    errno.EISDIR: "name a file in that folder",
    errno.ENAMETOOLONG: "choose a shorter name",
}


@contextmanager
def create_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a path for writing bytes; the file appears, or is replaced, at once when all is written and on disk.

    It is written under another name in the same folder, and renamed. An old file keeps its permissions, a symbolic
    link goes on pointing to the file, and a pipe or device is written directly.

    Parameters
    ----------
    path : str or path
        File to make, in a folder that exists.

    Raises
    ------
    StorageError
        It cannot be written: no such folder, no permission, disk full. An old file stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_file(f"{folder}/notes.txt") as file:
    ...         count = file.write(b"all or nothing")
    ...     Path(folder, "notes.txt").read_bytes()
    b'all or nothing'
    """
    name = os.fsdecode(path)
    try:
        with _replacement(Path(name)) as file:
            yield file
    except SwfToolsError:
        raise
    except OSError as error:
        raise StorageError(unwritable(name, error)) from error


def unwritable(name: str, error: OSError) -> str:
    """Return the message about a file that cannot be written: its name, the reason, the remedy."""
    return f"{name[:LONGEST_NAME_SHOWN]}: cannot be written ({error.strerror or error}); {remedy_of(error)}"


def remedy_of(error: Exception) -> str:
    """Return what to do about an error of the operating system: the same words wherever it comes up."""
    return f"{_REMEDIES.get(getattr(error, 'errno', None) or 0, 'mend that')} and run again"


@contextmanager
def _replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside a path and give it the path's name in the end; open what is not a file directly."""
    try:
        path = Path(os.path.realpath(path))
    except ValueError as error:  # a null byte
        raise OSError(str(error)) from error
    mode = None
    if path.exists():
        if not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        with path.open("r+b"):  # a rename would replace a file that may not be written
            mode = stat.S_IMODE(path.stat().st_mode)
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    with temporary.open("xb") as file:
        try:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            # What could not be written is tried again on closing.
            with suppress(OSError):
                file.close()
            raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until a folder's list of names is on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems do not know how to sync a folder.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
