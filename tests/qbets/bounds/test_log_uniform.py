# SPDX-License-Identifier: BSD-3-Clause
"""The log-uniform bound: against scipy's distribution between the shortest and the longest wait."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform

from swftools.qbets.bounds import LogUniformBound
from tests.qbets.bounds.known_waits import WAITS, bounds_after_each


@given(waits=st.lists(WAITS, max_size=30), quantile=st.floats(0.001, 0.999))
def test_twin(waits: list[float], quantile: float) -> None:
    """After each wait it is so far from the lowest to the highest logarithm; of one value it is that value."""
    known = [wait or 1.0 for wait in waits]
    expected = [math.nan] * min(len(waits) + 1, 2)
    for n in range(2, len(waits) + 1):
        low, high = math.log(min(known[:n])), math.log(max(known[:n]))
        expected.append(math.exp(low + quantile * (high - low)))
    told = bounds_after_each(LogUniformBound(quantile), waits)
    np.testing.assert_allclose(told, expected, rtol=1e-12)
    for n in range(2, len(waits) + 1):
        assert min(known[:n]) * (1 - 1e-12) <= told[n] <= max(known[:n])


def test_quantile_of_the_distribution() -> None:
    """So scipy has it."""
    waits = loguniform.rvs(1, 1e5, size=200, random_state=1)
    expected = loguniform.ppf(0.95, waits.min(), waits.max())
    assert LogUniformBound(0.95).fit(waits).predict() == pytest.approx(expected, rel=1e-12)


def test_one_value_is_its_own_bound() -> None:
    """Exactly, since a wait that is no longer than its bound counts as predicted; no wait counts as one of 1 s."""
    for wait in (7.0, 0.1, 3600.0, 1e-300):
        assert LogUniformBound().fit([wait] * 3).predict() == wait
    assert LogUniformBound().fit([0.0] * 3).predict() == 1.0
    assert LogUniformBound(0.5).fit([0.0, 100.0]).predict() == pytest.approx(10.0, rel=1e-12)


def test_no_bound_is_longer_than_the_longest_wait() -> None:
    """Nor where its logarithm is rounded up."""
    for longest in (*range(8, 200), np.finfo(float).max):
        assert LogUniformBound(1 - 2**-53).fit([7.0, longest]).predict() <= longest
