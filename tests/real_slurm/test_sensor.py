# SPDX-License-Identifier: BSD-3-Clause
"""A service hears of a real Slurm: each job is in its journal once, with the times that sacct has, whatever ends it."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipelines.service.clocks import SystemClock
from pipelines.service.clusters import Cluster
from pipelines.service.sensors.slurm import SlurmSensor
from swftools.live import Journal, read_journal
from swftools.qbets import WaitPredictor
from tests.pipelines.luigi_runs import SWFTOOLS
from tests.real_slurm.cluster import Slurm, ended

pytestmark = pytest.mark.slow


def listening(path: Path) -> tuple[Cluster, Journal]:
    """Return a cluster that begins with what its journal has, as a service does that is started."""
    journal = Journal(path)
    sensor = SlurmSensor(before=read_journal(path))
    predictor = WaitPredictor("binomial", "queue", training=0, quantile=0.5)
    return Cluster("tested", predictor, sensor, SystemClock(), 5.0, journal=journal), journal


def test_every_job_is_heard_of_once(own_slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short ones between two polls, arrays, one that is cancelled; and the service is killed in their midst twice."""
    for name, value in own_slurm.environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "journal"
    cluster, journal = listening(path)
    cluster.poll()
    jobs = [own_slurm.submit("--ntasks=8", "--time=1", f"sleep {seconds}") for seconds in (1, 1, 4, 2, 3, 1, 2, 1)]
    gone = own_slurm.submit("--ntasks=16", "--time=5", "--begin=now+1hour", "sleep 9")
    array = own_slurm.submit("--ntasks=4", "--time=1", "--array=1-4", "sleep 1")
    begun = time.monotonic()
    for killed in (4.0, 9.0):
        while time.monotonic() - begun < killed:
            cluster.poll()
            time.sleep(1.0)
        journal.close()  # what is not in the journal is lost
        cluster, journal = listening(path)
    own_slurm.run(f"scancel {gone}")
    while time.monotonic() - begun < 120.0 and not (_is_idle(own_slurm) and cluster.waiting + cluster.running == 0):
        cluster.poll()
        time.sleep(1.0)
    events = list(read_journal(path))
    mine = {job: [event for event in events if event.job.split("@")[0] == job] for job in _ids(jobs, array, gone)}
    times = {job: [event for event in each if event.kind != "eligible"] for job, each in mine.items()}
    assert {job: Counter(event.kind for event in each) for job, each in times.items()} == {
        job: Counter(submitted=1, cancelled=1) if job == gone else Counter(submitted=1, started=1, ended=1)
        for job in mine
    }
    text = own_slurm.run(
        "SLURM_TIME_FORMAT=%s sacct -n -X -P --format=JobID,Submit,Start,End -j " + ",".join([*jobs, array])
    )
    for line in text.splitlines():
        job, *moments = line.split("|")
        assert [event.time for event in times[job]] == [float(each) for each in moments], job
    journal.close()
    assert cluster.live.waiting.empty
    assert cluster.live.waits("batch") == len(jobs) + 4
    assert cluster.answer("batch", requested_time=60.0).group_waits == len(jobs) + 4


def _ids(jobs: list[str], array: str, gone: str) -> list[str]:
    return [*jobs, *(f"{array}_{task}" for task in range(1, 5)), gone]


def _is_idle(slurm: Slurm) -> bool:
    return not slurm.run("squeue --noheader").strip()


def test_the_command_answers_and_outlives_being_killed(own_slurm: Slurm, tmp_path: Path) -> None:
    """By SIGKILL, while jobs come and go; at the end each is in the journal once, and its wait is learnt."""
    journal = tmp_path / "waits.jsonl"
    words = ["--journal", str(journal), "--every", "1", "--training", "1", "--port", "0"]
    jobs: list[str] = []
    for _ in range(4):
        with _serving(own_slurm, words) as address:
            jobs += [own_slurm.submit("--ntasks=16", "--time=1", "sleep 1") for _ in range(2)]
            time.sleep(4.0)
            (told,) = _answer(f"{address}api/v1/clusters")
            assert (told["is_stale"], told["cluster"]) == (False, "slurm")
    with _serving(own_slurm, words) as address:
        own_slurm.wait_for(lambda: _is_idle(own_slurm), "the jobs are over")
        own_slurm.wait_for(lambda: ended(journal) >= set(jobs), "their ends are heard of")
        wait = _answer(f"{address}api/v1/wait?queue=batch&time=1m&quantile=.5")
    events = [event for event in read_journal(journal) if event.job.split("@")[0] in jobs]
    events = [event for event in events if event.kind != "eligible"]
    assert Counter(event.kind for event in events) == Counter(submitted=8, started=8, ended=8)
    assert len({(event.job, event.kind) for event in events}) == 24
    assert wait["waits"] >= 8
    assert wait["bounds"][0]["seconds"] is not None


@contextmanager
def _serving(slurm: Slurm, words: list[str]) -> Iterator[str]:
    """Start a service, which is killed at the end; yield its address."""
    command = [*SWFTOOLS, "serve", "--slurm", *words]
    with subprocess.Popen(command, env=slurm.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://\S+/", process.stdout.readline())  # type: ignore[union-attr]
            assert address is not None
            yield address[0]
        finally:
            process.kill()


def _answer(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)
