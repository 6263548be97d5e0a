# SPDX-License-Identifier: BSD-3-Clause
"""The Weibull bound: shape and scale fitted by maximum likelihood to all waits known, anew for each bound.

With logarithms x of the n waits, the shape k solves

    sum(x exp(k x)) / sum(exp(k x)) - mean(x) = 1 / k,

and the q quantile is exp(log(sum(exp(k x)) / n) / k) (-log(1 - q))^(1 / k). Sums over all waits for each bound would be
quadratic. Instead they are a polynomial in k about a reference shape k0, with w = k0 (x - c) and r = k / k0 - 1:

    sum(exp((1 + r) w)) = sum over j of r^j sum(exp(w) w^j / j!),

whose coefficients take one more wait in a moment. When the shape leaves the neighbourhood of the reference, the
coefficients are made anew from all logarithms, which stand in the state; that is seldom, since the shape of many waits
hardly moves. With c the largest logarithm and r up to a tenth, what the polynomial leaves out is some parts in 10^13 of
the shape.

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

TERMS = 15
"""Of the polynomial."""

NEAR = 0.1
"""How far from the reference shape, in parts of it, the polynomial is used."""

FAR_ABOVE = 5.0
"""A longest wait of which w is more than this makes another reference."""

PRECISION = 1e-7
"""Newton's steps end when one moves the shape by no larger part; its error is then about the square of that."""

MOST_STEPS = 200
"""Of Newton's; they are bracketed, and a handful is usual."""

COUNT, FIRST, IS_VARIED, SHAPE, REFERENCE, HIGHEST, SUM, BOUND_OF, BOUND_BY, BOUND, COEFFICIENTS = range(11)
"""Places in the state: waits, the first one, whether one has another logarithm, the shape as solved for last; the
reference shape, 0 without one, the largest logarithm when it was taken, and the sum of w; for how many waits the bound
was solved, by which fact, and that bound; the coefficients. Behind them stand the logarithms, in the order of
learning."""

LOGARITHMS = COEFFICIENTS + TERMS

INVERSE = (1.0, *(1.0 / j for j in range(1, TERMS)))
"""1 / j, since a product takes a fraction of a quotient's time."""


@kernel(allocates=False)
def add_to_sums(state: FloatArray, facts: FloatArray, wait: float) -> None:  # noqa: ARG001 (as all bounds)
    """Learn a wait."""
    count = int(state[COUNT])
    logarithm = math.log(positive(wait))
    if count == 0:
        state[FIRST] = positive(wait)
    state[LOGARITHMS + count] = logarithm
    state[COUNT] = count + 1
    if logarithm != state[LOGARITHMS]:
        state[IS_VARIED] = 1.0
    if state[REFERENCE] > 0.0:
        _add_term(state, state[REFERENCE] * (logarithm - state[HIGHEST]))


@kernel(allocates=False)
def fitted_quantile(state: FloatArray, facts: FloatArray) -> float:
    """Return the quantile of the fit, of which log(-log(1 - q)) is the only fact; the wait itself where all are one."""
    if state[COUNT] < LEAST:
        return np.nan
    if state[IS_VARIED] == 0.0:
        return state[FIRST]
    if state[BOUND_OF] != state[COUNT] or state[BOUND_BY] != facts[0]:
        state[BOUND] = _solve(state, facts[0])
        state[BOUND_OF], state[BOUND_BY] = state[COUNT], facts[0]
    return state[BOUND]


@kernel(allocates=False)
def _add_term(state: FloatArray, w: float) -> None:
    """Add a wait to the coefficients; one far above all others gives them up."""
    if w > FAR_ABOVE:
        state[REFERENCE] = 0.0
        return
    state[SUM] += w
    term = math.exp(w)
    state[COEFFICIENTS] += term
    for j in range(1, TERMS):
        term *= w * INVERSE[j]
        state[COEFFICIENTS + j] += term


@kernel(allocates=False)
def _refer_to(state: FloatArray, shape: float) -> None:
    """Make the coefficients about another shape, of all waits."""
    end = LOGARITHMS + int(state[COUNT])
    highest = state[LOGARITHMS]
    for place in range(LOGARITHMS, end):
        highest = max(highest, state[place])
    state[REFERENCE], state[HIGHEST] = shape, highest
    state[SUM] = 0.0
    for j in range(TERMS):
        state[COEFFICIENTS + j] = 0.0
    for place in range(LOGARITHMS, end):
        _add_term(state, shape * (state[place] - highest))


@kernel(allocates=False)
def _first_shape(state: FloatArray) -> float:
    """Return the shape of a Weibull distribution whose logarithms have the standard deviation of the known ones."""
    count = int(state[COUNT])
    mean = squares = 0.0
    for i in range(count):
        difference = state[LOGARITHMS + i] - state[LOGARITHMS] - mean
        mean += difference / (i + 1)
        squares += difference * (state[LOGARITHMS + i] - state[LOGARITHMS] - mean)
    return math.pi / math.sqrt(6.0 * squares / count)


@kernel(allocates=False)
def _solve(state: FloatArray, log_exponent: float) -> float:
    """Solve for the shape, from the last one on, and return the quantile.

    Newton's step is in 1 / k, where the equation is nearly linear. The left side grows with k: so the root is between
    any 1 / k and the left side there, and so is the step.
    """
    count = state[COUNT]
    shape = state[SHAPE] if state[SHAPE] > 0.0 else _first_shape(state)
    low, high = 0.0, math.inf  # of 1 / k
    logarithm = 0.0
    for _ in range(MOST_STEPS):
        if state[REFERENCE] == 0.0 or abs(shape / state[REFERENCE] - 1.0) > NEAR:
            _refer_to(state, shape)
        reference = state[REFERENCE]
        r = shape / reference - 1.0
        total = first = second = 0.0  # the polynomial, its derivative, and half the second one
        for j in range(TERMS - 1, -1, -1):
            second = second * r + first
            first = first * r + total
            total = total * r + state[COEFFICIENTS + j]
        mean = first / total
        excess = mean - state[SUM] / count
        variance = max(2.0 * second / total - mean * mean, 0.0)
        inverse = reference / shape
        weight = variance / (inverse * inverse)
        step_to = (inverse * weight + excess) / (1.0 + weight)
        logarithm = math.log(total / count) + mean * (1.0 / step_to - 1.0 / inverse)
        is_solved = abs(step_to - inverse) <= PRECISION * inverse
        if not is_solved:
            low = max(low, min(inverse, excess) / reference)
            high = min(high, max(inverse, excess) / reference)
            if not low <= step_to / reference <= high:
                step_to = 0.5 * (low + high) * reference
        shape = reference / step_to
        if is_solved:
            break
    state[SHAPE] = shape
    return exp_of(state[HIGHEST] + (logarithm + log_exponent) / shape)


@register_bound
class WeibullBound(FittedQuantile):
    """The quantile of a Weibull distribution fitted by maximum likelihood; NaN for fewer than two waits.

    A wait of 0 counts as 1 s. If all waits are the same, the bound is that wait.

    Parameters
    ----------
    quantile : float
        Between 0 and 1, both excluded.

    Examples
    --------
    >>> round(WeibullBound().fit([10, 20, 40, 80, 160]).predict(), 3)
    170.671
    """

    name: ClassVar[str] = "weibull"
    add: ClassVar[Any] = add_to_sums
    bound: ClassVar[Any] = fitted_quantile

    def facts(self, waits: int) -> tuple[FloatArray, ...]:  # noqa: ARG002 (as all bounds)
        """Return log(-log(1 - q)); it is the same for any number of waits."""
        return (np.array([math.log(-math.log1p(-self.quantile))]),)

    def places(self, waits: int) -> int:
        """Return the length of a state."""
        return LOGARITHMS + waits
