# SPDX-License-Identifier: BSD-3-Clause
"""The limits of groups of jobs that Slurm has on a machine, over the jobs of a schedule.

Which limit counts where QOS and associations have the same is as in ``swftools.simulator.slurm.limits``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.fields.dictionary import SWF_NAMES
from swftools.header import SwfHeader
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.slurm_site import RESOURCES, SlurmLimits, SlurmSite
from swftools.machines.told import told_of
from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.schedule import Schedule
from swftools.simulator.slurm.accounts import accounts_of
from swftools.simulator.slurm.submit_lines import Lines
from swftools.trace import Trace


class Limit(NamedTuple):
    """A limit of some jobs together.

    ``counts`` are rows of jobs that count, ``group`` with whom each of them counts, ``stands`` against which of them it
    stands. ``amount`` is what each job of the schedule takes, ``most`` the limit.
    """

    counts: IntArray
    group: IntArray
    stands: BoolArray
    amount: FloatArray
    most: float


class _Jobs(NamedTuple):
    """For whom the jobs of a schedule run, as places in the site, -1 for none; and what each holds, by resource."""

    user: IntArray
    account: IntArray
    association: IntArray
    qos: IntArray
    partition_qos: IntArray
    amounts: dict[str, FloatArray]
    minutes: FloatArray


def limits_of(schedule: Schedule, row: IntArray) -> Iterator[Limit]:
    """Yield the limits of running jobs together; ``row`` has the job of each segment, and each job has one."""
    site = machine_of(schedule).slurm
    if site is None or not site.enforce & {"limits", "safe"} or not len(schedule.jobs):
        return
    jobs = _jobs_of(schedule, row, site)
    yield from _of_associations(site, jobs)
    yield from _of_qos(site, jobs)


def _of_associations(site: SlurmSite, jobs: _Jobs) -> Iterator[Limit]:
    """Yield the limits of accounts, with all who are below them, and of users in them."""
    above = np.array([*(each.parent for each in site.associations), -1], np.int64)
    of_user = [each.limits.max_jobs_pu is not None for each in site.qos]
    by_qos = np.array([*of_user, False], bool)
    chain = jobs.association.copy()
    belongs: dict[int, list[IntArray]] = {}
    while (chain >= 0).any():
        for place in np.unique(chain[chain >= 0]).tolist():
            belongs.setdefault(place, []).append(np.flatnonzero(chain == place))
        chain = above[chain]
    for place, parts in sorted(belongs.items()):
        limits, members = site.associations[place].limits, np.concatenate(parts)
        yield from _together(limits, members, np.zeros(len(members), np.int64), jobs, lambda *_: None)
        if limits.max_jobs is not None:
            own = np.flatnonzero(jobs.association == place)
            stands = ~(by_qos[jobs.qos[own]] | by_qos[jobs.partition_qos[own]])
            yield Limit(own, np.zeros(len(own), np.int64), stands, np.ones(len(jobs.user)), limits.max_jobs)


def _of_qos(site: SlurmSite, jobs: _Jobs) -> Iterator[Limit]:
    """Yield the limits of QOS: of the partition, and of the job where that of its partition has no such limit."""
    for place, each in enumerate(site.qos):
        members = np.flatnonzero((jobs.qos == place) | (jobs.partition_qos == place))
        if not len(members):
            continue
        first = np.where(jobs.partition_qos[members] == place, -1, jobs.partition_qos[members])

        def has(kind: str, resource: str, first: IntArray = first) -> BoolArray:
            told = [_told(other.limits, kind, resource) is not None for other in site.qos]
            return np.array([*told, False], bool)[first]

        limits, alike = each.limits, np.zeros(len(members), np.int64)
        yield from _together(limits, members, alike, jobs, has)
        for jobs_kind, tres_kind, group in (
            ("max_jobs_pu", "max_tres_pu", jobs.user[members]),
            ("max_jobs_pa", "max_tres_pa", jobs.account[members]),
        ):
            yield from _by_kind(limits, (jobs_kind, tres_kind), members, group, jobs, has)


def _together(
    limits: SlurmLimits, members: IntArray, group: IntArray, jobs: _Jobs, has: Callable[..., BoolArray | None]
) -> Iterator[Limit]:
    """Yield the limits of all jobs of a holder."""
    yield from _by_kind(limits, ("grp_jobs", "grp_tres"), members, group, jobs, has)
    for resource, most in limits.grp_tres_run_mins.items():
        if resource in jobs.amounts:
            before = has("grp_tres_run_mins", resource)
            stands = np.ones(len(members), bool) if before is None else ~before
            yield Limit(members, group, stands, jobs.amounts[resource] * jobs.minutes, most)


def _by_kind(
    limits: SlurmLimits,
    kinds: tuple[str, str],
    members: IntArray,
    group: IntArray,
    jobs: _Jobs,
    has: Callable[..., BoolArray | None],
) -> Iterator[Limit]:
    """Yield a limit of numbers of jobs, and those of resources, of one kind."""
    amounts = {"": np.ones(len(jobs.user)), **jobs.amounts}
    for kind, resources in ((kinds[0], [""]), (kinds[1], list(getattr(limits, kinds[1])))):
        for resource in resources:
            most, before = _told(limits, kind, resource), has(kind, resource)
            if most is not None and resource in amounts:
                stands = np.ones(len(members), bool) if before is None else ~before
                yield Limit(members, group, stands, amounts[resource], most)


def _told(limits: SlurmLimits, kind: str, resource: str) -> float | None:
    """Return a limit, of a resource or of jobs (empty); None where it is not told."""
    told = getattr(limits, kind)
    return told if not resource else told.get(resource)


def _jobs_of(schedule: Schedule, row: IntArray, site: SlurmSite) -> _Jobs:
    """Return for whom the jobs of a schedule run, and what each holds in its last run."""
    machine = machine_of(schedule)
    trace = _trace_of(schedule)
    partitions = [each.name for each in machine.partitions]
    last = np.zeros(len(schedule.jobs), np.int64)
    last[row] = np.arange(len(row))
    names = pd.Index(schedule.segments["partition"].iloc[last])
    partition = pd.Index(partitions).get_indexer(names).astype(np.int64)
    found = accounts_of(trace, site, told_of(trace, machine), Lines(trace.jobs), (partition, partitions))
    qos_names = [each.name for each in site.qos]
    rules = {each.name: each for each in site.partitions}
    told = [rules[name].qos if name in rules else "" for name in partitions]
    of_partition = np.array([*(qos_names.index(name) if name in qos_names else -1 for name in told), -1], np.int64)
    account = np.unique(np.array([each.account for each in site.associations], object), return_inverse=True)[1]
    return _Jobs(
        found.user,
        np.append(account, -1)[found.association] if len(account) else found.association,
        found.association,
        found.qos,
        of_partition[partition],
        _amounts(schedule, machine, site, last, partition),
        schedule.jobs["requested_time"].to_numpy(np.float64, na_value=0.0) / 60.0,
    )


def _trace_of(schedule: Schedule) -> Trace:
    """Return the jobs of a schedule as a trace, with the names of users and accounts."""
    names = [
        {"kind": kind, "number": number, "name": name}
        for kind, some in schedule.known_names.items()
        for number, name in some.items()
    ]
    jobs = schedule.jobs
    lacking = {name: np.nan for name in SWF_NAMES if name not in jobs}
    trace = Trace(SwfHeader(), jobs.assign(**lacking))
    return Trace(trace.header, trace.jobs, names=pd.DataFrame(names)) if names else trace


def _amounts(
    schedule: Schedule, machine: NodeTable, site: SlurmSite, last: IntArray, partition: IntArray
) -> dict[str, FloatArray]:
    """Return what each job holds of each resource that limits are of, in its last run."""
    held = allocations_of(schedule)
    many = len(schedule.segments)
    each_node = {"cpu": held.cores, "mem": held.memory, "node": np.ones(len(held.run)), "gres/gpu": held.gpus / GPU}
    amounts = {name: np.bincount(held.run, of, many)[last].astype(np.float64) for name, of in each_node.items()}
    rules = {each.name: each.billing_weights for each in site.partitions}
    weights = [rules.get(each.name, {}) or {"cpu": 1.0} for each in machine.partitions]
    amounts["billing"] = np.zeros(len(last))
    for resource in RESOURCES[:-1]:
        weight = np.array([*(each.get(resource, 0.0) for each in weights), 0.0])[partition]
        amounts["billing"] += weight * amounts[resource]
    return amounts
