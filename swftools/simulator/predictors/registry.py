# SPDX-License-Identifier: BSD-3-Clause
"""Predictors by name: the decorators that register one, and how it is found.

There are three kinds. ``@predictor`` registers a function that observes events and learns; it is compiled, and sees
what policies see. ``@foretold`` registers a function that gets the run times before the run, and decides what policies
are told: the truth, the request, or something between. ``@python_predictor`` registers a class of ``PythonPredictor``
objects, which learn in plain Python.

References
----------
Tsafrir, Etsion and Feitelson 2007, "Backfilling using system-generated predictions rather than user runtime estimates".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from swftools.errors import ParameterError
from swftools.parameters import Parameters, refuse_unknown
from swftools.parameters.as_text import read_entry, write_entry
from swftools.parameters.registry import Registry, Source
from swftools.parameters.spelling import as_known, respelled
from swftools.simulator.policy_abi import Memory
from swftools.simulator.predictors.kinds import EVENTS, FloatArray, Predictor, PythonPredictor
from swftools.simulator.registry import checked_class
from swftools.simulator.requested_times import REQUESTS

PREDICTORS: Registry[Predictor] = Registry("predictor", ("predictor", "foretold", "python_predictor"))


def predictor(
    name: str,
    *,
    parameters: type[Parameters] | None = None,
    memory: Callable[[int, int], Memory] | None = None,
    events: tuple[int, ...] = EVENTS,
    allocates: bool = True,
    version: int = 1,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a predictor that observes events, and learns; see ``Predictor``.

    Raises
    ------
    ParameterError
        The name is taken, its arguments are not those of a predictor, or the version is not a whole number from 1 on.
    """
    if not set(events) <= set(EVENTS):
        raise ParameterError(f"predictor {name!r}: events={events!r} are not of SUBMISSION, START, STOP, OUTLIVED, END")
    facts = {"memory": memory, "events": events, "allocates": allocates}
    return _decorator(name, "observe", parameters, version, **facts)


def foretold(
    name: str, *, parameters: type[Parameters] | None = None, version: int = 1
) -> Callable[[Callable[..., FloatArray]], Callable[..., FloatArray]]:
    """Register a predictor that uses the run times and is evaluated before the simulation; see ``Predictor``.

    Raises
    ------
    ParameterError
        The name is taken, its arguments are not those of such a predictor, or the version is not a whole number from 1
        on.
    """
    return _decorator(name, "foretell", parameters, version)


Learner = TypeVar("Learner", bound=type)

_METHODS = ("learn", "predict")


def python_predictor(
    name: str, *, parameters: type[Parameters] | None = None, version: int = 1
) -> Callable[[Learner], Learner]:
    """Register a class of predictors in Python under a name; see ``PythonPredictor``.

    An object is made for each simulation, from the parameters, or from nothing if the class declares none.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; what it stands before is no class with ``learn`` and ``predict``; or the
        version is not a whole number from 1 on.
    """
    decorator: Callable[[Learner], Learner] = _decorator(name, "learner", parameters, version)

    def register(learner: Learner) -> Learner:
        if not isinstance(learner, type) or not all(callable(getattr(learner, each, None)) for each in _METHODS):
            raise ParameterError(f"predictor {name!r}: {learner!r} is not a class with {' and '.join(_METHODS)}")
        decorator(learner).name = name  # type: ignore[attr-defined]
        return learner

    return register


def _decorator(
    name: str, kind: str, parameters: type[Parameters] | None, version: int, **facts: Any
) -> Callable[[Source], Source]:
    """Return what registers the function or class behind it as a predictor: as its ``kind``, a field of that."""

    def make(source: Source) -> Predictor:
        own = checked_class("predictor", name, parameters)
        made = Predictor(name, parameters=own, given=own(), version=version, **{**facts, kind: source})
        _ = made.own, made.foretells_with  # which refuse wrong arguments
        return made

    return PREDICTORS.decorator(name, make, version=version)


def find_predictor(predictor: str | Predictor | PythonPredictor) -> Predictor | PythonPredictor:
    """Return a predictor by name, with parameters, such as ``virtual:error=0.3``; also ``module:name``.

    ``module:name`` is a predictor that the module registers, or one in Python: an object of the module, or a class,
    which is called with the parameters.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_predictor("virtual:error=0.3").to_text()
    'virtual:error=0.3'
    """
    if isinstance(predictor, str):
        return _read(predictor)
    if isinstance(predictor, type):
        raise ParameterError(f"predictor={predictor.__name__} is a class; pass an object of it")
    if isinstance(predictor, Predictor | PythonPredictor):
        return predictor
    raise ParameterError(f"predictor={predictor!r} is neither a name nor has it name, learn and predict")


def registered_predictor(text: str) -> Predictor:
    """Return a predictor that is registered already, by name, with parameters; nothing is imported.

    Raises
    ------
    ParameterError
        None is registered under that name, or it takes no such parameter.
    """
    name, given = read_entry(text, PREDICTORS.known)
    return _with(PREDICTORS.registered(name), given)


def _with(found: Predictor, given: dict[str, Any]) -> Predictor:
    """Return a predictor with the parameters that are given."""
    refuse_unknown(found.name, given, found.parameters.names())
    return replace(found, given=found.parameters.from_mapping(given)) if given else found


def _read(text: str) -> Predictor | PythonPredictor:
    """Return a predictor by its text."""
    name, given = read_entry(text, {*PREDICTORS.known, *REQUESTS})
    if name in REQUESTS and name not in PREDICTORS.known:
        raise ParameterError(
            f"predictor {text!r}: this is about what users request, not a predictor: requests={text!r}, "
            f"on a command line --requests {text}"
        )
    module, inner = PREDICTORS.module_of(name)
    if module is None or inner in PREDICTORS.known:
        return _with(PREDICTORS.find(name), given)
    made = getattr(module, inner, None)
    if made is None and as_known(inner, PREDICTORS.known) != inner:
        return _read(write_entry(respelled(name, PREDICTORS.known), given))
    if isinstance(made, type):
        try:
            made = made(**given)
        except Exception as error:
            raise ParameterError(f"predictor {text!r}: {type(error).__name__}: {error}") from error
    elif made is not None and given:
        raise ParameterError(f"predictor {text!r}: {inner} is an object, not a class, and takes no parameters")
    if not isinstance(made, PythonPredictor):
        what = f"{module.__name__}.{inner} has not name, learn and predict" if made is not None else "there is none"
        raise ParameterError(
            f"no predictor {inner!r} in module {module.__name__!r}: it registers none by that name, and {what}"
        )
    return made


def text_of(predictor: str | Predictor | PythonPredictor) -> str:
    """Return what a schedule's options call a predictor: name and parameters, of an object its name.

    Raises
    ------
    ParameterError
        As ``find_predictor``.

    Examples
    --------
    >>> text_of("virtual"), text_of("virtual: error = 0.3")
    ('virtual:error=0.5', 'virtual:error=0.3')
    """
    found = find_predictor(predictor)
    if isinstance(found, Predictor):
        return found.to_text()
    if not isinstance(predictor, str):
        return str(found.name)
    name, given = read_entry(predictor)
    return write_entry(name, dict(sorted(given.items())))


def list_predictors() -> dict[str, Predictor]:
    """Return the predictors by name."""
    return PREDICTORS.known
