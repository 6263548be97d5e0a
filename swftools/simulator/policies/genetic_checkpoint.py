# SPDX-License-Identifier: BSD-3-Clause
"""Genetic scheduling that also stops running jobs which write checkpoints, and lets them go on later.

``genetic-checkpoint``
    As ``genetic``, but running jobs that write checkpoints, and were never stopped, compete again with the waiting
    jobs. If the best order does not start such a job at this instant, it is stopped and waits. Its work since its last
    checkpoint is lost, and when it goes on it first spends the ``restart_overhead`` of the run.

Damping
    A job that was stopped once is not stopped again. ``boost``: if a plan lets a running job go on, the first value of
    its function is added to its worth. ``airline``: jobs that were stopped go before all others, in the order of the
    queue, and only the others are bred. ``both`` is both.
Guarantee
    None beyond the objective, as far as it is planned; no job is stopped twice.
Cost of a decision
    As ``genetic``, with the running jobs that may be stopped counted as waiting. It also decides if no waiting job
    fits.

References
----------
Lee 2009, section 6.7.

Differs from the paper
----------------------
The paper leaves these open. Here the utility of a running job, if it goes on, is that of its start (with the clock
``requested`` that of its expected end); if it is stopped, that of its next start. The first seed lets all go on. If
more than ``most_jobs`` wait, jobs that were stopped are the first of those that compete, if they go before all others;
who does not compete stands behind, in order of arrival, and may go ahead as under ``easy``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.kernel.pointers import monotonic_seconds
from swftools.parameters import choice
from swftools.simulator.machine.state import CHECKPOINT, RUNNING, SUBMITTED, WAITING, Machine
from swftools.simulator.machine.verbs import preempt, start
from swftools.simulator.machine.views import can_start_any, free, now, waiting_jobs, width
from swftools.simulator.machine.work import time_if_stopped
from swftools.simulator.memory_transfer import check_sound
from swftools.simulator.policies.genetic import (
    REQUESTED,
    GeneticMemory,
    GeneticParameters,
    breed,
    carry_best,
    columns_needed,
    compete_waiting,
    competitors,
    genetic_memory,
    genetic_notes,
    restore_best,
    start_by_easy,
)
from swftools.simulator.registry import policy
from swftools.simulator.search.easy_builder import Ground, compete, compete_again, hold_ground
from swftools.simulator.search.notes import note_decision
from swftools.simulator.search.problem import gather
from swftools.simulator.search.state import DECISION


class GeneticCheckpointValues(NamedTuple):
    """The parameters as a compiled policy reads them: those of ``genetic``, and how stops are damped."""

    generations: int
    individuals: int
    mutation: float
    plan_clock: int
    builder: int
    warm_start: bool
    seconds: float
    most_jobs: int
    notes: bool
    boost: bool
    airline: bool


@dataclass(frozen=True)
class GeneticCheckpointParameters(GeneticParameters):
    """Parameters of ``genetic-checkpoint``: those of ``genetic``, but plans are EASY's, and one more.

    Parameters
    ----------
    damping : {"both", "boost", "airline", "none"}
        What else protects running jobs from being stopped. No job is ever stopped twice.
    """

    builder: str = choice("easy")
    damping: str = choice("both", "boost", "airline", "none")

    def values(self) -> GeneticCheckpointValues:  # type: ignore[override]
        """Return the parameters as numbers, but the objective."""
        boost, airline = self.damping in ("both", "boost"), self.damping in ("both", "airline")
        return GeneticCheckpointValues(*GeneticParameters.values(self), boost, airline)


class CheckpointMemory(NamedTuple):
    """What ``genetic`` remembers, and which jobs were stopped already."""

    genetic: GeneticMemory
    was_stopped: IntArray


def checkpoint_memory(jobs: int, processors: int, parameters: GeneticCheckpointParameters) -> CheckpointMemory:
    """Return the memory before the first job."""
    return CheckpointMemory(genetic_memory(jobs, processors, parameters, processors), np.zeros(jobs, np.int64))


def checkpoint_notes(memory: CheckpointMemory, parameters: GeneticCheckpointParameters) -> dict[str, Any]:
    """Return the tables of what was bred."""
    return dict(genetic_notes(memory.genetic, parameters))


def carry_stopped(old: CheckpointMemory, new: CheckpointMemory, jobs: IntArray) -> None:
    """Take along what ``genetic`` does, and who was stopped."""
    carry_best(old.genetic, new.genetic, jobs)
    new.was_stopped[: len(jobs)] = old.was_stopped[jobs]


def restore_stopped(old: CheckpointMemory, new: CheckpointMemory, machine: Machine) -> None:
    """Take the same out of a saved state."""
    restore_best(old.genetic, new.genetic, machine)
    jobs = slice(int(machine.counts[SUBMITTED]))
    check_sound(((old.was_stopped[jobs] >= 0) & (old.was_stopped[jobs] <= 1)).all(), "how often a job was stopped")
    new.was_stopped[jobs] = old.was_stopped[jobs]


@policy(
    "genetic-checkpoint",
    when="As `genetic`, on a machine that may stop jobs at their checkpoints.",
    parameters=GeneticCheckpointParameters,
    memory=checkpoint_memory,
    carry=carry_stopped,
    restore=restore_stopped,
    needs=("checkpoint_interval",),
    needs_where=columns_needed,
    notes=checkpoint_notes,
    promises=("one-stop",),
    takes_long="each decision plans what waits thousands of times; fewer generations, or most_jobs, take less",
    version=2,
)
def genetic_checkpoint(machine: Machine, parameters: Any, memory: CheckpointMemory, rng: np.random.Generator) -> None:
    """Breed orders of the jobs that wait or may be stopped, and run what EASY would start in the best one."""
    if machine.counts[WAITING] == 0:
        return
    begin = monotonic_seconds() if parameters.seconds > 0.0 else 0.0
    queue, needed = waiting_jobs(machine), 0
    for job in queue:
        needed += width(machine, job)
    if needed <= free(machine):
        for job in queue:
            start(machine, job)
        return
    search, ground = memory.genetic.search, memory.genetic.ground
    may_stop = jobs_to_stop(machine, memory.was_stopped)
    stops = len(may_stop)
    if stops == 0 and (len(queue) == 1 or not can_start_any(machine)):
        return
    stopped = 0
    if parameters.airline:
        queue, stopped = stopped_first(queue, memory.was_stopped)
    fixed = min(stopped, parameters.most_jobs)
    chosen, left = competitors(machine, search, parameters, queue[stopped:], parameters.most_jobs - fixed)
    jobs = np.concatenate((queue[:fixed], may_stop, chosen))
    others = np.concatenate((queue[fixed:stopped], left))
    longest = gather(machine, search, jobs, jobs, False)
    hold_ground(machine, ground, may_stop)
    for job in jobs:
        if machine.allocated[job] > 0:
            compete_running(machine, ground, parameters, job)
        else:
            compete_waiting(machine, ground, parameters, job)
    order = breed(machine, search, ground, memory.genetic, parameters, rng, begin, longest, fixed)
    for place in range(fixed, fixed + stops):
        if ground.is_now[place] == 0:
            preempt(machine, jobs[place], CHECKPOINT)
            memory.was_stopped[jobs[place]] = 1
    for place in order:
        if ground.is_now[place] > 0 and not fixed <= place < fixed + stops:
            start(machine, jobs[place])
    if parameters.notes:
        note_decision(machine, search)
    search.counts[DECISION] += 1
    if (
        len(others) > 0
    ):  # nobody else who competes may start: what was left over was looked at when the order was played
        start_by_easy(machine, jobs[order[ground.is_now[order] == 0]], others)


@kernel
def jobs_to_stop(machine: Machine, was_stopped: IntArray) -> IntArray:
    """Return the running jobs that write checkpoints and were never stopped, in order of their expected ends."""
    jobs, count = np.empty(machine.counts[RUNNING], np.int64), 0
    for i in range(len(jobs)):
        job = machine.running[i]
        if machine.requests.checkpoint_interval[job] > 0.0 and was_stopped[job] == 0:
            jobs[count] = job
            count += 1
    return jobs[:count]


@kernel(allocates=False)
def compete_running(machine: Machine, ground: Ground, parameters: Any, job: int) -> None:
    """Let a running job compete: to go on, or to start again later."""
    submitted, by_request = machine.requests.submit_time[job], parameters.plan_clock == REQUESTED
    left, later = max(machine.expected_end[job] - now(machine), 0.0), time_if_stopped(machine, job)
    delay = later if by_request else 0.0
    place = compete(ground, machine.requests.utility, job, machine.allocated[job], left, later, submitted, delay)
    clock = machine.expected_end[job] if by_request else machine.start_time[job]
    compete_again(ground, machine.requests.utility, place, clock - submitted, parameters.boost)


@kernel
def stopped_first(jobs: IntArray, was_stopped: IntArray) -> tuple[IntArray, int]:
    """Return jobs with those first that were stopped, and how many these are."""
    order, stopped = np.empty_like(jobs), 0
    for job in jobs:
        if was_stopped[job] > 0:
            order[stopped] = job
            stopped += 1
    others = stopped
    for job in jobs:
        if was_stopped[job] == 0:
            order[others] = job
            others += 1
    return order, stopped
