# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of nodes from single nodes, as files of other programs list them: those that are alike, by a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from swftools.machines.amounts import shown_memory
from swftools.machines.hostlist import fold_hosts, in_order


class Node(NamedTuple):
    """What tells nodes apart: all that may differ between kinds."""

    cores: int
    memory: int | None
    threads_per_core: int = 1
    gpus: tuple[tuple[str, int], ...] = ()
    features: tuple[str, ...] = ()
    weight: int = 1
    speed: float = 1.0


def kinds_of(nodes: Iterable[tuple[str, Node]]) -> list[dict[str, Any]]:
    """Return the kinds of some nodes, as a description has them.

    Nodes are put in the order of their names, so that one machine has the same kinds whichever program lists its nodes;
    a kind stands where its first node does. Kinds are called by what tells them apart: features, else the GPUs, else
    cores, and so on.

    Parameters
    ----------
    nodes : iterable of (str, Node)
        The name of each, and what it has.

    Examples
    --------
    >>> thin, fat = Node(8, 64000), Node(8, 64000, gpus=(("a100", 4),))
    >>> for kind in kinds_of([("n10", thin), ("n9", thin), ("g1", fat)]):
    ...     print(kind)
    {'kind': 'a100', 'names': 'g1', 'cores': 8, 'memory': 64000, 'gpus': {'a100': 4}}
    {'kind': 'cpu', 'names': 'n[9-10]', 'cores': 8, 'memory': 64000}
    """
    groups: dict[Node, list[str]] = {}
    for name, node in sorted(nodes, key=lambda each: in_order(each[0])):
        groups.setdefault(node, []).append(name)
    return [
        {"kind": called, "names": fold_hosts(names)} | _keys(node)
        for (node, names), called in zip(groups.items(), _names([*groups]), strict=True)
    ]


def _keys(node: Node) -> dict[str, Any]:
    """Return what a node has as keys of a description, without what is as by default."""
    usual = Node(0, None)
    given = {key: value for key, value in node._asdict().items() if value != getattr(usual, key)}
    if node.gpus:
        given["gpus"] = dict(node.gpus)
    if node.features:
        given["features"] = list(node.features)
    return given


def _names(kinds: Sequence[Node]) -> list[str]:
    """Return a name for each kind, of as little as tells all of them apart."""
    for words in _WORDS:
        names = ["-".join(filter(None, (word(kind) for word in words))) for kind in kinds]
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{name}-{place}" for place, name in enumerate(names, 1)]


def _features(node: Node) -> str:
    return "-".join(node.features)


def _types(node: Node) -> str:
    return "-".join(kind for kind, _ in node.gpus) or "cpu"


def _gpus(node: Node) -> str:
    return "-".join(f"{count}x{kind}" for kind, count in node.gpus)


def _cores(node: Node) -> str:
    return f"{node.cores}c"


def _memory(node: Node) -> str:
    return "" if node.memory is None else shown_memory(node.memory).replace(",", "")


_WORDS: tuple[tuple[Callable[[Node], str], ...], ...] = (
    (_features,),
    (_types,),
    (_cores,),
    (_cores, _gpus),
    (_cores, _memory),
    (_cores, _memory, _gpus),
    (_cores, _memory, _gpus, _features),
)
