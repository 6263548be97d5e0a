# SPDX-License-Identifier: BSD-3-Clause
"""numba's cache of compiled functions, keyed to what each kernel is made of and calls.

numba looks a function up by the stamp of its file, and would go on with old code after a change in a function that this
one calls; here the key has in it what the function says and what it calls (``swftools.kernel.sources``), and the stamp
is that of the code that compiles. A file in the cache is named for the function, not for its line, and has few forms of
it (``KEPT``), so that the cache does not grow with each change. It is beside the source, or in NUMBA_CACHE_DIR, or in
the user's cache directory where the source's folder cannot be written. Where nothing can be written, or what is there
is damaged, kernels are compiled in each process. How numba does all that is the affair of ``numba_adapter.pipeline``.

A kernel has four forms, which are kept apart. Checked, each index of an array is looked at; a checked kernel calls
checked kernels. Inner is what other kernels call: without the functions by which Python and C would call it, which take
a third of the time of compiling.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from numba import config, njit

from swftools.errors import KernelError
from swftools.kernel.compiling import WATCH, is_kernel
from swftools.kernel.fallback import doubt, either, is_plain, pipeline, unfit
from swftools.kernel.numba_adapter import compiler_lock, listen, merging, option_of, type_of_dispatcher
from swftools.kernel.sources import compiler_stamp, fingerprint

_LOG = logging.getLogger("swftools")

KEPT = 4
"""Compiled forms that are kept of the functions of one name in a file for one signature: the newest."""


class Form(NamedTuple):
    """How a kernel is compiled.

    Whether it counts references, goes into its callers, and is checked; who calls it: Python, other kernels, or whoever
    knows its place; and whether its code stays apart from that of its callers.
    """

    allocates: bool
    merges: bool
    checked: bool
    called_by: str
    apart: bool = False


_COMPILING: ContextVar[tuple[Any, ...]] = ContextVar("what is being compiled, each for the one before", default=())


_FORMS: WeakKeyDictionary[Any, Form] = WeakKeyDictionary()
"""The forms of what numba compiles here, and not of what others have it compile."""

_OURS: WeakSet[Any] = WeakSet()
"""Those of them that are compiled by ``numba_adapter.pipeline``."""

_REPLACED: list[Any] = []
"""Those that were replaced by plain ones, while kernels may be compiled that call them."""


def is_checked() -> bool:
    """Whether what is being compiled is a checked kernel, which calls such."""
    compiling = _COMPILING.get()
    if not compiling:
        return False
    form = _FORMS.get(compiling[-1])
    return form.checked if form else bool(option_of(compiling[-1], "boundscheck"))


def compile_function(function: Callable[..., Any], signature: Any, form: Form) -> Any:
    """Return a function as numba compiles it: for the types of a signature now, else for those of each call.

    With NUMBA_DISABLE_JIT it is returned as it is.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return either(partial(_compile, function, signature, form), partial(_compile_plainly, function, signature, form))


def type_in_kernels(kernel: Any) -> Any:
    """Return numba's type of a kernel that another one calls, which is compiled."""
    name = "inner_checked" if is_checked() else "inner"
    inner = getattr(kernel, name)
    if is_plain() and inner in _OURS:  # numba may look up what it compiled otherwise than pipeline has it
        _REPLACED.append(vars(kernel).pop(name))
        inner = getattr(kernel, name)
    return type_of_dispatcher(inner)


def _compile_plainly(function: Callable[..., Any], signature: Any, form: Form) -> Any:
    """Return a function as numba compiles it by itself, in each process anew.

    Raises
    ------
    KernelError
        It shall be checked, and numba does not tell for which kernel it compiles another one.
    """
    if form.checked and not _IS_TOLD:
        raise unfit("checked kernels need its events")
    options: dict[str, Any] = {"nogil": True}
    if form.checked:
        options["boundscheck"] = True  # False would overrule NUMBA_BOUNDSCHECK
    if form.merges or form.apart:
        options |= merging(form.merges)
    dispatcher: Any = njit(**options)(function)
    _FORMS[dispatcher] = form._replace(allocates=True)  # it counts references, as numba does
    if signature is not None:
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


def _compile(function: Callable[..., Any], signature: Any, form: Form) -> Any:
    """Return a function as it is compiled by ``numba_adapter.pipeline``."""
    inside = pipeline()
    inner, placed = form.called_by == "kernels", form.called_by == "place"
    with compiler_lock():
        dispatcher = inside.new_dispatcher(
            function, inside.CompileOptions(not form.allocates, form.merges, form.checked, inner, placed, form.apart)
        )
        _FORMS[dispatcher] = form
        _OURS.add(dispatcher)
        inside.go_through(dispatcher, _Steps(function, form))
        if _is_importable(function):
            suffix = "-checked" * form.checked + f"-{form.called_by}"
            key = partial(_key, function, suffix)
            keeper = inside.Keeper(compiler_stamp(), suffix, inner, key, KEPT, _tell_damaged, _tell_lost)
            try:
                inside.keep(dispatcher, function, keeper)
            except (RuntimeError, OSError) as error:  # no folder can be written, or no source can be read
                _LOG.info("compiled kernels cannot be kept: %s", error)
        if signature is not None:
            inside.compile_for(dispatcher, signature)
        return dispatcher


class _Steps:
    """What is done when numba compiles a kernel, and when it looks it up for another one that calls it.

    The first argument is the kernel; ``goes_on`` does what numba would do. A kernel that was made before it turned out
    that ``numba_adapter.pipeline`` does not work is compiled by its plain twin.
    """

    def __init__(self, function: Callable[..., Any], form: Form) -> None:
        self._function, self._form = function, form
        self._twins: list[Any] = []

    def compile(self, dispatcher: Any, goes_on: Callable[[], Any], signature: Any) -> Any:
        """Return machine code for a signature."""
        return either(goes_on, lambda: pipeline().compile_by(dispatcher, self._twin(), signature))

    def look_up(self, dispatcher: Any, goes_on: Callable[[], Any], arguments: Any, named: Any) -> Any:
        """Return what numba is to know of a kernel that is called with arguments of these types."""
        return either(
            lambda: _checked_for_leaks(dispatcher, goes_on()),
            lambda: pipeline().look_up_by(dispatcher, self._twin(), arguments, named),
        )

    def _twin(self) -> Any:
        if not self._twins:
            self._twins.append(_compile_plainly(self._function, None, self._form))
        return self._twins[0]


def _checked_for_leaks(dispatcher: Any, template: Any) -> Any:
    """Return what numba looked up of a kernel that another one calls.

    Raises
    ------
    KernelError
        The caller does not count references, and would own an array that this one returns: nobody would free it.
    """
    compiling = _COMPILING.get()
    if (
        compiling
        and _counts(dispatcher)
        and not _counts(compiling[-1])
        and pipeline().returns_array(dispatcher, template)
    ):
        caller, called = _name(compiling[-1].py_func), _name(dispatcher.py_func)
        raise KernelError(
            f"{caller}, made by @kernel(allocates=False), calls {called}, made by @kernel, which returns an array: "
            f"it would never be freed; make {caller} by @kernel too"
        )
    return template


def _counts(dispatcher: Any) -> bool:
    """Whether what numba compiles counts references to arrays."""
    form = _FORMS.get(dispatcher)
    return form.allocates if form else bool(option_of(dispatcher, "_nrt", True))


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _is_importable(function: Callable[..., Any]) -> bool:
    """Whether a later process finds the function again, so that its compiled form may be kept."""
    return function.__module__ != "__main__" and "<locals>" not in function.__qualname__


def _key(function: Callable[..., Any], suffix: str, signature: Any) -> tuple[Any, ...]:
    """Return what a compiled form is kept under, beside what numba keeps it under: types and bytecode."""
    tuples = sorted(
        {
            (kind.__qualname__, kind._fields)
            for one in getattr(signature, "args", signature)
            for kind in _named_tuples(one)
        }
    )
    return suffix, fingerprint(function), tuple(tuples)


def _named_tuples(kind: Any) -> Iterator[Any]:
    """Yield the named tuples that a numba type is made of; their fields are compiled in by number."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    for part in getattr(kind, "types", ()):
        yield from _named_tuples(part)


def _tell_damaged(kernel: str, error: Exception) -> None:
    _LOG.info("the cache of %s is damaged, which is compiled anew: %s", kernel, error)
    doubt(error)


def _tell_lost(kernel: str, error: OSError) -> None:
    _LOG.info("compiled kernel %s cannot be kept: %s", kernel, error)


def _begin(dispatcher: Any) -> None:
    """Hear from numba that something begins to be compiled."""
    _COMPILING.set((*_COMPILING.get(), dispatcher))
    if is_kernel(dispatcher.py_func):
        WATCH.begin(dispatcher.py_func)


def _end(dispatcher: Any) -> None:
    """Hear from numba that it is done."""
    _COMPILING.set(_COMPILING.get()[:-1])
    if is_kernel(dispatcher.py_func):
        WATCH.end()


def _listens() -> bool:
    try:
        listen(_begin, _end)
    except (ImportError, AttributeError, TypeError):
        return False
    return True


_IS_TOLD = _listens()
"""Whether numba tells what it compiles; without it kernels are compiled plainly, and their progress is not shown."""
