# SPDX-License-Identifier: BSD-3-Clause
"""The text of a file about a machine, and which format it is in."""

from __future__ import annotations

from collections.abc import Mapping

from swftools.errors import ParameterError, UnreadableLogError
from swftools.formats.compression import open_log
from swftools.formats.registry import Fit
from swftools.parameters.small_files import PRINTED_LIMIT, require_small


def text_of(name: str, wanted: str) -> str:
    """Return the text of a file, without a mark of its order of bytes.

    Parameters
    ----------
    name : str
        Its path.
    wanted : str
        What the file should be, for messages.

    Raises
    ------
    ParameterError
        It cannot be read, is too large, has nothing in it, or is no text.
    """
    try:
        require_small(name)
        with open_log(name, max_bytes=PRINTED_LIMIT) as stream:
            data = stream.read()
    except UnreadableLogError as error:
        raise ParameterError(str(error)) from error
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"{name[:300]}: {told}; give the path of {wanted}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParameterError(f"{name}, line {line}: is no text in UTF-8; convert it") from error
    if not text.strip():
        raise ParameterError(f"{name}: the file is empty; give {wanted}")
    return text


def recognised(fits: Mapping[str, tuple[str, Fit]], name: str, what: str) -> str:
    """Return the name of the one format that a text looks like.

    Parameters
    ----------
    fits : mapping
        Of each format by name: what it is, and whether the text looks like it.
    name : str
        Of the file, for messages.
    what : str
        What the formats are of, for messages.

    Raises
    ------
    ParameterError
        It looks like none, or like several.
    """
    found = [each for each, (_, fit) in fits.items() if fit.fits]
    if not found:
        missing = "\n".join(f"  {each:<14} {title}: {fit.why}" for each, (title, fit) in fits.items())
        raise ParameterError(f"{name}: is in no format of {what} that is known:\n{missing}")
    if len(found) > 1:
        raise ParameterError(f"{name}: looks like {' and '.join(found)}; put what is of each into a file of its own")
    return found[0]
