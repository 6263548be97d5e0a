# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a log that are asked for later, when its text is no longer in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence

from swftools.errors import ParameterError, UnreadableLogError
from swftools.formats.multi_file import LogFiles, open_joined
from swftools.formats.place import split_member

_PIECE = 1 << 22


class SourceLines:
    """The lines of a log's files, read again when some are asked for.

    Parameters
    ----------
    files : LogFiles
        The log.
    mark : bytes
        What does not count where the text begins with it: a byte-order mark.
    """

    def __init__(self, files: LogFiles, *, mark: bytes = b"") -> None:
        self._files, self._mark = files, mark
        self._stamps = _stamps(files)

    def at(self, numbers: Sequence[int]) -> list[bytes]:
        """Return lines by their numbers, the first being 1.

        Raises
        ------
        ParameterError
            The log has no such line.
        UnreadableLogError
            It cannot be read any more, or has changed since this was made.
        """
        if not numbers:
            return []
        if _stamps(self._files) != self._stamps:
            raise UnreadableLogError(f"{self._files.name}: the file has changed since it was read; read it again")
        wanted = sorted(set(numbers), reverse=True)
        found: dict[int, bytes] = {}
        line, rest = 1, b""
        with open_joined(self._files) as stream:
            while wanted and (data := stream.read(_PIECE)):
                rest += data
                end = rest.rfind(b"\n") + 1
                line = _take(rest[:end], line, wanted, found)
                rest = rest[end:]
        if rest:
            _take(rest, line, wanted, found)
        if wanted:
            raise ParameterError(f"{self._files.name}: there is no line {wanted[-1]}: it is not the log of this trace")
        if 1 in found:
            found[1] = found[1].removeprefix(self._mark)
        return [found[number] for number in numbers]


def _stamps(files: LogFiles) -> list[tuple[int, int] | None]:
    """Return by what it shows that a file is another one: its size and when it was written; None of a stream."""
    stamps: list[tuple[int, int] | None] = []
    for source in files.sources:
        try:
            told = os.stat(split_member(source)[0]) if isinstance(source, str | os.PathLike) else None  # noqa: PTH116
        except OSError:
            told = None  # the error of reading says more
        stamps.append(told and (told.st_size, told.st_mtime_ns))
    return stamps


def _take(text: bytes, line: int, wanted: list[int], found: dict[int, bytes]) -> int:
    """Move lines of a text that are wanted to those found; return the number of the line behind it."""
    lines = text.count(b"\n") + (not text.endswith(b"\n") and text != b"")
    if wanted and wanted[-1] < line + lines:
        split = text.split(b"\n")
        while wanted and wanted[-1] < line + lines:
            number = wanted.pop()
            if number < line:
                raise ParameterError(f"there is no line {number}: lines are counted from 1")
            found[number] = split[number - line]
    return line + lines
