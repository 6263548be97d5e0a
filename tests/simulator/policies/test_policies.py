# SPDX-License-Identifier: BSD-3-Clause
"""The classic policies: drawn by hand, equal to slow twins, compiled as interpreted, true to promises and theory."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator.entry_points import simulate
from swftools.simulator.job_orders import ORDERS
from swftools.simulator.predictors.registry import list_predictors
from swftools.simulator.registry import find_policy, list_policies
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_trace, names_of, picture_columns, rows_of, schedule_columns
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import examples, pairs
from tests.folders import ROOT
from tests.interpreted import all_interpreted
from tests.naive.simulator import TWINS
from tests.simulator.policies.drawings import DRAWINGS
from tests.simulator.twin import naive_starts
from tests.strategies import crowded_trace, workloads

CLASSIC = sorted({name for name, _, _ in TWINS})
BUSY = 2
"""Seed of the crowd."""

# Drawn by hand

PICTURES = [
    (title, name.strip(), picture)
    for title, drawing in DRAWINGS.items()
    for names, picture in drawing.schedules.items()
    for name in names.split(",")
]


@pytest.mark.parametrize(("title", "policy", "picture"), PICTURES, ids=[f"{a}: {b}" for a, b, _ in PICTURES])
def test_drawn_schedules(title: str, policy: str, picture: str) -> None:
    """The schedule is the picture."""
    drawing = DRAWINGS[title]
    name, *words = policy.split()
    given = {key: int(value) if value.isdigit() else value for key, value in (word.split("=") for word in words)}
    trace = draw_trace(drawing.jobs, processors=len(rows_of(picture)))
    if "priority_rank" not in trace.jobs:
        trace = trace.with_jobs(trace.jobs.assign(priority_rank=pd.array([None] * len(trace), dtype="Int64")))
    schedule = simulate(trace, name, **drawing.options, **given)  # type: ignore[arg-type]
    assert picture_columns(picture) == schedule_columns(schedule, names_of(drawing.jobs))


# The slow twins


@pytest.mark.parametrize("name", CLASSIC)
@examples(0.3)
@given(
    trace=workloads(),
    data=st.data(),
    predictor=st.sampled_from(["request", "exact", "last-model", "virtual:error=0.9"]),
    requests=st.sampled_from(["logged", "factor:factor=3"]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
)
def test_starts_are_those_of_the_twin(
    name: str, trace: Trace, data: st.DataObject, predictor: str, requests: str, overrun: str
) -> None:
    """Job by job on small crowds, whatever is estimated."""
    _, parameters, twin = data.draw(st.sampled_from([case for case in TWINS if case[0] == name]))
    schedule = simulate(trace, name, predictor=predictor, requests=requests, overrun=overrun, seed=3, **parameters)
    assert naive_starts(trace, twin, predictor, overrun, requests) == schedule.jobs["start_time"].tolist()


@pytest.mark.parametrize(("case", "predictor"), pairs(range(len(TWINS)), ["request", "last-model", "virtual"], each=1))
def test_starts_on_a_busy_machine_are_those_of_the_twin(case: int, predictor: str) -> None:
    """Job by job on a machine that is full, with requests that are outlived."""
    name, parameters, twin = TWINS[case]
    trace = crowded_trace(75, seed=BUSY)
    schedule = simulate(trace, name, predictor=predictor, overrun="run-on", seed=3, **parameters)
    assert naive_starts(trace, twin, predictor, "run-on") == schedule.jobs["start_time"].tolist()


def test_every_classic_policy_has_a_twin() -> None:
    """A policy in a file of the classic ones that nobody checks would be a gap."""
    files = ("strict", "easy", "easy_in_time", "priority_easy", "conservative")
    here = {name for name, made in list_policies().items() if made.decide.__module__.rpartition(".")[2] in files}
    assert set(CLASSIC) == here


# Compiled and interpreted


def utilization(schedule: Schedule, until: float) -> float:
    """Return the share of the machine that is at work from the first start until a time."""
    jobs = schedule.jobs
    busy = (jobs["end_time"].clip(upper=until) - jobs["start_time"].clip(upper=until)) * jobs["allocated_processors"]
    return float(busy.sum() / schedule.processors / (until - jobs["start_time"].min()))


def test_the_crowd_keeps_the_machine_busy() -> None:
    """What the tests below rest on: from the first job to the last submission hardly a processor idles."""
    trace = crowded_trace(150, seed=BUSY)
    assert utilization(simulate(trace, "easy"), float(trace.jobs["submit_time"].max())) >= 0.9


@pytest.mark.parametrize(("name", "predictor"), pairs(OURS, sorted(list_predictors()), each=3))
def test_compiled_equals_interpreted(name: str, predictor: str) -> None:
    """Bit for bit, on a busy machine, of every policy that there is."""
    jobs = 24 if name.startswith(("genetic", "search")) else 45  # which look at many orders
    trace = with_all_columns(crowded_trace(jobs, seed=BUSY))
    compiled = simulate(trace, light(name), predictor=predictor, overrun="run-on", seed=1)
    with all_interpreted():
        interpreted = simulate(trace, light(name), predictor=predictor, overrun="run-on", seed=1, compiled=False)
    pd.testing.assert_frame_equal(interpreted.jobs, compiled.jobs, check_exact=True)
    pd.testing.assert_frame_equal(interpreted.segments, compiled.segments, check_exact=True)


_WITHOUT_NUMBA = """
import sys
from swftools.simulator.entry_points import simulate
from tests.strategies import crowded_trace
trace = crowded_trace(20)
for name in sys.argv[1:]:
    for predictor in ("request", "virtual"):
        print(name, simulate(trace, name, predictor=predictor, seed=1).jobs["start_time"].tolist())
"""


def test_compiled_equals_plain_python() -> None:
    """The same where not even the helpers of the policies are compiled."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", _WITHOUT_NUMBA, *CLASSIC]
    told = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    trace = crowded_trace(20)
    expected = [
        f"{name} {simulate(trace, name, predictor=predictor, seed=1).jobs['start_time'].tolist()}"
        for name in CLASSIC
        for predictor in ("request", "virtual")
    ]
    assert told.splitlines() == expected


# What every schedule must be


@pytest.mark.parametrize("name", CLASSIC)
@examples(0.2)
@given(trace=workloads(), predictor=st.sampled_from(["request", "exact", "last-model", "virtual:error=0.9"]))
def test_schedules_are_possible(name: str, trace: Trace, predictor: str) -> None:
    """Every job runs once, as long as it does, not before it is submitted, and never on more than the machine has."""
    jobs = simulate(trace, name, predictor=predictor).jobs
    assert len(trace) == len(jobs)
    assert (jobs["start_time"] >= jobs["submit_time"]).all()
    assert (jobs["end_time"] == jobs["start_time"] + jobs["run_time"]).all()
    starts, ends, widths = (jobs[name].to_numpy() for name in ("start_time", "end_time", "allocated_processors"))
    for moment in starts:
        assert widths[(starts <= moment) & (moment < ends)].sum() <= 6


@examples(0.5)
@given(trace=workloads())
def test_the_head_is_not_delayed(trace: Trace) -> None:
    """With exact estimates no job of EASY starts later than it would if no later job were ever submitted."""
    exact = simulate(trace, "easy", predictor="exact")
    rows = np.lexsort((exact.jobs["job_occurrence"], exact.jobs["job_number"], exact.jobs["submit_time"]))
    if len(rows) == 0:
        return
    # The job that waits at the head when the last of those before it starts: later jobs must not move it.
    waits = exact.jobs["start_time"].to_numpy()[rows]
    for place in range(len(rows)):
        began = waits[:place].max(initial=-math.inf)
        head_since = max(began, float(exact.jobs["submit_time"].to_numpy()[rows[place]]))
        running = exact.jobs.iloc[rows][(waits <= head_since) & (exact.jobs["end_time"].to_numpy()[rows] > head_since)]
        running = running[running.index != exact.jobs.index[rows[place]]]
        width = int(exact.jobs["allocated_processors"].iloc[rows[place]])
        if waits[place] > head_since:
            assert waits[place] == earliest_of(running, 6, width)


def earliest_of(running: pd.DataFrame, processors: int, width: int) -> float:
    """Return when enough of the jobs that run have ended."""
    free = processors - int(running["allocated_processors"].sum())
    for end, freed in running.sort_values("end_time")[["end_time", "allocated_processors"]].to_numpy().tolist():
        free += int(freed)
        if free >= width:
            return float(end)
    raise AssertionError("the job is wider than the machine")


@pytest.mark.parametrize("name", ["conservative", "conservative-fixed"])
@examples(0.2)
@given(trace=workloads(max_jobs=8))
def test_conservative_keeps_its_promises(name: str, trace: Trace) -> None:
    """With requests that hold, no job starts later than its reservation, made as if no job came after it.

    The reservation of a job is its start if the jobs submitted before it are scheduled as they were when it came, every
    one from then on running as long as it asked for.
    """
    jobs = simulate(trace, name).jobs
    rows = np.lexsort((jobs["job_occurrence"], jobs["job_number"], jobs["submit_time"]))
    starts, ends, submit = (jobs[name].to_numpy()[rows] for name in ("start_time", "end_time", "submit_time"))
    for place in range(len(rows)):
        known = trace.jobs.iloc[rows[: place + 1]].reset_index(drop=True)
        ended = (ends[: place + 1] <= submit[place]) & (starts[: place + 1] < submit[place])
        lasts = jobs["requested_time"].to_numpy()[rows[: place + 1]]
        known["requested_time"] = lasts
        known["run_time"] = np.where(ended, jobs["run_time"].to_numpy()[rows[: place + 1]], lasts)
        promised = simulate(trace.with_jobs(known.assign(job_number=range(place + 1))), name)
        assert starts[place] <= promised.jobs["start_time"].iloc[place]


@examples(0.2)
@given(trace=workloads())
def test_policies_that_are_easy_in_disguise(trace: Trace) -> None:
    """Equal ranks, wait alone, and parameters that say the default give EASY; every reservation exact conservative."""
    starts = simulate(trace, "easy").jobs["start_time"].tolist()
    plain = trace.with_jobs(trace.jobs.assign(priority_rank=np.zeros(len(trace), np.int64)))
    assert starts == simulate(plain, "prio-fifo").jobs["start_time"].tolist()
    assert starts == simulate(trace, "weighted-priority", expansion_weight=0).jobs["start_time"].tolist()
    assert starts == simulate(trace, "easy", reservations=1).jobs["start_time"].tolist()
    shortest = simulate(trace, "sjf-backfill").jobs["start_time"].tolist()
    assert shortest == simulate(trace, "easy", backfill_order="sjf").jobs["start_time"].tolist()
    # Shorter runs hold their processors for 1 s in the plans of conservative backfilling.
    jobs = trace.jobs
    longer = trace.with_jobs(jobs.assign(run_time=jobs["run_time"] + 1, requested_time=jobs["requested_time"] + 1))
    reserved = simulate(longer, "easy", reservations=99).jobs["start_time"].tolist()
    assert reserved == simulate(longer, "conservative-replanned").jobs["start_time"].tolist()
    sums = simulate(trace, "weighted-priority", wait_weight=0).jobs["start_time"].tolist()
    assert sums == simulate(trace, "lxf-backfill").jobs["start_time"].tolist()


# Theory


def poisson_trace(jobs: int, arrival_rate: float, seed: int) -> Trace:
    """Return jobs of one processor with exponential gaps and run times, the mean run time 1."""
    rng = np.random.default_rng(seed)
    run = rng.exponential(1.0, jobs)
    return Trace.from_columns(
        job_number=np.arange(jobs),
        submit_time=np.cumsum(rng.exponential(1 / arrival_rate, jobs)),
        run_time=run,
        requested_time=run,
        allocated_processors=np.ones(jobs, np.int64),
    )


def erlang_c(servers: int, offered: float) -> float:
    """Return the probability that a job of M/M/c has to wait."""
    blocked = offered**servers / math.factorial(servers) * servers / (servers - offered)
    return blocked / (sum(offered**k / math.factorial(k) for k in range(servers)) + blocked)


@pytest.mark.parametrize(
    ("servers", "load", "runs"),
    [
        (1, 0.8, 12),
        (16, 0.9, 12),
        *(pytest.param(*case, 30, marks=pytest.mark.slow) for case in [(1, 0.5), (4, 0.8), (1, 0.8), (16, 0.9)]),
    ],
)
def test_waits_of_first_come_first_served_are_those_of_erlang(servers: int, load: float, runs: int) -> None:
    """Mean wait C / (c - a), and the share that waits at all, within four standard errors of some runs."""
    offered = load * servers
    waits = [
        simulate(poisson_trace(20_000, offered, seed), "fcfs", servers).jobs["wait_time"].to_numpy()[2000:]
        for seed in range(runs)
    ]
    chance = erlang_c(servers, offered)
    for expected, seen in (
        (chance / (servers - offered), [wait.mean() for wait in waits]),
        (chance, [(wait > 0).mean() for wait in waits]),
    ):
        assert abs(np.mean(seen) - expected) < 4 * np.std(seen, ddof=1) / math.sqrt(len(seen))


# Parameters


def test_words_of_parameters() -> None:
    """A word is one of the orders, and its place is what the policy gets."""
    assert (0, 1) == find_policy("easy").chosen({}).values()
    assert (2, 3) == find_policy("easy").chosen({"backfill_order": ORDERS[2], "reservations": 3}).values()
    assert ORDERS == find_policy("easy").parameters.domains()["backfill_order"].choices
    with pytest.raises(ParameterError, match="backfill_order='random' is not one of fcfs, sjf, lxf"):
        simulate(crowded_trace(3), "easy", backfill_order="random")
    with pytest.raises(ParameterError, match="easy: reservations='two' is not an integer of 1 or more"):
        simulate(crowded_trace(3), "easy", reservations="two")
