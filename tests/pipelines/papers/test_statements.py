# SPDX-License-Identifier: BSD-3-Clause
"""Statements of a paper's text: how their file is read, and whether they hold."""

from __future__ import annotations

from importlib import import_module
from math import isnan, nan
from pathlib import Path

import pytest

from pipelines.papers.statements import Outcome, Statement, counted, listed, read_statements
from swftools.errors import ParameterError

ENTRY = {"says": '"All is well"', "printed": "all", "by": "well", "holds": "all", "definition": '"of {of} days"'}


def well() -> Outcome:
    """Return what is not asked for here."""
    return counted([True])


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> list[Statement]:
    """Return the statements of a package with such a file."""
    package = tmp_path / "paper_of_tests"
    (package / "published").mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "published" / "statements.yaml").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "paper_of_tests", raising=False)
    return read_statements("paper_of_tests", [well])


def entry(**changes: str) -> str:
    """Return a file of one entry; without the keys whose value is empty."""
    given = {key: value for key, value in (ENTRY | changes).items() if value}
    return "statements:\n  - " + "\n    ".join(f"{key}: {value}" for key, value in given.items()) + "\n"


def test_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What entries have in common is theirs, unless they say something else: the nearest counts."""
    text = 'usual: {unit: days, why: rain}\nfunctions:\n  well: {unit: hours, part: one, with: {month: "5"}}\n'
    (found,) = written(tmp_path, monkeypatch, text + entry(part="two"))
    assert (found.says, found.printed, found.by, found.holds, found.definition) == (
        "All is well",
        "all",
        "well",
        "all",
        "of {of} days",
    )
    assert (found.unit, found.why, found.part, found.given) == ("hours", "rain", "two", {"month": "5"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (entry(unti="days"), r"statements\.yaml, statement 1 \(All is well\): unknown key 'unti'; did you mean unit\?"),
        (entry(printed=""), r"statements\.yaml, statement 1 \(All is well\): key 'printed' is missing"),
        (entry(says=""), r"statements\.yaml, statement 1 \(which says nothing\): key 'says' is missing"),
        (entry(holds="almost"), r"statements\.yaml, statement 1 \(All is well\): no rule 'almost'; see"),
        (entry(holds="above 1 or below 0"), r"statement 1 \(All is well\): no rule 'above 1 or below 0'"),
        (entry(by="wel"), r"statement 1 \(All is well\): nothing measures by 'wel'; did you mean well\?"),
        (entry(printed="1.5"), r"statement 1 \(All is well\): 'printed' is 1.5, not a text; put it into quotes"),
        (entry(**{"with": "5"}), r"statement 1 \(All is well\): 'with' is 5, not a mapping"),
        ("statements:\n  - all is well\n", r"statements\.yaml, statement 1: it is no mapping"),
        ("functions: {wel: {unit: days}}\n" + entry(), r"statements\.yaml: nothing measures by 'wel'"),
        ("- all\n", r"statements\.yaml: no list 'statements'"),
        ("statements: [\n", r"statements\.yaml, line 2: not readable as YAML"),
    ],
)
def test_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    """One message, with the file, the statement and the key."""
    with pytest.raises(ParameterError, match=message):
        written(tmp_path, monkeypatch, text)


def made(holds: str, **others: str) -> Statement:
    """Return a statement."""
    return Statement("words", "printed", "well", holds, **others)


@pytest.mark.parametrize(
    ("rule", "holds", "fails"),
    [
        ("within 5 of 53", [48, 58], [47.9, 58.1]),
        ("above 1", [1.1], [1]),
        ("below 1", [0.9], [1]),
        ("at least 3", [3], [2.9]),
        ("at most 2", [2], [2.1]),
        ("above 1 and at most 1.1", [1.1], [1, 1.2]),
        ("at least least", [0.5], [0.4]),
        ("if so", [1], []),
        ("if other", [], [1]),
        ("all", [4], [3]),
        ("nearly all", [4], [3]),
        ("most", [3], [2]),
        ("several", [3], [2]),
    ],
)
def test_a_rule(rule: str, holds: list[float], fails: list[float]) -> None:
    """A value on the limit is within, unless it is to be above or below; of shares here of four."""
    told = {"least": 0.5, "so": True, "other": False, "told": ""}
    for values, verdict in ((holds, True), (fails, False)):
        for value in values:
            assert made(rule).cell(Outcome(value, told, 4)).reproduces is verdict, value


def test_what_was_not_measured() -> None:
    """NaN, or of none, decides nothing; the definition may then be another."""
    for outcome in (Outcome(nan), counted([])):
        for rule in ("above 1", "below 1", "all"):
            cell = made(rule, definition="of {of} days", missing="not measured").cell(outcome)
            assert isnan(cell.ours)
            assert (cell.reproduces, cell.definition) == (None, "not measured")
    assert made("if so", definition="").cell(Outcome(0, {"so": None})).reproduces is None


def test_words_in_braces() -> None:
    """Are what the function is given and tells; what it does not tell is a mistake of the file."""
    statement = made("all", definition="of {of} days, {told}; it holds if in {share}", otherwise="in {month}")
    cell = statement.cell(listed([(True, "May"), (False, "June")], "; ", month="June"))
    assert (cell.definition, cell.note) == ("of 2 days, May; June; it holds if in all of them", "in June")
    assert statement.cell(listed([(True, "May")], month="June")).note is None
    with pytest.raises(ParameterError, match="file 3: it names 'year', which 'well' does not tell; there are: of, "):
        made("all", definition="{year}", where="file 3").cell(counted([True]))
    with pytest.raises(ParameterError, match="it names 'least', which 'well' does not tell"):
        made("at least least", definition="").cell(counted([True]))


@pytest.mark.parametrize("paper", ["barsanti2006", "chiang2008", "lee2009", "nurmi2009", "yuan2010"])
def test_each_function_is_named(paper: str) -> None:
    """By an entry of the paper's file; and no two entries of a table say the same of the same."""
    module = import_module(f"pipelines.papers.{paper}.statements")
    assert {each.by for each in module.STATEMENTS} == set(module.MEASURED)
    said = [(each.says, str(each.given), each.part) for each in module.STATEMENTS]
    assert len(set(said)) == len(said)
