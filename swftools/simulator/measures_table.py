# SPDX-License-Identifier: BSD-3-Clause
"""The table of ``measure``, and what people look at first in it: wide, or as the dozen numbers of ``summary``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import duration
from swftools.simulator.measure_definitions import MEASURES

KEYS = ["policy", "classed_by", "job_class"]

USUAL = (
    ("wait", "mean"),
    ("wait", "p98"),
    ("wait", "max"),
    ("turnaround", "mean"),
    ("bounded_slowdown", "mean"),
    ("bounded_slowdown", "mean_by_processors"),
    ("utility", "total"),
    ("utilization", "time_mean"),
    ("wasted_load", "value"),
    ("makespan", "value"),
)
"""What ``summarize`` shows if not told: pairs of measure and statistic."""

SYNTHETIC = ("utility",)
"""Measures of what is made up; they are printed if they are asked for, and said to be so."""

SUMMARY = {
    ("wait", "mean"): "mean wait",
    ("wait", "p50"): "median wait",
    ("wait", "max"): "longest wait",
    ("turnaround", "mean"): "mean turnaround",
    ("bounded_slowdown", "mean"): "mean bounded slowdown",
    ("is_backfilled", "mean"): "backfilled jobs",
    ("utilization", "time_mean"): "utilization",
    ("offered_load", "value"): "offered load",
    ("makespan", "value"): "makespan",
    ("queue_length", "time_mean"): "mean queue length",
    ("queue_length", "max"): "longest queue",
    ("excluded_jobs", "count"): "excluded jobs",
}
"""What ``Measures.summary`` shows: pairs of measure and statistic, and what they are called there."""

SUMMARY_OF_NODES = {
    ("node_utilization", "time_mean"): "nodes in use",
    ("memory_utilization", "time_mean"): "memory in use",
    ("gpu_utilization", "time_mean"): "GPUs in use",
    ("fragmentation", "time_mean"): "fragmentation",
}
"""What it shows of a machine of nodes beside."""

SUMMARY_OF_OUTAGES = {
    ("away", "time_mean"): "away",
    ("available_utilization", "time_mean"): "utilization of what is there",
}
"""What it shows of one whose nodes are away at times."""

_SHARES = (
    *("is_backfilled", "utilization", "offered_load"),
    *(name for name, _ in (*SUMMARY_OF_NODES, *SUMMARY_OF_OUTAGES)),
)
_NEEDED = frozenset({*KEYS, "measure", "statistic", "value"})


class Measures(pd.DataFrame):
    """The table of ``measure``: a DataFrame with a summary.

    What pandas makes of it is one too as long as it has the columns that a summary needs, such as some of its rows, or
    several of them put one below the other by ``pandas.concat``; else it is a plain DataFrame.
    """

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return _measures_or_frame

    def summary(self) -> pd.DataFrame:
        """Return the dozen numbers that people look at first, one below the other, to two decimals; printed shorter.

        Returns
        -------
        pandas.DataFrame
            Index figure: its name in words (``SUMMARY``, and behind it on machines of nodes ``SUMMARY_OF_NODES``, and
            ``SUMMARY_OF_OUTAGES`` where nodes are away).
            Columns unit, and one for each policy, of tables by class for each policy and class. Shares are in percent.
            Missing where the schedule has no such number; the figures of the machine where jobs were classed; the
            median wait where ``percentiles`` lacks 50.

        Raises
        ------
        ParameterError
            Columns of ``measure`` are no longer there, a policy and class has a measure twice, or a policy is called
            "unit".

        Notes
        -----
        Mean, median and longest wait, as means alone hide that most jobs wait little and few wait long; turnaround and
        bounded slowdown, by which papers compare policies; the share that was backfilled, which says how the policy
        worked. Utilization beside the offered load, which it cannot exceed for long; the makespan, which tells
        whether the rest was done later. The queue, in which too high a load shows first, and the excluded jobs, which
        must be equal where schedules are compared.

        Examples
        --------
        >>> rows = [("easy", "wait", "mean", 5.0), ("easy", "utilization", "time_mean", 0.5)]
        >>> table = pd.DataFrame(rows, columns=["policy", "measure", "statistic", "value"])
        >>> Measures(table.assign(classed_by="all", job_class="all")).summary().dropna().reset_index()
                figure unit easy
        0    mean wait    s    5
        1  utilization    %   50
        """
        if lacking := sorted(_NEEDED - set(self.columns)):
            raise ParameterError(f"a summary needs the columns of measure; {', '.join(lacking)} lack")
        shown = SUMMARY
        for behind in (SUMMARY_OF_NODES, SUMMARY_OF_OUTAGES):
            if self["measure"].isin([next(iter(behind))[0]]).any():
                shown = shown | behind
        wide = summarize(self, list(shown))
        names = [
            str(policy) if classed == "all" else f"{policy}, {job_class}"
            for policy, classed, job_class in wide[KEYS].itertuples(index=False, name=None)
        ]
        if "unit" in names:
            raise ParameterError(
                "a policy called 'unit' has the name of the column of units; give its run another label"
            )
        factor = np.array([100.0 if name in _SHARES else 1.0 for name, _ in shown])
        units = ["%" if name in _SHARES else MEASURES[name].unit for name, _ in shown]
        columns: dict[str, Any] = {"unit": units}
        for name, values in zip(names, wide.drop(columns=KEYS).to_numpy(dtype=np.float64), strict=True):
            columns[name] = (values * factor).round(2)
        return Summary(columns, index=pd.Index(list(shown.values()), name="figure", dtype="str"))


class Summary(pd.DataFrame):
    """A table of numbers of very different sizes, printed with as many digits as people read; it holds them all.

    Rows whose unit is s are printed in the unit in which people tell the longest time of the row.

    Examples
    --------
    >>> Summary({"easy": [104743.0, 29.19, 0.5, 12.0]})
         easy
    0 104,743
    1    29.2
    2     0.5
    3      12
    >>> Summary({"unit": ["s", "jobs"], "easy": [5126.0, 3.0], "fcfs": [46224.0, float("nan")]})
       unit  easy  fcfs
    0     h  1.42  12.8
    1  jobs     3   NaN
    """

    @property
    def _constructor(self) -> type[Summary]:
        return Summary

    def __repr__(self) -> str:
        with pd.option_context("display.float_format", _few_digits):
            return repr(self._for_people())

    def _repr_html_(self) -> str | None:
        with pd.option_context("display.float_format", _few_digits):
            html: str | None = self._for_people()._repr_html_()  # type: ignore[operator]
        return html

    def _for_people(self) -> pd.DataFrame:
        """Return a plain table of it, in which times are in a unit that people use."""
        plain = pd.DataFrame(self)
        if "unit" not in plain or not plain.columns.is_unique:
            return plain
        told = plain.astype(object)
        unit = list(told).index("unit")
        for row in np.flatnonzero(plain["unit"] == "s").tolist():
            times = {place: time for place, time in enumerate(told.iloc[row]) if _is_known(time)}
            longest = max(map(abs, times.values()), default=0.0)
            for place, time in times.items():
                told.iat[row, place], told.iat[row, unit] = duration(float(time), longest).split(" ")
        return told


def _is_known(value: object) -> TypeGuard[float]:
    """Whether a value of a table is a number that is not missing."""
    return isinstance(value, Real) and not math.isnan(value)


def _few_digits(value: float) -> str:
    """Return a number with three digits, or all of its whole part."""
    if abs(value) >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _measures_or_frame(*given: Any, **named: Any) -> pd.DataFrame:
    """Return what pandas makes of a table: Measures if its columns are all there."""
    frame = pd.DataFrame(*given, **named)
    return Measures(frame) if set(frame.columns) >= _NEEDED else frame


def usual_by_seed(comparison: pd.DataFrame, *, synthetic: bool = False) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the usual measures of a comparison, and the unit of each by the name of its column.

    Parameters
    ----------
    comparison : pandas.DataFrame
        Rows of ``measure`` for several policies and seeds, with a column ``seed``.
    synthetic : bool
        Also measures of what is made up.

    Returns
    -------
    pandas.DataFrame
        One row for each policy and seed; the columns are those of ``summarize``.
    dict of str to str
        Of the measures that the comparison has, in order.
    """
    columns = usual_columns(synthetic=synthetic)
    wide = _wide(comparison, list(columns), [*KEYS, "seed"]).sort_values("seed", kind="stable", ignore_index=True)
    wide = wide[[*(name for name in wide if name != "seed"), "seed"]]
    units = comparison.drop_duplicates(["measure", "statistic"]).set_index(["measure", "statistic"])["unit"]
    return wide, {name: units.loc[pair] for pair, name in columns.items() if pair in units.index}


def waits_of_groups(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Return the mean waits of the groups of one grouping, a row a group and a column a policy; and their jobs.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of ``measure`` by that grouping for several policies; of several seeds the mean is taken.
    """
    waits = rows[(rows["measure"] == "wait") & (rows["statistic"] == "mean")]
    found = waits.pivot_table("value", "job_class", "policy", aggfunc="mean", sort=False, observed=True)
    return found, waits.drop_duplicates("job_class").set_index("job_class")["jobs"].loc[found.index]


def usual_columns(*, synthetic: bool = False) -> dict[tuple[str, str], str]:
    """Return the usual measures as pairs of measure and statistic, with the name of each as a column."""
    return {pair: _column(*pair) for pair in USUAL if synthetic or pair[0] not in SYNTHETIC}


def _column(measure: str, statistic: str) -> str:
    """Return the name of a measure and statistic as a column of a wide table."""
    return measure if statistic == "value" else f"{measure}_{statistic}"


def summarize(metrics: pd.DataFrame, choose: Sequence[tuple[str, str]] = USUAL) -> pd.DataFrame:
    """Make a wide table of some measures: a row for each policy and class.

    Parameters
    ----------
    metrics : pandas.DataFrame
        A table of ``measure``; or several, of policies to compare, put one below the other by ``pandas.concat``.
    choose : sequence of (measure, statistic)
        Columns, in order.

    Returns
    -------
    pandas.DataFrame
        Columns policy, classed_by, job_class, and ``measure_statistic`` for each chosen pair (only ``measure`` if the
        statistic is "value"), in the order of the rows of ``metrics``. A value is missing if it is missing in
        ``metrics``, or there is no such row.

    Raises
    ------
    ParameterError
        A policy and class has a measure twice: two runs, or other parameters, have the same label.

    Examples
    --------
    >>> rows = [("easy", "wait", "mean", 5.0), ("easy", "makespan", "value", 90.0), ("fcfs", "wait", "mean", 7.0)]
    >>> metrics = pd.DataFrame(rows, columns=["policy", "measure", "statistic", "value"])
    >>> metrics = metrics.assign(classed_by="all", job_class="all")
    >>> summarize(metrics, [("wait", "mean"), ("makespan", "value")])
      policy classed_by job_class  wait_mean  makespan
    0   easy        all       all        5.0      90.0
    1   fcfs        all       all        7.0       NaN
    """
    return _wide(metrics, choose, KEYS)


def _wide(metrics: pd.DataFrame, choose: Sequence[tuple[str, str]], keys: list[str]) -> pd.DataFrame:
    """Return a row for each run, told by some keys, and a column for each pair of measure and statistic."""
    runs = metrics[keys].drop_duplicates(ignore_index=True)
    of_run = metrics.groupby(keys, sort=False, dropna=False, observed=True).ngroup().to_numpy()
    pairs = pd.MultiIndex.from_arrays([metrics[name].astype("object") for name in ("measure", "statistic")])
    column = pd.MultiIndex.from_tuples(choose).get_indexer(pairs)
    rows = np.flatnonzero(column >= 0)
    place = of_run[rows] * len(choose) + column[rows]
    if (twice := pd.Index(place).duplicated()).any():
        first = rows[twice][np.argmin(column[rows[twice]])]
        name, statistic = choose[column[first]]
        who = metrics["policy"].iloc[first]
        raise ParameterError(f"{name}, {statistic} occurs twice for {who!r}; give each run a label of its own")
    values = np.full(len(runs) * len(choose), np.nan)
    values[place] = metrics["value"].iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    wide = pd.DataFrame(values.reshape(len(runs), len(choose)), columns=[_column(*pair) for pair in choose])
    return pd.concat([runs, wide], axis=1)
