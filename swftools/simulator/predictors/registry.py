"""Predictors by name: the decorators that register one, and how it is found.

There are three kinds. ``@predictor`` registers a function that observes events and learns: it is compiled, and sees
what policies see. ``@foretold`` registers one that is told run times before the run, and says what policies are to be
told: the truth, the request, or something between. An object of Python that learns is a ``PythonPredictor``.

References
----------
Tsafrir, Etsion and Feitelson 2007, "Backfilling using system-generated predictions rather than user runtime estimates".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import Kernel
from swftools.keyed_random import generator
from swftools.parameter_text import write_entry
from swftools.parameters import Parameters
from swftools.simulator.entry import Memory, check_arguments, compiled_entry, compiled_or_none, interpreted_entry
from swftools.simulator.names import Names
from swftools.simulator.registry import checked_class
from swftools.simulator.signatures import observe_signature

FloatArray = npt.NDArray[np.float64]

_FIRST = ("event", "machine", "job")


@runtime_checkable
class PythonPredictor(Protocol):
    """A predictor in Python, which is asked at submissions, beside the compiled engine.

    ``name`` is what the schedule's options call it. ``learn`` is told of the jobs that ended since the last time, in
    order of end: their rows of the trace, with the columns run_time (of the simulation, s) and end_time beside the
    trace's other columns. ``predict`` is given a job that is being submitted, its row of the trace, and the time, and
    returns how long it is predicted to run, s; more than the job's limit counts as the limit. A copy of the simulation
    copies it (``copy.deepcopy``).
    """

    name: str

    def learn(self, ended: pd.DataFrame) -> None:
        """Learn from jobs that ended."""

    def predict(self, job: Mapping[str, Any], now: float) -> float:
        """Return how long a job is predicted to run, s."""


@dataclass(frozen=True)
class Predictor:
    """What tells policies how long jobs run: its name, what it does, and its parameters.

    Parameters
    ----------
    name : str
        By which it is asked for.
    observe : callable, optional
        Takes ``event``, ``machine`` and ``job`` and, of ``parameters``, ``memory`` and ``rng``, what it names.
    foretell : callable, optional
        Takes ``run_time`` and ``limit``, arrays with an element a job in order of submission (s) and, of ``parameters``
        and ``rng``, what it names; returns what policies are told at submission. Without it they are told the limit.
    parameters : type of Parameters
        The class of its parameters.
    memory : callable, optional
        As a policy's.
    version : int
        Raised when its predictions change.
    given : Parameters
        What its parameters are in this run.
    """

    name: str
    observe: Callable[..., None] | None = None
    foretell: Callable[..., FloatArray] | None = None
    parameters: type[Parameters] = Parameters
    memory: Callable[[int, int], Memory] | None = None
    version: int = 1
    given: Parameters = field(default_factory=Parameters)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """Which of ``parameters``, ``memory`` and ``rng`` it observes with."""
        return check_arguments(f"predictor {self.name!r}", self.observe or nothing, _FIRST)

    @cached_property
    def compiled(self) -> Any:
        """What observes, compiled; None, with a warning, where numba cannot."""
        return compiled_or_none(f"predictor {self.name!r}", self._entry, checked=False)

    @cached_property
    def checked(self) -> Any:
        """The same, where an index outside its array is an error."""
        return compiled_or_none(f"predictor {self.name!r}", self._entry, checked=True)

    @cached_property
    def _entry(self) -> Kernel[..., None]:
        values, memory = self.given.values(), self.empty_memory(1, 1)
        return compiled_entry(self.observe or nothing, _FIRST, self.own, values, memory, observe_signature())

    def interpreted(self, memory: Memory) -> Callable[..., Any]:
        """Return what observes as an interpreted engine calls it."""
        return interpreted_entry(self.observe or nothing, self.own, self.given.values(), memory)

    def empty_memory(self, jobs: int, processors: int) -> Memory:
        """Return its memory at the beginning."""
        return self.memory(jobs, processors) if self.memory else ()

    def told(self, run_time: FloatArray, limit: FloatArray, seed: int) -> FloatArray:
        """Return what policies are told of each job at its submission, unless it observes and says otherwise."""
        if self.foretell is None:
            return limit.copy()
        mine: dict[str, Any] = {"parameters": self.given, "rng": generator(seed, f"simulate/{self.name}")}
        wanted = list(inspect.signature(self.foretell).parameters)[2:]
        told = np.array(self.foretell(run_time, limit, *(mine[name] for name in wanted)), dtype=np.float64)
        return np.minimum(told, limit)

    def to_text(self) -> str:
        """Return name and parameters in the form that ``find_predictor`` takes back."""
        return write_entry(self.name, self.given.to_mapping())


def nothing(event, machine, job):  # type: ignore[no-untyped-def]
    """Observe nothing."""


_PREDICTORS: Names[Predictor] = Names("predictor")


def predictor(
    name: str,
    *,
    parameters: type[Parameters] | None = None,
    memory: Callable[[int, int], Memory] | None = None,
    version: int = 1,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a predictor that observes events, and learns; see ``Predictor``.

    Raises
    ------
    ParameterError
        The name is taken, or its arguments are not those of a predictor.
    """

    def register(observe: Callable[..., None]) -> Callable[..., None]:
        kind = checked_class("predictor", name, parameters)
        made = Predictor(name, observe, None, kind, memory, version, kind())
        made.own  # noqa: B018 (refuses wrong arguments)
        _PREDICTORS.add(name, made, observe)
        return observe

    return register


def foretold(
    name: str, *, parameters: type[Parameters] | None = None, version: int = 1
) -> Callable[[Callable[..., FloatArray]], Callable[..., FloatArray]]:
    """Register a predictor that is told the run times before the run; see ``Predictor``.

    Raises
    ------
    ParameterError
        The name is taken, or its arguments are not those of such a predictor.
    """

    def register(foretell: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
        kind = checked_class("predictor", name, parameters)
        check_arguments(f"predictor {name!r}", foretell, ("run_time", "limit"), ("parameters", "rng"))
        made = Predictor(name, None, foretell, kind, None, version, kind())
        _PREDICTORS.add(name, made, foretell)
        return foretell

    return register


def find_predictor(predictor: str | Predictor) -> Predictor:
    """Return a predictor by name, with its parameters behind it, such as ``virtual:error=0.3``; also ``module:name``.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_predictor("virtual:error=0.3").to_text()
    'virtual:error=0.3'
    """
    if isinstance(predictor, Predictor):
        return predictor
    if not isinstance(predictor, str):
        raise ParameterError(f"predictor={predictor!r} is neither a name nor a Predictor")
    found, given = _PREDICTORS.read(predictor)
    return replace(found, given=found.parameters.from_mapping(given)) if given else found


def list_predictors() -> dict[str, Predictor]:
    """Return the predictors by name."""
    return _PREDICTORS.known
