# SPDX-License-Identifier: BSD-3-Clause
"""numba's cache of compiled functions, keyed to what each kernel is made of and calls.

The one place that knows numba's inside. numba looks a function up by the stamp of its file, and would go on with old
code after a change in a function that this one calls; here the key has in it what the function says and what it calls
(``swftools.kernel.sources``), and the stamp is that of the code that compiles. A file in the cache is named for the
function, not for its line, and has few forms of it (``KEPT``), so that the cache does not grow with each change. It is
beside the source, or in NUMBA_CACHE_DIR, or in the user's cache directory where the source's folder cannot be written.
Where nothing can be written, or what is there is damaged, kernels are compiled in each process.

A kernel has four forms, which are kept apart. Checked, each index of an array is looked at; a checked kernel calls
checked kernels. Inner is what other kernels call: without the functions by which Python and C would call it, which take
a third of the time of compiling.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from numba import config, njit, types
from numba.core import caching, event
from numba.core.compiler_lock import global_compiler_lock

from swftools.errors import KernelError
from swftools.kernel.compiling import WATCH, is_kernel
from swftools.kernel.inner import InnerCompiler, OuterCompiler, rebuild_inner
from swftools.kernel.sources import compiler_stamp, fingerprint

_LOG = logging.getLogger("swftools")

KEPT = 4
"""Compiled forms that are kept of the functions of one name in a file for one signature: the newest."""


class Form(NamedTuple):
    """How a kernel is compiled.

    Whether it counts references, goes into its callers, and is checked; and who calls it: Python, other kernels, or
    whoever knows its place.
    """

    allocates: bool
    merges: bool
    checked: bool
    called_by: str


_COMPILING: ContextVar[tuple[Any, ...]] = ContextVar("what is being compiled, each for the one before", default=())


def is_checked() -> bool:
    """Whether what is being compiled is a checked kernel, which calls such."""
    compiling = _COMPILING.get()
    return bool(compiling) and bool(compiling[-1].targetoptions.get("boundscheck"))


@global_compiler_lock  # reentrant; numba's own, since two threads with a lock each could wait for one another
def compile_function(function: Callable[..., Any], signature: Any, form: Form) -> Any:
    """Return a function as numba compiles it: for the types of a signature now, else for those of each call.

    With NUMBA_DISABLE_JIT it is returned as it is.
    """
    # numba counts references to arrays, by atomic additions, at each use of a field of a tuple of arrays: half the time
    # of the simulator's engine went there. A function that makes no array has nothing to count: whoever calls it holds
    # what it is given. There is no public option for that; where it is not given it is the caller's.
    options: dict[str, Any] = {"nogil": True, "_nrt": form.allocates}
    if form.merges:
        options["forceinline"] = True
    if form.checked:
        options["boundscheck"] = True  # False would overrule NUMBA_BOUNDSCHECK
    if form.called_by != "python":
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    options["pipeline_class"] = InnerCompiler if form.called_by == "kernels" else OuterCompiler
    dispatcher: Any = njit(**options)(function)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dispatcher
    dispatcher.get_call_template = partial(_by_type, dispatcher, dispatcher.get_call_template)
    if _is_importable(function):
        try:
            dispatcher._cache = _CACHES[form.checked, form.called_by](function)
            dispatcher._cache.form = form
        except (RuntimeError, OSError) as error:  # no folder can be written, or no source can be read
            _LOG.info("compiled kernels cannot be kept: %s", error)
    if signature is not None:
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


def _by_type(dispatcher: Any, get_call_template: Callable[..., Any], arguments: Any, named: Mapping[str, Any]) -> Any:
    """Look for a kernel that another one calls by the types of its arguments.

    numba would compile it once more for every constant that it is called with, such as for each order of jobs.

    Raises
    ------
    KernelError
        The caller does not count references, and would own an array that this one returns: nobody would free it.
    """
    found = get_call_template(
        tuple(types.unliteral(argument) for argument in arguments),
        {name: types.unliteral(argument) for name, argument in named.items()},
    )
    compiling = _COMPILING.get()
    if compiling and _counts(dispatcher) and not _counts(compiling[-1]):
        models = dispatcher.targetctx.data_model_manager
        # Its cases are all that it was compiled for so far, also by calls of other types.
        cases = [one for one in found[0].cases if one.args == tuple(found[2])]
        if any(models[one.return_type].contains_nrt_meminfo() for one in cases):
            caller, called = _name(compiling[-1].py_func), _name(dispatcher.py_func)
            raise KernelError(
                f"{caller}, made by @kernel(allocates=False), calls {called}, made by @kernel, which returns an array: "
                f"it would never be freed; make {caller} by @kernel too"
            )
    return found


def _counts(dispatcher: Any) -> bool:
    """Whether what numba compiles counts references to arrays."""
    return bool(dispatcher.targetoptions.get("_nrt", True))


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _is_importable(function: Callable[..., Any]) -> bool:
    """Whether a later process finds the function again, so that its compiled form may be kept."""
    return function.__module__ != "__main__" and "<locals>" not in function.__qualname__


class _Keyed:
    """A place of the cache, of numba's kinds, whose stamp is not that of the function's file."""

    def get_source_stamp(self) -> str:
        return compiler_stamp()

    def get_disambiguator(self) -> str:
        return "kernel"


class _Named(_Keyed, caching.UserProvidedCacheLocator):
    """In the folder that NUMBA_CACHE_DIR names."""


class _Beside(_Keyed, caching.InTreeCacheLocator):
    """Beside the source."""


class _OfUser(_Keyed, caching.UserWideCacheLocator):
    """In the user's cache directory."""


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_Named, _Beside, _OfUser]  # noqa: RUF012 (numba's way)
    form = ""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return what is made of what was kept."""
        if "-kernels" in self.form:
            return rebuild_inner(super().rebuild, target_context, payload)
        return super().rebuild(target_context, payload)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return str(super().get_filename_base(f"{fullname}{self.form}", abiflags))


class _KernelCache(caching.FunctionCache):
    """The files of one kernel in one form."""

    _impl_class = _Implementation
    form = Form(allocates=True, merges=False, checked=False, called_by="python")

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return what tells one compiled form from others that the files have: to numba, types and bytecode alone."""
        tuples = sorted(
            {(kind.__qualname__, kind._fields) for one in getattr(sig, "args", sig) for kind in _named_tuples(one)}
        )
        return (*super()._index_key(sig, codegen), self.form, fingerprint(self._py_func), tuple(tuples))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 (whatever a damaged file makes of unpickling)
            _LOG.info("the cache of %s is damaged, which is compiled anew: %s", self._name, error)
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if it can be kept."""
        try:
            self._make_room(sig)
            super().save_overload(sig, data)
        except OSError as error:  # the disk is full, the folder gone
            _LOG.info("compiled kernel %s cannot be kept: %s", self._name, error)

    def _make_room(self, sig: Any) -> None:
        """Forget the oldest forms for a signature, whose files are then written over."""
        index = self._cache_file._load_index()
        for key in [key for key in index if key[0] == sig][: 1 - KEPT]:
            del index[key]
            self._cache_file._save_index(index)

    def _forget(self) -> None:
        """Remove the index of the kernel's files, so that the next process is not held up by it again."""
        with contextlib.suppress(OSError):
            Path(self._cache_file._index_path).unlink()


def _cache_of(name: str) -> type[_KernelCache]:
    """Return the cache of the forms whose files have a name."""
    implementation = type("_Implementation", (_Implementation,), {"form": name})
    return type("_KernelCache", (_KernelCache,), {"_impl_class": implementation})


_CACHES = {
    (checked, called_by): _cache_of("-checked" * checked + f"-{called_by}")
    for checked in (False, True)
    for called_by in ("python", "kernels", "place")
}
"""By whether a kernel is checked, and who calls it."""


def _named_tuples(kind: Any) -> Iterator[Any]:
    """Yield the named tuples that a numba type is made of; their fields are compiled in by number."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    for part in getattr(kind, "types", ()):
        yield from _named_tuples(part)


class _Listener(event.Listener):
    """Hears from numba when something begins to be compiled, and when it is done."""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        _COMPILING.set((*_COMPILING.get(), dispatcher))
        if is_kernel(dispatcher.py_func):
            WATCH.begin(dispatcher.py_func)

    def on_end(self, event: Any) -> None:
        _COMPILING.set(_COMPILING.get()[:-1])
        if is_kernel(event.data["dispatcher"].py_func):
            WATCH.end()


event.register("numba:compile", _Listener())
