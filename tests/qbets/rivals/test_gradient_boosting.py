# SPDX-License-Identifier: BSD-3-Clause
"""Gradient boosting by itself: what is fitted to rows that are written down, and how bounds are rounded."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.kernel import FloatArray
from swftools.qbets.rivals import COLUMNS, GradientBoosting
from swftools.qbets.rivals.gradient_boosting import whole_seconds

GROUP = COLUMNS.index("group")
STUMP = {"quantile": 0.5, "trees": 1, "leaves": 2, "least_in_leaf": 1, "learning_rate": 1.0}
"""One tree of two leaves."""


def rows_of(count: int) -> FloatArray:
    """Return rows of which nothing is known."""
    return np.full((count, len(COLUMNS)), np.nan)


def test_the_group_is_a_category() -> None:
    """One split parts the groups that wait long from the others, wherever they stand among the numbers."""
    rows = rows_of(300)
    rows[:, GROUP] = np.arange(300) % 6
    is_long = np.isin(rows[:, GROUP], [1, 4])
    waits = np.where(is_long, 1000.0, np.arange(300.0) // 15)  # 0 to 19 s
    told = GradientBoosting(**STUMP).fit(rows, waits).predict(rows)
    assert set(told[is_long]) == {1000.0}
    assert set(told[~is_long]) <= {9.0, 10.0}


def test_what_is_missing_is_a_value() -> None:
    """One split parts jobs that say something from those that do not, whose values stand on both sides."""
    rows = rows_of(200)
    rows[:, GROUP] = 0.0
    rows[::2, 0] = np.arange(100)
    waits = np.where(np.isnan(rows[:, 0]), 500.0, 20.0)
    assert GradientBoosting(**STUMP).fit(rows, waits).predict(rows).tolist() == waits.tolist()


def test_a_column_in_which_all_is_missing() -> None:
    """It parts nothing, also if it is said of later jobs."""
    rows = rows_of(60)
    model = GradientBoosting(**STUMP).fit(rows, np.arange(60.0) % 3)
    later = np.arange(2.0 * len(COLUMNS)).reshape(2, -1)
    later[:, GROUP] = [0.0, 200.0]
    assert model.predict(later).tolist() == model.predict(rows_of(2)).tolist() == [1.0, 1.0]


def test_the_quantile() -> None:
    """Of waits that nothing tells apart, with all trees, the empirical one, to a second."""
    rng = np.random.default_rng(0)
    waits = rng.exponential(1000.0, 2000)
    for quantile in (0.5, 0.95):
        told = GradientBoosting(quantile=quantile).fit(rows_of(2000), waits).predict(rows_of(1)).item()
        assert (waits <= told).mean() == pytest.approx(quantile, abs=0.002)


def test_equal_fits_are_equal() -> None:
    """Bit for bit; the seed counts only where waits are drawn from a window that is larger than histograms take."""
    rng, count = np.random.default_rng(0), 1000
    rows, waits = rng.normal(size=(count, len(COLUMNS))), rng.exponential(1000.0, count)
    rows[:, GROUP] = rng.integers(0, 254, count)
    first, again, other = (GradientBoosting(seed=seed).fit(rows, waits).predict(rows) for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes() == other.tobytes()


@pytest.mark.parametrize("wait", [0.0, 1.0, 7.0, 82_870.0, 4_665_087.0, 31_536_000.0])
def test_whole_seconds_come_back(wait: float) -> None:
    """Through the logarithm; parts of seconds are rounded up, nothing is below 0, and nothing is without end."""
    assert whole_seconds(np.log1p(wait)) == wait
    assert whole_seconds(np.log1p(wait + 0.4)) == wait + 1
    assert whole_seconds(np.array([-3.0])).tolist() == [0.0]
    assert np.isfinite(whole_seconds(1e6))
