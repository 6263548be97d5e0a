# SPDX-License-Identifier: BSD-3-Clause
"""A cluster of two queues, with a clock of the test's own, for tests of what a service answers."""

from __future__ import annotations

from functools import cache
from typing import Any

from pipelines.service.clusters import Cluster
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine
from swftools import Trace
from swftools.live import JobEvent, log_events
from swftools.qbets import WaitPredictor

EVIL = "<b>night</b>\x1b[31m"
"""What a queue is called."""


MACHINE = Machine(64)


class Hand:
    """A clock that stands until it is moved."""

    def __init__(self, time: float = 0.0) -> None:
        self.time = time

    def now(self) -> float:
        """Return the time."""
        return self.time


def log_of(count: int = 400) -> Trace:
    """Return jobs of two queues: one starts within a minute, one within half an hour."""
    rows = range(count)
    return Trace.from_columns(
        machine_processors=64,
        job_number=list(rows),
        submit_time=[60.0 * row for row in rows],
        wait_time=[float(row % 50) if row % 2 else 30.0 * (row % 50) for row in rows],
        run_time=[30] * count,
        requested_time=[3600.0 if row % 3 else 7200.0 for row in rows],
        requested_processors=[4] * count,
        queue_id=[1 + row % 2 for row in rows],
        user_id=[row % 7 for row in rows],
    )


@cache
def events_of_log() -> list[JobEvent]:
    """Return what happened to these jobs."""
    return list(log_events(log_of(), ("queue", "user")))


def cluster_of(
    clock: Hand, name: str = "blue", machine: Machine = MACHINE, policy: str | None = "easy", **parameters: Any
) -> Cluster:
    """Return a cluster that hears of these jobs."""
    predictor = WaitPredictor("binomial", **{"training": 20, "clustering": False, **parameters})
    predictor.names, predictor.start = {"queue": {1: "batch", 2: EVIL}, "user": {3: "ann", 4: EVIL}}, 946_684_800
    return Cluster(name, predictor, ReplaySensor(events_of_log(), machine), clock, 60.0, policy=policy)
