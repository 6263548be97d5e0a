# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that wait for others: they are in no queue until all those have ended, and the user's think time is over.

Each job has a list of edges to those that wait for it, which is empty again when it has ended. What the engine does
with them is a kernel of its own, which it calls by its place, so that it is compiled only where a log has such jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray, kernel
from swftools.simulator.engine.replay import DEPENDENT, Dependents, Replay, replay_at
from swftools.simulator.instants import instant
from swftools.simulator.machine.event_queue import push
from swftools.simulator.machine.state import HELD, NOW, Machine
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.policy_abi import machine_at

CAME, GONE = range(2)
"""What ``follow`` is told of a job: that it was submitted and has to wait, or has ended."""

COMES = -2
"""Where a job is listed that waits for others no more, and will come to the queue for the first time."""

if TYPE_CHECKING:
    from swftools.simulator.dependent import Dependent


def note_edges(dependents: Dependents, found: Dependent) -> None:
    """Write which jobs wait for which, before the first event."""
    jobs, edges = len(found.pending), len(found.successor)
    dependents.pending[:jobs], dependents.ready[:jobs] = found.pending, found.ready
    dependents.successor[:edges], dependents.think_time[:edges] = found.successor, found.think_time
    begins, ends = found.first[:-1], found.first[1:]
    dependents.edge[:jobs] = np.where(ends > begins, begins, NOBODY)
    dependents.next[:edges] = np.arange(1, edges + 1)
    dependents.next[ends[ends > begins] - 1] = NOBODY
    dependents.edges[0] = edges


def ready_times(replay: Replay, jobs: int) -> FloatArray | None:
    """Return when each job was eligible, s: at its submission or later; None where no job waits for others."""
    ready = replay.dependents.ready[:jobs]
    return np.fmax(replay.requests.submit_time[:jobs], ready) if len(ready) else None


def put_among(dependents: Dependents, place: int) -> None:
    """Give jobs from a place on the next number, for another one comes there, that waits for none."""
    if len(dependents.pending):
        edges = int(dependents.edges[0])
        dependents.successor[:edges] += dependents.successor[:edges] >= place
        dependents.pending[place], dependents.ready[place], dependents.edge[place] = 0, 0.0, NOBODY


def follow(what: int, machine_place: Any, replay_place: Any, job: int) -> None:
    """Let a job that came wait for others, or until it is ready; or let those wait no more that waited for it."""
    machine, replay = machine_at(machine_place), replay_at(replay_place)
    if what == GONE:
        let_go(machine, replay, job, machine.clock[NOW])
    elif replay.dependents.pending[job] > 0:
        list_job(replay.dependents, replay.counts, job)
    else:
        hold_until_ready(machine, replay, job, machine.clock[NOW])


@kernel(allocates=False)
def leave(machine: Machine, replay: Replay, is_out: BoolArray) -> None:
    """Let jobs that were taken out wait for others no more, and nobody for them."""
    now = machine.clock[NOW] if machine.clock[NOW] < np.inf else 0.0  # before the first event
    for job in range(len(is_out)):
        if is_out[job] and replay.dependents.listed_at[job] >= 0:
            unlist_job(replay.dependents, replay.counts, job)
    for job in range(len(is_out)):
        if is_out[job]:
            let_go(machine, replay, job, now)


@kernel(allocates=False)
def list_job(dependents: Dependents, counts: IntArray, job: int) -> None:
    """Let a job that was submitted wait for others."""
    dependents.listed[counts[DEPENDENT]], dependents.listed_at[job] = job, counts[DEPENDENT]
    counts[DEPENDENT] += 1


@kernel(allocates=False)
def unlist_job(dependents: Dependents, counts: IntArray, job: int) -> None:
    """Let it wait for others no more."""
    counts[DEPENDENT] -= 1
    last = dependents.listed[counts[DEPENDENT]]
    place = dependents.listed_at[job]
    dependents.listed[place], dependents.listed_at[last] = last, place
    dependents.listed_at[job] = NOBODY


@kernel(allocates=False)
def let_go(machine: Machine, replay: Replay, job: int, now: float) -> None:
    """Let those wait no more that waited for a job; it has ended, or will never."""
    dependents = replay.dependents
    edge, last = dependents.edge[job], NOBODY
    while edge != NOBODY:
        other, last = dependents.successor[edge], edge
        dependents.pending[other] -= 1
        dependents.ready[other] = max(dependents.ready[other], instant(now + dependents.think_time[edge]))
        if dependents.pending[other] == 0 and dependents.listed_at[other] >= 0:
            unlist_job(dependents, replay.counts, other)
            hold_until_ready(machine, replay, other, now)
        edge = dependents.next[edge]
    if last != NOBODY:
        dependents.next[last], dependents.free[0] = dependents.free[0], dependents.edge[job]
        dependents.edge[job] = NOBODY


@kernel(allocates=False)
def hold_until_ready(machine: Machine, replay: Replay, job: int, now: float) -> None:
    """Let a job enter the queue as soon as it may; the caller guarantees room for one more that is held back."""
    counts = machine.counts
    push(machine.held_until, machine.held, counts[HELD], max(replay.dependents.ready[job], now), job)
    counts[HELD] += 1
    replay.dependents.listed_at[job] = COMES


@kernel(allocates=False)
def take_edge(ours: Dependents, job: int, other: int, think_time: float) -> None:
    """Let one job wait for another; the caller guarantees room for one more edge."""
    edge = ours.free[0]
    if edge != NOBODY:
        ours.free[0] = ours.next[edge]
    else:
        edge = ours.edges[0]
        ours.edges[0] = edge + 1
    ours.successor[edge], ours.think_time[edge], ours.next[edge] = other, think_time, ours.edge[job]
    ours.edge[job] = edge
    ours.pending[other] += 1
