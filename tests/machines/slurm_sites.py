# SPDX-License-Identifier: BSD-3-Clause
"""Machines of Slurm for tests: a real site of 64 nodes, and a small one by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swftools import MachineDescription, read_machine
from swftools.machines.slurm_site import SlurmSite
from tests.folders import ROOT

FILES = ROOT / "tests/machines/slurm"

NODES = "".join(
    f"NodeName=n{number:02} CPUTot=16 CoresPerSocket=8 Sockets=2 ThreadsPerCore=1 RealMemory=64000 State=IDLE "
    f"AvailableFeatures={'gpu' if number > 56 else 'cpu'} Gres={'gpu:a100:4' if number > 56 else '(null)'}\n"
    for number in range(1, 65)
)
"""The nodes of the real site, as scontrol prints them."""

SMALL: dict[str, Any] = {
    "nodes": [{"kind": "n", "names": "n[1-8]", "cores": 4}],
    "partitions": [{"name": "p", "nodes": "n[1-6]", "default": True}, {"name": "q", "qos": "high"}],
    "slurm": {
        "qos": [{"name": "low"}, {"name": "high", "priority": 10, "preempt": "low", "max_tres_pu": {"cpu": 8}}],
        "accounts": [
            {"name": "phys", "shares": 3, "max_jobs": 5, "users": [{"name": "ann"}, {"name": "j.doe", "shares": 2}]},
            {"name": "lab", "parent": "phys", "users": [{"name": "ann", "partition": "p"}]},
        ],
        "switches": [
            {"name": "top", "switches": ["a", "b"]},
            {"name": "a", "nodes": "n[1-4]"},
            {"name": "b", "nodes": ["n[5-7]", "n8"]},
        ],
    },
}


def small(**slurm: Any) -> MachineDescription:
    """Return the small site, with other things under ``slurm``."""
    return MachineDescription.from_mapping(SMALL | {"slurm": SMALL["slurm"] | slurm})


def read(folder: Path, text: str, name: str = "slurm.conf") -> MachineDescription:
    """Return the machine that a text describes."""
    return read_machine(write(folder, text, name))


def write(folder: Path, text: str, name: str) -> Path:
    """Return a file with a text."""
    path = folder / name
    path.write_text(text)
    return path


def site_of(machine: MachineDescription) -> SlurmSite:
    """Return how Slurm is configured on a machine that says it."""
    found = machine.table().slurm
    assert found is not None
    return found
