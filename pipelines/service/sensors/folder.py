# SPDX-License-Identifier: BSD-3-Clause
"""Hears of a cluster by files that are put into a folder: journals, written where the batch system can be asked.

A journal is read line by line as it grows or comes, each line once it is whole, so a file may be copied in the midst of
being written. Files are read in the order of their names; those that begin with a dot are left to who writes them. A
line that is no event is passed over: the log names it once, and users are told how many there are.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine, SensorError
from swftools.errors import ParameterError
from swftools.live import JobEvent
from swftools.live.journal import KEPT, read_line
from swftools.output.shown_text import shown

_LOG = logging.getLogger("pipelines.service")

AT_ONCE = 200_000
"""Events that are read at a poll."""

SAID = 10
"""Lines of a poll that are no events, and are named in the log; others are counted."""


class FolderSettings(BaseModel):
    """Where files of events are put."""

    model_config = ConfigDict(extra="forbid")

    path: str
    """The folder; it is only read."""
    pattern: str = "*.jsonl"
    """Of the names of the files."""
    quiet: Annotated[float, Field(ge=60)] = 6 * 3600.0
    """Seconds without anything new, after which what is known is too old to be told."""


class _Read(NamedTuple):
    """How far a file is read: bytes, lines, and what the last of them is, by which it is known again.

    Events before ``since``, s, are passed over: they were heard before, under another name of the file say.
    """

    place: int = 0
    lines: int = 0
    last: bytes = b""
    since: float = -math.inf


class FolderSensor:
    """Hears of the events in the files of a folder.

    Parameters
    ----------
    settings : FolderSettings
        Where they are.
    before : iterable of JobEvent
        What was heard before, of a journal: events of more than a week before the newest of it were read then, and are
        passed over; a journal knows those of the last week itself.
    """

    def __init__(self, settings: FolderSettings, before: Iterable[JobEvent] = ()) -> None:
        self._path, self._pattern, self._quiet = Path(settings.path), settings.pattern, settings.quiet
        self._read: dict[str, _Read] = {}
        self._newest = max((event.time for event in before), default=-math.inf)
        self._new_at: float | None = None
        self._wrong = 0
        self.costs: Mapping[str, Cost] = {}

    @property
    def notice(self) -> str | None:
        """What users should know of what is heard: that some of it is missing."""
        return f"{self._wrong} lines of its files are no events, and are passed over" if self._wrong else None

    def poll(self, now: float) -> list[JobEvent]:
        """Return the events of whole lines that were not read yet.

        Raises
        ------
        SensorError
            The folder or a file cannot be read, or nothing came for long; nothing is lost.
        """
        reached: dict[str, _Read] = {}
        heard: list[JobEvent] = []
        wrong: list[str] = []
        newest = self._new_at
        try:
            for path in sorted(self._path.glob(self._pattern)) if self._path.is_dir() else ():
                if path.name.startswith(".") or not path.is_file():
                    continue
                about = path.stat()
                newest = max(newest or about.st_mtime, about.st_mtime)
                known = self._read.get(path.name) or self._another()
                if about.st_size != known.place and len(heard) < AT_ONCE:
                    known = self._lines(path, known, heard, wrong)
                reached[path.name] = known
            if not self._path.is_dir():
                raise SensorError(f"{shown(str(self._path))}: there is no such folder; make it, or name another one")
        except OSError as error:
            if isinstance(error, SensorError):
                raise
            raise SensorError(f"{shown(str(self._path))}: cannot be read: {error.strerror}") from error
        self._read = {**self._read, **reached}  # a file that is away for a while is the same one afterwards
        self._new_at = newest
        self._pass_over(wrong)
        self._newest = max([self._newest, *(event.time for event in heard)])
        if not heard and (newest is None or now - newest > self._quiet):
            what = "has no file" if newest is None else f"has nothing new for {(now - newest) / 3600:.0f} h"
            raise SensorError(f"{shown(str(self._path))}: {what}; is what writes {self._pattern} there running?")
        return heard

    def machine(self) -> Machine:
        """Return what the machine is: files of events do not say it."""
        return NOT_SAID

    def _pass_over(self, wrong: list[str]) -> None:
        """Say which lines were passed over, and count them."""
        self._wrong += len(wrong)
        for each in wrong[:SAID]:
            _LOG.warning("%s; it is passed over: put it right in another file", each)
        if len(wrong) > SAID:
            _LOG.warning("%s: so are %d more lines", shown(str(self._path)), len(wrong) - SAID)

    def _lines(self, path: Path, known: _Read, heard: list[JobEvent], wrong: list[str]) -> _Read:
        """Read whole lines of a file; return how far it is read now.

        A file that was copied anew, as rsync does, is the one that it was if it has what was read last at its place.
        """
        with path.open("rb") as file:
            file.seek(known.place - len(known.last))
            place, lines, last, since = known if file.read(len(known.last)) == known.last else self._another()
            file.seek(place)
            for line in _whole_lines(file):
                place, lines, last = place + len(line), lines + 1, line
                try:
                    event = read_line(line)
                except ParameterError as error:
                    wrong.append(f"{shown(os.fspath(path))}, line {lines}: {shown(str(error))}")
                    continue
                if event.time >= since:
                    heard.append(event)
                if len(heard) >= AT_ONCE:
                    break
        return _Read(place, lines, last, since)

    def _another(self) -> _Read:
        """Return how far a file is read that was not there before: what is older than a journal knows is not new."""
        return _Read(since=self._newest - KEPT)


def _whole_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines up to the last one that ends."""
    for line in file:
        if not line.endswith(b"\n"):
            return
        yield line
