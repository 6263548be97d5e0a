# SPDX-License-Identifier: BSD-3-Clause
"""The rank of a bound of one number of waits, against that of all, and the quantile that is within a deadline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from swftools.qbets.bounds.binomial import bound_ranks, least_waits
from swftools.qbets.order_statistics import largest_quantile, needed_waits, upper_rank

FRACTIONS = st.one_of(st.sampled_from([0.5, 0.75, 0.9, 0.95, 0.99, 0.999999]), st.floats(0.001, 0.999))


@given(waits=st.integers(0, 700), quantile=FRACTIONS, confidence=FRACTIONS, is_large=st.booleans())
def test_rank(waits: int, quantile: float, confidence: float, is_large: bool) -> None:
    """As the table says, also where two probabilities are equal: .5 of .5 is decided by rounding."""
    expected = bound_ranks(waits, quantile, confidence, is_large)[-1]
    assert upper_rank(waits, quantile, confidence, is_large=is_large) == max(expected, 0)


@pytest.mark.parametrize("quantile", [0.5, 0.95, 0.999])
def test_rank_of_many(quantile: float) -> None:
    """A hundred thousand waits."""
    ranks = bound_ranks(100_000, quantile, 0.95)
    for waits in (1_000, 31_234, 99_999, 100_000):
        assert upper_rank(waits, quantile, 0.95) == ranks[waits]


@given(quantile=st.floats(0.01, 0.99), confidence=st.floats(0.01, 0.999))
def test_needed(quantile: float, confidence: float) -> None:
    """So many waits bound something, and one less does not."""
    assert needed_waits(quantile, confidence) == least_waits(quantile, confidence)


@given(waits=st.integers(1, 5_000), part=st.floats(0, 1), confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_largest_quantile(waits: int, part: float, confidence: float) -> None:
    """It is the lower bound of Clopper and Pearson for a share, of as many successes as there are waits within."""
    within = round(part * waits)
    found = largest_quantile(lambda quantile: 0 < upper_rank(waits, quantile, confidence) <= within)
    expected = beta.ppf(1.0 - confidence, within, waits - within + 1) if within else 0.0
    assert found == pytest.approx(expected, abs=2e-7)
    assert found <= expected + 1e-12


def test_by_hand() -> None:
    """Of 59 waits none longer than a deadline: at least .95 of jobs, since .95^59 is just below .05."""
    found = largest_quantile(lambda quantile: 0 < upper_rank(59, quantile, 0.95) <= 59)
    assert found == pytest.approx(0.05 ** (1 / 59), abs=1e-7)
    assert np.floor(found * 1e4) / 1e4 == 0.9504


@pytest.mark.parametrize(("quantile", "confidence"), [(0.5, 0.5), (0.1, 0.9), (0.1, 0.81), (0.4, 0.36)])
def test_where_rounding_decides(quantile: float, confidence: float) -> None:
    """Half of an odd number of waits is below the median with a probability of just .5; .9 of one is .9."""
    ranks = bound_ranks(200, quantile, confidence)
    assert [upper_rank(waits, quantile, confidence) for waits in range(201)] == ranks.tolist()
