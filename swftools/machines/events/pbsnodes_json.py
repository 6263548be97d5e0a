# SPDX-License-Identifier: BSD-3-Clause
"""What ``pbsnodes -a -F json`` prints of PBS, again and again: one document after another, each with its time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.events.pbsnodes import state_of
from swftools.machines.events.registry import EventFormat, Events, event_format
from swftools.machines.events.samples import Sample, State, events_of, stamp_of
from swftools.machines.formats.pbs_words import node_name

_OF_PBS = re.compile(r'"(?:pbs_version|pbs_server)"\s*:')
_BETWEEN = re.compile(r"\s*")


@event_format
@dataclass(frozen=True)
class PbsnodesDocuments(EventFormat):
    """Documents of PBS's nodes, each with a time (``timestamp``)."""

    NAME = "pbsnodes-json"
    TITLE = "what pbsnodes -a -F json prints, one output after another"

    @classmethod
    def recognise(cls, text: str) -> Fit:
        """Say whether a text is JSON of PBS, perhaps behind a line that is a time."""
        first, _, rest = text.lstrip().partition("\n")
        begin = rest if stamp_of(first) is not None else text
        is_there = begin.lstrip()[:1] == "{" and _OF_PBS.search(text) is not None
        return Fit(is_there, "it is JSON of PBS" if is_there else "no JSON with pbs_version or pbs_server")

    def read(self, text: str, name: str) -> Events:
        """Return when nodes were away, by the times within the documents."""
        samples: list[Sample] = []
        times: list[float] = []
        for line, document in _documents(text, name):
            time = document.get("timestamp")
            if isinstance(time, bool) or not isinstance(time, int | float) or not 0 < time < 1e11:
                raise ParameterError(f"{name}, line {line}: the document has no timestamp, in seconds since 1970")
            nodes = document.get("nodes")
            if not isinstance(nodes, dict):
                raise ParameterError(f"{name}, line {line}: the document has no nodes; print them by pbsnodes -a")
            samples.append(Sample(line, {node_name(node): _state(words) for node, words in nodes.items()}))
            times.append(float(time))
        return Events(*events_of(samples, times, name))


def _documents(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each document and its line; lines that are times may stand between them."""
    decoder = json.JSONDecoder()
    place, line, counted_to = 0, 1, 0
    while True:
        found = _BETWEEN.match(text, place)
        place = found.end() if found else place
        line, counted_to = line + text.count("\n", counted_to, place), place
        if place == len(text):
            return
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        if stamp_of(text[place:end]) is not None:
            place = end
            continue
        try:
            document, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            wrong = getattr(error, "lineno", line)
            told = getattr(error, "msg", None) or str(error)
            raise ParameterError(f"{name}, line {wrong}: not readable as JSON: {told}; is the file whole?") from error
        if not isinstance(document, dict):
            raise ParameterError(f"{name}, line {line}: should be a mapping, {{...}}, as pbsnodes -a -F json prints it")
        yield line, document


def _state(words: Any) -> State:
    """Return the state of a node; one of which nothing is said is there."""
    told = words if isinstance(words, dict) else {}
    return state_of({"state": ""} | {key: str(told[key]) for key in ("state", "comment", "note") if key in told})
