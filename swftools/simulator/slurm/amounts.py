# SPDX-License-Identifier: BSD-3-Clause
"""How much jobs ask of Slurm: CPUs, nodes, memory and GPUs, from their submit lines and from the columns of a log.

The line that submitted a job counts where it explains the CPUs and nodes that the log tells. Where it does not, the
script has options of its own: then the columns count for these, and the line for the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.requests import NO_MEMORY, THREADS
from swftools.machines.slurm_site import SlurmSite
from swftools.machines.told import Told
from swftools.simulator.slurm.submit_lines import Lines

DEFAULT_MEMORY = "the default memory of the partition or the site, as the log tells none"
ALL_MEMORY = "no memory, as requests for all memory of nodes (--mem=0) are not simulated"
AS_MANY_NODES = "as many nodes as are told, no more and no fewer, as no submit line says otherwise"

_SMALL = 1e-6
_KB = 1024.0


class Amounts(NamedTuple):
    """CPUs and nodes as ``SlurmJobs`` has them, a row a job; ``by_line`` are jobs whose line says them."""

    cpus: IntArray
    cpus_per_task: IntArray
    min_nodes: IntArray
    max_nodes: IntArray
    wanted_nodes: IntArray
    tasks_per_node: IntArray
    is_exclusive: BoolArray
    by_line: BoolArray


def numbers_of(jobs: pd.DataFrame, name: str) -> FloatArray:
    """Return a column of numbers, which may be absent; NaN for what is missing."""
    if name not in jobs:
        return np.full(len(jobs), np.nan)
    return np.array(jobs[name].to_numpy(np.float64, na_value=np.nan))


def amounts_of(jobs: pd.DataFrame, told: Told, lines: Lines, table: NodeTable) -> Amounts:
    """Return how many CPUs and nodes the jobs of a trace ask for; of who tells none, one of each."""
    cpus, nodes = numbers_of(jobs, "requested_processors"), numbers_of(jobs, "requested_nodes")
    of_line = {name: lines.numbers(name) for name in (*Amounts._fields[:6], "nodes")}
    has_cpus, has_nodes = cpus > 0, nodes > 0
    by_line = np.where(has_cpus, cpus == of_line["cpus"], lines.truths("says_size"))
    by_line &= lines.is_there & (~has_nodes | (nodes == of_line["nodes"]))
    columns = _by_columns(jobs, told, lines, of_line, by_line, _most_of_a_node(told, table))
    whole = {name: whole_of(np.where(by_line, of_line[name], values)) for name, values in columns.items()}
    is_exclusive = np.where(by_line, False, told.is_exclusive) | lines.truths("is_exclusive")
    return Amounts(**whole, is_exclusive=is_exclusive, by_line=by_line)


def _most_of_a_node(told: Told, table: NodeTable) -> int:
    """Return the most CPUs that a node has, as the log counts them."""
    return int((table.cores * (table.threads_by_node if told.counts_threads else 1)).max(initial=0))


def _by_columns(
    jobs: pd.DataFrame, told: Told, lines: Lines, of_line: dict[str, FloatArray], by_line: BoolArray, of_a_node: int
) -> dict[str, FloatArray]:
    """Return what the columns say, and of lines what goes with it.

    Who is told with fewer nodes than could hold its CPUs has told the fewest, not all: so Slurm tells who says none.
    """
    is_fixed = np.isfinite(told.cores)
    all_cores, each = (np.maximum(np.nan_to_num(_up(values)), 1.0) for values in (told.all_cores, told.cores))
    nodes = np.where(np.isnan(told.nodes) & is_fixed, np.ceil(all_cores / each), told.nodes)
    has_nodes = np.isfinite(nodes)
    nodes = np.maximum(np.nan_to_num(nodes), 1.0)
    cpus = np.where(is_fixed, nodes * each, np.maximum(all_cores, nodes))
    line_task = np.nan_to_num(of_line["cpus_per_task"], nan=1.0)
    per_task = np.where(is_fixed, each, np.where(cpus % line_task == 0, line_task, 1.0))
    tasks = cpus / per_task
    most = np.where(told.most_cores > 0, told.most_cores // per_task, 0.0)
    most = np.where(of_line["tasks_per_node"] > 0, of_line["tasks_per_node"], most)
    per_node = np.where(is_fixed, 1.0, np.where(nodes * most >= tasks, most, np.where(has_nodes, 0.0, most)))
    says_nodes = lines.truths("says_nodes") & (of_line["nodes"] == nodes)
    given = numbers_of(jobs, "allocated_nodes")
    is_free = ~is_fixed & (~has_nodes | (given > nodes) | (cpus > nodes * of_a_node))
    least = np.where(~has_nodes & (per_node > 0), np.ceil(tasks / np.maximum(per_node, 1.0)), nodes)
    most_nodes = np.where(says_nodes, of_line["max_nodes"], np.where(is_free, 0.0, nodes))
    wanted = np.where(says_nodes, np.maximum(np.minimum(of_line["max_nodes"], tasks), least), least)
    told.assume(AS_MANY_NODES, ~by_line & ~is_fixed & ~says_nodes & ~is_free & (cpus > nodes))
    return dict(zip(Amounts._fields[:6], (cpus, per_task, least, most_nodes, wanted, per_node), strict=True))


def memory_of(
    told: Told, lines: Lines, amounts: Amounts, table: NodeTable, site: SlurmSite, partition: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the memory of each CPU and that of each node, MB, one of which is 0.

    Parameters
    ----------
    partition : numpy.ndarray of int64
        The first of each job, whose default counts; -1: none.
    """
    default = np.array([part.default_memory_per_core or site.default_memory_per_cpu for part in table.partitions])
    default = np.append(default, site.default_memory_per_cpu)[partition]
    line_cpu, line_node = (np.nan_to_num(lines.numbers(f"memory_per_{what}")) for what in ("cpu", "node"))
    has_all = lines.truths("has_all_memory")
    by_line = (line_cpu > 0) | (line_node > 0) | has_all
    # The CPUs of a script may be other ones than those of the line; what the log tells is of those that it tells.
    line_cpu = np.where((line_cpu > 0) & ~amounts.by_line & (told.memory_per_core > 0), told.memory_per_core, line_cpu)
    of_node = np.where(by_line, line_node, np.nan_to_num(told.memory))
    of_core = np.where(by_line, line_cpu, np.where(of_node > 0, 0.0, np.nan_to_num(told.memory_per_core)))
    # Who has whole nodes and asks for memory has it of each node, unless it is what every CPU has: of all CPUs it may
    # be more than a node has.
    is_own = ~by_line & amounts.is_exclusive & (of_core > 0) & (np.abs(of_core - default) > 1)
    of_node = np.where(is_own, of_core * amounts.cpus / amounts.min_nodes, of_node)
    of_core = np.where(is_own, 0.0, of_core)
    lacks = ~by_line & (of_node <= 0) & (of_core <= 0)
    of_core = np.where(lacks, default, of_core)
    of_node = np.where(lacks & (of_core <= 0), site.default_memory_per_node, of_node)
    has_none = (of_core <= 0) & (of_node <= 0)
    told.assume(DEFAULT_MEMORY, lacks & ~has_none)
    told.assume(NO_MEMORY, lacks & has_none)
    told.assume(ALL_MEMORY, has_all)
    return whole_of(_up(of_core)), whole_of(_up(of_node))


def gpus_of(told: Told, lines: Lines, amounts: Amounts) -> tuple[IntArray, IntArray]:
    """Return the GPUs of each node, and those in all, one of which is 0; shares of GPUs are rounded up."""
    line_node, line_all = (np.nan_to_num(lines.numbers(name)) for name in ("gpus_per_node", "gpus"))
    by_line = amounts.by_line | (line_node > 0)
    of_node = np.where(by_line, line_node, np.nan_to_num(_up(told.gpus)))
    in_all = np.where(by_line, line_all, np.where(of_node > 0, 0.0, np.nan_to_num(_up(told.all_gpus))))
    is_shared = ~by_line & (amounts.max_nodes == amounts.min_nodes) & (in_all % amounts.min_nodes == 0)
    return (
        whole_of(np.where(is_shared & (in_all > 0), in_all / amounts.min_nodes, of_node)),
        whole_of(np.where(is_shared, 0.0, in_all)),
    )


def in_cores(
    jobs: pd.DataFrame, told: Told, amounts: Amounts, per_cpu: IntArray, table: NodeTable, partition: IntArray
) -> tuple[Amounts, IntArray]:
    """Return amounts in cores, and the memory of each, where the log counts threads of which a core has several.

    Slurm gives whole cores: what jobs were given beyond their requests counts, as far as that explains it.
    """
    if not told.counts_threads:
        return amounts, per_cpu
    of_part = np.array([int(table.threads_by_node[part.nodes].max()) for part in table.partitions])
    threads = np.append(of_part, int(table.threads_by_node.max()))[partition]
    given = numbers_of(jobs, "allocated_processors")
    is_given = ~amounts.is_exclusive & (given > amounts.cpus) & (given <= threads * amounts.cpus)
    cores = whole_of(np.ceil(np.where(is_given, given, amounts.cpus) / threads))
    tasks = amounts.cpus // amounts.cpus_per_task
    per_task = np.where(cores % tasks == 0, np.maximum(cores // tasks, 1), 1)
    of_node = np.ceil(amounts.tasks_per_node * cores / tasks / per_task)
    told.assume(THREADS, cores < amounts.cpus)
    # Not more nodes than cores: who asked for a thread of each has a core of each.
    cores = np.maximum(cores, amounts.min_nodes)
    per_core = whole_of(np.ceil(per_cpu * amounts.cpus / cores - _SMALL))
    found = amounts._replace(cpus=cores, cpus_per_task=per_task, tasks_per_node=whole_of(of_node))
    return found, per_core


def _up(values: FloatArray) -> FloatArray:
    """Return values rounded up, but for what is left of computing them."""
    return np.ceil(values - _SMALL)


def whole_of(values: FloatArray) -> IntArray:
    """Return whole numbers; 0 for what is missing."""
    return np.minimum(np.nan_to_num(values), 2.0**40).astype(np.int64)
