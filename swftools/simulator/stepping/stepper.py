# SPDX-License-Identifier: BSD-3-Clause
"""Stepper: a simulation that is decided on from outside, decision by decision."""

from __future__ import annotations

import copy
import os
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd

from swftools.errors import DecisionWarning, ParameterError, PolicyError
from swftools.kernel import IntArray
from swftools.machines.gone import without_gone
from swftools.machines.node_table import NodeTable
from swftools.machines.running import RUNS_ON
from swftools.simulator.engine.replay import AT_DECISIONS, AT_EVENTS, COMING, DECIDED, DECIDING, TO_DECIDE
from swftools.simulator.machine.state import HELD, RUNNING, SUBMITTED, WAITING, WAKE
from swftools.simulator.memory_transfer import renumber
from swftools.simulator.nodes.away.state import CHANGED, Outages
from swftools.simulator.nodes.setup import table_at
from swftools.simulator.outcome import stuck_jobs
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.registry import Policy
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.actions import RUN_THERE, act_kernel
from swftools.simulator.stepping.forks import fork
from swftools.simulator.stepping.from_queue import moment, trace_of_queue
from swftools.simulator.stepping.live_queue import Follows, without_away
from swftools.simulator.stepping.noting import note_waiting_kernel
from swftools.simulator.stepping.running_on_nodes import check_all_run, spread, where_it_runs
from swftools.simulator.stepping.serialize import simulation_of, state_of
from swftools.trace import Trace


class Stepper(Follows):
    """A simulation that stops before each decision, to be looked at and acted on.

    Jobs have numbers from 0, in order of submission; ``job_number`` gives their numbers in the trace. The arrays that
    it shows are those of the machine itself: read-only, and valid until the next step. Nothing is known of future jobs.

    Parameters
    ----------
    trace, policy, processors, **options
        As for ``Simulation``, with the same errors. The policy decides only when you call ``skip`` or ``finish``.

    Examples
    --------
    Of the jobs that fit start the widest, until none does:

    >>> trace = Trace.from_columns(machine_processors=4, job_number=[7, 8, 9], submit_time=[0, 0, 0],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[1, 3, 2])
    >>> stepper = Stepper(trace)
    >>> def fitting():
    ...     return [job for job in stepper.waiting if stepper.width[job] <= stepper.free]
    >>> while stepper.advance():
    ...     while jobs := fitting():
    ...         _ = stepper.start(max(jobs, key=lambda job: stepper.width[job]))
    >>> stepper.schedule().jobs["start_time"].tolist()
    [0.0, 0.0, 10.0]
    """

    def __init__(self, trace: Trace, policy: str = "easy", processors: int | None = None, **options: Any) -> None:
        self._take_up(Simulation(trace, policy, processors, **options))

    def _take_up(self, simulation: Simulation) -> None:
        """Step a simulation that nothing was done to from outside."""
        if simulation.policy.has_setting:
            raise ParameterError(
                f"policy {simulation.policy.name!r} cannot be stepped yet: it keeps the nodes itself; simulate() and "
                "Simulation carry it out, and policies such as weighted-priority can be stepped"
            )
        self._simulation, self._acts = simulation, 0
        self._room = np.zeros(256, np.int64)
        self._present, self._for_good = -np.inf, np.inf
        self._brought: int | None = None
        self._away: dict[int, float] = {}  # what stands for processors that are away: when they come back
        self.origin: IntArray | None = None
        """Of a fork: the number of each of its jobs in what was forked first; -1 of one that was submitted to a fork.
        None of what is none."""
        self._take_kernels()

    @classmethod
    def from_queue(
        cls,
        running: pd.DataFrame,
        waiting: pd.DataFrame,
        processors: int | None = None,
        policy: str = "easy",
        *,
        now: float | None = None,
        machine: str | os.PathLike[str] | NodeTable | Any = None,
        **options: Any,
    ) -> Stepper:
        """Begin with a queue as it is at a moment; it stands before a decision, if any job waits or runs.

        Every job runs as long as it may, until ``end`` says otherwise, or as long as its ``run_time`` says. Jobs are
        numbered in order of submission, those that run as if they had been submitted when they started.

        Parameters
        ----------
        running : pandas.DataFrame
            One row for each job that runs: processors, requested_time and elapsed (s), the time that it has run. A job
            beyond its request is taken to run for another second.
        waiting : pandas.DataFrame
            One row for each job that waits, in order of the queue where they came together: processors, requested_time,
            waited (s). Both may have other columns of the table ``jobs``, such as job_number, user_id and
            priority_rank; and both ``run_time`` (s; of those that run from their start on, and beyond what they have
            run), which policies do not know. A job runs as long as it may where that is not known (NaN, or not above
            0), and never longer.
        processors : int
            Size of the machine; or ``machine``.
        policy, machine, **options
            As for ``Simulation``. On a machine of nodes both frames may have columns of what jobs ask of nodes, as
            ``read_squeue`` returns them: ``partition`` by name; running jobs ``nodes``, the list of those on which they
            run. Where that is not told, the placement chooses. A job that has more of some of its nodes than of others
            counts as several jobs. Seconds of a description's outages are from the moment on, dates count if ``now``
            is in seconds since 1970, and outages of the moment last.
        now : float, optional
            What time it is, s, such as seconds since 1970; without it the longest time that a job has run or waited.

        Raises
        ------
        ParameterError
            The running jobs hold more processors than there are, a job needs more, a number is none; or as
            ``Simulation`` raises it.

        Examples
        --------
        >>> running = pd.DataFrame({"processors": [3], "requested_time": [600.0], "elapsed": [60.0]})
        >>> waiting = pd.DataFrame({"processors": [4], "requested_time": [100.0], "waited": [20.0]})
        >>> twin = Stepper.from_queue(running, waiting, 4)
        >>> twin.now, twin.running.tolist(), twin.waiting.tolist(), twin.shadow()
        (60.0, [0], [1], (600.0, 0))
        >>> twin.would_start(1, 500.0), twin.would_start(1, 900.0)
        (60.0, 700.0)
        """
        table = None if machine is None else without_gone(table_at(machine, moment(running, waiting, now), now))
        size = processors if table is None else table.processors
        if size is None:
            raise ParameterError("give processors=, the size of the machine, or machine=, its nodes")
        running = running if table is None else spread(running, table)
        trace, present, start = trace_of_queue(running, waiting, size, now, on_nodes=table is not None)
        stepper = cls(trace, policy, processors, machine=table, **options)
        check_all_run(stepper._simulation, running)
        lists = running[RUNS_ON].tolist() if RUNS_ON in running else [None] * len(running)
        rows = stepper._simulation._rows
        times, begun = np.unique(trace.views.submit_time), set(start.tolist())
        for _ in times:  # what was decided before now is known: of these jobs some run, the others wait
            stepper.advance(to="event", until=present)
            for job in stepper.waiting.tolist() if stepper.now in begun else ():
                if rows[job] < len(start) and start[rows[job]] == stepper.now:
                    nodes = lists[rows[job]]
                    if isinstance(nodes, str):
                        stepper._do(RUN_THERE, job, where_it_runs(stepper._simulation, job, nodes))
                    else:
                        stepper.start(job)
        if len(times):
            stepper._machine.clock[WAKE] = present
            stepper.advance(to="event", until=present)
        stepper._was_run_to(present)
        return stepper

    def _take_kernels(self) -> None:
        """Take what acts and looks, compiled where the engine is."""
        self._act, self._note = map(self._simulation._driver.called.taken, (act_kernel(), note_waiting_kernel()))

    # ------------------------------------------------------------ going on

    def advance(self, *, to: str = "decision", until: float | None = None) -> bool:
        """Carry out what was decided, and go on to the next decision.

        If nothing was done since the last decision, all waiting jobs go on waiting. Where ``skip`` brought it to that
        decision there is a warning, because a loop that calls both loses every second decision: let the policy decide
        by ``decide`` there.

        Parameters
        ----------
        to : {"decision", "event"}
            Stop when the policy would be asked, or whenever anything happens. Policies such as ``easy`` are not asked
            while no waiting job fits, but you may want to preempt or resize then.
        until : float, optional
            Go no further than this time, s; events at that time still happen.

        Returns
        -------
        bool
            Whether a decision is due; False at the end, and at ``until``.

        Raises
        ------
        ParameterError
            ``to`` is another word, or ``until`` is not a number.
        PolicyError
            Jobs wait, and nothing would ever happen unless one is started, which is still possible; or the simulation
            is broken, as in ``Simulation.run``.
        """
        if to not in _STOPS:
            raise ParameterError(f"to={to!r} is not one of: {', '.join(_STOPS)}")
        self._simulation._check_whole()
        limit = _checked_time(until)
        if self.is_deciding:
            self._check_alive()
            if self._brought == self._acts:
                warnings.warn(
                    f"at {self.now:.10g} s: skip() went on to this decision, and advance() passes it with nothing "
                    "done, so that all jobs wait; to let the policy decide between two calls of advance() use decide()",
                    DecisionWarning,
                    stacklevel=2,
                )
            self._replay_counts[DECIDING] = DECIDED
        self._brought = None
        return self._step(limit, to)

    def skip(self, *, to: str = "decision", until: float | None = None) -> bool:
        """Let the policy decide here, after your own acts, and go on to the next decision.

        So it brings you to a decision, as ``advance`` does: loop by ``while stepper.skip()``. Parameters, result and
        errors are those of ``advance``.
        """
        self._simulation._check_whole()
        if not self.is_deciding:
            return self.advance(to=to, until=until)
        if to not in _STOPS:
            raise ParameterError(f"to={to!r} is not one of: {', '.join(_STOPS)}")
        limit = _checked_time(until)
        self._let_decide()
        # One decision: it stands before the next one only when the engine has left this one behind.
        is_there = self._step(limit, to)
        self._brought = self._acts if is_there else None
        return is_there

    def decide(self) -> Self:
        """Let the policy decide here, after your own acts, and do not go on; return itself.

        What it starts runs then, and this decision is over: call ``advance``, which loses none.

        Raises
        ------
        PolicyError
            It stands before no decision; or policy or predictor did what cannot be done.

        Examples
        --------
        >>> trace = Trace.from_columns(machine_processors=4, job_number=[7, 8, 9], submit_time=[0, 0, 0],
        ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[1, 3, 2])
        >>> stepper = Stepper(trace)
        >>> while stepper.advance():
        ...     print(stepper.now, stepper.decide().running.tolist())
        0.0 [0, 1]
        10.0 [2]
        """
        self._simulation._check_whole()
        if not self.is_deciding:
            raise PolicyError("no decision is due now: call advance(), and decide() while it returns True")
        self._let_decide()
        self._brought = None
        self._simulation._driver.step(-np.inf, AT_DECISIONS)
        return self

    def _let_decide(self) -> None:
        """Let the policy decide: one in Python now, another one when the engine goes on."""
        self._replay_counts[DECIDING] = TO_DECIDE
        if in_python := self._simulation.policy.in_python:
            self._simulation._driver.let_decide(partial(in_python, self._simulation))

    def _step(self, until: float, to: str) -> bool:
        """Go on to the next decision, and no further than a time; return whether it stands before one."""
        is_there = self._simulation._driver.step(until, _STOPS[to])
        if not is_there and until < np.inf:
            self._was_run_to(until)
        return is_there

    def finish(self) -> Schedule:
        """Let the policy decide from here to the end; return the schedule."""
        self._simulation.run()
        return self.schedule()

    def copy(self) -> Stepper:
        """Return an independent copy of its present state."""
        other = copy.copy(self)
        other._simulation = self._simulation.copy()
        other._room = self._room.copy()
        return other

    def fork(self, later: int | None = 0) -> Stepper:
        """Return a light copy, to look ahead, with the jobs that wait and run now and perhaps the next ones.

        Its cost depends on these jobs, not on the size of the log; ``copy`` copies everything.

        Parameters
        ----------
        later : int, optional
            How many of the next jobs it has; None: all. A real scheduler that looks ahead knows none.

        Returns
        -------
        Stepper
            With new numbers of jobs, in the same order; ``origin`` has their old numbers. Its schedule has only runs
            that are not over yet.

        Raises
        ------
        PolicyError
            Something was already done in this decision; or the memory of policy or predictor cannot be copied.
        """
        self._simulation._check_whole()
        other = object.__new__(Stepper)
        other.__dict__.update(self.__dict__)
        other._simulation, jobs = fork(self._simulation, later)
        other.origin = jobs if self.origin is None else self.origin[jobs]
        if self._away:
            theirs = {job: renumber(np.array([job]), jobs).tolist() for job in self._away}
            other._away = {new: self._away[job] for job, found in theirs.items() for new in found}
        other._room, other._brought = np.zeros(max(64, len(jobs)), np.int64), None
        return other

    def to_bytes(self) -> bytes:
        """Return its whole state, to go on in another process; it contains no code, and none is run when it is read.

        Its size depends on the known jobs: a fork has no past, and only its own jobs of the trace.

        Raises
        ------
        StateError
            It has a predictor in Python.
        """
        self._simulation._check_whole()
        own = {
            "acts": self._acts,
            "present": self._present,
            "for_good": self._for_good,
            "away": list(self._away.items()),
            "origin": None if self.origin is None else self.origin.tolist(),
        }
        return state_of(self._simulation, own, is_fork=self.origin is not None)

    @classmethod
    def from_bytes(
        cls, state: bytes, *, policy: str | Policy | None = None, predictor: str | Predictor | None = None
    ) -> Stepper:
        """Return one that goes on where another one was when its ``to_bytes`` was called.

        Bytes may come from anybody: all of them are checked, no code is in them, and no module is imported because they
        name it. What a policy of your own remembers is checked only as far as its ``restore`` or ``carry`` does.

        Parameters
        ----------
        state : bytes
            What ``to_bytes`` returned.
        policy, predictor : str, Policy or Predictor, optional
            Those that it was saved with, such as ``my_policies:mine``, if they are your own and their module was not
            imported before.

        Raises
        ------
        StateError
            These are other bytes, they are damaged or were changed, they are of another version of the form or of the
            policy, or they name a policy or predictor that is not registered.
        ParameterError
            There is no such policy or predictor as you give.
        """
        stepper = object.__new__(cls)
        stepper._simulation, own = simulation_of(state, policy, predictor)
        stepper._room, stepper._brought = np.zeros(256, np.int64), None
        stepper._acts, stepper._present, stepper._for_good = own["acts"], own["present"], own["for_good"]
        stepper._away, stepper.origin = own["away"], own["origin"]
        stepper._take_kernels()
        return stepper

    def would_start(self, processors: int, requested_time: float, **job: Any) -> float:
        """Return when a job would start if it were submitted now, s, and no other job came; changes nothing.

        Every job runs for its known run time, or without one to its limit.

        Parameters
        ----------
        processors, requested_time, **job
            As for ``submit``.

        Returns
        -------
        float
            Infinity if it needs processors that do not come back.
        """
        try:
            ahead = self.fork()
        except PolicyError:
            ahead = self.copy()
            ahead._simulation.without_later_jobs()
        asked = ahead.submit(processors, requested_time, **job)
        return ahead.run().first_start(asked)

    def first_start(self, job: int) -> float:
        """Return the first start of a job, s; NaN if it has none, infinity if what it needs never comes back."""
        log = self._simulation._replay.log
        runs = np.flatnonzero(log.job[: log.size[0]] == job)
        if not len(runs):
            return np.inf if stuck_jobs(self._machine, job + 1)[job] else np.nan
        start = float(log.start[runs[0]])
        return start if start < self._for_good else np.inf

    def schedule(self) -> Schedule:
        """Return the schedule of the jobs that have ended, as ``Simulation.schedule`` does.

        If anything was decided from outside, the schedule is not that of a policy: ``validate`` checks no promise.
        """
        made = self._simulation.schedule()
        if self._away:
            made = without_away(made, [self.job_number(job) for job in self._away])
        return replace(made, policy="") if self._acts else made

    def _check_alive(self) -> None:
        """Refuse to go on where jobs wait and nothing would ever happen."""
        counts, wake = self._machine.counts, self._machine.clock[WAKE]
        to_come = int(self._replay_counts[COMING]) - int(counts[SUBMITTED])
        is_to_come = counts[RUNNING] or counts[HELD] or to_come or wake < np.inf
        outages: Outages | None = getattr(self._machine, "outages", None)
        if outages is not None and not is_to_come:  # where nobody fits, those leave that never will
            is_to_come = outages.counts[CHANGED] < len(outages.time) or not len(self.fitting)
        if counts[WAITING] and not is_to_come:
            raise PolicyError(
                f"at {self.now:g} s {counts[WAITING]} jobs wait on an idle machine, and no other is to come: start "
                f"one, such as job {self.waiting[0]} of the queue, or let the policy decide by decide()"
            )


def _checked_time(until: float | None) -> float:
    """Return how far to go, s; refuse what is no time."""
    limit = np.inf if until is None else float(until)
    if np.isnan(limit):
        raise ParameterError(f"until={until!r} is not a time (s)")
    return limit


_STOPS = {"decision": AT_DECISIONS, "event": AT_EVENTS}
