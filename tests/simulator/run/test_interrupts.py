# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C is heard soon, also where instants take long, and where one never ends; the simulation can go on after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.models import lublin_feitelson
from swftools.simulator import Policy, Simulation, simulate
from swftools.simulator.run import interruptible_thread
from swftools.simulator.run.interruptible_thread import run_aside
from tests.folders import ROOT
from tests.forked import PIPELINE

SUDDENLY_SLOW = """
import faulthandler, os, signal, threading, time
faulthandler.dump_traceback_later(300, exit=True)
import numpy as np
from swftools import Trace
from swftools.simulator import Policy, Simulation, WAITING, first_waiting, fits, start

def slow_when_many_wait(machine):
    total = 0.0
    if machine.counts[WAITING] > 1000:
        for i in range(1_000_000):
            total += (i * 0.5) % 7.0
    job = first_waiting(machine)
    while fits(machine, job) and total >= 0.0:
        start(machine, job)
        job = first_waiting(machine)

QUIET, BURST = 100_000, 20_000
submit = np.append(10.0 * np.arange(QUIET), np.full(BURST, 10.0 * QUIET))
same = np.ones(QUIET + BURST)
trace = Trace.from_columns(machine_processors=1, job_number=np.arange(len(submit)), submit_time=submit,
    run_time=5.0 * same, requested_time=5.0 * same, requested_processors=same)
simulation = Simulation(trace, Policy("slow", slow_when_many_wait))
signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, as beside a shell's "&", Python does so
struck = []

def strike():
    while simulation.now <= 10.0 * QUIET:
        time.sleep(0.01)
    time.sleep(0.5)
    struck.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=strike, daemon=True).start()
try:
    simulation.run()
except KeyboardInterrupt:
    print(time.perf_counter() - struck[0])
"""


def test_a_queue_that_is_long_at_once() -> None:
    """After a hundred thousand quick instants each takes milliseconds: a stretch of as many would take minutes."""
    run = PIPELINE.run([sys.executable, "-c", SUDDENLY_SLOW], ROOT, dict(os.environ))
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 2.0  # a second where the machine is free


NEVER_DONE = """
import os, signal, sys, threading, time
from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator import Policy, Simulation, now
from tests.folders import ROOT
from tests.forked import PIPELINE

signal.signal(signal.SIGINT, signal.default_int_handler)

def never_done(machine):
    while now(machine) >= 0.0:
        pass

one = dict(job_number=[1], submit_time=[0], run_time=[1], requested_processors=[1])
trace = Trace.from_columns(machine_processors=1, **one)
simulation = Simulation(trace, Policy("never-done", never_done))

def strike():
    while len(sys._current_frames()) < 3:  # threads: this one, the main one, and the one of the engine
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=strike, daemon=True).start()
begin = time.perf_counter()
try:
    simulation.run()
except KeyboardInterrupt:
    print("interrupted")
for refused in simulation.run, simulation.copy, simulation.schedule:
    try:
        refused()
    except PolicyError as error:
        print(error)
"""


def test_a_decision_without_end() -> None:
    """It is left alone, what it works on is given up, and Python ends."""
    command = [sys.executable, "-c", NEVER_DONE]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    why = (
        "policy 'never-done': the simulation cannot go on, because it was interrupted within a decision; make another\n"
    )
    assert run.stdout == "interrupted\n" + 3 * why


@pytest.fixture
def trace() -> Trace:
    """Jobs that queue, and enough of them that a run lasts much longer than the timer that interrupts it."""
    return lublin_feitelson.generate(30_000, processors=64, load=0.95, seed=3)


def test_it_can_go_on(trace: Trace) -> None:
    """Interrupted again and again, as if it had not been."""
    made, interrupts = Simulation(trace, "conservative"), 0
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while not made.is_over:
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                made.run()
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                break
            interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert interrupts > 0
    pd.testing.assert_frame_equal(made.schedule().jobs, simulate(trace, "conservative").jobs, check_exact=True)


def raises(machine):  # type: ignore[no-untyped-def]
    """Fail at once."""
    raise ValueError("for good")


def test_after_an_error_it_cannot() -> None:
    """What a decision left half done is not gone on with."""
    one = {"job_number": [1], "submit_time": [0], "run_time": [1], "requested_processors": [1]}
    trace = Trace.from_columns(machine_processors=1, **one)
    made = Simulation(trace, Policy("raises", raises), compiled=False)
    with pytest.raises(PolicyError, match="raised ValueError: for good"):
        made.run()
    with pytest.raises(PolicyError, match="cannot go on, because the policy failed; make another"):
        made.schedule()


def never() -> None:
    """Is not called."""
    raise AssertionError


def test_what_is_raised_aside_is_raised() -> None:
    """The exception itself; nothing keeps it afterwards."""
    error = ValueError("mine")

    def work() -> None:
        raise error

    with pytest.raises(ValueError, match="mine") as found:
        run_aside(work, never, pauses=False, leave=never)
    assert found.value is error


@pytest.mark.parametrize("pauses", [True, False])
def test_who_pauses_is_asked_again_and_again(monkeypatch: pytest.MonkeyPatch, pauses: bool) -> None:
    """Until it hears; who does not is never asked."""
    monkeypatch.setattr(interruptible_thread, "PAUSE", 0.01)
    asked: list[float] = []

    def work() -> None:
        end = time.perf_counter() + (30.0 if pauses else 0.1)
        while len(asked) < 3 and time.perf_counter() < end:
            time.sleep(0.001)

    run_aside(work, lambda: asked.append(time.perf_counter()), pauses=pauses, leave=never)
    assert len(asked) >= 3 if pauses else not asked


def test_settings_of_numpy_are_kept() -> None:
    """What holds where a simulation is called holds where it runs."""
    found: list[str] = []
    with np.errstate(divide="raise"):
        run_aside(lambda: found.append(np.geterr()["divide"]), never, pauses=False, leave=never)
    assert found == ["raise"]
