# SPDX-License-Identifier: BSD-3-Clause
"""Verbs where they meet: what is stopped twice, resized, held back, and more jobs at one instant than there is room."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator import Policy, Predictor, Schedule, Simulation, simulate
from swftools.simulator.machine.events import SUBMISSION
from swftools.simulator.machine.state import CHECKPOINT, KILL, SUSPEND
from swftools.simulator.machine.verbs import hold, preempt, resize, start, wake_at
from swftools.simulator.machine.views import first_waiting, fits, now
from swftools.simulator.machine.waiting_queue import NOBODY
from tests.drawn import draw_trace
from tests.simulator.test_work_twin import with_work

WAYS = (KILL, CHECKPOINT, SUSPEND)


def one_job() -> Trace:
    """Return a job of 10 s on 2 processors that may have 1 to 8, each of which helps, and writes each 4 s."""
    trace = draw_trace("submit run width / 0 10 2", processors=8)
    jobs = trace.jobs.assign(
        speedup_curve=["downey"],
        downey_a=[8.0],
        downey_sigma=[0.0],
        minimum_processors=[1],
        maximum_processors=[8],
        checkpoint_interval=[4.0],
    )
    return trace.with_jobs(jobs)


def shown(schedule: Schedule) -> list[list[Any]]:
    """Return the runs."""
    names = ["start_time", "end_time", "allocated_processors", "work", "overhead", "ended_by"]
    rows: list[list[Any]] = schedule.segments[names].to_numpy().tolist()
    return rows


START, PREEMPT, RESIZE, HOLD, REST = range(5)
"""What a script may do with a job; and to do nothing more in this decision."""

Script = list[tuple[float, int, int, float]]
"""Rows of time, what is done, the job, and the way, width or time."""


def follow(machine, memory):  # type: ignore[no-untyped-def]
    """Do what a script says of this instant, then start who fits, in order; wake at its next time."""
    times, acts, jobs, values = memory
    later, rests = np.inf, False
    for row in range(len(times)):
        job, value = jobs[row], values[row]
        if times[row] > now(machine):
            later = min(later, times[row])
        if times[row] != now(machine):
            continue
        if acts[row] == START:
            start(machine, job)
        elif acts[row] == PREEMPT:
            preempt(machine, job, int(value))
        elif acts[row] == RESIZE:
            resize(machine, job, int(value))
        elif acts[row] == HOLD:
            hold(machine, job, value)
        else:
            rests = True
    if later < np.inf:
        wake_at(machine, later)
    if rests:
        return
    job = first_waiting(machine)
    while fits(machine, job):
        start(machine, job)
        job = first_waiting(machine)


def run(trace: Trace, script: Script, compiled: bool, **options: Any) -> Schedule:
    """Simulate; the script is no part of what is compiled, so that all share one policy."""
    times, acts, jobs, values = zip(*script, strict=True)
    memory = (np.array(times), np.array(acts), np.array(jobs), np.array(values, np.float64))
    policy = Policy("follow", follow, memory=lambda jobs, processors: memory)
    return simulate(trace, policy, compiled=compiled, **options)


compiled_or_not = pytest.mark.parametrize("compiled", [True, False])


@compiled_or_not
@pytest.mark.parametrize("how", WAYS)
def test_stopped_and_started_in_one_decision(how: int, compiled: bool) -> None:
    """Two runs that touch; what goes on begins with the overhead."""
    script = [(6.0, PREEMPT, 0, how), (6.0, START, 0, 0.0)]
    told = shown(run(one_job(), script, compiled, restart_overhead=3))
    kept = {KILL: 0.0, CHECKPOINT: 4.0, SUSPEND: 6.0}[how]
    overhead = 3.0 if kept else 0.0
    word = {KILL: "killed", CHECKPOINT: "checkpointed", SUSPEND: "suspended"}[how]
    end = 6.0 + overhead + 10.0 - kept
    assert [[0.0, 6.0, 2, 6.0, 0.0, word], [6.0, end, 2, 10.0 - kept, overhead, "completed"]] == told


@compiled_or_not
@pytest.mark.parametrize("first", [*WAYS, "resize"])
@pytest.mark.parametrize("second", WAYS)
def test_stopped_twice_in_one_decision(first: Any, second: int, compiled: bool) -> None:
    """The stricter way counts, whichever came first: a job that is killed has no work, whatever was done before."""
    way = -1 if first == "resize" else first
    before = [(6.0, RESIZE, 0, 4)] if way < 0 else [(6.0, PREEMPT, 0, way), (6.0, START, 0, 0)]
    told = shown(run(one_job(), [*before, (6.0, PREEMPT, 0, second)], compiled))
    strictest = second if way < 0 else min(way, second)
    kept = {KILL: 0.0, CHECKPOINT: 4.0, SUSPEND: 6.0}[strictest]
    word = {KILL: "killed", CHECKPOINT: "checkpointed", SUSPEND: "suspended"}[strictest]
    assert [[0.0, 6.0, 2, 6.0, 0.0, word], [6.0, 16.0 - kept, 2, 10.0 - kept, 0.0, "completed"]] == told


@compiled_or_not
def test_a_run_that_this_decision_began_is_no_run(compiled: bool) -> None:
    """A suspended job that is started and killed at once keeps its work: there was nothing to kill.

    It is started once more when all is said.
    """
    script = [(6.0, PREEMPT, 0, SUSPEND), (6.0, REST, 0, 0), (8.0, START, 0, 0), (8.0, PREEMPT, 0, KILL)]
    schedule = run(one_job(), script, compiled)
    assert [[0.0, 6.0, 2, 6.0, 0.0, "suspended"], [8.0, 12.0, 2, 4.0, 0.0, "completed"]] == shown(schedule)
    assert [1] == schedule.jobs["preemptions"].tolist()


@compiled_or_not
@pytest.mark.parametrize("how", WAYS)
def test_stopped_within_the_overhead(how: int, compiled: bool) -> None:
    """Nothing is done there and nothing is lost of what was kept, but by KILL; the overhead begins anew."""
    script = [(6.0, PREEMPT, 0, SUSPEND), (7.0, PREEMPT, 0, how)]  # 7 s: two seconds before the overhead is over
    told = shown(run(one_job(), script, compiled, restart_overhead=3))
    kept = {KILL: 0.0, CHECKPOINT: 4.0, SUSPEND: 6.0}[how]
    overhead = 3.0 if kept else 0.0
    word = {KILL: "killed", CHECKPOINT: "checkpointed", SUSPEND: "suspended"}[how]
    assert told == [
        [0.0, 6.0, 2, 6.0, 0.0, "suspended"],
        [6.0, 7.0, 2, 0.0, 1.0, word],
        [7.0, 7.0 + overhead + 10.0 - kept, 2, 10.0 - kept, overhead, "completed"],
    ]


@compiled_or_not
def test_resizing(compiled: bool) -> None:
    """The rest of the work goes on at the new speed; back to its own width, and to the width that it has."""
    script = [(4.0, RESIZE, 0, 8), (5.0, RESIZE, 0, 8), (6.0, RESIZE, 0, 2)]
    schedule = run(one_job(), script, compiled, restart_overhead=1)
    assert shown(schedule) == [
        [0.0, 4.0, 2, 4.0, 0.0, "resized"],
        [4.0, 6.0, 8, 4.0, 1.0, "resized"],  # a second on four times as many processors
        [6.0, 9.0, 2, 2.0, 1.0, "completed"],
    ]
    assert [0] == schedule.jobs["preemptions"].tolist()
    assert [(0.0, 9.0, 9.0)] == list(
        schedule.jobs[["start_time", "end_time", "run_time"]].itertuples(index=False, name=None)
    )


@compiled_or_not
@pytest.mark.parametrize(
    ("width", "free", "message"),
    [
        (8, 4, "at 3 s: resized job 0 of the queue (submitted at 0 s) to more processors than it has and are free (3)"),
        (9, 8, "at 3 s: started or resized job 0 of the queue (submitted at 0 s) to a width that its speedup curve"),
        (0, 8, "to a width that its speedup curve does not allow"),
        (-1, 8, "to a width that its speedup curve does not allow"),
    ],
)
def test_widths_that_cannot_be(width: int, free: int, message: str, compiled: bool) -> None:
    """Beyond what is free, beyond the curve, and none."""
    trace = one_job()
    if free == 4:
        other = trace.jobs.assign(job_number=[2], allocated_processors=[3], checkpoint_interval=[np.nan])
        other = other.assign(minimum_processors=[3], maximum_processors=[3])
        trace = trace.with_jobs(pd.concat([trace.jobs, other.astype(trace.jobs.dtypes)], ignore_index=True))
    with pytest.raises(PolicyError, match=re.escape(message)):
        run(trace, [(3.0, RESIZE, 0, width)], compiled)


@compiled_or_not
def test_a_job_without_a_curve_is_not_resized(compiled: bool) -> None:
    """Of a trace without any; to its own width it may be, which is no change."""
    trace = draw_trace("submit run width / 0 10 2", processors=8)
    with pytest.raises(PolicyError, match="to a width that its speedup curve does not allow"):
        run(trace, [(3.0, RESIZE, 0, 4)], compiled)
    assert 1 == len(run(trace, [(3.0, RESIZE, 0, 2)], compiled).segments)


SUSPENDS = (3.0, PREEMPT, 0, SUSPEND)

WRONG: list[tuple[Script, str]] = [
    (
        [SUSPENDS, (3.0, RESIZE, 0, 4)],
        "preempted or resized job 0 of the queue (submitted at 0 s), which is not running",
    ),
    (
        [(3.0, PREEMPT, 0, 3)],
        "preempted job 0 of the queue (submitted at 0 s) neither by KILL nor by CHECKPOINT nor by SUSPEND",
    ),
    (
        [(3.0, HOLD, 0, 9.0)],
        "predicted job 0 of the queue (submitted at 0 s) by NaN, or held it until NaN or for ever, or while",
    ),
    ([(3.0, HOLD, 0, np.nan)], "held it until NaN or for ever"),
    ([(3.0, HOLD, 0, np.inf)], "held it until NaN or for ever"),
    ([(3.0, HOLD, 1, 9.0)], "predicted or held job 1 of the queue (submitted at 40 s), which has not been submitted"),
    ([(3.0, HOLD, 2, 9.0)], "named a job 2 that there is not"),
    ([(3.0, HOLD, -1, 9.0)], "named a job -1 that there is not"),
    ([SUSPENDS, (3.0, HOLD, 0, 9.0), (3.0, HOLD, 0, 12.0)], "or while it is not waiting"),
    (
        [SUSPENDS, (3.0, HOLD, 0, 9.0), (3.0, START, 0, 0)],
        "started job 0 of the queue (submitted at 0 s), which is not waiting",
    ),
]


@compiled_or_not
@pytest.mark.parametrize(("script", "message"), WRONG)
def test_what_cannot_be_done(script: Script, message: str, compiled: bool) -> None:
    """It ends the simulation at once, and in words."""
    trace = draw_trace("submit run width / 0 10 2 / 40 1 1", processors=8)
    with pytest.raises(PolicyError, match=re.escape("at 3 s: ")) as told:
        run(trace, script, compiled)
    assert message in str(told.value)


# Held back


@compiled_or_not
@pytest.mark.parametrize(("until", "start_of_first"), [(3.0, 3.0), (1.0, 3.0), (-np.inf, 3.0), (3.5, 8.5)])
def test_who_is_held_enters_behind(until: float, start_of_first: float, compiled: bool) -> None:
    """Behind job 2, which goes first then; a time that has come changes nothing."""
    trace = draw_trace("submit run width / 0 10 2 / 1 5.5 2", processors=2)
    told = run(trace, [SUSPENDS, (3.0, HOLD, 0, until)], compiled).segments
    assert start_of_first == told["start_time"][told["job_number"] == 1].iloc[1]
    assert len(told) == 3


def holds_some(event, machine, job):  # type: ignore[no-untyped-def]
    """At the submission of job 1 hold another one, which waits."""
    if event == SUBMISSION and job == 1:
        hold(machine, 0, 20.0)


def holds_twice_at_submission(event, machine, job):  # type: ignore[no-untyped-def]
    """Hold a job twice."""
    hold(machine, job, 20.0)
    hold(machine, job, 30.0)


def waits_until_three(machine):  # type: ignore[no-untyped-def]
    """Start in order from 3 s on."""
    if now(machine) < 3.0:
        wake_at(machine, 3.0)
        return
    job = first_waiting(machine)
    while fits(machine, job):
        start(machine, job)
        job = first_waiting(machine)


@compiled_or_not
def test_a_submission_at_which_another_is_held(compiled: bool) -> None:
    """Who is submitted enters all the same; holding the same job twice is a mistake."""
    trace = draw_trace("submit run width / 0 4 1 / 1 5 1", processors=1)
    waits = Policy("waits", waits_until_three)
    jobs = simulate(trace, waits, predictor=Predictor("holds", holds_some), compiled=compiled).jobs
    assert [20.0, 3.0] == jobs["start_time"].tolist()
    with pytest.raises(PolicyError, match="or while it is not waiting"):
        simulate(trace, waits, predictor=Predictor("holds", holds_twice_at_submission), compiled=compiled)


# More than there is room for

MANY = 3_000


def many(jobs: int) -> Trace:
    """Return jobs that are all submitted at once, behind one that fills the machine."""
    return Trace.from_columns(
        machine_processors=16,
        job_number=list(range(jobs + 1)),
        submit_time=[0.0] + [5.0] * jobs,
        run_time=[10.0] + [2.0] * jobs,
        requested_time=[10.0] + [2.0] * jobs,
        allocated_processors=[16] + [1] * jobs,
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"semantics": "pyss"}, {"semantics": "cqsim", "predictor": "exact"}, {"predictor": "last-model"}],
    ids=str,
)
@pytest.mark.parametrize(("compiled", "jobs"), [(True, MANY), (False, 600)])
def test_many_submissions_at_one_instant(compiled: bool, jobs: int, options: dict[str, Any]) -> None:
    """The queue grows within the instant, several times, and nobody is lost or leaves his place."""
    for policy in ("fcfs", "easy"):
        starts = simulate(many(jobs), policy, compiled=compiled, **options).jobs["start_time"]
        assert [0.0, *(10.0 + 2.0 * (np.arange(jobs) // 16))] == starts.tolist()


def holds_everyone(event, machine, job):  # type: ignore[no-untyped-def]
    """Hold each job at its submission, the later ones for less long."""
    if event == SUBMISSION and job > 0:
        hold(machine, job, 100.0 + (len(machine.allocated) - job) // 16)


@pytest.mark.parametrize(("compiled", "jobs"), [(True, MANY), (False, 600)])
def test_many_jobs_held_at_one_instant(compiled: bool, jobs: int) -> None:
    """There is room for all of them; they enter by their times."""
    told = Predictor("holds", holds_everyone)
    starts = simulate(many(jobs), "fcfs", predictor=told, compiled=compiled).jobs["start_time"].to_numpy()[1:]
    entry = 100.0 + (jobs - np.arange(jobs)) // 16
    assert (starts >= entry).all()
    assert (np.diff(starts[np.argsort(entry, kind="stable")]) >= 0).all()
    assert starts.max() < 110.0 + 2 * jobs / 16


def test_the_queue_grows_in_a_copy_alone() -> None:
    """A copy of a simulation whose queue has grown goes on with places of its own."""
    trace = with_work(many(2_000), np.random.default_rng(1))
    whole = simulate(trace, "easy").jobs
    simulation = Simulation(trace, "easy").run(until=4)
    assert 256 == len(simulation._machine.queue.job)
    copy = simulation.copy().run(until=6)
    assert 256 == len(simulation._machine.queue.job) < len(copy._machine.queue.job)
    assert whole.equals(copy.run().schedule().jobs)
    assert whole.equals(simulation.run().schedule().jobs)
    assert NOBODY == first_waiting.py_func(simulation._machine)
