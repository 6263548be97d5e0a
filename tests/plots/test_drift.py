# SPDX-License-Identifier: BSD-3-Clause
"""Drift as a share of its limits: of one night, and over many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num

from swftools.drift import JOB_COLUMNS, measure_drift
from swftools.plots import caption, data
from swftools.plots.drift import LINES, of_limit
from tests.plots.odd import ODD, drawn_at_both_sizes, legend_of, words_on


def drift(**columns: Any) -> pd.DataFrame:
    """Return four statistics: at half of the limit, beyond it, without a limit and without a value."""
    table = pd.DataFrame(
        {
            "aspect": ["run_time", "failed", "users", "queues"],
            "statistic": ["ratio_of_means", "difference_of_means", "total_variation", "total_variation"],
            "drift": [2.0, -0.3, 0.5, np.nan],
            "threshold": [4.0, 0.1, np.nan, 0.5],
        }
    )
    return table.assign(**columns)


def nights(count: int) -> pd.DataFrame:
    """Return the tables of several nights, the newest first, in which the ratio comes nearer to its limit."""
    dates = [f"2000-01-{3 - night:02d}" for night in range(count)]
    return pd.concat([drift(drift=[2.0 ** (3 - n), -0.3, 0.5, np.nan], night=dates[n]) for n in range(count)])


@pytest.mark.parametrize(
    ("statistic", "value", "threshold", "expected"),
    [
        ("ratio_of_means", 4.0, 2.0, 2.0),
        ("ratio_of_means", 0.25, 2.0, 2.0),
        ("ratio_of_means", 0.0, 2.0, np.inf),
        ("ratio_of_means", 1.0, 1.0, 0.0),
        ("difference_of_means", -0.3, 0.1, 3.0),
        ("kolmogorov_smirnov", 0.1, 0.2, 0.5),
        ("kolmogorov_smirnov", 0.1, 0.0, np.inf),
        ("somebodys-own", 1.0, 2.0, 0.5),
    ],
)
def test_shares_of_limits_by_hand(statistic: str, value: float, threshold: float, expected: float) -> None:
    """Half is as far as twice; differences count by their size; what has no limit at all is beyond it."""
    assert of_limit(statistic, value, threshold) == pytest.approx(expected)


def test_of_one_night() -> None:
    """A bar a statistic that has a value and a limit, the farthest above, its colour by whether it is beyond."""
    table = data(drift(), "drift")
    assert table[["aspect", "of_limit"]].values.tolist() == [["run_time", 0.5], ["failed", pytest.approx(3.0)]]
    axes = drawn_at_both_sizes(drift(), "drift")
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([3.0, 0.5])  # type: ignore[attr-defined]
    assert len({bar.get_facecolor() for bar in axes.patches}) == 2
    assert {"failed: difference of means", "run time: ratio of means"} <= set(words_on(axes))
    assert caption(drift(), "drift") == (
        "Drift of the workload: 1 of 2 statistics are beyond their limits: failed: difference of means -0.3 (limit 0.1)"
    )


def test_of_many_nights() -> None:
    """A line a statistic in the order of the nights; the caption is of the last one."""
    axes = drawn_at_both_sizes(nights(3), "drift")
    assert axes.get_lines()[1].get_ydata() == pytest.approx([0.5, 1.0, 1.5])
    days = [date2num(np.datetime64(f"2000-01-0{day}")) for day in (1, 2, 3)]
    assert list(axes.get_lines()[1].get_xdata()) == days  # type: ignore[arg-type]
    assert legend_of(axes) == ["failed: difference of means", "run time: ratio of means"]
    assert axes.get_xlabel() == "UTC"
    told = caption(nights(3), "drift")
    assert "2 of 2 statistics are beyond their limits in the night of 2000-01-03: failed" in told
    assert "run time: ratio of means 8 (limit 4)" in told
    assert len(drawn_at_both_sizes(nights(1), "drift").patches) == 2


def test_many_statistics() -> None:
    """Those that came farthest have lines of their own, the others are grey and one entry."""
    count = LINES + 3
    many = pd.concat(
        pd.DataFrame(
            {
                "aspect": [f"a{n}" for n in range(count)],
                "statistic": "total_variation",
                "drift": np.arange(count) / 10.0,
            }
        ).assign(threshold=1.0, night=night)
        for night in ("2000-01-01", "2000-01-02")
    )
    expected = [f"a{n}: total variation" for n in range(count - 1, count - 1 - LINES, -1)]
    assert legend_of(drawn_at_both_sizes(many, "drift")) == [*expected, "others"]


def test_of_nothing_and_odd_names() -> None:
    """Neither value nor limit is nothing; a ratio of 0 has no end; names are as they are."""
    for nothing in (drift().iloc[:0], drift(threshold=np.nan), nights(2).iloc[:0]):
        assert caption(nothing, "drift").endswith("no statistic with a value and a limit")
        drawn_at_both_sizes(nothing, "drift")
    endless = drift(drift=[0.0, np.nan, np.nan, np.nan])
    assert drawn_at_both_sizes(endless, "drift").patches[0].get_width() == 1.2  # type: ignore[attr-defined]
    drawn_at_both_sizes(pd.concat([endless.assign(night=f"2000-01-0{n}") for n in (1, 2)]), "drift")
    words = words_on(drawn_at_both_sizes(drift(aspect=ODD, drift=0.1, threshold=1.0), "drift"))
    assert any(each.startswith("$x^2$: ") for each in words)


def test_of_a_measure() -> None:
    """What measure_drift returns is drawn as it is, and beyond 1 is what it tells."""
    jobs = pd.DataFrame({"submit_time": np.arange(400) * 86_400.0 / 4, "run_time": 60.0})
    jobs.loc[jobs["submit_time"] > 70 * 86_400.0, "run_time"] = 600.0
    jobs = jobs.reindex(columns=JOB_COLUMNS).assign(requested_processors=1)
    found = measure_drift(jobs, 4, now=100 * 86_400.0, recent_days=30, reference_days=60)
    told = data(found, "drift")
    expected = found[found["is_beyond"]][["aspect", "statistic"]].values.tolist()
    assert told[told["of_limit"] > 1][["aspect", "statistic"]].values.tolist() == expected
    assert expected
