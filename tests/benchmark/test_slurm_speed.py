# SPDX-License-Identifier: BSD-3-Clause
"""Reading of Slurm's accounting: rows of sacct a second, on one core, and memory in chunks."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from tests.benchmark.conftest import measure
from tests.formats.slurm.written import Drawn, Step, sacct_text

pytestmark = pytest.mark.benchmark(group="parse")

COLUMNS = [
    "JobID",
    "User",
    "Account",
    "Partition",
    "Cluster",
    "State",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "ElapsedRaw",
    "TimelimitRaw",
    "NNodes",
    "ReqCPUS",
    "NCPUS",
    "AllocTRES",
    "ReqMem",
    "MaxRSS",
    "TotalCPU",
    "ExitCode",
    "JobName",
]
ROWS = 600_000


@pytest.fixture(scope="module")
def sacct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of jobs with two or three steps each, of 21 columns."""
    random = Random(1)
    log = [
        Drawn(
            id=str(number),
            submit=1_600_000_000 + 50 * number,
            wait=random.randrange(10**5),
            run=random.randrange(86400),
            processors=random.choice([1, 2, 4, 16, 128]),
            nodes=1,
            gpus=random.randrange(3),
            limit=1440,
            memory=random.randrange(1, 5000),
            state=random.choice(["COMPLETED", "COMPLETED", "FAILED", "CANCELLED by 1000"]),
            cpu=random.randrange(10**6),
            exit=(0, 0),
            name=f"job{random.randrange(3000)}",
            user=f"u{random.randrange(300)}",
            account=f"a{random.randrange(40)}",
            partition=random.choice(["batch", "long", "gpu"]),
            steps=tuple(Step(name, random.randrange(10**7), 60) for name in ("batch", "extern", "0")[: 2 + number % 2]),
            is_pending=False,
        )
        for number in range(ROWS * 2 // 7)
    ]
    path = tmp_path_factory.mktemp("slurm") / "sacct.txt"
    path.write_text(sacct_text(log, COLUMNS), encoding="utf-8")
    return path


def test_read_sacct(benchmark: BenchmarkFixture, sacct: Path) -> None:
    """Rows and megabytes a second; 300,000 rows are asked for."""
    trace = benchmark.pedantic(swftools.read_log, (sacct,), {"time_zone": "Asia/Tokyo"}, rounds=5, warmup_rounds=1)
    rows = len(trace) + len(trace.merged) + len(trace.quarantine)
    seconds = benchmark.stats.stats.min
    benchmark.extra_info |= {"rows/s": round(rows / seconds), "MB/s": round(sacct.stat().st_size / seconds / 1e6, 1)}
    assert rows / seconds >= 300_000


def test_memory_in_chunks(benchmark: BenchmarkFixture, sacct: Path) -> None:
    """Peak memory of iter_log in chunks of 4 MiB."""
    options = f"{str(sacct)!r}, 'slurm:time_zone=Asia/Tokyo', chunk_bytes=1 << 22"
    code = f"import swftools; print(sum(len(part) for part in swftools.iter_log({options})))"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    benchmark.extra_info |= {"peak MB": round(whole.peak_mb), "text MB": round(sacct.stat().st_size / 1e6, 1)}
    assert int(whole.output) > 0
