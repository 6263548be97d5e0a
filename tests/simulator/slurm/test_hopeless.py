# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a limit of usage keeps back for good, as usage does not decay: they are left out, and the rest ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import swftools
from swftools.errors import PolicyError
from swftools.machines.description import MachineDescription
from swftools.simulator.engine import loop
from swftools.simulator.validation.report import validate
from tests.naive.slurm_policy import simulate_slurm
from tests.naive.slurm_random import random_jobs, random_site
from tests.simulator.slurm.test_policy import ORIGIN, phase_of, runs_of, schedule_of

CPU_MINUTES = 60


def said_at(time: float, reason: str) -> str:
    """Return why a job is left out."""
    return f"taken out at {time:.10g} s: would wait for ever in Slurm ({reason})"


def drawn(scheduler: dict[str, float] | None = None, **slurm: Any) -> MachineDescription:
    """Return one node of two cores, and an account of two users that may use an hour of a core in all."""
    accounts = [
        {"name": "root"},
        {
            "name": "phys",
            "parent": "root",
            "grp_tres_mins": {"cpu": CPU_MINUTES},
            "users": [{"name": "1"}, {"name": "2"}],
        },
        {"name": "bio", "parent": "root", "users": [{"name": "3"}]},
    ]
    often = {"batch_sched_delay": 1, "sched_interval": 10, "bf_interval": 10, **(scheduler or {})}
    return MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "a", "count": 1, "cores": 2}],
            "slurm": {
                "enforce": ["limits"],
                "priority": {"half_life": 0},
                "accounts": accounts,
                "scheduler": often,
                **slurm,
            },
        }
    )


def log(users: str, minutes: list[int], submit: list[int], cores: list[int], after: list[int] | None = None) -> Any:
    """Return a log of jobs that run to their limits."""
    seconds = [60 * each for each in minutes]
    trace = swftools.Trace.from_columns(
        job_number=range(1, len(minutes) + 1),
        submit_time=submit,
        run_time=seconds,
        requested_time=seconds,
        requested_processors=cores,
        user_id=[int(each) for each in users],
        preceding_job_number=after or [-1] * len(minutes),
    )
    account = ["bio" if each == "3" else "phys" for each in users]
    return trace.with_jobs(trace.jobs.assign(account=pd.array(account, "str")))


def reasons(schedule: swftools.Schedule) -> dict[int, str]:
    """Return why jobs were left out, by their numbers."""
    out = schedule.excluded
    return dict(zip(out["job_number"].tolist(), out["reason"].tolist(), strict=True))


@pytest.mark.usefixtures("interpreted_by_day")
def test_by_hand() -> None:
    """40 of 60 minutes are used: 21 more are too many, 20 are not. Others go on, and whoever waits for it is out."""
    after = [-1, -1, -1, -1, -1, 2, 6]
    trace = log("1212333", [20, 21, 10, 1, 30, 5, 5], [0, 1, 2, 3, 4, 5, 6], [2, 1, 2, 1, 2, 1, 1], after)
    schedule = swftools.simulate(trace, "slurm", machine=drawn(), compiled=False)
    starts = dict(zip(schedule.jobs["job_number"].tolist(), schedule.jobs["start_time"].tolist(), strict=True))
    assert starts == {1: 0, 3: 1200, 5: 1800}
    assert schedule.jobs["end_time"].max() < 10_000
    behind = "taken out: it waits for a job that never ends"
    at_last = said_at(3600, "AssocGrpCPUMinutesLimit")
    assert reasons(schedule) == {2: at_last, 4: at_last, 6: behind, 7: behind}
    assert schedule.is_partial
    assert validate(schedule, trace=trace).ok
    waits = schedule.notes["wait_reasons"]
    assert waits["end"].max() < 10_000


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("change", "starts"),
    [
        ({}, False),
        ({"priority": {"half_life": 1000}}, True),
        ({"priority": {"half_life": 1_000_000, "type": "basic"}}, False),
        ({"enforce": []}, True),
    ],
)
def test_only_where_usage_stays(change: dict[str, Any], starts: bool) -> None:
    """With usage that decays the job starts some time; without limits at once."""
    trace = log("12", [40, 21], [0, 3000], [1, 1])
    schedule = swftools.simulate(trace, "slurm", machine=drawn(**change), compiled=False)
    assert (2 in schedule.jobs["job_number"].tolist()) == starts


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("node", "kind", "begin", "end", "starts"),
    [
        ("small", "drain", 0, 9000, 9000),
        ("small", "reservation", 0, 9000, 9000),
        ("big", "drain", 5000, 6000, 5000),
        ("big", "reservation", 5000, 6000, 4650),  # it would still run when that begins
        ("big", "reservation", 5000, None, 4650),
        ("small", "drain", 0, None, 0),
        ("small", "reservation", 0, None, 0),
    ],
)
def test_not_while_nodes_change(node: str, kind: str, begin: int, end: int | None, starts: int) -> None:
    """Alone on the light node of four cores, for six minutes, a job would use 24, and may use 20; on the other it can.

    It starts there when that one is back, or when the light node goes away. If neither ever happens it leaves.
    """
    sizes = [{"kind": "big", "count": 1, "cores": 4, "weight": 1}, {"kind": "small", "count": 1, "cores": 1}]
    sizes[1]["weight"] = 2 if node == "big" else 0
    away = {"nodes": node, "begin": begin, "kind": kind} | ({} if end is None else {"end": end})
    machine = MachineDescription.from_mapping({**drawn().to_mapping(), "nodes": sizes, "outages": [away]})
    trace = log("12", [10, 6], [0, 700], [4, 1])
    trace = trace.with_jobs(trace.jobs.assign(is_exclusive=pd.array([False, True], "boolean")))
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    begins = dict(zip(schedule.jobs["job_number"].tolist(), schedule.jobs["start_time"].tolist(), strict=True))
    assert begins == {1: 0} | ({2: starts} if starts else {})


@pytest.mark.usefixtures("interpreted_by_day")
def test_whoever_was_cancelled_is_not_waited_for() -> None:
    """A job that preemption cancelled does not come again, so the others leave when all else has ended."""
    qos = [{"name": "low"}, {"name": "high", "preempt": ["low"]}]
    trace = log("311", [50, 20, 21], [0, 60, 70], [2, 2, 1])
    trace = trace.with_jobs(trace.jobs.assign(qos=pd.array(["low", "high", "low"], "str")))
    machine = drawn(preempt_type="qos", preempt_mode="cancel", qos=qos)
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    at_last = said_at(1260, "AssocGrpCPUMinutesLimit")
    assert reasons(schedule) == {1: "taken out by preemption at 60 s", 3: at_last}


@pytest.mark.usefixtures("interpreted_by_day")
def test_a_pass_of_the_first_jobs_says_nothing_of_others() -> None:
    """At 1,200 s a pass looks at the first job only, which has to wait for good; the third starts in the next cycle."""
    trace = log("1113", [20, 21, 22, 5], [0, 1, 2, 3], [2, 1, 1, 2])
    rarely = {"default_queue_depth": 0, "sched_interval": 1000, "bf_interval": 700}
    schedule = swftools.simulate(trace, "slurm", machine=drawn(rarely), compiled=False)
    starts = dict(zip(schedule.jobs["job_number"].tolist(), schedule.jobs["start_time"].tolist(), strict=True))
    assert starts == {1: 0, 4: 1400}


@pytest.mark.usefixtures("interpreted_by_day")
def test_who_is_never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not known to wait for good: where others use up the depth of each pass, the simulation ends with an error."""
    trace = log("111", [20, 21, 22], [0, 1, 2], [2, 1, 1])
    monkeypatch.setattr(loop, "PATIENCE", 1000)
    options = {"machine": drawn({"partition_job_depth": 1}), "compiled": False}
    with pytest.raises(PolicyError, match="leaves 2 jobs waiting on an idle machine, job 1 of the queue"):
        swftools.simulate(trace, "slurm", **options)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("seed", [0, 15, 21, *(pytest.param(each, marks=pytest.mark.slow) for each in range(22, 120))])
def test_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Sites where all together may use 60 to 220 minutes of a core: the same runs, and the same jobs are left."""
    site, table = random_site(seed)
    limits = replace(site.associations[0].limits, grp_tres_mins={"cpu": 60.0 + 40 * (seed % 5)})
    site = replace(
        site,
        associations=(replace(site.associations[0], limits=limits), *site.associations[1:]),
        enforce=frozenset({"limits", "associations", "qos"}),
        priority=replace(site.priority, half_life=0.0),
        scheduler={**site.scheduler, "partition_job_depth": 0.0, "assoc_limit_stop": 0.0},
    )
    table = replace(table, slurm=site)
    asked, times = random_jobs(seed, site, table, 40)
    phase = phase_of(seed)
    world = simulate_slurm(site, table, asked, times.submit, times.run, times.limit, phase=phase, origin=ORIGIN)
    assert not world.waiting
    schedule = schedule_of(monkeypatch, table, asked, times, phase=phase, compiled=seed % 20 == 1 and seed > 21)
    names = [partition.name for partition in table.partitions]
    assert runs_of(schedule) == {
        run.row: [(run.start, run.end, run.where, run.by, names[run.partition])] for run in world.runs
    }
    said = reasons(schedule)
    assert {row: said.pop(row) for row, _, _ in world.hopeless} == {
        row: said_at(time, reason) for row, time, reason in world.hopeless
    }
    assert not np.isin(list(said), [job.row for job in world.jobs]).any()
