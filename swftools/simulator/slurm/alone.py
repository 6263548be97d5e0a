# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that would wait for ever: each is tried on the idle machine, with limits as if nobody else ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.dependencies import Dependencies, find_dependencies
from swftools.kernel import BoolArray, FloatArray, IntArray, Kernel, kernel
from swftools.kernel.layout import Layout
from swftools.kernel.pointers import Lent
from swftools.machines.node_table import NodeTable
from swftools.machines.outages import NodeOutages
from swftools.machines.requests import NO_NODES, NO_WIDTH, distinct
from swftools.machines.slurm_site import SlurmSite
from swftools.parameters.choices import FOLLOW
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.lightness import forget_light
from swftools.simulator.slurm.limits import LACKS, NONE, why_not_after, why_not_before
from swftools.simulator.slurm.memory import slurm_memory
from swftools.simulator.slurm.reasons import REASON_NAMES
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.state import UNKNOWN, WORDS, Dynamic, Given
from swftools.simulator.slurm.totals import put_totals
from swftools.simulator.workload import limits_of
from swftools.trace import Trace

NO_ROOM = "finds no nodes on the idle machine, as Slurm chooses them"
FOREVER = "would wait for ever in Slurm: {}"
BEHIND_ONE = "waits for a job that can never start"
HOPELESS = (NO_ROOM, FOREVER.partition("{")[0], BEHIND_ONE)
"""How the reasons begin."""

memory_at = Lent(lambda: slurm_memory(None, {}, 1))


@kernel(allocates=False)
def why_not_alone(given: Given, state: Dynamic, job: int, partition: int) -> int:
    """Return why a job cannot start in a partition of the idle machine; NONE if it can."""
    words = state.counts[WORDS]
    reason = why_not_before(given, state, job, partition)
    if reason != NONE:
        return reason
    for word in range(words):
        state.available[word] = given.partition_bits[partition * words + word]
        if given.nodes_allowed[job] != UNKNOWN:
            state.available[word] &= given.set_bits[given.nodes_allowed[job] * words + word]
    forget_light(given, state, job, partition)
    count = choose_nodes(given, state, job, partition, state.available, state.now)
    if count == 0:
        return LACKS
    put_totals(given, state, job, partition, count, state.now)
    return why_not_after(given, state, job, partition)


def try_all(place: Any) -> None:
    """Try each job alone: ``state.reason`` is then NONE, or why it cannot start in the first of its partitions.

    The machine of the memory, which lies at ``place``, is idle; interpreted ``place`` is the memory.
    """
    memory = memory_at(place)
    given, state = memory.given, memory.state
    for job in range(len(given.cpus)):
        state.reason[job] = NONE
        for entry in range(given.first_partition[job], given.first_partition[job + 1]):
            found = why_not_alone(given, state, job, given.partition[entry])
            if found == NONE or state.reason[job] == NONE:
                state.reason[job] = found
            if found == NONE:
                break


@cache
def _compiled() -> Kernel[..., None]:
    from numba import types  # noqa: PLC0415 (takes half a second)

    return kernel(types.void(types.int64), allocates=False)(try_all)


def as_simulated(
    trace: Trace, jobs: SlurmJobs, table: NodeTable, run: RunOptions, *, parameters: Mapping[str, Any], compiled: bool
) -> SlurmJobs:
    """Return what ``without_hopeless`` does, for the jobs of a trace as options of a run have them."""
    found = find_dependencies(trace) if run.dependencies == FOLLOW else None
    limit = limits_of(trace, run)
    return without_hopeless(jobs, table, limit, parameters=parameters, compiled=compiled, dependencies=found)


def without_hopeless(
    jobs: SlurmJobs,
    table: NodeTable,
    limit: FloatArray,
    *,
    parameters: Mapping[str, Any],
    compiled: bool,
    dependencies: Dependencies | None = None,
) -> SlurmJobs:
    """Return what jobs ask, where those that can never start have the reason, and so have those that wait for them.

    Parameters
    ----------
    jobs : SlurmJobs
        What they ask; those that have a reason already keep it.
    table : NodeTable
        The machine.
    limit : numpy.ndarray of float64, shape (rows,)
        The time limit of each, s; NaN of jobs that are not simulated, which are not looked at.
    parameters : mapping
        Of the policy.
    compiled : bool
        Whether the rules are.
    dependencies : Dependencies, optional
        Who waits for whom; None: nobody.
    """
    code, reasons = jobs.code.astype(np.int64), [*jobs.reasons]
    rows = np.flatnonzero((code == 0) & ~np.isnan(limit))
    if len(rows):
        first, group = distinct([*_what_counts(jobs, rows), limit[rows]])
        for found, of_group in _tried(jobs, table, rows[first], limit, parameters, compiled=compiled).items():
            reasons.append(NO_ROOM if found == LACKS else FOREVER.format(REASON_NAMES[found]))
            code[rows[of_group[group]]] = len(reasons) - 1
    if dependencies is not None:
        told = {reasons.index(words) for words in (NO_NODES, NO_WIDTH) if words in reasons}  # the log lacks something
        waits = _waiting_in_vain(dependencies, (code > 0) & ~np.isin(code, [*told]) & ~np.isnan(limit))
        waits &= code == 0
        if waits.any():
            reasons.append(BEHIND_ONE)
            code[waits] = len(reasons) - 1
    return jobs._replace(code=code.astype(np.int16), reasons=tuple(reasons))


def _what_counts(jobs: SlurmJobs, rows: IntArray) -> list[npt.NDArray[Any]]:
    """Return the columns that decide whether a job could start alone, of some rows."""
    names = ("user", "nice", "array", "array_limit", "code", "reasons", "ready_time", "assumed", "sets")
    listed = ("first_partition", "partition", *names)
    columns = [np.asarray(getattr(jobs, name))[rows] for name in SlurmJobs._fields if name not in listed]
    begin, end = jobs.first_partition[:-1][rows], jobs.first_partition[1:][rows]
    lists = [jobs.partition[low:high].tobytes() for low, high in zip(begin.tolist(), end.tolist(), strict=True)]
    return [*columns, pd.factorize(np.array(lists, object))[0]]


def _tried(
    jobs: SlurmJobs,
    table: NodeTable,
    rows: IntArray,
    limit: FloatArray,
    parameters: Mapping[str, Any],
    *,
    compiled: bool,
) -> dict[int, BoolArray]:
    """Return why some jobs cannot start alone: for each reason which of them; usage before the log does not count."""
    site = table.slurm or SlurmSite()
    idle = replace(table, slurm=replace(site, has_usage=False), outages=NodeOutages())
    setting = Setting(idle, jobs, rows, np.zeros(len(rows)), limit[rows])
    memory = slurm_memory(setting, {name: value for name, value in parameters.items() if name == "without"}, len(rows))
    kernel_of = _compiled().compiled if compiled else try_all
    kernel_of(memory if isinstance(kernel_of, FunctionType) else Layout(memory, memory_at.example).address)
    found = memory.state.reason[: len(rows)]
    return {int(reason): found == reason for reason in np.unique(found) if reason != NONE}


def _waiting_in_vain(found: Dependencies, never: BoolArray) -> BoolArray:
    """Return which jobs never start: those that do not, and whoever waits for one of them."""
    never = never.copy()
    while True:
        more = found.waiting[never[found.before] & ~never[found.waiting]]
        if not len(more):
            return never
        never[more] = True
