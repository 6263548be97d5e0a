"""Stepper: a simulation that is decided on from outside, decision by decision."""

from __future__ import annotations

import copy
from dataclasses import replace
from operator import index
from typing import Any, Self

import numpy as np

from swftools.errors import ParameterError, PolicyError
from swftools.kernel import FloatArray, IntArray
from swftools.simulator.engine.replay import AT_DECISIONS, AT_EVENTS, COMING, DECIDED, DECIDING, TO_DECIDE
from swftools.simulator.machine.state import (
    FREE,
    HELD,
    RUNNING,
    SUBMITTED,
    SUSPEND,
    WAITING,
    WAKE,
    Machine,
)
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.acts import (
    FILL,
    HOLD,
    PREEMPT,
    RESIZED,
    START,
    START_ON,
    act_kernel,
    note_waiting_kernel,
)
from swftools.simulator.stepping.acts import WAKE as WAKING
from swftools.simulator.stepping.forking import fork
from swftools.trace import Trace


class Stepper:
    """A simulation that stops before each decision, to be looked at and acted on.

    Jobs have numbers from 0, in order of submission; ``job_number`` tells those of the trace. What is looked at are
    arrays of the machine itself, read-only and valid until the next step; nothing is known of jobs to come.

    Parameters
    ----------
    trace, policy, processors, **options
        As ``Simulation`` takes them; also what it raises. The policy decides where it is told to by ``skip``, and in
        ``finish``.

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
        self._simulation = Simulation(trace, policy, processors, **options)
        self._room = np.zeros(256, np.int64)
        self._acts = 0
        self.origin: IntArray | None = None
        """Of a fork: the number of each of its jobs in what was forked first; None of what is none."""
        self._take_kernels()

    def _take_kernels(self) -> None:
        """Take what acts and looks, compiled where the engine is."""
        act, note = act_kernel(), note_waiting_kernel()
        is_compiled = self._simulation._driver.called.is_compiled
        self._act, self._note = (act.compiled, note.compiled) if is_compiled else (act.py_func, note.py_func)

    # ------------------------------------------------------------ going on

    def advance(self, *, to: str = "decision", until: float | None = None) -> bool:
        """Carry out what was decided, and go on to the next decision.

        Where nothing was done since the last one, the jobs that wait go on waiting.

        Parameters
        ----------
        to : {"decision", "event"}
            Stop where the policy would be asked, or wherever anything happened: policies such as ``easy`` are not asked
            while no waiting job fits, when others may want to preempt or resize.
        until : float, optional
            Go no further than this time, s, whose events still happen.

        Returns
        -------
        bool
            Whether it stands before a decision; False at the end, and at ``until``.

        Raises
        ------
        ParameterError
            ``to`` is another word, or ``until`` is no number.
        PolicyError
            Jobs wait, and nothing would ever happen any more unless one is started, which is still possible; or the
            simulation is broken, as ``Simulation.run`` tells.
        """
        if to not in _STOPS:
            raise ParameterError(f"to={to!r} is not one of: {', '.join(_STOPS)}")
        self._simulation._check_whole()
        if self.is_deciding:
            self._check_alive()
            self._replay_counts[DECIDING] = DECIDED
        limit = np.inf if until is None else float(until)
        if np.isnan(limit):
            raise ParameterError(f"until={until!r} is no time (s)")
        return self._simulation._driver.step(limit, _STOPS[to])

    def skip(self, *, to: str = "decision", until: float | None = None) -> bool:
        """Let the policy decide in this place, after what was done already, and go on to the next decision.

        Parameters, result and errors are those of ``advance``.
        """
        self._simulation._check_whole()
        if not self.is_deciding:
            return self.advance(to=to, until=until)
        if to not in _STOPS:
            raise ParameterError(f"to={to!r} is not one of: {', '.join(_STOPS)}")
        self._replay_counts[DECIDING] = TO_DECIDE
        driver = self._simulation._driver
        # One decision: it stands before the next one only when the engine has left this one behind.
        return driver.step(np.inf if until is None else float(until), _STOPS[to])

    def finish(self) -> Schedule:
        """Let the policy decide from here to the end; return the schedule."""
        self._simulation.run()
        return self.schedule()

    def copy(self) -> Stepper:
        """Return one that is as far, and goes on by itself."""
        other = copy.copy(self)
        other._simulation = self._simulation.copy()
        other._room = self._room.copy()
        return other

    def fork(self, later: int | None = 0) -> Stepper:
        """Return a light copy, to look ahead: of the jobs that are here now, and of the next ones to come.

        It costs what waits and runs, not what the log has; ``copy`` has all.

        Parameters
        ----------
        later : int, optional
            How many of the next jobs to come are in it; None: all. A scheduler that looks ahead knows of none.

        Returns
        -------
        Stepper
            With new numbers of jobs, in the same order: ``origin`` has their numbers here. Its schedule has the runs
            that are not over yet.

        Raises
        ------
        PolicyError
            Something was done in this decision already; or policy or predictor remember jobs, as ``conservative`` does.
        """
        self._simulation._check_whole()
        other = object.__new__(Stepper)
        other.__dict__.update(self.__dict__)
        other._simulation, jobs = fork(self._simulation, later)
        other.origin = jobs if self.origin is None else self.origin[jobs]
        other._room = np.zeros(max(64, len(jobs)), np.int64)
        return other

    def schedule(self) -> Schedule:
        """Return the schedule of the jobs that have ended, as ``Simulation.schedule`` does.

        Where anything was decided from outside, it is nobody's policy: ``validate`` holds it to no promise.
        """
        made = self._simulation.schedule()
        return replace(made, policy="") if self._acts else made

    # ------------------------------------------------------------ looking

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
        self._note(self._simulation._driver.machine_place, self._room)
        return _read_only(self._room[:count])

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

    # ------------------------------------------------------------ acting

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
        return self._do(WAKING, NOBODY, 0, time)

    def start_or_fill(self, job: int) -> Self:
        """Start a waiting job if it fits; else let others go ahead that do not delay it, as EASY does.

        The job has the reservation then, whoever stands before it in the queue, at this decision.
        """
        return self._do(FILL, job)

    def _do(self, what: int, job: int, number: int = 0, time: float = 0.0) -> Self:
        """Act on the machine; what cannot be is told, and changes nothing."""
        self._simulation._check_whole()
        if not self.is_deciding:
            raise PolicyError("nothing is to be decided just now: call advance(), and act while it returns True")
        try:
            whole = index(job), index(number)
        except TypeError:
            raise ParameterError(f"job={job!r}, {number!r}: give whole numbers; jobs are those of waiting") from None
        driver = self._simulation._driver
        try:
            self._act(driver.machine_place, what, *whole, float(time))
        except ValueError:
            raise PolicyError(f"not done, {driver.acted_wrongly()}") from None
        self._acts += 1
        return self

    def _check_alive(self) -> None:
        """Refuse to go on where jobs wait and nothing would ever happen."""
        counts, wake = self._machine.counts, self._machine.clock[WAKE]
        to_come = int(self._replay_counts[COMING]) - int(counts[SUBMITTED])
        if counts[WAITING] and not (counts[RUNNING] or counts[HELD] or to_come or wake < np.inf):
            raise PolicyError(
                f"at {self.now:g} s {counts[WAITING]} jobs wait on an idle machine, and no other is to come: start "
                f"one, such as job {self.waiting[0]} of the queue, or let the policy decide by skip()"
            )

    @property
    def _machine(self) -> Machine:
        return self._simulation._machine

    def _of_jobs(self, column: Any) -> Any:
        """Return a column of the jobs that are known, not to be written to; there may be room behind them."""
        return _read_only(column[: self._simulation._driver.jobs])

    @property
    def _replay_counts(self) -> IntArray:
        return self._simulation._replay.counts


_STOPS = {"decision": AT_DECISIONS, "event": AT_EVENTS}


def _read_only(array: Any) -> Any:
    """Return an array that shows another, and cannot be written to."""
    shown = array[:]
    shown.flags.writeable = False
    return shown
