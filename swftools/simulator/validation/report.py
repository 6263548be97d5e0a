# SPDX-License-Identifier: BSD-3-Clause
"""Is a schedule possible, and does it keep what its policy promises? The check shares no code with the engine.

The rules of ``RULES`` hold for every schedule; what a policy promises beside them stands in its decorator, and is
recomputed by ``swftools.simulator.validation.promises``. Schedules of other simulators are checked as well, from a
table of starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import counted
from swftools.output.shown_html import ShowsItself
from swftools.parameters.choices import DEPENDENCIES, FOLLOW, HEADS, SEMANTICS
from swftools.simulator.option_checks import check_choice
from swftools.simulator.registry import read_policy
from swftools.simulator.schedule import WAITS_ON_PROCESSORS, Schedule
from swftools.simulator.validation.against_trace import check_jobs, check_trace
from swftools.simulator.validation.foreign_nodes import ask_of_policy, table_of
from swftools.simulator.validation.foreign_schedules import read_schedule, schedule_from_table
from swftools.simulator.validation.nodes import OnNodes
from swftools.simulator.validation.on_nodes import ready_times_of
from swftools.simulator.validation.promise_checks import check_promises, promises_of
from swftools.simulator.validation.rules import RULES, check_capacity, check_columns, check_once, check_runs
from swftools.simulator.validation.runs import (
    FoundViolations,
    broken_of,
    in_queue,
    read_runs,
    require_columns,
    violations_of,
)
from swftools.simulator.validation.waiting_for_others import check_dependencies, find_waiting, note_of
from swftools.simulator.validation.work import check_overhead, check_work, read_history
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.machines.asked import Asked
    from swftools.machines.description import MachineDescription
    from swftools.machines.node_table import NodeTable
    from swftools.simulator.slurm.asked import SlurmJobs

EXAMPLES = 5
"""Violations of a rule that a report shows, the first ones by time; it counts the others."""


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
    nodes : int
        Of the machine, whose ``processors`` are then the cores of all; 0 of a pool.
    """

    violations: pd.DataFrame
    checked: tuple[str, ...]
    notes: tuple[str, ...]
    jobs: int
    processors: int
    policy: str
    nodes: int = 0

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
        of_nodes = f"{counted(self.nodes, 'node')} ({counted(self.processors, 'core')})"
        machine = of_nodes if self.nodes else counted(self.processors, "processor")
        lines = [f"{name}, {counted(self.jobs, 'job')} on {machine}: {verdict}"]
        for rule, count, message in zip(broken["rule"], broken["count"], broken["message"], strict=True):
            lines.append(f"  {rule} ({_times(count)}), first: {message}")
        return "\n".join([*lines, f"  checked: {', '.join(self.checked)}", *(f"  {note}" for note in self.notes)])


def _times(count: int) -> str:
    """Return how often: ``1 time``, ``5 times``."""
    return f"{count:,} time{'' if count == 1 else 's'}"


def validate(  # noqa: PLR0913, PLR0915 (options by name; each kind of check in turn)
    schedule: Schedule | pd.DataFrame | str | Path,
    *,
    trace: Trace | None = None,
    processors: int | None = None,
    machine: NodeTable | MachineDescription | str | Path | None = None,
    asked: Asked | None = None,
    heads: str | None = None,
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
    machine : NodeTable, MachineDescription, str or Path, optional
        The nodes of the machine, or the file that describes them; by default the schedule's, if it is on nodes.
    asked : Asked, optional
        On nodes: what the jobs of the trace ask for; by default as ``ask_of`` reads it from the trace.
    heads : {"partition", "machine"}, optional
        On nodes: whose first waiting job promises are made to; by default as the schedule's options say, else that of
        each partition.
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
        A table comes without a trace, or ``processors`` with a machine of nodes, or ``heads`` with a pool; a column is
        missing, a job of a table is unknown or repeated, or the policy or the semantics is unknown.
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
    for option, value, choices in (
        ("semantics", semantics, SEMANTICS),
        ("dependencies", dependencies, DEPENDENCIES),
        ("heads", heads, HEADS),
    ):
        if value is not None:
            check_choice(option, value, choices)
    table = None if machine is None else table_of(machine)
    if table is not None and processors is not None:
        raise ParameterError(
            "processors= (--processors) and machine= (--machine) are both given: they are two machines; give one"
        )
    if isinstance(schedule, Schedule):
        given = schedule if table is None else replace(schedule, machine=table, processors=table.processors)
        was_stopped = False
    else:
        starts, own = _starts_of(schedule, trace)
        dependencies = dependencies or (FOLLOW if "ready_time" in starts else None)
        was_stopped = "preemptions" in starts and bool((starts["preemptions"] > 0).any())
        given = schedule_from_table(
            starts,
            own,
            processors,
            semantics=semantics,
            overrun=overrun,
            least_run_time=least_run_time,
            requests=requests,
            machine=table,
            asked=asked,
        )
    require_columns(given)
    _check_kind_of_machine(given, processors, heads)
    size = given.processors if processors is None else processors
    name = given.policy if policy is None else chosen.name if chosen else policy
    jobs, runs, findings = read_runs(given)
    history = read_history(jobs, runs)
    nothing: list[FoundViolations] = []
    of_trace = (np.full(len(given), -1), np.empty(0, np.int64), nothing)
    row, row_of_rest, differing = of_trace if trace is None else check_jobs(given, jobs, trace)
    for check in (
        check_once(given, jobs, runs, history),
        check_runs(jobs, runs, history, size, tolerance, on_nodes=given.machine is not None),
        check_work(jobs, runs, history, tolerance, is_fixed=not given.options.get(WAITS_ON_PROCESSORS)),
        check_overhead(given, jobs, runs, history, trace, row, tolerance),
        check_capacity(jobs, runs, size, tolerance),
        check_columns(given, jobs, runs, history, tolerance),
        differing,
    ):
        findings += broken_of(check)
    checked, notes = [rule for rule in RULES if rule not in ("trace", "dependencies")], []
    queued = jobs
    known: Asked | SlurmJobs | None = None
    if trace is None:
        notes.append("not checked against a trace: none is given")
    else:
        checked.append("trace")
        findings += broken_of(check_trace(given, jobs, runs, history, trace, row, tolerance))
        follows = (dependencies or given.options.get("dependencies")) == FOLLOW
        waiting = find_waiting(given, jobs, trace, row, row_of_rest)
        if given.machine is not None:
            known = ask_of_policy(trace, given.machine, name) if asked is None else asked
            # Who asked to run later is not eligible before, whatever else the job waits for.
            waiting = waiting and waiting._replace(ready=np.fmax(waiting.ready, ready_times_of(known, jobs, row)))
        if waiting is not None and follows:
            checked.append("dependencies")
            findings += broken_of(check_dependencies(waiting, given, jobs, runs, trace, tolerance))
            queued = in_queue(jobs, waiting.ready)
        elif waiting is not None:
            notes.append(note_of(waiting, jobs, tolerance))
    del history
    on_nodes = None
    if given.machine is not None:
        on_nodes = OnNodes(given, given.machine, jobs, runs, trace, known, row, row_of_rest, tolerance)
        checked, notes, findings = on_nodes.added_to(checked, notes, findings)
    order = given.options.get("semantics") if semantics is None else semantics
    promises = promises_of(name, {**given.options, **parameters})
    promised: list[str] = []
    broken: list[FoundViolations] = []
    if why := _why_no_promises(given, findings, was_stopped):
        remarks = [f"promises not checked: {why}"]
    elif on_nodes is None:
        promised, remarks, broken = check_promises(promises, jobs, queued, runs, size, name, order, tolerance)
    else:
        promised, remarks, broken = on_nodes.check_promises(promises, queued, name, order, heads)
    checked, notes, findings = [*checked, *promised], [*notes, *remarks], [*findings, *broken]
    told, nodes = violations_of(findings, EXAMPLES), 0 if given.machine is None else len(given.machine)
    return ValidationReport(told, tuple(checked), tuple(notes), len(jobs.number), size, name, nodes)


def _starts_of(given: pd.DataFrame | str | Path, trace: Trace | None) -> tuple[pd.DataFrame, Trace]:
    """Return a table of starts, which may stand in a file, and the trace that it is of."""
    if trace is None:
        raise ParameterError("a table of starts is checked against its trace; pass trace=")
    return given if isinstance(given, pd.DataFrame) else read_schedule(given), trace


def _check_kind_of_machine(schedule: Schedule, processors: int | None, heads: str | None) -> None:
    """Refuse what is of a pool where the machine has nodes, and what is of nodes on a pool."""
    if schedule.machine is not None and processors is not None:
        raise ParameterError(
            "processors= (--processors) is of a pool, and this schedule is on a machine of nodes; leave it out, or "
            "give machine= (--machine)"
        )
    if schedule.machine is None and heads is not None:
        raise ParameterError(
            "heads= (--heads) is of a machine of nodes, and this schedule is on a pool; leave it out, or give "
            "machine= (--machine)"
        )


def _why_no_promises(schedule: Schedule, findings: list[FoundViolations], was_stopped: bool) -> str:
    """Return why promises cannot be checked, whatever they are; nothing if they may be."""
    if {finding.rule for finding in findings} & {"values", "once", "run-time"}:
        return "the rules above are broken"
    if was_stopped:
        return "jobs were stopped, of whose runs a table of starts has the last only"
    if schedule.holds or schedule.is_partial:
        return "jobs were held back" if schedule.holds else "the simulation was not over"
    return ""
