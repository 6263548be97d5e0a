# SPDX-License-Identifier: BSD-3-Clause
"""Values of keys of a description after a change, ``=``, ``+=`` or ``-=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.amounts import megabytes_of
from swftools.machines.hostlist import split_hosts
from swftools.parameters.durations import seconds_of
from swftools.parameters.spelling import did_you_mean
from swftools.parameters.strict_yaml import NotYamlError, read_value

_TIMES = (
    *("max_time", "default_time", "grace_time"),
    *("max_wall", "preempt_exempt_time", "max_age", "half_life", "calc_period"),
    *("requeue_delay", "kill_wait", "over_time_limit"),
)
_MEMORY = (
    *("memory", "default_memory_per_core", "max_memory_per_core"),
    *("default_memory_per_node", "max_memory_per_node", "default_memory_per_cpu", "mem"),
)
_LIMITS = ("max_nodes", "max_cores", "max_memory_per_core", "max_memory_per_node")
"""Of a partition; 0 is none."""
_LISTS = (
    *("features", "accounts", "groups", "users", "qos"),
    *("preempt", "flags", "select", "enforce", "switches"),
)


def value_in(value: str) -> Any:
    """Return the value that stands in a change."""
    try:
        return read_value(value)
    except NotYamlError as error:
        raise ParameterError(f"its value is {error}") from error


def changed_value(old: Any, key: str, sign: str, value: str) -> Any:
    """Return the value of a key after a change."""
    if sign == "=":
        return value_in(value)
    if key in ("nodes", *_LISTS):
        items = split_hosts(value)
        old = [old] if isinstance(old, str) else [*(old or ())]
        if sign == "+=":
            return [*old, *(item for item in items if item not in old)]
        missing = [item for item in items if item not in old]
        if missing:
            raise ParameterError(f"{key} has no {missing[0]!r}{did_you_mean(missing[:1], old)}")
        return [item for item in old if item not in items] or None
    read: Callable[[str], float | None] = seconds_of if key in _TIMES else megabytes_of if key in _MEMORY else number_in
    difference = read(value)
    if difference is None:
        raise ParameterError(f"{value!r} is no {'time' if key in _TIMES else 'number'} to add")
    if old is None and (key in _TIMES or key == "memory"):
        raise ParameterError(f"{key} has no value that could be changed; set it by =")
    if isinstance(old, str | bool | list | dict):
        raise ParameterError(f"{key} is no number; set it by =")
    if key in _LIMITS and not old:
        raise ParameterError(f"{key} is 0, which is no limit; set one by =")
    new = (old or 0) + (difference if sign == "+=" else -difference)
    if new < 0:
        raise ParameterError(f"leaves {new:,g} of {key}, which is below 0")
    if key in _LIMITS and not new:
        raise ParameterError(f"leaves 0 of {key}, which would be no limit; set it by =")
    return int(new) if float(new).is_integer() else new


def number_in(value: str) -> float | None:
    """Return the number that stands in a change; None if there is none."""
    found = read_value(value)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None
