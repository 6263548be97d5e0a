# SPDX-License-Identifier: BSD-3-Clause
"""Users ask before each of sixty jobs of a real Slurm; what they are told is held against what came, through kills."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from swftools.live import read_journal, read_told
from tests.pipelines.luigi_runs import SWFTOOLS
from tests.real_slurm.cluster import Slurm, ended

pytestmark = pytest.mark.slow

JOBS, KILLS = 60, 3


def test_what_users_are_told_is_what_the_ledger_counts(own_slurm: Slurm, tmp_path: Path) -> None:
    """Each job is in the journal once; kept and broken are those of sacct's waits; answers are those of the moment."""
    asked: dict[str, float | None] = {}
    journal, done = tmp_path / "waits.jsonl", 0
    for part in range(KILLS + 1):
        with _serving(own_slurm, tmp_path) as address:
            while done < JOBS * (part + 1) // (KILLS + 1):
                answer = _answer(f"{address}api/v1/wait?queue=batch&time=1m&quantile=.5")
                bound = answer["bounds"][0]["seconds"] if answer["bounds"] else None
                width, seconds = (16, 8, 4, 8)[done % 4], (1, 2, 1)[done % 3]
                asked[own_slurm.submit(f"--ntasks={width}", "--time=1", f"sleep {seconds}")] = bound
                done += 1
                time.sleep(1.0)
            if part == KILLS:
                own_slurm.wait_for(lambda: ended(journal) >= set(asked), "all jobs have ended", 180.0)
                own_slurm.wait_for(
                    lambda: _answer(f"{address}api/v1/clusters")[0]["running"] == 0, "the service knows of it"
                )
                accuracy = _answer(f"{address}api/v1/accuracy")
    events = [event for event in read_journal(journal) if event.job.split("@")[0] in asked]
    counts = Counter((event.job.split("@")[0], event.kind) for event in events)
    assert all(counts[job, kind] == 1 for job in asked for kind in ("submitted", "started", "ended"))
    waits = _waits(own_slurm, list(asked))
    told = {job.split("@")[0]: each.bound for job, each in read_told(f"{journal}.told").items()}
    bounds = {job: told[job] for job in asked if told[job] == told[job]}
    kept = sum(waits[job] <= bound for job, bound in bounds.items())
    assert len(bounds) > JOBS // 2
    assert (accuracy["told"], accuracy["kept"], accuracy["broken"]) == (len(bounds), kept, len(bounds) - kept)
    same = [job for job in bounds if asked[job] == bounds[job]]
    assert len(same) > len(bounds) // 2  # the others: a start was heard of between the question and the submission


@contextmanager
def _serving(slurm: Slurm, folder: Path) -> Iterator[str]:
    """Start a service, which is killed at the end; yield its address."""
    words = ["--slurm", "--journal", "waits.jsonl", "--every", "1", "--training", "1", "--port", "0"]
    words += ["--options", "quantile=0.5,confidence=0.5"]  # two waits are enough for that
    command = [*SWFTOOLS, "serve", *words]
    with subprocess.Popen(command, cwd=folder, env=slurm.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://\S+/", process.stdout.readline())  # type: ignore[union-attr]
            assert address is not None
            yield address[0]
        finally:
            process.kill()


def _answer(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:  # before the first job there is no queue of which anything is known
            return {"bounds": []}
        raise


def _waits(slurm: Slurm, jobs: list[str]) -> dict[str, float]:
    """Return how long each job waited, by sacct."""
    text = slurm.run("SLURM_TIME_FORMAT=%s sacct -n -X -P --format=JobID,Submit,Start -j " + ",".join(jobs))
    rows = [line.split("|") for line in text.splitlines()]
    return {job: float(start) - float(submit) for job, submit, start in rows}
