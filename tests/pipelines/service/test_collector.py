# SPDX-License-Identifier: BSD-3-Clause
"""What a collector hears, in its journal and in a history; whatever ends it."""

from __future__ import annotations

import signal
import stat
import subprocess
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from pipelines.history.settings import read_settings
from pipelines.service.collector import Collector
from pipelines.service.kept import Kept
from pipelines.service.sensors.replay import ReplaySensor
from swftools import clean, read_log
from swftools.errors import ParameterError, StorageError
from swftools.live import JobEvent, JobFiles, Journal, ToldWait, read_journal
from swftools.live.events import in_order
from swftools.qbets import WaitPredictor
from swftools.trace import Trace
from tests.pipelines.history.nights import DAY, Site
from tests.pipelines.luigi_runs import SWFTOOLS, environment

BEGIN = 1_790_035_200
"""2026-09-22, UTC."""


class Hand:
    """A clock that is set."""

    def __init__(self, time: float) -> None:
        self.time = time

    def now(self) -> float:
        """Return it."""
        return self.time


def lives(count: int = 60) -> list[tuple[str, float, float, float]]:
    """Return jobs with submission, start and end; each runs for two days, so that most run at midnight."""
    return [
        (str(n), BEGIN + n * 3600.0, BEGIN + n * 3600.0 + n * 331 % 1800, BEGIN + n * 3600.0 + 2 * DAY)
        for n in range(1, count + 1)
    ]


def events_of(jobs: list[tuple[str, float, float, float]]) -> list[JobEvent]:
    """Return what happens to them."""
    events = []
    for job, submit, start, end in jobs:
        name = f"{job}@{submit:.0f}"
        events.append(JobEvent("submitted", submit, name, "", 4, 7200.0, {"queue": "batch", "user": "ann"}))
        events += [JobEvent("started", start, name), JobEvent("ended", end, name, outcome="completed")]
    return in_order(events)


def collector_in(
    folder: Path, inbox: Path, clock: Hand, events: list[JobEvent], every: float = 3600.0
) -> tuple[Collector, Journal]:
    """Return a collector as it is started, which writes a file every so many seconds, and its journal."""
    journal = Journal(folder / "journal")
    kept = Kept(journal, JobFiles(inbox, "blue", every, journal))
    return Collector("blue", ReplaySensor(events), kept, 60.0, clock), journal


def test_a_history_learns_a_wait_when_the_job_starts(tmp_path: Path) -> None:
    """The same evening; the end that comes two days later makes the job whole, and nothing counts twice."""
    site = Site(tmp_path / "site", "waits:\n  options: {training: 5, cluster_every: 20}\nlog: {processors: 64}\n")
    clock = Hand(BEGIN)
    events = events_of(lives())
    collector, journal = collector_in(tmp_path, site.inbox, clock, events, every=14_400.0)
    for night in (1, 2, 5):
        while clock.time < BEGIN + night * DAY + 60:
            clock.time += 1800.0
            collector.poll()
            if clock.time % 43_200 == 0:  # killed, and started again: the sensor tells all once more
                journal.close()
                collector, journal = collector_in(tmp_path, site.inbox, clock, events, every=14_400.0)
        site.night()
        jobs = pd.read_parquet(site.version() / "jobs").set_index("log_id")
        known = [job for job in lives() if job[2] <= BEGIN + night * DAY]
        assert sorted(jobs.index) == sorted(job[0] for job in known)
        for job, submit, start, end in known:
            run = end - start if end <= BEGIN + night * DAY else None
            assert jobs.loc[job, "wait_time"] == start - submit
            assert (jobs.loc[job, "run_time"] == run) if run is not None else pd.isna(jobs.loc[job, "run_time"])
        predictions = pd.read_parquet(site.version() / "wait_predictions")
        assert predictions["wait_time"].notna().all()
        assert int(predictions["wait_bound"].notna().sum()) == max(len(known) - 59, 0)
    assert (jobs["status"] == 1).all()
    journal.close()


def test_bounds_of_the_last_night_are_those_of_the_whole_log(tmp_path: Path) -> None:
    """Of a history that heard of starts, also while jobs run for longer than it has nights."""
    site = Site(tmp_path / "site", "waits:\n  options: {training: 5, clustering: false, quantile: 0.5}\n")
    clock = Hand(BEGIN)
    jobs = [(job, submit, start, end + 365 * DAY) for job, submit, start, end in lives()]
    collector, journal = collector_in(tmp_path, site.inbox, clock, events_of(jobs))
    clock.time = BEGIN + 3 * DAY
    collector.poll()
    collector.finish()
    site.night()
    whole, _ = clean(read_log(next(site.inbox.iterdir())))
    told = pd.read_parquet(site.version() / "wait_predictions")
    replayed = WaitPredictor("binomial", "queue", training=5, clustering=False, quantile=0.5).replay(whole)
    assert told["wait_bound"].tolist() == pytest.approx(replayed["wait_bound"].tolist(), nan_ok=True)
    assert told["wait_bound"].notna().sum() > 40
    journal.close()


def test_a_night_counts_what_jobs_were_told(tmp_path: Path) -> None:
    """By the bounds that stand in the files, beside those of a replay; jobs that were told nothing do not count."""
    waits = "{methods: [batch-system, binomial], options: {training: 5, quantile: 0.5}, least_jobs: 10}"
    site = Site(tmp_path / "site", f"waits: {waits}\n")
    jobs = lives(30)
    told = {f"{job}@{submit:.0f}": ToldWait("batch", 600.0, None) for job, submit, _, _ in jobs[:20]}
    kept = sum(start - submit <= 600 for _, submit, start, _ in jobs[:20])
    for until, count in ((25, 25), (30, 30)):
        with Journal(tmp_path / f"journal-{until}") as journal:
            files = JobFiles(site.inbox, "blue", 3600.0, journal)
            files.take(journal.append(events_of(jobs[:until])), told)
            files.write(BEGIN + until * DAY, at_once=True)
        site.night()
        table = pd.read_parquet(site.version() / "wait_coverage").set_index(["method", "period"])
        row = table.loc["batch-system", "all"].iloc[0]
        assert (row["jobs"], row["told"], row["covered"]) == (count, 20, kept)
        assert ("binomial", "all") in table.index


@pytest.mark.parametrize("methods", ["[]", "[batch-system, batch-system]", "[batch-system, binomal]"])
def test_methods_that_are_none(tmp_path: Path, methods: str) -> None:
    """What jobs were told may stand alone, and once."""
    path = tmp_path / "reevaluate.yaml"
    path.write_text(f"waits: {{methods: {methods}}}\n")
    with pytest.raises(ParameterError, match="waits > methods"):
        read_settings(path)
    path.write_text("waits: {methods: [batch-system]}\n")
    assert read_settings(path, {"inbox": "x"}).waits.methods == ("batch-system",)


def test_what_is_kept_is_offered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except where it could not be written."""
    with Journal(tmp_path / "journal") as journal:
        offered: list[int] = []
        append = journal.append

        def counted(events: list[JobEvent]) -> list[JobEvent]:
            offered.append(len(events))
            if len(offered) == 1:
                raise StorageError("full")
            return append(events)

        monkeypatch.setattr(journal, "append", counted)
        kept = Kept(journal)
        with pytest.raises(StorageError):
            kept.keep(events_of(lives(1)))
        assert len(kept.keep(events_of(lives(2)[1:]))) == 6
        assert kept.keep([]) == []
        assert offered == [3, 6, 0]


def test_a_journal_that_another_process_writes(tmp_path: Path) -> None:
    """It is refused: two writers would cut each other's lines."""
    with Journal(tmp_path / "journal"), pytest.raises(StorageError, match="another process writes it"):
        Journal(tmp_path / "journal")
    Journal(tmp_path / "journal").close()


def test_an_inbox_that_is_away_is_said_and_filled_later(tmp_path: Path) -> None:
    """The journal has it meanwhile."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    clock = Hand(BEGIN)
    collector, journal = collector_in(tmp_path, inbox, clock, events_of(lives(3)))
    inbox.rmdir()
    clock.time = BEGIN + 3600 * 2.9
    collector.poll()
    clock.time = BEGIN + 3600 * 5
    with pytest.raises(StorageError, match="make the folder first"):
        collector.poll()
    assert sum(1 for _ in read_journal(tmp_path / "journal")) == 6
    inbox.mkdir()
    collector.poll()
    (path,) = inbox.iterdir()
    assert len(read_log(path)) == 3
    journal.close()


SQUEUE = """#!/bin/sh
cat "$0.said"
"""


@pytest.mark.slow
def test_the_command_keeps_what_it_hears_and_ends_by_a_signal(tmp_path: Path) -> None:
    """By Ctrl-C or SIGTERM with status 0: what is in no file yet is written; by SIGKILL the next start writes it."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("squeue", "sacct", "scontrol", "sinfo"):
        (programs / name).write_text(SQUEUE)
        (programs / name).chmod(stat.S_IRWXU)
        (programs / f"{name}.said").write_text("")
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    command = [
        *SWFTOOLS,
        "collect",
        "--slurm",
        "--name",
        "blue",
        "--journal",
        "j",
        "--inbox",
        "inbox",
        "--every",
        "0.2",
    ]
    where = environment(PATH=f"{programs}:/usr/bin:/bin")
    jobs: list[str] = []
    for number, how in enumerate((signal.SIGINT, signal.SIGKILL, signal.SIGTERM), 1):
        begun = int(time.time()) - 100
        jobs.append(f"{number}|RUNNING|batch|ann|4|1:00:00|{begun}|{begun}|{begun + 60}|\n")
        (programs / "squeue.said").write_text("".join(jobs))
        with subprocess.Popen(command, cwd=tmp_path, env=where, stdout=subprocess.PIPE, text=True) as process:
            assert "hears of it every 0.2 s" in process.stdout.readline()  # type: ignore[union-attr]
            process.send_signal(how)
            process.wait(30)
        assert process.returncode == (-9 if how == signal.SIGKILL else 0)
        assert len(list(inbox.iterdir())) == {1: 1, 2: 1, 3: 2}[number]
    first, second = sorted(inbox.iterdir())
    assert [trace_ids(read_log(path)) for path in (first, second)] == [["1"], ["2", "3"]]
    assert Counter(event.kind for event in read_journal(tmp_path / "j")) == Counter(submitted=3, started=3)


def trace_ids(trace: Trace) -> list[str]:
    """Return the ids of jobs."""
    return sorted(trace.jobs["log_id"])
