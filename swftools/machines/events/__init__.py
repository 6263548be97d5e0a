# SPDX-License-Identifier: BSD-3-Clause
"""Files that tell when nodes were away: a format a file, recognised by the text."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, NamedTuple

import swftools.machines.events.pbsnodes
import swftools.machines.events.pbsnodes_json
import swftools.machines.events.sacctmgr
import swftools.machines.events.sinfo
import swftools.machines.events.table  # noqa: F401 (imported for what they register)
from swftools.machines.events.outages import known_nodes, outages_of
from swftools.machines.events.registry import FORMATS, EventFormat
from swftools.machines.formats.recognise import recognised, text_of


class FoundOutages(NamedTuple):
    """Outages as a description has them, and sentences on what was left out or changed."""

    outages: list[dict[str, Any]]
    notes: list[str]


def read_outages(
    path: str | os.PathLike[str],
    nodes: Collection[str],
    format: str | None = None,  # noqa: A002 (what a user would call it)
    **options: Any,
) -> FoundOutages:
    """Return when nodes were away, by a file.

    Parameters
    ----------
    path : path
        The file, which may be compressed.
    nodes : collection of str
        Names of the nodes of the machine.
    format : str, optional
        Name of a format, with options if need be, as in ``sacctmgr:time_zone=Europe/Berlin``; by default it is
        recognised from the text.
    **options
        Options of the format.

    Raises
    ------
    ParameterError
        The file cannot be read, is in no known format, a line is not as its format has it, or a node is unknown.
    """
    name = os.fsdecode(path)
    text = text_of(name, "a file that tells when nodes were away")
    kind, given = _format_of(text, name) if format is None else FORMATS.read(format)
    chosen: EventFormat = kind.from_mapping({**given, **options})
    events, notes = chosen.read(text, name)
    kept, left_out = known_nodes(events, nodes, name, skip=chosen.unknown == "skip")
    outages, merged = outages_of(kept)
    return FoundOutages(outages, [*notes, *left_out, *merged])


def _format_of(text: str, name: str) -> tuple[type[EventFormat], dict[str, Any]]:
    """Return the format that a text is in."""
    fits = {each: (form.TITLE, form.recognise(text)) for each, form in FORMATS.list().items()}
    return FORMATS.find(recognised(fits, name, "outages")), {}
