# SPDX-License-Identifier: BSD-3-Clause
"""What can be looked at of a simulation that is decided on from outside: arrays of the machine, read-only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.engine.replay import DECIDING
from swftools.simulator.machine.state import FREE, RUNNING, WAITING, Machine
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.chosen_nodes import nodes_of
from swftools.simulator.stepping.noting import note_fitting_kernel


class Views:
    """What a ``Stepper`` shows."""

    _simulation: Simulation
    _room: IntArray
    _note: Callable[..., Any]

    @property
    def now(self) -> float:
        """The present instant, s; -inf before the first."""
        return self._simulation.now

    @property
    def is_over(self) -> bool:
        """Whether every job has ended."""
        return self._simulation.is_over

    @property
    def is_deciding(self) -> bool:
        """Whether it stands before a decision, so that something can be done."""
        return bool(self._replay_counts[DECIDING])

    @property
    def processors(self) -> int:
        """Processors of the machine."""
        return self._simulation.processors

    @property
    def free(self) -> int:
        """Processors that are free."""
        return int(self._machine.counts[FREE])

    @property
    def waiting(self) -> IntArray:
        """The waiting jobs, in the order of the queue."""
        count = int(self._machine.counts[WAITING])
        if count > len(self._room):
            self._room = np.zeros(2 * count, np.int64)
        self._note(self._simulation._driver.seat.places[1], self._room)
        return _read_only(self._room[:count])

    @property
    def fitting(self) -> IntArray:
        """The waiting jobs that could start now, each by itself, in the order of the queue."""
        jobs = np.zeros(int(self._machine.counts[WAITING]), np.int64)
        driver = self._simulation._driver
        count = driver.called.taken(note_fitting_kernel())(driver.seat.places[1], jobs)
        return _read_only(jobs[:count])

    def nodes_of(self, job: int) -> IntArray:
        """Return the numbers of the nodes that a running job has, rising; none of one that does not run."""
        return nodes_of(self._simulation, job)

    @property
    def running(self) -> IntArray:
        """The running jobs, by expected end."""
        machine = self._machine
        return _read_only(machine.running[: machine.counts[RUNNING]])

    @property
    def width(self) -> IntArray:
        """The processors that each job asks for, of all jobs; -1 of those that were not submitted yet."""
        return self._of_jobs(self._machine.requests.processors)

    @property
    def submit_time(self) -> FloatArray:
        """When each job was submitted, s; NaN of those that were not yet."""
        return self._of_jobs(self._machine.requests.submit_time)

    @property
    def requested_time(self) -> FloatArray:
        """How long each job may run, s; NaN of those that were not submitted yet."""
        return self._of_jobs(self._machine.requests.limit)

    @property
    def estimated_time(self) -> FloatArray:
        """How long each job is expected to run, by the predictor or by its request, s; NaN likewise."""
        return self._of_jobs(self._machine.requests.requested_time)

    @property
    def user(self) -> IntArray:
        """The user of each job, numbered from 0; -1 is not known."""
        return self._of_jobs(self._machine.requests.user_id)

    @property
    def queue(self) -> IntArray:
        """The queue of each job; -1 is not known."""
        return self._of_jobs(self._machine.requests.queue_id)

    @property
    def allocated(self) -> IntArray:
        """The processors that each job holds; 0 if it does not run."""
        return self._of_jobs(self._machine.allocated)

    @property
    def expected_end(self) -> FloatArray:
        """When each running job is expected to end, s."""
        return self._of_jobs(self._machine.expected_end)

    @property
    def wait(self) -> FloatArray:
        """How long each job in ``waiting`` has waited, s; in its order."""
        return np.asarray(self.now - self._machine.requests.submit_time[self.waiting])

    def free_over_time(self) -> tuple[FloatArray, IntArray]:
        """Return the free processors from now on, if running jobs end as expected and nobody starts.

        Returns
        -------
        times, free : ndarray of float64 (s), ndarray of int64
            From each time on so many processors are free, until the next one; the first time is now.
        """
        jobs, machine = self.running, self._machine
        ends = np.maximum(machine.expected_end[jobs], self.now)
        times, place = np.unique(np.concatenate([[self.now], ends]), return_inverse=True)
        released = np.bincount(place[1:], weights=machine.allocated[jobs], minlength=len(times)).astype(np.int64)
        return times, self.free + np.cumsum(released)

    def job_number(self, job: int) -> int:
        """Return the number that a job has in the trace."""
        return int(self._simulation._number_of(job))  # type: ignore[call-overload]

    @property
    def _machine(self) -> Machine:
        return self._simulation._machine

    def _of_jobs(self, column: Any) -> Any:
        """Return a column of the jobs that are known, not to be written to; there may be room behind them."""
        return _read_only(column[: self._simulation._driver.jobs])

    @property
    def _replay_counts(self) -> IntArray:
        return self._simulation._replay.counts


def _read_only(array: Any) -> Any:
    """Return an array that shows another, and cannot be written to."""
    shown = array[:]
    shown.flags.writeable = False
    return shown
