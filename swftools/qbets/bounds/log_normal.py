# SPDX-License-Identifier: BSD-3-Clause
"""The log-normal bounds: mean and standard deviation of the logarithms, and how many of these a bound lies above it.

References
----------
Nurmi 2009, section 4.2.1, says that the upper bound with 95 % confidence was taken. Its Table 4.1 is met by the mere
quantile of the fit, mean + 1.645 standard deviations. Both are here.

Hahn and Meeker 1991, "Statistical Intervals", chapter 4: with n waits, mean m and standard deviation s of their
logarithms, m + K s is an upper bound of the q quantile with confidence C for K = T / sqrt(n), where T is the C quantile
of the noncentral t distribution with n - 1 degrees of freedom and noncentrality z_q sqrt(n).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, kernel
from swftools.qbets.bounds.fitted import LEAST, FittedQuantile, exp_of, positive
from swftools.qbets.bounds.registry import (
    LOWER,
    TWO_SIDED,
    UPPER,
    Bound,
    check_count,
    check_fraction,
    check_side,
    register_bound,
)

COUNT, FIRST, MEAN, SQUARES, PLACES = range(5)
"""Places in the state: waits, the first one, and of the logarithms of the waits as parts of the first one the mean and
the sum of squared differences from it."""

EXACT = 100
"""Up to so many waits each factor is looked up in the noncentral t distribution; above, a polynomial stands for it."""

NODES = 13
"""Where the polynomial is that: an odd number, so that infinitely many waits are among them."""


@kernel(allocates=False)
def add_to_mean(state: FloatArray, facts: FloatArray, wait: float) -> None:  # noqa: ARG001 (as all bounds)
    """Learn a wait, by Welford's recurrence."""
    if state[COUNT] == 0.0:
        state[FIRST] = positive(wait)
    state[COUNT] += 1.0
    logarithm = math.log(positive(wait)) - math.log(state[FIRST])
    difference = logarithm - state[MEAN]
    state[MEAN] += difference / state[COUNT]
    state[SQUARES] += difference * (logarithm - state[MEAN])


@kernel(allocates=False)
def above_mean(state: FloatArray, facts: FloatArray) -> float:
    """Return the bound: as many roots of the sum of squares above the mean as the facts say for so many waits."""
    if state[COUNT] < LEAST:
        return np.nan
    if state[SQUARES] == 0.0:
        return state[FIRST]
    above_first = state[MEAN] + facts[int(state[COUNT])] * math.sqrt(state[SQUARES])
    return exp_of(math.log(state[FIRST]) + above_first)


@register_bound
class LogNormalBound(Bound):
    """An upper, lower or two-sided bound of a quantile at a confidence, for waits whose logarithms are normal.

    A wait of 0 counts as 1 s. With fewer than two waits there is no bound.

    Parameters
    ----------
    quantile, confidence : float
        Between 0 and 1, both excluded.
    side : {"upper", "lower", "two-sided"}
        Which bound; with two-sided, each of the two takes half of the error.

    Examples
    --------
    >>> waits = [10, 20, 40, 80, 160]
    >>> [round(LogNormalBound(side=side).fit(waits).predict()) for side in ("lower", "upper")]
    [98, 4003]
    """

    name: ClassVar[str] = "lognormal"
    add: ClassVar[Any] = add_to_mean
    bound: ClassVar[Any] = above_mean

    reads_any_quantile: ClassVar[bool] = True

    def __init__(self, quantile: float = 0.95, confidence: float = 0.95, side: str = UPPER) -> None:
        self.quantile = quantile
        self.confidence = confidence
        self.side = side

    def check(self) -> None:
        """Refuse parameters outside their domains."""
        check_fraction("quantile", self.quantile)
        check_fraction("confidence", self.confidence)
        check_side(self.side)

    def facts(self, waits: int) -> tuple[FloatArray, ...]:
        """Return the factor of the root of the sum of squares for each number of waits up to this.

        Raises
        ------
        ParameterError
            Quantile or confidence is so close to 0 or 1 that the factors cannot be computed.
        """
        confidence = (1.0 + self.confidence) / 2.0 if self.side == TWO_SIDED else self.confidence
        confidences = [1.0 - confidence] if self.side != UPPER else []
        if self.side != LOWER:
            confidences.append(confidence)
        root = np.sqrt(np.maximum(np.arange(waits + 1) - 1, 1))
        return tuple(bound_factors(waits, self.quantile, confidence) / root for confidence in confidences)

    def check_state(self, state: FloatArray, waits: int) -> None:
        """Refuse a state of another number of waits, or of what is no number."""
        super().check_state(state, waits)
        check_count(state, waits)

    def places(self, waits: int) -> int:  # noqa: ARG002 (as all bounds)
        """Return the length of a state."""
        return PLACES


@register_bound
class LogNormalPlainBound(FittedQuantile):
    """The quantile of a log-normal distribution fitted by maximum likelihood; NaN for fewer than two waits.

    A wait of 0 counts as 1 s.

    Parameters
    ----------
    quantile : float
        Between 0 and 1, both excluded.

    Examples
    --------
    >>> round(LogNormalPlainBound().fit([10, 20, 40, 80, 160]).predict())
    201
    """

    name: ClassVar[str] = "lognormal-plain"
    add: ClassVar[Any] = add_to_mean
    bound: ClassVar[Any] = above_mean

    def facts(self, waits: int) -> tuple[FloatArray, ...]:
        """Return the factor of the root of the sum of squares for each number of waits up to this."""
        from scipy.stats import norm  # noqa: PLC0415 (takes half a second)

        return (norm.ppf(self.quantile) / np.sqrt(np.maximum(np.arange(waits + 1), 1)),)

    def places(self, waits: int) -> int:  # noqa: ARG002 (as all bounds)
        """Return the length of a state."""
        return PLACES


def bound_factors(waits: int, quantile: float, confidence: float) -> FloatArray:
    """Return by how many standard deviations a bound is above the mean, for 0 to ``waits`` waits; NaN for 0 and 1.

    With t = 1 / sqrt(n) the factor K(t; C) is smooth, and K(-t; C) = K(t; 1 - C) goes on beyond t = 0, where it is z_q.
    So one polynomial, through Chebyshev's nodes on both sides, does for all n above ``EXACT``.

    Raises
    ------
    ParameterError
        Quantile or confidence is so close to 0 or 1 that the factors cannot be computed.

    Examples
    --------
    >>> bound_factors(250_000, 0.95, 0.95)[[2, 59, 1000, 250_000]].round(6).tolist()
    [26.259674, 2.025887, 1.727263, 1.64991]
    """
    from scipy.stats import norm  # noqa: PLC0415 (takes half a second)

    few = _factor(np.arange(LEAST, EXACT + 1), quantile, confidence)
    node = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    node[NODES // 2] = 0.0
    at_node = np.full(NODES, norm.ppf(quantile))
    for side, level in ((node > 0.0, confidence), (node < 0.0, 1.0 - confidence)):
        at_node[side] = _factor(EXACT / node[side] ** 2, quantile, level)
    if not (np.isfinite(few).all() and np.isfinite(at_node).all()):
        raise ParameterError(
            f"quantile={quantile!r} with confidence={confidence!r} is too close to 0 or 1 for the noncentral t "
            "distribution; lower both, or use the binomial bound"
        )
    polynomial = np.polynomial.Chebyshev.fit(node, at_node, NODES - 1, domain=[-1.0, 1.0])
    many = polynomial(np.sqrt(EXACT / np.arange(EXACT + 1, waits + 1)))
    return np.concatenate([np.full(LEAST, np.nan), few, many])[: waits + 1]


def _factor(waits: Any, quantile: float, confidence: float) -> FloatArray:
    """Return K for numbers of waits, which need not be whole."""
    from scipy.stats import nct, norm  # noqa: PLC0415 (takes half a second)

    return nct.ppf(confidence, waits - 1.0, norm.ppf(quantile) * np.sqrt(waits)) / np.sqrt(waits)
