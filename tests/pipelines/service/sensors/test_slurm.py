# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor makes of what squeue and sacct print; a real Slurm is heard of in tests/real_slurm."""

from __future__ import annotations

import pytest

from pipelines.service.sensors.followed import LONG, LOOKS
from pipelines.service.sensors.slurm import QUEUE, SlurmSensor
from swftools.live import JobEvent
from tests.pipelines.service.sensors.commands import ENDED, RECORD, RUNS, STARTED, SUBMITTED, WAITS, Commands, brief


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
    monkeypatch.setattr("pipelines.service.sensors.slurm_records.AT_ONCE", 2)
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
