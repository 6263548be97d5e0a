# SPDX-License-Identifier: BSD-3-Clause
"""What is checked of a schedule because its machine has nodes: rules, and promises where the trace is given."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from swftools.kernel import IntArray
from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.output.amounts import counted
from swftools.parameters.choices import INSTANT, MACHINE, PARTITION, SEMANTICS
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.validation.node_promises import count_unpromised, promises_on_nodes, read_queue, run_of_jobs
from swftools.simulator.validation.node_reservations import are_exact, find_late_on_nodes, known_outages
from swftools.simulator.validation.node_runs import read_node_runs
from swftools.simulator.validation.on_nodes import (
    NODE_RULES,
    check_asked,
    check_nodes,
    excluded_in_vain,
    ready_times_of,
)
from swftools.simulator.validation.outage_promises import reservations_beside
from swftools.simulator.validation.outages import OUTAGE_RULES, check_outages
from swftools.simulator.validation.promise_checks import checked_promises, say_none
from swftools.simulator.validation.runs import (
    FoundViolations,
    SoundJobs,
    SoundRuns,
    at,
    broken_of,
    by_submission,
    in_queue,
)
from swftools.simulator.validation.slurm_asked import check_slurm_asked
from swftools.trace import Trace

OF_TRACE = ("asked", "ready")
"""Rules that need the trace."""

PLACEMENT = "placement not checked: which of the nodes that fit a job has"
"""What every report says."""

OF_FIRST = {"head-reservation", "backfilling"}
"""Promises that give the first waiting job a time."""

OF_ALL = ("reservation", "fixed-reservation")
"""Promises that give every job a time. A plan that is made anew may name other nodes, and so delay a job."""

MOST_SETS = 62
"""So many partitions a job may ask for, if promises are to be checked: each is a bit of a number."""


class OnNodes:
    """A schedule on nodes: which rules were checked, what is broken, remarks; and its promises on demand."""

    def __init__(
        self,
        schedule: Schedule,
        table: NodeTable,
        jobs: SoundJobs,
        runs: SoundRuns,
        trace: Trace | None,
        asked: Asked | SlurmJobs | None,
        row: IntArray,
        row_of_rest: IntArray,
        tolerance: float,
    ) -> None:
        self.schedule, self.table, self.jobs, self.runs = schedule, table, jobs, runs
        self.row, self.tolerance, self.trace = row, tolerance, trace
        self.checked: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.findings: list[FoundViolations] = []
        self.placement = find_placement(schedule.options.get("placement", "first-fit"))
        self.slurm = asked if isinstance(asked, SlurmJobs) else None
        self.asked = self.placement.able(asked, table) if isinstance(asked, Asked) else None
        self.held = read_node_runs(schedule, table)
        if len(runs.job) < len(schedule.segments):
            self.notes = ("nodes not checked: the rules above are broken",)
            return
        known = self.slurm or self.asked
        self.checked = tuple(rule for rule in NODE_RULES if known is not None or rule not in OF_TRACE)
        self.checked += tuple(OUTAGE_RULES) if len(table.outages) else ()
        assumed = () if known is None else known.assumed
        self.notes = (PLACEMENT, *(f"assumed: {what}" for what in assumed))
        for check in self._checks(trace, row_of_rest):
            self.findings += broken_of(check)

    def _checks(self, trace: Trace | None, row_of_rest: IntArray) -> Iterator[Iterator[FoundViolations]]:
        yield check_nodes(self.schedule, self.jobs, self.runs, self.held, self.table, self.tolerance)
        if len(self.table.outages):
            yield check_outages(
                self.schedule, self.jobs, self.runs, self.held, self.table, trace, self.row, self.tolerance
            )
        if self.slurm is not None and trace is not None:
            yield check_slurm_asked(
                self.schedule, self.jobs, self.runs, self.held, self.table, self.slurm, self.row, self.tolerance
            )
            yield iter([excluded_in_vain(self.schedule, trace, self._tried(trace, self.slurm).code, row_of_rest)])
        if self.asked is None or trace is None:
            return
        yield check_asked(self.jobs, self.runs, self.held, self.table, self.asked, self.row, self.tolerance)
        asked, shapes = self.asked, self.placement.waits_for_shape
        yield iter([excluded_in_vain(self.schedule, trace, asked.code, row_of_rest, asked, self.table, shapes=shapes)])

    def _tried(self, trace: Trace, asked: SlurmJobs) -> SlurmJobs:
        """Return what jobs ask; where the schedule says that some can never start, each was tried alone."""
        from swftools.simulator.slurm.alone import HOPELESS, as_simulated  # noqa: PLC0415 (where Slurm decides only)

        told = self.schedule.excluded.get("reason", pd.Series([], dtype="str"))
        if not told.astype("str").str.startswith(HOPELESS, na=False).any():
            return asked
        options = dict(self.schedule.options)
        run = RunOptions.among(options)
        return as_simulated(trace, asked, self.table, run, parameters=options, compiled=True)

    def added_to(
        self, checked: list[str], notes: list[str], findings: list[FoundViolations]
    ) -> tuple[list[str], list[str], list[FoundViolations]]:
        """Return what was checked, remarks and what is broken with those of nodes."""
        return [*checked, *self.checked], [*notes, *self.notes], [*findings, *self.findings]

    def _in_queue(self, queued: SoundJobs) -> SoundJobs:
        """Return jobs as they enter the queue: not before they asked to run."""
        if self.asked is None:
            return queued
        ready = ready_times_of(self.asked, queued, self.row)
        return in_queue(queued, ready) if (ready > queued.submit).any() else queued

    def check_promises(
        self,
        promises: tuple[str, ...],
        queued: SoundJobs,
        policy: str,
        semantics: str | None,
        heads: str | None,
    ) -> tuple[list[str], list[str], list[FoundViolations]]:
        """Return the promises that were checked, remarks, and what is broken."""
        if not promises:
            return [], [say_none(policy)], []
        why = self._why_not()
        if why or self.asked is None:
            return [], [f"promises not checked: {why}"], []
        one_head = (heads or self.schedule.options.get("heads", PARTITION)) == MACHINE
        queued = self._in_queue(queued)
        run = run_of_jobs(self.runs.job, len(self.jobs.number))
        order = by_submission(queued)
        queue = read_queue(self.jobs, queued, order, run, self.held, self.asked, self.row, self.table, one_head)
        one_decision = SEMANTICS.get(semantics or "") == INSTANT
        promise = None
        if len(self.table.outages) and self.trace is not None:
            promise = reservations_beside(self.table.outages, self.trace, queue.row)
        checks = promises_on_nodes(queue, self.tolerance, one_decision=one_decision, one_head=one_head, promise=promise)
        if self.trace is not None and are_exact(queue.starts, self.tolerance):
            away = known_outages(self.table.outages, len(self.table), self.trace, queue.row)
            checks |= dict.fromkeys(OF_ALL, partial(find_late_on_nodes, queue.starts, away, self.tolerance))
        known = tuple(each for each in promises if each in checks)
        notes = [
            f"{each} not checked: on nodes it is known only of jobs that end as estimated, and not at once"
            if each in OF_ALL
            else f"{each} not checked: it is not known on nodes{' that are away at times' if promise else ''}"
            for each in promises
            if each not in checks
        ]
        promised, remarks, broken = checked_promises(known, checks, order, self.jobs)
        if OF_FIRST & set(known) and not one_head and (left := count_unpromised(queue, self.tolerance)):
            notes.append(
                f"no time was promised to {counted(left, 'job')} that waited as the first of a partition: another was "
                "before, for a partition that has nodes or jobs in common with it"
            )
        return promised, [*notes, *remarks], broken

    def _why_not(self) -> str:
        """Return why promises cannot be checked; nothing if they can."""
        if self.asked is None:
            return "what jobs ask for stands in the trace, and none is given"
        if not self.checked or {finding.rule for finding in self.findings} & {"nodes", "asked", "partition"}:
            return "the rules above are broken"
        if (self.row < 0).any() or (at(self.asked.code, self.row, 1) != 0).any():
            return "not of all jobs is it known what they ask for"
        if self.placement.waits_for_shape:
            return f"placement={self.placement.to_text()!r} lets jobs wait for nodes that lie together"
        if len(self.table.outages) and (self.table.outages.known > -np.inf).any():
            return "nodes were away of which that was not known from the beginning"
        if self.runs.stopped.any() or len(self.runs.job) != len(self.jobs.number):
            return "jobs were stopped"
        if max((len(where.nodes) for where in self.asked.places), default=0) > MOST_SETS:
            return f"a job asks for more than {MOST_SETS} partitions"
        return ""
