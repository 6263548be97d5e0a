# SPDX-License-Identifier: BSD-3-Clause
"""Plans of backfill, drawn by hand: who goes ahead says where others were planned. The slow twin says the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from swftools.machines.slurm_site import SlurmPriority, SlurmQos
from tests.naive.slurm_policy import simulate_slurm
from tests.nodes_drawn import draw_machine
from tests.simulator.slurm.test_cycles import ONLY_BACKFILL
from tests.simulator.slurm.test_policy import runs_of, schedule_of
from tests.slurm_drawn import draw_asked, draw_site

pytestmark = pytest.mark.usefixtures("interpreted_by_day")


def starts(
    monkeypatch: pytest.MonkeyPatch, machine: tuple[str, str], jobs: str, *, test_time: float = 0.0, **fields: Any
) -> str:
    """Return when each job starts, by the policy; the twin must say the same.

    A cycle begins each 10 s, and there is no other scheduler, unless ``scheduler`` says so.
    """
    table = draw_machine(*machine)
    site = draw_site(table, **{**fields, "scheduler": {**ONLY_BACKFILL, **fields.get("scheduler", {})}})
    table = replace(table, slurm=site)
    asked, (submit, run, limit), names = draw_asked(jobs, table)
    world = simulate_slurm(site, table, asked, submit, run, limit, test_time=test_time, origin=1_700_000_017)
    times = SimpleNamespace(submit=submit, run=run, limit=limit)
    found = runs_of(schedule_of(monkeypatch, table, asked, times, compiled=False, test_time=test_time))
    told = " ".join(f"{name}{runs[0][0]:g}" for name, (_, runs) in zip(names, sorted(found.items()), strict=True))
    assert told == " ".join(f"{name}{job.start:g}" for name, job in zip(names, world.jobs, strict=True))
    return told


@pytest.mark.parametrize("ends", [5, 75])
def test_room_just_when_a_reservation_is_over(monkeypatch: pytest.MonkeyPatch, ends: int) -> None:
    """A has node 0 till 80 s, and then there is room on node 1, too: J is planned there, so K cannot go ahead by then.

    That Q ends says that J is looked for anew.
    """
    jobs = f"""
        job submit run limit cpus partition nodes
        P 0 40 40 3 a .
        R 0 80 80 1 k .
        Q 0 {ends} 75 1 k .
        A 0 40 40 3 a .
        J 0 100 100 3 p 1
        K 5 120 120 1 k .
    """
    told = starts(monkeypatch, ("cores / 3 / 3", "p:0-1 a:0 k:1"), jobs)
    assert told == "P0 R0 Q0 A40 J80 K40"


def test_who_would_have_to_leave_for_a_later_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """X has both nodes at 1,500 s, for which V would have to leave by now; Y starts at once beside V."""
    jobs = """
        job submit run cpus qos
        V 0 1000 4 0
        A 1 500 8 1
        X 2 2000 8 2
        Y 3 500 4 1
    """
    qos = (SlurmQos("low"), SlurmQos("normal"), SlurmQos("high", preempt=("low",)))
    told = starts(monkeypatch, ("cores / 4 / 4", "p:0-1"), jobs, qos=qos, preempt_type="qos", preempt_mode="requeue")
    assert told == "V0 A1000 X1500 Y10"


@pytest.mark.parametrize(("most", "start"), [(1, 10), (2, 100)])
def test_tasks_of_an_array_that_are_planned(monkeypatch: pytest.MonkeyPatch, most: int, start: int) -> None:
    """The second task would have node 1 at 120 s, if it is planned; else K goes ahead there."""
    jobs = """
        job submit run cpus partition array
        P 0 100 4 a -1
        R 0 120 2 k -1
        S 1 50 4 p 0
        T 1 50 4 p 0
        K 5 130 2 k -1
    """
    told = starts(monkeypatch, ("cores / 4 / 4", "p:0-1 a:0 k:1"), jobs, scheduler={"bf_max_job_array_resv": most})
    assert told.split()[-1] == f"K{start}"


def test_priorities_in_a_cycle_that_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """B has a priority of 1,000, C of 500: where 600 are enough B is planned, and C cannot go ahead."""
    jobs = "job submit run cpus / A 0 100 4 / B 3 9 8 / C 3 200 4"
    machine, sizes = ("cores / 8", "p:0"), SlurmPriority(job_size=1000.0)
    told = [
        starts(monkeypatch, machine, jobs, test_time=1.0, priority=sizes, scheduler={"bf_min_prio_reserve": least})
        for least in (600, 1001)
    ]
    assert told == ["A0 B107 C119", "A0 B221 C11"]


def test_a_start_by_the_main_scheduler_ends_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """B is tested from 13 s on; main starts C then, while locks are let go. So D waits for the next cycle."""
    jobs = "job submit run cpus partition / A 0 100 7 p / B 3 9 8 p / C 3 40 1 q / D 3 50 1 p"
    slow = {"batch_sched_delay": 13, "bf_yield_sleep": 3_000_000}
    machine = ("cores / 8 / 1", "p:0 q:1")
    told = starts(monkeypatch, machine, jobs, test_time=2.5, scheduler=slow)
    goes_on = starts(monkeypatch, machine, jobs, test_time=2.5, scheduler={**slow, "bf_continue": 1})
    assert (told, goes_on) == ("A0 B101.5 C15.5 D34.5", "A0 B100 C15.5 D18.5")


@pytest.mark.parametrize(("minutes", "told"), [(20, "X1000 K1010"), (16.2, "X1000 K1010"), (16, "X2040 K40")])
def test_a_start_within_the_window(monkeypatch: pytest.MonkeyPatch, minutes: float, told: str) -> None:
    """X has its place at 1,000 s once the window reaches beyond that; if it does at 40 s, K waits for it."""
    jobs = "job submit run limit cpus nodes / A 0 1000 1000 4 . / X 1 9 9 8 1 / K 35 2000 2000 4 ."
    assert starts(monkeypatch, ("cores / 8", "p:0"), jobs, scheduler={"bf_window": minutes}) == f"A0 {told}"
