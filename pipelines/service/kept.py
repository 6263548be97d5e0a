# SPDX-License-Identifier: BSD-3-Clause
"""Where what is heard is kept: in the journal, and in files for the inbox of a history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock

from swftools.live import JobEvent, JobFiles, Journal, ToldWait
from swftools.live.events import in_order


class Kept:
    """What was heard of a cluster, kept.

    Parameters
    ----------
    journal : Journal
        Has every event, and knows those that are delivered again.
    files : JobFiles, optional
        Made of the journal's events.
    """

    def __init__(self, journal: Journal, files: JobFiles | None = None) -> None:
        self.journal, self._files = journal, files
        self._unkept: list[JobEvent] = []
        self._writing = Lock()

    def keep(self, heard: Iterable[JobEvent]) -> list[JobEvent]:
        """Keep what was heard; return what is new, in order.

        Raises
        ------
        StorageError
            The journal cannot be written: nothing is lost, and the next call keeps it too.
        """
        self._unkept += heard
        new = self.journal.append(in_order(self._unkept))
        self._unkept.clear()
        return new

    def note(self, new: Iterable[JobEvent], told: Mapping[str, ToldWait] | None = None) -> None:
        """Know what was new, and what jobs were told, for the next file."""
        if self._files is not None:
            self._files.take(new, told)

    def write(self, now: float, *, at_once: bool = False) -> Path | None:
        """Write a file for the inbox, if it is time; return it.

        Raises
        ------
        StorageError
            It cannot be written: the next call tries again.
        """
        with self._writing:  # at the end one may be on its way yet
            return None if self._files is None else self._files.write(now, at_once=at_once)
