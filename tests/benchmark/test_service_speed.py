# SPDX-License-Identifier: BSD-3-Clause
"""How fast a service answers beside a Slurm of 10,000 waiting jobs that it polls each second, and how fast it starts.

pytest tests/benchmark/test_service_speed.py --benchmark-enable --benchmark-only -p no:xdist

Slurm's commands are scripts here. The service may use one core, the last one. Times are by the clock, since waiting is
what users feel, so other work on the machine counts; the CPU time of the service for an answer is noted beside them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.pipelines.luigi_runs import SWFTOOLS, environment

pytestmark = pytest.mark.benchmark(group="serve")

WAITING, EVENTS = 10_000, 250_000

SECONDS = 10.0

QUESTION = "/api/v1/wait?queue=q{}&time={}m&within={}m"

SQUEUE = """#!{python} -ISE
# Prints the jobs that wait, in the columns that it is asked for.
import re, sys, time
words = " ".join(sys.argv[1:])
short = {{"i": "JobArrayID", "T": "State", "P": "Partition", "u": "UserName", "C": "NumCPUs", "l": "TimeLimit",
         "V": "SubmitTime", "S": "StartTime"}}
form = re.search(r"--format=(\\S+)", words)
if form:
    columns, end = [short[each] for each in re.findall("%(.)", form[1])], ""
else:
    columns, end = re.findall(r"(\\w+):0\\|", re.search(r"--Format=(\\S+)", words)[1]), "|"
others = {{"State": "PENDING", "UserName": "ann", "NumCPUs": "4", "TimeLimit": "4:00:00", "StartTime": "N/A"}}
for n in range({waiting}):
    here = {{"JobArrayID": str(n), "Partition": "q%d" % (n % 10)}}
    here["SubmitTime"] = here["EligibleTime"] = str({now} - {waiting} + n)
    print("|".join(here.get(each) or others.get(each, "") for each in columns) + end)
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return an environment in which Slurm's commands are, and a journal of 250,000 events of 10 queues."""
    folder = tmp_path_factory.mktemp("slurm")
    now = int(time.time())
    (folder / "squeue").write_text(SQUEUE.format(python=sys.executable, waiting=WAITING, now=now))
    for name in ("sacct", "sinfo", "scontrol", "sacctmgr"):
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
    for path in folder.iterdir():
        path.chmod(0o755)
    random = np.random.default_rng(7)
    jobs = EVENTS // 3
    submits = np.sort(random.integers(now - 90 * 86_400, now - 86_400, jobs))
    waits = random.lognormal(6, 2, jobs).astype(int).clip(0, 80_000)
    rows: list[tuple[float, str]] = []
    for n in range(jobs):
        job, submit = f"{1_000_000 + n}@{submits[n]}", float(submits[n])
        about = {"processors": 4, "requested_time": float(random.integers(1, 48)) * 1800.0}
        groups = {"groups": {"queue": f"q{n % 10}", "user": f"u{n % 50}"}}
        rows += [
            (submit, json.dumps({"kind": "submitted", "time": submit, "job": job, **about, **groups})),
            (submit + waits[n], json.dumps({"kind": "started", "time": submit + float(waits[n]), "job": job})),
            (
                submit + waits[n] + 600,
                json.dumps({"kind": "ended", "time": submit + float(waits[n]) + 600, "job": job}),
            ),
        ]
    rows.sort(key=lambda row: row[0])
    (folder / "journal").write_text("".join(f"{line}\n" for _, line in rows))
    made = environment()
    return {"env": {**made, "PATH": f"{folder}:{made['PATH']}"}, "journal": folder / "journal"}


@contextmanager
def served(slurm: dict[str, Any]) -> Iterator[tuple[str, float, subprocess.Popen[str]]]:
    """Start a service; yield its address, the seconds until it had one, and its process."""
    words = ["serve", "--slurm", "--every", "1", "--port", "0", "--journal", str(slurm["journal"])]
    pinned = ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0)))] if sys.platform == "linux" else []
    begun = time.perf_counter()
    with subprocess.Popen([*pinned, *SWFTOOLS, *words], env=slurm["env"], stdout=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())  # type: ignore[union-attr]
            assert found is not None
            yield found[1], time.perf_counter() - begun, process
        finally:
            process.terminate()


async def asked(port: str, connections: int, seconds: float, rate: float | None) -> list[float]:
    """Ask on several connections; return the seconds from when each question was due until it was answered.

    With a rate (questions a second) they are due at even times, whether the last one is answered or not; without, each
    connection asks as soon as it has its answer.
    """
    took: list[float] = []
    begun = time.perf_counter()

    async def ask(which: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
        number = which
        while True:
            due = time.perf_counter() if rate is None else begun + number / rate
            if due - begun > seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            question = QUESTION.format(number % 10, 30 + number % 487, 10 + number % 101)  # hardly one is asked twice
            writer.write(f"GET {question} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = re.search(rb"(?i)content-length: (\d+)", head)
            await reader.readexactly(int(length[1]))  # type: ignore[index]
            took.append(time.perf_counter() - due)
            number += connections
        writer.close()

    await asyncio.gather(*[ask(which) for which in range(connections)])
    return took


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Return the CPU time of a process, without that of its commands."""
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def noted(benchmark: BenchmarkFixture, took: list[float], seconds: float) -> None:
    """Write down what was measured."""
    benchmark.extra_info["answers_a_second"] = round(len(took) / seconds)
    for share in (50, 99, 99.9):
        benchmark.extra_info[f"p{share}_ms"] = round(1000 * float(np.percentile(took, share)), 2)
    benchmark.extra_info["longest_ms"] = round(1000 * max(took), 1)


@pytest.mark.parametrize("rate", [None, 500.0, 1000.0])
def test_answers_beside_a_poll(benchmark: BenchmarkFixture, slurm: dict[str, Any], rate: float | None) -> None:
    """``/wait`` on 8 connections for 10 s: as fast as it goes, and at even times."""
    with served(slurm) as (port, _, process):
        asyncio.run(asked(port, 8, 3.0, 200.0))
        before = cpu_seconds(process)
        took = benchmark.pedantic(lambda: asyncio.run(asked(port, 8, SECONDS, rate)), rounds=1)
        used = cpu_seconds(process) - before
    benchmark.extra_info["cpu_ms_an_answer"] = round(1000 * used / len(took), 2)
    noted(benchmark, took, benchmark.stats.stats.max)


def test_start(benchmark: BenchmarkFixture, slurm: dict[str, Any]) -> None:
    """From the command to its address, with a journal of 250,000 events: at first all is learnt, then it is known."""
    for path in slurm["journal"].parent.glob("journal.*"):
        path.unlink()
    with served(slurm) as (_, first, process):
        time.sleep(3.0)
        process.terminate()
        process.wait()

    def start() -> float:
        with served(slurm) as (_, seconds, _):
            return seconds

    seconds = benchmark.pedantic(start, rounds=1)
    benchmark.extra_info.update(first_s=round(first, 2), again_s=round(seconds, 2))
