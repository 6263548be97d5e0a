# SPDX-License-Identifier: BSD-3-Clause
"""Partial executions on traces drawn by hand: which lines become one job, and which stay apart."""

from __future__ import annotations

import pytest

from tests.cleaning.one_rule import apply, check


def test_parts_are_merged_into_their_summary() -> None:
    """The summary line stands for the whole job; its parts, which follow, become part of it."""
    result = apply(
        """
        job submit wait run status user
        1   0      5    100 1      7
        1   0      5    30  2      7
        1   .      20   30  2      7
        1   .      9    40  3      7
        2   50     0    10  1      8
        """,
        "partial-executions",
    )
    check(
        result,
        """
        job occurrence line submit wait run status flags
        1   0          1    0      5    100 1      -
        2   0          5    50     0    10  1      -
        """,
        merged=3,
    )
    merged = result[1].merged
    assert [[2, 1, 1], [3, 1, 1], [4, 1, 1]] == merged[
        ["line_number", "job_number", "into_line_number"]
    ].values.tolist()
    assert merged["text"][1].startswith("1 -1 20 30 ")


@pytest.mark.parametrize(("last", "status"), [("3", "1"), ("4", "0"), ("2", ".")])
def test_parts_without_summary_make_a_job(last: str, status: str) -> None:
    """Without a summary the first part stands for the job: run and CPU times add up, the last part tells the status."""
    result = apply(
        f"""
        job submit wait run cpu status user
        4   9      5    30  20  2      7
        5   9      1    10  5   1      7
        4   .      20   .   .   2      7
        4   .      9    40  2.5 {last} 7
        """,
        "partial-executions",
    )
    check(
        result,
        f"""
        job line submit wait run cpu  status flags
        4   1    9      5    70  22.5 {status} repaired
        5   2    9      1    10  5    1      -
        """,
        merged=2,
        repaired=1,
    )
    repairs = result[1].repairs
    assert ["run_time", "average_cpu_time", "status"] == repairs["column"].tolist()
    assert [30.0, 20.0, 2.0] == repairs["old_value"].tolist()


def test_a_job_of_one_part() -> None:
    """A lone part is a job; a time that no part tells stays missing."""
    check(
        apply("job submit run status user\n1 0 . 4 7\n2 0 5 1 7", "partial-executions"),
        "job run status flags\n1 . 0 repaired\n2 5 1 -",
        repaired=1,
    )


def test_a_last_part_closes_the_job() -> None:
    """Lines behind a last part are another job of the same number, with or without a summary."""
    check(
        apply(
            """
            job submit run status user
            1   0      30  2      7
            1   .      10  3      7
            1   50     20  2      7
            1   .      20  4      7
            1   90     5   1      7
            1   90     5   3      7
            """,
            "partial-executions",
        ),
        """
        job occurrence submit run status flags
        1   0          0      40  1      repaired
        1   2          50     40  0      repaired
        1   4          90     5   1      -
        """,
        merged=3,
        repaired=2,
    )


def test_parts_of_other_users_are_other_jobs() -> None:
    """An equal number does not make a line of another user a part of the job; a missing user may be the same."""
    check(
        apply(
            """
            job submit run status user
            1   0      30  1      7
            1   .      30  3      8
            2   5      30  1      7
            2   .      30  3      .
            """,
            "partial-executions",
        ),
        "job line status flags\n1 1 1 -\n1 2 1 repaired\n2 3 1 -",
        merged=1,
        repaired=1,
    )


def test_parts_without_number_stay_apart() -> None:
    """Without a number nothing says which lines belong together."""
    check(
        apply("job submit run status user\n. 0 5 2 7\n. 0 5 3 7\n. 0 5 1 7", "partial-executions"),
        "job line run status flags\n. 1 5 2 -\n. 2 5 1 repaired\n. 3 5 1 -",
        repaired=1,
        remark="1 jobs of status 2 (to be continued) have no further part; they keep it",
    )


def test_a_summary_that_differs_from_its_parts_stands() -> None:
    """The summary's run time stands; a sum of parts that is further from it than rounding explains is remarked on."""
    check(
        apply(
            """
            job submit run status user
            1   0      100 1      7
            1   .      50  2      7
            1   .      52  3      7
            2   0      100 1      7
            2   .      50  2      7
            2   .      53  3      7
            3   0      .   1      7
            3   .      50  3      7
            """,
            "partial-executions",
        ),
        "job run flags\n1 100 -\n2 100 -\n3 . -",
        merged=5,
        remark="run times of parts do not add up to their summary's in 1 jobs",
    )


def test_parts_may_stand_among_other_jobs() -> None:
    """Parts are found among other jobs, whose order stays."""
    check(
        apply(
            "job submit run status user\n9 0 1 1 1\n1 0 9 1 7\n8 1 1 1 1\n1 . 4 2 7\n7 2 1 1 1\n1 . 5 3 7",
            "partial-executions",
        ),
        "job line\n9 1\n1 2\n8 3\n7 5",
        merged=2,
    )
