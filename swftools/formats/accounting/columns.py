# SPDX-License-Identifier: BSD-3-Clause
"""Columns that a scanner found in a text: what readers of accounting logs ask of them, and what they tell the records.

A value that cannot be read is missing, and told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.records import Records
from swftools.formats.accounting.spans import Spans, durations, numbers
from swftools.formats.accounting.times import Moments, require_zones
from swftools.kernel import FloatArray, IntArray


class Columns:
    """Values by the names of columns, a row for each record. A reader inherits it, and says what the columns are.

    Parameters
    ----------
    text : bytes
        What the values stand in.
    begin, end : ndarray of int64, shape (columns, lines)
        Where; -1 where there is none.
    chosen : slice or ndarray of int64
        The lines that are records.
    """

    NAMES: ClassVar[tuple[str, ...]] = ()
    NEEDED: ClassVar[tuple[str, ...]] = ()
    """Numbers without which a record is no job."""
    NO_LIMIT: ClassVar[tuple[str, ...]] = ()
    """Words that stand for a duration without an end."""

    def __init__(self, text: bytes, begin: IntArray, end: IntArray, chosen: slice | npt.NDArray[Any]) -> None:
        self.text, self._begin, self._end, self._chosen = text, begin, end, chosen

    def spans(self, name: str, rows: npt.NDArray[Any] | None = None) -> Spans:
        """Return the values of a column, of records unless other lines are named."""
        place = self.NAMES.index(name)
        return Spans(self.text, self._begin[place], self._end[place]).rows(self._chosen if rows is None else rows)

    def number(self, records: Records, name: str, *, needed: bool = False) -> FloatArray:
        """Return the numbers of a column; a record that needs one which cannot be read is no job."""
        read = numbers(spans := self.spans(name))
        if needed or name in self.NEEDED:
            records.fault(read.is_bad, f"{name} is no number", spans)
        else:
            records.doubt(read.is_bad, f"{name} is no number")
        return read.value

    def duration(self, records: Records, name: str) -> FloatArray:
        """Return the durations of a column, s; NaN where there is no limit."""
        read = durations(self.spans(name), none=self.NO_LIMIT)
        records.doubt(read.is_bad, f"{name} is no duration")
        return read.value

    def judge_times(self, records: Records, moments: Mapping[str, Moments], optional: str) -> None:
        """Say which times of some columns cannot be read, all but one of which a job needs; count odd ones.

        Raises
        ------
        LogFormatError
            It is not known in which zone they are.
        """
        require_zones(*moments.values())
        records.note_dates(*moments.values())
        for name, each in moments.items():
            if name == optional:
                records.doubt(each.is_bad, f"{name} is no time")
            else:
                records.fault(each.is_bad, f"{name} is no time", self.spans(name))
            records.note(f"{name} in an hour that the zone skips", each.is_skipped)


def elements(number: FloatArray, index: FloatArray) -> dict[str, FloatArray]:
    """Return of which array each job is, and which element: those with an index above 0."""
    is_element = index > 0
    of_array, place = (np.where(is_element, column, np.nan) for column in (number, index))
    return {"array_number": of_array, "array_index": place}


def first_known(*columns: FloatArray) -> FloatArray:
    """Return the first value of each row that is known, in a new array."""
    result = np.array(columns[0], np.float64)
    for column in columns[1:]:
        result = np.where(np.isfinite(result), result, column)
    return result
