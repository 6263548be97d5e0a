# SPDX-License-Identifier: BSD-3-Clause
"""Shares of users and queues: what they are of, their order, who is among the others, and odd names."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest

from swftools.header import SwfHeader
from swftools.plots import caption, data, plot
from swftools.trace import Trace

ODD = [
    "; Queue: 0 interactive (2hr / 8 nodes)",
    "; Queue: 1 $x^2$",
    "; Queue: 2 <script>",
    "; Queue: 3 \u202egnol",
    "; Queue: 4 $\\frac$",
    "; Queue: 5 _hidden",
    "; Queue: 6 (all)",
    "; Queue: 7   ",
]


def of(user: list[int], run_time: list[float], queue: list[int] | None = None, lines: list[str] | None = None) -> Trace:
    """Return a trace of jobs on two processors by user, run time and queue."""
    return Trace.from_columns(
        SwfHeader.from_lines(lines or []),
        job_number=range(len(user)),
        user_id=user,
        queue_id=queue or [-1] * len(user),
        run_time=run_time,
        requested_processors=[2] * len(user),
    )


def labels(trace: Trace, name: str, **parameters: object) -> list[str]:
    """Return the labels of the rows, from the top."""
    return [each.get_text() for each in plot(trace, name, **parameters).get_yticklabels()]


def test_shares() -> None:
    """Of all jobs and of all work, also of those without user or without work; the most work first."""
    trace = of([7, 7, 0, 9, -1, 9, 7, 0], [10, 10, 30, -1, 20, 0, -1, 30])
    found = data(trace, "users").drop(columns="name")
    assert found.astype(object).where(found.notna(), None).to_dict("list") == {
        "number": [0, 7, 9, None],
        "members": [1, 1, 1, 0],
        "jobs": [2, 3, 2, 1],
        "work": [120, 40, 0, 40],
        "share_of_jobs": [0.25, 0.375, 0.25, 0.125],
        "share_of_work": [0.6, 0.2, 0, 0.2],
    }
    assert data(trace, "users", by="jobs")["number"].tolist()[:3] == [7, 0, 9]
    assert labels(trace, "users") == ["0", "7", "9", "not known"]
    assert caption(trace, "users") == (
        "Users: 3 users; user 0 has 25.0 % of the jobs and 60.0 % of the work; "
        "of no known user: 12.5 % of the jobs and 20.0 % of the work"
    )


def test_the_rest_are_others() -> None:
    """One row in the end, unless it would be of one only."""
    trace = of([1, 2, 3, 4, -1], [50, 30, 10, 10, 100])
    found = data(trace, "users", most=2)
    assert found["number"].tolist() == [1, 2, pd.NA, pd.NA]
    assert found["members"].tolist() == [1, 1, 2, 0]
    assert found["share_of_jobs"].tolist() == [0.2, 0.2, 0.4, 0.2]
    assert found["share_of_work"].tolist() == [0.25, 0.15, 0.1, 0.5]
    assert labels(trace, "users", most=2) == ["1", "2", "2 others", "not known"]
    assert "4 users; user 1 has 20.0 % of the jobs and 25.0 % of the work, the first 2 together 40.0 %" in caption(
        trace, "users", most=2
    )
    assert data(trace, "users", most=3)["members"].tolist() == [1, 1, 1, 1, 0]
    assert data(trace, "users", most=4).equals(data(trace, "users", most=3))


def test_many_others_are_words() -> None:
    """Beside their bar that of one user could not be seen; few others have a bar."""
    axes = plot(of(list(range(40)), [1] * 40), "users", size="column")
    assert [each.get_text().strip() for each in axes.texts] == ["70.0 % of the jobs and 70.0 % of the work"]
    assert axes.texts[0].get_position() == (0, 12)
    assert axes.get_xlim()[1] < 3
    assert not plot(of([1, 1, 2, 3], [1] * 4), "users", most=1).texts


def test_bars() -> None:
    """Jobs above work, in percent, from the top."""
    axes = plot(of([1, 1, 2], [1, 1, 6]), "users")
    bars = [(bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in axes.patches]  # type: ignore[attr-defined]
    jobs, work = bars[:2], bars[2:]
    assert jobs == [(-0.2, pytest.approx(100 / 3)), (pytest.approx(0.8), pytest.approx(200 / 3))]
    assert work == [(0.2, 75), (1.2, 25)]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_no_work() -> None:
    """Where no run time is known, only jobs are told and drawn."""
    trace = of([1, 1, 2], [-1, -1, -1])
    assert data(trace, "users")["share_of_work"].isna().all()
    assert caption(trace, "users") == "Users: 2 users; user 1 has 66.7 % of the jobs"
    assert len(plot(trace, "users").patches) == 2


def test_names_of_queues() -> None:
    """By header or names of the log, harmless and in one piece; without what is in brackets; else their number."""
    trace = of([1] * 9, [9, 8, 7, 6, 5, 4, 3, 2, 1], queue=list(range(9)), lines=ODD)
    expected = ["interactive", "$x^2$", "<script>", "\\u202egnol", "$\\frac$", "_hidden", "(all)", "7", "8"]
    assert labels(trace, "queues") == expected
    assert data(trace, "queues")["name"].tolist()[:2] == ["interactive (2hr / 8 nodes)", "$x^2$"]
    assert (
        caption(trace, "queues") == "Queues: 9 queues; queue interactive has 11.1 % of the jobs and 20.0 % of the work"
    )
    for size in ("screen", "column"):  # where the style is no longer in force
        plot(trace, "queues", size=size).get_figure().savefig(BytesIO(), format="svg")  # type: ignore[union-attr]


def test_names_of_the_log_go_first() -> None:
    """Those of users are no names of queues; a long one is cut."""
    names = pd.DataFrame({"kind": ["user", "queue", "user"], "number": [1, 2, 2], "name": ["ann\nb", "fast", "x" * 40]})
    trace = replace(of([1, 2], [2, 1], queue=[1, 2], lines=ODD), names=names)
    assert labels(trace, "users") == ["ann b", "x" * 22 + ".."]
    assert labels(trace, "queues") == ["$x^2$", "fast"]


@pytest.mark.parametrize("name", ["users", "queues"])
def test_nothing(name: str) -> None:
    """Without jobs, and where all numbers are missing; the columns stay."""
    for trace in (of([], []), of([-1, -1], [1, 1])):
        assert data(trace, name).empty
        assert data(trace, name).columns.tolist() == data(of([1], [1], [1]), name).columns.tolist()
        assert caption(trace, name) == f"{name.title()}: no job whose {name[:-1]} is known"
    assert caption(of([3], [4], [5]), name).split(": ")[1].startswith(f"1 {name[:-1]}; ")
