# SPDX-License-Identifier: BSD-3-Clause
"""Policy ``slurm`` on a site of 1,000 nodes in 20 partitions, with 300 users in 30 accounts, in process CPU."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools.simulator import Schedule, simulate
from tests.benchmark.conftest import measure
from tests.benchmark.generated_nodes import Yardstick
from tests.benchmark.generated_site import site_on, with_users

pytestmark = pytest.mark.benchmark(group="slurm")

YEAR = 500_000
STRETCHED = 1.8
"""With run times this much longer than in the log, these jobs are a year's work for the machine."""

_FIRST = """
import numpy as np
from swftools import Trace, simulate
from swftools.machines.node_table import NodeTable, PartitionNodes
from swftools.machines.slurm_site import SlurmSite
one = np.zeros(1, np.int64)
parts = (PartitionNodes("p", one),)
table = NodeTable(("n",), one, ("n",), one + 4, one + 1000, one, one + 1, parts, slurm=SlurmSite())
trace = Trace.from_columns(
    submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1]
)
simulate(trace, "slurm", machine=table)
"""


def stretched(jobs: pd.DataFrame) -> None:
    """Let jobs run longer, and come more slowly: the load is as it was."""
    for name in ("submit", "run", "request"):
        jobs[name] = (jobs[name] * STRETCHED).astype(int)


@pytest.mark.parametrize("jobs", [5_000, 20_000, YEAR])
def test_site(benchmark: BenchmarkFixture, shared: Path, tmp_path: Path, jobs: int) -> None:
    """Jobs at a load of .85: cycles of backfill each 30 s, 500 tests, a window of a day, fair shares."""
    made = Yardstick(shared, tmp_path).generate(stretched, nodes=1000, partitions=20, jobs=jobs, load=0.85)
    machine, trace = site_on(made.machine), with_users(made.trace)
    assert len(trace.arrays.width) == len(trace)  # arrays are made before
    simulate(trace.with_jobs(trace.jobs.iloc[:50]), "slurm", machine=machine)
    seconds = []

    def once() -> Schedule:
        begin = time.process_time()
        schedule = simulate(trace, "slurm", machine=machine)
        seconds.append(time.process_time() - begin)
        return schedule

    schedule: Schedule = benchmark.pedantic(once, rounds=1)
    assert len(schedule.jobs) == jobs
    benchmark.extra_info |= {
        "jobs/s": round(jobs / min(seconds)),
        "days": round(float(trace.jobs["submit_time"].max()) / 86400),
    }


def test_nothing_compiled(benchmark: BenchmarkFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU of a process that simulates three jobs and finds no compiled code, start-up among it; and of the next one."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    first = benchmark.pedantic(measure, (sys.executable, "-c", _FIRST), rounds=1)
    again = measure(sys.executable, "-c", _FIRST)
    benchmark.extra_info |= {"first s": round(first.cpu_seconds, 1), "again s": round(again.cpu_seconds, 1)}
