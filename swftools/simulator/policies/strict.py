"""Orders without reservations or backfilling: jobs start in the order until the first that does not fit.

Nobody overtakes the first job of the order, so processors idle while it waits for enough of them. Cost of a decision:
``fcfs`` log n for each job that it starts; the others sort the waiting jobs, w log w, unless none of them fits.

==============  ==============================  ======================================================================
Name            First                           Who may starve
==============  ==============================  ======================================================================
``fcfs``        Earliest submission             Nobody: the first job waits for running jobs only, then is next
``sjf``         Shortest estimate               Long jobs, while shorter ones keep coming
``ljf``         Longest estimate                Short jobs, while longer ones keep coming
``widest``      Most processors ("largest")     Narrow jobs, while wider ones keep coming
``narrowest``   Fewest processors               Wide jobs, while narrower ones keep coming
``lxf``         Largest expansion factor        Nobody: the factor of a waiting job grows without bound; long jobs wait
==============  ==============================  ======================================================================

None of them has parameters, and none promises a start time. Jobs of equal rank start in order of submission; "estimate"
is what the run tells policies. ``lxf`` ranks by (wait so far + estimate) / estimate, computed anew at each decision.

References
----------
Feitelson, Rudolph and Schwiegelshohn 2005, "Parallel job scheduling - a status report"; Krueger, Lai and Dixit-Radiya
1994 for narrowest first ("smallest first"); Li and Cheng 1991 for widest first ("largest first").
"""
# ruff: noqa: ARG001  (all policies are called with the same arguments)

from __future__ import annotations

from numba import njit

from swftools.simulator.interface import (
    FREE,
    can_start_any,
    first_waiting,
    next_waiting,
    start,
    waiting_jobs,
)
from swftools.simulator.policies.job_orders import LJF, LXF, NARROWEST, SJF, WIDEST, in_order
from swftools.simulator.registry import policy
from swftools.simulator.waiting_queue import NOBODY


@policy("fcfs", rests=True)
def fcfs(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start jobs in order of submission until the first that does not fit."""
    head = first_waiting(machine)
    while head != NOBODY and requests.processors[head] <= machine.counts[FREE]:
        start(machine, requests, now, head)
        head = next_waiting(machine, head)


@policy("sjf", rests=True)
def sjf(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the shortest estimate first, until the first that does not fit."""
    start_in_order(now, machine, requests, SJF)


@policy("ljf", rests=True)
def ljf(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the longest estimate first, until the first that does not fit."""
    start_in_order(now, machine, requests, LJF)


@policy("widest", rests=True)
def widest(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the most processors first, until the first that does not fit."""
    start_in_order(now, machine, requests, WIDEST)


@policy("narrowest", rests=True)
def narrowest(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the fewest processors first, until the first that does not fit."""
    start_in_order(now, machine, requests, NARROWEST)


@policy("lxf", rests=True)
def lxf(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the largest expansion factor first, until the first that does not fit."""
    start_in_order(now, machine, requests, LXF)


@njit(cache=True, nogil=True)
def start_in_order(now, machine, requests, order):  # type: ignore[no-untyped-def]
    """Start waiting jobs in an order, until the first that does not fit."""
    if not can_start_any(machine):
        return
    for job in in_order(order, now, requests, waiting_jobs(machine)):
        if requests.processors[job] > machine.counts[FREE]:
            return
        start(machine, requests, now, job)
