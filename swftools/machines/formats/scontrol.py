# SPDX-License-Identifier: BSD-3-Clause
"""What ``scontrol show node``, ``partition``, ``reservation``, ``config`` and ``licenses`` print, in one file or some.

Either form is read, of many lines each or of one (``--oneliner``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.slurm_machine import SlurmMachine
from swftools.machines.formats.slurm_words import value_of, whole
from swftools.machines.hostlist import split_hosts

_RECORD = re.compile(r"(Node|Partition|Reservation|License)Name=(\S+)")
_KEY = re.compile(r"(?<!\S)([A-Z][A-Za-z0-9_/]*)=")
_CONFIG = "Configuration data as of"
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9_/]*)\s+=\s(.*)")
_IS_PRINTED = re.compile(
    r"^NodeName=\S+ .*\bCPUTot=|^\s+(?:.*\s)?CPUTot=|\bTotalNodes=|^ReservationName=\S+ StartTime=", re.MULTILINE
)


def _recognise(text: str) -> Fit:
    is_there = _IS_PRINTED.search(text) is not None
    return Fit(is_there, "it has records of scontrol" if is_there else "no NodeName= with CPUTot=, no TotalNodes=")


@machine_format("scontrol", "what scontrol show node, partition, reservation, config prints", _recognise)
def read_scontrol(text: str, name: str) -> Found:
    """Return the machine of what scontrol printed.

    Raises
    ------
    ParameterError
        A value is not as Slurm writes it, a record is cut off, or no node is there.
    """
    machine = SlurmMachine(name)
    has_settings = False
    version: dict[str, str] = {}
    for line, kind, called, words in records(text):
        where = f"{name}, line {line}"
        if kind == "Node":
            for key in ("CPUTot", "RealMemory", "State"):
                if not words.get(key.lower()):
                    raise ParameterError(f"{where}: node {called} has no {key}; its record is cut off")
            machine.add_nodes([called], words, where)
            version = version or ({"slurm_version": words["version"]} if words.get("version") else {})
        elif kind == "Partition":
            if "totalnodes" not in words:
                raise ParameterError(f"{where}: partition {called} has no TotalNodes; its record is cut off")
            machine.add_partition(called, split_hosts(value_of(words, "nodes")), words, where)
        elif kind == "Reservation":
            machine.add_reservation(called, words)
        elif kind == "License":
            machine.licences[called] = whole(words, where, "total")
        else:
            has_settings = True
            machine.set(words, where)
    if not has_settings:
        machine.set(version, name)  # of what runs on the first node
        machine.note("settings of the whole machine (DefMemPerCPU) are what scontrol show config prints: not there")
    return Found(machine.content(), places=machine.places)


def records(text: str) -> Iterator[tuple[int, str, str, dict[str, str]]]:
    """Yield each record: its line, its kind, its name, and its words by keys in small letters; settings one by one."""
    begun: tuple[int, str, str] | None = None
    words: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _RECORD.match(line)
        if found or line.startswith(_CONFIG):
            if begun:
                yield *begun, words
            begun, words = (number, found[1], found[2]) if found else (number, "", ""), {}
        elif line and not line[0].isspace() and not (begun and not begun[1]):
            if begun:  # of another record, or what a shell printed
                yield *begun, words
            begun = None
        if begun and begun[1]:
            keys = [*_KEY.finditer(line)]
            for key, end in zip(keys, [*(each.start() for each in keys[1:]), len(line)], strict=False):
                words[key[1].lower()] = line[key.end() : end].strip()
        elif begun and (setting := _SETTING.match(line)):
            yield number, "", "", {setting[1].lower(): setting[2].strip()}
    if begun:
        yield *begun, words
