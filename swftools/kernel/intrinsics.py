# SPDX-License-Identifier: BSD-3-Clause
"""What kernels call that no kernel is: the code that ``swftools.kernel.outside`` stands for.

The clock is found by its name in the process, and a function by the number that is handed on; neither is part of what
is kept on disk. Kernels are compiled with it, so it is one of the files of ``swftools.kernel.sources``.
"""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

_DOUBLE, _WHOLE = ir.DoubleType(), ir.IntType(64)

_tools: Any = cgutils  # numba says nothing of its types
_tuple: Any = types.StarArgTuple.from_types

_ARGUMENTS = 7
"""How many numbers a kernel takes that is called by its address."""


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
