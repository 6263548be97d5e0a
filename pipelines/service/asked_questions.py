# SPDX-License-Identifier: BSD-3-Clause
"""What users asked and what they were told, without who they are: a line of JSON each, for a stated time.

So that it can be studied what users do with predictions. Nobody is named: no address, no user, no job.
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


class AskedQuestions:
    """The file of questions.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none.
    days : float
        For how long a question is kept.

    Raises
    ------
    ParameterError
        The number of days is none, or a line of the file is none of its.
    StorageError
        It cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], days: float = 90.0) -> None:
        if not is_number(days, 0.0) or not days > 0.0:
            raise ParameterError(f"questions_days={days!r} is not a number of days above 0")
        self.path, self.days = Path(path), days
        self._file: LineFile | None = None
        self._pruned_at = -math.inf
        self._is_silent = False
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
        """Drop what is older than it may be.

        Raises
        ------
        ParameterError
            A line is none of such a file.
        StorageError
            The file cannot be written.
        """
        self._pruned_at = now
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        kept = [line for number, line in enumerate(lines, 1) if self._time(line, number) > now - self.days * DAY]
        if len(kept) == len(lines):
            return
        self.close()
        with create_file(self.path) as file:
            file.write(b"".join(kept))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _time(self, line: bytes, number: int) -> float:
        """Return when a question was asked."""
        try:
            return float(json.loads(line)["time"])
        except (ValueError, TypeError, LookupError) as error:
            remedy = "name another file"
            raise ParameterError(f"{self.path}, line {number}: is no question that was kept; {remedy}") from error
