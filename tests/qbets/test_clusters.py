# SPDX-License-Identifier: BSD-3-Clause
"""Clusters: bands that are there are found, small ones are merged, and the slow version agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.qbets import cluster
from tests.naive import qbets as naive


def test_bands_of_the_paper() -> None:
    """Nurmi 2009, section 4.2.4: log-normal waits of five bands of requested times are found, but for some values."""
    rng = np.random.default_rng(1)
    requested = rng.integers(1, 501, 20_000)
    band = (requested - 1) // 100
    waits = np.exp(rng.normal(np.array([3.0, 6.0, 4.0, 8.0, 5.0])[band], 1.0))
    ends = cluster(requested, waits, most=5)
    assert ends[-1] == np.inf
    assert np.abs(ends[:-1] - [100, 200, 300, 400]).max() <= 3


def test_as_the_slow_one() -> None:
    """On drawn values, whatever is asked for."""

    @given(st.integers(1, 60), st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([1, 3, 10]))
    def check(jobs: int, seed: int, most: int, least: int) -> None:
        rng = np.random.default_rng(seed)
        values = rng.integers(1, 15, jobs).astype(float)
        waits = np.floor(rng.exponential(50.0 * (1 + (values > 5) * 20)))
        ours = cluster(values, waits, most=most, least_size=least)
        assert ours.tolist() == naive.clusters(list(values), list(waits), most, least)

    check()


@pytest.mark.parametrize("small", ["low", "high", "between"])
def test_small_ones_are_merged(small: str) -> None:
    """Few jobs of other waits, at the ends or between, are no cluster of their own."""
    sizes = {"low": [5, 200, 200], "high": [200, 200, 5], "between": [200, 5, 200]}[small]
    means = {"low": [1e5, 10.0, 1000.0], "high": [10.0, 1000.0, 1e5], "between": [10.0, 1e5, 1000.0]}[small]
    values, waits = np.repeat([1.0, 2.0, 3.0], sizes), np.repeat(means, sizes)
    ends = cluster(values, waits, most=3, least_size=59)
    assert (np.bincount(np.searchsorted(ends, values)) >= 59).all()
    assert len(ends) == 2
    assert len(cluster(values, waits, most=3, least_size=1)) == 3


@pytest.mark.parametrize(("values", "waits"), [([], []), ([7.0] * 100, [3.0] * 100), ([1.0, 2.0], [0.0, 0.0])])
def test_one_cluster(values: list[float], waits: list[float]) -> None:
    """Of no jobs, of one value, and of too few jobs."""
    assert cluster(values, waits).tolist() == [np.inf]


@pytest.mark.parametrize(
    ("values", "waits", "options", "says"),
    [
        ([1.0], [1.0, 2.0], {}, "differ in shape"),
        ([np.nan], [1.0], {}, "must be finite"),
        ([1.0], [-1.0], {}, "waits not negative"),
        ([1.0], [1.0], {"most": 0}, "integers from 1 on"),
        ([1.0], [1.0], {"least_size": 1.5}, "integers from 1 on"),
    ],
)
def test_what_is_refused(values: list[float], waits: list[float], options: dict[str, float], says: str) -> None:
    """Lengths that differ, values that are missing, numbers that are not positive."""
    with pytest.raises(ParameterError, match=says):
        cluster(values, waits, **options)
