"""Ctrl-C is heard soon, also where instants suddenly take a thousand times what they took; the bell that sees to it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from swftools.simulator import bell
from swftools.simulator.bell import Bell
from swftools.simulator.replay import LEFT, begin_replay

SUDDENLY_SLOW = """
import os, signal, threading, time
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
    run = subprocess.run([sys.executable, "-c", SUDDENLY_SLOW], capture_output=True, text=True, check=True, timeout=300)
    assert float(run.stdout) < 2.0  # a second where the machine is free


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long."""
    monkeypatch.setattr(bell, "PATIENCE", 0.02)


def test_a_long_stretch_is_ended(quick: None) -> None:
    """Again if the engine has overwritten it; the first is not watched."""
    counts = begin_replay(3, 3).counts
    with Bell(counts) as watching:
        watching.begin_stretch()
        counts[LEFT] = 5
        time.sleep(0.1)
        assert counts[LEFT] == 5
        watching.begin_stretch()
        for _ in range(2):
            counts[LEFT] = 5
            end = time.perf_counter() + 30.0
            while counts[LEFT] != 0 and time.perf_counter() < end:
                time.sleep(0.001)
            assert counts[LEFT] == 0
    counts[LEFT] = 5
    time.sleep(0.1)
    assert counts[LEFT] == 5


def test_short_stretches_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are."""
    monkeypatch.setattr(bell, "PATIENCE", 0.5)
    counts = begin_replay(3, 3).counts
    ended = 0
    with Bell(counts) as watching:
        for _ in range(150):
            counts[LEFT] = 5
            watching.begin_stretch()
            time.sleep(0.01)
            ended += counts[LEFT] == 0
    assert ended == 0


@pytest.mark.parametrize("stretches", [0, 1, 2, 5])
def test_no_thread_is_left(stretches: int) -> None:
    """It ends with the run, at once."""
    before = set(threading.enumerate())
    with Bell(np.zeros(LEFT + 1, np.int64)) as watching:
        for _ in range(stretches):
            watching.begin_stretch()
        assert len(set(threading.enumerate()) - before) == (stretches > 1)
    assert set(threading.enumerate()) == before
