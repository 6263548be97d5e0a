# SPDX-License-Identifier: BSD-3-Clause
"""What came of what jobs were told, counted by hand."""

from __future__ import annotations

import math

import pytest

from pipelines.logs import load_log
from pipelines.logs.find import SHIPPED_LOG
from swftools.live import JobEvent, LivePredictor, ToldCounts, ToldLedger, ToldWait, log_events
from swftools.qbets import WaitPredictor

DAY = 86_400.0


def told(job: str, submit: float, bound: float, group: str = "1") -> tuple[list[JobEvent], dict[str, ToldWait]]:
    """Return that a job is submitted, and what it is told."""
    return [JobEvent("submitted", submit, job)], {job: ToldWait(group, bound, None)}


def test_a_bound_is_kept_up_to_its_last_second() -> None:
    """By jobs that start, and by those that still wait; a moment later it is broken, and stays so."""
    ledger = ToldLedger()
    for job in ("in time", "late", "waits"):
        ledger.take(*told(job, 10.0, 60.0))
    ledger.take([JobEvent("started", 70.0, "in time"), JobEvent("started", 70.5, "late")], {})
    assert ledger.counts(70.0) == (3, 1, 1, 1)
    assert ledger.counts(70.1) == (3, 1, 2, 0)
    assert ledger.counts(70.1).share == pytest.approx(1 / 3)
    ledger.take([JobEvent("started", 900.0, "waits"), JobEvent("ended", 999.0, "in time")], {})
    assert ledger.counts(900.0) == (3, 1, 2, 0)


def test_who_leaves_before_the_bound_is_over_says_nothing() -> None:
    """Who leaves behind it has waited longer than told."""
    ledger = ToldLedger()
    for job in ("early", "late", "ended"):
        ledger.take(*told(job, 0.0, 60.0))
    ledger.take(
        [JobEvent("cancelled", 60.0, "early"), JobEvent("cancelled", 61.0, "late"), JobEvent("ended", 5.0, "ended")], {}
    )
    assert ledger.counts(1e9) == (1, 0, 1, 0)
    assert math.isnan(ToldLedger().counts(0.0).share)
    assert ToldLedger().counts(0.0) == ToldCounts(0, 0, 0, 0)


def test_who_was_told_nothing_does_not_count() -> None:
    """Nor who was never told of."""
    ledger = ToldLedger()
    ledger.take(*told("a", 0.0, math.nan))
    ledger.take([JobEvent("submitted", 0.0, "b"), JobEvent("started", 1.0, "a"), JobEvent("started", 1.0, "c")], {})
    assert ledger.counts(9.0) == (0, 0, 0, 0)


def test_by_group_and_by_the_day_of_the_submission() -> None:
    """Of open ones as of those that are over."""
    ledger = ToldLedger()
    for day, group in ((0.0, "1"), (1.0, "1"), (1.5, "2"), (2.0, "2")):
        ledger.take(*told(f"{day}", day * DAY, 60.0, group))
        ledger.take([JobEvent("started", day * DAY + (30.0 if group == "1" else 90.0), f"{day}")], {})
    ledger.take(*told("open", 2.5 * DAY, 1e9, "2"))
    ledger.take(*told("old", 0.5 * DAY, 1e9, "1"))
    now = 3.0 * DAY
    assert ledger.counts(now) == (6, 2, 2, 2)
    assert ledger.counts(now, group="1") == (3, 2, 0, 1)
    assert ledger.counts(now, group="2") == (3, 0, 2, 1)
    assert ledger.counts(now, days=2.0) == (4, 1, 2, 1)
    assert ledger.counts(now, days=2.0, group="1") == (1, 1, 0, 0)
    assert ledger.counts(now, days=1.0) == (2, 0, 1, 1)


@pytest.mark.parametrize(("leaves", "told", "kept"), [(True, 4117, 3997), (False, 4252, 3997)])
def test_the_shipped_log(leaves: bool, told: int, kept: int) -> None:
    """The shares that the service's page tells: jobs that never started leave the queue, or wait on for good."""
    events = log_events(load_log(SHIPPED_LOG).trace)
    polls: dict[int, list[JobEvent]] = {}
    for event in events:
        if leaves or event.kind != "cancelled":
            polls.setdefault(math.ceil(event.time / 1000), []).append(event)
    live, ledger = LivePredictor(WaitPredictor("binomial", training=100)), ToldLedger()
    for poll in polls.values():
        ledger.take(poll, live.take(poll))
    assert ledger.counts(1e9, 1e6) == ToldCounts(told, kept, told - kept, 0)
