# SPDX-License-Identifier: BSD-3-Clause
"""Is a schedule possible, and does it keep what its policy promises? The check shares no code with the engine.

The rules of ``RULES`` hold for every schedule; what a policy promises beside them stands in its decorator, and is
recomputed by ``swftools.simulator.validation.promises``. Schedules of other simulators are checked as well, from a
table of starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import counted
from swftools.output.shown_html import ShowsItself
from swftools.parameters.choices import DEPENDENCIES, FOLLOW, INSTANT, SEMANTICS
from swftools.simulator.option_checks import check_choice
from swftools.simulator.registry import Policy, list_policies, read_policy
from swftools.simulator.schedule import WAITS_ON_PROCESSORS, Schedule
from swftools.simulator.validation.against_trace import check_jobs, check_trace
from swftools.simulator.validation.foreign_schedules import read_schedule, schedule_from_table
from swftools.simulator.validation.preemptions import (
    find_idle_processors,
    find_repeated_stops,
    find_stops_in_vain,
    find_unfair_delays,
)
from swftools.simulator.validation.promises import (
    Broken,
    find_broken_reservations,
    find_delayed_heads,
    find_idle_heads,
    find_out_of_order,
    planned_times,
)
from swftools.simulator.validation.reservations import PlanningManner, Starts
from swftools.simulator.validation.rules import RULES, check_capacity, check_columns, check_once, check_runs
from swftools.simulator.validation.runs import (
    FoundViolations,
    SoundJobs,
    SoundRuns,
    broken_of,
    by_submission,
    in_queue,
    read_runs,
    require_columns,
    violations_of,
)
from swftools.simulator.validation.waiting_for_others import check_dependencies, find_waiting, note_of
from swftools.simulator.validation.work import check_overhead, check_work, read_history
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]

EXAMPLES = 5
"""Violations of a rule that a report shows, the first ones by time; it counts the others."""

_WORDS = {
    "order": "one that was submitted earlier starts at {:.10g} s",
    "no-idle-head": "it is the first waiting job, and fits, from {:.10g} s on",
    "head-reservation": "as the first waiting job it was to start at {:.10g} s at the latest",
    "backfilling": "it was to start at {:.10g} s at the latest when, as the first waiting job, it was overtaken",
    "reservation": "at its submission it was promised {:.10g} s at the latest",
    "strict-fairness": "as the first waiting job it would have at {:.10g} s without those of lower priority",
    "no-idle-processors": "it waits, and fits, from {:.10g} s on",
    "no-stop-in-vain": "it is stopped at {:.10g} s, when none of higher priority starts for good",
    "one-stop": "it is stopped at {:.10g} s, though it was stopped before or writes no checkpoints",
}

_OF_STOPPED = {"strict-fairness", "no-idle-processors", "no-stop-in-vain", "one-stop"}
"""Promises that can be checked where jobs were stopped."""


@dataclass(frozen=True, eq=False, repr=False)
class ValidationReport(ShowsItself):
    """What is wrong with a schedule, in a few lines by ``print``, in three by ``repr``.

    Parameters
    ----------
    violations : pandas.DataFrame
        The first ``EXAMPLES`` of each rule by time: rule, time (s; NaN where there is none), job_number,
        job_occurrence, message, and count: how often the rule is broken in all.
    checked : tuple of str
        Rules and promises that were checked.
    notes : tuple of str
        What was not checked, and why; how many promises were made.
    jobs, processors : int
        Of the schedule.
    policy : str
        Whose promises were checked; empty if not known.
    """

    violations: pd.DataFrame
    checked: tuple[str, ...]
    notes: tuple[str, ...]
    jobs: int
    processors: int
    policy: str

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.violations.empty

    def _lines(self) -> list[str]:
        first, *_ = str(self).split("\n", 1)
        broken = self.violations.drop_duplicates("rule")
        told = [f"{rule} {_times(count)}" for rule, count in zip(broken["rule"], broken["count"], strict=True)]
        return [
            f"ValidationReport: {first}",
            f"broken: {', '.join(told) or 'nothing'}",
            f"checked: {', '.join((*self.checked, *self.notes)) or 'nothing'}",
        ]

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return self.violations, len(self.violations)

    def __str__(self) -> str:
        name = f"schedule of {self.policy}" if self.policy else "schedule"
        broken = self.violations.drop_duplicates("rule")
        verdict = "valid" if self.ok else f"NOT VALID, {len(broken)} of {len(self.checked)} rules broken"
        lines = [f"{name}, {counted(self.jobs, 'job')} on {counted(self.processors, 'processor')}: {verdict}"]
        for rule, count, message in zip(broken["rule"], broken["count"], broken["message"], strict=True):
            lines.append(f"  {rule} ({_times(count)}), first: {message}")
        return "\n".join([*lines, f"  checked: {', '.join(self.checked)}", *(f"  {note}" for note in self.notes)])


def _times(count: int) -> str:
    """Return how often: ``1 time``, ``5 times``."""
    return f"{count:,} time{'' if count == 1 else 's'}"


def validate(  # noqa: PLR0913 (options by name)
    schedule: Schedule | pd.DataFrame | str | Path,
    *,
    trace: Trace | None = None,
    processors: int | None = None,
    policy: str | None = None,
    semantics: str | None = None,
    overrun: str = "extend",
    least_run_time: float = 0.0,
    requests: str = "logged",
    dependencies: str | None = None,
    tolerance: float = 1e-6,
) -> ValidationReport:
    """Check that a schedule is possible, and that it keeps the promises of its policy.

    Parameters
    ----------
    schedule : Schedule, pandas.DataFrame, str or Path
        A schedule, or a table of starts from another simulator, or its file; see ``schedule_from_table`` for the
        columns.
    trace : Trace, optional
        The trace that was simulated; needed with a table. The schedule is then compared with it too.
    processors : int, optional
        Size of the machine; by default the schedule's, with a table the trace's.
    policy : str, optional
        The policy whose promises to check, as for ``simulate``; by default the schedule's policy. If it promises
        nothing, the report says so.
    semantics : {"instant", "pyss", "cqsim", "dr_evt", "raps"}, optional
        How events of one instant are ordered. By default that of the schedule; unknown for a table.
    overrun : {"extend", "kill", "run-on"}
        With a table: what was done with jobs that ran longer than requested: the request was raised, the run was cut,
        or neither.
    least_run_time : float
        With a table: shorter runs of the trace lasted this long, s.
    requests : str
        With a table: what jobs asked for, as for ``simulate``: "logged", or changed, as by "factor:factor=2".
    dependencies : {"follow", "ignore"}, optional
        Whether jobs must wait for those that they depend on by the trace; else the report says in a note how many do
        not. By default as the schedule's options say; of a table they must if it has ``ready_time``.
    tolerance : float
        Times may differ by this, s.

    Returns
    -------
    ValidationReport
        What was checked, and every violation. Jobs with missing, infinite or negative values are reported, and the
        other rules are checked without them.

    Raises
    ------
    ParameterError
        A table comes without a trace, a column is missing, a job of a table is unknown or repeated, or the policy or
        the semantics is unknown.
    UnreadableLogError
        The file cannot be read.

    Notes
    -----
    See ``docs/validation.md`` for each rule and promise. Cost: n log n in runs; the promise of conservative: at each
    completion, waiting jobs times planned and running ones.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 5], run_time=[10, 7],
    ...                            requested_processors=[3, 2])
    >>> print(validate(pd.DataFrame({"job_number": [1, 2], "start_time": [0, 5]}), trace=trace))
    schedule, 2 jobs on 4 processors: NOT VALID, 1 of 11 rules broken
      capacity (1 time), first: 5 of 4 processors in use from 5 s on, by jobs 1, 2
      checked: values, once, submission, run-time, work, overhead, overlap, width, capacity, columns, trace
      promises not checked: the policy is not known
    """
    chosen, parameters = read_policy(policy) if policy else (None, {})
    for option, value, choices in (("semantics", semantics, SEMANTICS), ("dependencies", dependencies, DEPENDENCIES)):
        if value is not None:
            check_choice(option, value, choices)
    was_stopped = False
    if isinstance(schedule, Schedule):
        given = schedule
    else:
        if trace is None:
            raise ParameterError("a table of starts is checked against its trace; pass trace=")
        table = schedule if isinstance(schedule, pd.DataFrame) else read_schedule(schedule)
        dependencies = dependencies or (FOLLOW if "ready_time" in table else None)
        was_stopped = "preemptions" in table and bool((table["preemptions"] > 0).any())
        given = schedule_from_table(
            table,
            trace,
            processors,
            semantics=semantics,
            overrun=overrun,
            least_run_time=least_run_time,
            requests=requests,
        )
    require_columns(given)
    size = given.processors if processors is None else processors
    name = given.policy if policy is None else chosen.name if chosen else policy
    jobs, runs, findings = read_runs(given)
    history = read_history(jobs, runs)
    nothing: list[FoundViolations] = []
    of_trace = (np.full(len(given), -1), np.empty(0, np.int64), nothing)
    row, row_of_rest, differing = of_trace if trace is None else check_jobs(given, jobs, trace)
    for check in (
        check_once(given, jobs, runs, history),
        check_runs(jobs, runs, history, size, tolerance),
        check_work(jobs, runs, history, tolerance, is_fixed=not given.options.get(WAITS_ON_PROCESSORS)),
        check_overhead(given, jobs, runs, history, trace, row, tolerance),
        check_capacity(jobs, runs, size, tolerance),
        check_columns(given, jobs, runs, history, tolerance),
        differing,
    ):
        findings += broken_of(check)
    checked, notes = [rule for rule in RULES if rule not in ("trace", "dependencies")], []
    queued = jobs
    if trace is None:
        notes.append("not checked against a trace: none is given")
    else:
        checked.append("trace")
        findings += broken_of(check_trace(given, jobs, runs, history, trace, row, tolerance))
        follows = (dependencies or given.options.get("dependencies")) == FOLLOW
        waiting = find_waiting(given, jobs, trace, row, row_of_rest)
        if waiting is not None and follows:
            checked.append("dependencies")
            findings += broken_of(check_dependencies(waiting, given, jobs, runs, trace, tolerance))
            queued = in_queue(jobs, waiting.ready)
        elif waiting is not None:
            notes.append(note_of(waiting, jobs, tolerance))
    if {finding.rule for finding in findings} & {"values", "once", "run-time"}:
        notes.append("promises not checked: the rules above are broken")
    elif given.holds or given.is_partial or was_stopped:
        why = "jobs were held back" if given.holds else "the simulation was not over"
        why = "jobs were stopped, of whose runs a table of starts has the last only" if was_stopped else why
        notes.append(f"promises not checked: {why}")
    else:
        order = given.options.get("semantics") if semantics is None else semantics
        del history
        promises = _promises_of(name, {**given.options, **parameters})
        promised, remarks, broken = _check_promises(promises, jobs, queued, runs, size, name, order, tolerance)
        checked, notes, findings = [*checked, *promised], [*notes, *remarks], [*findings, *broken]
    return ValidationReport(
        violations_of(findings, EXAMPLES), tuple(checked), tuple(notes), len(jobs.number), size, name
    )


def _promises_of(policy: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a policy promises with its parameters among some options; nothing where there is no such policy."""
    known: dict[str, Policy] = list_policies()
    if policy not in known:
        return ()
    own = [name for name in known[policy].parameters.names() if name in options and name not in known[policy].fixed]
    return known[policy].promised({name: options[name] for name in own})


def _check_promises(
    promises: tuple[str, ...],
    jobs: SoundJobs,
    queued: SoundJobs,
    runs: SoundRuns,
    processors: int,
    policy: str,
    semantics: str | None,
    tolerance: float,
) -> tuple[list[str], list[str], list[FoundViolations]]:
    """Return the promises that were checked, remarks, and what is broken; ``queued``: as the jobs entered the queue."""
    if not promises:
        known = f"none is known of policy {policy!r}" if policy else "the policy is not known"
        return [], [f"{policy} promises nothing" if policy in list_policies() else f"promises not checked: {known}"], []
    if set(promises) <= _OF_STOPPED:
        checks: dict[str, Callable[[], Broken]] = {
            "strict-fairness": partial(find_unfair_delays, queued, runs, processors, tolerance),
            "no-idle-processors": partial(find_idle_processors, queued, runs, processors, tolerance),
            "no-stop-in-vain": partial(find_stops_in_vain, queued, runs),
            "one-stop": partial(find_repeated_stops, queued, runs),
        }
        return _checked(promises, checks, None, jobs)
    if runs.stopped.any():
        return [], ["promises not checked: jobs were stopped or resized"], []
    if semantics == "cqsim" and (jobs.requested > jobs.estimated).any():
        return [], ["promises not checked: cqsim expects running jobs to run as long as requested"], []
    order = by_submission(queued)
    some = slice(None) if order is None else order
    turn = np.empty(len(jobs.number), np.int64)
    turn[runs.job] = np.arange(len(turn))
    starts = Starts(
        queued.submit[some],
        jobs.start[some],
        jobs.end[some],
        jobs.processors[some],
        jobs.estimated[some],
        turn[some],
    )
    # A job without a length ends before its plan does, whatever was estimated.
    planned_end = starts.start_time + planned_times(starts.estimated_time)
    exact = bool((starts.end_time >= planned_end - tolerance).all())
    if "exact-reservation" in promises and not exact and SEMANTICS.get(semantics or "") != INSTANT:
        return [], [f"promises not checked: {policy} keeps reservations only with exact estimates above 0 s"], []
    if {"reservation", "fixed-reservation"} & set(promises) and not exact and semantics is None:
        return [], [f"promises not checked: those of {policy} depend on the semantics; pass semantics="], []
    return _checked(promises, _checks(starts, processors, semantics, tolerance), order, jobs)


def _checked(
    promises: tuple[str, ...], checks: dict[str, Callable[[], Broken]], order: IntArray | None, jobs: SoundJobs
) -> tuple[list[str], list[str], list[FoundViolations]]:
    """Return promises, how many there were of each, and what is broken; ``order`` has the rows that they speak of.

    None: the rows of the jobs, in their order.
    """
    notes, findings = [], []
    for promise in promises:
        broken = checks[promise]()
        reason = ", or ended before its plan" if promise == "exact-reservation" else ""
        excused = f", {broken.excused:,} excused: a job outlived its estimate{reason}" if broken.excused else ""
        notes.append(f"{promise}: {broken.made:,} promises{excused}")
        if len(broken.job):
            findings.append(_told(promise, broken, order, jobs))
    return list(promises), notes, findings


def _checks(
    starts: Starts, processors: int, semantics: str | None, tolerance: float
) -> dict[str, Callable[[], Broken]]:
    """Return how each promise is checked."""
    heads = partial(
        find_delayed_heads, starts, processors, tolerance, one_decision=SEMANTICS.get(semantics or "") == INSTANT
    )
    kinds = ((True, False), (False, False), (True, True))
    compressed, fixed, replanned = (PlanningManner(processors, semantics == "pyss", *kind) for kind in kinds)
    return {
        "order": partial(find_out_of_order, starts, tolerance),
        "no-idle-head": partial(find_idle_heads, starts, processors, tolerance),
        "head-reservation": partial(heads, at_every_start=False),
        "backfilling": partial(heads, at_every_start=True),
        "reservation": partial(find_broken_reservations, starts, compressed, tolerance),
        "exact-reservation": partial(find_broken_reservations, starts, replanned, tolerance),
        "fixed-reservation": partial(find_broken_reservations, starts, fixed, tolerance),
    }


def _told(promise: str, broken: Broken, order: IntArray | None, jobs: SoundJobs) -> FoundViolations:
    """Return broken promises as a finding."""
    job = broken.job if order is None else order[broken.job]
    latest = np.full(len(jobs.number), np.nan)
    latest[job] = broken.latest
    words = _WORDS[promise.removeprefix("exact-").removeprefix("fixed-")]

    def say(i: int) -> str:
        return f"job {jobs.number[i]} starts at {jobs.start[i]:.10g} s; {words.format(latest[i])}"

    return FoundViolations(
        promise, job, jobs.start if promise == "order" else latest, jobs.number, jobs.occurrence, say
    )
