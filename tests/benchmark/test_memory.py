# SPDX-License-Identifier: BSD-3-Clause
"""Peak memory of the commands that read long logs, as ``time -v`` shows it: 3 million jobs, and what that is a job."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmark.conftest import measure
from tests.benchmark.test_long_logs_speed import write_long_log

JOBS = 3_000_000


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A log of few jobs, and one of many."""
    folder = tmp_path_factory.mktemp("logs")
    for name, count in (("few", 2_000), ("many", JOBS)):
        write_long_log(folder / f"{name}.swf", count)
    return folder / "few.swf", folder / "many.swf"


@pytest.mark.benchmark(group="memory")
@pytest.mark.parametrize(
    "command",
    [
        ("describe",),
        ("simulate", "--policy", "easy"),
        ("augment", "--data-root", "."),
        ("compare", "--data-root", ".", "--augment", "none", "--policies", "easy,fcfs", "--workers", "1"),
        ("compare", "--data-root", ".", "--policies", "easy,fcfs", "--workers", "1"),
    ],
    ids=["describe", "simulate", "augment", "compare without augmentations", "compare with utility functions"],
)
def test_peak_memory(
    benchmark: BenchmarkFixture, logs: tuple[Path, Path], tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Of one process; what a log of few jobs takes is the libraries'."""
    name, *options = command
    few, many = ((sys.executable, "-m", "pipelines.cli.main", name, str(path), *options) for path in logs)
    measure(*few, directory=tmp_path)  # compiles what is not
    libraries = measure(*few, directory=tmp_path)
    whole = benchmark.pedantic(measure, many, {"directory": tmp_path}, rounds=1)
    benchmark.extra_info |= {"peak MB": round(whole.peak_mb), "libraries MB": round(libraries.peak_mb)}
    benchmark.extra_info["bytes a job"] = round(1e6 * (whole.peak_mb - libraries.peak_mb) / JOBS)
