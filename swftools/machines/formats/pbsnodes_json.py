# SPDX-License-Identifier: BSD-3-Clause
"""What ``pbsnodes -a -F json`` prints, of PBS Professional and OpenPBS."""

from __future__ import annotations

import re
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.pbs_words import PbsMachine
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.sizes import Document

_OF_PBS = re.compile(r'"(?:pbs_version|pbs_server|resources_available)"\s*:')


def _recognise(text: str) -> Fit:
    is_there = text.lstrip()[:1] == "{" and _OF_PBS.search(text) is not None
    return Fit(is_there, "it is JSON of PBS" if is_there else "no JSON with pbs_version or resources_available")


@machine_format("pbsnodes-json", "what pbsnodes -a -F json prints", _recognise)
def read_pbsnodes_json(text: str, name: str) -> Found:
    """Return the machine of what pbsnodes printed as JSON.

    Raises
    ------
    ParameterError
        It is not JSON, a node lacks its processors, or no node is there.
    """
    document = Document(text, name)
    top = document.mapping(document.content, ())
    machine = PbsMachine(str(top.get("pbs_server") or "") or None)
    for node, entry in document.mapping(top.get("nodes"), ("nodes",) if "nodes" in top else ()).items():
        path = ("nodes", node)
        words = _words(document.mapping(entry, path))
        try:
            machine.add(node, words, "")
        except ParameterError as error:
            raise document.wrong(path, str(error).removeprefix(": ")) from None
    return Found(machine.content(name))


def _words(entry: dict[str, Any]) -> dict[str, str]:
    """Return what is said of a node, in the words of the text."""
    words: dict[str, str] = {}
    for key, value in entry.items():
        if isinstance(value, dict):
            words |= {f"{key}.{inner}": str(each) for inner, each in value.items()}
        else:
            words[key] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return words
