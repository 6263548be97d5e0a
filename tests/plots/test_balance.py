# SPDX-License-Identifier: BSD-3-Clause
"""The balance of a cleaning as a flow: what each step takes, and what is left."""

from __future__ import annotations

import pandas as pd
import pytest

import swftools
from swftools import Trace
from swftools.cleaning.apply import CleaningReport
from swftools.plots.balance import ROWS
from tests.plots.odd import ODD, drawn_at_both_sizes, words_on


def report(lines: int, *steps: tuple[str, int, int]) -> CleaningReport:
    """Return the report of steps that quarantine and merge so many lines."""
    rows, left = [], lines
    for rule, quarantined, merged in (("read", 0, 0), *steps):
        rows.append({"rule": rule, "jobs_in": left, "quarantined": quarantined, "merged": merged})
        left -= quarantined + merged
        rows[-1]["jobs_out"] = left
    return CleaningReport(pd.DataFrame(rows), pd.DataFrame(), pd.DataFrame())


SMALL = report(100, ("repairs", 0, 0), ("both", 10, 5), ("late", 30, 0))


def test_the_table_by_hand() -> None:
    """A row a step that takes lines away, in order, each with what is left behind it."""
    assert SMALL.plot.data("balance").values.tolist() == [
        ["read", "read", 100, 100],
        ["both", "quarantined", 10, 90],
        ["both", "merged", 5, 85],
        ["late", "quarantined", 30, 55],
        ["kept", "kept", 55, 55],
    ]


def test_what_is_drawn() -> None:
    """Each bar goes from what is left behind a step to what was there before, and has its count."""
    axes = drawn_at_both_sizes(SMALL, "balance")
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [  # type: ignore[attr-defined]
        (0, 100),
        (90, 10),
        (85, 5),
        (55, 30),
        (0, 55),
    ]
    words = words_on(axes)
    assert {"read", "both", "late", "kept", "100 read (100 %)", "10 quarantined (10.0 %)", "5 merged (5.0 %)"} <= set(
        words
    )
    assert "55 kept (55.0 %)" in words


def test_the_caption() -> None:
    """The balance, and what took most; small shares are not 0."""
    assert SMALL.plot.caption("balance") == (
        "Balance of cleaning: of 100 job lines 55 are kept (55.0 %), 40 quarantined and 5 merged; most by late "
        "(30 quarantined)"
    )
    assert report(3).plot.caption("balance").endswith("of 3 job lines 3 are kept (100 %); none was taken away")
    assert "99,999 are kept (>99.9 %), 1 merged" in report(100_000, ("x", 0, 1)).plot.caption("balance")
    assert "1 quarantined (<0.1 %)" in words_on(drawn_at_both_sizes(report(100_000, ("x", 1, 0)), "balance"))


def test_many_steps() -> None:
    """Those that take least are one bar of each kind, and nothing is lost."""
    many = report(1000, *((f"rule {place}", 30 - place, place % 2) for place in range(20)))
    table = many.plot.data("balance")
    assert len(table) == ROWS + 2
    assert table["step"].tolist()[1:-3] == [f"rule {place}" for place in range(8)]
    assert table.iloc[-3:-1].values.tolist() == [
        ["12 other steps", "quarantined", sum(30 - place for place in range(8, 20)), 590],
        ["10 other steps", "merged", 10, 580],
    ]
    assert table["lines"].iloc[1:-1].sum() + table["lines"].iloc[-1] == 1000
    drawn_at_both_sizes(many, "balance")


def test_as_many_steps_as_there_is_room_for() -> None:
    """Each is a bar of its own; of one more some are one."""
    for count in (ROWS, ROWS + 1):
        table = report(1000, *((f"rule {place}", 30 - place, 0) for place in range(count))).plot.data("balance")
        alone = [step for step in table["step"] if step.startswith("rule ")]
        assert len(alone) == (ROWS if count == ROWS else ROWS - 2)


@pytest.mark.parametrize("each", [report(0), report(5, ("all", 5, 0))])
def test_of_nothing(each: CleaningReport) -> None:
    """No line, and no line left."""
    drawn_at_both_sizes(each, "balance")
    told = each.plot.caption("balance")
    assert told.endswith("no job line was read") or "of 5 job lines 0 are kept (0 %), 5 quarantined" in told


def test_odd_names() -> None:
    """Of rules, as they are."""
    words = words_on(drawn_at_both_sizes(report(100, *((name, 1, 1) for name in ODD)), "balance"))
    assert {"$x^2$", r"\u202egnol\u202c"} <= set(words)


def test_of_a_cleaning() -> None:
    """A real report draws itself."""
    trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 5], requested_processors=[4, -1])
    _, found = swftools.clean(trace, ["missing-processors"])
    assert found.plot.names() == ["balance"]
    assert found.plot.data("balance")["lines"].tolist() == [2, 1, 1]
