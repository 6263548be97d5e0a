# SPDX-License-Identifier: BSD-3-Clause
"""A slow simulator of machines whose nodes go away for a while: what is there is looked up in the list of outages.

At one instant completions come first, then nodes that return or go down, then jobs that enter the queue, then one
decision. There is a decision at each begin and end of an outage, and where one becomes known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from swftools.machines.node_table import NodeTable
from swftools.machines.outages import DOWN, DRAIN
from tests.naive.nodes import PARTITION, Cluster, Decide, Job
from tests.naive.placements import Placement
from tests.naive.simulator import instant

REQUEUE, CHECKPOINT, LOST = "requeue", "checkpoint", "lost"


@dataclass(frozen=True)
class Run:
    """A run: of which job, when, where, and whether an outage ended it."""

    row: int
    start: float
    end: float
    where: tuple[int, ...]
    is_stopped: bool = False


@dataclass(frozen=True)
class Rule:
    """What becomes of jobs that are stopped; ``interval`` is that of checkpoints, ``overhead`` that of going on, s."""

    on_outage: str = REQUEUE
    delay: float = 0.0
    interval: float = math.inf
    overhead: float = 0.0


@dataclass
class AwayCluster(Cluster):
    """The machine at an instant; ``users`` has the user of each row; ``is_to_come`` tells whether any job is."""

    users: Sequence[int] = ()
    turn: dict[Job, int] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    is_to_come: bool = False

    def is_there(self, job: Job, node: int, begin: float, end: float) -> bool:
        """Whether no outage that is seen keeps a job from a node."""
        outages = self.table.outages
        for row in range(len(outages)):
            since, until, who = float(outages.begin[row]), float(outages.end[row]), int(outages.who[row])
            is_known = outages.known[row] <= self.now
            if outages.node[row] != node or not (is_known or since <= self.now):
                continue
            if who >= 0 and str(self.users[job.row]) in outages.holders[who].users:
                continue
            if not is_known and until > self.now:
                until = math.inf
            is_over_it = since <= begin < until
            if is_over_it or (outages.kind[row] != DRAIN and begin < since < end):
                return False
        return True

    def returns(self) -> set[float]:
        """Return the ends of outages that are known."""
        outages = self.table.outages
        return {
            float(end)
            for end, known in zip(outages.end, outages.known, strict=True)
            if known <= self.now < end < math.inf
        }

    def changes(self) -> set[float]:
        """Return when nodes go away or return, or that becomes known."""
        outages, found = self.table.outages, set()
        for row in range(len(outages)):
            found |= {float(outages.begin[row]), float(outages.end[row])}
            if outages.known[row] < outages.end[row]:
                found.add(float(outages.known[row]))
        return {time for time in found if math.isfinite(time)}

    def note(self, job: Job, *, is_stopped: bool = False) -> None:
        """Write down the run of a job, which ends now or is stopped."""
        assert job.start is not None
        end = self.now if is_stopped else job.end
        self.runs.append(Run(job.row, job.start, end, tuple(job.where), is_stopped))

    def enter(self, job: Job) -> None:
        """Let a job stand at the end of the queue."""
        self.turn[job] = len(self.turn) + 1 if job not in self.turn else max(self.turn.values()) + 1
        self.waiting.append(job)


def simulate_away(
    jobs: Sequence[Job],
    table: NodeTable,
    decide: Decide,
    *,
    placement: Placement | None = None,
    heads: str = PARTITION,
    rule: Rule | None = None,
    users: Sequence[int] = (),
) -> list[Run]:
    """Simulate jobs, given in order of submission, to the end of the last; return their runs.

    When nothing is to come those leave that do not even fit now, and another decision is made.
    """
    rule, placement = rule or Rule(), placement or Placement()
    users = users or [0] * (1 + max((job.row for job in jobs), default=0))
    cluster = AwayCluster(table, placement, heads, users=users)
    if placement.is_must:  # who has no run on the idle machine is excluded
        jobs = [job for job in jobs if Cluster(table, placement, heads).where_now(job)]
    place = {job: number for number, job in enumerate(jobs)}
    work, asked, done = {job: job.run for job in jobs}, {job: job.request for job in jobs}, dict.fromkeys(jobs, 0.0)
    coming, held = list(jobs), {}
    begins = min((job.submit for job in jobs), default=0.0)
    while coming or cluster.waiting or cluster.running or held:
        outlived = [job.expected_end for job in cluster.running if job.expected_end > cluster.now]
        submitted = [job.submit for job in coming if job.submit > cluster.now]
        changes = [time for time in cluster.changes() if time > max(cluster.now, begins)]
        ends = [job.end for job in cluster.running]
        later = [*(job.entry for job in coming), *submitted, *ends, *outlived, *changes, *held.values(), cluster.wake]
        if min(later) == math.inf:
            stuck = [job for job in cluster.waiting if not cluster.where_now(job)]
            assert stuck, "nobody starts"
            cluster.waiting = [job for job in cluster.waiting if job not in stuck]
            cluster.runs = [run for run in cluster.runs if run.row not in {job.row for job in stuck}]
            cluster.ended, cluster.has_changed = [], False
            decide(cluster)
            continue
        cluster.now = min(later)
        cluster.wake = math.inf if cluster.wake <= cluster.now else cluster.wake
        cluster.has_changed = cluster.now in changes
        cluster.ended = [job for job in cluster.running if job.end <= cluster.now]
        for job in cluster.ended:
            cluster.running.remove(job)
            cluster.note(job)
        stopped = stopped_now(cluster)
        cluster.ended += stopped
        for job in stopped:
            cluster.running.remove(job)
            cluster.note(job, is_stopped=True)
            if rule.on_outage == LOST:
                continue
            before = rule.overhead if done[job] > 0 else 0.0
            done[job] += max(cluster.now - job.start - before, 0.0)
            kept = done[job] // rule.interval * rule.interval if rule.on_outage == CHECKPOINT else 0.0
            done[job] = kept
            again = rule.overhead if kept > 0 else 0.0
            job.run, job.request = again + work[job] - kept, again + max(asked[job] - kept, 0.0)
            if rule.delay:
                held[job] = instant(cluster.now + rule.delay)
            else:
                cluster.waiting.append(job)
                cluster.waiting.sort(key=cluster.turn.__getitem__)
        due = [job for job in held if held[job] <= cluster.now]
        due += [job for job in coming if job.entry <= cluster.now and job.entry > job.submit]
        due.sort(key=place.__getitem__)
        due += [job for job in coming if job.entry <= cluster.now and job.entry == job.submit]
        for job in due:
            held.pop(job, None)
            if job in coming:
                coming.remove(job)
            cluster.enter(job)
        cluster.lowest_rank = max([1, *(job.rank + 1 for job in jobs if job.submit <= cluster.now)])
        cluster.is_to_come = bool(coming or held)
        decide(cluster)
    return cluster.runs


def stopped_now(cluster: AwayCluster) -> list[Job]:
    """Return who runs on a node that goes down now."""
    outages = cluster.table.outages
    gone = {
        int(outages.node[row])
        for row in range(len(outages))
        if outages.kind[row] == DOWN and outages.begin[row] == cluster.now
    }
    return [job for job in cluster.running if gone & set(job.where)]
