# SPDX-License-Identifier: BSD-3-Clause
"""Trees of switches, as ``topology.conf`` has them, with nodes as numbers; and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from swftools.errors import ParameterError
from swftools.machines.hostlist import expand_hosts
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_parts import Switch
from swftools.machines.slurm_site import SlurmSwitch
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import KeyPath

_MOST_HOSTS = 200_000


def switch_problems(switches: Sequence[Switch], nodes: Mapping[str, Iterable[int]]) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with switches: of each its place, and what.

    Parameters
    ----------
    switches : sequence of Switch
        As the description names them.
    nodes : mapping of str to iterable of int
        Numbers of the nodes by name of a node or of a kind.
    """
    names = [each.name for each in switches]
    above: dict[str, str] = {}
    of_node: dict[int, str] = {}
    for place, switch in enumerate(switches):
        where: KeyPath = ("switches", place)
        if switch.name in names[:place]:
            yield (*where, "name"), f"switch {switch.name!r} is there twice; give each once"
            continue
        if bool(switch.nodes) == bool(switch.switches):
            yield where, f"switch {switch.name!r} has either nodes or switches; name one of both"
        for child in switch.switches:
            if child not in names:
                yield (*where, "switches"), f"no switch is called {child!r}{did_you_mean([child], names) or '; add it'}"
            elif above.setdefault(child, switch.name) != switch.name:
                told = f"switch {child!r} is below {above[child]!r} and {switch.name!r}"
                yield (*where, "switches"), f"{told}; the tree that is simulated has one above each"
        try:
            numbers = _numbers(switch, nodes)
        except ParameterError as error:
            yield (*where, "nodes"), str(error)
            continue
        twice = next((number for number in numbers if of_node.setdefault(number, switch.name) != switch.name), None)
        if twice is not None:
            told = f"a node of switch {switch.name!r} is on {of_node[twice]!r} too"
            yield (*where, "nodes"), f"{told}; put each on one"
    for place, switch in enumerate(switches):
        way = [switch.name]
        while (upper := above.get(way[-1])) and upper not in way:
            way.append(upper)
        if upper == switch.name:
            yield ("switches", place, "switches"), f"switches go in a circle: {' > '.join([*way, upper])}; cut it"
            return


def _numbers(switch: Switch, nodes: Mapping[str, Iterable[int]]) -> list[int]:
    """Return the numbers of the nodes that a switch names, rising."""
    found: set[int] = set()
    for item in switch.nodes:
        for name in [item] if item in nodes else expand_hosts(item, _MOST_HOSTS):
            if name not in nodes:
                raise ParameterError(f"no node {name!r} is in nodes, nor a kind of that name; take it out")
            found.update(nodes[name])
    return sorted(found)


def switches_of(switches: Sequence[Switch], nodes: Mapping[str, Iterable[int]]) -> tuple[SlurmSwitch, ...]:
    """Return switches with the nodes below each, those without switches first; they have no problems."""
    by_name = {each.name: each for each in switches}
    above = {child: each.name for each in switches for child in each.switches}
    height: dict[str, int] = {}
    below: dict[str, set[int]] = {each.name: set() for each in switches}
    for switch in switches:
        if switch.switches:
            height.setdefault(switch.name, 0)
            continue
        numbers = _numbers(switch, nodes)
        name: str | None = switch.name
        level = 0
        while name is not None:
            below[name].update(numbers)
            height[name] = max(height.get(name, 0), level)
            name, level = above.get(name), level + 1
    order = sorted(by_name, key=lambda name: height[name])
    return tuple(
        SlurmSwitch(
            name=name,
            parent=order.index(above[name]) if name in above else -1,
            is_leaf=not by_name[name].switches,
            nodes=tuple(sorted(below[name])),
        )
        for name in order
    )


def with_leaves(table: NodeTable, switches: Sequence[SlurmSwitch]) -> NodeTable:
    """Return a table whose nodes are attached to the leaves of a tree of switches: what placements look at."""
    leaves = sorted((each for each in switches if each.is_leaf), key=lambda each: each.nodes[0])
    if not leaves:
        return table
    switch = np.full(len(table), -1, np.int64)
    for place, leaf in enumerate(leaves):
        switch[[*leaf.nodes]] = place
    return replace(table, switch=switch, switches=tuple(each.name for each in leaves))
