# SPDX-License-Identifier: BSD-3-Clause
"""Absolute submissions are rounded to the millisecond, halves among them, and never cut off."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import SwfHeader
from swftools.trace import submit_timestamps

START = 956_700_003


def milliseconds(*seconds: float, start: int | None = START) -> list[int | None]:
    """Return the timestamps of submissions, in milliseconds behind second 0 of the log."""
    header = SwfHeader() if start is None else SwfHeader.from_lines([f"; UnixStartTime: {start}"])
    stamps = submit_timestamps(pd.Series(seconds, dtype="float64"), header)
    assert "datetime64[ms, UTC]" == str(stamps.dtype)
    zero = datetime.fromtimestamp(start or 0, UTC)
    return [None if pd.isna(stamp) else round((stamp - zero) / timedelta(milliseconds=1)) for stamp in stamps]


def test_fractions_of_a_second() -> None:
    """Half a second is 500 ms, and no part of a millisecond is cut off that is more than half of one."""
    assert [0, 500, 1500, 2250] == milliseconds(0, 0.5, 1.5, 2.25)
    assert [0, 1, 1, 1, 2, 1000] == milliseconds(0.0004, 0.0006, 0.001, 0.0014, 0.0016, 0.9996)
    # In binary, 1000 times these is a little less than the whole number meant.
    assert [1001, 8029, 16_059] == milliseconds(1.001, 8.029, 16.059)
    assert int(1.001 * 1000) == 1000


def test_halves_of_a_millisecond() -> None:
    """They go to the even one, as numpy and Python round."""
    assert [0, 2, 2, 4] == milliseconds(0.0005, 0.0015, 0.0025, 0.0035)


def test_far_from_second_0() -> None:
    """A log of years loses no millisecond, nor one that starts in another age."""
    assert [999_999_999_501] == milliseconds(999_999_999.501)
    assert [500, 86_400_001] == milliseconds(0.5, 86_400.0006, start=1)


def test_missing() -> None:
    """Without a submission, or a start, there is no timestamp."""
    assert [None, 500] == milliseconds(math.nan, 0.5)
    assert [None, None] == milliseconds(0, 0.5, start=None)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_none_is_further_than_half_a_millisecond(seconds: list[float]) -> None:
    """By exact arithmetic, but for the rounding of the product."""
    for time, found in zip(seconds, milliseconds(*seconds), strict=True):
        assert found is not None
        assert abs(Fraction(found) - 1000 * Fraction(time)) <= Fraction(1, 2) + Fraction(math.ulp(1000 * time))


@pytest.mark.parametrize("second", [0.4999, 0.5, 0.9999, 1.4996])
def test_order_stays(second: float) -> None:
    """A later submission never has an earlier timestamp."""
    times = [second - 0.0011, second, second + 0.0004, second + 0.0011]
    found = milliseconds(*times)
    assert sorted(found, key=lambda value: value or 0) == found
