# SPDX-License-Identifier: BSD-3-Clause
"""Shares within the bound beside the quantile that is meant: by quantile, or by queue."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from swftools.errors import ParameterError
from swftools.plots import caption, data, plot
from swftools.plots.bound_width import QUEUES
from tests.plots.odd import ODD, drawn_at_both_sizes, legend_of, words_on


def evaluation(grouped_by: str, groups: dict[str, float], method: str = "m", **columns: Any) -> pd.DataFrame:
    """Return an evaluation of 100 waits a group with these shares."""
    rows = {"grouped_by": grouped_by, "method": method, "predicted": 100}
    return pd.DataFrame({"group": list(groups), "correctness": list(groups.values())}).assign(**rows | columns)


def of_quantiles() -> pd.DataFrame:
    """Return shares of a method at two quantiles, the higher one first, and rows by queue that do not count."""
    return pd.concat(
        [
            evaluation("all", {"all": 0.9}, quantile=0.95),
            evaluation("all", {"all": 0.6}, quantile=0.5),
            evaluation("queue", {"1": 0.1}, quantile=0.5),
        ],
        ignore_index=True,
    )


def test_by_quantile() -> None:
    """In order of the quantiles, beside the diagonal."""
    table = data(of_quantiles(), "reliability")
    assert table[["method", "queue", "meant", "waits", "share"]].values.tolist() == [
        ["m", "all", 0.5, 100, 0.6],
        ["m", "all", 0.95, 100, 0.9],
    ]
    assert table["high"].iloc[1] == pytest.approx(0.94477, abs=1e-5)
    axes = drawn_at_both_sizes(of_quantiles(), "reliability")
    line = axes.containers[0][0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([0.5, 0.95], [0.6, 0.9])
    diagonal = axes.get_lines()[-1]
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0.5, 0.95]
    assert legend_of(axes) == ["m", "as meant"]
    assert axes.get_xlabel() == "quantile that is meant"
    assert caption(of_quantiles(), "reliability") == (
        "Share of waits within the bound: m too seldom in 1 of 2 quantiles; at worst 0.900 where 0.95 is meant"
    )


def test_by_queue() -> None:
    """Of one quantile: a place a queue, the methods side by side, and the line that is meant."""
    found = pd.concat([evaluation("queue", {"1": 0.9, "2": 1.0}, method) for method in ("m", "n")])
    assert data(found, "reliability", quantile=0.9)["meant"].tolist() == [0.9] * 4
    axes = drawn_at_both_sizes(found, "reliability", quantile=0.9)
    places = [[round(float(x), 3) for x in container[0].get_xdata()] for container in axes.containers]
    assert places == [[-0.175, 0.825], [0.175, 1.175]]
    assert legend_of(axes) == ["m", "n", "meant: 0.9"]
    assert [0.9, 0.9] in [list(line.get_ydata()) for line in axes.get_lines()]  # type: ignore[arg-type]
    assert {"1", "2", "queue"} <= set(words_on(axes))
    assert "m as often as meant in all 2 queues" in caption(found, "reliability", quantile=0.9)
    assert "at worst queue 1, 0.900 where 0.95 is meant; n too seldom in 1 of 2 queues" in caption(found, "reliability")
    assert data(found.assign(quantile=0.8), "reliability")["meant"].tolist() == [0.8] * 4


def test_many_queues_and_odd_names() -> None:
    """Those of most waits; names as they are."""
    many = evaluation("queue", {str(number): 0.9 for number in range(QUEUES + 2)}, predicted=range(1, QUEUES + 3))
    assert data(many, "reliability")["queue"].tolist() == [str(number) for number in range(2, QUEUES + 2)]
    drawn_at_both_sizes(many, "reliability")
    words = words_on(drawn_at_both_sizes(evaluation("queue", dict.fromkeys(ODD, 0.9)), "reliability"))
    assert {"$x^2$", r"\u202egnol\u202c"} <= set(words)


def test_of_nothing_and_of_other_rows() -> None:
    """Without rows, or without a share, there is nothing; without the rows that it needs it says which."""
    for nothing in (of_quantiles().iloc[:0], evaluation("queue", {"1": float("nan")})):
        assert "no wait that is known" in caption(nothing, "reliability")
        drawn_at_both_sizes(nothing, "reliability")
    with pytest.raises(ParameterError, match="no rows by queue: evaluate"):
        plot(evaluation("all", {"all": 0.9}), "reliability")
    by_queue = pd.concat([evaluation("queue", {"1": 0.9}, quantile=quantile) for quantile in (0.5, 0.9)])
    with pytest.raises(ParameterError, match="no rows by all: evaluate"):
        plot(by_queue, "reliability")


def test_promises_have_their_own_words() -> None:
    """Of several probabilities, and of one, which is no queue's."""
    rows = [
        {"method": "varq", "grouped_by": "all", "group": "all", "predicted": 50, "correctness": share}
        for share in (0.5, 0.9)
    ]
    table = pd.DataFrame(rows).assign(quantile=[0.6, 0.9])
    axes = plot(table, "promises")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("probability that was promised", "share of promises kept")
    assert caption(table, "promises") == (
        "Share of promises kept: 70 of 100 accepted jobs ran in time (70 %; 60 to 90 % promised)"
    )
    one = table.iloc[1:].assign(predicted=12, correctness=1.0, quantile=0.95)
    assert caption(one, "promises") == "Share of promises kept: all 12 accepted jobs ran in time (95 % promised)"
    two = pd.concat([one, one.assign(method="mine", correctness=0.5)])
    assert "varq, all 12 accepted jobs ran in time (95 % promised); mine, 6 of 12" in caption(two, "promises")
    assert plot(table.iloc[:1], "promises").get_ylabel() == "share of promises kept"
