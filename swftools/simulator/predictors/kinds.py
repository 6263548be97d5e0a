# SPDX-License-Identifier: BSD-3-Clause
"""What a predictor is: a function that observes and learns, one that is told run times, or an object of Python.

``registry.py`` says how they are found by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError, PolicyError
from swftools.kernel import Kernel
from swftools.kernel.pointers import Lent
from swftools.keyed_random import generator
from swftools.parameters import Parameters
from swftools.parameters.as_text import write_entry
from swftools.simulator.machine.events import END, OUTLIVED, START, STOP, SUBMISSION
from swftools.simulator.machine.state import Machine
from swftools.simulator.policy_abi import (
    OPTIONAL,
    POOL,
    MachineKind,
    Memory,
    check_arguments,
    compiled_entry,
    interpreted_entry,
    pack,
    place_or_none,
)

FloatArray = npt.NDArray[np.float64]

Keyed = Callable[[str, int], FloatArray]
"""What draws numbers from 0 to 1 by the keys of jobs: of a step, so many a job."""

EVENTS = (SUBMISSION, START, STOP, OUTLIVED, END)
"""All that a predictor may observe."""

_FIRST = ("event", "machine", "job")


@runtime_checkable
class PythonPredictor(Protocol):
    """A predictor in Python, which is asked at submissions, beside the compiled engine.

    ``name`` is its name in the schedule's options. A simulation works on a copy of it (``copy.deepcopy``), and so does
    a copy of the simulation; ``Simulation.predictor`` is the one that learned.

    It may have ``needs``, a tuple of names: columns that it also gets although the column dictionary does not have
    them. You must make sure that they are known at submission.
    """

    name: str

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Learn from jobs that ended since the last time.

        Parameters
        ----------
        ended : list of dict
            For each job what ``predict`` got, with run_time (of the simulation, s) and end_time; in order of end.
        """

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return how long a job that is being submitted is predicted to run.

        Parameters
        ----------
        job : dict
            The job's columns that are known at submission according to the column dictionary, except lists, and those
            in ``needs``; ``width``, ``requested_time`` and ``submit_time`` are those of the simulation. A missing value
            is None.
        now : float
            The time, s.

        Returns
        -------
        float
            Seconds; more than the requested time counts as that, less than 0 as 0.
        """


@dataclass(frozen=True)
class Predictor:
    """A predictor of run times: its name, its function, and its parameters.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for.
    observe : callable, optional
        Takes ``event``, ``machine`` and ``job`` and, of ``parameters``, ``memory`` and ``rng``, what it names.
    foretell : callable, optional
        Takes ``run_time`` and ``limit``, arrays with an element for each job in order of submission (s), and any of
        ``parameters``, ``rng`` and ``keyed`` that it names. Returns the prediction that policies see at submission;
        without it they see the limit. ``keyed(step, count)`` draws ``count`` numbers for each job by the job's key
        (``swftools.keyed_random.uniforms``), the same in every part of a log; ``rng`` draws anew for each set of jobs.
    parameters : type of Parameters
        The class of its parameters.
    memory : callable, optional
        As a policy's.
    version : int
        Raised when its predictions change.
    given : Parameters
        Its parameters in this run.
    learner : callable, optional
        Makes the ``PythonPredictor`` that a run begins with: takes ``given``, or nothing if there are no parameters.
    events : tuple of int
        The events that it observes; it is not called for others, which saves time.
    allocates : bool
        False: it makes no array, and calls no kernel that returns a new one. It then runs faster, as a policy does.
    kind : MachineKind
        The machine on which it observes.
    """

    name: str
    observe: Callable[..., None] | None = None
    foretell: Callable[..., FloatArray] | None = None
    parameters: type[Parameters] = Parameters
    memory: Callable[[int, int], Memory] | None = None
    version: int = 1
    given: Parameters = field(default_factory=Parameters)
    learner: Callable[..., PythonPredictor] | None = None
    events: tuple[int, ...] = EVENTS
    allocates: bool = True
    kind: MachineKind = POOL

    @property
    def observes(self) -> int:
        """The events that it observes, as the sum of 2 ** event; 0 if it observes nothing."""
        return sum(1 << event for event in set(self.events)) if self.observe else 0

    @property
    def function(self) -> Callable[..., Any]:
        """What was registered, whatever its kind."""
        return self.observe or self.foretell or self.learner or nothing

    @property
    def in_python(self) -> PythonPredictor | None:
        """The Python object that a run begins with; None for other kinds of predictors.

        Raises
        ------
        ParameterError
            It cannot be made.
        """
        if self.learner is None:
            return None
        try:
            return self.learner() if self.parameters is Parameters else self.learner(self.given)
        except Exception as error:
            raise ParameterError(f"predictor {self.to_text()!r}: {type(error).__name__}: {error}") from error

    def on(self, kind: MachineKind) -> Predictor:
        """Return the predictor as it observes another kind of machine."""
        if kind is self.kind:
            return self
        return replace(self, observe=kind.of(self.observe) if self.observe else None, kind=kind)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """Which of ``parameters``, ``memory`` and ``rng`` it observes with."""
        return check_arguments(f"predictor {self.name!r}", self.observe or nothing, _FIRST)

    @cached_property
    def foretells_with(self) -> tuple[str, ...]:
        """Which of ``parameters``, ``rng`` and ``keyed`` it foretells with.

        Raises
        ------
        ParameterError
            Its arguments are others than those of such a predictor.
        """
        if self.foretell is None:
            return ()
        own = check_arguments(f"predictor {self.name!r}", self.foretell, ["run_time", "limit"], (*OPTIONAL, "keyed"))
        if "memory" in own:
            raise ParameterError(f"predictor {self.name!r} takes memory; a foretold predictor has none")
        return own

    @cached_property
    def compiled(self) -> Any:
        """What observes, compiled; None, with a warning, where numba cannot."""
        return place_or_none(f"predictor {self.name!r}", self._entry, checked=False)

    @cached_property
    def checked(self) -> Any:
        """The same, where an index outside its array is an error."""
        return place_or_none(f"predictor {self.name!r}", self._entry, checked=True)

    @cached_property
    def _entry(self) -> Kernel[..., None]:
        function, allocates = self.observe or nothing, self.observe is not None and self.allocates
        values = self.given.values()
        return compiled_entry(function, _FIRST, self.own, values, self.own_at, allocates, self.kind)

    @cached_property
    def own_at(self) -> Lent:
        """What takes of the kind that it has of its own, for which it is compiled."""
        return Lent(lambda: pack(self.given.values(), self.empty_memory(1, 1), np.random.default_rng(0)))

    def interpreted(self) -> Callable[..., Any]:
        """Return what observes as an interpreted engine calls it."""
        return interpreted_entry(self.observe or nothing, self.own, self.given.values())

    def empty_memory(self, jobs: int, processors: int) -> Memory:
        """Return its memory at the beginning.

        Raises
        ------
        PolicyError
            It cannot be made.
        """
        try:
            return self.memory(jobs, processors) if self.memory else ()
        except Exception as error:
            raise PolicyError(f"predictor {self.name!r}, its memory: {type(error).__name__}: {error}") from error

    def told(self, run_time: FloatArray, limit: FloatArray, seed: int, keyed: Keyed | None = None) -> FloatArray:
        """Return the prediction that policies see at the submission of each job, unless it observes and says otherwise.

        Parameters
        ----------
        run_time, limit : array of float, shape (jobs,)
            In s.
        seed : int
            For what is drawn.
        keyed : callable, optional
            Draws numbers by the jobs' keys, for those that name it: takes the name of a step and how many a job.

        Raises
        ------
        PolicyError
            It raised an error, or foretells something else than a number for each job.
        """
        if self.foretell is None:
            return limit.copy()
        mine: dict[str, Any] = {
            "parameters": self.given,
            "rng": generator(seed, f"simulate/{self.name}") if "rng" in self.foretells_with else None,
            "keyed": keyed,
        }
        own = [mine[name] for name in self.foretells_with]
        try:  # it is handed copies: were they changed, so would be what is simulated
            told = np.array(self.foretell(run_time.copy(), limit.copy(), *own), dtype=np.float64)
        except Exception as error:
            which = f"predictor {self.name!r}, before the run, of {len(limit)} jobs"
            raise PolicyError(f"{which}: raised {type(error).__name__}: {error}") from error
        if told.shape != limit.shape or np.isnan(told).any():
            what = "NaN" if told.shape == limit.shape else f"an array of shape {told.shape}"
            raise PolicyError(
                f"predictor {self.name!r} returned {what} for {len(limit)} jobs; return a number for each"
            )
        return np.clip(told, 0.0, limit)

    def to_text(self) -> str:
        """Return name and parameters in the form that ``find_predictor`` takes back."""
        return write_entry(self.name, self.given.to_mapping())


def nothing(event: int, machine: Machine, job: int) -> None:
    """Observe nothing."""
