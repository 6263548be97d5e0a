# SPDX-License-Identifier: BSD-3-Clause
"""How far back the policies of a history are looked at, and what is set beside what."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from pipelines.history import policy_watch
from pipelines.history.policy_watch import DAY, policies_of
from pipelines.history.settings import read_settings
from swftools.trace import Trace

UNTIL = 10 * DAY
SUBMITTED = [3.5, 5.0, 7.0, 7.5, 10.0]
"""Days at which the jobs are submitted; seven days are three before the end."""


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was looked at, in order: from when on, then of each watch its days and the jobs."""
    found: list[Any] = []

    def watch(trace: Trace, policies: list[str], **window: Any) -> pd.DataFrame:
        found.append((window["days"], window["warm_up_days"], (trace.jobs["submit_time"] / DAY).tolist()))
        return pd.DataFrame({"policy": policies, "place": len(found)})

    def worse(now: pd.DataFrame, before: pd.DataFrame, *, beside: str = "", **_: Any) -> pd.DataFrame:
        (late,), (early,) = (each["place"].unique() for each in (now, before))
        return pd.DataFrame([{"now": late, "before": early, "policies": list(now["policy"]), "beside": beside}])

    monkeypatch.setattr(policy_watch, "watch_policies", watch)
    monkeypatch.setattr(policy_watch, "find_worse", worse)
    return found


def watched(looked: list[Any], days: list[float], **chosen: Any) -> pd.DataFrame:
    """Return what got worse by the policies of the settings, of jobs submitted on some days."""
    settings = read_settings(None, {"inbox": "x", "policies": {"names": ["fcfs"], "days": 3, **chosen}})

    def trace_since(seconds: float) -> Trace:
        looked.append(seconds / DAY)
        return Trace.from_columns(
            machine_processors=4, job_number=range(1, len(days) + 1), submit_time=[day * DAY for day in days]
        )

    return policies_of(settings, trace_since, UNTIL, lambda _: None)[1]


def test_both_periods_have_their_days_and_the_warm_up(looked: list[Any]) -> None:
    """Twice three days and one to warm up before the end; the earlier period ends three days before it, inclusive."""
    worse = watched(looked, SUBMITTED, warm_up_days=1)
    assert looked == [3.0, (3.0, 1.0, SUBMITTED), (3.0, 1.0, [3.5, 5.0, 7.0])]
    assert worse.to_dict("records") == [{"now": 2, "before": 3, "policies": ["fcfs"], "beside": ""}]


def test_the_first_policy_alone_and_the_others_beside_it(looked: list[Any]) -> None:
    """So that jobs which fare worse under all are told once."""
    worse = watched(looked, SUBMITTED, warm_up_days=2, names=["fcfs", "easy"])
    assert looked[0] == 2.0
    assert worse["policies"].tolist() == [["fcfs"], ["fcfs", "easy"]]
    assert worse["beside"].tolist() == ["", "fcfs"]


def test_without_an_earlier_period_nothing_is_worse(looked: list[Any]) -> None:
    """All jobs came within the last days."""
    assert watched(looked, [7.5, 10.0]).empty
    assert len(looked) == 2


def test_without_policies_nothing_is_looked_at(looked: list[Any]) -> None:
    """Not even the jobs."""
    assert watched(looked, SUBMITTED, names=[]).empty
    assert looked == []
