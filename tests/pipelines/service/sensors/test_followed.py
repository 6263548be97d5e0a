# SPDX-License-Identifier: BSD-3-Clause
"""When records are looked through, and what is made of those that say little."""

from __future__ import annotations

import pytest

from pipelines.service.sensors.followed import NEVER_ASKED, OVERLAP, FollowedJobs, Sighting, Window
from swftools.live import JobEvent

HOUR = 3600.0


def test_each_time_is_looked_at_twice_and_a_little_more() -> None:
    """Not before it began; from a journal on, somewhat before its newest event."""
    window = Window(None, 300.0)
    assert window.since(HOUR) is None
    assert window.since(HOUR + 299) is None
    seen = []
    for look in range(1, 7):
        seen.append(window.since(HOUR + 300 * look))
        assert window.looked(HOUR + 300 * look) == max(HOUR + 300 * (look - 1) - OVERLAP, HOUR)
    assert seen == [HOUR, HOUR, HOUR, HOUR, HOUR, HOUR + 1200 - OVERLAP]
    again = Window(HOUR, 300.0)
    assert again.since(HOUR + 299) is None
    assert again.since(9 * HOUR) == HOUR - OVERLAP


def test_what_was_not_looked_at_stays_to_be_looked_at() -> None:
    """Where records could not be had."""
    window = Window(HOUR, 300.0)
    assert [window.since(time) for time in (2 * HOUR, 3 * HOUR)] == [HOUR - OVERLAP] * 2


def test_a_clock_that_was_far_ahead() -> None:
    """For several looks: the time since then is looked at as soon as it is right again."""
    window = Window(HOUR, 300.0)
    for ahead in (90 * HOUR, 91 * HOUR):
        window.since(ahead)
        window.looked(ahead)
    assert window.since(2 * HOUR) is None
    assert window.since(2 * HOUR + 300) == 2 * HOUR - OVERLAP


def job(number: str = "7", **more: object) -> Sighting:
    """Return a job that was submitted at 1000 s."""
    return Sighting(number, 1000.0, **more)  # type: ignore[arg-type]


def following() -> FollowedJobs:
    """Return what follows a job that waits, and one that runs, which are missing since 1100 s."""
    jobs = FollowedJobs()
    jobs.note(jobs.look([job(), job("8", start=1010.0)], 1050.0))
    jobs.miss(set(), 1050.0, 1100.0)
    return jobs


def test_a_record_without_an_end() -> None:
    """The end is when the job was missed first; of one that left, its submission at the least."""
    jobs = following()
    gone = jobs.miss(set(), 1100.0, 1200.0)
    records = {each.job: each for each in (job(is_over=True, start=1060.0), job("8", is_over=True, outcome="failed"))}
    assert list(jobs.settle(records, 1200.0, were_asked=gone)) == [
        JobEvent("started", 1060.0, "7@1000"),
        JobEvent("ended", 1100.0, "7@1000"),
        JobEvent("ended", 1100.0, "8@1000", outcome="failed"),
    ]


def test_what_is_settled_is_not_given_up(caplog: pytest.LogCaptureFixture) -> None:
    """And who is there again is not missing."""
    jobs = following()
    (waits, runs) = jobs.miss(set(), 1100.0, 1200.0)
    jobs.note(jobs.settle({"8@1000": job("8", is_over=True, end=1090.0)}, 1200.0, were_asked=[waits, runs]))
    assert jobs.miss({"7@1000"}, 1200.0, 1300.0) == []
    assert list(jobs.give_up(1300.0 + NEVER_ASKED)) == []
    assert not caplog.records


def test_who_is_over_is_remembered_as_long_as_records_are_looked_at() -> None:
    """Not longer: memory does not grow."""
    jobs = FollowedJobs(
        JobEvent(kind, float(time), f"{time}@{time}")
        for time in range(0, 400_000, 100)
        for kind in ("submitted", "ended")
    )
    assert 864 <= len(jobs._over) <= 2100
    jobs.forget(399_000.0)
    assert len(jobs._over) == 10
    assert jobs.newest == 399_900.0
