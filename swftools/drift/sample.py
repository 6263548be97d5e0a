# SPDX-License-Identifier: BSD-3-Clause
"""Sample: the known values of one aspect in one window, with what several statistics need of them made once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt


class Sample:
    """Known values of an aspect.

    Parameters
    ----------
    values : numpy.ndarray, shape (values,)
        None missing: numbers, or whole numbers that stand for categories.
    """

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def in_order(self) -> npt.NDArray[Any]:
        """The values from the least on."""
        return np.sort(self.values, kind="stable")

    @cached_property
    def mean(self) -> float:
        """The mean, of values in order so that it is that of any order; NaN of no values."""
        return float(self.in_order.mean()) if len(self) else np.nan

    @cached_property
    def median(self) -> float:
        """The median; NaN of no values."""
        ordered, half = self.in_order, len(self) // 2
        if not len(self):
            return np.nan
        return float(ordered[half]) if len(self) % 2 else float((ordered[half - 1] + ordered[half]) / 2)

    @cached_property
    def counts(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """The different values in order, and how often each is there."""
        values, counts = np.unique(self.values, return_counts=True)
        return values, counts.astype(np.int64)

    @cached_property
    def largest_share(self) -> float:
        """Share of the most frequent value; NaN of no values."""
        return float(self.counts[1].max() / len(self)) if len(self) else np.nan
