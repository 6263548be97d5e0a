# SPDX-License-Identifier: BSD-3-Clause
"""The language of drawn jobs and schedules: each word means what ``drawn.py`` says."""

from __future__ import annotations

import pandas as pd

from tests.drawn import draw_schedule, draw_trace, names_of, picture_columns, rows_of, schedule_columns, table_of


def test_jobs_of_a_trace() -> None:
    """Letters are numbered in the order of their lines, a dot is missing, a width is what was allocated."""
    table = "job submit run width request rank / C 0 5 2 9 1 / A . 7.5 1 . ."
    trace = draw_trace(table, processors=4, header="UnixStartTime: 100")
    assert ["C", "A"] == names_of(table)
    assert (4, 100) == (trace.processors, trace.header.unix_start_time)
    columns = ["job_number", "submit_time", "run_time", "allocated_processors", "requested_time", "priority_rank"]
    values = trace.jobs[columns].astype(object)
    expected = [[1, 0.0, 5.0, 2, 9.0, 1], [2, None, 7.5, 1, None, None]]
    assert expected == values.where(values.notna(), None).to_numpy().tolist()
    assert trace.jobs["requested_processors"].isna().all()
    assert [["job", "run"], ["1", "5"], ["2", "7.5"]] == table_of(trace, "job run")


def test_jobs_without_names_are_numbered_from_1() -> None:
    """And numbers that are given stay, the missing one too."""
    assert [1, 2] == draw_trace("submit\n3\n4").jobs["job_number"].tolist()
    assert [7, pd.NA, 7] == draw_trace("job submit / 7 3 / . 4 / 7 5").jobs["job_number"].tolist()


def test_jobs_of_a_schedule() -> None:
    """A run of some length, or several runs all but the last of which were killed."""
    schedule = draw_schedule(
        """
        job submit width request queue runs
        1   0      3     10      .     3-5,15-20
        2   1      1     4       2     0-3
        """,
        processors=4,
        policy="mine",
        semantics=None,
    )
    jobs = schedule.jobs
    assert ("mine", 4, None) == (schedule.policy, schedule.processors, schedule.options["semantics"])
    assert [[15.0, 20.0, 15.0, 5.0], [0.0, 3.0, -1.0, 3.0]] == (
        jobs[["start_time", "end_time", "wait_time", "run_time"]].to_numpy().tolist()
    )
    assert ([1, 0], [10.0, 4.0]) == (jobs["preemptions"].tolist(), jobs["estimated_time"].tolist())
    assert [[2, 0.0, 3.0, "completed"], [1, 3.0, 5.0, "killed"], [1, 15.0, 20.0, "completed"]] == (
        schedule.segments[["job_number", "start_time", "end_time", "ended_by"]].to_numpy().tolist()
    )
    assert "is_backfilled" not in jobs
    same = draw_schedule("submit width request backfilled start run / 1 1 4 1 0 3")
    assert [[0.0, 3.0, True]] == same.jobs[["start_time", "end_time", "is_backfilled"]].to_numpy().tolist()


def test_pictures() -> None:
    """A picture and a schedule are the same second by second, whatever the order of rows."""
    schedule = draw_schedule("job submit width request start run / B 0 2 2 0 2 / A 0 1 2 1 2")
    for picture in ("BB.\nBB.\n.AA", ".AA / BB. / BB."):
        assert ["BB", "ABB", "A"] == picture_columns(picture) == schedule_columns(schedule, ["B", "A"])
    assert [["a", "b"], ["c"]] == rows_of("\n a b / c\n\n")
