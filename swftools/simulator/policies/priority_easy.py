# SPDX-License-Identifier: BSD-3-Clause
"""EASY backfilling of a queue that is in order of priority, computed anew at each decision.

All of them start the waiting jobs in order of priority until one does not fit. They reserve for that job the earliest
time at which enough processors are expected to be free. Then they start, in the same order, the jobs that fit now and
either are expected to end by that time or need only processors that will be left over then. Jobs of equal priority are
in order of submission.

``lxf-backfill``
    The largest expansion factor, (wait so far + estimate) / estimate, goes first; an estimate of 0 s counts as 1 s. The
    job with the largest factor has the reservation: LXF-backfill of Chiang et al. (``sjf-backfill`` is different: there
    the queue is in order of submission, and only the jobs that go ahead are sorted.)
``prio-fifo``
    The queue of the highest priority goes first (``priority_rank`` 0; unknown ranks last), in order of submission
    within a queue. For backfilling all jobs of a queue are considered before those of a lower one. Needs the column
    ``priority_rank``, which ``generate_utility`` makes: without ranks it would be EASY.
``weighted-priority``
    The largest weighted sum goes first. It adds hours waited, the expansion factor, the share of the machine that the
    job asks for, and the height of the priority queue (minus ``priority_rank``; an unknown rank counts as one below the
    lowest that was submitted so far).

Guarantee
    While a job stays first in the order, and if no job outlives its estimate, jobs that go ahead of it do not delay it.
    But a job that comes later with a higher priority takes its place and its reservation. ``prio-fifo`` starves low
    queues while higher ones stay full, and so does ``weighted-priority`` if wait and expansion have no weight.
    ``lxf-backfill`` starves nobody, but makes long jobs wait.
Cost of a decision
    Nothing if no waiting job fits. Else O(r) for r running jobs, and for each job started a search of the queue, which
    looks at few of the waiting jobs. If many jobs wait, the search of ``prio-fifo`` looks at each shelf of 64 jobs.

References
----------
Chiang and Vernon 2001, "Production job scheduling for parallel shared memory systems", and Chiang et al. 2008 for LXF;
Lee 2009, section 1.3.5, after Chun and Culler 2002, for PrioFIFO; Jackson, Snell and Clement 2001, "Core algorithms of
the Maui scheduler", for weighted sums.

Differs from the papers
-----------------------
Lee does not say what keeps the head of PrioFIFO from starving while others backfill. Here it has EASY's reservation,
under which the published waits are met. Maui's sum has more terms, among them fair share, and counts minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import IntArray
from swftools.parameters import Parameters, number
from swftools.simulator.job_orders import LXF, WEIGHTED, Order, rank_of, rank_order, simple_order
from swftools.simulator.machine.state import SUBMITTED, Machine
from swftools.simulator.machine.views import can_start_any
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from swftools.simulator.memory_transfer import carry_nothing, renumber_count
from swftools.simulator.policies.job_heap import JobHeap, empty_heap
from swftools.simulator.policies.job_shelves import JobShelves, empty_shelves
from swftools.simulator.policies.ordered_easy import backfill_among_many, easy_in_order, start_heads_of_heap
from swftools.simulator.registry import policy


@dataclass(frozen=True)
class WeightedPriorityParameters(Parameters):
    """Parameters of ``weighted-priority``; the defaults are ours, and wait alone is EASY.

    Parameters
    ----------
    wait_weight : float
        Weight of each hour waited.
    expansion_weight : float
        Weight of the expansion factor.
    width_weight : float
        Weight of the share of the machine that the job asks for.
    rank_weight : float
        Weight of each priority rank.
    """

    wait_weight: float = number(1.0)
    expansion_weight: float = number(1.0)
    width_weight: float = number(0.0)
    rank_weight: float = number(0.0)


@policy(
    "lxf-backfill",
    when="If slowdowns should be small and nobody should starve.",
    rests=True,
    allocates=False,
    version=2,
)
def lxf_backfill(machine: Machine) -> None:
    """EASY backfilling in order of falling expansion factor."""
    if can_start_any(machine):
        easy_in_order(machine, simple_order(LXF))


class RankedJobs(NamedTuple):
    """The waiting jobs by rank: who is first, and who of all fits."""

    heap: JobHeap
    shelves: JobShelves


def no_ranked_jobs(jobs: int, processors: int) -> RankedJobs:
    """Return the memory before the first job."""
    return RankedJobs(empty_heap(jobs, processors), empty_shelves(jobs))


@policy(
    "prio-fifo",
    when="If jobs have ranks, as by queue or account, and a higher rank always goes first.",
    memory=no_ranked_jobs,
    carry=carry_nothing,
    rests=True,
    needs=("priority_rank",),
    allocates=False,
    version=2,
)
def prio_fifo(machine: Machine, memory: RankedJobs) -> None:
    """EASY backfilling in order of priority rank, and of submission within a rank."""
    head = start_heads_of_heap(machine, memory.heap, rank_order(0.0))
    if head != NOBODY:
        backfill_among_many(machine, memory.shelves, rank_order(rank_of(machine, head, ANY)), head)


class Ranks(NamedTuple):
    """The rank below the lowest that was seen so far: ranks are counted from 0, so it is at least 1; and jobs seen."""

    below: IntArray
    seen: IntArray


def no_ranks(jobs: int, processors: int) -> Ranks:  # noqa: ARG001 (as all memories)
    """Return the memory before the first job."""
    return Ranks(np.ones(1, np.int64), np.zeros(1, np.int64))


def carry_ranks(old: Ranks, new: Ranks, jobs: IntArray) -> None:
    """Take along what was seen."""
    new.below[0], new.seen[0] = old.below[0], renumber_count(int(old.seen[0]), jobs)


@policy(
    "weighted-priority",
    when="To come close to the priorities of Maui or Slurm: wait, size and rank, with weights.",
    parameters=WeightedPriorityParameters,
    memory=no_ranks,
    carry=carry_ranks,
    rests=True,
    allocates=False,
    version=3,
)
def weighted_priority(machine: Machine, parameters: Any, memory: Ranks) -> None:
    """EASY backfilling in order of a falling weighted sum."""
    if not can_start_any(machine):
        return
    below, seen = memory.below, memory.seen
    while seen[0] < machine.counts[SUBMITTED]:
        below[0] = max(below[0], machine.requests.priority_rank[seen[0]] + 1)
        seen[0] += 1
    order = Order(
        WEIGHTED,
        parameters.wait_weight,
        parameters.expansion_weight,
        parameters.width_weight,
        parameters.rank_weight,
        float(below[0]),
        0.0,
    )
    easy_in_order(machine, order)
