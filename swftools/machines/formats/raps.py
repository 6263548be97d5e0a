# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of systems of the simulator RAPS (ExaDigiT), as JSON or as YAML: racks of nodes that are alike."""

from __future__ import annotations

import re
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.hostlist import fold_hosts
from swftools.machines.parts import MOST_NODES, UNTYPED
from swftools.parameters.problems import report
from swftools.parameters.strict_yaml import NotYamlError, read_yaml

_OF_RAPS = re.compile(r"(?i)[\"']?\bnodes_per_rack[\"']?\s*:")


def _recognise(text: str) -> Fit:
    is_there = _OF_RAPS.search(text) is not None
    return Fit(is_there, "it has nodes_per_rack" if is_there else "no key nodes_per_rack")


@machine_format("raps", "the configuration of a system of RAPS (JSON, YAML)", _recognise)
def read_raps(text: str, name: str) -> Found:
    """Return the machine: nodes of missing racks are left out, nodes that are down are outages.

    Raises
    ------
    ParameterError
        It is not readable, lacks a number, or a number is none.
    """
    data = text.replace("\t", " ").encode()
    try:
        content = read_yaml(data)
    except NotYamlError as error:
        raise ParameterError(f"{name}, {error}") from error
    return Found(_System(name, data, content).content())


class _System:
    """What the section ``system`` says, or the whole of a file system.json."""

    def __init__(self, name: str, data: bytes, content: Any) -> None:
        self._name, self._data = name, data
        self._path: tuple[str, ...] = ()
        if isinstance(content, dict) and isinstance(content.get("system"), dict):
            content, self._path = content["system"], ("system",)
        if not isinstance(content, dict):
            raise ParameterError(f"{name}: should be a mapping with num_cdus, racks_per_cdu and nodes_per_rack")
        self._keys = {str(key).lower(): str(key) for key in content}
        self._content = content

    def content(self) -> dict[str, Any]:
        """Return it as a description has it."""
        of_rack = self._count("nodes_per_rack")
        racks = self._count("num_cdus") * self._count("racks_per_cdu")
        if racks * of_rack > MOST_NODES:
            raise self._wrong("nodes_per_rack", f"the system has more than {MOST_NODES:,} nodes")
        missing = set(self._numbers("missing_racks", racks))
        nodes = [node for node in range(racks * of_rack) if node // of_rack not in missing]
        there = set(nodes)
        down = [node for node in self._numbers("down_nodes", racks * of_rack) if node in there]
        if not nodes:
            raise self._wrong("missing_racks", "no rack is left")
        notes = ["nodes are called by their numbers in RAPS, from 0 on", "memory, and models of power, are not read"]
        cores = self._count("cpus_per_node")
        if "cores_per_cpu" in self._keys:
            cores *= self._count("cores_per_cpu")
        else:
            notes.append("cores_per_cpu is not there: each CPU counts as one core; set nodes.node.cores by a change")
        kind: dict[str, Any] = {"kind": "node", "names": _named(nodes), "cores": cores}
        gpus = self._count("gpus_per_node", 0, default=0)
        if gpus:
            kind["gpus"] = {UNTYPED: gpus}
        outages = [{"nodes": _named(sorted(set(down))), "kind": "down"}] if down else []
        return {"nodes": [kind], "outages": outages, "notes": notes}

    def _wrong(self, key: str, told: str) -> ParameterError:
        path = (*self._path, self._keys[key]) if key in self._keys else self._path
        return ParameterError(report(self._name, self._data, [(path, told)]))

    def _count(self, key: str, least: int = 1, default: int | None = None) -> int:
        value = self._content.get(self._keys.get(key, ""), default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_NODES:
            lacks = key not in self._keys
            raise self._wrong(
                key, f"{key} is missing; add it" if lacks else f"{str(value)[:40]!r} is no whole number from {least} on"
            )
        return value

    def _numbers(self, key: str, below: int) -> list[int]:
        value = self._content.get(self._keys.get(key, "")) or []
        if not isinstance(value, list):
            raise self._wrong(key, "should be a list of numbers")
        for each in value:
            if isinstance(each, bool) or not isinstance(each, int) or not 0 <= each < below:
                raise self._wrong(key, f"{str(each)[:40]!r} is no number from 0 to {below - 1}")
        return value


def _named(nodes: list[int]) -> str:
    return fold_hosts(f"node{number}" for number in nodes)
