# SPDX-License-Identifier: BSD-3-Clause
"""A night of a history: 500 new jobs on 200,000, and on ten times as many."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmark.conftest import BLUE

pytestmark = pytest.mark.benchmark(group="reevaluate")

NEW = 500
NIGHT = """
import re, resource, sys, time
from pathlib import Path
from pipelines.history.task import ReevaluateLogs

def resident(which):
    return int(re.search(which + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

before, begun = resident("VmRSS"), time.process_time()
task = ReevaluateLogs(inbox=sys.argv[1], history="blue", data_root=sys.argv[2])
last = task.published()
if not task.complete():
    task.run()
assert task.outcome_since(last).is_new
print(time.process_time() - begun, resident("VmHWM") - before)
"""


class Nights:
    """A log that is repeated behind itself, its end coming night by night."""

    def __init__(self, log: Path, copies: int, folder: Path) -> None:
        with gzip.open(log) as file:
            lines = file.readlines()
        self.header = [line for line in lines if line.startswith(b";")]
        jobs = [line.split() for line in lines if not line.startswith(b";")]
        days = (int(jobs[-1][1]) // 86_400 + 1) * 86_400
        self.jobs = [
            b"%d %d " % (int(job[0]) + copy * 400_000, int(job[1]) + copy * days) + b" ".join(job[2:]) + b"\n"
            for copy in range(copies)
            for job in jobs
        ]
        self.inbox, self.root = folder / "inbox", folder / "data"
        self.inbox.mkdir(parents=True)
        self.come = len(self.jobs) - 4 * NEW
        (self.inbox / "first.swf").write_bytes(b"".join(self.header + self.jobs[: self.come]))
        self.run()

    def arrive(self) -> None:
        """Let the next jobs arrive."""
        part = self.jobs[self.come : self.come + NEW]
        self.come += NEW
        (self.inbox / f"{self.come}.swf").write_bytes(b"".join(self.header + part))

    def run(self) -> tuple[float, float]:
        """Run a night; return its processor time, s, and its memory, MiB, both beside start-up."""
        done = subprocess.run(
            [sys.executable, "-c", NIGHT, str(self.inbox), str(self.root)], check=True, capture_output=True, text=True
        )
        seconds, memory = done.stdout.split()[-2:]
        return float(seconds), float(memory)

    def bytes(self) -> int:
        """Return how many bytes the data root has, a file of several names once."""
        found = {entry.st_ino: entry.st_size for path in self.root.rglob("*") if (entry := os.lstat(path))}
        return sum(found.values())


@pytest.mark.parametrize("copies", [1, 8])
def test_night(benchmark: BenchmarkFixture, shared: Path, tmp_path: Path, copies: int) -> None:
    """500 jobs that arrive: processor time and memory beside start-up, and bytes written."""
    nights = Nights(shared / "traces" / BLUE, copies, tmp_path)
    before = nights.bytes()
    found = []
    benchmark.pedantic(lambda: found.append(nights.run()), setup=nights.arrive, rounds=3)
    benchmark.extra_info["jobs"] = nights.come
    benchmark.extra_info["processor time, s"] = round(min(seconds for seconds, _ in found), 2)
    benchmark.extra_info["memory, MiB"] = round(max(memory for _, memory in found))
    benchmark.extra_info["written, MB"] = round((nights.bytes() - before) / 3e6, 2)
