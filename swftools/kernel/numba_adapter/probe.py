# SPDX-License-Identifier: BSD-3-Clause
"""Whether numba is as ``pipeline`` and ``machine`` take it to be: by its names, and by trying.

Names are looked at before the first kernel is compiled, which takes no time. What is tried takes a second; so that is
done only where compiling a kernel has failed, and with versions of numba that are not among those that swftools was
tried with. Each answer is None, or says in a few words what is otherwise.
"""

from __future__ import annotations

import ctypes
import importlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba import njit, typeof, types

PIPELINE = {
    "llvmlite.binding": ("get_host_cpu_features", "parse_bitcode"),
    "numba.core.caching": (
        "CompileResultCacheImpl._locator_classes",
        "CompileResultCacheImpl.get_filename_base",
        "CompileResultCacheImpl.rebuild",
        "FunctionCache._impl_class",
        "FunctionCache._index_key",
        "FunctionCache._guard_against_spurious_io_errors",
        "FunctionCache._load_overload",
        "FunctionCache.load_overload",
        "FunctionCache.save_overload",
        "IndexDataCacheFile.load",
        "IndexDataCacheFile._load_index",
        "IndexDataCacheFile._save_index",
        "InTreeCacheLocator.get_cache_path",
        "InTreeCacheLocator.get_disambiguator",
        "InTreeCacheLocator.get_source_stamp",
        "UserProvidedCacheLocator",
        "UserWideCacheLocator",
    ),
    "numba.core.codegen": (
        "JITCPUCodegen.magic_tuple",
        "JITCPUCodegen.set_env",
        "JITCPUCodegen.unserialize_library",
        "JITCodeLibrary._finalize_dynamic_globals",
        "JITCodeLibrary._finalize_final_module",
        "JITCodeLibrary._optimize_final_module",
        "JITCodeLibrary._verify_declare_only_symbols",
        "JITCodeLibrary.add_ir_module",
        "JITCodeLibrary.codegen",
        "JITCodeLibrary.enable_object_caching",
        "JITCodeLibrary.get_pointer_to_function",
        "JITCodeLibrary.serialize_using_bitcode",
        "JITCodeLibrary.serialize_using_object_code",
    ),
    "numba.core.compiler": (
        "CompileResult._find_referenced_environments",
        "CompilerBase.define_pipelines",
        "DefaultPassBuilder.define_nopython_pipeline",
    ),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.compiler_machinery": (
        "FunctionPass",
        "LoweringPass",
        "PassManager.add_pass_after",
        "PassManager.finalize",
        "register_pass",
    ),
    "numba.core.dispatcher": ("Dispatcher.add_overload", "Dispatcher.compile", "Dispatcher.get_call_template"),
    "numba.core.event": ("Listener.on_end", "Listener.on_start", "register"),
    "numba.core.options": (
        "DefaultOptions._nrt",
        "DefaultOptions.forceinline",
        "DefaultOptions.no_cfunc_wrapper",
        "DefaultOptions.no_cpython_wrapper",
    ),
    "numba.core.runtime.nrt": ("rtsys.initialize",),
    "numba.core.typed_passes": ("NoPythonBackend", "NoPythonSupportedFeatureValidation"),
}
"""The names that ``pipeline`` uses, by module."""

MACHINE = {
    "llvmlite.ir": ("Aggregate", "IntType", "Undefined"),
    "numba.core.base": ("BaseContext.cast", "BaseContext.get_dummy_value", "BaseContext.get_value_type"),
    "numba.core.callconv": (
        "CPUCallConv.call_function",
        "CPUCallConv.get_function_type",
        "CPUCallConv.return_status_propagate",
    ),
    "numba.core.cgutils": ("if_unlikely", "unpack_tuple"),
    "numba.core.codegen": ("JITCodeLibrary.get_pointer_to_function",),
    "numba.core.datamodel.registry": ("default_manager",),
    "numba.core.funcdesc": ("FunctionDescriptor.llvm_cfunc_wrapper_name", "FunctionDescriptor.llvm_func_name"),
    "numba.core.imputils": ("lower_getattr_generic",),
    "numba.core.registry": ("cpu_target.typing_context",),
    "numba.core.types": (
        "BaseNamedTuple",
        "StarArgTuple.from_types",
        "WrapperAddressProtocol",
        "npy_bitgen",
        "npy_rng",
    ),
    "numba.core.typing.context": ("BaseContext.refresh", "BaseContext.resolve_value_type"),
    "numba.core.typing.templates": ("AttributeTemplate",),
    "numba.extending": ("infer_getattr", "intrinsic", "models.PrimitiveModel", "register_model"),
    "numba.np.random.generator_core": (),
}
"""The names that ``machine`` uses, by module."""

FIELDS = {
    "array": ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"),
    "Generator": ("bit_generator", "meminfo", "parent"),
    "its bits": (
        "parent",
        "state_address",
        "state",
        "fnptr_next_uint64",
        "fnptr_next_uint32",
        "fnptr_next_double",
        "bit_generator",
    ),
}
"""What numba has in memory of what ``swftools.kernel.layout`` lays out, in its order."""


def missing(names: Mapping[str, Iterable[str]]) -> str | None:
    """Return in words the first of some names, by module, that is not there."""
    for module, paths in names.items():
        try:
            found = importlib.import_module(module)
        except ImportError:
            return f"there is no {module}"
        for path in paths:
            value: Any = found
            for part in path.split("."):
                value = getattr(value, part, _GONE)
            if value is _GONE:
                return f"{module} has no {path}"
    return None


_GONE = object()


def lacks_for_pipeline() -> str | None:
    """Look at the names that ``pipeline`` uses."""
    return missing(PIPELINE)


def lacks_for_machine() -> str | None:
    """Look at the names that ``machine`` uses, and at how numba lays out tuples."""
    if reason := missing(MACHINE):
        return reason
    from numba.core.datamodel import registry  # noqa: PLC0415 (it may be gone)

    kinds: Any = {"array": types.Array(types.int64, 1, "C"), "Generator": types.npy_rng, "its bits": types.npy_bitgen}
    models: Any = registry.default_manager
    for name, kind in kinds.items():
        found = getattr(models[kind], "_fields", None)
        if found != FIELDS[name]:
            return f"{name} is in memory as {found}, not as {FIELDS[name]}"
    return None


def said(error: Exception) -> str:
    """Return in a few words what an error says."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("During")] or [""]
    return f"{type(error).__name__} {lines[-1].strip():.100}".strip()


def _answer(trial: Callable[[], None]) -> str | None:
    """Return what is otherwise by a trial."""
    try:
        trial()
    except Exception as error:  # noqa: BLE001 (whatever another numba makes of it)
        return said(error)
    return None


@cache
def fails_in_pipeline() -> str | None:
    """Compile, keep and load kernels by ``pipeline``, in a folder of their own."""
    return _answer(_try_pipeline)


@cache
def fails_in_machine() -> str | None:
    """Read a tuple where it lies, and call kernels by address."""
    return _answer(_try_machine)


class _WrongError(Exception):
    """What was tried had another result."""


def _expect(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise _WrongError(f"in {what}: {found!r}, not {wanted!r}")


def _third(values: Any, i: Any) -> Any:
    if i < 0:
        raise ValueError("below zero")
    return values[i] / 3.0


def _add_thirds(values: Any, factor: Any) -> Any:
    total = 0.0
    for i in range(len(values)):
        total += third(values, i) * factor  # type: ignore[name-defined]  # noqa: F821 (it is given)
    return total + third(values, 1) + BONUS  # type: ignore[name-defined]  # noqa: F821


def _below(values: Any) -> Any:
    return third(values, -7)  # type: ignore[name-defined]  # noqa: F821


def _beyond(values: Any) -> Any:
    return third(values, 7)  # type: ignore[name-defined]  # noqa: F821


def _with(function: Any, **names: Any) -> Any:
    """Return a function for which names stand for what is given."""
    made = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    made.__qualname__ = f"probe.{function.__name__}"
    return made


def _raised(kind: type[Exception], call: Callable[..., object], *arguments: object) -> tuple[Any, ...]:
    """Return the arguments of the error that a call raises, or none."""
    try:
        call(*arguments)
    except kind as error:
        return error.args
    return ()


def _try_pipeline() -> None:
    from swftools.kernel.numba_adapter import pipeline  # noqa: PLC0415 (it may not be importable)

    values = np.array([3.0, 6.0, 9.0])
    told: list[Exception] = []

    def made(function: Any, key: object, names: Mapping[str, Any], **options: bool) -> Any:
        source = _with(function, **names)
        dispatcher = pipeline.new_dispatcher(source, pipeline.CompileOptions(**options))
        suffix, is_inner = "-".join(["", *options]), "inner" in options
        keeper = pipeline.Keeper("stamp", suffix, is_inner, lambda _: (key,), 2, _note_in(told), _ignore, folder)
        pipeline.go_through(dispatcher, _AsNumba())
        pipeline.keep(dispatcher, source, keeper)
        return dispatcher

    with tempfile.TemporaryDirectory() as folder:
        # The second time all is loaded; the third time the outer one has another key.
        for bonus, loaded in [(0.5, 0), (0.5, 1), (1.5, 0)]:
            inner = made(_third, "third", {}, uncounted=True, inner=True)
            names = {"third": inner, "BONUS": bonus}
            outer = made(_add_thirds, bonus, names, uncounted=True, merged=True)
            _expect("a sum", outer(values, 2.0), 14.0 + bonus)
            _expect("what is kept", sum(outer.stats.cache_hits.values()), loaded)
        _expect("what is loaded", sum(inner.stats.cache_hits.values()), 1)  # with constants it is the same kernel
        below = made(_below, 0, names)
        _expect("an error", _raised(ValueError, below, values), ("below zero",))
        template = inner.get_call_template((typeof(values), types.int64), {})
        _expect("what is returned", pipeline.returns_array(inner, template), False)
        inner = made(_third, "third", {}, checked=True, inner=True, apart=True)
        beyond = made(_beyond, 0, {"third": inner}, checked=True)
        _expect("a checked index", len(_raised(IndexError, beyond, values)), 1)
    if told:
        raise told[0]


class _AsNumba:
    """Steps that do what numba does."""

    def compile(self, dispatcher: Any, goes_on: Callable[[], Any], signature: Any) -> Any:  # noqa: ARG002 (as pipeline calls it)
        return goes_on()

    def look_up(self, dispatcher: Any, goes_on: Callable[[], Any], arguments: Any, named: Any) -> Any:  # noqa: ARG002
        return goes_on()


def _note_in(told: list[Exception]) -> Callable[[str, Exception], None]:
    return lambda _, error: told.append(error)


def _ignore(*_: object) -> None:
    pass


class _Within(NamedTuple):
    numbers: Any


class _Lent(NamedTuple):
    first: int
    within: _Within
    square: Any
    rng: Any


def _look(place: Any, found: Any, callee: Any, address: Any) -> None:
    lent = at(place)  # type: ignore[name-defined]  # noqa: F821 (as above)
    found[0] = lent.first + lent.within.numbers[1] + lent.square[1, 2]
    found[1] = lent.rng.random()
    found[2] = weigh(address, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # type: ignore[name-defined]  # noqa: F821
    found[3] = clock()  # type: ignore[name-defined]  # noqa: F821
    call(callee, 5, place)  # type: ignore[name-defined]  # noqa: F821


def _note(number: int, place: int) -> None:
    at(place).within.numbers[0] = number  # type: ignore[name-defined]  # noqa: F821
    if number == 5:
        raise ValueError("five")


def _weighed(a: float, b: float, c: float, d: float, e: float, f: float, g: float) -> float:
    return a + 10 * b + 100 * c + d + e + f + g


def _begin(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _try_machine() -> None:
    from swftools.kernel.numba_adapter import machine  # noqa: PLC0415 (it may not be importable)

    given = _Lent(7, _Within(np.array([0.0, 20.0])), np.arange(6).reshape(2, 3) + 100, np.random.default_rng(1))
    numbers, square, bits = given.within.numbers, given.square, given.rng.bit_generator
    functions = (bits.ctypes.next_uint64, bits.ctypes.next_uint32, bits.ctypes.next_double)
    in_memory: list[int] = [
        *(given.first, 0, 0, 2, 8, _begin(numbers), 2, 8, 0, 0, 6, 8, _begin(square), 2, 3, 24, 8),
        *(id(bits), bits.ctypes.state_address, bits.ctypes.state.value),
        *(ctypes.cast(each, ctypes.c_void_p).value or 0 for each in functions),
        *(bits.ctypes.bit_generator.value, 0, id(given.rng)),
    ]
    words = np.array(in_memory, np.uint64)
    place = _begin(words)
    kind: Any = typeof(given)
    at = machine.borrower(kind)
    note = njit(types.void(types.int64, types.int64))(_with(_note, at=at))
    weighed = njit(types.float64(*[types.float64] * 7))(_weighed)
    names = {
        "at": at,
        "call": machine.call_kernel,
        "weigh": machine.call_by_address,
        "clock": machine.monotonic_seconds,
    }
    look = njit(_with(_look, **names))
    found = np.zeros(4)
    raised = _raised(ValueError, look, place, found, machine.place_of(note), machine.address_of(weighed))
    _expect("an error", raised, ("five",))
    _expect("a tuple in memory", (found[0], given.within.numbers[0]), (132.0, 5.0))
    _expect("draws", found[1], np.random.default_rng(1).random())
    _expect("a call by address", found[2], 343.0)
    _expect("the clock", bool(found[3] > 0.0), True)
    machine.FunctionAtAddress(weighed)
