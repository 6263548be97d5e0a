# SPDX-License-Identifier: BSD-3-Clause
"""Kernels as the Python that they are written in, and in other forms than the one that users run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from swftools.kernel import Kernel

FORMS = ["py_func", pytest.param("checked", marks=pytest.mark.slow)]
"""How else a kernel runs than compiled: interpreted, where an index beyond an array is an error; and, at night,
compiled so that an index before it is one too. To compile that takes minutes."""


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


def _interpret(function: Kernel[..., Any], *arguments: Any, **named: Any) -> Any:
    return function.py_func(*arguments, **named)
