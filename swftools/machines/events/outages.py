# SPDX-License-Identifier: BSD-3-Clause
"""Outages of a description from what files tell of single nodes: alike ones together, overlapping ones merged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.events.registry import Event
from swftools.machines.hostlist import fold_hosts, in_order
from swftools.output.amounts import counted
from swftools.parameters.spelling import did_you_mean

_NAMED = 5

_Key = tuple[bool, float, float, str, str, tuple[str, ...], str]
"""What nodes have in common that make one outage: no dates, begin, end or infinity, kind, reason, users, known."""


def known_nodes(
    events: Sequence[Event], nodes: Collection[str], name: str, *, skip: bool
) -> tuple[list[Event], list[str]]:
    """Return the events of nodes that a machine has, and sentences on the others.

    Parameters
    ----------
    events : sequence of Event
        Of any nodes.
    nodes : collection of str
        That the machine has.
    name : str
        Of the file, for messages.
    skip : bool
        Leave out the events of others; else they are refused.

    Raises
    ------
    ParameterError
        A node is unknown, and not to be left out.
    """
    known = {*nodes}
    kept = [event for event in events if event.node in known]
    if len(kept) == len(events):
        return kept, []
    others = [event for event in events if event.node not in known]
    names = list(dict.fromkeys(event.node for event in others))
    if not skip:
        more = f" ({counted(len(names) - 1, 'other')} neither)" if len(names) > 1 else ""
        near = did_you_mean(names[:1], nodes)
        raise ParameterError(
            f"{name}, line {others[0].line}: the machine has no node {names[0]!r}{more}{near}; describe it, or leave "
            "such outages out by unknown=skip"
        )
    return kept, [f"left out: {counted(len(others), 'outage')} of nodes that are not there: {_listed(names)}"]


def outages_of(events: Iterable[Event]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return outages as a description has them, in the order of their begins, and sentences on what was changed.

    Those of one node and kind that overlap become one, from the first begin to the last end, with the reason of the
    first; so do those that follow each other at once for one reason. Such as begin and end at the same instant are left
    out. Nodes that go and come back together, for one reason, make one outage.

    Parameters
    ----------
    events : iterable of Event
        In any order.
    """
    kept, empty = [], 0
    for event in events:
        is_empty = event.end is not None and event.end <= event.begin
        empty += is_empty
        if not is_empty:
            kept.append(event)
    notes = [f"left out: {counted(empty, 'outage')} of no length"] if empty else []
    kept.sort(key=lambda event: (*_series(event), event.begin, event.line))
    merged: list[Event] = []
    overlaps: list[str] = []
    for _, group in groupby(kept, key=_series):
        last: Event | None = None
        for event in group:
            if last is None or not _belongs(event, last):
                if last is not None:
                    merged.append(last)
                last = event
                continue
            if last.end is None or event.begin < last.end:
                overlaps.append(f"{event.node} (lines {last.line} and {event.line})")
            end = None if last.end is None or event.end is None else max(last.end, event.end)
            last = last._replace(end=end)
        if last is not None:
            merged.append(last)
    if overlaps:
        notes.append(f"merged: {counted(len(overlaps), 'outage')} of a node that is away already: {_listed(overlaps)}")
    together: defaultdict[_Key, list[str]] = defaultdict(list)
    for event in merged:
        end = float("inf") if event.end is None else event.end
        known = repr(event.known)
        together[not event.is_dated, event.begin, end, event.kind, event.reason, event.users, known].append(event.node)
    knowledge = {repr(event.known): event.known for event in merged}
    return [_outage(key, nodes) | _known(knowledge[key[-1]]) for key, nodes in sorted(together.items())], notes


def _series(event: Event) -> tuple[Any, ...]:
    """Return what outages have in common that may become one."""
    return event.node, event.kind, event.users, event.is_dated, repr(event.known)


def _belongs(event: Event, last: Event) -> bool:
    """Return whether an outage goes on with the last one of its node."""
    if last.end is None or event.begin < last.end:
        return True
    return event.begin == last.end and event.reason == last.reason


def _outage(key: _Key, nodes: list[str]) -> dict[str, Any]:
    """Return an outage of nodes as a description has it."""
    is_undated, begin, end, kind, reason, users, _ = key
    found: dict[str, Any] = {"nodes": fold_hosts(sorted(nodes, key=in_order)), "kind": kind}
    found["begin"] = begin if is_undated else date_of(begin)
    if end != float("inf"):
        found["end"] = end if is_undated else date_of(end)
    return found | ({"reason": reason} if reason else {}) | ({"users": list(users)} if users else {})


def _known(known: bool | float | None) -> dict[str, Any]:
    """Return what a description has of what is known before."""
    return {} if known is None else {"known": known}


def date_of(seconds: float) -> str:
    """Return a moment as a description writes it.

    Examples
    --------
    >>> date_of(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {counted(more, 'other')}" if more > 0 else "")
