# SPDX-License-Identifier: BSD-3-Clause
"""Reading lsb.acct: throughput on one core, and memory that does not grow with the file."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools.formats.read_log import read_log
from tests.benchmark.conftest import measure
from tests.formats.lsf.records import record

pytestmark = pytest.mark.benchmark(group="parse")


def write(path: Path, records: int) -> Path:
    """Write a file of jobs on one to eight hosts."""
    random = Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(records):
            submit = 1_400_000_000 + 10 * number
            start = submit + random.randrange(10_000)
            hosts = [f"16*host{random.randrange(2000)}" for _ in range(random.randrange(1, 9))]
            file.write(
                record(
                    job_id=number + 1,
                    submit_time=submit,
                    start_time=start,
                    event_time=start + random.randrange(100_000),
                    hosts=hosts,
                    usage=[f"{host[3:]} {random.randrange(9999)} 0 {random.randrange(9999)} 242 0" for host in hosts],
                    user=f"user{random.randrange(300)}",
                    command=f"#!/bin/sh;#BSUB -n 32;mpirun /home/app{random.randrange(5000)} > out;date",
                    max_rmem=random.randrange(1 << 24),
                )
            )
    return path


def test_read(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """MB/s of read_log."""
    path = write(tmp_path / "lsb.acct", 60_000)
    benchmark.pedantic(read_log, (path, "lsf"), rounds=5, warmup_rounds=1)
    benchmark.extra_info["MB/s"] = round(path.stat().st_size / benchmark.stats.stats.min / 1e6, 1)


@pytest.mark.parametrize("records", [10**4, 10**5, 10**6])
def test_stream_growth(benchmark: BenchmarkFixture, tmp_path: Path, records: int) -> None:
    """Peak memory of iter_log."""
    path = write(tmp_path / "lsb.acct", records)
    code = f"from swftools import iter_log; print(sum(len(part) for part in iter_log({str(path)!r}, 'lsf')))"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    assert records == int(whole.output)
    benchmark.extra_info["peak MB"] = round(whole.peak_mb)
