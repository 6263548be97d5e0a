# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as the Python that they are written in, and in other forms than the one that users run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from swftools.kernel import Kernel
from swftools.simulator.run.driver import Driver

FORMS = ["py_func", pytest.param("checked", marks=pytest.mark.slow)]
"""How else a kernel runs than compiled: interpreted, where an index beyond an array is an error; and, at night,
compiled so that an index before it is one too. To compile that takes minutes."""


BY_ITSELF = [True, pytest.param(False, marks=pytest.mark.slow)]
"""Whether a kernel that a test calls by itself is interpreted; compiled it is at night: users run it within others."""


@contextmanager
def all_interpreted(wanted: bool = True) -> Iterator[None]:
    """Run each kernel that Python calls as Python within a with block; nothing happens if it is not ``wanted``.

    An interpreted policy calls the kernels that it is made of, each of which would be compiled for that. Whole numbers
    go round at 2**64 in silence, as in compiled code.
    """
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        if wanted:
            patch.setattr(Kernel, "__call__", _interpret)
        yield


@contextmanager
def runs_interpreted() -> Iterator[None]:
    """Let simulations that are not compiled run all kernels as Python, within a with block; compiled ones as ever."""
    run = Driver._run_some

    def run_some(driver: Driver) -> None:
        with all_interpreted(not driver.called.is_compiled):
            run(driver)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Driver, "_run_some", run_some)
        yield


def _interpret(function: Kernel[..., Any], *arguments: Any, **named: Any) -> Any:
    return function.py_func(*arguments, **named)
