# SPDX-License-Identifier: BSD-3-Clause
"""What makes compiling faster, and keeps on disk what was compiled: numba's dispatchers and its cache.

Results are the same without all of this: ``swftools.kernel.fallback``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from llvmlite import binding  # type: ignore[import-untyped]
from numba import config, njit, types
from numba.core import caching
from numba.core.runtime import nrt

from swftools.kernel.numba_adapter import NumbaIsOtherwiseError
from swftools.kernel.numba_adapter.passes import ApartCompiler, InnerCompiler, OuterCompiler, rebuilt_inner

_caching: Any = caching  # numba says nothing of its types

SHIPPED = "_compiled"
"""The folder beside a source where a package may have compiled forms of its kernels."""

FAMILY = "x86-64-v3"
"""The processors that such forms are for."""

NEEDED = (
    *("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma"),
    *("lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "ssse3", "xsave"),
)
"""What a processor can do that is of this family, in the words of LLVM."""


class CompileOptions(NamedTuple):
    """How a kernel is compiled: where all is false, as Python calls it.

    ``uncounted`` is without counting references to arrays, ``merged`` into each of its callers, ``checked`` with a look
    at each index; ``inner`` is for kernels to call alone, ``placed`` for who knows where it lies; ``apart`` is an inner
    one whose code does not become part of its callers'.
    """

    uncounted: bool = False
    merged: bool = False
    checked: bool = False
    inner: bool = False
    placed: bool = False
    apart: bool = False


def new_dispatcher(function: Callable[..., Any], options: CompileOptions) -> Any:
    """Return a function as numba compiles it, for the types of each call."""
    # numba counts references to arrays, by atomic additions, at each use of a field of a tuple of arrays: half the time
    # of the simulator's engine went there. A function that makes no array has nothing to count: whoever calls it holds
    # what it is given. There is no public option for that; where it is not given it is the caller's.
    given: dict[str, Any] = {"nogil": True, "_nrt": not options.uncounted}
    if options.merged or options.apart:  # where it is not given it is the caller's, too, and that of its caller
        given["forceinline"] = options.merged
    if options.checked:
        given["boundscheck"] = True  # False would overrule NUMBA_BOUNDSCHECK
    if options.inner or options.placed:
        given |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    inner = ApartCompiler if options.apart else InnerCompiler
    return njit(**given, pipeline_class=inner if options.inner else OuterCompiler)(function)


class CompilationSteps(Protocol):
    """What is done where numba compiles a kernel, and where it looks it up for another one."""

    def compile(self, dispatcher: Any, goes_on: Callable[[], Any], signature: Any) -> Any:
        """Return machine code for a signature."""

    def look_up(self, dispatcher: Any, goes_on: Callable[[], Any], arguments: Any, named: Any) -> Any:
        """Return what numba is to know of a kernel that is called with arguments of these types."""


def go_through(dispatcher: Any, steps: CompilationSteps) -> None:
    """Have numba compile a kernel, and look it up for others, by ``steps``, which go on as numba does.

    A kernel that another one calls is looked up by the types of its arguments. numba would compile it once more for
    every constant that it is called with, such as for each order of jobs.
    """
    compiles, looks_up = dispatcher.compile, dispatcher.get_call_template

    def compile_by_steps(signature: Any) -> Any:
        return steps.compile(dispatcher, partial(compiles, signature), signature)

    def look_up_by_steps(arguments: Any, named: Mapping[str, Any]) -> Any:
        kinds = tuple(types.unliteral(argument) for argument in arguments)
        by_name = {name: types.unliteral(argument) for name, argument in named.items()}
        return steps.look_up(dispatcher, partial(looks_up, kinds, by_name), kinds, by_name)

    dispatcher.compile, dispatcher.get_call_template = compile_by_steps, look_up_by_steps


def compile_for(dispatcher: Any, signature: Any) -> None:
    """Compile for a signature, and for no other."""
    dispatcher.compile(signature)
    dispatcher.disable_compile()


def compile_by(dispatcher: Any, twin: Any, signature: Any) -> Any:
    """Return machine code for a signature of another dispatcher of the same function, and know it from now on."""
    code = twin.compile(signature)
    for arguments, result in twin.overloads.items():
        if arguments not in dispatcher.overloads:
            dispatcher.add_overload(result)
    return code


def look_up_by(dispatcher: Any, twin: Any, arguments: Any, named: Any) -> Any:
    """Return what numba looks up of another dispatcher of the same function, whose code is called in place of its."""
    template = twin.get_call_template(arguments, named)
    dispatcher.overloads.update(twin.overloads)
    return template


def returns_array(dispatcher: Any, template: Any) -> bool:
    """Whether a kernel returns an array, or a tuple with one, for the call that a template was looked up for."""
    models = dispatcher.targetctx.data_model_manager
    # Its cases are all that it was compiled for so far, also by calls of other types.
    cases = [one for one in template[0].cases if one.args == tuple(template[2])]
    return any(models[one.return_type].contains_nrt_meminfo() for one in cases)


class Keeper(NamedTuple):
    """How the compiled forms of a kernel are kept.

    ``stamp`` is what all are kept for, ``suffix`` tells files of one function apart, ``key`` returns for a signature
    what else they are keyed to, ``kept`` is how many there may be for a signature, ``told`` is called with what could
    not be loaded (the kernel's name, the error), and ``lost`` with what could not be kept. ``folder`` is elsewhere than
    in numba's places.
    """

    stamp: str
    suffix: str
    is_inner: bool
    key: Callable[[Any], tuple[Any, ...]]
    kept: int
    told: Callable[[str, Exception], None]
    lost: Callable[[str, OSError], None]
    folder: str = ""


def keep(dispatcher: Any, function: Callable[..., Any], keeper: Keeper) -> None:
    """Let a dispatcher look for its compiled forms on disk, and keep them there.

    Raises
    ------
    RuntimeError, OSError
        No folder can be written, or no source can be read.
    """
    if not hasattr(dispatcher, "_cache"):
        raise NumbaIsOtherwiseError("dispatchers have no _cache")
    dispatcher._cache = _Cache(function, keeper)


class _Keyed:
    """A place of the cache, of numba's kinds, whose stamp is not that of the function's file."""

    stamp = ""

    def get_source_stamp(self) -> str:
        return self.stamp

    def get_disambiguator(self) -> str:
        return "kernel"


class _Named(_Keyed, _caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """In the folder that NUMBA_CACHE_DIR names."""


class _Beside(_Keyed, _caching.InTreeCacheLocator):  # type: ignore[misc]
    """Beside the source."""


class _OfUser(_Keyed, _caching.UserWideCacheLocator):  # type: ignore[misc]
    """In the user's cache directory."""


@cache
def _shipped_beside(source: str) -> str:
    """Return the folder in which a package has compiled forms of the kernels in a file; nothing if there is none."""
    folder = Path(source).parent / SHIPPED
    return str(folder) if folder.is_dir() else ""


class _OnlyShipped(_Keyed, _caching.InTreeCacheLocator):  # type: ignore[misc]
    """Where a package has its compiled forms; nothing can be kept there."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the place, if it is there."""
        return cls(py_func, py_file) if _shipped_beside(py_file) else None

    def get_cache_path(self) -> str:
        return _shipped_beside(self._py_file)


class _Elsewhere(_Beside):
    """In a folder that is given."""

    folder = ""

    def get_cache_path(self) -> str:
        return self.folder


@cache
def _places(stamp: str, folder: str) -> list[type[_Keyed]]:
    """Return the places where a kernel may be kept, the first one first."""
    kinds: tuple[Any, ...] = (_Elsewhere,) if folder else (_Named, _Beside, _OfUser, _OnlyShipped)
    return [type(kind.__name__, (kind,), {"stamp": stamp, "folder": folder}) for kind in kinds]


class _Implementation(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    def __init__(self, keeper: Keeper, function: Callable[..., Any]) -> None:
        self._keeper = keeper
        self._locator_classes = _places(keeper.stamp, keeper.folder)
        super().__init__(function)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return what is made of what was kept."""
        if self._keeper.is_inner:
            return rebuilt_inner(super().rebuild, target_context, payload)
        return super().rebuild(target_context, payload)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return str(super().get_filename_base(f"{fullname}{self._keeper.suffix}", abiflags))


@cache
def _is_of_family() -> bool:
    """Whether this processor runs what is shipped, and numba compiles for no other."""
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:  # type: ignore[attr-defined]
        return False
    features = binding.get_host_cpu_features()
    return all(features.get(name, False) for name in NEEDED)


class _Cache(_caching.FunctionCache):  # type: ignore[misc]
    """The files of one kernel in one form."""

    def __init__(self, function: Callable[..., Any], keeper: Keeper) -> None:
        self._keeper = keeper
        self._impl_class = partial(_Implementation, keeper)
        super().__init__(function)
        self._shipped: Any = None
        if shipped := _shipped_beside(function.__code__.co_filename):
            self._shipped = _caching.IndexDataCacheFile(shipped, self._impl.filename_base, keeper.stamp)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return what tells one compiled form from others that the files have: to numba, types and bytecode alone."""
        return (*super()._index_key(sig, codegen), *self._keeper.key(sig))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, or None.

        numba would load all that it knows of Python and numpy before, which is for compiling: a fifth of a command.
        """
        found = None
        try:
            nrt.rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 (whatever a damaged file makes of unpickling)
            self._forget()
            self._keeper.told(self._name, error)
            return None
        if found is not None or self._shipped is None or not _is_of_family():
            return found
        try:
            return self._load_shipped(sig, target_context)
        except Exception as error:  # noqa: BLE001 (as above)
            self._keeper.told(self._name, error)
            return None

    def _load_shipped(self, sig: Any, target_context: Any) -> Any:
        """Return what the package has for a signature, or None: what it would be here, for the family of processors."""
        makes = target_context.codegen()
        triple, *_ = makes.magic_tuple()
        kinds, _, *rest = self._index_key(sig, makes)
        kept = self._shipped.load((kinds, (triple, FAMILY, ""), *rest))
        return None if kept is None else self._impl.rebuild(target_context, kept)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if it can be kept."""
        try:
            self._make_room(sig)
            super().save_overload(sig, data)
        except OSError as error:  # the disk is full, the folder gone
            self._keeper.lost(self._name, error)

    def _make_room(self, sig: Any) -> None:
        """Forget the oldest forms for a signature, whose files are then written over."""
        index = self._cache_file._load_index()
        for key in [key for key in index if key[0] == sig][: 1 - self._keeper.kept]:
            del index[key]
            self._cache_file._save_index(index)

    def _forget(self) -> None:
        """Remove the index of the kernel's files, so that the next process is not held up by it again."""
        with contextlib.suppress(OSError, AttributeError):
            Path(self._cache_file._index_path).unlink()
