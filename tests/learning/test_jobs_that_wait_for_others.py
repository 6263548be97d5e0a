# SPDX-License-Identifier: BSD-3-Clause
"""Episodes of a log whose jobs wait for others: each is a simulation of its jobs, in which they wait for each other."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from swftools import Trace, simulate
from swftools.learning import EpisodeLog, SchedulingEnv
from tests.learning.logs import JOBS, crowded, part_of


def dependent() -> Trace:
    """Return jobs of which every second waits for the one two before it, and a minute."""
    trace = crowded(3)
    before = pd.array([job - 2 if job > 2 and job % 2 else None for job in range(1, JOBS + 1)], "Int64")
    return trace.with_jobs(trace.jobs.assign(preceding_job_number=before, think_time=60.0))


def played(environment: Any, first: int) -> Any:
    """Return the schedule of an episode in which the first job that may start always does."""
    _, told = environment.reset(options={"first": first})
    over = False
    while not over:
        action = int(told["action_mask"].argmax())
        _, _, over, _, told = environment.step(action)
    return environment.episode_schedule()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("first", [0, 17])
def test_an_episode_is_a_simulation(first: int, compiled: bool) -> None:
    """Whoever waits for a job before the episode waits for none; the others as in a simulation of these jobs."""
    pytest.importorskip("gymnasium")
    log = EpisodeLog(dependent(), policy="fcfs", compiled=compiled)
    environment = SchedulingEnv(log, k=64, jobs=20, warm_up=4)
    ours, part = played(environment, first), part_of(log, first, 24)
    assert part.jobs["preceding_job_number"].notna().sum() > 8
    by_policy = simulate(part, "fcfs", overrun="run-on")
    ready = ours.jobs["ready_time"]
    assert (ready > ours.jobs["submit_time"]).sum() > 3
    assert (ours.jobs["start_time"] >= ready).all()
    ends = dict(zip(ours.jobs["job_number"], ours.jobs["end_time"], strict=True))
    for job in ours.jobs.itertuples():
        if not pd.isna(job.preceding_job_number) and job.preceding_job_number in ends:
            assert job.ready_time == max(job.submit_time, ends[job.preceding_job_number] + 60.0)
    assert len(by_policy.jobs) == len(ours.jobs) == 24


@pytest.mark.parametrize("compiled", [True, False])
def test_an_episode_is_not_over_while_jobs_wait_for_others(compiled: bool) -> None:
    """Nobody is in the queue then, and nobody is to come."""
    pytest.importorskip("gymnasium")
    trace = Trace.from_columns(
        machine_processors=2,
        job_number=[1, 2, 3],
        submit_time=[0, 0, 0],
        run_time=[10, 10, 10],
        requested_time=[10, 10, 10],
        requested_processors=[1, 1, 1],
        preceding_job_number=[-1, 1, 2],
    )
    environment = SchedulingEnv(EpisodeLog(trace, policy="fcfs", compiled=compiled), k=4, jobs=3, warm_up=0)
    environment.reset(options={"first": 0})
    starts, over = 0, False
    while not over:
        over = environment.step(0)[2]
        starts += 1
    assert starts == 3
    assert environment.episode_schedule().jobs["start_time"].tolist() == [0.0, 10.0, 20.0]
