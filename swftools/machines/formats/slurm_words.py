# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm says of nodes, partitions and reservations, in words: the same in slurm.conf and in what scontrol prints.

Words are keys in small letters and their values, as they stand there. The readers of both collect them here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.hostlist import expand_hosts, fold_hosts
from swftools.machines.kinds import Node, kinds_of
from swftools.machines.parts import MOST_NODES, UNTYPED
from swftools.output.amounts import counted
from swftools.parameters.durations import seconds_of

Words = Mapping[str, str]

_NOTHING = ("", "(null)", "none", "n/a", "unknown", "not_set")
_UNLIMITED = ("unlimited", "infinite", "-1")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_GRES = re.compile(r"([0-9]{1,9})([KMGT]?)", re.IGNORECASE)
_SINCE = re.compile(r"\[[^\]@]*@([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+(?:[+-][0-9:]+)?)\]$")
_POWERS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_ENDS = re.compile(r"[*~#!%$@^+-]+$")
_AWAY = {
    "down": {"DOWN", "ERROR", "REBOOT_ISSUED"},
    "drain": {"DRAIN", "DRAINING", "DRAINED", "DRNG", "FAIL", "FAILING", "FAILG", "INVAL"},
    "reservation": {"MAINT", "RESERVED", "RESV"},
}
"""What kind of outage states are, also as ``sinfo`` shortens them. On nodes that fail, or are drained, jobs go on."""
_THERE = {
    *("IDLE", "ALLOCATED", "ALLOC", "MIXED", "MIX", "COMPLETING", "COMP", "PLANNED", "PLND", "BLOCKED", "BLKD"),
    *("PERFCTRS", "NPC", "UNKNOWN", "UNK", "NOT_RESPONDING", "CLOUD", "FUTURE", "FUTR", "REBOOT", "REBOOT_REQUESTED"),
    *("POWER_DOWN", "POWERED_DOWN", "POWERING_DOWN", "POWER_UP", "POWERING_UP", "POW_DN", "POW_UP"),
}
"""States of nodes that are there, or that nobody counts on."""
_FUTURE = "FUTURE"


def value_of(words: Words, *keys: str) -> str:
    """Return the value of the first of some keys that has one; nothing if none has."""
    return next((words[key].strip() for key in keys if words.get(key, "").strip().lower() not in _NOTHING), "")


def whole(words: Words, where: str, *keys: str, default: int = 0) -> int:
    """Return a whole number; ``where`` begins the message if it is none. Unlimited is the default."""
    text = value_of(words, *keys)
    if not text or text.lower() in _UNLIMITED:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        key = next(key for key in keys if words.get(key, "").strip() == text)
        raise ParameterError(f"{where}: {key}={text[:40]} is no whole number")
    return int(text)


def seconds(words: Words, where: str, key: str) -> float | None:
    """Return a time in seconds; Slurm counts a plain number in minutes. None where there is no limit."""
    text = value_of(words, key)
    if not text or text.lower() in _UNLIMITED:
        return None
    is_minutes = text.isascii() and text.isdecimal() and len(text) <= 12
    found = float(text) * 60 if is_minutes else seconds_of(text) if ":" in text or "-" in text else None
    if found is None:
        raise ParameterError(f"{where}: {key}={text[:40]} is no time such as 90 (minutes), 04:00:00 or 2-00:00:00")
    return found


def gres_of(text: str, where: str) -> tuple[dict[str, int], list[str]]:
    """Return the GPUs by type of ``gpu:a100:4(S:0-1),nvme:1``, and what else stands there."""
    gpus: dict[str, int] = {}
    others: list[str] = []
    for item in filter(None, _IN_BRACKETS.sub("", text).split(",")):
        name, *rest = [part for part in item.strip().split(":") if part != "no_consume"]
        if name != "gpu":
            others.append(name)
            continue
        found = _GRES.fullmatch(rest[-1]) if rest else None
        if rest and found is None and len(rest) > 1:
            raise ParameterError(f"{where}: Gres={text[:60]} does not say how many GPUs there are")
        count = int(found[1]) * _POWERS[found[2].upper()] if found else 1
        kind = rest[0] if len(rest) > 1 or (rest and found is None) else UNTYPED
        gpus[kind] = gpus.get(kind, 0) + count
    return gpus, others


class SlurmMachine:
    """A machine of Slurm, put together from what is said of its parts.

    Parameters
    ----------
    source : str
        The name of the file.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._nodes: dict[str, Node] = {}
        self._away: dict[tuple[str, str, str], list[str]] = {}
        self._partitions: dict[str, dict[str, Any]] = {}
        self._reservations: dict[str, dict[str, Any]] = {}
        self._notes: dict[str, list[str]] = {}
        self._settings: dict[str, str] = {}
        self.licences: dict[str, int] = {}

    def note(self, text: str, of: str = "") -> None:
        """Keep something that is told; of several things it is said once."""
        names = self._notes.setdefault(text, [])
        if of and of not in names:
            names.append(of)

    def set(self, words: Words) -> None:
        """Take settings of the whole machine."""
        self._settings.update(words)

    def add_nodes(self, names: Iterable[str], words: Words, where: str) -> None:
        """Take nodes that have the same; those of the future are not there."""
        names = [*names]
        if _FUTURE in _states(value_of(words, "state")):
            self.note("nodes of the future are left out", fold_hosts(names))
            return
        twice = next((name for name in names if name in self._nodes), None)
        if twice is not None:
            raise ParameterError(f"{where}: node {twice} is there twice; give each once")
        self._nodes |= dict.fromkeys(names, self._node(words, where))
        self.add_away(names, words)

    def add_away(self, names: Iterable[str], words: Words) -> None:
        """Keep that nodes are down or drained, if their state is such."""
        kind = outage_kind(value_of(words, "state"))
        if kind and kind != "reservation":  # which are told by themselves
            reason = value_of(words, "reason")
            since = _SINCE.search(reason)
            told = reason[: since.start()].strip() if since else reason
            self._away.setdefault((kind, since[1] if since else "", told), []).extend(names)

    def _node(self, words: Words, where: str) -> Node:
        threads = whole(words, where, "threadspercore", default=1) or 1
        cpus = whole(words, where, "cputot", "cpus", "procs")
        sockets = whole(words, where, "sockets")
        if not sockets:
            sockets = whole(words, where, "socketsperboard") * (whole(words, where, "boards", default=1) or 1)
        per_socket = whole(words, where, "corespersocket")
        if sockets or per_socket or (threads > 1 and not cpus):
            cores = (sockets or 1) * (per_socket or 1)
            if not sockets and cpus:  # Slurm counts sockets from the CPUs then
                cores = max(cpus // threads, 1)
        else:
            cores = max(cpus // threads, 1)
        cores = min(cores, cpus) if cpus else cores
        if cpus == cores:  # then Slurm's CPUs are cores, and nobody counts their threads
            threads = 1
        kept = whole(words, where, "corespeccount")
        if kept >= cores:
            raise ParameterError(f"{where}: CoreSpecCount={kept} leaves no core for jobs")
        if kept:
            self.note("cores that Slurm keeps for the system are left out")
        elif value_of(words, "cpuspeclist"):
            self.note("not modelled: cores kept by CpuSpecList")
        memory, of_system = whole(words, where, "realmemory"), whole(words, where, "memspeclimit")
        if of_system:
            self.note("memory that Slurm keeps for the system is left out")
        gpus, others = gres_of(value_of(words, "gres"), where)
        for other in others:
            self.note("not modelled: generic resources besides GPUs", other)
        features = tuple(filter(None, value_of(words, "availablefeatures", "features", "feature").split(",")))
        return Node(
            cores=cores - kept,
            memory=max(memory - of_system, 0) if memory > 1 else None,  # 1 stands there if nobody said more
            threads_per_core=threads,
            gpus=tuple(sorted((kind, count) for kind, count in gpus.items() if count)),
            features=tuple(sorted(features)),
            weight=whole(words, where, "weight", default=1),
        )

    def add_partition(self, name: str, nodes: list[str], words: Words, where: str) -> None:
        """Take a partition of nodes, each a name, a list of hosts, or ALL."""
        if name in self._partitions:
            raise ParameterError(f"{where}: partition {name} is there twice; give each once")
        part: dict[str, Any] = {"name": name, "nodes": nodes}
        part["tier"] = whole(words, where, "prioritytier", "priority", default=1)
        part["max_time"], part["default_time"] = seconds(words, where, "maxtime"), seconds(words, where, "defaulttime")
        part["min_nodes"] = whole(words, where, "minnodes")
        part["min_nodes"] *= part["min_nodes"] > 1
        part["max_nodes"], part["max_cores"] = whole(words, where, "maxnodes"), whole(words, where, "maxcpuspernode")
        part["default_memory_per_core"] = self._memory(words, where, "default", "def")
        part["max_memory_per_core"] = self._memory(words, where, "greatest", "max")
        shared = value_of(words, "oversubscribe", "shared").upper().partition(":")[0]
        part["exclusive"] = shared == "EXCLUSIVE"
        if value_of(words, "exclusiveuser").upper() == "YES":
            self.note("not modelled: nodes of one user at a time (ExclusiveUser)", name)
        if shared in ("YES", "FORCE"):
            self.note("not modelled: jobs that share cores (OverSubscribe)", name)
        part["default"] = value_of(words, "default").upper() == "YES"
        allow = {
            key: [each for each in value_of(words, f"allow{key}").split(",") if each and each.upper() != "ALL"]
            for key in ("accounts", "groups", "qos")
        }
        if any(allow.values()):
            part["allow"] = {key: names for key, names in allow.items() if names}
        if any(value_of(words, f"deny{key}") for key in ("accounts", "qos")):
            self.note("not modelled: who is denied", name)
        state = value_of(words, "state").upper() or "UP"
        if state != "UP":
            self.note(f"taken for up, though it is {state[:20]}", name)
        self._partitions[name] = part

    def _memory(self, words: Words, where: str, told: str, key: str) -> int | None:
        """Return MB of each core, by default or at most; 0 where it is said of a node, None where it is not said."""
        if whole(words, where, f"{key}mempernode"):
            self.note(f"not modelled: {told} memory of a node", value_of(words, "partitionname"))
            return 0
        return whole(words, where, f"{key}mempercpu") or None

    def add_reservation(self, name: str, words: Words) -> None:
        """Take a reservation of whole nodes."""
        if not value_of(words, "nodes"):
            self.note("left out: reservations without nodes", name)
            return
        entry: dict[str, Any] = {"nodes": value_of(words, "nodes"), "kind": "reservation", "name": name}
        entry["begin"], entry["end"] = value_of(words, "starttime") or None, value_of(words, "endtime") or None
        for key in ("users", "accounts"):
            entry[key] = list(filter(None, value_of(words, key).split(",")))
        self._reservations[name] = entry

    def licence(self, text: str) -> None:
        """Take licences as Slurm's setting has them, ``matlab:10,ansys``."""
        for item in filter(None, re.split(r"[,;]", text)):
            name, _, count = item.strip().partition(":")
            self.licences[name] = int(count) if count.isdecimal() else 1

    def _threads_of(self, items: Iterable[str]) -> int:
        """Return the threads of a core of the nodes of a partition: the fewest, where its nodes differ."""
        if all(node.threads_per_core == 1 for node in self._nodes.values()):
            return 1
        names: set[str] = set()
        for item in items:
            with contextlib.suppress(ParameterError):  # which the description tells, with its place
                names.update(self._nodes if item == "ALL" else expand_hosts(item, MOST_NODES))
        return min((self._nodes[name].threads_per_core for name in names if name in self._nodes), default=1)

    def content(self, nodes_of: Callable[[str], list[str]] | None = None) -> dict[str, Any]:
        """Return all of it as a description has it.

        Parameters
        ----------
        nodes_of : callable, optional
            Returns what stands for an item of the nodes of partitions; by default the item itself.
        """
        if not self._nodes:
            raise ParameterError(
                f"{self._source}: no node is described; put what scontrol show node prints into the same file"
            )
        settings = self._settings
        default = whole(settings, f"{self._source}, DefMemPerCPU", "defmempercpu")
        most = whole(settings, f"{self._source}, MaxMemPerCPU", "maxmempercpu")
        is_linear = "linear" in value_of(settings, "selecttype").lower()
        for part in self._partitions.values():
            for key, of_all in (("default_memory_per_core", default), ("max_memory_per_core", most)):
                part[key] = of_all if part[key] is None else part[key]
            part["exclusive"] |= is_linear
            if nodes_of is not None:
                part["nodes"] = [each for item in part["nodes"] for each in nodes_of(item)]
            threads = self._threads_of(part["nodes"])  # Slurm's limits are of CPUs, which are threads
            part["default_memory_per_core"] *= threads
            part["max_memory_per_core"] *= threads
            part["max_cores"] = -(-part["max_cores"] // threads)
        if is_linear:
            self.note("all jobs have whole nodes (select/linear)")
        elif "memory" not in (parameters := value_of(settings, "selecttypeparameters")).lower() and parameters:
            self.note(f"this Slurm does not count memory ({parameters}); simulations do, for jobs that ask for it")
        self.licence(value_of(settings, "licenses"))
        buffers = value_of(settings, "burstbuffertype")
        empty = [name for name, part in self._partitions.items() if not part["nodes"]]
        for name in empty:
            self.note("left out: partitions without nodes", name)
        found: dict[str, Any] = {"order": "names", "nodes": kinds_of(self._nodes.items())}
        found["name"] = value_of(settings, "clustername") or None
        found["partitions"] = [part for name, part in self._partitions.items() if name not in empty]
        found["outages"] = [
            {"nodes": fold_hosts(names), "kind": kind}
            | ({"begin": since} if since else {})
            | ({"reason": reason} if reason else {})
            for (kind, since, reason), names in self._away.items()
        ] + [*self._reservations.values()]
        found["licences"] = self.licences
        found["burst_buffers"] = [buffers] if buffers else []
        if self._partitions and not any(part["default"] for part in self._partitions.values()):
            self.note("no partition is said to be the default")
        found["notes"] = [f"{text}: {_listed(names)}" if names else text for text, names in self._notes.items()]
        return found


def outage_kind(text: str) -> str:
    """Return the kind of outage that a state is, such as ``DOWN*+DRAIN``: the first of down, drain, reservation.

    Nothing is returned where nodes are there. Of the marks behind a state two count: ^ is of nodes that are rebooted, $
    of those within a reservation for maintenance.

    Examples
    --------
    >>> outage_kind("DOWN*+DRAIN"), outage_kind("idle$"), outage_kind("mixed")
    ('down', 'reservation', '')
    """
    states = _states(text)
    found = next((kind for kind, words in _AWAY.items() if states & words), "")
    return found or ("down" if "^" in text else "reservation" if "$" in text else "")


def is_known_state(text: str) -> bool:
    """Return whether every part of a state is one that Slurm is known to have."""
    return _states(text) <= set().union(_THERE, *_AWAY.values())


def _states(text: str) -> set[str]:
    """Return the states of nodes, without the marks behind them."""
    return {_ENDS.sub("", each) for each in text.upper().replace(",", "+").split("+")}


def _listed(names: list[str]) -> str:
    more = len(names) - 5
    return ", ".join(names[:5]) + (f" and {counted(more, 'other')}" if more > 0 else "")
