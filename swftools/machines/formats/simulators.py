# SPDX-License-Identifier: BSD-3-Clause
"""Machines as simulators describe them: hosts in groups, with speeds, and with power of a host that idles or works."""

from __future__ import annotations

from typing import Any, NamedTuple

from swftools.errors import ParameterError
from swftools.machines.hostlist import fold_hosts


class Host(NamedTuple):
    """What a host has.

    Parameters
    ----------
    cores : int
        Of it.
    memory : int, optional
        MB.
    speed : float
        Of a core, in any one unit.
    idle, full : float, optional
        W of the host when it idles, and when all its cores work.
    gpus : tuple
        Types and counts.
    """

    cores: int
    memory: int | None
    speed: float
    idle: float | None = None
    full: float | None = None
    gpus: tuple[tuple[str, int], ...] = ()


class SimulatedMachine:
    """A machine of groups of hosts; speeds become relative to those of the first."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, Host], list[str]] = {}
        self._notes: dict[str, None] = {}

    def note(self, text: str) -> None:
        """Keep something that is told; it is said once."""
        self._notes[text] = None

    def add(self, name: str, hosts: list[str], host: Host) -> None:
        """Take hosts that are alike, of a group of that name."""
        self._groups.setdefault(("-".join(name.split()), host), []).extend(hosts)

    def content(self, source: str, lacking: str) -> dict[str, Any]:
        """Return all of it as a description has it.

        Raises
        ------
        ParameterError
            There is no host.
        """
        if not self._groups:
            raise ParameterError(f"{source}: there is no {lacking}")
        first = next(iter(self._groups))[1].speed
        kinds: dict[str, dict[str, Any]] = {}
        for (name, host), names in self._groups.items():
            called = name or "host"
            called = called if called not in kinds else f"{called}-{len(kinds) + 1}"
            kinds[called] = {"kind": called, "names": fold_hosts(names)} | _keys(host, first)
        return {"nodes": [*kinds.values()], "notes": [*self._notes]}


def _keys(host: Host, first: float) -> dict[str, Any]:
    """Return what a host has as keys of a kind."""
    keys: dict[str, Any] = {"cores": host.cores, "speed": host.speed / first, "gpus": dict(host.gpus)}
    if host.memory is not None:
        keys["memory"] = host.memory
    if host.idle is not None and host.full is not None:
        keys["power"] = {"static": host.idle, "idle": 0.0, "busy": max(host.full - host.idle, 0.0) / host.cores}
    return keys
