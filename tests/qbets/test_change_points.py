# SPDX-License-Identifier: BSD-3-Clause
"""Tables of rare events, and the autocorrelation that they are entered with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from swftools import Trace
from swftools.errors import ParameterError
from swftools.qbets import ReplayParameters, autocorrelation, change_points, rare_events, register_rare_events, replay
from swftools.qbets.change_points import RECENT, misses_in_a_row


def by_scipy(values: list[float]) -> float:
    """Return the autocorrelation by formulas."""
    scores = norm.ppf(rankdata(values) / (len(values) + 1))
    scores -= scores.mean()
    return float((scores[1:] * scores[:-1]).sum() / (scores**2).sum())


@pytest.mark.parametrize("kind", ["alike", "correlated", "tied"])
@pytest.mark.parametrize("count", [2, 3, 59, RECENT])
def test_autocorrelation(kind: str, count: int) -> None:
    """As by scipy; equal values share a rank."""
    rng = np.random.default_rng(count)
    noise = rng.normal(size=count)
    values = {"alike": noise, "correlated": np.cumsum(noise), "tied": np.arange(count) % 2 + (noise > 1)}[kind]
    assert autocorrelation(values) == pytest.approx(by_scipy(list(values)), abs=1e-12)


def test_of_many_the_last_count() -> None:
    """However many there are before."""
    values = np.random.default_rng(1).normal(size=300).cumsum()
    assert autocorrelation(values) == autocorrelation(values[-RECENT:]) != autocorrelation(values[:RECENT])


@pytest.mark.parametrize("values", [[], [3.0], [4.0, 4.0, 4.0]])
def test_of_too_few_or_equal_values(values: list[float]) -> None:
    """It is 0: nothing is known of it."""
    assert autocorrelation(values) == 0.0


@pytest.mark.parametrize(
    ("rho", "reference", "computed"),
    [
        (-1, 3, 3),
        (0, 3, 3),
        (0.099, 3, 3),
        (0.1, 3, 4),
        (0.55, 6, 6),
        (0.9, 28, 23),
        (0.949, 28, 23),
        (0.95, 28, 42),
        (1, 28, 42),
    ],
)
def test_tables(rho: float, reference: int, computed: int) -> None:
    """Each number holds from its autocorrelation on; below the first as at it."""
    found = [misses_in_a_row(float(rho), rare_events(name)) for name in ("reference", "computed")]
    assert found == [reference, computed]


def test_three_in_a_row_are_rare() -> None:
    """Of independent values above the .95 quantile: once in 8,000 (Nurmi 2009, section 4.2.2)."""
    for table in (rare_events("reference"), rare_events("computed")):
        assert 0.05 ** table.misses[0] == pytest.approx(1 / 8000)


def test_the_computed_table_by_simulation() -> None:
    """So many values in a row above the .95 quantile have a probability of .05^3 at most, and one less has more."""
    rng = np.random.default_rng(7)
    rho, table = 0.7, rare_events("computed")
    k = misses_in_a_row(rho, table)
    paths, threshold = 4_000_000, norm.ppf(0.95)
    value = rng.normal(size=paths)
    share = []
    for _ in range(k):
        value = value[value > threshold]
        share.append(len(value) / paths)
        value = rho * value + np.sqrt(1 - rho**2) * rng.normal(size=len(value))
    error = 3 * np.sqrt(share[-2] / paths)
    assert share[-1] < 0.05**3 + error
    assert share[-2] > 0.05**3 - error


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> str:
    """A table of one's own: two misses are enough, or twenty where waits all but repeat."""
    monkeypatch.setattr(change_points, "_RARE_EVENTS", dict(change_points._RARE_EVENTS))
    register_rare_events("mine", [0.0, 0.99], [2, 20])
    return "mine"


def test_one_of_your_own(mine: str) -> None:
    """A table is used as it is, by a replay too; another of the name takes its place."""
    assert [misses_in_a_row(rho, rare_events(mine)) for rho in (-1.0, 0.98, 0.99)] == [2, 2, 20]
    count = 400
    log = Trace.from_columns(
        job_number=range(count),
        submit_time=range(0, 100 * count, 100),
        wait_time=[n % 7 for n in range(200)] + [50, 60] + [5] * (count - 202),
        run_time=[60] * count,
    )
    parts = {"by": None, "training": 100, "clustering": False, "availability": False}
    trimmed = {name: replay(log, rare_events=name, **parts)["is_trimmed"].any() for name in ("reference", mine)}
    assert trimmed == {"reference": False, mine: True}
    register_rare_events(mine, [0.0], [3])
    assert not replay(log, rare_events=mine, **parts)["is_trimmed"].any()


@pytest.mark.parametrize("wrong", ["referense", 3, None])
def test_a_table_that_there_is_not(wrong: Any) -> None:
    """Is refused, also by a replay's parameters."""
    for refused in (rare_events, lambda name: ReplayParameters(rare_events=name)):
        with pytest.raises(ParameterError, match=f"no table of rare events {wrong!r}; there are: reference, computed"):
            refused(wrong)


@pytest.mark.parametrize(
    ("places", "misses", "message"),
    [
        ([0.5, 0.1], [3, 3], "must rise"),
        ([0.1, 0.1], [3, 3], "must rise"),
        ([0.1], [0], "be 1 or more"),
        ([0.1], [3, 3], "as many numbers"),
        ([], [], "one at least"),
        ([0.0, float("nan")], [3, 3], "must rise"),
    ],
)
def test_a_table_that_is_refused(places: list[float], misses: list[int], message: str) -> None:
    """It has another form."""
    with pytest.raises(ParameterError, match=f"rare events 'wrong': .*{message}"):
        register_rare_events("wrong", places, misses)


def test_the_tables_of_the_package_stay() -> None:
    """Nobody takes their names."""
    with pytest.raises(ParameterError, match="rare events 'computed' is a table of the package"):
        register_rare_events("computed", [0.0], [3])
