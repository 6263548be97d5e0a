# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor makes of what squeue and sacct print; a real Slurm is heard of in tests/real_slurm."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from pipelines.service.sensors import slurm
from pipelines.service.sensors.slurm import PATIENCE, QUEUE, SensorError, SlurmSensor, run_command
from swftools.live import JobEvent


class Commands:
    """What squeue and sacct print, and what was asked."""

    def __init__(self) -> None:
        self.queue: list[str] = []
        self.records: list[str] = []
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, command: tuple[str, ...]) -> str:
        """Print what there is."""
        self.asked.append(command)
        return "".join(f"{line}\n" for line in (self.queue if command == QUEUE else self.records))


WAITS = "7|PENDING|batch|ann|4|1:00:00|1000|N/A"
RUNS = "7|RUNNING|batch|ann|4|1:00:00|1000|1060"
SUBMITTED = JobEvent("submitted", 1000.0, "7@1000", "", 4, 3600.0, {"queue": "batch", "user": "ann"})
STARTED = JobEvent("started", 1060.0, "7@1000")
ENDED = JobEvent("ended", 1200.0, "7@1000")


def test_a_job_that_waits_runs_and_ends() -> None:
    """Each event is told when it is heard, once; sacct is asked for what is gone, and for nothing else."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS]
    assert sensor.poll(1010.0) == [SUBMITTED]
    assert sensor.poll(1020.0) == []
    commands.queue = [RUNS]
    assert sensor.poll(1070.0) == [STARTED]
    assert sensor.poll(1080.0) == []
    assert commands.asked == [QUEUE] * 4
    commands.queue, commands.records = [], ["7|1000|1060|1200|COMPLETED|batch|ann|4|60"]
    assert sensor.poll(1210.0) == [ENDED]
    assert commands.asked[-1][-2:] == ("--starttime=1970-01-01T00:16:39", "--jobs=7")
    assert sensor.poll(1220.0) == []
    assert commands.asked[-1] == QUEUE


def test_what_happened_between_two_polls() -> None:
    """A start and an end by sacct; a job that runs when it is first heard of; one that left without a start."""
    commands = Commands()
    commands.queue = [WAITS, "8|RUNNING|gpu|bob|16|UNLIMITED|900|950", "9_3|PENDING|batch|ann|1|1-00:00:00|1001|N/A"]
    sensor = SlurmSensor(commands)
    heard = sensor.poll(1010.0)
    assert [(event.kind, event.job, event.requested_time) for event in heard] == [
        ("submitted", "7@1000", 3600.0),
        ("submitted", "8@900", None),
        ("started", "8@900", None),
        ("submitted", "9_3@1001", 86_400.0),
    ]
    commands.queue = []
    commands.records = [
        "7|1000|1060|1200|FAILED|batch|ann|4|60",
        "8|900|950|1205|TIMEOUT|batch|ann|4|60",
        "9_3|1001|None|1150|CANCELLED by 1000|batch|ann|4|60",
    ]
    assert sensor.poll(1300.0) == [
        STARTED,
        ENDED,
        JobEvent("ended", 1205.0, "8@900"),
        JobEvent("cancelled", 1150.0, "9_3@1001"),
    ]


def test_a_record_that_comes_late_or_never() -> None:
    """It is asked for again; after a while the job has left, and nothing is learnt of its wait."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS, "8|RUNNING|gpu|bob|16|60|900|950"]
    sensor.poll(1010.0)
    commands.queue, commands.records = [], ["8|900|950|Unknown|RUNNING|batch|ann|4|60"]
    for _ in range(PATIENCE - 2):
        assert sensor.poll(1300.0) == []
    commands.records = ["7|1000|1060|1200|COMPLETED|batch|ann|4|60"]
    assert sensor.poll(1310.0) == [STARTED, ENDED]
    assert sensor.poll(1320.0) == [JobEvent("ended", 1320.0, "8@900")]


def test_ids_that_come_again() -> None:
    """An id with another submission is another job; a record of the other says nothing of this."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS]
    sensor.poll(1010.0)
    commands.queue = ["7|RUNNING|batch|cid|2|5:00|5000|5001"]
    commands.records = ["7|5000|5001|Unknown|RUNNING|batch|ann|4|60", "7|1000|1060|1200|COMPLETED|batch|ann|4|60"]
    heard = sensor.poll(5010.0)
    assert [(event.kind, event.job) for event in heard] == [
        ("submitted", "7@5000"),
        ("started", "7@5000"),
        ("started", "7@1000"),
        ("ended", "7@1000"),
    ]


def test_it_goes_on_from_a_journal() -> None:
    """Who waited and ran then, and is gone now, is asked for; who is still there is not told again."""
    commands = Commands()
    before = [SUBMITTED, JobEvent("submitted", 900.0, "8@900"), JobEvent("started", 950.0, "8@900")]
    before += [JobEvent("submitted", 800.0, "5@800"), JobEvent("cancelled", 801.0, "5@800")]
    sensor = SlurmSensor(commands, before)
    commands.queue, commands.records = [RUNS], ["8|900|950|1100|COMPLETED|batch|ann|4|60"]
    assert sensor.poll(1210.0) == [STARTED, JobEvent("ended", 1100.0, "8@900")]
    assert commands.asked[-1][-2:] == ("--starttime=1970-01-01T00:14:59", "--jobs=8")


def test_who_came_and_went_between_two_polls() -> None:
    """Is told of, once, when sacct is asked the next time: because somebody is gone, or after five minutes."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    assert sensor.poll(1000.0) == []
    commands.records = [
        "7|1000|1060|1200|COMPLETED|batch|ann|4|60",
        "8|1010|None|1020|CANCELLED by 5|gpu|bob|0|UNLIMITED",
        "6|500|510|870|COMPLETED|batch|ann|4|60",  # ended before anything was asked: it was told then, if at all
        "9|1010|1020|Unknown|RUNNING|batch|ann|4|60",
        "9_[1-4]|1010|Unknown|Unknown|PENDING|batch|ann|4|60",
        "no record",
        "8|N/A|None|1020|FAILED|gpu|bob|0|UNLIMITED",
    ]
    assert sensor.poll(1299.0) == []
    heard = sensor.poll(1300.0)
    assert commands.asked[-1][-1] == "--starttime=1970-01-01T00:14:40"
    assert heard == [
        SUBMITTED,
        STARTED,
        ENDED,
        JobEvent("submitted", 1010.0, "8@1010", "", None, None, {"queue": "gpu", "user": "bob"}),
        JobEvent("cancelled", 1020.0, "8@1010"),
    ]
    commands.queue = [
        "1|PENDING|batch|ann|1|5:00|900|N/A",
        *(f"{job}|RUNNING|batch|ann|1|5:00|1310|1310" for job in range(20, 24)),
    ]
    assert len(sensor.poll(1310.0)) == 9
    commands.queue = []
    assert [event.job for event in sensor.poll(1320.0)] == []  # the records lag; none is told twice
    commands.records += [f"{job}|1310|1310|1315|COMPLETED|batch|ann|1|5" for job in range(20, 24)]
    assert [event.job for event in sensor.poll(1330.0)] == [f"{job}@1310" for job in range(20, 24)]
    for now in (1400.0, 1700.0, 2100.0):
        assert [event for event in sensor.poll(now) if event.kind != "cancelled"] == []


def test_many_that_are_gone_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are asked for by their ids, in parts; a job that came weeks ago does not bring the records of weeks."""
    monkeypatch.setattr(slurm, "AT_ONCE", 2)
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [f"{job}|PENDING|batch|ann|1|5:00|{1000 + job}|N/A" for job in range(5)]
    commands.queue.append("9|PENDING|p|u|1|5|N/A|N/A")  # no job without a submission
    assert len(sensor.poll(2_000_000.0)) == 5
    commands.queue = []
    commands.records = [f"{job}|{1000 + job}|1501|1502|COMPLETED|batch|ann|1|5" for job in range(5)]
    assert len(sensor.poll(2_000_060.0)) == 10
    assert [asked[-2:] for asked in commands.asked[2:]] == [
        ("--starttime=1970-01-01T00:16:39", "--jobs=0,1"),
        ("--starttime=1970-01-01T00:16:41", "--jobs=2,3"),
        ("--starttime=1970-01-01T00:16:43", "--jobs=4"),
    ]


def script(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "echo 'slurm_load_jobs error: \x1b[31mno' >&2; exit 1",
            r"squeue ended with 1: slurm_load_jobs error: \\x1b\[31mno",
        ),
        ("sleep 5", "squeue did not answer within 0 s"),
        (None, "squeue is not there"),
    ],
)
def test_a_slurm_that_does_not_answer(
    text: str | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error that says what was asked; nothing is lost."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin" if text else str(tmp_path))
    monkeypatch.setattr(slurm, "SECONDS", 0.3)
    if text is not None:
        script(tmp_path / "squeue", text)
    with pytest.raises(SensorError, match=told):
        SlurmSensor().poll(0.0)


def test_a_command_has_times_in_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment, whatever the user's own is."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    script(tmp_path / "squeue", 'echo "7|PENDING|$SLURM_TIME_FORMAT|$TZ $LC_ALL|$#|5|10|N/A"')
    assert run_command(QUEUE) == f"7|PENDING|%s|UTC C|{len(QUEUE) - 1}|5|10|N/A\n"
    events: Any = SlurmSensor().poll(20.0)
    assert [event.job for event in events] == ["7@10"]


def test_a_start_that_is_only_expected() -> None:
    """Squeue prints when a job that waits may start: it has not."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = ["7|PENDING|batch|ann|4|1:00:00|1000|1500"]
    assert sensor.poll(1010.0) == [SUBMITTED]
    assert sensor.poll(1600.0) == []


def test_who_is_still_in_the_queue_is_told_of_by_it_alone() -> None:
    """A job that completes, of which sacct says already that it ended; and sacct is not asked again at once."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    sensor.poll(1000.0)
    commands.queue = ["7|COMPLETING|batch|ann|4|1:00:00|1000|1060"]
    commands.records = ["7|1000|1060|1200|COMPLETED|batch|ann|4|60"]
    assert sensor.poll(1300.0) == [SUBMITTED, STARTED]
    asked = len(commands.asked)
    assert sensor.poll(1310.0) == []
    assert commands.asked[asked:] == [QUEUE]
    commands.queue = []
    assert sensor.poll(1320.0) == [ENDED]
