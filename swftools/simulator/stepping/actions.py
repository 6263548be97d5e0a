# SPDX-License-Identifier: BSD-3-Clause
"""What a decision from outside may do: the verbs, by a number, each checked before anything is changed.

A verb of a policy that is wrong ends the simulation. From outside it must not: so what a verb finds out only when it
has changed something, that there is no room for another act in this decision, is looked at first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from operator import index
from typing import Any, Self

from swftools.errors import ParameterError, PolicyError
from swftools.kernel import kernel
from swftools.simulator.machine.faults import TOO_MANY, fail
from swftools.simulator.machine.state import DISTURBED, STARTED, STOPPED, SUSPEND
from swftools.simulator.machine.verbs import hold, preempt, resize, start, start_on, wake_at
from swftools.simulator.machine.views import fits
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.nodes.acts import run_there, start_there
from swftools.simulator.policies.ordered_easy import fill_before
from swftools.simulator.policy_abi import machine_at
from swftools.simulator.stepping.chosen_nodes import kept_nodes, on_these_nodes
from swftools.simulator.stepping.views import Views

START, START_ON, PREEMPT, RESIZED, HOLD, FILL, WAKE, START_THERE, RUN_THERE = range(9)
"""The acts; ``FILL`` starts a job, or lets others go ahead that do not delay it; ``START_THERE`` starts one on nodes
that are written down as its own; ``RUN_THERE`` likewise one that ran there before the simulation began."""

LACKING_ON_NODES = {
    START_ON: "start_on() is of a pool of processors; on nodes a job runs as it asks to: call start()",
    PREEMPT: "preempt() is of a pool of processors; on nodes who runs is stopped by outages: describe one (down)",
    RESIZED: "resize() is of a pool of processors; on nodes a job runs as it asks to",
}
"""Acts that a machine of nodes lacks, and what to do."""


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
        The processors, how to preempt, or the set of the nodes.
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
    elif what == START_THERE:
        start_there(machine, job, number)
    elif what == RUN_THERE:
        run_there(machine, job, number)
    elif 0 <= job < len(machine.allocated) and is_waiting(machine.queue, job) and not fits(machine, job):
        fill_before(machine, job)
    else:
        start(machine, job)
    counts[DISTURBED] += 1  # who decides otherwise did not do it, and may remember the queue as it was


@cache
def act_kernel() -> Any:
    """Return ``act`` as a kernel: compiled at its first use, from then on taken from the cache on disk."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    numbers = (types.int64, types.int64, types.int64, types.int64, types.float64)
    return kernel(types.void(*numbers), allocates=False)(act)


class Acts(Views):
    """What a ``Stepper`` can be told at a decision."""

    _act: Callable[..., None]
    _acts: int

    def start(self, job: int, nodes: Iterable[int] | str | None = None) -> Self:
        """Start a waiting job now, on the processors that it asks for.

        Parameters
        ----------
        job : int
            One of ``waiting``.
        nodes : iterable of int, or str, optional
            On a machine of nodes: on which, by number or as a hostlist; without it the placement chooses.

        Returns
        -------
        Stepper
            Itself, as all acts.

        Raises
        ------
        PolicyError
            It stands before no decision; or that cannot be. Nothing is changed then, as of all acts.
        ParameterError
            There are no such nodes, or these are not what the job asks for.
        """
        if nodes is None:
            return self._do(START, job)
        self._check_acts(job)
        with on_these_nodes(self._simulation, int(job), nodes) as group:
            return self._do(START_THERE, job, group)

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
        self._check_acts(job, number)
        simulation, driver = self._simulation, self._simulation._driver
        if simulation.nodes is not None and what in LACKING_ON_NODES:
            raise PolicyError(LACKING_ON_NODES[what])
        try:
            with kept_nodes(simulation, int(job)):
                self._act(driver.seat.places[1], what, index(job), index(number), float(time))
        except ValueError:
            raise PolicyError(f"not done, {driver.acted_wrongly()}") from None
        self._acts += 1
        return self

    def _check_acts(self, job: int, number: int = 0) -> None:
        """Refuse to act where nothing is to be decided, and what is no number."""
        self._simulation._check_whole()
        if not self.is_deciding:
            raise PolicyError("no decision is due now: call advance(), and act while it returns True")
        try:
            index(job), index(number)
        except TypeError:
            raise ParameterError(f"job={job!r}, {number!r}: give whole numbers; jobs are those of waiting") from None
