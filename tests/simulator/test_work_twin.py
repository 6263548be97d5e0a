# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of work - stopped, kept, lost, resized, held, predicted anew - against the slow twin, run by run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.entry_points import simulate
from swftools.simulator.predictors.registry import find_predictor
from tests.examples import by_day, examples
from tests.naive.simulator import STRICTEST, TWINS, Run
from tests.simulator.restless import FICKLE, RESTLESS, naive_fickle, naive_restless
from tests.simulator.twin import naive_runs, naive_starts_of, shown, shown_naive
from tests.strategies import crowded_trace

PROCESSORS = 8


def with_work(trace: Trace, rng: np.random.Generator) -> Trace:
    """Return a trace whose jobs write checkpoints, take time to go on, and have widths and curves exact in binary."""
    count = len(trace)
    width = 2 ** rng.integers(0, 4, count)
    is_moldable = rng.random(count) < 0.7
    least = np.minimum(width, 2 ** rng.integers(0, 3, count))
    jobs = trace.jobs.assign(
        allocated_processors=pd.array(width, dtype="Int64"),
        checkpoint_interval=np.where(rng.random(count) < 0.3, np.nan, 2.0 ** rng.integers(-1, 3, count)),
        going_on=rng.integers(0, 4, count).astype(float),
        speedup_curve=np.where(is_moldable, "downey", None),
        downey_a=np.where(is_moldable, 2.0 ** rng.integers(1, 4, count), np.nan),
        downey_sigma=np.where(is_moldable, 0.0, np.nan),
        minimum_processors=pd.array(np.where(is_moldable, least, width), dtype="Int64"),
        maximum_processors=pd.array(np.where(is_moldable, 8, width), dtype="Int64"),
        job_number=pd.array(np.arange(1, count + 1), dtype="Int64"),
    )
    return replace(trace.with_jobs(jobs), machine_processors=PROCESSORS)


@st.composite
def traces_with_work(draw: st.DrawFn, *, max_jobs: int = 10) -> Trace:
    """Draw a few jobs that crowd a small machine, with all that their work may do."""
    count = draw(st.integers(1, max_jobs))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    trace = Trace.from_columns(
        machine_processors=PROCESSORS,
        job_number=list(range(1, count + 1)),
        submit_time=[float(time) for time in column(st.integers(0, 12))],
        run_time=[float(time) for time in column(st.integers(0, 9))],
        requested_time=column(st.none() | st.integers(0, 12).map(float)),
        allocated_processors=[1] * count,
        user_id=column(st.none() | st.integers(1, 3)),
    )
    ranks = pd.array(column(st.none() | st.integers(0, 3)), dtype="Int64")
    trace = trace.with_jobs(trace.jobs.assign(priority_rank=ranks))
    return with_work(trace, np.random.default_rng(draw(st.integers(0, 2**32))))


OVERHEADS = [0.0, 3.0, "uniform:seconds=1,per_processor=0.5", "column:name=going_on"]


def assert_as_the_twin(
    trace: Trace, predictor: str, seed: int, compiled: bool, acts: int = 60, **options: Any
) -> list[Run]:
    """Compare every run of the restless policy with the slow simulator; return those."""
    ours = predictor != "fickle"
    work, jobs, runs = naive_runs(
        trace,
        naive_restless(len(trace), seed, acts),
        predictor=predictor if ours else "request",
        observe=None if ours else naive_fickle(),
        seed=seed,
        **options,
    )
    told = find_predictor(predictor) if ours else FICKLE
    schedule = simulate(trace, RESTLESS, predictor=told, seed=seed, compiled=compiled, acts=acts, **options)
    assert shown_naive(trace, jobs, runs, work) == shown(trace, schedule)
    starts = dict(zip(work.coming.row.tolist(), jobs, strict=True))
    assert [starts[row].start for row in sorted(starts)] == schedule.jobs["start_time"].tolist()
    stops = [sum(run.how in STRICTEST[:3] for run in starts[row].runs) for row in sorted(starts)]
    assert stops == schedule.jobs["preemptions"].tolist()
    return runs


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("predictor", ["request", "last-model", "virtual:error=0.5", "fickle"])
@examples(0.2)
@given(
    trace=traces_with_work(),
    seed=st.integers(0, 9999),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
    restart_overhead=st.sampled_from(OVERHEADS),
)
def test_runs_are_those_of_the_twin(
    compiled: bool, predictor: str, trace: Trace, seed: int, overrun: str, restart_overhead: Any
) -> None:
    """Whatever is done to jobs by lot, and whatever is predicted of them."""
    assert_as_the_twin(trace, predictor, seed, compiled, overrun=overrun, restart_overhead=restart_overhead)


@pytest.mark.parametrize("predictor", ["request", "fickle"])
@pytest.mark.parametrize("restart_overhead", OVERHEADS)
def test_runs_on_a_busy_machine_are_those_of_the_twin(restart_overhead: Any, predictor: str) -> None:
    """More jobs, which wait long and are stopped often."""
    trace = with_work(crowded_trace(40, PROCESSORS, seed=4), np.random.default_rng(5))
    options = {"overrun": "run-on", "restart_overhead": restart_overhead}
    runs = assert_as_the_twin(trace, predictor, 6, True, acts=300, **options)
    counts = Counter(run.how for run in runs)
    assert counts["completed"] == 40
    assert min(counts[how] for how in STRICTEST) >= 4, counts
    assert restart_overhead == 0 or any(run.overhead > 0 for run in runs)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "parameters", "twin"), by_day(TWINS[::-1], 12))
def test_policies_follow_who_changes_his_mind(name: str, parameters: dict[str, Any], twin: Any, seed: int) -> None:
    """Waiting and running jobs are predicted anew, and held back at submission: every classic policy takes it in."""
    trace = crowded_trace(40, 16, seed=seed)
    schedule = simulate(trace, name, predictor=FICKLE, overrun="run-on", seed=3, **parameters)
    work, jobs, _ = naive_runs(trace, twin, observe=naive_fickle(), overrun="run-on")
    assert naive_starts_of(work, jobs) == schedule.jobs["start_time"].tolist()
