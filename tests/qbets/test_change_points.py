"""Tables of rare events, and the autocorrelation that they are entered with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from swftools.errors import ParameterError
from swftools.qbets import RareEvents, autocorrelation, rare_events
from swftools.qbets.change_points import RARE_EVENTS, RECENT, misses_in_a_row


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
    for table in RARE_EVENTS.values():
        assert 0.05 ** table.misses[0] == pytest.approx(1 / 8000)


def test_the_computed_table_by_simulation() -> None:
    """So many values in a row above the .95 quantile have a probability of .05^3 at most, and one less has more."""
    rng = np.random.default_rng(7)
    rho, table = 0.7, RARE_EVENTS["computed"]
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


def test_one_of_your_own() -> None:
    """A table is used as it is."""
    table = rare_events(RareEvents(np.array([0.0, 0.5]), np.array([2, 6])))
    assert [misses_in_a_row(rho, table) for rho in (0.4, 0.5)] == [2, 6]


@pytest.mark.parametrize(
    "wrong",
    ["referense", RareEvents(np.array([0.5, 0.1]), np.array([3, 3])), RareEvents(np.array([0.1]), np.array([0]))],
)
def test_what_is_refused(wrong: str | RareEvents) -> None:
    """Unknown names, and tables that do not rise."""
    with pytest.raises(ParameterError, match=r"did you mean reference|has rising autocorrelations"):
        rare_events(wrong)
