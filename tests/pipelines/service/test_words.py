# SPDX-License-Identifier: BSD-3-Clause
"""Times and shares in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.service.words import share, spoken


@given(st.floats(0, 1e8))
def test_a_time_in_words_is_not_shortened(seconds: float) -> None:
    """And is longer by an hour at most, or a minute where it is below a day."""
    units = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
    words = spoken(seconds).replace(",", "").split()
    said = sum(int(count) * units[unit] for count, unit in zip(words[::2], words[1::2], strict=True))
    assert said >= seconds
    assert said - seconds <= (3600 if seconds > 86_400 else 60 if seconds > 60 else 1)
    assert len(words) <= 4


def test_shares_in_words() -> None:
    """As people say them."""
    assert [share(each) for each in (0.5, 0.9, 0.75, 0.999, 0.9995)] == [
        "5 of 10",
        "9 of 10",
        "75 of 100",
        "999 of 1,000",
        "99.95 %",
    ]
