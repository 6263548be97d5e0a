# SPDX-License-Identifier: BSD-3-Clause
"""EASY backfilling: jobs start in order of submission; others go ahead if they do not delay the first, or first few.

``easy``
    Start jobs in order of submission until one does not fit. Reserve for it the earliest time at which enough
    processors will be free. Then start those jobs behind it that fit now and either are expected to end by that time,
    or need only processors that will be left over then.
``sjf-backfill``
    The same, but of the jobs behind the first the shortest is considered first: the SJBF of Tsafrir et al. and of the
    simulator pyss. The queue itself stays in order of submission. It is ``easy`` with ``backfill_order="sjf"``. (The
    policies whose *queue* is in another order, such as ``lxf-backfill``, are in ``priority_easy``.)

Guarantee
    If no job outlives its estimate, the first waiting job never starts later than the reservation that it gets when it
    becomes the first. Nobody starves, because each job becomes the first. Jobs behind the first have no reservation,
    and those that go ahead of them may delay them. With ``reservations=k`` the first k jobs have a reservation; those
    of the second to the k-th are planned anew at each decision and may still move.
Outlived estimates
    A running job that outlives its estimate is expected to run to its limit, and beyond that to end at any moment. The
    reservation is computed anew at each decision, so it moves then.
Cost of a decision
    Nothing if no waiting job fits. Otherwise O(r) over the r running jobs for the reservation and O(log n) for each job
    started. If another order than that of submission is used, also a search among the c jobs that may backfill, which
    looks at few of them unless the longest or widest goes first. With k > 1 O((r + k) (k + c)).

References
----------
Lifka 1995, "The ANL/IBM SP scheduling system"; Mu'alem and Feitelson 2001, "Utilization, predictability, workloads, and
user runtime estimates in scheduling the IBM SP2 with backfilling", algorithm 1; Tsafrir, Etsion and Feitelson 2007,
"Backfilling using system-generated predictions rather than user runtime estimates", for the shortest job first; Chiang,
Arpaci-Dusseau and Vernon 2002 for several reservations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import kernel
from swftools.parameters import Parameters, choice, whole
from swftools.simulator.instants import instant
from swftools.simulator.job_orders import FCFS, ORDERS, in_order, simple_order
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import (
    can_start_any,
    expected_time,
    first_waiting,
    fits,
    next_waiting,
    now,
    waiting_that_fit,
    width,
)
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from swftools.simulator.memory_transfer import carry_nothing
from swftools.simulator.nodes.easy import easy_by_plan_on_nodes, start_heads_on_nodes
from swftools.simulator.nodes.exchange import on_nodes
from swftools.simulator.planning import hold_running, planned_time
from swftools.simulator.policies.job_shelves import JobShelves, empty_shelves
from swftools.simulator.policies.ordered_easy import backfill_among_many, backfill_in_turn
from swftools.simulator.profile import Profile, add, earliest, empty_profile, least
from swftools.simulator.registry import alias, policy


@dataclass(frozen=True)
class EasyParameters(Parameters):
    """Parameters of ``easy``.

    Parameters
    ----------
    backfill_order : {"fcfs", "sjf", "lxf", "widest", "narrowest", "ljf"}
        The order in which the jobs behind the first are considered; equal ones by submission.
    reservations : int
        How many of the first waiting jobs are protected from delay.
    """

    backfill_order: str = choice(*ORDERS)
    reservations: int = whole(1, least=1)


def profile_memory(jobs: int, processors: int) -> Profile:  # noqa: ARG001 (as all memories)
    """Return a profile, which costs no memory until it is used: if several reservations are asked for."""
    # Arrays of one zero, said to be many, are not even looked through.
    return Profile._make(np.broadcast_to(column[:1], column.shape) for column in empty_profile(jobs))


class EasyMemory(NamedTuple):
    """Room for what other parameters than the defaults need: several reservations; another order to go ahead in."""

    profile: Profile
    shelves: JobShelves


def easy_memory(jobs: int, processors: int) -> EasyMemory:
    """Return the memory before the first job."""
    return EasyMemory(profile_memory(jobs, processors), empty_shelves(jobs))


def variant(parameters: Any) -> Callable[..., None]:
    """Return what decides as ``easy`` does with some parameters, by a part of the code."""
    if parameters.reservations > 1:
        return easy_by_profile
    return easy_in_turn if parameters.backfill_order == FCFS else easy_among_many


def easy_in_turn(machine: Machine) -> None:
    """Let others go ahead in the order of the queue."""
    backfill_in_turn(machine, start_heads(machine))


def easy_among_many(machine: Machine, parameters: Any, memory: EasyMemory) -> None:
    """Let others go ahead in another order."""
    backfill_among_many(machine, memory.shelves, simple_order(parameters.backfill_order), start_heads(machine))


@on_nodes(easy_by_plan_on_nodes)
def easy_by_profile(machine: Machine, parameters: Any, memory: EasyMemory) -> None:
    """Protect several from delay."""
    head = start_heads(machine)
    if head != NOBODY and can_start_any(machine):
        easy_with_several(machine, parameters, memory.profile, head)


@policy(
    "easy",
    when="As the baseline of a study: it is what most machines come closest to, and what most papers compare with.",
    parameters=EasyParameters,
    variants=variant,
    memory=easy_memory,
    carry=carry_nothing,
    rests=True,
    promises=("head-reservation", "backfilling", "no-idle-head"),
    restates=("pyss", "cqsim", "dr_evt", "raps"),
    restated_by={
        "dr_evt": ("easy-in-time", {"ends": "before"}),
        "raps": ("easy-in-time", {"running": "by-limit"}),
    },
    allocates=False,
    version=2,
)
def easy(machine: Machine, parameters: Any, memory: EasyMemory) -> None:
    """Start jobs in order of submission; others go ahead if they do not delay the first."""
    head = start_heads(machine)
    if head == NOBODY or not can_start_any(machine):
        return
    if parameters.reservations > 1:
        easy_with_several(machine, parameters, memory.profile, head)
    elif parameters.backfill_order == FCFS:
        backfill_in_turn(machine, head)
    else:
        backfill_among_many(machine, memory.shelves, simple_order(parameters.backfill_order), head)


alias(
    "sjf-backfill",
    "easy",
    when="If short jobs should go ahead sooner, while the first keeps its reservation.",
    backfill_order="sjf",
    restates=("pyss", "cqsim"),
)


@on_nodes(start_heads_on_nodes)
@kernel(allocates=False)
def start_heads(machine: Machine) -> int:
    """Start jobs from the first on while they fit; return the first that does not, or NOBODY."""
    head = first_waiting(machine)
    while fits(machine, head):
        start(machine, head)
        head = next_waiting(machine, head)
    return head


@kernel
def easy_with_several(machine: Machine, parameters: Any, memory: Profile, head: int) -> None:
    """Decide with reservations for the head and the next few, planned on a profile of the free processors."""
    present = now(machine)
    hold_running(machine, memory, 0.0)
    job = head
    last = head
    reserved = 0
    while job != NOBODY and reserved < parameters.reservations:
        processors, time = width(machine, job), planned_time(machine, job)
        begin = earliest(memory, processors, time, np.inf)
        if begin <= present and fits(machine, job):
            start(machine, job)
            add(memory, present, machine.expected_end[job], -processors)
        else:
            add(memory, begin, instant(begin + time), -processors)
            reserved += 1
        last = job
        job = next_waiting(machine, job)
    for other in in_order(parameters.backfill_order, machine, waiting_that_fit(machine, last, ANY, ANY)):
        processors, end = width(machine, other), instant(present + expected_time(machine, other))
        if fits(machine, other) and (end <= present or processors <= least(memory, end)):
            add(memory, present, end, -processors)
            start(machine, other)
