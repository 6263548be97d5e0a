# SPDX-License-Identifier: BSD-3-Clause
"""Decisions: what a cleaning rule says about the jobs of a trace, and whether it can be carried out.

A rule may be anybody's. What it returns is therefore checked here in every part, before ``apply.py`` acts
on any of it: a wrong decision is refused whole, under the rule's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import in_order_of
from swftools.errors import ParameterError, RuleError
from swftools.fields.definition import BOOL, INT64
from swftools.fields.dictionary import JOBS, SWF_FIELDS

Mask = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

FLAGS = tuple(column.name for column in JOBS if column.type == BOOL and column.stage == "clean")
"""Columns by which cleaning marks jobs."""

REPAIRED = "is_repaired"
"""The flag that follows from repairs; no rule sets it itself."""

_REPAIRABLE = {column.name: column for column in SWF_FIELDS if column.name != "job_number"}


@dataclass
class Decision:
    """What a rule decides about the jobs of a trace; every array or Series has one element for each job.

    A Series is matched by its index, all else by position. Jobs that the decision does not mention stay as they are.

    Parameters
    ----------
    quarantine : array_like of bool, optional
        Jobs to remove; a missing value does not remove.
    reason : str or sequence of str
        Why, for all removed jobs or for each job of the trace.
    flags : mapping of str to array_like of bool
        Jobs to mark, by flag column of the column dictionary.
    repairs : mapping of str to array_like
        New values by SWF column, any but job_number, which is part of a job's key; missing is NA, NaN or -1.
        Only values that differ are repaired and recorded.
    merge_into : array_like of int, optional
        Position of the job that each job becomes part of, which itself must stay; -1 for none.
    order : array_like of int, optional
        Positions of all jobs of the trace in their new order.
    remark : str, optional
        What a reader of the report should know.
    """

    quarantine: npt.ArrayLike | None = None
    reason: str | Sequence[str] | npt.NDArray[np.object_] = ""
    flags: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    repairs: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    merge_into: npt.ArrayLike | None = None
    order: npt.ArrayLike | None = None
    remark: str | None = None


@dataclass(frozen=True)
class CheckedDecision:
    """A decision that can be carried out: arrays by position, the reasons those of the jobs removed."""

    removed: Mask
    reasons: str | npt.NDArray[np.object_]
    flags: Mapping[str, Mask]
    repairs: Mapping[str, pd.Series[Any]]
    merge_into: IntArray
    order: IntArray | None
    remark: str | None

    @property
    def kept(self) -> Mask:
        """Jobs that stay."""
        return ~self.removed & ~self.merged

    @property
    def merged(self) -> Mask:
        """Jobs that become part of another."""
        return self.merge_into >= 0


def check_decision(decision: object, jobs: pd.DataFrame) -> CheckedDecision:
    """Check a decision about some jobs.

    Parameters
    ----------
    decision : Decision
        What a rule returned; anything else is refused.
    jobs : pandas.DataFrame
        The jobs it is about, with an index from 0.

    Raises
    ------
    RuleError
        Says what cannot be carried out; the message is to follow the rule's name.
    """
    if not isinstance(decision, Decision):
        raise RuleError(f"it returned {type(decision).__name__}, not a Decision")
    nothing = np.zeros(len(jobs), bool)
    removed = nothing if decision.quarantine is None else _mask(decision.quarantine, jobs, "quarantine")
    checked = CheckedDecision(
        removed,
        decision.reason if isinstance(decision.reason, str) else _reasons(decision.reason, jobs, removed),
        {name: _flag(name, mask, jobs) for name, mask in decision.flags.items()},
        {name: _repair(name, values, jobs) for name, values in decision.repairs.items()},
        np.full(len(jobs), -1) if decision.merge_into is None else _positions(decision.merge_into, jobs, "merge_into"),
        None if decision.order is None else _positions(decision.order, jobs, "order"),
        decision.remark,
    )
    if checked.remark is not None and not isinstance(checked.remark, str):
        raise RuleError(f"its remark is {type(checked.remark).__name__}, not text")
    if checked.order is not None and not np.array_equal(np.sort(checked.order), np.arange(len(jobs))):
        raise RuleError("its order is not one of all jobs")
    if (removed & checked.merged).any():
        raise RuleError("it both removes and merges a job")
    if not checked.kept[checked.merge_into[checked.merged]].all():
        raise RuleError("it merges a job into one that does not stay")
    return checked


def _by_job(values: npt.ArrayLike | pd.Series[Any], jobs: pd.DataFrame, what: str) -> pd.Series[Any]:
    """Return values as a series on the index of the jobs."""
    if isinstance(values, pd.Series):
        try:
            return pd.Series(in_order_of(jobs.index, values, what))
        except ParameterError as error:
            raise RuleError(f"the index of its {what} is not that of the jobs it was given") from error
    array = values if isinstance(values, pd.api.extensions.ExtensionArray) else np.asarray(values)
    if array.shape != (len(jobs),):
        raise RuleError(f"its {what} has the shape {array.shape}; {len(jobs)} jobs need ({len(jobs)},)")
    return pd.Series(array)


def _mask(values: npt.ArrayLike, jobs: pd.DataFrame, what: str) -> Mask:
    """Return which jobs are meant."""
    series = _by_job(values, jobs, what)
    if len(series) and not pd.api.types.is_bool_dtype(series.dtype):
        raise RuleError(f"its {what} is of {series.dtype}; it must be of bool, one for each job")
    return series.fillna(False).to_numpy(dtype=bool)


def _flag(name: str, mask: npt.ArrayLike, jobs: pd.DataFrame) -> Mask:
    """Return which jobs a flag marks."""
    if name not in FLAGS or name == REPAIRED:
        known = ", ".join(flag for flag in FLAGS if flag != REPAIRED)
        raise RuleError(f"it sets {name!r}; the flags that a rule may set are {known}")
    return _mask(mask, jobs, name)


def _positions(values: npt.ArrayLike, jobs: pd.DataFrame, what: str) -> IntArray:
    """Return positions of jobs; negative for none."""
    series = _by_job(values, jobs, what)
    if len(series) and not pd.api.types.is_integer_dtype(series.dtype):
        raise RuleError(f"its {what} is of {series.dtype}; it must be of int, one for each job")
    positions = series.fillna(-1).to_numpy(dtype=np.int64)
    if (positions >= len(jobs)).any():
        raise RuleError(f"its {what} names position {positions.max()} among {len(jobs)} jobs")
    return positions


def _reasons(
    reason: Sequence[str] | npt.NDArray[np.object_], jobs: pd.DataFrame, removed: Mask
) -> npt.NDArray[np.object_]:
    """Return the reason for each job removed."""
    values = np.array(reason, dtype=object) if isinstance(reason, list | tuple) else reason
    reasons = _by_job(values, jobs, "reason").to_numpy(dtype=object)[removed]
    if not all(isinstance(text, str) for text in reasons):
        raise RuleError("its reason is not a text for each job")
    return reasons


def _repair(name: str, values: npt.ArrayLike, jobs: pd.DataFrame) -> pd.Series[Any]:
    """Return a column's new values, in the column's own dtype."""
    if name not in _REPAIRABLE:
        raise RuleError(f"it repairs {name!r}; the columns that a rule may repair are {', '.join(_REPAIRABLE)}")
    column = _REPAIRABLE[name]
    try:
        series = _by_job(values, jobs, name).astype("Int64" if column.type == INT64 else "float64")
    except (TypeError, ValueError) as error:
        raise RuleError(f"its {name} is not of {column.type}: {error}") from error
    series = series.mask((series == -1).fillna(False))
    minimum, maximum = column.minimum or 0, column.maximum or np.inf
    outside = ((series < minimum) | (series > maximum)) & (series != jobs[name]).fillna(True)
    if (wrong := series[outside.fillna(False)]).size:
        raise RuleError(f"its {name} {wrong.iloc[0]} is outside {minimum:g}..{maximum:g}")
    return series
