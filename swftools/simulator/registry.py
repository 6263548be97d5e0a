"""Policies by name: the decorator that registers one, and how a name or ``module:name`` is looked up."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core.errors import NumbaError

from swftools.errors import ParameterError, PolicyWarning
from swftools.parameters import is_number
from swftools.simulator.engine import DECIDE
from swftools.simulator.interface import Memory

Default = float | Sequence[str]

_POLICIES: dict[str, Policy] = {}


@dataclass(frozen=True)
class Policy:
    """A scheduling policy: its name, what it decides, and the parameters it takes.

    Parameters
    ----------
    name : str
        By which it is asked for.
    decide : callable
        ``(now, machine, requests, parameters, memory, rng)``; see ``swftools.simulator.interface``.
    defaults : mapping of str to float or sequence of str
        Each parameter with its default; of words, the choices, the first of which is the default.
    memory : callable, optional
        Takes the number of jobs and of processors; returns the shapes of the two arrays of ``Memory``.
    rests : bool
        The policy does nothing, and remembers nothing, while no waiting job fits into the free processors: it is not
        asked then, which saves time.
    needs : tuple of str
        Columns of the trace's jobs without which the policy would be another one, such as ``("priority_rank",)``.
    """

    name: str
    decide: Callable[..., None]
    defaults: Mapping[str, Default] = field(default_factory=dict)
    memory: Callable[[int, int], tuple[tuple[int, int], tuple[int, int]]] | None = None
    rests: bool = False
    needs: tuple[str, ...] = ()

    @cached_property
    def compiled(self) -> Any:
        """The policy compiled; None, with a warning, where numba cannot."""
        try:
            return njit(DECIDE, cache=_is_importable(self.decide), nogil=True)(self.decide)
        except NumbaError as error:
            reason = str(error).strip().splitlines()[-1][:200]
            warnings.warn(f"policy {self.name!r} is interpreted, not compiled: {reason}", PolicyWarning, stacklevel=2)
            return None

    def parameter_array(self, given: Mapping[str, Any]) -> npt.NDArray[np.float64]:
        """Return the parameters in the order of the defaults, words as the position of the choice.

        Raises
        ------
        ParameterError
            A name is unknown, or a value no number, or none of the choices.
        """
        if unknown := sorted(set(given) - set(self.defaults)):
            known = ", ".join(self.defaults) or "none"
            raise ParameterError(f"policy {self.name!r}: unknown parameters {unknown}; there are: {known}")
        return np.array([self._number(name, default, given) for name, default in self.defaults.items()], np.float64)

    def _number(self, name: str, default: Default, given: Mapping[str, Any]) -> float:
        """Return the value of a parameter as the policy gets it."""
        if isinstance(default, int | float):
            value = given.get(name, default)
            if not is_number(value):
                raise ParameterError(f"policy {self.name!r}: {name}={value!r} is not a number")
            return float(value)
        word = given.get(name, default_of(default))
        if word not in default:
            raise ParameterError(f"policy {self.name!r}: {name}={word!r} is not one of {', '.join(default)}")
        return float(default.index(word))

    def empty_memory(self, jobs: int, processors: int) -> Memory:
        """Return the policy's memory at the beginning: zeros."""
        floats, integers = self.memory(jobs, processors) if self.memory else ((0, 0), (0, 0))
        return Memory(np.zeros(floats), np.zeros(integers, np.int64))


def default_of(default: Default) -> float | str:
    """Return the value that a parameter has if it is not given: of words, the first."""
    return default if isinstance(default, int | float) else default[0]


def _is_importable(function: Callable[..., Any]) -> bool:
    """Whether a later process finds the function again, so that its compiled form may be kept."""
    return function.__module__ != "__main__" and "<locals>" not in function.__qualname__


def policy(
    name: str,
    *,
    memory: Callable[[int, int], tuple[tuple[int, int], tuple[int, int]]] | None = None,
    rests: bool = False,
    needs: tuple[str, ...] = (),
    **defaults: Default,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a policy under a name, with its parameters and their defaults; see ``Policy``.

    Raises
    ------
    ParameterError
        The name is taken.

    Examples
    --------
    >>> @policy("example-idle", patience=60.0)
    ... def idle(now, machine, requests, parameters, memory, rng):
    ...     pass
    >>> find_policy("example-idle").parameter_array({"patience": 5}).tolist()
    [5.0]
    """

    def register(decide: Callable[..., None]) -> Callable[..., None]:
        made = Policy(name, decide, defaults, memory, rests, needs)
        other = _POLICIES.setdefault(name, made)
        if (other.decide.__module__, other.decide.__qualname__) != (decide.__module__, decide.__qualname__):
            raise ParameterError(f"policy {name!r} is registered already, by {other.decide.__module__}")
        _POLICIES[name] = made
        return decide

    return register


def find_policy(name: str | Policy) -> Policy:
    """Return a policy by name; ``module:name`` imports the module that registers it first.

    Raises
    ------
    ParameterError
        There is none of that name, or no such module.
    """
    if isinstance(name, Policy):
        return name
    module, colon, rest = name.rpartition(":")
    if colon:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ParameterError(f"policy {name!r}: module {module!r} cannot be imported: {error}") from error
    if rest not in list_policies():
        raise ParameterError(f"no policy {rest!r}; there are: {', '.join(sorted(list_policies()))}")
    return list_policies()[rest]


def list_policies() -> dict[str, Policy]:
    """Return the policies by name."""
    return _POLICIES
