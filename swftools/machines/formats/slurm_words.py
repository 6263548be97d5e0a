# SPDX-License-Identifier: BSD-3-Clause
"""Words of Slurm, as slurm.conf and scontrol have them: keys in small letters, and values as they stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swftools.errors import ParameterError
from swftools.machines.parts import UNTYPED
from swftools.parameters.durations import seconds_of

Words = Mapping[str, str]

_NOTHING = ("", "(null)", "none", "n/a", "unknown", "not_set")
_UNLIMITED = ("unlimited", "infinite", "-1")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_GRES = re.compile(r"([0-9]{1,9})([KMGT]?)", re.IGNORECASE)
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


def outage_kind(text: str) -> str:
    """Return the kind of outage that a state is, such as ``DOWN*+DRAIN``: the first of down, drain, reservation.

    Nothing is returned where nodes are there. Of the marks behind a state two count: ^ is of nodes that are rebooted, $
    of those within a reservation for maintenance.

    Examples
    --------
    >>> outage_kind("DOWN*+DRAIN"), outage_kind("idle$"), outage_kind("mixed")
    ('down', 'reservation', '')
    """
    states = states_of(text)
    found = next((kind for kind, words in _AWAY.items() if states & words), "")
    return found or ("down" if "^" in text else "reservation" if "$" in text else "")


def is_known_state(text: str) -> bool:
    """Return whether every part of a state is one that Slurm is known to have."""
    return states_of(text) <= set().union(_THERE, *_AWAY.values())


def states_of(text: str) -> set[str]:
    """Return the states of nodes, without the marks behind them."""
    return {_ENDS.sub("", each) for each in text.upper().replace(",", "+").split("+")}
