# SPDX-License-Identifier: BSD-3-Clause
"""A job that is to be continued and is not: its status says what the log said."""

from __future__ import annotations

import pandas as pd

from swftools import Trace, clean
from tests.cleaning.one_rule import apply, check

KEPT = "{} jobs of status 2 (to be continued) have no further part; they keep it"


def test_status_2_without_a_further_part_is_kept() -> None:
    """Nothing is repaired; a remark counts such jobs, and other parts are dealt with as ever."""
    check(
        apply(
            """
            job submit run status user
            1   0      5   2      7
            2   0      .   2      7
            3   0      5   3      7
            4   0      5   4      7
            5   0      5   2      7
            5   9      5   2      7
            6   0      5   2      7
            6   9      5   2      8
            """,
            "partial-executions",
        ),
        """
        job line run status flags
        1   1    5   2      -
        2   2    .   2      -
        3   3    5   1      repaired
        4   4    5   0      repaired
        5   5    10  .      repaired
        6   7    5   2      -
        6   8    5   2      -
        """,
        merged=1,
        repaired=3,
        remark=KEPT.format(4),
    )


def test_parts_after_an_end_may_be_lone_too() -> None:
    """A 2 behind a last part begins a job; so it is alone where nothing follows. Behind a summary it is a part."""
    check(
        apply(
            """
            job submit run status user
            1   0      5   2      7
            1   .      5   3      7
            1   50     5   2      7
            2   0      9   1      7
            2   .      9   2      7
            """,
            "partial-executions",
        ),
        "job line run status flags\n1 1 10 1 repaired\n1 3 5 2 -\n2 4 9 1 -",
        merged=2,
        repaired=1,
        remark=KEPT.format(1),
    )


def test_exit_codes_survive_the_default_rules() -> None:
    """A log with exit codes for statuses loses no 2, is not marked, and is the same when it is cleaned again."""
    status = [0, 1, 2, 5] * 25
    trace = Trace.from_columns(
        job_number=range(1, 101),
        submit_time=range(100),
        run_time=[60] * 100,
        requested_processors=[4] * 100,
        user_id=[3] * 100,
        status=status,
    )
    cleaned, report = clean(trace)
    assert status == cleaned.jobs["status"].tolist()
    assert not cleaned.jobs["is_repaired"].any()
    assert 0 == len(report.repairs)
    assert KEPT.format(25) == report.steps.set_index("rule").loc["partial-executions", "remark"]
    again, _ = clean(cleaned)
    pd.testing.assert_frame_equal(cleaned.jobs, again.jobs)


def test_both_remarks_are_made() -> None:
    """Sums that differ and lone parts are told together."""
    result = apply("job submit run status user\n1 0 100 1 7\n1 . 5 3 7\n2 0 5 2 7", "partial-executions")
    remark = result[1].steps["remark"].iloc[-1]
    assert f"run times of parts do not add up to their summary's in 1 jobs; {KEPT.format(1)}" == remark
