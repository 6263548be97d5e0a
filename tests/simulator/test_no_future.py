# SPDX-License-Identifier: BSD-3-Clause
"""Nobody sees the future: what is to come may be anything, and nothing that has happened is another."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.simulator import Predictor, Simulation, list_predictors, simulate
from swftools.simulator.machine.events import SUBMISSION
from swftools.simulator.machine.state import SUBMITTED
from swftools.simulator.machine.verbs import predict
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import pairs
from tests.simulator.restless import FICKLE, RESTLESS
from tests.simulator.test_stop_and_go import MeanOfUser
from tests.simulator.test_work_twin import with_work
from tests.strategies import crowded_trace

BOOSTED = "gradient-boosting:every=10,window=30,trees=3,least_in_leaf=2"
RAISED = ["last-model:outlived=increments", "user-average:jobs=1,outlived=increments"]
PREDICTORS = [*sorted(list_predictors()), *RAISED, BOOSTED, "fickle", "Python"]
POLICIES = [*OURS, "restless"]
JUNK = [np.nan, -1.0, 0.0, 1e9]


@cache
def trace_of(seed: int) -> Trace:
    """Return jobs in order of submission, with all that policies may ask for."""
    return with_all_columns(with_work(crowded_trace(40, 8, seed=seed), np.random.default_rng(seed)))


def policy_by(name: str) -> Any:
    """Return a policy by name."""
    return RESTLESS if name == "restless" else light(name)


def told_by(predictor: str) -> Any:
    """Return a predictor by name."""
    return FICKLE if predictor == "fickle" else MeanOfUser() if predictor == "Python" else predictor


def poison(simulation: Simulation, junk: float) -> None:
    """Write junk over all that is known of jobs that have not been submitted."""
    counts = simulation._machine.counts
    for column in simulation._replay.requests:
        column[counts[SUBMITTED] :] = junk if column.dtype.kind == "f" or not np.isnan(junk) else -1


@pytest.mark.parametrize(("policy", "predictor"), pairs(POLICIES, PREDICTORS))
def test_what_is_known_of_later_jobs_is_not_read(policy: str, predictor: str) -> None:
    """Junk of several kinds, another one written wherever the simulation stops, changes nothing."""
    trace = trace_of(1)
    options = {"overrun": "run-on", "seed": 4, "restart_overhead": "column:name=going_on"}
    whole = simulate(trace, policy_by(policy), predictor=told_by(predictor), **options)
    for first in (0, 1):
        junk = cycle(JUNK[first::2])
        simulation = Simulation(trace, policy_by(policy), predictor=told_by(predictor), **options)
        poison(simulation, next(junk))
        for until in np.unique(trace.arrays.submit_time):
            poison(simulation.run(until=float(until)), next(junk))
        found = simulation.run().schedule()
        pd.testing.assert_frame_equal(whole.jobs, found.jobs, check_exact=True)
        pd.testing.assert_frame_equal(whole.segments, found.segments, check_exact=True)


def looks_ahead(event, machine, job):  # type: ignore[no-untyped-def]
    """Predict what the next job asks for."""
    if event == SUBMISSION and job + 1 < len(machine.requests.limit):
        predict(machine, job, max(machine.requests.limit[job + 1], 0.0))


def test_who_looks_ahead_sees_junk() -> None:
    """What the test above rests on: a predictor that reads a later row is found out."""
    trace = trace_of(1)
    told = Predictor("looks-ahead", looks_ahead)
    simulation = Simulation(trace, "sjf", predictor=told, compiled=False)
    poison(simulation, 5.0)
    simulation.run(until=float(trace.arrays.submit_time[20]))
    other = Simulation(trace, "sjf", predictor=told, compiled=False)
    poison(other, 7.0)
    other.run(until=float(trace.arrays.submit_time[20]))
    assert not simulation.waiting.equals(other.waiting)


def with_another_future(trace: Trace, until: float, other: Trace) -> Trace:
    """Return the jobs that were submitted by a time, and behind them later ones of another trace, shuffled."""
    past = trace.jobs[trace.arrays.submit_time <= until]
    coming = other.jobs[other.arrays.submit_time > until].sample(frac=0.8, random_state=1)
    jobs = pd.concat([past, coming], ignore_index=True)
    numbers = np.concatenate([past["job_number"], 1000 + np.arange(len(coming))])
    return trace.with_jobs(jobs.assign(job_number=pd.array(numbers, dtype="Int64")))


@cache
def other_futures() -> list[tuple[float, Trace]]:
    """Return two times of a trace, and what is like it until then."""
    trace, found = trace_of(1), []
    for number, until in enumerate(np.quantile(trace.arrays.submit_time, [0.2, 0.7]).tolist()):
        other = with_another_future(trace, until, trace_of(2 + number))
        assert not other.jobs.equals(trace.jobs)
        found.append((until, replace(other, machine_processors=8)))
    return found


@pytest.mark.parametrize(("policy", "predictor"), pairs(POLICIES, PREDICTORS))
def test_who_comes_later_changes_nothing_before(policy: str, predictor: str) -> None:
    """Later jobs replaced by others, and fewer: runs that began by then, and who waits and runs then, are the same."""
    trace = trace_of(1)
    for until, other in other_futures():
        first, second = (
            Simulation(each, policy_by(policy), predictor=told_by(predictor), overrun="run-on", seed=4).run(
                until=float(until)
            )
            for each in (trace, other)
        )
        assert len(first.running) + len(first.waiting) > 0
        pd.testing.assert_frame_equal(first.waiting, second.waiting, check_exact=True)
        pd.testing.assert_frame_equal(first.running, second.running, check_exact=True)
        pd.testing.assert_frame_equal(first.schedule().jobs, second.schedule().jobs, check_exact=True)
        pd.testing.assert_frame_equal(first.schedule().segments, second.schedule().segments, check_exact=True)
