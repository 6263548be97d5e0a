# SPDX-License-Identifier: BSD-3-Clause
"""Tuples that Python lays out for kernels: they find there what Python put there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from swftools.kernel import kernel
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent, call_kernel, place_of

compiles = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


class Inner(NamedTuple):
    """A tuple within."""

    flat: Any
    small: Any


class Outer(NamedTuple):
    """All that can be laid out."""

    first: int
    inner: Inner
    square: Any
    cube: Any
    rng: Any
    last: int


def example(seed: int = 0) -> Outer:
    """Return one, in which no two numbers are equal."""
    flat, small = np.arange(5) + 0.5, np.array([70, 80, 90], np.int32)
    square, cube = np.arange(6).reshape(2, 3) + 100, np.arange(24.0).reshape(2, 3, 4) + 200
    return Outer(-7, Inner(flat, small), square, cube, np.random.default_rng(seed), 2**40)


outer_at = Lent(example)


@kernel(allocates=False)
def look(place: int, found: Any) -> None:
    """Read everything, and write to what can be written to."""
    outer = outer_at(place)
    found[0], found[1] = outer.first, outer.last
    found[2], found[3] = outer.inner.flat[4], outer.inner.small[-1]
    found[4], found[5] = outer.square[1, 2], outer.cube[1, 2, 3]
    found[6], found[7] = (
        len(outer.inner.flat),
        outer.cube.shape[0] * 100 + outer.cube.shape[1] * 10 + outer.cube.shape[2],
    )
    found[8], found[9] = outer.rng.random(), outer.rng.standard_normal()
    outer.inner.small[0] = 71
    outer.cube[0, 1, 0] = -1.0


@kernel
def draw(place: int, most: int) -> int:
    """Draw an integer, for which numba makes an array and counts references."""
    return int(outer_at(place).rng.integers(0, most))


@compiles
@pytest.mark.parametrize("most", [1000, 2**50])
def test_what_counts_references_finds_none_to_count(most: int) -> None:
    """By the Generator's functions for short and for long integers."""
    given, twin = example(5), example(5)
    laid_out = Layout(given, outer_at.example)
    assert [draw(laid_out.address, most) for _ in range(50)] == twin.rng.integers(0, most, 50).tolist()


@compiles
@pytest.mark.parametrize("checked", [False, True])
def test_kernels_find_what_python_put_there(checked: bool) -> None:
    """Each number at its place, draws as Python would draw them, and what a kernel writes is seen by Python."""
    given, twin, found = example(3), example(3), np.zeros(10)
    laid_out = Layout(given, outer_at.example)
    (look.checked if checked else look)(laid_out.address, found)
    assert found[:8].tolist() == [-7, 2**40, 4.5, 90, 105, 223, 5, 234]
    assert found[8:].tolist() == [twin.rng.random(), twin.rng.standard_normal()]
    assert given.rng.random() == twin.rng.random()
    assert (given.inner.small[0], given.cube[0, 1, 0]) == (71, -1.0)


def test_interpreted_it_is_the_tuple() -> None:
    """What is compiled takes a place, what is interpreted the tuple."""
    found = np.zeros(10)
    look.py_func(example(3), found)  # type: ignore[arg-type]
    assert found[:8].tolist() == [-7, 2**40, 4.5, 90, 105, 223, 5, 234]


def replaced(**parts: Any) -> Outer:
    """Return the example with other parts."""
    return example()._replace(**parts)


@pytest.mark.parametrize(
    "given",
    [
        replaced(square=np.zeros((2, 3))),
        replaced(square=np.zeros(6, np.int64)),
        replaced(square=np.zeros((2, 6), np.int64)[:, ::2]),
        replaced(square=np.asfortranarray(np.zeros((2, 3), np.int64))),
        replaced(inner=(np.zeros(1), np.zeros(1, np.int32))),
        replaced(first=0.5),
        replaced(first="7"),
    ],
    ids=["type", "dimensions", "steps", "order", "tuple", "float", "text"],
)
def test_what_compiled_code_would_misread_is_refused(given: Outer) -> None:
    """The kernel does not look; it would read another number, or memory of somebody else."""
    with pytest.raises(TypeError, match="laid out"):
        Layout(given, example())


def test_a_single_element_that_is_turned_round_is_laid_out() -> None:
    """It is contiguous to numpy, and its stride is negative."""
    flat = np.array([4.5])[::-1]
    assert flat.strides == (-8,)
    Layout(replaced(inner=Inner(flat, np.zeros(3, np.int32))), example())


def test_what_cannot_be_written_to_is_laid_out() -> None:
    """It is the kernel's word that it does not write to it."""
    flat = np.arange(5) + 0.5
    flat.flags.writeable = False
    Layout(replaced(inner=Inner(flat, np.zeros(3, np.int32))), example())


def test_the_type_in_words_has_every_field_and_kind() -> None:
    """Kernels that take it are compiled anew when a field has another name, another place, or another type."""
    said = outer_at.meaning
    assert said.startswith("Outer(first: int64, inner: Inner(flat: array(float64, 1d, C), small: array(int32, 1d, C))")
    assert said.index("square") < said.index("cube: array(float64, 3d, C)") < said.index("rng") < said.index("last")


def _note(a: int, b: int, place: int) -> None:
    outer_at(place).square[0, 0] = 10 * a + b
    if b == 9:
        raise ValueError("nine")


def _passed_on(target: int, b: int, place: int) -> None:
    call_kernel(target, 4, b, place)


@compiles
def test_a_kernel_is_called_by_its_place_and_what_it_raises_is_raised() -> None:
    """Arguments come in order, and an error passes through the kernel that calls."""
    from numba import types  # noqa: PLC0415 (where it compiles)

    signature = types.void(types.int64, types.int64, types.int64)
    noted, passed = kernel(signature, allocates=False)(_note), kernel(signature, allocates=False)(_passed_on)
    given = example()
    place = Layout(given, outer_at.example)
    for checked in (False, True):
        target = place_of(noted, checked=checked)
        passed.compiled(target, 7, place.address)
        assert given.square[0, 0] == 47
        with pytest.raises(ValueError, match="nine"):
            passed.compiled(target, 9, place.address)
        assert given.square[0, 0] == 49


def test_some_arrays_are_others() -> None:
    """The words of the others are found, of any number of dimensions, also twice in a row; wrong ones are refused."""

    def arrays(seed: int) -> tuple[Any, ...]:
        draw = np.random.default_rng(seed)
        return draw.random(3 + seed), Inner(draw.random(4), np.arange(seed, dtype=np.int32)), draw.random((2, seed, 3))

    one, two, like = arrays(1), arrays(2), arrays(3)
    laid_out, value = Layout(one, like), one
    for changed in ((two[0], *one[1:]), (two[0], one[1], two[2]), two, one):
        laid_out, value = laid_out.changed(changed, like), changed
        assert laid_out._words.tolist() == Layout(value, like)._words.tolist()
        assert [laid_out.part(i) - laid_out.address for i in range(3)] == [0, 56, 56 + 2 * 56]
    with pytest.raises(TypeError, match="is not laid out as"):
        laid_out.changed((one[0].astype(np.int32), *one[1:]), like)


def test_the_next_tuple_of_a_pattern() -> None:
    """It is laid out as it would be by itself; one whose arrays are others is not."""
    draw = np.random.default_rng(1)

    def arrays(long: int = 4, deep: int = 3) -> tuple[Any, ...]:
        return draw.random(3), Inner(draw.random(long), np.arange(2, dtype=np.int32)), draw.random((2, deep))

    one, two = arrays(), arrays()
    pattern = Layout(one, one).pattern()
    laid_out = pattern.layout(two)
    assert laid_out is not None
    assert laid_out._words.tolist() == Layout(two, one)._words.tolist()
    assert [laid_out.part(i) - laid_out.address for i in range(3)] == [0, 56, 56 + 2 * 56]
    assert pattern.layout(arrays(long=5)) is None
    assert pattern.layout(arrays(deep=4)) is None
    assert pattern.layout((two[0].astype(np.float32), *two[1:])) is None
    assert pattern.layout((two[0].view(np.int64), *two[1:])) is None  # as long, and something else
    assert pattern.layout((np.repeat(two[0], 2)[::2], *two[1:])) is None


class Twice(NamedTuple):
    """A tuple of the name of another one."""

    one: Any
    other: Any


FIRST = Twice


class Twice(NamedTuple):  # type: ignore[no-redef]
    """Another one, with the same fields in another order."""

    other: Any
    one: Any


first_at = Lent(lambda: FIRST(np.zeros(1), np.zeros(1)))
second_at = Lent(lambda: Twice(np.zeros(1), np.zeros(1)))


@kernel(allocates=False)
def look_at_first(place: int, found: Any) -> None:
    """Read a field of one."""
    found[0] = first_at(place).one[0]


@kernel(allocates=False)
def look_at_second(place: int, found: Any) -> None:
    """Read the field of the same name of the other one."""
    found[0] = second_at(place).one[0]


@compiles
def test_tuples_of_one_name_are_told_apart() -> None:
    """Memories of two policies may have one name, and fields of the same types."""
    found = np.zeros(1)
    for made, look_at, wanted in ((FIRST, look_at_first, 1.0), (Twice, look_at_second, 2.0)):
        value = made(np.ones(1), np.full(1, 2.0))
        laid_out = Layout(value, value)
        look_at(laid_out.address, found)
        assert found[0] == wanted
