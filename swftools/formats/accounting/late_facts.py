# SPDX-License-Identifier: BSD-3-Clause
"""What only shows once all records of a log are known, and what it changes: pieces of one job, lines far from theirs.

A format finds it (``AccountingFormat.settle``); what is found is carried out here, on the log as a whole or on one
piece of it after another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from swftools.formats.accounting.ledger import LooseLines, Part
from swftools.kernel import FloatArray, IntArray
from swftools.tables import empty_frame, frame_of

SET, LARGER, FILL = range(3)
"""How a value changes: it is this one, the larger of both, or this one where there is none above 0."""


@dataclass
class Settled:
    """What changes, by the places of records in the log.

    Parameters
    ----------
    changes : dict of str to tuple of ndarray of int64, ndarray of float64, int
        For each column of numbers the records, their values, and how these change them.
    into : dict of int to int
        Records that are pieces of another.
    merged : dict of int to int
        Loose lines that are part of a record: the number of the line, and the place of the record.
    rejected : dict of int to tuple of str, str or None
        Loose lines that are part of none: the number of the line, why, and its text.
    anomalies : Counter
        What is odd, and how often.
    """

    changes: dict[str, tuple[IntArray, FloatArray, int]] = field(default_factory=dict)
    into: dict[int, int] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    rejected: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    anomalies: Counter[str] = field(default_factory=Counter)


def whole_column(parts: list[Part], name: str) -> FloatArray:
    """Return a column of numbers of all parts; NaN where a part has none."""
    columns = [part.numbers.get(name) for part in parts]
    filled = [
        np.full(len(part.line), np.nan) if each is None else each for part, each in zip(parts, columns, strict=True)
    ]
    return np.concatenate(filled, dtype=np.float64)


def loose_lines(parts: list[Part]) -> LooseLines | None:
    """Return the loose lines of all parts; None where there are none."""
    return LooseLines.together([part.loose for part in parts])


def carry_out(settled: Settled, parts: list[Part], lines: IntArray, first: int = 0) -> None:
    """Change parts as was settled.

    Parameters
    ----------
    settled : Settled
        What was found in the log.
    parts : list of Part
        Some of it, one behind the other.
    lines : ndarray of int64
        The line of each record of the log.
    first : int
        The place, in the log, of the first record of the parts.
    """
    for name, (rows, values, how) in settled.changes.items():
        begin = first
        for part in parts:
            inside = (rows >= begin) & (rows < begin + len(part.line))
            if inside.any():
                part.numbers[name] = _changed(part, name, rows[inside] - begin, values[inside], how)
            begin += len(part.line)
    for part in parts:
        if part.loose is None:
            continue
        own = part.loose.line.tolist()
        merged = [line for line in own if line in settled.merged]
        part.merged_line = np.append(part.merged_line, np.array(merged, np.int64))
        part.merged_into = np.append(part.merged_into, lines[[settled.merged[line] for line in merged]])
        rejected = [line for line in own if line in settled.rejected]
        if rejected:
            part.quarantine = pd.concat([part.quarantine, _quarantine(settled, rejected)], ignore_index=True)


def _changed(part: Part, name: str, at: IntArray, values: FloatArray, how: int) -> FloatArray:
    """Return a column of a part with some of its values changed."""
    column = np.array(part.numbers.get(name, np.full(len(part.line), np.nan)), np.float64)
    if how == LARGER:
        np.fmax.at(column, at, values)
    else:
        column[at] = values if how == SET else np.where(column[at] > 0, column[at], values)
    return column


def _quarantine(settled: Settled, lines: list[int]) -> pd.DataFrame:
    """Return the quarantine of loose lines."""
    if not lines:
        return empty_frame("quarantine")
    why, texts = zip(*(settled.rejected[line] for line in lines), strict=True)
    return frame_of(
        "quarantine", {"line_number": lines, "rule": ["read"] * len(lines), "reason": list(why), "text": list(texts)}
    )
