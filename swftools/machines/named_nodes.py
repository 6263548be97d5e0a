# SPDX-License-Identifier: BSD-3-Clause
"""The nodes that the texts of logs name, and what a job was given of each: the lists of Slurm, PBS and JSSPP's SWF."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from swftools.errors import ParameterError
from swftools.machines.hostlist import expand_hosts

_UNFIT = re.compile(r"[\[\],\s]+")
_VNODE = re.compile(r"\s*\(?\s*([^:()+]+)((?::[^:()+]*)*)\)?\s*")
_HOST = re.compile(r"([^/:+()]+)(?::[0-9]+)?/(?:[0-9]+\*([0-9]{1,6})|([0-9]{1,6})(?:-([0-9]{1,6}))?|.*)")


class Part(NamedTuple):
    """What a job was given of a node; None where the text does not say how much."""

    node: str
    cores: int | None = None
    gpus: int | None = None


def parts_of(text: str) -> list[Part]:
    """Return the nodes of ``n[01-04]``, of ``{1241,1241,1240}`` (an entry a processor), or of exec_host or exec_vnode.

    A text that is none of these names no node.

    Examples
    --------
    >>> [each.node for each in parts_of("n[01-02],m")]
    ['n01', 'n02', 'm']
    >>> parts_of("{7,7,9}")
    [Part(node='7', cores=2, gpus=None), Part(node='9', cores=1, gpus=None)]
    >>> parts_of("n1/0*4+n2/0-2+n2/5")
    [Part(node='n1', cores=4, gpus=None), Part(node='n2', cores=4, gpus=None)]
    >>> parts_of("(n1:ncpus=4:ngpus=1+n[1]:ncpus=2)")
    [Part(node='n1', cores=4, gpus=1), Part(node='n-1', cores=2, gpus=0)]
    """
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        counts = Counter(filter(None, (_UNFIT.sub("-", each.strip()) for each in text[1:-1].split(","))))
        return [Part(node, count) for node, count in counts.items()]
    if text.startswith("(") or "/" in text:
        return _of_pbs(text)
    try:
        return [Part(node) for node in dict.fromkeys(expand_hosts(text))] if text else []
    except ParameterError:
        return []


def _of_pbs(text: str) -> list[Part]:
    """Return the nodes of exec_vnode, whose chunks name resources, or of exec_host, whose items name slots."""
    cores: Counter[str] = Counter()
    gpus: Counter[str] = Counter()
    is_vnode = text.startswith("(")
    for item in text.split("+"):
        found = (_VNODE if is_vnode else _HOST).fullmatch(item.strip())
        if found is None:
            return []
        node = _UNFIT.sub("-", found[1]).strip("-")
        if is_vnode:
            for word in found[2].split(":"):
                key, _, value = word.partition("=")
                if value.isdecimal() and len(value) < 7:
                    cores[node] += int(value) * (key == "ncpus")
                    gpus[node] += int(value) * (key == "ngpus")
        elif found[2]:
            cores[node] += int(found[2])
        else:
            first = int(found[3] or 0)
            cores[node] += max(int(found[4] or first) - first + 1, 1)
    return [Part(node, count, gpus[node] if is_vnode else None) for node, count in cores.items() if node and count]
