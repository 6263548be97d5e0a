# SPDX-License-Identifier: BSD-3-Clause
"""Waits of a queue and what its jobs were told: which jobs are drawn where, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.plots import caption, data, plot
from swftools.qbets import replay
from tests.plots.odd import ODD, drawn_at_both_sizes, legend_of, words_on
from tests.qbets.test_replay_twin import drawn_log

DAY = 86_400.0


def predictions(**columns: object) -> pd.DataFrame:
    """Return predictions of five jobs of a queue and one of another; of two no wait or bound is known."""
    table = pd.DataFrame(
        {
            "method": "binomial",
            "queue": ["1"] * 5 + ["2"],
            "submit_time": [0.0, DAY, 2 * DAY, 3 * DAY, 4 * DAY, 0.0],
            "wait_time": [0.0, 60.0, 7200.0, np.nan, np.nan, 9.0],
            "wait_bound": [60.0, 60.0, 60.0, 120.0, np.nan, 9.0],
        }
    )
    return table.assign(**columns)


def test_the_table_by_hand() -> None:
    """The queue of most jobs; equal to the bound is within; a job of which nothing is known is left out."""
    table = data(predictions(), "told")
    assert table["submit_time"].tolist() == [0.0, DAY, 2 * DAY, 3 * DAY]
    assert table["is_beyond"].tolist() == [False, False, True, False]
    assert data(predictions(), "told", queue="2")["wait_time"].tolist() == [9.0]


def test_what_is_drawn() -> None:
    """Bounds, waits within, waits beyond; by days of the log where no date is known; nothing below 1 s."""
    axes = drawn_at_both_sizes(predictions(), "told")
    bounds, within, beyond = axes.get_lines()
    assert list(bounds.get_ydata()) == [60, 60, 60, 120]
    assert list(within.get_ydata()) == [1, 60]
    assert (list(beyond.get_xdata()), list(beyond.get_ydata())) == ([2], [7200])
    assert legend_of(axes) == ["bound", "wait", "wait beyond the bound"]
    assert axes.get_xlabel() == "days from the start of the log"
    assert axes.get_ylabel() == "queue 1: wait"
    assert {"1 s", "1 min", "1 h"} <= set(words_on(axes))


def test_dates_where_they_are_known() -> None:
    """An axis of time with the year."""
    stamps = pd.Timestamp("2001-02-03", tz="UTC") + pd.to_timedelta(predictions()["submit_time"], unit="s")
    axes = drawn_at_both_sizes(predictions(submit_timestamp=stamps), "told")
    assert axes.get_lines()[2].get_xdata()[0] == pd.Timestamp("2001-02-05").timestamp() / DAY  # type: ignore[index]
    assert axes.get_xlabel() == "UTC"
    assert "2001" in axes.xaxis.get_major_formatter().get_offset()


def test_the_caption() -> None:
    """Two of three waits are within; medians of those that have both: 60 s of 0, 60, 7200, and 60 s."""
    assert caption(predictions(), "told") == (
        "Waits, and what jobs were told: binomial, queue 1: 66.7 % of 3 waits were within their bounds; half of the "
        "waits were at most 60 s, half of the bounds at most 60 s"
    )
    assert caption(predictions(wait_bound=np.nan), "told").endswith(
        "queue 1: 3 jobs, none with both a wait and a bound"
    )
    for nothing in (predictions().iloc[:0], predictions(wait_time=np.nan, wait_bound=np.nan)):
        assert caption(nothing, "told") == "Waits, and what jobs were told: no job whose wait or bound is known"
        drawn_at_both_sizes(nothing, "told")


@pytest.mark.parametrize("queue", ODD)
def test_odd_names(queue: str) -> None:
    """They are shown as they are, or cut off, and nothing is made of them."""
    axes = drawn_at_both_sizes(predictions(queue=queue), "told")
    assert any(each.startswith("queue ") for each in words_on(axes))
    assert "\u202e" not in caption(predictions(queue=queue), "told")


def test_what_is_refused() -> None:
    """Queues and methods that there are not, and several methods at once."""
    with pytest.raises(ParameterError, match="no job is of queue '9'; there are: 1, 2"):
        plot(predictions(), "told", queue="9")
    both = pd.concat([predictions(), predictions(method="weibull")])
    with pytest.raises(ParameterError, match="several methods: binomial, weibull; choose one by method="):
        plot(both, "told")
    with pytest.raises(ParameterError, match="no method 'lognormal'; there are: binomial, weibull"):
        plot(both, "told", method="lognormal")
    assert data(both, "told", method="weibull")["method"].unique().tolist() == ["weibull"]


def test_of_a_replay() -> None:
    """Every job of the queue whose wait is known is there once, and its bound if it was told one; many as an image."""
    found = replay(drawn_log("changing", 6_000, 5), training=100)
    axes = plot(found, "told")
    bounds, within, beyond = (len(line.get_xdata()) for line in axes.get_lines())  # type: ignore[arg-type]
    assert within + beyond == found["wait_time"].notna().sum()
    assert beyond == (found["wait_time"] > found["wait_bound"]).sum() > 0
    assert bounds == found["wait_bound"].notna().sum()
    assert all(line.get_rasterized() for line in axes.get_lines())
