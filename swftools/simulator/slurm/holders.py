# SPDX-License-Identifier: BSD-3-Clause
"""Limits, shares, weights and preemption of a site, by association, QOS and partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.slurm_site import SlurmLimits, SlurmSite
from swftools.simulator.slurm.preemptable import CANCEL, NEVER, REQUEUE, SUSPEND
from swftools.simulator.slurm.state import NO_LIMIT, RESOURCES, UNKNOWN

RESOURCE_PLACES = {"cpu": 0, "mem": 1, "node": 2, "gres/gpu": 3, "billing": 4}


def by_resource(limits: Iterable[SlurmLimits], name: str, otherwise: float = NO_LIMIT) -> FloatArray:
    """Return limits of resources of several holders."""
    rows = []
    for each in limits:
        row = np.full(RESOURCES, otherwise)
        for resource, value in getattr(each, name).items():
            if resource in RESOURCE_PLACES:
                row[RESOURCE_PLACES[resource]] = value
        rows.append(row)
    return np.concatenate(rows) if rows else np.zeros(0)


def single_limits(limits: Iterable[SlurmLimits], name: str) -> FloatArray:
    """Return limits that are one number, of several holders."""
    found = [getattr(each, name) for each in limits]
    return np.array([NO_LIMIT if value is None else float(value) for value in found], np.float64)


def relative(values: Iterable[float]) -> FloatArray:
    """Return values over the largest of them."""
    found = np.array([*values], np.float64)
    most = found.max(initial=0.0)
    return found / most if most > 0 else np.zeros(len(found))


def weights_of(weights: Mapping[str, float]) -> FloatArray:
    """Return weights by resource, 0 where there is none."""
    row = np.zeros(RESOURCES)
    for name, value in weights.items():
        if name in RESOURCE_PLACES:
            row[RESOURCE_PLACES[name]] = value
    return row


def shares_of(site: SlurmSite) -> tuple[IntArray, FloatArray, FloatArray]:
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


HIGHEST = 65535.0
"""The highest priority of a QOS that counts for who is preempted first: all above are alike."""


def preemption_of(site: SlurmSite, rules: list[Any]) -> dict[str, Any]:
    """Return which QOS may preempt which, and how jobs are preempted, by QOS and by partition."""
    modes = {"requeue": REQUEUE, "cancel": CANCEL, "suspend": SUSPEND}
    names = [each.name for each in site.qos]
    may = np.zeros((len(names), len(names)), np.int64)
    for number, each in enumerate(site.qos):
        may[number, [names.index(name) for name in each.preempt if name in names]] = 1

    def mode(told: str) -> int:
        return modes.get(site.preempt_mode if told == "cluster" else told, NEVER)

    return {
        "preempts": may.ravel(),
        "qos_rank": np.array([min(each.priority, HIGHEST) for each in site.qos], np.float64),
        "qos_mode": np.array([mode(each.preempt_mode) for each in site.qos], np.int64),
        "partition_mode": np.array([mode(each.preempt_mode if each else "cluster") for each in rules], np.int64),
        "qos_grace": np.array([each.grace_time for each in site.qos], np.float64),
        "partition_grace": np.array([each.grace_time if each else 0.0 for each in rules], np.float64),
        "exempt_time": np.array([each.preempt_exempt_time for each in site.qos], np.float64),
    }


def partition_totals(table: NodeTable, rules: list[Any], *, bills_most: bool) -> FloatArray:
    """Return what each partition has of each resource; ``bills_most``: of what costs most, not of the sum."""
    rows = []
    for partition, rule in zip(table.partitions, rules, strict=True):
        nodes = partition.nodes
        amounts = np.array(
            [table.cores[nodes].sum(), table.memory[nodes].sum(), len(nodes), table.gpus[nodes].sum() // GPU, 0], float
        )
        weights = weights_of(rule.billing_weights if rule else {})
        if weights.any():
            amounts[4] = (weights * amounts).max() if bills_most else weights @ amounts
        else:
            amounts[4] = amounts[0]
        rows.append(amounts)
    return np.concatenate(rows)
