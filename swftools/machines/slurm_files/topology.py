# SPDX-License-Identifier: BSD-3-Clause
"""``topology.conf`` of topology/tree, and what ``scontrol show topology`` prints: switches, with nodes or switches."""

from __future__ import annotations

import re

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.conf_lines import conf_lines, conf_words
from swftools.machines.hostlist import expand_hosts, split_hosts
from swftools.machines.slurm_files.facts import SlurmFacts
from swftools.machines.slurm_files.registry import slurm_file

_LINE = re.compile(r"^\s*(SwitchName|BlockName)\s*=", re.IGNORECASE | re.MULTILINE)


def _recognise(text: str) -> Fit:
    is_there = _LINE.search(text) is not None
    return Fit(is_there, "it has lines of topology.conf" if is_there else "no line SwitchName=")


@slurm_file("topology", "topology.conf, or what scontrol show topology prints", _recognise)
def read_topology(text: str, name: str) -> SlurmFacts:
    """Return the switches of a machine.

    Raises
    ------
    ParameterError
        A line is not KEY=VALUE, names neither nodes nor switches, or a switch is there twice.
    """
    facts = SlurmFacts()
    for number, line in conf_lines(text):
        where = f"{name}, line {number}"
        words = conf_words(line, where)
        if "blockname" in words or "blocksizes" in words:
            raise ParameterError(f"{where}: topology/block is not modelled; give a topology.conf of topology/tree")
        if "switchname" not in words:
            raise ParameterError(f"{where}: {line.strip()[:60]!r} names no switch; write SwitchName=NAME Nodes=HOSTS")
        # scontrol prints all nodes below a switch of switches too.
        key = "switches" if words.get("switches") else "nodes"
        if not words.get(key):
            raise ParameterError(
                f"{where}: switch {words['switchname']} has neither Nodes nor Switches; name one of both"
            )
        items = split_hosts(words[key])
        try:
            items = [each for item in items for each in expand_hosts(item)] if key == "switches" else items
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}") from error
        facts.add_switch(words["switchname"], {key: items}, where)
    return facts
