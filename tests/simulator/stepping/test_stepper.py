# SPDX-License-Identifier: BSD-3-Clause
"""Decisions from outside: by the policy itself, by its own schedule played again, by hand, and wrong ones."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import DecisionWarning, ParameterError, PolicyError
from swftools.models import lublin_feitelson
from swftools.simulator import CHECKPOINT, KILL, SUSPEND, Schedule, Stepper, python_policy, simulate, validate
from tests.drawn import draw_trace
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day, pairs
from tests.simulator.stepping.python_deciders import in_order
from tests.strategies import crowded_trace

POLICIES = [*map(light, OURS), "pv-easy:preemption=suspend", "scojo-p:resize=true,resize_every=60"]


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with whatever any policy needs."""
    return with_all_columns(crowded_trace(60, seed=4))


def assert_same(ours: Schedule, theirs: Schedule) -> None:
    """The same jobs and runs, whoever decided."""
    pd.testing.assert_frame_equal(ours.jobs, theirs.jobs, check_exact=True)
    pd.testing.assert_frame_equal(ours.segments, theirs.segments, check_exact=True)


@pytest.mark.parametrize(("policy", "to"), pairs(POLICIES, ["decision", "event"], each=1))
def test_whoever_always_skips_has_the_policys_schedule(trace: Trace, policy: str, to: str) -> None:
    """Bit for bit, also where it stops at events at which the policy would not be asked."""
    stepper, stops = Stepper(trace, policy, seed=3), 0
    more = stepper.advance(to=to)
    while more:
        more, stops = stepper.skip(to=to), stops + 1
    assert stepper.is_over
    assert stops > 10
    plain = simulate(trace, policy, seed=3)
    assert_same(stepper.schedule(), plain)
    assert stepper.schedule().policy == plain.policy


@pytest.mark.parametrize("policy", by_day(POLICIES[::-1], 6))
def test_a_policys_schedule_played_again(trace: Trace, policy: str) -> None:
    """Who decides the same by acts has the same runs: starts on their widths, stops by their ways, resizes."""
    trace = trace.with_jobs(trace.jobs.head(20))
    plain = simulate(trace, policy, seed=3)
    stepper = Stepper(trace, "fcfs", seed=3)
    runs = plain.segments.reset_index(drop=True)
    begun = set()
    while stepper.advance(to="event"):
        play(stepper, runs, begun)
    assert stepper.is_over
    ours = stepper.schedule()
    pd.testing.assert_frame_equal(ours.segments, plain.segments, check_exact=True)
    assert ours.policy == ""
    assert validate(ours, trace=trace).ok


WAYS = {"killed": KILL, "checkpointed": CHECKPOINT, "suspended": SUSPEND}


def play(stepper: Stepper, runs: pd.DataFrame, begun: set[int]) -> None:
    """Do what runs say of the present instant: stops first, then starts, in the order of the runs."""
    jobs = {stepper.job_number(int(job)): int(job) for job in (*stepper.waiting, *stepper.running)}
    ends = runs[(runs["end_time"] == stepper.now) & (runs["ended_by"] != "completed")]
    stopped = {row: run for row, run in zip(ends.index, ends.itertuples(), strict=True) if row in begun}
    for run in stopped.values():
        if run.ended_by in WAYS:
            stepper.preempt(jobs[run.job_number], WAYS[run.ended_by])
    narrowed = [run for run in stopped.values() if run.ended_by == "resized"]
    for row in runs.index[runs["start_time"] == stepper.now]:
        run = runs.loc[row]
        job = jobs[run["job_number"]]
        if any(each.job_number == run["job_number"] for each in narrowed):
            stepper.resize(job, int(run["allocated_processors"]))
        elif row not in begun:
            stepper.start_on(job, int(run["allocated_processors"]))
        begun.add(row)
    later = runs["start_time"][runs["start_time"] > stepper.now]
    if len(later):
        stepper.wake_at(later.min())  # nothing else may happen then


def test_filling_behind_the_first_is_easy(compiled: bool) -> None:
    """Start the first while it fits, then let others go ahead: that is EASY, start by start."""
    trace = crowded_trace(50, seed=7)
    stepper = Stepper(trace, "fcfs", compiled=compiled)
    while stepper.advance():
        while len(stepper.waiting):
            head = int(stepper.waiting[0])
            fits = stepper.width[head] <= stepper.free
            stepper.start_or_fill(head)
            if not fits:
                break
    expected = simulate(trace, "easy").jobs["start_time"]
    assert stepper.schedule().jobs["start_time"].tolist() == expected.tolist()


def test_filling_does_not_delay_the_chosen_job() -> None:
    """Job 4 is to have all at 10: job 2, which stands before it, would end too late; job 3 may go ahead."""
    trace = draw_trace("submit run width / 0 10 3 / 1 20 1 / 1 5 1 / 1 5 4", processors=4)
    stepper = Stepper(trace, "fcfs")
    assert stepper.advance()
    stepper.start(0)
    assert stepper.advance()
    stepper.start_or_fill(3)
    assert stepper.running.tolist() == [2, 0]
    assert stepper.waiting.tolist() == [1, 3]
    while stepper.advance():
        stepper.start_or_fill(3 if 3 in stepper.waiting else 1)
    assert stepper.schedule().jobs["start_time"].tolist() == [0.0, 15.0, 1.0, 10.0]


def test_what_is_seen() -> None:
    """By hand, at 2 s: one job of 3 processors runs until 10 s, one of 1 until 6 s, two wait."""
    trace = draw_trace("submit run width / 0 10 3 / 1 5 1 / 1 7 2 / 2 9 4 / 50 1 1", processors=5)
    stepper = Stepper(trace, "fcfs")
    assert (stepper.now, stepper.is_deciding, stepper.processors) == (-np.inf, False, 5)
    assert stepper.advance()
    stepper.start(0)
    assert stepper.advance()
    stepper.start(1)
    assert stepper.advance(to="event")
    assert (stepper.now, stepper.free, stepper.is_deciding, stepper.is_over) == (2.0, 1, True, False)
    assert stepper.waiting.tolist() == [2, 3]
    assert stepper.wait.tolist() == [1.0, 0.0]
    assert stepper.running.tolist() == [1, 0]
    assert stepper.width.tolist() == [3, 1, 2, 4, -1]
    assert stepper.expected_end[stepper.running].tolist() == [6.0, 10.0]
    assert stepper.allocated.tolist() == [3, 1, 0, 0, 0]
    assert stepper.requested_time[:4].tolist() == stepper.estimated_time[:4].tolist() == [10.0, 5.0, 7.0, 9.0]
    times, free = stepper.free_over_time()
    assert (times.tolist(), free.tolist()) == ([2.0, 6.0, 10.0], [1, 2, 5])
    assert stepper.job_number(3) == trace.jobs["job_number"].iloc[3]


def test_nothing_is_known_of_jobs_to_come(trace: Trace) -> None:
    """Their rows are empty in all that is shown, at every decision."""
    stepper = Stepper(trace, "fcfs")
    more = stepper.advance()
    while more:
        known = int((~np.isnan(stepper.submit_time)).sum())
        assert (stepper.submit_time[:known] <= stepper.now).all()
        for shown in (stepper.width, stepper.user, stepper.queue):
            assert (shown[known:] == -1).all()
        for shown in (stepper.requested_time, stepper.estimated_time):
            assert np.isnan(shown[known:]).all()
        more = stepper.skip()


def test_what_is_seen_cannot_be_written_to(trace: Trace) -> None:
    """Nor does it show a moment that is past once something was done."""
    stepper = Stepper(trace, "fcfs")
    assert stepper.advance()
    for name in ("waiting", "running", "width", "submit_time", "requested_time", "user", "queue", "allocated"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(stepper, name)[:] = 0


WRONG: dict[str, tuple[Callable[[Stepper], object], str]] = {
    "too wide": (lambda stepper: stepper.start(2), r"at 1 s: started job 2 .*, which needs 4 processors, with 1 free"),
    "not there": (lambda stepper: stepper.start(99), "named a job 99 that there is not"),
    "below 0": (lambda stepper: stepper.start(-1), "named a job -1 that there is not"),
    "runs": (lambda stepper: stepper.start(0), "started job 0 .*, which is not waiting"),
    "to come": (lambda stepper: stepper.start(3), "job 3 was not submitted yet$"),
    "no curve": (lambda stepper: stepper.start_on(1, 2), "to a width that its speedup curve does not allow"),
    "does not run": (lambda stepper: stepper.preempt(1), "which is not running"),
    "no way": (lambda stepper: stepper.preempt(0, 9), "neither by KILL nor by CHECKPOINT nor by SUSPEND"),
    "resized too wide": (lambda stepper: stepper.resize(0, 9), "to a width that its speedup curve does not allow"),
    "for ever": (lambda stepper: stepper.hold(1, np.inf), "held it until NaN or for ever"),
    "until NaN": (lambda stepper: stepper.hold(1, np.nan), "held it until NaN or for ever"),
    "woken in the past": (lambda stepper: stepper.wake_at(1.0), "asked to be woken at a time that is not to come"),
    "filled wrongly": (lambda stepper: stepper.start_or_fill(0), "which is not waiting"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_act_is_told_and_changes_nothing(what: str, compiled: bool) -> None:
    """It goes on as if it had not been, and ends as the policy's own schedule does."""
    trace = draw_trace("submit run width / 0 10 3 / 1 5 1 / 1 7 4 / 50 1 1", processors=4)
    stepper = Stepper(trace, "easy", compiled=compiled)
    assert stepper.advance()
    assert stepper.skip()
    before = stepper.waiting.tolist(), stepper.running.tolist(), stepper.free
    act, message = WRONG[what]
    with pytest.raises(PolicyError, match=f"^not done, at 1 s: .*{message.removeprefix('at 1 s: ')}"):
        act(stepper)
    assert (stepper.waiting.tolist(), stepper.running.tolist(), stepper.free) == before
    while stepper.skip():
        pass
    assert_same(stepper.schedule(), simulate(trace, "easy"))


@pytest.mark.parametrize("policy", ["easy", "conservative", "of-the-stepper"])
def test_the_policy_decides_and_does_not_go_on(policy: str, compiled: bool) -> None:
    """At each decision: nothing else happens, what it starts runs then, and the next call goes on behind it."""
    python_policy("of-the-stepper")(in_order)
    trace = crowded_trace(40, seed=5)
    stepper, decisions = Stepper(trace, policy, compiled=compiled), 0
    while stepper.advance():
        now, waiting, count = stepper.now, len(stepper.waiting), len(stepper.running)
        assert stepper.decide() is stepper
        assert (stepper.now, stepper.is_deciding) == (now, False)
        assert waiting - len(stepper.waiting) == len(stepper.running) - count
        with pytest.raises(PolicyError, match=r"no decision is due now: call advance\(\), and decide\(\)"):
            stepper.decide()
        decisions += 1
    other, steps = Stepper(trace, policy, compiled=compiled), 0
    while other.skip():
        steps += 1
    assert decisions == steps
    assert_same(stepper.schedule(), simulate(trace, policy))
    assert stepper.schedule().policy == policy


def test_what_is_passed_with_nothing_done(trace: Trace) -> None:
    """Where skip brought it there, which is told; not where something was done, nor in a fork, to look ahead."""
    stepper = Stepper(trace, "easy")
    assert stepper.advance()
    assert stepper.skip()
    with pytest.warns(DecisionWarning, match=r"skip\(\) went on to this decision, and advance\(\) passes.*decide\(\)"):
        assert stepper.advance()
    assert stepper.skip()
    stepper.fork().advance()
    with pytest.warns(DecisionWarning):
        stepper.copy().advance()
    stepper.start(stepper.waiting[0])
    assert stepper.advance()
    assert stepper.advance()
    assert stepper.skip()
    stepper.decide()
    assert stepper.advance()
    assert stepper.skip()
    assert stepper.skip()
    for call in (stepper.skip, stepper.advance):
        with pytest.raises(ParameterError, match="until=nan is not a time"):
            call(until=np.nan)
    assert stepper.is_deciding


@pytest.mark.parametrize("job", [1.5, "1", None, np.nan])
def test_a_job_is_a_whole_number(trace: Trace, job: Any) -> None:
    """One error that says where jobs are had from."""
    stepper = Stepper(trace, "fcfs")
    assert stepper.advance()
    with pytest.raises(ParameterError, match="give whole numbers; jobs are those of waiting"):
        stepper.start(job)


def test_acts_want_a_decision(trace: Trace) -> None:
    """Before the first and behind the last there is none."""
    stepper = Stepper(trace, "fcfs")
    for _ in range(2):
        with pytest.raises(PolicyError, match=r"no decision is due now: call advance\(\)"):
            stepper.start(0)
        stepper.finish()
    assert not stepper.advance()
    assert not stepper.skip()


def test_jobs_that_nobody_starts() -> None:
    """It says so instead of ending, and can be gone on with."""
    trace = draw_trace("submit run width / 0 10 3 / 1 5 1", processors=4)
    stepper = Stepper(trace, "fcfs")
    assert stepper.advance()
    assert stepper.advance()
    with pytest.raises(PolicyError, match=r"at 1 s 2 jobs wait on an idle machine.*start one, such as job 0"):
        stepper.advance()
    stepper.start(1)
    assert stepper.advance()
    assert stepper.now == 6.0
    assert stepper.finish().jobs["start_time"].tolist() == [6.0, 1.0]


@pytest.mark.parametrize(("option", "message"), [({"to": "end"}, "to='end' is not one of: decision, event")])
def test_options_that_are_wrong(trace: Trace, option: dict[str, Any], message: str) -> None:
    """Told by name."""
    for call in ("advance", "skip"):
        stepper = Stepper(trace, "fcfs")
        stepper.advance()
        with pytest.raises(ParameterError, match=message):
            getattr(stepper, call)(**option)


def test_until(trace: Trace) -> None:
    """Events of that time still happen; then it stands before no decision unless one is due."""
    stepper = Stepper(trace, "easy")
    assert stepper.advance()
    first = stepper.now
    assert not stepper.skip(until=first)
    assert stepper.now == first
    with pytest.raises(ParameterError, match="until=nan is not a time"):
        stepper.advance(until=np.nan)
    while stepper.skip():
        pass
    assert_same(stepper.schedule(), simulate(trace, "easy"))


@pytest.mark.parametrize("policy", ["easy", "conservative", "pv-easy", "search:nodes=20"])
def test_copies_go_on_by_themselves(trace: Trace, policy: str) -> None:
    """What one does the other does not see, also in the middle of a decision."""
    stepper = Stepper(trace, policy)
    assert stepper.advance()
    for _ in range(20):
        assert stepper.skip()
    other = stepper.copy()
    waiting, free = stepper.waiting.tolist(), stepper.free
    fitting = [job for job in other.waiting if other.width[job] <= other.free]
    if fitting:
        other.start(fitting[-1])
    other.finish()
    assert (stepper.waiting.tolist(), stepper.free) == (waiting, free)
    assert_same(stepper.finish(), simulate(trace, policy))


def test_interrupts_leave_it_whole() -> None:
    """Ctrl-C again and again between steps, and in them: gone on with, it ends as if there had been none."""
    trace = lublin_feitelson.generate(3_000, processors=64, load=0.95, seed=3)
    stepper, interrupts = Stepper(trace, "easy"), 0
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while not stepper.is_over:
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.002 + 0.0001 * interrupts)  # or it might never end
                while stepper.skip() or not stepper.is_over:
                    pass
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                break
            interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert interrupts > 0
    assert_same(stepper.schedule(), simulate(trace, "easy"))
