# SPDX-License-Identifier: BSD-3-Clause
"""The decorator of compiled functions. numba is imported when the first of them is called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from swftools.kernel.compiling import note_kernel
from swftools.kernel.numba_adapter import SeenByNumba

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(SeenByNumba, Generic[P, R]):
    """A function that numba compiles, or finds in its cache on disk, when it is first called.

    To numba it is what ``njit`` returns, so that kernels call each other.

    Parameters
    ----------
    function : callable
        The source; it stays at hand as ``py_func``, and runs interpreted there.
    signature : numba signature, optional
        The only argument types. Without it, each combination of types in a call is compiled.
    allocates : bool
        False: neither it nor what it calls makes an array, so references to arrays need not be counted.
    merges : bool
        Its code becomes part of each kernel that calls it, however long it is.
    apart : bool
        Its code becomes part of no kernel that calls it; and what it calls becomes so where the compiler likes.
    """

    def __init__(
        self,
        function: Callable[P, R],
        signature: Any = None,
        allocates: bool = True,
        merges: bool = False,
        apart: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.signature = signature
        self.allocates = allocates
        self.merges = merges
        self.apart = apart
        note_kernel(function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the function, compiled."""
        return self.compiled(*arguments, **named)

    def __repr__(self) -> str:
        return f"<kernel {self.py_func.__module__}.{self.py_func.__qualname__}>"

    def __reduce__(self) -> str:
        # Another process finds it by its name; the default would send the function, whose name means the kernel.
        return self.py_func.__qualname__

    @functools.cached_property
    def compiled(self) -> Any:
        """What ``njit`` returns for the function; with NUMBA_DISABLE_JIT the function itself.

        Raises
        ------
        numba.NumbaError
            There is a signature, and numba cannot compile the function for it.
        """
        return self._compile(checked=False, called_by="python")

    @functools.cached_property
    def checked(self) -> Any:
        """The same, with an IndexError where an index is outside its array, in kernels that it calls too."""
        return self._compile(checked=True, called_by="python")

    @functools.cached_property
    def inner(self) -> Any:
        """The same as ``compiled``, as other kernels call it: without what Python would call."""
        return self._compile(checked=False, called_by="kernels")

    @functools.cached_property
    def inner_checked(self) -> Any:
        """The same as ``checked``, as other kernels call it."""
        return self._compile(checked=True, called_by="kernels")

    @functools.cached_property
    def placed(self) -> Any:
        """The same as ``compiled``, for who knows where it lies: ``swftools.kernel.pointers.place_of`` tells."""
        return self._compile(checked=False, called_by="place")

    @functools.cached_property
    def placed_checked(self) -> Any:
        """The same as ``checked``, so."""
        return self._compile(checked=True, called_by="place")

    def numba_type(self) -> Any:
        """Return its type where it is used in a compiled function."""
        from swftools.kernel.cache import type_in_kernels  # noqa: PLC0415 (as below)

        return type_in_kernels(self)

    def _compile(self, *, checked: bool, called_by: str) -> Any:
        from swftools.kernel.cache import Form, compile_function  # noqa: PLC0415 (imports numba, which takes half a second)

        form = Form(self.allocates, self.merges, checked, called_by, self.apart)
        return compile_function(self.py_func, self.signature, form)


@overload
def kernel(function: Callable[P, R], /) -> Kernel[P, R]: ...
@overload
def kernel(
    signature: Any = None, /, *, allocates: bool = True, merges: bool = False, apart: bool = False
) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def kernel(function: Any = None, /, *, allocates: bool = True, merges: bool = False, apart: bool = False) -> Any:
    """Make a function a kernel: ``@kernel``, or ``@kernel(signature)`` for given types only.

    Kernels release the interpreter's lock. Compiled code is kept on disk, except for functions that another process
    cannot import: those of a notebook, a script, or another function's body.

    ``@kernel(allocates=False)`` is for kernels that make no array and call none that returns a new one; others are
    refused. They are several times as fast when arrays are passed on (``swftools.kernel.cache`` says why).
    ``@kernel(merges=True)`` is for a kernel that is called in one place, with many arrays, which then need not be
    passed; all that it calls becomes part of it as well, but for what is behind a kernel that is ``apart``.
    ``@kernel(apart=True)`` is for a kernel that takes long beside a call, and that calls many: where each of them
    becomes part of all of its callers, which are called in several places, compiling takes minutes.

    Examples
    --------
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(4), double.py_func(4)
    (8, 8)
    """
    if callable(function) and hasattr(function, "__code__"):
        return Kernel(function)
    return lambda source: Kernel(source, function, allocates, merges, apart)
