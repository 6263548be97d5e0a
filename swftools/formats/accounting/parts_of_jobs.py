# SPDX-License-Identifier: BSD-3-Clause
"""What several lines of a log have to do with one job, however far apart they stand: parts of it, and earlier runs.

Both are kept between the stretches of a log, so that what is made of a log does not depend on where it is cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from swftools.kernel import BoolArray, FloatArray, IntArray

KeyArray = npt.NDArray[np.uint64]


def job_key(number: FloatArray, index: FloatArray) -> KeyArray:
    """Return the number of a job and its index in an array as one number.

    Parameters
    ----------
    number : ndarray of float64
        Below 2**34; what is not, such as NaN, counts as 0.
    index : ndarray of float64
        Below 2**30, likewise.
    """
    high, low = (
        np.where((values >= 0) & (values < most), values, 0.0).astype(np.uint64)
        for values, most in ((number, 2.0**34), (index, 2.0**30))
    )
    key: KeyArray = (high << np.uint64(30)) | low
    return key


def first_places(keys: pa.LargeStringArray, asked: pa.LargeStringArray) -> IntArray:
    """Return for each text that is asked for the first row that has it; -1 where none does, or nothing is asked."""
    found: IntArray = pc.index_in(asked, value_set=keys, skip_nulls=True).fill_null(-1).to_numpy().astype(np.int64)
    return found


class JoinedLines(NamedTuple):
    """Lines that became part of records.

    Parameters
    ----------
    line, into : ndarray of int64
        Each line, and the row of the record that it is part of.
    sums : ndarray of float64, shape (values, records)
        What the parts of each record add to it.
    """

    line: IntArray
    into: IntArray
    sums: FloatArray


class PartsOfJobs:
    """Lines that tell something of a job whose record stands behind them: they wait for the next one of their key.

    Parameters
    ----------
    values : int
        How many numbers each part carries.
    """

    def __init__(self, values: int = 0) -> None:
        self._key: KeyArray = np.empty(0, np.uint64)
        self._line: IntArray = np.empty(0, np.int64)
        self._values: FloatArray = np.empty((values, 0))

    def join(
        self, key: KeyArray, line: IntArray, part_key: KeyArray, part_line: IntArray, part_values: FloatArray
    ) -> JoinedLines:
        """Return which parts, of this stretch and of those before, the records of a stretch have.

        Parameters
        ----------
        key, line : ndarray, shape (records,)
            Of the records.
        part_key, part_line : ndarray, shape (parts,)
            Of the parts of this stretch.
        part_values : ndarray of float64, shape (values, parts)
            What each part carries; NaN adds nothing.
        """
        self._key = np.concatenate([self._key, part_key])
        self._line = np.concatenate([self._line, part_line])
        self._values = np.concatenate([self._values, part_values], axis=1)
        count = len(self._key)
        sums = np.zeros((len(self._values), len(key)))
        if not count or not len(key):
            return JoinedLines(np.empty(0, np.int64), np.empty(0, np.int64), sums)
        every_key = np.concatenate([self._key, key])
        order = np.lexsort((np.concatenate([self._line, line]), every_key))
        place = np.where(order >= count, np.arange(len(order)), len(order) - 1)
        behind = order[np.minimum.accumulate(place[::-1])[::-1]]
        is_found = (order < count) & (behind >= count) & (every_key[behind] == every_key[order])
        part, into = order[is_found], behind[is_found] - count
        for value, total in zip(self._values, sums, strict=True):
            np.add.at(total, into, np.nan_to_num(value[part]))
        joined = JoinedLines(self._line[part], into, sums)
        waits = np.ones(count, bool)
        waits[part] = False
        self._key, self._line, self._values = self._key[waits], self._line[waits], self._values[:, waits]
        return joined

    def lines_left(self) -> list[int]:
        """Return the lines whose record has not come."""
        return [int(line) for line in np.sort(self._line)]


class EarlierRuns:
    """How often a job ran before, of those whose earlier runs were of a kind that is followed by another."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, int]] = {}

    def count(self, key: KeyArray, submit: FloatArray, is_followed: BoolArray) -> FloatArray:
        """Return how many runs of each record's job stand before it; NaN where none does.

        Parameters
        ----------
        key : ndarray of uint64, shape (records,)
            Which job.
        submit : ndarray of float64
            When it was submitted: a number that is given again is another job's.
        is_followed : ndarray of bool
            Whether the record is of a run after which the job may be started again.
        """
        runs = np.full(len(key), np.nan)
        known = np.fromiter(self._seen, np.uint64, len(self._seen))
        for row in np.flatnonzero(is_followed | is_among(key, np.append(known, key[is_followed]))).tolist():
            at, before = self._seen.get(int(key[row]), (np.nan, 0))
            before = before if at == submit[row] else 0
            if before:
                runs[row] = before
            if is_followed[row]:
                self._seen[int(key[row])] = (float(submit[row]), before + 1)
        return runs


def is_among(keys: KeyArray, others: KeyArray) -> BoolArray:
    """Return which keys are among others; numpy 2.0 cannot subtract such numbers, which it does unless it sorts."""
    return np.isin(keys, others, kind="sort")
