# SPDX-License-Identifier: BSD-3-Clause
"""What a format of machines is, and the formats by name: each turns a text into what our YAML would say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from swftools.formats.registry import Fit
from swftools.parameters.registry import Registry


class Found(NamedTuple):
    """What stands in a file.

    Parameters
    ----------
    content : dict
        The keys of a description.
    yaml : bytes
        Its YAML, if it is such: messages name the lines of it.
    places : mapping of tuple to str
        Else where keys were read, as in ``slurm.conf, line 3``, for messages.
    """

    content: dict[str, Any]
    yaml: bytes = b""
    places: Mapping[tuple[Any, ...], str] = {}


@dataclass(frozen=True)
class MachineFormat:
    """A format of machines.

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
    read: Callable[[str, str], Found]


FORMATS: Registry[MachineFormat] = Registry("format of machines")

Reader = Callable[[str, str], Found]


def machine_format(name: str, title: str, recognise: Callable[[str], Fit]) -> Callable[[Reader], Reader]:
    """Return what stands before the function that reads a format, and registers it."""
    return FORMATS.decorator(name, lambda read: MachineFormat(title, recognise, read))
