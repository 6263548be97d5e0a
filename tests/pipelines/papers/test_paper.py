# SPDX-License-Identifier: BSD-3-Clause
"""What a paper is made of, and how its cells are compared and shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path

import pandas as pd
import pytest

from pipelines.papers.cells import compare
from pipelines.papers.entries import Entry, made_of
from pipelines.papers.paper import (
    Cell,
    Experiment,
    Measurements,
    Paper,
    PaperTable,
    Printed,
    Run,
    Within,
    find_paper,
    list_papers,
    measured,
    read_tables,
)
from pipelines.papers.report import as_markdown, summary_lines
from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.parameters import Parameters, choice, whole
from swftools.tables import to_arrow, to_pandas
from swftools.trace import Trace


@dataclass(frozen=True)
class Counting(Parameters):
    """What is counted, and how often."""

    NAME = "count"
    what: str = choice("jobs", "queues")
    times: int = whole(1)


RUN = Run("count", Counting("queues"))


def measure(trace: Trace, parameters: Counting, seed: int) -> pd.DataFrame:
    """Count."""
    return measured([(parameters.what, "", "number", float(len(trace) * parameters.times + seed))])


def paper(*cells: Cell, is_list: bool = False, place: str = "Table 1") -> Paper:
    """Return a paper of these cells."""

    def yielded(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
        assert found.logs == ["a"]
        assert printed == {"row": {"column": "1.0"}}
        assert quick
        yield from cells

    table = PaperTable("1", place, "Some numbers", lambda log, quick: [RUN, RUN], yielded, PRINTED, is_list=is_list)
    return Paper("toy2027", "A. Toy: Numbers, 2027", 1, ["a"], {"count": Experiment(measure, Counting)}, [table])


PRINTED = {"row": {"column": "1.0"}}
FOUND = Measurements(
    pd.DataFrame(
        [
            ("a", RUN.text, 0, "queues", "", "number", 3.0),
            ("a", RUN.text, 1, "queues", "", "number", 5.0),
            ("a", RUN.text, 0, "queues", "2000-01", "number", 7.0),
            ("a", RUN.text, 0, "more", "", "number", None),
        ],
        columns=["log", "experiment", "seed", "subject", "x", "measure", "value"],
    )
)
CELL = Cell("row", "column", 1.5, "a number", printed="1.0", rule=Within(0.5))


def compared(*cells: Cell) -> pd.DataFrame:
    """Return the cells as a table of the dictionary."""
    made = paper(*cells)
    return compare(made, made.tables, FOUND, quick=True)


@pytest.mark.parametrize(
    ("rule", "ours", "holds", "text"),
    [
        (Within(0.005), 0.945, True, "within 0.005"),
        (Within(0.005), 0.9451, False, "within 0.005"),
        (Within(0.005), 0.9349, False, "within 0.005"),
        (Within(relative=0.05), 0.987, True, "within 5 % of it"),
        (Within(relative=0.05), 0.98701, False, "within 5 % of it"),
        (Within(0.01, 0.05), 0.98, True, "within 0.01 or 5 % of it"),
        (Within(0.05, 0.01), 0.98, True, "within 0.05 or 1 % of it"),
        (Within(0.03, 0.01), 0.98, False, "within 0.03 or 1 % of it"),
    ],
)
def test_a_rule(rule: Within, ours: float, holds: bool, text: str) -> None:
    """Either limit is enough, and what lies on it is within; beside .94."""
    assert (rule.holds(ours, 0.94), rule.text) == (holds, text)


def test_a_rule_of_negative_values() -> None:
    """The limit is of their size."""
    assert Within(relative=0.1).holds(-10.9, -10.0)
    assert not Within(relative=0.1).holds(-8.9, -10.0)


def test_a_run_is_known_by_all_its_parameters() -> None:
    """And told by those that are not as usual."""
    assert (RUN.text, RUN.short_text) == ("count:what=queues,times=1", "count:what=queues")
    assert Run("count", Counting()).short_text == "count"


def test_measurements() -> None:
    """The mean over seeds; curves by their place; what was not measured is NaN."""
    assert FOUND.value("a", RUN, "queues", "number") == 4.0
    assert FOUND.values("a", RUN, "queues", "number") == [3.0, 5.0]
    assert FOUND.value("a", RUN, "queues", "number", "2000-01") == 7.0
    for other in (("b", RUN, "queues", "number"), ("a", Run("count", Counting()), "queues", "number")):
        assert isnan(FOUND.value(*other))
    assert isnan(FOUND.value("a", RUN, "more", "number"))
    assert FOUND.subjects("a", RUN) == ["queues", "more"]


def test_runs_are_planned_once() -> None:
    """Though several tables need them."""
    made = paper(CELL)
    assert made.runs([*made.tables, *made.tables], "a", quick=False) == [RUN]


def test_a_table_by_number() -> None:
    """One, all, or a message with those that there are."""
    made = find_paper("nurmi2009")
    assert [table.number for table in made.chosen_tables("4.1")] == ["4.1"]
    assert made.chosen_tables("") == list(made.tables)
    message = r"paper nurmi2009 has no table '4.3' here; there are: 3.2, 4.1, 4.2, .*; did you mean 4.2\?"
    with pytest.raises(ParameterError, match=message):
        made.chosen_tables("4.3")


def test_a_paper_by_name() -> None:
    """Or a message."""
    assert list_papers()["nurmi2009"] is find_paper("nurmi2009")
    with pytest.raises(ParameterError, match=r"no paper 'nurmi2008'; there are: .*; did you mean nurmi2009\?"):
        find_paper("nurmi2008")
    with pytest.raises(ParameterError, match="module 'no_such_module' cannot be imported"):
        find_paper("no_such_module:mine")


def test_tables_are_listed_and_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in the order of the list, with what is printed; a table that is only one of both is a mistake."""
    published = tmp_path / "listed_paper" / "published"
    published.mkdir(parents=True)
    (tmp_path / "listed_paper" / "__init__.py").write_text("", encoding="utf-8")
    (published / "tables.csv").write_text(
        "paper,number,place,title,values,form\ntoy,2,Table 2,Some numbers,table_2.csv,grid\n"
        'other,9,Table 9,Others,,grid\ntoy,says,Section 1,"What it says, in words",,list\n',
        encoding="utf-8",
    )
    (published / "table_2.csv").write_text("row,column\nrow,1.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    made = made_of(lambda log, quick: [Entry("row", "column", RUN, "number", "a number", subject="queues")])
    first, second = read_tables("listed_paper", "toy", {"says": made, "2": made})
    assert (first.number, first.place, first.title, first.printed, first.is_list) == (
        "2",
        "Table 2",
        "Some numbers",
        {"row": {"column": "1.0"}},
        False,
    )
    assert (second.title, second.printed, second.is_list) == ("What it says, in words", {}, True)
    with pytest.raises(ParameterError, match=r"tables\.csv: toy lists other tables than are made: \['3', 'says'\]"):
        read_tables("listed_paper", "toy", {"2": made, "3": made})


def test_a_table_of_entries() -> None:
    """They are planned, unless tables share runs, and shown with what is printed at their place."""

    def entries(log: str, quick: bool) -> list[Entry]:
        return [Entry("row", "column", RUN, "number", "a number", subject="queues")] if log == "a" else []

    plan, cells = made_of(entries)
    (cell,) = cells(FOUND, PRINTED, False)
    assert (cell.row, cell.ours, cell.printed, list(plan("a", False)), list(plan("b", False))) == (
        "row",
        4.0,
        "1.0",
        [RUN],
        [],
    )
    shared = [Run("count", Counting()), RUN]
    plan, _ = made_of(entries, shared)
    assert (list(plan("a", False)), list(plan("b", False))) == (shared, [])


def test_a_cell_beside_what_is_printed() -> None:
    """Difference, ratio, rule and verdict."""
    row = compared(CELL).iloc[0]
    assert row[["paper", "place", "printed", "published", "ours"]].tolist() == ["toy2027", "Table 1", "1.0", 1.0, 1.5]
    assert row[["difference", "ratio", "rule", "is_reproduced"]].tolist() == [0.5, 1.5, "within 0.5", True]
    assert pd.isna(row["note"])
    other = compared(replace(CELL, ours=1.6)).iloc[0]
    assert other[["is_reproduced", "note"]].tolist() == [False, "unexplained"]
    assert compared(replace(CELL, ours=1.6, why="a slip")).iloc[0]["note"] == "a slip"
    assert pd.isna(compared(replace(CELL, why="a slip")).iloc[0]["note"])


@pytest.mark.parametrize(
    "cell",
    [replace(CELL, rule=None), replace(CELL, printed=None), replace(CELL, ours=nan), replace(CELL, printed="much")],
    ids=["no rule", "not printed", "not measured", "no number"],
)
def test_what_cannot_be_compared(cell: Cell) -> None:
    """Has neither rule nor verdict, also where it was published and is read again."""
    table = compared(cell)
    assert table[["rule", "is_reproduced", "note"]].isna().all(axis=None)
    again = to_pandas(to_arrow(table, "reproduction"), "reproduction")
    assert again["is_reproduced"].isna().all()
    assert list(again) == list(table_fields("reproduction"))


def test_a_ratio_to_nothing() -> None:
    """Is missing."""
    assert isnan(compared(replace(CELL, printed="0.00")).iloc[0]["ratio"])


def test_a_statement_has_its_own_verdict() -> None:
    """No rule decides."""
    cell = Cell("statement", "words", 3.0, "how many", printed="5 of 5", reproduces=False)
    row = compared(cell).iloc[0]
    assert row[["printed", "is_reproduced", "note"]].tolist() == ["5 of 5", False, "unexplained"]
    assert isnan(row["published"])


def test_the_page() -> None:
    """Published / ours, a mark where it is another, readings and reasons."""
    made = paper(
        CELL,
        Cell("row", "other", 0.25, "another number"),
        Cell("second", "other", 0.5, "another number"),
        replace(CELL, row="second", ours=12.0, reading="by weight"),
        replace(CELL, row="third", rule=None, note="it is another machine", ours=100.0, unit="s"),
        replace(CELL, ours=1.0, reading="literally", is_chosen=False),
    )
    cells = compare(made, made.tables, FOUND, quick=True)
    assert as_markdown(made, made.tables, cells).split("\n\n", 4)[4] == (
        "## Table 1. Some numbers\n\n"
        "|  | column | other |\n| --- | ---: | ---: |\n"
        "| row | 1.0 / 1.5000 | 0.2500 |\n| second | 1.0 / 12.00 ✗ | 0.5000 |\n| third | 1.0 / 100 |  |\n\n"
        "column: a number; reproduced within 0.5.\n\nother: another number.\n\n"
        "Reading chosen for second column: by weight.\n\n"
        "Not reproduced, unexplained: second column.\n\n"
        "Not compared, since it is another machine: third.\n\n"
        "Another reading: literally.\n\n"
        "|  | column |\n| --- | ---: |\n| row | 1.0 / 1.0000 |\n"
    )
    assert summary_lines(made.tables, cells) == ["Table 1. Some numbers: 1 of 2 values reproduce"]
    assert summary_lines(made.tables, cells[:0]) == [
        "Table 1. Some numbers: not of these logs, or they have too few jobs"
    ]
    assert summary_lines(made.tables, cells[1:2]) == ["Table 1. Some numbers: nothing to compare with"]


def test_a_page_with_standard_errors() -> None:
    """Behind our values where the paper wants them, as many digits as there; else they are in the table alone."""
    made = paper(
        replace(CELL, spread=0.25),
        Cell("row", "other", 438.4, "a wait", unit="s", spread=12.6),
        Cell("row", "share", 95.386, "a share", unit="%", spread=0.0251),
        Cell("row", "none", nan, "none", spread=0.5),
    )
    cells = compare(made, made.tables, FOUND, quick=True)
    plain = as_markdown(made, made.tables, cells)
    assert "±" not in plain
    told = as_markdown(replace(made, tells_errors=True), made.tables, cells)
    assert "| row | 1.0 / 1.5000 ± 0.2500 | 438 ± 13 | 95.39 ± 0.03 |  |\n" in told
    assert "Behind ± is the standard error of ours.\n" in told
    (said,) = paper(Cell("statement", "much is", 0.5, "share", printed="much", spread=0.1), is_list=True).tables
    cells = compare(made, [said], FOUND, quick=True)
    assert "| much | 0.5000 ± 0.1000 |" in as_markdown(replace(made, tells_errors=True), [said], cells)


def test_a_page_of_statements() -> None:
    """A line each, with what decides."""
    made = paper(
        Cell("statement", "all is well", 3.0, "of 3", unit="queues", printed="always", reproduces=True),
        Cell("statement", "nothing is", nan, "of none", unit="queues", printed="never"),
        Cell("statement", "much is", 0.5, "share", printed="> 0.9", reproduces=False, note="a slip"),
        is_list=True,
        place="ours alone",
    )
    cells = compare(made, made.tables, FOUND, quick=True)
    assert as_markdown(made, made.tables, cells, "##").split("\n\n", 4)[4] == (
        "### Some numbers\n\n| statement | published | ours | which is | holds |\n| --- | --- | ---: | --- | --- |\n"
        "| all is well | always | 3 | of 3 | yes |\n| nothing is | never |  | of none |  |\n"
        "| much is | > 0.9 | 0.5000 | share; a slip | no |\n"
    )
    assert summary_lines(made.tables, cells) == ["Some numbers: 1 of 2 statements hold"]
