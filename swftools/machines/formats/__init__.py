# SPDX-License-Identifier: BSD-3-Clause
"""Files that describe machines: a format a file, recognised by the text."""

from __future__ import annotations

import os

import swftools.machines.formats.alea
import swftools.machines.formats.llstatus
import swftools.machines.formats.openb
import swftools.machines.formats.opendc
import swftools.machines.formats.own_yaml
import swftools.machines.formats.pbsnodes
import swftools.machines.formats.pbsnodes_json
import swftools.machines.formats.raps
import swftools.machines.formats.scontrol
import swftools.machines.formats.scontrol_json
import swftools.machines.formats.simgrid
import swftools.machines.formats.slurm_conf  # noqa: F401 (imported for what they register)
from swftools.machines.formats.recognise import recognised, text_of
from swftools.machines.formats.registry import FORMATS, Found


def read_machine_file(path: str | os.PathLike[str]) -> Found:
    """Return what a file says of a machine.

    Raises
    ------
    ParameterError
        It cannot be read, is in no known format, or a line is not as its format has it.
    """
    name = os.fsdecode(path)
    text = text_of(name, "a file that describes a machine")
    fits = {each: (form.title, form.recognise(text)) for each, form in FORMATS.list().items()}
    return FORMATS.find(recognised(fits, name, "machines")).read(text, name)
