# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that run already, on nodes that are known, where a simulation begins with a queue as it is.

A simulated job has as much of each of its nodes. One that has more of some than of others counts as several jobs, which
began together and end together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.machines.hostlist import expand_hosts
from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.running import RUNS_ON
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.chosen_nodes import order_of, own_nodes

_KB = 1024.0


def spread(running: pd.DataFrame, table: NodeTable) -> pd.DataFrame:
    """Return running jobs by what they have of each of their nodes.

    Cores are those of ``node_cores``, where these are told; else spread evenly as far as nodes have room, as Slurm
    counts them: threads of cores. What jobs ask for in memory counts as far as it is there.

    Parameters
    ----------
    running : pandas.DataFrame
        As for ``Stepper.from_queue``.
    table : NodeTable
        The machine.

    Returns
    -------
    pandas.DataFrame
        A row for each job and each amount that it has of nodes. Jobs whose nodes are not told stay as they are.

    Raises
    ------
    ParameterError
        A job runs on a node that the machine does not have, or jobs hold more of a node than there is.
    """
    if "nodes" not in running:
        return running
    known = {name: number for number, name in enumerate(table.names)}
    left = _Left(table)
    parts: list[pd.DataFrame] = []
    for row in np.argsort(-_numbers(running, "elapsed"), kind="stable"):
        job = running.iloc[[row]]
        text = job["nodes"].iloc[0]
        parts.append(job if not isinstance(text, str) else left.share(job, _nodes_of(job, text, known), table.names))
    return pd.concat(parts) if parts else running


class _Left:
    """What is left of nodes, jobs by jobs."""

    def __init__(self, table: NodeTable) -> None:
        self._threads, self.cores = table.threads_by_node, table.cores.astype(np.float64)
        self.memory, self.gpus = table.memory.astype(np.float64), table.gpus / GPU

    def share(self, job: pd.DataFrame, nodes: IntArray, names: Sequence[str]) -> pd.DataFrame:
        """Return the rows of a job, and take away what it has."""
        total, many = float(job["processors"].iloc[0]), len(nodes)
        told = job["node_cores"].iloc[0] if "node_cores" in job else None
        threads = self._threads[nodes]
        room = self.cores[nodes] * threads
        cores = np.ceil((evenly(total, room) if told is None else _as_told(told, total, many)) / threads)
        cores = np.maximum(cores, 1.0)
        gpus = np.full(many, _first(job, "requested_gpus_per_node", _first(job, "requested_gpus", 0.0) / many))
        asked = _first(job, "requested_memory_per_node", np.nan)
        memory = (
            cores * threads * _first(job, "requested_memory", 0.0) / _KB if np.isnan(asked) else np.full(many, asked)
        )
        memory = np.minimum(memory, self.memory[nodes])
        for what, amounts, there in (("cores", cores, self.cores), ("GPUs", gpus, self.gpus)):
            over = amounts > there[nodes]
            if over.any():
                node = int(nodes[np.argmax(over)])
                raise ParameterError(
                    f"{_named(job)} runs on node {names[node]}, which has no room for it beside the others that run "
                    f"there ({there[node]:,g} {what} are left): is the queue of another machine?"
                )
        for there, amounts in ((self.cores, cores), (self.memory, memory), (self.gpus, gpus)):
            there[nodes] -= amounts
        distinct, of_node = np.unique(np.stack([cores, memory, gpus]), axis=1, return_inverse=True)
        rows = []
        for number, (core, mega, gpu) in enumerate(distinct.T.tolist()):
            here = nodes[of_node.ravel() == number]
            rows.append(
                job.assign(
                    processors=int(core * len(here)),
                    **{RUNS_ON: ",".join(names[node] for node in here.tolist())},
                    requested_nodes=float(len(here)),
                    requested_cores_per_node=core,
                    requested_memory_per_node=mega,
                    requested_gpus_per_node=gpu,
                    requested_gpus=np.nan,
                    requested_memory=np.nan,
                )
            )
        return pd.concat(rows)


def _as_told(cores: Sequence[float], total: float, many: int) -> FloatArray:
    """Return processors by node as cores by node tell them, of which each has as many."""
    told = np.array(cores, np.float64)
    return told * total / told.sum() if len(told) == many and told.sum() > 0 else np.full(many, total / many)


def evenly(total: float, room: FloatArray) -> FloatArray:
    """Return whole processors by node, spread as evenly as the room allows; too many where there is none."""
    shares, rest = np.zeros(len(room)), total
    while rest > 0:
        has_room = shares < np.floor(room)
        if not has_room.any():
            shares[-1] += rest
            break
        each = np.floor(rest / has_room.sum())
        if each < 1:
            at = np.flatnonzero(has_room)[: int(rest)]
            shares[at] += 1
            break
        more = np.where(has_room, np.minimum(each, np.floor(room) - shares), 0.0)
        shares += more
        rest -= more.sum()
    return shares


def _numbers(jobs: pd.DataFrame, name: str) -> FloatArray:
    """Return a column of numbers."""
    return jobs[name].to_numpy(dtype=np.float64)


def _first(job: pd.DataFrame, name: str, other: float) -> float:
    """Return a number of a job; another one where it is not told."""
    value = float(job[name].iloc[0]) if name in job else np.nan
    return other if np.isnan(value) else value


def _named(job: pd.DataFrame) -> str:
    """Return what a queue calls a job."""
    return f"job {job['name'].iloc[0]}" if "name" in job else f"a running job of {job['processors'].iloc[0]} processors"


def _nodes_of(job: pd.DataFrame, text: str, known: dict[str, int]) -> IntArray:
    """Return the numbers of the nodes of a list."""
    try:
        names = expand_hosts(text)
    except ParameterError as error:
        raise ParameterError(f"{_named(job)}: its nodes cannot be read: {error}") from None
    if unknown := [name for name in names if name not in known]:
        raise ParameterError(
            f"{_named(job)} runs on node {unknown[0]}, which the machine does not have; give the description of the "
            "machine that the queue is of"
        )
    return np.array([known[name] for name in names], np.int64)


def check_all_run(simulation: Simulation, running: pd.DataFrame) -> None:
    """Refuse a queue in which a job runs that could not run on the machine.

    Raises
    ------
    ParameterError
        It names the job, and says why it could not.
    """
    excluded = simulation._workload.excluded
    of_running = excluded[excluded["row"] < len(running)]
    if len(of_running):
        job, reason = running.iloc[[int(of_running["row"].iloc[0])]], of_running["reason"].iloc[0]
        raise ParameterError(
            f"{_named(job)} runs, and could not on this machine: {reason}; is the queue of another machine, or does "
            "its description lack something?"
        )


def where_it_runs(simulation: Simulation, job: int, nodes: str) -> int:
    """Write down on which nodes a job runs, and return as which of its sets they count."""
    machine: Any = simulation._machine
    table: Any = simulation.nodes
    known = {name: number for number, name in enumerate(table.names)}
    at = np.empty(len(table), np.int64)
    at[order_of(simulation)] = np.arange(len(table))
    own_nodes(machine, job)[:] = np.sort(at[[known[name] for name in nodes.split(",")]])
    return int(machine.places.sets[machine.asked.place[job]])
