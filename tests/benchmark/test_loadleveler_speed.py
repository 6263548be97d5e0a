# SPDX-License-Identifier: BSD-3-Clause
"""Reading LoadLeveler's listings: throughput on one core, and memory that does not grow with the file."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools import read_log
from tests.benchmark.conftest import measure

pytestmark = pytest.mark.benchmark(group="parse")

SAMPLE = (
    Path(__file__).parent.parent / "formats" / "loadleveler" / "samples" / "llsummary-l_datastar-like_60steps.txt.gz"
)
FORMAT = "loadleveler:time_zone=America/Los_Angeles,processors_per_node=8"


def write(path: Path, times: int) -> Path:
    """Write the sample over and over, each time with other ids."""
    text = gzip.decompress(SAMPLE.read_bytes())
    text = text[text.index(b"=====") :]
    with path.open("wb") as file:
        for number in range(times):
            file.write(text.replace(b"ds001.5", b"ds%05d.5" % number))
    return path


def test_read(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """MB/s of read_log."""
    path = write(tmp_path / "history.txt", 600)
    benchmark.pedantic(read_log, (path, FORMAT), rounds=5, warmup_rounds=1)
    benchmark.extra_info["MB/s"] = round(path.stat().st_size / benchmark.stats.stats.min / 1e6, 1)


@pytest.mark.parametrize("times", [600, 6000])
@pytest.mark.parametrize("call", ["len(read_log({}))", "sum(map(len, iter_log({})))"])
def test_memory(benchmark: BenchmarkFixture, tmp_path: Path, times: int, call: str) -> None:
    """Peak memory: read_log holds the jobs, iter_log a piece."""
    path = write(tmp_path / "history.txt", times)
    code = f"from swftools import iter_log, read_log; print({call.format(f'{str(path)!r}, {FORMAT!r}')})"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    assert 60 * times == int(whole.output)
    benchmark.extra_info["peak MB"] = round(whole.peak_mb)
