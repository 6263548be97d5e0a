# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a long log, put together from pieces: each column is there once, in no more memory than it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.fields.definition import INT64
from swftools.fields.dictionary import SWF_FIELDS
from swftools.kernel import untouched_zeros
from swftools.tables import share_alike

_SPARE = 1.05
"""How much more room there is than the lines so far foretell. What is not used takes none: nobody wrote to it."""


class GrowingJobs:
    """Jobs that come piece by piece, as ``read_block`` returns them where lines have 18 fields.

    A column that is missing throughout takes no room for its numbers, one that is never missing none for that; and
    columns that are alike are there once.
    """

    def __init__(self) -> None:
        integers = {field.name: field.type == INT64 for field in SWF_FIELDS}
        self._columns = {name: _Column(is_integer) for name, is_integer in {**integers, "line_number": True}.items()}
        self._jobs = 0

    def takes(self, jobs: pd.DataFrame) -> bool:
        """Whether jobs have no columns but the 18 and their lines."""
        return list(jobs) == list(self._columns)

    def add(self, jobs: pd.DataFrame, share: float) -> None:
        """Add the next jobs.

        Parameters
        ----------
        jobs : pandas.DataFrame
            Of a piece.
        share : float
            How much of the log has been read, these jobs among it, from 0 to 1; by it the rest is foretold.
        """
        count = self._jobs + len(jobs)
        room = max(count, int(_SPARE * count / share))
        for name, column in self._columns.items():
            column.add(jobs[name].array, self._jobs, room)
        self._jobs = count

    def finish(self) -> pd.DataFrame:
        """Return the table; the pieces are forgotten."""
        made: dict[str, pd.Series[Any]] = {}
        for name in list(self._columns):
            made[name] = share_alike(self._columns.pop(name).finish(self._jobs), made.values())
        return pd.DataFrame(made, copy=False)


class _Column:
    """A column that grows."""

    def __init__(self, is_integer: bool) -> None:
        self._is_integer = is_integer
        self._values: npt.NDArray[Any] | None = None  # as long as all are missing
        self._missing: npt.NDArray[np.bool_] | None = None  # of whole numbers, as long as none is

    def add(self, array: Any, before: int, room: int) -> None:
        """Add values behind those before them."""
        missing = array.isna()
        if self._values is None and missing.all():
            return
        lacks = self._is_integer and bool(missing.any())
        values = array.to_numpy(dtype=np.int64, na_value=-1, copy=False) if self._is_integer else np.asarray(array)
        after = before + len(values)
        if self._values is None:
            self._values = np.empty(room, values.dtype)
            self._values[:before] = -1 if self._is_integer else np.nan
            if before and self._is_integer:
                self._missing = untouched_zeros(room, np.bool_)
                self._missing[:before] = True
        self._values = _with_room(self._values, before, after, room)
        self._values[before:after] = values
        if self._is_integer and (lacks or self._missing is not None):
            if self._missing is None:
                self._missing = untouched_zeros(room, np.bool_)
            self._missing = _with_room(self._missing, before, after, room)
            self._missing[before:after] = missing

    def finish(self, count: int) -> pd.Series[Any]:
        """Return the column."""
        values, missing = self._values, self._missing
        self._values = self._missing = None
        if not self._is_integer:
            return pd.Series(np.full(count, np.nan) if values is None else values[:count], copy=False)
        if values is None:
            array = pd.arrays.IntegerArray(untouched_zeros(count, np.int64), np.ones(count, np.bool_))
        else:
            none = untouched_zeros(count, np.bool_) if missing is None else missing[:count]
            array = pd.arrays.IntegerArray(values[:count], none)
        return pd.Series(array, copy=False)


def _with_room(values: npt.NDArray[Any], before: int, after: int, room: int) -> npt.NDArray[Any]:
    """Return values, with more room where there is too little."""
    if after <= len(values):
        return values
    grown = np.zeros(max(room, after), values.dtype)
    grown[:before] = values[:before]
    return grown
