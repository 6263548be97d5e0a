# SPDX-License-Identifier: BSD-3-Clause
"""Samples of what ``sinfo`` prints of Slurm's nodes, with a time before each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.events.registry import EventFormat, Events, event_format
from swftools.machines.events.samples import Sample, State, blocks, events_of, stamp_of
from swftools.machines.events.times import read_stretches
from swftools.machines.formats.slurm_words import is_known_state, outage_kind
from swftools.machines.hostlist import expand_hosts

_ROW = re.compile(r"\s*([^\s|]+)\s*(?:\||\s)\s*([A-Za-z_+]+[*~#!%$@^+-]*)\s*(?:(?:\||\s)\s*(.*?))?\s*\|?")
_NO_REASON = ("none", "n/a", "")


@event_format
@dataclass(frozen=True)
class SinfoSamples(EventFormat):
    """Nodes, their states and why, again and again."""

    NAME = "sinfo"
    TITLE = 'samples of sinfo -h -o "%N|%T|%E", a time before each'

    @classmethod
    def recognise(cls, text: str) -> Fit:
        """Say whether a time is followed by nodes and their states."""
        lines = [line for line in text.splitlines()[:50] if line.strip()]
        stamps = [place for place, line in enumerate(lines) if stamp_of(line) is not None]
        if not stamps or stamps[0]:
            return Fit(fits=False, why="the first line is no time")
        rows = [line for line in lines[1:] if stamp_of(line) is None]
        is_there = bool(rows) and all(_ROW.fullmatch(line) and line.count("=") < 2 for line in rows[:1])
        return Fit(is_there, f"{'' if is_there else 'no '}nodes and states behind a time")

    def read(self, text: str, name: str) -> Events:
        """Return when nodes were away; one of several partitions may be named several times."""
        lines = _Lines()
        samples: list[Sample] = []
        stamps: list[str] = []
        last: list[str] | None = None
        for line, stamp, rows in blocks(text, name):
            if rows == last:  # mostly nothing has changed
                samples.append(samples[-1]._replace(line=line))
            else:
                samples.append(Sample(line, lines.states(rows, name, line)))
            last = rows
            stamps.append(stamp)
        at = [sample.line for sample in samples]
        times, _ = read_stretches(stamps, [None] * len(stamps), at, name, self.time_zone, self.NAME)
        found, notes = events_of(samples, times, name)
        if lines.odd:
            notes.append(f"taken for there: nodes of states that are not known ({', '.join(lines.odd)[:60]})")
        return Events(found, notes)


class _Lines:
    """Lines of samples, of which most come again and again; ``odd`` has the states that nobody knows."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[list[str], State]] = {}
        self.odd: dict[str, None] = {}

    def states(self, rows: Sequence[str], name: str, line: int) -> dict[str, State]:
        """Return the state of each node of a sample."""
        found: dict[str, State] = {}
        for number, row in enumerate(rows, line + 1):
            if row not in self._seen:
                self._seen[row] = self._row(row, f"{name}, line {number}")
            nodes, state = self._seen[row]
            for node in nodes:
                if not found.get(node, State("")).kind:
                    found[node] = state
        return found

    def _row(self, row: str, where: str) -> tuple[list[str], State]:
        """Return the nodes of a line, and their state; none of an empty line."""
        if not row.strip():
            return [], State("")
        found = _ROW.fullmatch(row)
        if found is None:
            raise ParameterError(f'{where}: {row[:60]!r} is not what sinfo -h -o "%N|%T|%E" prints of nodes')
        try:
            nodes = expand_hosts(found[1])
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}") from error
        if not is_known_state(found[2]):
            self.odd[found[2]] = None
        reason = found[3] or ""
        return nodes, State(outage_kind(found[2]), "" if reason.lower() in _NO_REASON else reason)
