# SPDX-License-Identifier: BSD-3-Clause
"""Findings by night and kind, and nights that found nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.dates import date2num

from swftools.plots import caption, data, plot
from tests.plots.odd import ODD, drawn_at_both_sizes, words_on


def findings() -> pd.DataFrame:
    """Return those of three nights: three of two kinds, none, and one."""
    return pd.DataFrame(
        {
            "night": ["2000-01-03", "2000-01-01", "2000-01-01", "2000-01-01", "2000-01-02"],
            "kind": ["file", "drift", "drift", "file", None],
        }
    )


def test_the_table_by_hand() -> None:
    """In order of the nights; a night without any is there."""
    table = data(findings(), "findings")
    assert table["night"].dt.strftime("%m-%d").tolist() == ["01-01", "01-01", "01-02", "01-03"]
    assert table["kind"].fillna("").tolist() == ["drift", "file", "", "file"]
    assert table["findings"].tolist() == [2, 1, 0, 1]
    both = pd.concat([findings(), pd.DataFrame({"night": ["2000-01-01", "2000-01-02"], "kind": None})])
    assert data(both, "findings").equals(table)  # a night is quiet if it has no finding at all, and once


def test_what_is_drawn() -> None:
    """Rows by kind, dots that grow with the count, the count beside them, and a mark where there was none."""
    axes = drawn_at_both_sizes(findings(), "findings")
    days = [date2num(np.datetime64(f"2000-01-0{day}")) for day in (1, 2, 3)]
    dots = axes.collections[0]
    assert np.asarray(dots.get_offsets()).tolist() == [[days[0], 0], [days[0], 1], [days[2], 1]]
    assert dots.get_sizes().tolist() == [150.0, 85.0, 85.0]  # type: ignore[attr-defined]
    (quiet,) = axes.get_lines()
    assert (list(quiet.get_xdata()), list(quiet.get_ydata())) == ([days[1]], [2])  # type: ignore[arg-type]
    words = words_on(axes)
    assert {"drift", "file", "none", "2", "UTC"} <= set(words)
    assert len(plot(findings(), "findings", size="column").texts) == 0


def test_the_caption() -> None:
    """How many, in how many nights, of which kinds."""
    assert caption(findings(), "findings") == "Findings: 4 in 2 of 3 nights: drift 2; file 2"
    assert caption(findings().assign(kind=None), "findings") == "Findings: 0 in 0 of 3 nights"
    assert caption(findings().iloc[:0], "findings") == "Findings: no night"
    for each in (findings().iloc[:0], findings().assign(kind=None), findings().dropna(), findings().iloc[:1]):
        drawn_at_both_sizes(each, "findings")


def test_odd_names() -> None:
    """Of kinds, as they are."""
    odd = pd.DataFrame({"night": pd.Timestamp("2000-01-01", tz="UTC"), "kind": ODD})
    assert {"$x^2$", r"\u202egnol\u202c"} <= set(words_on(drawn_at_both_sizes(odd, "findings")))
