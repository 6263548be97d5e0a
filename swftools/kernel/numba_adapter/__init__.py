# SPDX-License-Identifier: BSD-3-Clause
"""All that swftools knows of numba beyond its documentation, and what it says of a numba that is otherwise.

``passes`` and ``pipeline`` make compiling faster and keep what is compiled; where numba is otherwise, kernels are
compiled without them. ``machine`` is what the simulator cannot do without. ``probe`` finds out what works. No other
file imports ``numba.core``, ``numba.np`` or llvmlite, or uses an attribute that numba does not document
(``tests/kernel/test_numba_adapter.py``). numba is imported by none of this before a kernel is called.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any

LOWEST, BELOW = (0, 62), (0, 69)
"""The versions of numba that were tried: from the first one on, and below the second; ``setup.cfg`` says the same."""

REMEDY = 'pip install "numba>={}.{},<{}.{}"'.format(*LOWEST, *BELOW)


class NumbaIsOtherwiseError(Exception):
    """numba has not what is used here, or it does something else."""


class SeenByNumba:
    """What compiled functions may name that numba does not know: it tells its type, when one is compiled."""

    def numba_type(self) -> Any:
        """Return its type."""
        raise NotImplementedError

    @property
    def _numba_type_(self) -> Any:
        """The name is numba's."""
        try:
            return self.numba_type()
        except AttributeError as error:  # it would seem to numba that there is no such attribute
            raise NumbaIsOtherwiseError(str(error)) from error


def source_of(value: Any) -> FunctionType | None:
    """Return the function that is compiled where a value is used: of a kernel, of an intrinsic."""
    for name in ("py_func", "_defn"):
        source = getattr(value, name, None)
        if isinstance(source, FunctionType):
            return source
    return None


def version() -> str:
    """Return the version of numba that is installed."""
    import numba  # noqa: PLC0415 (takes half a second)

    return str(numba.__version__)


def was_tried() -> bool:
    """Whether numba is of a version with which swftools was tried."""
    import numba  # noqa: PLC0415 (as above)

    return LOWEST <= numba.version_info.short < BELOW


def listen(started: Callable[[Any], None], ended: Callable[[Any], None]) -> None:
    """Have functions called with each dispatcher that begins to be compiled, and when that has ended.

    Raises
    ------
    ImportError, AttributeError, TypeError
        numba does not tell.
    """
    from numba.core import event  # noqa: PLC0415 (takes half a second)

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            started(event.data["dispatcher"])

        def on_end(self, event: Any) -> None:
            ended(event.data["dispatcher"])

    event.register("numba:compile", Listener())


def compiler_lock() -> AbstractContextManager[Any]:
    """Return what numba holds while it compiles, and may hold several times.

    With one of ours beside it two threads could wait for one another.
    """
    try:
        from numba.core.compiler_lock import global_compiler_lock  # noqa: PLC0415 (takes half a second)
    except ImportError:
        return nullcontext()
    lock: AbstractContextManager[Any] = global_compiler_lock
    return lock


def option_of(dispatcher: Any, name: str, default: object = False) -> Any:
    """Return an option with which a function is compiled."""
    return dispatcher.targetoptions.get(name, default)


def merging(merges: bool) -> dict[str, bool]:
    """Return the option by which a kernel becomes part of its callers, or does not have to because they do of theirs.

    There is none if numba has it not, which does not document it.
    """
    try:
        from numba.core.options import DefaultOptions  # noqa: PLC0415 (takes half a second)
    except ImportError:
        return {}
    return {"forceinline": merges} if hasattr(DefaultOptions, "forceinline") else {}


def type_of_dispatcher(dispatcher: Any) -> Any:
    """Return the type that a function has in others that numba compiles."""
    return dispatcher._numba_type_
