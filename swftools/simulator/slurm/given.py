# SPDX-License-Identifier: BSD-3-Clause
"""What does not change while Slurm's rules decide, as arrays: settings, jobs, nodes, limits, what is followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.machines.node_table import GPU
from swftools.machines.outages import RESERVATION
from swftools.machines.requests import distinct
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm.holders import (
    by_resource,
    partition_totals,
    preemption_of,
    relative,
    shares_of,
    single_limits,
    weights_of,
)
from swftools.simulator.slurm.lightness import keeps_light
from swftools.simulator.slurm.node_sets import BITS
from swftools.simulator.slurm.numbers import numbers_of
from swftools.simulator.slurm.setting import SampledPriorities, Setting
from swftools.simulator.slurm.state import BACKFILL, KEEPS_LIGHT, UNKNOWN, Given

_OF_SHAPE = (
    *("cpus", "cpus_per_task", "min_nodes", "max_nodes", "tasks_per_node", "memory_per_cpu", "memory_per_node"),
    *("gpus_per_node", "gpus", "is_exclusive"),
)
"""Which nodes a job gets depends on these, and on how many it is to have."""

_SAMPLED = ("sampled_time", "sampled_priority")


def given_of(setting: Setting, site: SlurmSite, parameters: Mapping[str, Any]) -> Given:
    """Return what the rules are given of a site, the jobs that come to it, and parameters of the policy."""
    table, asked, row = setting.table, setting.jobs, np.asarray(setting.row, np.int64)
    nodes, words = len(table), -(-len(table) // BITS)
    associations, qos = site.associations, site.qos
    of_associations, of_qos = [each.limits for each in associations], [each.limits for each in qos]
    holders = of_associations + of_qos
    names = [each.name for each in qos]
    by_name = {each.name: each for each in site.partitions}
    rules = [by_name.get(each.name) for each in table.partitions]
    accounts = {name: number for number, name in enumerate(dict.fromkeys(each.account for each in associations))}
    association = asked.association[row]
    of_account = np.array([accounts[each.account] for each in associations] or [0], np.int64)
    most_of_tasks = np.maximum(asked.cpus[row] // np.maximum(asked.cpus_per_task[row], 1), asked.min_nodes[row])
    wanted = np.minimum(asked.wanted_nodes[row], most_of_tasks)
    most_nodes = np.minimum(asked.cpus[row] // np.maximum(asked.cpus_per_task[row], 1), nodes)
    most_nodes = np.maximum(np.maximum(most_nodes, asked.wanted_nodes[row]), 1)
    limited = asked.max_nodes[row] > 0
    most_nodes = np.where(limited, np.minimum(most_nodes, asked.max_nodes[row]), most_nodes)
    logged = setting.logged
    if logged is not None:
        most_nodes = np.maximum(most_nodes, np.diff(logged.first)[row])
    parts = np.diff(asked.first_partition)[row]
    first_partition = np.concatenate(([0], np.cumsum(parts)))
    taken = np.repeat(asked.first_partition[:-1][row] - first_partition[:-1], parts) + np.arange(first_partition[-1])
    leaf, parent, height = _switches(site, nodes)
    children: list[list[int]] = [[] for _ in associations]
    for number, each in enumerate(associations):
        if each.parent >= 0:
            children[each.parent].append(number)
    totals = np.array([table.cores.sum(), table.memory.sum(), nodes, table.gpus.sum() // GPU, table.cores.sum()], float)
    sharing, share, normalized = shares_of(site)
    _, weight = np.unique(table.weight, return_inverse=True)

    _, shape = distinct([wanted, *(np.asarray(getattr(asked, name))[row] for name in _OF_SHAPE)])

    def of_job(column: Any, dtype: Any = np.int64) -> Any:
        return np.ascontiguousarray(np.asarray(column)[row], dtype)

    numbers = numbers_of(site, setting, parameters)
    numbers[KEEPS_LIGHT] = keeps_light(table, asked, row)
    return Given(
        number=numbers,
        cpus=of_job(asked.cpus),
        cpus_per_task=of_job(asked.cpus_per_task),
        min_nodes=of_job(asked.min_nodes),
        max_nodes=np.minimum(of_job(asked.max_nodes), most_of_tasks),
        wanted=np.where(asked.gpus[row] > 0, asked.min_nodes[row], np.maximum(wanted, asked.min_nodes[row])),
        tasks_per_node=of_job(asked.tasks_per_node),
        memory_per_cpu=of_job(asked.memory_per_cpu),
        memory_per_node=of_job(asked.memory_per_node),
        gpus_per_node=of_job(asked.gpus_per_node),
        gpus_in_all=of_job(asked.gpus),
        is_exclusive=of_job(asked.is_exclusive),
        first_partition=first_partition,
        partition=np.ascontiguousarray(asked.partition[taken], np.int64),
        nodes_allowed=of_job(asked.nodes_allowed),
        user=of_job(asked.user),
        account=np.where(association >= 0, of_account[np.maximum(association, 0)], 0),
        association=of_job(asked.association),
        qos=of_job(asked.qos),
        nice=of_job(asked.nice, np.float64),
        array=of_job(asked.array),
        array_limit=of_job(asked.array_limit),
        limit=np.ascontiguousarray(setting.limit, np.float64),
        first_held=np.concatenate(([0], np.cumsum(most_nodes))),
        shape=shape,
        first_life=np.arange(len(row))
        if logged is None or logged.first_life is None
        else _lives(logged.first_life, row),
        cores=table.cores.astype(np.int64),
        memory=table.memory.astype(np.int64),
        gpus=(table.gpus // GPU).astype(np.int64),
        weight=weight.ravel().astype(np.int64),
        leaf=leaf,
        parent=parent,
        height=height,
        tier=np.array([each.tier for each in table.partitions], np.int64),
        by_tier=np.argsort([-each.tier for each in table.partitions], kind="stable").astype(np.int64),
        partition_factor=relative(each.job_factor if each else 1.0 for each in rules),
        partition_qos=np.array([names.index(r.qos) if r and r.qos in names else UNKNOWN for r in rules], np.int64),
        billing=np.concatenate([weights_of(each.billing_weights if each else {}) for each in rules]),
        partition_bits=_bits([each.nodes for each in table.partitions], words),
        partition_alone=np.array([each.is_exclusive for each in table.partitions], np.int64),
        partition_totals=partition_totals(table, rules, bills_most="max_tres" in site.priority.flags),
        set_bits=_bits(list(asked.sets), words),
        totals=totals,
        above=np.array([each.parent for each in associations], np.int64),
        sharing=sharing,
        has_shares=np.array([each.shares is not None for each in associations], np.int64),
        share=share,
        normalized=normalized,
        is_user=np.array([bool(each.user) for each in associations], np.int64),
        first_child=np.concatenate(([0], np.cumsum([len(each) for each in children]))).astype(np.int64),
        child=np.array([child for each in children for child in each], np.int64),
        association_factor=relative(each.priority for each in associations),
        qos_factor=relative(each.priority for each in qos),
        usage_factor=np.array([each.usage_factor for each in qos], np.float64),
        **preemption_of(site, rules),
        plans_nothing=np.array(["noreserve" in each.flags for each in qos], np.int64),
        most_jobs=single_limits(holders, "grp_jobs"),
        most_own_jobs=single_limits(of_associations, "max_jobs"),
        most_jobs_of_user=single_limits(of_qos, "max_jobs_pu"),
        most_jobs_of_account=single_limits(of_qos, "max_jobs_pa"),
        most_in_all=by_resource(holders, "grp_tres"),
        most_of_job=by_resource(holders, "max_tres"),
        most_on_node=by_resource(holders, "max_tres_per_node"),
        most_of_user=by_resource(of_qos, "max_tres_pu"),
        most_of_account=by_resource(of_qos, "max_tres_pa"),
        least_of_job=by_resource(of_qos, "min_tres", 0.0),
        most_minutes=by_resource(holders, "grp_tres_mins"),
        most_running_minutes=by_resource(holders, "grp_tres_run_mins"),
        most_minutes_of_job=by_resource(holders, "max_tres_mins"),
        longest=single_limits(holders, "max_wall"),
        leaves=_leaves(setting, row),
        **_outages(setting, row, words),
        **_of_log(setting, row),
    )


def _of_log(setting: Setting, row: IntArray) -> dict[str, Any]:
    """Return what is given of a run that is followed, by job; of none, arrays without rows."""
    logged = setting.logged
    if logged is None:
        whole = np.zeros(0, np.int64)
        return {
            **dict.fromkeys(("logged_node", "logged_cores", "logged_by", "logged_partition"), whole),
            **dict.fromkeys(("logged_start", "logged_cycle", "told_priority", "told_eligible"), np.zeros(0)),
            "logged_first": np.zeros(1, np.int64),
            **_sampled(None, row),
        }
    counts, start = np.diff(logged.first)[row], np.asarray(logged.start[row], np.float64)
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    take = np.repeat(logged.first[:-1][row] - first[:-1], counts) + np.arange(first[-1])
    return {
        "logged_first": first,
        "logged_node": np.ascontiguousarray(logged.node[take], np.int64),
        "logged_cores": np.ascontiguousarray(logged.cores[take], np.int64),
        "logged_by": np.ascontiguousarray(logged.by[row], np.int64),
        "logged_partition": np.ascontiguousarray(logged.partition[row], np.int64),
        "logged_start": np.ascontiguousarray(logged.start[row], np.float64),
        "told_priority": np.zeros(0) if logged.priority is None else np.ascontiguousarray(logged.priority[row]),
        "told_eligible": np.zeros(0) if logged.eligible is None else np.ascontiguousarray(logged.eligible[row]),
        "logged_cycle": np.unique(start[(logged.by[row] == BACKFILL) & np.isfinite(start)]),
        **_sampled(logged.sampled, row),
    }


def _lives(first_life: IntArray, row: IntArray) -> IntArray:
    """Return the number of the first life of each job, of those that are simulated."""
    number = dict(zip(row.tolist(), range(len(row)), strict=True))
    first = first_life[row].tolist()
    return np.array([number.get(each, own) for own, each in enumerate(first)], np.int64)


def _sampled(sampled: SampledPriorities | None, row: IntArray) -> dict[str, Any]:
    """Return priorities that were seen, by job; of none, arrays without rows."""
    if sampled is None:
        whole = np.zeros(0, np.int64)
        return {"sampled_first": whole, "sampled_in": whole, **dict.fromkeys(_SAMPLED, np.zeros(0))}
    counts = np.diff(sampled.first)[row]
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    take = np.repeat(sampled.first[:-1][row] - first[:-1], counts) + np.arange(first[-1])
    return {
        "sampled_first": first,
        "sampled_in": np.ascontiguousarray(sampled.partition[take], np.int64),
        "sampled_time": np.ascontiguousarray(sampled.time[take], np.float64),
        "sampled_priority": np.ascontiguousarray(sampled.priority[take], np.float64),
    }


def _bits(sets: Iterable[Any], words: int) -> IntArray:
    """Return sets of nodes, each as numbers or as truths, in words."""
    rows = []
    for each in sets:
        members = np.asarray(each)
        members = np.flatnonzero(members) if members.dtype == np.bool_ else members
        row = np.zeros(words, np.int64)
        for node in members.tolist():
            row[node // BITS] |= 1 << node % BITS
        rows.append(row)
    return np.concatenate(rows) if rows else np.zeros(0, np.int64)


def _switches(site: SlurmSite, nodes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the leaf of each node, and the parent and the height of each switch."""
    if not site.switches:
        return np.zeros(nodes, np.int64), np.full(1, UNKNOWN, np.int64), np.zeros(1, np.int64)
    height = np.zeros(len(site.switches), np.int64)
    for _ in site.switches:
        for number, each in enumerate(site.switches):
            if each.parent >= 0:
                height[each.parent] = max(height[each.parent], height[number] + 1)
    leaf = np.full(nodes, UNKNOWN, np.int64)
    for number, each in enumerate(site.switches):
        if each.is_leaf:
            leaf[list(each.nodes)] = number
    return leaf, np.array([each.parent for each in site.switches], np.int64), height


def _leaves(setting: Setting, row: IntArray) -> FloatArray:
    """Return when jobs leave that have not started, infinity where they wait; of no jobs where none does."""
    if setting.leaves is None:
        return np.zeros(0)
    return np.nan_to_num(setting.leaves[row], nan=np.inf, posinf=np.inf)


def _outages(setting: Setting, row: IntArray, words: int) -> dict[str, Any]:
    """Return when nodes are away, in the order of these changes, and reservations of nodes."""
    outages = setting.table.outages
    away, reserved = outages.of(outages.kind != RESERVATION), outages.of(outages.kind == RESERVATION)
    time = np.concatenate([away.end, away.begin])
    node, kind = np.tile(away.node, 2), np.tile(away.kind, 2)
    by = np.repeat([-1, 1], len(away)).astype(np.int64)
    order = np.argsort(time, kind="stable")  # at one instant nodes come back before others go
    order = order[time[order] < np.inf]
    keys = np.column_stack([reserved.begin, reserved.end, reserved.known, reserved.who])
    distinct, of = np.unique(keys, axis=0, return_inverse=True) if len(keys) else (np.zeros((0, 4)), np.zeros(0, int))
    members = [reserved.node[of.ravel() == place] for place in range(len(distinct))]
    may = np.zeros(0, np.int64) if setting.may is None else setting.may[row].T.astype(np.int64).ravel()
    return {
        "change_time": np.ascontiguousarray(time[order], np.float64),
        "change_node": np.ascontiguousarray(node[order], np.int64),
        "change_by": by[order],
        "change_kind": np.ascontiguousarray(kind[order], np.int64),
        "reserved_begin": np.ascontiguousarray(distinct[:, 0]),
        "reserved_end": np.ascontiguousarray(distinct[:, 1]),
        "reserved_known": np.ascontiguousarray(distinct[:, 2]),
        "reserved_for": distinct[:, 3].astype(np.int64) if setting.may is not None else np.full(len(distinct), UNKNOWN),
        "reserved_bits": _bits(members, words),
        "may_use": may,
    }
