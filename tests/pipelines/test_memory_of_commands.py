# SPDX-License-Identifier: BSD-3-Clause
"""How much memory the commands take that read long logs: peaks above that of the libraries, by job."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmark.conftest import measure
from tests.benchmark.test_long_logs_speed import write_long_log

JOBS = 1_500_000
"""So many that the text is read in pieces, columns are read one by one, and jobs are published in two pieces."""

MOST = {"describe": 200, "simulate": 340, "augment": 570, "compare": 340}
"""Bytes a job, a tenth more than was measured; before columns shared memory it was twice as many."""


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of many jobs."""
    path = tmp_path_factory.mktemp("long") / "long.swf"
    write_long_log(path, JOBS)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("describe",),
        ("simulate", "--policy", "easy"),
        ("augment", "--data-root", "."),
        ("compare", "--data-root", ".", "--augment", "none", "--policies", "easy,fcfs", "--workers", "1"),
    ],
    ids=lambda command: command[0],
)
def test_no_command_takes_more(command: tuple[str, ...], long_log: Path, tmp_path: Path) -> None:
    """Compared with the same command on a log of few jobs, which loads the same libraries and kernels."""
    short = tmp_path / "short.swf"
    write_long_log(short, 2_000)
    name, *options = command
    peaks = []
    for path in (short, short, long_log):  # first once for what has to be compiled
        program = (sys.executable, "-m", "pipelines.cli.main", name, str(path), *options)
        peaks.append(measure(*program, directory=tmp_path).peak_mb)
    of_a_job = 1e6 * (peaks[2] - peaks[1]) / JOBS
    assert of_a_job <= MOST[name]
