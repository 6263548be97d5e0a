# SPDX-License-Identifier: BSD-3-Clause
"""The slow twin of PV-EASY held against what is known without the policy: EASY, and what its authors promise."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator import find_heads, simulate
from swftools.simulator.schedule import Schedule
from tests.drawn import schedule_of
from tests.naive.pv_easy import Job, simulate_pv_easy
from tests.strategies import workloads

predictors = st.sampled_from(["request", "exact", "last-model", "virtual:error=0.9"])
overruns = st.sampled_from(["extend", "kill", "run-on"])


def jobs_of(schedule: Schedule) -> list[Job]:
    """Return the jobs of a schedule with what was predicted of them, numbered in the order of its rows from 0."""
    jobs = schedule.jobs.reset_index(drop=True)
    order = jobs.sort_values(["submit_time", "job_number", "job_occurrence"], kind="stable").index
    numbers = np.argsort(order.to_numpy())
    return [
        Job(
            int(numbers[place]),
            job.submit_time,
            job.run_time,
            int(job.allocated_processors),
            job.requested_time,
            job.estimated_time,
        )
        for place, job in enumerate(jobs.itertuples())
    ]


@given(trace=workloads(), predictor=predictors, overrun=overruns)
def test_with_neither_it_is_easy(trace: Trace, predictor: str, overrun: str) -> None:
    """Without preemption and venture it is EASY, start for start."""
    schedule = simulate(trace, "easy", predictor=predictor, overrun=overrun)
    jobs = jobs_of(schedule)
    outcomes, _ = simulate_pv_easy(jobs, schedule.processors, slp=False, venture=False)
    assert [outcomes[job.number].start for job in jobs] == schedule.jobs["start_time"].tolist()
    assert [outcomes[job.number].was_backfilled for job in jobs] == schedule.jobs["is_backfilled"].tolist()


@given(
    trace=workloads(max_jobs=16),
    predictor=predictors,
    overrun=overruns,
    venture=st.booleans(),
    victims=st.sampled_from(["lowest", "spare-needless"]),
    preemption=st.sampled_from(["kill", "suspend"]),
)
def test_no_head_is_delayed_by_jobs_of_lower_priority(
    trace: Trace, predictor: str, overrun: str, venture: bool, victims: str, preemption: str
) -> None:
    """Strict fairness (section 3.1), at the head: each starts when it would if they all were absent from then on."""
    jobs = jobs_of(simulate(trace, "easy", predictor=predictor, overrun=overrun))
    processors = trace.processors or 1
    outcomes, runs = simulate_pv_easy(jobs, processors, venture=venture, victims=victims, preemption=preemption)
    rows = [
        {
            "job": job.number,
            "submit": job.submit,
            "width": job.width,
            "request": job.requested,
            "runs": sorted((run.start, run.end) for run in runs if run.number == job.number),
        }
        for job in jobs
    ]
    heads = find_heads(schedule_of(rows, processors))
    assert heads["start_time"].tolist() == heads["start_alone"].tolist()
    assert set(heads["job_number"]) == {number for number, outcome in outcomes.items() if outcome.was_blocked}
