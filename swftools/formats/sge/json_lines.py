# SPDX-License-Identifier: BSD-3-Clause
"""Accounting of Open Cluster Scheduler 9 and Gridware Cluster Scheduler: a record a line, in JSON.

The values are the fields of accounting(5) by name, times in microseconds, usage in groups. They are put where the
scanner of lines with colons would have found them: behind the text, one after the other.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from swftools.formats.sge.kernel import ASTRAY, COLUMNS, JOB, JSON, OTHER, PART, Lines

_GROUPS = ("rusage", "usage")
_IS_ARRAY = re.compile(r"(?<!\S)-t\s")
_DEEPEST = 64
"""Brackets that a line may open: a record has three within each other, and the reader of JSON is recursive."""


def read_json(text: bytes, lines: Lines, rows: int) -> tuple[bytes, Lines, int]:
    """Return a text with the values of lines in JSON behind it, and where they stand.

    Parameters
    ----------
    text : bytes
        The lines.
    lines : Lines
        As ``kernel.find_lines`` found them; those in JSON are filled in.
    rows : int
        How many there are.

    Returns
    -------
    tuple
        The text, the lines and how many there are: fewer, as those of ``reporting`` that tell of no job are left out.
    """
    found = np.flatnonzero(lines.kind[:rows] == JSON)
    if not len(found):
        return text, lines, rows
    words: list[bytes] = [text]
    size = len(text)
    for row in found.tolist():
        record = _record(text[lines.begin[row] : lines.end[row]])
        if record is None:
            lines.kind[row] = ASTRAY
            continue
        values = _values(record)
        if values is None:
            lines.kind[row] = OTHER
            continue
        lines.behind[row] = 0
        is_part = values.pop("pe_taskid").upper() not in ("", "NONE")
        is_whole = all(values[name] for name in ("job_number", "submission_time", "slots", "failed"))
        lines.kind[row] = PART if is_part else JOB if is_whole else ASTRAY
        for place, name in enumerate(COLUMNS):
            word = values.get(name, "").encode()
            if word:
                words.append(word)
                lines.value_begin[place, row], lines.value_end[place, row] = size, size + len(word)
                size += len(word)
    stays = np.flatnonzero(lines.kind[:rows] != OTHER)
    return b"".join(words), Lines(*(column[..., stays] for column in lines)), len(stays)


def _record(line: bytes) -> dict[str, Any] | None:
    """Return a line as an object; None if it is none."""
    if line.count(b"{") + line.count(b"[") > _DEEPEST:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and "job_number" in record else None


def _values(record: dict[str, Any]) -> dict[str, str] | None:
    """Return what a record says, by the names of accounting(5); None if it is not of a job that ended."""
    if record.get("type", "acct") != "acct":
        return None
    usage = record.get("usage")
    groups = [each for each in usage.values() if isinstance(each, dict)] if isinstance(usage, dict) else []
    told = {name: value for group in reversed(groups) for name, value in group.items()} | record
    values = {name: _word(told.get(name)) for name in (*COLUMNS, "pe_taskid")}
    # An element's index; that of a job which is no array is 1 here, and 0 in lines with colons.
    is_array = values["task_number"] not in ("", "0", "1") or _IS_ARRAY.search(_word(record.get("submit_cmd_line")))
    return values | {"task_number": values["task_number"] if is_array else "0"}


def _word(value: Any) -> str:
    """Return a value as a text without line ends; empty if there is none."""
    if value is None or isinstance(value, dict | list):
        return ""
    return str(value).replace("\n", " ")
