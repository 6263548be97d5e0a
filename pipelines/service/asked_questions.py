# SPDX-License-Identifier: BSD-3-Clause
"""What users asked and what they were told, without who they are: a line of JSON each, for a stated time.

So that it can be studied what users do with predictions. Nobody is named: no address, no user, no job.
"""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from swftools.errors import ParameterError, StorageError
from swftools.live.line_file import LineFile
from swftools.output.shown_text import shown
from swftools.output.whole_files import create_file
from swftools.parameters import is_number

_LOG = logging.getLogger("pipelines.service")

DAY = 86_400.0

PRUNED_EVERY = DAY
"""Seconds after which what is too old is dropped."""

MOST_BYTES = 256 * 2**20
"""Of the file; beyond that nothing is kept until something is dropped, so that nobody can fill the disk by asking."""

_BEGINNING = b'{"time":'
"""Of each line."""


class AskedQuestions:
    """The file of questions, in order of time. What is too old is dropped once a day, when a question comes.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none.
    days : float
        For how long a question is kept.

    Raises
    ------
    ParameterError
        The number of days is none; or the file begins with something else than a question, and would lose it.
    StorageError
        It cannot be written, or another process writes it.
    """

    def __init__(self, path: str | os.PathLike[str], days: float = 90.0) -> None:
        if not is_number(days, 0.0) or not days > 0.0:
            raise ParameterError(f"questions_days={days!r} is not a number of days above 0")
        self.path, self.days = Path(path), days
        self._file: LineFile | None = None
        self._pruned_at = -math.inf
        self._is_silent = False
        if not _has_questions(self.path):
            raise ParameterError(f"{self.path}, line 1: is no question that was kept; name another file, or remove it")
        LineFile(path).close()  # refuses what cannot be written, and cuts off what is not whole

    def keep(self, time: float, asked: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        """Keep a question, s since 1970 or as the log counts; what fails is said once, and hinders no answer.

        Parameters
        ----------
        time : float
            When it was asked, s.
        asked : mapping
            What was asked: values that JSON holds.
        told : mapping
            What was answered.
        """
        try:
            if abs(time - self._pruned_at) >= PRUNED_EVERY:
                self.prune(time)
            if self._file is None:
                self._file = LineFile(self.path)
            line = json.dumps({"time": round(time), **asked, **told}, separators=(",", ":")).encode() + b"\n"
            if self._file.size + len(line) > MOST_BYTES:
                self._say(f"{self.path} has {MOST_BYTES:,} bytes; keep them for fewer days")
                return
            self._file.append(line, is_urgent=False)
            self._is_silent = False
        except (StorageError, ParameterError, OSError) as error:
            self._say(str(error))

    def _say(self, what: str) -> None:
        """Say once why questions are not kept."""
        if not self._is_silent:
            _LOG.error("questions are not kept: %s", shown(what))
        self._is_silent = True

    def prune(self, now: float) -> None:
        """Drop what is older than it may be: all before the first line that is new enough, and what is no question.

        Only these lines are read one by one, since answers wait meanwhile; the others are copied.

        Raises
        ------
        StorageError
            The file cannot be written.
        """
        self._pruned_at = now
        if not self.path.exists():
            return
        with self.path.open("rb") as old:
            begin = _first(old, now - self.days * DAY)
            if begin == 0:
                return
            self.close()
            old.seek(begin)
            with create_file(self.path) as file:
                shutil.copyfileobj(old, file)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _has_questions(path: Path) -> bool:
    """Return whether a file begins with a question, perhaps one that was not written to its end; or is empty."""
    line = b""
    with suppress(OSError):  # which is said where it is opened for writing
        if path.is_file():
            with path.open("rb") as file:
                line = file.readline(65_536)
    return _time(line) > -math.inf if line.endswith(b"\n") else _BEGINNING.startswith(line[: len(_BEGINNING)])


def _first(file: BinaryIO, oldest: float) -> int:
    """Return at which byte the first question begins that is newer than a time, s; or the end of the file."""
    begin = 0
    for line in file:
        if _time(line) > oldest:
            break
        begin += len(line)
    return begin


def _time(line: bytes) -> float:
    """Return when a question was asked, s; minus infinity of a line that is none."""
    try:
        return float(json.loads(line)["time"])
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        return -math.inf
