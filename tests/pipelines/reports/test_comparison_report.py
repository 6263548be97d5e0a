# SPDX-License-Identifier: BSD-3-Clause
"""The report on a comparison, of a table made by hand: what is logged, what is a mean, and what is drawn."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from pipelines.papers.report import _with_unit
from pipelines.reports import reservations, schedule, trace, waits
from pipelines.reports.comparison import parts
from pipelines.reports.page import _cell, _template
from pipelines.reports.report import NumberCell, ReportTable, Section
from pipelines.reports.reservations import _groups


class Version:
    """Stands for a published version."""

    data_set, version = "mine", "0123456789"

    def __init__(self, waits: dict[str, list[float]], **manifest: Any) -> None:
        rows = [
            {"policy": policy, "seed": seed, "measure": measure, "statistic": statistic, "value": value}
            for policy, values in waits.items()
            for seed, wait in enumerate(values)
            for measure, statistic, value in (("wait", "mean", wait), ("utilization", "time_mean", 0.5))
        ]
        self.table = pd.DataFrame(rows).assign(classed_by="all", job_class="all", unit="s")
        self.manifest = manifest

    def read(self, _: str) -> pd.DataFrame:
        """Return the comparison."""
        return self.table


def by_policy(waits: dict[str, list[float]], **manifest: Any) -> Section:
    """Return the part of a report by policy."""
    return next(part for part in parts(Version(waits, **manifest), None) if part.heading == "By policy")  # type: ignore[arg-type]


def test_one_seed_is_no_mean() -> None:
    """Waits are durations, which are sorted by seconds; only what differs is drawn."""
    found = by_policy({"fcfs": [7200.0], "easy": [3600.0]})
    (table,) = found.tables
    assert table.caption == ""
    assert [row[:2] for row in table.rows] == [
        ["fcfs", NumberCell(7200.0, "2 h")],
        ["easy", NumberCell(3600.0, "1 h")],
    ]
    assert [picture.chosen for picture in found.pictures] == [{"metric": "wait_mean"}]
    assert found.sentences == []


def test_several_seeds_have_intervals() -> None:
    """Not where seeds change nothing."""
    (table,) = by_policy({"fcfs": [100.0, 100.0], "easy": [1.0, 3.0]}).tables
    assert table.caption.startswith("Means over 2 seeds")
    assert [row[1].words for row in table.rows] == ["100 s", "2 s (-10.7 s to 14.7 s)"]  # type: ignore[attr-defined]


def test_what_is_logged_is_the_first_row() -> None:
    """Measures that the log has no value of stay empty; equal policies are not drawn."""
    found = by_policy({"fcfs": [60.0], "easy": [60.0]}, logged={"jobs": 1200, "wait_mean": 90.0})
    assert found.tables[0].rows[0] == ["as logged", NumberCell(90.0, "90 s"), ""]
    assert found.sentences[0].startswith("The first row is what the log has of 1,200 jobs")
    assert list(found.pictures) == []


def test_a_column_of_numbers_stands_right_though_its_first_cell_is_empty() -> None:
    """As below what is logged; and a number is not parted from its unit at the end of a line."""
    rows = ReportTable(
        ["policy", "wait", "load", "why"], [["as logged", NumberCell(7200.0, "2 h"), "", ""], ["easy", "", 0.5, "x"]]
    )
    text = _template().render(
        **dict.fromkeys(("title", "what", "scripts", "bibtex"), ""),
        words={},
        places={},
        version=Version({"easy": [1.0]}),
        other=None,
        **{name: [] for name in ("facts", "provenance")},
        parts=[(Section("One", tables=[rows]), [])],
    )
    heads = re.findall(r'<th scope="col"( class="number")?>(\w+)</th>', text)
    assert heads == [("", "policy"), (' class="number"', "wait"), (' class="number"', "load"), ("", "why")]
    assert ">2\u00a0h</td>" in text
    assert _cell(NumberCell(-60.0, "-60.1 min to 2 d")) == "-60.1\u00a0min to 2\u00a0d"


def test_times_are_told_in_units_that_people_use() -> None:
    """In figures of schedules, traces and reservations; what is no time stays a number."""
    assert schedule._figure(53_135.5, "s") == NumberCell(53_135.5, "14.8 h")
    assert trace._value("median_wait_time", 7200.0) == NumberCell(7200.0, "2 h")
    assert reservations._figure(7200.0, "makespan, s") == NumberCell(7200.0, "2 h")
    assert (schedule._figure(2.5, "1"), trace._value("jobs", 7), reservations._figure(3, "jobs")) == (2.5, 7, 3)
    (row,) = waits._by_queue(pd.DataFrame([dict.fromkeys(waits.COLUMNS, 0.9786) | {"grouped_by": "queue"}])).rows
    assert row[3] == NumberCell(0.9786, "97.9 %")


def test_headings_of_a_papers_table_name_the_unit() -> None:
    """Unless the heading says it, there is none, or rows differ."""
    units = {
        "mean delay": ["min", "min"],
        "blocked jobs": ["jobs"],
        "jobs": ["jobs"],
        "ratio": ["1"],
        "both": ["s", "h"],
    }
    told = [_with_unit(name, pd.DataFrame({"unit": each})) for name, each in units.items()]
    assert told == ["mean delay, min", "blocked jobs", "jobs", "ratio", "both"]


@pytest.mark.parametrize("groups", [["10", "9", "batch", "-1"]])
def test_groups_of_reservations_are_in_numerical_order(groups: list[str]) -> None:
    """Numbers by size, whatever they are called, then names."""
    table = pd.DataFrame({"group": groups, "is_accepted": False, "is_met": None, "why_denied": "late"})
    names = {"10": "fast", "9": "night", "batch": "batch", "-1": "-1"}
    assert [row[0] for row in _groups(table, names)] == ["-1", "night", "fast", "batch"]
