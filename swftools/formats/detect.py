# SPDX-License-Identifier: BSD-3-Clause
"""Which format a log is in, from the beginning of its text. Each format that is read is imported here, by a line."""

from __future__ import annotations

import swftools.formats.loadleveler
import swftools.formats.lsf
import swftools.formats.pbs
import swftools.formats.sge
import swftools.formats.slurm
import swftools.formats.swf.format
import swftools.formats.tables.collected
import swftools.formats.tables.mapping
import swftools.formats.tables.published.acme
import swftools.formats.tables.published.alcf
import swftools.formats.tables.published.azure
import swftools.formats.tables.published.fdata
import swftools.formats.tables.published.gwf
import swftools.formats.tables.published.helios
import swftools.formats.tables.published.nrel
import swftools.formats.tables.published.openb
import swftools.formats.tables.published.openb_requests
import swftools.formats.tables.published.opendc
import swftools.formats.tables.published.pai
import swftools.formats.tables.published.philly
import swftools.formats.tables.published.pm100
import swftools.formats.tables.published.spot
import swftools.formats.tables.published.supercloud
import swftools.formats.tables.published.wta  # noqa: F401 (imported for what they register)
from swftools.errors import LogFormatError
from swftools.formats.outputs import find_output
from swftools.formats.registry import Fit, list_formats
from swftools.formats.slurm.other_json import what_json
from swftools.formats.tables.heads import head_of

_TABLE = 4
"""Columns from which a text with separators is taken for a table."""


def detect(head: bytes, name: str) -> tuple[str, str]:
    """Return the name of the format that a text is in, and what in it says so.

    Parameters
    ----------
    head : bytes
        The beginning of the text.
    name : str
        What messages call the log; a name with .swf in it decides where the text looks like nothing.

    Raises
    ------
    LogFormatError
        It looks like none of the formats, which are listed with what is missing for each; or like several.
    """
    foreign = what_json(head)
    if foreign is not None:
        raise LogFormatError(f"{name}: no accounting log of a batch system: {foreign.what}; {foreign.remedy}")
    fits: dict[str, Fit] = {kind: form.recognise(head) for kind, form in list_formats().items()}
    found = {kind: fit.why for kind, fit in fits.items() if fit.fits}
    output = find_output(head) if len(found) != 1 else None
    if output is not None:
        instead = list_formats()[output.instead].COMMAND if output.instead in list_formats() else output.instead
        raise LogFormatError(
            f"{name}: {output.what}, not a log of jobs that ended; what can be read is written by\n  {instead}"
        )
    if len(found) == 1:
        return next(iter(found.items()))
    if ".swf" in name.lower() and (not found or "swf" in found):
        return "swf", "the file's name"
    if found:
        kinds = ", ".join(f"{kind} ({why})" for kind, why in found.items())
        raise LogFormatError(
            f"{name}: it looks like several formats: {kinds}; choose one by format={next(iter(found))} (--format)"
        )
    if not head.strip():
        raise LogFormatError(f"{name}: it is empty")
    table = head_of(head)
    if table is not None and "job_number" in table.columns and table.kind == "parquet":
        raise LogFormatError(f"{name}: a jobs table of swftools, not a log; swftools.formats.read_parquet reads it")
    if table is not None and len(table.columns) >= _TABLE:
        raise LogFormatError(
            f"{name}: a table that no format knows, with the columns {', '.join(table.columns[:60])}; is it one of "
            "those that swftools formats lists? Then say so by format=NAME (--format NAME). Else write a "
            f"mapping: swftools formats propose {name} > mine.yaml, and read it by --format table:mapping=mine.yaml"
        )
    missing = "\n".join(f"  {kind}: {fit.why}" for kind, fit in fits.items())
    raise LogFormatError(
        f"{name}: it looks like none of the known formats; if it is one of them, name it by format=NAME "
        f"(--format NAME). What is missing for each:\n{missing}"
    )
