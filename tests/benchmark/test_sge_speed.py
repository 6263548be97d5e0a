# SPDX-License-Identifier: BSD-3-Clause
"""Reading Grid Engine's accounting files: throughput on one core, and memory that does not grow with the file."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools.formats.read_log import read_log
from tests.benchmark.conftest import measure
from tests.formats.sge.lines import line

pytestmark = pytest.mark.benchmark(group="parse")


def write(path: Path, lines: int, *, colons: bool = False) -> Path:
    """Write a file of parallel jobs, with or without colons in names and categories."""
    random = Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            submit = 1_300_000_000 + 10 * number
            start = submit + random.randrange(10_000)
            slots, hours = 1 << random.randrange(7), random.randrange(1, 48)
            limit = f"{hours}:00:00" if colons else hours * 3600
            file.write(
                line(
                    qname=f"q{number % 7}.q",
                    owner=f"user{random.randrange(300)}",
                    job_name=f"job{':' if colons else '_'}{random.randrange(5000)}",
                    job_number=number + 1,
                    submission_time=submit,
                    start_time=start,
                    end_time=start + random.randrange(100_000),
                    slots=slots,
                    cpu=f"{random.random() * 1e4:.6f}",
                    category=f"-u user -l h_rt={limit},h_vmem={random.randrange(1, 9)}G -pe mpi {slots}",
                    maxvmem=f"{random.randrange(1 << 34)}.000000",
                )
            )
    return path


@pytest.mark.parametrize("colons", [False, True])
def test_read(benchmark: BenchmarkFixture, tmp_path: Path, colons: bool) -> None:
    """MB/s of read_log."""
    path = write(tmp_path / "accounting", 200_000, colons=colons)
    benchmark.pedantic(read_log, (path, "sge"), rounds=5, warmup_rounds=1)
    benchmark.extra_info["MB/s"] = round(path.stat().st_size / benchmark.stats.stats.min / 1e6, 1)


@pytest.mark.parametrize("lines", [10**5, 10**6])
def test_stream_growth(benchmark: BenchmarkFixture, tmp_path: Path, lines: int) -> None:
    """Peak memory of iter_log."""
    path = write(tmp_path / "accounting", lines)
    code = f"from swftools import iter_log; print(sum(len(part) for part in iter_log({str(path)!r}, 'sge')))"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    assert lines == int(whole.output)
    benchmark.extra_info["peak MB"] = round(whole.peak_mb)
