# SPDX-License-Identifier: BSD-3-Clause
"""A machine of Slurm from what is said of its parts: nodes, partitions, reservations, settings.

The readers of slurm.conf and of what scontrol prints, as text and as JSON, put it together here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.formats.slurm_settings import SlurmSettings, misspelt, partition_of
from swftools.machines.formats.slurm_words import (
    Words,
    gres_of,
    outage_kind,
    seconds,
    states_of,
    value_of,
    whole,
)
from swftools.machines.hostlist import expand_hosts, fold_hosts
from swftools.machines.kinds import Node, kinds_of
from swftools.machines.parts import MOST_NODES
from swftools.output.amounts import counted

_SINCE = re.compile(r"\[[^\]@]*@([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+(?:[+-][0-9:]+)?)\]$")
_FUTURE = "FUTURE"
_SELECT_LACKS = (
    "SelectType is not said: taken for select/cons_tres, which is usual since 23.11; of an older Slurm write "
    "SelectType=select/linear, which gives each job whole nodes"
)


class SlurmMachine:
    """A machine of Slurm, put together from what is said of its parts.

    Parameters
    ----------
    source : str
        The name of the file.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._not_simulated: dict[str, list[str]] = {}
        self._lines: dict[str, str] = {}
        self._nodes: dict[str, Node] = {}
        self._away: dict[tuple[str, str, str], list[str]] = {}
        self._partitions: dict[str, dict[str, Any]] = {}
        self._reservations: dict[str, dict[str, Any]] = {}
        self._notes: dict[str, list[str]] = {}
        self._settings: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self.places: dict[tuple[Any, ...], str] = {}
        self.licences: dict[str, int] = {}

    def note(self, text: str, of: str = "") -> None:
        """Keep something that is told; of several things it is said once."""
        names = self._notes.setdefault(text, [])
        if of and of not in names:
            names.append(of)

    def set(self, words: Words, where: str) -> None:
        """Take settings of the whole machine, which stand at a place."""
        self._settings.update(words)
        self._places.update(dict.fromkeys(words, where))

    def note_misspelt(self, words: Words, of: str) -> None:
        """Keep which words of a line, or of the whole machine, are no settings of Slurm, but nearly."""
        for key in words:
            if meant := misspelt(key, of):
                self.note(f"passed over: {key}, which is no setting of Slurm; did you mean {meant}?")

    def note_usual(self) -> None:
        """Keep what is taken for usual of settings that are all told, and was not always so."""
        if not value_of(self._settings, "selecttype", "selecttypeparameters"):
            self.note(_SELECT_LACKS)

    def add_nodes(self, names: Iterable[str], words: Words, where: str) -> None:
        """Take nodes that have the same; those of the future are not there."""
        names = [*names]
        if _FUTURE in states_of(value_of(words, "state")):
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
        part["default_memory_per_core"] = _memory_of_core(words, where, "def")
        part["max_memory_per_core"] = _memory_of_core(words, where, "max")
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
        of_slurm, others = partition_of(words, where)
        part |= of_slurm
        for each in others:
            self._not_simulated.setdefault(each, []).append(name)
        self._lines[name] = where
        state = value_of(words, "state").upper() or "UP"
        if state != "UP":
            self.note(f"taken for up, though it is {state[:20]}", name)
        self._partitions[name] = part

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
        of_node = whole(settings, f"{self._source}, MaxMemPerNode", "maxmempernode")
        is_linear = "linear" in value_of(settings, "selecttype").lower()
        for part in self._partitions.values():
            for key, of_all in (("default_memory_per_core", default), ("max_memory_per_core", most)):
                part[key] = of_all if part[key] is None else part[key]
            if of_node and not part["max_memory_per_core"]:
                part.setdefault("max_memory_per_node", of_node)
            part["exclusive"] |= is_linear
            if nodes_of is not None:
                part["nodes"] = [each for item in part["nodes"] for each in nodes_of(item)]
            threads = self._threads_of(part["nodes"])  # Slurm's limits are of CPUs, which are threads
            part["default_memory_per_core"] *= threads
            part["max_memory_per_core"] *= threads
            part["max_cores"] = -(-part["max_cores"] // threads)
            if threads > 1:
                weights = part.setdefault("billing_weights", {"cpu": 1.0})
                part["billing_weights"] = weights | {"cpu": weights.get("cpu", 0.0) * threads}
        if is_linear:
            self.note("all jobs have whole nodes (select/linear)")
        elif "memory" not in (parameters := value_of(settings, "selecttypeparameters")).lower() and parameters:
            told = f"this Slurm does not count memory ({parameters})"
            self.note(f"{told}; simulations do, for jobs that ask for it, but for policy slurm")
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
        found["slurm"] = self._slurm(found["partitions"])
        found["notes"] = [f"{text}: {_listed(names)}" if names else text for text, names in self._notes.items()]
        return found

    def _slurm(self, partitions: list[dict[str, Any]]) -> dict[str, Any]:
        """Return how Slurm is configured, and keep the places of what it names."""
        found = SlurmSettings(self._settings, self._places).content()
        found["default_memory_per_cpu"] *= self._threads_of(["ALL"])
        told = [f"{each}: not simulated ({_listed(names)})" for each, names in self._not_simulated.items()]
        found["not_simulated"] = [*found.get("not_simulated", []), *told]
        for place, part in enumerate(partitions):
            self.places["partitions", place] = self._lines[part["name"]]
            if part.get("preempt_mode") == found["preempt_mode"]:  # scontrol prints that of the machine there
                del part["preempt_mode"]
        if "slurm_version" in self._places:
            self.places["slurm", "version"] = self._places["slurm_version"]
        return found


def _memory_of_core(words: Words, where: str, key: str) -> int | None:
    """Return MB of each core, by default or at most; 0 where it is said of a node, None where it is not said."""
    return 0 if whole(words, where, f"{key}mempernode") else whole(words, where, f"{key}mempercpu") or None


def _listed(names: list[str]) -> str:
    more = len(names) - 5
    return ", ".join(names[:5]) + (f" and {counted(more, 'other')}" if more > 0 else "")
