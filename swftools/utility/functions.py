# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions: how much a job's completion is worth to its user, as a piecewise-linear function of time.

A function is a series of (time, value) points: the first time is 0, the submission; times increase strictly;
values never increase and never fall below 0; at least two points; linear in between; zero after the last time.
A jump is two points a very small time apart. Many functions are held together in three arrays, so that a
million of them are checked and evaluated in compiled loops.

References
----------
Lee 2009, section 2.5 (form) and 2.2.3 (aggregate utility).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import UtilityError
from swftools.fields.definition import UTILITY
from swftools.kernel import kernel
from swftools.output.amounts import counted
from swftools.output.shown_html import ROWS, ShowsItself, shortened

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_FAULTS = (
    "",
    "has only one point; at least two are needed",
    "has a time or value that is not a finite number",
    "does not begin at time 0",
    "has times that do not increase",
    "has values that increase",
    "has a negative value",
)
_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class UtilityFunctions(ShowsItself):
    """Many utility functions; prints as three lines.

    Parameters
    ----------
    offsets : numpy.ndarray of int64, shape (functions + 1,)
        Function i has the points ``offsets[i]`` to ``offsets[i + 1]``, exclusive. A function without points is
        missing: it evaluates to NaN.
    times : numpy.ndarray of float64, shape (points,)
        Seconds since the job's submission.
    values : numpy.ndarray of float64, shape (points,)
        Value of completion at that time, in units of the system's choice.

    Raises
    ------
    UtilityError
        Names the first function that breaks the form, and how.

    Examples
    --------
    >>> functions = UtilityFunctions.from_points([[(0, 8), (60, 2)], [(0, 5), (10, 5), (10.001, 1), (90, 1)]])
    >>> functions.evaluate([30, 100]).tolist()
    [5.0, 0.0]
    """

    offsets: IntArray
    times: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        for index, reason in find_faults(self.offsets, self.times, self.values).items():
            points = list(zip(*(part.tolist() for part in self[index]), strict=True))
            more = ", ..." if len(points) > _SHOWN else ""
            shown = ", ".join(f"({time!r}, {value!r})" for time, value in points[:_SHOWN])
            raise UtilityError(f"utility function {index} {reason}: {shown}{more}")

    @classmethod
    def from_points(cls, functions: Iterable[Sequence[tuple[float, float]]]) -> UtilityFunctions:
        """Make utility functions from a list of points for each; a missing function has none.

        Raises
        ------
        UtilityError
            What should be a point is no pair of numbers, or a function breaks the form.
        """
        parts = []
        for index, function in enumerate(functions):
            try:
                points = np.array(list(function), dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise UtilityError(f"utility function {index} is not a list of (time, value): {error}") from error
            if len(points) and (points.ndim != 2 or points.shape[1] != 2):
                raise UtilityError(
                    f"utility function {index} is not a list of (time, value): {list(function)[:_SHOWN]}"
                )
            parts.append(points.reshape(-1, 2))
        joined = np.concatenate([np.empty((0, 2)), *parts])
        return cls(offsets_of([len(part) for part in parts]), joined[:, 0].copy(), joined[:, 1].copy())

    @classmethod
    def from_arrow(cls, column: pa.Array | pa.ChunkedArray | pd.Series[Any] | Sequence[Any]) -> UtilityFunctions:
        """Make utility functions from a published column ``utility``; null is missing.

        Parameters
        ----------
        column : pyarrow array or pandas.Series
            Of ``list<struct<time, value>>``, as pyarrow, pandas or (by ``to_arrow``) polars hold it.

        Raises
        ------
        UtilityError
            It is no such column, or a function breaks the form.
        """
        try:
            lists = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)
            lists = (pa.chunked_array([lists]) if isinstance(lists, pa.Array) else lists).cast(UTILITY).combine_chunks()
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise UtilityError(f"no column of {UTILITY}: {error}") from error
        points = lists.flatten()
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
        # Copies, since arrow's arrays cannot be written to, which is another type to numba and would be compiled anew.
        return cls(offsets_of(lengths), *(np.array(points.field(name), dtype=np.float64) for name in ("time", "value")))

    def to_arrow(self) -> pa.ListArray:
        """Return the column ``list<struct<time, value>>``; missing functions are null."""
        points = pa.StructArray.from_arrays(
            [pa.array(self.times), pa.array(self.values)], fields=list(UTILITY.value_type)
        )
        empty = np.diff(self.offsets) == 0
        mask = pa.array(empty) if empty.any() else None
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), points, type=UTILITY, mask=mask)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _lines(self) -> list[str]:
        start, deadline = self.start_values, self.deadlines
        known = ~np.isnan(start)
        lines = [f"UtilityFunctions: {counted(len(self), 'function')}, {counted(len(self.times), 'point')}"]
        if known.any():
            value, time = start[known], deadline[known]
            lines.append(f"values at submission {value.min():.6g} to {value.max():.6g}")
            lines[-1] += f", deadlines {time.min():.6g} to {time.max():.6g} s"
        return [*lines, f"missing: {counted(int((~known).sum()), 'function')}"]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        first = range(min(ROWS, len(self)))
        points = [", ".join(f"({time:g}, {value:g})" for time, value in zip(*self[i], strict=True)) for i in first]
        table = pd.DataFrame({"function": list(first), "points (s, value)": [shortened(text, 60) for text in points]})
        return table, len(self)

    def __getitem__(self, index: int) -> tuple[FloatArray, FloatArray]:
        """Return times and values of one function."""
        index = range(len(self))[index]
        part = slice(self.offsets[index], self.offsets[index + 1])
        return self.times[part], self.values[part]

    @property
    def start_values(self) -> FloatArray:
        """Value at time 0 by function; NaN where missing."""
        return self._at(self.values, self.offsets[:-1])

    @property
    def deadlines(self) -> FloatArray:
        """Last time by function, after which the value is zero; NaN where missing."""
        return self._at(self.times, self.offsets[1:] - 1)

    def _at(self, points: FloatArray, positions: IntArray) -> FloatArray:
        """Return one point of each function; NaN where missing."""
        result = np.full(len(self), np.nan)
        given = np.diff(self.offsets) > 0
        result[given] = points[positions[given]]
        return result

    def evaluate(self, times: npt.ArrayLike) -> FloatArray:
        """Return the value of each function at its own time, at several times, or all at one time.

        Parameters
        ----------
        times : float, or array_like of float, shape (functions,) or (functions, k)
            Seconds since each job's submission; NaN gives NaN.

        Returns
        -------
        numpy.ndarray of float64, shape of ``times``, or (functions,) for a single one
            Linear between points, zero after the last; NaN where the function is missing.

        Raises
        ------
        UtilityError
            A time is negative, or the shape does not fit.
        """
        at = np.asarray(times, dtype=np.float64)
        at = np.ascontiguousarray(np.broadcast_to(at, len(self)) if at.ndim == 0 else at)
        if at.ndim > 2 or len(at) != len(self):
            raise UtilityError(
                f"times of shape {at.shape} for {len(self)} functions; give one time, (functions,) or (functions, k)"
            )
        if at.size and np.nanmin(at, initial=0.0) < 0:
            raise UtilityError(f"time {at[at < 0][0]:g}: utility is defined from submission (time 0) on")
        result = np.empty_like(at)
        shape = (len(self), at.size // max(len(self), 1))
        _evaluate(self.offsets, self.times, self.values, at.reshape(shape), result.reshape(shape))
        return result


def find_faults(offsets: IntArray, times: FloatArray, values: FloatArray) -> dict[int, str]:
    """Return the index of each function that breaks the form, in order, and how it does.

    Parameters
    ----------
    offsets, times, values : numpy.ndarray
        As in ``UtilityFunctions``.

    Raises
    ------
    UtilityError
        The arrays do not describe functions at all: their types, lengths or offsets are wrong.
    """
    typed = all(part.ndim == 1 and part.dtype == np.float64 for part in (times, values)) and len(times) == len(values)
    if not typed or offsets.ndim != 1 or offsets.dtype != np.int64:
        raise UtilityError("offsets must be int64, times and values float64, of one dimension; times as long as values")
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(times) or (np.diff(offsets) < 0).any():
        raise UtilityError(f"offsets must rise from 0 to the number of points, {len(times)}")
    kinds = np.zeros(len(offsets) - 1, np.int64)
    _find_faults(offsets, times, values, kinds)
    return {int(index): _FAULTS[kinds[index]] for index in np.flatnonzero(kinds)}


def offsets_of(lengths: npt.ArrayLike) -> IntArray:
    """Return the offsets of consecutive pieces of given lengths."""
    counts = np.asarray(lengths, dtype=np.int64)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


@kernel
def _find_faults(offsets: IntArray, times: FloatArray, values: FloatArray, kinds: IntArray) -> None:
    """Fill ``kinds`` with the index into ``_FAULTS`` of each function's first fault; 0 where it has none."""
    for i in range(len(offsets) - 1):
        first, end = offsets[i], offsets[i + 1]
        if end == first:
            continue
        if end - first == 1:
            kinds[i] = 1
            continue
        for j in range(first, end):
            if not (np.isfinite(times[j]) and np.isfinite(values[j])):
                kinds[i] = 2
            elif j == first and times[j] != 0.0:
                kinds[i] = 3
            elif j > first and times[j] <= times[j - 1]:
                kinds[i] = 4
            elif j > first and values[j] > values[j - 1]:
                kinds[i] = 5
            elif values[j] < 0.0:
                kinds[i] = 6
            if kinds[i]:
                break


@kernel
def _evaluate(offsets: IntArray, times: FloatArray, values: FloatArray, at: FloatArray, result: FloatArray) -> None:
    """Fill ``result[i, k]`` with function i at ``at[i, k]``; the caller guarantees well-formed functions."""
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1] - 1
        for k in range(at.shape[1]):
            t = at[i, k]
            if last < first or np.isnan(t):
                result[i, k] = np.nan
                continue
            if t > times[last]:
                result[i, k] = 0.0
                continue
            low, high = first, last  # times[low] <= t <= times[high]
            while high - low > 1:
                middle = (low + high) // 2
                if times[middle] <= t:
                    low = middle
                else:
                    high = middle
            if t >= times[high]:
                result[i, k] = values[high]
            else:
                share = (t - times[low]) / (times[high] - times[low])
                result[i, k] = values[low] + share * (values[high] - values[low])
