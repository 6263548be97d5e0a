# SPDX-License-Identifier: BSD-3-Clause
"""A slow simulator of Slurm that restates the rules: the controller's ticks, and what is due at each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm.asked import SlurmJobs
from tests.naive.slurm_alone import why_never
from tests.naive.slurm_backfill import Cycle
from tests.naive.slurm_main import work_pass
from tests.naive.slurm_nodes import forget_light, note_refused
from tests.naive.slurm_preemption import end_run, go_on
from tests.naive.slurm_priority import begin_usage, calculate_fair_share, calculate_priority, work_period
from tests.naive.slurm_world import World, jobs_of

GIVE_UP = 100_000
"""Ticks without an event after which it is said that nobody will start any more."""


def part(number: float) -> float:
    """Return what follows the point."""
    return number - math.floor(number)


@dataclass
class Cycles:
    """When what is due: numbers of ticks, -1 of a thing that has not been done yet."""

    world: World
    phase: float
    base: float
    last_full: int = -1
    last_main: int = -1
    last_backfill: int = -1
    last_period: int = -1
    cycle: Cycle | None = None
    stretches: Iterator[float] | None = None
    holds_locks: bool = False
    is_last: bool = False
    is_late: bool = False
    next: float = math.inf

    @property
    def tick(self) -> float:
        """Seconds from a whole second to the tick in it."""
        return math.floor(64 * part(29 * self.phase)) / 64

    def is_first(self, number: int, time: float) -> bool:
        """Whether a tick is at or after the first time of a thing."""
        return number + self.tick >= time

    def period_is_due(self, number: int) -> bool:
        """Whether usage and priorities are to be calculated."""
        every = self.world.site.priority.calc_period
        if self.last_period < 0:
            return self.is_first(number, part(13 * self.phase) * every)
        return number - self.last_period >= every

    def backfill_is_due(self, number: int) -> bool:
        """Whether a cycle of backfill is to be made."""
        every = self.world.parameter("bf_interval")
        if self.last_backfill < 0:
            return self.is_first(number, part(7 * self.phase) * every)
        return number - self.last_backfill >= every

    def full_is_due(self, number: int) -> bool:
        """Whether the main scheduler is to look at all jobs."""
        every = self.world.parameter("sched_interval")
        if self.last_full < 0:
            return self.is_first(number, self.phase * every)
        return number - self.last_full >= every

    def main_is_due(self, number: int) -> bool:
        """Whether the main scheduler is to look at the first jobs."""
        delay = self.world.parameter("batch_sched_delay")
        return self.last_full >= 0 and self.world.is_asked and number - self.last_main >= delay

    def look(self, time: float, is_tick: bool) -> None:
        """Do what is due at a tick, or between two of them what a cycle of backfill has to do."""
        world, is_looking = self.world, is_tick
        if self.holds_locks and time >= self.next:
            is_looking |= self.is_late
            self.let_locks_go(time)
        if self.holds_locks:
            self.is_late |= is_tick
            return
        world.time, world.now = time, math.floor(time)
        number = int(world.now - self.base)
        if is_looking:
            self.is_late = False
            if self.period_is_due(number):
                self.note_period(number)
                if world.site.priority.is_multifactor:
                    work_period(world)
                    world.is_changed |= bool(world.waiting)
            is_free = self.cycle is None and world.site.has_backfill
            if is_free and world.waiting and self.backfill_is_due(number):
                self.cycle = Cycle(world)
                self.stretches = self.cycle.stretches()
                self.go_on(time)
            elif is_free and not world.waiting and self.backfill_is_due(number):
                self.last_backfill = number
        if self.cycle is not None and not self.holds_locks and time >= self.next:
            self.go_on(time)
        if is_looking and self.holds_locks:
            self.is_late = True
        elif is_looking:
            is_full = self.full_is_due(number)
            if is_full or self.main_is_due(number):
                self.last_full = number if is_full else self.last_full
                self.last_main, world.is_asked = number, False
                world.is_changed |= bool(world.waiting)
                are_kept = work_pass(world, is_full)
                decays = world.site.priority.is_multifactor and world.site.priority.half_life > 0
                if are_kept and not decays and not world.coming and not world.running:
                    world.hopeless += [(job.row, world.time, job.reason) for job in world.waiting]
                    world.waiting.clear()

    def go_on(self, time: float) -> None:
        """Let a cycle of backfill work until it lets locks go, or is over."""
        assert self.cycle is not None
        assert self.stretches is not None
        self.cycle.last_stretch = 0.0
        used = next(self.stretches, None)
        self.is_last = used is None
        used = self.cycle.last_stretch if used is None else used
        if used == 0:
            self.end_cycle(time)
        else:
            self.holds_locks, self.next, self.world.is_changed = True, time + used, False

    def let_locks_go(self, time: float) -> None:
        """Let a cycle of backfill sleep, or be over if that was its last stretch."""
        self.holds_locks = False
        self.next = time + self.world.parameter("bf_yield_sleep") / 1e6
        if self.is_last:
            self.end_cycle(time)

    def end_cycle(self, time: float) -> None:
        """Let a cycle be over: the next one is counted from the next tick."""
        self.cycle, self.next = None, math.inf
        self.last_backfill = math.ceil(time - self.base - self.tick)

    def note_period(self, number: int) -> None:
        """Note that the priorities are calculated; if that is late, the next one is due as if it were not."""
        every = self.world.site.priority.calc_period
        if self.last_period < 0:
            self.last_period = max(math.ceil(part(13 * self.phase) * every - self.tick), 0)
        self.last_period += int((number - self.last_period) // every * every)


def simulate_slurm(
    site: SlurmSite,
    table: NodeTable,
    asked: SlurmJobs,
    submit: Sequence[float],
    run: Sequence[float],
    limit: Sequence[float],
    eligible: Sequence[float] | None = None,
    phase: float = 0.0,
    *,
    origin: float = 0.0,
    completing: float = 0.0,
    test_time: float = 0.0,
) -> World:
    """Simulate the jobs that can run to the end of the last; return the world then, with runs, jobs and reasons.

    Times are s, by row; run times are to be cut at limits before. Jobs are eligible when they are submitted or, if that
    is later, ready, unless it is said when. A job that could not start alone is left out. ``origin`` is second 0 since
    1970; nodes clean up for ``completing`` s behind a job; backfill takes ``test_time`` s for each job that it tests.
    """
    ready = list(submit) if eligible is None else list(eligible)
    if eligible is None and len(asked.ready_time):
        ready = [time if math.isnan(told) else float(told) for time, told in zip(submit, asked.ready_time, strict=True)]
    jobs = jobs_of(asked, len(table), list(submit), list(run), list(limit), ready)
    jobs = [job for job in jobs if not why_never(site, table, job)]
    world = World(site, table, jobs, coming=list(jobs), origin=origin, completing=completing, test_time=test_time)
    base = float(math.floor(min(job.submit for job in jobs)))
    world.now = world.last_period = base
    begin_usage(world)
    calculate_fair_share(world)
    cycles = Cycles(world, phase, base)
    number = quiet = 0
    while (world.coming or world.waiting or world.running) and quiet < GIVE_UP:
        tick = base + number + cycles.tick
        happened = False
        while cycles.next < tick:
            time = cycles.next
            happened |= take_events(world, time)
            cycles.look(time, is_tick=False)
        happened |= take_events(world, tick)
        quiet = 0 if happened or world.coming or world.running else quiet + 1
        cycles.look(tick, is_tick=True)
        go_on(world)
        number += 1
    return world


def take_events(world: World, time: float) -> bool:
    """Let happen what happens until a time; return whether any job ends or comes."""
    happened = take_ends_and_arrivals(world, time)
    clean = [node for node, until in world.cleaning.items() if until <= time]
    for node in clean:
        del world.cleaning[node]
    world.is_asked |= happened or bool(clean)
    world.is_changed |= happened or bool(clean)
    return happened


def take_ends_and_arrivals(world: World, time: float) -> bool:
    """Let jobs end and come until a time, ends before submissions at one instant; return whether any does."""
    happened = False
    while True:
        ends = sorted((job.end, job.row, job) for job in world.running if job.end <= time)
        ready = sorted((job.eligible, job.submit, job.row, job) for job in world.coming if job.eligible <= time)
        if not ends and not ready:
            return happened
        happened = True
        if ends and (not ready or ends[0][0] <= ready[0][0]):
            end_run(world, ends[0][-1])
            if len(ends) == 1 or ends[1][0] > ends[0][0]:
                world.time = ends[0][0]
                go_on(world)
        else:
            job = ready[0][-1]
            world.now, world.time = math.floor(job.eligible), job.eligible
            world.coming.remove(job)
            world.waiting.append(job)
            forget_light(world, world.nodes_of(job.partitions[0]) & job.nodes_allowed)
            note_refused(world, job, job.partitions[0])
            calculate_priority(world, job, is_new=True)
            world.tell(job, "Priority")
