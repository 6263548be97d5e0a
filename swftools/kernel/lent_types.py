# SPDX-License-Identifier: BSD-3-Clause
"""numba's type of a tuple that kernels take by where it lies.

A named tuple is otherwise handed on by its fields: the simulator's machine in 250 words, at each call that is not
compiled into its caller, and as many in the code of each kernel, which took half of the time of compiling. Here a
kernel has the address, and loads a field where it uses it. A named tuple within is lent as well; what else there is is
loaded. That nobody writes to the tuple while kernels run is what ``Layout`` guarantees; so a field is loaded once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, register_model

_WHOLE = ir.IntType(64)
_models: Any = models  # numba says nothing of its types
_lowers: Any = lower_getattr_generic
_infers: Any = infer_getattr


class LentTuple(types.Type):
    """The type of a named tuple, of type ``tuple_type``, that lies elsewhere."""

    def __init__(self, tuple_type: Any) -> None:
        self.tuple_type = tuple_type
        self.types = (tuple_type,)  # as a tuple has them: who looks for named tuples finds it
        super().__init__(name=f"lent {tuple_type.name}")

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
