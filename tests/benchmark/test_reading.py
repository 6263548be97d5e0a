# SPDX-License-Identifier: BSD-3-Clause
"""Reading: throughput beside plain C, growth in lines, memory, and the time to import."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.utility.model import generate_utility
from tests.benchmark.conftest import measure

pytestmark = pytest.mark.benchmark(group="parse")


def megabytes_a_second(benchmark: BenchmarkFixture, path: Path) -> float:
    """Return the throughput of the best round."""
    return round(path.stat().st_size / benchmark.stats.stats.min / 1e6, 1)


def test_read_sdsc_blue_beside_plain_c(benchmark: BenchmarkFixture, blue: Path, shared: Path, tmp_path: Path) -> None:
    """MB/s of read_swf on the whole log, and of the C program, in one run."""
    benchmark.pedantic(swftools.read_swf, (blue,), rounds=10, warmup_rounds=2)
    benchmark.extra_info["MB/s"] = ours = megabytes_a_second(benchmark, blue)
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "the comparison needs a C compiler"
    subprocess.run([compiler, "-O3", "-o", tmp_path / "limit", shared / "limit" / "limit.c"], check=True)
    runs = [measure(str(tmp_path / "limit"), str(blue), "1152").output for _ in range(5)]
    limit = max(float(match[1]) for match in (re.search(r"([\d.]+) MB/s", run) for run in runs) if match)
    benchmark.extra_info |= {"C MB/s": limit, "share of C": round(ours / limit, 3)}
    assert ours > 0


@pytest.mark.parametrize("lines", [10**4, 10**5, 10**6, 10**7])
def test_read_growth(benchmark: BenchmarkFixture, grown: Callable[[int], Path], lines: int) -> None:
    """Time and peak memory of read_swf from ten thousand to ten million lines."""
    path = grown(lines)
    code = f"import swftools; print(len(swftools.read_swf({str(path)!r})))"
    benchmark.pedantic(
        swftools.read_swf, (path,), rounds=3 if lines < 10**7 else 1, warmup_rounds=1 if lines < 10**7 else 0
    )
    whole = measure(sys.executable, "-c", code)
    assert lines == int(whole.output)
    benchmark.extra_info |= {"MB/s": megabytes_a_second(benchmark, path), "peak MB": round(whole.peak_mb)}
    benchmark.extra_info["text MB"] = round(path.stat().st_size / 1e6, 1)


@pytest.mark.parametrize("lines", [10**5, 10**6, 10**7])
def test_stream_growth(benchmark: BenchmarkFixture, grown: Callable[[int], Path], lines: int) -> None:
    """Time and peak memory of iter_swf, which must not grow with the log."""
    path = grown(lines)
    code = f"import swftools; print(sum(len(part) for part in swftools.iter_swf({str(path)!r})))"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    assert lines == int(whole.output)
    benchmark.extra_info["peak MB"] = round(whole.peak_mb)


def test_write_sdsc_blue(benchmark: BenchmarkFixture, blue: Path, tmp_path: Path) -> None:
    """Time to write the whole log as plain SWF."""
    trace = swftools.read_swf(blue)
    benchmark.pedantic(swftools.write_swf, (trace, tmp_path / "copy.swf"), rounds=3, warmup_rounds=1)
    benchmark.extra_info["MB/s"] = megabytes_a_second(benchmark, tmp_path / "copy.swf")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_write_extended_sdsc_blue(benchmark: BenchmarkFixture, blue: Path, tmp_path: Path, suffix: str) -> None:
    """Time to write the whole log with utility functions, which are mostly long decimals."""
    trace = swftools.read_swf(blue)
    extended = trace.with_jobs(trace.jobs.join(generate_utility(trace)))
    path = tmp_path / f"copy.swf{suffix}"
    benchmark.pedantic(swftools.write_swf, (extended, path), rounds=3, warmup_rounds=1)
    benchmark.extra_info["MB"] = round(path.stat().st_size / 1e6, 1)


def test_import(benchmark: BenchmarkFixture) -> None:
    """Seconds of ``import swftools`` in a fresh process, without those of starting Python."""
    code = "import time; t = time.perf_counter(); import swftools; print(time.perf_counter() - t)"
    times = [float(measure(sys.executable, "-c", code).output) for _ in range(6)]
    benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    benchmark.extra_info["import s"] = round(sorted(times)[len(times) // 2], 3)
