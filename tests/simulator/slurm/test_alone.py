# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that can never start under policy slurm: left out at the beginning, told, counted; and who waits for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import swftools
from swftools.machines.description import MachineDescription
from swftools.simulator.slurm.alone import without_hopeless
from swftools.simulator.slurm.requests import slurm_jobs_of
from swftools.simulator.validation.report import validate
from tests.examples import by_day
from tests.naive.slurm_alone import why_never
from tests.naive.slurm_random import random_jobs, random_site
from tests.naive.slurm_world import jobs_of

SITE: dict[str, Any] = {
    "nodes": [{"kind": "a", "count": 2, "cores": 4}, {"kind": "b", "count": 1, "cores": 8}],
    "partitions": [{"name": "batch", "default": True}, {"name": "small", "nodes": "a"}],
    "slurm": {
        "enforce": "limits",
        "accounts": [
            {"name": "phys", "users": [{"name": "1"}], "max_wall": "1h"},
            {"name": "bio", "users": [{"name": "2"}], "grp_tres": {"cpu": 3}},
            {"name": "none", "users": [{"name": "3"}], "grp_jobs": 0},
            {"name": "used", "users": [{"name": "4", "usage": 6000}], "grp_tres_mins": {"cpu": 100}},
        ],
    },
}


def simulated(columns: dict[str, Any], **options: Any) -> swftools.Schedule:
    """Return the schedule of some jobs on the site; interpreted."""
    rows = len(columns["submit_time"])
    usual = {"job_number": range(1, rows + 1), "run_time": [60] * rows, "requested_time": [60] * rows}
    trace = swftools.Trace.from_columns(**{**usual, **columns})
    machine = MachineDescription.from_mapping(SITE)
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False, **options)
    assert validate(schedule, trace=trace).ok
    return schedule


def left_out(schedule: swftools.Schedule) -> dict[int, str]:
    """Return why jobs are left out."""
    return dict(zip(schedule.excluded["job_number"].tolist(), schedule.excluded["reason"].tolist(), strict=True))


pytestmark = pytest.mark.usefixtures("interpreted_by_day")


def test_limits_that_a_job_exceeds_alone() -> None:
    """Of time, of resources of all jobs, of numbers of jobs, of minutes."""
    found = simulated(
        {
            "submit_time": [0, 0, 0, 0, 0, 0, 0],
            "user_id": [1, 1, 2, 2, 3, 4, 4],
            "requested_processors": [1, 1, 3, 4, 1, 1, 2],
            "requested_time": [3600, 3601, 60, 60, 60, 5999, 3001],
        }
    )
    assert left_out(found) == {
        2: "would wait for ever in Slurm: AssocMaxWallDurationPerJobLimit",
        4: "would wait for ever in Slurm: AssocGrpCpuLimit",
        5: "would wait for ever in Slurm: AssocGrpJobsLimit",
        7: "would wait for ever in Slurm: AssocGrpCPUMinutesLimit",
    }


def test_usage_before_the_log_does_not_count() -> None:
    """As it decays: a hundred minutes of a limit of a hundred are used; alone a job may have all of them."""
    account = {"name": "used", "users": [{"name": "4", "usage": 6000}], "grp_tres_mins": {"billing": 100}}
    site = {**SITE, "slurm": {"enforce": "limits", "accounts": [account]}}
    trace = swftools.Trace.from_columns(submit_time=[0, 0], user_id=[4, 4], requested_processors=[1, 1])
    table = MachineDescription.from_mapping(site).simulated(trace.header)
    jobs = slurm_jobs_of(trace, table)
    found = without_hopeless(jobs, table, np.array([6000.0, 6001.0]), parameters={}, compiled=False)
    assert [found.reasons[code] for code in found.code] == ["", "would wait for ever in Slurm: AssocGrpBillingMinutes"]


def test_who_waits_for_one_that_never_starts() -> None:
    """Never starts, and whoever waits for that; not where dependencies are ignored, nor for one that is dropped."""
    jobs = {
        "submit_time": [0, 0, 0, 0, 0, 0],
        "user_id": [3, 9, 9, 9, 9, 9],
        "run_time": [60, 60, 60, 60, -1, 60],
        "requested_processors": [1, 1, 1, 1, 99, 1],
        "preceding_job_number": [-1, 1, 2, -1, -1, 5],
    }
    found = simulated(jobs)
    behind = "waits for a job that can never start"
    wide = "asks for more cores than the nodes of its partition have on which it may run"
    assert left_out(found) == {1: "would wait for ever in Slurm: AssocGrpJobsLimit", 2: behind, 3: behind, 5: wide}
    assert sorted(left_out(simulated(jobs, dependencies="ignore"))) == [1, 5]
    assert sorted(left_out(simulated(jobs, cancelled="end-at-once"))) == [1, 2, 3, 5, 6]


@pytest.mark.parametrize("overrun", ["extend", "kill", "run-on"])
def test_limits_are_those_of_the_run(overrun: str) -> None:
    """A job whose request is raised to its run time has that as its limit; cut, or left as it is, its request."""
    found = simulated(
        {"submit_time": [0], "user_id": [1], "requested_processors": [1], "run_time": [3700], "requested_time": [3000]},
        overrun=overrun,
    )
    assert list(left_out(found)) == ([1] if overrun == "extend" else [])
    if overrun != "extend":
        assert found.jobs["run_time"].tolist() == [3000 if overrun == "kill" else 3700]


def test_jobs_without_run_time() -> None:
    """Are dropped, run one second, or as long as requested: their limits are their requests."""
    jobs = {
        "submit_time": [0, 0],
        "user_id": [1, 1],
        "requested_processors": [1, 1],
        "run_time": [-1, -1],
        "requested_time": [600, 3700],
    }
    assert left_out(simulated(jobs)) == dict.fromkeys((1, 2), "no run_time (cancelled=drop)")
    for cancelled, run in (("end-at-once", 1), ("full-request", 600)):
        found = simulated(jobs, cancelled=cancelled)
        assert list(left_out(found)) == [2]
        assert found.jobs["run_time"].tolist() == [run]


@pytest.mark.parametrize("seed", by_day(range(60), 6))
def test_as_the_slow_twin(seed: int) -> None:
    """The same jobs for the same reasons."""
    site, table = random_site(seed)
    asked, times = random_jobs(seed, site, table, 30, hopeless=0.5)
    limit = np.array(times.limit)
    found = without_hopeless(asked, table, limit, parameters={}, compiled=False)
    ready = [0.0] * len(limit)
    jobs = jobs_of(asked, len(table), times.submit, times.run, times.limit, ready)
    expected = [why_never(site, table, job) for job in jobs]
    told = [found.reasons[code].rpartition(": ")[2] for code in found.code]
    assert ["Resources" if words.startswith("finds no nodes") else words for words in told] == expected
