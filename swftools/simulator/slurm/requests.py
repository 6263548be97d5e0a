# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs of a trace ask of Slurm: the front door of the files beside this one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.requests import NO_NODES, NO_WIDTH, not_followed, told_in_words
from swftools.machines.slurm_site import SlurmSite
from swftools.machines.told import Told, told_of
from swftools.simulator.slurm.accounts import accounts_of
from swftools.simulator.slurm.amounts import Amounts, amounts_of, gpus_of, in_cores, memory_of, numbers_of, whole_of
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.fits import Sizes
from swftools.simulator.slurm.partition_limits import with_memory_of_cpus, with_nodes_of_partitions
from swftools.simulator.slurm.places import judged, on_nodes_with_memory, spots_of, where_of
from swftools.simulator.slurm.submit_lines import Lines
from swftools.trace import Trace

ODD_LINES = "submit lines that Slurm would not take as they are read: the other columns count"
PART_OF_LINES = "submit lines that do not explain the CPUs and nodes in the log: the columns count for these"
WITHHELD = (
    "submit lines, if the log has any, are withheld where data is published, so jobs ask for what other columns say: "
    "--format slurm:publish=yes keeps them"
)
NOT_FOLLOWED = "the option --{} of submit lines is not followed"
HELD = "jobs that were submitted on hold may start from when the log says that they were eligible"


def slurm_jobs_of(trace: Trace, table: NodeTable, *, cancelled: npt.NDArray[np.bool_] | None = None) -> SlurmJobs:
    """Return what each job of a trace asks of Slurm.

    ``submit_line`` says most (``-N 1-4``, ``-c``, ``--mem-per-cpu``, ``--nice``, ``--array=0-9%2``), where the log has
    it; else the columns that ``docs/machines_what_jobs_ask.md`` names. What neither says is assumed, and told in
    ``SlurmJobs.assumed`` with the number of jobs. A job that could never run on the idle machine has the reason in
    ``SlurmJobs.code``, and no partition; others have those in which they could.

    Parameters
    ----------
    trace : Trace
        The log: columns of the dictionary, of which each may be absent.
    table : NodeTable
        The machine; without ``slurm`` nobody has an account or a QOS.
    cancelled : numpy.ndarray of bool, shape (rows,), optional
        Jobs that are left out anyhow: they are not counted in what is assumed.

    Returns
    -------
    SlurmJobs
        A row a job of the trace, in its order.

    Examples
    --------
    >>> from swftools.machines.node_table import PartitionNodes
    >>> table = NodeTable(
    ...     ("n1", "n2"), np.zeros(2, np.int64), ("node",), np.full(2, 8), np.full(2, 1000), np.zeros(2, np.int64),
    ...     np.ones(2, np.int64), (PartitionNodes("batch", np.arange(2)),),
    ... )
    >>> jobs = slurm_jobs_of(Trace.from_columns(submit_time=[0, 0, 0], requested_processors=[3, 12, 17]), table)
    >>> jobs.cpus.tolist(), jobs.min_nodes.tolist(), jobs.code.tolist()
    ([3, 12, 17], [1, 1, 1], [0, 0, 1])
    >>> jobs.reasons[1]
    'asks for more cores than the nodes of its partition have on which it may run'
    """
    site, jobs, rows = table.slurm or SlurmSite(), trace.jobs, len(trace)
    told, lines = told_of(trace, table), Lines(jobs)
    amounts = amounts_of(jobs, told, lines, table)
    refused = _refused(told, amounts)
    _tell(told, lines, amounts)
    if trace.provenance.get("withholds_text") and str(trace.provenance.get("format", "")).startswith("slurm"):
        told.assume(WITHHELD, np.ones(rows, bool))
    spots = spots_of(trace, table, told, lines)
    names = [spots.partition, told.words[0], told.features[0], told.gpu_types[0]]
    where = where_of(spots, names, table, told, lines, amounts)
    gpus_per_node, gpus = gpus_of(told, lines, amounts)
    per_cpu, per_node = memory_of(told, lines, amounts, table, site, where.first)
    amounts, per_cpu = in_cores(jobs, told, amounts, per_cpu, table, where.first)
    amounts, per_cpu = with_memory_of_cpus(told, amounts, per_cpu, table, where.first)
    shares_memory = any("memory" in word for word in site.select)
    if not shares_memory:  # a node must have as much, whoever else is there
        per_node, per_cpu = np.maximum(per_node, per_cpu), np.zeros_like(per_cpu)
    accounts = accounts_of(trace, site, told, lines, (where.first, [each.name for each in table.partitions]))
    sizes = Sizes(
        *(amounts.cpus, amounts.cpus_per_task, amounts.min_nodes, amounts.max_nodes, amounts.tasks_per_node),
        *(per_cpu, per_node, gpus_per_node, gpus, told.requested_time),
    )
    keeps, code, reasons = judged(where, sizes, table, site, accounts, refused)
    if not shares_memory:
        where, per_node = on_nodes_with_memory(where, per_node, table), np.zeros_like(per_node)
    row, partition = where.row[keeps], where.partition[keeps]
    count = np.bincount(row, minlength=rows)
    amounts = with_nodes_of_partitions(told, amounts, count, partition, table)
    is_whole = np.array([each.is_exclusive for each in table.partitions], bool)[partition]
    all_whole = (count > 0) & (np.bincount(row[is_whole], minlength=rows) == count)
    keep = np.ones(rows, bool) if cancelled is None else ~np.asarray(cancelled, bool)
    return SlurmJobs(
        cpus=amounts.cpus,
        cpus_per_task=amounts.cpus_per_task,
        min_nodes=amounts.min_nodes,
        max_nodes=amounts.max_nodes,
        wanted_nodes=amounts.wanted_nodes,
        tasks_per_node=amounts.tasks_per_node,
        memory_per_cpu=per_cpu,
        memory_per_node=per_node,
        gpus_per_node=gpus_per_node,
        gpus=gpus,
        is_exclusive=amounts.is_exclusive | all_whole,
        first_partition=np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        partition=partition,
        nodes_allowed=where.nodes_allowed,
        sets=where.sets,
        user=accounts.user,
        association=accounts.association,
        qos=accounts.qos,
        nice=np.nan_to_num(lines.numbers("nice")),
        array=_arrays(jobs),
        array_limit=whole_of(lines.numbers("array_limit")),
        code=code,
        reasons=reasons,
        ready_time=_ready_times(jobs, told, lines),
        assumed=(*told_in_words(told, keep), *not_followed(spots, names, keep)),
    )


def _refused(told: Told, amounts: Amounts) -> dict[str, BoolArray]:
    """Return the jobs that ask for no nodes, and those that do not say how many CPUs."""
    lacks = np.isnan(told.nodes) & np.isnan(told.cores) & np.isnan(told.all_cores)
    return {NO_NODES: (told.nodes == 0) & ~amounts.by_line, NO_WIDTH: lacks & ~amounts.by_line}


def _tell(told: Told, lines: Lines, amounts: Amounts) -> None:
    """Say what is taken of submit lines; what is assumed of columns is not of jobs whose line counts."""
    told.assumed = [(words, rows & ~amounts.by_line) for words, rows in told.assumed]
    told.assume(ODD_LINES, lines.is_odd)
    told.assume(PART_OF_LINES, lines.is_there & ~amounts.by_line)
    for name, rows in lines.options_not_followed():
        told.assume(NOT_FOLLOWED.format(name), rows)


def _arrays(jobs: pd.DataFrame) -> IntArray:
    """Return the number of each job's array, from 0 on; -1 where it is of none."""
    places, _ = pd.factorize(numbers_of(jobs, "array_number"))
    return places.astype(np.int64)


def _ready_times(jobs: pd.DataFrame, told: Told, lines: Lines) -> FloatArray:
    """Return from when on jobs may start: not before they asked to, and not before they were released."""
    is_held = lines.truths("is_held")
    if not is_held.any():
        return told.ready_time
    eligible = np.where(is_held, numbers_of(jobs, "eligible_time"), np.nan)
    told.assume(HELD, np.isfinite(eligible))
    return np.fmax(eligible, told.ready_time) if len(told.ready_time) else eligible
