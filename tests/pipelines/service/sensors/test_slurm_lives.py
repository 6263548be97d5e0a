# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of Slurm that are held, changed, queued again, of arrays, of parts, of federations: by recorded outputs."""

from __future__ import annotations

from pipelines.service.sensors.slurm import SlurmSensor
from swftools.live import JobEvent
from tests.pipelines.service.sensors.commands import RECORD, WAITS, Commands, brief


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


def test_a_start_that_is_only_expected() -> None:
    """Squeue prints when a job that waits may start: it has not; the same of one that is queued again."""
    commands = Commands()
    sensor = SlurmSensor(commands)
    commands.queue = ["7|PENDING|batch|ann|4|1:00:00|1000|1000|1500|", "8|REQUEUE_HOLD|b|ann|4|5:00|1000|N/A|1500|"]
    assert brief(sensor.poll(1010.0)) == [("submitted", 1000.0, "7@1000"), ("submitted", 1000.0, "8@1000")]
    assert sensor.poll(1600.0) == []


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
