# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask for in the words of their log, where a text says it: field 21 of the SWF of CERIT-SC and of Frontier.

CERIT-SC: ``2:ppn=8:x86_64:cl_zegox#excl``, nodes with processors and properties, as Torque takes them. Frontier:
``frontier:excl:2500x112``, machine, sharing, nodes and cores of each.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_FRONTIER = re.compile(r"([^:\s]+):([^:\s]+):([0-9]{1,9})x([0-9]{1,9})")
_HEAD = re.compile(r"[0-9]{1,9}")
_AMOUNT = re.compile(r"(ppn|ncpus|gpus|ngpus)=([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_ALONE = ("excl", "exclhost")


class Request(NamedTuple):
    """What a text asks for.

    Parameters
    ----------
    nodes : float
        How many.
    cores, gpus : float
        Of each node; cores need not be whole.
    is_exclusive : bool
        Whether the job has its nodes alone.
    words : tuple of str
        What the nodes must have by name; one that begins with ``^`` is what they must not have.
    is_mixed : bool
        Whether it asks for nodes of several kinds: then the largest amount of each is told.
    counts_memory_of_node : bool
        Whether field 10 of its line is the memory of a node.
    """

    nodes: float
    cores: float
    gpus: float
    is_exclusive: bool
    words: tuple[str, ...] = ()
    is_mixed: bool = False
    counts_memory_of_node: bool = False


def read_request(text: str) -> Request | None:
    """Return what a text asks for; None if it is none of these.

    Examples
    --------
    >>> read_request("frontier:excl:2500x112")[:4]
    (2500.0, 112.0, 0.0, True)
    >>> read_request("2:ppn=8:x86_64:cl_zegox#excl").words
    ('x86_64', 'cl_zegox')
    """
    if found := _FRONTIER.fullmatch(text):
        return Request(float(found[3]), float(found[4]), 0.0, found[2].lower().startswith("excl"))
    asked, *marks = text.split("#")
    is_exclusive = any(mark in _ALONE for mark in marks)
    parts = [_part(part) for part in asked.split("+")]
    sound = [part for part in parts if part is not None]
    if len(sound) < len(parts):
        return None
    words = dict.fromkeys(word for part in sound for word in part.words)
    return Request(
        nodes=sum(part.nodes for part in sound),
        cores=max(part.cores for part in sound),
        gpus=max(part.gpus for part in sound),
        is_exclusive=is_exclusive,
        # Of nodes of several kinds no name holds for all.
        words=tuple(words) if len({part.words for part in sound}) == 1 else (),
        is_mixed=len({part[1:] for part in sound}) > 1,
        counts_memory_of_node=True,
    )


def _part(text: str) -> Request | None:
    """Return what a part between plus signs asks for."""
    head, *rest = text.split(":")
    if not _HEAD.fullmatch(head):
        return None
    amounts = {"cores": 1.0, "gpus": 0.0}
    words = []
    for word in rest:
        if found := _AMOUNT.fullmatch(word):
            amounts["gpus" if found[1].endswith("gpus") else "cores"] = float(found[2])
        elif word and "=" not in word:
            words.append(word)
    return Request(float(head), amounts["cores"], amounts["gpus"], is_exclusive=False, words=tuple(words))
