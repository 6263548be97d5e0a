# SPDX-License-Identifier: BSD-3-Clause
"""Outages from samples: what states nodes were in, looked at again and again.

A node is away from the first sample in which it is seen away to the first in which it is back. What a sample does not
name stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from swftools.errors import ParameterError
from swftools.machines.events.registry import Event, known_of
from swftools.output.amounts import counted

_STAMP = re.compile(
    r"[#@ \t]*((?:[0-9]{9,11}(?:\.[0-9]+)?)|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}[^|=]{0,40})\s*", re.ASCII
)


class State(NamedTuple):
    """How a node is away.

    Parameters
    ----------
    kind : str
        ``down``, ``drain`` or ``reservation``; empty where it is there.
    reason : str
        Why; empty if nobody says.
    """

    kind: str
    reason: str = ""


class Sample(NamedTuple):
    """What was seen at a time: the state of each node that is named."""

    line: int
    states: Mapping[str, State]


def stamp_of(line: str) -> str | None:
    """Return the time that a line is, alone or behind a mark; None if it is something else.

    Examples
    --------
    >>> stamp_of("2026-01-31T08:00:00Z"), stamp_of("# 1769846400"), stamp_of("n01|idle|none")
    ('2026-01-31T08:00:00Z', '1769846400', None)
    """
    found = _STAMP.fullmatch(line)
    return found[1].strip() if found else None


def blocks(text: str, name: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each sample of a text: the line of its time, the time as it is written, and its lines without empty ends.

    Raises
    ------
    ParameterError
        Something stands before the first time.
    """
    begun: tuple[int, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        stamp = stamp_of(line) if line[:1] in "#@ 0123456789" else None
        if stamp is not None:
            if begun:
                yield *begun, lines
            begun, lines = (number, stamp), []
        elif begun:
            lines.append(line)
        elif line.strip():
            raise ParameterError(
                f"{name}, line {number}: stands before the first time; write a line such as 2026-01-31T08:00:00Z "
                "before each sample"
            )
    if begun:
        yield *begun, lines


def events_of(samples: Sequence[Sample], times: Sequence[float], name: str) -> tuple[list[Event], list[str]]:
    """Return when nodes were away, and sentences on what is not as it should be.

    Parameters
    ----------
    samples : sequence of Sample
        In the order of their times.
    times : sequence of float
        Of each, s since 1970.
    name : str
        Of the file, for messages.

    Raises
    ------
    ParameterError
        A sample is older than that before it.
    """
    found: list[Event] = []
    away: dict[str, Event] = {}
    before = -float("inf")
    empty = 0
    for sample, time in zip(samples, times, strict=True):
        if time < before:
            raise ParameterError(f"{name}, line {sample.line}: is older than the sample before it; sort the samples")
        before = time
        empty += not sample.states
        for node, state in sample.states.items():
            last = away.get(node)
            if last is not None and last.kind != state.kind:
                found.append(away.pop(node)._replace(end=time))
            if state.kind and node not in away:
                known = known_of(state.kind)
                away[node] = Event(node, time, None, state.kind, state.reason, sample.line, known=known)
    notes = [f"{counted(empty, 'sample')} without any node: taken for no news"] if empty else []
    return [*found, *away.values()], notes
