# SPDX-License-Identifier: BSD-3-Clause
"""PV-EASY: EASY backfilling in which no job delays one of higher priority, and wrong predictions do no harm.

``pv-easy``
    Jobs are *sunny* or *shadow* load. A job that starts as the first of the queue is sunny. A job that goes ahead of
    others is shadow as long as a job of higher priority waits, and sunny from then on.
    Shadow load preemption (``slp``): the first waiting job may not fit, but would if shadow jobs of lower priority were
    stopped. Then they are stopped, from the lowest priority up, until it fits, and it starts. They wait again at their
    old places. No job is stopped in vain. Stopping shadow jobs and starting the first job alternate until neither is
    possible.
    Venture backfilling (``venture``): the first waiting job, which is blocked now, gets a reservation as if there were
    no shadow jobs. Of the other jobs that fit, those expected to end by then start, the shortest first. Then all others
    that fit start, in order of priority, though they may be stopped later.
    Without ``slp`` no job is stopped, and all running jobs count for the reservation. Without ``venture`` the others go
    ahead as under ``easy``. With neither it is ``easy``, in the order of the queue.

Guarantee
    In order of submission: once a job is the first waiting one and does not fit, it starts as early as it would if all
    jobs of lower priority were absent, whatever is predicted, requested or submitted later ("strict fairness" at the
    head of the queue). Nothing is promised for the time before: jobs of lower priority may hold processors on which the
    job could have gone ahead itself. Nobody starves, because each job becomes the first.
    In another order, a job of higher priority may come later than a running sunny job, which is not stopped for it.
Outlived predictions
    A job that outlives its prediction is expected to run to its request, unless the predictor says otherwise, and
    beyond that to end at any moment.
Cost of a decision
    Nothing if no job waits. Otherwise O(r) over the r running jobs; O(r + v log r) more if v are stopped; O(log n)
    for each job started, and a search for each job that goes ahead in another order than that of the queue.

References
----------
Yuan, Yang, Wu and Zheng 2010, "PV-EASY: a strict fairness guaranteed and prediction enabled scheduler in parallel job
scheduling", sections 4.1 to 4.3, and 6 for suspension and checkpoints.

Differs from the paper
----------------------
The paper leaves these open. Here, at one instant all completions come first, then submissions, then this one decision.
If priorities change with time, a running job keeps the priority that it had at its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.parameters import Parameters, choice, truth
from swftools.simulator.instants import time_until
from swftools.simulator.job_orders import (
    FCFS,
    ORDERS,
    RANK,
    SJF,
    Order,
    first_in_order,
    key_of,
    rank_of,
    rank_order,
    simple_order,
)
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.state import DISTURBED, ENDED, RUNNING, SUBMITTED, Machine
from swftools.simulator.machine.verbs import preempt, start
from swftools.simulator.machine.views import (
    can_start_any,
    earliest_start,
    expected_time,
    fits,
    free,
    is_away,
    next_fitting,
    now,
    width,
)
from swftools.simulator.machine.waiting_queue import ANY, NOBODY, is_waiting
from swftools.simulator.registry import policy

BY_KEY = RANK + 1
"""The order of the keys that a policy of one's own has written into the memory."""


@dataclass(frozen=True)
class PvEasyParameters(Parameters):
    """Parameters of ``pv-easy``.

    Parameters
    ----------
    slp : bool
        Whether shadow jobs (those that went ahead) are stopped for the first waiting job.
    venture : bool
        Whether any job that fits into the free processors goes ahead.
    order : {"fcfs", "sjf", "lxf", "widest", "narrowest", "ljf", "rank"}
        The priority; equal ones by submission. ``rank`` is the column ``priority_rank``.
    victims : {"lowest", "spare-needless"}
        Which jobs are stopped: from the lowest priority up, until enough processors are free. ``spare-needless`` then
        spares, from the highest priority down, jobs that need not be stopped after all.
    preemption : {"kill", "checkpoint", "suspend"}
        What stopped jobs lose: all of their work, their work since the last checkpoint (column
        ``checkpoint_interval``), or nothing. The simulation's ``restart_overhead`` is the time to continue.
    """

    slp: bool = truth(True)
    venture: bool = truth(True)
    order: str = choice(*ORDERS, "rank")
    victims: str = choice("lowest", "spare-needless")
    preemption: str = choice("kill", "checkpoint", "suspend")  # in the order of KILL, CHECKPOINT, SUSPEND


class Manner(NamedTuple):
    """How to decide: all parameters except the order."""

    slp: bool
    venture: bool
    victims: int
    preemption: int


class ShadowLoad(NamedTuple):
    """Who runs in the shadow, and room to choose victims.

    ``is_sunny`` and ``key`` (priority of a running job, the least is served first; ``BY_KEY`` also of one that waits)
    are of jobs, and not used in order of submission: there a running job is sunny where it stands before all that wait.
    ``keys`` and ``places`` are a heap, ``victims`` the jobs that are chosen. ``before`` is the blocked job that the
    last decision left, or NOBODY, how many had been submitted by then, and how often the queue was disturbed.
    """

    is_sunny: npt.NDArray[np.bool_]
    key: FloatArray
    keys: FloatArray
    places: IntArray
    victims: IntArray
    before: IntArray


HEAD, SEEN, UNREST = range(3)
"""Places in ``ShadowLoad.before``."""


def no_shadow(jobs: int, processors: int) -> ShadowLoad:
    """Return the memory before the first job."""
    most = min(jobs, processors) + 1
    return ShadowLoad(
        np.zeros(jobs, np.bool_),
        np.zeros(jobs),
        np.zeros(most),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.full(3, NOBODY, np.int64),
    )


def carry_shadow(old: ShadowLoad, new: ShadowLoad, jobs: IntArray) -> None:
    """Take along who is sunny; the next decision looks at all that wait, as behind a disturbance."""
    new.is_sunny[: len(jobs)], new.key[: len(jobs)] = old.is_sunny[jobs], old.key[jobs]


@policy(
    "pv-easy",
    when="If nobody of lower priority may delay a job, though run times are predicted wrongly; it stops jobs.",
    parameters=PvEasyParameters,
    memory=no_shadow,
    carry=carry_shadow,
    needs_where={("order", "rank"): ("priority_rank",), ("preemption", "checkpoint"): ("checkpoint_interval",)},
    promises_where={
        "strict-fairness": {"slp": True, "order": "fcfs"},
        "no-idle-processors": {"venture": True},
        "no-stop-in-vain": {"order": "fcfs"},
    },
    allocates=False,
    version=2,
)
def pv_easy(machine: Machine, parameters: Any, memory: ShadowLoad) -> None:
    """Start jobs in order of priority; let others go ahead, but stop them when the first needs their processors."""
    order = rank_order(0.0) if parameters.order == len(ORDERS) else simple_order(parameters.order)
    manner = Manner(parameters.slp, parameters.venture, parameters.victims, parameters.preemption)
    decide_pv_easy(machine, manner, memory, order)


@kernel(allocates=False)
def decide_pv_easy(machine: Machine, manner: Manner, memory: ShadowLoad, order: Order) -> None:
    """Decide as PV-EASY in an order: that of its parameters, or by keys of one's own (``by_key``)."""
    if manner.venture and order.kind == FCFS and _has_only_grown(machine, memory):
        memory.before[SEEN] = machine.counts[SUBMITTED]
        if fits(machine, machine.counts[SUBMITTED] - 1) and is_waiting(machine.queue, machine.counts[SUBMITTED] - 1):
            start(machine, machine.counts[SUBMITTED] - 1)
        return
    head, shadow = _start_heads(machine, manner, memory, order)
    if order.kind != FCFS:
        _note_sunny(machine, memory, order, head)
    if head != NOBODY and can_start_any(machine):
        _fill(machine, manner, memory, order, head, shadow)
    memory.before[HEAD], memory.before[SEEN] = head, machine.counts[SUBMITTED]
    memory.before[UNREST] = machine.counts[DISTURBED]


@kernel(allocates=False)
def _has_only_grown(machine: Machine, memory: ShadowLoad) -> bool:
    """Whether since the last decision nothing happened but one submission, at most, behind a blocked job.

    Then that is blocked still, since what it could have is what it could have had; and of the others only the new one
    may fit, for whoever fitted was started.
    """
    return (
        memory.before[HEAD] != NOBODY
        and machine.counts[ENDED] == 0
        and machine.counts[DISTURBED] == memory.before[UNREST]
        and machine.counts[SUBMITTED] <= memory.before[SEEN] + 1
    )


@kernel(allocates=False)
def _start_heads(machine: Machine, manner: Manner, memory: ShadowLoad, order: Order) -> tuple[int, int]:
    """Start jobs in order, in the place of shadow jobs where that suffices; return who is left, and the shadow load."""
    head = _first(machine, memory, order, NOBODY, ANY, ANY, ANY)
    shadow = 0
    while head != NOBODY:
        if not fits(machine, head):
            if not manner.slp:
                break
            shadow = _shadow_processors(machine, memory, order, head)
            if free(machine) + shadow < width(machine, head):
                break
            _make_room(machine, manner, memory, order, head)
        _start(machine, memory, order, head)
        head = _first(machine, memory, order, head, ANY, ANY, ANY)
    return head, shadow


@kernel(allocates=False)
def _fill(machine: Machine, manner: Manner, memory: ShadowLoad, order: Order, head: int, shadow: int) -> None:
    """Reserve for the blocked job, and let others go ahead."""
    when, extra = now(machine), 0
    if manner.slp:
        when, extra = _earliest_without_shadow(machine, memory, order, head, shadow)
    else:
        when, extra = earliest_start(machine, width(machine, head))
    time = time_until(now(machine), when)
    if manner.venture:
        _let_go_ahead(machine, memory, order, simple_order(SJF), head, time, 0.0)
        _let_go_ahead(machine, memory, order, order, head, ANY, ANY)
    else:
        _let_go_ahead(machine, memory, order, order, head, time, float(extra))


@kernel(allocates=False)
def by_key() -> Order:
    """Return the order by the keys in the memory, which a policy of your own writes before it decides."""
    return Order(BY_KEY, 0.0, 0.0, 0.0, 0.0, ANY, 0.0)


@kernel(allocates=False)
def _first(
    machine: Machine, memory: ShadowLoad, order: Order, job: int, processors: float, time: float, spare: float
) -> int:
    """Return the first in an order of the waiting jobs that fit; in that of the queue it stands behind another."""
    if order.kind == FCFS:
        return next_fitting(machine, job, processors, time, spare)
    if order.kind != BY_KEY:
        return first_in_order(machine, order, processors, time, spare)
    first = next_fitting(machine, NOBODY, processors, time, spare)
    other = first
    while other != NOBODY:
        if memory.key[other] < memory.key[first]:
            first = other
        other = next_fitting(machine, other, processors, time, spare)
    return first


@kernel(allocates=False)
def _key(machine: Machine, memory: ShadowLoad, order: Order, job: int) -> float:
    """Return the priority of a waiting job now; the least is served first."""
    if order.kind == FCFS:
        return 0.0
    if order.kind == BY_KEY:
        return memory.key[job]
    requests = machine.requests
    processors, time = float(requests.processors[job]), expected_time(machine, job)
    return key_of(order, machine, requests.submit_time[job], processors, time, rank_of(machine, job, order.unknown))


@kernel(allocates=False)
def _start(machine: Machine, memory: ShadowLoad, order: Order, job: int) -> None:
    """Start a job, and note its priority."""
    if order.kind != FCFS:
        memory.key[job] = _key(machine, memory, order, job)
    start(machine, job)


@kernel(allocates=False)
def _is_shadow(machine: Machine, memory: ShadowLoad, order: Order, job: int, head: int, key: float) -> bool:
    """Whether a running job has lower priority than the first waiting one, whose key is given, and was never sunny."""
    place = machine.queue.place
    if is_away(machine, job):
        return False
    if order.kind == FCFS:
        return place[job] > place[head]
    if memory.is_sunny[job]:
        return False
    return memory.key[job] > key or (memory.key[job] == key and place[job] > place[head])


@kernel(allocates=False)
def _note_sunny(machine: Machine, memory: ShadowLoad, order: Order, head: int) -> None:
    """Note which running jobs are sunny: those before which nobody waits."""
    key = _key(machine, memory, order, head) if head != NOBODY else 0.0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if head == NOBODY or not _is_shadow(machine, memory, order, job, head, key):
            memory.is_sunny[job] = True


@kernel(allocates=False)
def _shadow_processors(machine: Machine, memory: ShadowLoad, order: Order, head: int) -> int:
    """Return how many processors shadow jobs hold."""
    key = _key(machine, memory, order, head)
    shadow = 0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if _is_shadow(machine, memory, order, job, head, key):
            shadow += machine.allocated[job]
    return shadow


@kernel(allocates=False)
def _make_room(machine: Machine, manner: Manner, memory: ShadowLoad, order: Order, head: int) -> None:
    """Stop shadow jobs so that the first waiting one fits; the caller guarantees that they suffice."""
    key = _key(machine, memory, order, head)
    count = 0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if _is_shadow(machine, memory, order, job, head, key):
            lowest = 0.0 if order.kind == FCFS else -memory.key[job]
            push(memory.keys, memory.places, count, lowest, -machine.queue.place[job])
            count += 1
    lacking = width(machine, head) - free(machine)
    chosen = 0
    while lacking > 0:
        job = machine.queue.job[-pop(memory.keys, memory.places, count)]
        count -= 1
        lacking -= machine.allocated[job]
        memory.victims[chosen] = job
        chosen += 1
    spares = manner.victims > 0
    for i in range(chosen - 1, -1, -1):
        job = memory.victims[i]
        if spares and machine.allocated[job] <= -lacking:
            lacking += machine.allocated[job]
        else:
            preempt(machine, job, manner.preemption)


@kernel(allocates=False)
def _earliest_without_shadow(
    machine: Machine, memory: ShadowLoad, order: Order, head: int, shadow: int
) -> tuple[float, int]:
    """Return when the head fits if sunny jobs end as expected and no others run, and how many are left over then."""
    key = _key(machine, memory, order, head)
    available = free(machine) + shadow
    when, processors = now(machine), width(machine, head)
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if available >= processors and machine.expected_end[job] > when:
            break
        if not _is_shadow(machine, memory, order, job, head, key):
            available += machine.allocated[job]
            when = max(machine.expected_end[job], now(machine))
    return when, available - processors


@kernel(allocates=False)
def _let_go_ahead(
    machine: Machine, memory: ShadowLoad, order: Order, turn: Order, head: int, time: float, extra: float
) -> None:
    """Start jobs that fit and are expected to take no longer than a time, or need only extra processors; in turn."""
    job = _first(machine, memory, turn, head, float(free(machine)), time, extra)
    while job != NOBODY:
        if expected_time(machine, job) > time:
            extra -= width(machine, job)
        _start(machine, memory, order, job)
        job = _first(machine, memory, turn, job, float(free(machine)), time, extra)
