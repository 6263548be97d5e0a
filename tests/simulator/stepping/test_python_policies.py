# SPDX-License-Identifier: BSD-3-Clause
"""Policies in Python are policies: the same schedule as a compiled one that decides alike, wherever one is taken."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.models import lublin_feitelson
from swftools.simulator import Simulation, Stepper, list_policies, python_policy, simulate, validate
from swftools.simulator import registry as policies
from tests.drawn import draw_trace
from tests.simulator.stepping.python_deciders import filling, in_order, shortest
from tests.strategies import crowded_trace

PAIRS: list[tuple[Callable[[Stepper], None], str]] = [(in_order, "fcfs"), (shortest, "sjf"), (filling, "easy")]


@pytest.fixture(autouse=True)
def own_policies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is registered in a test is gone with it."""
    monkeypatch.setattr(policies.POLICIES, "known", dict(policies.POLICIES.known))
    monkeypatch.setattr(policies.POLICIES, "_sources", dict(policies.POLICIES._sources))
    return


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue."""
    return crowded_trace(60, seed=4)


def assert_same(ours: Any, theirs: Any) -> None:
    """The same jobs and runs."""
    pd.testing.assert_frame_equal(ours.jobs, theirs.jobs, check_exact=True)
    pd.testing.assert_frame_equal(ours.segments, theirs.segments, check_exact=True)


@pytest.mark.parametrize("rests", [True, False])
@pytest.mark.parametrize(("decide", "policy"), PAIRS, ids=[policy for _, policy in PAIRS])
def test_as_a_compiled_one(
    trace: Trace, decide: Callable[[Stepper], None], policy: str, rests: bool, compiled: bool
) -> None:
    """Bit for bit, whether or not it is asked where no job fits; and what it promises is held against it."""
    python_policy("of-the-test", rests=rests, promises=list_policies()[policy].promises)(decide)
    for overrun in ("extend", "run-on"):
        ours = simulate(trace, "of-the-test", overrun=overrun, compiled=compiled)
        assert_same(ours, simulate(trace, policy, overrun=overrun))
        assert ours.policy == "of-the-test"
        assert validate(ours, trace=trace).ok


@pytest.mark.parametrize(("decide", "policy"), PAIRS, ids=[policy for _, policy in PAIRS])
def test_stopped_copied_stepped(trace: Trace, decide: Callable[[Stepper], None], policy: str) -> None:
    """A simulation may stop anywhere, and a stepper may let it decide, as far as it likes."""
    python_policy("of-the-test")(decide)
    whole = simulate(trace, policy)
    simulation = Simulation(trace, "of-the-test")
    for moment in trace.jobs["submit_time"].iloc[[5, 20, 41]]:
        simulation.run(until=float(moment))
        assert_same(simulation.copy().run().schedule(), whole)
    stepper = Stepper(trace, "of-the-test")
    assert stepper.advance()
    for _ in range(15):
        assert stepper.skip()
    assert_same(stepper.copy().finish(), whole)
    while stepper.skip(to="event"):
        pass
    assert_same(stepper.schedule(), whole)
    with pytest.raises(PolicyError, match="the function of policy 'of-the-test' has a memory"):
        Stepper(trace, "of-the-test").fork()


def test_jobs_taken_out(trace: Trace) -> None:
    """What follows at once is decided by the function, too."""
    python_policy("of-the-test")(filling)
    moment = float(trace.jobs["submit_time"].iloc[30])
    ours, theirs = (
        simulation.without(simulation.running.iloc[:2]).run().schedule()
        for simulation in (Simulation(trace, name).run(until=moment) for name in ("of-the-test", "easy"))
    )
    assert_same(ours, theirs)


def test_progress(trace: Trace) -> None:
    """It is told at the end at the latest."""
    python_policy("of-the-test")(in_order)
    told: list[tuple[int, int]] = []
    simulate(trace, "of-the-test", progress=lambda done, total, _: told.append((done, total)))
    assert told[-1] == (60, 60)


def test_interrupts(trace: Trace) -> None:
    """Ctrl-C between decisions leaves it whole: gone on with, it ends as if there had been none."""
    python_policy("of-the-test")(in_order)
    simulate(trace, "of-the-test")  # nothing is left to be compiled, which would be what is interrupted
    jobs = lublin_feitelson.generate(3_000, processors=64, load=0.95, seed=3)
    simulation, interrupts = Simulation(jobs, "of-the-test"), 0
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while not simulation.is_over and interrupts < 5:
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.004)
                simulation.run()
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            interrupts += not simulation.is_over
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert interrupts > 0
    assert_same(simulation.run().schedule(), simulate(jobs, "fcfs"))


WRONG: dict[str, tuple[Callable[[Stepper], object], str]] = {
    "answers": (lambda stepper: stepper.now, r"returned 0\.0; a policy acts by start\(\), and returns nothing"),
    "goes on": (lambda stepper: stepper.advance(), "a policy acts and returns"),
    "skips": (lambda stepper: stepper.skip(), "a policy acts and returns"),
    "decides": (lambda stepper: stepper.decide(), "a policy acts and returns"),
    "runs": (lambda stepper: stepper.run(), "a policy acts and returns"),
    "submits": (lambda stepper: stepper.submit(1, 60), "a policy acts and returns"),
    "finishes": (lambda stepper: stepper.finish(), "a policy acts and returns"),
    "raises": (lambda _: {}["key"], "raised KeyError: 'key'"),
    "acts wrongly": (lambda stepper: stepper.start(9), "job 9"),
    "starts nobody": (lambda _: None, "leaves 2 jobs waiting on an idle machine"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_goes_wrong(what: str, compiled: bool) -> None:
    """One error that names the policy and the time; the simulation cannot be gone on with."""
    decide, message = WRONG[what]
    python_policy("of-the-test")(decide)
    simulation = Simulation(
        draw_trace("submit run width / 0 10 3 / 1 5 1", processors=4), "of-the-test", compiled=compiled
    )
    with pytest.raises(PolicyError, match=rf"^policy 'of-the-test', at [01] s: .*{message}"):
        simulation.run()
    with pytest.raises(PolicyError, match="the simulation cannot go on"):
        simulation.run()


def test_what_is_refused() -> None:
    """A name that is taken, a function of other arguments, a version that is none."""
    with pytest.raises(ParameterError, match="'easy' is registered already"):
        python_policy("easy")(in_order)
    for wrong in (lambda: None, lambda stepper, more: None):
        with pytest.raises(ParameterError, match="the function must take one argument, the stepper"):
            python_policy("of-the-test")(wrong)
    with pytest.raises(ParameterError, match="version=0 is not an integer"):
        python_policy("of-the-test", version=0)


def test_when_to_use_it() -> None:
    """It is told of the policy as it was given; nothing where nothing was."""
    python_policy("of-the-test", when="If somebody looks.")(in_order)
    assert list_policies()["of-the-test"].when == "If somebody looks."
    assert list_policies()["easy"].when
    python_policy("of-the-test-too")(in_order)
    assert list_policies()["of-the-test-too"].when == ""
