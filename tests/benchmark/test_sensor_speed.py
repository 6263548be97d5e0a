# SPDX-License-Identifier: BSD-3-Clause
"""What a poll of a Slurm costs in which 10,000 jobs wait, and what sensor and journal take after a month of such polls.

pytest tests/benchmark/test_sensor_speed.py --benchmark-enable --benchmark-only -p no:xdist

What ``squeue`` and ``sacct`` would print stands in memory, so the figures are without these commands.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from pathlib import Path

import psutil
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from pipelines.service.kept import Kept
from pipelines.service.sensors.slurm import SlurmSensor
from swftools.live import Journal

pytestmark = pytest.mark.benchmark(group="sensor")

WAITING, MINUTE, BEGIN = 10_000, 60, 1_790_000_000

REMEMBERED = 1000
"""Records that sacct has: those of the last hours."""


class BusySlurm:
    """A Slurm in which jobs come, and those that wait longest start and end between two polls."""

    def __init__(self) -> None:
        self.now, self._count = BEGIN, 0
        self._queue: deque[str] = deque()
        self._records: deque[str] = deque(maxlen=REMEMBERED)
        self.come(WAITING)

    def come(self, jobs: int) -> None:
        """Let jobs come."""
        for _ in range(jobs):
            self._count += 1
            self._queue.append(f"{self._count}|PENDING|batch|ann|4|4:00:00|{self.now}|{self.now}|N/A|")

    def leave(self, jobs: int) -> None:
        """Let jobs start and end since the last minute."""
        for _ in range(jobs):
            number, _, _, _, _, _, submit, *_ = self._queue.popleft().split("|")
            times = f"{submit}|{submit}|{self.now - 40}|{self.now - 10}"
            self._records.append(f"{number}|{times}|COMPLETED|batch|ann|4|240")

    def __call__(self, command: tuple[str, ...]) -> str:
        """Print what a command prints."""
        return "\n".join(self._queue if command[0] == "squeue" else self._records) + "\n"


@pytest.mark.parametrize("jobs", [0, 20])
def test_poll(benchmark: BenchmarkFixture, jobs: int) -> None:
    """A poll a minute, of jobs that stand still or of which some leave and as many come."""
    slurm = BusySlurm()
    sensor = SlurmSensor(slurm)
    first = psutil.Process().cpu_times()
    assert len(sensor.poll(float(slurm.now))) == WAITING
    benchmark.extra_info["first poll, CPU s"] = round(psutil.Process().cpu_times().user - first.user, 2)

    def minute() -> tuple[tuple[float], dict[str, float]]:
        slurm.now += MINUTE
        slurm.leave(jobs)
        slurm.come(jobs)
        return (float(slurm.now),), {}

    benchmark.pedantic(sensor.poll, setup=minute, rounds=60, warmup_rounds=2)


def test_a_month(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Seven come and seven leave each minute for thirty days; in a process of its own, whose memory is told."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmark.test_sensor_speed",
        str(tmp_path / "journal"),
        "1",
        "20",
        "25",
        "30",
    ]
    done = benchmark.pedantic(
        subprocess.run, (command,), {"capture_output": True, "text": True, "check": True}, rounds=1
    )
    benchmark.extra_info["MB after days"] = dict(line.split() for line in done.stdout.splitlines())


def _month(journal: str, days: list[int]) -> None:
    """Print the memory of this process after some days."""
    slurm = BusySlurm()
    with Journal(journal) as kept:
        sensor, keeping, events = SlurmSensor(slurm), Kept(kept), 0
        for minute in range(days[-1] * 1440 + 1):
            events += len(keeping.keep(sensor.poll(float(slurm.now))))
            if minute and minute % 1440 == 0 and minute // 1440 in days:
                told = f"{minute // 1440} {psutil.Process().memory_info().rss / 2**20:.0f}\n"
                sys.stdout.write(told)
            slurm.now += MINUTE
            slurm.leave(7)
            slurm.come(7)
        assert events >= 3 * 7 * days[-1] * 1440


if __name__ == "__main__":
    _month(sys.argv[1], [int(each) for each in sys.argv[2:]])
