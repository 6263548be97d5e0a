# SPDX-License-Identifier: BSD-3-Clause
"""How pictures of papers look: colours of policies, variants that can be told apart, names of months."""

from __future__ import annotations

from matplotlib.figure import Figure

from pipelines.papers.chiang2008.curves import FIGURES as CURVES
from pipelines.papers.chiang2008.figures import FIGURES
from pipelines.papers.looks import explain, looks_of, name_months
from swftools.plots import look_of


def test_each_policy_has_its_colour() -> None:
    """That of every other picture; the first of several variants too."""
    looks = looks_of({"A": "search", "B": "search", "FCFS-backfill": "easy", "LXF-backfill": "lxf-backfill"})
    assert looks["A"] == look_of("search")
    assert looks["FCFS-backfill"] == look_of("easy")
    assert looks["LXF-backfill"] == look_of("lxf-backfill")
    assert looks["B"]["color"] not in {looks[name]["color"] for name in ("A", "FCFS-backfill", "LXF-backfill")}


def test_lines_of_a_figure_differ() -> None:
    """Those of each figure in colour; more variants than there are colours in dashes and marker."""
    for shown in FIGURES.values():
        looks = looks_of({name: run.parameters.to_mapping()["policy"] for name, run in shown.runs.items()})
        assert len({look["color"] for look in looks.values()}) == len(looks)
    for curves in CURVES.values():
        looks = looks_of(dict.fromkeys(curves.curves, "search"))
        assert len({look["color"] for look in looks.values()}) == len(looks)
    assert len({str(look) for look in looks_of(dict.fromkeys(map(str, range(20)), "search")).values()}) == 20


def test_names_of_months() -> None:
    """A few of many, all of few, none of none; each at its month."""
    for count, shown in ((0, []), (3, [0, 1, 2]), (30, [0, 5, 10, 15, 20, 25])):
        axes = Figure().add_subplot()
        name_months(axes, [f"month {place}" for place in range(count)])
        assert [label.get_text() for label in axes.get_xticklabels()] == [f"month {place}" for place in shown]
        assert list(axes.get_xticks()) == shown


def test_abbreviations_are_explained() -> None:
    """Those that stand there, once each, three a line."""
    assert explain(["EASY"]) == ""
    assert explain(["Lexical(T_w -> avgX)", "Tradeoff(T_w:avgW)"]) == (
        "T_w: sum of waits beyond the threshold; avgW: mean wait; avgX: mean bounded slowdown"
    )
    assert explain(["DDS-LXF", "LDS-FCFS"]).count("\n") == 0
    assert explain(["maxW T_w maxE avgW"]).count("\n") == 1
