# SPDX-License-Identifier: BSD-3-Clause
"""What can be done at a decision from outside: the verbs of policies, each an act that is done, or told to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Self

from swftools.errors import ParameterError, PolicyError
from swftools.simulator.machine.state import SUSPEND
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.stepping.acts import FILL, HOLD, PREEMPT, RESIZED, START, START_ON, WAKE
from swftools.simulator.stepping.looking import Views


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
