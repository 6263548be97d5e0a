# SPDX-License-Identifier: BSD-3-Clause
"""Shares of waits within their bounds by month: of evaluations and histories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num

from swftools.errors import ParameterError
from swftools.plots import caption, data, plot
from swftools.plots.series import share_interval
from swftools.qbets import evaluate, replay
from swftools.qbets.evaluation import add_coverage, count_coverage
from tests.plots.odd import ODD, drawn_at_both_sizes, legend_of, words_on
from tests.qbets.test_replay_twin import drawn_log


def evaluation(months: tuple[str, ...] = ("2000-01", "2000-02"), methods: tuple[str, ...] = ("m", "n")) -> pd.DataFrame:
    """Return an evaluation of 100 waits a month, .9 of them within in the first month, and all in others."""
    rows = [
        {
            "grouped_by": "month",
            "method": method,
            "group": month,
            "predicted": 100,
            "correctness": 1.0 if place else 0.9,
        }
        for place, month in enumerate(months)
        for method in methods
    ]
    others = {"grouped_by": "all", "method": "m", "group": "all", "predicted": 200, "correctness": 0.5}
    return pd.DataFrame([*rows, others])


def history() -> pd.DataFrame:
    """Return a table of a history: two months, the newer one first, and periods that overlap with them."""
    periods = ["2000-02", "2000-01", "the last 30 days", "all", "2000-01"]
    queues, known, coverage = ["all"] * 4 + ["7"], [10, 20, 10, 30, 5], [0.9, 0.8, 0.9, 0.83, 0.2]
    return pd.DataFrame({"period": periods, "queue": queues, "method": "m", "known": known, "coverage": coverage})


def test_intervals_by_hand() -> None:
    """Wilson's, of 90 in 100, 100 in 100 and 1 in 2; of nothing none."""
    low, high = share_interval(np.array([0.9, 1.0, 0.5, 0.9]), np.array([100.0, 100.0, 2.0, 0.0]))
    assert low[:3] == pytest.approx([0.82563, 0.96301, 0.09453], abs=1e-5)
    assert high[:3] == pytest.approx([0.94477, 1.0, 0.90547], abs=1e-5)
    assert np.isnan(low[3])
    assert np.isnan(high[3])


def test_the_table_of_an_evaluation() -> None:
    """A row a method and month; months without a known wait have none."""
    found = evaluation()
    found.loc[0, ["predicted", "correctness"]] = [0, np.nan]
    table = data(found, "coverage")
    assert table[["method", "month", "waits", "share"]].values.tolist() == [
        ["n", "2000-01", 100, 0.9],
        ["m", "2000-02", 100, 1.0],
        ["n", "2000-02", 100, 1.0],
    ]
    assert table["low"].iloc[0] == pytest.approx(0.82563, abs=1e-5)


def test_the_table_of_a_history() -> None:
    """Months only, in order, of all queues or one."""
    table = data(history(), "coverage")
    assert table[["month", "waits", "share"]].values.tolist() == [["2000-01", 20, 0.8], ["2000-02", 10, 0.9]]
    assert data(history(), "coverage", queue="7")["share"].tolist() == [0.2]


def test_what_is_drawn() -> None:
    """A line a method with its intervals in the middle of each month, and the share that is meant."""
    axes = drawn_at_both_sizes(evaluation(methods=("m",)), "coverage", quantile=0.9)
    line, _, (bars,) = axes.containers[0]
    assert list(line.get_xdata()) == [date2num(np.datetime64(day)) for day in ("2000-01-16T12", "2000-02-15T12")]
    assert list(line.get_ydata()) == [0.9, 1.0]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.allclose(ends, [[0.82563, 0.94477], [0.96301, 1.0]], atol=1e-5)
    assert list(axes.get_lines()[0].get_ydata()) == [0.9, 0.9]
    assert legend_of(axes) == ["m", "meant: 0.9"]
    assert {"2000-01", "2000-02", "month (UTC)"} <= set(words_on(axes))


def test_many_months_and_months_without_dates() -> None:
    """Dates with years of many; days of the log where no date is known; methods stand side by side."""
    many = tuple(f"{year}-{month:02d}" for year in (2000, 2001, 2002) for month in range(1, 13))
    words = words_on(drawn_at_both_sizes(evaluation(many), "coverage"))
    assert {"2000", "2001", "2002"} <= set(words)
    axes = drawn_at_both_sizes(evaluation(("month 0000", "month 0002")), "coverage")
    assert axes.get_xlabel() == "days from the start of the log"
    places = [container[0].get_xdata().tolist() for container in axes.containers]
    assert places == [[14.25, 74.25], [15.75, 75.75]]


def test_the_caption() -> None:
    """Shares are of all waits of the months, not of months."""
    assert caption(history(), "coverage") == (
        "Waits within their bounds: 0.95 is meant; m 0.833 of 30 waits, least in 2000-01 (0.800)"
    )
    assert caption(evaluation(methods=("a", "b", "c", "d", "e")), "coverage").endswith("; and 1 more")
    for nothing in (evaluation().iloc[:0], history().iloc[:0], evaluation().assign(predicted=0)):
        assert "no month with a wait that is known" in caption(nothing, "coverage")
        drawn_at_both_sizes(nothing, "coverage")


def test_odd_names() -> None:
    """Of methods, as they are."""
    words = words_on(drawn_at_both_sizes(evaluation(methods=ODD), "coverage"))
    assert {"$x^2$", r"\u202egnol\u202c"} <= set(words)


def test_what_is_refused() -> None:
    """Evaluations without months, or of one queue; other tables; queues that there are not."""
    with pytest.raises(ParameterError, match=r"no rows by month: evaluate\(\.\.\., grouped_by=\['month'\]\)"):
        plot(evaluation(()), "coverage")
    with pytest.raises(ParameterError, match="an evaluation has no months of one queue"):
        plot(evaluation(), "coverage", queue="7")
    with pytest.raises(ParameterError, match=r"no evaluation \(grouped_by\), nor of a history \(no period, queue"):
        plot(pd.DataFrame({"method": ["m"]}), "coverage")
    with pytest.raises(ParameterError, match="no queue '9'; there are: all, 7"):
        plot(history(), "coverage", queue="9")


def test_of_a_replay() -> None:
    """What evaluate and a history make is drawn as it is."""
    predictions = replay(drawn_log("changing", 3_000, 5), training=100)
    found = evaluate(predictions, grouped_by=["month"])
    expected = found["correctness"].dropna().tolist()
    assert plot(found, "coverage").containers[0][0].get_ydata().tolist() == expected  # type: ignore[index]
    month = count_coverage(predictions, "2000-01", quantile=0.95, chance=0.001)
    whole = pd.concat([month, add_coverage([month], "all", quantile=0.95, chance=0.001)])
    assert data(whole, "coverage")["waits"].tolist() == [found["predicted"].sum()]


def test_a_month_of_few_jobs_does_not_stretch_the_axis() -> None:
    """Its point lies at the edge; where all months are small they set the axis, and one month is not four years."""
    found = evaluation(("2000-01", "2000-02", "2000-03"), ("m",))
    found.loc[2, ["predicted", "correctness"]] = [5, 0.2]
    axes = plot(found, "coverage")
    assert axes.get_ylim()[0] == pytest.approx(0.82563 - 0.05 * (1 - 0.82563), abs=1e-4)
    (below,) = (line for line in axes.lines if line.get_marker() == "v")
    assert list(below.get_ydata()) == [axes.get_ylim()[0]]  # type: ignore[arg-type]
    assert plot(found[found["group"] == "2000-03"], "coverage").get_ylim()[0] < 0.2
    low, high = plot(evaluation(("2000-01",), ("m",)), "coverage").get_xlim()
    assert high - low == 60
