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
from swftools.errors import ParameterError, UnreadableLogError
from swftools.formats.compression import open_log
from swftools.machines.formats.registry import FORMATS, Found
from swftools.parameters.small_files import PRINTED_LIMIT, require_small


def read_machine_file(path: str | os.PathLike[str]) -> Found:
    """Return what a file says of a machine.

    Raises
    ------
    ParameterError
        It cannot be read, is in no known format, or a line is not as its format has it.
    """
    name = os.fsdecode(path)
    text = _text_of(name)
    if not text.strip():
        raise ParameterError(f"{name}: the file is empty; give the description of a machine")
    fits = {each: form.recognise(text) for each, form in FORMATS.list().items()}
    found = [each for each, fit in fits.items() if fit.fits]
    if not found:
        missing = "\n".join(f"  {each:<14} {FORMATS.find(each).title}: {fit.why}" for each, fit in fits.items())
        raise ParameterError(f"{name}: is in no format of machines that is known:\n{missing}")
    if len(found) > 1:
        raise ParameterError(f"{name}: looks like {' and '.join(found)}; put what is of each into a file of its own")
    return FORMATS.find(found[0]).read(text, name)


def _text_of(name: str) -> str:
    """Return the text of a file, without a mark of its order of bytes."""
    try:
        require_small(name)
        with open_log(name, max_bytes=PRINTED_LIMIT) as stream:
            data = stream.read()
    except UnreadableLogError as error:
        raise ParameterError(str(error)) from error
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"{name[:300]}: {told}; give the path of a file that describes a machine") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParameterError(f"{name}, line {line}: is no text in UTF-8; convert it") from error
