# SPDX-License-Identifier: BSD-3-Clause
"""What ``sacctmgr -P show event`` prints: when Slurm's nodes were down, drained or failing.

What the columns mean follows sacctmgr(1). Times are local to where the command ran. A node that is drained while a job
runs has its event from the end of that job on. State says DRAIN of a node that is drained and down; StateRaw has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.events.registry import DOWN, Event, EventFormat, Events, event_format, known_of
from swftools.machines.events.times import read_stretches
from swftools.machines.formats.slurm_words import outage_kind
from swftools.machines.hostlist import expand_hosts
from swftools.output.amounts import counted
from swftools.parameters.declared import text as words

_USUAL = ("cluster", "nodename", "timestart", "timeend", "state", "reason", "user")
"""The columns if none are named."""
_CALLED = {"start": "timestart", "end": "timeend", "nodes": "nodename"}
_NEEDED = ("nodename", "timestart", "timeend", "state")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{5,8}[^|]*"
_ROW = re.compile(rf"[^|\n]*\|[^|\n]*\|{_DATE}\|(?:Unknown|{_DATE})\|[^|\n]*\|")
_ALIGNED = re.compile(r"^ *Cluster +NodeName +TimeStart ", re.MULTILINE)
_NEVER = ("unknown", "")
_BASE, _RAW_DOWN = 15, 1
"""The bits of StateRaw that say what a node is, beside which flags such as drained stand; and that it is down."""


@event_format
@dataclass(frozen=True)
class SacctmgrEvents(EventFormat):
    """Events of nodes of Slurm's accounting.

    Parameters
    ----------
    cluster : str, optional
        Whose events are read, where there are several.
    """

    NAME = "sacctmgr"
    TITLE = "what sacctmgr -P show event prints"

    cluster: str | None = words(None, words="the name of a cluster")

    @classmethod
    def recognise(cls, text: str) -> Fit:
        """Say whether a text has the columns of events, or rows of the usual ones."""
        first = text.lstrip("\n").partition("\n")[0]
        columns = _columns(first)
        if columns is not None and {"nodename", "timestart"} <= {*columns}:
            return Fit(fits=True, why="the first line names NodeName and TimeStart")
        if _ROW.match(first):
            return Fit(fits=True, why="the first line is Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User")
        if _ALIGNED.search(text):
            return Fit(fits=False, why="it is printed in columns that cut words off; print it by sacctmgr -P")
        return Fit(fits=False, why="the first line has no NodeName|TimeStart|TimeEnd|State")

    def read(self, text: str, name: str) -> Events:
        """Return the events of nodes; those of whole clusters are left out."""
        rows = [*_rows(text, name)]
        clusters = list(dict.fromkeys(row["cluster"] for _, row in rows if row.get("cluster")))
        if self.cluster is not None:
            if self.cluster not in clusters:
                raise ParameterError(f"{name}: has no event of cluster {self.cluster!r}; it has: {', '.join(clusters)}")
            rows = [(line, row) for line, row in rows if row.get("cluster") == self.cluster]
        elif len(clusters) > 1:
            raise ParameterError(
                f"{name}: has events of clusters {', '.join(clusters)}; say whose nodes are meant, as in "
                f"{self.NAME}:cluster={clusters[0]}"
            )
        of_nodes = [(line, row) for line, row in rows if row["nodename"]]
        notes = []
        if len(of_nodes) < len(rows):
            notes.append(f"left out: {counted(len(rows) - len(of_nodes), 'event')} of a whole cluster")
        kinds = [_kind(row) for _, row in of_nodes]
        there = sorted({row["state"] for kind, (_, row) in zip(kinds, of_nodes, strict=True) if not kind})
        if there:
            notes.append(f"left out: events of nodes that are there ({', '.join(there)[:60]})")
        lines = [line for line, _ in of_nodes]
        begins, ends = read_stretches(
            [row["timestart"] for _, row in of_nodes],
            [None if row["timeend"].lower() in _NEVER else row["timeend"] for _, row in of_nodes],
            lines,
            name,
            self.time_zone,
            self.NAME,
        )
        found = [
            Event(node, begin, end, kind, row.get("reason", ""), line, known=known_of(kind))
            for begin, end, kind, (line, row) in zip(begins, ends, kinds, of_nodes, strict=True)
            if kind
            for node in _nodes(row["nodename"], f"{name}, line {line}")
        ]
        return Events(found, notes)


def _kind(row: Mapping[str, str]) -> str:
    """Return the kind of outage of an event; nothing if the node is there."""
    raw = row.get("stateraw", "")
    is_down = raw.isascii() and raw.isdecimal() and int(raw[:18]) & _BASE == _RAW_DOWN
    return DOWN if is_down else outage_kind(row["state"])


def _columns(line: str) -> list[str] | None:
    """Return the names of columns in small letters; None where a line is no such names."""
    names = [each.strip().lower() for each in line.split("|")]
    names = [_CALLED.get(each, each) for each in names]
    return names if "timestart" in names or "nodename" in names else None


def _rows(text: str, name: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows: the line of each, and its values by column. A reason may have bars in it."""
    columns: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        named = _columns(line)
        if named is not None:  # also between outputs that were put together
            columns = named
            for need in _NEEDED:
                if need not in columns:
                    raise ParameterError(f"{name}, line {number}: has no column {need}; print all that show event has")
            continue
        cells = line.split("|")
        expected = columns or [*_USUAL, *([""] if line.endswith("|") and len(cells) > len(_USUAL) else [])]
        more = len(cells) - len(expected)
        if more < 0 or (more and "reason" not in expected):
            raise ParameterError(
                f"{name}, line {number}: {line[:60]!r} has not the {len(expected)} columns of an event"
            )
        if more:
            place = expected.index("reason")
            cells[place : place + more + 1] = ["|".join(cells[place : place + more + 1])]
        yield number, dict(zip(expected, map(str.strip, cells), strict=True))


def _nodes(hosts: str, where: str) -> list[str]:
    try:
        return expand_hosts(hosts)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from error
