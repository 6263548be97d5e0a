"""Policies by name: the decorator that registers one, and how a name or ``module:name`` is looked up."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError, PolicyWarning
from swftools.kernel import kernel
from swftools.parameter_text import read_entry
from swftools.parameters import Parameters, did_you_mean, is_whole, refuse_unknown
from swftools.simulator.engine import policy_signature
from swftools.simulator.interface import Memory

OPTIONS = frozenset(
    {"trace", "policy", "processors", "overrun", "cancelled", "predictor", "semantics", "seed", "compiled", "progress"}
)
"""What ``simulate`` is told beside the policy's parameters, none of which can have such a name."""

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
    parameters : type of Parameters
        The class of its parameters, each a number, a choice or a truth value with a default.
    memory : callable, optional
        Takes the number of jobs and of processors; returns the shapes of the two arrays of ``Memory``.
    rests : bool
        The policy does nothing, and remembers nothing, while no waiting job fits into the free processors: it is not
        asked then, which saves time.
    needs : tuple of str
        Columns of the trace's jobs without which the policy would be another one, such as ``("priority_rank",)``.
    version : int
        Of the schedules that it makes: raised when they change, so that nobody takes old ones for new.
    """

    name: str
    decide: Callable[..., None]
    parameters: type[Parameters] = Parameters
    memory: Callable[[int, int], tuple[tuple[int, int], tuple[int, int]]] | None = None
    rests: bool = False
    needs: tuple[str, ...] = ()
    version: int = 1

    @cached_property
    def compiled(self) -> Any:
        """The policy compiled; None, with a warning, where numba cannot."""
        from numba.core.errors import NumbaError  # noqa: PLC0415 (takes half a second, and is needed from here on)

        try:
            return kernel(policy_signature())(self.decide).compiled
        except NumbaError as error:
            reason = str(error).strip().splitlines()[-1][:200]
            warnings.warn(f"policy {self.name!r} is interpreted, not compiled: {reason}", PolicyWarning, stacklevel=2)
            return None

    def chosen(self, given: Mapping[str, Any]) -> Parameters:
        """Return every parameter, those that are given and the defaults.

        Raises
        ------
        ParameterError
            A name is unknown, or a value outside its domain.
        """
        refuse_unknown(self.name, given, self.parameters.names())
        return self.parameters.from_mapping(given)

    def parameter_array(self, given: Mapping[str, Any]) -> npt.NDArray[np.float64]:
        """Return the parameters in the order of the class's fields, words as the position of the choice.

        Raises
        ------
        ParameterError
            A name is unknown, or a value outside its domain.
        """
        return np.array(self.chosen(given).to_numbers(), np.float64)

    def empty_memory(self, jobs: int, processors: int) -> Memory:
        """Return the policy's memory at the beginning: zeros."""
        floats, integers = self.memory(jobs, processors) if self.memory else ((0, 0), (0, 0))
        return Memory(np.zeros(floats), np.zeros(integers, np.int64))


def policy(
    name: str,
    *,
    parameters: type[Parameters] | None = None,
    memory: Callable[[int, int], tuple[tuple[int, int], tuple[int, int]]] | None = None,
    rests: bool = False,
    needs: tuple[str, ...] = (),
    version: int = 1,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a policy under a name, with the class of its parameters; see ``Policy``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; a parameter is no number, has no default, or is called as an option of
        ``simulate``; the class of parameters is another policy's; the version is not a whole number from 1 on.

    Examples
    --------
    >>> from swftools.parameters import number
    >>> @dataclass(frozen=True)
    ... class IdleParameters(Parameters):
    ...     patience: float = number(60.0, least=0, unit="s")
    >>> @policy("example-idle", parameters=IdleParameters, version=1)
    ... def idle(now, machine, requests, parameters, memory, rng):
    ...     pass
    >>> find_policy("example-idle").parameter_array({"patience": 5}).tolist()
    [5.0]
    """
    if not is_whole(version, 1):
        raise ParameterError(f"policy {name!r}: version={version!r} is not an integer of 1 or more")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ParameterError(f"policy {name!r}: a name is of letters, digits and -._")

    def register(decide: Callable[..., None]) -> Callable[..., None]:
        other = _POLICIES.get(name)
        if other and (other.decide.__module__, other.decide.__qualname__) != (decide.__module__, decide.__qualname__):
            raise ParameterError(f"policy {name!r} is registered already, by {other.decide.__module__}")
        _POLICIES[name] = Policy(name, decide, _checked_class(name, parameters), memory, rests, needs, version)
        return decide

    return register


def _checked_class(name: str, parameters: type[Parameters] | None) -> type[Parameters]:
    """Return the class of a policy's parameters, named after it; that of none where it has none."""
    if parameters is None:
        return Parameters
    if taken := sorted(OPTIONS & set(parameters.names())):
        raise ParameterError(f"policy {name!r}: parameters {taken} are called as options of simulate; rename them")
    domains = parameters.domains()
    vague = [
        each.name
        for each in fields(parameters)
        if each.default is MISSING or each.name not in domains or not domains[each.name].is_numeric
    ]
    if vague:
        wanted = "number, whole, choice or truth, with a default that is not None"
        raise ParameterError(f"policy {name!r}: parameters {vague}: declare each by {wanted}")
    return parameters.named(name)


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
    if rest not in _POLICIES:
        known = ", ".join(sorted(_POLICIES))
        raise ParameterError(f"no policy {rest!r}; there are: {known}{did_you_mean([rest], _POLICIES)}")
    return _POLICIES[rest]


def read_policy(policy: str | Policy, parameters: Mapping[str, Any] | None = None) -> tuple[Policy, dict[str, Any]]:
    """Return a policy and the parameters that are given, in its text and beside it, checked.

    Parameters
    ----------
    policy : str or Policy
        ``NAME``, ``NAME:KEY=VALUE,KEY=VALUE``, either behind ``module:``, or the policy itself.
    parameters : mapping, optional
        More of its parameters.

    Raises
    ------
    ParameterError
        There is none of that name, it takes no such parameter, or one is given twice.

    Examples
    --------
    >>> chosen, given = read_policy("easy:reservations=2", {"backfill_order": "sjf"})
    >>> chosen.name, given
    ('easy', {'reservations': 2, 'backfill_order': 'sjf'})
    """
    name, given = read_entry(policy, _POLICIES) if isinstance(policy, str) else (policy, {})
    chosen, more = find_policy(name), dict(parameters or {})
    if twice := sorted(set(given) & set(more)):
        raise ParameterError(f"{chosen.name}: {', '.join(twice)} is given twice, in {policy!r} and beside it")
    given |= more
    chosen.parameter_array(given)
    return chosen, given


def list_policies() -> dict[str, Policy]:
    """Return the policies by name."""
    return _POLICIES
