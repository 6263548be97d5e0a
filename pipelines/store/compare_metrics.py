# SPDX-License-Identifier: BSD-3-Clause
"""The results of two versions beside one another: means over runs, their spread, and whether they differ by more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.store.compared_tables import ComparedTable, Value

LEVEL = 0.05
"""A difference counts as more than the spread where chance alone would make one as large this often."""

_SAME = 1e-12
"""Means of equal numbers over three and over four runs differ by rounding."""

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """A value of a version: the mean over its runs, None if it has none, and what is known of its spread."""

    mean: float | None
    spread: float | None
    runs: int

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"mean": self.mean, "spread": self.spread, "runs": self.runs}


def compare_metrics(a: pa.Table, b: pa.Table, how: ComparedTable) -> dict[str, Any]:
    """Compare a table of results of two versions.

    Parameters
    ----------
    a, b : pyarrow.Table
        The table of either version.
    how : ComparedTable
        Which of its columns are keys and which values.

    Returns
    -------
    dict
        ``spreads``, by column of values, what the spread is, None for none; ``rows``, of each value that differs
        ``key`` (mapping), ``value`` (column), ``a`` and ``b`` (mean, spread, runs), ``difference`` (b - a; None where
        one is missing), ``p_value``, ``is_beyond_spread`` (None where it cannot be told) and ``is_first``; ``equal``,
        the number of values that do not; ``only_a`` and ``only_b``, the keys that only one of them has.
    """
    rows: list[dict[str, Any]] = []
    equal = 0
    found_a, found_b = _keys(a, how), _keys(b, how)
    for value in how.values:
        results_a, results_b = _results(a, how, value), _results(b, how, value)
        for key in (key for key in found_a if key in found_b):
            one, other = results_a[key], results_b[key]
            if _is_same(one.mean, other.mean):
                equal += 1
                continue
            named = dict(zip(how.keys, key, strict=True))
            p_value = _p_value(one, other, value, how)
            rows.append(
                {
                    "key": named,
                    "value": value.column,
                    "a": one.to_mapping(),
                    "b": other.to_mapping(),
                    "difference": None if one.mean is None or other.mean is None else other.mean - one.mean,
                    "p_value": p_value,
                    "is_beyond_spread": None if p_value is None else p_value < LEVEL,
                    "is_first": _has(named, how.first),
                }
            )
    return {
        "spreads": {value.column: _spread_of(value, how) for value in how.values},
        "rows": rows,
        "equal": equal,
        "only_a": [dict(zip(how.keys, key, strict=True)) for key in found_a if key not in found_b],
        "only_b": [dict(zip(how.keys, key, strict=True)) for key in found_b if key not in found_a],
    }


def _spread_of(value: Value, how: ComparedTable) -> str | None:
    """Return what the spread of a value is."""
    if how.over:
        return f"standard deviation over {how.over}s"
    if value.runs:
        return f"standard deviation over {value.runs}"
    if value.is_error:
        return "standard error"
    return value.spread or None


def _chosen(table: pa.Table, how: ComparedTable) -> pa.Table:
    """Return the rows that are compared."""
    for column, words in how.only.items():
        table = table.filter(pc.is_in(table[column], pa.array(words)))
    return table


def _keys(table: pa.Table, how: ComparedTable) -> dict[Key, None]:
    """Return the keys of a table, in its order."""
    columns = [_chosen(table, how)[name].to_pylist() for name in how.keys]
    return dict.fromkeys(zip(*columns, strict=True))


def _results(table: pa.Table, how: ComparedTable, value: Value) -> dict[Key, Result]:
    """Return mean, spread and number of runs of a value by key."""
    rows = _chosen(table, how)
    if how.over:
        deviation = pc.VarianceOptions(ddof=1, min_count=2)
        grouped = rows.group_by(list(how.keys)).aggregate(
            [(value.column, "mean"), (value.column, "stddev", deviation), (value.column, "count")]
        )
        names = [f"{value.column}_{name}" for name in ("mean", "stddev", "count")]
        columns = [grouped[name].to_pylist() for name in names]
    else:
        grouped = rows
        size = rows.num_rows
        spreads = rows[value.spread].to_pylist() if value.spread else [None] * size
        runs = rows[value.runs].to_pylist() if value.runs else [1] * size
        columns = [rows[value.column].to_pylist(), spreads, runs]
    keys = zip(*(grouped[name].to_pylist() for name in how.keys), strict=True)
    told = zip(*columns, strict=True)
    return {key: _result(*each) for key, each in zip(keys, told, strict=True)}


def _result(mean: float | None, spread: float | None, runs: int) -> Result:
    """Return a result without what is not a number to JSON, nor spread that is rounding alone."""
    if mean is None or not math.isfinite(mean):
        return Result(None, None, runs)
    if spread is None or not math.isfinite(spread):
        return Result(mean, None, runs)
    return Result(mean, spread if spread > _SAME * abs(mean) else 0.0, runs)


def _p_value(a: Result, b: Result, value: Value, how: ComparedTable) -> float | None:
    """Return how often chance alone would make such a difference, None where the spread does not tell.

    Over runs that is Welch's t-test, which needs two runs on either side; where all runs on both sides are alike, any
    difference is no chance. With standard errors it is the normal distribution.

    References
    ----------
    Welch 1947, "The generalization of 'Student's' problem when several different population variances are involved".
    """
    if a.mean is None or b.mean is None or a.spread is None or b.spread is None:
        return None
    # The distributions alone: scipy.stats has the tests too, and takes a second to import.
    from scipy.special import ndtr, stdtr  # noqa: PLC0415

    difference = abs(b.mean - a.mean)
    if value.is_error:
        error = math.hypot(a.spread, b.spread)
        return float(2 * ndtr(-difference / error)) if error else 0.0
    if not (how.over or value.runs) or min(a.runs, b.runs) < 2:
        return None
    if not (a.spread or b.spread):
        return 0.0
    one, other = a.spread**2 / a.runs, b.spread**2 / b.runs
    freedom = (one + other) ** 2 / (one**2 / (a.runs - 1) + other**2 / (b.runs - 1))
    return float(2 * stdtr(freedom, -difference / math.sqrt(one + other)))


def _is_same(a: float | None, b: float | None) -> bool:
    """Return whether two values are equal but for rounding, or both missing."""
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=_SAME, abs_tol=0.0)


def _has(key: Mapping[str, Any], words: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether each of some columns has one of its words."""
    return all(key[column] in chosen for column, chosen in words.items())
