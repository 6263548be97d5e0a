# SPDX-License-Identifier: BSD-3-Clause
"""What ``llstatus -l`` prints, of IBM's LoadLeveler: a stretch of ``key = value`` for each machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.sizes import megabytes, whole_number
from swftools.machines.hostlist import fold_hosts
from swftools.machines.kinds import Node, kinds_of

_IS_PRINTED = re.compile(r"^(?:ConfiguredClasses|Max_Starters|MACHPRIO)\s*=", re.MULTILINE)
_CLASS = re.compile(r"([^\s()\[\],]+)\(\s*[0-9]+\s*\)")
_CONSUMABLE = re.compile(r"(Consumable(?:Cpus|Memory))\(\s*[^,()]*,\s*([^()]*)\)")
_KEY = re.compile(r"([A-Za-z_][\w ]*?)\s*=\s?(.*)")
_NO_CLASS = "No_Class"
_AWAY = {"down": "down", "none": "drain", "drain": "drain", "drained": "drain", "draining": "drain", "flush": "drain"}


def _recognise(text: str) -> Fit:
    is_there = re.search(r"^Name\s*=", text, re.MULTILINE) is not None and _IS_PRINTED.search(text) is not None
    return Fit(is_there, "it has Name = and ConfiguredClasses =" if is_there else "no Name = with ConfiguredClasses =")


@machine_format("llstatus", "what llstatus -l prints (LoadLeveler)", _recognise)
def read_llstatus(text: str, name: str) -> Found:
    """Return the machine of what llstatus printed; classes are its partitions.

    Raises
    ------
    ParameterError
        A machine lacks its Cpus, a value is not as LoadLeveler writes it, or no machine is there.
    """
    nodes: dict[str, Node] = {}
    classes: dict[str, list[str]] = {}
    away: dict[str, list[str]] = {}
    notes = {"limits of classes are not in what llstatus prints": None}
    for line, words in _records(text):
        called = words["Name"]
        where = f"{name}, line {line}: machine {called}"
        if not called or called in nodes:
            raise ParameterError(f"{where}: {'is there twice; give each once' if called else 'has no name'}")
        if words.get("Max_Starters") == "0":
            notes["machines that start no jobs (Max_Starters = 0) are left out"] = None
            continue
        nodes[called] = node = _node(words, where)
        if words.get("SMT", "").lower() == "enabled":
            notes["Cpus are threads where SMT is enabled; they are taken for cores"] = None
        starters = words.get("Max_Starters", "")
        if starters.isdecimal() and int(starters) < node.cores:
            notes["not modelled: fewer starters (Max_Starters) than processors"] = None
        for each in dict.fromkeys(_CLASS.findall(words.get("ConfiguredClasses", ""))):
            if each != _NO_CLASS:
                classes.setdefault(each, []).append(called)
        kind = _AWAY.get(words.get("State", "").lower())
        if kind:
            away.setdefault(kind, []).append(called)
    if not nodes:
        raise ParameterError(f"{name}: no machine that starts jobs is described; give all that llstatus -l prints")
    content: dict[str, Any] = {"order": "names", "nodes": kinds_of(nodes.items())}
    content["partitions"] = [{"name": each, "nodes": fold_hosts(names)} for each, names in classes.items()]
    content["outages"] = [{"nodes": fold_hosts(names), "kind": kind} for kind, names in away.items()]
    return Found(content | {"notes": [*notes]})


def _node(words: dict[str, str], where: str) -> Node:
    """Return what a machine has: what jobs may consume of it, where that is told."""
    consumable = dict(_CONSUMABLE.findall(words.get("ConsumableResources", "")))
    cores = consumable.get("ConsumableCpus") or words.get("Cpus")
    if not cores:
        raise ParameterError(f"{where}: has no Cpus; its record is cut off")
    memory = consumable.get("ConsumableMemory") or words.get("Memory")
    count = whole_number(cores.strip(), f"{where}, Cpus")
    if not count:
        raise ParameterError(f"{where}: Cpus = 0 leaves no processor for jobs")
    return Node(
        cores=count,
        memory=megabytes(memory, f"{where}, Memory") or None if memory else None,
        features=tuple(sorted(set(words.get("Feature", "").replace('"', "").split()))),
    )


def _records(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the machines: the line of each, and its words; a line that is indented goes on with the one before."""
    begun = 0
    words: dict[str, str] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = _KEY.match(line)
        if found and found[1] == "Name":
            if begun:
                yield begun, words
            begun, words = number, {}
        if found:
            key = found[1]
            words[key] = found[2].strip()
        elif key and line[:1].isspace() and line.strip():
            words[key] = f"{words[key]} {line.strip()}"
        else:
            key = ""
    if begun:
        yield begun, words
