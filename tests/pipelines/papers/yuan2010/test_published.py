# SPDX-License-Identifier: BSD-3-Clause
"""The published tables of Yuan et al. 2010, held against each other and what the text of the paper says of them."""

from __future__ import annotations

import pytest

from pipelines.papers import find_paper
from pipelines.papers.yuan2010.populations import LOGS

TABLES = {table.number: table.printed for table in find_paper("yuan2010").tables if table.printed}


def value(number: str, row: str, column: str) -> float:
    """Return a published value."""
    return float(TABLES[number][row][column])


def test_shape() -> None:
    """Three logs in each, in Table 4 under two policies; every value is printed."""
    assert list(TABLES) == ["1", "2", "3", "4", "5", "6", "other-program"]
    for number in ("1", "2", "3", "5", "6"):
        assert list(TABLES[number]) == list(LOGS)
    assert list(TABLES["4"]) == [f"{log} {policy}" for log in LOGS for policy in ("EASY", "PV-EASY")]
    assert all(text for number in "123456" for cells in TABLES[number].values() for text in cells.values())


def test_tables_1_and_4_are_of_one_schedule() -> None:
    """They print the same blocked jobs under EASY, fewer than under PV-EASY; and more backfilled ones."""
    for log in LOGS:
        assert TABLES["1"][log]["blocked jobs"] == TABLES["4"][f"{log} EASY"]["blocked jobs"]
        assert value("4", f"{log} EASY", "blocked jobs") < value("4", f"{log} PV-EASY", "blocked jobs")
        assert value("4", f"{log} EASY", "backfilled jobs") > value("4", f"{log} PV-EASY", "backfilled jobs")


def test_jobs_are_those_of_table_3() -> None:
    """Table 4 counts them again, and the rate of Table 6 is a share of them."""
    for log in LOGS:
        jobs = TABLES["3"][log]["jobs"]
        assert {TABLES["4"][f"{log} {policy}"]["all jobs"] for policy in ("EASY", "PV-EASY")} == {jobs}
        assert 100 * value("6", log, "preempted jobs") / float(jobs) == pytest.approx(
            value("6", log, "rate"), abs=0.005
        )


def test_load_is_that_of_the_jobs_and_what_was_wasted() -> None:
    """Tables 3 and 5, whose times end with the last submission and the last end."""
    for log in LOGS:
        useful = value("5", log, "total load") - value("5", log, "wasted load")
        assert useful == pytest.approx(value("3", log, "load"), abs=0.25)


def test_what_the_text_says() -> None:
    """Abstract, and sections 1, 3.1, 3.2 and 5.2.4."""
    shares = [value("1", log, "delayed jobs") / value("1", log, "blocked jobs") for log in LOGS]
    assert all(0.17 <= share <= 0.2 for share in shares)  # "around 20 %"
    assert [round(value("1", log, "mean delay")) for log in LOGS] == [80, 169, 133]
    assert max(value("1", log, "longest delay") for log in LOGS) == 90.7
    assert [TABLES["2"][log]["jobs"] for log in LOGS] == ["92", "407", "152"]  # "92~407"
    assert [value("2", log, "mean slowdown increment") for log in LOGS] == [4.78, 36.13, 40.78]
    assert max(value("2", log, "largest slowdown increment") for log in LOGS) == 1581
    assert max(value("2", log, "longest delay") for log in LOGS) == 32.9
    assert all(value("2", log, "mean delay") > 100 for log in LOGS)
    assert [value("3", log, "load") for log in ("SDSC-DS", "SDSC-BLUE")] == [63.02, 76.21]
    wasted = [value("5", log, "wasted load") for log in LOGS]
    assert (min(wasted), max(wasted)) == (2.48, 5.66)
    assert [value("6", log, "mean kills") for log in LOGS] == [1.72, 1.46, 1.62]
    rates = [value("6", log, "rate") for log in LOGS]
    assert (min(rates), max(rates)) == (7.77, 13.17)


def test_single_values() -> None:
    """As printed, digits and all."""
    assert TABLES["1"]["SDSC-BLUE"] == {
        "delayed jobs": "1770",
        "blocked jobs": "10409",
        "mean delay": "169.08",
        "longest delay": "90.70",
    }
    assert list(TABLES["2"]["SDSC-DS"].values()) == ["152", "680.33", "110.69", "40.78", "16.62", "1581.00"]
    assert TABLES["3"]["SDSC-DS"]["mean parallelism"] == "60.9240"
    assert TABLES["3"]["CTC"]["duration"] == "Jun 1996 ~ May 1997"
    assert TABLES["5"]["CTC"] == {"total load": "68.6166", "wasted load": "2.48"}
    assert list(TABLES["6"]["SDSC-BLUE"].values()) == ["17364", "7.77", "1.46", "48.27"]
