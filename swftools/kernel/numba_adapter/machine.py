# SPDX-License-Identifier: BSD-3-Clause
"""What the simulator needs of numba's inside: tuples where they lie, addresses of kernels, calls by address.

A named tuple is otherwise handed on by its fields: the simulator's machine in 250 words, at each call that is not
compiled into its caller, and as many in the code of each kernel, which took half of the time of compiling. Here a
kernel has the address, and loads a field where it uses it. A named tuple within is lent as well; what else there is is
loaded. That nobody writes to the tuple while kernels run is what ``Layout`` guarantees; so a field is loaded once.

The clock is found by its name in the process, and a function by the number that is handed on; neither is part of what
is kept on disk. Use this module by ``numba_adapter.machine()``, which looks whether numba is as it says.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, models, register_model

_DOUBLE, _WHOLE = ir.DoubleType(), ir.IntType(64)

_tools: Any = cgutils  # numba says nothing of its types
_models: Any = models
_lowers: Any = lower_getattr_generic
_infers: Any = infer_getattr
_tuple: Any = types.StarArgTuple.from_types

_LETTERS = 16
"""Of a hash: types of other fields have other names."""

_ARGUMENTS = 7
"""How many numbers a kernel takes that is called by its address."""


class LentTuple(types.Type):
    """The type of a named tuple, of type ``tuple_type``, that lies elsewhere."""

    def __init__(self, tuple_type: Any) -> None:
        self.tuple_type = tuple_type
        self.types = (tuple_type,)  # as a tuple has them: who looks for named tuples finds it
        # Names of compiled functions have those of their types: with all fields they would have thousands of letters.
        short = hashlib.sha256(tuple_type.name.encode()).hexdigest()[:_LETTERS]
        super().__init__(name=f"lent {tuple_type.instance_class.__name__} {short}")

    @property
    def key(self) -> Any:
        """What makes it another type: also the class of the tuple, whose name others with other fields may have."""
        return self.tuple_type


@register_model(LentTuple)
class _Address(_models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WHOLE)


def _lent(kind: Any) -> Any:
    """Return the type in which kernels see a part of a type that is lent."""
    return LentTuple(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@_infers
class _Fields(AttributeTemplate):
    key = LentTuple

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        """Return the type of a field."""
        fields = kind.tuple_type.fields
        return _lent(kind.tuple_type.types[fields.index(name)]) if name in fields else None


@_lowers(LentTuple)
def _load(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    """Write how a field is found."""
    place = kind.tuple_type.fields.index(name)
    lies = builder.inttoptr(address, context.get_value_type(kind.tuple_type).as_pointer())
    field = builder.gep(lies, [ir.IntType(32)(0), ir.IntType(32)(place)], inbounds=True)
    if isinstance(kind.tuple_type.types[place], types.BaseNamedTuple):
        return builder.ptrtoint(field, _WHOLE)
    return _loaded(builder, field)


def _loaded(builder: Any, place: Any) -> Any:
    """Load what lies at a place word by word: numba's own way, by whole structures, is a burden to LLVM."""
    kind = place.type.pointee
    if isinstance(kind, ir.Aggregate):
        value = ir.Constant(kind, ir.Undefined)
        for i in range(len(kind)):
            inner = builder.gep(place, [ir.IntType(32)(0), ir.IntType(32)(i)], inbounds=True)
            value = builder.insert_value(value, _loaded(builder, inner), i)
        return value
    word = builder.load(place)
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def borrower(kind: Any) -> Any:
    """Return what takes the tuple of a numba type in a kernel from where it lies."""

    @intrinsic
    def borrowed(typing_context: Any, address: Any) -> Any:  # noqa: ARG001 (numba's own)
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 (numba's own)
            return arguments[0]

        return LentTuple(kind)(types.int64), write

    return borrowed


@intrinsic
def monotonic_seconds(typing_context: Any) -> Any:  # noqa: ARG001 (numba's own)
    """Return the seconds of the monotonic clock."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 (numba's own)
        pair = builder.alloca(ir.ArrayType(_WHOLE, 2))
        place = builder.bitcast(pair, _WHOLE.as_pointer())
        form = ir.FunctionType(ir.IntType(32), [ir.IntType(32), _WHOLE.as_pointer()])
        name = "clock_gettime"
        known = builder.module.globals.get(name)
        builder.call(known or ir.Function(builder.module, form, name), [ir.IntType(32)(time.CLOCK_MONOTONIC), place])
        seconds, rest = (builder.load(builder.gep(place, [_WHOLE(i)])) for i in range(2))
        fraction = builder.fmul(builder.sitofp(rest, _DOUBLE), _DOUBLE(1e-9))
        return builder.fadd(builder.sitofp(seconds, _DOUBLE), fraction)

    return types.float64(), write


@intrinsic
def call_by_address(
    typing_context: Any,  # noqa: ARG001 (numba's own)
    address: Any,  # noqa: ARG001 (numba looks at how many there are)
    a: Any,  # noqa: ARG001
    b: Any,  # noqa: ARG001
    c: Any,  # noqa: ARG001
    d: Any,  # noqa: ARG001
    e: Any,  # noqa: ARG001
    f: Any,  # noqa: ARG001
    g: Any,  # noqa: ARG001
) -> Any:
    """Call the function at an address with numbers."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 (numba's own)
        form = ir.FunctionType(_DOUBLE, [_DOUBLE] * _ARGUMENTS)
        return builder.call(builder.inttoptr(arguments[0], form.as_pointer()), list(arguments[1:]))

    return types.float64(types.int64, *[types.float64] * _ARGUMENTS), write


@intrinsic
def call_kernel(typing_context: Any, place: Any, *numbers: Any) -> Any:  # noqa: ARG001 (numba's own)
    """Call the kernel at a place, made by numba for as many integers; what it raises is raised here."""
    form = types.void(*[types.int64] * len(numbers))

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 (numba's own)
        calls = context.call_conv
        place = builder.inttoptr(arguments[0], calls.get_function_type(form.return_type, form.args).as_pointer())
        given = [
            context.cast(builder, number, kind, types.int64)
            for number, kind in zip(_tools.unpack_tuple(builder, arguments[1]), numbers, strict=True)
        ]
        status, _ = calls.call_function(builder, place, form.return_type, form.args, given)
        with _tools.if_unlikely(builder, status.is_error):
            calls.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.int64, _tuple(numbers)), write


def type_of(written: Any) -> Any:
    """Return numba's type of what is written here for kernels to call."""
    context = cpu_target.typing_context
    context.refresh()  # numba looks at what was made by its decorators before it compiles, not while it does
    return context.resolve_value_type(written)


def place_of(dispatcher: Any) -> int:
    """Return where the code lies of a kernel that was made for one signature: as kernels call it."""
    (result,) = dispatcher.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def address_of(dispatcher: Any) -> int:
    """Return the same as C calls it, which tells of no error."""
    (result,) = dispatcher.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


class FunctionAtAddress(types.WrapperAddressProtocol):
    """A kernel, made for one signature, that tells at once where it lies; numba would look it up anew at each call."""

    def __init__(self, dispatcher: Any) -> None:
        (result,) = dispatcher.overloads.values()
        self._signature = result.signature
        self._numba_type_ = types.FunctionType(result.signature)  # the name is numba's
        self._address = address_of(dispatcher)

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """Return its signature."""
        return self._signature
