# SPDX-License-Identifier: BSD-3-Clause
"""Verbs where they meet: what is stopped twice, resized, held back, and more jobs at one instant than there is room."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator import Policy, Predictor, Schedule, Simulation, simulate
from swftools.simulator.machine.events import SUBMISSION
from swftools.simulator.machine.state import CHECKPOINT, KILL, RUNNING, SUSPEND
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


def acting_at(time: float, act: Callable[..., None]) -> Policy:
    """Return a policy that starts who fits, and does something at a time, once."""

    def decide(machine):  # type: ignore[no-untyped-def]
        """Start in order, and act."""
        if now(machine) == time:
            act(machine)
        job = first_waiting(machine)
        while fits(machine, job):
            start(machine, job)
            job = first_waiting(machine)
        if now(machine) < time:
            wake_at(machine, time)

    return Policy("acting", decide)


def run(trace: Trace, time: float, act: Any, compiled: bool, **options: Any) -> Schedule:
    """Simulate; what is done is compiled too."""
    from swftools.kernel import kernel  # noqa: PLC0415

    return simulate(trace, acting_at(time, kernel(act)), compiled=compiled, **options)


compiled_or_not = pytest.mark.parametrize("compiled", [True, False])


@compiled_or_not
@pytest.mark.parametrize("how", WAYS)
def test_stopped_and_started_in_one_decision(how: int, compiled: bool) -> None:
    """Two runs that touch; what goes on begins with the overhead."""

    def act(machine):  # type: ignore[no-untyped-def]
        """Stop, and start."""
        preempt(machine, 0, how)
        start(machine, 0)

    told = shown(run(one_job(), 6.0, act, compiled, restart_overhead=3))
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

    def act(machine):  # type: ignore[no-untyped-def]
        """Resize, or stop and start, then stop."""
        if way < 0:
            resize(machine, 0, 4)
        else:
            preempt(machine, 0, way)
            start(machine, 0)
        preempt(machine, 0, second)

    way = -1 if first == "resize" else first
    told = shown(run(one_job(), 6.0, act, compiled))
    strictest = second if way < 0 else min(way, second)
    kept = {KILL: 0.0, CHECKPOINT: 4.0, SUSPEND: 6.0}[strictest]
    word = {KILL: "killed", CHECKPOINT: "checkpointed", SUSPEND: "suspended"}[strictest]
    assert [[0.0, 6.0, 2, 6.0, 0.0, word], [6.0, 16.0 - kept, 2, 10.0 - kept, 0.0, "completed"]] == told


@compiled_or_not
def test_a_run_that_this_decision_began_is_no_run(compiled: bool) -> None:
    """A suspended job that is started and killed at once keeps its work: there was nothing to kill."""

    def act(machine):  # type: ignore[no-untyped-def]
        """Start the job that waits, and kill it; it is started once more when all is said."""
        start(machine, 0)
        preempt(machine, 0, KILL)

    def decide(machine):  # type: ignore[no-untyped-def]
        """Suspend it at 6 s, and let it wait until 8 s."""
        if now(machine) == 6.0:
            preempt(machine, 0, SUSPEND)
            wake_at(machine, 8.0)
            return
        if now(machine) == 8.0:
            begin_and_kill(machine)
        if fits(machine, first_waiting(machine)):
            start(machine, 0)
        if now(machine) < 6.0:
            wake_at(machine, 6.0)

    from swftools.kernel import kernel  # noqa: PLC0415

    begin_and_kill = kernel(act)
    schedule = simulate(one_job(), Policy("begins", decide), compiled=compiled)
    assert [[0.0, 6.0, 2, 6.0, 0.0, "suspended"], [8.0, 12.0, 2, 4.0, 0.0, "completed"]] == shown(schedule)
    assert [1] == schedule.jobs["preemptions"].tolist()


@compiled_or_not
@pytest.mark.parametrize("how", WAYS)
def test_stopped_within_the_overhead(how: int, compiled: bool) -> None:
    """Nothing is done there and nothing is lost of what was kept, but by KILL; the overhead begins anew."""

    def act(machine):  # type: ignore[no-untyped-def]
        """Suspend at 6 s, stop again at 7 s, two seconds before the overhead is over."""
        preempt(machine, 0, SUSPEND if now(machine) == 6.0 else how)

    def decide(machine):  # type: ignore[no-untyped-def]
        """Go on at once."""
        if now(machine) >= 6.0 and machine.counts[RUNNING] > 0:
            stop(machine)
        if fits(machine, first_waiting(machine)):
            start(machine, 0)
        if now(machine) < 7.0:
            wake_at(machine, 6.0 if now(machine) < 6.0 else 7.0)

    from swftools.kernel import kernel  # noqa: PLC0415

    stop = kernel(act)
    told = shown(simulate(one_job(), Policy("twice", decide), restart_overhead=3, compiled=compiled))
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

    def act(machine):  # type: ignore[no-untyped-def]
        """Resize by the time."""
        if now(machine) in (4.0, 5.0):
            resize(machine, 0, 8)
        elif now(machine) == 6.0:
            resize(machine, 0, 2)

    def decide(machine):  # type: ignore[no-untyped-def]
        """Start it, and resize at 4, 5 and 6 s."""
        if fits(machine, first_waiting(machine)):
            start(machine, 0)
        change(machine)
        if now(machine) < 6.0:
            wake_at(machine, 4.0 if now(machine) < 4.0 else now(machine) + 1.0)

    from swftools.kernel import kernel  # noqa: PLC0415

    change = kernel(act)
    schedule = simulate(one_job(), Policy("resizing", decide), restart_overhead=1, compiled=compiled)
    assert shown(schedule) == [
        [0.0, 4.0, 2, 4.0, 0.0, "resized"],
        [4.0, 6.0, 8, 4.0, 1.0, "resized"],  # a second on four times as many processors
        [6.0, 9.0, 2, 2.0, 1.0, "completed"],
    ]
    assert [0] == schedule.jobs["preemptions"].tolist()
    assert [(0.0, 9.0, 9.0)] == list(
        schedule.jobs[["start_time", "end_time", "run_time"]].itertuples(index=False, name=None)
    )


def resizes_to(width: int) -> Callable[..., None]:
    """Return what asks for a width."""

    def act(machine):  # type: ignore[no-untyped-def]
        """Resize."""
        resize(machine, 0, width)

    return act


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
        run(trace, 3.0, resizes_to(width), compiled)


@compiled_or_not
def test_a_job_without_a_curve_is_not_resized(compiled: bool) -> None:
    """Of a trace without any; to its own width it may be, which is no change."""
    trace = draw_trace("submit run width / 0 10 2", processors=8)
    with pytest.raises(PolicyError, match="to a width that its speedup curve does not allow"):
        run(trace, 3.0, resizes_to(4), compiled)
    assert 1 == len(run(trace, 3.0, resizes_to(2), compiled).segments)


def resizes_who_waits(machine):  # type: ignore[no-untyped-def]
    """Resize a job that does not run."""
    preempt(machine, 0, SUSPEND)
    resize(machine, 0, 4)


def stops_somehow(machine):  # type: ignore[no-untyped-def]
    """Stop in a way that there is not."""
    preempt(machine, 0, 3)


def holds(job: int, time: float) -> Callable[..., None]:
    """Return what holds a job."""

    def act(machine):  # type: ignore[no-untyped-def]
        """Hold it."""
        hold(machine, job, time)

    return act


def holds_twice(machine):  # type: ignore[no-untyped-def]
    """Hold a job that is held."""
    preempt(machine, 0, SUSPEND)
    hold(machine, 0, 9.0)
    hold(machine, 0, 12.0)


def starts_who_is_held(machine):  # type: ignore[no-untyped-def]
    """Start a job that is held."""
    preempt(machine, 0, SUSPEND)
    hold(machine, 0, 9.0)
    start(machine, 0)


WRONG: list[tuple[Any, str]] = [
    (resizes_who_waits, "preempted or resized job 0 of the queue (submitted at 0 s), which is not running"),
    (stops_somehow, "preempted job 0 of the queue (submitted at 0 s) neither by KILL nor by CHECKPOINT nor by SUSPEND"),
    (
        holds(0, 9.0),
        "predicted job 0 of the queue (submitted at 0 s) by NaN, or held it until NaN or for ever, or while",
    ),
    (holds(0, np.nan), "held it until NaN or for ever"),
    (holds(0, np.inf), "held it until NaN or for ever"),
    (holds(1, 9.0), "predicted or held job 1 of the queue (submitted at 40 s), which has not been submitted"),
    (holds(2, 9.0), "named a job 2 that there is not"),
    (holds(-1, 9.0), "named a job -1 that there is not"),
    (holds_twice, "or while it is not waiting"),
    (starts_who_is_held, "started job 0 of the queue (submitted at 0 s), which is not waiting"),
]


@compiled_or_not
@pytest.mark.parametrize(("act", "message"), WRONG)
def test_what_cannot_be_done(act: Any, message: str, compiled: bool) -> None:
    """It ends the simulation at once, and in words."""
    trace = draw_trace("submit run width / 0 10 2 / 40 1 1", processors=8)
    with pytest.raises(PolicyError, match=re.escape("at 3 s: ")) as told:
        run(trace, 3.0, act, compiled)
    assert message in str(told.value)


# Held back


@compiled_or_not
@pytest.mark.parametrize(("until", "start_of_first"), [(3.0, 3.0), (1.0, 3.0), (-np.inf, 3.0), (3.5, 8.5)])
def test_who_is_held_enters_behind(until: float, start_of_first: float, compiled: bool) -> None:
    """Behind job 2, which goes first then; a time that has come changes nothing."""

    def act(machine):  # type: ignore[no-untyped-def]
        """Suspend the first job, and hold it."""
        preempt(machine, 0, SUSPEND)
        hold(machine, 0, until)

    trace = draw_trace("submit run width / 0 10 2 / 1 5.5 2", processors=2)
    told = run(trace, 3.0, act, compiled).segments
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

MANY = 10_000


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
@pytest.mark.parametrize(("compiled", "jobs"), [(True, MANY), (False, 1_500)])
def test_many_submissions_at_one_instant(compiled: bool, jobs: int, options: dict[str, Any]) -> None:
    """The queue grows within the instant, several times, and nobody is lost or leaves his place."""
    for policy in ("fcfs", "easy"):
        starts = simulate(many(jobs), policy, compiled=compiled, **options).jobs["start_time"]
        assert [0.0, *(10.0 + 2.0 * (np.arange(jobs) // 16))] == starts.tolist()


def holds_everyone(event, machine, job):  # type: ignore[no-untyped-def]
    """Hold each job at its submission, the later ones for less long."""
    if event == SUBMISSION and job > 0:
        hold(machine, job, 100.0 + (len(machine.allocated) - job) // 16)


@pytest.mark.parametrize(("compiled", "jobs"), [(True, MANY), (False, 1_500)])
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
