# SPDX-License-Identifier: BSD-3-Clause
"""Texts of Slurm that are broken somewhere: a machine, or one error that begins with the file; never a traceback."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from swftools import MachineDescription, read_machine
from swftools.errors import ParameterError
from tests.examples import by_day
from tests.machines.slurm_sites import FILES, NODES, small, write

_WORDS = (
    "",
    "=",
    "|",
    ":",
    ",",
    "'",
    '"',
    "[",
    "]",
    "{",
    "}",
    "\\\n",
    "\n",
    "-1",
    "1e999",
    "9" * 40,
    "nan",
    "ä",
    "\0",
    "#",
)
_TOPOLOGY = "SwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=n[01-32]\nSwitchName=s2 Nodes=n[33-64]\n"
_JSON = json.dumps(
    {
        "associations": [
            {"account": "root", "user": "", "shares_raw": 1},
            {
                "account": "a",
                "user": "",
                "parent_account": "root",
                "max": {"jobs": {"active": {"set": True, "number": 3}}},
            },
            {"account": "a", "user": "u", "qos": ["q"], "max": {"tres": {"total": [{"type": "cpu", "count": 3}]}}},
        ],
        "qos": [
            {"name": "q", "priority": {"set": True, "number": 5}, "limits": {"grace_time": 3}, "flags": ["NO_RESERVE"]}
        ],
    },
    indent=1,
)


def texts() -> dict[str, tuple[str, str]]:
    """Return texts by name: what each is given as, and the text."""
    parts = re.sub(r"\bNodes=n\S+", "Nodes=n[62-64]", (FILES / "site.txt").read_text()).replace(
        "MinNodes=8", "MinNodes=2"
    )
    return {
        "slurm.conf": ("machine", (FILES / "site.conf").read_text()),
        "scontrol": ("machine", "\n".join([*NODES.splitlines()[-3:], parts])),
        "yaml": ("machine", small().to_yaml()),
        "dump": ("accounts", (FILES / "dump.cfg").read_text()),
        "assoc": ("accounts", (FILES / "assoc.txt").read_text()),
        "json": ("accounts", _JSON),
        "qos": ("qos", (FILES / "qos.txt").read_text()),
        "sshare": ("usage", (FILES / "sshare.txt").read_text()),
        "topology": ("topology", _TOPOLOGY),
    }


def broken(text: str, seed: int) -> str:
    """Return a text with one to three faults: pieces that lack, stand twice, or are others; or only its beginning."""
    lot = random.Random(seed)
    for _ in range(lot.randint(1, 3)):
        begin = lot.randrange(len(text) + 1)
        end = min(begin + lot.choice((1, 1, 2, 5, 40)), len(text))
        kind = lot.randrange(6)
        if kind == 0:
            text = text[:begin] + text[end:]
        elif kind == 1:
            text = text[:end] + text[begin:end] + text[end:]
        elif kind == 2:
            text = text[:begin] + lot.choice(_WORDS) + text[end:]
        elif kind == 3:
            text = text[:begin]
        else:
            lines = text.splitlines(keepends=True) or [""]
            one, other = lot.randrange(len(lines)), lot.randrange(len(lines))
            lines[one] = lines[other] if kind == 4 else lines[one].replace(lot.choice("|=:,"), lot.choice(_WORDS), 1)
            text = "".join(lines)
    return text


@pytest.fixture(scope="module")
def machine() -> MachineDescription:
    """The real site, without accounts."""
    return read_machine(FILES / "site.conf")


@pytest.mark.parametrize("name", texts())
def test_whole_texts_are_read(name: str, machine: MachineDescription, tmp_path: Path) -> None:
    """So that what is broken below is so by its fault."""
    given_as, text = texts()[name]
    path = write(tmp_path, text, name)
    found = read_machine(path) if given_as == "machine" else machine.with_slurm(**{given_as: path})
    assert found.table().slurm is not None


@pytest.mark.parametrize("name", texts())
@pytest.mark.parametrize(
    "seeds", by_day([range(25), *(range(begin, begin + 100) for begin in range(25, 1025, 100))], 1)
)
def test_broken_texts(name: str, seeds: range, machine: MachineDescription, tmp_path: Path) -> None:
    """Each is read, or refused by one message that begins with the file; those that are read are written as well."""
    given_as, text = texts()[name]
    refused: list[str] = []
    for seed in seeds:
        path = write(tmp_path, broken(text, seed), name)
        try:
            found = read_machine(path) if given_as == "machine" else machine.with_slurm(**{given_as: path})
        except ParameterError as error:
            refused.append(str(error))
            continue
        assert found.table().slurm is not None or name == "yaml"
        again = read_machine(write(tmp_path, found.to_yaml(), "again.yaml"))
        assert again.slurm == found.slurm
    assert refused
    assert [] == [each for each in refused if not each.startswith((str(tmp_path / name), f"{machine.name}: "))]
