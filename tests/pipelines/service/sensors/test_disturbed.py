# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm that is away, slow and late, a clock that is moved, a service that is killed: each job is told of once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from pipelines.service.sensors.patient import Patience, PatientSensor
from pipelines.service.sensors.sensor import SensorError
from pipelines.service.sensors.slurm import QUEUE, SlurmSensor
from pipelines.service.sensors.slurm_records import RECORDS
from swftools.live import JobEvent, Journal, read_journal
from swftools.live.events import in_order
from tests.examples import examples

BEGIN = 1_700_000_000


class Job(NamedTuple):
    """When a job came, became eligible, started and ended (s since the beginning); when its limit was changed."""

    submit: int
    eligible: int
    start: int | None
    end: int
    changed: int

    def events(self, name: str) -> list[tuple[str, float, str]]:
        """Return what there is to tell, but for the change."""
        told = [("submitted", self.submit)]
        if self.start is not None:
            told += [("eligible", self.eligible)] * (self.eligible > self.submit)
            told += [("started", self.start)]
        told.append(("ended" if self.start is not None else "cancelled", self.end))
        return [(kind, float(BEGIN + time), name) for kind, time in told]


class Disturbed:
    """A Slurm whose commands fail as they are told, and whose records come late."""

    def __init__(self, jobs: list[Job]) -> None:
        self.jobs, self.time, self.lag, self.takes = jobs, 0, 0, 0
        self.away: str = ""

    def __call__(self, command: tuple[str, ...]) -> str:
        """Answer; time passes meanwhile."""
        if command[0] == self.away:
            raise SensorError(f"{command[0]} is away")
        told = (
            "".join(map(self._line, *zip(*enumerate(self.jobs), strict=True)))
            if command == QUEUE
            else self._records(command)
        )
        self.time += self.takes
        return told

    def _line(self, number: int, job: Job) -> str:
        """Return the line of a job that is there."""
        now = self.time
        if not job.submit <= now < job.end:
            return ""
        state = "PENDING" if job.start is None or now < job.start else "RUNNING"
        limit = "10:00" if now < job.changed else "20:00"
        start = BEGIN + job.start if state == "RUNNING" and job.start is not None else "N/A"
        eligible = "N/A" if now < job.eligible - 20 else BEGIN + job.eligible
        return f"{number}|{state}|batch|ann|4|{limit}|{BEGIN + job.submit}|{eligible}|{start}|\n"

    def _records(self, command: tuple[str, ...]) -> str:
        """Return the records of a span, as they were a while ago."""
        assert command[: len(RECORDS)] == RECORDS
        lines = ""
        for number, job in enumerate(self.jobs):
            now = self.time - self.lag
            if job.submit > now:
                continue
            has_started = job.start is not None and job.start <= now
            is_over = job.end <= now
            state = (
                ("COMPLETED" if has_started else "CANCELLED by 5")
                if is_over
                else "RUNNING"
                if has_started
                else "PENDING"
            )
            start = BEGIN + job.start if has_started and job.start is not None else "Unknown"
            end = BEGIN + job.end if is_over else "Unknown"
            eligible = BEGIN + job.eligible if job.eligible <= now else "Unknown"
            lines += f"{number}|{BEGIN + job.submit}|{eligible}|{start}|{end}|{state}|batch|ann|4|20\n"
        return lines


@st.composite
def histories(draw: st.DrawFn) -> list[Job]:
    """Draw a few jobs of the first hours, short and long ones."""
    jobs = [Job(0, 0, 1, 20, 99_999)]  # so that a journal that is begun has an event
    spans = st.sampled_from([0, 1, 30, 200, 700, 3000])
    for _ in range(draw(st.integers(1, 6))):
        submit = draw(st.integers(10, 6000))
        eligible = submit + draw(st.sampled_from([0, 0, 40, 900]))
        left = eligible + draw(spans)
        start = left if draw(st.integers(0, 3)) else None
        jobs.append(Job(submit, eligible, start, left + 1 + draw(spans), submit + draw(st.sampled_from([50, 99_999]))))
    return jobs


DISTURBANCES = ("", "", "squeue", "sacct", "killed", "killed before it is kept", "clock", "slow", "late")


@examples(0.3)
@given(jobs=histories(), data=st.data())
def test_each_job_is_in_the_journal_once(jobs: list[Job], data: st.DataObject) -> None:
    """With its times, whatever happened; a change of a limit is told once at most."""
    slurm, wrong = Disturbed(jobs), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        journal, sensor = _begun(path, slurm)
        steps = data.draw(st.lists(st.tuples(st.sampled_from(DISTURBANCES), st.integers(20, 400)), max_size=30))
        for what, gap in [("", 5), *steps, *[("", 300)] * 50]:
            slurm.time += gap
            slurm.away = what if what in ("squeue", "sacct") else ""
            slurm.takes = 25 if what == "slow" else 0
            slurm.lag = 300 if what == "late" else 0
            clock = data.draw(st.sampled_from([-30_000, -400, 500, 40_000])) if what == "clock" else 0
            heard: list[JobEvent] = []
            try:
                heard = sensor.poll(float(BEGIN + slurm.time + clock))
            except SensorError as error:
                wrong.append(str(error))
            if what != "killed before it is kept":
                journal.append(in_order(heard))
            if what.startswith("killed"):
                journal.close()
                journal, sensor = _begun(path, slurm)
        journal.close()
        told = [(event.kind, event.time, event.job.split("@")[0]) for event in read_journal(path)]
    assert all(each.startswith("squeue is away") for each in wrong)  # then, or before, and it is not asked again yet
    changed = [name for kind, _, name in told if kind == "changed"]
    assert len(changed) == len(set(changed))
    expected = [each for number, job in enumerate(jobs) for each in job.events(str(number))]
    optional = [
        ("eligible", float(BEGIN + job.eligible), str(number)) for number, job in enumerate(jobs) if job.start is None
    ]
    mine = [each for each in told if each[0] != "changed" and each not in optional]
    assert sorted(mine) == sorted(expected)


def _begun(path: Path, slurm: Disturbed) -> tuple[Journal, PatientSensor]:
    """Return a journal, and a sensor that goes on with it; its patience follows Slurm's time."""
    journal = Journal(path)
    ticks = lambda: float(slurm.time)  # noqa: E731
    sensor = SlurmSensor(slurm, list(read_journal(path)), patience=Patience(ticks, lambda: 0.5))
    return journal, PatientSensor(sensor, Patience(ticks, lambda: 0.5))
