"""Which format a log is in, from the beginning of its text. Each format that is read is imported here, by a line."""

from __future__ import annotations

import swftools.formats.loadleveler
import swftools.formats.lsf
import swftools.formats.pbs
import swftools.formats.sge
import swftools.formats.slurm
import swftools.formats.swf.format  # noqa: F401 (imported for what they register)
from swftools.errors import LogFormatError
from swftools.formats.registry import Fit, list_formats


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
    fits: dict[str, Fit] = {kind: form.recognise(head) for kind, form in list_formats().items()}
    found = {kind: fit.why for kind, fit in fits.items() if fit.fits}
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
    missing = "\n".join(f"  {kind}: {fit.why}" for kind, fit in fits.items())
    raise LogFormatError(
        f"{name}: it looks like none of the known formats; if it is one of them, name it by format=NAME "
        f"(--format NAME). What is missing for each:\n{missing}"
    )
