# SPDX-License-Identifier: BSD-3-Clause
"""The months of a history, by which its tables are parted: those of the submission, UTC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd


def month_of(seconds: npt.ArrayLike) -> npt.NDArray[np.datetime64]:
    """Return the month of each time, given in seconds since 1970.

    Examples
    --------
    >>> month_of([0, 951_782_400]).astype(str).tolist()
    ['1970-01', '2000-02']
    """
    whole = np.floor(np.asarray(seconds, dtype=np.float64)).astype("datetime64[s]")
    return whole.astype("datetime64[M]")


def by_month(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each month of submission, in order, with its label."""
    months = month_of(frame["submit_time"])
    for month in np.unique(months):
        yield str(month), frame[months == month]


def begin_of(month: str) -> float:
    """Return when a month begins, in seconds since 1970.

    Examples
    --------
    >>> begin_of("1970-02")
    2678400.0
    """
    start: Any = np.datetime64(month, "M").astype("datetime64[s]").astype(np.int64)
    return float(start)
