# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes: whole calls, in process CPU, beside a program in plain C in the same run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools.simulator import Schedule, simulate, validate
from tests.benchmark.conftest import measure
from tests.benchmark.generated_nodes import Generated, Yardstick

pytestmark = pytest.mark.benchmark(group="nodes")

SPARING, FIRST_FIT = "first-fit", "first-fit:sparing=false"
AT_ONCE = 20_000


@pytest.fixture(scope="module")
def yardstick(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Yardstick:
    """What makes the traces, and what they are timed against."""
    return Yardstick(shared, tmp_path_factory.mktemp("nodes"))


def run(
    benchmark: BenchmarkFixture, made: Generated, placement: str = SPARING, heads: str = "machine", rounds: int = 3
) -> tuple[Schedule, float]:
    """Run EASY, and return its last schedule and jobs a second of CPU in the best round."""
    seconds = []

    def once() -> Schedule:
        begin = time.process_time()
        schedule = simulate(made.trace, "easy", machine=made.machine, placement=placement, heads=heads)
        seconds.append(time.process_time() - begin)
        return schedule

    assert len(made.trace.arrays.width) == len(made.trace)  # arrays are made before
    schedule: Schedule = benchmark.pedantic(once, rounds=rounds, warmup_rounds=1)
    assert len(schedule) == len(made.trace)
    benchmark.extra_info["jobs/s"] = rate = round(len(made.trace) / min(seconds[1:]))
    return schedule, rate


def beside_c(
    benchmark: BenchmarkFixture, yardstick: Yardstick, made: Generated, placement: str, heads: str = "machine"
) -> None:
    """Run EASY, and plain C that looks at every node of every job."""
    _, rate = run(benchmark, made, placement, heads)
    other = yardstick.run_c(made, "easy", sparing=placement == SPARING)
    benchmark.extra_info |= {"C jobs/s": round(other.rate), "times C": round(rate / other.rate, 2)}
    benchmark.extra_info["waiting"] = other.waiting


@pytest.mark.parametrize("heads", ["machine", "partition"])
def test_easy(benchmark: BenchmarkFixture, yardstick: Yardstick, heads: str) -> None:
    """EASY that spares nodes: 200,000 jobs on 1,000 nodes of four kinds in 20 partitions that overlap.

    Plain C has one first waiting job for the machine.
    """
    beside_c(benchmark, yardstick, yardstick.generate(), SPARING, heads)


@pytest.mark.parametrize("placement", [SPARING, FIRST_FIT])
@pytest.mark.parametrize(
    "options",
    [{"nodes": 100}, {"partitions": 100}, {"nodes": 10_000}],
    ids=["100-nodes", "100-partitions", "10000-nodes"],
)
def test_sizes(benchmark: BenchmarkFixture, yardstick: Yardstick, options: dict[str, float], placement: str) -> None:
    """Smaller and larger machines, and many partitions: 50,000 jobs."""
    beside_c(benchmark, yardstick, yardstick.generate(**options, jobs=50_000), placement)


def all_different(jobs: pd.DataFrame) -> None:
    """Change memory and requests, so that no two jobs ask for the same."""
    number = np.arange(len(jobs))
    jobs["memory"] += number % 1009 - 1009 * (jobs["memory"] > 2018)
    jobs["request"] += number // 1009


@pytest.mark.parametrize("placement", [SPARING, FIRST_FIT])
def test_all_different(benchmark: BenchmarkFixture, yardstick: Yardstick, placement: str) -> None:
    """Each job asks for something else, so that none can be judged by another; 50,000 jobs."""
    beside_c(benchmark, yardstick, yardstick.generate(all_different, jobs=50_000, load=2.0), placement)


def at_once(jobs: pd.DataFrame) -> None:
    """Submit all jobs at one instant."""
    jobs["submit"] = 0


def at_once_and_short(jobs: pd.DataFrame) -> None:
    """Submit all jobs at one instant; none runs longer than an hour, so that the queue shrinks evenly."""
    jobs["submit"] = 0
    for name in ("run", "request"):
        jobs[name] = jobs[name].clip(upper=3600)


@pytest.mark.parametrize("jobs", [AT_ONCE // 2, AT_ONCE, 2 * AT_ONCE])
@pytest.mark.parametrize("change", [at_once, at_once_and_short])
def test_long_queues(
    benchmark: BenchmarkFixture, yardstick: Yardstick, change: Callable[[pd.DataFrame], None], jobs: int
) -> None:
    """Jobs that are submitted at one instant, in numbers that tell growth; C has the same method here."""
    made = yardstick.generate(change, jobs=jobs)
    run(benchmark, made, rounds=1)
    other = yardstick.run_c(made, "quick", sparing=False)
    benchmark.extra_info |= {"waiting": other.waiting, "C quick jobs/s": round(other.rate)}


@pytest.mark.parametrize(("jobs", "load"), [(50_000, 2.0), (80_000, 3.0), (200_000, 4.0)])
def test_overload(benchmark: BenchmarkFixture, yardstick: Yardstick, jobs: int, load: float) -> None:
    """More work than the machine can do, so that queues grow to the end; how many wait on average is told."""
    schedule, _ = run(benchmark, yardstick.generate(jobs=jobs, load=load), rounds=1)
    waits, submits, starts = (schedule.jobs[f"{name}_time"] for name in ("wait", "submit", "start"))
    benchmark.extra_info["waiting"] = round(waits.sum() / (starts.max() - submits.min()))


@pytest.mark.parametrize("heads", ["machine", "partition"])
def test_validate(benchmark: BenchmarkFixture, yardstick: Yardstick, heads: str) -> None:
    """Microseconds of CPU for a node of a run, with what EASY promises."""
    made = yardstick.generate() if heads == "machine" else yardstick.generate(jobs=50_000)
    schedule = simulate(made.trace, "easy", machine=made.machine, heads=heads)
    seconds = []

    def once() -> None:
        begin = time.process_time()
        assert validate(schedule, trace=made.trace).ok
        seconds.append(time.process_time() - begin)

    benchmark.pedantic(once, rounds=2, warmup_rounds=1)
    nodes = made.trace.jobs["requested_nodes"].sum()
    benchmark.extra_info["us an allocation"] = round(min(seconds[1:]) / nodes * 1e6, 2)


_READ = """
from pathlib import Path
from swftools import simulate
from tests.benchmark.generated_nodes import read_machine, read_trace
machine, files = read_machine(Path({0!r})), (Path({0!r}), Path({1!r}))
trace = read_trace(*files)
trace.arrays, trace.views
few = trace.with_jobs(trace.jobs.head(100))
simulate(few, "easy", machine=machine)
"""


@pytest.mark.parametrize(
    ("policy", "jobs"), [("conservative-fixed", 30_000), ("conservative", 30_000), ("conservative", 200_000)]
)
def test_plans(benchmark: BenchmarkFixture, yardstick: Yardstick, policy: str, jobs: int) -> None:
    """Reservations on nodes: the first 30,000 jobs of the 200,000, behind which queues are longer, and all."""
    made = yardstick.generate()
    trace = made.trace.with_jobs(made.trace.jobs.head(jobs))
    assert len(trace.arrays.width) == len(trace)  # arrays are made before
    begin = time.process_time()
    schedule = benchmark.pedantic(lambda: simulate(trace, policy, machine=made.machine), rounds=1, warmup_rounds=0)
    benchmark.extra_info["jobs/s"] = round(len(trace) / (time.process_time() - begin))
    assert len(schedule) == len(trace)


def test_memory(benchmark: BenchmarkFixture, yardstick: Yardstick) -> None:
    """Peak bytes a job beside the trace, of which 24 may be of each node of a job: the difference of two processes."""
    made = yardstick.generate()
    read = _READ.format(str(made.machine_file), str(made.trace_file))
    without = measure(sys.executable, "-c", read)
    whole = f"{read}\nsimulate(trace, 'easy', machine=machine, heads='machine')"
    peak = benchmark.pedantic(measure, (sys.executable, "-c", whole), rounds=1).peak_mb
    jobs, nodes = len(made.trace), int(made.trace.jobs["requested_nodes"].sum())
    benchmark.extra_info |= {
        "bytes a job": round((peak - without.peak_mb) * 1e6 / jobs),
        "of them allowed": round(250 + 24 * nodes / jobs),
    }


def test_nothing_compiled(
    benchmark: BenchmarkFixture, yardstick: Yardstick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU of a process that simulates a hundred jobs and finds no compiled code, start-up among it."""
    made = yardstick.generate(jobs=50_000)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = _READ.format(str(made.machine_file), str(made.trace_file))
    first = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    again = measure(sys.executable, "-c", code)
    benchmark.extra_info |= {"first s": round(first.cpu_seconds, 1), "again s": round(again.cpu_seconds, 1)}
