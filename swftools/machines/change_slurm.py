# SPDX-License-Identifier: BSD-3-Clause
"""Changes of how Slurm is configured: a path of keys and names, such as ``qos.high.max_tres_pu.cpu``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from swftools.errors import ParameterError
from swftools.machines.change_values import changed_value
from swftools.machines.slurm_parts import Account, Priority, Qos, Slurm, Switch, User
from swftools.machines.slurm_site import DEFAULTS, RESOURCES
from swftools.parameters.spelling import require_known

_NAMED: Mapping[type, Mapping[str, tuple[str, type]]] = {
    Slurm: {"qos": ("QOS", Qos), "accounts": ("account", Account), "switches": ("switch", Switch)},
    Account: {"users": ("user", User)},
}
"""Keys under which things stand by name: what one is called, and what it is made of."""
_PARTS: Mapping[type, Mapping[str, type]] = {Slurm: {"priority": Priority}}


def change_slurm(content: dict[str, Any], path: str, sign: str, value: str) -> None:
    """Change how Slurm is configured in a description.

    Parameters
    ----------
    content : dict
        Of the description; it is changed.
    path : str
        Keys and names, with points between them; names may have points in them.
    sign, value : str
        ``=``, ``+=`` or ``-=``, and by what.

    Raises
    ------
    ParameterError
        It names what is not there.
    """
    if "slurm" not in content:
        raise ParameterError("the machine does not say how Slurm is configured; read it from slurm.conf or scontrol")
    _change(content["slurm"], Slurm, "slurm", path, sign, value)


def _change(entry: dict[str, Any], kind: type, called: str, path: str, sign: str, value: str) -> None:
    key, _, rest = path.partition(".")
    usual = {each.name: each for each in fields(kind)}
    key = require_known(f"no key {key!r} of {called}", key, [*usual])
    if key in _NAMED.get(kind, {}):
        what, inner = _NAMED[kind][key]
        name, rest = _name(entry.get(key, []), what, f"{called}.{key}", rest)
        found = next(each for each in entry[key] if _called(each) == name)
        _change(found, inner, f"{called}.{key}.{name}", rest, sign, value)
        return
    if key in _PARTS.get(kind, {}):
        _change(entry.setdefault(key, {}), _PARTS[kind][key], f"{called}.{key}", rest, sign, value)
        return
    default: Any = None if usual[key].default is MISSING else usual[key].default
    default = () if default is None and key == "qos" else default
    if usual[key].default_factory is dict:
        within = entry.setdefault(key, {})
        known = {*DEFAULTS, *within} if key == "scheduler" else RESOURCES
        rest = require_known(f"no key {rest!r} of {called}.{key}", rest, sorted(known))
        within[rest] = _changed(within.get(rest, DEFAULTS.get(rest)), rest, sign, value)
        return
    if rest:
        raise ParameterError(f"{called}.{key} has no {rest!r} in it; write slurm...{key}=VALUE")
    entry[key] = _changed(entry.get(key, default), key, sign, value)
    if entry[key] is None:
        del entry[key]


def _changed(old: Any, key: str, sign: str, value: str) -> Any:
    """Return a value after a change; to what is not limited, or not told, nothing is added."""
    if old is None and sign != "=":
        raise ParameterError(f"{key} has no value that could be changed; set it by =")
    return changed_value(old, key, sign, value)


def _called(entry: Mapping[str, Any]) -> str:
    """Return by what name something stands there; a user of one partition only by that too."""
    return f"{entry['name']}/{entry['partition']}" if "partition" in entry else str(entry["name"])


def _name(entries: list[dict[str, Any]], what: str, where: str, path: str) -> tuple[str, str]:
    """Return the name with which a path begins, and the rest; of several the longest, as names may have points."""
    names = [_called(each) for each in entries]
    if not names:
        raise ParameterError(f"the machine has no {where}; describe them first")
    found = max((each for each in names if path.startswith(f"{each}.")), key=len, default="")
    if not found:
        first = path.partition(".")[0]
        known = require_known(f"no {what} {first!r}", first, names) if first else ""
        raise ParameterError(f"write {where}.{known or 'NAME'}.KEY; names are: {', '.join(names)[:200]}")
    return found, path[len(found) + 1 :]
