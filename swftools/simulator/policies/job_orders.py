"""Orders of waiting jobs that policies share: a word, a number, and the key that sorts by it.

Keys rise from the job to be served first to the last; jobs of equal keys are served in order of submission, so every
sort here is stable.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW
from swftools.simulator.machine.views import expected_time
from swftools.simulator.planning import LEAST_TIME

ORDERS = ("fcfs", "sjf", "lxf", "widest", "narrowest", "ljf")
"""First come, shortest, largest expansion factor, widest, narrowest, longest first."""

FCFS, SJF, LXF, WIDEST, NARROWEST, LJF = range(len(ORDERS))


@kernel(allocates=False)
def order_key(order, machine, job):  # type: ignore[no-untyped-def]
    """Return the key of a job at a decision in one of ``ORDERS``; the least is served first."""
    if order == SJF:
        return expected_time(machine, job)
    if order == LJF:
        return -expected_time(machine, job)
    if order == WIDEST:
        return -float(machine.requests.processors[job])
    if order == NARROWEST:
        return float(machine.requests.processors[job])
    if order == LXF:
        return -expansion_factor(machine, job)
    return 0.0


@kernel(allocates=False)
def expansion_factor(machine, job):  # type: ignore[no-untyped-def]
    """Return (wait so far + estimate) / estimate of a waiting job, estimates being at least ``LEAST_TIME``."""
    return 1.0 + (machine.clock[NOW] - machine.requests.submit_time[job]) / max(expected_time(machine, job), LEAST_TIME)


@kernel
def in_order(order, machine, jobs):  # type: ignore[no-untyped-def]
    """Return jobs, given in order of submission, in one of ``ORDERS``."""
    if order == FCFS:
        return jobs
    keys = np.empty(len(jobs))
    for i in range(len(jobs)):
        keys[i] = order_key(order, machine, jobs[i])
    return jobs[np.argsort(keys, kind="mergesort")]  # the stable one, in numba's words
