# SPDX-License-Identifier: BSD-3-Clause
"""A policy that does by lot whatever can be done, a predictor that changes its mind, and what both are in the twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.keyed_random import generator
from swftools.parameters import Parameters, number, whole
from swftools.simulator.machine.events import SUBMISSION
from swftools.simulator.machine.state import CAPACITY, CHECKPOINT, KILL, RUNNING, STARTED, SUBMITTED, SUSPEND, WAITING
from swftools.simulator.machine.verbs import hold, predict, preempt, resize, start, start_on, wake_at
from swftools.simulator.machine.views import (
    earliest_start,
    expected_time,
    first_waiting,
    fits,
    free,
    next_fitting,
    next_waiting,
    now,
    width,
)
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.machine.work import stretch_on
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.registry import Policy
from tests.naive.simulator import CHECKPOINTED, KILLED, SUSPENDED, Job, Observer, State
from tests.naive.simulator import END as ENDS
from tests.naive.simulator import OUTLIVED as OUTLIVES
from tests.naive.simulator import START as STARTS
from tests.naive.simulator import STOP as STOPS
from tests.naive.simulator import SUBMISSION as SUBMITS
from tests.naive.simulator import Policy as NaivePolicy


@dataclass(frozen=True)
class RestlessParameters(Parameters):
    """Parameters of ``restless``.

    Parameters
    ----------
    acts : int
        How often it interferes.
    longest : float
        Expected time of the jobs that it starts by lot, s.
    """

    acts: int = whole(60, least=0)
    longest: float = number(6.0, least=0, unit="s")


class Restless(NamedTuple):
    """How often it has interfered."""

    acts: npt.NDArray[np.int64]


def no_acts(jobs: int, processors: int) -> Restless:
    """Return the memory at the beginning."""
    return Restless(np.zeros(1, np.int64))


@kernel(allocates=False)
def start_as_easy(machine):  # type: ignore[no-untyped-def]
    """Start in order; others go ahead where that does not delay the first."""
    head = first_waiting(machine)
    while fits(machine, head):
        start(machine, head)
        head = next_waiting(machine, head)
    if head != NOBODY:
        shadow, extra = earliest_start(machine, width(machine, head))
        time = shadow - now(machine)
        job = next_fitting(machine, head, free(machine), time, extra)
        while job != NOBODY:
            if expected_time(machine, job) > time:
                extra -= width(machine, job)
            start(machine, job)
            job = next_fitting(machine, job, free(machine), time, extra)


def restless(machine, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Stop, resize, hold back and start jobs by lot, each twice in a decision; then go on as EASY does."""
    acts = memory.acts
    most = min(machine.counts[CAPACITY], len(machine.allocated))
    for turn in range(2 * machine.counts[SUBMITTED]):
        job = turn // 2
        lot, other = rng.random(), rng.random()
        processors = 1 << int(4 * other)
        may = acts[0] < parameters.acts and machine.counts[STARTED] < most
        if not may:
            continue
        if machine.allocated[job] > 0 and lot < 0.5:
            acts[0] += 1
            if lot < 0.1:
                preempt(machine, job, KILL)
            elif lot < 0.2:
                preempt(machine, job, CHECKPOINT)
            elif lot < 0.35:
                preempt(machine, job, SUSPEND)
            elif stretch_on(machine, job, processors) > 0.0 and processors - machine.allocated[job] <= free(machine):
                resize(machine, job, processors)
        elif is_waiting(machine.queue, job):
            if lot < 0.1:
                acts[0] += 1
                hold(machine, job, now(machine) + int(5 * other))
            elif lot < 0.5 and expected_time(machine, job) <= parameters.longest and fits(machine, job):
                start(machine, job)
            elif lot > 0.8 and stretch_on(machine, job, processors) > 0.0 and processors <= free(machine):
                start_on(machine, job, processors)
    start_as_easy(machine)
    if machine.counts[WAITING] + machine.counts[RUNNING] > 0 and acts[0] < parameters.acts:
        acts[0] += 1
        wake_at(machine, now(machine) + 1.0 + int(4 * rng.random()))


RESTLESS = Policy("restless", restless, RestlessParameters, no_acts)


def naive_restless(jobs: int, seed: int, acts: int = 60, longest: float = 6.0) -> NaivePolicy:
    """Return the same of a number of jobs in the slow simulator."""
    rng, left = generator(seed, "simulate/restless"), [acts]

    def act_on(state: State, job: Job, lot: float, other: float) -> None:
        processors = 2 ** int(4 * other)
        if job in state.running and lot < 0.5:
            left[0] -= 1
            if lot < 0.35:
                state.preempt(job, KILLED if lot < 0.1 else CHECKPOINTED if lot < 0.2 else SUSPENDED)
            elif job.stretch(processors) > 0 and processors - job.processors <= state.free:
                state.resize(job, processors)
        elif job in state.waiting:
            if lot < 0.1:
                left[0] -= 1
                state.hold(job, state.now + int(5 * other))
            elif lot < 0.5 and state.expected_time(job) <= longest and job.width <= state.free:
                state.start(job)
            elif lot > 0.8 and job.stretch(processors) > 0 and processors <= state.free:
                state.start_on(job, processors)

    def decide(state: State) -> None:
        for job in state.submitted:
            for _ in range(2):
                lot, other = rng.random(), rng.random()
                if left[0] > 0 and len(state.started) < min(state.processors, jobs):
                    act_on(state, job, lot, other)
        backfill(state)
        if state.waiting + state.running and left[0] > 0:
            left[0] -= 1
            state.wake = min(state.wake, state.now + 1.0 + int(4 * rng.random()))

    return decide


def backfill(state: State) -> None:
    """Decide as EASY does in its own words: shadow time and extra processors."""
    while state.waiting and state.start_if_free(state.waiting[0]):
        pass
    if not state.waiting:
        return
    head = state.waiting[0]
    ends = [max(job.expected_end, state.now) for job in state.running]
    frees = {end: state.free + sum(job.processors for job in state.running if job.expected_end <= end) for end in ends}
    shadow = min(end for end, there in frees.items() if there >= head.width)
    extra = frees[shadow] - head.width
    for job in state.waiting[1:]:
        if job.width <= state.free:
            if state.now + state.expected_time(job) <= shadow:
                state.start(job)
            elif job.width <= extra:
                extra -= job.width
                state.start(job)


class Seen(NamedTuple):
    """How many events it has seen."""

    events: npt.NDArray[np.int64]


def nothing_seen(jobs: int, processors: int) -> Seen:
    """Return the memory at the beginning."""
    return Seen(np.zeros(1, np.int64))


def fickle(event, machine, job, memory):  # type: ignore[no-untyped-def]
    """Predict jobs anew at any event, by a count of events: the job itself, others, waiting, running or ended ones."""
    memory.events[0] += 1
    lot = 5 * memory.events[0] + 3 * event + job
    submitted = machine.counts[SUBMITTED]
    if lot % 3 > 0:
        predict(machine, job, machine.requests.limit[job] * (lot % 11) / 8)
    if lot % 4 == 1 and submitted > 0:
        other = lot % submitted
        predict(machine, other, machine.requests.requested_time[other] + lot % 5 - 2)
    if event == SUBMISSION and lot % 7 == 0:
        hold(machine, job, now(machine) + lot % 4)


FICKLE = Predictor("fickle", fickle, memory=nothing_seen)


def naive_fickle() -> Observer:
    """Return the same in the slow simulator."""
    count = [0]
    numbers = {SUBMITS: 0, STARTS: 1, STOPS: 2, OUTLIVES: 3, ENDS: 4}

    def observe(event: str, state: State, job: Job) -> None:
        count[0] += 1
        place = state.submitted.index(job) if job in state.submitted else len(state.submitted)
        lot = 5 * count[0] + 3 * numbers[event] + place
        if lot % 3 > 0:
            state.predict(job, job.limit * (lot % 11) / 8)
        if lot % 4 == 1 and state.submitted:
            other = state.submitted[lot % len(state.submitted)]
            state.predict(other, other.estimate + lot % 5 - 2)
        if event == SUBMITS and lot % 7 == 0:
            state.hold(job, state.now + lot % 4)

    return observe
