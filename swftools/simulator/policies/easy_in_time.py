# SPDX-License-Identifier: BSD-3-Clause
"""EASY without the rule of extra processors: only jobs that end in time go ahead. Several simulators do this.

``easy-in-time``
    Start jobs in order of submission until one does not fit, and find its shadow time. Then start, in order, the jobs
    behind it that fit now and end by that time. Unlike under ``easy``, a job waits if it runs longer, even if it would
    need only processors that are left over then.

=====================  ========  ============  =========  ============================================================
As it is in            ends      running       shadow     Source
=====================  ========  ============  =========  ============================================================
dr_evt                 before    by-end        anew       its published scheduler: "must complete before, not at"
RAPS                   at        by-limit      anew       its default scheduler, 2025 and 2026
batsched easy_bf_fast  at        by-end        fixed      its measured schedules
deep-batch-scheduler   before    by-end        fixed      its measured schedules
=====================  ========  ============  =========  ============================================================

The first two are ``easy`` under ``semantics="dr_evt"`` and ``"raps"``.

Guarantee
    With ``running=by-end`` that of ``easy``: if no job outlives its estimate, the first waiting job starts no later
    than its reservation. With ``by-limit`` none: running jobs are added up in the order of their limits instead of
    their ends, so the shadow time may be too late, and jobs that go ahead may delay the first.
Cost of a decision
    O(r) over the r running jobs and O(log n) for each job started; by limit O(r squared) for each.

References
----------
Lifka 1995 (EASY); Leonenkov and Zhumatiy 2015, to which RAPS refers; the repositories LLNL/dr_evt and ExaDigiT/RAPS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.parameters import Parameters, choice
from swftools.simulator.instants import instant, time_until
from swftools.simulator.machine.state import FREE, RUNNING, Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import (
    can_start_any,
    earliest_start,
    expected_time,
    free,
    next_fitting,
    now,
    width,
)
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.memory_transfer import renumber
from swftools.simulator.policies.easy import start_heads
from swftools.simulator.registry import policy

BEFORE, BY_LIMIT, FIXED = 1, 1, 1
"""Places of the second words of the parameters."""


@dataclass(frozen=True)
class EasyInTimeParameters(Parameters):
    """Parameters of ``easy-in-time``.

    Parameters
    ----------
    ends : {"at", "before"}
        Whether a job that goes ahead may end at the shadow time, or must end before it.
    running : {"by-end", "by-limit"}
        The order in which the processors of running jobs are added up until there are enough for the first waiting job:
        by expected end, or by requested time. In the latter case the shadow time is the last job's start plus its
        limit.
    shadow : {"anew", "fixed"}
        Whether the shadow time is found at each decision, or once, when a job becomes the first that does not fit.
    """

    ends: str = choice("at", "before")
    running: str = choice("by-end", "by-limit")
    shadow: str = choice("anew", "fixed")


class FixedShadow(NamedTuple):
    """The first waiting job, and its shadow time, when it became that."""

    head: IntArray
    time: FloatArray


def fixed_shadow(jobs: int, processors: int) -> FixedShadow:  # noqa: ARG001 (as all memories)
    """Return the memory before the first job."""
    return FixedShadow(np.full(1, NOBODY, np.int64), np.zeros(1))


def carry_shadow(old: FixedShadow, new: FixedShadow, jobs: IntArray) -> None:
    """Take along the shadow time, and whose it is."""
    head = renumber(old.head, jobs)
    new.head[: len(head)], new.time[:] = head, old.time


@policy(
    "easy-in-time",
    when="To repeat what simulators and schedulers do that lack EASY's rule of extra processors.",
    parameters=EasyInTimeParameters,
    memory=fixed_shadow,
    carry=carry_shadow,
    promises=("no-idle-head",),
    promises_where={
        "head-reservation": {"running": "by-end", "shadow": "anew"},
        "backfilling": {"running": "by-end", "shadow": "anew"},
    },
    allocates=False,
    version=2,
)
def easy_in_time(machine: Machine, parameters: Any, memory: FixedShadow) -> None:
    """Start jobs in order of submission; others go ahead if they end before the first can start."""
    head = start_heads(machine)
    if head == NOBODY:
        return
    if parameters.shadow == FIXED and memory.head[0] != head:
        memory.head[0] = head
        memory.time[0] = shadow_time(machine, head, parameters.running)
    job = head
    while can_start_any(machine):
        shadow = memory.time[0] if parameters.shadow == FIXED else shadow_time(machine, head, parameters.running)
        time = time_until(now(machine), shadow)
        # Who goes ahead may change what is found by limits; so it is looked for anew behind the first job.
        job = next_fitting(machine, head if parameters.running == BY_LIMIT else job, free(machine), time, 0)
        while job != NOBODY and parameters.ends == BEFORE and expected_end(machine, job) >= shadow:
            job = next_fitting(machine, job, free(machine), time, 0)
        if job == NOBODY:
            return
        start(machine, job)


@kernel(allocates=False)
def expected_end(machine: Machine, job: int) -> float:
    """Return when a waiting job is expected to end if it starts now."""
    return instant(now(machine) + expected_time(machine, job))


@kernel(allocates=False)
def shadow_time(machine: Machine, head: int, running: int) -> float:
    """Return when enough processors will be free for the first waiting job."""
    if running != BY_LIMIT:
        when, _ = earliest_start(machine, width(machine, head))
        return when
    available, when = machine.counts[FREE], 0.0
    last_limit, last_start, last = -1.0, -1.0, -1
    while available < width(machine, head):
        best = NOBODY
        for i in range(machine.counts[RUNNING]):
            job = machine.running[i]
            limit, begin = machine.requests.limit[job], machine.start_time[job]
            is_next = _is_less(last_limit, last_start, last, limit, begin, job)
            if is_next and (
                best == NOBODY
                or _is_less(limit, begin, job, machine.requests.limit[best], machine.start_time[best], best)
            ):
                best = job
        if best == NOBODY:
            return when
        available += machine.allocated[best]
        last_limit, last_start, last = machine.requests.limit[best], machine.start_time[best], best
        when = instant(last_start + last_limit)
    return when


@kernel(allocates=False)
def _is_less(limit: float, start_time: float, job: int, of_limit: float, of_start: float, of_job: int) -> bool:
    """Whether one job comes before another by limit, of equal ones by start, then by submission."""
    if limit != of_limit:
        return limit < of_limit
    if start_time != of_start:
        return start_time < of_start
    return job < of_job
