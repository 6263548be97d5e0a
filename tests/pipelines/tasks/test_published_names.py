# SPDX-License-Identifier: BSD-3-Clause
"""Names of queues and users in evaluations, prices, reservations and schedules: beside the numbers, and in reports."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.reports import Version
from pipelines.reports.report import parts_of
from pipelines.store.schedules import read_schedule
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.facts import names_table
from pipelines.tasks.price import PriceSchedule
from pipelines.tasks.publish_schedule import PublishSchedule
from pipelines.tasks.publishing import LogPublishingTask
from pipelines.tasks.reserve import PublishReservations
from tests.pipelines.small_logs import build, small_log

QUEUES, USERS = ("batch", "night#1"), ("ann", "bob", "7")


def sacct(jobs: int = 90) -> str:
    """Return what sacct says of jobs that use one processor of four for an hour, one submitted every 15 minutes."""
    lines = ["JobID|User|Partition|State|Submit|Start|End|NCPUS|Timelimit"]
    for job in range(jobs):
        submit = datetime(2024, 3, 1, tzinfo=UTC) + timedelta(minutes=15 * job)
        times = [submit, submit + timedelta(minutes=job % 7), submit + timedelta(minutes=60 + job % 7)]
        said = [f"{each:%Y-%m-%dT%H:%M:%S}" for each in times]
        lines.append("|".join([str(job + 1), USERS[job % 3], QUEUES[job % 2], "COMPLETED", *said, "1", "02:00:00"]))
    return "".join(f"{line}\n" for line in lines)


BY_QUEUE, BY_USER = (dict(enumerate(names, 1)) for names in (QUEUES, USERS))
TASKS: dict[str, tuple[type[LogPublishingTask], dict[str, Any], dict[str, dict[int, str]]]] = {
    "evaluation": (
        EvaluateWaitPredictions,
        {"methods": "binomial", "options": "training=5,quantile=0.5", "by": "user,queue"},
        {"queue": BY_QUEUE, "user": BY_USER},
    ),
    "prices": (PriceSchedule, {"policy": "fcfs", "mechanism": "fixed"}, {"user": BY_USER}),
    "reservations": (
        PublishReservations,
        {"policy": "fcfs", "varq": "share=0.5,probability=0.5", "wait_options": "training=5"},
        {"queue": BY_QUEUE},
    ),
    "schedule": (PublishSchedule, {"policy": "fcfs"}, {"queue": BY_QUEUE, "user": BY_USER}),
}
"""The task of each, its parameters, and the names that it publishes: of what its tables have numbers of."""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LogPublishingTask]:
    """The task of each, which is done."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "log.txt").write_text(sacct())
    log = {"log": str(folder / "log.txt"), "format": "slurm:time_zone=UTC", "processors": 4}
    found = {
        kind: task(**log, data_root=str(folder / "data"), **parameters) for kind, (task, parameters, _) in TASKS.items()
    }
    assert all(build(task) for task in found.values())
    return found


@pytest.fixture(scope="module")
def versions(tasks: dict[str, LogPublishingTask]) -> dict[str, Version]:
    """The version that each published."""
    targets = {kind: task.output() for kind, task in tasks.items()}
    return {
        kind: Version(target.root, target.root.manifest(target.data_set, target.version))
        for kind, target in targets.items()
    }


@pytest.mark.parametrize("kind", TASKS)
def test_a_table_has_them(versions: dict[str, Version], kind: str) -> None:
    """In order, of those kinds alone that the tables have numbers of; it is described as all tables are."""
    version, expected = versions[kind], TASKS[kind][2]
    names = pd.read_parquet(f"{version.address}/names")
    rows = [(kind, number, name) for kind in sorted(expected) for number, name in expected[kind].items()]
    assert list(names.itertuples(index=False, name=None)) == rows
    assert version.known_names == expected
    assert version.manifest["tables"]["names"]["rows"] == len(rows)
    assert "names" in {
        each["name"] for each in json.loads(Path(version.address, "datapackage.json").read_text())["resources"]
    }


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("evaluation", ["7/batch", "ann/night#1"]),
        ("prices", ["1 ann", "3 7"]),
        ("reservations", ["batch", "night#1"]),
    ],
)
def test_a_report_shows_them(versions: dict[str, Version], kind: str, cells: list[str]) -> None:
    """Where there was a number, also beside another version."""
    version = versions[kind]
    for other in (None, version):
        _, parts = parts_of(version, other)
        told = {str(cell) for part in parts for table in part.tables for row in table.rows for cell in row}
        assert {*cells} <= told
        assert not {"3/1", "1/2"} & told, "the numbers of groups by user and queue"


def test_tables_and_files_for_programs_keep_numbers(versions: dict[str, Version]) -> None:
    """The page of an evaluation, which people read, has names."""
    version = versions["evaluation"]
    groups = {f"{user}/{queue}" for user in BY_USER for queue in BY_QUEUE}
    for table in (version.read("wait_evaluation"), pd.read_csv(f"{version.address}/evaluation.csv")):
        assert set(table["group"][table["grouped_by"] == "queue"]) == groups
    assert set(version.read("wait_predictions")["queue"]) == groups
    assert "| ann/night\\#1 | binomial |" in Path(version.address, "evaluation.md").read_text(encoding="utf-8")
    assert pd.read_csv(f"{versions['prices'].address}/bill.csv")["user_id"].tolist() == [1, 2, 3]


def test_the_terminal_shows_them(tasks: dict[str, LogPublishingTask], versions: dict[str, Version]) -> None:
    """Also of a version that was complete before, of which the work is gone."""
    version = versions["evaluation"]
    told = tasks["evaluation"].heading(partial(version.root.read_table, version.data_set, "wait_evaluation"))
    assert "user,queue 7/batch: 10 jobs" in told
    assert "user,queue ann/night#1: 10 jobs" in told


def test_bills_on_the_console(tmp_path: Path) -> None:
    """Users have their names behind their numbers."""
    (tmp_path / "log.txt").write_text(sacct(9))
    call = ["price", str(tmp_path / "log.txt"), "--format", "slurm:time_zone=UTC", "--processors", "4"]
    result = CliRunner().invoke(main, [*call, "--policy", "fcfs", "--mechanism", "fixed"])
    assert result.exit_code == 0, result.output
    assert [line.split()[:3] for line in result.stdout.splitlines()[-3:]] == [
        ["1", "ann", "3"],
        ["2", "bob", "3"],
        ["3", "7", "3"],
    ]


def test_a_schedule_that_is_read_again(versions: dict[str, Version]) -> None:
    """It knows them, and its measures by queue have them."""
    version = versions["schedule"]
    schedule = read_schedule(version.root, version.data_set, version.version)
    assert schedule.known_names == {"queue": BY_QUEUE, "user": BY_USER}
    assert {*QUEUES} == set(schedule.measure(by="queue")["job_class"])


@pytest.mark.parametrize(
    ("header", "expected"),
    [("", {}), ("; Queue: 3 batch\n; Queue: 5 batch\n; Partition: 1 gpu\n", {"queue": {3: "batch", 5: "batch"}})],
)
def test_a_log_without_names_of_its_own(tmp_path: Path, header: str, expected: dict[str, dict[int, str]]) -> None:
    """Those of its header are taken, also where two numbers have one; where there are none there is no table."""
    (tmp_path / "log.swf").write_text(small_log(header=f"; MaxProcs: 8\n{header}"))
    task = CleanTrace(log=str(tmp_path / "log.swf"), data_root=str(tmp_path / "data"))
    assert build(task)
    assert task.load_names(["user", "queue"]) == expected
    rows = [row for table in names_table(expected).values() for row in table.to_pylist()]
    assert rows == [{"kind": "queue", "number": number, "name": "batch"} for number in (3, 5) if expected]
