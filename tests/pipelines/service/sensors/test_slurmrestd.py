# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor hears by slurmrestd, in the shapes of several versions, and of what is gone from it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pipelines.service.sensors.followed import NEVER_ASKED
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.sensor import QueueLimits, SensorError
from pipelines.service.sensors.slurmrestd import RestSensor, RestSettings
from pipelines.service.sensors.slurmrestd_jobs import of_partition, of_queue, of_record
from swftools.live import JobEvent

BEGIN = 1_795_807_000


def number(value: float | None, *, is_infinite: bool = False) -> dict[str, Any]:
    """Return a number as versions from v0.0.40 on write it."""
    return {"set": value is not None, "infinite": is_infinite, "number": value or 0}


def old(job: int, state: str, submit: int, **more: Any) -> dict[str, Any]:
    """Return a job as v0.0.38 of Slurm 22.05 tells it."""
    plain = {"array_job_id": 0, "array_task_id": None, "array_task_string": "", "het_job_id": 0, "het_job_offset": 0}
    times = {"submit_time": BEGIN + submit, "eligible_time": BEGIN + submit, "start_time": 0, "end_time": 0}
    asked = {"partition": "batch", "user_name": "ann", "cpus": 4, "time_limit": 60}
    return {"job_id": job, "job_state": state, **plain, **times, **asked, **more}


def new(job: int, state: list[str], submit: int, **more: Any) -> dict[str, Any]:
    """Return one as v0.0.40 and later tell it."""
    plain = {"array_job_id": number(0), "array_task_id": number(None), "array_task_string": ""}
    parts = {"het_job_id": number(0), "het_job_offset": number(0)}
    times = {"submit_time": number(BEGIN + submit), "eligible_time": number(BEGIN + submit)}
    asked = {"partition": "batch", "user_name": "ann", "cpus": number(4), "time_limit": number(60)}
    return {"job_id": job, "job_state": state, **plain, **parts, **times, **asked, **more}


def record(job: int, state: Any, submit: int, start: int, end: int, **more: Any) -> dict[str, Any]:
    """Return one as the database tells it."""
    told = {"submission": BEGIN + submit, "eligible": BEGIN + submit, "limit": 60}
    told |= {"start": BEGIN + start if start else 0, "end": BEGIN + end if end else 0}
    nothing = {"array": {"job_id": 0, "task_id": None, "task": None}, "het": {"job_id": 0, "job_offset": None}}
    asked = {"partition": "batch", "user": "ann", "required": {"CPUs": 4}}
    return {"job_id": job, "state": {"current": state, "reason": "None"}, "time": told, **nothing, **asked, **more}


class Slurm:
    """What a slurmrestd answers, and what was asked."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self.has_database = True
        self.asked: list[str] = []

    def __call__(self, path: str, **query: str) -> dict[str, Any]:
        """Answer."""
        self.asked.append(path + "".join(f" {key}={value}" for key, value in query.items()))
        if path == "slurm/{}/jobs":
            return {"jobs": self.jobs, "errors": []}
        if not self.has_database:
            raise SensorError("slurmrestd answers with 500")
        if "/job/" in path:
            of_job = [each for each in self.records if path.endswith(f"/{each['array']['job_id'] or each['job_id']}")]
            return {"jobs": of_job}
        return {"jobs": self.records}

    def sensor(self, before: list[JobEvent] | None = None) -> RestSensor:
        """Return a sensor that asks it."""
        return RestSensor(RestSettings(url="http://slurm:6820"), before or (), self, Patience(lambda: 0.0))


def poll(sensor: RestSensor, now: float) -> list[tuple[str, float, str]]:
    """Return kind, time since the beginning, and id of what is heard."""
    return [(each.kind, each.time - BEGIN, each.job.partition("@")[0]) for each in sensor.poll(BEGIN + now)]


@pytest.mark.parametrize("is_new", [False, True])
def test_a_job_that_waits_runs_and_ends(is_new: bool) -> None:
    """In both shapes; the database is not asked for what slurmctld knows."""
    slurm = Slurm()
    sensor = slurm.sensor()
    if is_new:
        expected = number(BEGIN + 500)
        waits = new(7, ["PENDING"], 10, start_time=expected)
        runs = new(7, ["RUNNING", "CONFIGURING"], 10, start_time=number(BEGIN + 25))
        completes = new(7, ["COMPLETED", "COMPLETING"], 10, start_time=number(BEGIN + 25), end_time=number(BEGIN + 40))
        ends = {**completes, "job_state": ["COMPLETED"]}
    else:
        waits = old(7, "PENDING", 10, start_time=BEGIN + 500)
        runs = old(7, "RUNNING", 10, start_time=BEGIN + 25, end_time=BEGIN + 3625)
        completes = {**runs, "job_state": "COMPLETING", "end_time": BEGIN + 40}
        ends = {**completes, "job_state": "COMPLETED"}
    slurm.jobs = [waits]
    groups = {"queue": "batch", "user": "ann"}
    assert sensor.poll(BEGIN + 20.0) == [JobEvent("submitted", BEGIN + 10.0, f"7@{BEGIN + 10}", "", 4, 3600.0, groups)]
    slurm.jobs = [runs]
    assert poll(sensor, 30.0) == [("started", 25, "7")]
    slurm.jobs = [completes]
    assert poll(sensor, 45.0) == []
    slurm.jobs = [ends]
    assert sensor.poll(BEGIN + 50.0) == [JobEvent("ended", BEGIN + 40.0, f"7@{BEGIN + 10}", outcome="completed")]
    assert poll(sensor, 60.0) == []
    slurm.jobs = []
    assert poll(sensor, 400.0) == []
    assert slurm.asked == ["slurm/{}/jobs"] * 6


def test_who_is_gone_and_who_came_and_went() -> None:
    """By slurmctld as long as it knows; then by the database: one by its id, all of a span after ten minutes."""
    slurm = Slurm()
    sensor = slurm.sensor()
    slurm.jobs = [
        old(1, "COMPLETED", -90, start_time=BEGIN - 80, end_time=BEGIN - 70),  # before anything was asked
        old(2, "PENDING", 0),
        old(3, "PENDING", 0),
    ]
    assert poll(sensor, 5.0) == [("submitted", 0, "2"), ("submitted", 0, "3")]
    slurm.jobs = [
        slurm.jobs[0],
        old(4, "FAILED", 6, start_time=BEGIN + 7, end_time=BEGIN + 8),
        old(5, "CANCELLED", 6, start_time=BEGIN + 9, end_time=BEGIN + 9),
    ]
    slurm.records = [record(2, "TIMEOUT", 0, 7, 20)]
    assert poll(sensor, 30.0) == [
        ("submitted", 6, "4"),
        ("started", 7, "4"),
        ("ended", 8, "4"),
        ("submitted", 6, "5"),
        ("cancelled", 9, "5"),
        ("started", 7, "2"),
        ("ended", 20, "2"),
    ]
    assert slurm.asked[1:] == ["slurm/{}/jobs", "slurmdb/{}/job/2", "slurmdb/{}/job/3"]
    slurm.records += [record(3, ["CANCELLED"], 0, 25, 25), record(6, ["COMPLETED"], 40, 41, 42)]
    assert poll(sensor, 604.9) == [("cancelled", 25, "3")]
    slurm.jobs = [old(6, "COMPLETED", 40, start_time=BEGIN + 41, end_time=BEGIN + 42)]  # both tell of it
    assert poll(sensor, 605.0) == [("submitted", 40, "6"), ("started", 41, "6"), ("ended", 42, "6")]
    assert slurm.asked[-1] == f"slurmdb/{{}}/jobs start_time=uts{BEGIN + 5} end_time=uts{BEGIN + 605}"
    assert [each for now in range(700, 4000, 100) for each in poll(sensor, float(now))] == []


def test_without_a_database(caplog: pytest.LogCaptureFixture) -> None:
    """What slurmctld tells is told; who is gone without a word has left after a day."""
    slurm = Slurm()
    slurm.has_database = False
    sensor = slurm.sensor()
    slurm.jobs = [old(2, "PENDING", 0), old(3, "RUNNING", 0, start_time=BEGIN + 1)]
    poll(sensor, 5.0)
    slurm.jobs = [old(4, "PENDING", 6)]
    with caplog.at_level(logging.WARNING):
        assert poll(sensor, 10.0) == [("submitted", 6, "4")]
        assert poll(sensor, 20.0) == []
    assert len(caplog.records) == 1
    assert sensor.notice == "Slurm's database does not answer: ends of some jobs are told later"
    assert poll(sensor, 10.0 + NEVER_ASKED) == [("cancelled", 10, "2"), ("ended", 10, "3")]


def test_arrays_parts_and_restarts() -> None:
    """Names are those of the commands, so that a journal goes on with either. Recorded from v0.0.38 and v0.0.41."""
    names = [
        [each.number for each in of_queue(job)]
        for job in (
            old(15, "PENDING", 0, array_job_id=15, array_task_string="2-4,9%1"),
            old(19, "RUNNING", 0, array_job_id=15, array_task_id=0),
            old(17, "RUNNING", 0, het_job_id=16, het_job_offset=1),
            new(15, ["PENDING"], 0, array_job_id=number(15), array_task_string="2-4"),
            new(19, ["RUNNING"], 0, array_job_id=number(15), array_task_id=number(1)),
            new(17, ["RUNNING"], 0, het_job_id=number(16), het_job_offset=number(0)),
            {"job_id": 5},
        )
    ]
    assert names == [
        ["15_2", "15_3", "15_4", "15_9"],
        ["15_0"],
        ["16+1"],
        ["15_2", "15_3", "15_4"],
        ["15_1"],
        ["16+0"],
        [],
    ]
    task = record(19, "COMPLETED", 0, 1, 2, array={"job_id": 15, "task_id": number(3), "task": ""})
    tasks = record(15, "CANCELLED", 0, 0, 2, array={"job_id": 15, "task_id": number(None), "task": "2-3"})
    part = record(17, "COMPLETED", 0, 1, 2, het={"job_id": 16, "job_offset": number(1)})
    assert [each.number for job in (task, tasks, part) for each in of_record(job)] == ["15_3", "15_2", "15_3", "16+1"]
    (again,) = of_queue(new(12, ["PENDING", "REQUEUED"], 4, start_time=number(BEGIN + 99)))
    assert (again.start, again.is_over) == (None, False)
    (before,) = of_record(record(12, "REQUEUED", 0, 1, 2))
    assert (before.is_over, before.outcome, before.end) == (True, None, BEGIN + 2.0)
    (revoked,) = of_record(record(12, ["REVOKED"], 0, 1, 1))
    assert (revoked.is_over, revoked.start) == (True, None)
    for limit in (number(None, is_infinite=True), number(4294967294, is_infinite=True), number(5, is_infinite=True)):
        (endless,) = of_queue(new(8, ["PENDING"], 0, time_limit=limit))
        assert endless.requested_time is None


def test_tasks_and_parts_that_are_gone() -> None:
    """The database is asked for the whole array or job, once."""
    slurm = Slurm()
    sensor = slurm.sensor()
    slurm.jobs = [old(15, "PENDING", 0, array_job_id=15, array_task_string="2-3")]
    slurm.jobs.append(old(17, "PENDING", 0, het_job_id=16, het_job_offset=1))
    assert len(poll(sensor, 5.0)) == 3
    slurm.jobs = []
    slurm.records = [
        record(15, "COMPLETED", 0, 7, 9, array={"job_id": 15, "task_id": 3, "task": ""}),
        record(18, "COMPLETED", 0, 7, 8, array={"job_id": 15, "task_id": 2, "task": ""}),
    ]
    assert poll(sensor, 30.0) == [
        ("started", 7, "15_2"),
        ("ended", 8, "15_2"),
        ("started", 7, "15_3"),
        ("ended", 9, "15_3"),
    ]
    assert slurm.asked[-2:] == ["slurmdb/{}/job/15", "slurmdb/{}/job/16"]


def test_partitions() -> None:
    """In both shapes; a limit that is none is none. The first is recorded."""
    assert of_partition(
        {"flags": ["default"], "default_time_limit": None, "max_time_limit": 1440, "total_cpus": 16}
    ) == QueueLimits(True, 86_400.0, None, 16)
    assert of_partition(
        {
            "maximums": {"time": number(None, is_infinite=True)},
            "defaults": {"time": number(10)},
            "cpus": {"total": 8, "task_binding": 0},
        }
    ) == QueueLimits(False, None, 600.0, 8)
    assert of_partition({"max_time_limit": 4294967295}) == QueueLimits()
