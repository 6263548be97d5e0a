# SPDX-License-Identifier: BSD-3-Clause
"""The log-normal bounds: against numpy's mean and deviation, scipy's noncentral t distribution, their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom, lognorm, nct, norm

from swftools.errors import ParameterError
from swftools.qbets.bounds import LogNormalBound, LogNormalPlainBound
from swftools.qbets.bounds.fitted import exp_of
from swftools.qbets.bounds.log_normal import EXACT, bound_factors
from tests.examples import examples, pairs
from tests.qbets.bounds.known_waits import WAITS, bounds_after_each, bounds_of_samples

LEVELS = [0.05, 0.5, 0.9, 0.95, 0.99, 0.999]


def factor(waits: np.ndarray, quantile: float, confidence: float) -> np.ndarray:
    """Return the factors by scipy alone."""
    return nct.ppf(confidence, waits - 1, norm.ppf(quantile) * np.sqrt(waits)) / np.sqrt(waits)


def naive_bound(waits: list[float], quantile: float, confidence: float) -> float:
    """Return mean and factor times deviation, of logarithms; NaN of fewer than two waits."""
    if len(waits) < 2:
        return math.nan
    logarithms = np.log([wait or 1.0 for wait in waits])
    deviation = logarithms.std(ddof=1) if len(set(waits)) > 1 else 0.0
    with np.errstate(over="ignore"):
        return float(np.exp(logarithms.mean() + factor(np.array(len(waits)), quantile, confidence) * deviation))


@pytest.mark.parametrize(("confidence", "quantile"), pairs(LEVELS, LEVELS, each=1))
def test_factors(quantile: float, confidence: float) -> None:
    """The polynomial that stands for scipy's distribution above some waits is as good as that."""
    random = np.random.default_rng(5)
    factors = bound_factors(1_000_000, quantile, confidence)
    assert np.isnan(factors[:2]).all()
    waits = np.unique(np.r_[2 : EXACT + 50, np.exp(random.uniform(np.log(EXACT), np.log(1e6), 60)).astype(int)])
    expected = factor(waits, quantile, confidence)
    known = np.isfinite(expected)  # scipy knows some few above 2000 not
    assert known.mean() > 0.99
    assert known[waits < 2000].all()
    np.testing.assert_allclose(factors[waits[known]], expected[known], rtol=1e-9, atol=1e-12)


def test_published_factors() -> None:
    """Tables of one-sided tolerance limits have these for .95 and .95 (Odeh and Owen 1980)."""
    factors = bound_factors(1000, 0.95, 0.95)
    published = {2: 26.260, 5: 4.203, 10: 2.911, 20: 2.396, 50: 2.065, 100: 1.927, 1000: 1.727}
    assert {waits: round(factors[waits], 3) for waits in published} == published


def test_factors_do_not_depend_on_room() -> None:
    """More room changes nothing of what is there."""
    for waits in (0, 1, 2, 64, EXACT - 1, EXACT, EXACT + 1, 5000):
        np.testing.assert_array_equal(bound_factors(20_000, 0.9, 0.9)[: waits + 1], bound_factors(waits, 0.9, 0.9))


def test_factors_fall_to_the_quantile() -> None:
    """The more waits, the less above the mean; of infinitely many it is the normal quantile."""
    factors = bound_factors(1_000_000, 0.95, 0.95)
    assert (np.diff(factors[2:]) < 0).all()
    normal = norm.ppf(0.95)
    assert factors[-1] - normal == pytest.approx(normal * math.sqrt((1.0 + normal**2 / 2.0) / 1e6), rel=0.01)


@pytest.mark.parametrize(("quantile", "confidence"), [(0.95, 1e-300), (1e-300, 1e-300), (1 - 2**-53, 1e-300)])
def test_levels_that_scipy_does_not_know(quantile: float, confidence: float) -> None:
    """They are refused before the first wait, and no bound is missing later without a word."""
    with pytest.raises(ParameterError, match=r"with confidence=1e-300 is too close to 0 or 1 for the noncentral t"):
        LogNormalBound(quantile, confidence).fit([])


def test_levels_close_to_one() -> None:
    """They may be as close to 1 as there are numbers, and bound something."""
    bound = LogNormalBound(1 - 2**-53, 1 - 2**-53).fit(np.arange(1.0, 300.0))
    assert 1e3 < bound.predict() < math.inf


@examples(0.5)
@given(
    waits=st.lists(WAITS, max_size=40),
    quantile=st.sampled_from([0.05, 0.5, 0.95]),
    confidence=st.sampled_from([0.1, 0.5, 0.95]),
)
def test_twin(waits: list[float], quantile: float, confidence: float) -> None:
    """After each wait all three sides are mean and factor times deviation; those of one value are that value."""
    expected = [naive_bound(waits[:n], quantile, confidence) for n in range(len(waits) + 1)]
    np.testing.assert_allclose(bounds_after_each(LogNormalBound(quantile, confidence), waits), expected, rtol=1e-9)
    lower = LogNormalBound(quantile, confidence, "lower").fit(waits).predict()
    np.testing.assert_allclose(lower, naive_bound(waits, quantile, 1 - confidence), rtol=1e-9)
    both = LogNormalBound(quantile, confidence, "two-sided").fit(waits).predict()
    ends = [naive_bound(waits, quantile, (1 - confidence) / 2), naive_bound(waits, quantile, (1 + confidence) / 2)]
    np.testing.assert_allclose(both, ends, rtol=1e-9)


@given(waits=st.lists(WAITS, max_size=40), quantile=st.floats(0.01, 0.99))
@example(waits=[1.0, 2.0, 3.0], quantile=0.5)
def test_plain_twin(waits: list[float], quantile: float) -> None:
    """Without confidence it is the quantile of the distribution that is the likeliest."""
    logarithms = np.log([wait or 1.0 for wait in waits])
    expected = [math.nan] * min(len(waits) + 1, 2)
    for n in range(2, len(waits) + 1):
        known = logarithms[:n]
        with np.errstate(over="ignore"):
            expected.append(
                float(np.exp(known.mean() + norm.ppf(quantile) * np.sqrt(np.mean((known - known.mean()) ** 2))))
            )
    np.testing.assert_allclose(bounds_after_each(LogNormalPlainBound(quantile), waits), expected, rtol=1e-9)


def test_plain_is_scipys_fit() -> None:
    """So scipy fits it."""
    waits = np.random.default_rng(3).lognormal(6, 2, 500)
    shape, _, scale = lognorm.fit(waits, floc=0)
    assert LogNormalPlainBound(0.9).fit(waits).predict() == pytest.approx(lognorm.ppf(0.9, shape, 0, scale), rel=1e-6)


@pytest.mark.parametrize("kind", [LogNormalBound, LogNormalPlainBound])
def test_one_value_is_its_own_bound(kind: type) -> None:
    """Exactly, since a wait that is no longer than its bound counts as predicted."""
    for wait in (7.0, 0.1, 3600.0, 1e-300):
        assert kind().fit([wait] * 100).predict() == wait
    assert kind().fit([0.0] * 3).predict() == 1.0


def test_far_from_one() -> None:
    """Logarithms that differ little are not lost in their mean."""
    waits = 1e9 * (1.0 + 1e-9 * np.random.default_rng(2).random(50))
    logarithms = np.log1p(waits / 1e9 - 1.0)
    expected = 1e9 * math.exp(logarithms.mean() + norm.ppf(0.95) * logarithms.std())
    assert LogNormalPlainBound().fit(waits).predict() - 1e9 == pytest.approx(expected - 1e9, rel=1e-4)


def test_a_bound_beyond_all_numbers() -> None:
    """Two waits that differ much bound the third by infinity, and by next to nothing."""
    low, high = LogNormalBound(side="two-sided").fit([1e-200, 1e200]).predict()
    assert high == math.inf
    assert exp_of.py_func(1e3) == exp_of(1e3) == math.inf  # interpreted, Python's would be an error
    assert 0.0 <= low < 1e200


@pytest.mark.parametrize(("waits", "confidence"), [(2, 0.9), (10, 0.95), (59, 0.95), (300, 0.6)])
def test_coverage(waits: int, confidence: float) -> None:
    """Of log-normal waits the bound is beyond the quantile with its confidence, however few they are."""
    samples = np.random.default_rng(waits).lognormal(5, 2, (2000, waits))
    share = (
        bounds_of_samples(LogNormalBound(0.95, confidence), samples) >= lognorm.ppf(0.95, 2, 0, math.exp(5))
    ).mean()
    assert abs(share - confidence) < 3.5 * math.sqrt(confidence * (1 - confidence) / len(samples))


def test_coverage_of_both_sides() -> None:
    """Two bounds are about the quantile with their confidence, and miss it as often on either side."""
    samples = np.random.default_rng(4).lognormal(5, 2, (2000, 30))
    bounds = bounds_of_samples(LogNormalBound(0.8, 0.9, "two-sided"), samples)
    quantile = lognorm.ppf(0.8, 2, 0, math.exp(5))
    for misses in ((bounds[:, 0] > quantile).sum(), (bounds[:, 1] < quantile).sum()):
        assert binom.ppf(0.001, 2000, 0.05) <= misses <= binom.ppf(0.999, 2000, 0.05)


def test_plain_has_no_confidence() -> None:
    """The mere quantile is below the true one in about half of all samples."""
    samples = np.random.default_rng(6).lognormal(5, 2, (4000, 59))
    share = (bounds_of_samples(LogNormalPlainBound(), samples) >= lognorm.ppf(0.95, 2, 0, math.exp(5))).mean()
    assert 0.4 < share < 0.5
