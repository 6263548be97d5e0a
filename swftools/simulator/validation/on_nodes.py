# SPDX-License-Identifier: BSD-3-Clause
"""The rules that hold for every schedule on a machine of nodes, beside those that hold for all schedules.

What a run has on which nodes stands in ``Schedule.segments``. What jobs ask for is held against it where the trace is
given. Nothing here is shared with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.asked import Asked
from swftools.machines.node_table import GPU, NodeTable
from swftools.output.shown_text import shown
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.validation import node_use
from swftools.simulator.validation.gone_nodes import enough_come_back
from swftools.simulator.validation.node_parts import BY_NODE, Parts, parts_of_runs
from swftools.simulator.validation.node_runs import UNKNOWN, UNTOLD, NodeRuns
from swftools.simulator.validation.runs import (
    FoundViolations,
    SoundJobs,
    SoundRuns,
    at,
    floats,
    margin_of,
    of_runs,
)
from swftools.simulator.validation.waiting_for_others import NEVER_BACK, NOT_ENDED, TAKEN_OUT
from swftools.trace import Trace

NODE_RULES = {
    "nodes": "a run names different nodes of the machine, and has as many processors as these have of it",
    "node-capacity": "on no node more cores, memory or GPUs are in use than it has, at any instant",
    "node-size": "every node of a run is as large as the run needs",
    "exclusive": "who has nodes alone is alone there",
    "partition": "all nodes of a run are of its partition",
    "limits": "no partition lets a job in that is beyond its limits",
    "asked": "a run has what its job asks for: nodes, and on each cores, memory and GPUs, in one of its partitions",
    "ready": "no job starts before the time from which it asked to run",
}
"""What holds beside ``RULES`` on nodes; the last two only where the trace is given."""

_NO_LIST = "without a number for each node, or with another largest one than stands in cores_per_node and the like"
_NAMES = {node_use.CORES: "cores", node_use.MEMORY: "MB of memory", node_use.GPUS: "GPUs"}


def check_nodes(
    schedule: Schedule, jobs: SoundJobs, runs: SoundRuns, held: NodeRuns, table: NodeTable, tolerance: float
) -> Iterator[FoundViolations]:
    """Check what a schedule says by itself; ``held`` has what each of the runs has."""
    yield of_runs(
        "nodes",
        ~held.sound,
        jobs,
        runs,
        lambda i: f"a run of job {jobs.number[runs.job[i]]} {_what_is_wrong_with(held, i, table)}",
    )
    parts = parts_of_runs(schedule, held)
    missing = (held.cores < 1) | (held.memory < 0) | (held.gpus < 0)
    yield of_runs(
        "nodes",
        missing,
        jobs,
        runs,
        _of_job(jobs, runs, "has no cores, memory or GPUs a node that can be"),
    )
    yield of_runs(
        "nodes",
        held.sound & ~missing & parts.is_wrong,
        jobs,
        runs,
        _of_job(jobs, runs, f"has lists ({', '.join(f'{name}_by_node' for name in BY_NODE)}) {_NO_LIST}"),
    )
    sound = held.sound & ~missing & ~parts.is_wrong
    held = held._replace(sound=sound)
    parts = parts._replace(held=parts.held._replace(sound=sound[parts.run]))
    expected = parts.sums_of(parts.held.nodes * parts.held.cores)
    if held.is_exclusive.any():
        inside = np.concatenate([[0], np.cumsum(table.cores)])
        high, low = (np.clip(ranges, 0, len(table) - 1) for ranges in (held.high, held.low))
        expected = np.where(held.is_exclusive, held.sum_of(inside[high + 1] - inside[low]), expected)
    yield of_runs(
        "nodes",
        sound & (expected != runs.processors),
        jobs,
        runs,
        lambda i: (
            f"a run of job {jobs.number[runs.job[i]]} has {runs.processors[i]} processors; on its nodes it has "
            f"{expected[i]}"
        ),
    )
    yield from _check_use(jobs, runs, parts, table, tolerance)
    yield from _check_partitions(schedule, jobs, runs, held, parts, table, tolerance)


def _of_job(jobs: SoundJobs, runs: SoundRuns, what: str) -> Callable[[int], str]:
    """Return what to say of a run."""
    return lambda i: f"a run of job {jobs.number[runs.job[i]]} {what}"


def _what_is_wrong_with(held: NodeRuns, run: int, table: NodeTable) -> str:
    """Return why the nodes of a run cannot be: there are none, or not such ones, or one is there twice."""
    own = slice(held.begin[run], held.begin[run + 1])
    low, high, last = held.low[own], held.high[own], len(table) - 1
    if not len(low):
        return "has no node"
    ends = np.stack([low, high], axis=1).ravel()
    if len(outside := ends[(ends < 0) | (ends > last)]):
        return f"has node {outside[0]}; the machine has {len(table)}: 0 to {last}"
    if (low <= high).all():
        order = np.argsort(low, kind="stable")
        reached = np.maximum.accumulate(high[order])
        twice = np.flatnonzero(low[order][1:] <= reached[:-1])
        if len(twice):
            node = low[order][twice[0] + 1]
            return f"has node {node} ({shown(table.names[node])}) twice"
    return "has no ranges of nodes that rise: each is its first and its last node, the least first"


def _check_use(
    jobs: SoundJobs, runs: SoundRuns, parts: Parts, table: NodeTable, tolerance: float
) -> Iterator[FoundViolations]:
    """Check that nothing is in use twice; named is who started last."""
    held = parts.held
    begin = runs.start[parts.run]
    end = np.where(runs.end > runs.start, np.maximum(runs.end - tolerance, runs.start), runs.start)[parts.run]
    of_part, on_node = node_use.find_overfull_nodes(begin, end, held, table)
    found = np.flatnonzero(of_part)[::-1]  # of several parts of a run the first is told
    wrong, part = np.zeros(len(runs.start), np.int8), np.zeros(len(runs.start), np.int64)
    wrong[parts.run[found]], part[parts.run[found]] = of_part[found], found

    def number(run: int) -> int:
        return int(jobs.number[runs.job[run]])

    def name(run: int) -> str:
        return shown(table.names[on_node[part[run]]])

    def here(run: int) -> IntArray:
        """Return the parts of runs that are on the node when a run starts."""
        own, node = int(part[run]), on_node[part[run]]
        others = np.flatnonzero((begin <= begin[own]) & (end > begin[own]) & held.sound)
        is_there = [other for other in others if other == own or node in held.numbers(int(other))]
        return np.array(is_there if own in is_there else [*is_there, own], np.int64)

    def others_of(there: IntArray) -> str:
        names = [str(other) for other in at(jobs.number, runs.job[parts.run[there]], -1)]
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return ", ".join(names[:10]) + more

    def say_use(run: int) -> str:
        there, of = here(run), int(wrong[run])
        unit = GPU if of == node_use.GPUS else 1
        columns = {
            node_use.CORES: (held.cores, table.cores),
            node_use.MEMORY: (held.memory, table.memory),
            node_use.GPUS: (held.gpus, table.gpus),
        }
        used, has = int(columns[of][0][there].sum()), int(columns[of][1][on_node[part[run]]])
        return (
            f"{used / unit:.10g} of {has / unit:.10g} {_NAMES[of]} of node {name(run)} in use from "
            f"{runs.start[run]:.10g} s on, by jobs {others_of(there)}"
        )

    def say_company(run: int) -> str:
        return (
            f"jobs {others_of(here(run))} are on node {name(run)} from {runs.start[run]:.10g} s on; one of them has it "
            "alone"
        )

    def say_small(run: int) -> str:
        own, node = part[run], on_node[part[run]]
        needs = f"{held.cores[own]} cores, {held.memory[own]} MB and {held.gpus[own] / GPU:.10g} GPUs"
        has = f"{table.cores[node]}, {table.memory[node]} and {table.gpus[node] / GPU:.10g}"
        return f"a run of job {number(run)} has {needs} of node {name(run)}, which has {has}"

    yield of_runs("node-size", wrong == node_use.TOO_SMALL, jobs, runs, say_small)
    yield of_runs("exclusive", wrong == node_use.COMPANY, jobs, runs, say_company)
    is_full = (wrong == node_use.CORES) | (wrong == node_use.MEMORY) | (wrong == node_use.GPUS)
    yield of_runs("node-capacity", is_full, jobs, runs, say_use)


def _check_partitions(
    schedule: Schedule,
    jobs: SoundJobs,
    runs: SoundRuns,
    held: NodeRuns,
    parts: Parts,
    table: NodeTable,
    tolerance: float,
) -> Iterator[FoundViolations]:
    """Check that runs are on nodes of their partitions, and jobs within what these allow."""
    place = held.partition
    outside = np.zeros(len(place), np.bool_)
    for number, part in enumerate(table.partitions):
        own = (place == number) & held.sound
        if own.any():
            outside |= own & held.any_range(leaves_nodes(held, part.nodes, len(table)))

    def say(i: int) -> str:
        what = (
            "names no partition of the machine"
            if place[i] < 0
            else f"has nodes outside of {_name(table, int(place[i]))}"
        )
        return f"a run of job {jobs.number[runs.job[i]]} {what}"

    yield of_runs("partition", outside | (place == UNKNOWN), jobs, runs, say)
    limited = np.array(
        [(each.min_nodes, each.max_nodes, each.max_cores, each.max_memory_per_core) for each in table.partitions]
    )
    fewest, most, most_cores, memory = (np.append(column, 0)[place] for column in limited.T)
    fewest, most, most_cores, memory = (np.where(place < 0, 0, each) for each in (fewest, most, most_cores, memory))
    alone = np.append([part.is_exclusive for part in table.partitions], False)[place] & (place >= 0)
    longest = np.where(place < 0, np.inf, np.append([part.max_time for part in table.partitions], np.inf)[place])
    requested = at(jobs.requested, runs.job)
    if schedule.options.get("overrun", "extend") == "extend":  # a request that was raised to the run was less before
        requested = np.where(at(jobs.run, runs.job) >= requested - tolerance, 0.0, requested)
    of_part = parts.held
    has_much = parts.any_of(of_part.memory > memory[parts.run] * of_part.cores)
    for wrong, what in (
        (requested > longest + tolerance, "asks for more time than"),
        (held.nodes < fewest, "has fewer nodes than"),
        ((most > 0) & (held.nodes > most), "has more nodes than"),
        ((most_cores > 0) & (held.cores > most_cores), "has more cores on a node than"),
        ((memory > 0) & ~held.is_exclusive & has_much, "has more memory a core than"),
        (alone & ~held.is_exclusive, "shares nodes, which is more than"),
    ):
        yield of_runs(
            "limits",
            wrong & held.sound,
            jobs,
            runs,
            lambda i, what=what: (  # type: ignore[misc]
                f"job {jobs.number[runs.job[i]]} {what} {_name(table, int(place[i]))} allows"
            ),
        )


def _name(table: NodeTable, place: int) -> str:
    return f"partition {shown(table.partitions[place].name)}"


def leaves_nodes(held: NodeRuns, nodes: IntArray, count: int) -> BoolArray:
    """Return which ranges have a node that is not among some; those of runs that are not sound may be anything."""
    inside = np.zeros(count + 1, np.int64)
    inside[nodes + 1] = 1
    inside = np.cumsum(inside)
    low, high = (np.clip(ranges, 0, count - 1) for ranges in (held.low, held.high))
    return np.asarray(inside[high + 1] - inside[low] < high - low + 1)


def check_asked(
    jobs: SoundJobs,
    runs: SoundRuns,
    held: NodeRuns,
    table: NodeTable,
    asked: Asked,
    row: IntArray,
    tolerance: float,
) -> Iterator[FoundViolations]:
    """Check that runs have what their jobs ask for, when they ask for it; ``row`` has the trace's row of each job."""
    of_run = at(row, runs.job, -1)
    known = of_run >= 0
    code = np.where(known, at(asked.code, of_run, 0), 0)

    def number(run: int) -> int:
        return int(jobs.number[runs.job[run]])

    yield of_runs(
        "asked",
        code != 0,
        jobs,
        runs,
        lambda i: f"job {number(i)} cannot run on this machine: {shown(asked.reasons[code[i]])}",
    )
    can = known & (code == 0)
    for values, wanted, unit, what in (
        (held.nodes, asked.nodes, 1, "nodes"),
        (held.cores, asked.cores, 1, "cores a node"),
        (held.memory, asked.memory, 1, "MB of memory a node"),
        (held.gpus, asked.gpus, GPU, "GPUs a node"),
    ):
        expected = at(wanted, of_run, 0)
        yield of_runs(
            "asked",
            can & held.sound & (values != expected),
            jobs,
            runs,
            lambda i, values=values, expected=expected, unit=unit, what=what: (  # type: ignore[misc]
                f"a run of job {number(i)} has {values[i] / unit:.10g} {what}; it asks for {expected[i] / unit:.10g}"
            ),
        )
    alone = at(asked.is_exclusive, of_run, False)
    yield of_runs(
        "asked",
        can & (held.is_exclusive != alone),
        jobs,
        runs,
        lambda i: f"job {number(i)} {'has to have' if alone[i] else 'did not ask to have'} its nodes alone",
    )
    yield of_runs(
        "asked",
        can & held.sound & ~_is_in_a_set(held, len(table), asked, np.where(can, at(asked.place, of_run, -1), -1)),
        jobs,
        runs,
        lambda i: f"a run of job {number(i)} has nodes on which the job may not run, or not in that partition",
    )
    ready = ready_of(asked.ready_time, of_run)
    yield of_runs(
        "ready",
        runs.start < ready - margin_of(runs.start, tolerance),
        jobs,
        runs,
        lambda i: f"job {number(i)} starts at {runs.start[i]:.10g} s; it asked to run from {ready[i]:.10g} s on",
    )


def _is_in_a_set(held: NodeRuns, count: int, asked: Asked, place: IntArray) -> BoolArray:
    """Return which runs have nodes of one set of their place, the one of their partition where that is told."""
    is_in = np.zeros(len(place), np.bool_)
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(len(asked.places) + 1))
    for number, where in enumerate(asked.places):
        own = order[bounds[number] : bounds[number + 1]]
        if not len(own):
            continue
        for nodes, partition in zip(where.nodes, where.partitions, strict=True):
            fits = (held.partition[own] == partition) | (held.partition[own] == UNTOLD)
            is_in[own[fits]] |= _are_inside(held, own[fits], nodes, count)
    return is_in


def _are_inside(held: NodeRuns, some: IntArray, nodes: IntArray, count: int) -> BoolArray:
    """Return which of some runs have no node but of a set."""
    length = np.diff(held.begin)[some]
    begin = np.concatenate([[0], np.cumsum(length)])
    place = np.arange(begin[-1]) + np.repeat(held.begin[some] - begin[:-1], length)
    part = held._replace(begin=begin, low=held.low[place], high=held.high[place])
    return ~part.any_range(leaves_nodes(part, nodes, count))


def ready_of(ready_time: FloatArray, row: IntArray) -> FloatArray:
    """Return from when on jobs may start, by rows of the trace; -inf where that is not said."""
    if not len(ready_time):
        return np.full(len(row), -np.inf)
    ready = at(ready_time, row)
    return np.where(np.isnan(ready), -np.inf, ready)


def ready_times_of(asked: Asked | SlurmJobs, jobs: SoundJobs, row: IntArray) -> FloatArray:
    """Return when jobs enter the queue: when submitted, or when they asked to."""
    return np.fmax(jobs.submit, ready_of(asked.ready_time, row))


def excluded_in_vain(
    schedule: Schedule,
    trace: Trace,
    code: npt.NDArray[np.integer[Any]],
    row_of_rest: IntArray,
    asked: Asked | None = None,
    table: NodeTable | None = None,
    *,
    shapes: bool = False,
) -> FoundViolations:
    """Check that nobody is excluded who can run; ``code`` is that of ``Asked``, ``row_of_rest`` the row of each.

    Who can run on this machine may be missing where the trace does not say when it was submitted or how long it ran,
    which the trace itself must show, or as it had not ended or was taken out, which the schedule must say. It may also
    say that too many nodes never come back, which is checked, unless jobs wait for certain ``shapes`` of nodes.
    """
    known = row_of_rest >= 0
    can_run = known & (at(code, row_of_rest, 1) == 0)
    lacks = np.isnan(at(trace.views.submit_time, row_of_rest, np.nan))
    run = at(trace.views.run_time, row_of_rest, np.nan)
    cancelled = schedule.options.get("cancelled", "drop")
    if cancelled == "drop":
        lacks |= np.isnan(run)
    elif cancelled == "full-request":
        lacks |= np.isnan(run) & ~(at(trace.views.requested_time, row_of_rest, np.nan) > 0)
    reason = np.full(len(known), "", dtype=object)
    if "reason" in schedule.excluded:
        told = schedule.excluded["reason"].astype("str")
        reason = told.fillna("").to_numpy(dtype=object)
        lacks |= told.str.startswith((NOT_ENDED, TAKEN_OUT), na=False).to_numpy(dtype=bool)
        is_stuck = told.str.startswith(NEVER_BACK, na=False).to_numpy(dtype=bool)
        checked = np.flatnonzero(is_stuck & can_run & (not shapes))
        lacks |= is_stuck
        if asked is not None and table is not None:
            lacks[checked] = ~enough_come_back(trace, asked, table, row_of_rest[checked])
    number = np.append(trace.views.job_number, -1)[row_of_rest]
    times = np.append(trace.views.submit_time, np.nan)[row_of_rest]
    occurrence = floats(schedule.excluded, "job_occurrence").astype(np.int64)

    def say(i: int) -> str:
        why = f"is excluded ({shown(reason[i])})" if reason[i] else "is excluded without a reason"
        return f"job {number[i]} {why}, and can run on this machine"

    return FoundViolations("asked", np.flatnonzero(can_run & ~lacks), times, number, occurrence, say)
