# SPDX-License-Identifier: BSD-3-Clause
"""Amounts as other programs write them: memory with its unit, whole numbers; and JSON that says where it is wrong."""

from __future__ import annotations

import json
import re
from typing import Any

from swftools.errors import ParameterError
from swftools.parameters.problems import report
from swftools.parameters.strict_yaml import KeyPath

_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)", re.ASCII)
_UNITS = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}


def megabytes(text: str, where: str) -> int:
    """Return the MB of ``263842692kb``, ``256 mb``, ``128 GiB``: units are 1024 of each other, none is bytes.

    Raises
    ------
    ParameterError
        It is no such amount; ``where`` begins the message.

    Examples
    --------
    >>> megabytes("263842692kb", "file"), megabytes("1.5 GB", "file"), megabytes("128 GiB", "file")
    (257658, 1536, 131072)
    """
    found = _SIZE.fullmatch(text.strip())
    unit = found[2].lower().replace("ib", "b") if found else "?"
    if found is None or unit not in _UNITS:
        raise ParameterError(f"{where}: {text[:40]!r} is no amount of memory such as 263842692kb or 256gb")
    return int(float(found[1]) * 1024.0 ** (_UNITS[unit] - 2))


def whole_number(text: str, where: str) -> int:
    """Return a whole number; ``where`` begins the message if it is none.

    Raises
    ------
    ParameterError
        It is none.
    """
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise ParameterError(f"{where}: {text[:40]!r} is no whole number")
    return int(text)


class Document:
    """A text of JSON, of which messages name the line.

    Parameters
    ----------
    text, name : str
        The text, and the name of its file.

    Raises
    ------
    ParameterError
        It is not JSON.
    """

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name
        try:
            self.content: Any = json.loads(text)
        except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
            line = getattr(error, "lineno", 1)
            told = getattr(error, "msg", None) or str(error)
            raise ParameterError(f"{name}, line {line}: not readable as JSON: {told}; is the file whole?") from error

    def wrong(self, path: KeyPath, told: str) -> ParameterError:
        """Return an error about what stands at a path."""
        # Tabs indent JSON, and YAML, whose reader finds the line, takes none; what is within texts stays one character.
        return ParameterError(report(self._name, self._text.replace("\t", " ").encode(), [(path, told)]))

    def mapping(self, value: Any, path: KeyPath) -> dict[str, Any]:
        """Return what is a mapping."""
        if not isinstance(value, dict):
            raise self.wrong(path, "should be a mapping, {...}")
        return value

    def list(self, value: Any, path: KeyPath) -> list[Any]:
        """Return what is a list of something."""
        if not isinstance(value, list) or not value:
            raise self.wrong(path, "should be a list, [...], that is not empty")
        return value

    def count(self, value: Any, path: KeyPath, least: int = 1) -> int:
        """Return what is a whole number, of at least so many."""
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 40:
            raise self.wrong(path, f"{str(value)[:40]!r} is no whole number of {least} or more")
        return value

    def number(self, value: Any, path: KeyPath) -> float:
        """Return what is a number above 0."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e300:
            raise self.wrong(path, f"{str(value)[:40]!r} is no number above 0")
        return float(value)
