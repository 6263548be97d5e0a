# SPDX-License-Identifier: BSD-3-Clause
"""Topologies of the simulator OpenDC in JSON: clusters of hosts, with CPUs, memory, GPUs and a model of power."""

from __future__ import annotations

import re
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.simulators import Host, SimulatedMachine
from swftools.machines.formats.sizes import Document, megabytes
from swftools.machines.parts import MOST_NODES, UNTYPED
from swftools.parameters.strict_yaml import KeyPath

_OF_OPENDC = re.compile(r'"clusters"\s*:')
_HOST = re.compile(r'"(?:coreCount|hosts)"\s*:')
_UNFIT = re.compile(r"[\s\[\],]+")
_Parts = list[tuple[KeyPath, dict[str, Any]]]
_LEAST_BYTES = 100_000_000
"""Memory without a unit below this is MB: a host of so few bytes runs nothing."""


def _recognise(text: str) -> Fit:
    is_there = text.lstrip()[:1] == "{" and bool(_OF_OPENDC.search(text) and _HOST.search(text))
    return Fit(is_there, "it is JSON with clusters of hosts" if is_there else "no JSON with clusters and hosts")


@machine_format("opendc", "a topology of OpenDC (JSON)", _recognise)
def read_opendc(text: str, name: str) -> Found:
    """Return the machine of a topology: each host of a cluster is a kind of nodes.

    Raises
    ------
    ParameterError
        It is not JSON, lacks what a host must have, or a value is none.
    """
    document = Document(text, name)
    machine = SimulatedMachine()
    top = document.mapping(document.content, ())
    known: set[str] = set()
    total = 0
    for place, entry in enumerate(document.list(top.get("clusters"), ("clusters",))):
        where: KeyPath = ("clusters", place)
        cluster = document.mapping(entry, where)
        copies = document.count(cluster.get("count", 1), (*where, "count"))
        hosts = document.list(cluster.get("hosts"), (*where, "hosts") if "hosts" in cluster else where)
        for number, each in enumerate(hosts):
            path = (*where, "hosts", number)
            host = document.mapping(each, path)
            count = copies * document.count(host.get("count", 1), (*path, "count"))
            total += count
            if total > MOST_NODES:
                raise document.wrong((*path, "count"), f"the topology has more than {MOST_NODES:,} hosts")
            called = _called(cluster.get("name") or "Cluster", host.get("name") or "Host", known)
            names = [f"{called}-{index}" for index in range(1, count + 1)]
            machine.add(called, names, _host(document, host, path, machine))
    return Found(machine.content(name, "host"))


def _called(cluster: Any, host: Any, known: set[str]) -> str:
    """Return a name for the hosts of a cluster that no others have."""
    base = called = _UNFIT.sub("-", f"{cluster}-{host}")
    number = 1
    while called in known:
        number += 1
        called = f"{base}.{number}"
    known.add(called)
    return called


def _host(document: Document, host: dict[str, Any], path: KeyPath, machine: SimulatedMachine) -> Host:
    cpus = _several(document, host, path, "cpus", "cpu")
    if not cpus:
        raise document.wrong(path, "has no cpu; add one with coreCount and coreSpeed")
    cores, speed = 0, 0.0
    for at, cpu in cpus:
        of_each = document.count(cpu.get("coreCount"), (*at, "coreCount") if "coreCount" in cpu else at)
        count = of_each * document.count(cpu.get("count", 1), (*at, "count"))
        cores += count
        speed += count * document.number(cpu.get("coreSpeed", 1.0), (*at, "coreSpeed"))
    gpus: dict[str, int] = {}
    for at, gpu in _several(document, host, path, "gpus", "gpu"):
        kind = str(gpu.get("modelName") or gpu.get("name") or UNTYPED)
        gpus[kind] = gpus.get(kind, 0) + document.count(gpu.get("count", 1), (*at, "count"))
    idle = full = None
    power = host.get("powerModel") or host.get("cpuPowerModel")
    if isinstance(power, dict) and "idlePower" in power and "maxPower" in power:
        where = (*path, "powerModel" if "powerModel" in host else "cpuPowerModel")
        full = document.number(power["maxPower"], (*where, "maxPower"))
        idle = document.number(power["idlePower"], (*where, "idlePower")) if power["idlePower"] != 0 else 0.0
        machine.note("power is taken as rising with the cores that work, whatever the model is")
    return Host(cores, _memory(document, host, path, machine), speed / cores, idle, full, tuple(sorted(gpus.items())))


def _several(
    document: Document, host: dict[str, Any], path: KeyPath, *keys: str
) -> list[tuple[KeyPath, dict[str, Any]]]:
    """Return the parts of a host that stand as a list, or as one mapping."""
    key = next((key for key in keys if host.get(key) is not None), None)
    if key is None:
        return []
    found = host[key]
    if not isinstance(found, list):
        return [((*path, key), document.mapping(found, (*path, key)))]
    return [((*path, key, number), document.mapping(each, (*path, key, number))) for number, each in enumerate(found)]


def _memory(document: Document, host: dict[str, Any], path: KeyPath, machine: SimulatedMachine) -> int | None:
    """Return the MB of a host."""
    if host.get("memory") is None:
        return None
    where = (*path, "memory")
    entry = document.mapping(host["memory"], where)
    size = entry.get("memorySize")
    if isinstance(size, str):
        try:
            return megabytes(size, "") or None
        except ParameterError as error:
            raise document.wrong((*where, "memorySize"), str(error).removeprefix(": ")) from None
    size = document.count(size, (*where, "memorySize") if "memorySize" in entry else where)
    size *= document.count(entry.get("count", 1), (*where, "count"))
    if size < _LEAST_BYTES:
        machine.note("memorySize without a unit is taken for MB, as traces have it, where it is less than 100,000,000")
        return size
    return size >> 20
