# SPDX-License-Identifier: BSD-3-Clause
"""What a file about Slurm's accounts, QOS, usage or switches is, and its formats by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swftools.formats.registry import Fit
from swftools.machines.slurm_files.facts import SlurmFacts
from swftools.parameters.registry import Registry

Reader = Callable[[str, str], SlurmFacts]


@dataclass(frozen=True)
class SlurmFile:
    """A format of such files.

    Parameters
    ----------
    title : str
        What it is, in a few words.
    recognise : callable
        Takes a whole text; says whether it looks like this format, and why, or what is missing.
    read : callable
        Takes the text and the name of the file, for messages.
    """

    title: str
    recognise: Callable[[str], Fit]
    read: Reader


FILES: Registry[SlurmFile] = Registry("file of Slurm")


def slurm_file(name: str, title: str, recognise: Callable[[str], Fit]) -> Callable[[Reader], Reader]:
    """Return what stands before the function that reads a format, and registers it."""
    return FILES.decorator(name, lambda read: SlurmFile(title, recognise, read))
