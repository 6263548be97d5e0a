# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's backfill: a cycle over the queue that plans jobs, and with them whole nodes, on a table of times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.naive.slurm_limits import after_choosing, before_choosing
from tests.naive.slurm_main import is_low, is_young
from tests.naive.slurm_nodes import choose, forget_light
from tests.naive.slurm_preemption import beside, choose_by_preempting, mode_of, preemptable, stop
from tests.naive.slurm_priority import entries, reaches_array_limit
from tests.naive.slurm_world import Job, Placed, World

WINDOW = 30
"""s, in which jobs that end close together are taken away at once; it doubles."""


@dataclass
class Record:
    """The nodes that no plan has from one time to another."""

    begin: float
    end: float
    nodes: set[int]


# ---------------------------------------------------------------- the table


def down(world: World, time: float, step: float) -> float:
    """Return a time rounded down to a whole number of steps since 1970."""
    return math.floor((time + world.origin) / step) * step - world.origin


def slot_of(world: World, start: float, limit: float) -> tuple[float, float]:
    """Return the times between which a plan has its nodes."""
    step = world.parameter("bf_resolution")
    return down(world, start, step), down(world, start + limit, step)


def overlaps(table: Sequence[Record], nodes: set[int], begin: float, end: float) -> bool:
    """Whether a plan has one of some nodes between two times."""
    return any(record.begin < end and record.end > begin and not nodes <= record.nodes for record in table)


def reserve(table: list[Record], nodes: set[int], begin: float, end: float) -> None:
    """Take nodes out of the table between two times; merge the first two neighbours that are equal then."""
    if begin >= end:
        return
    for time in (begin, end):
        for at, record in enumerate(table):
            if record.begin < time < record.end:
                table.insert(at + 1, Record(time, record.end, set(record.nodes)))
                record.end = time
                break
    for record in table:
        if record.begin >= begin and record.end <= end:
            record.nodes -= nodes
    for at in range(len(table) - 1):
        if table[at].nodes == table[at + 1].nodes:
            table[at].end = table.pop(at + 1).end
            break


def look_along(
    world: World, table: Sequence[Record], nodes: set[int], start: float, end: float
) -> tuple[set[int], float]:
    """Return which of some nodes no plan has between two times, and when to try again; 0: no more."""
    free, later = set(nodes), 0.0
    is_old = world.site.version <= (17, 11)
    for at, record in enumerate(table):
        has_next = record.end > start and at + 1 < len(table)
        if has_next and not later and (is_old or not nodes & table[at + 1].nodes <= free & record.nodes):
            later = record.end
        if record.end <= start:
            continue
        if record.begin > end:
            if not later and at + 2 < len(table):
                later = table[at + 1].end
            break
        free &= record.nodes
    return free, later


# ---------------------------------------------------------------- when and where a job would run


def will_run(
    world: World, job: Job, partition: int, nodes: set[int], earliest: float, is_now_only: bool
) -> tuple[float, Placed] | None:
    """Return when a job could start on some nodes as jobs end, and on which; None if never.

    Running jobs are taken away by windows of their ends, and after each it is tried. The next job of all that run ends
    a window, also one that has none of the nodes; the job after such a one is taken away whenever it ends. Jobs that
    may be preempted are taken away first.
    """
    is_new = world.site.version >= (23, 11)
    if (earliest <= world.now or not is_new) and (placed := choose(world, job, partition, nodes, world.running)):
        return world.now, placed

    def end_of(each: Job) -> float:
        return each.expected_end if each.expected_end > world.now else world.now + 1

    gone = standing = preemptable(world, job, partition, nodes)
    if is_new and earliest > world.now:
        gone = gone + [each for each in world.running if end_of(each) < earliest and each not in gone]
    held = [each for each in world.running if each not in gone]
    held += [beside(each, is_idle=True) for each in gone if mode_of(world, each) == "suspend" and each in standing]
    if (gone or (is_new and earliest > world.now)) and (placed := choose(world, job, partition, nodes, held)):
        return world.now, placed
    if is_now_only:
        return None
    others = [each for each in world.running if each not in gone]
    ending = sorted(others, key=lambda each: (each.expected_end, each.row))
    is_aligned = world.site.version >= (22, 5)
    window: float = WINDOW
    barrier: float | None = None
    while ending:
        last: Job | None = None
        first: float | None = None
        while ending:
            each = ending.pop(0)
            if not nodes & set(each.placed.cores):
                continue
            last = each
            held.remove(each)
            first = end_of(each) if first is None else first
            if barrier is None or not is_aligned:
                barrier = down(world, first, WINDOW) + WINDOW if is_aligned else first
            if ending and end_of(ending[0]) > barrier + window:
                break
        if last is None:
            return None
        if placed := choose(world, job, partition, nodes, held):
            return end_of(last), placed
        window = wider(world, window)
        while is_aligned and ending and end_of(ending[0]) > barrier + window:
            window = wider(world, window)
    return None


def wider(world: World, window: float) -> float:
    """Return the next window."""
    more = world.parameter("bf_window_linear")
    return window + more if more else window * 2


# ---------------------------------------------------------------- the cycle

COUNTED = {
    "bf_max_job_user_part": lambda job, partition: ("user", job.user, "partition", partition),
    "bf_max_job_part": lambda job, partition: ("partition", partition),
    "bf_max_job_user": lambda job, partition: ("user", job.user),
    "bf_max_job_assoc": lambda job, partition: ("association", job.association),
}
"""What jobs are counted by, by the parameter that limits their number."""


class Cycle:
    """A cycle of backfill."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.window = world.parameter("bf_window") * 60
        step = world.parameter("bf_resolution")
        begin, end = down(world, world.now, step), down(world, world.now + self.window, step)
        self.table = [Record(begin, end, set(range(len(world.table))))]
        self.tested = self.started = 0
        self.last_stretch = 0.0
        self.counts: dict[tuple[object, ...], int] = {}
        self.refused: set[tuple[int, int]] = set()
        self.reserved: dict[int, int] = {}

    def work(self) -> None:
        """Try each entry of the queue at once."""
        for _ in self.stretches():
            pass

    def stretches(self) -> Iterator[float]:
        """Try each entry of the queue, as it is now; yield the seconds of a stretch whenever locks are let go."""
        world = self.world
        began, before, most = world.now, 0, world.parameter("bf_max_time") or world.parameter("bf_interval")
        for job, partition in entries(world):
            used = (self.tested - before) * world.test_time
            if self.tested >= world.parameter("bf_max_job_test"):
                break
            if world.test_time and math.floor(world.time + used) - began >= most:
                break
            if world.test_time and used >= world.parameter("bf_yield_interval") / 1e6:
                yield used
                before = self.tested
                if world.is_changed and not world.parameter("bf_continue"):
                    return
                if math.floor(world.time) - began >= most:
                    break
            if job not in world.waiting:
                continue
            is_stopping = bool(world.parameter("assoc_limit_stop"))
            if not is_stopping and (reason := before_choosing(world, job, partition)):
                world.tell(job, reason)
                self.refuse(job, partition)
                continue
            if (job.array, partition) in self.refused:
                continue
            outcome = self.try_job(job, partition) if self.counts_as_well(job, partition) else ""
            if not outcome:
                self.refuse(job, partition)
            if outcome == "started":
                self.started += 1
                if self.started == world.parameter("bf_max_job_start"):
                    break
            if outcome == "reserved" and job.array >= 0:
                self.reserved[job.array] = self.reserved.get(job.array, 0) + 1
        self.last_stretch = (self.tested - before) * world.test_time

    def refuse(self, job: Job, partition: int) -> None:
        """Try no more tasks of an array in a partition."""
        if job.array >= 0:
            self.refused.add((job.array, partition))

    def counts_as_well(self, job: Job, partition: int) -> bool:
        """Whether a job may be tried by what limits the number of tries; it is counted then."""
        world = self.world
        planned = self.reserved.get(job.array, 0)
        if reaches_array_limit(world, job):
            world.tell(job, "JobArrayTaskLimit")
            return False
        if job.array >= 0 and planned >= world.parameter("bf_max_job_array_resv"):
            return False
        keys = [key(job, partition) for name, key in COUNTED.items() if world.parameter(name)]
        most = [world.parameter(name) for name in COUNTED if world.parameter(name)]
        if any(self.counts.get(key, 0) >= number for key, number in zip(keys, most, strict=True)):
            return False
        for key in keys:
            self.counts[key] = self.counts.get(key, 0) + 1
        return True

    def try_job(self, job: Job, partition: int) -> str:
        """Start or plan a job: ``started``, ``reserved``, or empty if neither can be."""
        world, later, is_tested = self.world, self.world.now, False
        step = world.parameter("bf_resolution")
        is_stopping = bool(world.parameter("assoc_limit_stop"))
        is_now_only = is_young(world, job) or is_low(world, job, partition)
        while True:
            earliest = later
            usable = world.nodes_of(partition) & job.nodes_allowed
            free, later = look_along(world, self.table, usable, earliest, job.limit + max(earliest, world.now))
            found = None
            if len(free) >= job.min_nodes:
                self.tested += not is_tested
                is_tested = True
                found = will_run(world, job, partition, free, earliest, is_now_only)
            if found is None:
                if later and not is_now_only:
                    continue
                return ""
            job.has_time = True
            start, placed = max(found[0], earliest), found[1]
            if start <= world.now:
                outcome, placed = self.start_now(job, partition, set(free), placed)
                if outcome in ("started", ""):
                    return outcome
                if outcome == "limited":
                    start = later or world.now + 500
                else:
                    later = 0.0  # who leaves has its grace; the nodes are kept
            if is_now_only and start > world.now:
                return ""
            if later and start > later:
                continue
            if start > world.now + self.window:
                return ""
            nodes = set(placed.cores)
            begin, end = slot_of(world, start, job.limit)
            if start > world.now and overlaps(self.table, nodes, begin, end):
                later = start + step if start == earliest else start
                continue
            if not is_stopping and (reason := after_choosing(world, job, partition, placed)):
                world.tell(job, reason)
                return ""
            if job.qos >= 0 and "noreserve" in world.site.qos[job.qos].flags:
                return ""
            reserve(self.table, nodes, begin, end)
            return "reserved"

    def start_now(self, job: Job, partition: int, free: set[int], planned: Placed) -> tuple[str, Placed]:
        """Start a job on nodes that are chosen anew: ``started``; else empty, ``limited`` or ``kept`` for it."""
        world = self.world
        free -= set(world.cleaning)
        forget_light(world, free)
        found = choose_by_preempting(world, job, partition, free)
        if found is None:
            return "", planned
        placed, leaving = found
        if reason := before_choosing(world, job, partition) or after_choosing(world, job, partition, placed):
            world.tell(job, reason)
            return "limited" if world.parameter("assoc_limit_stop") else "", placed
        if not stop(world, leaving, placed):
            return "kept", placed
        world.start(job, partition, placed, "backfill")
        return "started", placed
