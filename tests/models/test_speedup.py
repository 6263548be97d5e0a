# SPDX-License-Identifier: BSD-3-Clause
"""Speedup curves: equal to slow twins and to published tables, continuous, and optimal where they should be."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.models import speedup
from swftools.models.speedup import (
    downey_maximum_processors,
    downey_speedup,
    downey_working_set,
    efficiency,
    processor_working_set,
    run_time,
    simple_speedup,
)
from tests.naive.speedup import (
    CONSTANTS,
    REFERENCE,
    naive_downey,
    naive_downey_by_profile,
    naive_simple,
    naive_working_set,
)

parallelism = st.floats(1, 3000) | st.sampled_from([1.0, 1.5, 2.0, 64.0, math.nextafter(1, 2)])
variation = st.floats(0, 8) | st.sampled_from([0.0, 1.0, 2.0, math.nextafter(1, 0), math.nextafter(1, 2), 1e9])
widths = st.integers(1, 7000)


def columns_of(**columns: Any) -> pd.DataFrame:
    """Return published columns of jobs of 8 processors that ran 100 s, unless told otherwise."""
    usual = {"speedup_curve": None, "downey_a": np.nan, "downey_sigma": np.nan, "width": 8, "run_time": 100.0}
    whole = {**usual, "sequential_run_time": np.nan, **columns}
    count = next((len(column) for column in columns.values() if isinstance(column, list)), 1)
    return pd.DataFrame({name: value if isinstance(value, list) else [value] * count for name, value in whole.items()})


MIXED = columns_of(
    speedup_curve=["downey", "simple", None, "downey"],
    downey_a=[10.0, np.nan, np.nan, 5.0],
    downey_sigma=[1.0, np.nan, np.nan, 0.0],
    sequential_run_time=[1000.0, 520.0, np.nan, np.nan],
    run_time=[100.0, 100.0, 100.0, np.nan],
)


# Downey's curve


@pytest.mark.parametrize("name", REFERENCE["downey_speedup"])
def test_published_curve(name: str) -> None:
    """The table of speedups of an independent program."""
    a, sigma = (float(part.split("=")[1]) for part in name.split(","))
    table = REFERENCE["downey_speedup"][name]
    np.testing.assert_allclose(downey_speedup([float(n) for n in table], a, sigma), list(table.values()), rtol=1e-14)


@given(widths, parallelism, variation)
def test_downey_is_the_slow_twin(n: int, a: float, sigma: float) -> None:
    """The form that is computed equals the published one."""
    assert naive_downey(n, a, sigma) == pytest.approx(downey_speedup(n, a, sigma), rel=1e-12)


@given(parallelism, variation, st.floats(0, 1))
def test_downey_follows_from_the_profiles(a: float, sigma: float, place: float) -> None:
    """Up to A, and for high variance anywhere, speedup is that of a program with Downey's profile of parallelism."""
    n = 1 + place * ((a if sigma <= 1 else a + sigma * (a - 1)) - 1)
    assert naive_downey_by_profile(n, a, sigma) == pytest.approx(downey_speedup(n, a, sigma), rel=1e-9)


@given(parallelism, variation)
def test_ends_of_downey(a: float, sigma: float) -> None:
    """S(1) = 1; S = A from the largest useful width on, and less on one processor less."""
    most = downey_maximum_processors(a, sigma)
    assert 1 == downey_speedup(1, a, sigma)
    assert [a, a, a] == downey_speedup([most, most + 1, 10 * most], a, sigma).tolist()
    assert most == math.ceil(2 * a - 1) if sigma <= 1 else most == pytest.approx(a + a * sigma - sigma, abs=1, rel=1e-9)
    if 1 < most < 1e6 and a > 1.001 and sigma > 0.001:
        assert downey_speedup(most - 1, a, sigma) < a


@given(parallelism, variation, st.lists(st.floats(1, 10_000), min_size=2))
def test_downey_rises_and_efficiency_falls(a: float, sigma: float, places: list[float]) -> None:
    """More processors are never slower and never more efficient; speedup is from 1 to min(n, A)."""
    n = np.sort(places)
    speedups = downey_speedup(n, a, sigma)
    assert (np.diff(speedups) >= -1e-12 * a).all()
    assert (np.diff(speedups / n) <= 1e-12).all()
    assert ((speedups >= 1) & (speedups <= np.minimum(n, a))).all()


@given(parallelism, variation)
def test_downey_is_continuous(a: float, sigma: float) -> None:
    """On both sides of every breakpoint the curve has one value."""
    for place in (a, 2 * a - 1, a + a * sigma - sigma):
        before, after = math.nextafter(place, 0), math.nextafter(place, math.inf)
        if 1 <= before < after < math.inf:
            assert downey_speedup(before, a, sigma) == pytest.approx(downey_speedup(after, a, sigma), rel=1e-9)


@given(st.floats(1, 1e6), parallelism)
def test_branches_agree(n: float, a: float) -> None:
    """At sigma = 1 both variances give the same; at sigma = 0 speedup is min(n, A), without rounding."""
    below, above = math.nextafter(1, 0), math.nextafter(1, 2)
    assert downey_speedup(n, a, below) == pytest.approx(downey_speedup(n, a, above), rel=1e-12)
    assert downey_speedup(n, a, 1) == pytest.approx(downey_speedup(n, a, above), rel=1e-12)
    assert min(n, a) == downey_speedup(n, a, 0)


@given(st.floats(1, 300) | st.sampled_from([1.0, 2.0, 10.0]), st.floats(0, 6) | st.sampled_from([0.0, 1.0, 2.0]))
def test_working_set_by_brute_force(a: float, sigma: float) -> None:
    """No width up to the largest useful one, and one beyond, has less run time / efficiency."""
    ours = int(downey_working_set(a, sigma))
    best = naive_working_set(list(range(1, int(downey_maximum_processors(a, sigma)) + 2)), a, sigma)
    costs = [n / naive_downey(n, a, sigma) ** 2 for n in (ours, best)]
    assert costs[1] == pytest.approx(costs[0], rel=1e-12)
    assert ours <= max(best, 1) or costs[0] < costs[1] * (1 + 1e-12)


def test_working_sets_by_hand() -> None:
    """Linear speedup: A. One parallel part: A/sigma + A - 1 rounded the better way. No parallelism: 1."""
    assert [10, 14, 14, 1, 1, 1] == downey_working_set([10, 10, 10, 1, 1, 1], [0, 2, 2, 0, 1, 5]).tolist()
    assert [13, 19] == downey_working_set(10, [0.8, 1]).tolist()  # 0.8 * 19 / 1.2 = 12.67


# The simple curve


@given(st.floats(1, 1e4), st.integers(1, 5000))
def test_simple_is_the_slow_twin(n: float, optimal: int) -> None:
    """The curve is linear between its points, flat behind, and none before."""
    assert naive_simple(n, optimal) == pytest.approx(simple_speedup(n, optimal), rel=1e-12, nan_ok=True)


def test_simple_has_the_published_efficiencies() -> None:
    """0.8, 0.65 and 0.4 at half, one and two optimal widths."""
    assert list(CONSTANTS["simple_efficiencies"].values()) == list(speedup.EFFICIENCIES)
    np.testing.assert_allclose(simple_speedup([50, 100, 200], 100) / [50, 100, 200], [0.8, 0.65, 0.4], rtol=1e-15)
    assert [0.65, 0.8, 0.8] == simple_speedup([1, 2, 3], 1).tolist()


@pytest.mark.parametrize("optimal", [1, 2, 3, 8, 50, 101])
def test_optimal_width_is_the_working_set(optimal: int) -> None:
    """N minimises run time / efficiency, as the paper requires, among the widths up to any machine."""
    n = np.arange((optimal + 1) // 2, 4 * optimal + 1)
    costs = n / simple_speedup(n, optimal) ** 2
    assert optimal == n[np.argmin(costs)]
    assert (np.diff(simple_speedup(n, optimal)) >= 0).all()


def test_run_times_of_table_1() -> None:
    """Run times relative to N: 0.65 * 2 / 0.8 on N/2, and 0.65 / (2 * 0.4) on 2N: the printed ratios, inverted."""
    times = 1 / simple_speedup([4, 8, 16], 8)
    np.testing.assert_allclose(times / times[1], [0.65 * 2 / 0.8, 1, 0.65 / (2 * 0.4)], rtol=1e-15)


def test_simple_is_not_there_below_half() -> None:
    """Below N/2 the job cannot run; N/2 itself need not be whole."""
    assert [True, False, True, False] == np.isnan(simple_speedup([3, 4, 2, 2], [8, 8, 5, 4])).tolist()
    assert math.isnan(simple_speedup(2, 4.1))


# Shapes, domains, kernels


def test_shapes_are_those_of_numpy() -> None:
    """Arguments broadcast, numbers give a number, and nothing gives nothing."""
    assert () == np.shape(downey_speedup(2, 3, 1))
    assert (4, 3, 2) == downey_speedup(np.ones((4, 1, 1)), np.ones((3, 1)), [1, 2]).shape
    assert (0, 5) == downey_speedup(np.ones(5), np.ones((0, 1)), 1).shape
    assert (2,) == simple_speedup(8, pd.Series([4, 8], dtype="Int64")).shape
    a, sigma, n = np.linspace(1, 90, 300)[:, None], np.linspace(0, 3, 300)[:, None], np.arange(1.0, 400)
    many = downey_speedup(n, a, sigma)  # several chunks
    for row in (0, 150, 299):
        assert [naive_downey(k, a[row, 0], sigma[row, 0]) for k in n] == pytest.approx(many[row].tolist(), rel=1e-12)
    assert many.T.tolist() == downey_speedup(n[:, None], a.T, sigma.T).tolist()
    with pytest.raises(ParameterError, match=r"do not broadcast: n \(3,\), curve \(\), a \(2,\), sigma \(\)"):
        downey_speedup([1, 2, 3], [1, 2], 1)


def test_memory_is_little_more_than_the_result() -> None:
    """Widths and parameters are not spread out over the result."""
    n, a = np.arange(1.0, 33), np.linspace(1, 90, 60_000)
    downey_speedup(1, 1, 1)
    tracemalloc.start()
    result = downey_speedup(n, a[:, None], 0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.nbytes < peak < 1.5 * result.nbytes + 8e6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: downey_speedup([1, 0.5], 2, 1), r"n\[1\]=0.5 is not a finite number of at least 1"),
        (lambda: downey_speedup([[1, math.nan]], 2, 1), r"n\[0, 1\]=nan is not a finite number"),
        (lambda: downey_speedup(math.inf, 2, 1), "n=inf is not a finite number of at least 1"),
        (lambda: downey_speedup(1, 0.99, 1), "a=0.99 is not a finite number of at least 1"),
        (lambda: downey_speedup(1, 1, -0.1), "sigma=-0.1 is not a finite number of at least 0"),
        (lambda: downey_speedup("x", 1, 0), "n is not numbers"),
        (lambda: downey_maximum_processors([2, 0], 1), r"a\[1\]=0 is not"),
        (lambda: downey_maximum_processors(1e16, 1), "more than 53 bits"),
        (lambda: downey_working_set(2, [math.inf]), r"sigma\[0\]=inf is not"),
        (lambda: downey_working_set(1e300, 0), "more than 53 bits"),
        (lambda: simple_speedup(1, 0), "optimal=0 is not a finite number of at least 1"),
        (lambda: run_time([1, 2], MIXED), r"n has the shape \(2,\); there are \(\), \(4,\), \(4, k\), and \(1, k\)"),
        (lambda: run_time([[1], [2]], MIXED), r"n has the shape \(2, 1\)"),
        (lambda: run_time(np.ones((1, 1, 1)), MIXED), r"n has the shape \(1, 1, 1\)"),
        (lambda: run_time([0, 1, 2, 3], MIXED), r"n\[0\]=0 is not"),
        (lambda: run_time(1, MIXED.drop(columns="run_time")), "no column 'run_time'"),
        (lambda: efficiency(1, MIXED.drop(columns="speedup_curve")), "no column 'speedup_curve'"),
        (
            lambda: run_time(1, MIXED.assign(speedup_curve="amdahl")),
            "'amdahl' is not a speedup_curve; there are downey",
        ),
        (lambda: run_time(1, MIXED.assign(downey_a=np.nan)), r"downey_a\[0\]=nan is not a finite number of at least 1"),
        (lambda: run_time(1, MIXED.assign(downey_sigma=-1.0)), r"downey_sigma\[0\]=-1 is not"),
        (lambda: run_time(1, MIXED.assign(width=[1, np.nan, 1, 1])), r"width\[1\]=nan is not"),
        (lambda: run_time(1, MIXED.assign(run_time=-1)), r"run_time\[0\]=-1 is not a finite number of at least 0"),
    ],
)
def test_values_outside_their_domain_are_refused(call: Any, message: str) -> None:
    """One error names what, where, the value and the domain."""
    with pytest.raises(ParameterError, match=message):
        call()


def test_interpreted_kernels_are_the_compiled_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels, interpreted, give the same numbers."""
    a, sigma, n = np.linspace(1, 40, 60)[:, None, None], np.linspace(0, 3, 13)[:, None], np.arange(1.0, 70)

    def results() -> list[np.ndarray[Any, Any]]:
        curves = [downey_speedup(n, a, sigma), simple_speedup(n, a), run_time([[3, 8, 17, np.nan]], MIXED)]
        return [*curves, downey_working_set(a, sigma), downey_maximum_processors(a, sigma)]

    compiled = results()
    names = ("downey_speedup_at", "downey_maximum_at", "downey_optimum_at", "simple_speedup_at")
    for name in (*names, "_speedups", "_downey_working_sets"):
        monkeypatch.setattr(speedup, name, getattr(speedup, name).py_func)
    for ours, theirs in zip(compiled, results(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


# Run times by published columns


def test_run_times_by_hand() -> None:
    """Downey with A = 10 and sigma = 1, simple on 8 processors, rigid on 8, and a job of unknown run time."""
    expected = [
        [1000, 1000 / (16 / 2.7), 100],
        [math.nan, 100, 81.25],
        [math.nan, 100, math.nan],
        [math.nan, math.nan, math.nan],
    ]
    np.testing.assert_allclose(run_time([[1, 8, 20]], MIXED), expected, rtol=1e-14)


def test_efficiencies_by_hand() -> None:
    """Speedup by processors; none for the rigid job, whatever the run time."""
    expected = [[1, 2 / 2.7, 0.5], [math.nan, 0.65, 0.32], [math.nan] * 3, [1, 5 / 8, 0.25]]
    np.testing.assert_allclose(efficiency([[1, 8, 20]], MIXED), expected, rtol=1e-14)


def test_widths_of_all_shapes() -> None:
    """A number, one width for each job, several for each, the same several for all, and missing ones."""
    table = run_time([[4, 8, 9]] * 4, MIXED)
    np.testing.assert_array_equal(table, run_time([[4, 8, 9]], MIXED))
    np.testing.assert_array_equal(table[:, 1], run_time(8, MIXED))
    np.testing.assert_array_equal(table[[0, 1, 2, 3], [0, 1, 2, 0]], run_time([4, 8, 9, 4], MIXED))
    some = run_time(pd.Series([4, None, 8, 8], dtype="Int64"), MIXED)
    assert [False, True, False, True] == np.isnan(some).tolist()
    assert (0,) == run_time(3, MIXED.head(0)).shape
    assert (0, 2) == run_time([[3, 4]], MIXED.head(0)).shape


def test_rows_of_any_order_and_index() -> None:
    """Rows are taken by place, not by index."""
    order = [2, 0, 3, 1]
    shuffled = run_time([[4, 8]], MIXED.iloc[order])
    np.testing.assert_array_equal(run_time([[4, 8]], MIXED)[order], shuffled)


@pytest.mark.parametrize("kind", ["pyarrow", "numpy_nullable"])
def test_columns_of_other_readers(kind: Any) -> None:
    """Columns with nulls of any kind give the same."""
    other = MIXED.convert_dtypes(dtype_backend=kind)
    np.testing.assert_array_equal(run_time([[4, 8]], MIXED), run_time([[4, 8]], other))
    categories = MIXED.astype({"speedup_curve": "category"})
    np.testing.assert_array_equal(run_time([[4, 8]], MIXED), run_time([[4, 8]], categories))


@given(st.floats(0, 1e5), st.floats(1, 100), st.floats(0, 3), st.integers(1, 100), st.integers(1, 100))
def test_whole_seconds(time: float, a: float, sigma: float, width: int, n: int) -> None:
    """The sequential time, and the time on n processors, are rounded up, and at least 1."""
    sequential = time * float(downey_speedup(width, a, sigma))
    kept = max(1, math.ceil(sequential))
    columns = columns_of(speedup_curve="downey", downey_a=a, downey_sigma=sigma, width=width, run_time=time)
    columns["sequential_run_time"] = sequential
    expected = max(1, math.ceil(kept / float(downey_speedup(n, a, sigma))))
    assert [expected] == run_time(n, columns, whole_seconds=True).tolist()
    assert time <= run_time(width, columns, whole_seconds=True)[0] + 1e-9 <= time + 2 + 2e-9
    rigid = columns_of(width=width, run_time=time)
    assert [max(1, math.ceil(time))] == run_time(width, rigid, whole_seconds=True).tolist()


def test_working_sets_by_columns() -> None:
    """Downey's working set, else the width."""
    np.testing.assert_array_equal([19, 8, 8, 5], processor_working_set(MIXED))
    assert np.isnan(processor_working_set(columns_of(width=np.nan))).tolist() == [True]
