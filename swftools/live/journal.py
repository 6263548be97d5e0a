# SPDX-License-Identifier: BSD-3-Clause
"""The journal: every event that was heard, a line of JSON each, only ever appended to.

A line counts when it is whole. What was being written when a process was killed is the beginning of a line at the end
of the file; it is not read, and cut off before more is written. So an event is there once or not at all, and who
delivers it again within a week is told that it is known. What is older is forgotten in memory, and stays in the file.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from swftools.errors import ParameterError, StorageError
from swftools.live.events import JobEvent
from swftools.output.whole_files import sync_folder

KEPT = 7 * 86_400.0
"""Seconds before the newest event for which what is delivered again is known."""

_Key = tuple[str, str, str, float]

_FIELDS = tuple(each.name for each in fields(JobEvent))


class Journal:
    """A journal that is written to, by one process.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none, and its folder is there.

    Attributes
    ----------
    events : int
        How many it has.

    Raises
    ------
    StorageError
        It cannot be written, or another process writes it.
    ParameterError
        A line of it is none of a journal; file and line are named.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._events, self._known, self._newest = 0, set[_Key](), -math.inf
        self._most = 1024
        for event in read_journal(self.path) if self.path.exists() else ():
            self._keep(event)
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
    def events(self) -> int:
        """How many events it has."""
        return self._events

    def append(self, events: Iterable[JobEvent]) -> list[JobEvent]:
        """Write those that are not known yet, all of them safely on the disk when it returns; return these.

        Raises
        ------
        StorageError
            They cannot be written; none of them counts.
        """
        new: dict[_Key, JobEvent] = {}
        for event in events:
            key = _key(event)
            if key not in self._known:
                new.setdefault(key, event)
        if not new:
            return []
        begin = os.fstat(self._file.fileno()).st_size
        try:
            left = memoryview(b"".join(_line(event) for event in new.values()))
            while left:
                left = left[self._file.write(left) or 0 :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._forget(begin)
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from error
        for event in new.values():
            self._keep(event)
        return list(new.values())

    def _keep(self, event: JobEvent) -> None:
        """Know an event, and forget those of long ago."""
        self._events += 1
        self._known.add(_key(event))
        self._newest = max(self._newest, event.time)
        if len(self._known) > self._most:
            self._known = {key for key in self._known if key[-1] >= self._newest - KEPT}
            self._most = max(1024, 2 * len(self._known))

    def _forget(self, begin: int) -> None:
        """Cut off what could not be written whole."""
        try:
            os.ftruncate(self._file.fileno(), begin)
        except OSError:  # what stays there is no whole line, or is delivered again and known
            return

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_journal(path: str | os.PathLike[str]) -> Iterator[JobEvent]:
    """Yield the events of a journal, in the order in which they were heard.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    ParameterError
        A line of it is none of a journal; file and line are named.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield read_line(line)
            except ParameterError as error:
                remedy = "restore the file, or begin a new one"
                raise ParameterError(f"{os.fspath(path)}, line {number}: {error}; {remedy}") from error


def read_line(line: bytes) -> JobEvent:
    """Return the event of a line.

    Parameters
    ----------
    line : bytes
        JSON.

    Raises
    ------
    ParameterError
        It is none of a journal.
    """
    try:
        return JobEvent(**_checked(json.loads(line)))
    except (ValueError, TypeError, RecursionError, ParameterError) as error:
        raise ParameterError(f"is no event of a journal: {error}") from error


def _checked(told: Any) -> dict[str, Any]:
    """Refuse what is no event."""
    if not isinstance(told, dict) or not set(told) <= set(_FIELDS) or not isinstance(told.get("groups", {}), dict):
        raise ValueError(f"{told!r:.100}")
    return told


def _key(event: JobEvent) -> _Key:
    return event.cluster, event.job, event.kind, event.time


def _line(event: JobEvent) -> bytes:
    """Return an event as a line; what is not known is left out."""
    told = {name: getattr(event, name) for name in _FIELDS}
    kept = {name: value for name, value in told.items() if value not in (None, "", {})}
    return json.dumps(kept, separators=(",", ":")).encode() + b"\n"


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
