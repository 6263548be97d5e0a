"""Cleaning: named rules that keep, repair, flag, merge or quarantine jobs, and an account of every one.

A rule decides (``cleaning_rules.py``); this module carries the decision out and keeps the books, so that no
rule can lose a job: job lines read = jobs kept + quarantined + merged into another job, always.

References
----------
Feitelson, Tsafrir, Krakov 2014, "Experience with using the Parallel Workloads Archive" (what is wrong with
logs, and why cleaning must be declared).
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import BalanceError, ParameterError, UnknownRuleError
from swftools.fields import JOBS
from swftools.tables import empty_frame
from swftools.trace import Trace, integer_series

Mask = npt.NDArray[np.bool_]
RuleSpec = str | Mapping[str, Any]

DEFAULT_RULES: tuple[str, ...] = (
    "partial-executions",
    "duplicates",
    "missing-submit-time",
    "submission-order",
    "missing-processors",
    "wider-than-machine",
    "unknown-status",
    "cancelled",
    "never-started",
    "missing-run-time",
    "run-over-request",
)
"""Applied when neither the card nor the user chooses; ``default`` in a list of rules stands for these."""

FLAGS = tuple(column.name for column in JOBS if column.name.startswith("is_") and column.stage == "clean")


@dataclass
class Decision:
    """What a rule decides about the jobs of a trace; every array has one element a job.

    Parameters
    ----------
    quarantine : numpy.ndarray of bool, optional
        Jobs to remove.
    reason : str or sequence of str
        Why, for all removed jobs or for each job of the trace.
    flags : mapping of str to numpy.ndarray of bool
        Jobs to mark, by flag column of the column dictionary.
    repairs : mapping of str to array_like
        New values of a column, by column; only those that differ are repaired and recorded.
    merge_into : numpy.ndarray of int, optional
        Position of the job that each job becomes part of; -1 for none.
    order : numpy.ndarray of int, optional
        Positions of the jobs in their new order.
    remark : str, optional
        What a reader of the report should know.
    """

    quarantine: Mask | None = None
    reason: str | Sequence[str] = ""
    flags: Mapping[str, Mask] = field(default_factory=dict)
    repairs: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    merge_into: npt.NDArray[np.int64] | None = None
    order: npt.NDArray[np.int64] | None = None
    remark: str | None = None


Rule = Callable[..., Decision]

_RULES: dict[str, Rule] = {}


def cleaning_rule(name: str) -> Callable[[Rule], Rule]:
    """Register a cleaning rule under a name; the rule takes a Trace and keyword parameters with defaults.

    Raises
    ------
    ParameterError
        Another rule has the name.
    """

    def register(rule: Rule) -> Rule:
        if _RULES.get(name, rule) is not rule:
            raise ParameterError(f"cleaning rule {name!r} is registered already, as {_RULES[name].__name__}")
        _RULES[name] = rule
        return rule

    return register


def rules() -> dict[str, Rule]:
    """Return the registered rules by name."""
    importlib.import_module("swftools.cleaning_rules")
    return dict(_RULES)


@dataclass(frozen=True)
class CleaningReport:
    """What cleaning did, step by step.

    Parameters
    ----------
    steps : pandas.DataFrame
        One row a step (table ``cleaning_report`` of the column dictionary); step 0 is reading.
    repairs : pandas.DataFrame
        One row a changed value, with the old one (table ``repairs``).
    merged : pandas.DataFrame
        One row a line that became part of another job (table ``merged``).
    """

    steps: pd.DataFrame
    repairs: pd.DataFrame
    merged: pd.DataFrame

    @property
    def balance(self) -> dict[str, int]:
        """Job lines read, and what became of them: kept, quarantined, merged."""
        return {
            "job_lines": int(self.steps["jobs_in"].iloc[0]),
            "kept": int(self.steps["jobs_out"].iloc[-1]),
            "quarantined": int(self.steps["quarantined"].sum()),
            "merged": int(self.steps["merged"].sum()),
        }


def clean(trace: Trace, rules: Iterable[RuleSpec] | None = None) -> tuple[Trace, CleaningReport]:
    """Clean a trace by named rules, in order.

    Parameters
    ----------
    trace : Trace
        As read; its own quarantine is carried on.
    rules : iterable of str or mapping, optional
        Names, or mappings of ``rule`` to a name and of parameters to values; ``module:function`` names a rule
        of your own; ``default`` stands for ``DEFAULT_RULES``, which is also what None means.

    Returns
    -------
    trace : Trace
        Jobs kept, with the flag columns and ``job_occurrence``, ``submit_timestamp`` and ``width``; removed
        jobs in ``quarantine`` under the rule's name with source line number and text.
    report : CleaningReport
        One row a step, with counts that always balance.

    Raises
    ------
    UnknownRuleError
        No rule has that name; the message lists the names.
    ParameterError
        A rule has no such parameter, or refuses its value.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 5], requested_processors=[4, -1])
    >>> cleaned, report = clean(trace, ["missing-processors"])
    >>> report.balance
    {'job_lines': 2, 'kept': 1, 'quarantined': 1, 'merged': 0}
    """
    plan = resolve_rules(rules)
    work = _Work(trace)
    for name, rule, parameters in plan:
        work.apply(name, rule, parameters)
    return work.finish()


def resolve_rules(rules: Iterable[RuleSpec] | None = None) -> list[tuple[str, Rule, dict[str, Any]]]:
    """Return name, function and parameters of each rule in a list of rules, checked.

    Raises
    ------
    UnknownRuleError, ParameterError
        As in ``clean``.
    """
    plan = []
    for spec in _expanded(rules):
        if isinstance(spec, str):
            name, parameters = spec, {}
        else:
            parameters = dict(spec)
            name = parameters.pop("rule", None)
            if not isinstance(name, str):
                raise ParameterError(f"{dict(spec)}: a rule is a name, or a mapping with the key 'rule'")
        rule = _find_rule(name)
        try:
            inspect.signature(rule).bind(None, **parameters)
            json.dumps(parameters)
        except TypeError as error:
            known = list(inspect.signature(rule).parameters)[1:]
            raise ParameterError(f"cleaning rule {name!r}: {error}; its parameters are {known}") from error
        plan.append((name, rule, parameters))
    return plan


def _expanded(rules: Iterable[RuleSpec] | None) -> list[RuleSpec]:
    """Return a list of rules with ``default`` replaced by what it stands for."""
    if isinstance(rules, str | Mapping):
        raise ParameterError(f"rules={rules!r}: give a list of rules, such as [{rules!r}]")
    expanded: list[RuleSpec] = []
    for spec in ["default"] if rules is None else rules:
        expanded.extend(DEFAULT_RULES if spec == "default" else [spec])
    return expanded


def _find_rule(name: str) -> Rule:
    """Return the rule of a name, or the function that ``module:function`` names."""
    known = rules()
    if name in known:
        return known[name]
    module, colon, function = name.partition(":")
    if colon:
        try:
            found = getattr(importlib.import_module(module), function)
        except (ImportError, AttributeError, ValueError) as error:
            raise UnknownRuleError(f"cleaning rule {name!r}: {error}; give module:function of an importable module") from error
        if callable(found):
            return found  # type: ignore[no-any-return]
    raise UnknownRuleError(f"no cleaning rule {name!r}; there are {', '.join(sorted(known))}, or your own module:function")


class _Work:
    """A cleaning in progress: the jobs left, and the books."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace.with_jobs(_with_flags(trace.jobs.reset_index(drop=True)))
        self.quarantine = [trace.quarantine]
        self.merged: list[pd.DataFrame] = []
        self.repairs: list[pd.DataFrame] = []
        read, rejected = len(trace.jobs), len(trace.quarantine)
        self.steps: list[dict[str, Any]] = [
            {"rule": "read", "parameters": "{}", "jobs_in": read + rejected, "jobs_out": read, "quarantined": rejected}
        ]

    def apply(self, name: str, rule: Rule, parameters: dict[str, Any]) -> None:
        """Apply one rule and enter what it did."""
        before = self.trace.jobs
        decision = rule(self.trace, **parameters)
        if not isinstance(decision, Decision):
            raise ParameterError(f"cleaning rule {name!r} returned {type(decision).__name__}, not a Decision")
        removed = _mask(decision.quarantine, before)
        merged = _mask(None if decision.merge_into is None else decision.merge_into >= 0, before)
        if (removed & merged).any():
            raise BalanceError(f"cleaning rule {name!r} both removes and merges a job")
        jobs = before.copy()
        self._remove(name, before, removed, decision)
        self._merge(before, merged, decision)
        repaired = self._repair(name, jobs, ~(removed | merged), decision)
        flagged = np.zeros(len(jobs), bool)
        for column, mask in decision.flags.items():
            if column not in FLAGS:
                raise ParameterError(f"cleaning rule {name!r}: {column!r} is no flag of the column dictionary ({FLAGS})")
            jobs[column] |= mask
            flagged |= mask
        keep = ~(removed | merged)
        order = np.arange(len(jobs)) if decision.order is None else decision.order
        if not np.array_equal(np.sort(order), np.arange(len(jobs))):
            raise BalanceError(f"cleaning rule {name!r} returned an order that is not one of all its jobs")
        jobs = jobs.iloc[order[keep[order]]].reset_index(drop=True)
        self.trace = self.trace.with_jobs(jobs)
        self.steps.append(
            {
                "rule": name,
                "parameters": json.dumps(parameters, sort_keys=True),
                "jobs_in": len(before),
                "jobs_out": len(jobs),
                "quarantined": int(removed.sum()),
                "merged": int(merged.sum()),
                "repaired": int((repaired & keep).sum()),
                "flagged": int((flagged & keep & ~repaired).sum()),
                "remark": decision.remark,
            }
        )

    def _remove(self, name: str, jobs: pd.DataFrame, removed: Mask, decision: Decision) -> None:
        if removed.any():
            numbers = _line_numbers(jobs)[removed]
            reasons = decision.reason if isinstance(decision.reason, str) else np.asarray(decision.reason)[removed]
            rows = {"line_number": numbers, "rule": name, "reason": reasons, "text": self.trace.line_texts(numbers)}
            self.quarantine.append(pd.DataFrame(rows))

    def _merge(self, jobs: pd.DataFrame, merged: Mask, decision: Decision) -> None:
        if decision.merge_into is not None and merged.any():
            numbers = _line_numbers(jobs)
            rows = {
                "line_number": numbers[merged],
                "job_number": jobs["job_number"][merged],
                "into_line_number": numbers.iloc[decision.merge_into[merged]].array,
                "text": self.trace.line_texts(numbers[merged]),
            }
            self.merged.append(pd.DataFrame(rows))

    def _repair(self, name: str, jobs: pd.DataFrame, kept: Mask, decision: Decision) -> Mask:
        """Change values in ``jobs``; return which jobs were changed."""
        repaired = np.zeros(len(jobs), bool)
        for column, new in decision.repairs.items():
            series = pd.Series(new, index=jobs.index).astype(jobs[column].dtype)
            old = jobs[column]
            changed = kept & ~((old == series).fillna(False) | (old.isna() & series.isna())).to_numpy(dtype=bool)
            rows = {
                "line_number": _line_numbers(jobs)[changed],
                "job_number": jobs["job_number"][changed],
                "rule": name,
                "column": column,
                "old_value": old[changed].astype("float64"),
                "new_value": series[changed].astype("float64"),
            }
            self.repairs.append(pd.DataFrame(rows))
            jobs[column] = old.where(~changed, series)
            repaired |= changed
        jobs["is_repaired"] |= repaired
        return repaired

    def finish(self) -> tuple[Trace, CleaningReport]:
        """Return the cleaned trace with its derived columns, and the report; check that the books balance."""
        trace = self.trace.with_jobs(_with_derived(self.trace), _joined("quarantine", self.quarantine))
        steps = pd.DataFrame(self.steps)
        steps["step"] = np.arange(len(steps))
        for name in ("quarantined", "merged", "repaired", "flagged", "remark"):
            if name not in steps:
                steps[name] = None
        counts = ["quarantined", "merged", "repaired", "flagged"]
        steps[counts] = steps[counts].astype("Int64").fillna(0)
        report = CleaningReport(
            _joined("cleaning_report", [steps]), _joined("repairs", self.repairs), _joined("merged", self.merged)
        )
        balance = report.balance
        if balance["job_lines"] != balance["kept"] + balance["quarantined"] + balance["merged"]:
            raise BalanceError(f"cleaning does not balance: {balance}")
        return trace, report


def _mask(mask: Mask | None, jobs: pd.DataFrame) -> Mask:
    """Return a mask of the right length; all False for None."""
    if mask is None:
        return np.zeros(len(jobs), bool)
    result = np.asarray(mask, dtype=bool)
    if result.shape != (len(jobs),):
        raise BalanceError(f"a rule returned a mask of shape {result.shape} for {len(jobs)} jobs")
    return result


def _with_flags(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs with every flag column, False where it was not there."""
    return jobs.assign(**{flag: jobs.get(flag, pd.Series(False, index=jobs.index)) for flag in FLAGS})


def _line_numbers(jobs: pd.DataFrame) -> pd.Series[Any]:
    """Return the source lines of jobs; missing where they come from no file."""
    if "line_number" in jobs:
        return jobs["line_number"]
    return pd.Series(pd.array([None] * len(jobs), dtype="Int64"), index=jobs.index)


def _with_derived(trace: Trace) -> pd.DataFrame:
    """Return the jobs with line_number, job_occurrence, submit_timestamp and width, in the dictionary's order."""
    jobs = trace.jobs.assign(line_number=_line_numbers(trace.jobs))
    if "job_occurrence" not in jobs:
        in_file = jobs.sort_values("line_number", kind="stable")
        jobs["job_occurrence"] = in_file.groupby("job_number", dropna=False).cumcount().astype("Int64")
    width = integer_series(trace.arrays.width)
    jobs["width"] = width.where(width > 0)
    start = trace.header.unix_start_time
    milliseconds = (jobs["submit_time"] * 1000).round()
    known = milliseconds.notna() & (start is not None)
    stamps = milliseconds.where(known, 0).astype("int64") + 1000 * (start or 0)
    jobs["submit_timestamp"] = pd.to_datetime(stamps, unit="ms", utc=True).dt.as_unit("ms").where(known)
    return jobs[[column.name for column in JOBS if column.name in jobs]]


def _joined(table: str, frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return frames one below the other in the columns and dtypes of a table."""
    empty = empty_frame(table)
    parts = [frame.reindex(columns=empty.columns).astype(empty.dtypes.to_dict()) for frame in frames if len(frame)]
    return pd.concat(parts, ignore_index=True) if parts else empty
