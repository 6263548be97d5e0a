# SPDX-License-Identifier: BSD-3-Clause
"""When one plan is better than the best so far: Table 5 of the paper, by hand, and what it leaves open."""

from __future__ import annotations

import math

import numpy as np
import pytest

from swftools.simulator.policies.search import SearchParameters, search_memory
from swftools.simulator.search.costs import is_better, set_best, take_for_best
from swftools.simulator.search.notes import empty_notes
from swftools.simulator.search.objectives import MODELS
from swftools.simulator.search.state import (
    AIMS,
    COUNTS,
    IS_STRICT,
    MEASURES,
    MODEL,
    REFERENCE,
    SLACK,
    TERMS,
    empty_search,
)

pytestmark = pytest.mark.usefixtures("interpreted_by_day")


def better(
    objective: str,
    best: tuple[float, ...],
    plan: tuple[float, ...],
    *,
    slack: tuple[float, ...] | None = None,
    references: tuple[float, ...] = (),
) -> bool:
    """Whether a plan with such measures is better than one with those; without slacks by strict differences."""
    counts = np.zeros(COUNTS, np.int64)
    counts[[MODEL, IS_STRICT, MEASURES]] = MODELS.index(objective), slack is None, len(best)
    empty = empty_search(1, 1, np.zeros(AIMS * TERMS), counts, np.zeros(1, np.int64), empty_notes(1, False, False))
    search = empty._replace(values=np.zeros(2 * TERMS))
    for term, value in enumerate(best):
        set_best(search, term, value)
    search.aim[REFERENCE * TERMS : REFERENCE * TERMS + len(references)] = references
    search.aim[SLACK * TERMS : SLACK * TERMS + len(best)] = slack or np.zeros(len(best))
    search.values[TERMS : TERMS + len(plan)] = plan
    return bool(is_better(search, TERMS))


@pytest.mark.parametrize("model", MODELS)
def test_without_a_conflict(model: str) -> None:
    """Better in one and worse in none is better; equal in all is not; worse in one and better in none is not."""
    assert better(model, (5, 5), (5, 4))
    assert better(model, (5, 5), (4, 4))
    assert not better(model, (5, 5), (5, 5))
    assert not better(model, (5, 5), (5, 6))
    assert better(model, (0, 5), (0, 4))
    assert better(model, (5, 5), (5, 4.999), slack=(1, 1)), "a small gain counts where nothing is lost"


@pytest.mark.parametrize(
    ("best", "plan", "expected"),
    [
        ((5, 5), (4, 900), True),
        ((5, 5), (6, 0), False),
        ((5, 5, 5), (5, 4, 6), True),
        ((5, 5, 5), (5, 6, 4), False),
        ((5, 5, 5, 5), (5, 5, 6, 4), False),
        ((5, 5, 5, 5), (5, 5, 4, 6), True),
    ],
)
def test_lexical(best: tuple[float, ...], plan: tuple[float, ...], expected: bool) -> None:
    """The first measure that differs decides."""
    assert better("lexical", best, plan) == expected


def test_lexical_relaxed() -> None:
    """In a conflict what differs by less than the slack is equal; by as much it is not; all equal is not better."""
    assert better("lexical", (100, 10), (100.9, 8), slack=(1, 0.1))
    assert not better("lexical", (100, 10), (101, 8), slack=(1, 0.1))
    assert not better("lexical", (100, 10), (99.1, 12), slack=(1, 0.1))
    assert better("lexical", (100, 10), (99, 12), slack=(1, 0.1))
    assert not better("lexical", (100, 10), (100.9, 9.95), slack=(1, 0.1))
    assert not better("lexical", (100, 10), (99.1, 10.05), slack=(1, 0.1))


@pytest.mark.parametrize(
    ("best", "plan", "by_a", "by_b"),
    [
        ((100, 20), (20, 100), False, False),  # 80 % of 100 beside 400 % of 20; by b 400 % beside 400 %
        ((100, 20), (20, 35), True, True),  # 80 % beside 75 %
        ((100, 20), (20, 37), False, True),  # 80 % beside 85 %; by b 400 %, as 20 * 37 < 100 * 20
        ((100, 20), (20, 99), False, True),  # 20 * 99 < 100 * 20
        ((100, 20), (20, 101), False, False),
        ((20, 100), (35, 20), True, True),
    ],
)
def test_versions_a_and_b(best: tuple[float, float], plan: tuple[float, float], by_a: bool, by_b: bool) -> None:
    """A relates to the best so far; b to the lesser value, which is the same as the lesser product."""
    assert better("tradeoff-a", best, plan) == by_a
    assert better("tradeoff-b", best, plan) == by_b
    assert by_b == (math.prod(plan) < math.prod(best))


def test_version_c() -> None:
    """It is the lesser sum of shares of the reference values."""
    assert better("tradeoff-c", (100, 20), (90, 21), references=(50, 10))
    assert not better("tradeoff-c", (100, 20), (90, 22), references=(50, 10))
    assert not better("tradeoff-c", (100, 20), (90, 21), references=(100, 10))


@pytest.mark.parametrize("model", ["tradeoff-a", "tradeoff-b"])
def test_reference_of_zero(model: str) -> None:
    """Over a reference of 0 every difference is infinite: what was 0 stays 0, whatever the other gains."""
    assert not better(model, (0, 100), (0.001, 1))
    assert not better(model, (0, 100), (0.001, 0)), "an infinite gain does not outweigh an infinite loss"


def test_references_of_zero() -> None:
    """By version b a measure that comes to 0 is worth any loss; by c one whose reference is 0 outweighs the other."""
    assert better("tradeoff-b", (3, 1), (0, 1000))
    assert not better("tradeoff-a", (3, 1), (0, 1000))
    assert better("tradeoff-c", (3, 1), (2.999, 1000), references=(0, 1))
    assert not better("tradeoff-c", (3, 1), (3.001, 0), references=(0, 1))
    assert not better("tradeoff-c", (3, 1), (3.001, 0), references=(0, 0))


def test_relaxed_trade_off() -> None:
    """A difference below the slack neither gains nor loses."""
    assert better("tradeoff-a", (100, 10), (100.9, 9.8), slack=(1, 0.1))
    assert not better("tradeoff-a", (100, 10), (99.1, 10.1), slack=(1, 0.1))
    assert better("tradeoff-a", (100, 10), (98.9, 10.1), slack=(1, 0.1))
    assert not better("tradeoff-a", (100, 10), (99.1, 10.09), slack=(1, 0.1))


@pytest.mark.parametrize("model", MODELS)
def test_rounding(model: str) -> None:
    """Equal schedules are summed in different orders: what differs by that alone is equal, also by strict ones."""
    sums = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert sums[0] != sums[1]
    for best, plan in (sums, sums[::-1]):
        assert not better(model, (best, 5), (plan, 5), references=(1, 1))
        assert better(model, (best, 5), (plan, 4.9), references=(1, 1))
        assert not better(model, (best, 5), (plan, 5.1), references=(1, 1))


def test_slacks() -> None:
    """One percent of the best so far; of measures that are often 0, of what the longest waiting job has waited."""
    memory = search_memory(1, 1, SearchParameters(objective="lexical(T_w -> maxE -> maxW -> avgX)"))
    search = memory._replace(values=np.array([5.0, 0.0, 300.0, 40.0]))
    take_for_best(search, 0, 7000.0)
    assert search.aim[SLACK * TERMS : SLACK * TERMS + TERMS].tolist() == pytest.approx([70.0, 70.0, 3.0, 0.4])
