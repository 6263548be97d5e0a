# SPDX-License-Identifier: BSD-3-Clause
"""Simulation: jobs a second by policy, beside plain C, in overload, and from ten thousand to millions of jobs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.models import lublin_feitelson
from swftools.simulator import Schedule, find_heads, list_policies, simulate, validate
from swftools.simulator import measure as measure_schedule
from swftools.simulator.search.search_parameters import Searching
from tests.benchmark.conftest import BLUE, measure

pytestmark = pytest.mark.benchmark(group="simulate")

PROCESSORS = 1152
CLASSIC = [
    name for name, made in list_policies().items() if ":" not in name and not issubclass(made.parameters, Searching)
]
"""All but those that take as long for a decision as they are given: they are in test_search_speed.py."""


@pytest.fixture(scope="module")
def sdsc_blue(shared: Path) -> swftools.Trace:
    """The whole log, jobs that ran."""
    trace = swftools.read_swf(shared / "traces" / BLUE)
    ran = (trace.arrays.run_time >= 0) & (trace.arrays.width > 0)
    return replace(trace.with_jobs(trace.jobs[ran].reset_index(drop=True)), machine_processors=PROCESSORS)


def jobs_a_second(
    benchmark: BenchmarkFixture, trace: swftools.Trace, policy: str, rounds: int = 3, **options: str
) -> float:
    """Benchmark simulate() alone and return jobs a second of the best round."""
    assert len(trace.arrays.width) == len(trace)  # arrays are made before
    benchmark.pedantic(simulate, (trace, policy), options, rounds=rounds, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = rate = round(len(trace) / benchmark.stats.stats.min)
    return rate


def test_easy_beside_plain_c(
    benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, blue: Path, shared: Path, tmp_path: Path
) -> None:
    """EASY on the whole log, and the C program, in one run."""
    ours = jobs_a_second(benchmark, sdsc_blue, "easy", rounds=10)
    benchmark.extra_info |= beside_plain_c(ours, blue, shared, tmp_path)


def test_pv_easy_beside_plain_c(
    benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, blue: Path, shared: Path, tmp_path: Path
) -> None:
    """PV-EASY with the predictor of its paper, and the C program, which does EASY, in one run."""
    ours = jobs_a_second(benchmark, sdsc_blue, "pv-easy", rounds=10, predictor="last-model")
    benchmark.extra_info |= beside_plain_c(ours, blue, shared, tmp_path)


def beside_plain_c(ours: float, blue: Path, shared: Path, tmp_path: Path) -> dict[str, float]:
    """Return how many jobs a second the C program does, and what share of that ours are."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "the comparison needs a C compiler"
    subprocess.run([compiler, "-O3", "-o", tmp_path / "limit", shared / "limit" / "limit.c"], check=True)
    runs = [measure(str(tmp_path / "limit"), str(blue), str(PROCESSORS)).output for _ in range(5)]
    limit = max(float(match[1]) for match in (re.search(r"(\d+) jobs/s", run) for run in runs) if match)
    return {"C jobs/s": limit, "share of C": round(ours / limit, 3)}


@pytest.mark.parametrize("policy", CLASSIC)
def test_every_policy(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, policy: str) -> None:
    """Each on the whole log, at its own load of 0.77."""
    ranked = sdsc_blue.with_jobs(sdsc_blue.jobs.assign(priority_rank=sdsc_blue.jobs["queue_id"]))
    jobs_a_second(benchmark, ranked, policy, rounds=1)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "pv-easy"])
def test_overload(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, policy: str) -> None:
    """Times between submissions x 0.7: thousands of jobs are queued on average."""
    times = np.floor(sdsc_blue.jobs["submit_time"] * 0.7)
    trace = sdsc_blue.with_jobs(sdsc_blue.jobs.assign(submit_time=times))
    jobs_a_second(benchmark, trace, policy)
    metrics = measure_schedule(simulate(trace, policy))
    queue = metrics[(metrics["measure"] == "queue_length") & (metrics["statistic"] == "time_mean")]
    benchmark.extra_info["mean queue"] = round(float(queue["value"].iloc[0]))


def in_bursts(waiting: int) -> swftools.Trace:
    """Return jobs that come twice as many at once as are to wait on average, when those before are served."""
    burst = 2 * waiting
    jobs = max(2 * burst, 40_000)
    trace = lublin_feitelson.generate(jobs, processors=128, seed=1)
    number = np.arange(jobs) // burst
    seconds = 2 * np.bincount(number, weights=trace.arrays.run_time * trace.arrays.width) / 128
    begin = np.concatenate([[0], np.cumsum(seconds)[:-1]])[number]
    times = np.floor(begin + np.arange(jobs) % burst * 0.01)
    ranks = pd.array(np.arange(jobs) % 3, dtype="Int64")
    return trace.with_jobs(trace.jobs.assign(submit_time=times, priority_rank=ranks))


@pytest.mark.parametrize("waiting", [5_000, 50_000])
@pytest.mark.parametrize("policy", CLASSIC)
def test_queues(benchmark: BenchmarkFixture, policy: str, waiting: int) -> None:
    """Every policy with so many jobs waiting on average while any do."""
    jobs_a_second(benchmark, in_bursts(waiting), policy, rounds=1)


@pytest.mark.parametrize("policy", CLASSIC)
def test_at_once(benchmark: BenchmarkFixture, policy: str) -> None:
    """A hundred thousand jobs that are submitted at one instant."""
    trace = in_bursts(25_000)
    trace = trace.with_jobs(trace.jobs.assign(submit_time=0.0))
    assert len(trace) == 100_000
    jobs_a_second(benchmark, trace, policy, rounds=1)


@pytest.mark.parametrize("policy", [name for name in CLASSIC if name != "conservative"])
def test_too_small(benchmark: BenchmarkFixture, shared: Path, policy: str) -> None:
    """The jobs of CTC that fit 64 processors, of which it had 430; conservative takes many minutes, and says so."""
    trace = swftools.read_swf(shared / "traces" / "CTC-SP2-1996-3.1-cln.swf.gz")
    fits = (trace.arrays.run_time >= 0) & (trace.arrays.width > 0) & (trace.arrays.width <= 64)
    jobs = trace.jobs[fits].reset_index(drop=True)
    jobs_a_second(
        benchmark,
        replace(trace.with_jobs(jobs.assign(priority_rank=jobs["queue_id"])), machine_processors=64),
        policy,
        rounds=1,
    )


@pytest.mark.parametrize("jobs", [10**4, 10**5, 10**6, 5 * 10**6])
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_growth(benchmark: BenchmarkFixture, policy: str, jobs: int) -> None:
    """The Lublin-Feitelson model on 128 processors."""
    trace = lublin_feitelson.generate(jobs, processors=128, seed=1)
    jobs_a_second(benchmark, trace, policy, rounds=1)


def test_small_log(benchmark: BenchmarkFixture, shared: Path) -> None:
    """EASY on the jobs of SDSC-SP2 that other simulators were timed on: 12.9 s by pyss, 1.5 s by the fastest."""
    trace = swftools.read_swf(shared / "oracles" / "schedules" / "sdscsp2.swf.gz")
    assert len(trace.arrays.width) == len(trace)
    benchmark.pedantic(simulate, (trace, "easy", 128), rounds=5, warmup_rounds=1)
    seconds = benchmark.stats.stats.min
    benchmark.extra_info |= {"pyss / ours": round(12.9 / seconds), "fastest peer / ours": round(1.5 / seconds)}


def test_interpreted(benchmark: BenchmarkFixture) -> None:
    """Decisions a second without compilation, at light load."""
    trace = lublin_feitelson.generate(5000, processors=512, seed=1)
    benchmark.pedantic(simulate, (trace, "easy"), {"compiled": False}, rounds=2)
    benchmark.extra_info["decisions/s"] = round(2 * len(trace) / benchmark.stats.stats.min)


def test_second_process(benchmark: BenchmarkFixture) -> None:
    """Seconds until a fresh process has simulated a few jobs: kernels come from the cache."""
    code = (
        "import time; t = time.perf_counter(); import swftools\n"
        "trace = swftools.models.lublin_feitelson.generate(50)\n"
        "s = time.perf_counter(); swftools.simulate(trace, 'easy')\n"
        "print(time.perf_counter() - s, time.perf_counter() - t)"
    )
    times = [[float(word) for word in measure(sys.executable, "-c", code).output.split()] for _ in range(4)]
    benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    benchmark.extra_info |= {
        "first simulate s": round(min(t[0] for t in times), 2),
        "all s": round(min(t[1] for t in times), 2),
    }


def test_memory(benchmark: BenchmarkFixture) -> None:
    """Peak bytes a job of simulate, beside the trace: the difference of two processes."""
    jobs = 10**6
    make = (
        f"import swftools; trace = swftools.models.lublin_feitelson.generate({jobs}); trace.arrays; print(len(trace))"
    )
    without = measure(sys.executable, "-c", make)
    whole = benchmark.pedantic(measure, (sys.executable, "-c", f"{make}\nswftools.simulate(trace, 'easy')"), rounds=1)
    benchmark.extra_info["bytes a job"] = round((whole.peak_mb - without.peak_mb) * 1e6 / jobs)


@pytest.mark.parametrize("policy", ["easy", "pv-easy"])
def test_validate(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace, policy: str) -> None:
    """Checking the schedule of the whole log, what its policy promises included."""
    schedule = simulate(sdsc_blue, policy, predictor="last-model" if policy == "pv-easy" else "request")
    assert validate(schedule).ok
    benchmark.pedantic(validate, (schedule,), rounds=2, warmup_rounds=1)


def test_heads(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace) -> None:
    """Finding who was ever the first in the queue, and when it would have started alone."""
    schedule = simulate(sdsc_blue, "pv-easy", predictor="last-model")
    benchmark.pedantic(find_heads, (schedule,), rounds=5, warmup_rounds=1)


def test_metrics(benchmark: BenchmarkFixture, sdsc_blue: swftools.Trace) -> None:
    """Measuring it."""
    schedule = simulate(sdsc_blue, "easy")
    benchmark.pedantic(measure_schedule, (schedule,), rounds=2, warmup_rounds=1)


@pytest.mark.parametrize("what", [measure_schedule, validate], ids=["measure", "validate"])
def test_lean(benchmark: BenchmarkFixture, what: Callable[[Schedule], object]) -> None:
    """Microseconds of CPU a job, and bytes of arrays a job at most, of 10^6 jobs."""
    jobs = 10**6
    schedule = simulate(lublin_feitelson.generate(jobs, processors=128, seed=1), "easy")
    seconds = []
    for _ in range(4):  # the first compiles
        begin = time.process_time()
        what(schedule)
        seconds.append(time.process_time() - begin)
    tracemalloc.start()
    benchmark.pedantic(what, (schedule,), rounds=1)
    benchmark.extra_info["bytes a job"] = round(tracemalloc.get_traced_memory()[1] / jobs)
    tracemalloc.stop()
    benchmark.extra_info["CPU us a job"] = round(min(seconds) / jobs * 1e6, 2)
