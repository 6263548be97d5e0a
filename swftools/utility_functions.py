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

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from swftools.errors import UtilityError
from swftools.fields import UTILITY

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


@dataclass(frozen=True, eq=False)
class UtilityFunctions:
    """Many utility functions.

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
            raise UtilityError(f"utility function {index} {reason}: {points[:6]}")

    @classmethod
    def from_points(cls, functions: Iterable[Sequence[tuple[float, float]]]) -> UtilityFunctions:
        """Make utility functions from a list of points for each."""
        points = [np.array(list(function), dtype=np.float64).reshape(-1, 2) for function in functions]
        joined = np.concatenate(points) if points else np.empty((0, 2))
        return cls(_offsets([len(p) for p in points]), joined[:, 0].copy(), joined[:, 1].copy())

    @classmethod
    def from_arrow(cls, column: pa.Array | pa.ChunkedArray) -> UtilityFunctions:
        """Make utility functions from a column ``list<struct<time, value>>``, as published; null is missing."""
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        points = column.flatten()
        lengths = np.asarray(pa.compute.fill_null(pa.compute.list_value_length(column), 0))
        return cls(_offsets(lengths), *(np.array(points.field(name), dtype=np.float64) for name in ("time", "value")))

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

    def __getitem__(self, index: int) -> tuple[FloatArray, FloatArray]:
        """Return times and values of one function."""
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
        result = np.full(len(self), np.nan)
        given = np.diff(self.offsets) > 0
        result[given] = points[positions[given]]
        return result

    def evaluate(self, times: npt.ArrayLike) -> FloatArray:
        """Return the value of each function at its own time, or at several times.

        Parameters
        ----------
        times : array_like of float, shape (functions,) or (functions, k)
            Seconds since each job's submission; NaN gives NaN.

        Returns
        -------
        numpy.ndarray of float64, shape of ``times``
            Linear between points, zero after the last.

        Raises
        ------
        UtilityError
            A time is negative, or the shape does not fit.
        """
        at = np.ascontiguousarray(times, dtype=np.float64)
        if at.ndim not in {1, 2} or len(at) != len(self):
            raise UtilityError(f"times of shape {at.shape} for {len(self)} functions; give (functions,) or (functions, k)")
        if (at < 0).any():
            raise UtilityError(f"time {at[at < 0][0]:g}: utility is defined from submission (time 0) on")
        result = np.empty_like(at)
        shape = (len(self), at.size // len(self) if len(self) else 0)
        _evaluate(self.offsets, self.times, self.values, at.reshape(shape), result.reshape(shape))
        return result


def find_faults(offsets: IntArray, times: FloatArray, values: FloatArray) -> dict[int, str]:
    """Return the index of each function that breaks the form, in order, and how it does.

    Parameters
    ----------
    offsets, times, values : numpy.ndarray
        As in ``UtilityFunctions``.
    """
    kinds = np.zeros(len(offsets) - 1, np.int64)
    _find_faults(offsets, times, values, kinds)
    return {int(index): _FAULTS[kinds[index]] for index in np.flatnonzero(kinds)}


def _offsets(lengths: npt.ArrayLike) -> IntArray:
    """Return the offsets of consecutive pieces of given lengths."""
    counts = np.asarray(lengths, dtype=np.int64)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


@njit(cache=True, nogil=True)
def _find_faults(offsets, times, values, kinds):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def _evaluate(offsets, times, values, at, result):  # type: ignore[no-untyped-def]
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
