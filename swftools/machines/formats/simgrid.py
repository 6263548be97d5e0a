# SPDX-License-Identifier: BSD-3-Clause
"""Platforms of SimGrid in XML, as the simulator Batsim reads them: hosts, and clusters with ranges of numbers."""

from __future__ import annotations

import re
from typing import Any
from xml.parsers import expat

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.simulators import Host, SimulatedMachine
from swftools.machines.formats.sizes import whole_number
from swftools.machines.parts import MOST_NODES

_PLATFORM = re.compile(r"<platform[\s>]")
_SPEED = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?)\s*([kKMGTPEZY]?)i?(?:f|flops)?")
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6, "Z": 7, "Y": 8}
_RADICAL = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NAME = re.compile(r"[^\s\[\],]+")
_MASTERS = ("master_host", "master_host0")
_ROLES = ("master", "storage")


def _recognise(text: str) -> Fit:
    is_there = text.lstrip()[:1] == "<" and _PLATFORM.search(text) is not None
    return Fit(is_there, "it is XML with a platform" if is_there else "no XML with <platform>")


@machine_format("simgrid", "a platform of SimGrid or Batsim (XML)", _recognise)
def read_simgrid(text: str, name: str) -> Found:
    """Return the machine of a platform: clusters are kinds of nodes, single hosts too where they are alike.

    Raises
    ------
    ParameterError
        It is not XML, declares entities, lacks what a host must have, or has no host that computes.
    """
    return Found(_Reader(name).read(text))


class _Reader:
    """Takes hosts and clusters as the parser meets them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parser = expat.ParserCreate("utf-8")  # as the text was decoded, whatever it declares
        self._machine = SimulatedMachine()
        self._open: list[dict[str, Any]] = []  # hosts and clusters whose end is to come
        self._names: set[str] = set()

    def read(self, text: str) -> dict[str, Any]:
        """Return what a description has."""
        parser = self._parser
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.EntityDeclHandler = self._refuse
        try:
            parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            told = expat.ErrorString(error.code)
            raise ParameterError(f"{self._name}, line {error.lineno}: not readable as XML: {told}") from error
        return self._machine.content(self._name, "host that computes")

    def _where(self) -> str:
        return f"{self._name}, line {self._parser.CurrentLineNumber}"

    def _refuse(self, *_: object) -> None:
        """Refuse entities, which may stand for more text than there is memory, or for other files."""
        raise ParameterError(f"{self._where()}: declares an entity, which is not read; write out what it stands for")

    def _begin(self, tag: str, words: dict[str, str]) -> None:
        if tag in ("host", "cluster", "cabinet", "peer"):
            self._open.append({"tag": tag, "words": words, "where": self._where(), "props": {}})
        elif tag == "prop" and self._open:
            self._open[-1]["props"][words.get("id", "")] = words.get("value", "")

    def _end(self, tag: str) -> None:
        if not self._open or self._open[-1]["tag"] != tag:
            return
        found = self._open.pop()
        words, where, props = found["words"], found["where"], found["props"]
        single = tag in ("host", "peer")
        names = [self._needed(words, "id", where)] if single else self._named(words, where)
        role = props.get("role", "").strip().lower()
        if (single and names[0] in _MASTERS) or role in _ROLES:
            self._machine.note("hosts that do not compute are left out (role master or storage, master_host)")
            return
        for each in names:
            if not _NAME.fullmatch(each):
                raise ParameterError(f"{where}: host {each[:60]!r}: names have no blanks, commas, brackets")
            if each in self._names:
                raise ParameterError(f"{where}: host {each} is there twice; give each once")
            self._names.add(each)
        speed = self._needed(words, "speed" if "speed" in words else "power", where)
        cores = whole_number(words.get("core", "1"), f"{where}: core")
        if not cores:
            raise ParameterError(f"{where}: core=0 leaves no core")
        if "," in speed:
            self._machine.note("of several speeds of a host (pstates) the first is taken")
        host = Host(cores, None, _flops(speed.partition(",")[0].strip(), where), *_watts(props))
        self._machine.add("" if single else words.get("id", ""), names, host)

    def _needed(self, words: dict[str, str], key: str, where: str) -> str:
        value = words.get(key, "").strip()
        if not value:
            raise ParameterError(f"{where}: a host lacks {'speed' if key == 'power' else key}; add it")
        return value

    def _named(self, words: dict[str, str], where: str) -> list[str]:
        """Return the hosts of a cluster: prefix, number and suffix."""
        numbers: list[tuple[int, int]] = []
        for item in self._needed(words, "radical", where).split(","):
            found = _RADICAL.fullmatch(item.strip())
            first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
            if last < first:
                raise ParameterError(f"{where}: radical {item.strip()[:40]!r} is no number or range such as 0-99")
            numbers.append((first, last))
        if sum(last - first + 1 for first, last in numbers) > MOST_NODES:
            raise ParameterError(f"{where}: radical names more than {MOST_NODES:,} hosts; shorten it")
        before, behind = words.get("prefix", ""), words.get("suffix", "")
        return [f"{before}{number}{behind}" for first, last in numbers for number in range(first, last + 1)]


def _flops(text: str, where: str) -> float:
    """Return a speed in flop/s."""
    found = _SPEED.fullmatch(text)
    speed = float(found[1]) * 1000.0 ** _POWERS[found[2]] if found else 0.0
    if not 0 < speed < 1e300:
        raise ParameterError(f"{where}: {text[:40]!r} is no speed such as 1Gf or 98.095Mf")
    return speed


def _watts(props: dict[str, str]) -> tuple[float | None, float | None]:
    """Return W of an idle host and of one whose cores all work, of the first pstate; None where not told."""
    text = props.get("wattage_per_state") or props.get("watt_per_state") or ""
    try:
        watts = [float(each) for each in text.partition(",")[0].split(":")]
    except ValueError:
        return None, None
    return (watts[0], watts[-1]) if len(watts) > 1 and 0 <= watts[0] <= watts[-1] <= 1e9 else (None, None)
