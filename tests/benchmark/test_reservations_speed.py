# SPDX-License-Identifier: BSD-3-Clause
"""How long a plan takes, at the console and in a simulation, and what sites in lockstep cost beside the sites alone.

pytest tests/benchmark/test_reservations_speed.py --benchmark-enable --benchmark-only -p no:xdist

Times are of the processor, so that other work on the machine does not count.
Nine cells of Table 5.6 are measured by the command itself:

    time swftools reproduce nurmi2009 --table 5.6 --data-root /tmp/fresh --workers 2
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from pipelines.logs import load_log
from swftools import Trace
from swftools.models import lublin_feitelson
from swftools.qbets import WaitPredictor
from swftools.reservations import ReservedJob, Site, plan_reservation, simulate_reservations, simulate_sites
from swftools.reservations.bids import Bids, latest_submissions
from swftools.reservations.live_waits import LiveWaits
from tests.benchmark.conftest import measure

pytestmark = pytest.mark.benchmark(group="reserve", timer=time.process_time)

EXCERPT = "SDSC-BLUE-2000-4.2-cln-5000-9999"
HOUR = 3600.0


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the shipped excerpt teaches."""
    path = tmp_path_factory.mktemp("state") / "blue.state"
    predictor = WaitPredictor("binomial", by="queue")
    predictor.replay(load_log(EXCERPT).trace)
    predictor.save(path)
    return path


def test_plan(benchmark: BenchmarkFixture, state: Path) -> None:
    """Of a saved state: a trajectory of 6 h in steps of 30 s."""
    job = ReservedJob(HOUR, 64, "3")
    now = 3_791_146.0
    plan = benchmark(plan_reservation, state, job, now + 6 * HOUR, 0.75, now=now)
    assert len(plan.trajectory) == 720


def test_plan_at_the_console(benchmark: BenchmarkFixture, state: Path) -> None:
    """A whole process, from its start to its end."""
    script = Path(sys.executable).with_name("swftools")
    asks = ("--state", str(state), "--queue", "3", "--processors", "64", "--requested-time", "1h")
    rest = ("--start", "+6h", "--probability", ".75", "--json")
    runs = []
    benchmark.pedantic(lambda: runs.append(measure(str(script), "reserve", *asks, *rest)), rounds=5, warmup_rounds=1)
    benchmark.extra_info["s of the process"] = round(min(run.cpu_seconds for run in runs), 3)
    benchmark.extra_info["s until it ends"] = round(min(run.seconds for run in runs), 3)


def test_plan_in_the_loop(benchmark: BenchmarkFixture) -> None:
    """Anew after each wait: a wait becomes known, and the latest submission of one job is looked up."""
    rng = np.random.default_rng(0)
    live = LiveWaits(WaitPredictor("binomial", by=None, training=1000), 200_000)
    for number in range(5000):
        live.started(
            live.submitted(100.0 * number, float(rng.choice([HOUR, 7200.0]))), 100.0 * number + rng.exponential(HOUR)
        )
        live.learn(100.0 * number + 50.0)
    one = np.ones(1)
    number = 5000

    def plan() -> Any:
        nonlocal number
        now = 100.0 * number
        live.started(live.submitted(now, HOUR), now + rng.exponential(HOUR))
        live.learn(now + 50.0)
        number += 1
        bid = Bids(np.zeros(1, np.int64), np.zeros(1, np.int64), now * one, (now + 6 * HOUR) * one, HOUR * one, one)
        return latest_submissions(bid, live, now, 75, 30.0, "requested_time")

    benchmark.pedantic(plan, rounds=2000, warmup_rounds=10)


def test_half_of_the_jobs(benchmark: BenchmarkFixture) -> None:
    """A simulation of the shipped excerpt in which half of the jobs reserve."""
    log = load_log(EXCERPT).trace
    waits = WaitPredictor("binomial", by="queue", training=200)
    found = benchmark.pedantic(
        simulate_reservations,
        (log, "easy"),
        {"waits": waits, "share": 0.5, "probability": 0.75},
        rounds=3,
        warmup_rounds=1,
    )
    benchmark.extra_info["us a job"] = round(1e6 * benchmark.stats.stats.min / len(log))
    benchmark.extra_info["accepted"] = int(found.reservations["is_accepted"].sum())


def _two() -> tuple[list[Site], pd.DataFrame]:
    waits = WaitPredictor("binomial", by=None, training=200)
    logs: list[Trace] = [lublin_feitelson.generate(20_000, processors=256, load=0.7, seed=seed) for seed in (1, 2)]
    end = min(float(log.jobs["submit_time"].max()) for log in logs)
    asks = np.arange(0.2 * end, 0.9 * end, 5 * HOUR)
    parts = pd.DataFrame({"request": np.repeat(np.arange(len(asks)), 2), "ask_time": np.repeat(asks, 2)})
    parts = parts.assign(processors=4, requested_time=HOUR, run_time=HOUR, start_by=parts["ask_time"] + 4 * HOUR)
    return [Site(str(place), log, "easy", waits=waits) for place, log in enumerate(logs)], parts


@pytest.mark.parametrize("which", ["lockstep", "alone"])
def test_two_sites(benchmark: BenchmarkFixture, which: str) -> None:
    """Two sites with a pair of jobs each five hours, four hours ahead; and each by itself, with the same jobs."""
    sites, parts = _two()

    def run() -> None:
        if which == "lockstep":
            simulate_sites(sites, parts, probability=0.5)
            return
        for place, site in enumerate(sites):
            simulate_sites([site], parts.iloc[place::2], probability=0.5**0.5)

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
