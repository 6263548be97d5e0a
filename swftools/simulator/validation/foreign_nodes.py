# SPDX-License-Identifier: BSD-3-Clause
"""Where the jobs of a schedule from elsewhere ran: lists of nodes in a table, by number or by name."""

from __future__ import annotations

import re
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.machines.asked import Asked
from swftools.machines.node_table import GPU, NodeTable
from swftools.output.shown_text import shown
from swftools.simulator.registry import Policy, list_policies
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription

NAMES = ("nodes", "allocated_resources", "node_list", "hosts")
"""Columns of a table that may have the nodes of a job; the first that is there does."""

MOST_NODES = 10_000_000
"""Of a machine; a list of more, or with greater numbers, is a mistake, and would take the memory."""

_NUMBERS = re.compile(r"\d+(?:-\d+)?(?:[\s,]+\d+(?:-\d+)?)*")

_BRACKETED = re.compile(r"\[\s*\d+(?:\s*,\s+|\s+)\d.*\]", re.DOTALL)


def table_of(machine: NodeTable | MachineDescription | str | PathLike[str]) -> NodeTable:
    """Return the nodes of a machine that may be given by its description, or by the file that has it."""
    if isinstance(machine, NodeTable):
        return machine
    if isinstance(machine, (str, PathLike)):
        from swftools.machines.description import read_machine  # noqa: PLC0415 (it needs pydantic, most runs do not)

        machine = read_machine(machine)
    if not hasattr(machine, "table"):
        kind = type(machine).__name__
        raise ParameterError(f"machine of type {kind}: give the path of a file, a MachineDescription, or a NodeTable")
    return machine.table()


def ask_of_trace(trace: Trace, table: NodeTable) -> Asked:
    """Return what the jobs of a trace ask of a machine."""
    from swftools.machines.requests import ask_of  # noqa: PLC0415 (where there are nodes only)

    return ask_of(trace, table)


def ask_of_policy(trace: Trace, table: NodeTable, policy: str) -> Asked | SlurmJobs:
    """Return what the jobs of a trace ask of a machine as a policy takes it: one that keeps the nodes itself, more."""
    chosen: Policy | None = list_policies().get(policy)
    if chosen is None or not chosen.has_setting:
        return ask_of_trace(trace, table)
    from swftools.simulator.slurm.requests import slurm_jobs_of  # noqa: PLC0415 (where such a policy ran only)

    return slurm_jobs_of(trace, table)


class TableNodes(NamedTuple):
    """Where the jobs of a table ran, one element a job: the numbers of their nodes, and their partitions by name."""

    table: NodeTable
    numbers: list[IntArray]
    partition: list[Any]


def read_nodes(given: pd.DataFrame, number: FloatArray, table: NodeTable) -> TableNodes:
    """Return where the jobs of a table ran; ``number`` has the numbers of the jobs.

    Raises
    ------
    ParameterError
        There is no column of nodes, or one of its texts is no list of nodes of the machine.
    """
    name = next((name for name in NAMES if name in given), None)
    if name is None:
        raise ParameterError(
            f"the schedule has no column {' or '.join(NAMES)}, which says where jobs ran; "
            "without it give processors (--processors), and no machine"
        )
    known = {node: place for place, node in enumerate(table.names)}
    read: dict[str, IntArray] = {}  # each text once: many jobs run on the same nodes
    lists = []
    for value, job in zip(given[name], number, strict=True):
        try:
            text = _text_of(value)
            if text not in read:
                read[text] = _numbers_of(text, known)
        except ParameterError as error:
            raise ParameterError(f"job {job:.10g} of the schedule: {error}") from error
        lists.append(read[text])
    partition: list[Any] = [None] * len(given)
    if "partition" in given:
        partition = [_text_of(value) or None for value in given["partition"]]
    return TableNodes(table, lists, partition)


def put_on_nodes(
    schedule: Schedule, nodes: TableNodes, told: FloatArray | None, rows: IntArray, asked: Asked
) -> Schedule:
    """Return a schedule with what its jobs have on which nodes.

    Parameters
    ----------
    schedule : Schedule
        As on a pool of processors.
    nodes : TableNodes
        Where each of its jobs ran.
    told : numpy.ndarray of float64, optional
        The processors of each job, where the table tells them: cores, or nodes, as Batsim counts them.
    rows : numpy.ndarray of int64
        The row of each job in the trace.
    asked : Asked
        What the jobs of the trace ask of the machine: what they have on each node.
    """
    table, cores, alone = nodes.table, asked.cores[rows], asked.is_exclusive[rows]
    count = np.array([len(own) for own in nodes.numbers], np.float64)
    if told is None or (told == count).all():
        whole = [float(table.cores[own[own < len(table)]].sum()) for own in nodes.numbers]
        told = np.where(alone, whole, count * cores)
    of_jobs = pd.DataFrame(
        {
            "allocated_processors": told,
            "nodes": pd.arrays.ArrowExtensionArray(pa.array(map(ranges_of, nodes.numbers), pa.list_(pa.int32()))),
            "cores_per_node": cores,
            "memory_per_node": asked.memory[rows],
            "gpus_per_node": asked.gpus[rows] / GPU,
            "is_exclusive": alone,
            "partition": pd.array(nodes.partition, dtype="str"),
        }
    )
    by_start = np.argsort(schedule.jobs["start_time"].to_numpy(), kind="stable")
    segments = schedule.segments.drop(columns="allocated_processors")
    return replace(
        schedule,
        jobs=schedule.jobs.assign(allocated_processors=told),
        segments=segments.join(of_jobs.iloc[by_start].reset_index(drop=True)),
        processors=table.processors,
        machine=table,
    )


def _text_of(value: Any) -> str:
    """Return what stands in a column of nodes or partitions as text.

    Ranges of our own segments are lists. One node, or a partition that is named by a number, is that number, which
    pandas reads as a fraction where another cell of the column is empty.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (list, np.ndarray)):
        if len(value) % 2:
            raise ParameterError(
                f"nodes has a list of {len(value)} numbers, which are no ranges; give the first and the last number of "
                "each range"
            )
        return ",".join(f"{low}-{high}" for low, high in zip(value[::2], value[1::2], strict=False))
    if pd.isna(value):
        return ""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _numbers_of(text: str, known: dict[str, int]) -> IntArray:
    """Return the numbers of the nodes that a text lists, rising; none of an empty one."""
    if text.strip() in ("", "nan", "None"):
        return np.zeros(0, np.int64)
    if _NUMBERS.fullmatch(text.strip()):
        parts = [part.partition("-") for part in text.replace(",", " ").split()]
        ranges = [(int(first), int(last or first)) for first, _, last in parts]
        if falling := next((pair for pair in ranges if pair[1] < pair[0]), None):
            raise ParameterError(f"nodes {falling[0]}-{falling[1]} is no range; write the lesser number first")
        if max(last for _, last in ranges) > MOST_NODES or sum(last - first for first, last in ranges) > MOST_NODES:
            raise ParameterError(f"nodes {shown(text[:40])!r} are more than any machine has; check the list")
        return np.sort(np.concatenate([np.arange(first, last + 1) for first, last in ranges]))
    if _BRACKETED.fullmatch(text.strip()):
        raise ParameterError(
            f"nodes {shown(text[:40])!r} is a list of Python as text, which does not tell numbers from ranges; write "
            "them as 0-3,7. A schedule of swftools: write schedule.to_csv(), or its segments as Parquet"
        )
    from swftools.machines.hostlist import expand_hosts  # noqa: PLC0415 (where nodes have names only)

    names = expand_hosts(text)
    if unknown := [node for node in names if node not in known]:
        raise ParameterError(f"the machine has no node {shown(unknown[0])}; check the list, and machine (--machine)")
    return np.sort(np.array([known[node] for node in names], np.int64))


def ranges_of(numbers: IntArray) -> list[int]:
    """Return numbers that rise as ranges: the first and the last of each; a number that repeats begins another.

    Examples
    --------
    >>> ranges_of(np.array([0, 1, 2, 5]))
    [0, 2, 5, 5]
    """
    if not len(numbers):
        return []
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 2) != 1)
    ends = np.append(begins[1:] - 1, len(numbers) - 1)
    return [int(each) for pair in zip(numbers[begins], numbers[ends], strict=True) for each in pair]
