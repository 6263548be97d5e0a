# SPDX-License-Identifier: BSD-3-Clause
"""CO-VARQ's choice of sites: the example of the paper, against every choice that there is, and what is refused."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.reservations import co_allocate
from swftools.reservations.co_allocation import any_of, independent_probability


def test_figure_6_1() -> None:
    """Two reservations at .90: .952 by two sites, .953 by three of the others, .91 in all; equation 6.1 beside it."""
    found = co_allocate([[0.80, 0.76, 0.10, 0.10, 0.10], [0.60, 0.50, 0.66, 0.65, 0.605]], 0.90)
    assert round(found.needed, 2) == 0.95
    assert [len(each) for each in found.sites] == [2, 3]
    assert [round(each, 3) for each in found.probabilities] == [0.952, 0.953]
    assert round(0.952 * 0.953, 2) == round(found.probability, 2) == 0.91
    assert found.is_accepted
    assert round(any_of([0.9, 0.9]), 2) == 0.99


@given(
    chances=st.lists(st.integers(0, 100), min_size=1, max_size=6), target=st.integers(1, 99), count=st.integers(1, 4)
)
def test_the_fewest_sites_that_will_do(chances: list[int], target: int, count: int) -> None:
    """No smaller set of sites reaches what is needed, and none of the same size is better."""
    row = [each / 100 for each in chances]
    found = co_allocate([row] * count, target / 100, shared=True)
    mine, needed = found.sites[0], independent_probability(target / 100, count)
    assert found.sites == (mine,) * count
    reached = any_of([row[site] for site in mine])
    for size in range(len(mine)):
        assert all(any_of([row[i] for i in others]) < needed for others in combinations(range(len(row)), size))
    assert all(
        any_of([row[i] for i in others]) <= reached + 1e-9 for others in combinations(range(len(row)), len(mine))
    )
    assert found.is_accepted == (reached >= needed - 1e-12)
    if not found.is_accepted:
        assert set(mine) == {site for site, each in enumerate(row) if each > 0}


def test_a_site_is_taken_once() -> None:
    """The second reservation takes of what is left; of equal sites the first is taken."""
    table = [[0.9, 0.9, 0.5], [0.9, 0.9, 0.5]]
    found = co_allocate(table, 0.5)
    assert (found.sites, found.probabilities) == (((0,), (1,)), (0.9, 0.9))
    assert co_allocate(table, 0.5, shared=True).sites == ((0,), (0,))
    denied = co_allocate([[0.5, 0.2], [0.9, 0.9]], 0.9)
    assert (denied.sites, denied.is_accepted) == (((0, 1), ()), False)
    assert denied.probability == 0.0


@pytest.mark.parametrize(
    ("table", "probability"), [([[1.5]], 0.5), ([0.5], 0.5), ([], 0.5), ([[np.nan]], 0.5), ([[0.5]], 1), ([[0.5]], 0)]
)
def test_what_is_refused(table: Any, probability: float) -> None:
    """Tables of something else, and probabilities that nobody can ask for."""
    with pytest.raises(ParameterError):
        co_allocate(table, probability)
