# SPDX-License-Identifier: BSD-3-Clause
"""PV-EASY (Yuan, Yang, Wu, Zheng 2010) restated slowly: lists of jobs, each question asked anew of all of them.

A job is sunny once it runs while no waiting job is of higher priority, which is order of submission unless ranks say
otherwise; until then it is shadow. Whoever is first in the queue may stop shadow jobs if that lets it start now
(section 4.2). What is left is filled with jobs that should be over by then, the shortest first, and then with whatever
fits (section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.naive.simulator import instant


@dataclass(eq=False)
class Job:
    """A job, and what has become of it.

    ``interval`` is the work between two checkpoints, s; NaN for none; ``rank`` its priority, the least first, of equal
    ones the earliest submission. ``done`` is the work that is kept, s. While it
    runs: since when, with what overhead, from what work on, when it will be over, and when it is expected to be: by its
    prediction, then by its request; neither once it outlived both.
    """

    number: int
    submit: float
    run: float
    width: int
    requested: float
    predicted: float
    interval: float = math.nan
    rank: float = 0.0
    done: float = 0.0
    began: float = math.nan
    overhead: float = 0.0
    over: float = math.nan
    expected_ends: list[float] = field(default_factory=list)
    is_sunny: bool = False
    kills: int = 0
    was_blocked: bool = False
    was_backfilled: bool = False


class Run(NamedTuple):
    """A run of a job, which ended or was stopped."""

    number: int
    start: float
    end: float


class Outcome(NamedTuple):
    """What became of a job: start and end of its last run, and how often it was stopped.

    ``was_blocked``: it was the first of the waiting jobs after all that happened at some instant. ``was_backfilled``:
    after all that happened at the instant at which its last run began a job of higher priority was waiting.
    """

    start: float
    end: float
    kills: int
    was_blocked: bool
    was_backfilled: bool


@dataclass
class System:
    """The machine, and what is asked of the policy."""

    processors: int
    slp: bool
    venture: bool
    victims: str
    preemption: str
    restart_seconds: float
    restart_per_processor: float
    now: float = -math.inf
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    order: list[Job] = field(default_factory=list)
    just_started: list[Job] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @property
    def free(self) -> int:
        """Processors on which nothing runs."""
        return self.processors - sum(job.width for job in self.running)

    def is_ahead(self, job: Job, other: Job) -> bool:
        """Whether a job is of higher priority than another."""
        return self.order.index(job) < self.order.index(other)

    def look_at_the_sky(self) -> None:
        """Let those be sunny from now on ahead of whom nobody waits."""
        for job in self.running:
            if not any(self.is_ahead(other, job) for other in self.waiting):
                job.is_sunny = True

    def shadow_behind(self, head: Job) -> list[Job]:
        """Return the running jobs behind one that were never sunny, the lowest priority first."""
        shadow = [job for job in self.running if not job.is_sunny and self.is_ahead(head, job)]
        return sorted(shadow, key=self.order.index, reverse=True)

    # What a job takes

    def overhead_of(self, job: Job) -> float:
        """Return what the next run of a job begins with: nothing unless it goes on with what was done."""
        return self.restart_seconds + self.restart_per_processor * job.width if job.done > 0 else 0.0

    def predicted_work(self, job: Job) -> float:
        """Return how much work a job is thought to be when it starts; a prediction that it outlived says nothing."""
        is_outlived = job.done > 0 and job.predicted <= job.done
        return max(job.requested, job.done) if is_outlived else job.predicted

    def expected_time(self, job: Job) -> float:
        """Return how long a waiting job is expected to run if it starts now."""
        return self.overhead_of(job) + (self.predicted_work(job) - job.done)

    def expected_end(self, job: Job) -> float:
        """Return when a running job is expected to end; now, if it outlived everything."""
        return job.expected_ends[0] if job.expected_ends else self.now

    # What happens to it

    def start(self, job: Job) -> None:
        """Let a waiting job run."""
        assert job.width <= self.free
        self.waiting.remove(job)
        self.running.append(job)
        job.began, job.overhead, job.is_sunny = self.now, self.overhead_of(job), False
        job.over = instant(self.now + (job.overhead + (job.run - job.done)))
        job.expected_ends = [
            instant(self.now + (job.overhead + (self.predicted_work(job) - job.done))),
            instant(self.now + (job.overhead + (job.requested - job.done))),
        ]
        self.just_started.append(job)
        self.look_at_the_sky()

    def stop(self, job: Job) -> None:
        """Stop a running job, which waits again where it stood."""
        self.running.remove(job)
        self.waiting = sorted([*self.waiting, job], key=self.order.index)
        self.runs.append(Run(job.number, job.began, self.now))
        job.kills += 1
        job.done += max(self.now - job.began - job.overhead, 0.0)
        if self.preemption == "kill":
            job.done = 0.0
        elif self.preemption == "checkpoint":
            job.done = math.floor(job.done / job.interval) * job.interval if job.interval > 0 else 0.0
        else:
            assert self.preemption == "suspend"

    def end(self, job: Job) -> None:
        """Let a running job be over."""
        self.running.remove(job)
        self.runs.append(Run(job.number, job.began, self.now))

    def close_the_instant(self) -> None:
        """Take down who is left waiting, now that nothing more happens at this instant."""
        if self.waiting:
            self.waiting[0].was_blocked = True
        for job in self.just_started:
            job.was_backfilled = any(self.is_ahead(other, job) for other in self.waiting)
        self.just_started = []

    # The decision

    def start_the_first(self) -> bool:
        """Start the first waiting job, if need be in the place of shadow jobs; tell whether that could be done."""
        if not self.waiting:
            return False
        head = self.waiting[0]
        if head.width <= self.free:
            self.start(head)
            return True
        if not self.slp:
            return False
        shadow = self.shadow_behind(head)
        if self.free + sum(job.width for job in shadow) < head.width:
            return False
        chosen: list[Job] = []
        for job in shadow:
            if self.free + sum(other.width for other in chosen) < head.width:
                chosen.append(job)
        if self.victims == "spare-needless":
            for job in sorted(chosen, key=self.order.index):
                others = [other for other in chosen if other is not job]
                if self.free + sum(other.width for other in others) >= head.width:
                    chosen = others
        else:
            assert self.victims == "lowest"
        for job in chosen:
            self.stop(job)
        self.start(head)
        return True

    def reserve(self, head: Job) -> tuple[float, int]:
        """Return when the first waiting job is expected to start, and how many processors are left over then.

        Of shadow jobs nothing is left then, where they can be stopped.
        """
        lasting = [job for job in self.running if job not in self.shadow_behind(head)] if self.slp else self.running
        for time in sorted({self.now, *(self.expected_end(job) for job in lasting)}):
            free = self.processors - sum(job.width for job in lasting if self.expected_end(job) > time)
            if free >= head.width:
                return time, free - head.width
        raise AssertionError("the job is wider than the machine")

    def backfill(self) -> None:
        """Fill what the first waiting job leaves free."""
        head, *_ = self.waiting
        reservation, left_over = self.reserve(head)

        def is_over_by_then(job: Job) -> bool:
            return instant(self.now + self.expected_time(job)) <= reservation

        if self.venture:
            while fitting := [job for job in self.waiting if job.width <= self.free and is_over_by_then(job)]:
                self.start(min(fitting, key=lambda job: (self.expected_time(job), job.submit, job.number)))
            while ventured := [job for job in self.waiting if job.width <= self.free]:
                self.start(ventured[0])
            return
        for job in list(self.waiting):
            if job.width <= self.free:
                if is_over_by_then(job):
                    self.start(job)
                elif job.width <= left_over:
                    left_over -= job.width
                    self.start(job)

    def decide(self) -> None:
        """Start the first as long as that can be done; then backfill behind the one that is left."""
        while self.start_the_first():
            pass
        if self.waiting:
            self.backfill()


def simulate_pv_easy(
    jobs: Sequence[Job],
    processors: int,
    *,
    slp: bool = True,
    venture: bool = True,
    victims: str = "lowest",
    preemption: str = "kill",
    restart_seconds: float = 0.0,
    restart_per_processor: float = 0.0,
) -> tuple[dict[int, Outcome], list[Run]]:
    """Simulate jobs to the end of the last; return what became of each, by number, and the runs in order of their end.

    At one instant all jobs end that end then; who outlived what was expected is expected to last longer; jobs are
    submitted, those of one instant in order of their numbers; one decision follows. If something is left to happen at
    that instant, as when a job takes no time, all this comes once more.
    """
    assert all(job.width <= processors for job in jobs), "a job is wider than the machine"
    system = System(processors, slp, venture, victims, preemption, restart_seconds, restart_per_processor)
    coming = sorted(jobs, key=lambda job: (job.submit, job.number))
    system.order = sorted(coming, key=lambda job: job.rank)
    while coming or system.waiting or system.running:
        instant = min(
            [
                *(job.submit for job in coming),
                *(job.over for job in system.running),
                *(end for job in system.running for end in job.expected_ends),
            ]
        )
        if instant > system.now:
            system.close_the_instant()
        system.now = max(instant, system.now)
        for job in [job for job in system.running if job.over <= system.now]:
            system.end(job)
        for job in system.running:
            job.expected_ends = [end for end in job.expected_ends if end > system.now]
        while coming and coming[0].submit <= system.now:
            system.waiting = sorted([*system.waiting, coming.pop(0)], key=system.order.index)
        system.decide()
    system.close_the_instant()
    ends = {run.number: run for run in system.runs}  # of several runs of a job the last
    return {
        job.number: Outcome(*ends[job.number][1:], job.kills, job.was_blocked, job.was_backfilled) for job in jobs
    }, system.runs
