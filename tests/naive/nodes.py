# SPDX-License-Identifier: BSD-3-Clause
"""A slow simulator of machines of nodes that restates the words: who may start where, and when who waits has room.

At one instant all completions come first, then submissions, then one decision; a run of 0 s ends at the instant at
which it starts, and another decision is made. What is free on a node is counted anew from what runs there, each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from tests.naive.placements import Free, Placement, Sought, choose
from tests.naive.simulator import instant

MACHINE, PARTITION = "machine", "partition"


@dataclass(eq=False)
class Job:
    """A job, and what has become of it. ``sets`` are the nodes of each partition, ``partitions``, that it may use."""

    row: int
    submit: float
    run: float
    request: float
    nodes: int
    cores: int
    memory: int
    gpus: int
    is_exclusive: bool
    sets: list[list[int]]
    partitions: list[int]
    rank: int = -1
    ready: float = -math.inf
    start: float | None = None
    end: float = math.inf
    expected_end: float = math.inf
    where: list[int] = field(default_factory=list)

    @property
    def entry(self) -> float:
        """When it enters the queue."""
        return max(self.submit, self.ready)

    @property
    def width(self) -> int:
        """Cores that it asks for in all."""
        return self.nodes * self.cores


@dataclass(eq=False)
class Reservation:
    """Nodes that are kept for a job that waits."""

    job: Job
    begin: float
    where: list[int]

    @property
    def end(self) -> float:
        """Until when it has its nodes."""
        return instant(self.begin + self.job.request)

    def holds(self, node: int, time: float) -> bool:
        """Whether it has the node then; one of 0 s has it at its one instant."""
        return node in self.where and (time == self.begin or self.begin <= time < self.end)


@dataclass(eq=False)
class Planned:
    """Nodes that a job has in a plan, from when to when."""

    job: Job
    begin: float
    end: float
    where: list[int]


Key = Callable[["Cluster", Job], Any]


@dataclass
class Cluster:
    """The machine at an instant."""

    table: NodeTable
    placement: Placement
    heads: str
    now: float = 0.0
    lowest_rank: int = 1
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)
    wake: float = math.inf
    planned: dict[Job, Planned] = field(default_factory=dict)
    has_changed: bool = False

    # What is free where and when

    def free(self, node: int, held: Sequence[Job]) -> Free:
        """Return GPUs, cores and memory of a node beside jobs that hold some of it."""
        table = self.table
        if any(job.is_exclusive for job in held):
            return 0, 0, 0
        return (
            int(table.gpus[node]) - sum(job.gpus for job in held),
            int(table.cores[node]) - sum(job.cores for job in held),
            int(table.memory[node]) - sum(job.memory for job in held),
        )

    def fits_beside(self, job: Job, node: int, held: Sequence[Job]) -> bool:
        """Whether a job fits a node that others hold some of."""
        if any(other.is_exclusive for other in held) or (job.is_exclusive and held):
            return False
        gpus, cores, memory = self.free(node, held)
        return job.gpus <= gpus and job.cores <= cores and job.memory <= memory

    def here(self, node: int) -> list[Job]:
        """Return who runs on a node now."""
        return [job for job in self.running if node in job.where]

    def then(self, node: int, time: float, reserved: Sequence[Reservation]) -> list[Job]:
        """Return who is expected to have a node at a time; who ends then, or should have ended, has it no more."""
        expected = [job for job in self.here(node) if job.expected_end > time]
        return expected + [each.job for each in reserved if each.holds(node, time)]

    def chosen(
        self, job: Job, first: Sequence[int], rest: Sequence[int], held: Callable[[int], Sequence[Job]]
    ) -> list[int]:
        """Return the nodes that the placement takes, first of some and then of the rest; none if none will do."""
        if len(first) + len(rest) < job.nodes:
            return []
        asked = (job.gpus, job.cores, job.memory)
        sought = Sought(self.table, job.nodes, asked, lambda node: self.free(node, held(node)))
        return choose(self.placement, sought, first, rest)

    # Who is there, and comes back: in a machine whose nodes go away other ones tell it

    def is_there(self, job: Job, node: int, begin: float, end: float) -> bool:
        """Whether a node is there for a job from one time to another, as far as is known now."""
        return True

    def returns(self) -> set[float]:
        """Return when nodes are known to come back."""
        return set()

    # Starts

    def where_now(self, job: Job, reserved: Sequence[Reservation] = (), closed: Collection[int] = ()) -> list[int]:
        """Return the nodes on which a job can start and delay no reservation, in no closed partition; else none."""
        end = instant(self.now + job.request)
        barred = [int(node) for place in closed for node in self.table.partitions[place].nodes]

        def can_have(node: int) -> bool:
            if node in barred or not self.fits_beside(job, node, self.here(node)):
                return False
            if not self.is_there(job, node, self.now, end):
                return False
            return all(
                self.fits_beside(job, node, self.then(node, each.begin, reserved))
                for each in reserved
                if node in each.where and each.begin < end
            )

        def is_spared(node: int) -> bool:
            begins = [each.begin for each in reserved if node in each.where]
            return self.placement.sparing and bool(begins) and min(begins) >= end

        for nodes, partition in zip(job.sets, job.partitions, strict=True):
            can = [node for node in nodes if can_have(node)]
            if partition not in closed:
                first = [node for node in can if is_spared(node)]
                if where := self.chosen(job, first, [node for node in can if node not in first], self.here):
                    return where
        return []

    def start(self, job: Job, where: list[int]) -> None:
        """Start a job on nodes."""
        assert len(set(where)) == job.nodes
        assert all(self.fits_beside(job, node, self.here(node)) for node in where)
        self.waiting.remove(job)
        self.running.append(job)
        job.start, job.where = self.now, sorted(where)
        job.end, job.expected_end = instant(self.now + job.run), instant(self.now + job.request)

    # Reservations

    def reserve(self, head: Job, reserved: Sequence[Reservation]) -> Reservation | None:
        """Return the earliest reservation of a job beside others; None if nodes are not known to come back."""
        moments = {self.now, *(job.expected_end for job in self.running), *self.returns()}
        moments |= {each.end for each in reserved}
        for time in sorted(moment for moment in moments if moment >= self.now):
            lasting = [each for each in reserved if each.end > time]  # all that ends now counts as ended
            for nodes in head.sets:
                can = [node for node in nodes if self.has_room(head, node, time, lasting)]
                if where := self.reserved_nodes(head, can, time, lasting):
                    return Reservation(head, time, where)
        return None

    def has_room(self, head: Job, node: int, time: float, reserved: Sequence[Reservation]) -> bool:
        """Whether a job can have a node from a time on as long as it asks for."""
        end = instant(time + head.request)
        if not self.is_there(head, node, time, end):
            return False
        moments = [time] + [each.begin for each in reserved if time < each.begin < end]
        return all(self.fits_beside(head, node, self.then(node, moment, reserved)) for moment in moments)

    def reserved_nodes(self, head: Job, can: list[int], time: float, reserved: Sequence[Reservation]) -> list[int]:
        """Return which of the nodes that a job can have then it gets; none if they will not do."""

        def held(node: int) -> Sequence[Job]:
            return self.then(node, time, reserved)

        here = [node for node in can if self.is_there(head, node, self.now, self.now)]
        fit_now = [node for node in here if self.fits_beside(head, node, self.here(node))]
        first = [node for node in can if node not in fit_now] if self.placement.sparing else []
        rest = [node for node in can if node not in first]
        return self.chosen(head, first, rest, held)


Decide = Callable[[Cluster], None]


def in_order(cluster: Cluster, key: Key) -> list[Job]:
    """Return the waiting jobs by a key; those of equal keys as they entered."""
    return sorted(cluster.waiting, key=lambda job: key(cluster, job))


def strict(key: Key) -> Decide:
    """Return the rule that starts jobs in an order until one does not fit, of the machine or of each partition."""

    def decide(cluster: Cluster) -> None:
        closed: set[int] = set()
        for job in in_order(cluster, key):
            if where := cluster.where_now(job, closed=closed):
                cluster.start(job, where)
            elif cluster.heads == MACHINE:
                return
            else:
                closed |= set(job.partitions)

    return decide


def easy(key: Key, backfill_key: Key | None = None, reservations: int = 1) -> Decide:
    """Return EASY with a queue in an order; who goes ahead is looked for in that order or in another."""

    def decide(cluster: Cluster) -> None:
        reserved: list[Reservation] = []
        number_of_heads: dict[int, int] = {}
        heads: list[Job] = []
        for job in in_order(cluster, key):
            places = {0} if cluster.heads == MACHINE else set(job.partitions)
            if all(number_of_heads.get(place, 0) >= reservations for place in places):
                continue
            if where := cluster.where_now(job, reserved):
                cluster.start(job, where)
            else:
                reservation = cluster.reserve(job, reserved)
                reserved += [reservation] if reservation else []
                heads.append(job)
                for place in places:
                    number_of_heads[place] = number_of_heads.get(place, 0) + 1
        for job in in_order(cluster, backfill_key or key):
            if job not in heads and (where := cluster.where_now(job, reserved)):
                cluster.start(job, where)

    return decide


def expansion(cluster: Cluster, job: Job) -> float:
    """Return the expansion factor that a waiting job has by now; a request of 0 s counts as 1 s."""
    return 1.0 + instant(cluster.now - job.submit, cluster.now) / (job.request or 1.0)


KEYS: dict[str, Key] = {
    "fcfs": lambda cluster, job: 0.0,
    "sjf": lambda cluster, job: job.request,
    "ljf": lambda cluster, job: -job.request,
    "lxf": lambda cluster, job: -expansion(cluster, job),
    "widest": lambda cluster, job: -job.width,
    "narrowest": lambda cluster, job: job.width,
    "rank": lambda cluster, job: job.rank if job.rank >= 0 else math.inf,
}


def weighted(wait: float = 1.0, expansion_: float = 1.0, width: float = 0.0, rank: float = 0.0) -> Key:
    """Return the key of a weighted sum."""

    def key(cluster: Cluster, job: Job) -> float:
        return -(
            wait * instant(cluster.now - job.submit, cluster.now) / 3600.0
            + expansion_ * expansion(cluster, job)
            + width * job.width / cluster.table.processors
            - rank * (job.rank if job.rank >= 0 else cluster.lowest_rank)
        )

    return key


DECISIONS: dict[str, Decide] = {
    **{name: strict(KEYS[name]) for name in ("fcfs", "sjf", "ljf", "widest", "narrowest", "lxf")},
    "easy": easy(KEYS["fcfs"]),
    **{
        f"easy:backfill_order={name}": easy(KEYS["fcfs"], KEYS[name])
        for name in ("sjf", "lxf", "widest", "narrowest", "ljf")
    },
    "easy:reservations=2": easy(KEYS["fcfs"], reservations=2),
    "easy:reservations=4,backfill_order=sjf": easy(KEYS["fcfs"], KEYS["sjf"], reservations=4),
    "sjf-backfill": easy(KEYS["fcfs"], KEYS["sjf"]),
    "lxf-backfill": easy(KEYS["lxf"]),
    "weighted-priority": easy(weighted()),
    "weighted-priority:width_weight=3,rank_weight=2": easy(weighted(1, 1, 3, 2)),
    "prio-fifo": easy(KEYS["rank"]),
}
"""What each policy decides, by its text form."""


def simulate_on_nodes(
    jobs: Sequence[Job],
    table: NodeTable,
    decide: Decide,
    *,
    placement: Placement | None = None,
    heads: str = PARTITION,
    gone: Collection[int] = (),
    gone_after: float = math.inf,
) -> list[Job]:
    """Simulate jobs, given in order of submission, to the end of the last; fill in when and where each ran.

    Jobs enter the queue when they are submitted or, if that is later, ready; of one instant in the order given. A
    decision is made too when a job is submitted that is not ready, when one should have ended and has not, and at the
    earliest time at which a decision asked for one.

    Jobs of the rows ``gone`` vanish when all that happens until ``gone_after`` (s) has happened: who has not ended by
    then leaves queue and nodes, and if there was one of them another decision is made at the last instant. What is
    returned has no more of them than those that had ended.
    """
    assert heads in (MACHINE, PARTITION)
    cluster = Cluster(table, placement or Placement(), heads)
    if (cluster.placement.rule, cluster.placement.must) == ("contiguous", True):
        jobs = [job for job in jobs if cluster.where_now(job)]  # who has no run on the idle machine is excluded
    coming = list(jobs)
    while coming or cluster.waiting or cluster.running:
        outlived = [job.expected_end for job in cluster.running if job.expected_end > cluster.now]
        ends = [job.end for job in cluster.running]
        submitted = [job.submit for job in coming if job.submit > cluster.now]
        later = min([*(job.entry for job in coming), *submitted, *ends, *outlived, cluster.wake])
        if later > gone_after:
            present = [job for job in cluster.waiting + cluster.running if job.row in gone]
            is_there = bool(present) or any(job.row in gone and job.submit <= cluster.now for job in coming)
            out = [*present, *(job for job in coming if job.row in gone)]
            coming, cluster.waiting, cluster.running, jobs = (
                [job for job in some if job not in out] for some in (coming, cluster.waiting, cluster.running, jobs)
            )
            gone_after = math.inf
            if is_there:
                decide(cluster)
            continue
        cluster.now = later
        assert cluster.now < math.inf, "nobody starts"
        cluster.wake = math.inf if cluster.wake <= cluster.now else cluster.wake
        cluster.ended = [job for job in cluster.running if job.end <= cluster.now]
        cluster.running = [job for job in cluster.running if job.end > cluster.now]
        for job in [job for job in coming if job.entry <= cluster.now]:
            coming.remove(job)
            cluster.waiting.append(job)
        submitted_ranks = [job.rank + 1 for job in jobs if job.submit <= cluster.now]
        cluster.lowest_rank = max([1, *submitted_ranks])
        decide(cluster)
    return list(jobs)


def jobs_of(
    asked: Asked,
    submit: Sequence[float],
    run: Sequence[float],
    request: Sequence[float],
    rank: Sequence[int] | None = None,
) -> list[Job]:
    """Return the jobs that can run, in order of submission, by what they ask for."""
    jobs = []
    for row in sorted(np.flatnonzero(asked.code == 0), key=lambda row: (submit[row], row)):
        place = asked.places[asked.place[row]]
        ready = float(asked.ready_time[row]) if len(asked.ready_time) else math.nan
        jobs.append(
            Job(
                row=int(row),
                submit=float(submit[row]),
                run=float(run[row]),
                request=float(request[row]),
                nodes=int(asked.nodes[row]),
                cores=int(asked.cores[row]),
                memory=int(asked.memory[row]),
                gpus=int(asked.gpus[row]),
                is_exclusive=bool(asked.is_exclusive[row]),
                sets=[[int(node) for node in nodes] for nodes in place.nodes],
                partitions=list(place.partitions),
                rank=-1 if rank is None else int(rank[row]),
                ready=-math.inf if math.isnan(ready) else ready,
            )
        )
    return jobs
