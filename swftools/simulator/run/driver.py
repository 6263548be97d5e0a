# SPDX-License-Identifier: BSD-3-Clause
"""What drives the event loop: gives it room, asks a predictor in Python, stops it, and says what went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from swftools.errors import PolicyError
from swftools.output.amounts import counted
from swftools.simulator.engine.loop import EngineOptions
from swftools.simulator.engine.replay import (
    ANSWERED,
    ASKS,
    AT_DECISIONS,
    BEYOND,
    COMING,
    DECIDED,
    DECIDING,
    DONE,
    LEFT,
    OBSERVED,
    STEPS,
    ReplayState,
    with_room,
)
from swftools.simulator.instants import instant
from swftools.simulator.machine.faults import FAULTS
from swftools.simulator.machine.state import FAULT, FAULT_FREE, FAULT_JOB, HELD, NOW, SUBMITTED, WAITING
from swftools.simulator.machine.views import first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.policy_abi import Own
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.registry import Policy
from swftools.simulator.run.compiled_calls import Called
from swftools.simulator.run.fork_arena import Rooms, Seat
from swftools.simulator.run.interruptible_thread import run_aside
from swftools.simulator.run.python_predictor_adapter import PredictorAdapter
from swftools.simulator.run.slow_runs import SlowRun
from swftools.simulator.state.arena import Arena, Lease

FEW, MANY = 64, 2**62
"""Instants after which an interpreted engine stops to tell of progress; the compiled one stops when it is asked to."""

SHORT = 0.002
"""Seconds: what takes no longer is not worth a thread of its own, and no interrupt waits for it noticeably."""


class Driver:
    """A run of the engine.

    Parameters
    ----------
    policy, predictor
        Who decides, and who predicts; for what is said of them.
    called : Called
        Engine, predictor and policy.
    options : EngineOptions
        How the engine runs.
    arena : Arena
        The state; it is replaced where there is no room.
    observer, decider : Own
        What predictor and policy have of their own.
    asked : PredictorAdapter, optional
        A predictor in Python.
    remembers : tuple of str
        Which of memory and draws the policy has, as it is carried out.
    number_of : callable
        Takes a job, and returns what a user calls it: its number in the trace.
    """

    def __init__(  # noqa: PLR0913 (the parts of a run, by name)
        self,
        *,
        policy: Policy,
        predictor: Predictor,
        called: Called,
        options: EngineOptions,
        arena: Arena[ReplayState],
        observer: Own,
        decider: Own,
        asked: PredictorAdapter | None,
        remembers: tuple[str, ...],
        number_of: Callable[[int], object],
    ) -> None:
        self.policy, self.predictor, self.called, self.number_of = policy, predictor, called, number_of
        self.options, self.asked, self.broken = options, asked, ""
        self.rooms = Rooms(called, options, observes=bool(predictor.observes), remembers=remembers)
        self.lease: Lease | None = None
        self._pace = np.inf  # seconds that an instant took in the last call
        self.take(Seat(called, options, arena, observer, decider))
        self.jobs = len(self.coming.row)
        """Jobs that are known, also those that are not to come any more; there may be room for others behind them."""

    def take(self, seat: Seat) -> None:
        """Go on with another state, or another memory."""
        self.seat = seat
        self.coming, self.machine, self.replay = seat.arena.state
        self.observer, self.decider = seat.observer, seat.decider

    def move(self, arena: Arena[ReplayState], observer: Own | None = None, decider: Own | None = None) -> None:
        """Go on in other memory."""
        seat = self.seat
        self.take(Seat(self.called, self.options, arena, observer or seat.observer, decider or seat.decider, seat))
        if self.asked:
            self.asked.expect(self.coming)

    def seated(self, lease: Lease, jobs: int) -> Driver:
        """Return another one that goes on in a room, with so many jobs; whoever has it sets ``number_of``."""
        other = object.__new__(Driver)
        other.__dict__.update(self.__dict__)
        other.jobs, other.lease = jobs, lease
        other.take(lease.room.seat)
        return other

    @property
    def now(self) -> float:
        """The last instant that was simulated, s; infinite before the first."""
        return float(self.machine.clock[NOW])

    @property
    def is_over(self) -> bool:
        """Whether every job has ended."""
        return bool(self.replay.counts[DONE] == self.replay.counts[COMING])

    def copy(self) -> Driver:
        """Return another one that is as far, and goes on by itself."""
        lease = self.rooms.take_like(self.seat)
        lease.room.copy_from(self.seat)
        other = self.seated(lease, self.jobs)
        if self.asked:
            other.asked = self.asked.copy()
            other.asked.expect(other.coming)
        return other

    def go_on(self, until: float, told: Callable[[], None] | None = None, pause: float = np.inf) -> None:
        """Go on to the end, or to a time, whose events still happen; call ``told`` at most so often, s, and at the end.

        Raises
        ------
        PolicyError
            Policy or predictor did what cannot be done, or raised an error; then, and where an interrupt came within a
            long decision, it is ``broken``.
        """
        counts, last = self.replay.counts, time.perf_counter()
        self.replay.until[0], counts[BEYOND] = until, 0
        slow = SlowRun(self.policy)
        while counts[DONE] < counts[COMING] and not counts[BEYOND]:
            instants = MANY if self.called.is_compiled else FEW
            self.go_on_for(instants, pauses=told is not None or slow.is_to_be_watched)
            slow.look(int(counts[DONE]), int(counts[COMING]), int(self.machine.counts[WAITING]))
            if told and time.perf_counter() - last >= pause and counts[DONE] < counts[COMING]:
                last = time.perf_counter()
                told()
        if told:
            told()

    def go_on_asking(
        self, until: float, decide: Callable[[], None], told: Callable[[], None] | None = None, pause: float = np.inf
    ) -> None:
        """Go on likewise, where a function of Python decides before the policy's turn comes, and in its place.

        Raises
        ------
        PolicyError
            As ``go_on``; or the function raised an error.
        """
        last, is_asked = time.perf_counter(), bool(self.replay.counts[DECIDING])
        while is_asked or self.step(until, AT_DECISIONS):
            self.let_decide(decide)
            is_asked = False
            if told and time.perf_counter() - last >= pause:
                last = time.perf_counter()
                told()
        if told:
            told()

    def let_decide(self, decide: Callable[[], None]) -> None:
        """Let a function of Python decide where something is to be decided.

        Raises
        ------
        PolicyError
            It raised an error.
        """
        try:
            decide()
        except Exception as error:
            self.broken = "the policy failed"
            where = f"policy {self.policy.name!r}, at {self.now:g} s"
            raise PolicyError(f"{where}: raised {type(error).__name__}: {error}{self._amid(error)}") from error
        self.replay.counts[DECIDING] = DECIDED

    def go_on_for(self, instants: int, *, pauses: bool = False) -> None:
        """Go on for so many instants at most; compiled in a thread of its own, so that an interrupt is heard."""
        counts = self.replay.counts
        counts[LEFT] = instants
        if not self.called.is_compiled:  # which debuggers can follow only here
            self._go_on()
            return
        if few := min(instants, self._short()):
            counts[LEFT] = few
            self._run_some()
            counts[LEFT] += instants - few
            if counts[DONE] == counts[COMING] or counts[BEYOND] or counts[LEFT] == 0:
                return
        run_aside(self._go_on, self._stop, pauses=pauses, leave=self._leave)

    def step(self, until: float, stops: int) -> bool:
        """Go on to where something is to be decided; return whether it stands there.

        It stands there again if nothing was decided. It takes no thread: between two decisions no more happens than
        Python can be kept from hearing an interrupt for, and where one comes nothing is half done.

        Parameters
        ----------
        until : float
            The time beyond which it does not go, s; its events still happen.
        stops : int
            Before which decisions it stops, as ``Replay.counts`` has it.
        """
        counts = self.replay.counts
        self.replay.until[0], counts[BEYOND], counts[STEPS] = until, 0, stops
        try:
            while counts[DONE] < counts[COMING] and not counts[BEYOND]:
                self._make_room()
                counts[LEFT] = FEW
                self._run_some()
                if counts[DECIDING]:
                    return True
                if counts[ASKS]:
                    self._ask()
        finally:
            counts[STEPS] = 0
        return False

    def acted_wrongly(self) -> str:
        """Return in words what was done wrong just now from outside; forget it, for nothing came of it.

        Of a job that is to come nothing is told but that.
        """
        counts = self.machine.counts
        job = int(counts[FAULT_JOB])
        to_come = f"at {self.now:g} s: job {job} was not submitted yet"
        told = to_come if counts[SUBMITTED] <= job < self.jobs else self._told()
        counts[FAULT] = 0
        return told

    def _short(self) -> int:
        """Return for how many instants the engine may run without a thread of its own; 0 where this is not known.

        A policy of somebody's own may decide without end, and interrupts are heard only between two calls.
        """
        is_ours = self.policy.decide.__module__.startswith("swftools.")
        return int(min(FEW, SHORT / self._pace)) if is_ours and self._pace > 0.0 else 0

    def _go_on(self) -> None:
        """Run events to the end, to ``until``, or until it is told to stop; that is after an instant."""
        counts = self.replay.counts
        while counts[DONE] < counts[COMING] and counts[LEFT] > 0 and not counts[BEYOND]:
            self._make_room()
            self._run_some()
            if counts[ASKS]:
                self._ask()

    def _stop(self) -> None:
        """Let the engine stop after the instant that it is at; where it counts down just now, it does not hear it."""
        self.replay.counts[LEFT] = 0

    def _leave(self) -> None:
        """Give up what an engine that does not stop goes on with."""
        self.broken = "it was interrupted within a decision"

    def _ask(self) -> None:
        """Ask a predictor in Python about the job that is being submitted."""
        job, counts = int(self.machine.counts[SUBMITTED]), self.replay.counts
        if self.asked:
            told = self.asked.predict(job, self.now, self.replay.log)
            self.coming.told[job] = min(max(instant(told), 0.0), self.coming.limit[job])
        counts[ASKS], counts[ANSWERED] = 0, job + 1

    def _make_room(self) -> None:
        """Let there be room for another decision."""
        arena = with_room(self.seat.arena)
        if arena is not self.seat.arena:
            self.move(arena)

    def _run_some(self) -> None:
        """Run the engine until it stops, and say in words what went wrong."""
        machine, counts, place = self.machine, self.replay.counts, self.seat.place
        left, begin = int(counts[LEFT]), time.perf_counter()
        try:
            self.called.engine(place)
        except PolicyError:
            self.broken = "the policy failed"
            raise
        except Exception as error:
            observed = int(counts[OBSERVED]) - 1
            who = f"predictor {self.predictor.name!r}" if observed >= 0 else f"policy {self.policy.name!r}"
            self.broken = "the predictor failed" if observed >= 0 else "the policy failed"
            if machine.counts[FAULT]:
                raise PolicyError(f"{who}, {self._told()}") from error
            where = f"{who}, at {machine.clock[NOW]:g} s" + (f", {self._called(observed)}" if observed >= 0 else "")
            is_hidden = isinstance(error, IndexError) and self.called.is_compiled
            more = "; compiled=False tells the line, if it is the policy's own" if is_hidden else ""
            more += self._amid(error) if observed < 0 else ""
            raise PolicyError(f"{where}: raised {type(error).__name__}: {error}{more}") from error
        rest = int(counts[LEFT])
        was_stopped = rest == 0 and left > FEW  # from outside, so that nobody knows after how many
        self._pace = np.inf if was_stopped else (time.perf_counter() - begin) / max(left - rest, 1)

    def _told(self) -> str:
        """Return what the policy did wrong."""
        machine, coming = self.machine, self.coming
        index = int(machine.counts[FAULT_JOB])
        known = 0 <= index < self.jobs
        return f"at {machine.clock[NOW]:g} s: " + FAULTS[int(machine.counts[FAULT])].format(
            job=f"{index} of the queue (submitted at {self._submitted(index):g} s)" if known else index,
            index=index,
            width=coming.processors[coming.row[index]] if known else "?",
            free=machine.counts[FAULT_FREE],
            waiting=counted(int(machine.counts[WAITING]), "job"),
            held=counted(int(machine.counts[HELD]), "job"),
        )

    def _amid(self, error: Exception) -> str:
        """Return where a policy was when it raised an error: its line and job, of compiled code what waited."""
        trace, module, line, job = error.__traceback__, self.policy.module, "", NOBODY
        while trace:
            frame = trace.tb_frame
            if frame.f_globals.get("__name__") == module:
                line = f" in line {trace.tb_lineno} of {Path(frame.f_code.co_filename).name}"
                at = frame.f_locals.get("job")
                job = int(at) if isinstance(at, int | np.integer) and 0 <= at < self.jobs else job
            trace = trace.tb_next
        if job != NOBODY:
            return f"; it was{line}, with {self._called(job)}"
        job, waiting = int(first_waiting(self.machine)), int(self.machine.counts[WAITING])
        first = f", first {self._called(job)}" if job != NOBODY else ""
        return f"{f'; it was{line}' if line else ''}; {counted(waiting, 'job', '0')} waited{first}"

    def _submitted(self, job: int) -> float:
        """Return when a job is submitted, s."""
        return float(self.coming.submit_time[self.coming.row[job]])

    def _called(self, job: int) -> str:
        """Return what a user calls a job."""
        return f"job {self.number_of(job)} (submitted at {self._submitted(job):g} s)"
