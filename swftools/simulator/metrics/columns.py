# SPDX-License-Identifier: BSD-3-Clause
"""Columns of schedules as arrays, and how rows of one table are found in another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.simulator.schedule import rows_by_number

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def column_of(frame: pd.DataFrame, name: str) -> FloatArray:
    """Return a column as float64; NaN is missing."""
    return frame[name].to_numpy(dtype=np.float64, na_value=np.nan)


def rows_of(wanted: pd.DataFrame, jobs: pd.DataFrame) -> IntArray:
    """Return the row among the jobs of each (job_number, job_occurrence) wanted.

    Raises
    ------
    ParameterError
        Names the first that is not there.
    """
    (number, occurrence), (of_number, of_occurrence) = _keys(jobs), _keys(wanted)
    if len(number) and (number[1:] > number[:-1]).all():  # as in most logs: no number repeats
        row = rows_by_number(number, of_number)
        if (number[row] == of_number).all() and (occurrence[row] == of_occurrence).all():
            return row
    numbers = np.sort(number, kind="stable")
    many = int(max(occurrence.max(initial=0), of_occurrence.max(initial=0))) + 1

    def code(numbered: IntArray, occurring: IntArray) -> IntArray:
        return np.searchsorted(numbers, numbered).astype(np.int64) * many + occurring

    codes, asked = code(number, occurrence), code(of_number, of_occurrence)
    order = np.argsort(codes, kind="stable")
    place = np.searchsorted(codes[order], asked)
    row = order[np.minimum(place, len(order) - 1)] if len(order) else np.full(len(asked), -1)
    wrong = (row < 0) | (number[row] != of_number) | (occurrence[row] != of_occurrence) if len(order) else row < 0
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise ParameterError(f"job {of_number[first]}, occurrence {of_occurrence[first]}, is not among the jobs")
    return row


def _keys(frame: pd.DataFrame) -> tuple[IntArray, IntArray]:
    """Return job numbers, -1 for missing, and occurrences."""
    number, occurrence = (
        frame[name].to_numpy(dtype=np.int64, na_value=-1) for name in ("job_number", "job_occurrence")
    )
    return number, occurrence
