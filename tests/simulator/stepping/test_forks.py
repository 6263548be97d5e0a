# SPDX-License-Identifier: BSD-3-Clause
"""Light copies: they go on as the whole simulation does, whatever moment they are of, and leave it alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator import KILL, SUSPEND, Stepper, simulate
from swftools.simulator.policies.conservative import FEW
from tests.drawn import draw_trace
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import by_day, examples
from tests.interpreted import all_interpreted
from tests.simulator.test_stop_and_go import MeanOfUser
from tests.strategies import crowded_trace

FORGET = ["fcfs", "easy", "lxf", "sjf", "narrowest", "lxf-backfill"]
REMEMBER = [
    *(light(name) for name in OURS if name not in {*FORGET, "scojo-p"}),
    *("easy:backfill_order=sjf", "easy:reservations=3", "pv-easy:order=lxf,preemption=suspend"),
    *("genetic:generations=1,individuals=6,warm_start=true", "cirne-berman:inner=conservative"),
]
"""Policies with a memory, or draws, that a copy takes along."""


def times(stepper: Stepper, name: str) -> dict[int, float]:
    """Let it go on to the end; return a time of each job, by its number in the trace."""
    jobs = stepper.finish().jobs
    return dict(zip(jobs["job_number"].tolist(), jobs[name].tolist(), strict=True))


def starts(stepper: Stepper) -> dict[int, float]:
    """Let it go on to the end; return when each job starts."""
    return times(stepper, "start_time")


def ends(stepper: Stepper) -> dict[int, float]:
    """Let it go on to the end; return when each job ends."""
    return times(stepper, "end_time")


def after(trace: Trace, policy: str, decisions: int, **options: Any) -> Stepper:
    """Return a simulation that stands before a decision, after so many by the policy."""
    stepper = Stepper(trace, policy, **options)
    stepper.advance()
    for _ in range(decisions):
        if not stepper.skip():
            break
    return stepper


@examples(0.6)
@given(
    seed=st.integers(0, 2**32 - 1),
    policy=st.sampled_from(FORGET),
    decisions=st.integers(0, 60),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
    compiled=st.sampled_from([True, True, False]),
)
def test_it_goes_on_as_the_whole_does(seed: int, policy: str, decisions: int, overrun: str, compiled: bool) -> None:
    """Every job that is not over starts when it does in the whole, to the last bit."""
    stepper = after(crowded_trace(40, seed=seed), policy, decisions, overrun=overrun, compiled=compiled)
    with all_interpreted(not compiled):
        fork = stepper.fork(None)
    assert (fork.now, fork.free, fork.is_deciding) == (stepper.now, stepper.free, stepper.is_deciding)
    assert fork.origin is not None
    assert fork.origin[fork.waiting].tolist() == stepper.waiting.tolist()
    assert fork.origin[fork.running].tolist() == stepper.running.tolist()
    assert fork.wait.tolist() == stepper.wait.tolist()
    ours, whole = starts(fork), starts(stepper)
    assert ours.items() <= whole.items()
    ended = set(whole) - set(ours)
    assert all(whole[job] <= fork.now for job in ended)


@pytest.mark.parametrize("policy", by_day(REMEMBER, 6))
def test_what_a_policy_remembers_is_in_it(policy: str) -> None:
    """Forks at every third decision end each job when the whole does; runs that were stopped before are not in them."""
    trace = with_all_columns(crowded_trace(50, seed=9))
    stepper = after(trace, policy, 0, seed=3)
    whole = ends(Stepper(trace, policy, seed=3))
    decisions = 0
    while stepper.skip():
        decisions += 1
        if decisions % 3:
            continue
        fork = stepper.fork(None)
        for _ in range(decisions % 2):
            fork.skip()
        ours = ends(fork.fork(None))
        assert ours.items() <= whole.items()
        assert len(ours) >= len(stepper.waiting) - 2
    assert decisions > 20


def test_without_later_jobs() -> None:
    """What is there goes on as if nobody came any more, as a simulation without later jobs does."""
    trace = crowded_trace(60, seed=3)
    stepper = after(trace, "easy", 15)
    alone = stepper.copy()
    alone._simulation.without_later_jobs()
    expected = starts(alone)
    ours = starts(stepper.fork())
    assert ours == {job: start for job, start in expected.items() if job in ours}
    assert len(stepper.fork().origin) == len(stepper.waiting) + len(stepper.running)  # type: ignore[arg-type]


def test_the_next_jobs_to_come() -> None:
    """Of five jobs that come, the next two are in it, and nothing is known of them before."""
    trace = draw_trace("submit run width / 0 9 1 / 1 9 1 / 2 9 1 / 3 9 1 / 4 9 1", processors=1)
    stepper = after(trace, "fcfs", 0)
    fork = stepper.fork(2)
    assert fork.width.tolist() == [1, -1, -1]
    assert np.isnan(fork.submit_time[1:]).all()
    assert starts(fork) == {1: 0.0, 2: 9.0, 3: 18.0}


def test_it_leaves_the_whole_alone() -> None:
    """Whatever is done in a fork, and in a fork of it, the whole ends as it would have."""
    trace = crowded_trace(60, seed=5)
    stepper = after(trace, "easy", 12)
    fork = stepper.fork(None)
    for job in fork.waiting:
        if fork.width[job] <= fork.free:
            fork.start(int(job))
    if len(fork.running):
        fork.preempt(int(fork.running[0]), SUSPEND)
    fork.advance()
    deeper = fork.fork(3)
    deeper.finish()
    fork.finish()
    assert starts(stepper) == dict(
        zip(trace.jobs["job_number"].tolist(), simulate(trace, "easy").jobs["start_time"].tolist(), strict=True)
    )


def test_numbers_lead_back_to_the_whole() -> None:
    """Also of a fork of a fork."""
    trace = draw_trace("submit run width / 0 2 1 / 0 9 1 / 0 9 1 / 0 9 1", processors=2)
    stepper = after(trace, "fcfs", 1)
    assert (stepper.now, stepper.running.tolist(), stepper.waiting.tolist()) == (2.0, [1], [2, 3])
    fork = stepper.fork()
    assert fork.origin.tolist() == [1, 2, 3]  # type: ignore[union-attr]
    fork.skip()
    assert fork.now == 9.0
    assert fork.fork().origin.tolist() == [2, 3]  # type: ignore[union-attr]
    assert [fork.job_number(job) for job in range(3)] == [2, 3, 4]


def test_numbers_lead_back_where_jobs_come_and_vanish() -> None:
    """What a fork was told by itself was in no other simulation; those to come are numbered anew around it."""
    stepper = Stepper(draw_trace("submit run width / 0 9 1 / 4 9 1 / 6 9 1", processors=1), "fcfs").run(until=4)
    fork = stepper.fork(later=None)
    assert fork.origin.tolist() == [0, 1, 2]  # type: ignore[union-attr]
    fork.submit(1, 5.0, at=5.0)
    assert fork.origin.tolist() == [0, 1, -1, 2]  # type: ignore[union-attr]
    assert fork.fork(later=1).origin.tolist() == [0, 1, -1]  # type: ignore[union-attr]
    assert Stepper.from_bytes(fork.to_bytes()).origin.tolist() == [0, 1, -1, 2]  # type: ignore[union-attr]
    fork.cancel(2)
    assert fork.origin.tolist() == [0, 1, 2, -1]  # type: ignore[union-attr]
    assert fork.fork(later=None).origin.tolist() == [0, 1, 2]  # type: ignore[union-attr]
    assert stepper.origin is None


@pytest.mark.parametrize("how", [SUSPEND, KILL])
def test_work_that_was_done_counts(how: int) -> None:
    """A job that ran 4 of 10 s goes on with 6, or begins anew if it was killed."""
    trace = draw_trace("submit run width / 0 10 1 / 4 1 1 / 5 1 1", processors=1)
    stepper = Stepper(trace, "fcfs")
    stepper.advance()
    stepper.start(0)
    stepper.advance(to="event")
    stepper.preempt(0, how)
    stepper.start(1)
    stepper.advance()
    fork = stepper.fork()
    assert fork.origin.tolist() == [0, 2]  # type: ignore[union-attr]
    fork.start(0)
    assert fork.expected_end[0] == 5.0 + (6.0 if how == SUSPEND else 10.0)
    fork.finish()
    assert fork.now == 5.0 + (6.0 if how == SUSPEND else 10.0) + 1.0


def test_jobs_that_are_held_back() -> None:
    """They come back at their time, in the fork as well."""
    trace = draw_trace("submit run width / 0 1 1 / 0 1 1", processors=1)
    stepper = Stepper(trace, "fcfs")
    stepper.advance()
    stepper.hold(1, 7.0)
    stepper.start(0)
    with pytest.raises(PolicyError, match=r"already acted in this decision: fork before, or call advance\(\)"):
        stepper.fork()
    stepper.advance(until=1.0)
    assert starts(stepper.fork()) == {2: 7.0}


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        ("scojo-p", {}, "policy 'scojo-p' has a memory that a fork cannot copy"),
        ("easy", {"predictor": "last-model"}, "predictor 'last-model' has a memory"),
        ("easy", {"predictor": MeanOfUser()}, "the predictor in Python has a memory"),
    ],
)
def test_who_remembers_the_past_is_refused(policy: str, options: dict[str, Any], message: str) -> None:
    """And told to take the whole."""
    stepper = after(with_all_columns(crowded_trace(20, seed=1)), policy, 3, **options)
    with pytest.raises(PolicyError, match=rf"{message}.*use copy\(\)"):
        stepper.fork()
    stepper.copy().finish()


def test_what_is_foretold_is_in_it() -> None:
    """A predictor that is told run times before the run remembers nothing."""
    stepper = after(crowded_trace(40, seed=2), "easy", 10, predictor="exact")
    ours, whole = starts(stepper.fork(None)), starts(stepper)
    assert ours.items() <= whole.items()


def test_more_wait_than_there_are_places() -> None:
    """A fork of a long queue has room for it."""
    table = "submit run width" + " / 0 5 1" * 700
    stepper = after(draw_trace(table, processors=1), "fcfs", 1)
    ours, whole = starts(stepper.fork(None)), starts(stepper)
    assert len(ours) == 699
    assert ours.items() <= whole.items()


def test_what_was_seen_of_a_fork_stays() -> None:
    """Also when the fork is gone, and another one was made: its room is not given away while somebody looks."""
    stepper = after(crowded_trace(60, seed=5), "easy", 12)
    shown = stepper.fork().submit_time
    before = shown.tolist()
    for _ in range(3):
        stepper.skip()
    others = [stepper.fork(count) for count in range(3)]
    assert others[0].submit_time.tolist() != before
    assert shown.tolist() == before


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
def test_plans_of_many_jobs(policy: str) -> None:
    """Of some hundred that wait, with an agenda and a profile of several blocks: forks go on as the whole does."""
    stepper = after(crowded_trace(700, seed=2), policy, 0)
    whole = starts(Stepper(crowded_trace(700, seed=2), policy))
    most, decisions = 0, 0
    while stepper.skip():
        decisions += 1
        if decisions % 61 == 0:
            most = max(most, len(stepper.waiting))
            ours = starts(stepper.fork(None))
            assert ours.items() <= whole.items()
    assert most > FEW
