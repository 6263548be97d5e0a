# SPDX-License-Identifier: BSD-3-Clause
"""How statements of Chiang and Vasupongayya 2008 are judged, of measures made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isnan

import pandas as pd
import pytest

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.chiang2008 import curves
from pipelines.papers.chiang2008.classes import class_wait
from pipelines.papers.chiang2008.curves import STRICT_MAXW, STRICT_TW, Curve, curve_runs
from pipelines.papers.chiang2008.decisions import OBJECTIVES, decisions_run
from pipelines.papers.chiang2008.figures import BEST, large
from pipelines.papers.chiang2008.months import LOGS
from pipelines.papers.chiang2008.policies import FCFS, LEXICAL, LXF, TRADEOFF, made_quick
from pipelines.papers.chiang2008.schedules import CLASS, MONTH
from pipelines.papers.chiang2008.statements import (
    MEASURED,
    STARVING_LEXICAL,
    STARVING_TRADEOFF,
    STATEMENTS,
    chosen_statements,
    given_to,
)
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Measurements, Paper, Run
from pipelines.papers.statements import PAIR_RULES, SHARES

SP2, KTH = LOGS.values()
PAPER, LARGE = find_paper("chiang2008"), find_paper("chiang2008-large")

Row = tuple[str, str, str, str, str, float]
"""Log, experiment, subject, place of a curve, measure, value."""


def measured(rows: list[Row]) -> Measurements:
    """Return what was measured."""
    return Measurements(pd.DataFrame(rows, columns=["log", "experiment", "subject", "x", "measure", "value"]))


def of_months(log: str, run: Run, **values: list[float]) -> list[Row]:
    """Return the values of measures in months 1, 2, ...; an underscore stands for a blank."""
    return [
        (log, run.text, MONTH, f"2000-{month:02}", name.replace("_", " "), value)
        for name, every in values.items()
        for month, value in enumerate(every, 1)
    ]


def of_curve(log: str, curve: Curve, kind: str, measure: str, points: Mapping[int, float]) -> list[Row]:
    """Return the points of a curve, each by the run that has it."""
    first, more = curve_runs(curve, quick=False, large=True)
    return [
        (log, (first if nodes <= 4000 else more).text, f"{kind} 2000-07", str(nodes), measure, value)
        for nodes, value in points.items()
    ]


def statements(rows: list[Row], paper: Paper = PAPER) -> pd.DataFrame:
    """Return the statements, by their words."""
    cells = compare(paper, paper.chosen_tables("statements"), measured(rows))
    return cells.set_index("column")


def the(cells: pd.DataFrame, beginning: str) -> pd.Series:
    """Return the one statement that begins so."""
    (words,) = [words for words in cells.index if words.startswith(beginning)]
    return cells.loc[words]


NOT_PUBLIC = "the paper says it of its own log, which is not public"


@pytest.mark.parametrize(
    ("rule", "holds", "fails"),
    [
        ("similar", [(90, 100), (110, 100)], [(89, 100), (111, 100)]),
        ("smaller", [(99, 100)], [(100, 100)]),
        ("larger", [(101, 100)], [(100, 100)]),
        ("much smaller", [(89, 100)], [(90, 100)]),
        ("not larger", [(110, 100), (0, 0), (1, 100)], [(111, 100), (1, 0)]),
        ("not smaller", [(100, 100)], [(99, 100)]),
    ],
)
def test_rules(rule: str, holds: list[tuple[float, float]], fails: list[tuple[float, float]]) -> None:
    """What lies on the limit is within."""
    assert all(PAIR_RULES[rule].holds(*pair) for pair in holds)
    assert not any(PAIR_RULES[rule].holds(*pair) for pair in fails)


@pytest.mark.parametrize(
    ("share", "enough", "too_few"), [("most", 14, 13), ("nearly all", 21, 20), ("all", 26, 25), ("several", 3, 2)]
)
def test_in_how_many_months(share: str, enough: int, too_few: int) -> None:
    """Of 26."""
    assert SHARES[share].holds(enough, 26)
    assert not SHARES[share].holds(too_few, 26)


def judged(
    rows: list[Row], one: Run, other: Run | float, each: str, share: str | None = None, measures: tuple[str, ...] = ()
) -> Cell:
    """Return a statement that is made up, judged by months or, where no share is given, by means."""
    by = "by_means" if share is None else "by_months"
    entry = next(each for each in STATEMENTS if each.by == by)
    statement = replace(entry, says="words", printed="most", holds=share or "all")
    given = {"one": one, "other": other, "each": each, "measures": measures or ("max wait",)}
    return statement.cell(MEASURED[by](Values(measured(rows)), **given))


ROWS = [
    *of_months(SP2, TRADEOFF, max_wait=[10, 20, 30], mean_wait=[1, 2, 3]),
    *of_months(SP2, LXF, max_wait=[11, 19, 31], mean_wait=[2, 2, 5]),
    *of_months(KTH, TRADEOFF, max_wait=[40, 50], mean_wait=[4, 6]),
    *of_months(KTH, LXF, max_wait=[41, 40], mean_wait=[5, 4]),
]


def test_a_statement_by_months() -> None:
    """Smaller in three of five; means of 20 beside 61 / 3, and 45 beside 40.5."""
    cell = judged(ROWS, TRADEOFF, LXF, "smaller", "most")
    assert (cell.ours, cell.unit, cell.reproduces, cell.printed, cell.why) == (3, "months", True, "most", NOT_PUBLIC)
    assert cell.definition == (
        "of 5 months: smaller in SDSC-SP2 2 of 3, KTH-SP2 1 of 2; mean max wait 20 beside 20.33 and 45 beside 40.5 h; "
        "it holds if in more than half of them"
    )
    assert judged(ROWS, TRADEOFF, LXF, "smaller", "all").reproduces is False


def test_a_statement_of_several_measures() -> None:
    """Each month counts once for each."""
    cell = judged(ROWS, TRADEOFF, LXF, "smaller", "most", ("max wait", "mean wait"))
    assert (cell.ours, cell.reproduces) == (2 + 1 + 2 + 1, True)
    assert cell.definition.startswith("of 10 months, each by max wait, mean wait: smaller in SDSC-SP2 4 of 6")


def test_a_statement_beside_a_number() -> None:
    """The same for all months."""
    cell = judged(ROWS, TRADEOFF, 30.0, "larger", "several")
    assert (cell.ours, cell.reproduces) == (2, False)
    assert "mean max wait 20 beside 30 and 45 beside 30 h" in cell.definition


def test_a_statement_by_means() -> None:
    """All must hold: waits of 20 and 45 h are within a tenth, more or less, of 20.3 and 40.5."""
    cell = judged(ROWS, TRADEOFF, LXF, "similar")
    assert (cell.ours, cell.unit, cell.reproduces) == (1, "means", False)
    assert judged(ROWS, TRADEOFF, LXF, "larger").ours == 1
    assert judged(ROWS[:6], TRADEOFF, 22.0, "similar").reproduces is True


def test_a_statement_of_what_was_not_measured() -> None:
    """Decides nothing; a month that only one policy has is not compared."""
    for share in ("most", None):
        cell = judged(ROWS, TRADEOFF, LEXICAL, "smaller", share)
        assert cell.reproduces is None
        assert isnan(cell.ours)
    more = [*ROWS, *of_months(SP2, LEXICAL, max_wait=[9, 9])]
    cell = judged(more, LEXICAL, TRADEOFF, "smaller", "all")
    assert (cell.ours, cell.reproduces) == (2, True)


def test_a_quick_run_stands_in_its_place() -> None:
    """Of searches with few nodes."""
    values = Values(measured(of_months(SP2, made_quick(TRADEOFF), max_wait=[7])))
    assert values.months(SP2, TRADEOFF, "max wait") == {"2000-01": 7}
    assert made_quick(LXF) is LXF


def test_every_statement_is_planned() -> None:
    """None is left without what it needs, and all words differ."""
    for paper, is_large in ((PAPER, False), (LARGE, True)):
        planned = {run.text for run in paper.runs(paper.chosen_tables("statements"), SP2, quick=False)}
        chosen = chosen_statements(is_large)
        given = [value for each in chosen for value in given_to(each, is_large).values()]
        assert {value.text for value in given if isinstance(value, Run)} <= planned
        assert len({each.says for each in chosen}) == len(chosen)
    assert all("nodes=64000" in large(run).text for run in (TRADEOFF, LEXICAL))


def test_where_nothing_was_measured() -> None:
    """All statements are there, and none is decided."""
    for paper, number in ((PAPER, 63), (LARGE, 16)):
        cells = statements([(SP2, "population", MONTH, "2000-01", "jobs", 1.0)], paper)
        assert len(cells) == number
        assert cells["is_reproduced"].isna().all()
        assert cells["ours"].isna().all()


def test_starvation() -> None:
    """Each policy must have a month beyond the limit, in either log."""
    rows: list[Row] = []
    for number, run in enumerate(STARVING_LEXICAL.values()):
        rows += of_months((SP2, KTH)[number % 2], run, max_wait=[100, 1001, 50])
    words = "Section 6.1: each policy that puts a mean first"
    assert the(statements(rows), words)[["ours", "is_reproduced"]].tolist() == [4, True]
    rows[1] = (*rows[1][:-1], 1000.0)
    cell = the(statements(rows), words)
    assert cell[["ours", "is_reproduced"]].tolist() == [3, False]
    assert cell["note"] == NOT_PUBLIC
    assert "Lexical(avgX -> T_w) 1000 h" in cell["definition"]
    rows = [row for run in STARVING_TRADEOFF.values() for row in of_months(SP2, run, max_wait=[401])]
    assert the(statements(rows), "Section 6.2: so it is by other")[["ours", "is_reproduced"]].tolist() == [6, True]


def test_how_many_wait() -> None:
    """The log with the least share decides."""
    run = decisions_run(OBJECTIVES["Tradeoff(T_w:avgX)"], quick=False)
    rows = [
        (log, run.text, "decisions", "", measure, share)
        for log, shares in ((SP2, (50.0, 70.0)), (KTH, (90.0, 69.0)))
        for measure, share in zip(("10 or more wait", "30 or fewer wait"), shares, strict=True)
    ]
    cells = statements(rows)
    assert the(cells, "Section 5.2: at most decisions")[["ours", "is_reproduced"]].tolist() == [50, True]
    assert the(cells, "Section 5.2: at 70 %")[["ours", "is_reproduced"]].tolist() == [69, False]


def strict(values: Callable[[str, str, int], float], curves_of: Mapping[str, Curve]) -> list[Row]:
    """Return curves of both kinds of months in one log, of two measures, each point by name, measure and nodes."""
    return [
        row
        for name, curve in curves_of.items()
        for kind in ("typical", "exceptional")
        for measure in ("mean bounded slowdown", "max wait")
        for row in of_curve(
            SP2, curve, kind, measure, {nodes: values(name, measure, nodes) for nodes in (100, 1000, 4000)}
        )
    ]


BAD = {"DDS-LXF": 0, "DDS-FCFS": 1, "LDS-LXF": 2, "LDS-FCFS": 3}
"""How far each algorithm is from the best."""


def test_efficiency() -> None:
    """All four come nearer to each other with more nodes, DDS-LXF being where it ends at L = 1,000."""
    rows = strict(lambda name, measure, nodes: 10 + 1000 * BAD[name] / nodes, STRICT_TW)
    cells = statements(rows)
    assert the(cells, "Section 5.2: with larger L")[["ours", "is_reproduced"]].tolist() == [4, True]
    assert "4.00 to 1.07 at L = 4000" in the(cells, "Section 5.2: with larger L")["definition"]
    assert the(cells, "Section 5.2: in the typical month")[["ours", "is_reproduced"]].tolist() == [2, True]
    assert the(cells, "Section 5.2: L of 1,000")[["ours", "is_reproduced"]].tolist() == [4, True]
    for words in ("Figures 3b and 4b", "Figure 3a", "Section 5.2: at L = 1,000 LDS-FCFS"):
        assert the(cells, words)[["ours", "is_reproduced"]].tolist() == [2, True], words
    assert "12 beside 10 (SDSC-SP2, typical, L = 1000)" in the(cells, "Figures 3b and 4b")["definition"]
    worse = strict(lambda name, measure, nodes: 10 + nodes * (4 - BAD[name]), STRICT_TW)
    cells = statements(worse)
    for words in ("Section 5.2: with larger L", "Section 5.2: L of 1,000", "Figures 3b and 4b", "Figure 3a"):
        assert the(cells, words)[["ours", "is_reproduced"]].tolist() == [0, False], words


def test_efficiency_of_the_longest_wait_first() -> None:
    """DDS-LXF is better by slowdown, and DDS-FCFS by wait, at the last L that both have."""

    def value(name: str, measure: str, nodes: int) -> float:
        return {"DDS-LXF": 20, "DDS-FCFS": 10, "LDS-LXF": 30, "LDS-FCFS": 5}[name] * (
            1 if measure == "max wait" else -1
        ) + (50 if nodes == 4000 else 0)

    cells = statements(strict(value, STRICT_MAXW))
    words_of_dds = "Figure 5b: for Strict Lexical(maxW -> avgX) DDS"
    for words in ("Figure 5a", words_of_dds, "Figure 5b: for Strict Lexical(maxW -> avgX) LDS"):
        assert the(cells, words)[["ours", "is_reproduced"]].tolist() == [1, True], words
    definition = the(cells, "Figure 5b: for Strict Lexical(maxW -> avgX) LDS")["definition"]
    assert "30 beside 20 (SDSC-SP2, exceptional, L = 1000)" in definition
    assert "60 beside 70 (SDSC-SP2, exceptional, L = 4000)" in the(cells, words_of_dds)["definition"]


def test_many_nodes() -> None:
    """The last point decides, which only the other paper has."""
    relaxed, strict_one = curves.RELAXED["relaxed DDS-FCFS"], curves.RELAXED["strict DDS-FCFS"]
    rows = []
    for curve, last in ((relaxed, 8.9), (strict_one, 10.0)):
        rows += of_curve(SP2, curve, "exceptional", "mean bounded slowdown", {4000: 10.0, 64_000: last})
        rows += of_curve(SP2, curve, "exceptional", "max wait", {4000: 10.0, 64_000: last})
    cells = statements(rows, LARGE)
    assert the(cells, "Figure 7a")[["ours", "is_reproduced"]].tolist() == [1, True]
    assert "8.9 beside 10 (SDSC-SP2, exceptional, L = 64000)" in the(cells, "Figure 7a")["definition"]
    assert the(cells, "Figure 7b")[["ours", "is_reproduced"]].tolist() == [0, False]


def test_version_a_is_steady() -> None:
    """Its largest bounded slowdown varies least over the nodes visited."""
    rows = []
    for version, values in (("A", (10, 11)), ("B", (10, 20)), ("C", (10, 12))):
        points = dict(zip((1000, 4000), map(float, values), strict=True))
        rows += of_curve(SP2, curves.VERSIONS[version], "exceptional", "max bounded slowdown", points)
    cell = the(statements(rows), "Figure 8d")
    assert cell[["ours", "is_reproduced"]].tolist() == [1, True]
    assert "SDSC-SP2 A 5 %, B 33 %, C 9 %" in cell["definition"]
    rows += of_curve(KTH, curves.VERSIONS["A"], "exceptional", "max bounded slowdown", {1000: 1.0, 4000: 9.0})
    for version in "BC":
        rows += of_curve(KTH, curves.VERSIONS[version], "exceptional", "max bounded slowdown", {1000: 1.0, 4000: 2.0})
    assert the(statements(rows), "Figure 8d")[["ours", "is_reproduced"]].tolist() == [1, False]


def of_class(run: Run, label: str, jobs: float, wait: float) -> list[Row]:
    """Return what is measured of a class of jobs."""
    return [
        (SP2, run.text, f"{CLASS}{label}", "", name, value) for name, value in (("jobs", jobs), ("mean wait", wait))
    ]


def test_the_mean_wait_of_classes() -> None:
    """Weighted by their jobs."""
    rows = [*of_class(FCFS, "<= 1 & <= 600", 1, 10), *of_class(FCFS, "(1, 8] & > 28800", 3, 2)]
    values = Values(measured([*rows, *of_class(FCFS, "> 64 & <= 600", 5, 99)]))
    assert class_wait(values, SP2, FCFS, ("<= 1", "(1, 8]")) == 4
    assert class_wait(values, SP2, FCFS, ("<= 1", "(1, 8]"), ("> 28800",)) == 2
    assert isnan(class_wait(values, SP2, FCFS, ("(8, 32]",)))


WAITS = {
    "FCFS-backfill": (30, 20, 10, 5),
    "LXF-backfill": (10, 40, 10, 5),
    "Lexical(T_w -> avgX)": (12, 30, 12, 5),
    "Tradeoff(T_w:avgX)": (11, 30, 12, 5),
}
"""Mean waits of short wide, long wide, long narrow and short narrow jobs, as the paper has them."""


def in_classes(waits: Mapping[str, tuple[float, ...]]) -> pd.DataFrame:
    """Return the statements of Figure 12."""
    labels = ("> 64 & (600, 3600]", "(8, 32] & > 28800", "(1, 8] & > 28800", "<= 1 & <= 600")
    rows = [
        row
        for name, run in BEST.items()
        for label, wait in zip(labels, waits[name], strict=True)
        for row in of_class(run, label, 10, wait)
    ]
    cells = statements(rows)
    return cells[cells.index.str.startswith("Figure 12") | cells.index.str.startswith("Figures 12")]


def test_classes_of_jobs() -> None:
    """All seven statements hold as the paper has it; and each fails where it is the other way round."""
    assert in_classes(WAITS)["is_reproduced"].tolist() == [True] * 7
    assert in_classes(WAITS)["ours"].tolist() == [1, 1, 1, 2, 2, 1, 2]
    the_other_way = {
        "FCFS-backfill": (1, 50, 10, 5),
        "LXF-backfill": (10, 20, 10, 5),
        "Lexical(T_w -> avgX)": (12, 30, 9, 5),
        "Tradeoff(T_w:avgX)": (12, 30, 9, 5),
    }
    assert in_classes(the_other_way)["is_reproduced"].tolist() == [False] * 7
