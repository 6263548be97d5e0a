# SPDX-License-Identifier: BSD-3-Clause
"""What ``scontrol --json show nodes``, ``partitions`` and ``reservations`` print, in one file or some.

Slurm has this form since 23.02. Numbers stand there as they are, or with whether they are set and infinite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.slurm_machine import SlurmMachine
from swftools.machines.hostlist import split_hosts

_OF_SLURM = re.compile(r'"(?:real_memory|node_list|maximums|meta)"\s*:')
_KINDS = ("nodes", "partitions", "reservations", "licenses")
_DECODER = json.JSONDecoder()


def _recognise(text: str) -> Fit:
    is_there = text.lstrip()[:1] == "{" and _OF_SLURM.search(text) is not None
    return Fit(is_there, "it is JSON of Slurm" if is_there else "no JSON with real_memory, node_list or maximums")


@machine_format("scontrol-json", "what scontrol --json show nodes, partitions, reservations prints", _recognise)
def read_scontrol_json(text: str, name: str) -> Found:
    """Return the machine of what scontrol printed as JSON.

    Raises
    ------
    ParameterError
        It is not JSON, a value is not as Slurm has it, or no node is there.
    """
    machine = SlurmMachine(name)
    for kind, entry in _entries(text, name):
        if kind == "meta":
            if release := _text(entry, "slurm.release") or _text(entry, "Slurm.release"):
                machine.set({"slurm_version": release}, f"{name}, meta")
            continue
        called = str(entry.get("name") or entry.get("LicenseName") or "")
        where = f"{name}, {kind} {called!r}"
        if not called:
            raise ParameterError(f"{name}: one of {kind} has no name")
        if kind == "nodes":
            if "real_memory" not in entry or "cpus" not in entry:
                raise ParameterError(f"{where}: has no cpus and real_memory; is this what scontrol prints?")
            machine.add_nodes([called], _of_node(entry), where)
        elif kind == "partitions":
            machine.add_partition(called, split_hosts(_text(entry, "nodes.configured")), _of_partition(entry), where)
        elif kind == "reservations":
            words = {key: _text(entry, key) for key in ("users", "accounts")}
            words |= {"nodes": _text(entry, "node_list")}
            words |= {"starttime": _date(entry, "start_time"), "endtime": _date(entry, "end_time")}
            machine.add_reservation(called, words)
        else:
            machine.licence(f"{called}:{_text(entry, 'total') or _text(entry, 'Total')}")
    machine.note("settings of the whole machine (DefMemPerCPU) are not in this JSON")
    return Found(machine.content(), places=machine.places)


def _entries(text: str, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the entries of all documents, with the key that they stand under."""
    place = 0
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        try:
            document, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
            line = text[: getattr(error, "pos", place)].count("\n") + 1
            told = getattr(error, "msg", None) or str(error)
            raise ParameterError(f"{name}, line {line}: not readable as JSON: {told}; is the file whole?") from error
        if not isinstance(document, dict):
            raise ParameterError(f"{name}: is no JSON of scontrol, which is a mapping")
        if isinstance(document.get("meta"), dict):
            yield "meta", document["meta"]
        for kind in _KINDS:
            entries = document.get(kind, [])
            for entry in entries if isinstance(entries, list) else []:
                if not isinstance(entry, dict):
                    raise ParameterError(f"{name}: {kind} should be a list of mappings")
                yield kind, entry


def _at(entry: Mapping[str, Any], path: str) -> Any:
    """Return the value at ``maximums.nodes``; None where there is none."""
    found: Any = entry
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _text(entry: Mapping[str, Any], path: str) -> str:
    """Return a value as scontrol prints it in words; nothing where it is not set."""
    value = _at(entry, path)
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return "UNLIMITED"
        value = value.get("number") if value.get("set") else None
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else str(value)


def _date(entry: Mapping[str, Any], path: str) -> str:
    """Return a time, seconds since 1970, as a date in UTC."""
    text = _text(entry, path)
    if not text.isdecimal() or not 0 < int(text) < 1 << 33:
        return ""
    return datetime.fromtimestamp(int(text), UTC).isoformat()


def _of_node(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return what is said of a node, in the words of scontrol."""
    names = {
        "cputot": "cpus",
        "sockets": "sockets",
        "corespersocket": "cores",
        "threadspercore": "threads",
        "realmemory": "real_memory",
        "memspeclimit": "specialized_memory",
        "corespeccount": "specialized_cores",
        "gres": "gres",
        "availablefeatures": "features",
        "weight": "weight",
        "state": "state",
    }
    words = {word: _text(entry, path) for word, path in names.items()}
    reason, since = _text(entry, "reason"), _date(entry, "reason_changed_at")
    return words | {"reason": f"{reason} [{_text(entry, 'reason_set_by_user')}@{since}]" if since else reason}


def _of_partition(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return what is said of a partition, in the words of scontrol; times stay minutes."""
    names = {
        "partitionname": "name",
        "prioritytier": "priority.tier",
        "priorityjobfactor": "priority.job_factor",
        "qos": "qos.assigned",
        "gracetime": "grace_time",
        "overtimelimit": "maximums.over_time_limit",
        "tresbillingweights": "tres.billing_weights",
        "allocnodes": "nodes.allowed_allocation",
        "alternate": "alternate",
        "maxtime": "maximums.time",
        "defaulttime": "defaults.time",
        "minnodes": "minimums.nodes",
        "maxnodes": "maximums.nodes",
        "maxcpuspernode": "maximums.cpus_per_node",
        "defmempercpu": "defaults.partition_memory_per_cpu",
        "defmempernode": "defaults.partition_memory_per_node",
        "maxmempercpu": "maximums.partition_memory_per_cpu",
        "maxmempernode": "maximums.partition_memory_per_node",
        "allowaccounts": "accounts.allowed",
        "denyaccounts": "accounts.deny",
        "allowgroups": "groups.allowed",
        "allowqos": "qos.allowed",
        "denyqos": "qos.deny",
        "state": "partition.state",
    }
    words = {word: _text(entry, path) for word, path in names.items()}
    jobs = _at(entry, "maximums.oversubscribe.jobs")
    flags = {each.upper() for each in _text(entry, "maximums.oversubscribe.flags").split(",")}
    exclusive = jobs == 0 or "EXCLUSIVE" in flags
    shared = "FORCE" if "FORCE" in flags else "YES" if isinstance(jobs, int) and jobs > 1 else "NO"
    default = "DEFAULT" in _text(entry, "flags").upper().split(",")
    return words | {"oversubscribe": "EXCLUSIVE" if exclusive else shared, "default": "YES" if default else "NO"}
