# SPDX-License-Identifier: BSD-3-Clause
"""Predictions: outlived ones, those that are over at once or beyond the limit, and what they do to decisions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator import Policy, Predictor, Simulation, simulate, validate
from swftools.simulator.machine.events import END, OUTLIVED, START, STOP, SUBMISSION
from swftools.simulator.machine.state import KILL, SUSPEND
from swftools.simulator.machine.verbs import hold, predict, preempt, start, wake_at
from swftools.simulator.machine.views import (
    can_start_any,
    expected_time,
    first_waiting,
    fits,
    next_fitting,
    next_waiting,
    now,
)
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from tests.drawn import draw_trace
from tests.every_policy import CHANGE_RUN_TIMES, OURS, light, with_all_columns
from tests.examples import by_day, pairs
from tests.strategies import crowded_trace


def test_an_outlived_prediction_is_an_event(compiled: bool) -> None:
    """Nothing else happens at 10 s, when job 2 outlives what was predicted: job 4 may go ahead of the head then."""
    trace = draw_trace(
        "submit run request width user / 0 5 20 1 1 / 5 10 20 1 1 / 6 5 5 2 2 / 7 10 10 1 3", processors=2
    )
    jobs = simulate(trace, "easy", predictor="last-model", compiled=compiled).jobs
    assert [20.0, 5.0, 5.0, 10.0] == jobs["estimated_time"].tolist()
    assert [0.0, 5.0, 20.0, 10.0] == jobs["start_time"].tolist()


@pytest.mark.parametrize(
    "policy", ["easy", "easy:reservations=2", "sjf-backfill", "lxf-backfill", "prio-fifo", "weighted-priority"]
)
def test_who_ends_at_the_shadow_time_takes_no_extra_processor(policy: str) -> None:
    """The head H waits for A until 10 s, and leaves one processor: B ends just then, so that C may have it."""
    trace = draw_trace(
        """
        job submit run request width rank
        A   0      10  10      2     0
        H   1      5   5       3     0
        B   1      9   9       1     0
        C   1      30  30      1     0
        D   1      30  30      1     0
        """,
        processors=4,
    )
    assert [0.0, 10.0, 1.0, 1.0] == simulate(trace, policy).jobs["start_time"].tolist()[:4]


def test_who_is_backfilled() -> None:
    """Whoever starts before one that was submitted earlier; not with him, and not behind him."""
    trace = draw_trace(
        """
        job submit run width
        A   0      10  2
        B   0      10  1
        H   1      5   4
        C   1      5   1
        D   20     5   2
        E   20     5   2
        F   21     9   4
        G   22     3   4
        """,
        processors=4,
    )
    schedule = simulate(trace, "easy")
    assert [0.0, 0.0, 10.0, 1.0, 20.0, 20.0, 25.0, 34.0] == schedule.jobs["start_time"].tolist()
    assert [False] * 3 + [True] + [False] * 4 == schedule.jobs["is_backfilled"].tolist()
    assert validate(schedule, trace=trace).ok


def last_first(machine):  # type: ignore[no-untyped-def]
    """Start one job a decision, the last that fits."""
    chosen = NOBODY
    job = first_waiting(machine)
    while job != NOBODY:
        if fits(machine, job):
            chosen = job
        job = next_waiting(machine, job)
    if chosen != NOBODY:
        start(machine, chosen)


def test_several_decisions_at_an_instant_are_one_instant(compiled: bool) -> None:
    """Three jobs of no time start one after the other, the last first, all at 0 s: nobody is backfilled."""
    trace = draw_trace("submit run width / 0 0 1 / 0 0 1 / 0 0 1 / 0 3 1", processors=1)
    schedule = simulate(trace, Policy("last-first", last_first), compiled=compiled)
    assert [4, 3, 2, 1] == schedule.segments["job_number"].tolist()
    assert [3.0, 3.0, 3.0, 0.0] == schedule.jobs["start_time"].tolist()
    assert [False, False, False, True] == schedule.jobs["is_backfilled"].tolist()
    trace = draw_trace("submit run width / 0 0 1 / 0 0 1 / 0 0 1", processors=1)
    schedule = simulate(trace, Policy("last-first", last_first), compiled=compiled)
    assert [3, 2, 1] == schedule.segments["job_number"].tolist()
    assert [0.0] * 3 == schedule.jobs["start_time"].tolist()
    assert [False] * 3 == schedule.jobs["is_backfilled"].tolist()
    assert validate(schedule, trace=trace).ok


def too_long(event, machine, job):  # type: ignore[no-untyped-def]
    """Predict more than any limit."""
    predict(machine, job, 1e9)


@pytest.mark.parametrize(
    "told",
    [
        Predictor("too-long", too_long),
        Predictor("told-too-long", foretell=lambda run_time, limit: limit + 1e9),
        Predictor("told-for-ever", foretell=lambda run_time, limit: np.full(len(limit), np.inf)),
    ],
    ids=lambda told: told.name,
)
def test_no_prediction_is_above_the_limit(told: Predictor, compiled: bool) -> None:
    """It counts as the limit: schedules are those of the requests."""
    trace = crowded_trace(60)
    for policy in ("sjf", "sjf-backfill", "conservative"):
        expected = simulate(trace, policy, overrun="run-on").jobs
        jobs = simulate(trace, policy, overrun="run-on", predictor=told, compiled=compiled).jobs
        assert expected["requested_time"].tolist() == jobs["estimated_time"].tolist()
        assert expected["start_time"].tolist() == jobs["start_time"].tolist()


def test_virtual_predictions() -> None:
    """Within the error of the run time, the same of a seed and others of another; without error the truth."""
    trace = crowded_trace(300)
    trace = trace.with_jobs(trace.jobs.assign(requested_time=9 * trace.jobs["run_time"]))

    def told(error: float, seed: int) -> Any:
        jobs = simulate(trace, "fcfs", predictor=f"virtual:error={error}", seed=seed).jobs
        return jobs["estimated_time"].to_numpy() / np.maximum(jobs["run_time"].to_numpy(), 1)

    assert told(0.5, 1).tolist() == told(0.5, 1).tolist()
    assert told(0.5, 1).tolist() != told(0.5, 2).tolist()
    ratios = told(0.5, 1)[simulate(trace, "fcfs").jobs["run_time"] > 0]
    assert 0.5 <= ratios.min() < 0.55
    assert 1.45 < ratios.max() <= 1.5
    assert abs(ratios.mean() - 1) < 0.1
    assert set(told(0, 1)) == {1.0}


def stops(machine, memory):  # type: ignore[no-untyped-def]
    """Stop the job after 6 s; a second later note what is known of it, and let it go on."""
    how, expected = int(memory[1][0]), memory[1][1]
    if memory[0][0] == 0.0 and now(machine) == 6.0:
        memory[0][0] = 1.0
        preempt(machine, 0, how)
        wake_at(machine, 7.0)
    elif memory[0][0] == 1.0:
        memory[0][0] = 2.0
        memory[0][1] = expected_time(machine, 0)
        memory[0][2] = next_fitting(machine, NOBODY, ANY, expected, 0)
        memory[0][3] = next_fitting(machine, NOBODY, ANY, expected - 0.5, 0)
        memory[0][4] = 1.0 if can_start_any(machine) else 0.0
        start(machine, 0)
        memory[0][5] = machine.expected_end[0]
    elif now(machine) == 0.0:
        start(machine, 0)
        wake_at(machine, 6.0)


@pytest.mark.parametrize(("how", "expected"), [(SUSPEND, 8.0), (KILL, 12.0)])
def test_what_is_expected_of_a_job_that_was_stopped(compiled: bool, how: int, expected: float) -> None:
    """What is predicted less what was done, and 2 s to go on: told by the view, and by the index of the queue."""
    made = Policy("stops", stops, memory=lambda jobs, processors: (np.zeros(6), np.array([how, expected], float)))
    trace = draw_trace("submit run request width / 0 10 12 3", processors=4)
    simulation = Simulation(trace, made, restart_overhead="uniform:seconds=0.5,per_processor=0.5", compiled=compiled)
    schedule = simulation.run().schedule()
    assert [2.0, expected, 0.0, -1.0, 1.0, 7.0 + expected] == simulation._driver.decider.memory[0].tolist()
    last = 7.0 + (10.0 if how == KILL else 2.0 + 4.0)
    assert [last] == schedule.jobs["end_time"].tolist()


class Events:
    """A predictor that notes events, and predicts as it is told; interpreted."""

    def __init__(self, predicted: dict[int, float]) -> None:
        self.seen: list[tuple[int, int, float]] = []
        self.predicted = predicted

    def __call__(self, event, machine, job):  # type: ignore[no-untyped-def]
        """Note and predict."""
        self.seen.append((event, job, float(now(machine))))
        if event in self.predicted:
            predict(machine, job, self.predicted[event])


def told_by(events: Events) -> Predictor:
    """Return a predictor of a function that is none to the eye of inspect."""

    def observe(event, machine, job):  # type: ignore[no-untyped-def]
        """Hand on."""
        events(event, machine, job)

    return Predictor("noting", observe)


def test_events() -> None:
    """Each where it happens: completions, then predictions that are outlived, submissions, and what a decision did."""
    events = Events({SUBMISSION: 2.0})
    trace = draw_trace("submit run request width / 0 3 9 1 / 2 1 1 1 / 3 4 3 1", processors=1)
    simulate(trace, "fcfs", predictor=told_by(events), overrun="run-on", compiled=False)
    expected = [
        *((SUBMISSION, 0, 0.0), (START, 0, 0.0)),
        *((OUTLIVED, 0, 2.0), (SUBMISSION, 1, 2.0)),
        *((END, 0, 3.0), (SUBMISSION, 2, 3.0), (START, 1, 3.0)),
        *((END, 1, 4.0), (START, 2, 4.0)),
        (OUTLIVED, 2, 6.0),  # it is expected to run to its limit then
        (OUTLIVED, 2, 7.0),  # and may end at any moment from then on
        (END, 2, 8.0),
    ]
    assert expected == events.seen


def test_the_event_of_a_stop() -> None:
    """It comes when the decision is over, and before what it started."""
    events = Events({})

    def changes(machine):  # type: ignore[no-untyped-def]
        """Let the second job go first as soon as it is there."""
        if now(machine) == 1.0:
            preempt(machine, 0, SUSPEND)
            start(machine, 1)
        elif fits(machine, first_waiting(machine)):
            start(machine, first_waiting(machine))

    trace = draw_trace("submit run width / 0 3 1 / 1 2 1", processors=1)
    simulate(trace, Policy("changes", changes), predictor=told_by(events), compiled=False)
    expected = [(SUBMISSION, 0, 0.0), (START, 0, 0.0), (SUBMISSION, 1, 1.0), (STOP, 0, 1.0), (START, 1, 1.0)]
    assert [*expected, (END, 1, 3.0), (START, 0, 3.0), (END, 0, 5.0)] == events.seen


def no_time(event, machine, job):  # type: ignore[no-untyped-def]
    """Predict that it is over."""
    predict(machine, job, -1.0)


NO_TIME = Predictor("no-time", no_time)


@pytest.mark.parametrize("policy", by_day(OURS, 11))
def test_predictions_of_no_time(policy: str) -> None:
    """Whatever the event, also where the job runs: compiled as interpreted, and each job runs as long as it does."""
    trace = with_all_columns(crowded_trace(14 if policy.startswith("genetic") else 32))  # which breeds for long
    compiled = simulate(trace, light(policy), predictor=NO_TIME, overrun="run-on")
    interpreted = simulate(trace, light(policy), predictor=NO_TIME, overrun="run-on", compiled=False)
    assert compiled.jobs.equals(interpreted.jobs)
    assert set(compiled.jobs["estimated_time"]) == {0.0}
    if policy not in CHANGE_RUN_TIMES:
        assert trace.jobs["run_time"].tolist() == compiled.jobs["run_time"].tolist()


def test_a_prediction_into_the_past_is_outlived_at_once() -> None:
    """Also one that is made because the last one was: the event comes once, and the job is expected to run on."""
    trace = draw_trace("submit run request width / 0 8 9 1 / 0 1 3 1", processors=2)
    for predicted in ({OUTLIVED: 1.0}, {OUTLIVED: 1.0, START: 1.0}, dict.fromkeys(range(5), 1.0)):
        events = Events({SUBMISSION: 2.0, **predicted})
        simulate(trace, "fcfs", predictor=told_by(events), compiled=False)
        first = 1.0 if START in predicted else 2.0
        assert [(OUTLIVED, 0, first)] == [seen for seen in events.seen if seen[0] == OUTLIVED]
        assert (END, 0, 8.0) in events.seen


def test_limits_of_no_time(compiled: bool) -> None:
    """A job that neither runs nor asks for any time; the next of its user is predicted to take none."""
    trace = draw_trace("submit run request width user / 0 0 0 1 1 / 1 4 9 1 1 / 2 1 1 1 2", processors=1)
    for policy in ("easy", "conservative", "sjf"):
        jobs = simulate(trace, policy, predictor="last-model", compiled=compiled).jobs
        assert [0.0, 0.0, 1.0] == jobs["estimated_time"].tolist()
        assert [0.0, 1.0, 5.0] == jobs["start_time"].tolist()


# What is wrong

JOBS = "submit run width / 0 5 1 / 3 5 1"


@pytest.mark.parametrize(
    ("which", "time", "message"),
    [
        (0, np.nan, "at 0 s: predicted job 0 of the queue (submitted at 0 s) by NaN"),
        (1, 1.0, "at 0 s: predicted or held job 1 of the queue (submitted at 3 s), which has not been submitted"),
        (2, 1.0, "at 0 s: named a job 2 that there is not"),
        (-1, 1.0, "at 0 s: named a job -1 that there is not"),
    ],
)
def test_wrong_predictions(which: int, time: float, message: str, compiled: bool) -> None:
    """Of no time, of jobs to come, and of jobs that there are not."""

    def observe(event, machine, job):  # type: ignore[no-untyped-def]
        """Predict what cannot be, whatever job the event is of."""
        predict(machine, which, time)

    with pytest.raises(PolicyError, match=re.escape(message)):
        simulate(draw_trace(JOBS, processors=1), "fcfs", predictor=Predictor("wrong", observe), compiled=compiled)


def holds_all(event, machine, job):  # type: ignore[no-untyped-def]
    """Hold each job back for ten seconds from its submission."""
    if event == SUBMISSION:
        hold(machine, job, now(machine) + 10.0)


@pytest.mark.parametrize(("policy", "compiled"), pairs(OURS, [True, False], each=1))
def test_jobs_that_are_held_at_submission(policy: str, compiled: bool) -> None:
    """Every policy starts them when they enter, as if they had been submitted then."""
    trace = draw_trace("submit run width rank / 0 5 1 0 / 0 5 2 0 / 3 4 1 0 / 4 0 1 0 / 30 1 2 0", processors=2)
    policy, trace = light(policy), with_all_columns(trace, moldable_share=0.0)
    jobs = simulate(trace, policy, predictor=Predictor("holds-all", holds_all), compiled=compiled).jobs
    later = simulate(trace.with_jobs(trace.jobs.assign(submit_time=trace.jobs["submit_time"] + 10)), policy).jobs
    if not policy.startswith(("lxf", "weighted-priority", "genetic")):  # which count waits from the submission on
        assert later["start_time"].tolist() == jobs["start_time"].tolist()
    assert (jobs["start_time"] >= jobs["submit_time"] + 10).all()
    assert jobs["run_time"].tolist() == trace.jobs["run_time"].tolist()


def holds_the_second(event, machine, job):  # type: ignore[no-untyped-def]
    """Hold job 1 back at its submission."""
    if event == SUBMISSION and job == 1:
        hold(machine, job, now(machine) + 10.0)


@pytest.mark.parametrize(("policy", "compiled"), pairs(OURS, [True, False], each=1))
def test_one_that_is_held_among_others_that_wait(policy: str, compiled: bool) -> None:
    """Nobody starts him, although he would be the first in every order; the others do not wait for him."""
    trace = draw_trace("submit run width rank / 0 8 2 1 / 0 1 1 0 / 0 4 2 1", processors=2)
    trace = with_all_columns(trace, moldable_share=0.0)
    jobs = simulate(trace, light(policy), predictor=Predictor("holds", holds_the_second), compiled=compiled).jobs
    starts = jobs["start_time"].tolist()
    assert sorted([starts[0], starts[2]]) in ([0.0, 4.0], [0.0, 8.0])
    assert starts[1] == 12.0 if starts[2] == 8.0 else starts[1] in (10.0, 12.0)


def test_submissions_of_an_instant_stay_together() -> None:
    """Also where the queue grows between them: what is outlived meanwhile is told behind the last."""

    class AtSubmissions(Events):
        def __call__(self, event, machine, job):  # type: ignore[no-untyped-def]
            """Note; the first job is predicted to be over."""
            super().__call__(event, machine, job)
            if event == SUBMISSION and job > 0:
                predict(machine, 0, 0.0)

    jobs = 400
    trace = Trace.from_columns(
        machine_processors=1,
        job_number=list(range(jobs)),
        submit_time=[0.0] + [5.0] * (jobs - 1),
        run_time=[9.0] + [1.0] * (jobs - 1),
        requested_time=[20.0] + [1.0] * (jobs - 1),
        allocated_processors=[1] * jobs,
    )
    events = AtSubmissions({})
    simulate(trace, "fcfs", predictor=told_by(events), compiled=False)
    at_five = [event for event, _, time in events.seen if time == 5.0]
    assert [SUBMISSION] * (jobs - 1) + [OUTLIVED] == at_five
