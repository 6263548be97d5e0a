# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions: their form, and their value at any time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import UtilityFunctions
from swftools.errors import UtilityError
from swftools.fields.definition import UTILITY
from swftools.utility import functions as utility_functions
from swftools.utility.functions import find_faults
from tests.naive.utility import naive_fault, naive_utility

Points = list[tuple[float, float]]

# Lee 2009, figure 2.10: flat to 5, a jump, a fine curve, a coarse one, flat from 9 to 10, a jump at 15.
FIGURE: Points = [
    *((0, 100), (5, 100), (5.001, 80), (5.5, 60), (6, 50), (7, 45)),
    *((9, 30), (10, 30), (15, 20), (15.001, 5), (20, 0)),
]


@st.composite
def functions(draw: st.DrawFn) -> Points:
    """Draw a utility function, none now and then."""
    count = draw(st.sampled_from([0, 2, 2, 3, 5, 9]))
    numbers = st.integers(0, 12).map(float) | st.floats(0, 100)
    times = draw(st.lists(numbers.filter(bool), min_size=count, max_size=count, unique=True))
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    return list(zip([0.0, *sorted(times)][:count], sorted(values, reverse=True), strict=True))


@st.composite
def nearly_functions(draw: st.DrawFn) -> Points:
    """Draw a function with a number or two changed, so that most break the form in one way."""
    points = draw(functions())
    numbers = st.sampled_from([0.0, -1.0, 1.0, 6.0, math.nan, math.inf, -math.inf])
    for place in draw(st.lists(st.integers(0, 8), max_size=2)):
        if points:
            time, value = points[place % len(points)]
            points[place % len(points)] = draw(st.sampled_from([(draw(numbers), value), (time, draw(numbers))]))
    return points[: draw(st.sampled_from([1, 9, 9, 9]))]


def arrays_of(many: list[Points]) -> tuple[Any, Any, Any]:
    """Return offsets, times and values of functions that may break the form."""
    flat = [point for points in many for point in points]
    offsets = np.cumsum([0, *map(len, many)])
    return offsets, np.array([time for time, _ in flat], float), np.array([value for _, value in flat], float)


# Form


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ([(0, 5)], "has only one point; at least two are needed"),
        ([(1, 5), (2, 3)], "does not begin at time 0"),
        ([(-1, 5), (2, 3)], "does not begin at time 0"),
        ([(0, 5), (2, 4), (2, 3)], "has times that do not increase"),
        ([(0, 5), (2, 4), (1, 3)], "has times that do not increase"),
        ([(0, 5), (2, 6)], "has values that increase"),
        ([(0, 5), (2, -1)], "has a negative value"),
        ([(0, -1), (2, -1)], "has a negative value"),
        ([(0, 5), (math.nan, 3)], "has a time or value that is not a finite number"),
        ([(0, 5), (math.inf, 3)], "has a time or value that is not a finite number"),
        ([(0, math.inf), (5, 3)], "has a time or value that is not a finite number"),
        ([(0, 5), (5, math.nan)], "has a time or value that is not a finite number"),
    ],
)
def test_each_fault_of_form_is_refused(points: Points, fault: str) -> None:
    """A function that breaks the form is refused, with its index, the fault and its points."""
    good: Points = [(0, 1), (1, 1)]
    shown = ", ".join(str((float(time), float(value))) for time, value in points)
    with pytest.raises(UtilityError) as caught:
        UtilityFunctions.from_points([good, [], points, good])
    assert f"utility function 2 {fault}: {shown}" == str(caught.value)
    assert fault == naive_fault(points)


def test_the_form_allows(recwarn: pytest.WarningsRecorder) -> None:
    """Flat stretches, jumps in a very small time, no value at all, a last value above zero, two points are allowed."""
    allowed: list[Points] = [
        *(FIGURE, [(0, 0), (1, 0)], [(0, 5), (1, 5)], [(0, 5), (5e-324, 0)]),
        *([(0, 1e308), (1e308, 0)], [(0, 5), (1, 5), (math.nextafter(1, 2), 0)], [(-0.0, 1), (1, 0)]),
    ]
    assert len(allowed) == len(UtilityFunctions.from_points(allowed))
    assert [] == recwarn.list


@given(st.lists(nearly_functions(), max_size=5))
def test_faults_are_those_of_the_naive_check(many: list[Points]) -> None:
    """Every function that breaks the form is found, with its first fault."""
    expected = {index: fault for index, points in enumerate(many) if (fault := naive_fault(points))}
    assert expected == find_faults(*arrays_of(many))


def test_long_functions_are_shown_in_part() -> None:
    """The message shows the first six points."""
    points: Points = [(float(time), 0.0) for time in range(30)]
    with pytest.raises(UtilityError, match=r"\(4.0, 0.0\), \(5.0, 0.0\), ...$"):
        UtilityFunctions.from_points([[*points, (1.0, 0.0)]])


@pytest.mark.parametrize("points", [[(0, 1, 2), (3, 4, 5)], [(0,), (1,)], ["ab"], [0, 1], 7, [(0, "x"), (1, 1)]])
def test_what_is_no_list_of_points_is_refused(points: Any) -> None:
    """Triples, text and bare numbers are no points."""
    with pytest.raises(UtilityError, match="utility function 1 is not a list of"):
        UtilityFunctions.from_points([[], points])


@pytest.mark.parametrize(
    ("offsets", "times", "values"),
    [
        ([0, 3], [0.0, 1.0], [1.0, 0.0]),
        ([0, 1], [0.0, 1.0], [1.0, 0.0]),
        ([1, 2], [0.0, 1.0], [1.0, 0.0]),
        ([0, 4, 2], [0.0, 1.0], [1.0, 0.0]),
        ([], [], []),
        ([0, 2], [0.0, 1.0], [1.0]),
        ([0, 2], [0, 1], [1, 0]),
        ([0.0, 2.0], [0.0, 1.0], [1.0, 0.0]),
        ([[0, 2]], [0.0, 1.0], [1.0, 0.0]),
    ],
)
def test_arrays_that_hold_no_functions_are_refused(offsets: Any, times: Any, values: Any) -> None:
    """Offsets beyond the points, or arrays of other types, never reach the compiled loops."""
    with pytest.raises(UtilityError, match="offsets must"):
        UtilityFunctions(np.array(offsets), np.array(times), np.array(values))


# Value


@pytest.mark.parametrize(
    ("time", "value"),
    [
        *((0, 100), (2.5, 100), (5, 100), (5.0005, 90), (5.001, 80), (6.5, 47.5), (7, 45), (8, 37.5), (9.5, 30)),
        *((12.5, 25), (15, 20), (15.0005, 12.5), (15.001, 5), (20, 0), (20.0001, 0), (1e9, 0), (math.inf, 0)),
    ],
)
def test_value_of_the_papers_figure(time: float, value: float) -> None:
    """Flat stretches, jumps, curves, the last point and the time after it have the values one reads off the figure."""
    assert value == pytest.approx(UtilityFunctions.from_points([FIGURE]).evaluate(time)[0], rel=1e-9)


@given(st.lists(st.tuples(functions(), st.integers(0, 12).map(float) | st.floats(0, 120)), max_size=6))
def test_values_are_those_of_the_naive_evaluation(pairs: list[tuple[Points, float]]) -> None:
    """Many functions at a time each have the values of one function at a time."""
    many = UtilityFunctions.from_points([points for points, _ in pairs])
    values = many.evaluate([time for _, time in pairs])
    expected = [naive_utility(points, time) for points, time in pairs]
    assert expected == pytest.approx(values.tolist(), rel=1e-12, abs=1e-12, nan_ok=True)


@given(functions().filter(bool))
def test_points_are_met_exactly(points: Points) -> None:
    """At its own points a function has exactly their values."""
    many = UtilityFunctions.from_points([points])
    assert [value for _, value in points] == many.evaluate([[time for time, _ in points]])[0].tolist()
    assert points[0][1] == many.start_values[0]
    assert points[-1][0] == many.deadlines[0]


@given(functions(), st.lists(st.floats(0, 120), min_size=2, max_size=9))
def test_values_never_rise(points: Points, times: list[float]) -> None:
    """A later completion is never worth more, beyond the last digit; nor is any worth less than nothing."""
    values = UtilityFunctions.from_points([points]).evaluate([sorted(times)])[0]
    assert np.isnan(values).all() or ((np.diff(values) <= 1e-9).all() and (values >= -1e-12).all())


def test_shapes() -> None:
    """A single time serves all functions; a vector gives each its own; a matrix gives each several."""
    many = UtilityFunctions.from_points([[(0, 8), (8, 0)], [(0, 4), (8, 0)], []])
    nan = math.nan
    np.testing.assert_equal(np.array([6.0, 3.0, nan]), many.evaluate(2))
    np.testing.assert_equal(np.array([6.0, 2.0, nan]), many.evaluate([2, 4, 4]))
    np.testing.assert_equal(np.array([[8.0, 0.0], [2.0, 1.0], [nan, nan]]), many.evaluate([[0, 9], [4, 6], [1, 1]]))
    assert (3, 0) == many.evaluate(np.empty((3, 0))).shape
    view = np.arange(12.0).reshape(3, 4)[:, ::2]
    np.testing.assert_equal(many.evaluate(view.copy()), many.evaluate(view))


def test_missing() -> None:
    """A missing function or time has no value; a function without points has no start and no deadline."""
    many = UtilityFunctions.from_points([[(0, 8), (8, 0)], []])
    np.testing.assert_equal(np.array([math.nan, math.nan]), many.evaluate([math.nan, 3]))
    np.testing.assert_equal(np.array([8, math.nan]), many.start_values)
    np.testing.assert_equal(np.array([8, math.nan]), many.deadlines)


def test_no_functions() -> None:
    """No functions have no values."""
    many = UtilityFunctions.from_points([])
    assert 0 == len(many)
    assert [] == many.evaluate([]).tolist() == many.evaluate(5).tolist() == many.start_values.tolist()
    assert [] == many.to_arrow().to_pylist()
    assert 0 == len(UtilityFunctions.from_arrow(many.to_arrow()))


@pytest.mark.parametrize("times", [[1], [1, 2, 3], [[1, 2, 3]], [[[1]], [[1]]]])
def test_shapes_that_do_not_fit_are_refused(times: Any) -> None:
    """Times must be as many as functions."""
    with pytest.raises(UtilityError, match="give one time"):
        UtilityFunctions.from_points([[(0, 1), (1, 0)], [(0, 1), (1, 0)]]).evaluate(times)


def test_negative_times_are_refused() -> None:
    """Utility is not defined before submission, even where others are missing."""
    with pytest.raises(UtilityError, match=r"time -0\.5: utility is defined from submission"):
        UtilityFunctions.from_points([[(0, 1), (1, 0)], []]).evaluate([math.nan, -0.5])
    assert [1.0] == UtilityFunctions.from_points([[(0, 1), (1, 0)]]).evaluate(-0.0).tolist()


def test_evaluation_leaves_its_input_alone() -> None:
    """Times are not changed."""
    times = np.array([3.0, 20.0])
    UtilityFunctions.from_points([FIGURE, FIGURE]).evaluate(times)
    assert [3.0, 20.0] == times.tolist()


@given(st.lists(st.tuples(functions(), st.floats(0, 120)), max_size=6))
def test_interpreted_kernels_are_the_compiled_ones(pairs: list[tuple[Points, float]]) -> None:
    """The kernels give the same interpreted."""
    many = UtilityFunctions.from_points([points for points, _ in pairs])
    at = np.array([[time, 2 * time] for _, time in pairs]).reshape(len(pairs), 2)
    result = np.empty_like(at)
    utility_functions._evaluate.py_func(many.offsets, many.times, many.values, at, result)
    np.testing.assert_equal(many.evaluate(at), result)


@given(st.lists(nearly_functions(), max_size=5))
def test_interpreted_check_is_the_compiled_one(many: list[Points]) -> None:
    """So does the check of the form."""
    arrays = arrays_of(many)
    compiled, interpreted = np.zeros(len(many), np.int64), np.zeros(len(many), np.int64)
    utility_functions._find_faults(*arrays, compiled)
    utility_functions._find_faults.py_func(*arrays, interpreted)
    assert compiled.tolist() == interpreted.tolist()


# Arrow


@given(st.lists(functions(), max_size=5))
def test_arrow_and_back(many: list[Points]) -> None:
    """The published column holds the functions exactly; null is a missing one."""
    column = UtilityFunctions.from_points(many).to_arrow()
    assert UTILITY == column.type
    as_points = [[(p["time"], p["value"]) for p in row] if row else [] for row in column.to_pylist()]
    assert many == as_points
    assert [not points for points in many] == column.is_null().to_pylist()
    back = UtilityFunctions.from_arrow(column)
    assert [list(zip(*back[i], strict=True)) for i in range(len(back))] == many


MANY: list[Points] = [[(0, 8), (8, 0)], [], FIGURE]


@pytest.mark.parametrize(
    "hold",
    [
        lambda column: column,
        lambda column: pa.chunked_array([column[:1], column[1:]]),
        lambda column: pa.concat_arrays([column, column])[2:5].take(pa.array([1, 2, 0])),
        lambda column: pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))),
        lambda column: pd.arrays.ArrowExtensionArray(pa.chunked_array([column])),
        lambda column: pa.table({"utility": column}).to_pandas()["utility"],
        lambda column: pl.from_arrow(column).to_arrow(),
        lambda column: column.to_pylist(),
    ],
    ids=["array", "chunks", "slice", "series", "extension", "pandas objects", "polars", "list"],
)
def test_from_arrow_takes_every_holder(hold: Any) -> None:
    """Pyarrow, pandas and polars may hold the column."""
    back = UtilityFunctions.from_arrow(hold(UtilityFunctions.from_points(MANY).to_arrow()))
    assert MANY == [list(zip(*back[i], strict=True)) for i in range(3)]


@pytest.mark.parametrize(
    "column",
    [[1.5], ["a"], [[1, 2]], [[{"time": 0}]], [[{"time": 0.0, "value": 1.0}, {"time": None, "value": 0.0}]], 7],
)
def test_from_arrow_refuses_other_columns(column: Any) -> None:
    """What is no list of times and values is told."""
    with pytest.raises(UtilityError, match="no column of list<"):
        UtilityFunctions.from_arrow(column)


def test_from_arrow_checks_the_form() -> None:
    """A published column is validated on reading."""
    column = pa.array([[{"time": 0.0, "value": 1.0}, {"time": 1.0, "value": 2.0}]], UTILITY)
    with pytest.raises(UtilityError, match="utility function 0 has values that increase"):
        UtilityFunctions.from_arrow(column)


def test_indexing() -> None:
    """A function is got by its index, also from the end; beyond there is none."""
    many = UtilityFunctions.from_points(MANY)
    assert [0, 8] == many[0][0].tolist()
    assert FIGURE == list(zip(*many[-1], strict=True))
    assert [] == many[1][0].tolist()
    for index in (3, -4):
        with pytest.raises(IndexError):
            many[index]
