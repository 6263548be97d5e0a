# SPDX-License-Identifier: BSD-3-Clause
"""Two clusters of the same jobs, of which one says what its queues take, and who asks them."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from pipelines.service.app import Service, make_app
from pipelines.service.clusters import Cluster
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine, QueueLimits
from swftools.live import log_events
from swftools.qbets import WaitPredictor
from tests.pipelines.service.small_cluster import Hand, cluster_of, log_of

SMALL = Machine(64, {"batch": QueueLimits(is_default=True, longest=7200.0, default_time=60.0, processors=8)})


def two_clusters(clock: Hand) -> list[Cluster]:
    """Return them: blue has queues, and in red all jobs are one group."""
    made = [cluster_of(clock, "blue", SMALL), cluster_of(clock, "red", by=None)]
    for cluster in made:
        cluster.poll()
    return made


def asking(clusters: list[Cluster], **options: Any) -> TestClient:
    """Return who asks clusters."""
    return TestClient(make_app(Service(clusters, **options), ["testserver"]))


def waiting_job(cluster: Cluster) -> Any:
    """Return the job that waits longest."""
    return min(cluster.jobs.waiting.values(), key=lambda job: job.submit)


def trailing(clock: Hand) -> Cluster:
    """Return a cluster whose bound has no confidence."""
    predictor = WaitPredictor("trailing", training=20, clustering=False)
    predictor.names = {"queue": {1: "batch"}}
    cluster = Cluster("blue", predictor, ReplaySensor(list(log_events(log_of()))), clock, 60.0)
    cluster.poll()
    return cluster
