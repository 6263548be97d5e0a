# SPDX-License-Identifier: BSD-3-Clause
"""A service hears of a real Slurm: each job is in its journal once, with the times that sacct has, whatever ends it."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from pipelines.service.clocks import SystemClock
from pipelines.service.clusters import Cluster
from pipelines.service.slurm_sensor import SlurmSensor
from swftools.live import Journal, read_journal
from swftools.qbets import WaitPredictor
from tests.real_slurm.cluster import Slurm

pytestmark = pytest.mark.slow


def listening(path: Path) -> tuple[Cluster, Journal]:
    """Return a cluster that begins with what its journal has, as a service does that is started."""
    journal = Journal(path)
    sensor = SlurmSensor(before=read_journal(path))
    predictor = WaitPredictor("binomial", "queue", training=0, quantile=0.5)
    return Cluster("tested", predictor, sensor, SystemClock(), 5.0, journal=journal), journal


def test_every_job_is_heard_of_once(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short ones between two polls, arrays, one that is cancelled; and the service is killed in their midst twice."""
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "journal"
    cluster, journal = listening(path)
    cluster.poll()
    jobs = [slurm.submit("--ntasks=8", "--time=1", f"sleep {seconds}") for seconds in (1, 1, 4, 2, 3, 1, 2, 1)]
    gone = slurm.submit("--ntasks=16", "--time=5", "--begin=now+1hour", "sleep 9")
    array = slurm.submit("--ntasks=4", "--time=1", "--array=1-4", "sleep 1")
    begun = time.monotonic()
    for killed in (4.0, 9.0):
        while time.monotonic() - begun < killed:
            cluster.poll()
            time.sleep(1.0)
        journal.close()  # what is not in the journal is lost
        cluster, journal = listening(path)
    slurm.run(f"scancel {gone}")
    while time.monotonic() - begun < 120.0 and not (_is_idle(slurm) and cluster.waiting + cluster.running == 0):
        cluster.poll()
        time.sleep(1.0)
    events = list(read_journal(path))
    mine = {job: [event for event in events if event.job.split("@")[0] == job] for job in _ids(jobs, array, gone)}
    assert {job: Counter(event.kind for event in each) for job, each in mine.items()} == {
        job: Counter(submitted=1, cancelled=1) if job == gone else Counter(submitted=1, started=1, ended=1)
        for job in mine
    }
    text = slurm.run(
        "SLURM_TIME_FORMAT=%s sacct -n -X -P --format=JobID,Submit,Start,End -j " + ",".join([*jobs, array])
    )
    for line in text.splitlines():
        job, *times = line.split("|")
        assert [event.time for event in mine[job]] == [float(each) for each in times], job
    journal.close()
    assert cluster.live.waiting.empty
    assert cluster.live.waits("batch") == len(jobs) + 4
    assert cluster.answer("batch", requested_time=60.0).group_waits == len(jobs) + 4


def _ids(jobs: list[str], array: str, gone: str) -> list[str]:
    return [*jobs, *(f"{array}_{task}" for task in range(1, 5)), gone]


def _is_idle(slurm: Slurm) -> bool:
    return not slurm.run("squeue --noheader").strip()
