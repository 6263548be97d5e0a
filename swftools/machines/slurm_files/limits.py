# SPDX-License-Identifier: BSD-3-Clause
"""Limits of accounts, users and QOS, in the words of sacctmgr, as a description has them.

What the words mean follows sacctmgr(1) and the page of Slurm on resource limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.formats.slurm_settings import number_of, preempt_mode_of, tres_of
from swftools.machines.formats.slurm_words import Words, seconds
from swftools.machines.slurm_files.facts import SlurmFacts
from swftools.machines.slurm_parts import PARENT

_AS_PARENT = 0x7FFF_FFFF
"""Shares of who shares as the account above does, where a number stands for it."""
_COUNTS = {
    "grpjobs": "grp_jobs",
    "maxjobs": "max_jobs",
    "maxjobspu": "max_jobs_pu",
    "maxjobsperuser": "max_jobs_pu",
    "maxjobspa": "max_jobs_pa",
    "maxjobsperaccount": "max_jobs_pa",
}
_TRES = {
    "grptres": "grp_tres",
    "grptresmins": "grp_tres_mins",
    "grptresrunmins": "grp_tres_run_mins",
    "maxtres": "max_tres",
    "maxtresperjob": "max_tres",
    "maxtrespernode": "max_tres_per_node",
    "maxtresmins": "max_tres_mins",
    "maxtresminsperjob": "max_tres_mins",
    "maxtrespu": "max_tres_pu",
    "maxtresperuser": "max_tres_pu",
    "maxtrespa": "max_tres_pa",
    "maxtresperaccount": "max_tres_pa",
    "mintres": "min_tres",
    "mintresperjob": "min_tres",
}
_WALLS = ("maxwall", "maxwalldurationperjob", "maxwallperjob")
_LIMITS = ("grp", "max", "min", "usagethres", "limitfactor")
"""How the names of limits begin."""


def limits_of(words: Words, where: str, facts: SlurmFacts, of: str) -> dict[str, Any]:
    """Return the limits among some words; what of them is not simulated is told.

    Parameters
    ----------
    words : mapping of str to str
        Values by keys in small letters, without blanks.
    where : str
        Begins messages.
    facts : SlurmFacts
        Is told what is not simulated.
    of : str
        Whose limits they are.

    Raises
    ------
    ParameterError
        A value is not as Slurm has it.
    """
    found: dict[str, Any] = {}
    for key, text in words.items():
        if not text or text == "-1":
            continue
        if key in _COUNTS:
            found[_COUNTS[key]] = _whole(text, where, key)
        elif key in _TRES:
            amounts, others = tres_of(text, f"{where}: {key}")
            found |= {_TRES[key]: amounts} if amounts else {}
            for other in others:
                facts.tell(f"limits of {other}", of)
        elif key in _WALLS:
            found["max_wall"] = seconds({key: text}, where, key)
        elif key.startswith(_LIMITS):
            facts.tell(f"limit {key}", of)
    return {key: value for key, value in found.items() if value is not None}


def association_of(words: Words, where: str, facts: SlurmFacts, of: str) -> dict[str, Any]:
    """Return what is said of an account or a user: shares, QOS, priority, limits; as ``limits_of``."""
    found = limits_of(words, where, facts, of)
    if text := _first(words, "share", "shares", "fairshare", "rawshares"):
        found["shares"] = shares_of(text, where)
    if (text := words.get("priority", "")) and text != "4294967294":  # which is none
        found["priority"] = number_of(text, where, "Priority")
    if text := _first(words, "qos", "qosrawlist"):
        names = [each.strip() for each in text.split(",") if each.strip()]
        if any(each[0] in "+-" for each in names):
            facts.tell("QOS that are added to or taken from those of the account above", of)
        found["qos"] = [name for each in names if not each.startswith("-") and (name := each.lstrip("+"))]
    if text := _first(words, "defqos", "defaultqos"):
        found["default_qos"] = text
    return found


def shares_of(text: str, where: str) -> float | str:
    """Return shares, or ``parent``.

    Raises
    ------
    ParameterError
        They are no number; ``where`` begins the message.
    """
    if text.lower() == PARENT:
        return PARENT
    number = number_of(text, where, "shares")
    if number < 0:
        raise ParameterError(f"{where}: shares={text[:40]} is below 0; write a number of shares, or {PARENT}")
    return PARENT if number == _AS_PARENT else number


def qos_of(words: Mapping[str, str], where: str, facts: SlurmFacts) -> dict[str, Any]:
    """Return what is said of a QOS; as ``limits_of``."""
    of = words["name"]
    found = limits_of(words, where, facts, of)
    for key, name in (("priority", "priority"), ("usagefactor", "usage_factor")):
        if text := words.get(key, ""):
            found[name] = number_of(text, where, key)
    for key, name in (("gracetime", "grace_time"), ("preemptexempttime", "preempt_exempt_time")):
        if text := words.get(key, ""):
            found[name] = number_of(text, where, key) if text.isdecimal() else seconds(words, where, key)
    if text := words.get("preempt", ""):
        found["preempt"] = _listed(text)
    text = words.get("preemptmode", "").lower()
    if text and text != "cluster":
        found["preempt_mode"], others = preempt_mode_of(text)
        for other in others:
            facts.tell(f"PreemptMode={other}", of)
    if text := words.get("flags", ""):
        found["flags"] = [each.lower() for each in _listed(text)]
    return {key: value for key, value in found.items() if value is not None}


def _first(words: Words, *keys: str) -> str:
    return next((text for key in keys if (text := words.get(key, ""))), "")


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _whole(text: str, where: str, key: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise ParameterError(f"{where}: {key}={text[:40]} is no whole number")
    return int(text)
