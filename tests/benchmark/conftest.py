"""What the benchmarks share: full logs, growing logs, and whole processes with their peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from swftools.compression import open_log

BLUE = "SDSC-BLUE-2000-4.2-cln.swf.gz"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the benchmarks out unless they are asked for by --benchmark-enable."""
    if not config.getoption("benchmark_enable"):
        items[:] = [item for item in items if Path(__file__).parent not in item.path.parents]


class Measured(NamedTuple):
    """A finished process: wall time in seconds, peak resident memory in MB, and what it printed."""

    seconds: float
    peak_mb: float
    output: str


def measure(*command: str, directory: Path | None = None) -> Measured:
    """Run a command in a process of its own and measure it."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(time.perf_counter() - start, usage.ru_maxrss * unit / 1e6, output)


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
