# SPDX-License-Identifier: BSD-3-Clause
"""Carry out what cleaning rules decide, and keep an account of every job.

A rule decides (``rules.py``); this module carries the decision out and keeps the books, so that no
rule can lose a job: job lines read = jobs kept + quarantined + merged into another job, always.

References
----------
Feitelson, Tsafrir, Krakov 2014, "Experience with using the Parallel Workloads Archive" (what is wrong with
logs, and why cleaning must be declared).
"""

from __future__ import annotations

import inspect
import json
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.cleaning.decisions import REPAIRED, CheckedDecision, Mask, check_decision
from swftools.cleaning.registry import Rule, RuleSpec, decide, prepare, resolve_rules
from swftools.errors import BalanceError, RuleError, SwfToolsError
from swftools.fields.dictionary import JOBS
from swftools.output.amounts import counted
from swftools.output.plotter import Plotter
from swftools.output.shown_html import ShowsItself, chief_columns
from swftools.tables import compacted, empty_frame
from swftools.trace import Trace, integer_series, submit_timestamps

_COUNTS = ["quarantined", "merged", "repaired", "flagged"]
_STEPS = 20  # that a notebook shows: more than there are rules of ours


@dataclass(frozen=True, repr=False)
class CleaningReport(ShowsItself):
    """What cleaning did, step by step; prints as three lines.

    Parameters
    ----------
    steps : pandas.DataFrame
        One row for each step (table ``cleaning_report`` of the column dictionary); step 0 is reading.
    repairs : pandas.DataFrame
        One row for each changed value, with the old one (table ``repairs``).
    merged : pandas.DataFrame
        One row for each line that became part of another job (table ``merged``).
    """

    steps: pd.DataFrame
    repairs: pd.DataFrame
    merged: pd.DataFrame

    @property
    def plot(self) -> Plotter:
        """Draws pictures of it: ``report.plot("balance")``."""
        return Plotter(self, "balance")

    @property
    def balance(self) -> dict[str, int]:
        """Job lines read, and what became of them: kept, quarantined, merged."""
        return {
            "job_lines": int(self.steps["jobs_in"].iloc[0]),
            "kept": int(self.steps["jobs_out"].iloc[-1]),
            "quarantined": int(self.steps["quarantined"].sum()),
            "merged": int(self.steps["merged"].sum()),
        }

    def _lines(self) -> list[str]:
        steps = self.steps
        if steps.empty:
            return ["CleaningReport: no steps"]
        became = [f"{number:,} {what}" for what, number in self.balance.items() if what != "job_lines"]
        lines = counted(self.balance["job_lines"], "job line")
        found = [
            f"{rule} {number:,}"
            for rule, number in zip(steps["rule"].iloc[1:], steps[_COUNTS].iloc[1:].sum(axis=1), strict=True)
            if number
        ]
        return [
            f"CleaningReport: {lines}: {', '.join(became)}",
            f"{counted(len(steps) - 1, 'rule')}, {counted(len(self.repairs), 'value')} repaired",
            f"found: {', '.join(found) or 'nothing'}",
        ]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return chief_columns(self.steps, ["rule", "jobs_in", "jobs_out", *_COUNTS, "remark"], _STEPS), len(self.steps)


def clean(trace: Trace, rules: Iterable[RuleSpec] | None = None) -> tuple[Trace, CleaningReport]:
    """Clean a trace by named rules, in order.

    Parameters
    ----------
    trace : Trace
        The whole log as read; its quarantine is kept. The trace is not changed.
    rules : iterable of str or mapping, optional
        Names, with parameters as in ``cancelled:action=quarantine``, or mappings of ``rule`` to a name and of
        parameters to values; ``module:function`` names a rule of your own; ``default`` stands for
        ``DEFAULT_RULES``, which is also what None means.

    Returns
    -------
    trace : Trace
        Jobs kept, with the flag columns and ``job_occurrence``, ``submit_timestamp`` and ``width``; removed
        jobs in ``quarantine`` under the rule's name with source line number and text, and merged lines in ``merged``.
    report : CleaningReport
        One row for each step, with counts that always balance.

    Raises
    ------
    UnknownRuleError
        No rule has that name; the message lists the names.
    ParameterError
        A rule has no such parameter, or refuses its value. Every rule is tried on a trace without jobs before any is
        applied, so you see this error at once.
    RuleError
        A rule failed, or its decision cannot be carried out.

    Notes
    -----
    ``job_occurrence`` is counted over all job lines before any rule. So a job's key, and its random draws, do not
    depend on which other jobs are removed. Flags that the jobs already have are kept. Cleaning a clean trace again by
    the default rules changes nothing.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 5], requested_processors=[4, -1])
    >>> cleaned, report = clean(trace, ["missing-processors"])
    >>> report.balance
    {'job_lines': 2, 'kept': 1, 'quarantined': 1, 'merged': 0}
    """
    work = _Work(trace)
    for name, rule, parameters in resolve_rules(rules):
        work.apply(name, rule, parameters)
    return work.finish()


class _Work:
    """A cleaning in progress: the jobs left, and the books."""

    def __init__(self, trace: Trace) -> None:
        self.trace = prepare(trace)
        self.quarantine = [trace.quarantine]
        self.merged: list[pd.DataFrame] = [trace.merged]
        self.repairs: list[pd.DataFrame] = []
        self.steps: list[dict[str, Any]] = []
        rejected, merged = len(trace.quarantine), len(trace.merged)
        self._enter("read", {}, len(trace) + rejected + merged, quarantined=rejected, merged=merged)

    def _enter(self, rule: str, parameters: dict[str, Any], jobs_in: int, **counts: Any) -> None:
        """Enter a step that left the present jobs."""
        nothing = {"quarantined": 0, "merged": 0, "repaired": 0, "flagged": 0, "remark": None}
        text = json.dumps(parameters, sort_keys=True)
        step = {"step": len(self.steps), "rule": rule, "parameters": text, "jobs_in": jobs_in}
        self.steps.append({**step, "jobs_out": len(self.trace), **nothing, **counts})

    def apply(self, name: str, rule: Rule, parameters: dict[str, Any]) -> None:
        """Apply one rule and enter what it did; a rule that fails leaves all as it was."""
        jobs = self.trace.jobs
        decision = self._decide(name, rule, parameters)
        kept = decision.kept
        self._remove(name, jobs, decision)
        self._merge(jobs, decision)
        changed, repaired = self._repair(name, jobs, kept, decision)
        flagged = np.zeros(len(jobs), bool)
        for column, mask in decision.flags.items():
            if mask.any():  # else a new column would be the old one
                changed[column] = jobs[column] | mask
                flagged |= mask
        if changed:
            jobs = jobs.assign(**changed)
        order = np.arange(len(jobs)) if decision.order is None else decision.order
        if decision.order is not None or not kept.all():
            jobs = jobs.iloc[order[kept[order]]].reset_index(drop=True)
        before, self.trace = len(self.trace), self.trace.with_jobs(jobs)
        self._enter(
            name,
            parameters,
            before,
            quarantined=int(decision.removed.sum()),
            merged=int(decision.merged.sum()),
            repaired=int(repaired.sum()),
            flagged=int((flagged & kept & ~repaired).sum()),
            remark=decision.remark,
        )

    def _decide(self, name: str, rule: Rule, parameters: dict[str, Any]) -> CheckedDecision:
        """Ask a rule, which gets a trace of its own: what it changes in that changes nothing here."""
        own = self.trace.with_jobs(self.trace.jobs.copy(deep=False), self.trace.quarantine.copy(deep=False))
        own = replace(own, provenance=dict(own.provenance))
        try:
            return check_decision(decide(rule, own, parameters), self.trace.jobs)
        except RuleError as error:
            raise RuleError(f"cleaning rule {name!r}: {error}") from error
        except SwfToolsError:
            raise
        except Exception as error:
            raise RuleError(f"cleaning rule {name!r} failed: {_told(error, rule)}") from error

    def _remove(self, name: str, jobs: pd.DataFrame, decision: CheckedDecision) -> None:
        """Enter the jobs that a rule removes."""
        if decision.removed.any():
            numbers = jobs["line_number"][decision.removed]
            rows = {"rule": name, "reason": decision.reasons, "text": self.trace.line_texts(numbers)}
            self.quarantine.append(pd.DataFrame({"line_number": numbers, **rows}))

    def _merge(self, jobs: pd.DataFrame, decision: CheckedDecision) -> None:
        """Enter the lines that a rule merges."""
        if decision.merged.any():
            lines = jobs.loc[decision.merged, ["line_number", "job_number"]]
            into = jobs["line_number"].iloc[decision.merge_into[decision.merged]].array
            text = self.trace.line_texts(lines["line_number"])
            self.merged.append(lines.assign(into_line_number=into, text=text))

    def _repair(
        self, name: str, jobs: pd.DataFrame, kept: Mask, decision: CheckedDecision
    ) -> tuple[dict[str, pd.Series[Any]], Mask]:
        """Enter the values that a rule changes; return the columns with them, and which jobs were changed."""
        columns: dict[str, pd.Series[Any]] = {}
        repaired = np.zeros(len(jobs), bool)
        for column, new in decision.repairs.items():
            old = jobs[column]
            equal = (old == new).fillna(False).to_numpy(dtype=bool) | (old.isna() & new.isna()).to_numpy()
            if not (changed := kept & ~equal).any():
                continue
            rows = jobs.loc[changed, ["line_number", "job_number"]]
            values = {"old_value": old[changed].astype("float64"), "new_value": new[changed].astype("float64")}
            self.repairs.append(rows.assign(rule=name, column=column, **values))
            columns[column] = new
            repaired |= changed
        if repaired.any():
            columns[REPAIRED] = jobs[REPAIRED] | repaired
        return columns, repaired

    def finish(self) -> tuple[Trace, CleaningReport]:
        """Return the cleaned trace with its derived columns, and the report; check that the books balance."""
        merged = _joined("merged", self.merged)
        trace = self.trace.with_jobs(_with_derived(self.trace), _joined("quarantine", self.quarantine))
        trace = replace(trace, merged=merged)
        steps = _joined("cleaning_report", [pd.DataFrame(self.steps)])
        report = CleaningReport(steps, _joined("repairs", self.repairs), merged)
        balance = report.balance
        gone = balance["quarantined"] + balance["merged"]
        if balance["job_lines"] != balance["kept"] + gone or balance["kept"] != len(trace):
            raise BalanceError(f"cleaning does not balance: {balance}, {len(trace)} jobs")
        return trace, report


def _told(error: Exception, rule: Rule) -> str:
    """Return what an error says and where in the rule's own file it came up."""
    places = traceback.extract_tb(error.__traceback__)
    code = getattr(inspect.unwrap(rule), "__code__", None)
    own = [place for place in places if code and place.filename == code.co_filename] or places
    return f"{type(error).__name__}: {error} ({own[-1].filename}, line {own[-1].lineno})"


def _with_derived(trace: Trace) -> pd.DataFrame:
    """Return the jobs with submit_timestamp and width, in the dictionary's order; unknown columns last."""
    width = integer_series(trace.views.width)
    width = width if (width > 0).all() else width.where(width > 0)
    jobs = compacted(trace.jobs.assign(width=width))  # the width is mostly that of another column
    del width
    jobs = jobs.assign(submit_timestamp=submit_timestamps(trace.jobs["submit_time"], trace.header))
    names = [column.name for column in JOBS if column.name in jobs]
    return jobs[names + [name for name in jobs if name not in names]]


def _joined(table: str, frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return frames one below the other in the columns and dtypes of a table."""
    empty = empty_frame(table)
    dtypes = empty.dtypes
    parts = [
        frame if frame.dtypes.equals(dtypes) else frame.reindex(columns=empty.columns).astype(dtypes.to_dict())
        for frame in frames
        if len(frame)
    ]
    return pd.concat(parts, ignore_index=True) if parts else empty
