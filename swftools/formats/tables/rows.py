# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table, before it is known what they mean: what readers of CSV, JSON and Parquet all yield."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from swftools.errors import LogFormatError
from swftools.formats.accounting.records import Reject
from swftools.formats.tables.heads import place_of
from swftools.formats.tables.values import ColumnValues
from swftools.kernel import IntArray
from swftools.parameters import did_you_mean


@dataclass
class Sheet:
    """Rows of a table, in order.

    Parameters
    ----------
    columns : dict of str to ColumnValues
        Those that were asked for and are there, by their names in the declaration.
    line : ndarray of int64, shape (rows,)
        Where each begins: its line, or its number where the file has no lines.
    begin, end : ndarray of int64
        Where the text of each stands, if there is one.
    text : bytes
        What those are places in.
    rejects : list of Reject
        Lines that are no rows.
    show : callable, optional
        Returns the text of a row where there is none in the file.
    is_cut_off : bool
        Whether the last row has no line end, and another number of values than those before it.
    """

    columns: dict[str, ColumnValues]
    line: IntArray
    begin: IntArray
    end: IntArray
    text: bytes = b""
    rejects: list[Reject] = field(default_factory=list)
    faults: list[tuple[IntArray, str]] = field(default_factory=list)
    """Rows that cannot be jobs, and why."""
    repeated_headers: int = 0
    show: Callable[[int], str] | None = None

    def __len__(self) -> int:
        return len(self.line)


def find_columns(there: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Return which columns of a table are asked for, by the names in the declaration.

    Raises
    ------
    LogFormatError
        One that is asked for stands twice.
    """
    found: dict[str, int] = {}
    for name in wanted:
        place = place_of(there, [name])
        if place < 0:
            continue
        if list(there).count(there[place]) > 1:
            raise LogFormatError(f"its header has the column {name!r} twice; which one counts? Rename the other one")
        found[name] = place
    return found


def missing_column(names: Sequence[str], there: Sequence[str], what: str) -> LogFormatError:
    """Return the error that says that a column which is needed is not there."""
    told = " or ".join(map(repr, names))
    shown = ", ".join(list(there)[:40]) + (" ..." if len(there) > 40 else "")
    return LogFormatError(
        f"there is no column {told}, which says {what}; the columns are {shown}{did_you_mean(names, there)}. Was it "
        "renamed? Then rename it back, or write a mapping (swftools formats propose FILE)"
    )


def rows_from(first: int, count: int) -> IntArray:
    """Return the numbers of so many rows."""
    return first + np.arange(count, dtype=np.int64)
