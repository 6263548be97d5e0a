# SPDX-License-Identifier: BSD-3-Clause
"""The journal: every event that was heard, a line of JSON each, only ever appended to.

A line counts when it is whole. What was being written when a process was killed is the beginning of a line at the end
of the file; it is not read, and cut off before more is written. So an event is there once or not at all, and who
delivers it again within a week is told that it is known. What is older is forgotten in memory, and stays in the file.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from swftools.errors import ParameterError
from swftools.live.events import JobEvent
from swftools.live.line_file import LineFile

KEPT = 7 * 86_400.0
"""Seconds before the newest event for which what is delivered again is known."""

_Key = tuple[str, str, str, float]

_FIELDS = tuple(each.name for each in fields(JobEvent))


_WRITTEN = re.compile(
    rb'\{"kind":"(\w+)","time":([-+.\de]+),"job":"([^"\\]*)"(?:,"cluster":"([^"\\]*)")?(?!,"cluster")[,}][^\n]*\n'
)
"""A line as it is written here, where no text of it needs an escape."""

_MARKS_EVERY = 3600.0


class Mark(NamedTuple):
    """How far a journal was read: bytes, the events in them, and up to which byte all events were forgotten then."""

    bytes: int
    events: int
    forgotten: int


class Journal:
    """A journal that is written to, by one process.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none, and its folder is there.
    mark : Mark, optional
        How far it was read before, and found to be right: that is not checked again, which saves most of the time.

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

    def __init__(self, path: str | os.PathLike[str], mark: Mark | None = None) -> None:
        self.path = Path(path)
        self._events, self._known, self._newest = 0, set[_Key](), -math.inf
        self._most = 1024
        self._marks: deque[tuple[float, int]] = deque([(-math.inf, 0)])
        self._file = LineFile(self.path)  # from now on nobody else writes: what is read below is all
        try:
            self._read(mark)
        except BaseException:
            self._file.close()
            raise

    def _read(self, mark: Mark | None) -> None:
        """Know what the file has."""
        begin = 0
        if mark is not None:
            self._events, begin = mark.events, mark.bytes
            self._marks = deque([(-math.inf, mark.forgotten)])
            self._known = _written_keys(self.path, mark.forgotten, mark.bytes)
            self._newest = max((key[-1] for key in self._known), default=-math.inf)
        for end, event in _read(self.path, begin):
            self._keep(event)
            self._set_mark(end)

    @property
    def events(self) -> int:
        """How many events it has."""
        return self._events

    @property
    def mark(self) -> Mark:
        """How far it is read: to its end."""
        return Mark(self._file.size, self._events, self._marks[0][1])

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
        self._file.append(b"".join(_line(event) for event in new.values()))
        for event in new.values():
            self._keep(event)
        self._set_mark(self._file.size)
        return list(new.values())

    def _keep(self, event: JobEvent) -> None:
        """Know an event, and forget those of long ago."""
        self._events += 1
        self._known.add(_key(event))
        self._newest = max(self._newest, event.time)
        if len(self._known) > self._most:
            self._known = {key for key in self._known if key[-1] >= self._newest - KEPT}
            self._most = max(1024, 2 * len(self._known))

    def _set_mark(self, end: int) -> None:
        """Note that all events up to a byte are no newer than the newest; drop notes that a later one makes useless."""
        if self._newest >= self._marks[-1][0] + _MARKS_EVERY:
            self._marks.append((self._newest, end))
        while len(self._marks) > 1 and self._marks[1][0] < self._newest - KEPT:
            self._marks.popleft()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_journal(path: str | os.PathLike[str], begin: int = 0) -> Iterator[JobEvent]:
    """Yield the events of a journal, in the order in which they were heard.

    Parameters
    ----------
    path : str or path
        The file.
    begin : int
        Bytes at its beginning that are passed over: whole lines.

    Raises
    ------
    ParameterError
        A line of it is none of a journal; file and line are named.
    """
    for _, event in _read(path, begin):
        yield event


def _read(path: str | os.PathLike[str], begin: int) -> Iterator[tuple[int, JobEvent]]:
    """Yield events, and behind which byte each ends."""
    end = begin
    with Path(path).open("rb") as file:
        file.seek(begin)
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            end += len(line)
            try:
                yield end, read_line(line)
            except ParameterError as error:
                remedy = "restore the file, or begin a new one"
                where = f"line {number} behind byte {begin}" if begin else f"line {number}"
                raise ParameterError(f"{os.fspath(path)}, {where}: {error}; {remedy}") from error


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


def _written_keys(path: Path, begin: int, end: int) -> set[_Key]:
    """Return the keys of events between two bytes, which were written here and read before."""
    with path.open("rb") as file:
        file.seek(begin)
        lines = file.read(end - begin)
    keys = {
        (cluster.decode(), job.decode(), kind.decode(), float(time))
        for kind, time, job, cluster in _WRITTEN.findall(lines)
    }
    if len(keys) < lines.count(b"\n"):  # some are written in another way
        keys |= {_key(read_line(line)) for line in lines.splitlines() if not _WRITTEN.fullmatch(line + b"\n")}
    return keys


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
