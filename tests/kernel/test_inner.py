# SPDX-License-Identifier: BSD-3-Clause
"""What only kernels call: it has no machine code of its own, and does in those that call it what it says."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from swftools.kernel import kernel
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent

pytestmark = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


@kernel
def half(n: int) -> float:
    """Raise what says of which number, which numba makes of an argument."""
    if n % 2:
        raise ValueError("odd", n)
    return n / 2


@kernel
def quarter(n: int) -> float:
    """Call it."""
    return half(int(half(n)))


@kernel
def eighth(n: int) -> float:
    """Call what calls it."""
    return half(int(quarter(n)))


def test_it_is_called_through_others() -> None:
    """At any depth, with what it raises."""
    assert (eighth(24), quarter(12), half(3 * 2)) == (3.0, 3.0, 3.0)
    with pytest.raises(ValueError, match="odd") as caught:
        eighth(12)
    assert caught.value.args == ("odd", 3)


def test_it_has_no_machine_code() -> None:
    """What Python calls has, what kernels call has not."""
    eighth(8)
    quarter.inner.compile((numba.int64,))  # if eighth was in the cache, nobody needed it
    (whole,), (inner,) = (each.overloads.values() for each in (eighth.compiled, quarter.inner))
    assert whole.library.get_pointer_to_function(whole.fndesc.llvm_func_name) > 0
    assert inner.library.get_pointer_to_function(inner.fndesc.llvm_func_name) == 0
    assert inner.library.serialize_using_object_code()[1] == "bitcode"


def test_what_python_and_kernels_call_is_compiled_for_both() -> None:
    """Whichever comes first."""
    last = kernel(lambda n: n + 1)
    first = kernel(lambda n: last(n) * 2)
    assert (first(3), last(3), first(4), last.py_func(3)) == (8, 4, 10, 4)


@pytest.mark.parametrize("apart", [False, True])
def test_what_is_apart_becomes_part_of_no_caller(apart: bool) -> None:
    """Nor has what it calls to, as it would where it is called for a kernel that becomes part of its callers."""
    last = kernel(lambda n: n * 3)
    middle = kernel(apart=apart)(lambda n: last(n) + 1)
    merged = kernel(merges=True)(lambda n: middle(n) * 2)
    first = kernel(lambda n: merged(n) + middle(n))
    assert first(4) == 39
    (code,) = first.compiled.inspect_llvm().values()
    kinds = [line for line in code.splitlines() if line.startswith("define ") and "lambda" in line]
    assert len(kinds) == 3 + apart  # as numba, C and Python call the first one
    (result,) = last.inner.overloads.values()
    assert ("alwaysinline" in result.library.get_llvm_str()) is not apart


class Deep(NamedTuple):
    """A tuple in a tuple in a tuple."""

    values: Any


class Middle(NamedTuple):
    """The one between."""

    before: Any
    deep: Deep


class Top(NamedTuple):
    """The outermost; ``pair`` has no names, and is loaded as it is."""

    middle: Middle
    pair: tuple[Any, Any]
    count: int


def top() -> Top:
    """Return one."""
    return Top(Middle(np.arange(3), Deep(np.arange(4) + 10.5)), (np.arange(2) + 70, np.arange(2) + 80.5), 5)


top_at = Lent(top)


@kernel(allocates=False)
def of_deep(deep: Any) -> float:
    """Take a tuple from within."""
    return deep.values[3] + len(deep.values)


@kernel(allocates=False)
def of_top(given: Any) -> float:
    """Look at all of it."""
    first, second = given.pair
    middle = given.middle
    middle.deep.values[0] = -1.0
    return of_deep(middle.deep) + 100 * middle.before[2] + 1000 * given.count + first[1] + second[0]


@kernel(allocates=False)
def of_place(place: int) -> float:
    """Take it from its place."""
    return of_top(top_at(place))


@kernel(allocates=False)
def misnamed(place: int) -> float:
    """Look for what is not there."""
    return top_at(place).count + top_at(place).number


def test_a_lent_tuple_is_looked_up_like_any() -> None:
    """By field, at any depth, handed on whole or in part; from Python, by its place, and interpreted."""
    given = top()
    assert of_place(Layout(given, top_at.example).address) == 13.5 + 4 + 200 + 5000 + 71 + 80.5
    assert given.middle.deep.values[0] == -1.0
    assert of_top(top()) == of_top.py_func(top()) == of_place(Layout(top(), top()).address)


def test_a_field_that_is_not_there() -> None:
    """It is refused when the kernel is compiled, as of any tuple."""
    with pytest.raises(Exception, match="nknown attribute 'number'"):
        misnamed(0)
