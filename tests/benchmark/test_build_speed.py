# SPDX-License-Identifier: BSD-3-Clause
"""BuildAugmentedTrace as a whole process on the full logs: wall and CPU time, and peak memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmark.conftest import measure

pytestmark = pytest.mark.benchmark(group="build")

LOGS = [
    "SDSC-BLUE-2000-4.2-cln",
    "CTC-SP2-1996-3.1-cln",
    "SDSC-DS-2004-2.1-cln",
    "SDSC-SP2-1998-4.2-cln",
    "KTH-SP2-1996-2.1-cln",
]


@pytest.mark.parametrize("log", LOGS)
def test_build_augmented_trace(benchmark: BenchmarkFixture, shared: Path, tmp_path: Path, log: str) -> None:
    """From the compressed log to the published version, and the second run that finds it complete."""
    command = [sys.executable, "-m", "luigi", "--module", "pipelines", "BuildAugmentedTrace"]
    command += ["--BuildAugmentedTrace-log", str(shared / "traces" / f"{log}.swf.gz")]
    first = benchmark.pedantic(measure, command, {"directory": tmp_path}, rounds=1)
    again = measure(*command, directory=tmp_path)
    assert (first.output.split(":")[0], again.output.split(":")[0]) == ("published", "already complete")
    benchmark.extra_info |= {"wall s": round(first.seconds, 1), "CPU s": round(first.cpu_seconds, 1)}
    benchmark.extra_info["peak MB"] = round(first.peak_mb)
    benchmark.extra_info["second run s"] = round(again.seconds, 2)
