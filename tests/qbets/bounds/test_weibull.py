# SPDX-License-Identifier: BSD-3-Clause
"""The Weibull bound: against the equation of the likelihood solved over all waits, scipy's fit, and in odd orders."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import weibull_min

from swftools.qbets.bounds import WeibullBound, weibull
from swftools.qbets.bounds.weibull import LOGARITHMS, add_to_sums, fitted_quantile
from tests.qbets.bounds.known_waits import WAITS, bounds_after_each, bounds_of_samples


def naive_bound(waits: list[float], quantile: float = 0.95) -> float:
    """Return the quantile of the likeliest distribution, its shape by bisection of the equation over all waits."""
    if len(waits) < 2:
        return math.nan
    logarithms = np.log([wait or 1.0 for wait in waits])
    if np.ptp(logarithms) == 0.0:
        return waits[0] or 1.0
    below = logarithms - logarithms.max()

    def excess(log_shape: float) -> float:
        weights = np.exp(math.exp(log_shape) * below)
        return float((below * weights).sum() / weights.sum() - below.mean() - math.exp(-log_shape))

    shape = math.exp(brentq(excess, -20.0, 45.0, xtol=1e-14, rtol=1e-14))
    log_scale = logarithms.max() + (logsumexp(shape * below) - math.log(len(waits))) / shape
    return float(np.exp(min(log_scale + math.log(-math.log1p(-quantile)) / shape, 709.7827)))


@given(waits=st.lists(WAITS, max_size=40), quantile=st.sampled_from([0.05, 0.5, 0.95, 0.999]))
@example(waits=[17691.0, 16862.0, 17076.0, 22429.0, 4450.0, 17314.0, 4819.0], quantile=0.95)
@example(waits=[1e6, math.nextafter(1e6, 2e6), 1e6], quantile=0.95)
@example(waits=[1e6, math.nextafter(1e6, 2e6), 5e8], quantile=0.95)
@example(waits=[1000.0, 1000.1, 1000.2, 1e5, 1e6], quantile=0.95)
@example(waits=[0.0] * 30 + [1e300] + [1e-300] * 9, quantile=0.95)
@example(waits=[1e-300] + [1e3, 1e3 + 1e-9] * 15, quantile=0.95)
def test_twin(waits: list[float], quantile: float) -> None:
    """After each wait it is the quantile of the likeliest distribution."""
    expected = np.array([naive_bound(waits[:n], quantile) for n in range(len(waits) + 1)])
    told = np.array(bounds_after_each(WeibullBound(quantile), waits))
    np.testing.assert_array_equal(np.isnan(told), np.isnan(expected))
    is_number = expected < 1e308
    np.testing.assert_allclose(told[is_number], expected[is_number], rtol=1e-9)
    assert (told[expected >= 1e308] > 1e307).all()


SERIES = {
    "alike": np.random.default_rng(1).lognormal(6, 2, 3000),
    "whole seconds": np.floor(np.random.default_rng(2).weibull(0.4, 3000) * 5000),
    "none at first": np.r_[np.zeros(1500), np.random.default_rng(3).lognormal(6, 2, 1500)],
    "growing": np.exp(np.linspace(0, 300, 3000)),
    "falling": np.exp(np.linspace(300, 0, 3000)),
    "levels": np.exp(np.repeat(np.random.default_rng(4).normal(6, 5, 30), 100)),
    "a few far off": np.where(np.arange(3000) % 500 == 499, 1e-250, np.random.default_rng(5).lognormal(6, 1, 3000)),
    "hardly different": 1e5 * (1 + 1e-7 * np.random.default_rng(6).random(3000)),
}


@pytest.mark.parametrize("name", SERIES)
def test_long_series(name: str) -> None:
    """Over thousands of waits the sums do not drift away; asked after each wait, and checked at some."""
    told = bounds_after_each(WeibullBound(), SERIES[name])
    for n in (2, 3, 10, 59, 60, 500, 1499, 1501, 1510, 2000, 2999, 3000):
        assert told[n] == pytest.approx(naive_bound(list(SERIES[name][:n])), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_less_likely_than_scipys_fit(seed: int) -> None:
    """The search of scipy for the largest likelihood is met as far as it goes."""
    random = np.random.default_rng(seed)
    waits = weibull_min.rvs(random.uniform(0.3, 3), scale=1000, size=400, random_state=random)
    shape, _, scale = weibull_min.fit(waits, floc=0)
    low, high = (WeibullBound(quantile).fit(waits).predict() for quantile in (0.1, 0.95))
    assert high == pytest.approx(weibull_min.ppf(0.95, shape, 0, scale), rel=1e-3)
    own_shape = math.log(math.log(20) / -math.log1p(-0.1)) / math.log(high / low)
    own_scale = high / math.log(20) ** (1 / own_shape)
    ours, theirs = (weibull_min.logpdf(waits, *fit).sum() for fit in ((own_shape, 0, own_scale), (shape, 0, scale)))
    assert ours >= theirs - 1e-9 * abs(theirs)


def test_quantiles_of_its_own_waits() -> None:
    """Of many waits of a Weibull distribution it is near the quantile."""
    waits = np.random.default_rng(8).weibull(0.6, 50_000)
    assert WeibullBound(0.95).fit(waits).predict() == pytest.approx(math.log(20) ** (1 / 0.6), rel=0.02)


def test_one_value_is_its_own_bound() -> None:
    """Exactly, since a wait that is no longer than its bound counts as predicted."""
    for wait in (7.0, 0.1, 3600.0, 1e-300):
        assert WeibullBound().fit([wait] * 100).predict() == wait
    assert WeibullBound().fit([0.0] * 3).predict() == 1.0
    assert WeibullBound().fit([0.0, 1.0]).predict() == 1.0


def test_asking_changes_nothing() -> None:
    """The bound is the same when it is asked for again, and the next ones when it was not asked for."""
    waits = SERIES["alike"][:400]
    asked, silent = WeibullBound().fit([]), WeibullBound().fit([])
    for wait in waits:
        before = asked.update([wait]).predict()
        np.testing.assert_equal(asked.predict(), before)
        silent.update([wait])
    assert silent.predict() == pytest.approx(asked.predict(), rel=1e-12)


def test_a_zeroed_state_is_empty() -> None:
    """A state is used again, for other waits, without a trace of the first."""
    first, second = SERIES["alike"][:200], SERIES["none at first"][1450:1600]
    facts = WeibullBound().facts(200)[0]
    state = np.zeros(WeibullBound().places(200))
    for waits in (first, second, first):
        state[:] = 0.0
        bounds = []
        for wait in waits:
            add_to_sums(state, facts, wait)
            bounds.append(fitted_quantile(state, facts))
        np.testing.assert_array_equal(bounds, bounds_after_each(WeibullBound(), waits)[1:])


def test_rows_of_samples() -> None:
    """So it is through the compiled calls of a replay."""
    samples = np.random.default_rng(9).weibull(0.5, (50, 59))
    bounds = bounds_of_samples(WeibullBound(0.9), samples)
    assert bounds[:, 0].tolist() == pytest.approx([naive_bound(list(waits), 0.9) for waits in samples], rel=1e-9)


@pytest.mark.parametrize("name", SERIES)
def test_coefficients_are_seldom_made_anew(name: str) -> None:
    """The waits looked at again, over all bounds, are some times as many as there are: not their square."""
    waits = SERIES[name]
    facts, state = WeibullBound().facts(1)[0], np.zeros(LOGARITHMS + len(waits))
    references = []
    for wait in waits:
        add_to_sums(state, facts, wait)
        fitted_quantile(state, facts)
        references.append((state[weibull.REFERENCE], state[weibull.HIGHEST]))
    looked_at = sum(n for n, (before, after) in enumerate(pairwise(references), start=2) if before != after)
    assert looked_at < 60 * len(waits)
