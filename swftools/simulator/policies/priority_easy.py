"""EASY backfilling of a queue that is in order of priority, computed anew at each decision.

All of them: start the waiting jobs in order of priority until one does not fit; reserve for that one the earliest time
at which enough processors are expected to be free; then start, in the same order, the jobs that fit now and either are
expected to end by that time or need only processors that will be left over then. Jobs of equal priority are in order
of submission.

``lxf-backfill``
    The largest expansion factor, (wait so far + estimate) / estimate, first; estimates below 1 s count as 1 s. The job
    with the largest has the reservation: LXF-backfill of Chiang et al. (``sjf-backfill`` is another thing: there the
    queue is in order of submission, and only those that go ahead are sorted.)
``prio-fifo``
    The highest priority queue first (``priority_rank`` 0; unknown ranks last), in order of submission within a queue;
    for backfilling all jobs of a queue are considered before those of a lower one. Needs the column ``priority_rank``,
    which ``generate_utility`` makes: without ranks it would be EASY.
``weighted-priority``
    The largest weighted sum of hours waited, expansion factor, share of the machine that the job asks for, and height
    of the priority queue (minus ``priority_rank``; an unknown rank counts as one below the lowest of the trace).

Guarantee
    While a job stays first in the order, with estimates that no job outlives, it is not delayed by jobs that go ahead
    of it. But a job that comes later with a higher priority takes its place and its reservation. ``prio-fifo`` starves
    low queues while higher ones stay full, and so does ``weighted-priority`` if wait and expansion have no weight;
    ``lxf-backfill`` starves nobody, but makes long jobs wait.
Cost of a decision
    Nothing if no waiting job fits, else O(w log w) for w waiting jobs and O(r) for r running ones.

References
----------
Chiang and Vernon 2001, "Production job scheduling for parallel shared memory systems", and Chiang et al. 2008 for LXF;
Lee 2009, section 1.3.5, after Chun and Culler 2002, for PrioFIFO; Jackson, Snell and Clement 2001, "Core algorithms of
the Maui scheduler", for weighted sums.

Differs from the papers
-----------------------
Lee does not say what keeps the head of PrioFIFO from starving while others backfill: here it has EASY's reservation,
under which the published waits are met. Maui's sum has more terms, among them fair share, and counts minutes.
"""
# ruff: noqa: ARG001  (all policies are called with the same arguments)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swftools.parameters import Parameters, number
from swftools.simulator.interface import CAPACITY, can_start_any, waiting_jobs
from swftools.simulator.policies.job_orders import LXF, expansion_factor, order_key
from swftools.simulator.policies.ordered_easy import easy_by_key
from swftools.simulator.registry import policy

HOUR = 3600.0


@dataclass(frozen=True)
class WeightedPriorityParameters(Parameters):
    """Parameters of ``weighted-priority``; the defaults are ours, and wait alone is EASY.

    Parameters
    ----------
    wait_weight : float
        Weight of an hour waited.
    expansion_weight : float
        Of the expansion factor.
    width_weight : float
        Of a job as wide as the machine.
    rank_weight : float
        Of a rank.
    """

    wait_weight: float = number(1.0)
    expansion_weight: float = number(1.0)
    width_weight: float = number(0.0)
    rank_weight: float = number(0.0)


WAIT, EXPANSION, WIDTH, RANK = (
    WeightedPriorityParameters.place_of(f"{term}_weight") for term in ("wait", "expansion", "width", "rank")
)


@policy("lxf-backfill", rests=True, version=1)
def lxf_backfill(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """EASY backfilling of a queue in order of falling expansion factor."""
    if not can_start_any(machine):
        return
    jobs = waiting_jobs(machine)
    keys = np.empty(len(jobs))
    for i in range(len(jobs)):
        keys[i] = order_key(LXF, now, requests, jobs[i])
    easy_by_key(now, machine, requests, jobs, keys)


@policy("prio-fifo", rests=True, needs=("priority_rank",), version=1)
def prio_fifo(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """EASY backfilling of a queue in order of priority rank, and of submission within a rank."""
    if not can_start_any(machine):
        return
    jobs = waiting_jobs(machine)
    keys = np.empty(len(jobs))
    for i in range(len(jobs)):
        rank = requests.priority_rank[jobs[i]]
        keys[i] = float(rank) if rank >= 0 else np.inf
    easy_by_key(now, machine, requests, jobs, keys)


def _one_number(jobs: int, processors: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the shapes of one whole number."""
    return (0, 0), (1, 1)


@policy("weighted-priority", parameters=WeightedPriorityParameters, memory=_one_number, rests=True, version=1)
def weighted_priority(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """EASY backfilling of a queue in order of a weighted sum of wait, expansion factor, width and rank."""
    if not can_start_any(machine):
        return
    lowest = memory.integers[0]
    if lowest[0] == 0:  # not known yet: ranks are counted from 0, so the one below the lowest is at least 1
        lowest[0] = 1
        for rank in requests.priority_rank:
            lowest[0] = max(lowest[0], rank + 1)
    jobs = waiting_jobs(machine)
    keys = np.empty(len(jobs))
    for i in range(len(jobs)):
        job = jobs[i]
        rank = requests.priority_rank[job]
        keys[i] = -(
            parameters[WAIT] * (now - requests.submit_time[job]) / HOUR
            + parameters[EXPANSION] * expansion_factor(now, requests, job)
            + parameters[WIDTH] * requests.processors[job] / machine.counts[CAPACITY]
            - parameters[RANK] * (rank if rank >= 0 else lowest[0])
        )
    easy_by_key(now, machine, requests, jobs, keys)
