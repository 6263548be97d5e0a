# SPDX-License-Identifier: BSD-3-Clause
"""The log-uniform bound: waits whose logarithms are uniform between those of the shortest and of the longest one known.

References
----------
Nurmi 2009, section 4.2.1: fitted by maximum likelihood; the quantile of the fit, for want of a bound with confidence.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from swftools.kernel import FloatArray, kernel
from swftools.qbets.bounds.fitted import LEAST, FittedQuantile, exp_of, positive
from swftools.qbets.bounds.registry import register_bound

COUNT, LOWEST, HIGHEST, PLACES = range(4)
"""Places in the state: waits, the shortest and the longest."""


@kernel(allocates=False)
def widen(state: FloatArray, facts: FloatArray, wait: float) -> None:  # noqa: ARG001 (as all bounds)
    """Learn a wait."""
    some = positive(wait)
    is_first = state[COUNT] == 0.0
    state[COUNT] += 1.0
    if is_first or some < state[LOWEST]:
        state[LOWEST] = some
    if is_first or some > state[HIGHEST]:
        state[HIGHEST] = some


@kernel(allocates=False)
def between(state: FloatArray, facts: FloatArray) -> float:
    """Return the quantile; its share of the way from the lowest to the highest logarithm is the only fact."""
    if state[COUNT] < LEAST:
        return np.nan
    if state[LOWEST] == state[HIGHEST]:
        return state[LOWEST]
    low, high = math.log(state[LOWEST]), math.log(state[HIGHEST])
    return min(exp_of(low + facts[0] * (high - low)), state[HIGHEST])


@register_bound
class LogUniformBound(FittedQuantile):
    """The quantile of a log-uniform distribution fitted by maximum likelihood; NaN for fewer than two waits.

    A wait of 0 counts as 1 s.

    Parameters
    ----------
    quantile : float
        Between 0 and 1, both excluded.

    Examples
    --------
    >>> round(LogUniformBound(quantile=0.5).fit([1, 70, 10_000]).predict(), 6)
    100.0
    """

    name: ClassVar[str] = "loguniform"
    add: ClassVar[Any] = widen
    bound: ClassVar[Any] = between

    def facts(self, waits: int) -> tuple[FloatArray, ...]:  # noqa: ARG002 (as all bounds)
        """Return the quantile; it is the same for any number of waits."""
        return (np.array([self.quantile]),)

    def places(self, waits: int) -> int:  # noqa: ARG002 (as all bounds)
        """Return the length of a state."""
        return PLACES
