# SPDX-License-Identifier: BSD-3-Clause
"""Samples of what ``pbsnodes -av`` (PBS) or ``pbsnodes -a`` (Torque) prints, with a time before each.

Nodes and states are told apart by their indents, as pbsnodes(8B) has them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.events.registry import EventFormat, Events, event_format
from swftools.machines.events.samples import Sample, State, blocks, events_of, stamp_of
from swftools.machines.events.times import read_stretches
from swftools.machines.formats.pbs_words import node_name, outage_kind

_KEY = re.compile(r"\s+(state|comment|note) = (.*?)\s*")
_IS_PRINTED = re.compile(r"^[^\s=<>{}|]+[ \t]*\n(?:[ \t]+[^\n]*\n){0,60}?[ \t]+state = ", re.MULTILINE)


@event_format
@dataclass(frozen=True)
class PbsnodesSamples(EventFormat):
    """Nodes of PBS or Torque with all their attributes, again and again."""

    NAME = "pbsnodes"
    TITLE = "samples of pbsnodes -av (PBS) or pbsnodes -a (Torque), a time before each"

    @classmethod
    def recognise(cls, text: str) -> Fit:
        """Say whether a time is followed by names with an indented state."""
        if stamp_of(text.lstrip("\n").partition("\n")[0]) is None:
            return Fit(fits=False, why="the first line is no time")
        is_there = _IS_PRINTED.search(text) is not None
        return Fit(is_there, f"{'' if is_there else 'no '}names with indented state = behind a time")

    def read(self, text: str, name: str) -> Events:
        """Return when nodes were away."""
        samples = []
        stamps = []
        for line, stamp, rows in blocks(text, name):
            samples.append(Sample(line, _states(rows, name, line)))
            stamps.append(stamp)
        lines = [sample.line for sample in samples]
        times, _ = read_stretches(stamps, [None] * len(stamps), lines, name, self.time_zone, self.NAME)
        return Events(*events_of(samples, times, name))


def _states(rows: Sequence[str], name: str, line: int) -> dict[str, State]:
    """Return the state of each node of a sample."""
    words: dict[str, dict[str, str]] = {}
    node: str | None = None
    for number, row in enumerate(rows, line + 1):
        if not row.strip():
            continue
        if not row[0].isspace():
            node = node_name(row.strip())
            words[node] = {}
        elif node is None:
            raise ParameterError(
                f"{name}, line {number}: {row.strip()[:60]!r} is indented, and no node stands above it"
            )
        elif found := _KEY.fullmatch(row):
            words[node].setdefault(found[1], found[2])
    return {node: state_of(each) for node, each in words.items() if "state" in each}


def state_of(words: dict[str, str]) -> State:
    """Return the state of a node by what PBS says of it."""
    kind = outage_kind(words["state"])
    return State(kind, (words.get("comment") or words.get("note") or "") if kind else "")
