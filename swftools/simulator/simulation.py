# SPDX-License-Identifier: BSD-3-Clause
"""Simulation: a run that can be stopped, looked at, copied and continued."""

from __future__ import annotations

import copy
import os
import weakref
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError, PolicyError
from swftools.formats.as_trace import as_trace
from swftools.kernel import IntArray
from swftools.machines.node_table import NodeTable
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.assumptions import sentences_of
from swftools.simulator.engine.dependents import leave
from swftools.simulator.engine.replay import BEYOND, COMING, DONE, Coming, Replay
from swftools.simulator.job_table import JobTable
from swftools.simulator.machine.state import (
    CAPACITY,
    RUNNING,
    SUBMITTED,
    WAKE,
    Machine,
)
from swftools.simulator.machine.views import waiting_jobs
from swftools.simulator.nodes.away.on_outage import Lost, OnOutage
from swftools.simulator.nodes.placement import Placement
from swftools.simulator.outcome import Outcome, outcome_of, schedule_from, stuck_jobs
from swftools.simulator.predictors.kinds import Predictor, PythonPredictor
from swftools.simulator.registry import Policy
from swftools.simulator.requested_times import Logged
from swftools.simulator.restart import Column, Uniform
from swftools.simulator.run.driver import Driver
from swftools.simulator.run.interruptible_thread import PAUSE
from swftools.simulator.run.job_removal import chosen_rows, let_fewer_come, take_out
from swftools.simulator.run_setup import begin
from swftools.simulator.schedule import Schedule
from swftools.simulator.schedule_columns import NEVER_BACK
from swftools.simulator.state.columns import PER_JOB, names_per
from swftools.simulator.workload import Workload
from swftools.trace import Trace

Progress = Callable[[int, int, float], None]


class Simulation:
    """A simulation that you can stop, look at, copy and continue; none of this changes its result.

    Parameters
    ----------
    trace, policy, processors, compiled, and the options of a run
        As ``simulate`` takes them; also what it raises. The options in the signature are written by
        ``make run-options``.
    **parameters
        Of the policy.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2, 3], submit_time=[0, 1, 2],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[3, 4, 1])
    >>> simulation = Simulation(trace, "fcfs").run(until=1)
    >>> simulation.now, simulation.running["job_number"].tolist(), simulation.waiting["job_number"].tolist()
    (1.0, [1], [2])
    >>> simulation.copy().without_later_jobs().run().schedule().jobs["end_time"].tolist()
    [10.0, 20.0]
    >>> simulation.run().schedule().jobs["end_time"].tolist()
    [10.0, 20.0, 25.0]
    """

    nodes: NodeTable | None = None
    """The nodes of the machine; None of a pool, as of one that was made from a saved state."""

    def __init__(  # noqa: PLR0913 (options by name)
        self,
        trace: Trace | str | os.PathLike[str],
        policy: str | Policy,
        processors: int | None = None,
        *,
        predictor: str | Predictor | PythonPredictor = "request",
        requests: str | Logged = "logged",
        overrun: str = "extend",
        cancelled: str = "drop",
        restart_overhead: float | str | Uniform | Column = 0.0,
        semantics: str = "instant",
        dependencies: str = "follow",
        placement: str | Placement = "first-fit",
        heads: str = "partition",
        on_outage: str | OnOutage | Lost = "requeue",
        seed: int = 0,
        compiled: bool | str = True,
        machine: str | os.PathLike[str] | NodeTable | Any = None,
        **parameters: Any,
    ) -> None:
        source = as_trace(trace)
        run = RunOptions.among(locals())
        begun = begin(
            source,
            policy,
            processors,
            run,
            compiled=compiled,
            machine=machine,
            parameters=parameters,
            number_of=self._numbers(),
        )
        self.policy, self._chosen, self._workload, self._driver, self.options, self.nodes = begun
        self._table = JobTable(source)
        cut = self._workload.is_cut
        self._is_cut = cut if cut.any() else None  # by job; None: nobody is stopped at its limit
        self._users: dict[int, int] | None = None  # the number of each user, where it was asked for
        self._taken_out = np.zeros(0)  # when, by job; no rows as long as nobody was
        self._own_rows: npt.NDArray[np.int32] | None = None  # the row of each job in the trace, if not those of coming

    @property
    def trace(self) -> Trace:
        """The jobs, also those that were submitted since it began."""
        return self._table.trace()

    @property
    def _rows(self) -> npt.NDArray[np.int32]:
        """The row of each job in the trace."""
        return self._driver.coming.row if self._own_rows is None else self._own_rows

    @property
    def _machine(self) -> Machine:
        return self._driver.machine

    @property
    def _replay(self) -> Replay:
        return self._driver.replay

    @property
    def now(self) -> float:
        """The last instant that was simulated, s; -inf before the first."""
        now = self._driver.now
        return now if now < np.inf else -np.inf

    @property
    def is_over(self) -> bool:
        """Whether every job has ended."""
        return self._driver.is_over

    @property
    def processors(self) -> int:
        """Processors of the machine."""
        return int(self._machine.counts[CAPACITY])

    @property
    def predictor(self) -> PythonPredictor | None:
        """The predictor in Python, with what it has learned so far; None if there is none."""
        return self._driver.asked.predictor if self._driver.asked else None

    @property
    def predictor_seconds(self) -> float:
        """Seconds that a predictor in Python took so far."""
        return self._driver.asked.seconds if self._driver.asked else 0.0

    @property
    def waiting(self) -> pd.DataFrame:
        """The jobs in the queue, in its order: key, submit_time, processors, estimated_time and requested_time."""
        jobs = waiting_jobs.py_func(self._machine)
        requests = self._machine.requests
        return self._table.keys(self._rows[jobs]).assign(
            submit_time=requests.submit_time[jobs],
            processors=requests.processors[jobs],
            estimated_time=requests.requested_time[jobs],
            requested_time=requests.limit[jobs],
        )

    @property
    def running(self) -> pd.DataFrame:
        """The jobs that run, by expected end: key, start_time, expected_end and allocated_processors."""
        machine = self._machine
        jobs = machine.running[: machine.counts[RUNNING]]
        return self._table.keys(self._rows[jobs]).assign(
            start_time=machine.start_time[jobs],
            expected_end=machine.expected_end[jobs],
            allocated_processors=machine.allocated[jobs].astype(np.int64),
        )

    @property
    def notes(self) -> dict[str, pd.DataFrame]:
        """Tables of what the policy noted of its decisions so far; none where it notes nothing."""
        if not self.policy.notes:
            return {}
        tables = self.policy.notes(self._driver.decider.memory, self._chosen)
        return {name: self._table.with_keys(table, self._rows) for name, table in tables.items()}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the run takes for what the log does not say, and what its policy is told, in words."""
        left_out = {str(reason): int(n) for reason, n in self._workload.excluded["reason"].value_counts().items()}
        if count := int(stuck_jobs(self._machine, self._driver.jobs).sum()):
            left_out[NEVER_BACK] = count
        told = (*self._workload.dependent.told, *self._workload.told)
        of_machine = () if self.nodes is None else (f"machine: {text}" for text in self.nodes.told)
        return (*sentences_of(self._workload.assumed, left_out, self.options, told), *of_machine)

    def run(self, until: float | None = None, *, progress: Progress | None = None) -> Self:
        """Go on, to the end or to a time, whose events still happen; return the simulation itself.

        Parameters
        ----------
        until : float, optional
            Seconds, as submissions are counted.
        progress : callable, optional
            As ``simulate`` takes it.

        Raises
        ------
        ParameterError
            ``until`` is no number.
        PolicyError
            As ``simulate`` does; the simulation cannot go on then. After Ctrl-C it can, unless a decision took longer
            than half a second.
        """
        self._check_whole()
        if until is not None and not _is_time(until):
            raise ParameterError(f"until={until!r} is neither a time (s) nor None, which is the end")
        counts = self._replay.counts

        def tell() -> None:
            if progress:
                progress(int(counts[DONE]), int(counts[COMING]), self.now)

        limit, telling = np.inf if until is None else until, tell if progress else None
        if self.policy.in_python:
            self._driver.go_on_asking(limit, partial(self.policy.in_python, self), telling, PAUSE)
        else:
            self._driver.go_on(limit, telling, PAUSE)
        return self

    def copy(self) -> Simulation:
        """Return a simulation that is as far, and goes on by itself."""
        self._check_whole()
        other = copy.copy(self)
        other._driver = self._driver.copy()
        other._driver.number_of = other._numbers()
        other._table = self._table.copy()
        if self._own_rows is not None:
            other._own_rows = self._own_rows.copy()
            other._is_cut = None if self._is_cut is None else self._is_cut.copy()
            other._taken_out = self._taken_out.copy()
        return other

    def _with_driver(
        self, driver: Driver, table: JobTable, rows: npt.NDArray[np.int32], jobs: npt.NDArray[np.int64]
    ) -> Simulation:
        """Return the same of other jobs, by their rows in a table and their numbers here, which is driven already."""
        other = object.__new__(Simulation)
        other.__dict__.update(self.__dict__)
        other._driver, other._own_rows, other._taken_out, other._table = driver, rows, np.zeros(0), table
        other._is_cut = None if self._is_cut is None else self._is_cut[jobs]
        driver.number_of = other._numbers()
        return other

    def _numbers(self) -> Callable[[int], object]:
        """Return what tells a job's number; it keeps no simulation, so that the memory of one is free at once."""
        return partial(_number_in, weakref.ref(self))

    def _known(self) -> Workload:
        """Return what is simulated, without the room for more."""
        if self._own_rows is None:
            return self._workload._replace(coming=self._driver.coming)
        jobs, coming = self._driver.jobs, self._driver.coming
        columns = {name: getattr(coming, name)[:jobs] for name in names_per(Coming, PER_JOB)}
        is_cut = np.zeros(jobs, np.bool_) if self._is_cut is None else self._is_cut[:jobs]
        known = coming._replace(**columns)._replace(row=self._own_rows[:jobs].copy())
        return self._workload._replace(coming=known, is_cut=is_cut)

    def without_later_jobs(self) -> Self:
        """Let no more jobs come than were submitted by now; return the simulation itself.

        What happens to those that are there then says when they would have started without later ones.
        """
        self._replay.counts[COMING] = self._machine.counts[SUBMITTED]
        return self

    def without(self, jobs: pd.DataFrame | npt.ArrayLike) -> Self:
        """Let jobs vanish that wait, run, are held back or are to come; return the simulation itself.

        Whoever waits leaves the queue, and whoever runs gives its processors, or nodes, back; if there was any of them,
        the policy decides again at the present instant, for which it takes the queue as disturbed, and so
        ``conservative``, say, makes all its reservations anew. Everything else is as it was, also what a predictor has
        learnt. A job that has ended has done so.

        Parameters
        ----------
        jobs : pandas.DataFrame or array of bool, shape (jobs of the trace,)
            Keys, such as ``waiting`` and ``running`` have; ``job_occurrence`` is asked for where numbers repeat. Or a
            mask over the trace's jobs: a Series by its index, an array in their order.

        Returns
        -------
        Simulation
            Itself. Whoever vanished is excluded from its schedule, runs and all, which counts as partial if any of them
            had been submitted.

        Raises
        ------
        ParameterError
            A job is not in the trace, or the mask is no truth value for each of its jobs.
        PolicyError
            As ``run`` does.
        """
        self._check_whole()
        if self.policy.has_setting:
            raise ParameterError(f"policy {self.policy.name!r} cannot let jobs vanish: it keeps the nodes itself")
        if self._take_out(jobs)[0]:
            self._decide_again()
        return self

    def _take_out(self, jobs: pd.DataFrame | npt.ArrayLike) -> tuple[bool, IntArray]:
        """Let jobs vanish; return whether any was there already, so that others may start, and who each job was."""
        row = self._rows[: self._driver.jobs]
        is_out = chosen_rows(self.trace, jobs)[row]
        if len(self._taken_out):
            is_out &= np.isnan(self._taken_out[: len(row)])
        is_out[self._replay.counts[COMING] :] = False
        called = self._driver.called
        steps: list[Any] = [take_out, leave] if len(self._replay.dependents.pending) else [take_out]
        for step in map(called.kind.kernel_of, steps):
            (step if called.is_compiled else step.py_func)(self._machine, self._replay, is_out)
        submitted = int(self._machine.counts[SUBMITTED])
        is_cut = self._known().is_cut
        order = let_fewer_come(self._driver.seat.arena.state, submitted, is_out)
        if self._is_cut is not None:
            self._is_cut = is_cut[order]
            self._workload = self._workload._replace(is_cut=self._is_cut)
        if self._own_rows is not None:
            self._own_rows[: len(order)] = self._own_rows[order]
        if self._driver.asked:
            self._driver.asked.expect(self._driver.coming)
        before = self._taken_out[: len(row)] if len(self._taken_out) else np.full(len(row), np.nan)
        self._taken_out = np.where(is_out, self.now, before)[order]
        return bool(is_out[:submitted].any()), order

    def schedule(self) -> Schedule:
        """Return the schedule of the jobs that have ended; the others are excluded from it, with the reason."""
        return self._schedule(goes_on=True)

    def finish(self, *, progress: Progress | None = None) -> Schedule:
        """Go on to the end and return the schedule, in half the memory of ``run`` and ``schedule``; then it is over.

        Whatever is asked of the simulation afterwards is an AttributeError.
        """
        return self.run(progress=progress)._schedule(goes_on=False)

    def _schedule(self, *, goes_on: bool) -> Schedule:
        """Return the schedule; a simulation that does not go on gives its memory away for it."""
        self._check_whole()
        policy, options, notes, told = self.policy.name, self.options, self.notes, self.assumptions
        # The outcome has no name here, so that its memory is free as soon as columns are made of it.
        return schedule_from(self.trace, self._outcome(goes_on=goes_on), policy, options, notes, told)

    def _outcome(self, *, goes_on: bool) -> Outcome:
        """Return what was done so far; a simulation that does not go on forgets everything else."""
        taken_out, unfinished = self._taken_out[: self._driver.jobs], f"not ended by {self.now:.10g} s"
        outcome = outcome_of(self._driver, self._known(), taken_out, unfinished, self.nodes, goes_on=goes_on)
        if not goes_on:
            del self._workload, self._driver
        return outcome

    def _number_of(self, job: int) -> object:
        """Return what a user calls a job: its number in the trace."""
        return self._table.number(int(self._rows[job]))

    def _decide_again(self) -> None:
        """Let the policy decide once more at the present instant, and whatever follows from that at once happen."""
        clock, replay = self._machine.clock, self._replay
        wake, replay.until[0], replay.counts[BEYOND] = float(clock[WAKE]), self.now, 0
        clock[WAKE] = self.now
        if self.policy.in_python is None:
            self._driver.go_on_for(1)
        clock[WAKE] = min(wake, clock[WAKE])
        self.run(until=self.now)

    def _check_whole(self) -> None:
        """Refuse to go on where a decision broke off in its middle."""
        if broken := self._driver.broken:
            raise PolicyError(
                f"policy {self.policy.name!r}: the simulation cannot go on, because {broken}; make another"
            )


def _number_in(simulation: weakref.ref[Simulation], job: int) -> object:
    """Return what a user of a simulation calls a job: its number in the trace."""
    found = simulation()
    return found._number_of(job) if found else job


def _is_time(value: object) -> bool:
    """Whether a value is a number, also an infinite one, and no truth value."""
    return not isinstance(value, bool) and isinstance(value, Real) and not np.isnan(float(value))
