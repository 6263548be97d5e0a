# SPDX-License-Identifier: BSD-3-Clause
"""Changes of a machine, each one text, read here and nowhere else.

``nodes.KIND.count+=8``
    More nodes of a kind, ``-=`` fewer, ``=`` so many. New ones are numbered on, and are in each partition that has all
    of the kind; the last ones go first.
``nodes.KIND.memory=512G``, ``partitions.NAME.max_time=2d``
    Any key of a kind or of a partition; ``+=`` and ``-=`` add to numbers, times, memory and lists, and take away.
``partitions.NAME.nodes+=n[05-08]``
    Nodes of a partition: kinds, lists of hosts, ALL.
``slurm.scheduler.bf_interval=60``, ``slurm.qos.NAME.priority=500``, ``slurm.accounts.NAME.users.USER.shares=2``
    Any key of how Slurm is configured; QOS, accounts, switches and the users of an account stand there by name.
``away: nodes=n[01-04],in=3h,for=2h``
    Nodes that are away from a time on, for a time; an outage of the description, with its keys.
``failures: mtbf=90d,repair=6h,for=30d``
    Failures by a model, drawn for a time from second 0 on; also ``shape=0.7,spread=1,seed=1``, as ``NodeFailures``.
``priority.KEY=VALUE``
    A parameter of the policy, and none of the machine: ``split_changes`` returns it apart.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.change_hosts import hosts_of, resize, take
from swftools.machines.change_slurm import change_slurm
from swftools.machines.change_values import changed_value, value_in
from swftools.machines.failures import outages_by_text
from swftools.machines.hostlist import split_hosts
from swftools.machines.numbering import names_of
from swftools.machines.parts import Allowed, Denied, NodeKind, Partition, Power
from swftools.parameters.durations import seconds_of
from swftools.parameters.spelling import require_known

FORMS = (
    "nodes.KIND.KEY=VALUE, partitions.NAME.KEY=VALUE, slurm.KEY=VALUE, away: nodes=HOSTS,in=TIME,for=TIME, "
    "failures: mtbf=TIME,repair=TIME,for=TIME, priority.KEY=VALUE"
)

_CHANGE = re.compile(r"([^=]*?)\s*(\+=|-=|=)\s*(.*)", re.DOTALL)
_AWAY = re.compile(r"away\s*:\s*(.*)", re.DOTALL)
_FAILURES = re.compile(r"failures\s*:\s*(.*)", re.DOTALL)
_SECTIONS = {"nodes": ("kind of nodes", "kind", NodeKind), "partitions": ("partition", "name", Partition)}
_INNER: dict[str, type | None] = {
    "gpus": None,
    "billing_weights": None,
    "power": Power,
    "allow": Allowed,
    "deny": Denied,
}
_OF_POLICY = "priority."
_OF_AWAY = ("nodes", "in", "for", "kind", "known", "users", "accounts", "reason")


def split_changes(changes: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the changes of the machine, and the parameters that are given to the policy.

    Raises
    ------
    ParameterError
        A parameter of the policy is not given as KEY=VALUE, or twice.

    Examples
    --------
    >>> split_changes(["nodes.gpu.count+=8", "priority.weights.fairshare=0"])
    (['nodes.gpu.count+=8'], {'weights.fairshare': 0})
    """
    of_machine: list[str] = []
    parameters: dict[str, Any] = {}
    for text in changes:
        if not text.lstrip().startswith(_OF_POLICY):
            of_machine.append(text)
            continue
        with _named(text):
            path, sign, value = _parsed(text.strip())
            key = path.removeprefix(_OF_POLICY)
            if sign != "=" or not key:
                raise ParameterError("a parameter of the policy is set by =, as in priority.KEY=VALUE")
            if key in parameters:
                raise ParameterError(f"{key} of the policy is given twice")
            parameters[key] = value_in(value)
    return of_machine, parameters


def change_mapping(content: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a description, as plain values, with a change; whether it is valid then is for others to say.

    Parameters
    ----------
    content : mapping
        Of a valid description; it stays as it is.
    text : str
        The change.

    Raises
    ------
    ParameterError
        It is not readable, or names what is not there.
    """
    with _named(text):
        return _changed_by(copy.deepcopy(dict(content)), text.strip())


@contextmanager
def _named(text: str) -> Iterator[None]:
    """Put the change in front of whatever is wrong with it."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"change {text!r}: {error}") from error


def _changed_by(found: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a description with a change, which is made in it."""
    if away := _AWAY.fullmatch(text):
        found["outages"] = [*found.get("outages", []), _outage(away[1])]
        return found
    if failing := _FAILURES.fullmatch(text):
        names = [name for kind in found["nodes"] for name in names_of(NodeKind(**kind))]
        found["outages"] = [*found.get("outages", []), *outages_by_text(failing[1], names)]
        return found
    path, sign, value = _parsed(text)
    section, rest = [*re.split(r"[.:]", path, maxsplit=1), ""][:2]
    if section == _OF_POLICY[:-1]:
        raise ParameterError("is of the policy's parameters, and not of the machine")
    known = [*_SECTIONS, "slurm", "priority", "away:", "failures:"]
    section = require_known(f"{section!r} cannot be changed", section, known)
    if section == "slurm":
        change_slurm(found, rest, sign, value)
        return found
    if section not in _SECTIONS:
        raise ParameterError(f"write it as one of {FORMS}")
    entry, key = _entry(found, section, rest)
    keys = [each.name for each in fields(_SECTIONS[section][2])]
    outer, _, inner = key.partition(".")
    outer = require_known(f"no key {outer!r} of {section}", outer, keys)
    if inner:
        entry, outer = _inner(entry, outer, inner)
    elif (section, outer) == ("nodes", "count"):
        resize(found, entry, sign, value)
        return found
    elif (section, outer, sign) == ("partitions", "nodes", "-="):
        take(found, entry, hosts_of(found, split_hosts(value)))
        return found
    usual = {each.name: each.default for each in fields(_SECTIONS[section][2]) if each.default is not MISSING}
    entry[outer] = changed_value(entry.get(outer, usual.get(outer)), outer, sign, value)
    if entry[outer] is None:
        del entry[outer]
    return found


def _parsed(text: str) -> tuple[str, str, str]:
    """Return what is changed, how, and by what."""
    found = _CHANGE.fullmatch(text)
    if found is None or not found[1] or not found[3]:
        raise ParameterError(f"is not readable; write it as one of {FORMS}")
    return found[1], found[2], found[3].strip()


def _entry(content: dict[str, Any], section: str, rest: str) -> tuple[dict[str, Any], str]:
    """Return what a change is of, and the key; names may have points in them."""
    one, name_key, _ = _SECTIONS[section]
    entries = {str(entry.get(name_key) or entry.get("names")): entry for entry in content.get(section, [])}
    if not entries:
        raise ParameterError(f"the machine has no {section} of its own; describe them first")
    name = max((each for each in entries if rest.startswith(f"{each}.")), key=len, default="")
    if not name:
        name = rest.rpartition(".")[0]
        if not name:
            raise ParameterError(f"write {section}.NAME.KEY; names are: {', '.join(entries)}")
        first = name if name in entries else name.partition(".")[0]
        known = require_known(f"no {one} {first!r}", first, entries)
        return entries[known], rest[len(first) + 1 :]
    return entries[name], rest[len(name) + 1 :]


def _inner(entry: dict[str, Any], outer: str, inner: str) -> tuple[dict[str, Any], str]:
    """Return the mapping within an entry that a key with a point means, and the key there."""
    if outer not in _INNER:
        raise ParameterError(f"{outer} has no {inner!r} in it; write {outer}=VALUE")
    kind = _INNER[outer]
    if kind is not None:
        known = [each.name for each in fields(kind)]
        inner = require_known(f"no key {inner!r} of {outer}", inner, known)
    return entry.setdefault(outer, {}), inner


def _outage(options: str) -> dict[str, Any]:
    """Return the outage that ``nodes=n[01-04],in=3h,for=2h`` says."""
    given: dict[str, list[str]] = {}
    key = ""
    for item in split_hosts(options):
        before, sign, value = item.partition("=")
        if sign:
            key = require_known(f"no key {before.strip()!r} of away", before.strip(), _OF_AWAY)
            if key in given:
                raise ParameterError(f"{key} is given twice")
            given[key] = [value.strip()]
        elif key:
            given[key].append(item.strip())
        else:
            raise ParameterError("is not readable; write it as away: nodes=n[01-04],in=3h,for=2h")
    if "nodes" not in given:
        raise ParameterError("say which nodes: away: nodes=n[01-04],in=3h,for=2h")
    found: dict[str, Any] = {"nodes": given["nodes"], "begin": _time(given, "in") or 0.0}
    if "for" in given:
        found["end"] = found["begin"] + _time(given, "for")
    for key in ("users", "accounts"):
        if key in given:
            found[key] = given[key]
    if "known" in given:
        value = ",".join(given["known"])
        found["known"] = {"true": True, "false": False}.get(value, value)
    return found | {key: ",".join(given[key]) for key in ("kind", "reason") if key in given}


def _time(given: Mapping[str, list[str]], key: str) -> float:
    if key not in given:
        return 0.0
    value = ",".join(given[key])
    found = seconds_of(value)
    if found is None or (key == "for" and not found):
        raise ParameterError(f"{key}={value} is no time such as 90 (seconds), 30m, 3h, 2d")
    return found
