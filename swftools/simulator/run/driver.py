# SPDX-License-Identifier: BSD-3-Clause
"""What drives the event loop: gives it room, asks a predictor in Python, stops it, and says what went wrong."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swftools.errors import PolicyError
from swftools.kernel.outside import Lent
from swftools.output.amounts import counted
from swftools.simulator.engine.loop import Options, Run, run_at
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
    Coming,
    Replay,
    coming_at,
    replay_at,
    with_room,
)
from swftools.simulator.instants import instant
from swftools.simulator.machine.faults import FAULTS
from swftools.simulator.machine.state import (
    FAULT,
    FAULT_FREE,
    FAULT_JOB,
    HELD,
    NOW,
    SUBMITTED,
    WAITING,
    Machine,
    with_requests,
)
from swftools.simulator.machine.views import first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.policy_abi import Own, machine_at
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.registry import Policy
from swftools.simulator.run.compiled_calls import Called
from swftools.simulator.run.interruptible_thread import run_aside
from swftools.simulator.run.python_predictor_adapter import Asked
from swftools.simulator.run.slow_runs import SlowRun

FEW, MANY = 64, 2**62
"""Instants after which an interpreted engine stops to tell of progress; the compiled one stops when it is asked to."""

SHORT = 0.002
"""Seconds: what takes no longer is not worth a thread of its own, and no interrupt waits for it noticeably."""


class LaidOut(NamedTuple):
    """Parts of a run, and where each lies; where the run does, and what is to be kept meanwhile."""

    parts: list[tuple[Any, tuple[Any, Any]]]
    place: Any
    kept: Any


class Driver:
    """A run of the engine.

    Parameters
    ----------
    policy, predictor
        Who decides, and who predicts; for what is said of them.
    called : Called
        Engine, predictor and policy.
    coming, machine, replay, options, observer, decider
        What the engine runs; ``machine`` and ``replay`` are replaced where there is no room.
    asked : Asked, optional
        A predictor in Python.
    number_of : callable
        Takes a job, and returns what a user calls it: its number in the trace.
    """

    def __init__(  # noqa: PLR0913 (the parts of a run, by name)
        self,
        *,
        policy: Policy,
        predictor: Predictor,
        called: Called,
        coming: Coming,
        machine: Machine,
        replay: Replay,
        options: Options,
        observer: Own,
        decider: Own,
        asked: Asked | None,
        number_of: Callable[[int], object],
    ) -> None:
        self.policy, self.predictor, self.called, self.number_of = policy, predictor, called, number_of
        self.coming, self.machine, self.replay, self.asked = coming, machine, replay, asked
        self.options, self.observer, self.decider = options, observer, decider
        self.broken = ""
        self.jobs = len(coming.row)
        """Jobs that are known, also those that are not to come any more; there may be room for others behind them."""
        self.rooms: Any = None
        self.lease: Any = None
        self._laid_out: list[tuple[Any, tuple[Any, Any]]] = []  # the parts that the engine was handed, and where
        self._laid: tuple[Any, ...] | None = None
        self._kept: Any = None
        self._place: Any = None
        self._machine_place: Any = None
        self._pace = np.inf  # seconds that an instant took in the last call

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
        other = copy.copy(self)
        other.replay = _copied(self.replay)
        other.machine = with_requests(_copied(self.machine._replace(predicted=np.zeros(0))), other.replay.requests)
        if self.lease or self.jobs < len(self.coming.run_time):  # others may still be written behind them
            other.coming = _copied(self.coming)
        else:
            own = {name: getattr(self.coming, name).copy() for name in ("told", "run_time")}
            other.coming = self.coming._replace(**own)
        other.rooms = other.lease = None
        other.observer, other.decider = _copied(self.observer), _copied(self.decider)
        other.asked = self.asked and self.asked.copy()
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
                self.machine, self.replay = with_room(self.machine, self.replay)
                counts[LEFT] = FEW
                self._run_some()
                if counts[DECIDING]:
                    return True
                if counts[ASKS]:
                    self._ask()
        finally:
            counts[STEPS] = 0
        return False

    @property
    def machine_place(self) -> Any:
        """Where the machine lies; interpreted the machine itself."""
        self._given()
        return self._machine_place

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
            self.machine, self.replay = with_room(self.machine, self.replay)
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

    def places(self) -> tuple[Any, ...]:
        """Return where coming, machine and replay lie; interpreted these themselves."""
        self._given()
        return tuple(place for _, (place, _) in self._laid_out[:3])

    def laid_out(self, coming: Coming, machine: Machine, replay: Replay, decider: Own) -> LaidOut:
        """Return how other parts of the same kind lie beside what this one observes with."""
        self._given()
        called = self.called
        parts: list[tuple[Any, Lent]] = [(coming, coming_at), (machine, machine_at), (replay, replay_at)]
        laid_out: list[Any] = [(part, called.lay_out(part, like)) for part, like in parts]
        is_same = decider is self.decider
        last = self._laid_out[4] if is_same else (decider, called.lay_out(decider, called.decider_at))
        return self.as_laid_out([*laid_out, self._laid_out[3], last])

    def as_laid_out(self, parts: list[tuple[Any, tuple[Any, Any]]]) -> LaidOut:
        """Return how parts lie, with the run that is made of them."""
        return LaidOut(parts, *self._run_of(parts))

    def with_parts(self, laid_out: LaidOut, jobs: int, lease: Any, number_of: Callable[[int], object]) -> Driver:
        """Return another one with other parts, of so many jobs, which are laid out already."""
        other = object.__new__(Driver)
        other.__dict__.update(self.__dict__)
        other._laid_out = list(laid_out.parts)
        (other.coming, _), (other.machine, _), (other.replay, _), _, (other.decider, _) = laid_out.parts
        other._machine_place = laid_out.parts[1][1][0]
        other._place, other._kept, other._laid = laid_out.place, laid_out.kept, other._parts()
        other.jobs, other.lease, other.number_of = jobs, lease, number_of
        return other

    def _parts(self) -> tuple[Any, ...]:
        """Return what is laid out."""
        return self.coming, self.machine, self.replay, self.observer, self.decider

    def _given(self) -> Any:
        """Return what the engine is handed, which is laid out in memory at first, and where a part was replaced."""
        laid = self._laid
        if (
            laid is not None
            and laid[1] is self.machine
            and laid[2] is self.replay
            and laid[0] is self.coming
            and laid[3] is self.observer
            and laid[4] is self.decider
        ):
            return self._place
        called = self.called
        likes = coming_at, machine_at, replay_at, called.observer_at, called.decider_at
        kept = {id(part): (part, place) for part, place in self._laid_out}
        self._laid = self._parts()
        self._laid_out = [
            kept.get(id(part)) or (part, called.lay_out(part, like))
            for part, like in zip(self._laid, likes, strict=True)
        ]
        self._machine_place = self._laid_out[1][1][0]
        self._place, self._kept = self._run_of(self._laid_out)
        return self._place

    def _run_of(self, laid_out: list[tuple[Any, tuple[Any, Any]]]) -> tuple[Any, Any]:
        """Return where the run of some parts lies, and what is to be kept meanwhile."""
        coming, machine, replay, observer, decider = (place for _, (place, _) in laid_out)
        called = self.called
        run = Run(coming, machine, replay, self.options, called.observe, observer, called.decide, decider)
        return called.lay_out(run, run_at)

    def _run_some(self) -> None:
        """Run the engine until it stops, and say in words what went wrong."""
        machine, counts, place = self.machine, self.replay.counts, self._given()
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


def _copied(part: Any) -> Any:
    """Return a copy of arrays, tuples of arrays and generators; what cannot be written to is no copy."""
    if isinstance(part, np.ndarray):
        return part.copy() if part.flags.writeable else part
    if isinstance(part, tuple):
        inner = [_copied(each) for each in part]
        return part._make(inner) if hasattr(part, "_make") else tuple(inner)  # a memory may be a plain tuple
    return copy.deepcopy(part)
