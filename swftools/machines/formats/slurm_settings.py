# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's settings of the whole machine, and of partitions, as a description has them under ``slurm``.

What the settings mean follows slurm.conf(5). What has to do with scheduling and is not simulated becomes a sentence
each; settings of daemons, logs, accounting and the like are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.formats.slurm_words import Words, seconds, value_of, whole
from swftools.machines.slurm_parts import weight_of
from swftools.machines.slurm_site import DEFAULTS, RESOURCES

SWITCHES_LACK = "TopologyPlugin=topology/tree: all nodes lie together until topology.conf is given"
"""What is told of a machine whose switches are not."""

_WEIGHTS = {
    "PriorityWeightAge": "age",
    "PriorityWeightAssoc": "association",
    "PriorityWeightFairshare": "fair_share",
    "PriorityWeightJobSize": "job_size",
    "PriorityWeightPartition": "partition",
    "PriorityWeightQOS": "qos",
}
_TIMES = {
    "PriorityMaxAge": ("priority", "max_age", 60),
    "PriorityDecayHalfLife": ("priority", "half_life", 60),
    "PriorityCalcPeriod": ("priority", "calc_period", 60),
    "PreemptExemptTime": ("", "preempt_exempt_time", 60),
    "KillWait": ("", "kill_wait", 1),
    "OverTimeLimit": ("", "over_time_limit", 60),
}
"""Of each the part and the key, and the seconds of a plain number."""
_PRIORITIES = ("multifactor", "basic")
_PREEMPTS = ("none", "qos", "partition_prio")
_MODES = ("requeue", "cancel", "suspend", "off")
_SCHEDULERS = ("backfill", "builtin")
_RENAMED = {"max_job_bf": "bf_max_job_test"}
_OF_PREEMPTION = ("youngest_first", "strict_order", "reorder_count")
"""PreemptParameters that are simulated: they may stand among SchedulerParameters, too, with ``preempt_`` before."""
_LONGEST = 1e10
_WITH_UNIT = re.compile(r"([0-9]+)\s*(sec|min)?", re.ASCII)
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", re.ASCII)
_OFF: dict[str, tuple[str, tuple[str, ...]]] = {
    "jobsubmitplugins": ("JobSubmitPlugins", ("",)),
    "prioritysitefactorplugin": ("PrioritySiteFactorPlugin", ("",)),
    "priorityparameters": ("PriorityParameters", ("",)),
    "priorityusageresetperiod": ("PriorityUsageResetPeriod", ("",)),
    "completewait": ("CompleteWait", ("", "0")),
    "resvoverrun": ("ResvOverRun", ("", "0")),
    "jobdefaults": ("JobDefaults", ("",)),
    "enforcepartlimits": ("EnforcePartLimits", ("", "no")),
    "federationparameters": ("federation, FederationParameters", ("",)),
    "nodefeaturesplugins": ("NodeFeaturesPlugins", ("",)),
    "topologyparam": ("TopologyParam", ("",)),
    "mcsplugin": ("MCSPlugin", ("", "mcs/none")),
    "dependencyparameters": ("DependencyParameters", ("",)),
    "suspendprogram": ("power saving, SuspendProgram", ("",)),
    "suspendtime": ("power saving, SuspendTime", ("", "infinite", "-1", "0")),
    "jobrequeue": ("JobRequeue", ("", "1")),
}
"""Settings that decide what starts when and are not simulated: what is told, and the values at which they do nothing.
"""
_OF_PARTITION_OFF = {
    "overtimelimit": ("OverTimeLimit", ("", "0")),
    "lln": ("LLN", ("", "no")),
    "reqresv": ("ReqResv", ("", "no")),
    "rootonly": ("RootOnly", ("", "no")),
    "allocnodes": ("AllocNodes", ("", "all")),
    "alternate": ("Alternate", ("",)),
    "selecttypeparameters": ("SelectTypeParameters", ("",)),
    "jobdefaults": ("JobDefaults", ("",)),
    "maxcpuspersocket": ("MaxCPUsPerSocket", ("", "unlimited", "infinite")),
    "powerdownonidle": ("PowerDownOnIdle", ("", "no")),
    "suspendtime": ("power saving, SuspendTime", ("", "infinite", "-1", "0", "global")),
    "exclusivetopo": ("ExclusiveTopo", ("", "no")),
}

_READ = (
    *("PriorityType", "PriorityWeightTRES", "PriorityFavorSmall", "FairShareDampeningFactor", "PriorityFlags"),
    *("SchedulerType", "SchedulerParameters", "SelectType", "SelectTypeParameters", "AccountingStorageEnforce"),
    *("PreemptType", "PreemptMode", "PreemptParameters", "TopologyPlugin", "DefMemPerCPU", "DefMemPerNode"),
    *("MaxMemPerCPU", "MaxMemPerNode", "ClusterName", "Licenses", "BurstBufferType", *_WEIGHTS, *_TIMES),
)
_READ_OF_PARTITION = (
    *("PriorityTier", "PriorityJobFactor", "Priority", "MaxTime", "DefaultTime", "MinNodes", "MaxNodes", "QOS"),
    *("MaxCPUsPerNode", "DefMemPerCPU", "MaxMemPerCPU", "DefMemPerNode", "MaxMemPerNode", "OverSubscribe", "Shared"),
    *("ExclusiveUser", "Default", "AllowAccounts", "AllowGroups", "AllowQos", "DenyAccounts", "DenyQos", "State"),
    *("PreemptMode", "GraceTime", "TRESBillingWeights", "Nodes"),
)
_READ_OF_NODE = (
    *("CPUs", "Procs", "Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore", "CoreSpecCount"),
    *("RealMemory", "MemSpecLimit", "CpuSpecList", "Gres", "Features", "Feature", "Weight", "State", "Reason"),
)
_OTHERS = ("PrEpParameters", "DefMemPerGPU")
"""Settings that are so near to one that is read that they would be taken for it."""
_KNOWN = {
    "": (*_READ, *_OTHERS, *(told.rpartition(" ")[2] for told, _ in _OFF.values())),
    "partitionname": (*_READ_OF_PARTITION, *_OTHERS, *(told for told, _ in _OF_PARTITION_OFF.values())),
    "nodename": _READ_OF_NODE,
}
"""Settings of the whole machine, and of what a line begins with."""
_ALIKE = 0.9
"""How much of a setting is that of another where it is the same, misspelt."""


@lru_cache(maxsize=10_000)
def misspelt(key: str, of: str = "") -> str:
    """Return the setting that is meant by a key in small letters which is none; nothing where that is not plain.

    Parameters
    ----------
    key : str
        The key.
    of : str
        What its line begins with, ``partitionname`` or ``nodename``; else it is of the whole machine.

    Examples
    --------
    >>> misspelt("priorityweigthage"), misspelt("priorityweightage"), misspelt("maxtme", "partitionname")
    ('PriorityWeightAge', '', 'MaxTime')
    """
    from difflib import get_close_matches  # noqa: PLC0415 (takes a while)

    known = {name.lower(): name for name in _KNOWN.get(of, ())}
    near = [] if key in known else get_close_matches(key, known, 1, _ALIKE)
    return known[near[0]] if near else ""


def number_of(text: str, where: str, key: str) -> float:
    """Return a number, without a fraction where it has none; ``where`` begins the message if it is none."""
    if not _NUMBER.fullmatch(text.strip()) or len(text) > 20:
        raise ParameterError(f"{where}: {key}={text[:40]} is no number; write one, such as 1000")
    return float(text)


def tres_of(text: str, where: str, *, are_weights: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Return amounts by resource of ``cpu=512,mem=64G,gres/gpu:a100=4``, and the names of those not simulated.

    Memory is in MB; a weight of memory is that of 1 MB. An amount of -1 is none.

    Raises
    ------
    ParameterError
        An item is not RESOURCE=NUMBER; ``where`` begins the message.

    Examples
    --------
    >>> tres_of("CPU=1.5,Mem=0.25G,license/x=2", "file", are_weights=True)
    ({'cpu': 1.5, 'mem': 0.000244140625}, ['license/x'])
    >>> tres_of("cpu=512,mem=1G,node=-1", "file")
    ({'cpu': 512.0, 'mem': 1024.0}, [])
    """
    found: dict[str, Any] = {}
    others: list[str] = []
    for item in filter(None, (each.strip() for each in text.split(","))):
        name, sign, amount = item.partition("=")
        name, amount = name.strip().lower(), amount.strip()
        if not sign or not name or not amount:
            raise ParameterError(f"{where}: {item[:40]!r} is not RESOURCE=NUMBER, such as cpu=512")
        if name not in RESOURCES:
            others.append(name)
            continue
        if amount == "-1" and not are_weights:
            continue
        if are_weights:
            number = weight_of(name, amount)
        else:
            number = _megabytes(amount) if name == "mem" else float(amount) if _NUMBER.fullmatch(amount) else None
        if not isinstance(number, float) or not (-1e15 if are_weights else 0.0) <= number <= 1e15:
            raise ParameterError(f"{where}: {item[:40]!r} is no number of {name}; write one, such as {name}=512")
        found[name] = number
    return found, others


def _megabytes(amount: str) -> float | None:
    """Return MB of an amount of memory with a unit of Slurm; none is MB."""
    units = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2, "p": 1024.0**3}
    unit = units.get(amount[-1:].lower())
    digits = amount if unit is None else amount[:-1]
    return float(digits) * (unit or 1.0) if _NUMBER.fullmatch(digits) else None


class SlurmSettings:
    """Settings of the whole machine, each with where it stands.

    Parameters
    ----------
    words : mapping of str to str
        Values by keys in small letters.
    places : mapping of str to str
        Where each stands, as in ``slurm.conf, line 3``.
    """

    def __init__(self, words: Words, places: Mapping[str, str]) -> None:
        self._words, self._places = words, places
        self.not_simulated: list[str] = []

    def content(self) -> dict[str, Any]:
        """Return what a description has under ``slurm``.

        Raises
        ------
        ParameterError
            A value is not as Slurm has it, or PriorityType is one that is not modelled.
        """
        priority: dict[str, Any] = {"type": self._priority_type()}
        found: dict[str, Any] = {"priority": priority}
        if version := self._text("slurm_version"):
            found["version"] = version
        for key, name in _WEIGHTS.items():
            if text := self._text(key):
                priority[name] = number_of(text, self._places[key.lower()], key)
        if text := self._text("priorityweighttres"):
            where = f"{self._places['priorityweighttres']}: PriorityWeightTRES"
            priority["tres"], others = tres_of(text, where, are_weights=True)
            self._tell("weights of resources besides those simulated", others)
        for key, (part, name, unit) in _TIMES.items():
            if text := self._text(key):
                (priority if part else found)[name] = self._time(key, text, unit)
        priority["favors_small"] = self._text("priorityfavorsmall").lower() in ("yes", "1", "true")
        if text := self._text("fairsharedampeningfactor"):
            priority["damping"] = number_of(text, self._places["fairsharedampeningfactor"], "FairShareDampeningFactor")
        priority["flags"] = self._list("priorityflags")
        kind = self._text("schedulertype").lower().removeprefix("sched/") or _SCHEDULERS[0]
        if kind not in _SCHEDULERS:
            self._tell("SchedulerType, taken for sched/builtin", [kind])
        found["scheduler_type"] = kind if kind in _SCHEDULERS else "builtin"
        found["scheduler"] = self._parameters(found)
        is_linear = self._text("selecttype").lower().endswith("linear")
        if select := [*(["linear"] if is_linear else []), *self._list("selecttypeparameters")]:
            found["select"] = select
        found["enforce"] = self._list("accountingstorageenforce")
        self._preemption(found)
        found["default_memory_per_cpu"] = whole(self._words, self._places.get("defmempercpu", ""), "defmempercpu")
        found["default_memory_per_node"] = whole(self._words, self._places.get("defmempernode", ""), "defmempernode")
        self._others()
        found["not_simulated"] = self.not_simulated
        return {key: value for key, value in found.items() if value or value == 0}

    def _text(self, key: str) -> str:
        return value_of(self._words, key.lower())

    def _list(self, key: str) -> list[str]:
        return [each.strip().lower() for each in self._text(key).split(",") if each.strip()]

    def _tell(self, what: str, names: list[str]) -> None:
        if names:
            self.not_simulated.append(f"{what}: not simulated ({', '.join(names)})")

    def _priority_type(self) -> str:
        text = self._text("prioritytype").lower()
        if not text and any(self._text(key) for key in _WEIGHTS):
            self.not_simulated.append("PriorityType is not said: taken for priority/multifactor, as there are weights")
        kind = text.removeprefix("priority/") or _PRIORITIES[0]
        if kind not in _PRIORITIES:
            known = " and ".join(f"priority/{each}" for each in _PRIORITIES)
            raise ParameterError(
                f"{self._places['prioritytype']}: PriorityType={text[:60]} is not modelled; {known} are"
            )
        return kind

    def _time(self, key: str, text: str, unit: int) -> float:
        """Return seconds; a plain number is of a unit, and ``sec`` and ``min`` may stand behind it."""
        if found := _WITH_UNIT.fullmatch(text):
            return float(found[1][:12]) * {"sec": 1, "min": 60, None: unit}[found[2]]
        if text.lower() in ("unlimited", "infinite"):
            return _LONGEST
        return seconds({key: text}, self._places[key.lower()], key) or 0.0

    def _parameters(self, found: dict[str, Any]) -> dict[str, float | str]:
        """Return SchedulerParameters; those that are simulated as numbers."""
        key = "schedulerparameters"
        values: dict[str, float | str] = {}
        for item in filter(None, (each.strip() for each in self._text(key).split(","))):
            name, sign, text = item.partition("=")
            name = _RENAMED.get(name.strip().lower(), name.strip().lower())
            where = f"{self._places[key]}: SchedulerParameters"
            if name == "requeue_delay":
                found["requeue_delay"] = number_of(text, where, name)
            elif name == "bf_interval" and text == "-1":  # which is how backfill is switched off
                found["scheduler_type"] = "builtin"
            elif name in DEFAULTS:
                values[name] = number_of(text, where, name) if sign else 1.0
            else:
                values[name] = text
        return values | self._preempt_parameters()

    def _preempt_parameters(self) -> dict[str, float | str]:
        """Return PreemptParameters that are simulated, by their names among SchedulerParameters; tell the others."""
        key, others = "preemptparameters", []
        values: dict[str, float | str] = {}
        for item in self._list(key):
            name, sign, text = item.partition("=")
            if name in _OF_PREEMPTION:
                where = f"{self._places[key]}: PreemptParameters"
                values[f"preempt_{name}"] = number_of(text, where, name) if sign else 1.0
            else:
                others.append(item[:60])
        self._tell("PreemptParameters", others)
        return values

    def _preemption(self, found: dict[str, Any]) -> None:
        kind = self._text("preempttype").lower().rpartition("/")[2] or "none"
        if kind not in _PREEMPTS:
            self._tell("PreemptType", [kind])
        found["preempt_type"] = kind if kind in _PREEMPTS else "none"
        found["preempt_mode"], others = preempt_mode_of(self._text("preemptmode"))
        self._tell("PreemptMode", others)

    def _others(self) -> None:
        """Tell what else decides what starts when."""
        for key, (name, off) in _OFF.items():
            text = self._text(key)
            plain = found[1] if (found := _WITH_UNIT.fullmatch(text)) else text.lower()
            if plain not in off:
                self.not_simulated.append(f"{name}={text[:60]}: not simulated")
        select = self._text("selecttype").lower().rpartition("/")[2]
        if select not in ("", "linear", "cons_res", "cons_tres"):
            self.not_simulated.append(f"SelectType={select}: taken for select/cons_tres")
        topology = self._text("topologyplugin").lower().rpartition("/")[2]
        if topology == "tree":
            self.not_simulated.append(SWITCHES_LACK)
        elif topology not in ("", "none", "default", "flat"):
            self.not_simulated.append(f"TopologyPlugin={topology}: not simulated")


def preempt_mode_of(text: str) -> tuple[str, list[str]]:
    """Return how jobs are preempted, and what else PreemptMode says.

    Examples
    --------
    >>> preempt_mode_of("SUSPEND,GANG"), preempt_mode_of(""), preempt_mode_of("WITHIN,REQUEUE")
    (('suspend', ['gang']), ('off', []), ('requeue', ['within']))
    """
    words = [each.strip().lower() for each in text.split(",") if each.strip()]
    mode = next((each for each in _MODES if each in words), "off")
    return mode, [each for each in words if each != mode]


def partition_of(words: Words, where: str) -> tuple[dict[str, Any], list[str]]:
    """Return what Slurm knows of a partition beside its nodes and limits of size; and what of it is not simulated.

    Raises
    ------
    ParameterError
        A value is not as Slurm has it; ``where`` begins the message.
    """
    found: dict[str, Any] = {}
    told: list[str] = []
    if text := value_of(words, "priorityjobfactor", "priority"):
        found["job_factor"] = number_of(text, where, "PriorityJobFactor")
    if text := value_of(words, "qos"):
        found["qos"] = text
    if text := value_of(words, "preemptmode"):
        found["preempt_mode"], others = preempt_mode_of(text)
        told += [f"PreemptMode={each}" for each in others]
    if text := value_of(words, "gracetime"):
        found["grace_time"] = number_of(text, where, "GraceTime")
    if text := value_of(words, "tresbillingweights"):
        found["billing_weights"], others = tres_of(text, f"{where}: TRESBillingWeights", are_weights=True)
        told += [f"TRESBillingWeights of {each}" for each in others]
    deny = {
        key: names
        for key in ("accounts", "qos")
        if (names := [each for each in value_of(words, f"deny{key}").split(",") if each])
    }
    if deny:
        found["deny"] = deny
    for key, told_key in (("defmempernode", "default_memory_per_node"), ("maxmempernode", "max_memory_per_node")):
        if amount := whole(words, where, key):
            found[told_key] = amount
    for key, (name, off) in _OF_PARTITION_OFF.items():
        text = value_of(words, key)
        if text.lower() not in off:
            told.append(f"{name}={text[:40]}")
    return found, told
