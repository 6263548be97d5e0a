# SPDX-License-Identifier: BSD-3-Clause
"""Policies in Python: a function that decides by a ``Stepper``, used by its name wherever a compiled policy is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from swftools.errors import ParameterError, PolicyError
from swftools.simulator.machine.state import Machine
from swftools.simulator.registry import POLICIES, Policy
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.stepper import Stepper

Decide = Callable[[Stepper], object]


def python_policy(
    name: str,
    *,
    when: str = "",
    rests: bool = True,
    needs: tuple[str, ...] = (),
    promises: tuple[str, ...] = (),
    version: int = 1,
    made_in: str = "",
    stamp: str = "",
) -> Callable[[Decide], Decide]:
    """Register a policy that a function of Python decides, under a name.

    The function takes a ``Stepper`` before a decision, looks, and acts; it returns nothing, and must not advance. The
    engine is compiled. A decision takes as long as the Python code, ten microseconds or more; a policy registered by
    ``policy`` takes about one.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for.
    rests : bool
        False: it is asked at every event, even if no waiting job fits.
    when, needs, promises, version
        As for ``policy``.
    made_in, stamp
        Published versions depend on the source of the module ``made_in``, by default that of the function, and on
        ``stamp``, which may stand for weights.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; the function does not take one argument; the version is not a whole number.

    Examples
    --------
    >>> from swftools import Trace
    >>> from swftools.simulator import simulate
    >>> @python_policy("example-widest")
    ... def widest(stepper):
    ...     for job in sorted(stepper.waiting, key=lambda job: -stepper.width[job]):
    ...         if stepper.width[job] <= stepper.free:
    ...             stepper.start(job)
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[7, 8, 9], submit_time=[0, 0, 0],
    ...     run_time=[10, 10, 5], requested_time=[10, 10, 5], requested_processors=[1, 3, 4])
    >>> simulate(trace, "example-widest").jobs["start_time"].tolist()
    [5.0, 5.0, 0.0]
    """
    facts = dict(locals())

    def make(decide: Decide) -> Policy:
        try:
            inspect.signature(decide).bind(None)
        except TypeError:
            raise ParameterError(f"policy {name!r}: the function must take one argument, the stepper") from None
        facts["made_in"] = made_in or decide.__module__
        return Policy(**facts, decide=wait, in_python=partial(_decide, decide))

    return POLICIES.decorator(name, make, version=version)


def wait(machine: Machine) -> None:
    """Decide nothing: what is decided in Python is done already."""


class _Deciding(Stepper):
    """A simulation that stands before a decision, and is not gone on with by whoever decides."""

    def __init__(self, simulation: Simulation) -> None:
        self._take_up(simulation)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise PolicyError("a policy acts and returns; it must not advance: the simulation does that")

    advance = skip = decide = run = finish = submit = end = cancel = take_away = _refuse


def _decide(decide: Decide, simulation: Simulation) -> None:
    """Let a function decide; what it returns must be nothing."""
    answer = decide(_Deciding(simulation))
    if answer is not None:
        raise PolicyError(f"it returned {answer!r:.60}; a policy acts by start(), and returns nothing")
