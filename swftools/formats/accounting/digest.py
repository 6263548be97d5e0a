# SPDX-License-Identifier: BSD-3-Clause
"""The checksum of a log, computed by a thread beside what reads it.

Of a large log it takes as long as a quarter of the reading, and both let other threads run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

_MANY = 1 << 20
"""Bytes at once from which a thread is worth its while."""


class Digest:
    """SHA-256 of bytes that come one after the other; ``with`` ends its thread."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._beside: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._beside is not None:
            self._beside.shutdown()

    def update(self, data: bytes) -> None:
        """Take bytes; they are kept until they are hashed, no more than two pieces at a time."""
        self._take(self._digest.update, data, is_large=len(data) >= _MANY)

    def add_file(self, path: Path) -> None:
        """Take what stands in a file, which has to stay as it is until ``hexdigest``."""
        self._take(self._read, path, is_large=path.stat().st_size >= _MANY)

    def hexdigest(self) -> str:
        """Return the digest of all that has come.

        Raises
        ------
        OSError
            A file could not be read.
        """
        self._wait()
        return self._digest.hexdigest()

    def _take(self, work: Callable[[Any], None], of: Any, *, is_large: bool) -> None:
        self._wait()
        if not is_large:
            work(of)
            return
        self._beside = self._beside or ThreadPoolExecutor(1)
        self._last = self._beside.submit(work, of)

    def _wait(self) -> None:
        if self._last is not None:
            self._last.result()
            self._last = None

    def _read(self, path: Path) -> None:
        with path.open("rb") as file:
            while block := file.read(_MANY):
                self._digest.update(block)
