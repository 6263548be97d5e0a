# SPDX-License-Identifier: BSD-3-Clause
"""What Prometheus reads: waits as a histogram, bounds, how often they were kept, and when something was heard."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from pipelines.service.clusters import Cluster
from pipelines.service.recent_waits import WAIT_BUCKETS
from swftools.errors import ParameterError

QUANTILES = (0.5, 0.9, 0.95)

MOST_QUEUES = 50
"""Of a cluster, of which bounds are shown: those of most waits, so that a cluster has 200 series at most."""


class Exposition(Collector):
    """Reads clusters when it is asked.

    Parameters
    ----------
    clusters : mapping of str to Cluster
        By name.
    """

    def __init__(self, clusters: Mapping[str, Cluster]) -> None:
        self._clusters = clusters

    def describe(self) -> list[Metric]:
        """Return nothing: what is there is known when it is asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield all families."""
        waits = HistogramMetricFamily("swftools_wait_seconds", "Waits of jobs that started.", labels=["cluster"])
        # A summary, which is what has quantiles; nothing is counted or summed here: that is the histogram's.
        bounds = Metric("swftools_wait_bound_seconds", "Bound of the wait of a job submitted now.", "summary")
        kept = GaugeMetricFamily(
            "swftools_bound_kept_ratio",
            "Share of jobs that started within what they were told, 30 days.",
            labels=["cluster"],
        )
        heard = GaugeMetricFamily(
            "swftools_sensor_last_success_timestamp_seconds", "When something was heard last.", labels=["cluster"]
        )
        of_command = ["cluster", "command"]
        calls = CounterMetricFamily("swftools_sensor_calls", "Calls of the batch system.", labels=of_command)
        took = CounterMetricFamily("swftools_sensor_seconds", "Seconds that they took.", labels=of_command)
        failures = CounterMetricFamily("swftools_sensor_failures", "Calls that failed.", labels=of_command)
        for cluster in self._clusters.values():
            name = [cluster.name]
            ends = [*(f"{end:g}" for end in WAIT_BUCKETS), "+Inf"]
            waits.add_metric(name, list(zip(ends, accumulate(cluster.waits), strict=True)), cluster.waited)
            share = cluster.kept().share
            if not math.isnan(share):
                kept.add_metric(name, share)
            if math.isfinite(cluster.heard_at):
                heard.add_metric(name, cluster.heard_at + (cluster.predictor.start or 0))
            for command, cost in list(cluster.costs.items()):  # a poll may add one meanwhile
                calls.add_metric([cluster.name, command], cost.calls)
                took.add_metric([cluster.name, command], cost.seconds)
                failures.add_metric([cluster.name, command], cost.failures)
            for queue, quantile, seconds in _bounds(cluster):
                labels = {"cluster": cluster.name, "queue": queue, "quantile": f"{quantile:g}"}
                bounds.add_sample("swftools_wait_bound_seconds", labels, seconds)
        yield from (waits, bounds, kept, heard, calls, took, failures)


def _bounds(cluster: Cluster) -> Iterator[tuple[str, float, float]]:
    """Yield queue, quantile and bound (s), where it depends on nothing else than the queue and names no user."""
    if cluster.is_stale or cluster.names_users:
        return
    groups = sorted(cluster.groups().items(), key=lambda each: -cluster.live.waits(each[0]))[:MOST_QUEUES]
    for label, queue in groups:
        try:
            answer = cluster.answer(label, quantiles=QUANTILES)
        except ParameterError:  # it depends on what the job asks for
            continue
        for each in answer.bounds:
            if each.quantile in QUANTILES and each.seconds is not None and answer.no_prediction is None:
                yield queue, each.quantile, each.seconds
