# SPDX-License-Identifier: BSD-3-Clause
"""Tables without rows are copies of one, and never one and the same."""

from __future__ import annotations

import pandas as pd

from swftools.tables import empty_frame


def test_an_empty_table_that_is_filled_leaves_the_next_one_empty() -> None:
    """Whatever is done to one: a row, a column, another type."""
    first = empty_frame("quarantine")
    first.loc[0] = [1, "rule", "reason", "text"]
    first["more"] = 1
    first.columns = [name.upper() for name in first.columns]
    second = empty_frame("quarantine")
    assert ["line_number", "rule", "reason", "text"] == list(second)
    assert 0 == len(second)
    assert ["Int64", "str", "str", "str"] == [str(kind) for kind in second.dtypes]


def test_columns_are_those_asked_for() -> None:
    """In the order of the dictionary."""
    assert ["submit_time", "user_id"] == list(empty_frame("jobs", ["user_id", "submit_time"]))
    pd.testing.assert_frame_equal(empty_frame("jobs", ["user_id"]), empty_frame("jobs")[["user_id"]])
