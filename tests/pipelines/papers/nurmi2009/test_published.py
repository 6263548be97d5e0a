# SPDX-License-Identifier: BSD-3-Clause
"""The published tables, held against what the text of the paper says of them, and our reading of it."""

from __future__ import annotations

from pipelines.papers import find_paper
from pipelines.papers.nurmi2009.predictions import METHODS

TABLES = {table.number: table.printed for table in find_paper("nurmi2009").tables}


def correct(number: str, method: str) -> list[str]:
    """Return the rows in which a method is correct."""
    return [row for row, cells in TABLES[number].items() if float(cells[f"{method} correctness"]) >= 0.95]


def best(row: str) -> str:
    """Return the tightest of the correct methods of Table 4.2."""
    methods = [method for method in METHODS if row in correct("4.2", method)]
    return max(methods, key=lambda method: float(TABLES["4.2"][row][f"{method} RMS ratio"]), default="")


def test_shape() -> None:
    """25 queues of 13 machines, the same in both tables, which are those of Table 3.2."""
    assert list(TABLES["4.1"]) == list(TABLES["4.2"])
    assert len(TABLES["4.1"]) == 25
    machines = {row.split("/")[0] for row in TABLES["4.1"]}
    assert machines <= set(TABLES["3.2"])
    assert set(TABLES["3.2"]) - machines == {"iuteragrid", "ornlteragrid"}
    for number in ("4.1", "4.2"):
        assert {cells["BM RMS ratio"] for cells in TABLES[number].values()} == {"1.00"}
        shares = [float(cells[f"{method} correctness"]) for cells in TABLES[number].values() for method in METHODS]
        assert all(0.4 <= share <= 1.0 for share in shares)


def test_what_the_text_says_of_table_4_1() -> None:
    """Section 4.3.3: the log-uniform method alone is correct for all."""
    assert [method for method in METHODS if len(correct("4.1", method)) == 25] == ["LogU"]


def test_what_the_text_says_of_table_4_2() -> None:
    """Section 4.3.3: binomial correct 22 times, and tighter wherever log-uniform is correct too; best in 15."""
    assert len(correct("4.2", "BM")) == 22
    both = set(correct("4.2", "BM")) & set(correct("4.2", "LogU"))
    assert len(both) == 21
    slower = [row for row in both if float(TABLES["4.2"][row]["LogU RMS ratio"]) >= 1.0]
    assert slower == []
    leads = [best(row) for row in TABLES["4.2"]]
    assert {method: leads.count(method) for method in METHODS} == {"BM": 15, "LogN": 2, "LogU": 2, "Weib": 5}


def test_single_values() -> None:
    """As printed, digits and all."""
    assert TABLES["3.2"]["ctc"] == {"jobs": "77216", "mean": "25541", "median": "2197", "standard deviation": "93617"}
    assert TABLES["4.1"]["ctc/ALL"]["LogN RMS ratio"] == "0.48"
    assert TABLES["4.2"]["sdscblue/express"]["Weib correctness"] == "0.94"
    assert TABLES["4.1"]["tsubame/high"]["LogN RMS ratio"] == "210.66"
