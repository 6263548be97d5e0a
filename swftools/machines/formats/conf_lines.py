# SPDX-License-Identifier: BSD-3-Clause
"""Lines of Slurm's files of settings, and the words of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swftools.errors import ParameterError

_COMMENT = re.compile(r"(?<!\\)#.*")
_WORD = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*(?:\"([^\"]*)\"|(\S*))")


def conf_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, without comments; those that end with a backslash go on, in a word as well."""
    begun, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first if begun else number
        begun += _COMMENT.sub("", line)
        if begun.rstrip().endswith("\\"):
            begun = begun.rstrip()[:-1]
            continue
        if begun.strip():
            yield first, begun
        begun = ""
    if begun.strip():
        yield first, begun


def conf_words(line: str, where: str) -> dict[str, str]:
    """Return keys, in small letters, and values of a line.

    Raises
    ------
    ParameterError
        It is not KEY=VALUE; ``where`` begins the message.
    """
    words: dict[str, str] = {}
    place = 0
    while line[place:].strip():
        found = _WORD.match(line, place)
        if found is None:
            raise ParameterError(f"{where}: {line[place:].strip()[:60]!r} is not KEY=VALUE")
        words[found[1].lower()] = found[3] if found[2] is None else found[2]
        place = found.end()
    return words
