# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's rules begin with: the arrays of a site, its nodes and its jobs, and an idle machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.outages import RESERVATION
from swftools.machines.requests import distinct
from swftools.machines.slurm_site import DEFAULTS, SlurmLimits, SlurmSite
from swftools.simulator.slurm import state as places
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.preempting import CANCEL, NEVER, REQUEUE
from swftools.simulator.slurm.state import (
    BACKFILL,
    BILLING,
    BITS,
    CHANGES,
    MECHANISMS,
    NO_LIMIT,
    NUMBERS,
    RESOURCES,
    UNKNOWN,
    WORDS,
    Amounts,
    Dynamic,
    Given,
    SlurmMemory,
)

_OF_SHAPE = (
    *("cpus", "cpus_per_task", "min_nodes", "max_nodes", "tasks_per_node", "memory_per_cpu", "memory_per_node"),
    *("gpus_per_node", "gpus", "is_exclusive"),
)
"""Which nodes a job gets depends on these, and on how many it is to have."""

FOUND = 2048
"""How much is kept of what was found for jobs of one shape on a set of nodes."""

_RESOURCE = {"cpu": 0, "mem": 1, "node": 2, "gres/gpu": 3, "billing": 4}


@dataclass(frozen=True)
class Logged:
    """A real run that is followed, by row of the trace.

    Parameters
    ----------
    start : numpy.ndarray of float64, shape (rows,)
        When each job started, s; NaN: it did not.
    first : numpy.ndarray of int64, shape (rows + 1,)
        The nodes of row i are from ``first[i]`` up to ``first[i + 1]`` in ``node`` and ``cores``.
    node, cores : numpy.ndarray of int64
        Numbers of nodes, and CPUs of each; 0 where they are not told: then they are as the rule places them.
    by : numpy.ndarray of int64, shape (rows,)
        Who started it: ``MAIN``, ``BACKFILL``; else it is not told.
    partition : numpy.ndarray of int64, shape (rows,)
        In which it ran, as a place in ``NodeTable.partitions``; -1: it is not told.
    every : float
        The rule is tried every so many seconds. 0: when it is due, and whenever the run started a job.
    priority, eligible : numpy.ndarray of float64, shape (rows,), optional
        Of a queue as it is, which is not followed but goes on by the rules: what priority each job is told to have
        (NaN: none), and since when it could start, s. Who started runs then when the simulation begins.
    """

    start: FloatArray
    first: IntArray
    node: IntArray
    cores: IntArray
    by: IntArray
    partition: IntArray
    every: float = 0.0
    priority: FloatArray | None = None
    eligible: FloatArray | None = None

    @property
    def is_followed(self) -> bool:
        """Whether the run is followed, in place of being where the simulation begins."""
        return self.priority is None


@dataclass(frozen=True)
class Setting:
    """A site with its nodes, and the jobs that come to it, by their numbers in a simulation.

    Parameters
    ----------
    table : NodeTable
        The nodes; ``table.slurm`` is the site.
    jobs : SlurmJobs
        What they ask, by row of the trace.
    row : numpy.ndarray of int, shape (jobs,)
        The row of each job that is simulated.
    submit_time, limit : numpy.ndarray of float64, shape (jobs,)
        s.
    logged : Logged, optional
        What is followed.
    leaves : numpy.ndarray of float64, shape (rows,), optional
        When each job of the trace leaves the queue if it has not started, s; NaN: it waits.
    may : numpy.ndarray of bool, shape (rows, holders), optional
        Which reservations jobs may use, by the holders of ``table.outages``.
    origin : float
        Second 0 of the log in seconds since 1970, s; 0 where it is not known.
    """

    table: NodeTable
    jobs: SlurmJobs
    row: Any
    submit_time: FloatArray
    limit: FloatArray
    logged: Logged | None = None
    leaves: FloatArray | None = None
    may: npt.NDArray[np.bool_] | None = None
    origin: float = 0.0


def slurm_memory(setting: Setting | None, parameters: Mapping[str, Any], jobs: int) -> SlurmMemory:
    """Return what Slurm's rules begin with; of no setting, for an example, of next to nothing."""
    if setting is None:
        setting = _example(jobs)
    site = setting.table.slurm or SlurmSite()
    given = _given(setting, site, parameters)
    return SlurmMemory(given, _dynamic(given, setting, site))


def _numbers(site: SlurmSite, setting: Setting, parameters: Mapping[str, Any]) -> FloatArray:
    number = np.zeros(NUMBERS)
    chosen = {**DEFAULTS, **site.scheduler}
    for name in DEFAULTS:
        given = parameters.get(name, -1.0)
        if given >= 0:
            chosen[name] = float(given)
    priority, phase = site.priority, float(parameters.get("phase", 0.0))

    def set_to(**values: float) -> None:
        for name, value in values.items():
            number[getattr(places, name)] = value

    def own(name: str, value: float) -> float:
        given = float(parameters.get(name, -1.0))
        return given if given >= 0 else float(value)

    half_life = own("half_life", priority.half_life)
    set_to(
        PHASE=phase,
        TICK=np.floor(64.0 * ((29.0 * phase) % 1.0)) / 64.0,
        BEGIN=np.floor(setting.submit_time.min()) if len(setting.submit_time) else 0.0,
        BF_INTERVAL=chosen["bf_interval"],
        BF_TESTS=chosen["bf_max_job_test"],
        BF_RESOLUTION=max(chosen["bf_resolution"], 1.0),
        BF_WINDOW=60.0 * chosen["bf_window"],
        BF_LINEAR=chosen["bf_window_linear"],
        BF_PER_USER=chosen["bf_max_job_user"],
        BF_PER_PARTITION=chosen["bf_max_job_part"],
        BF_PER_USER_PARTITION=chosen["bf_max_job_user_part"],
        BF_PER_ASSOCIATION=chosen["bf_max_job_assoc"],
        BF_STARTS=chosen["bf_max_job_start"],
        BF_PER_ARRAY=chosen["bf_max_job_array_resv"],
        BF_MIN_AGE=chosen["bf_min_age_reserve"],
        BF_MIN_PRIORITY=chosen["bf_min_prio_reserve"],
        DELAY=chosen["batch_sched_delay"],
        DEPTH=chosen["default_queue_depth"],
        INTERVAL=chosen["sched_interval"],
        MAIN_STARTS=chosen["sched_max_job_start"],
        PARTITION_DEPTH=chosen["partition_job_depth"],
        LIMIT_STOPS=chosen["assoc_limit_stop"],
        HAS_BACKFILL=site.has_backfill,
        HAS_MAIN=chosen["sched_interval"] >= 0,
        W_AGE=own("weight_age", priority.age),
        W_ASSOCIATION=own("weight_association", priority.association),
        W_FAIR_SHARE=own("weight_fair_share", priority.fair_share),
        W_SIZE=own("weight_job_size", priority.job_size),
        W_PARTITION=own("weight_partition", priority.partition),
        W_QOS=own("weight_qos", priority.qos),
        MAX_AGE=own("max_age", priority.max_age),
        DECAY=1.0 - 0.693 / half_life if half_life > 0 else 1.0,
        CALC_PERIOD=max(own("calc_period", priority.calc_period), 1.0),
        FAVORS_SMALL=priority.favors_small,
        IS_FAIR_TREE=priority.is_fair_tree,
        DAMPING=max(priority.damping, 1e-9),
        IS_MULTIFACTOR=priority.is_multifactor,
        ENFORCES="limits" in site.enforce or "safe" in site.enforce,
        HAS_TOPOLOGY=bool(site.switches),
        REQUEUE_DELAY=site.requeue_delay,
        VERSION=site.version[0] + site.version[1] / 100.0,
        FOLLOWS=setting.logged is not None and setting.logged.is_followed,
        PREEMPTS_BY=max(("none", "qos", "partition_prio").index(site.preempt_type), 0),
        EVERY=setting.logged.every if setting.logged is not None else 0.0,
        ORIGIN=setting.origin,
        LEFT_OUT=MECHANISMS.index(str(parameters.get("without", "nothing"))),
    )
    for name, resource in _RESOURCE.items():
        number[places.W_CPU + resource] = priority.tres.get(name, 0.0)
    return number


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


def _by_resource(limits: Iterable[SlurmLimits], name: str, otherwise: float = NO_LIMIT) -> FloatArray:
    """Return limits of resources of several holders."""
    rows = []
    for each in limits:
        row = np.full(RESOURCES, otherwise)
        for resource, value in getattr(each, name).items():
            if resource in _RESOURCE:
                row[_RESOURCE[resource]] = value
        rows.append(row)
    return np.concatenate(rows) if rows else np.zeros(0)


def _single(limits: Iterable[SlurmLimits], name: str) -> FloatArray:
    found = [getattr(each, name) for each in limits]
    return np.array([NO_LIMIT if value is None else float(value) for value in found], np.float64)


def _relative(values: Iterable[float]) -> FloatArray:
    """Return values over the largest of them."""
    found = np.array([*values], np.float64)
    most = found.max(initial=0.0)
    return found / most if most > 0 else np.zeros(len(found))


def _given(setting: Setting, site: SlurmSite, parameters: Mapping[str, Any]) -> Given:
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
    sharing, share, normalized = _shares(site)
    _, weight = np.unique(table.weight, return_inverse=True)

    _, shape = distinct([wanted, *(np.asarray(getattr(asked, name))[row] for name in _OF_SHAPE)])

    def of_job(column: Any, dtype: Any = np.int64) -> Any:
        return np.ascontiguousarray(np.asarray(column)[row], dtype)

    return Given(
        number=_numbers(site, setting, parameters),
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
        cores=table.cores.astype(np.int64),
        memory=table.memory.astype(np.int64),
        gpus=(table.gpus // GPU).astype(np.int64),
        weight=weight.ravel().astype(np.int64),
        leaf=leaf,
        parent=parent,
        height=height,
        tier=np.array([each.tier for each in table.partitions], np.int64),
        partition_factor=_relative(each.job_factor if each else 1.0 for each in rules),
        partition_qos=np.array([names.index(r.qos) if r and r.qos in names else UNKNOWN for r in rules], np.int64),
        billing=np.concatenate([_weights(each.billing_weights if each else {}) for each in rules]),
        partition_bits=_bits([each.nodes for each in table.partitions], words),
        partition_alone=np.array([each.is_exclusive for each in table.partitions], np.int64),
        partition_totals=_partition_totals(table, rules),
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
        association_factor=_relative(each.priority for each in associations),
        qos_factor=_relative(each.priority for each in qos),
        usage_factor=np.array([each.usage_factor for each in qos], np.float64),
        **_preemption(site, rules),
        plans_nothing=np.array(["noreserve" in each.flags for each in qos], np.int64),
        most_jobs=_single(holders, "grp_jobs"),
        most_own_jobs=_single(of_associations, "max_jobs"),
        most_jobs_of_user=_single(of_qos, "max_jobs_pu"),
        most_jobs_of_account=_single(of_qos, "max_jobs_pa"),
        most_in_all=_by_resource(holders, "grp_tres"),
        most_of_job=_by_resource(holders, "max_tres"),
        most_on_node=_by_resource(holders, "max_tres_per_node"),
        most_of_user=_by_resource(of_qos, "max_tres_pu"),
        most_of_account=_by_resource(of_qos, "max_tres_pa"),
        least_of_job=_by_resource(of_qos, "min_tres", 0.0),
        most_minutes=_by_resource(holders, "grp_tres_mins"),
        most_running_minutes=_by_resource(holders, "grp_tres_run_mins"),
        most_minutes_of_job=_by_resource(holders, "max_tres_mins"),
        longest=_single(holders, "max_wall"),
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
    }


def _weights(weights: Mapping[str, float]) -> FloatArray:
    row = np.zeros(RESOURCES)
    for name, value in weights.items():
        if name in _RESOURCE:
            row[_RESOURCE[name]] = value
    return row


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


def _shares(site: SlurmSite) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the next association above with shares of its own, the share among those of its level, and of all.

    The root counts as having shares. An account without shares of its own is replaced by its children on its level.
    """
    known, many = site.associations, len(site.associations)
    sharing, share, normalized = np.full(many, UNKNOWN, np.int64), np.zeros(many), np.ones(many)

    def below(number: int) -> float:
        total = 0.0
        for child, each in enumerate(known):
            if each.parent == number:
                total += below(child) if each.shares is None else each.shares
        return total

    for number, each in enumerate(known):
        above = each.parent
        while above >= 0 and known[above].shares is None and known[above].parent >= 0:
            above = known[above].parent
        sharing[number] = above
        if above >= 0:
            total = below(above)
            share[number] = (each.shares or 0.0) / total if total > 0 else 0.0
            normalized[number] = share[number] * (normalized[above] if above else 1.0)
    return sharing, share, normalized


def _preemption(site: SlurmSite, rules: list[Any]) -> dict[str, Any]:
    """Return which QOS may preempt which, and how jobs are preempted, by QOS and by partition."""
    modes = {"requeue": REQUEUE, "cancel": CANCEL}
    names = [each.name for each in site.qos]
    may = np.zeros((len(names), len(names)), np.int64)
    for number, each in enumerate(site.qos):
        may[number, [names.index(name) for name in each.preempt if name in names]] = 1

    def mode(told: str) -> int:
        return modes.get(site.preempt_mode if told == "cluster" else told, NEVER)

    return {
        "preempts": may.ravel(),
        "qos_mode": np.array([mode(each.preempt_mode) for each in site.qos], np.int64),
        "partition_mode": np.array([mode(each.preempt_mode if each else "cluster") for each in rules], np.int64),
        "qos_grace": np.array([each.grace_time for each in site.qos], np.float64),
        "partition_grace": np.array([each.grace_time if each else 0.0 for each in rules], np.float64),
        "exempt_time": np.array([each.preempt_exempt_time for each in site.qos], np.float64),
    }


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


def _partition_totals(table: NodeTable, rules: list[Any]) -> FloatArray:
    """Return what each partition has of each resource."""
    rows = []
    for partition, rule in zip(table.partitions, rules, strict=True):
        nodes = partition.nodes
        amounts = np.array(
            [table.cores[nodes].sum(), table.memory[nodes].sum(), len(nodes), table.gpus[nodes].sum() // GPU, 0], float
        )
        weights = _weights(rule.billing_weights if rule else {})
        amounts[4] = weights @ amounts if weights.any() else amounts[0]
        rows.append(amounts)
    return np.concatenate(rows)


def _clock(number: FloatArray) -> FloatArray:
    """Return the clock before the first tick at which anything is due."""
    begin, phase, tick = number[places.BEGIN], number[places.PHASE], number[places.TICK]

    def first(after: float) -> float:
        return begin + max(np.ceil(after - tick), 0.0)

    clock = np.zeros(places.CLOCKS)
    number[places.FIRST_PASS] = first(phase * number[places.INTERVAL])
    clock[places.LAST_FULL] = number[places.FIRST_PASS] - number[places.INTERVAL]
    clock[places.LAST_MAIN] = clock[places.LAST_LOOK] = clock[places.LAST_TICK] = -1e9
    interval, period = number[places.BF_INTERVAL], number[places.CALC_PERIOD]
    clock[places.LAST_BACKFILL] = first((7 * phase) % 1.0 * interval) - interval
    clock[places.NEXT_CALC] = first((13 * phase) % 1.0 * period)
    clock[places.LAST_CALC] = begin
    return clock


def _dynamic(given: Given, setting: Setting, site: SlurmSite) -> Dynamic:
    jobs, nodes = len(given.cpus), len(given.cores)
    words, entries = -(-nodes // BITS), int(given.first_partition[-1])
    held, running = int(given.first_held[-1]), max(int(given.cores.sum()), 1)
    associations, qos = len(given.above), len(given.qos_factor)
    users, accounts = int(given.user.max(initial=0)) + 1, int(given.account.max(initial=0)) + 1
    records = int(2 * given.number[places.BF_TESTS]) + 4
    reasons = 8 * jobs + 64
    follows = setting.logged is not None and setting.logged.is_followed
    merged = entries + 1 if site.preempt_type == "qos" else 0

    def whole(size: int, value: int = 0) -> IntArray:
        return np.full(size, value, np.int64)

    def real(size: int, value: float = 0.0) -> FloatArray:
        return np.full(size, value)

    def amounts() -> Amounts:
        return Amounts(given.cores.copy(), given.memory.copy(), given.gpus.copy(), whole(nodes))

    number = given.number
    clock = _clock(number)
    counts = whole(places.COUNTS)
    counts[WORDS] = words
    used = real((associations + qos) * RESOURCES)
    if site.has_usage:
        used[BILLING : associations * RESOURCES : RESOURCES] = [each.usage for each in site.associations]
    may_stop = site.preempt_type != "none" or len(given.change_time) > 0
    stops, past = (jobs + 64, held + 64) if may_stop else (0, 0)
    up = whole(words)
    for node in range(nodes):
        up[node // BITS] |= 1 << node % BITS
    return Dynamic(
        counts=counts,
        clock=clock,
        eligible=real(jobs, np.nan),
        pending=whole(jobs),
        entry_job=whole(entries + 1),
        entry_partition=whole(entries + 1),
        entry_priority=real(entries + 1),
        runner=whole(min(jobs, running) + 1),
        by_number=whole(min(jobs, running) + 1),
        began=real(jobs),
        started=real(jobs),
        limit_end=real(jobs),
        held_count=whole(jobs),
        held_node=whole(held),
        held_cores=whole(held),
        held_gpus=whole(held),
        is_on=whole(jobs),
        ran_in=whole(jobs, UNKNOWN),
        by=whole(jobs),
        trial=whole(2 * min(jobs, running) + 2),
        given_back=whole(2 * min(jobs, running) + 2),
        now=amounts(),
        then=amounts(),
        up=up,
        away=whole(nodes),
        has_left=whole(jobs),
        victim=whole(min(jobs, running) + 1),
        is_gone=whole(jobs),
        doom=real(jobs, np.inf),
        gone=real(jobs, np.nan),
        ran_priority=real(jobs),
        past_job=whole(stops),
        past_first=whole(stops),
        past_count=whole(stops),
        past_in=whole(stops),
        past_by=whole(stops),
        past_node=whole(past),
        past_cores=whole(past),
        past_gpus=whole(past),
        used=used,
        fair_share=real(associations),
        level=real(associations),
        stack=whole(4 * associations + 8),
        siblings=whole(associations + 1),
        jobs_of=whole(associations + qos),
        in_use=real((associations + qos) * RESOURCES),
        running_minutes=real((associations + qos) * RESOURCES),
        jobs_of_user=whole(qos * users),
        in_use_of_user=real(qos * users * RESOURCES),
        jobs_of_account=whole(qos * accounts),
        in_use_of_account=real(qos * accounts * RESOURCES),
        tasks_running=whole(int(given.array.max(initial=-1)) + 1),
        resources=real(RESOURCES),
        on_node=real(RESOURCES),
        allowed=whole(words),
        available=whole(words),
        before=whole(words),
        picked=whole(words),
        free_cores=whole(nodes),
        usable=whole(nodes),
        most=whole(nodes),
        chosen=whole(nodes + 1),
        got=whole(nodes + 1),
        run_first=whole(nodes),
        run_behind=whole(nodes),
        run_cores=whole(nodes),
        run_gpus=whole(nodes),
        run_key=whole(nodes),
        leaf_nodes=whole(len(given.parent)),
        leaf_cores=whole(len(given.parent)),
        failed=whole(len(given.tier)),
        tested=whole(len(given.tier)),
        tested_user=whole(users),
        tested_user_partition=whole(users * len(given.tier)),
        tested_association=whole(associations + 1),
        planned_tasks=whole(int(given.array.max(initial=-1)) + 1),
        refused=whole((int(given.array.max(initial=-1)) + 1) * len(given.tier)),
        found_after=whole(FOUND, UNKNOWN),
        found_shape=whole(FOUND),
        found_in=whole(FOUND),
        found_begin=real(FOUND),
        found_until=real(FOUND),
        found_sets=whole(2 * FOUND * words),
        found_amounts=real(2 * FOUND * RESOURCES),
        changed_sets=whole(CHANGES * words),
        changed_end=real(CHANGES),
        begin=real(records),
        end=real(records),
        next=whole(records),
        free=whole(records * words),
        kept_job=whole(merged),
        kept_partition=whole(merged),
        kept_priority=real(merged),
        line=whole(merged),
        merged=whole(merged),
        halves=whole(600),
        seen_qos=whole(qos),
        reason=whole(jobs),
        reason_job=whole(reasons),
        reason_time=real(reasons),
        reason_code=whole(reasons),
        would_time=real(jobs if follows else 0, np.nan),
        would_by=whole(jobs if follows else 0),
        would_in=whole(jobs if follows else 0),
        would_count=whole(jobs if follows else 0),
        would_node=whole(held if follows else 0),
        would_cores=whole(held if follows else 0),
        would_last=real(jobs if follows else 0, np.nan),
        might_time=real(jobs if follows else 0, np.nan),
        would_like=whole(jobs if follows else 0),
        might_orders=whole(jobs if follows else 0),
        together=whole(jobs if follows else 0),
    )


def _example(jobs: int) -> Setting:
    """Return a setting of one node and jobs of one CPU: of the kinds of arrays that every setting has."""
    from swftools.machines.node_table import PartitionNodes  # noqa: PLC0415

    one = np.ones(1, np.int64)
    table = NodeTable(
        ("n1",), 0 * one, ("n",), one, one, 0 * one, one, (PartitionNodes("p", 0 * one),), slurm=SlurmSite()
    )
    jobs = max(jobs, 1)
    ones, zeros, none = np.ones(jobs, np.int64), np.zeros(jobs, np.int64), np.full(jobs, UNKNOWN, np.int64)
    asked = SlurmJobs(
        *(ones, ones, ones, zeros, ones, zeros, zeros, zeros, zeros, zeros, zeros.astype(np.bool_)),
        *(np.arange(jobs + 1), zeros, none, np.zeros((0, 1), np.bool_), zeros, none, none, zeros.astype(float)),
        *(none, zeros, zeros.astype(np.int16), ("",), np.zeros(0)),
    )
    return Setting(table, asked, np.arange(jobs), np.zeros(jobs), np.ones(jobs))
