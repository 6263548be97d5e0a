# SPDX-License-Identifier: BSD-3-Clause
"""The binomial bound: against sorted waits and scipy's distribution, known ranks, coverage, the public program."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from swftools.qbets.bounds import BinomialBound
from swftools.qbets.bounds.binomial import LARGE, bound_ranks
from tests.examples import examples, pairs
from tests.folders import REFERENCES
from tests.qbets.bounds.known_waits import WAITS, bounds_after_each, bounds_of_samples

PUBLIC = json.loads((REFERENCES / "bmbp.json").read_text(encoding="utf-8"))
QUANTILES = st.sampled_from([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
CONFIDENCES = st.sampled_from([0.077, 0.31, 0.53, 0.83, 0.931, 0.967, 0.991])
"""None is just what some rank has at one of the quantiles, so that rounding does not decide."""


def naive_rank(waits: int, quantile: float, confidence: float) -> int:
    """Return the least k so that k - 1 of n waits or fewer are below the quantile with this confidence, or 0."""
    at_most = binom.cdf(np.arange(waits), waits, quantile)
    return next((k for k in range(1, waits + 1) if at_most[k - 1] >= confidence), 0)


def naive_upper(waits: Sequence[float], quantile: float, confidence: float) -> float:
    """Return the wait of that rank among the sorted ones; NaN if there is none."""
    rank = naive_rank(len(waits), quantile, confidence)
    return sorted(waits)[rank - 1] if rank else math.nan


def naive_lower(waits: Sequence[float], quantile: float, confidence: float) -> float:
    """Return what is an upper bound when more is less."""
    return -naive_upper([-wait for wait in waits], 1.0 - quantile, confidence)


@pytest.mark.parametrize(
    ("confidence", "quantile"), pairs([0.05, 0.5, 0.9, 0.95, 0.99], [0.001, 0.05, 0.5, 0.75, 0.95, 0.99], each=1)
)
def test_ranks_of_every_number_of_waits(quantile: float, confidence: float) -> None:
    """The ranks, computed each from the one before, are those of the distribution function."""
    assert [naive_rank(n, quantile, confidence) for n in range(401)] == bound_ranks(400, quantile, confidence).tolist()


@pytest.mark.parametrize(
    ("quantile", "confidence", "waits", "least", "_", "rank"), [row[:6] for row in PUBLIC["ranks"]]
)
def test_known_ranks(quantile: float, confidence: float, waits: int, least: int, _: int, rank: int) -> None:
    """The least number of waits that bound anything, and ranks that were computed elsewhere."""
    ranks = bound_ranks(waits, quantile, confidence)
    assert ranks[waits] == rank
    assert ranks[least - 1] == 0
    assert ranks[least] == least


def test_ranks_of_many_waits() -> None:
    """Rounding does not add up over a million waits."""
    ranks = bound_ranks(1_000_000, 0.95, 0.95)
    for waits in (10_000, 123_456, 999_999, 1_000_000):
        assert ranks[waits] == binom.ppf(0.95, waits, 0.95) + 1


@pytest.mark.parametrize(
    ("side", "naive"),
    [
        ("upper", naive_upper),
        ("lower", naive_lower),
        ("two-sided", lambda *of: tuple(f(*of[:2], (1.0 + of[2]) / 2.0) for f in (naive_lower, naive_upper))),
    ],
)
@examples(0.5)
@given(waits=st.lists(WAITS, max_size=150), quantile=QUANTILES, confidence=CONFIDENCES)
@example(waits=[float(n * n % 41) for n in range(140)], quantile=0.5, confidence=0.9)
@example(waits=[float(n) for n in range(140)], quantile=0.95, confidence=0.9)
@example(waits=[float(-n % 140) for n in range(140)], quantile=0.05, confidence=0.9)
def test_twin(side: str, naive: object, waits: list[float], quantile: float, confidence: float) -> None:
    """After each wait the bound is that of the sorted waits, also where the room for them grows."""
    assert callable(naive)
    bound = BinomialBound(quantile, confidence, side)
    expected = [naive(waits[:n], quantile, confidence) for n in range(len(waits) + 1)]
    np.testing.assert_array_equal(bounds_after_each(bound, waits), expected)
    np.testing.assert_array_equal(bound.fit(waits).predict(), expected[-1])


@given(parts=st.lists(st.lists(WAITS, max_size=80), max_size=5), quantile=QUANTILES)
def test_parts(parts: list[list[float]], quantile: float) -> None:
    """Waits may come in parts of any length."""
    bound = BinomialBound(quantile, 0.83).fit([])
    known: list[float] = []
    for part in parts:
        bound.update(part)
        known += part
        np.testing.assert_equal(bound.predict(), naive_upper(known, quantile, 0.83))


def test_large_sample() -> None:
    """Above 500 waits the rank is that of the normal approximation, where it is asked for, and below it is exact."""
    waits = np.random.default_rng(1).permutation(np.arange(1.0, 1201.0))
    told = bounds_after_each(BinomialBound(approximation="large-sample"), waits)
    exact = bounds_after_each(BinomialBound(), waits)
    np.testing.assert_equal(told[: LARGE + 1], exact[: LARGE + 1])
    for n in range(LARGE + 1, 1201):
        rank = math.floor(n * 0.95 + norm.ppf(0.95) * math.sqrt(n * 0.95 * 0.05) + 0.5)
        assert told[n] == sorted(waits[:n])[rank - 1]
    assert told != exact
    lower = BinomialBound(0.05, side="lower", approximation="large-sample").fit(waits).predict()
    assert lower == 1201 - told[1200]
    assert math.isnan(BinomialBound(0.999, 0.99, approximation="large-sample").fit(waits[:600]).predict())


@pytest.mark.parametrize("waits", [59, 100, 500, pytest.param(2000, marks=pytest.mark.slow)])
def test_coverage(waits: int) -> None:
    """The share of samples whose bound is beyond the quantile is that of the theory: never less than the confidence."""
    samples = np.random.default_rng(waits).weibull(0.5, (1000, waits))
    quantile = np.log(20.0) ** 2
    share = (bounds_of_samples(BinomialBound(), samples) >= quantile).mean()
    theory = binom.cdf(bound_ranks(waits, 0.95, 0.95)[waits] - 1, waits, 0.95)
    assert theory >= 0.95
    assert abs(share - theory) < 3.5 * math.sqrt(theory * (1.0 - theory) / len(samples))


@pytest.mark.parametrize(("side", "quantile"), [("lower", 0.3), ("two-sided", 0.7)])
def test_coverage_of_other_sides(side: str, quantile: float) -> None:
    """A lower bound is below the quantile with its confidence, and of two bounds both are about it with theirs."""
    samples = np.random.default_rng(7).random((1000, 100))
    bounds = bounds_of_samples(BinomialBound(quantile, 0.9, side), samples)
    is_met = bounds[:, 0] <= quantile
    if side == "two-sided":
        is_met &= bounds[:, 1] >= quantile
    assert 0.9 - 3.5 * math.sqrt(0.09 / 1000) < is_met.mean() < 0.96


@pytest.mark.parametrize(("waits", "told"), PUBLIC["predictions"])
def test_public_program(waits: int, told: float) -> None:
    """The public program takes one rank less up to 500 waits, and above that of the approximation."""
    known = sorted(PUBLIC["waits"][:waits])
    if waits > LARGE:
        assert BinomialBound(approximation="large-sample").fit(known).predict() == told
    else:
        assert told == known[int(bound_ranks(waits, 0.95, 0.95)[waits]) - 2]
        assert told < BinomialBound().fit(known).predict()


@pytest.mark.parametrize("row", PUBLIC["ranks"], ids=lambda row: "-".join(map(str, row[:3])))
def test_confidence_of_the_public_program(row: list[float]) -> None:
    """One rank less has less than the confidence, and the rank itself the least that is enough."""
    quantile, confidence, waits, _, program_rank, rank, program_coverage, coverage = row
    assert coverage >= confidence
    assert binom.cdf(rank - 1, waits, quantile) == pytest.approx(coverage, rel=1e-12)
    assert binom.cdf(program_rank - 1, waits, quantile) == pytest.approx(program_coverage, rel=1e-12)
    if waits > LARGE:
        assert program_rank == bound_ranks(waits, quantile, confidence, is_large=True)[waits]
    else:
        assert program_rank == rank - 1
        assert program_coverage < confidence
