# SPDX-License-Identifier: BSD-3-Clause
"""Cycles of backfill that take time, drawn by hand: by policy slurm and by its slow twin."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from swftools.errors import ParameterError
from swftools.simulator.registry import read_policy
from tests.naive.slurm_policy import simulate_slurm
from tests.nodes_drawn import draw_machine
from tests.simulator.slurm.test_policy import runs_of, schedule_of
from tests.slurm_drawn import draw_asked, draw_site

ONLY_BACKFILL = {"bf_interval": 10, "bf_resolution": 1, "batch_sched_delay": 1000, "sched_interval": 1000}


def starts(monkeypatch: pytest.MonkeyPatch, jobs: str, test_time: float, **scheduler: float) -> str:
    """Return when each job starts, by the policy; the twin must say the same."""
    table = draw_machine("cores / 8 / 1", "p:0 q:1")
    site = draw_site(table, scheduler={**ONLY_BACKFILL, **scheduler})
    table = replace(table, slurm=site)
    asked, (submit, run, limit), _ = draw_asked(jobs, table)
    world = simulate_slurm(site, table, asked, submit, run, limit, test_time=test_time, origin=1_700_000_017)
    times = SimpleNamespace(submit=submit, run=run, limit=limit)
    found = runs_of(schedule_of(monkeypatch, table, asked, times, compiled=False, test_time=test_time))
    told = " ".join(f"{runs[0][0]:g}:{runs[0][3]}" for _, runs in sorted(found.items()))
    assert told == " ".join(f"{job.start:g}:{job.by}" for job in world.jobs)
    return told.replace("backfill", "b").replace("main", "m")


FIVE = "job submit run / A 0 200 / B 5 200 / C 5 200 / D 5 200 / E 5 200 / F {} 200"


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("comes", "test_time", "scheduler", "expected"),
    [
        (5, 0.0, {}, "0:b 10:b 10:b 10:b 10:b 10:b"),
        # the cycle of second 0 takes 1 s; that of 11 holds locks until 13 and sleeps until 13.5, then again until 16
        (5, 1.0, {}, "0:b 11:b 11:b 13.5:b 13.5:b 16:b"),
        (14, 1.0, {}, "0:b 11:b 11:b 13.5:b 13.5:b 26:b"),  # F is not in it; it ends at 15.5
        (13.25, 1.0, {}, "0:b 11:b 11:b 24:b 24:b 26.5:b"),  # F comes meanwhile: the cycle ends at 13.5
        (12.5, 1.0, {}, "0:b 11:b 11:b 24:b 24:b 26.5:b"),  # and so where locks are held
        (13.25, 1.0, {"bf_continue": 1}, "0:b 11:b 11:b 13.5:b 13.5:b 26:b"),
        (5, 1.0, {"bf_yield_interval": 3_000_000}, "0:b 11:b 11:b 11:b 14.5:b 14.5:b"),
        (5, 1.0, {"bf_yield_sleep": 1_250_000}, "0:b 11:b 11:b 14.25:b 14.25:b 17.5:b"),
        (5, 1.0, {"bf_max_time": 2}, "0:b 11:b 11:b 23:b 23:b 35:b"),  # it ends at 13, the next one at 25
        (5, 1.0, {"bf_max_time": 3}, "0:b 11:b 11:b 13.5:b 25:b 25:b"),  # D's test is over at 14.5, counted as 14
        (
            5,
            4.0,
            {"bf_max_time": 100},
            "0:b 14:b 18.5:b 23:b 27.5:b 32:b",
        ),  # longer than bf_interval: none begins in it
        (5, 1.0, {"bf_max_job_test": 3}, "0:b 11:b 11:b 13.5:b 25:b 25:b"),
        (5, 1.0, {"bf_max_job_start": 3}, "0:b 11:b 11:b 13.5:b 25:b 25:b"),
    ],
    ids=str,
)
def test_a_cycle_that_takes_time(
    monkeypatch: pytest.MonkeyPatch, comes: float, test_time: float, scheduler: dict[str, float], expected: str
) -> None:
    """A stretch ends when its tests have taken ``bf_yield_interval``; the interval counts from the end of the cycle."""
    assert starts(monkeypatch, FIVE.format(comes), test_time, **scheduler) == expected


@pytest.mark.usefixtures("interpreted_by_day")
def test_the_main_scheduler_waits_for_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """B is tested from 13 to 15.5. So C, for a node that is free, starts at 15.5; D, which comes later, at 17."""
    jobs = "job submit run cpus partition / A 0 100 8 p / B 3 9 8 p / C 13.5 1 1 q / D 16.5 1 1 q"
    quick = {"batch_sched_delay": 0, "sched_interval": 1000}
    assert starts(monkeypatch, jobs, 2.5, **quick) == "0:b 100:m 15.5:m 17:m"
    assert starts(monkeypatch, jobs, 0.0, **quick) == "0:b 100:b 14:m 17:m"


@pytest.mark.usefixtures("interpreted_by_day")
def test_who_has_started_meanwhile_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """C is in the cycle too, but main starts it while locks are let go; the plan of B stays."""
    jobs = "job submit run cpus partition / A 0 100 8 p / B 3 9 8 p / C 3 1 1 q"
    slow = {"bf_continue": 1, "batch_sched_delay": 13, "bf_yield_sleep": 3_000_000}
    assert starts(monkeypatch, jobs, 2.5, **slow) == "0:b 100:m 15.5:m"


def test_a_time_that_is_none() -> None:
    """Is refused in one sentence."""
    with pytest.raises(ParameterError, match="test_time"):
        read_policy("slurm:test_time=-1")
    with pytest.raises(ParameterError, match="test_time"):
        read_policy("slurm:test_time=long")
