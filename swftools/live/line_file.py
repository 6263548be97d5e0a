# SPDX-License-Identifier: BSD-3-Clause
"""A file of lines that is only ever appended to; a line counts when it is whole.

What was being written when a process was killed is the beginning of a line at the end of the file: it is cut off
before more is written. What cannot be written whole, as on a full disk, does not count either.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from swftools.errors import StorageError
from swftools.output.whole_files import sync_folder


class LineFile:
    """A file that is appended to, by one process.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none, and its folder is there.

    Raises
    ------
    StorageError
        It cannot be written, or another process writes it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._whole: int | None = None
        try:
            is_new = not self.path.exists()
            self._file = self.path.open("ab", buffering=0)  # what failed is not tried again behind one's back
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _cut_off(self._file, self.path)
            if is_new:
                sync_folder(self.path.absolute().parent)
        except BlockingIOError as error:
            self._file.close()
            raise StorageError(f"{self.path}: another process writes it; end that, or name another file") from error
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from error

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return os.fstat(self._file.fileno()).st_size

    def append(self, lines: bytes, *, is_urgent: bool = True) -> None:
        """Write lines, all of them safely on the disk when it returns; those that are not urgent in a while.

        Raises
        ------
        StorageError
            They cannot be written; none of them counts.
        """
        try:
            if self._whole is not None:  # what could not be cut off is in the way
                os.ftruncate(self._file.fileno(), self._whole)
                self._whole = None
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from error
        begin = self.size
        try:
            left = memoryview(lines)
            while left:
                left = left[self._file.write(left) or 0 :]
            if is_urgent:
                os.fsync(self._file.fileno())
        except OSError as error:
            self._forget(begin)
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from error

    def _forget(self, begin: int) -> None:
        """Cut off what could not be written whole."""
        try:
            os.ftruncate(self._file.fileno(), begin)
        except OSError:
            self._whole = begin

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _cut_off(file: IO[bytes], path: Path) -> None:
    """Cut off a last line that is not whole."""
    size = file.tell()
    with path.open("rb") as whole:
        end = size
        while end:
            begin = max(end - 65_536, 0)
            whole.seek(begin)
            place = whole.read(end - begin).rfind(b"\n")
            if place >= 0:
                end = begin + place + 1
                break
            end = begin
    if end < size:
        os.ftruncate(file.fileno(), end)
        file.seek(end)
