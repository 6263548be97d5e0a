# SPDX-License-Identifier: BSD-3-Clause
"""How much of a machine was away: its outages as rows, and by kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription
    from swftools.machines.parts import Moment, Outage

KINDS = ("down", "drain", "reservation")
_HOUR = 3600.0


class OutageRow(NamedTuple):
    """An outage.

    Parameters
    ----------
    nodes : str
        As the description names them.
    node_count : int
        How many these are.
    kind : str
        ``down``, ``drain`` or ``reservation``.
    begin, end : str or None
        As the description has them: a date, or seconds; None where it does not say.
    seconds : float or None
        How long it takes; None where it does not say.
    reason : str or None
    """

    nodes: str
    node_count: int
    kind: str
    begin: str | None
    end: str | None
    seconds: float | None
    reason: str | None

    @property
    def node_hours(self) -> float | None:
        """Hours times nodes; None where it does not say how long it takes."""
        return None if self.seconds is None else self.node_count * self.seconds / _HOUR


class OutagesOfKind(NamedTuple):
    """The outages of a kind: of how many different nodes, node-hours of those whose end is told, how many others."""

    kind: str
    outages: int
    nodes: int
    node_hours: float
    without_end: int


def outage_rows(machine: MachineDescription) -> list[OutageRow]:
    """Return the outages of a machine in their order."""
    return [
        OutageRow(
            ",".join(outage.nodes),
            len(nodes),
            outage.kind,
            _told(outage.begin),
            _told(outage.end),
            _length(outage),
            outage.reason,
        )
        for outage, nodes in zip(machine.outages, machine.numbered().outages, strict=True)
    ]


def outages_by_kind(machine: MachineDescription) -> list[OutagesOfKind]:
    """Return what outages there are of each kind that has some."""
    nodes: dict[str, set[int]] = {}
    for outage, numbers in zip(machine.outages, machine.numbered().outages, strict=True):
        nodes.setdefault(outage.kind, set()).update(numbers)
    rows = outage_rows(machine)
    found = []
    for kind in KINDS:
        of_kind = [row for row in rows if row.kind == kind]
        hours = [row.node_hours for row in of_kind]
        if of_kind:
            lasts = sum(each for each in hours if each is not None)
            found.append(OutagesOfKind(kind, len(of_kind), len(nodes[kind]), lasts, hours.count(None)))
    return found


def largest(rows: Iterable[OutageRow], most: int) -> list[OutageRow]:
    """Return the outages of most node-hours, the largest first; those without an end have none."""
    told: Sequence[OutageRow] = [row for row in rows if row.seconds is not None]
    return sorted(told, key=lambda row: -(row.node_hours or 0.0))[:most]


def _length(outage: Outage) -> float | None:
    """Return the seconds from begin to end; None where one is not told, or they are told in different ways."""
    begin, end = _moment(outage.begin), _moment(outage.end)
    return end[0] - begin[0] if begin and end and begin[1] == end[1] else None


def _moment(value: Moment) -> tuple[float, str] | None:
    """Return a time as a number, and what it counts from."""
    if not isinstance(value, str):
        return None if value is None else (float(value), "the log")
    date = datetime.fromisoformat(value)
    return (date.replace(tzinfo=UTC).timestamp(), "local") if date.tzinfo is None else (date.timestamp(), "UTC")


def _told(value: Moment) -> str | None:
    return value if value is None or isinstance(value, str) else f"{value:,.0f} s"
