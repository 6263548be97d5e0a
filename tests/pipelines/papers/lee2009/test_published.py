# SPDX-License-Identifier: BSD-3-Clause
"""The published tables of Lee 2009, held against each other and what the text of the paper says of them."""

from __future__ import annotations

import pytest

from pipelines.papers import find_paper

TABLES = {table.number: table.printed for table in find_paper("lee2009").tables if table.printed}
ONE, TWO = TABLES["4.1"], TABLES["4.2"]


def test_shape() -> None:
    """Four policies by 17 measures; seven choices."""
    assert list(TABLES) == ["4.1", "4.2", "6.1", "6.2", "readings"]
    for table in (ONE, TWO):
        assert list(table) == ["Cons", "EASY", "Prio", "GA"]
        assert {len(row) for row in table.values()} == {17}
        assert all(text for row in table.values() for text in row.values())
    assert list(TABLES["6.1"]) == list(TABLES["6.2"]) == list("0123456")


def test_percentiles_are_in_order() -> None:
    """Waits and expansion factors rise, what jobs earned falls."""
    for table in (ONE, TWO):
        for row in table.values():
            for name, sign in (("wait", 1), ("expansion", 1), ("earned", -1)):
                marks = [sign * float(row[f"{name} {mark} %"]) for mark in (25, 50, 75, 98, 100)]
                assert marks == sorted(marks)


def test_what_the_text_says() -> None:
    """Sections 4.2 and 4.6; with run times all but EASY gain by utility, all but Cons lose by slowdown."""
    for other, percent in (("Cons", 53), ("EASY", 14), ("Prio", 6)):
        ratio = float(ONE["GA"]["aggregate utility"]) / float(ONE[other]["aggregate utility"])
        assert 100 * (ratio - 1) == pytest.approx(percent, abs=3)
    gain = {name for name in ONE if float(TWO[name]["aggregate utility"]) > float(ONE[name]["aggregate utility"])}
    lose = {name for name in ONE if float(TWO[name]["slowdown"]) > float(ONE[name]["slowdown"])}
    assert gain == {"Cons", "Prio", "GA"}
    assert lose == {"EASY", "Prio", "GA"}


def test_the_survey() -> None:
    """The column sums to 1,365, and shares are those of the numbers."""
    responses = [int(row["responses"]) for row in TABLES["6.1"].values()]
    assert sum(responses) == 1365
    assert [round(100 * count / 1365) for count in responses] == [
        int(row["share of responses"]) for row in TABLES["6.1"].values()
    ]
    hours = [float(row["node-hours"]) for row in TABLES["6.2"].values()]
    assert sum(hours) == pytest.approx(65953.72, abs=0.05)
    assert round(100 * hours[0] / sum(hours)) == int(TABLES["6.2"]["0"]["share of node-hours"])


def test_single_values() -> None:
    """As printed, digits and all."""
    assert ONE["EASY"]["wait 100 %"] == "116552"
    assert ONE["GA"]["aggregate utility"] == "1.35e09"
    assert ONE["Prio"]["expansion 50 %"] == "1.0"
    assert TWO["GA"]["earned 75 %"] == "0.003"
    assert TABLES["6.2"]["4"]["share of node-hours"] == "<1"
