# SPDX-License-Identifier: BSD-3-Clause
"""Files about Slurm's accounts, QOS, usage and switches: a format a file, recognised by the text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import swftools.machines.slurm_files.documents
import swftools.machines.slurm_files.dump
import swftools.machines.slurm_files.tables
import swftools.machines.slurm_files.topology  # noqa: F401 (imported for what they register)
from swftools.errors import ParameterError
from swftools.machines.formats.recognise import recognised, text_of
from swftools.machines.slurm_files.facts import ACCOUNTS, QOS, SWITCHES, USAGE, SlurmFacts
from swftools.machines.slurm_files.registry import FILES
from swftools.parameters.strict_yaml import KeyPath

_WANTED = {
    "topology": (SWITCHES, "topology.conf"),
    "accounts": (ACCOUNTS, "what sacctmgr dump or sacctmgr -P list assoc tree prints"),
    "qos": (QOS, "what sacctmgr -P list qos prints"),
    "usage": (USAGE, "what sshare -a -l -P prints"),
}
"""What a file given as such must tell, and where it is from; it may tell more."""

SETTINGS_LACK = "Slurm's settings are not told: its defaults count; slurm.conf or scontrol show config tells them"


def add_slurm_files(
    content: dict[str, Any], files: Mapping[str, str | os.PathLike[str] | None], threads: int
) -> dict[KeyPath, str]:
    """Put what files say of Slurm into a description, which is changed; return where each part was read.

    Parameters
    ----------
    content : dict
        The keys of a description.
    files : mapping of str to path
        By what they are given as: ``topology``, ``accounts``, ``qos``, ``usage``; None is none.
    threads : int
        Threads of a core, as Slurm's CPUs are threads.

    Raises
    ------
    ParameterError
        A file cannot be read, is in no known format, does not tell what it is given for, or tells what another does.
    """
    whole = SlurmFacts()
    for given_as, path in files.items():
        if path is None:
            continue
        wanted, source = _WANTED[given_as]
        name = os.fsdecode(path)
        text = text_of(name, source)
        fits = {each: (form.title, form.recognise(text)) for each, form in FILES.list().items()}
        facts = FILES.find(recognised(fits, name, "Slurm's accounts, QOS, usage and switches")).read(text, name)
        if wanted not in facts.told and not (wanted == ACCOUNTS and facts.by_shares):
            raise ParameterError(f"{name}: tells no {wanted}; give {source} as {given_as}")
        whole.add(facts, name)
    has_settings = "slurm" in content
    slurm = content.setdefault("slurm", {})
    places = whole.into(slurm, threads)
    notes = [
        *whole.notes,
        *([] if has_settings else [SETTINGS_LACK]),
    ]
    content["notes"] = [*dict.fromkeys([*content.get("notes", []), *notes])]
    return places
