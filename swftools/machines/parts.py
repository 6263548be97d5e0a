# SPDX-License-Identifier: BSD-3-Clause
"""What a description of a machine is made of: kinds of nodes, partitions, outages; pydantic checks their types.

``swftools/machines/numbering.py`` judges what needs more than one of them. pydantic is imported here, so whatever must
start at once imports this where it needs it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator, Strict, StringConstraints
from pydantic.dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.machines.amounts import MOST_MEMORY, megabytes_of
from swftools.machines.hostlist import count_hosts
from swftools.machines.slurm_parts import PreemptMode, Time, Weights
from swftools.parameters.durations import seconds_of

CLOSED = ConfigDict(extra="forbid")

UNTYPED = "gpu"
"""The type of GPUs whose type is not told."""

_LATEST = 1e11
"""Seconds that a moment may be."""

MOST_NODES = 200_000
"""Of a machine."""


def _memory(value: Any) -> Any:
    """Return MB; a text has a unit."""
    if not isinstance(value, str):
        return value
    try:
        return megabytes_of(value)
    except ParameterError as error:
        raise ValueError(str(error)) from error


def _time(value: Any) -> Any:
    """Return seconds of a time such as 2h; none of unlimited."""
    if not isinstance(value, str):
        return value
    if value.casefold() in ("unlimited", "none"):
        return None
    found = seconds_of(value)
    if found is None:
        raise ValueError(f"{value!r} is no time such as 90 (seconds), 30m, 4h, 2d, 04:00:00 or unlimited")
    return found


def _when(value: Any) -> Any:
    """Return seconds, or a date as it is written."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LATEST:
        return float(value)
    if isinstance(value, str):
        found = seconds_of(value) if "-" not in value else None
        if found is not None:
            return found
        with suppress(ValueError):
            datetime.fromisoformat(value)
            return value
    elif value is None:
        return None
    raise ValueError(f"{value!r} is neither a date such as 2026-01-31T08:00 nor a time such as 3600 or 2h")


def _known(value: Any) -> float | bool | None:
    """Return whether, or since which second, something is known; None: as is usual."""
    if value is None or isinstance(value, bool):
        return value
    with suppress(ValueError):
        since = _when(value)
        if isinstance(since, float):
            return since
    raise ValueError(f"{value!r} is neither true nor false nor a time such as 3600 or 2h")


def _hosts(value: str) -> str:
    try:
        count = count_hosts(value)
    except ParameterError as error:
        raise ValueError(str(error)) from error
    if count > MOST_NODES:
        raise ValueError(f"{value[:60]!r} names {count:,} nodes, more than {MOST_NODES:,}; shorten it")
    return value


def _kind_name(value: str) -> str:
    if re.search(r"\s", value):
        raise ValueError(f"{value!r}: a name of a kind of nodes has no blanks")
    return value


def _several(value: Any) -> Any:
    """Return a list, of which one may stand by itself."""
    return (value,) if isinstance(value, str) else value


def _gpus(value: Any) -> Any:
    """Return GPUs by type; a number is of those whose type is not told."""
    if isinstance(value, dict):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return {UNTYPED: value}
    raise ValueError(f"{value!r} is neither a whole number of GPUs nor how many there are of each type, as {{a100: 4}}")


def _filled(value: dict[str, int]) -> dict[str, int]:
    return {kind: count for kind, count in value.items() if count}


Text = Annotated[str, Strict(), StringConstraints(min_length=1)]
Flag = Annotated[bool, Strict()]
Positive = Annotated[int, Strict(), Field(ge=1, le=1 << 24)]
Number = Annotated[int, Strict(), Field(ge=0, le=1 << 31)]
Megabytes = Annotated[Annotated[int, Strict(), Field(ge=0, le=MOST_MEMORY)], BeforeValidator(_memory)]
Seconds = Annotated[Annotated[float, Field(gt=0, le=1e10)] | None, BeforeValidator(_time)]
Moment = Annotated[float | str | None, PlainValidator(_when)]
Knowledge = Annotated[float | bool | None, PlainValidator(_known)]
Watts = Annotated[float, Field(ge=0, le=1e9)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_several)]
SomeTexts = Annotated[Annotated[tuple[Text, ...], Field(min_length=1)], BeforeValidator(_several)]


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Power:
    """Power of nodes of a kind, as ``swftools.energy`` counts it; told, and not simulated."""

    busy: Watts | None = None
    """W of a busy core."""
    idle: Watts | None = None
    """W of an idle core."""
    static: Watts | None = None
    """W of the rest of a node."""


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class NodeKind:
    """Nodes that are alike."""

    cores: Annotated[int, Strict(), Field(ge=1, le=16_383)]
    """Cores of each; threads of a core are not counted."""
    kind: Annotated[Text, AfterValidator(_kind_name)] = ""
    """Its name; by default the names of its nodes, as they are written."""
    names: Annotated[Text, AfterValidator(_hosts)] | None = None
    """Names of the nodes, as a list of hosts; by default the kind's with numbers from 1 on."""
    count: Annotated[int, Strict(), Field(ge=1, le=MOST_NODES)] | None = None
    """How many there are; not needed beside names."""
    threads_per_core: Annotated[int, Strict(), Field(ge=1, le=64)] = 1
    """Threads of each core that the batch system counts as processors; logs that do so are read as cores by it."""
    memory: Megabytes | None = None
    """MB of each; None: it is not known, and never lacks."""
    gpus: Annotated[
        dict[Text, Annotated[int, Strict(), Field(ge=0, le=500)]], BeforeValidator(_gpus), AfterValidator(_filled)
    ] = field(default_factory=dict)
    """GPUs of each, by type."""
    features: Texts = ()
    switch: Text | None = None
    weight: Number = 1
    """Nodes of lower weight are taken first, by placement that looks at it."""
    speed: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Relative to the others."""
    power: Power | None = None


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Allowed:
    """Who may use a partition: policy ``slurm`` looks at accounts and QOS; nobody named: all."""

    accounts: Texts = ()
    groups: Texts = ()
    users: Texts = ()
    qos: Texts = ()


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Denied:
    """Who may not use a partition: policy ``slurm`` looks at it."""

    accounts: Texts = ()
    qos: Texts = ()


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Partition:
    """Some nodes of a machine, and the limits of jobs there; limits of 0 are none."""

    name: Text
    nodes: SomeTexts = ("ALL",)
    """ALL, kinds of nodes, or lists of hosts."""
    tier: Number = 1
    """The higher, the earlier its jobs go, as Slurm counts it."""
    max_time: Seconds = None
    """Longest time that a job may request, s; None: any."""
    default_time: Seconds = None
    """Of jobs that request none, s; told."""
    min_nodes: Number = 0
    max_nodes: Number = 0
    max_cores: Number = 0
    """Most cores of a job on each node."""
    default_memory_per_core: Megabytes = 0
    max_memory_per_core: Megabytes = 0
    exclusive: Flag = False
    """Whether jobs have whole nodes."""
    default: Flag = False
    """Whether jobs go there that name no partition."""
    allow: Allowed | None = None
    deny: Denied | None = None
    job_factor: Annotated[float, Strict(), Field(ge=0, le=1e9)] = 1.0
    """Slurm's PriorityJobFactor; this and what follows is for policy ``slurm`` only."""
    qos: Text | None = None
    """The partition's own QOS."""
    preempt_mode: PreemptMode = "cluster"
    grace_time: Time = 0.0
    billing_weights: Weights = field(default_factory=dict)
    """By resource; of memory for each MB, or as in 0.25G for each GB."""
    default_memory_per_node: Megabytes = 0
    max_memory_per_node: Megabytes = 0


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Outage:
    """Nodes that are away for a while, or kept for somebody."""

    nodes: SomeTexts
    """As of a partition."""
    kind: Literal["down", "drain", "reservation"] = "down"
    begin: Moment = None
    """Seconds as submissions are counted, or a date; None: always."""
    end: Moment = None
    """As begin; None: never."""
    name: Text | None = None
    known: Knowledge = None
    """Whether begin and end are known before, or since when, s; None: those of drains and reservations are."""
    users: Texts = ()
    """Who may use a reservation, or whoever is of one of ``accounts``."""
    accounts: Texts = ()
    reason: Text | None = None
