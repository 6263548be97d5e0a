# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm says of its machine and of whose jobs are seen; spans that its database finds too wide; ids of arrays."""

from __future__ import annotations

import pytest

from pipelines.service.sensors import slurm_machine
from pipelines.service.sensors.commands import Run
from pipelines.service.sensors.sensor import Machine, QueueLimits, SensorError
from pipelines.service.sensors.slurm import SlurmSensor
from pipelines.service.sensors.slurm_machine import (
    CONFIGURATION,
    PARTITIONS,
    PROCESSORS,
    RESTRICTED,
    read_machine,
    read_notice,
)
from pipelines.service.sensors.slurm_records import SlurmRecords, tasks_of

TWO = (
    "PartitionName=batch AllowGroups=ALL Default=YES QoS=N/A DefaultTime=NONE MaxTime=1-00:00:00 MinNodes=0 "
    "State=UP TotalCPUs=16 TotalNodes=2 TRES=cpu=16,mem=32000M\n"
    "PartitionName=second Default=NO DefaultTime=00:10:00 MaxTime=UNLIMITED TotalCPUs=8 TotalNodes=1\n\n"
)


def says(answers: dict[tuple[str, ...], str]) -> Run:
    """Return what answers as it is told, and nothing else."""

    def run(command: tuple[str, ...]) -> str:
        for begin, text in answers.items():
            if command[: len(begin)] == begin:
                return text
        raise SensorError(f"{command[0]} ended with 1")

    return run


def test_what_the_machine_is() -> None:
    """Its processors once, also where partitions share nodes; limits and defaults where there are some. Recorded."""
    assert read_machine(says({PARTITIONS: TWO, PROCESSORS: "12/4/0/16\n"})) == Machine(
        16, {"batch": QueueLimits(True, 86_400.0, None, 16), "second": QueueLimits(False, None, 600.0, 8)}
    )
    assert read_machine(says({PARTITIONS: "", PROCESSORS: "0/81920/0/80K\n1/2/3/6"})) == Machine(81_926)
    assert read_machine(says({PARTITIONS: "", PROCESSORS: ""})) == Machine()


@pytest.mark.parametrize(
    ("private", "user", "level", "is_restricted"),
    [
        ("none", "ann", None, False),
        ("accounts,jobs,usage", "ann", "", True),
        ("jobs", "ann", None, True),
        ("jobs", "ann", "None", True),
        ("jobs", "ann", "Operator", False),
        ("jobs", "ann", "Administrator", False),
        ("jobs", "root", None, False),
        ("jobs", "slurm", None, False),
        ("reservations,jobs2", "ann", None, False),
    ],
)
def test_whose_jobs_are_seen(private: str, user: str, level: str | None, is_restricted: bool) -> None:
    """With PrivateData=jobs only an operator sees those of others; where nobody says so, it is said."""
    configuration = (
        f"MinJobAge               = 300 sec\nPrivateData             = {private}\nSlurmUser = slurm(64030)\n"
    )
    answers = {CONFIGURATION: configuration}
    if level is not None:
        answers[(*slurm_machine.USER, f"name={user}")] = f"{level}\n"
    assert read_notice(says(answers), user) == (RESTRICTED if is_restricted else None)


def test_that_is_said_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """In the log, and as long as it is so in the notice."""
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    answers = {CONFIGURATION: "PrivateData = jobs\n", PARTITIONS: TWO, PROCESSORS: "0/0/0/16"}
    sensor = SlurmSensor(says(answers))
    assert sensor.notice is None
    for _ in range(2):
        assert sensor.machine().processors == 16
        assert sensor.notice == RESTRICTED
    assert [record.getMessage() for record in caplog.records] == [RESTRICTED]
    answers[CONFIGURATION] = "PrivateData = none\n"
    sensor.machine()
    assert sensor.notice is None


def test_a_span_that_is_too_wide_for_the_database() -> None:
    """Is asked for in halves, down to ten minutes; other errors are not tried again."""
    asked: list[tuple[float, float]] = []

    def run(command: tuple[str, ...]) -> str:
        begin, end = (int(word[-2:]) + 60 * int(word[-5:-3]) + 3600 * int(word[-8:-6]) for word in command[-2:])
        asked.append((begin, end))
        if end - begin > 3000:
            raise SensorError("sacct ended with 1: sacct: error: slurmdbd: Too wide of a date range in query")
        return f"{begin}|{begin}|{begin}|{begin}|{end}|COMPLETED|b|ann|1|5\n"

    found = SlurmRecords(run).since(0.0, 8000.0)
    assert asked == [(0, 8000), (0, 4000), (0, 2000), (2000, 4000), (4000, 8000), (4000, 6000), (6000, 8000)]
    assert list(found) == ["2000@2000", "4000@4000", "6000@6000"]  # that of second 0 says no submission

    def never(_: tuple[str, ...]) -> str:
        asked.append((0, 0))
        raise SensorError("Too wide of a date range in query")

    asked.clear()
    with pytest.raises(SensorError, match="Too wide"):
        SlurmRecords(never).since(0.0, 8000.0)
    assert len(asked) == 5


def test_of_several_records_of_a_job_the_one_that_says_most() -> None:
    """A resized job has one for each size, and goes on behind the first."""
    lines = "7|10|10|20|30|RESIZING|b|ann|4|5\n7|10|10|20|50|COMPLETED|b|ann|2|5\n7|10|10|None|60|CANCELLED|b|ann|2|5\n"
    (record,) = SlurmRecords(lambda _: lines).since(0.0, 100.0).values()
    assert (record.end, record.is_over, record.outcome, record.processors) == (50.0, True, "completed", 2)
    (open_record,) = SlurmRecords(lambda _: lines.splitlines()[0]).since(0.0, 100.0).values()
    assert not open_record.is_over


def test_ids_of_arrays() -> None:
    """As squeue and sacct write them; what is cut off is not guessed."""
    assert tasks_of("9_[1-3,7%2]") == ["9_1", "9_2", "9_3", "9_7"]
    assert tasks_of("9_[0-6:3]") == ["9_0", "9_3", "9_6"]
    assert tasks_of("9_[1-2,5,...]") == ["9_1", "9_2", "9_5"]
    assert [tasks_of(each) for each in ("7", "9_3", "5+1", "9_[x]")] == [["7"], ["9_3"], ["5+1"], ["9_[x]"]]
