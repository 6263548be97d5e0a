# SPDX-License-Identifier: BSD-3-Clause
"""What queues take, as far as the batch system says so."""

from __future__ import annotations

from typing import Any

from pipelines.service.clusters import Cluster
from pipelines.service.sensors.sensor import QueueLimits
from swftools.output.shown_text import shown
from swftools.parameters.durations import in_words


def limits_of(cluster: Cluster, label: str) -> QueueLimits | None:
    """Return what the queue of a group takes; None where nobody says."""
    if list(cluster.predictor.by) != ["queue"]:
        return None
    return cluster.machine.queues.get(cluster.groups().get(label, label))


def about_limits(cluster: Cluster) -> dict[str, Any]:
    """Return the default queue, and the limits of each."""
    queues = cluster.machine.queues
    return {
        "default_queue": next((name for name, limits in queues.items() if limits.is_default), None),
        "limits": {
            name: {
                "is_default": limits.is_default,
                "longest": limits.longest,
                "default_time": limits.default_time,
                "processors": limits.processors,
            }
            for name, limits in queues.items()
        },
    }


def why_not(cluster: Cluster, label: str, processors: int | None, requested_time: float | None) -> str | None:
    """Return why a queue does not take a job; None if it does, as far as is known."""
    limits = limits_of(cluster, label) or QueueLimits()
    name = shown(cluster.groups().get(label, label))
    most = limits.processors or cluster.machine.processors
    if processors is not None and most is not None and processors > most:
        return f"{name} of {shown(cluster.name)} has {most:,} processors, and the job asks for {processors:,}"
    if requested_time is not None and limits.longest is not None and requested_time > limits.longest:
        return f"jobs in {name} of {shown(cluster.name)} run {in_words(limits.longest)} at most"
    return None
