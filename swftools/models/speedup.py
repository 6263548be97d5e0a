# SPDX-License-Identifier: BSD-3-Clause
"""Speedup curves of moldable jobs: how fast a job runs on n processors, and which width is its working set.

Two forms: Downey's, with the average parallelism A and its variation sigma, and the simple one of Barsanti and
Sodan, from the width alone. ``swftools.models.moldability`` draws a curve for each job of a trace; ``run_time``,
``efficiency`` and ``processor_working_set`` read the columns that it makes. The compiled functions of single
numbers (``downey_speedup_at`` and so on) are for compiled loops and check nothing.

References
----------
Downey 1997, "A model for speedup of parallel programs", UC Berkeley CSD-97-933.
Barsanti and Sodan 2006, "Adaptive job scheduling via predictive job resource allocation", section 4.6 and table 1.
Cirne and Berman 2001, "A model for moldable supercomputer jobs", for whole seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import in_one_order, in_order_of
from swftools.errors import ParameterError
from swftools.kernel import kernel

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

CURVES = ("downey", "simple")
NO_CURVE, DOWNEY, SIMPLE = -1, 0, 1

EFFICIENCIES = (0.8, 0.65, 0.4)
"""Efficiency of the simple curve at half, one and two optimal widths."""

_AT_HALF, _AT_OPTIMUM, _AT_DOUBLE = 0.5 * EFFICIENCIES[0], 1.0 * EFFICIENCIES[1], 2.0 * EFFICIENCIES[2]
_CHUNK = 1 << 16


def downey_speedup(n: npt.ArrayLike, a: npt.ArrayLike, sigma: npt.ArrayLike) -> FloatArray:
    """Return Downey's speedup S(n).

    Parameters
    ----------
    n : array_like
        Processors, at least 1; need not be whole.
    a, sigma : array_like
        Average parallelism A, at least 1, the largest speedup; its variation, at least 0 (with 0, S = min(n, A)).

    Returns
    -------
    numpy.ndarray of float64
        In the shape to which n, a and sigma broadcast; a number if all are.

    Raises
    ------
    ParameterError
        A value is missing, infinite or outside its domain (the message names the first); shapes do not broadcast.

    Notes
    -----
    For sigma <= 1: A n / (A + sigma (n - 1) / 2) up to n = A, A n / (sigma (A - 1/2) + n (1 - sigma/2)) up to
    2A - 1. For sigma >= 1: n A (sigma + 1) / (sigma (n + A - 1) + A) up to A + A sigma - sigma. Then A.

    References
    ----------
    Downey 1997, low-variance and high-variance model.

    Examples
    --------
    >>> downey_speedup([1, 4, 19, 100], 10, 1).round(3).tolist()
    [1.0, 3.478, 10.0, 10.0]
    """
    n, a, sigma = in_one_order(n=n, a=a, sigma=sigma)
    widths, curve = _checked("n", n, 1), np.array(DOWNEY)
    return _broadcast(_speedups, n=widths, curve=curve, a=_checked("a", a, 1), sigma=_checked("sigma", sigma, 0))


def downey_maximum_processors(a: npt.ArrayLike, sigma: npt.ArrayLike) -> IntArray:
    """Return the largest useful width under Downey's speedup, from which on S(n) = A (for sigma = 0 already from A on).

    Parameters
    ----------
    a, sigma : array_like
        As for ``downey_speedup``.

    Returns
    -------
    numpy.ndarray of int64
        ceil(2A - 1) for sigma <= 1, else ceil(A + A sigma - sigma).

    Raises
    ------
    ParameterError
        As for ``downey_speedup``; or a width has more than 53 bits.

    Examples
    --------
    >>> downey_maximum_processors([10, 3.7, 10], [0.5, 1, 2]).tolist()
    [19, 7, 28]
    """
    a, sigma = in_one_order(a=a, sigma=sigma)
    return _whole(_broadcast(downey_maximum_at, a=_checked("a", a, 1), sigma=_checked("sigma", sigma, 0)))


def downey_working_set(a: npt.ArrayLike, sigma: npt.ArrayLike) -> IntArray:
    """Return the processor working set under Downey's speedup: the width with the least run time / efficiency.

    Parameters
    ----------
    a, sigma : array_like
        As for ``downey_speedup``.

    Returns
    -------
    numpy.ndarray of int64
        Of equally good widths the smallest.

    Raises
    ------
    ParameterError
        As for ``downey_speedup``; or a width has more than 53 bits.

    Notes
    -----
    Run time / efficiency is n / S(n)^2 up to a factor. It falls up to a real n, then rises. For sigma <= 1 this n
    is sigma (2A - 1) / (2 - sigma), but no less than A and no more than 2A - 1; for sigma >= 1 it is
    A/sigma + A - 1, but no less than 1. The answer is one of the two whole numbers around it.

    References
    ----------
    Barsanti and Sodan 2006, section 4.6, for what is minimised; the closed form is derived here.

    Examples
    --------
    >>> downey_working_set(10, [0, 0.8, 1, 2]).tolist()
    [10, 13, 19, 14]
    """
    a, sigma = in_one_order(a=a, sigma=sigma)
    return _whole(_broadcast(_downey_working_sets, a=_checked("a", a, 1), sigma=_checked("sigma", sigma, 0)))


def simple_speedup(n: npt.ArrayLike, optimal: npt.ArrayLike) -> FloatArray:
    """Return the speedup of the simple curve, linear between half, one and two optimal widths.

    Parameters
    ----------
    n, optimal : array_like
        Processors, and the job's optimal width N; at least 1.

    Returns
    -------
    numpy.ndarray of float64
        0.8 N/2 at N/2, 0.65 N at N, 0.4 * 2N at 2N and beyond; NaN below N/2, where the job cannot run.

    Raises
    ------
    ParameterError
        As for ``downey_speedup``.

    Notes
    -----
    Only its ratios have a meaning: for N = 1 the paper's own numbers give S(1) = 0.65.

    References
    ----------
    Barsanti and Sodan 2006, section 4.6 and table 1. **Differs from the paper**: the breakpoints stay N/2, N, 2N
    where the machine is smaller than 2N; efficiency 0.4 at a maximum cut by the machine, as printed, could make a
    job slower on more processors. Table 1 has the ratios of run times inverted; speedup is n x efficiency here.

    Examples
    --------
    >>> simple_speedup([4, 8, 12, 16, 32], 8).round(6).tolist()
    [3.2, 5.2, 5.8, 6.4, 6.4]
    """
    n, optimal = in_one_order(n=n, optimal=optimal)
    widths, curve = _checked("n", n, 1), np.array(SIMPLE)
    return _broadcast(_speedups, n=widths, curve=curve, optimal=_checked("optimal", optimal, 1), sigma=np.array(0))


def run_time(n: npt.ArrayLike, columns: pd.DataFrame, *, whole_seconds: bool = False) -> FloatArray:
    """Return the run time of each job on n processors, s, by its published curve.

    Parameters
    ----------
    n : array_like
        Processors, at least 1; missing gives NaN. One number holds for all jobs; shape (jobs,) gives each job its own
        width; shape (jobs, k) gives each k widths; shape (1, k) gives all the same k widths.
    columns : pandas.DataFrame
        One row for each job, in any order: speedup_curve, downey_a, downey_sigma, width, run_time, sequential_run_time.
    whole_seconds : bool
        Round first the sequential time, then the result up to whole seconds, to at least 1 s, like the program of Cirne
        and Berman. On its own width a job may then take up to 2 s more than logged.

    Returns
    -------
    numpy.ndarray of float64, shape (jobs,) or (jobs, k)
        sequential_run_time / S(n). NaN if the run time is missing, and for n below half the width on a simple
        curve. A rigid job, which has no curve, has run_time if n is its width, else NaN. The bounds and the constraint
        of a job are ignored.

    Raises
    ------
    ParameterError
        A column is missing, or a value outside its domain; n has another shape.

    Examples
    --------
    >>> columns = pd.DataFrame({"speedup_curve": ["simple", None], "downey_a": np.nan, "downey_sigma": np.nan,
    ...                         "width": [8, 8], "run_time": [100, 100], "sequential_run_time": [520, np.nan]})
    >>> run_time([[4, 8, 16]], columns).round(6).tolist()
    [[162.5, 100.0, 81.25], [nan, 100.0, nan]]
    """
    widths, curves = _widths(in_order_of(columns.index, n, "n"), len(columns)), _curves(columns)
    names = ("run_time", "sequential_run_time")
    own, sequential = (_checked(name, _column(columns, name), 0, missing=True) for name in names)
    times = _of_jobs(widths, curves)
    if whole_seconds:
        own, sequential = np.maximum(np.ceil(own), 1), np.ceil(sequential)
    np.divide(sequential[:, None], times, out=times)
    if whole_seconds:
        np.maximum(np.ceil(times, out=times), 1, out=times)
    rigid = curves.curve == NO_CURVE
    at_width = np.broadcast_to(widths, times.shape)[rigid] == curves.width[rigid, None]
    times[rigid] = np.where(at_width, own[rigid, None], np.nan)
    return times if np.ndim(n) == 2 else times[:, 0]


def efficiency(n: npt.ArrayLike, columns: pd.DataFrame) -> FloatArray:
    """Return the efficiency S(n) / n of each job on n processors, by its published curve.

    Parameters, shape and errors are those of ``run_time``, without the columns of times. NaN if the job has no
    curve, and for n below half the width on a simple curve.

    Examples
    --------
    >>> columns = pd.DataFrame({"speedup_curve": ["simple"], "downey_a": np.nan, "downey_sigma": np.nan, "width": 8})
    >>> efficiency([[4, 8, 16]], columns).round(6).tolist()
    [[0.8, 0.65, 0.4]]
    """
    widths = _widths(in_order_of(columns.index, n, "n"), len(columns))
    result = _of_jobs(widths, _curves(columns)) / widths
    return result if np.ndim(n) == 2 else result[:, 0]


def processor_working_set(columns: pd.DataFrame) -> FloatArray:
    """Return the width of each job with the least run time / efficiency, of all whole widths.

    That is ``downey_working_set``, or the job's width if its curve is simple or it has none; NaN without a width.
    Columns and errors are those of ``efficiency``. The published ``optimal_processors`` is the best of those widths
    that the job may have.
    """
    curves = _curves(columns)
    best, downey = curves.width.copy(), curves.curve == DOWNEY
    best[downey] = downey_working_set(curves.scale[downey], curves.sigma[downey])
    return best


class _Curves(NamedTuple):
    """Curves of jobs: the kind, what it scales with (A, or the width), sigma; and the width."""

    curve: IntArray
    scale: FloatArray
    sigma: FloatArray
    width: FloatArray


def _curves(columns: pd.DataFrame) -> _Curves:
    """Return the curves of published columns, or raise because of a column or value."""
    names = _column(columns, "speedup_curve")
    curve = np.full(len(names), NO_CURVE)
    for code, name in enumerate(CURVES):
        curve[(names == name).fillna(value=False).to_numpy(dtype=bool)] = code
    if (unknown := (curve == NO_CURVE) & names.notna().to_numpy(dtype=bool)).any():
        raise ParameterError(
            f"speedup: {names[unknown].iloc[0]!r} is not a speedup_curve; there are {', '.join(CURVES)}"
        )
    a = _checked("downey_a", _column(columns, "downey_a"), 1, missing=curve != DOWNEY)
    sigma = _checked("downey_sigma", _column(columns, "downey_sigma"), 0, missing=curve != DOWNEY)
    width = _checked("width", _column(columns, "width"), 1, missing=curve != SIMPLE)
    return _Curves(curve, np.where(curve == DOWNEY, a, width), sigma, width)


def _column(columns: pd.DataFrame, name: str) -> pd.Series[Any]:
    """Return a column, or raise."""
    if name not in columns:
        raise ParameterError(f"speedup: no column {name!r}; join the columns of generate_speedup to the jobs")
    return columns[name]


def _of_jobs(widths: FloatArray, curves: _Curves) -> FloatArray:
    """Return the speedup of jobs, shape (jobs, k); widths have shape (1 or jobs, k)."""
    per_job = {"curve": curves.curve[:, None], "scale": curves.scale[:, None], "sigma": curves.sigma[:, None]}
    return _broadcast(_speedups, n=widths, **per_job)


def _widths(n: npt.ArrayLike, jobs: int) -> FloatArray:
    """Return widths in two dimensions, (1 or jobs, k), those missing as NaN, or raise."""
    widths = _checked("n", n, 1, missing=True)
    if widths.shape[:1] not in ([(), (jobs,)] if widths.ndim < 2 else [(1,), (jobs,)]) or widths.ndim > 2:
        allowed = f"(), ({jobs},), ({jobs}, k), and (1, k) for the same k widths for all"
        raise ParameterError(f"speedup: n has the shape {widths.shape}; there are {allowed}")
    return widths if widths.ndim == 2 else widths.reshape(-1, 1)


def _checked(
    name: str, values: npt.ArrayLike, least: float, missing: bool | npt.NDArray[np.bool_] = False
) -> FloatArray:
    """Return numbers as float64, those missing as NaN, or raise because of the first outside the domain."""
    try:
        is_pandas = isinstance(values, pd.Series | pd.api.extensions.ExtensionArray)
        numbers = values.to_numpy(np.float64, na_value=np.nan) if is_pandas else np.asarray(values, np.float64)  # type: ignore[union-attr]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"speedup: {name} is not numbers: {error}") from error
    right = ((numbers >= least) & (numbers < np.inf)) | (np.isnan(numbers) & missing)
    if not right.all():
        place = np.unravel_index(np.argmin(right), right.shape)
        where = f"[{', '.join(map(str, place))}]" if place else ""
        raise ParameterError(f"speedup: {name}{where}={numbers[place]:g} is not a finite number of at least {least:g}")
    return numbers


def _broadcast(kernel: Callable[..., FloatArray], **operands: npt.NDArray[Any]) -> FloatArray:
    """Return what a kernel of one-dimensional arrays gives on operands broadcast, in little more than its memory."""
    arrays = [*operands.values(), None]
    flags: Any = [*[["readonly", "contig"]] * len(operands), ["writeonly", "allocate", "contig"]]
    how: dict[str, Any] = {"op_dtypes": [np.float64] * len(arrays), "order": "C", "buffersize": _CHUNK}
    try:
        loop = np.nditer(arrays, ["external_loop", "buffered", "zerosize_ok"], flags, **how)
    except ValueError as error:
        shapes = ", ".join(f"{name} {values.shape}" for name, values in operands.items())
        raise ParameterError(f"speedup: shapes do not broadcast: {shapes}") from error
    with loop:
        for *chunk, out in loop:
            out[:] = kernel(*chunk)
        result: FloatArray = loop.operands[-1][()]
    return result


def _whole(widths: FloatArray) -> IntArray:
    """Return widths as integers, or raise because of one that float64 does not hold."""
    if (widths >= 2.0**53).any():
        raise ParameterError("speedup: a width has more than 53 bits; give a smaller a or sigma")
    return widths.astype(np.int64)


@kernel
def _speedups(n: FloatArray, curve: IntArray, scale: FloatArray, sigma: FloatArray) -> FloatArray:
    """Return the speedup on each curve; NaN where there is none."""
    out = np.full(len(n), np.nan)
    for i in range(len(n)):
        if curve[i] == DOWNEY:
            out[i] = downey_speedup_at(n[i], scale[i], sigma[i])
        elif curve[i] == SIMPLE:
            out[i] = simple_speedup_at(n[i], scale[i])
    return out


@kernel
def _downey_working_sets(a: FloatArray, sigma: FloatArray) -> FloatArray:
    """Return working sets: the better of the two whole widths around the real one."""
    out = np.empty(len(a))
    for i in range(len(a)):
        low = np.floor(downey_optimum_at(a[i], sigma[i]))
        slow, fast = downey_speedup_at(low, a[i], sigma[i]), downey_speedup_at(low + 1.0, a[i], sigma[i])
        out[i] = low if low / slow**2 <= (low + 1.0) / fast**2 else low + 1.0
    return out


@kernel(allocates=False)
def downey_speedup_at(n: float | np.int64, a: float, sigma: float) -> float:
    """Return Downey's S(n) in a form that is exact for n = 1, where it is 1, and for sigma = 0, min(n, A)."""
    if n >= a + max(sigma, 1.0) * (a - 1.0):
        return a
    if sigma >= 1.0:
        return min(n / (1.0 + sigma / (1.0 + sigma) * (n - 1.0) / a), a)
    if n <= a:
        return min(n / (1.0 + sigma / 2.0 * (n - 1.0) / a), a)
    return min(a / (1.0 + sigma * ((a - 0.5) / n - 0.5)), a)


@kernel
def downey_maximum_at(a: Any, sigma: Any) -> Any:
    """Return the largest useful width, a whole number as float; takes arrays too."""
    return np.ceil(a + np.maximum(sigma, 1.0) * (a - 1.0))


@kernel
def downey_optimum_at(a: float, sigma: float) -> float:
    """Return the real n at which n / S(n)^2 is least; it falls before and rises after."""
    if sigma >= 1.0:
        return max(a / sigma + a - 1.0, 1.0)
    return min(max(sigma * (2.0 * a - 1.0) / (2.0 - sigma), a), 2.0 * a - 1.0)


@kernel(allocates=False)
def simple_speedup_at(n: float | np.int64, optimal: float | np.int64) -> float:
    """Return the simple curve's S(n); NaN below half the optimal width."""
    x = n / optimal
    if x < 0.5:
        return np.nan
    if x <= 1.0:
        return optimal * (_AT_HALF + (2.0 * x - 1.0) * (_AT_OPTIMUM - _AT_HALF))
    return optimal * (_AT_OPTIMUM + (min(x, 2.0) - 1.0) * (_AT_DOUBLE - _AT_OPTIMUM))
