# SPDX-License-Identifier: BSD-3-Clause
"""A policy that takes long says so while it runs, once, and what to take instead."""

from __future__ import annotations

import logging

import pytest

from swftools.simulator import Simulation, list_policies, simulate
from swftools.simulator.run import slow_runs
from tests.strategies import crowded_trace


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no time and few jobs be enough, and nothing be said before."""
    monkeypatch.setattr(slow_runs, "LONG", 0.0)
    monkeypatch.setattr(slow_runs, "MANY", 5)
    monkeypatch.setattr(slow_runs, "_SAID", set())


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings."""
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """With figures, the reason and the way out; the schedule is that of a run that says nothing."""
    trace = crowded_trace(200)
    first = simulate(trace, "conservative", compiled=False)
    simulate(trace, "conservative", compiled=False)
    (message,) = said(caplog)
    assert message.startswith("policy 'conservative' takes long while ")
    assert " of 200 ended in " in message
    assert " s): a job that ends before its request moves" in message
    assert message.endswith("conservative-fixed and easy take seconds")
    assert first.jobs["start_time"].equals(simulate(trace, "conservative").jobs["start_time"])


@pytest.mark.parametrize(("long", "many"), [(1e9, 5), (0.0, 10**9)])
def test_it_is_not_said_without_need(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, long: float, many: int
) -> None:
    """Neither soon, nor where few wait."""
    monkeypatch.setattr(slow_runs, "LONG", long)
    monkeypatch.setattr(slow_runs, "MANY", many)
    simulate(crowded_trace(200), "conservative", compiled=False)
    assert not said(caplog)


def test_so_many_waiting_are_enough(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number itself counts."""
    simulation = Simulation(crowded_trace(200), "conservative", compiled=False).run(until=300)
    waiting = len(simulation.waiting)
    monkeypatch.setattr(slow_runs, "_SAID", set())
    caplog.clear()
    for many, expected in ((waiting + 1, 0), (waiting, 1)):
        monkeypatch.setattr(slow_runs, "MANY", many)
        simulation.run(until=300)
        slow_runs.SlowRun(simulation.policy).look(0, 200, waiting)
        assert expected == len(said(caplog))


def test_who_is_quick_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Only some policies have something to say."""
    simulate(crowded_trace(200), "easy", compiled=False)
    assert not said(caplog)
    assert {name for name, policy in list_policies().items() if policy.takes_long} == {
        "conservative",
        "search",
        "genetic",
        "genetic-checkpoint",
    }
