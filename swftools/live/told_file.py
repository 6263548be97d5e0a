# SPDX-License-Identifier: BSD-3-Clause
"""What jobs were told at their submission, a line of JSON each.

So what was told then counts, and not what another version, or a predictor that was started again, would have told.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path

from swftools.errors import ParameterError
from swftools.live.line_file import LineFile
from swftools.live.predictor import ToldWait
from swftools.parameters import is_number


class ToldFile(LineFile):
    """A file of what was told; it is appended to, by one process.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none, and its folder is there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ToldFile(f"{folder}/told.jsonl")
    ...     file.write([("7", ToldWait("batch", 60.0, None))])
    ...     file.close()
    ...     read_told(f"{folder}/told.jsonl")
    {'7': ToldWait(group='batch', bound=60.0, no_prediction=None)}
    """

    def write(self, told: Iterable[tuple[str, ToldWait]]) -> None:
        """Write what jobs were told, all of it safely on the disk when it returns.

        Raises
        ------
        StorageError
            It cannot be written; nothing of it counts.
        """
        lines = b"".join(_line(job, each) for job, each in told)
        if lines:
            self.append(lines)


def read_told(path: str | os.PathLike[str], begin: int = 0) -> dict[str, ToldWait]:
    """Return what each job was told; the first line of a job counts.

    Parameters
    ----------
    path : str or path
        The file; one that is not there has told nothing.
    begin : int
        Bytes at its beginning that are passed over: whole lines.

    Raises
    ------
    ParameterError
        A line is none of such a file; file and line are named.
    """
    found: dict[str, ToldWait] = {}
    if not Path(path).exists():
        return found
    with Path(path).open("rb") as file:
        file.seek(begin)
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                job, each = _read(json.loads(line))
            except (ValueError, TypeError, LookupError) as error:
                where = f"line {number}" if not begin else f"line {number} behind byte {begin}"
                remedy = "restore the file, or begin a new one"
                raise ParameterError(f"{os.fspath(path)}, {where}: says not what a job was told; {remedy}") from error
            found.setdefault(job, each)
    return found


def _line(job: str, told: ToldWait) -> bytes:
    """Return what a job was told as a line; no bound is null."""
    bound = None if math.isnan(told.bound) else told.bound
    return json.dumps([job, told.group, bound, told.no_prediction], separators=(",", ":")).encode() + b"\n"


def _read(told: object) -> tuple[str, ToldWait]:
    """Return a job, and what it was told."""
    if not isinstance(told, list):
        raise TypeError
    job, group, bound, reason = told
    is_text = isinstance(job, str) and isinstance(group, str) and isinstance(reason, str | None)
    if not is_text or not (bound is None or is_number(bound, 0.0)):
        raise ValueError
    return job, ToldWait(group, math.nan if bound is None else float(bound), reason)
