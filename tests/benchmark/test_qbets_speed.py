# SPDX-License-Identifier: BSD-3-Clause
"""Predicted waits: jobs a second by method, and memory a job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.qbets import evaluate, list_bounds, replay
from tests.benchmark.conftest import BLUE

pytestmark = pytest.mark.benchmark(group="predict")

MEMORY = """
import re, sys, swftools
from pathlib import Path
from swftools.qbets import replay

def resident(which):
    return 1024 * int(re.search(which + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

trace = swftools.read_swf(sys.argv[1])
jobs = trace.jobs[(trace.jobs["run_time"] > 0).fillna(False)].reset_index(drop=True)
trace = trace.with_jobs(jobs)
by = None if sys.argv[2] == "None" else sys.argv[2]
replay(trace.with_jobs(jobs.head(2000)), by=by)
Path("/proc/self/clear_refs").write_text("5")  # the peak so far was that of reading
before = resident("VmRSS")
table = replay(trace, by=by)
print((resident("VmHWM") - before) / len(trace))
"""


@pytest.fixture(scope="module")
def sdsc_blue(shared: Path) -> swftools.Trace:
    """The jobs that ran."""
    trace = swftools.read_swf(shared / "traces" / BLUE)
    ran = (trace.jobs["run_time"] > 0).fillna(False)
    return trace.with_jobs(trace.jobs[ran].reset_index(drop=True))


@pytest.mark.parametrize("method", sorted(list_bounds()))
@pytest.mark.parametrize("parts", ["all", "none"])
def test_replay(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, method: str, parts: str) -> None:
    """The whole log by queue, with all parts of QBETS and with none."""
    on = parts == "all"
    options = {"trimming": on, "clustering": on, "availability": on}
    benchmark.pedantic(replay, (sdsc_blue, method), options, rounds=5, warmup_rounds=1)
    benchmark.extra_info["predictions/s"] = round(len(sdsc_blue) / benchmark.stats.stats.min)


class MeanWait:
    """A bound in Python, as cheap as can be."""

    def fit(self, waits: Any) -> None:
        """Learn."""
        self.waits, self.total = len(waits), float(waits.sum())

    def update(self, waits: Any) -> None:
        """Learn more."""
        self.waits, self.total = self.waits + len(waits), self.total + float(waits.sum())

    def predict(self) -> float:
        """Return the mean."""
        return self.total / self.waits


def test_in_python(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace) -> None:
    """With all parts of QBETS."""
    benchmark.pedantic(replay, (sdsc_blue, MeanWait()), rounds=3, warmup_rounds=1)
    benchmark.extra_info["predictions/s"] = round(len(sdsc_blue) / benchmark.stats.stats.min)


def test_evaluate(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace) -> None:
    """Of one method."""
    predictions = replay(sdsc_blue)
    benchmark.pedantic(evaluate, (predictions,), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("by", [None, "queue"])
def test_memory(benchmark: BenchmarkFixture, shared: Path, by: str | None) -> None:
    """Peak beside the trace, the table among it."""
    command = [sys.executable, "-c", MEMORY, str(shared / "traces" / BLUE), str(by)]
    run = benchmark.pedantic(
        subprocess.run, (command,), {"capture_output": True, "text": True, "check": True}, rounds=1
    )
    benchmark.extra_info["bytes a job"] = round(float(run.stdout))
