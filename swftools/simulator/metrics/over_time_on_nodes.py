# SPDX-License-Identifier: BSD-3-Clause
"""What is held on the nodes of a machine over time: exact step functions, and their means by kind and partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.parameters import did_you_mean
from swftools.simulator.allocations import (
    Allocations,
    RunsOnNodes,
    allocations_of,
    knows_memory,
    machine_of,
    runs_on_nodes,
    uneven_runs,
)
from swftools.simulator.metrics.away import core_time_away, cores_away, times_of_outages
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.node_sweep import (
    NOBODY,
    HeldOverTime,
    InView,
    NodesInSweep,
    QueueInSweep,
    RunsInSweep,
    add_time,
    sweep_nodes,
)
from swftools.simulator.metrics.over_time import durations_of, max_of_steps, mean_of_steps
from swftools.simulator.metrics.step_functions import changes_at, instants_of
from swftools.simulator.schedule import Schedule

RESOURCES = {"utilization": "cores", "memory_utilization": "memory", "gpu_utilization": "gpus"}
"""The measures of resources, and of which each is."""


def nodes_over_time(schedule: Schedule, *, kind: str | None = None, partition: str | None = None) -> pd.DataFrame:
    """Return what is held on the nodes of a machine, from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        On a machine of nodes.
    kind, partition : str, optional
        Only what is held on nodes of that kind, and of that partition; fragmentation is always that of the machine.

    Returns
    -------
    pandas.DataFrame
        One row for each instant at which a job is submitted or becomes eligible, or a run starts or ends, or a node
        goes away or comes back meanwhile, with times increasing strictly; a row's values hold from its time up to the
        next one's.

        * time: s.
        * busy_nodes: nodes on which a run has something.
        * busy_cores, busy_memory (MB), busy_gpus: what runs hold; an exclusive run all that its nodes have. Nodes whose
          memory is not known count for no memory.
        * node_utilization, utilization, memory_utilization, gpu_utilization: the same / what the nodes have. Missing
          where they have none.
        * fragmentation: 1 while the first job that waits has room in sum and not on nodes, else 0. Its nodes are those
          of the partition in which it ran later, as far as they are large enough for it. It has room in sum if they
          have free, together, at least the cores, the memory and the GPUs that it held when it ran; and on nodes if it
          fits on as many of them as it had. The first is the one that was submitted first, or became eligible first
          where jobs waited for others; of equal ones that which the trace has first. A job that was stopped does not
          count as waiting again.
        * available_cores, of a machine with outages only: cores of nodes that are there, neither down nor drained nor
          reserved for nobody, and those that jobs hold on drained nodes.
        * available_utilization, likewise: busy_cores / available_cores; missing where there are none.

        A schedule without jobs has no rows.

    Raises
    ------
    ParameterError
        The machine is a pool, there is no such kind or partition, or the segments lack a column.
    """
    machine = machine_of(schedule)
    is_counted = nodes_of(machine, kind, partition)
    runs = runs_in_sweep(schedule)
    changes = np.zeros(0)
    if len(machine.outages) and len(schedule.jobs):
        changes = times_of_outages(
            machine, (float(column_of(schedule.jobs, "submit_time").min()), float(runs.end.max()))
        )
    times, held = _swept(schedule, runs, is_counted, changes)
    columns: dict[str, FloatArray | IntArray] = {
        "time": times,
        "busy_nodes": held.nodes,
        "busy_cores": held.cores,
        "busy_memory": held.memory,
        "busy_gpus": held.gpus / GPU,
    }
    for name, values, size in _shares_of(machine, held, is_counted):
        columns[name] = values / size if size else np.full(len(times), np.nan)
    columns["fragmentation"] = held.is_fragmented.astype(np.float64)
    if len(machine.outages):
        there = machine.cores[is_counted].sum() - cores_away(schedule, machine, is_counted, times)
        columns["available_cores"] = there
        columns["available_utilization"] = np.divide(
            held.cores, there, out=np.full(len(times), np.nan), where=there > 0
        )
    return pd.DataFrame(columns)


class NodeFigures(NamedTuple):
    """A measure of a machine of nodes, a statistic of it, and its value; None where no time passes."""

    measure: str
    statistic: str
    value: float | None


def figures_of_nodes(schedule: Schedule, window: tuple[float, float] | None) -> Iterator[NodeFigures]:
    """Yield the measures of a machine of nodes, in a window of ``MetricParameters``; none is left out for no jobs."""
    machine = machine_of(schedule)
    runs = runs_in_sweep(schedule)
    everywhere = np.ones(len(machine), np.bool_)
    times, held = _swept(schedule, runs, everywhere)
    durations = durations_of(times, window)
    is_empty = not len(schedule.jobs)
    for name, values, size in _shares_of(machine, held, everywhere):
        if name != "utilization" and size:  # that of cores is a measure of every schedule
            shares = values / size
            yield NodeFigures(name, "time_mean", None if is_empty else mean_of_steps(shares, durations))
            yield NodeFigures(name, "max", None if is_empty else max_of_steps(shares, durations))
    fragmented = held.is_fragmented.astype(np.float64)
    yield NodeFigures("fragmentation", "time_mean", None if is_empty else mean_of_steps(fragmented, durations))
    begin, end = window or ((float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0))
    if len(machine.outages):
        yield from _of_what_is_there(schedule, held, durations, (begin, end))
    time_of_nodes = [np.zeros(len(machine)) for _ in RESOURCES]
    seconds = np.maximum(np.minimum(runs.end, end) - np.maximum(runs.start, begin), 0.0)
    seconds[uneven_runs(schedule)] = 0.0  # their parts count
    add_time(runs, seconds, *time_of_nodes)
    for group, names, members in _groups_of(machine):
        for (name, resource), of_nodes in zip(RESOURCES.items(), time_of_nodes, strict=True):
            sizes = _sizes_of(machine, resource)
            spent = np.where(sizes > 0, of_nodes, 0.0)
            for of_group, nodes in zip(names, members, strict=True):
                if capacity := int(sizes[nodes].sum()):
                    is_known = end > begin and not is_empty
                    value = float(spent[nodes].sum() / (capacity * (end - begin))) if is_known else None
                    yield NodeFigures(f"{group}_{name}", of_group, value)


def _of_what_is_there(
    schedule: Schedule, held: HeldOverTime, durations: FloatArray, window: tuple[float, float]
) -> Iterator[NodeFigures]:
    """Yield how much of the cores is away, and how much of the rest is held."""
    machine = machine_of(schedule)
    capacity = machine.processors * (window[1] - window[0])
    is_known = capacity > 0 and len(schedule.jobs) > 0
    away = core_time_away(schedule, machine, window) if is_known else 0.0
    yield NodeFigures("away", "time_mean", away / capacity if is_known else None)
    busy = mean_of_steps(held.cores.astype(np.float64), durations) if is_known else None
    there = machine.processors - away / (window[1] - window[0]) if is_known else 0.0
    yield NodeFigures("available_utilization", "time_mean", busy / there if busy is not None and there > 0 else None)


def runs_in_sweep(schedule: Schedule) -> RunsInSweep:
    """Return the runs of a schedule as the kernels take them; behind them the parts of those that are uneven.

    Who stands in ``by_start`` and ``by_end`` holds what it has: each run, or its parts in its place.

    Raises
    ------
    ParameterError
        The machine is a pool, or the segments lack a column.
    """
    machine, runs = machine_of(schedule), runs_on_nodes(schedule)
    uneven = uneven_runs(schedule)
    whole = np.arange(len(runs.start))
    if len(uneven):
        runs = _with_parts(runs, allocations_of(schedule), uneven)
        whole = np.setdiff1d(np.arange(len(runs.start)), uneven)
    return RunsInSweep(
        runs.start,
        runs.end,
        whole[np.argsort(runs.start[whole], kind="stable")].astype(np.int32),
        whole[np.argsort(runs.end[whole], kind="stable")].astype(np.int32),
        runs.begins,
        runs.first,
        runs.last,
        runs.cores,
        runs.memory,
        runs.gpus,
        runs.is_exclusive.view(np.int8),
        runs.partition,
        machine.cores.astype(np.int64),
        machine.memory.astype(np.int64),
        machine.gpus.astype(np.int64),
    )


def _with_parts(runs: RunsOnNodes, held: Allocations, uneven: IntArray) -> RunsOnNodes:
    """Return runs with more behind them: one for each node of those that have not the same on each.

    These themselves are requests then: of as many nodes, on each what it is on average, rounded up.
    """
    is_part = np.isin(held.run, uneven)
    run, node = held.run[is_part], held.node[is_part].astype(np.int32)
    amounts: list[IntArray] = []
    for name in ("cores", "memory", "gpus"):
        of_run, of_part = getattr(runs, name).copy(), getattr(held, name)[is_part]
        total = np.bincount(run, of_part, len(of_run))[uneven]
        of_run[uneven] = np.ceil(total / np.maximum(np.bincount(run, minlength=len(of_run))[uneven], 1))
        amounts.append(np.concatenate([of_run, of_part]))
    return RunsOnNodes(
        start=np.concatenate([runs.start, runs.start[run]]),
        end=np.concatenate([runs.end, runs.end[run]]),
        begins=np.concatenate([runs.begins, runs.begins[-1] + 1 + np.arange(len(run))]),
        first=np.concatenate([runs.first, node]),
        last=np.concatenate([runs.last, node]),
        cores=amounts[0],
        memory=amounts[1],
        gpus=amounts[2],
        is_exclusive=np.concatenate([runs.is_exclusive, runs.is_exclusive[run]]),
        partition=np.concatenate([runs.partition, runs.partition[run]]),
    )


def first_runs(runs: RunsInSweep, row: IntArray, jobs: int) -> IntArray:
    """Return the earliest run of each job, -1 for none; ``row`` has the job of each run of the schedule."""
    has_parts = len(runs.start) > len(row)
    by_start = np.argsort(runs.start[: len(row)], kind="stable") if has_parts else runs.by_start
    first = np.full(jobs, -1, np.int64)
    first[row[by_start[::-1]]] = by_start[::-1]  # of several the earliest is written last
    return first


def _swept(
    schedule: Schedule, runs: RunsInSweep, is_counted: BoolArray, changes: FloatArray | None = None
) -> tuple[FloatArray, HeldOverTime]:
    """Return the instants of a schedule, with other ``changes``, and what is held from each on, on nodes that count."""
    machine, jobs = machine_of(schedule), schedule.jobs
    submit = column_of(jobs, "submit_time")
    entry = np.fmax(submit, column_of(jobs, "ready_time")) if "ready_time" in jobs else submit
    moments = (submit, entry, runs.start, runs.end, *(() if changes is None else (changes,)))
    times = instants_of(*(changes_at(each).at for each in moments))
    row = rows_of(schedule.segments, jobs) if len(jobs) else np.zeros(0, np.int64)
    first_run = first_runs(runs, row, len(jobs)).astype(np.int32)
    order = np.argsort(entry, kind="stable")
    order = order[first_run[order] >= 0]
    partitions = [partition.nodes for partition in machine.partitions]
    queue = QueueInSweep(
        entry[order],
        first_run[order],
        np.concatenate(([0], np.cumsum([len(nodes) for nodes in partitions]))).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *partitions]).astype(np.int64),
    )
    count = len(machine)
    nodes = NodesInSweep(
        runs.whole_cores.copy(),
        runs.whole_memory.copy(),
        runs.whole_gpus.copy(),
        users=np.zeros(count, np.int32),
        is_counted=is_counted.view(np.int8),
        knows_memory=knows_memory(machine).view(np.int8),
        in_view=np.full(count, NOBODY, np.int32),
        fits=np.zeros(count, np.int8),
    )
    view = InView._make(np.full(1, NOBODY, np.int64) for _ in InView._fields)
    held = HeldOverTime(
        nodes=np.zeros(len(times), np.int64),
        cores=np.zeros(len(times), np.int64),
        memory=np.zeros(len(times), np.int64),
        gpus=np.zeros(len(times), np.int64),
        is_fragmented=np.zeros(len(times), np.int8),
    )
    sweep_nodes(times, runs, queue, nodes, view, held)
    return times, held


def _shares_of(machine: NodeTable, held: HeldOverTime, is_counted: BoolArray) -> Iterator[tuple[str, IntArray, int]]:
    """Yield the name of each share over time, what it is of, and what of it the nodes that count have."""
    yield "node_utilization", held.nodes, int(is_counted.sum())
    for name, resource in RESOURCES.items():
        yield name, getattr(held, resource), int(_sizes_of(machine, resource)[is_counted].sum())


def _sizes_of(machine: NodeTable, resource: str) -> IntArray:
    """Return what each node has of a resource; memory that is not known counts for nothing."""
    sizes: IntArray = getattr(machine, resource)
    return np.where(knows_memory(machine), sizes, 0) if resource == "memory" else sizes


def _groups_of(machine: NodeTable) -> Iterator[tuple[str, list[str], list[IntArray]]]:
    """Yield the groups of nodes that have measures of their own: by kind and by partition; names, and the nodes."""
    kinds = [np.flatnonzero(machine.kind == place) for place in range(len(machine.kinds))]
    yield "kind", list(machine.kinds), kinds
    yield "partition", [each.name for each in machine.partitions], [each.nodes for each in machine.partitions]


def nodes_of(machine: NodeTable, kind: str | None, partition: str | None) -> BoolArray:
    """Return which nodes are of a kind and of a partition, of all where none is given.

    Raises
    ------
    ParameterError
        There is no such kind or partition; the message names those that there are.
    """
    chosen = np.ones(len(machine), np.bool_)
    for (group, names, members), name in zip(_groups_of(machine), (kind, partition), strict=True):
        if name is None:
            continue
        if name not in names:
            raise ParameterError(
                f"no {group} {name!r} of nodes; there are {', '.join(names)}{did_you_mean([name], names)}"
            )
        of_group = np.zeros(len(machine), np.bool_)
        of_group[members[names.index(name)]] = True
        chosen &= of_group
    return chosen
