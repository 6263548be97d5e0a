# SPDX-License-Identifier: BSD-3-Clause
"""``slurm.conf``: NodeName, NodeSet, PartitionName and DownNodes lines with their defaults, and a few settings.

``gres.conf`` need not be beside it: what Gres says of a node is what counts.
"""

from __future__ import annotations

import re

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.conf_lines import conf_lines, conf_words
from swftools.machines.formats.registry import Found, machine_format
from swftools.machines.formats.slurm_machine import SlurmMachine
from swftools.machines.formats.slurm_words import value_of
from swftools.machines.hostlist import expand_hosts, split_hosts

_LINE = re.compile(r"^\s*(?:NodeName|PartitionName|ClusterName|SlurmctldHost)\s*=", re.IGNORECASE | re.MULTILINE)
_PRINTED = re.compile(r"\b(?:CPUTot|TotalNodes|NodeCnt)=")
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)
_DEFAULT = "DEFAULT"


def _recognise(text: str) -> Fit:
    if _PRINTED.search(text):
        return Fit(fits=False, why="it is what scontrol prints")
    is_there = _LINE.search(text) is not None
    return Fit(is_there, "it has lines of slurm.conf" if is_there else "no line NodeName=, PartitionName=")


@machine_format("slurm.conf", "Slurm's configuration", _recognise)
def read_slurm_conf(text: str, name: str) -> Found:
    """Return the machine that a configuration of Slurm describes.

    Raises
    ------
    ParameterError
        A line is not KEY=VALUE, a value is not as Slurm has it, or no node is there.
    """
    machine = SlurmMachine(name)
    usual: dict[str, dict[str, str]] = {"nodename": {}, "partitionname": {}}
    sets: dict[str, list[str]] = {}
    features: dict[str, list[str]] = {}
    known: set[str] = set()
    asked: list[tuple[str, str]] = []
    for number, line in conf_lines(text):
        where = f"{name}, line {number}"
        if included := _INCLUDE.fullmatch(line.rstrip()):
            machine.note("Include is not followed; put the text of the file in its place", included[1])
            continue
        words = conf_words(line, where)
        first = next(iter(words))
        machine.note_misspelt(words, first if first in usual else "")
        if first in usual:
            if words[first].upper() == _DEFAULT:
                usual[first] |= words
                continue
            words = usual[first] | words
        if first == "nodename":
            hosts = _hosts(words[first], where)
            machine.add_nodes(hosts, words, where)
            known.update(hosts)
            for feature in value_of(words, "features", "feature").split(","):
                features.setdefault(feature, []).extend(split_hosts(words[first]))
        elif first == "nodeset":
            sets[words[first]] = split_hosts(value_of(words, "nodes"))
            for each in sets[words[first]]:
                _hosts(each, where)
            if value_of(words, "feature"):
                sets[words[first]] += [f"feature {value_of(words, 'feature')}"]
        elif first == "partitionname":
            items = ["ALL" if item.upper() == "ALL" else item for item in split_hosts(value_of(words, "nodes"))]
            machine.add_partition(words[first], items, words, where)
            asked += [(where, item) for item in items]
        elif first == "downnodes":
            machine.add_away(_hosts(words[first], where), {"state": "DOWN"} | words)
        else:
            machine.set(words, where)
    machine.note_usual()

    def nodes_of(item: str) -> list[str]:
        """Return the lists of hosts that stand for an item, which may be a set."""
        found = []
        for each in sets.get(item, [item]):
            feature = each.removeprefix("feature ")
            found += [each] if feature == each else features.get(feature, [])
        return found

    for where, item in asked:
        for each in nodes_of(item):
            lost = next((host for host in _hosts(each, where) if host not in known), None) if each != "ALL" else None
            if lost is not None:
                raise ParameterError(f"{where}: no NodeName or NodeSet is {lost!r}; add it, or take it out of Nodes")
    return Found(machine.content(nodes_of), places=machine.places)


def _hosts(text: str, where: str) -> list[str]:
    try:
        return expand_hosts(text)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from error
