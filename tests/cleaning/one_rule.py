# SPDX-License-Identifier: BSD-3-Clause
"""One cleaning rule applied to a drawn trace, and what it did held against a table."""

from __future__ import annotations

from typing import Any

from swftools import clean
from swftools.cleaning import CleaningReport
from swftools.trace import Trace
from tests.drawn import draw_trace, rows_of, table_of


def apply(table: str, rule: str, *, header: str = "", **parameters: Any) -> tuple[Trace, CleaningReport]:
    """Clean a drawn trace by one rule."""
    return clean(draw_trace(table, header=header), [{"rule": rule, **parameters}])


def check(result: tuple[Trace, CleaningReport], expected: str, **counts: Any) -> None:
    """Hold the jobs kept against a table, and the step's counts against those given; others are 0."""
    trace, report = result
    assert rows_of(expected) == table_of(trace, expected)
    step = report.steps.iloc[-1]
    names = ("quarantined", "merged", "repaired", "flagged")
    assert {**dict.fromkeys(names, 0), **{n: c for n, c in counts.items() if n in names}} == {n: step[n] for n in names}
    remark = counts.get("remark")
    assert remark == step["remark"] if remark else step.isna()["remark"]
