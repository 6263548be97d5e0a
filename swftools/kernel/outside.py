"""What kernels call that no kernel is: the system's clock, other kernels by a number, tuples by where they lie.

Which function that is can so be chosen when a kernel runs, without it being compiled anew. numba is imported when the
first kernel is compiled that names one of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from swftools.kernel.decorator import Kernel

_FUNCTIONS: dict[int, Callable[..., float]] = {}
"""The kernels that have a number, as functions of Python."""


class Outside:
    """A function of Python, and what kernels call in its place: that of its name in ``swftools.kernel.intrinsics``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the function of Python."""
        return self.function(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """The name is numba's: its type, where it is used in a compiled function."""
        from numba.core.registry import cpu_target  # noqa: PLC0415 (numba takes half a second)

        from swftools.kernel import intrinsics  # noqa: PLC0415 (imports numba)

        context = cpu_target.typing_context
        context.refresh()  # numba looks at what was made by its decorators before it compiles, not while it does
        return context.resolve_value_type(getattr(intrinsics, self.function.__name__))


@Outside
def monotonic_seconds() -> float:
    """Return the seconds of a clock that never goes back."""
    return time.monotonic()


@Outside
def lend(value: Any) -> Any:
    """Return where a tuple lies, by which other kernels are handed it; valid as long as the kernel that calls runs.

    A tuple of many arrays is otherwise copied at each call that is not compiled into its caller. Interpreted it is the
    tuple itself.
    """
    return value


@Outside
def give_back(generator: Any) -> None:
    """Give up the reference to a Generator that numba takes when Python calls a kernel that counts none.

    Only a function that counts references would give it back. Interpreted nothing is taken.
    """


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
    if compiled is function.py_func:
        address = id(function)
    else:
        (result,) = compiled.overloads.values()
        address = int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))
    _FUNCTIONS[address] = function.py_func
    return address
