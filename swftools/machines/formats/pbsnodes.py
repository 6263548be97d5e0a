# SPDX-License-Identifier: BSD-3-Clause
"""What ``pbsnodes -av`` prints, of PBS Professional and OpenPBS, and ``pbsnodes -a`` of Torque."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.pbs_words import PbsMachine
from swftools.machines.formats.registry import Found, machine_format

_IS_PRINTED = re.compile(
    r"^[^\s=<>{}]+[ \t]*\n(?:[ \t]+[^\s=]+ =[^\n]*\n){0,60}?[ \t]+(?:resources_available\.ncpus|np|ntype|Mom) = ",
    re.MULTILINE,
)


def _recognise(text: str) -> Fit:
    is_there = _IS_PRINTED.search(text) is not None
    return Fit(is_there, "names with indented ntype = or np =" if is_there else "no name with indented ntype = or np =")


@machine_format("pbsnodes", "what pbsnodes -av prints (PBS), or pbsnodes -a (Torque)", _recognise)
def read_pbsnodes(text: str, name: str) -> Found:
    """Return the machine of what pbsnodes printed.

    Raises
    ------
    ParameterError
        A node lacks its processors, a line is no ``key = value``, or no node is there.
    """
    machine = PbsMachine()
    for line, node, words in _records(text, name):
        machine.add(node, words, f"{name}, line {line}")
    return Found(machine.content(name))


def _records(text: str, name: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield the nodes: the line of each, its name, and its words."""
    begun: tuple[int, str] | None = None
    words: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if not line[0].isspace():
            if begun:
                yield *begun, words
            begun, words = (number, line.strip()), {}
            continue
        key, sign, value = line.strip().partition(" =")
        if not sign or begun is None:
            raise ParameterError(f"{name}, line {number}: {line.strip()[:60]!r} is no key = value of a node")
        words[key.strip()] = value.strip()
    if begun:
        yield *begun, words
