# SPDX-License-Identifier: BSD-3-Clause
"""How Slurm is configured, as a description of a machine says it under ``slurm``; pydantic checks the types.

Keys are those of ``SlurmSite`` and its parts. ``swftools/machines/slurm_of_parts.py`` makes these, and judges what
needs more than one key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator, Strict
from pydantic.dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.machines.amounts import megabytes_of
from swftools.machines.slurm_site import DEFAULTS, OF_LONG_CYCLES, RESOURCES
from swftools.parameters.durations import seconds_of
from swftools.parameters.spelling import did_you_mean

CLOSED = ConfigDict(extra="forbid")

PARENT = "parent"
"""Shares of who shares as the account above does."""

ROOT = "root"
"""The account above all others."""

_VERSION = re.compile(r"([0-9]{2})[.]([0-9]{1,2})(?:[.].*)?", re.ASCII)
_UNITS = {"k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}
_WEIGHT = re.compile(r"(-?[0-9]+(?:[.][0-9]*)?|-?[.][0-9]+)([kmgt]?)", re.ASCII | re.IGNORECASE)
_MOST = 1e15


def _version(value: Any) -> Any:
    """Return a version as two numbers with a point; what is no text was written without quotes."""
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    found = _VERSION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is no version of Slurm such as 22.05")
    return f"{int(found[1]):02}.{int(found[2]):02}"


def _time(value: Any) -> Any:
    """Return seconds of a time such as 2h."""
    if not isinstance(value, str):
        return value
    found = seconds_of(value)
    if found is None:
        raise ValueError(f"{value!r} is no time such as 90 (seconds), 30m, 4h, 2d or 04:00:00")
    return found


def _small(value: Any) -> Any:
    """Return texts in small letters."""
    if isinstance(value, str):
        return value.lower()
    return [_small(each) for each in value] if isinstance(value, list | tuple) else value


def _several(value: Any) -> Any:
    """Return a list, of which one may stand by itself."""
    return (value,) if isinstance(value, str) else value


def _words(value: Any) -> Any:
    """Return a list of words in small letters, which may be one text with commas."""
    if isinstance(value, str):
        return [each.strip() for each in value.lower().split(",")]
    return _small(value)


def _shares(value: Any) -> float | str:
    """Return shares; ``parent`` stays."""
    if value == PARENT:
        return PARENT
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST:
        return float(value)
    raise ValueError(f"{str(value)[:40]!r} is neither a number of shares from 0 on nor {PARENT}")


def _resources(read: Callable[[str, Any], Any], least: float) -> Callable[[Any], Any]:
    """Return what reads amounts by resource, each by a function of its name and value, and at least so much."""

    def checked(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found = {}
        for name, amount in value.items():
            called = str(name).lower()
            if called not in RESOURCES:
                near = did_you_mean([called], RESOURCES) or f"; there are: {', '.join(RESOURCES)}"
                raise ValueError(f"no resource {name!r} is simulated{near}")
            number = read(called, amount)
            if isinstance(number, bool) or not isinstance(number, int | float) or not least <= number <= _MOST:
                raise ValueError(f"{name}: {str(amount)[:40]!r} is no number{' from 0 on' * (not least)}")
            found[called] = float(number)
        return found

    return checked


def _amount(name: str, value: Any) -> Any:
    """Return how much of a resource; memory may have a unit."""
    if name != "mem" or not isinstance(value, str):
        return value
    try:
        return megabytes_of(value)
    except ParameterError as error:
        raise ValueError(str(error)) from error


def _memory(value: Any) -> Any:
    return _amount("mem", value)


def weight_of(name: str, value: Any) -> Any:
    """Return the weight of a resource, which may be below 0.

    With a unit, as in 0.25G, it is of that much memory, and becomes one of 1 MB.
    """
    found = _WEIGHT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or (found[2] and name != "mem"):
        return value
    return float(found[1]) / _UNITS[found[2].lower() or "m"]


def _scheduler(value: Any) -> Any:
    """Return parameters of the scheduler: those that are simulated are numbers, a word that is set is 1."""
    if not isinstance(value, dict):
        return value
    for name, each in value.items():
        if name in DEFAULTS and (isinstance(each, bool) or not isinstance(each, int | float) or not isfinite(each)):
            raise ValueError(f"{name}: {str(each)[:40]!r} is no number")
        if name in OF_LONG_CYCLES and each < 0:
            raise ValueError(f"{name}: {each:g} is below 0")
    return {
        str(name): float(each) if isinstance(each, int | float) else "" if each is None else str(each)
        for name, each in value.items()
    }


def _above_0(value: float) -> float:
    if value <= 0:
        raise ValueError(f"{value:g} is not above 0")
    return value


Text = Annotated[str, Strict(), Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_several)]
Words = Annotated[tuple[Text, ...], BeforeValidator(_words)]
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(ge=0, le=1 << 40)]
Weight = Annotated[float, Strict(), Field(ge=0, le=_MOST)]
Time = Annotated[Annotated[float, Field(ge=0, le=1e10)], BeforeValidator(_time)]
Megabytes = Annotated[Annotated[float, Strict(), Field(ge=0, le=_MOST)], BeforeValidator(_memory)]
Shares = Annotated[float | str, PlainValidator(_shares)]
Amounts = Annotated[dict[str, float], BeforeValidator(_resources(_amount, 0.0))]
Weights = Annotated[dict[str, float], BeforeValidator(_resources(weight_of, -_MOST))]
PreemptMode = Annotated[Literal["cluster", "off", "requeue", "cancel", "suspend"], BeforeValidator(_small)]


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Limits:
    """Limits of an account, a user or a QOS, as ``SlurmLimits`` has them; None, or not there: none."""

    grp_jobs: Count | None = None
    max_jobs: Count | None = None
    max_wall: Time | None = None
    grp_tres: Amounts = field(default_factory=dict)
    max_tres: Amounts = field(default_factory=dict)
    max_tres_per_node: Amounts = field(default_factory=dict)
    grp_tres_mins: Amounts = field(default_factory=dict)
    grp_tres_run_mins: Amounts = field(default_factory=dict)
    max_tres_mins: Amounts = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Qos(Limits):
    """A quality of service, as ``SlurmQos`` has it."""

    name: Text
    priority: Weight = 0.0
    usage_factor: Weight = 1.0
    preempt: Texts = ()
    preempt_mode: PreemptMode = "cluster"
    grace_time: Time = 0.0
    preempt_exempt_time: Time | None = None
    """None: as the machine has it."""
    flags: Words = ()
    max_jobs_pu: Count | None = None
    max_jobs_pa: Count | None = None
    max_tres_pu: Amounts = field(default_factory=dict)
    max_tres_pa: Amounts = field(default_factory=dict)
    min_tres: Amounts = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Association(Limits):
    """What an account and a user in it have both."""

    name: Text
    shares: Shares = 1.0
    """A number, or ``parent``."""
    qos: Texts | None = None
    """Which it may use; None: as the account above."""
    default_qos: Text | None = None
    """None: that of the account above."""
    priority: Weight = 0.0
    usage: Weight | None = None
    """Before the log begins, billing units x s; None: not told."""


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class User(Association):
    """A user in an account."""

    partition: Text | None = None
    """None: of all partitions."""
    default: Flag = False
    """Whether the user's jobs are of this account if they name none; so it is where the user is of no other."""


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Account(Association):
    """An account, with its users."""

    parent: Text = ROOT
    """The account above it; of root it says nothing."""
    users: tuple[User, ...] = ()


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Switch:
    """A switch: of nodes, or of other switches."""

    name: Text
    nodes: Texts = ()
    """As of a partition: kinds of nodes, or lists of hosts."""
    switches: Texts = ()


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Priority:
    """How priorities are made, as ``SlurmPriority`` has it."""

    type: Literal["multifactor", "basic"] = "multifactor"
    age: Weight = 0.0
    association: Weight = 0.0
    fair_share: Weight = 0.0
    job_size: Weight = 0.0
    partition: Weight = 0.0
    qos: Weight = 0.0
    tres: Weights = field(default_factory=dict)
    max_age: Time = 7 * 86_400.0
    half_life: Time = 7 * 86_400.0
    calc_period: Annotated[Time, AfterValidator(_above_0)] = 300.0
    favors_small: Flag = False
    damping: Annotated[Weight, AfterValidator(_above_0)] = 1.0
    flags: Words = ()


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Slurm:
    """How Slurm is configured, as ``SlurmSite`` has it."""

    version: Annotated[str, BeforeValidator(_version)] = "22.05"
    scheduler_type: Literal["backfill", "builtin"] = "backfill"
    scheduler: Annotated[dict[str, float | str], BeforeValidator(_scheduler)] = field(default_factory=dict)
    """``SchedulerParameters``; a word that is set is 1."""
    select: Words = ("cr_core_memory",)
    preempt_type: Literal["none", "qos", "partition_prio"] = "none"
    preempt_mode: Annotated[Literal["off", "requeue", "cancel", "suspend"], BeforeValidator(_small)] = "off"
    preempt_exempt_time: Time = 0.0
    enforce: Words = ()
    priority: Priority = field(default_factory=Priority)
    qos: tuple[Qos, ...] = ()
    accounts: tuple[Account, ...] = ()
    switches: tuple[Switch, ...] = ()
    default_memory_per_cpu: Megabytes = 0.0
    default_memory_per_node: Megabytes = 0.0
    requeue_delay: Time = 121.0
    kill_wait: Time = 30.0
    over_time_limit: Time = 0.0
    not_simulated: Texts = ()
    """What the configuration has besides, a sentence each."""
