# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks share: full logs, growing logs, and whole processes with their peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from swftools.formats.compression import open_log

BLUE = "SDSC-BLUE-2000-4.2-cln.swf.gz"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the benchmarks out unless they are asked for by --benchmark-enable."""
    if not config.getoption("benchmark_enable"):
        items[:] = [item for item in items if Path(__file__).parent not in item.path.parents]


class Measured(NamedTuple):
    """A finished process: wall and CPU time in seconds, peak resident memory in MB, and what it printed."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str


def measure(*command: str, directory: Path | None = None) -> Measured:
    """Run a command in a process of its own and measure it.

    A process starts with the peak memory of the one that forked it, so a small one stands in between.
    """
    result = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command], cwd=directory, capture_output=True, text=True, check=True
    )
    measured = json.loads(result.stderr.splitlines()[-1])
    return Measured(measured["seconds"], measured["cpu_seconds"], measured["peak_mb"], result.stdout)


_MEASURE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
seconds = time.perf_counter() - start
unit = 1 if sys.platform == "darwin" else 1024
used = resource.getrusage(resource.RUSAGE_CHILDREN)
measured = {"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss * unit / 1e6}
print(json.dumps(measured), file=sys.stderr)
"""


@pytest.fixture(scope="session")
def blue(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SDSC-BLUE uncompressed."""
    path = tmp_path_factory.mktemp("blue") / BLUE.removesuffix(".gz")
    with open_log(shared / "traces" / BLUE) as stream:
        path.write_bytes(stream.read())
    return path


@pytest.fixture(scope="session")
def grown(blue: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Logs of any number of lines, made of SDSC-BLUE's."""
    folder = tmp_path_factory.mktemp("grown")
    lines = [line for line in blue.read_bytes().splitlines(keepends=True) if not line.startswith(b";")]

    def make(count: int) -> Path:
        path = folder / f"{count}.swf"
        if not path.exists():
            with path.open("wb") as file:
                for start in range(0, count, len(lines)):
                    file.writelines(lines[: count - start])
        return path

    return make
