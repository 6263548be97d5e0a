# SPDX-License-Identifier: BSD-3-Clause
"""A collector hears of a real Slurm, and a history learns its jobs: with sacct's times, whatever kills it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.pipelines.luigi_runs import SWFTOOLS
from tests.real_slurm.cluster import Slurm, ended

pytestmark = pytest.mark.slow


def test_a_history_of_what_was_heard(own_slurm: Slurm, tmp_path: Path) -> None:
    """Jobs that run are there without an end; killed twice, ended by a signal; a later night has the ends."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    long = own_slurm.submit("--ntasks=1", "--time=30", "sleep 600")
    jobs: list[str] = []
    for how in ("kill", "kill", "terminate"):
        with _collecting(own_slurm, tmp_path, how):
            jobs += [own_slurm.submit("--ntasks=8", "--time=1", "sleep 1") for _ in range(4)]
            time.sleep(3.0)
    with _collecting(own_slurm, tmp_path, "terminate"):
        own_slurm.wait_for(lambda: ended(tmp_path / "journal") >= set(jobs), "their ends are heard of")
    first = _night(tmp_path)
    assert sorted(first.index) == sorted([long, *jobs])
    assert pd.isna(first.loc[long, "run_time"])
    assert first.loc[long, "wait_time"] >= 0
    assert _times(own_slurm, jobs) == {
        job: (first.loc[job, "wait_time"], first.loc[job, "run_time"], first.loc[job, "status"]) for job in jobs
    }
    own_slurm.run(f"scancel {long}")
    with _collecting(own_slurm, tmp_path, "terminate"):
        own_slurm.wait_for(lambda: ended(tmp_path / "journal") >= {long}, "its end is heard of")
    second = _night(tmp_path)
    assert second.loc[jobs].equals(first.loc[jobs])
    assert _times(own_slurm, [long]) == {
        long: (second.loc[long, "wait_time"], second.loc[long, "run_time"], second.loc[long, "status"])
    }


@contextmanager
def _collecting(slurm: Slurm, folder: Path, how: str) -> Iterator[None]:
    """Hear of a Slurm each second; end it so."""
    words = ["--slurm", "--name", "blue", "--journal", "journal", "--inbox", "inbox", "--every", "1"]
    command = [*SWFTOOLS, "collect", *words]
    with subprocess.Popen(command, cwd=folder, env=slurm.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert "hears of it every 1 s" in process.stdout.readline()  # type: ignore[union-attr]
            yield
        finally:
            getattr(process, how)()
    assert process.returncode == (-9 if how == "kill" else 0)


def _night(folder: Path) -> pd.DataFrame:
    """Take what is in the inbox into the history; return its jobs by their ids."""
    command = [*SWFTOOLS, "reevaluate", "--inbox", "inbox", "--history", "blue", "--processors", "16"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    version = (folder / "data" / "blue" / "latest").read_text().strip()
    return pd.read_parquet(folder / "data" / "blue" / version / "jobs").set_index("log_id")


def _times(slurm: Slurm, jobs: list[str]) -> dict[str, tuple[float, float, int]]:
    """Return wait, run time and status of jobs as sacct has them."""
    text = slurm.run("SLURM_TIME_FORMAT=%s sacct -n -X -P --format=JobID,Submit,Start,End,State -j " + ",".join(jobs))
    found = {}
    for line in text.splitlines():
        job, submit, start, end, state = line.split("|")
        status = {"COMPLETED": 1, "CANCELLED": 5}[state.split(" ")[0]]
        found[job] = (float(start) - float(submit), float(end) - float(start), status)
    return found
