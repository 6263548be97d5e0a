# SPDX-License-Identifier: BSD-3-Clause
"""What stopping costs: nothing when jobs are suspended, an overhead for each time they go on, or lost work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.parameters import Parameters, number, whole
from swftools.simulator.entry_points import simulate
from swftools.simulator.machine.state import CHECKPOINT, KILL, RUNNING, SUBMITTED, SUSPEND
from swftools.simulator.machine.verbs import preempt, start, wake_at
from swftools.simulator.machine.views import first_waiting, free, next_waiting, now, width
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.registry import Policy
from swftools.simulator.schedule import Schedule
from tests.examples import examples
from tests.strategies import crowded_trace


@dataclass(frozen=True)
class StoppingParameters(Parameters):
    """Parameters of ``stops_by_lot``: how it stops, what a run does at least before, and how often it acts."""

    how: int = whole(SUSPEND, least=KILL, most=SUSPEND)
    least: float = number(0.0, least=0, unit="s")
    acts: int = whole(40, least=0)


def stops_by_lot(machine, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Stop running jobs by lot, then start whoever fits."""
    acts = memory[0]
    for job in range(machine.counts[SUBMITTED]):
        lot = rng.random()
        if machine.allocated[job] > 0 and lot < 0.4 and acts[0] < parameters.acts:
            did = now(machine) - machine.start_time[job] - machine.overhead[job]
            if did > 0.0 and did >= parameters.least:
                acts[0] += 1
                preempt(machine, job, parameters.how)
    job = first_waiting(machine)
    while job != NOBODY:
        if width(machine, job) <= free(machine):
            start(machine, job)
        job = next_waiting(machine, job)
    if machine.counts[RUNNING] > 0 and acts[0] < parameters.acts:
        acts[0] += 1
        wake_at(machine, now(machine) + 1.0 + int(3 * rng.random()))


STOPPING = Policy("stopping", stops_by_lot, StoppingParameters, lambda jobs, processors: (np.zeros(1, np.int64),))

crowds = st.builds(crowded_trace, st.integers(2, 30), st.just(8), seed=st.integers(0, 999))


def time_of_runs(schedule: Schedule) -> pd.Series:
    """Return how long all runs of each job took together."""
    segments = schedule.segments
    return (segments["end_time"] - segments["start_time"]).groupby(segments["job_number"]).sum()


def truth(trace: Trace) -> pd.Series:
    """Return the run times by job."""
    return trace.jobs.set_index("job_number")["run_time"]


@examples(0.25)
@given(trace=crowds, seed=st.integers(0, 99))
def test_suspending_changes_no_running_time(trace: Trace, seed: int) -> None:
    """However often a job is stopped, its runs take together what it takes; their work is its work."""
    schedule = simulate(trace, STOPPING, seed=seed)
    expected = truth(trace)
    assert expected.to_dict() == time_of_runs(schedule).to_dict()
    assert expected.to_dict() == schedule.segments.groupby("job_number")["work"].sum().to_dict()
    assert expected.to_dict() == schedule.jobs.set_index("job_number")["run_time"].to_dict()
    firsts = schedule.segments.groupby("job_number")["start_time"].min()
    assert firsts.to_dict() == schedule.jobs.set_index("job_number")["start_time"].to_dict()


@examples(0.4)
@given(trace=crowds, seed=st.integers(0, 99), overhead=st.sampled_from(["3", "uniform:seconds=1,per_processor=0.5"]))
def test_an_overhead_for_each_time_it_goes_on(trace: Trace, seed: int, overhead: str) -> None:
    """Running times grow by just that, of runs that are not stopped within it."""
    given_ = 3.0 if overhead == "3" else overhead
    schedule = simulate(trace, STOPPING, seed=seed, restart_overhead=given_)
    counts = schedule.segments.groupby("job_number").size() - 1
    widths = schedule.jobs.set_index("job_number")["allocated_processors"].astype(float)
    each = 3.0 if overhead == "3" else 1.0 + 0.5 * widths
    assert (truth(trace) + counts * each).to_dict() == time_of_runs(schedule).to_dict()


def test_jobs_are_stopped_in_these_tests() -> None:
    """Else they would say nothing."""
    schedule = simulate(crowded_trace(30, 8, seed=1), STOPPING, seed=1, restart_overhead=3)
    assert (schedule.segments["ended_by"] != "completed").sum() > 10
    assert (schedule.segments["overhead"] > 0).sum() > 10


def with_interval(trace: Trace, interval: float) -> Trace:
    """Return jobs that write a checkpoint so often."""
    return trace.with_jobs(trace.jobs.assign(checkpoint_interval=interval))


def runs_of(trace: Trace, how: int, seed: int) -> list[list[Any]]:
    """Return the runs, without how they ended."""
    segments = simulate(trace, STOPPING, how=how, seed=seed, restart_overhead=2).segments
    return segments[["job_number", "start_time", "end_time", "work", "overhead"]].to_numpy().tolist()


@examples(0.25)
@given(trace=crowds, seed=st.integers(0, 99))
def test_checkpoints_lie_between_suspending_and_killing(trace: Trace, seed: int) -> None:
    """Written all the time they lose nothing; never, or too late, all; else less than an interval each time."""
    suspended, killed = runs_of(trace, SUSPEND, seed), runs_of(trace, KILL, seed)
    assert suspended == runs_of(with_interval(trace, 2.0**-20), CHECKPOINT, seed)
    for interval in (np.nan, 1e12):
        assert killed == runs_of(with_interval(trace, interval), CHECKPOINT, seed)
    assert killed == runs_of(trace, CHECKPOINT, seed)  # the trace does not say it
    assert all(overhead == 0 for *_, overhead in killed)
    schedule = simulate(with_interval(trace, 4.0), STOPPING, how=CHECKPOINT, seed=seed)
    for number_, runs in schedule.segments.groupby("job_number"):
        kept = 0.0
        for work in runs["work"].tolist()[:-1]:
            kept = (kept + work) // 4 * 4
        assert truth(trace)[number_] == kept + runs["work"].tolist()[-1]


@examples(0.25)
@given(trace=crowds, seed=st.integers(0, 99))
def test_killed_jobs_run_whole_in_the_end(trace: Trace, seed: int) -> None:
    """The last run is the whole job, and the job starts with it."""
    schedule = simulate(trace, STOPPING, how=KILL, seed=seed)
    last = schedule.segments.groupby("job_number")[["start_time", "work"]].last()
    assert truth(trace).to_dict() == last["work"].to_dict()
    assert last["start_time"].to_dict() == schedule.jobs.set_index("job_number")["start_time"].to_dict()
    assert truth(trace).to_dict() == schedule.jobs.set_index("job_number")["run_time"].to_dict()


def test_intervals_are_of_work_not_of_time(compiled: bool) -> None:
    """A job writes when another 4 s of its work are done, also over several runs and their overheads."""
    trace = Trace.from_columns(
        machine_processors=1, job_number=[1], submit_time=[0], run_time=[20], allocated_processors=[1]
    )

    def at_times(machine):  # type: ignore[no-untyped-def]
        """Stop the job at 6, 12 and 13 s, and let it go on at once."""
        if machine.counts[RUNNING] > 0:
            preempt(machine, 0, CHECKPOINT)
        if first_waiting(machine) != NOBODY:
            start(machine, 0)
        if now(machine) < 6.0:
            wake_at(machine, 6.0)
        elif now(machine) < 12.0:
            wake_at(machine, 12.0)
        elif now(machine) < 13.0:
            wake_at(machine, 13.0)

    told = simulate(
        with_interval(trace, 4.0), Policy("at-times", at_times), restart_overhead=1, compiled=compiled
    ).segments[["start_time", "end_time", "work", "overhead", "ended_by"]]
    expected = [
        [0.0, 6.0, 6.0, 0.0, "checkpointed"],  # 4 kept
        [6.0, 12.0, 5.0, 1.0, "checkpointed"],  # 9 done, 8 kept
        [12.0, 13.0, 0.0, 1.0, "checkpointed"],  # within the overhead: 8 as before
        [13.0, 26.0, 12.0, 1.0, "completed"],
    ]
    assert expected == told.to_numpy().tolist()
