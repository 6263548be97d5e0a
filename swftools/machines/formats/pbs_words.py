# SPDX-License-Identifier: BSD-3-Clause
"""What PBS and Torque say of nodes, in words: the same in the text and in the JSON of ``pbsnodes``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.formats.sizes import megabytes, whole_number
from swftools.machines.hostlist import fold_hosts
from swftools.machines.kinds import Node, kinds_of
from swftools.machines.parts import UNTYPED

_GIVEN = "resources_available."
_AWAY = {
    "down": {"down", "state-unknown", "stale", "unresolvable", "sleep", "provisioning", "wait-provisioning"},
    "drain": {"offline", "maintenance", "offline_by_mom"},
    "reservation": {"resv-exclusive"},
}
"""What kind of outage states are, in small letters."""
_PHYSICAL = re.compile(r"(?:^|,)physmem=([^,]+)")
_UNFIT = re.compile(r"[\[\],\s]+")
_TRUE = ("true", "yes")


class PbsMachine:
    """A machine of PBS, put together from its nodes.

    Parameters
    ----------
    name : str, optional
        Of its server.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._nodes: dict[str, Node] = {}
        self._queues: dict[str, list[str]] = {}
        self._of_all: list[str] = []
        self._away: dict[tuple[str, str], list[str]] = {}
        self._notes: dict[str, None] = {}

    def add(self, called: str, words: Mapping[str, str], where: str) -> None:
        """Take a node.

        Raises
        ------
        ParameterError
            It is there twice, does not say how many processors it has, or a value is not as PBS writes it.
        """
        name = node_name(called)
        if name != called:
            self._notes["names with brackets are written with -: n[0] is n-0"] = None
        if name in self._nodes:
            raise ParameterError(f"{where}: node {called} is there twice; give each once")
        told = words.get(f"{_GIVEN}ncpus") or words.get("np")
        if told is None:
            raise ParameterError(f"{where}: node {called} has neither resources_available.ncpus nor np; is it cut off?")
        cores = whole_number(told, f"{where}: ncpus of {called}")
        if not cores:
            self._notes["nodes without processors are left out, as hosts of several vnodes have one"] = None
            return
        gpus = whole_number(words.get(f"{_GIVEN}ngpus") or words.get("gpus") or "0", f"{where}: GPUs of {called}")
        self._nodes[name] = Node(
            cores=cores,
            memory=_memory(words, f"{where}: memory of {called}"),
            gpus=((UNTYPED, gpus),) if gpus else (),
            features=_features(words),
        )
        queues = words.get("queue") or words.get(f"{_GIVEN}Qlist") or ""
        for queue in filter(None, (each.strip() for each in queues.split(","))):
            self._queues.setdefault(queue, []).append(name)
        if not queues:
            self._of_all.append(name)
        kind = outage_kind(words.get("state", ""))
        if kind and kind != "reservation":  # which nobody says how long it takes
            self._away.setdefault((kind, words.get("comment") or words.get("note") or ""), []).append(name)

    def content(self, source: str) -> dict[str, Any]:
        """Return all of it as a description has it.

        Raises
        ------
        ParameterError
            There is no node.
        """
        if not self._nodes:
            raise ParameterError(f"{source}: no node with processors is described; give all that pbsnodes -av prints")
        self._notes["limits of queues are not in what pbsnodes prints"] = None
        parts = [{"name": queue, "nodes": [fold_hosts(names)]} for queue, names in self._queues.items()]
        if parts and self._of_all:
            self._notes["nodes without queue (queue, Qlist) serve every queue"] = None
            for part in parts:
                part["nodes"] = [*part["nodes"], fold_hosts(self._of_all)]
        return {
            "name": self._name,
            "order": "names",
            "nodes": kinds_of(self._nodes.items()),
            "partitions": parts,
            "outages": [
                {"nodes": fold_hosts(names), "kind": kind} | ({"reason": reason} if reason else {})
                for (kind, reason), names in self._away.items()
            ],
            "notes": [*self._notes],
        }


def node_name(called: str) -> str:
    """Return the name of a node without brackets, which lists of hosts have for ranges.

    Examples
    --------
    >>> node_name("n[0]")
    'n-0'
    """
    return _UNFIT.sub("-", called).strip("-")


def outage_kind(text: str) -> str:
    """Return the kind of outage that states are, such as ``down,offline``; nothing where a node is there.

    Examples
    --------
    >>> outage_kind("down,offline"), outage_kind("job-busy")
    ('down', '')
    """
    states = {each.strip().lower() for each in text.split(",")}
    return next((kind for kind, words in _AWAY.items() if states & words), "")


def _memory(words: Mapping[str, str], where: str) -> int | None:
    """Return the MB of a node, which Torque tells within what a node reports."""
    found = _PHYSICAL.search(words.get("status", ""))
    told = words.get(f"{_GIVEN}mem") or (found[1] if found else "")
    return megabytes(told, where) or None if told else None


def _features(words: Mapping[str, str]) -> tuple[str, ...]:
    """Return Torque's properties, or PBS's resources that are true."""
    found = {each.strip() for each in words.get("properties", "").split(",")}
    found |= {
        key.removeprefix(_GIVEN)
        for key, value in words.items()
        if key.startswith(_GIVEN) and value.strip().lower() in _TRUE
    }
    return tuple(sorted(filter(None, found)))
