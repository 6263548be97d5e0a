# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a description, numbered in its order, and what is wrong between its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import IntArray
from swftools.machines.amounts import MOST_MEMORY
from swftools.machines.hostlist import count_hosts, expand_hosts, in_order
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.machines.parts import MOST_NODES, UNTYPED, NodeKind, Outage, Partition
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import KeyPath

Problem = tuple[KeyPath, str]

ALL = "ALL"
"""What stands for all nodes, in partitions and outages."""

THE_ONLY_PARTITION = "all"
"""The name of the partition of all nodes that a machine has if none is told."""


@dataclass(frozen=True)
class Numbered:
    """Numbers of the nodes of a machine, from 0, and what is wrong.

    Parameters
    ----------
    names : tuple of str
        Of the nodes.
    kind : numpy.ndarray of int64
        The kind of each, as a place in the description.
    partitions, outages : tuple of tuple of int
        Numbers of the nodes of each, rising.
    problems : tuple
        Of each the place in the description, and what is wrong.
    """

    names: tuple[str, ...] = ()
    kind: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    partitions: tuple[tuple[int, ...], ...] = ()
    outages: tuple[tuple[int, ...], ...] = ()
    problems: tuple[Problem, ...] = field(default=())


def kind_name(kind: NodeKind) -> str:
    """Return what a kind of nodes is called."""
    return kind.kind or kind.names or ""


def names_of(kind: NodeKind) -> list[str]:
    """Return the names of the nodes of a kind."""
    if kind.names is not None:
        return expand_hosts(kind.names, MOST_NODES)
    stem = f"{kind.kind}-" if kind.kind[-1:].isdigit() else kind.kind
    return [f"{stem}{number}" for number in range(1, (kind.count or 0) + 1)]


def number_nodes(
    kinds: Sequence[NodeKind], partitions: Sequence[Partition], outages: Sequence[Outage], *, by_name: bool = False
) -> Numbered:
    """Return the numbers of all nodes, in the order of kinds or of names, and what is wrong between the parts."""
    problems = [*_of_kinds(kinds)]
    count = sum(_count(kind) for kind in kinds)
    if count > MOST_NODES:
        problems.append((("nodes",), f"{count:,} nodes in all, more than {MOST_NODES:,}"))
    if problems:
        return Numbered(problems=tuple(problems))
    nodes = [(name, place) for place, kind in enumerate(kinds) for name in names_of(kind)]
    if by_name:
        nodes.sort(key=lambda node: in_order(node[0]))
    number: dict[str, int] = {}
    known: dict[str, list[int]] = {kind_name(kind): [] for kind in kinds}
    called = [*known]
    for name, place in nodes:
        if name in number:
            problems.append((("nodes", place, "names"), f"node {name!r} is named twice; give each node once"))
            return Numbered(problems=tuple(problems))
        known[called[place]].append(len(number))
        number[name] = len(number)
    of_kind = np.array([place for _, place in nodes], dtype=np.int64)
    problems += [
        (("nodes", place, "kind"), f"{name!r} is the name of a node of another kind too; give the kind another name")
        for place, name in enumerate(known)
        if name in number and of_kind[number[name]] != place
    ]
    in_partitions, in_outages = (
        tuple(_numbers(items, number, known, (key, place, "nodes"), problems) for place, items in enumerate(named))
        for key, named in (
            ("partitions", [part.nodes for part in partitions]),
            ("outages", [outage.nodes for outage in outages]),
        )
    )
    problems += _of_partitions(partitions)
    problems += [
        (("partitions", place, "min_nodes"), f"{part.min_nodes:,} is more than it has, which is {len(nodes):,}")
        for place, (part, nodes) in enumerate(zip(partitions, in_partitions, strict=True))
        if nodes and part.min_nodes > len(nodes)
    ]
    problems += [
        (("outages", place, "end"), f"{outage.end!r} is not after begin, {outage.begin!r}")
        for place, outage in enumerate(outages)
        if _ends_early(outage)
    ]
    return Numbered(tuple(number), of_kind, in_partitions, in_outages, tuple(problems))


def node_table(kinds: Sequence[NodeKind], partitions: Sequence[Partition], numbered: Numbered) -> NodeTable:
    """Return the nodes as arrays; ``numbered`` has no problems."""

    def per_node(values: Iterable[int]) -> IntArray:
        return np.array([*values], dtype=np.int64)[numbered.kind]

    count = len(numbered.names)
    used = [kinds[place].switch for place in dict.fromkeys(numbered.kind.tolist())]
    switches = tuple(dict.fromkeys(switch for switch in used if switch is not None))
    found = [
        PartitionNodes(
            name=part.name,
            nodes=np.array(nodes, dtype=np.int64),
            max_time=np.inf if part.max_time is None else part.max_time,
            min_nodes=part.min_nodes,
            max_nodes=part.max_nodes,
            max_cores=part.max_cores,
            default_memory_per_core=part.default_memory_per_core,
            max_memory_per_core=part.max_memory_per_core,
            is_exclusive=part.exclusive,
            is_default=part.default,
            tier=part.tier,
        )
        for part, nodes in zip(partitions, numbered.partitions, strict=True)
    ]
    return NodeTable(
        names=numbered.names,
        kind=numbered.kind,
        kinds=tuple(map(kind_name, kinds)),
        cores=per_node(kind.cores for kind in kinds),
        memory=per_node(MOST_MEMORY if kind.memory is None else kind.memory for kind in kinds),
        gpus=per_node(GPU * sum(kind.gpus.values()) for kind in kinds),
        weight=per_node(kind.weight for kind in kinds),
        partitions=tuple(found)
        or (PartitionNodes(THE_ONLY_PARTITION, np.arange(count, dtype=np.int64), is_default=True),),
        gpu_types=tuple(frozenset(kind.gpus) - {UNTYPED} for kind in kinds),
        features=tuple(frozenset(kind.features) for kind in kinds),
        speed=np.array([kind.speed for kind in kinds], dtype=np.float64)[numbered.kind],
        threads=per_node(kind.threads_per_core for kind in kinds),
        switch=per_node(-1 if kind.switch is None else switches.index(kind.switch) for kind in kinds),
        switches=switches,
    )


def named_numbers(kinds: Sequence[NodeKind], numbered: Numbered) -> dict[str, list[int]]:
    """Return the numbers of the nodes by what may name them: a kind, or a node itself."""
    found: dict[str, list[int]] = {kind_name(kind): [] for kind in kinds}
    called = [*found]
    for number, kind in enumerate(numbered.kind.tolist()):
        found[called[kind]].append(number)
    for number, name in enumerate(numbered.names):
        found[name] = [number]
    return found


def _count(kind: NodeKind) -> int:
    return kind.count or 0 if kind.names is None else count_hosts(kind.names)


def _of_kinds(kinds: Sequence[NodeKind]) -> Iterator[Problem]:
    """Yield what is wrong with single kinds, and kinds of one name."""
    if not kinds:
        yield ("nodes",), "no nodes; name at least one kind"
    first_with: dict[str, int] = {}
    for place, kind in enumerate(kinds):
        where = ("nodes", place)
        if kind.names is None and (not kind.kind or kind.count is None):
            yield where, "give names: a list of hosts such as n[01-16]; or kind and count"
            continue
        if kind.names is not None and kind.count is not None and kind.count != count_hosts(kind.names):
            count = count_hosts(kind.names)
            yield (*where, "count"), f"{kind.count:,}, but names has {count:,}; leave count out"
        name = kind_name(kind)
        if name.casefold() == ALL.casefold():
            yield (*where, "kind"), f"{name!r} stands for all nodes; give the kind another name"
        if first_with.setdefault(name, place) != place:
            yield (*where, "kind"), f"another kind is called {name!r}; give each a name of its own"


def _of_partitions(partitions: Sequence[Partition]) -> Iterator[Problem]:
    """Yield what is wrong with partitions, but for their nodes."""
    first_with: dict[str, int] = {}
    default: str | None = None
    for place, part in enumerate(partitions):
        where = ("partitions", place)
        if first_with.setdefault(part.name, place) != place:
            yield (*where, "name"), f"another partition is called {part.name!r}; give each a name of its own"
        if part.default and default is not None:
            yield (*where, "default"), f"{default!r} is the default too; leave one"
        default = part.name if part.default else default
        if part.max_nodes and part.min_nodes > part.max_nodes:
            yield (*where, "min_nodes"), f"{part.min_nodes:,} is above max_nodes, {part.max_nodes:,}"
        if part.max_memory_per_core and part.default_memory_per_core > part.max_memory_per_core:
            told = f"{part.default_memory_per_core:,} MB is above max_memory_per_core, {part.max_memory_per_core:,} MB"
            yield (*where, "default_memory_per_core"), told


def _ends_early(outage: Outage) -> bool:
    """Return whether an outage ends before it begins; what is told in different ways cannot be compared."""
    begin, end = (
        datetime.fromisoformat(each) if isinstance(each, str) else each for each in (outage.begin, outage.end)
    )
    if isinstance(begin, datetime) and isinstance(end, datetime):
        return (begin.tzinfo is None) == (end.tzinfo is None) and end <= begin
    return isinstance(begin, float) and isinstance(end, float) and end <= begin


def _numbers(
    items: Sequence[str], number: dict[str, int], kinds: dict[str, list[int]], where: KeyPath, problems: list[Problem]
) -> tuple[int, ...]:
    """Return the numbers that stand for kinds, lists of hosts, or ALL; what is unknown becomes a problem."""
    found: set[int] = set()
    for item in items:
        if item == ALL:
            found.update(number.values())
        elif item in kinds:
            found.update(kinds[item])
        else:
            try:
                hosts = expand_hosts(item, MOST_NODES)
            except ParameterError as error:
                problems.append((where, str(error)))
                continue
            unknown = [host for host in hosts if host not in number]
            if unknown:
                near = did_you_mean(unknown[:1], kinds) or f"; there are: {', '.join([ALL, *kinds])[:200]}"
                more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
                problems.append((where, f"no node {unknown[0]!r}{more} is in nodes, nor a kind of that name{near}"))
            found.update(number[host] for host in hosts if host in number)
    if not found and not any(place == where for place, _ in problems):
        problems.append((where, "no nodes; name some, or ALL"))
    return tuple(sorted(found))
