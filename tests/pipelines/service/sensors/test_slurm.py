# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor makes of what squeue and sacct print; a real Slurm is heard of in tests/real_slurm."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from pipelines.service.sensors import slurm_records
from pipelines.service.sensors.followed import LONG, LOOKS, NEVER_ASKED
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.sensor import SensorError
from pipelines.service.sensors.slurm import COLUMNS, QUEUE, SlurmSensor, SlurmSettings
from swftools.live import JobEvent
from tests.pipelines.service.sensors.commands import Commands, script

WAITS = "7|PENDING|batch|ann|4|1:00:00|1000|1000|N/A|"
RUNS = "7|RUNNING|batch|ann|4|1:00:00|1000|1000|1060|"
RECORD = "7|1000|1000|1060|1200|COMPLETED|batch|ann|4|60"
SUBMITTED = JobEvent("submitted", 1000.0, "7@1000", "", 4, 3600.0, {"queue": "batch", "user": "ann"})
STARTED = JobEvent("started", 1060.0, "7@1000")
ENDED = JobEvent("ended", 1200.0, "7@1000", outcome="completed")


def brief(events: list[JobEvent]) -> list[tuple[str, float, str]]:
    """Return kind, time and job of events."""
    return [(event.kind, event.time, event.job) for event in events]


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
    commands.queue, commands.records = [], [RECORD]
    assert sensor.poll(1210.0) == [ENDED]
    assert commands.spans() == [("--starttime=1970-01-01T00:03:00", "--endtime=1970-01-01T00:35:10", "--jobs=7")]
    assert sensor.poll(1220.0) == []
    assert commands.asked[-1] == QUEUE


def test_what_happened_between_two_polls() -> None:
    """A start and an end by sacct; a job that runs when it is first heard of; one that left without a start."""
    commands = Commands()
    commands.queue = [
        WAITS,
        "8|RUNNING|gpu|bob|16|UNLIMITED|900|900|950|",
        "9_3|PENDING|batch|ann|1|1-00:00:00|1001|N/A|N/A|",
    ]
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
        "7|1000|1000|1060|1200|FAILED|batch|ann|4|60",
        "8|900|900|950|1205|TIMEOUT|batch|ann|4|60",
        "9_3|1001|Unknown|None|1150|CANCELLED by 1000|batch|ann|4|60",
    ]
    heard = sensor.poll(1300.0)
    assert sorted(brief(heard)) == [
        ("cancelled", 1150.0, "9_3@1001"),
        ("ended", 1200.0, "7@1000"),
        ("ended", 1205.0, "8@900"),
        ("started", 1060.0, "7@1000"),
    ]
    assert {event.outcome for event in heard} == {None, "failed"}


def test_a_record_that_comes_late_or_never() -> None:
    """It is asked for again; after many looks and a while the job has left, when it was missed; no wait is learnt."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS, "8|RUNNING|gpu|bob|16|60|900|900|950|"]
    sensor.poll(1010.0)
    commands.queue, commands.records = [], ["8|900|900|950|Unknown|RUNNING|batch|ann|4|60"]
    for look in range(LOOKS - 2):
        assert sensor.poll(1100.0 + look) == []
    commands.records = [RECORD]
    assert sensor.poll(1210.0) == [STARTED, ENDED]
    for now in (1220.0, 1230.0, 1240.0, 1099.0 + LONG):
        assert sensor.poll(now) == []
    assert sensor.poll(1100.0 + LONG) == [JobEvent("ended", 1100.0, "8@900")]
    assert sensor.poll(1110.0 + LONG) == []


def test_many_looks_alone_are_not_enough_and_a_while_alone_neither() -> None:
    """Polls may be seconds apart, or an hour."""
    commands = Commands()
    commands.queue = [WAITS]
    sensor = SlurmSensor(commands)
    sensor.poll(1010.0)
    commands.queue = []
    assert [event for look in range(3 * LOOKS) for event in sensor.poll(1100.0 + look)] == []
    commands.queue = [WAITS]
    assert sensor.poll(1200.0) == []  # it was left out, and is there
    commands.queue = []
    later = [sensor.poll(1300.0 + 3 * LONG * look) for look in range(LOOKS)]
    assert later == [[]] * (LOOKS - 1) + [[JobEvent("cancelled", 1300.0, "7@1000")]]


def test_who_has_left_does_not_come_back() -> None:
    """Squeue may show for a while what sacct has as over, and who was given up may be there: nothing is told again."""
    commands = Commands()
    sensor = SlurmSensor(commands, [SUBMITTED, STARTED, ENDED])
    commands.queue = [RUNS]
    assert sensor.poll(1210.0) == []
    commands.queue = [WAITS]
    assert sensor.poll(1220.0) == []


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


def test_ids_that_come_again() -> None:
    """An id with another submission is another job; a record of the other says nothing of this."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS]
    sensor.poll(1010.0)
    commands.queue = ["7|RUNNING|batch|cid|2|5:00|5000|5000|5001|"]
    commands.records = ["7|5000|5000|5001|Unknown|RUNNING|batch|ann|4|60", RECORD]
    assert brief(sensor.poll(5010.0)) == [
        ("submitted", 5000.0, "7@5000"),
        ("started", 5001.0, "7@5000"),
        ("started", 1060.0, "7@1000"),
        ("ended", 1200.0, "7@1000"),
    ]


def test_it_goes_on_from_a_journal() -> None:
    """Who waited and ran then, and is gone now, is asked for; who is still there is not told again."""
    commands = Commands()
    before = [SUBMITTED, JobEvent("submitted", 900.0, "8@900"), JobEvent("started", 950.0, "8@900")]
    before += [JobEvent("submitted", 800.0, "5@800"), JobEvent("cancelled", 801.0, "5@800")]
    sensor = SlurmSensor(commands, before)
    commands.queue, commands.records = [RUNS], ["8|900|900|950|1100|COMPLETED|batch|ann|4|60"]
    assert brief(sensor.poll(1210.0)) == [("started", 1060.0, "7@1000"), ("ended", 1100.0, "8@900")]
    assert commands.spans()[0][0] == "--starttime=1970-01-01T00:01:40"  # somewhat before the newest event
    assert [each[-1] for each in commands.spans()] == ["--jobs=8"]


def test_a_journal_that_does_not_say_what_jobs_ask_for() -> None:
    """What squeue says of them is no change."""
    commands = Commands()
    sensor = SlurmSensor(commands, [JobEvent("submitted", 1000.0, "7@1000")])
    commands.queue = [WAITS]
    assert sensor.poll(1010.0) == []


def test_a_restart_looks_for_all_that_came_meanwhile() -> None:
    """From the newest event on, and a little before; what the journal has is not told again."""
    commands = Commands()
    sensor = SlurmSensor(commands, [SUBMITTED, STARTED, ENDED])
    commands.records = [RECORD, "8|1210|1210|1220|1230|COMPLETED|gpu|bob|1|5"]
    assert brief(sensor.poll(9000.0)) == [
        ("submitted", 1210.0, "8@1210"),
        ("started", 1220.0, "8@1210"),
        ("ended", 1230.0, "8@1210"),
    ]
    assert commands.spans() == [("--starttime=1970-01-01T00:05:00", "--endtime=1970-01-01T02:30:00")]


def test_a_change_that_was_told_by_a_wrong_clock() -> None:
    """After a restart what happened since the last event of Slurm's own clock is asked for all the same."""
    commands = Commands()
    changed = JobEvent("changed", 9_000_000.0, "7@1000", "", 4, 60.0, {"queue": "batch"})
    sensor = SlurmSensor(commands, [SUBMITTED, changed, STARTED, ENDED])
    commands.records = ["8|1210|1210|1220|1230|COMPLETED|gpu|bob|1|5"]
    assert len(sensor.poll(9000.0)) == 3


def test_who_came_and_went_between_two_polls() -> None:
    """Is told of once, when sacct is asked after five minutes; also if its record comes a quarter of an hour late."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    assert sensor.poll(1000.0) == []
    commands.records = [
        RECORD,
        "8|1010|1010|None|1020|CANCELLED by 5|gpu|bob|0|UNLIMITED",
        "6|500|500|510|870|COMPLETED|batch|ann|4|60",  # ended before anything was asked
        "9|1010|1010|1020|Unknown|RUNNING|batch|ann|4|60",
        "9_[1-4]|1010|1010|Unknown|Unknown|PENDING|batch|ann|4|60",
        "no record",
        "8|N/A|N/A|None|1020|FAILED|gpu|bob|0|UNLIMITED",
    ]
    assert sensor.poll(1299.0) == []
    assert sensor.poll(1300.0) == [
        SUBMITTED,
        STARTED,
        ENDED,
        JobEvent("submitted", 1010.0, "8@1010", "", None, None, {"queue": "gpu", "user": "bob"}),
        JobEvent("cancelled", 1020.0, "8@1010"),
    ]
    assert commands.spans() == [("--starttime=1970-01-01T00:16:40", "--endtime=1970-01-01T00:21:40")]
    for now in (1400.0, 1600.0, 1900.0):
        assert sensor.poll(now) == []
    commands.records.append("10|1301|1301|1302|1303|COMPLETED|gpu|bob|1|5")
    assert brief(sensor.poll(2200.0))[-1] == ("ended", 1303.0, "10@1301")
    assert [event for now in range(2500, 9000, 300) for event in sensor.poll(float(now))] == []
    assert sensor._jobs._over == {}  # memory is of the time that is still looked at


def test_many_that_are_gone_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are asked for by their ids, in parts; a job that came weeks ago does not bring the records of weeks."""
    monkeypatch.setattr(slurm_records, "AT_ONCE", 2)
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [f"{job}|PENDING|batch|ann|1|5:00|{1000 + job}|N/A|N/A|" for job in range(5)]
    commands.queue.append("9|PENDING|p|u|1|5|N/A|N/A|N/A|")  # no job without a submission
    assert len(sensor.poll(2_000_000.0)) == 5
    commands.queue = []
    commands.records = [f"{job}|{1000 + job}|1200|1501|1502|COMPLETED|batch|ann|1|5" for job in range(5)]
    assert len(sensor.poll(2_000_060.0)) == 15
    assert [set(each[2][7:].split(",")) for each in commands.spans()] == [{"0", "1"}, {"2", "3"}, {"4"}]
    assert {each[0] for each in commands.spans()} == {"--starttime=1970-01-24T03:18:20"}


def test_a_start_that_is_only_expected() -> None:
    """Squeue prints when a job that waits may start: it has not; the same of one that is queued again."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = ["7|PENDING|batch|ann|4|1:00:00|1000|1000|1500|", "8|REQUEUE_HOLD|b|ann|4|5:00|1000|N/A|1500|"]
    assert brief(sensor.poll(1010.0)) == [("submitted", 1000.0, "7@1000"), ("submitted", 1000.0, "8@1000")]
    assert sensor.poll(1600.0) == []


def test_who_is_still_in_the_queue_is_told_of_by_it_alone() -> None:
    """A job that completes, of which sacct says already that it ended; and sacct is not asked again at once."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    sensor.poll(1000.0)
    commands.queue = ["7|COMPLETING|batch|ann|4|1:00:00|1000|1000|1060|"]
    commands.records = [RECORD]
    assert sensor.poll(1300.0) == [SUBMITTED, STARTED]
    asked = len(commands.asked)
    assert sensor.poll(1310.0) == []
    assert commands.asked[asked:] == [QUEUE]
    commands.queue = []
    assert sensor.poll(1320.0) == [ENDED]


def test_when_a_job_becomes_eligible() -> None:
    """Once, when that is past: not while it is expected, nor where it is the submission; again after another hold."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS, "8|PENDING|b|ann|1|5:00|1000|1100|1100|", "9|PENDING|b|ann|1|5:00|1000|N/A|N/A|"]
    assert {kind for kind, _, _ in brief(sensor.poll(1099.0))} == {"submitted"}
    assert brief(sensor.poll(1100.0)) == [("eligible", 1100.0, "8@1000")]
    assert sensor.poll(1101.0) == []
    commands.queue[2] = "9|PENDING|b|ann|1|5:00|1000|1150|N/A|"
    assert brief(sensor.poll(1160.0)) == [("eligible", 1150.0, "9@1000")]
    commands.queue[2] = "9|PENDING|b|ann|1|5:00|1000|N/A|N/A|"
    assert sensor.poll(1170.0) == []
    commands.queue[2] = "9|RUNNING|b|ann|1|5:00|1000|1180|1190|"
    assert brief(sensor.poll(1200.0)) == [("eligible", 1180.0, "9@1000"), ("started", 1190.0, "9@1000")]


def test_what_changes_while_a_job_waits() -> None:
    """Its queue, width or limit: told with all of them. The partition where it starts is no change; nor a restart."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = ["7|PENDING|a,b|ann|4|1:00:00|1000|1000|N/A|"]
    (submitted,) = sensor.poll(1010.0)
    assert submitted.groups["queue"] == "a,b"
    commands.queue = ["7|PENDING|a,b|ann|4|30:00|1000|1000|N/A|"]
    groups = {"queue": "a,b", "user": "ann"}
    changed = sensor.poll(1020.9)
    assert changed == [JobEvent("changed", 1020.0, "7@1000", "", 4, 1800.0, groups)]
    assert sensor.poll(1030.0) == []
    again = SlurmSensor(commands, [submitted, *changed])
    assert again.poll(1040.0) == []
    commands.queue = ["7|RUNNING|b|ann|8|30:00|1000|1000|1060|"]
    assert brief(again.poll(1070.0)) == [("started", 1060.0, "7@1000")]


def test_a_job_that_is_queued_again() -> None:
    """By Slurm's own submission it is another job; the first one ended, though its state is REQUEUED. Recorded."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = ["12|RUNNING|batch|root|1|5:00|1795807269|1795807269|1795807269|"]
    sensor.poll(1795807270.0)
    commands.queue = ["12|PENDING|batch,second|root|1|5:00|1795807273|1795807394|1795807394|"]
    commands.records = [
        "12|1795807269|1795807269|1795807269|1795807273|REQUEUED|batch|root|1|5",
        "12|1795807273|1795807394|Unknown|Unknown|PENDING|batch,second|root|1|5",
    ]
    assert brief(sensor.poll(1795807276.0)) == [
        ("submitted", 1795807273.0, "12@1795807273"),
        ("ended", 1795807273.0, "12@1795807269"),
    ]


def test_a_sibling_of_a_federation_that_is_revoked() -> None:
    """It started elsewhere: here it left the queue; a record of a start here says more."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [WAITS, "8|PENDING|b|ann|1|5:00|1000|1000|N/A|"]
    sensor.poll(1010.0)
    commands.queue = []
    commands.records = [
        "7|1000|1000|1060|1060|REVOKED|batch|ann|4|60",
        "8|1000|1000|1060|1080|COMPLETED|b|ann|1|5",
        "8|1000|1000|1060|1060|REVOKED|b|ann|1|5",
    ]
    assert sorted(brief(sensor.poll(1100.0))) == [
        ("cancelled", 1060.0, "7@1000"),
        ("ended", 1080.0, "8@1000"),
        ("started", 1060.0, "8@1000"),
    ]


def test_tasks_of_an_array_that_is_cancelled_as_a_whole() -> None:
    """Sacct has one record for them. Recorded."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [f"13_{task}|PENDING|batch|root|1|1:00|1795807273|N/A|N/A|" for task in (1, 2, 4, 9)]
    assert len(sensor.poll(1795807274.0)) == 4
    commands.queue = []
    commands.records = ["13_[1-2,4,9%2]|1795807273|Unknown|1795807276|1795807276|CANCELLED by 0|batch|root|1|1"]
    heard = sensor.poll(1795807280.0)
    assert sorted(brief(heard)) == [("cancelled", 1795807276.0, f"13_{task}@1795807273") for task in (1, 2, 4, 9)]
    assert commands.spans()[0][-1] == "--jobs=13"  # by a task sacct finds nothing


def test_parts_of_a_job_that_start_together() -> None:
    """Each is a job of its own. Recorded."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = [
        "16+0|RUNNING|batch|root|2|15:00|1795807309|1795807309|1795807310|",
        "16+1|RUNNING|batch|root|4|15:00|1795807309|1795807309|1795807310|",
    ]
    heard = sensor.poll(1795807311.0)
    assert [(event.job, event.processors) for event in heard if event.kind == "submitted"] == [
        ("16+0@1795807309", 2),
        ("16+1@1795807309", 4),
    ]


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
