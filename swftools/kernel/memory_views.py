"""Arrays that lie in one block of bytes, as compiled code sees them.

A part of an array of bytes, seen as numbers by slicing and ``view``, costs compiled code 28 ns, for its bounds are
normalised, its size is checked and its owner noted; a policy with seven arrays spent most of its time so. What is made
here costs nothing: whoever calls guarantees that the part is within the block, and that the block outlives it. Beside
``swftools.kernel.cache`` this is the one place that knows how numba sees arrays. Kernels are compiled with it, so it is
one of the files of ``swftools.kernel.sources``.
"""

from __future__ import annotations

from typing import Any

from numba import config
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

_array: Any = arrayobj  # numba says nothing of its types


@intrinsic
def _part_compiled(typing_context: Any, block: Any, begin: Any, end: Any, kind: Any) -> Any:  # noqa: ARG001 (numba's own)
    """Return the bytes from ``begin`` to before ``end`` of a block as a contiguous array of numbers of a kind."""
    result = types.Array(kind.dtype, 1, "C")

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write how the array is made; it owns nothing, so nothing is counted."""
        whole = _array.make_array(signature.args[0])(context, builder, arguments[0])
        number = context.get_data_type(result.dtype)
        size = context.get_constant(types.intp, context.get_abi_sizeof(number))
        count = builder.sdiv(builder.sub(arguments[2], arguments[1]), size)
        first = builder.bitcast(builder.gep(whole.data, [arguments[1]]), number.as_pointer())
        part = _array.make_array(result)(context, builder)
        _array.populate_array(part, data=first, shape=[count], strides=[size], itemsize=size, meminfo=None, parent=None)
        return part._getvalue()

    return result(block, types.intp, types.intp, kind), write


def _part_interpreted(block: Any, begin: int, end: int, kind: Any) -> Any:
    """Return the same where nothing is compiled (NUMBA_DISABLE_JIT)."""
    return block[begin:end].view(kind)


part_of: Any = _part_interpreted if config.DISABLE_JIT else _part_compiled  # type: ignore[attr-defined]
