# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm, its database or the clock that is not as it should be."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from pipelines.service.sensors.followed import LONG, LOOKS, NEVER_ASKED
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.sensor import SensorError
from pipelines.service.sensors.slurm import COLUMNS, QUEUE, SlurmSensor, SlurmSettings
from swftools.live import JobEvent
from tests.pipelines.service.sensors.commands import ENDED, RECORD, STARTED, SUBMITTED, WAITS, Commands, brief, script


def test_a_database_that_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    """What squeue tells is told; ends are told when it answers again, and that is said once. No back-off at first."""
    commands = Commands()
    sensor = SlurmSensor(commands, patience=Patience(lambda: 0.0))
    commands.queue, commands.away = [WAITS], {"sacct"}
    assert sensor.poll(1010.0) == [SUBMITTED]
    commands.queue = ["8|PENDING|b|ann|1|5:00|1300|1300|N/A|"]
    with caplog.at_level(logging.WARNING):
        assert brief(sensor.poll(1310.0)) == [("submitted", 1300.0, "8@1300")]
        assert sensor.poll(1320.0) == []
    assert [record.getMessage() for record in caplog.records] == [
        "ends of jobs are not known, and told later: sacct ended with 1: it is away"
    ]
    assert sensor.notice == "sacct does not answer: ends of jobs are told later"
    assert len(commands.asked_of("sacct")) == 2
    assert sensor.poll(1330.0) == []
    assert len(commands.asked_of("sacct")) == 2  # it is not asked each time
    again = SlurmSensor(commands, [SUBMITTED])
    again.poll(1335.0)
    assert again.notice is not None
    commands.away, commands.records = set(), [RECORD]
    assert brief(again.poll(1340.0)) == [("started", 1060.0, "7@1000"), ("ended", 1200.0, "7@1000")]
    assert again.notice is None


def test_a_cluster_without_a_database() -> None:
    """After a day who is gone has left: memory does not grow for ever."""
    commands = Commands()
    commands.queue, commands.away = [WAITS, "8|RUNNING|b|ann|1|5:00|1000|1000|1001|"], {"sacct"}
    sensor = SlurmSensor(commands, patience=Patience(lambda: 0.0))
    sensor.poll(1010.0)
    commands.queue = []
    assert sensor.poll(1100.0) == []
    assert sensor.poll(1099.0 + NEVER_ASKED) == []
    assert sorted(brief(sensor.poll(1100.0 + NEVER_ASKED))) == [
        ("cancelled", 1100.0, "7@1000"),
        ("ended", 1100.0, "8@1000"),
    ]
    assert sensor.poll(1200.0 + NEVER_ASKED) == []


def test_a_clock_that_is_moved_back() -> None:
    """By a year: jobs are heard of, records are asked for again five minutes later, and nothing is told twice."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    year = 31_536_000.0
    commands.queue = [WAITS]
    sensor.poll(1010.0 + year)
    commands.queue, commands.records = [], [RECORD]
    assert sensor.poll(1210.0) == [STARTED, ENDED]
    assert commands.spans()[-1][0] == "--starttime=1970-01-01T00:05:10"
    asked = len(commands.spans())
    assert sensor.poll(1500.0) == []
    assert sensor.poll(1511.0) == []
    assert len(commands.spans()) == asked + 1


def test_a_clock_that_jumps_while_somebody_is_missing() -> None:
    """The time since it was missed counts from the earlier clock: a jump forward and back does not hold it up."""
    commands = Commands()
    commands.queue = [WAITS]
    sensor = SlurmSensor(commands)
    sensor.poll(1010.0)
    commands.queue = []
    assert sensor.poll(900_000.0) == []
    for look in range(LOOKS - 2):
        assert sensor.poll(1100.0 + look) == []
    assert sensor.poll(1100.0 + LONG) == [JobEvent("cancelled", 1100.0, "7@1000")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "echo 'slurm_load_jobs error: \x1b[31mno' >&2; exit 1",
            r"squeue ended with 1: slurm_load_jobs error: \\x1b\[31mno",
        ),
        ("sleep 5", "squeue did not answer within 0 s"),
        (None, "squeue is not there .*: run it where Slurm's commands are"),
        ("echo Usage: squeue", "squeue prints what is not understood: Usage: squeue"),
    ],
)
def test_a_slurm_that_does_not_answer(
    text: str | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error that says what was asked; nothing is lost."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin" if text else str(tmp_path))

    settings = SlurmSettings(timeout=0.3)
    if text is not None:
        script(tmp_path / "squeue", text)
    with pytest.raises(SensorError, match=told):
        SlurmSensor(settings=settings).poll(0.0)


def test_a_command_has_times_in_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment, whatever the user's own is; the folder of the commands and slurm.conf are as settings say."""
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    line = '"7|PENDING|$SLURM_TIME_FORMAT|$TZ $LC_ALL $SLURM_CONF $SLURM_BITSTR_LEN|$#|5|10|10|N/A|"'
    script(tmp_path / "squeue", f"echo {line}")
    events: Any = SlurmSensor(settings=SlurmSettings(folder=str(tmp_path), conf="/etc/x.conf")).poll(20.0)
    (event,) = events
    assert (event.job, event.processors) == ("7@10", len(QUEUE) - 1)
    assert event.groups == {"queue": "%s", "user": "UTC C /etc/x.conf 0"}
    assert len(COLUMNS) == line.count("|")


def test_a_change_that_was_told_by_a_wrong_clock() -> None:
    """After a restart what happened since the last event of Slurm's own clock is asked for all the same."""
    commands = Commands()
    changed = JobEvent("changed", 9_000_000.0, "7@1000", "", 4, 60.0, {"queue": "batch"})
    sensor = SlurmSensor(commands, [SUBMITTED, changed, STARTED, ENDED])
    commands.records = ["8|1210|1210|1220|1230|COMPLETED|gpu|bob|1|5"]
    assert len(sensor.poll(9000.0)) == 3
