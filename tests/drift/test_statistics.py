# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of drift: by hand, in theory, by scipy, and as their slow twins have them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from swftools.drift import drift_statistic, list_drift_statistics
from swftools.drift.registry import find_drift_statistic
from swftools.drift.sample import Sample
from swftools.errors import ParameterError
from tests.naive.drift import FIGURES, naive_compare

few = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=40)
many = st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=40)
users = st.lists(st.integers(0, 2**62), min_size=1, max_size=40) | st.lists(st.integers(0, 4), min_size=1, max_size=40)


def compare(statistic: str, recent: Sequence[float], reference: Sequence[float]) -> float:
    """Return a statistic of two samples."""
    return list_drift_statistics()[statistic].compare(Sample(np.array(recent)), Sample(np.array(reference)))


@pytest.mark.parametrize(
    ("statistic", "recent", "reference", "drift"),
    [
        ("ratio_of_means", [1, 2, 6], [1, 2], 2.0),
        ("ratio_of_means", [1], [0, 0], math.nan),
        ("ratio_of_means", [0], [2], 0.0),
        ("ratio_of_medians", [1, 2, 600], [1, 3], 1.0),
        ("ratio_of_medians", [5], [0, 0, 9], math.nan),
        ("difference_of_means", [1, 0, 0, 0], [1, 0], -0.25),
        ("kolmogorov_smirnov", [1, 2, 3, 4], [3, 4, 5, 6], 0.5),
        ("kolmogorov_smirnov", [1, 1, 9], [1, 5], 1 / 3),
        ("kolmogorov_smirnov", [5], [1, 2, 3, 4, 6, 7, 8], 4 / 7),
        ("total_variation", [1, 1, 2, 2], [1, 2, 3, 3], 0.5),
        ("total_variation", [7], [8, 8, 8], 1.0),
        ("difference_of_largest_shares", [1, 1, 2, 3], [4, 4, 4, 1], -0.25),
        # Deciles of the reference are 1, 1, 1, 1, 1, 2, 2, 2, 2: bins up to 1, to 2, and above.
        (
            "population_stability",
            [1, 2, 2, 3],
            [1, 2],
            (1.5 - 1.5 / 3.5 * 5.5) / 5.5 * math.log(1.5 / 5.5 / (1.5 / 3.5))
            + (2.5 - 1.5 / 3.5 * 5.5) / 5.5 * math.log(2.5 / 5.5 / (1.5 / 3.5))
            + (1.5 - 0.5 / 3.5 * 5.5) / 5.5 * math.log(1.5 / 5.5 / (0.5 / 3.5)),
        ),
    ],
)
def test_by_hand(statistic: str, recent: list[float], reference: list[float], drift: float) -> None:
    """Small samples, reckoned on paper."""
    assert compare(statistic, recent, reference) == pytest.approx(drift, nan_ok=True)


@given(st.one_of(few, many), st.one_of(few, many))
@pytest.mark.parametrize("statistic", [name for name, one in list_drift_statistics().items() if one.of == "numbers"])
def test_numbers_as_the_slow_twin(statistic: str, recent: list[float], reference: list[float]) -> None:
    """Any samples of numbers, many of them alike or none."""
    naive = naive_compare(statistic, recent, reference)
    expected = math.nan if naive is None else naive
    assert compare(statistic, recent, reference) == pytest.approx(expected, nan_ok=True, rel=1e-9, abs=1e-9)
    figure = list_drift_statistics()[statistic].figure(Sample(np.array(recent)))
    assert figure == pytest.approx(FIGURES[statistic](recent))


@given(users, users)
@pytest.mark.parametrize("statistic", [name for name, one in list_drift_statistics().items() if one.of == "categories"])
def test_categories_as_the_slow_twin(statistic: str, recent: list[int], reference: list[int]) -> None:
    """Any samples of categories, identifiers that a float does not hold among them."""
    assert compare(statistic, recent, reference) == pytest.approx(naive_compare(statistic, recent, reference))
    figure = list_drift_statistics()[statistic].figure(Sample(np.array(recent)))
    assert figure == pytest.approx(FIGURES[statistic](recent))


@given(st.one_of(few, many), st.one_of(few, many))
def test_kolmogorov_smirnov_is_that_of_scipy(recent: list[float], reference: list[float]) -> None:
    """Scipy's D of two samples, which is symmetric too."""
    expected = ks_2samp(recent * 4, reference * 4, method="asymp").statistic  # which fails for fewer
    assert compare("kolmogorov_smirnov", recent, reference) == pytest.approx(expected)
    assert compare("kolmogorov_smirnov", reference, recent) == pytest.approx(expected)


@given(few)
def test_equal_samples_have_not_drifted(values: list[float]) -> None:
    """Distances and differences are 0, ratios 1 or without meaning, whatever the order of the values."""
    for name, statistic in list_drift_statistics().items():
        drift = compare(name, values, values[::-1])
        none = 1.0 if statistic.form == "ratio" else 0.0
        assert drift == pytest.approx(none, abs=1e-12) or (statistic.form == "ratio" and math.isnan(drift))
        assert not statistic.is_beyond(drift, statistic.least_threshold + 1e-9)


def test_samples_of_one_law_are_near_each_other() -> None:
    """In theory D of n and m values is beyond 1.628 sqrt(1/n + 1/m) once in a hundred times, if they are of one law."""
    rng = np.random.default_rng(7)
    bound = 1.628 * math.sqrt(1 / 300 + 1 / 3000)
    beyond = [
        compare("kolmogorov_smirnov", list(rng.lognormal(size=300)), list(rng.lognormal(size=3000))) > bound
        for _ in range(400)
    ]
    assert 0 < sum(beyond) <= 11  # 4 expected; 12 or more come once in a thousand such tests


def test_stability_of_one_law_is_that_of_chi_square() -> None:
    """The index of samples of one law has a mean of (bins - 1)(1/n + 1/m) (Yurdakul and Naranjo 2020)."""
    rng = np.random.default_rng(7)
    found = [compare("population_stability", list(rng.random(500)), list(rng.random(5000))) for _ in range(300)]
    expected = 9 * (1 / 500 + 1 / 5000)
    assert np.mean(found) == pytest.approx(expected, rel=0.1)  # its standard error is 3 %


@pytest.mark.parametrize(
    ("form", "drift", "threshold", "is_beyond"),
    [
        ("distance", 0.3, 0.3, False),
        ("distance", 0.31, 0.3, True),
        ("ratio", 2.0, 2.0, False),
        ("ratio", 2.1, 2.0, True),
        ("ratio", 0.5, 2.0, False),
        ("ratio", 0.49, 2.0, True),
        ("ratio", 0.0, 2.0, True),
        ("ratio", 1.0, 1.0, False),
        ("difference", 0.1, 0.1, False),
        ("difference", 0.11, 0.1, True),
        ("difference", -0.11, 0.1, True),
        ("difference", -0.09, 0.1, False),
        *((form, math.nan, 1.0, False) for form in ("distance", "ratio", "difference")),
        *((form, 5.0, math.nan, False) for form in ("distance", "ratio", "difference")),
    ],
)
def test_beyond(form: str, drift: float, threshold: float, is_beyond: bool) -> None:
    """A drift as large as its threshold is not beyond it, and neither is a missing one, or one without threshold."""
    name = {"distance": "total_variation", "ratio": "ratio_of_means", "difference": "difference_of_means"}[form]
    assert is_beyond is find_drift_statistic(name).is_beyond(drift, threshold)


def test_a_name_is_taken_once() -> None:
    """Another statistic of a name that is there is refused, and so is an unknown form."""
    with pytest.raises(ParameterError, match="'total_variation' is registered already"):
        drift_statistic("total_variation", figure=lambda sample: sample.mean)(lambda recent, reference: 0.0)
    with pytest.raises(ParameterError, match="form='far' is not one of distance, ratio, difference"):
        drift_statistic("other", figure=lambda sample: sample.mean, form="far")
    with pytest.raises(ParameterError, match="of='jobs' is not one of numbers, categories"):
        drift_statistic("other", figure=lambda sample: sample.mean, of="jobs")
    with pytest.raises(ParameterError, match="did you mean total_variation"):
        find_drift_statistic("total_variations")
