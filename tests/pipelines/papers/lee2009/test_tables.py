# SPDX-License-Identifier: BSD-3-Clause
"""Tables, figures and statements of Lee 2009, of measures made by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.lee2009.checkpoint_aware import STOPS, named_runs
from pipelines.papers.lee2009.figures import FIGURES, rows_of
from pipelines.papers.lee2009.survey import SURVEY
from pipelines.papers.lee2009.tables import ratio_of
from pipelines.papers.lee2009.values import mean, ratios, seeds, standard_error
from pipelines.papers.lee2009.windows import BLUE, DATASTAR
from pipelines.papers.paper import Measurements, Run
from pipelines.papers.report import as_markdown
from tests.examples import pairs

PAPER = find_paper("lee2009")
MINE = "mine"

Value = Callable[[Run, str, str, str], float]
"""Of a run, a subject, a measure and a place of a curve: what was measured."""

BASE = {"conservative": 0.8, "easy": 1.0, "prio-fifo": 1.1, "genetic": 1.2}


def everything(
    log: str, value: Callable[[dict[str, Any], int, str, str], float], quick: bool = False, table: str = ""
) -> Measurements:
    """Return measures of every run of a policy on a log; the function takes parameters, seed, measure and place."""
    rows = []
    for run in PAPER.runs(PAPER.chosen_tables(table), log, quick):
        if run.experiment not in ("policy", "checkpoints"):
            continue
        given = run.parameters.to_mapping()
        names = [(measure, "") for measure in ("jobs", "aggregate utility", "average bounded slowdown", STOPS)]
        marks = [str(mark) for mark in (25, 50, 75, 98, 100)]
        names += [(name, mark) for name in ("wait", "expansion factor", "start value earned") for mark in marks]
        for measure, x in names:
            rows.append((log, run.text, "jobs", x, measure, value(given, run.seed, measure, x)))
    return Measurements(pd.DataFrame(rows, columns=["log", "experiment", "subject", "x", "measure", "value"]))


def utility(given: dict[str, Any], seed: int, measure: str, x: str) -> float:
    """Return a world in which the policies stand as in the text, and a draw doubles what another is worth."""
    if measure == "wait":
        return {"100": 116_552.0}.get(x, 0.0)
    worth = BASE.get(given["policy"], 0.9) * (1 + seed)
    if given.get("decay") == "exponential":
        worth *= 0.4 * (1.2 if given["policy"] == "genetic" else 1)
    good = given["policy"] in ("prio-fifo", "genetic")
    worth *= 1 if good else given.get("load", 1.0) ** -1.0
    return worth * given.get("deadline_factor", 2.0)


def table(number: str, found: Measurements, quick: bool = False) -> pd.DataFrame:
    """Return a table beside what is printed, the chosen readings by row and column."""
    cells = compare(PAPER, PAPER.chosen_tables(number), found, quick=quick)
    return cells[cells["is_chosen"]].set_index(["row", "column"])


def statement(found: Measurements, words: str) -> pd.Series[Any]:
    """Return the statement that has some words."""
    cells = compare(PAPER, PAPER.chosen_tables("statements"), found)
    return cells[cells["column"].str.contains(words, regex=False)].iloc[0]


def test_values_of_several_draws() -> None:
    """Means of what is known; ratios draw by draw, of as many draws as both have."""
    assert mean([1.0, float("nan"), 3.0]) == 2
    assert isnan(mean([]))
    assert isnan(standard_error([1.0]))
    assert standard_error([1.0, 3.0]) == 1
    found = everything(BLUE, utility)
    runs = PAPER.runs(PAPER.chosen_tables("4.1"), BLUE, quick=False)
    prio, easy = (next(run for run in runs if f"policy={name}," in run.text) for name in ("prio-fifo", "easy"))
    assert ratios(found, BLUE, prio, easy) == pytest.approx([1.1] * 10)
    assert [len(seeds(quick, number)) for quick in (False, True) for number in (10, 3)] == [10, 3, 2, 1]


@pytest.mark.parametrize(("number", "log"), pairs([table.number for table in PAPER.tables], [BLUE, DATASTAR, MINE], 1))
def test_each_table_by_itself(number: str, log: str) -> None:
    """Can be made of what it plans; runs that it shares with others may be of fewer draws than theirs."""
    found = everything(log, utility, table=number)
    cells = compare(PAPER, PAPER.chosen_tables(number), found)
    of_policies = number[0] == "4" or number in ("figure-4.1", "figure-4.3", "figure-4.4", "generations")
    assert not of_policies or log == DATASTAR or cells["ours"].notna().all()


def test_ratios_of_printed_values() -> None:
    """To two digits; none where one is not printed."""
    printed = {"a": {"aggregate utility": "1.27e09"}, "b": {"aggregate utility": "1.16e09"}}
    assert ratio_of(printed, "a", "b") == "1.09"
    assert ratio_of(printed, "a", "c") is None
    assert ratio_of({}, "a", "b") is None


def test_table_4_1() -> None:
    """Printed beside ours, of the paper's window alone and not to be quick; other readings of Cons beside it."""
    cells = table("4.1", everything(BLUE, utility))
    longest = cells.loc["EASY", "wait 100 %"]
    assert longest[["printed", "ours", "unit", "is_reproduced"]].tolist() == ["116552", 116_552, "s", True]
    assert not cells.loc["Prio", "wait 100 %"]["is_reproduced"]
    earned = cells.loc["Prio", "aggregate utility"]
    assert earned["printed"] == "1.09"
    assert earned["ours"] == pytest.approx(1.1)
    assert earned["is_reproduced"]
    assert not cells.loc["GA", "aggregate utility"]["is_reproduced"]
    assert pd.isna(cells.loc["EASY", "aggregate utility"]["is_reproduced"])
    assert "no reading of conservative" in cells.loc["Cons", "aggregate utility"]["note"]
    every = compare(PAPER, PAPER.chosen_tables("4.1"), everything(BLUE, utility))
    assert set(every.loc[~every["is_chosen"], "row"]) == {"Cons"}
    quick = table("4.1", everything(BLUE, utility, quick=True), quick=True)
    assert quick["printed"].isna().all()
    assert quick["ours"].notna().all()
    other = table("4.1", everything(MINE, utility))
    assert other["printed"].isna().all()
    assert other.loc["mine GA", "aggregate utility"]["ours"] == pytest.approx(1.2)


def test_figures_of_utility() -> None:
    """Over EASY's as in Table 4.1, in each row."""
    found = everything(BLUE, utility)
    decay, load, deadline = (table(f"figure-{number}", found)["ours"] for number in FIGURES)
    assert decay["SDSC-BLUE exponential", "GA"] == pytest.approx(1.2 * 0.4 * 1.2)
    assert decay["SDSC-BLUE exponential", "GA / Prio"] == pytest.approx(1.2 / 1.1 * 1.2)
    assert decay["SDSC-BLUE linear", "GA / mean of the others"] == pytest.approx(3 * 1.2 / 2.9)
    assert load["SDSC-BLUE 1.2", "EASY"] == pytest.approx(1 / 1.2)
    assert deadline["SDSC-BLUE 1", "Prio"] == pytest.approx(0.55)


def test_figures_of_accuracy() -> None:
    """More utility and less slowdown are improvements; they reproduce if they move as in the tables."""

    def told(given: dict[str, Any], seed: int, measure: str, x: str) -> float:
        exact = given.get("predictor") == "exact"
        return 2.0 if exact and measure == "aggregate utility" else 0.5 if exact else 1.0

    found = everything(BLUE, told)
    utilities, slowdowns = table("figure-4.5", found), table("figure-4.6", found)
    assert utilities["ours"].tolist() == [100] * 4
    assert utilities["printed"].tolist() == ["17", "-2", "7", "4"]
    assert utilities["is_reproduced"].tolist() == [True, False, True, True]
    assert slowdowns["ours"].tolist() == [50] * 4
    assert slowdowns["is_reproduced"].tolist() == [True, False, False, False]
    cell = statement(found, "Figure 4.5: told run times, all but EASY gain")
    assert (cell["ours"], cell["is_reproduced"]) == (3, False)


def test_statements_of_chapter_4() -> None:
    """In a world that is as the text says, but for what it says of percentages."""
    found = everything(BLUE, utility)
    for words in ("GA earns more than Prio", "least where utility falls exp", "GA is ahead", "the higher the load"):
        assert statement(found, words)["is_reproduced"], words
    assert statement(found, "more the later functions end")["ours"] == 4
    assert statement(found, "GA outperforms EASY by 14 %")["ours"] == pytest.approx(20)
    assert not statement(found, "GA outperforms EASY by 14 %")["is_reproduced"]
    assert statement(found, "GA outperforms Prio by 6 %")["is_reproduced"]

    def upside_down(given: dict[str, Any], seed: int, measure: str, x: str) -> float:
        return 1 / utility(given, seed, measure, x) if measure != "wait" else 1.0

    turned = everything(BLUE, upside_down)
    for words in ("GA earns more than Prio", "least where utility falls exp", "the higher the load", "later functions"):
        cell = statement(turned, words)
        assert not cell["is_reproduced"], words
        assert cell["note"] == "unexplained"
    assert statement(everything(MINE, upside_down), "the higher the load")["note"] == "of another log than the paper's"


def test_starving_and_trials() -> None:
    """GA's longest wait is beyond the others', its 98 % mark is not; how far runs of it differ."""

    def value(given: dict[str, Any], seed: int, measure: str, x: str) -> float:
        is_bred = given["policy"] == "genetic"
        if measure == "wait":
            return 100.0 * (3 if is_bred and x == "100" else 1)
        return 100.0 + given["trial"]

    found = everything(BLUE, value)
    starving = statement(found, "starve")
    assert (starving["ours"], starving["is_reproduced"]) == (3, True)
    varies = statement(found, "hardly varies")
    assert varies["ours"] == pytest.approx(100 * 3.0277 / 104.5, rel=1e-4)
    assert not varies["is_reproduced"]


@pytest.mark.parametrize("both", [1.4, 1.0])
def test_figure_6_6(both: float) -> None:
    """Three printed improvements stand beside ours, and two statements judge them."""

    def value(given: dict[str, Any], seed: int, measure: str, x: str) -> float:
        if given["policy"] == "genetic-checkpoint" and measure != "jobs":
            return (both if given["damping"] == "both" else 1.05) * (1 + seed)
        return {"genetic": 1.25, "conservative": 1.1}.get(given["policy"], 1.0) * (1 + seed)

    found = everything(DATASTAR, value)
    cells = table("figure-6.6", found).loc["SDSC-DS GA-ckpt both"]
    assert cells["printed"].tolist()[1:4] == ["16", "23", "34"]
    assert cells["ours"].tolist()[1:4] == pytest.approx([100 * (both / base - 1) for base in (1.25, 1.1, 1.0)])
    assert cells.loc["over GA", "is_reproduced"] == (both > 1.25)
    for words in ("earns most where it is damped most", "damped most, earns more than GA"):
        assert statement(found, words)["is_reproduced"] == (both > 1.25)
    assert table("figure-6.6", found)["ours"].notna().all()


def test_the_survey() -> None:
    """Published shares beside those of a synthetic survey, which is said."""
    rows = [(DATASTAR, SURVEY["answers"].text, str(number), "", "share of responses", 16.0) for number in range(7)]
    rows += [(DATASTAR, SURVEY["answers"].text, "intervals", "", "median", 20.0)]
    found = Measurements(pd.DataFrame(rows, columns=["log", "experiment", "subject", "x", "measure", "value"]))
    cells = table("6.1", found).xs("share of responses", level="column")
    assert cells["printed"].tolist() == ["16", "40", "31", "2", "7", "0", "4"]
    assert cells["is_reproduced"].tolist() == [True] + [False] * 6
    assert cells["reading"].str.startswith("of a synthetic survey").all()
    assert not statement(found, "median interval")["is_reproduced"]
    assert statement(found, "16 % of the answers")["is_reproduced"]


def test_nothing_was_measured() -> None:
    """Statements cannot be decided, and the page and every picture can be made."""
    for log in (BLUE, DATASTAR, MINE):
        table_of = pd.DataFrame([(log, "x", "jobs", "", "jobs", 0.0)])
        table_of.columns = pd.Index(["log", "experiment", "subject", "x", "measure", "value"])
        cells = compare(PAPER, PAPER.tables, Measurements(table_of))
        assert cells.loc[cells["row"] == "statement", "is_reproduced"].isna().all()
        assert "nan" not in as_markdown(PAPER, PAPER.tables, cells)
        for picture in PAPER.pictures.values():
            assert isinstance(picture(table_of), Figure)


def test_pictures() -> None:
    """A bar a policy in each group, as high as the mean over draws; those of the checkpoint-aware policy alike."""
    blue, star = everything(BLUE, utility), everything(DATASTAR, utility)
    axes = PAPER.pictures["figure_4_1"](blue.table).axes[0]
    bars = [patch.get_height() for patch in axes.patches]  # type: ignore[attr-defined]
    assert len(bars) == 16
    assert bars[::4] == pytest.approx([0.8, 1.0, 1.1, 1.2])
    assert len(PAPER.pictures["figure_4_5"](blue.table).axes[0].patches) == 12
    assert len(PAPER.pictures["figure_6_6"](star.table).axes[0].patches) == len(named_runs(DATASTAR, False)) == 8


def test_a_quick_figure_has_the_rows_that_are_named() -> None:
    """And a whole one has all."""
    assert list(rows_of("4.3", quick=True)) == ["0.8", "1"]
    assert list(rows_of("4.4", quick=True)) == ["1", "2", "3"] == list(rows_of("4.4", quick=False))
    assert all(list(rows_of(figure, quick=False)) == list(FIGURES[figure].rows) for figure in FIGURES)
