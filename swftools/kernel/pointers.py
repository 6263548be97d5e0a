# SPDX-License-Identifier: BSD-3-Clause
"""What kernels call that no kernel is: the system's clock, other kernels by a number, tuples by where they lie.

Which function that is can so be chosen when a kernel runs, without it being compiled anew. numba is imported when the
first kernel is compiled that names one of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any

from swftools.kernel.decorator import Kernel
from swftools.kernel.numba_adapter import SeenByNumba

_FUNCTIONS: dict[int, Callable[..., float]] = {}
"""The kernels that have a number, as functions of Python."""


class Outside(SeenByNumba):
    """A function of Python, and what kernels call in its place: that of its name in ``numba_adapter.machine``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the function of Python."""
        return self.function(*arguments)

    def numba_type(self) -> Any:
        """Return its type where it is used in a compiled function."""
        machine = _machine()
        return machine.type_of(getattr(machine, self.function.__name__))


def _machine() -> Any:
    from swftools.kernel.fallback import machine  # noqa: PLC0415 (imports numba, which takes half a second)

    return machine()


def described(kind: Any) -> str:
    """Return a numba type in words, with the fields of named tuples in their order."""
    if hasattr(kind, "instance_class"):
        parts = zip(kind.instance_class._fields, kind.types, strict=True)
        return f"{kind.instance_class.__name__}({', '.join(f'{name}: {described(part)}' for name, part in parts)})"
    return str(kind)


@Outside
def monotonic_seconds() -> float:
    """Return the seconds of a clock that never goes back."""
    return time.monotonic()


class Lent(SeenByNumba):
    """Takes a tuple in a kernel from where it lies, so that it is not handed on; interpreted it is the tuple itself.

    Parameters
    ----------
    like : callable
        Returns an example of the tuple: its type is what kernels take it for.
    """

    def __init__(self, like: Callable[[], Any]) -> None:
        self._like = like

    def __call__(self, lent: Any) -> Any:
        """Return what was lent."""
        return lent

    @cached_property
    def example(self) -> Any:
        """A tuple of the kind."""
        return self._like()

    @property
    def meaning(self) -> str:
        """The type in words, with the fields of named tuples: what kernels that take it depend on."""
        return described(self._kind)

    @cached_property
    def _kind(self) -> Any:
        import numba  # noqa: PLC0415 (as below)

        typeof: Any = numba.typeof  # numba says nothing of its types
        return typeof(self.example)

    @cached_property
    def _borrower(self) -> Any:
        return _machine().borrower(self._kind)

    def numba_type(self) -> Any:
        """Return its type where it is used in a compiled function."""
        return _machine().type_of(self._borrower)


@Outside
def call_kernel(place: Any, *numbers: int) -> None:
    """Call the kernel that lies at a place, as ``place_of`` tells it, with integers; what it raises is raised.

    Interpreted a place is a function.
    """
    place(*numbers)


@Outside
def call_by_address(address: int, *numbers: float) -> float:
    """Call the kernel of a number, as ``address_of`` tells it, with seven numbers."""
    return float(_FUNCTIONS[address](*numbers))


def address_of(function: Kernel[..., float]) -> int:
    """Return the number by which kernels call another one, which takes seven numbers and returns one.

    It is valid in this process, as long as the kernel is there. With NUMBA_DISABLE_JIT it is no address, but serves as
    one.
    """
    compiled = function.compiled
    address = id(function) if compiled is function.py_func else _machine().address_of(compiled)
    _FUNCTIONS[address] = function.py_func
    return address


def place_of(function: Kernel[..., None], *, checked: bool = False) -> Any:
    """Return where the code of a kernel that was made for a signature lies, for ``call_kernel``.

    It is valid in this process, as long as the kernel is there. With NUMBA_DISABLE_JIT it is the function.
    """
    return _place(function, function.placed_checked if checked else function.placed)


def place_of_compiled(function: Kernel[..., None], *, checked: bool = False) -> Any:
    """Return the same of a kernel that Python calls, too, so that it is not compiled twice."""
    return _place(function, function.checked if checked else function.compiled)


def _place(function: Kernel[..., None], compiled: Any) -> Any:
    if compiled is function.py_func:
        return compiled
    return _machine().place_of(compiled)


def at_address(compiled: Any) -> Any:
    """Return a kernel that was made for a signature as it is handed to another one that calls it, at once.

    ``compiled`` is the attribute of that name; with NUMBA_DISABLE_JIT, a function of Python, it is returned as it is.
    """
    return compiled if isinstance(compiled, FunctionType) else _machine().FunctionAtAddress(compiled)
