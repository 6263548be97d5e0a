# SPDX-License-Identifier: BSD-3-Clause
"""More or fewer nodes of a kind or a partition: what becomes of all lists of hosts of a description."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.change_values import number_in
from swftools.machines.hostlist import expand_hosts, fold_hosts, numbered_on
from swftools.machines.numbering import ALL, names_of
from swftools.machines.parts import MOST_NODES, NodeKind
from swftools.parameters.spelling import did_you_mean


def resize(content: dict[str, Any], entry: dict[str, Any], sign: str, value: str) -> None:
    """Change how many nodes there are of a kind, and the lists of hosts that name them."""
    given = number_in(value)
    if given is None or not float(given).is_integer() or given < 0:
        raise ParameterError(f"{value!r} is no number of nodes")
    before = names_of(NodeKind(**entry))
    count = {"+=": len(before) + int(given), "-=": len(before) - int(given), "=": int(given)}[sign]
    if not 1 <= count <= MOST_NODES:
        raise ParameterError(f"leaves {count:,} nodes of {len(before):,}; 1 to {MOST_NODES:,} can be")
    others = {name for kind in content["nodes"] if kind is not entry for name in names_of(NodeKind(**kind))}
    called = entry.get("kind") or entry["names"]
    if "names" in entry:
        after = before[:count] + numbered_on(before[-1], count - len(before), {*others, *before})
        entry |= {"kind": called, "names": fold_hosts(after)}
        entry.pop("count", None)
    else:
        entry["count"] = count
        after = names_of(NodeKind(**entry))
    gone, new = before[count:], after[len(before) :]
    if gone:
        for part in content.get("partitions", []):
            if not _without(content, part, gone):
                raise ParameterError(f"leaves no node of {part.get('name')}")
        # Nodes that are not there need not be away.
        if "outages" in content:
            content["outages"] = [each for each in content["outages"] if _without(content, each, gone)]
    _resize_switches(content, gone, new, before[-1], called)
    had = {*before}
    for part in content.get("partitions", []) if new else []:
        items = _listed(part)
        if not {ALL, called} & {*items} and had.issubset(hosts_of(content, items)):
            part["nodes"] = [*items, fold_hosts(new)]


def _resize_switches(content: dict[str, Any], gone: list[str], new: list[str], last: str, kind: str) -> None:
    """Take nodes that went from their switches, and put new ones on that of the last of their kind."""
    slurm = content.get("slurm", {})
    switches = slurm.get("switches", [])
    if not switches:
        return
    for switch in switches:
        items = _listed(switch) if "nodes" in switch else []
        if new and kind not in items and last in hosts_of(content, items):
            switch["nodes"] = [*items, fold_hosts(new)]
    empty = {switch["name"] for switch in switches if "nodes" in switch and not _without(content, switch, gone)}
    while empty:
        switches = [switch for switch in switches if switch["name"] not in empty]
        for switch in switches:
            if "switches" in switch:
                switch["switches"] = [each for each in switch["switches"] if each not in empty]
        empty = {switch["name"] for switch in switches if switch.get("switches") == []}
    slurm["switches"] = switches


def _without(content: dict[str, Any], part: dict[str, Any], gone: Collection[str]) -> bool:
    """Take hosts that went out of the lists of hosts of a partition or an outage; return whether a node is left.

    Kinds and ALL stand for those that are still there.
    """
    kinds = {ALL, *(str(kind.get("kind") or kind.get("names")) for kind in content["nodes"])}
    gone = {*gone}
    left: list[str] = []
    for item in _listed(part):
        hosts = [] if item in kinds else expand_hosts(item, MOST_NODES)
        if gone.isdisjoint(hosts):
            left.append(item)
        elif stay := [host for host in hosts if host not in gone]:
            left.append(fold_hosts(stay))
    if left != _listed(part):
        part["nodes"] = left
    return bool(left)


def take(content: dict[str, Any], part: dict[str, Any], hosts: Collection[str]) -> None:
    """Take hosts from a partition; whatever else there is of it is named by hosts then."""
    had = hosts_of(content, _listed(part))
    gone = {*hosts}
    missing = gone.difference(had)
    if missing:
        raise ParameterError(f"{part.get('name')} has no node {min(missing)!r}")
    left = [host for host in had if host not in gone]
    if not left:
        raise ParameterError(f"leaves no node of {part.get('name')}")
    part["nodes"] = [fold_hosts(left)]


def hosts_of(content: dict[str, Any], items: Sequence[str]) -> list[str]:
    """Return the hosts that kinds, lists of hosts and ALL stand for."""
    kinds = {str(kind.get("kind") or kind.get("names")): names_of(NodeKind(**kind)) for kind in content["nodes"]}
    everybody = dict.fromkeys(name for names in kinds.values() for name in names)
    found: dict[str, None] = {}
    for item in items:
        if item == ALL:
            found |= everybody
        elif item in kinds:
            found |= dict.fromkeys(kinds[item])
        else:
            hosts = expand_hosts(item, MOST_NODES)
            unknown = next((host for host in hosts if host not in everybody), None)
            if unknown is not None:
                raise ParameterError(f"there is no node {unknown!r}{did_you_mean([unknown], kinds)}")
            found |= dict.fromkeys(hosts)
    return [*found]


def _listed(part: Mapping[str, Any]) -> list[str]:
    nodes = part.get("nodes", ALL)
    return [nodes] if isinstance(nodes, str) else [*nodes]
