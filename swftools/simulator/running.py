"""Running the event loop in stretches, so that somebody can be told how far it is, and stop it."""

from __future__ import annotations

import time
from collections.abc import Callable

from swftools.simulator.engine import DONE, LEFT, Log, Replay, begin_replay
from swftools.simulator.interface import CAPACITY, NOW, Machine

Progress = Callable[[int, int, float], None]

FIRST = 64
"""Instants of the first stretch."""

STRETCH = 0.05
"""Seconds that a stretch is meant to take: an interrupt waits so long. Its overhead is some tenths of a millisecond."""

PAUSE = 0.1
"""Least seconds between two calls of ``progress``."""


def run_to_the_end(run_some: Callable[[Replay], Replay], jobs: int, machine: Machine, progress: Progress | None) -> Log:
    """Run the events of a simulation to the end of its last job; return the log.

    Parameters
    ----------
    run_some : callable
        Runs events from how far it is on for the instants that are left, and returns how far it is then.
    jobs : int
        How many there are.
    machine : Machine
        That the events are of.
    progress : callable, optional
        Called with the numbers of jobs that ended and of all jobs, and the simulated time (s), at most ten times a
        second and once at the end. What it raises ends the simulation.
    """
    replay = begin_replay(jobs, int(machine.counts[CAPACITY]))
    instants = FIRST
    told = time.perf_counter()
    while replay.counts[DONE] < jobs:
        begin = time.perf_counter()
        replay.counts[LEFT] = instants
        replay = run_some(replay)
        end = time.perf_counter()
        # What an instant takes differs by a thousand times between an empty queue and a long one.
        instants = int(instants * min(8.0, max(0.125, STRETCH / max(end - begin, 1e-9)))) + 1
        if progress and end - told >= PAUSE and replay.counts[DONE] < jobs:
            told = end
            progress(int(replay.counts[DONE]), jobs, float(machine.clock[NOW]))
    if progress:
        progress(jobs, jobs, float(machine.clock[NOW]))
    return replay.log
