# SPDX-License-Identifier: BSD-3-Clause
"""What a decision from outside may do: the verbs, by a number, each checked before anything is changed.

A verb of a policy that is wrong ends the simulation. From outside it must not: so what a verb finds out only when it
has changed something, that there is no room for another act in this decision, is looked at first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import index
from typing import Any, Self

from swftools.errors import ParameterError, PolicyError
from swftools.kernel import IntArray, kernel
from swftools.simulator.instants import time_until
from swftools.simulator.machine.faults import TOO_MANY, fail
from swftools.simulator.machine.state import DISTURBED, STARTED, STOPPED, SUSPEND, WAITING, Machine
from swftools.simulator.machine.verbs import hold, preempt, resize, start, start_on, wake_at
from swftools.simulator.machine.views import (
    can_start_any,
    earliest_start,
    expected_time,
    first_waiting,
    fits,
    free,
    next_fitting,
    next_waiting,
    now,
    width,
)
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.policy_abi import machine_at
from swftools.simulator.stepping.views import Views

START, START_ON, PREEMPT, RESIZED, HOLD, FILL, WAKE = range(7)
"""The acts; ``FILL`` starts a job, or lets others go ahead that do not delay it."""


def act(place: Any, what: int, job: int, number: int, time: float) -> None:
    """Do something to a job, before the policy decides.

    Parameters
    ----------
    place : int or Machine
        Where the machine lies; interpreted the machine.
    what : int
        Which act.
    job : int
        The job.
    number : int
        The processors, or how to preempt.
    time : float
        Until when to hold, or when to wake, s.
    """
    machine = machine_at(place)
    counts = machine.counts
    if counts[STARTED] + 1 >= len(machine.started) or counts[STOPPED] + 1 >= len(machine.stops.run):
        fail(machine, TOO_MANY, job)
    if what == START:
        start(machine, job)
    elif what == START_ON:
        start_on(machine, job, number)
    elif what == PREEMPT:
        preempt(machine, job, number)
    elif what == RESIZED:
        resize(machine, job, number)
    elif what == HOLD:
        hold(machine, job, time)
    elif what == WAKE:
        wake_at(machine, time)
    elif 0 <= job < len(machine.allocated) and is_waiting(machine.queue, job) and not fits(machine, job):
        fill_before(machine, job)
    else:
        start(machine, job)
    counts[DISTURBED] += 1  # who decides otherwise did not do it, and may remember the queue as it was


@kernel(allocates=False)
def fill_before(machine: Machine, head: int) -> None:
    """Reserve for a job that does not fit, as EASY does; start those of the others that do not delay it, in order."""
    if not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, head))
    time = time_until(now(machine), shadow)
    job = next_fitting(machine, NOBODY, free(machine), time, extra)
    while job != NOBODY:
        if expected_time(machine, job) > time:
            extra -= width(machine, job)
        start(machine, job)
        job = next_fitting(machine, job, free(machine), time, extra)


def note_waiting(place: Any, jobs: IntArray) -> int:
    """Write the waiting jobs into an array, in the order of the queue; return how many: at most as many as it holds."""
    machine = machine_at(place)
    count = min(machine.counts[WAITING], len(jobs))
    job = first_waiting(machine)
    for i in range(count):
        jobs[i] = job
        job = next_waiting(machine, job)
    return count


@cache
def act_kernel() -> Any:
    """Return ``act`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    numbers = (types.int64, types.int64, types.int64, types.int64, types.float64)
    return kernel(types.void(*numbers), allocates=False)(act)


@cache
def note_waiting_kernel() -> Any:
    """Return ``note_waiting`` as a kernel."""
    from numba import types  # noqa: PLC0415 (as above)

    return kernel(types.int64(types.int64, types.int64[::1]), allocates=False)(note_waiting)


class Acts(Views):
    """What a ``Stepper`` can be told at a decision."""

    _act: Callable[..., None]
    _acts: int

    def start(self, job: int) -> Self:
        """Start a waiting job now, on the processors that it asks for.

        Returns
        -------
        Stepper
            Itself, as all acts.

        Raises
        ------
        PolicyError
            It stands before no decision; or that cannot be. Nothing is changed then, as of all acts.
        """
        return self._do(START, job)

    def start_on(self, job: int, processors: int) -> Self:
        """Start a waiting job now on another number of processors, which its speedup curve must allow."""
        return self._do(START_ON, job, processors)

    def preempt(self, job: int, how: int = SUSPEND) -> Self:
        """Stop a running job now; ``how`` is ``KILL``, ``CHECKPOINT`` or ``SUSPEND`` of ``swftools.simulator``."""
        return self._do(PREEMPT, job, how)

    def resize(self, job: int, processors: int) -> Self:
        """Let a running job go on on another number of processors."""
        return self._do(RESIZED, job, processors)

    def hold(self, job: int, until: float) -> Self:
        """Keep a waiting job out of the queue until a time, s."""
        return self._do(HOLD, job, 0, until)

    def wake_at(self, time: float) -> Self:
        """Ask for a decision at a time, s, if no event comes before it."""
        return self._do(WAKE, NOBODY, 0, time)

    def start_or_fill(self, job: int) -> Self:
        """Start a waiting job if it fits; else let others go ahead that do not delay it, as EASY does.

        The job has the reservation then, whoever stands before it in the queue, at this decision.
        """
        return self._do(FILL, job)

    def _do(self, what: int, job: int, number: int = 0, time: float = 0.0) -> Self:
        """Act on the machine; what cannot be is told, and changes nothing."""
        self._simulation._check_whole()
        if not self.is_deciding:
            raise PolicyError("no decision is due now: call advance(), and act while it returns True")
        try:
            whole = index(job), index(number)
        except TypeError:
            raise ParameterError(f"job={job!r}, {number!r}: give whole numbers; jobs are those of waiting") from None
        driver = self._simulation._driver
        try:
            self._act(driver.seat.places[1], what, *whole, float(time))
        except ValueError:
            raise PolicyError(f"not done, {driver.acted_wrongly()}") from None
        self._acts += 1
        return self
