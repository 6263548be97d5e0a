# SPDX-License-Identifier: BSD-3-Clause
"""What is no policy or predictor by its arguments is refused where it is registered, with what it must take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.kernel import kernel
from swftools.simulator import (
    Policy,
    first_waiting,
    foretold,
    list_policies,
    list_predictors,
    policy,
    predictor,
    simulate,
    start,
)

ONE = Trace.from_columns(machine_processors=4, job_number=[1], submit_time=[0], run_time=[1], requested_processors=[1])


class Object:
    """Stands for a policy with a state."""

    def __call__(self, machine: Any) -> None:
        """Decide nothing."""

    def decide(self, machine: Any) -> None:
        """Decide nothing."""


def plain(machine: Any) -> None:
    """Decide nothing."""


def old(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Take what policies took once."""


def starred(machine, *memory):  # type: ignore[no-untyped-def]
    """Take any number."""


def by_name_only(machine, *, memory):  # type: ignore[no-untyped-def]
    """Take by name what is handed on by place."""


def any_names(machine, **parameters):  # type: ignore[no-untyped-def]
    """Take any names."""


def by_place_only(machine, memory, /):  # type: ignore[no-untyped-def]
    """Take by place only."""


def with_default(machine, depth=3):  # type: ignore[no-untyped-def]
    """Have a parameter of its own, which no class declares."""


def behind(memory, machine):  # type: ignore[no-untyped-def]
    """Take the machine in another place."""


def nothing() -> None:
    """Take nothing."""


WRONG: list[tuple[Callable[..., Any], str]] = [
    (old, r"takes \(now, machine, requests, parameters, memory, rng\); it must take \(machine\), .*now\(machine\)"),
    (starred, r"takes \(machine, \*memory\); it must take"),
    (by_name_only, r"takes \(machine, \*, memory\); it must take"),
    (any_names, r"takes \(machine, \*\*parameters\); it must take"),
    (by_place_only, r"takes \(machine, memory, /\); it must take"),
    (with_default, r"takes \(machine, depth=3\); it must take .* class of its parameters"),
    (behind, r"takes \(memory, machine\); it must take"),
    (nothing, r"takes \(\); it must take"),
    (Object(), r"is of type Object, and must be a plain function: .* memory="),
    (Object, r"is the class Object, and must be a plain function"),
    (Object().decide, r"is of type method, and must be a plain function"),
    (functools.partial(plain), r"is of type partial, and must be a plain function"),
    (kernel(plain), r"is of type Kernel, and must be a plain function: without @kernel"),
    (print, r"is of type builtin_function_or_method, and must be a plain function"),
]


@pytest.mark.parametrize(("function", "told"), WRONG, ids=[told[:30] for _, told in WRONG])
def test_a_wrong_policy(function: Callable[..., Any], told: str) -> None:
    """By the decorator, and by the class when it is used; nothing is registered."""
    with pytest.raises(ParameterError, match=f"^policy 'wrong' {told}"):
        policy("wrong")(function)
    assert "wrong" not in list_policies()
    for compiled in (True, False, "checked"):
        with pytest.raises(ParameterError, match=f"^policy 'wrong' {told}"):
            simulate(ONE, Policy("wrong", function), compiled=compiled)


@pytest.mark.parametrize(("function", "told"), WRONG, ids=[told[:30] for _, told in WRONG])
def test_a_wrong_predictor(function: Callable[..., Any], told: str) -> None:
    """The same functions are no predictors either, of neither kind."""
    with pytest.raises(ParameterError, match=r"^predictor 'wrong' .*event, machine, job|without @kernel"):
        predictor("wrong")(function)
    with pytest.raises(ParameterError, match=r"^predictor 'wrong' .*run_time, limit|without @kernel"):
        foretold("wrong")(function)
    assert "wrong" not in list_predictors()


def test_what_a_predictor_is_not_given() -> None:
    """One that is told the run times has no memory."""
    with pytest.raises(ParameterError, match=r"takes memory; a foretold predictor has none"):
        foretold("wrong")(lambda run_time, limit, memory: limit)


def test_a_lambda_is_a_function() -> None:
    """It runs."""
    first = Policy("first", lambda machine: start(machine, first_waiting(machine)), rests=True)
    assert simulate(ONE, first, compiled=False).jobs["start_time"].tolist() == [0.0]
