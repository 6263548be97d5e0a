# SPDX-License-Identifier: BSD-3-Clause
"""Sensors hear of a real Slurm, by its commands and by slurmrestd: what recorded outputs say in other tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.service.sensors import make_sensor
from pipelines.service.sensors.sensor import Machine, QueueLimits, Sensor, SensorError
from pipelines.service.sensors.slurm import SlurmSettings
from pipelines.service.sensors.slurm_machine import RESTRICTED, read_notice
from swftools.live import JobEvent
from swftools.live.events import in_order
from tests.real_slurm.cluster import PROCESSORS, Slurm

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _commands(own_slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of the Slurm of this test are found."""
    for name, value in own_slurm.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def rest(own_slurm: Slurm, tmp_path: Path) -> Iterator[str]:
    """The address of a slurmrestd at a Unix socket."""
    program = shutil.which("slurmrestd", path=own_slurm.environment["PATH"])
    if program is None:
        pytest.skip("slurmrestd is not installed (Debian: slurmrestd)")
    path = tmp_path / "rest.socket"
    security = "disable_user_check,disable_unshare_files,disable_unshare_sysv"  # it is no other user's here
    command = [program, "-a", "rest_auth/local", f"unix:{path}"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**own_slurm.environment, "SLURMRESTD_SECURITY": security}, stdout=log, stderr=log
        )
    try:
        own_slurm.wait_for(path.exists, "slurmrestd")
        yield f"unix://{path}"
    finally:
        process.terminate()
        process.wait(20)


def hear(sensor: Sensor, heard: list[JobEvent], slurm: Slurm, jobs: set[str]) -> None:
    """Poll until the ends of jobs are heard of."""

    def are_over() -> bool:
        heard.extend(sensor.poll(time.time()))
        return jobs <= {event.job.split("@")[0] for event in heard if event.kind in ("ended", "cancelled")}

    slurm.wait_for(are_over, f"ends of {sorted(jobs)}")


def of_job(heard: list[JobEvent], job: str) -> list[JobEvent]:
    """Return the events of a job, in their order."""
    return in_order(event for event in heard if event.job.split("@")[0] == job)


def test_what_the_machine_is(own_slurm: Slurm, rest: str) -> None:
    """The same by both; a node that is in two partitions counts once. Whoever runs this Slurm sees all."""
    own_slurm.run("scontrol create partition=second nodes=n1 maxtime=2:00:00 defaulttime=10 state=up")
    expected = Machine(
        PROCESSORS,
        {
            "batch": QueueLimits(is_default=True, longest=86_400.0, default_time=None, processors=PROCESSORS),
            "second": QueueLimits(is_default=False, longest=7200.0, default_time=600.0, processors=PROCESSORS // 2),
        },
    )
    for sensor in (make_sensor("slurm", {}, []), make_sensor("slurmrestd", {"url": rest}, [])):
        sensor.poll(time.time())
        assert sensor.machine() == expected
        assert sensor.notice is None
    own_slurm.run("scontrol delete partition=second")


def test_lives_of_jobs(own_slurm: Slurm, rest: str) -> None:
    """Held, changed, queued again, arrays, parts: by both the same, with the times that sacct has."""
    sensors = {"slurm": make_sensor("slurm", {}, []), "rest": make_sensor("slurmrestd", {"url": rest}, [])}
    heard: dict[str, list[JobEvent]] = {name: sensor.poll(time.time()) for name, sensor in sensors.items()}

    def look() -> None:
        for name, sensor in sensors.items():
            heard[name] += sensor.poll(time.time())

    held = own_slurm.submit("--hold", "--ntasks=2", "--time=3", "sleep 1")
    changed = own_slurm.submit("--begin=now+1hour", "--ntasks=2", "--time=3", "sleep 1")
    again = own_slurm.submit("--requeue", "--ntasks=1", "--time=3", "sleep 60")
    array = own_slurm.submit("--array=1-3%1", "--ntasks=1", "--time=3", "sleep 1")
    parts = own_slurm.run(
        "sbatch --parsable --output=/dev/null --ntasks=1 --time=3 : --ntasks=2 --time=3 --wrap 'sleep 1'"
    ).strip()
    gone = own_slurm.submit("--array=5-6", "--hold", "--ntasks=1", "--time=3", "sleep 1")
    own_slurm.wait_for(lambda: own_slurm.states()[again] == "RUNNING", f"job {again} runs")
    look()
    time.sleep(1.1)  # times are whole seconds
    own_slurm.run(f"scontrol release {held}; scontrol update JobId={changed} TimeLimit=5; scontrol requeue {again}")
    own_slurm.run(f"scancel {gone}")
    time.sleep(2.0)
    look()
    own_slurm.run(f"scancel {changed} {again}")
    ends = {held, changed, again, f"{parts}+0", f"{parts}+1", *(f"{array}_{task}" for task in (1, 2, 3))}
    ends |= {f"{gone}_5", f"{gone}_6"}
    for name, sensor in sensors.items():
        hear(sensor, heard[name], own_slurm, ends)
    sacct = own_slurm.run(
        "SLURM_TIME_FORMAT=%s sacct -n -X -P -D --format=JobID,Submit,Eligible,Start,End -j "
        f"{held},{again},{array},{parts}"
    )
    records = [line.split("|") for line in sacct.splitlines()]
    for events in heard.values():
        for kind in ("submitted", "started", "ended", "cancelled"):
            names = [event.job for event in events if event.kind == kind]
            assert len(names) == len(set(names)), kind
        assert [event.kind for event in of_job(events, held)] == ["submitted", "eligible", "started", "ended"]
        assert [event.kind for event in of_job(events, changed)] == ["submitted", "changed", "cancelled"]
        assert of_job(events, changed)[1].requested_time == 300.0
        lives = [event.kind for event in of_job(events, again)]
        assert sorted(lives) == ["cancelled", "ended", "started", "submitted", "submitted"]
        assert [event.kind for event in of_job(events, f"{gone}_6")] == ["submitted", "cancelled"]
        for job, submit, eligible, start, end in records:
            told = {event.kind: event.time for event in events if event.job == f"{job}@{submit}"}
            assert told["submitted"] == float(submit)
            if start.isdecimal():
                assert (told["started"], told["ended"]) == (float(start), float(end)), job
                assert told.get("eligible", float(submit)) == float(eligible), job
    kinds = {name: sorted((event.kind, event.job) for event in events) for name, events in heard.items()}
    assert kinds["slurm"] == kinds["rest"]


def test_whose_jobs_are_seen(own_slurm: Slurm) -> None:
    """With PrivateData=jobs those of others by operators only; whoever runs this Slurm is one."""
    conf = Path(os.environ["SLURM_CONF"])
    text = conf.read_text()
    run = SlurmSettings().runner()
    assert read_notice(run, "nobody") is None
    try:
        conf.write_text(f"{text}\nPrivateData=jobs,usage\n")
        own_slurm.run("scontrol reconfigure")
        assert (read_notice(run, "nobody"), read_notice(run)) == (RESTRICTED, None)
        own_slurm.run(
            "sacctmgr --immediate --quiet add account science && sacctmgr -i -Q add user nobody account=science"
        )
        assert read_notice(run, "nobody") == RESTRICTED
        own_slurm.run("sacctmgr -i -Q modify user nobody set adminlevel=operator")
        assert read_notice(run, "nobody") is None
    finally:
        conf.write_text(text)
        own_slurm.run("scontrol reconfigure")


def test_a_restart_after_weeks(own_slurm: Slurm) -> None:
    """After a downtime of weeks, by the journal, sacct is asked for all of it; nothing is told twice."""
    job = own_slurm.submit("--ntasks=1", "--time=1", "sleep 1")
    own_slurm.wait_for(lambda: own_slurm.states().get(job, "") == "COMPLETED", f"job {job} is over")
    time.sleep(2.0)
    long_ago = JobEvent("submitted", time.time() - 40 * 86_400.0, "1@5")
    sensor = make_sensor("slurm", {}, [long_ago, JobEvent("cancelled", long_ago.time + 1.0, "1@5")])
    heard = sensor.poll(time.time())
    assert [event.kind for event in of_job(heard, job)] == ["submitted", "started", "ended"]
    assert [event for event in sensor.poll(time.time()) if event.job.startswith(f"{job}@")] == []


def test_a_controller_that_is_away(own_slurm: Slurm, tmp_path: Path) -> None:
    """The error says what squeue says."""
    wrong = tmp_path / "slurm.conf"
    text = Path(os.environ["SLURM_CONF"]).read_text()
    port = next(line for line in text.splitlines() if line.startswith("SlurmctldPort"))
    wrong.write_text(text.replace(port, "SlurmctldPort=1") + "\nMessageTimeout=2\n")
    with pytest.raises(SensorError, match=r"squeue ended with 1: .*Unable to contact slurm controller"):
        make_sensor("slurm", {"conf": str(wrong)}, []).poll(time.time())
