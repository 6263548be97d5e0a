# SPDX-License-Identifier: BSD-3-Clause
"""What is known of clusters and queues, as JSON holds it."""

from __future__ import annotations

import math
from typing import Any

from pipelines.service.clusters import MONTH, Cluster
from pipelines.service.limits import about_limits
from swftools.live import ToldCounts


def state_of(cluster: Cluster) -> dict[str, Any]:
    """Return how old what is known is."""
    return {
        "cluster": cluster.name,
        "as_of": cluster.date(cluster.heard_at),
        "as_of_seconds": finite(cluster.heard_at),
        "age_seconds": finite(cluster.age),
    }


def about_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return what a cluster is, and what can be asked of it."""
    chosen = cluster.predictor.parameters
    return {
        **state_of(cluster),
        "is_stale": cluster.is_stale,
        "processors": cluster.machine.processors,
        "method": cluster.predictor.name,
        "by": list(cluster.predictor.by),
        "told_apart_by": chosen.explanatory,
        "quantile": chosen.quantile,
        "confidence": chosen.confidence,
        "queues": list(cluster.groups().values()),
        **about_limits(cluster),
        "policy": cluster.policy,
        "notice": cluster.notice,
        "waiting": cluster.waiting,
        "running": cluster.running,
    }


def queues_of(cluster: Cluster) -> list[dict[str, Any]]:
    """Return a row for each queue: who waits, what was kept in the last month, waits that are known."""
    waiting = cluster.live.waiting["group"].value_counts()
    return [
        {
            "queue": name,
            "waiting": int(waiting.get(label, 0)),
            "waits": cluster.live.waits(label),
            "accuracy": accuracy(cluster.kept(label)),
        }
        for label, name in cluster.groups().items()
    ]


def accuracy(counts: ToldCounts) -> dict[str, Any]:
    """Return what came of what was told; null where nothing is known."""
    return {**counts._asdict(), "share": finite(counts.share), "days": MONTH}


def finite(number: float) -> float | None:
    """Return a number; None for one that is not finite."""
    return float(number) if math.isfinite(number) else None
