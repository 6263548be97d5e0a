# SPDX-License-Identifier: BSD-3-Clause
"""Long logs: what the pipeline takes of memory and time where a log has millions of jobs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmark.conftest import measure

PART = 1_000_000

HEADER = "; Version: 2.2\n; MaxProcs: 1024\n; UnixStartTime: 1199145600\n; TimeZoneString: UTC\n"


def write_long_log(path: Path, count: int) -> None:
    """Write a log of generated jobs, a part at a time: a load of 0.6 on 1,024 processors, with users and requests."""
    random, now, missing = np.random.default_rng(1), 0.0, np.full(PART, -1)
    with path.open("wb") as file:
        file.write(HEADER.encode())
        for begin in range(0, count, PART):
            jobs = min(PART, count - begin)
            submit = now + np.cumsum(random.exponential(30.0, jobs))
            now = float(submit[-1])
            width = 1 << random.integers(0, 7, jobs)
            run = np.maximum(1, random.lognormal(6.2, 1.2, jobs)).astype(np.int64)
            asked = ((run * random.uniform(1, 5, jobs)) // 900 + 1).astype(np.int64) * 900
            user = random.zipf(1.5, jobs) % 500 + 1
            status = random.choice([0, 1, 5], jobs, p=[0.1, 0.85, 0.05])
            program, queue = random.integers(1, 200, jobs), random.integers(1, 5, jobs)
            none = missing[:jobs]
            columns = [
                *(np.arange(begin + 1, begin + jobs + 1), submit.astype(np.int64), none, run, width, none, none, width),
                *(asked, none, status, user, user % 50 + 1, program, queue, none, none, none),
            ]
            table = pa.table({str(number): column for number, column in enumerate(columns)})
            options = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ")
            pyarrow.csv.write_csv(table, file, options)


@pytest.fixture(scope="module", params=[10**6, 10**7], ids=["million", "tens"])
def long_log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A log, and how many jobs it has."""
    path = tmp_path_factory.mktemp("long") / "long.swf"
    write_long_log(path, request.param)
    return path, request.param


@pytest.mark.benchmark(group="long logs")
@pytest.mark.parametrize(
    "command",
    [
        ("run", "MeasureSchedule", "--policy", "easy", "--augment", ""),
        ("augment", "--by-month"),
    ],
    ids=["simulate and measure", "publish"],
)
def test_a_long_log(
    benchmark: BenchmarkFixture, long_log: tuple[Path, int], tmp_path: Path, command: tuple[str, ...]
) -> None:
    """All stages from its text on, in one process: peak memory, and CPU seconds."""
    path, jobs = long_log
    swftools = (sys.executable, "-m", "pipelines.cli.main", *command, "--log", str(path), "--data-root", str(tmp_path))
    whole = benchmark.pedantic(measure, swftools, rounds=1)
    empty = measure(sys.executable, "-c", "import pipelines.tasks.build, swftools.simulator")
    benchmark.extra_info |= {"peak MB": round(whole.peak_mb), "CPU s": round(whole.cpu_seconds, 1)}
    benchmark.extra_info["bytes a job"] = round(1e6 * (whole.peak_mb - empty.peak_mb) / jobs)
