# SPDX-License-Identifier: BSD-3-Clause
"""The scheduler of Cirne and Berman: a submitted job gets the width on which it is expected to end first.

``cirne-berman``
    When a job is submitted, the scheduler tries each width that the job may have. For each it plays the running and
    waiting jobs forward, on a copy and by its own rules, as if no other job came and all jobs ended as expected. The
    job gets the width on which it ends first, and of equal ones the smallest; with a ``tolerance`` the smallest that is
    at most that much worse. From then on it is rigid. Rigid jobs wait and start as under ``fixed``, or each with a
    reservation.

Guarantee
    That of EASY, as under ``fixed``. With ``inner=conservative`` all reservations are made anew at each decision, in
    order of priority, so a job that comes later with a higher priority may delay another.
Cost of a decision
    O(n + r) for n waiting and r running jobs. A submission costs as much for each width that is tried and for each end
    of a job until the new one starts; widths too narrow to be of use are not tried. With reservations there is one plan
    for all.

References
----------
Cirne and Berman 2003, "When the herd is smart: aggregate behavior in the selection of job request"; Barsanti and Sodan
2006, "Adaptive job scheduling via predictive job resource allocation", sections 3 and 5.2.

Differs from the papers
-----------------------
Cirne and Berman offer a drawn set of widths (``processor_choices``). Here, as in Barsanti and Sodan, it is all widths
between a job's bounds, or its own width and the powers of two. Neither paper says how ties are broken, which matters
much: with a tolerance of 5 % mean response times on their workload are half of those without it, or less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.parameters import choice, number
from swftools.simulator.instants import time_until
from swftools.simulator.machine.state import FREE, NOW, SUBMITTED, Machine
from swftools.simulator.machine.verbs import start_on
from swftools.simulator.memory_transfer import check_sound
from swftools.simulator.planning import LEAST_TIME, Plan, empty_plan, hold_running, place, planned_length
from swftools.simulator.policies.class_line import (
    ClassParameters,
    Line,
    carry_line,
    empty_line,
    line_up,
    put_in_order,
    restore_line,
    time_on,
)
from swftools.simulator.policies.class_plan import (
    BEGUN,
    QUEUED,
    ClassPlan,
    copy_machine,
    decide_on,
    empty_class_plan,
    play,
)
from swftools.simulator.policies.scojo_p import CURVES
from swftools.simulator.profile import earliest
from swftools.simulator.registry import policy

_EASY = _ALL = 0
"""The first of the words that ``inner`` and ``sizes`` may be."""


@dataclass(frozen=True)
class CirneBermanParameters(ClassParameters):
    """Parameters of ``cirne-berman``, beside those of classes.

    Parameters
    ----------
    sizes : {"all", "powers-of-two"}
        The widths to try: all between a job's bounds, or its own width and the powers of two.
    tolerance : float
        A smaller width is taken if it lengthens the best response time by at most this share.
    inner : {"easy", "conservative"}
        Whether only the first job that does not fit has a reservation, or all jobs have one.
    """

    sizes: str = choice("all", "powers-of-two")
    tolerance: float = number(0.0, least=0)
    inner: str = choice("easy", "conservative")


class CirneBermanMemory(NamedTuple):
    """The waiting jobs, the copy to play on, reservations, and the response times on each width (s)."""

    line: Line
    copy: ClassPlan
    plan: Plan
    responses: FloatArray


def cirne_berman_memory(jobs: int, processors: int) -> CirneBermanMemory:
    """Return the memory before the first job."""
    line, copy = empty_line(jobs, processors), empty_class_plan(jobs, processors)
    return CirneBermanMemory(line, copy, empty_plan(jobs), np.zeros(processors + 1))


def carry_widths(old: CirneBermanMemory, new: CirneBermanMemory, jobs: IntArray) -> None:
    """Take along who stands in line, and the widths that were given."""
    carry_line(old.line, new.line, jobs)
    new.copy.width[: len(jobs)] = old.copy.width[jobs]


def restore_widths(old: CirneBermanMemory, new: CirneBermanMemory, machine: Machine) -> None:
    """Take the same out of a saved state."""
    restore_line(old.line, new.line, machine)
    jobs = slice(int(machine.counts[SUBMITTED]))
    new.copy.width[jobs] = old.copy.width[jobs]
    width, line = new.copy.width[jobs], new.line
    given = width != 0
    check_sound((width[given] >= line.least[jobs][given]).all(), "a width that is too small")
    check_sound((width[given] <= line.most[jobs][given]).all(), "a width that is too large")


def variant(parameters: Any) -> Callable[..., None]:
    """Return what decides as ``cirne-berman`` does with some parameters, by a part of the code."""
    return by_playing if parameters.inner == _EASY else by_reserving


def by_playing(machine: Machine, parameters: Any, memory: CirneBermanMemory) -> None:
    """Let the first job that does not fit have a reservation."""
    play_easy(machine, parameters, memory)


def by_reserving(machine: Machine, parameters: Any, memory: CirneBermanMemory) -> None:
    """Let all jobs have one."""
    reserve_for_all(machine, parameters, memory)


@policy(
    "cirne-berman",
    when="To compare with users who choose widths themselves, each for the earliest end; jobs are moldable.",
    parameters=CirneBermanParameters,
    variants=variant,
    memory=cirne_berman_memory,
    carry=carry_widths,
    restore=restore_widths,
    needs=CURVES,
    allocates=False,
    version=2,
)
def cirne_berman(machine: Machine, parameters: Any, memory: CirneBermanMemory) -> None:
    """Choose the width of each new job; then start the jobs, now rigid, in order of class."""
    if parameters.inner == _EASY:
        play_easy(machine, parameters, memory)
    else:
        reserve_for_all(machine, parameters, memory)


@kernel(allocates=False)
def play_easy(machine: Machine, parameters: Any, memory: CirneBermanMemory) -> None:
    """Choose widths by how EASY would go on with them, and start jobs as it does."""
    line, copy = memory.line, memory.copy
    count = line_up(machine, line, parameters)
    for i in range(count):
        job = line.waiting[i]
        if copy.width[job] == 0:
            copy.width[job] = _width_by_play(machine, memory, parameters, job, count)
        copy.time[job] = time_on(machine, job, copy.width[job])
    if machine.counts[FREE] == 0:
        return
    copy_machine(machine, copy, line, count)
    decide_on(copy, line, machine.clock[NOW])
    for i in range(copy.counts[BEGUN]):
        start_on(machine, copy.started[i], copy.width[copy.started[i]])


@kernel(allocates=False)
def reserve_for_all(machine: Machine, parameters: Any, memory: CirneBermanMemory) -> None:
    """Choose widths by when the jobs ahead leave them, and start the jobs whose reservations begin now."""
    line, copy, now = memory.line, memory.copy, machine.clock[NOW]
    count = line_up(machine, line, parameters)
    for i in range(count):
        job = line.waiting[i]
        if copy.width[job] == 0:
            copy.width[job] = _width_by_plan(machine, memory, parameters, job, count)
        copy.time[job] = time_on(machine, job, copy.width[job])
    if machine.counts[FREE] == 0:
        return
    copy_machine(machine, copy, line, count)
    put_in_order(line, copy.waiting, copy.counts[QUEUED], now)
    _reserve(machine, memory, copy.counts[QUEUED])
    for i in range(count):
        job = line.order[i]
        if memory.plan.begin[job] <= now and copy.width[job] <= machine.counts[FREE]:
            start_on(machine, job, copy.width[job])


@kernel(allocates=False)
def _width_by_play(machine: Machine, memory: CirneBermanMemory, parameters: Any, job: int, count: int) -> int:
    """Return the width of a job that was just submitted, of so many that wait: all are played forward on each."""
    line, copy, now = memory.line, memory.copy, machine.clock[NOW]
    if line.least[job] == line.most[job]:
        return line.least[job]
    best = longest = np.inf
    size = _next_to_try(machine, memory, parameters, job, line.most[job] + 1, longest)
    while size > 0:
        copy.width[job], copy.time[job] = size, time_on(machine, job, size)
        copy_machine(machine, copy, line, count)
        memory.responses[size] = play(copy, line, job, now, longest)
        best = min(best, memory.responses[size])
        longest = time_until(now, now + best * (1.0 + parameters.tolerance))
        size = _next_to_try(machine, memory, parameters, job, size, longest)
    return _first_as_good(memory, job, longest)


@kernel(allocates=False)
def _width_by_plan(machine: Machine, memory: CirneBermanMemory, parameters: Any, job: int, count: int) -> int:
    """Return the same where all have reservations: those ahead of the job have theirs before it."""
    line, copy, now = memory.line, memory.copy, machine.clock[NOW]
    if line.least[job] == line.most[job]:
        return line.least[job]
    copy.width[job] = line.most[job]
    copy_machine(machine, copy, line, count)
    put_in_order(line, copy.waiting, copy.counts[QUEUED], now)
    ahead = 0
    while line.order[ahead] != job:
        ahead += 1
    _reserve(machine, memory, ahead)
    best = longest = np.inf
    size = _next_to_try(machine, memory, parameters, job, line.most[job] + 1, longest)
    while size > 0:
        time = time_on(machine, job, size)
        memory.responses[size] = earliest(memory.plan.profile, size, planned_length(time), np.inf) - now + time
        best = min(best, memory.responses[size])
        longest = time_until(now, now + best * (1.0 + parameters.tolerance))
        size = _next_to_try(machine, memory, parameters, job, size, longest)
    return _first_as_good(memory, job, longest)


@kernel(allocates=False)
def _next_to_try(
    machine: Machine, memory: CirneBermanMemory, parameters: Any, job: int, size: int, longest: float
) -> int:
    """Return the next smaller width to try, 0 if there is none: on it the job takes at most so long (s).

    Widths that are not tried have no response time.
    """
    own, least, is_over = machine.requests.processors[job], memory.line.least[job], False
    while size > least:
        size -= 1
        memory.responses[size] = np.inf
        if is_over:
            continue
        time = time_on(machine, job, size)
        is_over = time > longest  # run times only grow
        is_of_sizes = parameters.sizes == _ALL or size & (size - 1) == 0 or size == own
        if not is_over and time < np.inf and is_of_sizes:
            return size
    return 0


@kernel(allocates=False)
def _first_as_good(memory: CirneBermanMemory, job: int, longest: float) -> int:
    """Return the smallest width whose response time is short enough."""
    for size in range(memory.line.least[job], memory.line.most[job] + 1):
        if memory.responses[size] <= longest and memory.responses[size] < np.inf:
            return size
    return memory.line.optimum[job]


@kernel(allocates=False)
def _reserve(machine: Machine, memory: CirneBermanMemory, count: int) -> None:
    """Reserve for the first jobs of the order the earliest time that those before them leave."""
    hold_running(machine, memory.plan.profile, LEAST_TIME)
    for i in range(count):
        job = memory.line.order[i]
        place(memory.plan, job, memory.copy.width[job], planned_length(memory.copy.time[job]))
