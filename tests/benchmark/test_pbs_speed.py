# SPDX-License-Identifier: BSD-3-Clause
"""PBS: throughput of reading a log with a Q, an S and an E record a job, on one core, and memory in pieces."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools.formats.read_log import read_log
from tests.benchmark.conftest import measure

pytestmark = pytest.mark.benchmark(group="parse")


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%m/%d/%Y %H:%M:%S")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 150,000 jobs: E records of 600 to 900 bytes, as Torque writes them, jobs that overlap."""
    random = Random(0)
    now = 1688634000
    records: list[tuple[int, str]] = []
    for number in range(150_000):
        now += random.randint(1, 30)
        start = now + random.randint(1, 4000)
        end = start + random.randint(10, 8000)
        nodes = random.choice([1, 1, 1, 2, 4, 8])
        hosts = "+".join(f"node{random.randint(1, 400):03d}/0-7" for _ in range(nodes))
        told = (
            f"user=user{random.randint(1, 500)} group=group{random.randint(1, 50)} "
            f"account=project{random.randint(1, 80)} jobname=job_{random.randint(1, 9999)}.sh queue=batch "
            f"ctime={now} qtime={now} etime={now} start={start} owner=user1@login.cluster.example exec_host={hosts} "
            f"Resource_List.neednodes={nodes}:ppn=8 Resource_List.nodect={nodes} Resource_List.nodes={nodes}:ppn=8 "
            f"Resource_List.walltime=04:00:00"
        )
        used = (
            f"session={random.randint(1000, 99999)} total_execution_slots={nodes * 8} unique_node_count={nodes} "
            f"end={end} Exit_status={random.choice([0, 0, 0, 1, 271])} "
            f"resources_used.cput={random.randint(0, 99)}:00:12 resources_used.energy_used=0 "
            f"resources_used.mem={random.randint(100, 9999999)}kb "
            f"resources_used.vmem={random.randint(100, 9999999)}kb resources_used.walltime=01:00:00"
        )
        name = f"{100_000 + number}.server.cluster.example"
        records.append((now, f"{_date(now)};Q;{name};queue=batch\n"))
        records.append((start, f"{_date(start)};S;{name};{told}\n"))
        records.append((end, f"{_date(end)};E;{name};{told} {used}\n"))
    path = tmp_path_factory.mktemp("pbs") / "accounting"
    path.write_text("".join(line for _, line in sorted(records, key=lambda record: record[0])))
    return path


def test_read(benchmark: BenchmarkFixture, log: Path) -> None:
    """MB/s of read_log; at least 60 are asked for."""
    trace = benchmark.pedantic(read_log, (log,), rounds=5, warmup_rounds=1)
    assert (len(trace), len(trace.merged)) == (150_000, 300_000)
    benchmark.extra_info["MB/s"] = round(log.stat().st_size / benchmark.stats.stats.min / 1e6, 1)


@pytest.mark.parametrize("times", [1, 4])
def test_memory_in_pieces(benchmark: BenchmarkFixture, log: Path, tmp_path: Path, times: int) -> None:
    """Peak memory of iter_log, which does not grow with the log but by its jobs' keys."""
    path = tmp_path / "accounting"
    path.write_bytes(log.read_bytes() * times)
    code = f"from swftools.formats.read_log import iter_log; print(sum(len(part) for part in iter_log({str(path)!r})))"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    assert int(whole.output) == 150_000
    benchmark.extra_info |= {"peak MB": round(whole.peak_mb), "text MB": round(path.stat().st_size / 1e6)}
