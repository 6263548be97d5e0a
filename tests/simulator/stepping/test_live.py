# SPDX-License-Identifier: BSD-3-Clause
"""Queues that are followed: what is submitted, ends, is cancelled or goes away while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import CHECKPOINT, SUSPEND, Schedule, Stepper, simulate, validate
from swftools.simulator.questions.what_if import what_if
from tests.drawn import draw_trace
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day
from tests.simulator.test_no_future import poison
from tests.strategies import crowded_trace

POLICIES = [*map(light, OURS), "pv-easy:order=lxf,preemption=suspend", "genetic:generations=1,individuals=6"]
OTHERS = (
    *("priority_rank", "checkpoint_interval", "utility", "speedup_curve", "downey_a", "downey_sigma"),
    *("minimum_processors", "maximum_processors"),
)
"""Columns that a job is submitted with, beside those that ``submit`` names."""


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with whatever any policy needs, and requests that none exceeds."""
    made = crowded_trace(16, seed=4)
    requested = np.fmax(made.jobs["requested_time"], made.jobs["run_time"])
    return with_all_columns(made.with_jobs(made.jobs.assign(requested_time=requested)))


def opened(trace: Trace, policy: str, **options: Any) -> Stepper:
    """Return a machine for the jobs of a trace, none of which is there."""
    return Stepper(trace.with_jobs(trace.jobs.iloc[:0]), policy, trace.processors, **options)


def submit(stepper: Stepper, job: Any, *, knows: bool = True, **more: Any) -> int:
    """Submit a row of a trace."""

    def known(name: str) -> Any:
        value = getattr(job, name)
        return None if pd.isna(value) else value

    others = {name: getattr(job, name) for name in OTHERS if name in job._fields}
    return stepper.submit(
        int(job.allocated_processors if job.allocated_processors is not pd.NA else job.requested_processors),
        known("requested_time"),
        job.run_time if knows else None,
        at=job.submit_time,
        job_number=int(job.job_number),
        user=known("user_id"),
        queue=known("queue_id"),
        **others | more,
    )


def assert_same(ours: Schedule, theirs: Schedule) -> None:
    """The same runs of the same jobs, bit for bit."""
    pd.testing.assert_frame_equal(ours.segments, theirs.segments, check_exact=True)
    names = ["job_number", "submit_time", "start_time", "end_time", "wait_time", "run_time", "allocated_processors"]
    pd.testing.assert_frame_equal(ours.jobs[names], theirs.jobs[names], check_exact=True)


@pytest.mark.parametrize("policy", by_day(POLICIES, 6))
def test_a_queue_that_is_followed_is_the_whole(trace: Trace, policy: str) -> None:
    """Jobs that are submitted when they come are scheduled as those of a trace that has them all, by every policy."""
    stepper = opened(trace, policy, seed=3)
    for job in trace.jobs.itertuples():
        stepper.run(before=job.submit_time)
        submit(stepper, job)
    plain = simulate(trace, policy, seed=3)
    ours = stepper.finish()
    assert_same(ours, plain)
    assert ours.policy == plain.policy
    assert validate(ours).ok


@pytest.mark.parametrize(
    "policy", by_day(["easy", "fcfs", "conservative", "lxf-backfill", "pv-easy", "fixed", "search"], 4)
)
def test_nobody_knows_how_long_jobs_run(trace: Trace, policy: str) -> None:
    """Jobs are submitted without run times, and told to end when they do: the same schedule."""
    plain = simulate(trace, policy)
    runs = plain.segments[plain.segments["ended_by"] == "completed"]
    happens = [(job.submit_time, 1, job) for job in trace.jobs.itertuples()]
    happens += [(run.end_time, 0, run) for run in runs.itertuples()]
    stepper, numbers = opened(trace, policy), {}
    for time, is_submission, what in sorted(happens, key=lambda each: each[:2]):
        stepper.run(before=time)
        if is_submission:
            numbers[what.job_number] = submit(stepper, what, knows=False)
        else:
            stepper.end(numbers[what.job_number], at=time)
    assert_same(stepper.finish(), plain)


def test_it_goes_on_as_forks_do(trace: Trace) -> None:
    """Forks of a queue that is followed, and jobs submitted in these, beside copies of it."""
    stepper = opened(trace, "conservative")
    for place, job in enumerate(trace.jobs.itertuples()):
        stepper.run(before=job.submit_time)
        submit(stepper, job)
        if place % 3:
            continue
        fork, copy = stepper.fork(None), stepper.copy()
        for other in (fork, copy):
            other.submit(2, 50.0, 20.0, job_number=1000)
        ours, whole = (
            dict(zip(each.jobs["job_number"], each.jobs["start_time"], strict=True))
            for each in (fork.finish(), copy.finish())
        )
        assert 1000 in ours
        assert ours.items() <= whole.items()
    assert_same(stepper.finish(), simulate(trace, "conservative"))


@pytest.mark.parametrize("policy", ["easy", "conservative", "pv-easy"])
def test_junk_in_the_room_for_later_jobs_changes_nothing(trace: Trace, policy: str) -> None:
    """Neither that of jobs to come, nor that behind all jobs, in the queue that is followed and in its forks."""
    plain = ends_of(simulate(trace, policy))
    stepper = opened(trace, policy)
    for job in trace.jobs.itertuples():
        submit(stepper, job)
    for until in np.unique(trace.arrays.submit_time)[::2]:
        poison(stepper.run(until=float(until))._simulation, 1e9)
        fork = stepper.fork(None)
        poison(fork._simulation, -1.0)
        assert ends_of(fork.finish()).items() <= plain.items()
    assert ends_of(stepper.finish()) == plain


def ends_of(schedule: Schedule) -> dict[int, float]:
    """Return when each job ends."""
    return dict(zip(schedule.jobs["job_number"], schedule.jobs["end_time"], strict=True))


def test_copies_know_nothing_of_each_other() -> None:
    """What is submitted, and told to end, in one of them does not come in the others, whoever goes first."""
    stepper = empty(4, "fcfs")
    stepper.submit(2, 10.0, at=0.0, user=1)
    stepper.run(until=1.0)
    other, fork = stepper.copy(), stepper.fork()
    for each, processors in ((other, 3), (fork, 1), (stepper, 4)):
        assert each.submit(processors, 20.0, at=5.0, user=processors) == 1
    other.end(0, at=4.0)
    other.cancel(1).submit(1, 7.0, at=6.0)
    assert (other.user.tolist()[0], stepper._simulation._users) == (0, {1: 0, 4: 1})
    ends = [dict(each.finish().jobs[["job_number", "end_time"]].to_numpy().tolist()) for each in (stepper, other, fork)]
    assert ends == [{1: 10.0, 2: 30.0}, {1: 4.0, 3: 13.0}, {1: 10.0, 2: 25.0}]
    before = Stepper(draw_trace("submit run width / 0 10 1 / 50 5 1", processors=1), "fcfs").run(until=1.0)
    before.copy().end(0, at=3.0)
    assert before.finish().jobs["run_time"].tolist() == [10.0, 5.0]


# ---------------------------------------------------------------- by hand


def empty(processors: int, policy: str = "easy", **options: Any) -> Stepper:
    """Return a machine that nobody was on yet."""
    return Stepper(Trace.from_columns(machine_processors=processors, job_number=[]), policy, **options)


def test_by_hand(compiled: bool) -> None:
    """Of 4 processors 3 are taken till 10, and a job of 4 waits: one of 1 for 10 s goes ahead, one of 11 s does not."""
    stepper = empty(4, compiled=compiled)
    assert stepper.submit(3, 10.0, at=0.0) == 0
    stepper.run(until=0.0)
    assert (stepper.present, stepper.running.tolist(), stepper.is_over) == (0.0, [0], False)
    assert stepper.submit(4, 5.0) == 1
    assert stepper.run(until=0.0).waiting.tolist() == [1]
    assert stepper.shadow() == (10.0, 0)
    assert (stepper.would_start(1, 10.0), stepper.would_start(1, 11.0), stepper.would_start(4, 1.0)) == (
        0.0,
        15.0,
        15.0,
    )
    assert stepper.submit(1, 11.0, at=3.0) == 2
    assert stepper.submit(1, 5.0, at=2.0) == 2  # it stands before the other, who is to come later
    assert stepper.job_number(2) == 4
    jobs = stepper.finish().jobs
    assert jobs[["job_number", "start_time"]].values.tolist() == [[1, 0.0], [2, 10.0], [3, 15.0], [4, 2.0]]


def test_at_a_decision_a_job_joins_those_that_wait() -> None:
    """Which is the same decision as if it had come with the others; then nothing may have been done yet."""
    stepper = empty(4)
    stepper.submit(3, 10.0, at=5.0)
    assert stepper.advance()
    job = stepper.submit(2, 10.0)
    assert (stepper.is_deciding, stepper.now, stepper.waiting.tolist()) == (True, 5.0, [0, job])
    stepper.start(job)
    with pytest.raises(PolicyError, match=r"you have already acted in this decision.*advance\(\) first"):
        stepper.submit(1, 1.0)
    assert stepper.submit(1, 1.0, at=6.0) == 2
    stepper.skip()
    assert stepper.finish().jobs["start_time"].tolist() == [15.0, 5.0, 6.0]


def test_it_is_known_how_far_it_was_let_go_on() -> None:
    """Also where nothing happened: the present is later than the last event, and what is past is refused."""
    stepper = empty(4)
    with pytest.raises(ParameterError, match=r"nothing has happened yet: say when by at= \(s\)"):
        stepper.submit(1, 1.0)
    assert stepper.run(until=100.0).present == 100.0
    stepper.submit(1, 1000.0)
    assert stepper.skip(until=500.0)
    assert not stepper.skip(until=500.0)
    assert (stepper.now, stepper.present) == (100.0, 500.0)
    with pytest.raises(ParameterError, match=r"at=499\.0 is not a time from the present on, which is 500 s"):
        stepper.submit(1, 1.0, at=499.0)
    assert stepper.run(before=700.0).present == 700.0
    with pytest.raises(ParameterError, match="give until= or before=, not both"):
        stepper.run(1.0, before=2.0)


def test_ends_that_are_told() -> None:
    """A job that ends before its request, after what was said of it, and at a decision; the next starts then."""
    stepper = empty(1, "fcfs")
    for _ in range(3):
        stepper.submit(1, 10.0, at=0.0)
    stepper.run(until=4.0).end(0)
    assert stepper.run(until=4.0).running.tolist() == [1]
    stepper.end(1, at=20.0).run(until=16.0)
    assert (stepper.running.tolist(), stepper.expected_end[1]) == ([1], 14.0)
    assert stepper.advance()
    assert stepper.now == 20.0
    stepper.start(2)
    with pytest.raises(PolicyError, match="job 2 does not run: jobs that do are those of running, once their start"):
        stepper.end(2)
    jobs = stepper.finish().jobs
    assert jobs[["start_time", "end_time", "run_time"]].values.tolist() == [[0, 4, 4], [4, 20, 16], [20, 30, 10]]
    for job in (-1, 0, 3):
        with pytest.raises(PolicyError, match=f"job {job} does not run"):
            stepper.end(job)


def test_ends_at_a_decision_belong_to_it() -> None:
    """Of two that run one ends just when another comes: its processors are free at that decision."""
    stepper = empty(2, "fcfs")
    stepper.submit(1, 10.0, at=0.0)
    stepper.submit(1, 10.0, at=0.0)
    stepper.submit(2, 5.0, at=3.0)
    stepper.run(until=0.0)
    assert stepper.advance(to="event")
    stepper.end(0).end(1)
    assert (stepper.now, stepper.free, stepper.running.tolist(), stepper.is_deciding) == (3.0, 2, [], True)
    assert stepper.finish().jobs["end_time"].tolist() == [3.0, 3.0, 8.0]


def test_who_is_cancelled() -> None:
    """One that runs, one that waits, one that is to come: the others go on without them."""
    stepper = empty(2, "fcfs")
    for processors in (2, 2, 2, 1):
        stepper.submit(processors, 10.0, at=0.0)
    stepper.submit(1, 10.0, at=50.0)
    stepper.run(until=1.0).cancel(1).cancel(4)
    assert stepper.waiting.tolist() == [2, 3]
    assert stepper.run(until=2.0).cancel(0).run(until=2.0).running.tolist() == [2]
    assert stepper.submit(1, 10.0, at=60.0) == 4
    made = stepper.finish()
    assert made.jobs[["job_number", "start_time"]].values.tolist() == [[3, 2.0], [4, 12.0], [6, 60.0]]
    reasons = dict(zip(made.excluded["job_number"], made.excluded["reason"], strict=True))
    assert reasons == {1: "taken out at 2 s", 2: "taken out at 1 s", 5: "taken out at 1 s"}
    with pytest.raises(PolicyError, match="there is no job 6"):
        stepper.cancel(6)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"processors": 5}, "a job of 5 processors is wider than the machine of 4"),
        ({"processors": 0}, "processors=0 is not a whole number from 1 on"),
        ({"processors": 1.5}, "processors=1.5 is not a whole number"),
        ({"requested_time": None}, r"a job without run_time needs requested_time \(s\)"),
        ({"requested_time": np.nan}, "requested_time=nan is neither None nor seconds of 0 or more"),
        ({"requested_time": -1.0}, "requested_time=-1.0 is neither"),
        ({"run_time": np.inf}, "run_time=inf is neither None nor"),
        ({"at": np.nan}, "at=nan is not a time from the present on"),
        ({"at": -1.0}, "at=-1.0 is not a time from the present on, which is 0 s"),
        ({"job_number": "a"}, "job_number='a' is not a whole number"),
        ({"priority_rank": 1}, "the jobs of this simulation have no column priority_rank"),
    ],
)
def test_what_is_no_job(job: dict[str, Any], message: str) -> None:
    """It is told, and nobody came."""
    stepper = empty(4)
    with pytest.raises(ParameterError, match=message):
        stepper.submit(**{"processors": 1, "requested_time": 10.0, "at": 0.0} | job)
    assert stepper.submit(1, 10.0, at=0.0) == 0
    assert len(stepper.finish().jobs) == 1


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"predictor": "virtual"}, "predictor 'virtual', which draws for all jobs at once,"),
        ({"predictor": "gradient-boosting"}, "a predictor in Python"),
        ({"requests": "tsafrir"}, "requests="),
    ],
)
def test_who_cannot_be_told_of_jobs_one_by_one(options: dict[str, Any], what: str) -> None:
    """Predictors and requests that depend on all jobs at once."""
    stepper = Stepper(crowded_trace(30, seed=1), "easy", **options)
    stepper.advance()
    with pytest.raises(PolicyError, match=f"with {what}.*no job can be submitted while it runs"):
        stepper.submit(1, 10.0, at=10_000.0)


@pytest.mark.parametrize("overrun", ["extend", "kill", "run-on"])
@pytest.mark.parametrize("predictor", ["request", "exact", "last-model", "user-average"])
def test_options_hold_of_jobs_that_come_later(overrun: str, predictor: str) -> None:
    """Half of a trace, the rest submitted: as the whole, with jobs that outlive their requests, and predictors."""
    trace = crowded_trace(60, seed=7)
    trace = trace.with_jobs(trace.jobs.drop(columns="priority_rank"))
    options = {"overrun": overrun, "predictor": predictor}
    stepper = Stepper(trace.with_jobs(trace.jobs.iloc[:30]), "easy", 16, **options)
    for job in trace.jobs.iloc[30:].itertuples():
        stepper.run(before=job.submit_time)
        submit(stepper, job)
    plain = simulate(trace, "easy", **options)
    assert_same(stepper.finish(), plain)


# ---------------------------------------------------------------- processors that go away


def test_processors_that_go_away_by_hand() -> None:
    """Of 4, 2 are away from 5 to 30: the job that started last begins anew there, behind one that waits before it."""
    stepper = empty(4, "fcfs")
    for time, processors in ((0.0, 2), (1.0, 2), (2.0, 3), (3.0, 1)):
        stepper.submit(processors, 10.0, at=time)
    stepper.run(before=5.0)
    away = stepper.take_away(2, until=30.0)
    assert stepper.waiting.tolist() == [1, 2, 3]
    assert (stepper.free, stepper.allocated[away]) == (0, 2)
    made = stepper.finish()
    assert made.jobs["start_time"].tolist() == [0.0, 10.0, 30.0, 30.0]
    assert made.segments[["job_number", "start_time", "ended_by"]].values.tolist() == [
        *([1, 0.0, "completed"], [2, 1.0, "killed"], [2, 10.0, "completed"], [3, 30.0, "completed"]),
        [4, 30.0, "completed"],
    ]
    assert made.excluded[["job_number", "reason"]].values.tolist() == [[5, "processors that were away"]]
    assert validate(made).ok


def test_what_is_lost_there() -> None:
    """Nothing where jobs are suspended; and they come back earlier by end."""
    stepper = empty(2, "fcfs")
    stepper.submit(2, 10.0, at=0.0)
    away = stepper.run(before=4.0).take_away(1, until=1000.0, how=SUSPEND)
    stepper.run(until=20.0).end(away)
    assert stepper.finish().segments[["start_time", "end_time"]].values.tolist() == [[0, 4], [20, 26]]


def test_processors_that_do_not_come_back() -> None:
    """Who needs them waits for ever; the others go ahead of it under EASY, and the question is answered by infinity."""
    stepper = empty(4, "easy")
    stepper.submit(1, 10.0, at=0.0)
    stepper.run(until=0.0).take_away(2)
    stepper.run(until=0.0)
    assert (stepper.would_start(3, 1.0), stepper.would_start(2, 1.0)) == (np.inf, 10.0)
    stepper.submit(4, 5.0)
    stepper.submit(1, 100.0)
    stepper.run(until=1000.0)
    assert stepper.waiting.tolist() == [2]
    assert [stepper.first_start(job) for job in (0, 2, 3)] == [0.0, np.nan, 0.0] or np.isnan(stepper.first_start(2))
    fork = stepper.fork()
    fork.run()
    assert fork.first_start(int(np.flatnonzero(fork.origin == 2)[0])) == np.inf


@pytest.mark.parametrize("policy", by_day(POLICIES[::-1], 8))
def test_every_policy_leaves_them_alone(trace: Trace, policy: str) -> None:
    """Nobody runs on processors that are away, also under those that stop running jobs; then all end."""
    stepper = Stepper(trace, policy, seed=1)
    stepper.run(before=300.0)
    away = stepper.take_away(7, until=1500.0, how=CHECKPOINT)
    while stepper.skip(until=1499.0):
        assert stepper.allocated[away] == 7
        assert stepper.allocated.sum() <= 16
    made = stepper.finish()
    assert len(made.jobs) == len(trace)
    runs = made.segments
    for time in np.arange(300.0, 1500.0, 25.0):
        at = (runs["start_time"] <= time) & (time < runs["end_time"])
        assert runs["allocated_processors"][at].sum() <= 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5,), "processors=5: give a whole number from 1 to 4, which there are"),
        ((0,), "processors=0: give a whole number from 1 to 4"),
        ((1, 5.0), r"until=5.0 is not a time to come \(it is 5 s\)"),
        ((1, np.nan), "until=nan is not a time to come"),
        ((1, None, 7), "how=7 is not KILL, CHECKPOINT or SUSPEND"),
    ],
)
def test_what_cannot_go_away(arguments: tuple[Any, ...], message: str) -> None:
    """And of what is away no more than the rest can go, which cannot be stopped or cancelled."""
    stepper = empty(4).run(until=5.0)
    with pytest.raises(ParameterError, match=message):
        stepper.take_away(*arguments)
    away = stepper.take_away(3)
    with pytest.raises(ParameterError, match="give a whole number from 1 to 1, which there are"):
        stepper.take_away(2)
    with pytest.raises(PolicyError, match=f"job {away} stands for processors that failed: end it to bring them back"):
        stepper.cancel(away)
    stepper.submit(1, 10.0, at=6.0)
    assert stepper.advance(to="event")
    with pytest.raises(PolicyError, match=r"which stands for processors that are away \(is_away\)"):
        stepper.preempt(away)


# ---------------------------------------------------------------- from a queue as it is

RUNNING = pd.DataFrame({"processors": [3, 2], "requested_time": [100.0, 50.0], "elapsed": [40.0, 20.0]})
WAITING = pd.DataFrame({"processors": [5, 1], "requested_time": [10.0, 200.0], "waited": [30.0, 5.0]})


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "pv-easy"])
def test_a_queue_as_it_is(policy: str) -> None:
    """Jobs have their pasts; it stands before a decision, at which nothing is done yet."""
    stepper = Stepper.from_queue(RUNNING, WAITING, 6, policy, now=1000.0)
    assert (stepper.now, stepper.present, stepper.is_deciding, stepper.free) == (1000.0, 1000.0, True, 1)
    assert [stepper.job_number(job) for job in stepper.running] == [2, 1]
    assert [stepper.job_number(job) for job in stepper.waiting] == [3, 4]
    assert stepper.wait.tolist() == [30.0, 5.0]
    assert stepper.expected_end[stepper.running].tolist() == [1030.0, 1060.0]
    assert stepper.free_over_time()[1].tolist() == [1, 3, 6]
    assert stepper.fork().waiting.tolist() == stepper.waiting.tolist() == [1, 3]


def test_a_queue_in_which_nobody_is() -> None:
    """It can be followed as well."""
    stepper = Stepper.from_queue(RUNNING.iloc[:0], WAITING.iloc[:0], 6, now=7.0)
    assert (stepper.present, stepper.is_over, stepper.would_start(6, 1.0)) == (7.0, True, 7.0)
    with pytest.raises(PolicyError, match="no job waits: there is no shadow time"):
        stepper.shadow()


def test_a_queue_with_other_columns() -> None:
    """Numbers, users and ranks are taken over; jobs that run for no time yet, too."""
    running = RUNNING.assign(job_number=[70, 80], elapsed=[0.0, 0.0], user_id=[5, 6], priority_rank=[1, 2])
    waiting = WAITING.assign(job_number=[90, 91], user_id=[6, 7], priority_rank=[1, 0], waited=0.0)
    stepper = Stepper.from_queue(running, waiting, 6, "prio-fifo")
    assert [stepper.job_number(job) for job in stepper.running] == [80, 70]
    assert stepper.user.tolist() == [0, 1, 1, 2]
    assert stepper.submit(1, 1.0, user=7, priority_rank=0, job_number=92) == 4
    assert stepper.user[4] == 2
    starts = dict(stepper.finish().jobs[["job_number", "start_time"]].to_numpy(dtype=float).tolist())
    assert starts[91] == 0.0


@pytest.mark.parametrize("told", [None, np.nan, -1, 0, 10_000.0])
def test_a_run_time_that_is_not_known(told: Any) -> None:
    """Then a job runs as long as it may, which it does at most; so in one table, in both, and with others that know."""
    expected = Stepper.from_queue(RUNNING, WAITING, 6, now=1000.0).finish().jobs
    for running, waiting in (
        (RUNNING.assign(run_time=told), WAITING),
        (RUNNING, WAITING.assign(run_time=told)),
        (RUNNING.assign(run_time=told), WAITING.assign(run_time=told)),
    ):
        jobs = Stepper.from_queue(running, waiting, 6, now=1000.0).finish().jobs
        assert jobs["start_time"].tolist() == expected["start_time"].tolist()
        assert jobs["end_time"].tolist() == expected["end_time"].tolist()
    some = WAITING.assign(run_time=[1.0, told])
    jobs = Stepper.from_queue(RUNNING, some, 6, now=1000.0).finish().jobs
    runs = (jobs["end_time"] - jobs["start_time"]).tolist()
    every = (expected["end_time"] - expected["start_time"]).tolist()
    assert runs == [*every[:2], 1.0, every[3]]


@pytest.mark.parametrize("less", [0.0, 0.5])
def test_who_runs_cannot_have_ended(less: float) -> None:
    """It is said which job, and what to give instead; by questions about the queue, too."""
    running = RUNNING.assign(run_time=[np.nan, RUNNING["elapsed"].iloc[1] - less])
    for ask in (
        lambda: Stepper.from_queue(running, WAITING, 6),
        lambda: what_if(running, WAITING, [{"processors": 1, "requested_time": 5.0}], 6),
    ):
        with pytest.raises(ParameterError, match=r"running job 2 of 2: run_time is .* has run for .* s already: give"):
            ask()


@pytest.mark.parametrize(
    ("running", "waiting", "processors", "now", "message"),
    [
        (RUNNING, WAITING, 4, None, "the running jobs hold 5 processors, and the machine has 4"),
        (RUNNING, WAITING.assign(processors=9), 6, None, "a waiting job needs 9 processors, and the machine has 6"),
        (RUNNING, WAITING.assign(processors=0), 6, None, "waiting job 1 of 2: processors is 0"),
        (RUNNING.assign(elapsed=[1.0, np.nan]), WAITING, 6, None, "running job 2 of 2: elapsed is"),
        (RUNNING.assign(requested_time=-1.0), WAITING, 6, None, "running job 1 of 2: requested_time is"),
        (RUNNING.drop(columns="elapsed"), WAITING, 6, None, "the running jobs have no column 'elapsed'"),
        (RUNNING, WAITING, 6, 39.0, "now=39.0: a job began 40 s ago, which would be before 0"),
        (RUNNING, WAITING, 6, np.nan, "now=nan: a job began 40 s ago"),
    ],
)
def test_what_is_no_queue(running: Any, waiting: Any, processors: int, now: float | None, message: str) -> None:
    """One error that says what is wrong."""
    with pytest.raises(ParameterError, match=message):
        Stepper.from_queue(running, waiting, processors, now=now)
