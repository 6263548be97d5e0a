# SPDX-License-Identifier: BSD-3-Clause
"""The sentence for analysts: the order of starts and the mean wait, by hand and beside a slow twin."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from swftools.referee.likeness import likeness, likeness_defined, likeness_in_words

NAN = np.nan


def naive_order(simulated: np.ndarray, real: np.ndarray, eligible: np.ndarray) -> tuple[int, float]:
    """Return the pairs, and how many start in the same order: each pair of jobs is looked at."""
    pairs, alike = 0, 0.0
    for one, other in permutations(range(len(real)), 2):
        if not np.isfinite([real[one], real[other], simulated[one], simulated[other]]).all():
            continue
        first, second = eligible[one] + real[one], eligible[other] + real[other]
        if first < second and eligible[other] <= first:
            pairs += 1
            own, others = eligible[one] + simulated[one], eligible[other] + simulated[other]
            alike += 1.0 if own < others else 0.5 if own == others else 0.0
    return pairs, alike


@pytest.mark.parametrize("seed", range(40))
def test_beside_the_twin(seed: int) -> None:
    """Few values, so that starts are often equal, and some jobs are in one run only."""
    draws = np.random.default_rng(seed)
    eligible = draws.integers(0, 12, 15).astype(float)
    real, simulated = (draws.integers(0, 6, 15).astype(float) for _ in range(2))
    real[draws.random(15) < 0.1] = NAN
    simulated[draws.random(15) < 0.1] = NAN
    pairs, alike = naive_order(simulated, real, eligible)
    found = likeness(simulated[None], real, eligible)
    assert found["pairs"] == pairs
    assert found["order"] == pytest.approx(alike / pairs)
    both = np.isfinite(real) & np.isfinite(simulated)
    assert (found["mean_wait"], found["real_mean_wait"]) == (simulated[both].mean(), real[both].mean())


def test_by_hand() -> None:
    """Job 3 came when both others ran already: it is in no pair. Of several simulations it is the median."""
    eligible, real = np.array([0.0, 1.0, 9.0]), np.array([4.0, 7.0, 1.0])
    same, turned, at_once = [4.0, 7.0, 1.0], [9.0, 0.0, 1.0], [1.0, 0.0, 1.0]
    found = [likeness(np.array([each]), real, eligible) for each in (same, turned, at_once)]
    assert [each["pairs"] for each in found] == [1, 1, 1]
    assert [each["order"] for each in found] == [1.0, 0.0, 0.5]
    whole = likeness(np.array([same, turned, at_once]), real, eligible)
    assert (whole["order"], whole["mean_wait"]) == (0.5, 10 / 3)


def test_a_job_that_came_as_another_started_is_in_a_pair() -> None:
    """The scheduler could have taken either."""
    assert likeness(np.array([[5.0, 1.0]]), np.array([5.0, 1.0]), np.array([0.0, 5.0]))["pairs"] == 1
    assert likeness(np.array([[5.0, 1.0]]), np.array([5.0, 1.0]), np.array([0.0, 6.0]))["pairs"] == 0


@pytest.mark.parametrize(
    ("order", "pairs", "own", "real", "words"),
    [
        (0.82, 9, 104, 100, "the simulation reproduces 82 % of the order of starts and the mean wait within 4 %"),
        (0.5, 9, 100.1, 100, "the simulation reproduces 50 % of the order of starts and the mean wait within 1 %"),
        (0.5, 9, 302.1, 100, "the simulation reproduces 50 % of the order of starts and the mean wait within 203 %"),
        (1.0, 9, 50, 100, "the simulation reproduces 100 % of the order of starts and the mean wait within 50 %"),
        (
            0.5,
            2,
            3,
            0,
            "the simulation reproduces 50 % of the order of starts and has a mean wait of 3 s, as hardly anybody "
            "waited (0 s)",
        ),
        (
            NAN,
            0,
            104,
            100,
            "the simulation reproduces the mean wait within 4 %; no two jobs could have started in another order",
        ),
        (NAN, 0, NAN, NAN, "the simulation has no job that started in the real run"),
    ],
)
def test_in_words(order: float, pairs: float, own: float, real: float, words: str) -> None:
    """As an analyst reads it."""
    found = {"pairs": pairs, "order": order, "mean_wait": own, "real_mean_wait": real}
    assert likeness_in_words(found) == words
    defined = likeness_defined(found)
    assert (f"of {pairs or 'no'} pairs" in defined) == np.isfinite(real)
