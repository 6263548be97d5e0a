# SPDX-License-Identifier: BSD-3-Clause
"""Classes of jobs, and statistics of each class at once: what ``measure`` is made of.

References
----------
Chiang and Vasupongayya 2008, Figure 12 (classes by processors and run time).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.named import NO_NAMES, NUMBERED, Known
from swftools.parameters import is_number

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
By = str | Sequence[str] | Mapping[str, Sequence[float] | None] | None
"""Classes of jobs: a column, several, or columns with the upper ends of ranges (None: a class a value)."""

ALL = "all"
NO_VALUE = "missing"

BLOCK = 1 << 14
"""Values that are added up at once."""


class Classes(NamedTuple):
    """By what jobs are classed, the classes' labels in order, and the class of each job."""

    by: str
    labels: list[str]
    of_job: IntArray


def classify(jobs: pd.DataFrame, by: By, names: Known = NO_NAMES) -> Classes:
    """Put every job into one class.

    Parameters
    ----------
    jobs : pandas.DataFrame
        The columns named are used.
    by : str, sequence of str, mapping, or None
        None is one class, "all". A column without ranges has a class for each of its values, in order. Upper ends 8 and
        32 make the classes "<= 8", "(8, 32]" and "> 32", which are there even where no job is in them. Missing values
        are the class "missing", the last, which is there only if needed. Of several columns every combination is a
        class, with its parts joined by " & "; of columns without ranges only those that occur. ``queue`` is
        ``queue_id`` with names, where there is no such column; so are user, group, partition and executable.
    names : mapping
        Names behind numbers, by kind.

    Raises
    ------
    ParameterError
        There is no such column, it has no single values, or the ends do not increase.

    Examples
    --------
    >>> jobs = pd.DataFrame({"allocated_processors": [64, 1, 8], "queue_id": [2, 2, None]})
    >>> classify(jobs, {"allocated_processors": [8, 32], "queue_id": None})  # doctest: +NORMALIZE_WHITESPACE
    Classes(by='allocated_processors & queue_id', labels=['<= 8 & 2', '<= 8 & missing', '> 32 & 2'],
            of_job=array([2, 0, 1]))
    >>> classify(jobs, {"allocated_processors": [8, 32]}).labels
    ['<= 8', '(8, 32]', '> 32']
    """
    if by is None:
        return Classes(ALL, [ALL], np.broadcast_to(np.int64(0), len(jobs)))
    wanted = {by: None} if isinstance(by, str) else dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    kinds = {kind: column for kind, column in NUMBERED.items() if kind not in jobs and column in jobs}
    if not wanted or not all(isinstance(name, str) and (name in jobs or name in kinds) for name in wanted):
        known = ", ".join(map(str, [*kinds, *jobs.columns]))
        raise ParameterError(f"by={by!r} does not name columns of the jobs; there are {known}")
    labels: list[str] = [""]
    of_job = np.zeros(len(jobs), np.int64)
    for name, ends in wanted.items():
        column = jobs[kinds.get(name, name)]
        named = names.get(name, {}) if name in kinds else {}
        own, of_own = _by_value(column, named) if ends is None else _by_range(column, ends)
        labels = [" & ".join(filter(None, pair)) for pair in product(labels, own)]
        of_job = of_job * len(own) + of_own
        if any(ends is None for ends in wanted.values()):  # and so the product stays as small as the jobs are many
            there, of_job = np.unique(of_job, return_inverse=True)
            labels = [labels[index] for index in there]
    return Classes(" & ".join(wanted), labels, of_job.astype(np.int64))


def _by_value(column: pd.Series[Any], names: Mapping[int, str]) -> tuple[list[str], IntArray]:
    """Return a class for each value of a column, in order, called by its name if it has one."""
    try:
        codes, values = pd.factorize(column, sort=True, use_na_sentinel=True)
    except TypeError as error:
        raise ParameterError(f"by={column.name!r}: jobs cannot be classed by a column of {column.dtype}") from error
    labels = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if names:
        told = [names.get(value, label) for value, label in zip(values, labels, strict=True)]
        # Where two have one name, their numbers tell them apart.
        labels = [
            name if told.count(name) == 1 else f"{label} {name}" for name, label in zip(told, labels, strict=True)
        ]
    if len(set(labels)) < len(labels):  # floats that differ behind the sixth digit
        labels = [str(value) for value in values]
    return _with_missing(labels, codes.astype(np.int64))


def _by_range(column: pd.Series[Any], ends: Sequence[float]) -> tuple[list[str], IntArray]:
    """Return a class for each range of a column of numbers."""
    upper = list(ends) if isinstance(ends, Sequence) else []
    if not upper or not all(map(is_number, upper)) or any(low >= high for low, high in pairwise(upper)):
        raise ParameterError(f"by={{{column.name!r}: {ends!r}}}: give upper ends of ranges, numbers that increase")
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        raise ParameterError(f"by={column.name!r}: a column of {column.dtype} has no ranges; give None in their place")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    codes = np.where(np.isnan(values), -1, np.searchsorted(np.array(upper, np.float64), values, side="left"))
    shown = [f"{end:.15g}" for end in upper]
    return _with_missing(
        [f"<= {shown[0]}", *(f"({low}, {high}]" for low, high in pairwise(shown)), f"> {shown[-1]}"], codes
    )


def _with_missing(labels: list[str], codes: IntArray) -> tuple[list[str], IntArray]:
    """Return classes with one for missing values, code -1, if there are any."""
    lacks = codes < 0
    return ([*labels, NO_VALUE], np.where(lacks, len(labels), codes)) if lacks.any() else (labels, codes)


class ClassedValues:
    """The known values of a measure, by class: statistics of all classes at once.

    Parameters
    ----------
    values : numpy.ndarray of float64, shape (jobs,)
        NaN is missing and left out.
    of_job : numpy.ndarray of int64, shape (jobs,)
        Class of each job; not looked at where there is only one.
    count : int
        Classes.
    """

    def __init__(self, values: FloatArray, of_job: IntArray, count: int) -> None:
        known = ~np.isnan(values)
        self._known = slice(None) if known.all() else known  # no copies where nothing is missing
        self._values, self._count = values[self._known], count
        self._class = of_job[self._known] if count != 1 else of_job[:0]
        self.jobs = np.array([len(self._values)]) if count == 1 else np.bincount(self._class, minlength=count)
        self._total: FloatArray | None = None

    def total(self) -> FloatArray:
        """Return sums; NaN over no jobs."""
        if self._total is None:
            sums = self._sum(self._values) if self._values.any() else np.zeros(self._count)
            self._total = np.where(self.jobs > 0, sums, np.nan)
        return self._total

    def mean(self, weights: FloatArray | None = None) -> FloatArray:
        """Return means, weighted if weights of all jobs are given; NaN over no jobs, or where weights are 0 in all."""
        if weights is None:
            return _over(self.total(), self.jobs.astype(np.float64))
        weight = weights[self._known]
        return _over(self._sum(self._values, weight), self._sum(weight))

    def percentiles(self, points: Sequence[float]) -> list[FloatArray]:
        """Return percentiles, linear between two values as by ``numpy.percentile``; NaN over no jobs."""
        some = self.jobs > 0
        size = self.jobs[some]
        first = (np.cumsum(self.jobs) - self.jobs)[some]
        places = [(size - 1) * (point / 100) for point in points]
        lows = [np.floor(place).astype(np.int64) for place in places]
        highs = [np.minimum(low + 1, size - 1) for low in lows]
        ordered = self._in_order([first + at for at in (*lows, *highs)])
        results = []
        for place, low, high in zip(places, lows, highs, strict=True):
            below, above = ordered[first + low], ordered[first + high]
            share = place - low
            result = np.full(self._count, np.nan)
            rise = above - below
            result[some] = np.where(share >= 0.5, above - rise * (1 - share), below + rise * share)
            results.append(result)
        return results

    def largest(self) -> FloatArray:
        """Return the largest values; NaN over no jobs."""
        if self._count == 1 and len(self._values):
            return np.array([self._values.max()])
        most = np.full(self._count, -np.inf)
        np.maximum.at(most, self._class, self._values)
        return np.where(self.jobs > 0, most, np.nan)

    def above_zero(self) -> ClassedValues:
        """Return the same of values above 0 only."""
        is_above = self._values > 0
        return ClassedValues(
            self._values[is_above], self._class[is_above] if self._count != 1 else self._class, self._count
        )

    def _sum(self, values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the sum of values, times weights if there are any, of each class."""
        if self._count == 1:
            return np.array([_added_up(values, weights)])
        weighted = values if weights is None else values * weights
        return np.bincount(self._class, weighted, minlength=self._count).astype(np.float64)

    def _in_order(self, places: list[IntArray]) -> FloatArray:
        """Return the values by class, in each from the least; of a single class only some places have their value."""
        if self._count == 1:
            wanted = np.unique(np.concatenate([np.zeros(0, np.int64), *places]))
            return np.partition(self._values, wanted) if len(wanted) else self._values
        order = np.argsort(self._values, kind="stable")
        return self._values[order[np.argsort(self._class[order], kind="stable")]]


def _added_up(values: FloatArray, weights: FloatArray | None) -> float:
    """Return the sum of values, times weights if there are any, added one to the other from the first on.

    That is the sum of ``numpy.bincount``, to the last digit, which ``numpy.sum`` is not; in a little memory.
    """
    part = np.zeros(BLOCK + 1)
    for begin in range(0, len(values), BLOCK):
        some = values[begin : begin + BLOCK]
        end = len(some)
        part[1 : end + 1] = some if weights is None else some * weights[begin : begin + BLOCK]
        np.add.accumulate(part[: end + 1], out=part[: end + 1])
        part[0] = part[end]
    return float(part[0])


def _over(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Return quotients; NaN over 0."""
    quotients = np.full(len(sums), np.nan)
    np.divide(sums, weights, out=quotients, where=weights > 0)
    return quotients
