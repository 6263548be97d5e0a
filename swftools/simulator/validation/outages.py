# SPDX-License-Identifier: BSD-3-Clause
"""Whether a schedule follows the outages of its machine; nothing here is shared with the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.outages import DOWN, DRAIN, KINDS, NodeOutages, who_may
from swftools.output.shown_text import shown
from swftools.simulator.schedule import Schedule, ends_of
from swftools.simulator.validation.node_runs import NodeRuns
from swftools.simulator.validation.runs import OUTAGE, FoundViolations, SoundJobs, SoundRuns, at, of_runs
from swftools.trace import Trace

OUTAGE_RULES = {
    "outages": "nothing runs on a node that is down, nothing starts on one that is drained or reserved for others, and "
    "by an outage ends who is on a node that goes down",
    "foresight": "no job starts on a node that is known to go down, or to be reserved for others, before the job is "
    "expected to end",
}
"""What holds on machines with outages. Users of reservations are known where the trace is given."""


_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class _Parts(NamedTuple):
    """A row for each node, that is ever away, of each run."""

    run: IntArray
    node: IntArray


def check_outages(
    schedule: Schedule,
    jobs: SoundJobs,
    runs: SoundRuns,
    held: NodeRuns,
    table: NodeTable,
    trace: Trace | None,
    row: IntArray,
    tolerance: float,
) -> Iterator[FoundViolations]:
    """Check the rules of outages; ``row`` has the trace's row of each job."""
    outages, parts = table.outages, _parts_of(held, table)
    may = _who_may(trace, outages, at(row, runs.job, -1))
    starts_there, runs_into, ends_there, foreseen = (np.full(len(runs.job), -1) for _ in range(4))
    length = _expected(schedule, jobs, runs)
    order = np.argsort(parts.node, kind="stable")
    begins, ends = (np.searchsorted(parts.node[order], outages.node, side) for side in _SIDES)
    for each in range(len(outages)):
        run = parts.run[order[begins[each] : ends[each]]]
        start, end = runs.start[run], runs.end[run]
        begin, until, kind = outages.begin[each], outages.end[each], outages.kind[each]
        is_out = np.ones(len(run), np.bool_) if outages.who[each] < 0 else ~may[run, outages.who[each]]
        starts_there[run[is_out & (start >= begin) & (start < until - tolerance)]] = each
        if kind == DOWN:
            runs_into[run[(start < begin) & (end > begin + tolerance)]] = each
            ends_there[run[(start < begin) & (np.abs(end - begin) <= tolerance)]] = each
        if kind != DRAIN:
            is_known = is_out & (start < begin) & (outages.known[each] <= start)
            foreseen[run[is_known & (start + length[run] > begin + tolerance)]] = each

    def what(outage: int) -> str:
        node, kind = shown(table.names[outages.node[outage]]), KINDS[outages.kind[outage]]
        return (
            f"node {node}, which is away ({kind}) from {outages.begin[outage]:.10g} s to {outages.end[outage]:.10g} s"
        )

    def job(run: int) -> str:
        return f"a run of job {jobs.number[runs.job[run]]} from {runs.start[run]:.10g} s on"

    yield of_runs(
        "outages",
        starts_there >= 0,
        jobs,
        runs,
        lambda i: f"{job(i)} starts on {what(starts_there[i])}",
    )
    yield of_runs("outages", runs_into >= 0, jobs, runs, lambda i: f"{job(i)} runs on on {what(runs_into[i])}")
    by_outage = ends_of(schedule.segments) == OUTAGE
    yield of_runs(
        "outages",
        by_outage & (ends_there < 0),
        jobs,
        runs,
        lambda i: f"{job(i)} ends at {runs.end[i]:.10g} s by an outage, and no node of it goes down then",
    )
    yield of_runs(
        "foresight",
        foreseen >= 0,
        jobs,
        runs,
        lambda i: f"{job(i)} is expected to last {length[i]:.10g} s, on {what(foreseen[i])}, as is known",
    )


def _expected(schedule: Schedule, jobs: SoundJobs, runs: SoundRuns) -> FloatArray:
    """Return how long runs are expected to last as far as a schedule tells it, s; NaN where it does not.

    Where policies plan with requests, runs of jobs that never go on with work that was kept are expected to last as
    long as requested.
    """
    plans_by_request = schedule.options.get("predictor", "request") == "request"
    goes_on = str(schedule.options.get("on_outage", "")).startswith("checkpoint")
    return at(jobs.requested, runs.job) if plans_by_request and not goes_on else np.full(len(runs.job), np.nan)


def _who_may(trace: Trace | None, outages: NodeOutages, row: IntArray) -> BoolArray:
    """Return which runs may use what is reserved for whom; all of them where no trace tells it."""
    if trace is None:
        return np.ones((len(row), len(outages.holders)), np.bool_)
    group, may, _ = who_may(trace, outages)
    return np.asarray(may[np.append(group, 0)[row]] | (row < 0)[:, np.newaxis])


def _parts_of(held: NodeRuns, table: NodeTable) -> _Parts:
    """Return the nodes of sound runs that are ever away."""
    many = np.where(np.repeat(held.sound, np.diff(held.begin)), held.high - held.low + 1, 0)
    run = np.repeat(np.repeat(np.arange(len(held.sound)), np.diff(held.begin)), many)
    node = np.arange(len(run)) + np.repeat(held.low - (np.cumsum(many) - many), many)
    is_one = np.isin(node, table.outages.node)
    return _Parts(run[is_one], node[is_one])
