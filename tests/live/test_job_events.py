# SPDX-License-Identifier: BSD-3-Clause
"""What an event may say, and in which order events are."""

from __future__ import annotations

from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.live import JobEvent
from swftools.live.events import in_order


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"groups": {"queue": ["a"]}}, "groups: 'queue' is "),
        ({"groups": {"queue": {}}}, "groups: 'queue' is "),
        ({"groups": {"queue": b"a"}}, "groups: 'queue' is "),
        ({"groups": {"queue": "a" * 1001}}, "groups: 'queue' is 'aaa"),
        ({"groups": {"q" * 1001: "a"}}, "groups: 'qqq"),
        ({"groups": {7: "a"}}, "groups: 7 is "),
        ({"job": "7" * 1001}, "more than 1000 letters"),
        ({"cluster": "7" * 1001}, "more than 1000 letters"),
        ({"processors": (1 << 53) + 1}, "processors=9007199254740993 is not an integer from 1 on, of at most 2"),
        ({"requested_time": 10**400}, "requested_time=1000"),
        ({"time": 1.1e12}, "time=1100000000000.0 of a job that is submitted is not"),
        ({"time": -(10**400)}, "time=-1000"),
    ],
)
def test_what_no_event_says(said: dict[str, Any], told: str) -> None:
    """One error, that is short."""
    with pytest.raises(ParameterError, match=told) as caught:
        JobEvent(**{"kind": "submitted", "time": 0.0, "job": "7", **said})
    assert len(str(caught.value)) < 400


def test_the_most_that_an_event_says() -> None:
    """Bounds are within."""
    groups = {"queue": "q" * 1000, "user": 7, "share": 0.5, "is_new": True, "account": None}
    event = JobEvent("submitted", -1e12, "7" * 1000, "c" * 1000, 1 << 53, 1e12, groups)
    assert event.groups == groups


def test_names_with_long_numbers_have_an_order() -> None:
    """Numbers of up to 18 digits are compared as such; longer ones as texts, behind them."""
    names = ["0" * 18 + "1", "9" * 1000, "7.2", "10", "9" * 18, "1" + "0" * 18, "7.10"]
    events = [JobEvent("submitted", 0.0, name) for name in names]
    assert [event.job for event in in_order(events)] == [
        "7.2",
        "7.10",
        "10",
        "9" * 18,
        "0" * 18 + "1",
        "1" + "0" * 18,
        "9" * 1000,
    ]
