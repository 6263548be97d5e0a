# SPDX-License-Identifier: BSD-3-Clause
"""Remember what was computed of a file for as long as the file is the same, in processes that live long."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from swftools.errors import SwfToolsError
from swftools.formats.compression import source_name
from swftools.formats.multi_file import log_files
from swftools.formats.place import file_of

Value = TypeVar("Value")

GRAIN_NS = 2 * 10**9
"""Two writes within this time, in nanoseconds, may leave equal time stamps on some file systems."""


class FileCache(Generic[Value]):
    """A function of a file whose values are kept.

    A file is the same if its place on disk, length and times are. What is computed of a file that changed a moment ago
    is not kept, because a second change could leave the same times.

    Parameters
    ----------
    compute : callable
        Takes a path and returns the value; what it raises is raised, and not kept.
    """

    def __init__(self, compute: Callable[[Path], Value]) -> None:
        self._compute = compute
        self._kept: dict[Path, tuple[tuple[int, ...], Value]] = {}

    def __call__(self, path: Path) -> Value:
        """Return the value of a file."""
        begun, stamp = time.time_ns(), _stamp(path)
        known, value = self._kept.get(path, (None, None))
        if stamp is not None and known == stamp:
            return value  # type: ignore[return-value]
        computed = self._compute(path)
        if stamp is not None and stamp[-1] < begun - GRAIN_NS:
            self._kept[path] = stamp, computed
        return computed


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return what tells whether a file is the same, the time of its last change last; None if it is not there.

    Of a folder or pattern, the same of each of its files.
    """
    try:
        statuses = [file_of(source_name(source)).stat() for source in log_files(path).sources]
    except (SwfToolsError, OSError):
        return None
    # Unlike the time of modification, that of change cannot be set back or forth.
    stamps = [(each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in statuses]
    return (*(number for stamp in stamps for number in stamp), max(each.st_ctime_ns for each in statuses))
