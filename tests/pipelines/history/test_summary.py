# SPDX-License-Identifier: BSD-3-Clause
"""The table of waits in summary.md, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from pipelines.history import summary
from pipelines.history.settings import Settings
from pipelines.history.summary import shown_text
from swftools.tables import frame_of


def row(period: str, queue: str, known: int, covered: int, *, is_below: bool | None) -> dict[str, Any]:
    """Return a row of the table ``wait_coverage``."""
    told = {"jobs": known + 1, "told": known, "known": known, "covered": covered}
    coverage = covered / known if known else None
    of_bounds = {"coverage": coverage, "rms_over": 1.0, "tightness": 10.0 * known, "least_coverage": 0.9}
    return {"period": period, "method": "binomial", "queue": queue, **told, **of_bounds, "is_below": is_below}


ROWS = [
    row("2000-01", "all", 7, 0, is_below=True),  # a month, which is not shown
    row("last 1 day", "all", 0, 0, is_below=None),
    row("last 30 days", "all", 1000, 990, is_below=False),
    row("all", "all", 2000, 1000, is_below=True),
    row("last 30 days", "3", 1, 1, is_below=False),
    row("all", "3", 4, 3, is_below=True),
]


def run_of(rows: list[dict[str, Any]]) -> Any:
    """Return as much of a run as the table needs."""
    table = frame_of("wait_coverage", {name: [each[name] for each in rows] for name in ROWS[0]})
    return SimpleNamespace(coverage=table, settings=Settings(), name_of_group=lambda queue: f"queue {queue}")


def test_the_table() -> None:
    """What a bound covered too little of is bold; a period in which no wait was known has no share."""
    assert [line for line in shown_text(run_of(ROWS)).splitlines() if line.startswith("| binomial")] == [
        "| binomial | queue all | 0 |  |  | 1,000 | 0.9900 | 10,000.0 | 2,000 | **0.5000** | 20,000.0 |",
        "| binomial | queue 3 | 0 |  |  | 1 | 1.0000 | 10.0 | 4 | **0.7500** | 40.0 |",
    ]


def test_a_sentence_comes_first() -> None:
    """How often the bounds of each method were right, of all queues and all times."""
    first, *_ = shown_text(run_of(ROWS)).splitlines()
    assert first == (
        "* binomial: 50.0 % of 2,000 jobs waited no longer than they would have been told (95 % are meant); the bound "
        "was typically 20,000.0 times the wait."
    )


def drift_of(*beyond: bool) -> pd.DataFrame:
    """Return the drift of run times, and of widths."""
    figures = {"unit": ["s", "1"], "recent": [60.0, 4.0], "reference": [1200.0, 3.5]}
    words = {"statistic": ["kolmogorov_smirnov", "ratio_of_means"], "drift": [0.9, 1.1], "threshold": [0.3, 2.0]}
    return pd.DataFrame({"aspect": ["run_time", "width"], **figures, **words, "is_beyond": beyond})


@pytest.mark.parametrize(
    ("drift", "told"),
    [
        (drift_of(False, False), "Nothing has changed beyond its threshold. Each aspect"),
        (drift_of(True, False), "These have changed: run_time (60 after 1,200 s). Each aspect"),
    ],
)
def test_what_has_changed_is_said_in_a_sentence(drift: pd.DataFrame, told: str) -> None:
    """Before the table, whose words are those of statistics."""
    assert summary._drift(drift).startswith(told)
    assert "kolmogorov smirnov" in summary._drift(drift)


@pytest.mark.parametrize("rows", [[], [row("all", "all", 0, 0, is_below=None)]])
def test_nothing_is_known(rows: list[dict[str, Any]]) -> None:
    """Then there is no table."""
    assert shown_text(run_of(rows)).startswith("Nothing to compare: no job that was told a bound has a known wait.")
    assert isinstance(run_of(rows).coverage, pd.DataFrame)


@pytest.mark.parametrize(
    ("value", "words"),
    [(float("nan"), ""), (999.96, "1000"), (0.123456, "0.1235"), (1000.0, "1,000"), (-12345.6, "-12,346")],
)
def test_a_measure_is_short(value: float, words: str) -> None:
    """Four digits of a small one, the whole of a large one, nothing where there is none."""
    watch = pd.DataFrame([{"policy": "easy", "measure": "wait", "statistic": "mean", "value": value, "unit": "s"}])
    told = summary._policies(watch.assign(spread=value)).splitlines()[-1]
    assert told == f"| easy | wait | mean | {words} | {words} | s |"
