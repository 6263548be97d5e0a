# SPDX-License-Identifier: BSD-3-Clause
"""What the bounds that fit a distribution share: they look at logarithms of waits, and need two waits at least."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from swftools.kernel import FloatArray, kernel
from swftools.qbets.bounds.registry import Bound, check_count, check_fraction

LEAST = 2
"""Fewer waits say nothing of how much they differ, and bound nothing."""

LARGEST_LOG = math.log(np.finfo(np.float64).max)
"""Of what is a number at all."""


class FittedQuantile(Bound):
    """A quantile of a distribution fitted by maximum likelihood, which is no bound at any confidence.

    Parameters
    ----------
    quantile : float
        Between 0 and 1, both excluded.
    """

    reads_any_quantile: ClassVar[bool] = True

    def __init__(self, quantile: float = 0.95) -> None:
        self.quantile = quantile

    def check_state(self, state: FloatArray, waits: int) -> None:
        """Refuse a state of another number of waits, or of what is no number."""
        super().check_state(state, waits)
        check_count(state, waits)

    def check(self) -> None:
        """Refuse parameters outside their domains."""
        check_fraction("quantile", self.quantile)


@kernel(allocates=False)
def positive(wait: float) -> float:
    """Return a wait, s; no wait counts as one of 1 s, since 0 has no logarithm."""
    return wait if wait > 0.0 else 1.0


@kernel(allocates=False)
def exp_of(logarithm: float) -> float:
    """Return the number of a logarithm; infinity where it is too large for one."""
    return math.exp(logarithm) if logarithm < LARGEST_LOG else math.inf
