# SPDX-License-Identifier: BSD-3-Clause
"""What is compared in the tables of two versions: which columns say what a row is of, and which are its values.

A table of results has its line here and nothing else anywhere; tables of jobs, and predictions of single waits, have
none, since they are large, and what is said of their columns in the manifests is compared anyhow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class Value:
    """A column of values.

    Parameters
    ----------
    column : str
        Its name.
    spread : str
        Column of what is known of its spread; empty for none.
    runs : str
        Column of the number of runs that the value is the mean of and the spread the standard deviation over; empty
        where the spread is no such one.
    is_error : bool
        The spread is the standard error of the value.
    """

    column: str
    spread: str = ""
    runs: str = ""
    is_error: bool = False


@dataclass(frozen=True)
class ComparedTable:
    """How the rows of a table are compared.

    Parameters
    ----------
    keys : tuple of str
        Columns that together say what a row is of, the most telling first.
    values : tuple of Value
        What is compared.
    over : str
        Column of replications, such as ``seed``: rows that differ in it alone are runs, of which mean and standard
        deviation are compared. Empty for none.
    only : mapping of str to tuple of str
        Rows that are compared: those whose column has one of these words.
    first : mapping of str to tuple of str
        Rows that are told of first, likewise.
    """

    keys: tuple[str, ...]
    values: tuple[Value, ...]
    over: str = ""
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_METRICS = ("policy", "classed_by", "job_class", "measure", "statistic", "parameter", "unit")
_MOST_LOOKED_AT = {"classed_by": ("all",), "statistic": ("mean", "value", "time_mean", "total")}

COMPARED_TABLES: Mapping[str, ComparedTable] = MappingProxyType(
    {
        "comparison": ComparedTable(_METRICS, (Value("value"),), over="seed", first=_MOST_LOOKED_AT),
        "metrics": ComparedTable(_METRICS, (Value("value"),), first=_MOST_LOOKED_AT),
        "wait_evaluation": ComparedTable(
            ("method", "grouped_by", "group"),
            (Value("correctness", "standard_error", is_error=True), Value("rms_ratio"), Value("median_tightness")),
            only={"grouped_by": ("all", "queue")},
            first={"grouped_by": ("all",)},
        ),
        "wait_coverage": ComparedTable(
            ("method", "period", "queue"),
            (Value("coverage"), Value("tightness")),
            first={"period": ("all",), "queue": ("all",)},
        ),
        "policy_watch": ComparedTable(
            ("policy", "measure", "statistic", "parameter", "unit"), (Value("value", "spread", "seeds"),)
        ),
        "workload_drift": ComparedTable(("aspect", "statistic", "unit"), (Value("recent"), Value("drift"))),
        "reproduction": ComparedTable(("place", "row", "column", "reading", "unit"), (Value("ours", "spread"),)),
    }
)
"""By the name of the table."""
