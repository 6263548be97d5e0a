# SPDX-License-Identifier: BSD-3-Clause
"""How wide bounds are by queue: medians, what is not correct, names and numbers of queues."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.plots import caption, data, plot
from swftools.plots.bound_width import QUEUES
from swftools.qbets import evaluate, replay
from tests.plots.odd import ODD, drawn_at_both_sizes, legend_of, words_on
from tests.qbets.test_replay_twin import drawn_log


def evaluation(queues: tuple[str, ...] = ("1", "2"), **columns: Any) -> pd.DataFrame:
    """Return an evaluation of two methods; the second has bounds half as wide and is correct in the first queue."""
    rows = [
        {
            "grouped_by": "queue",
            "method": method,
            "group": queue,
            "predicted": 10 + place,
            "median_tightness": factor * 10.0 ** (place + 1),
            "p90_tightness": factor * 10.0 ** (place + 2),
            "is_correct": method == "wide" or place == 0,
        }
        for place, queue in enumerate(queues)
        for method, factor in (("wide", 2.0), ("tight", 1.0))
    ]
    other = {**rows[0], "grouped_by": "all", "group": "all"} if rows else {"grouped_by": "all"}
    table = pd.DataFrame([*rows, other]).assign(**columns)
    return table.astype({"is_correct": "boolean"}) if rows else table


def test_the_table_by_hand() -> None:
    """A row a queue and method; none where nothing was told."""
    found = evaluation()
    found.loc[0, "median_tightness"] = float("nan")
    assert data(found, "tightness").values.tolist() == [
        ["tight", "1", 10, 10.0, 100.0, True],
        ["wide", "2", 11, 200.0, 2000.0, True],
        ["tight", "2", 11, 100.0, 1000.0, False],
    ]


def test_what_is_drawn() -> None:
    """A dot at the median, hollow where not correct, a line to the .9 quantile."""
    axes = drawn_at_both_sizes(evaluation(), "tightness")
    dots = {
        (line.get_markerfacecolor() == "white", float(x), float(y))
        for line in axes.get_lines()
        if line.get_linestyle() == "None"
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)  # type: ignore[arg-type]
    }
    assert {(hollow, round(x, 6), y) for hollow, x, y in dots} == {
        (False, -0.2, 20.0),
        (False, 0.8, 200.0),
        (False, 0.2, 10.0),
        (True, 1.2, 100.0),
    }
    spans = [segment[:, 1].tolist() for lines in axes.collections for segment in lines.get_segments()]  # type: ignore[attr-defined]
    assert spans == [[20, 200], [200, 2000], [10, 100], [100, 1000]]
    assert legend_of(axes) == ["wide", "tight", "hollow: not correct"]
    assert {"100", "1,000", "queue", "1", "2"} <= set(words_on(axes))
    correct = evaluation(is_correct=True)
    assert legend_of(plot(correct, "tightness")) == ["wide", "tight"]


def test_many_queues() -> None:
    """Those of most waits are drawn."""
    many = tuple(str(number) for number in range(QUEUES + 5))
    table = data(evaluation(many), "tightness")
    assert table["queue"].unique().tolist() == list(many[5:])
    drawn_at_both_sizes(evaluation(many), "tightness")


def test_the_caption() -> None:
    """In how many queues a method is correct, and its medians."""
    assert caption(evaluation(("1", "2", "3")), "tightness") == (
        "Bounds by their waits: wide is correct in 3 of 3 queues, its median bound 20 to 2,000 times the wait; "
        "tight is correct in 1 of 3 queues, its median bound 10 to 1,000 times the wait"
    )
    for nothing in (evaluation().iloc[:0], evaluation(median_tightness=float("nan"))):
        assert "no queue with a wait" in caption(nothing, "tightness")
        drawn_at_both_sizes(nothing, "tightness")


def test_odd_names() -> None:
    """Of queues, upright or not."""
    for queues in (ODD, ODD[1:3]):
        words = words_on(drawn_at_both_sizes(evaluation(queues), "tightness"))
        assert {"$x^2$", r"\u202egnol\u202c"} <= set(words)


def test_what_is_refused() -> None:
    """Evaluations without queues."""
    with pytest.raises(ParameterError, match=r"no rows by queue: evaluate\(\.\.\., grouped_by=\['queue'\]\)"):
        plot(evaluation().query("grouped_by == 'all'"), "tightness")


def test_of_a_replay() -> None:
    """What evaluate returns is drawn as it is."""
    found = evaluate(replay(drawn_log("changing", 3_000, 5), training=100, by=None))
    assert (
        data(found, "tightness")["median"].tolist()
        == found.query("grouped_by == 'queue'")["median_tightness"].dropna().tolist()
    )
