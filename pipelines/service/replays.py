# SPDX-License-Identifier: BSD-3-Clause
"""A cluster that plays a log that is over, as if it ran now."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.service.clocks import ReplayClock
from pipelines.service.clusters import Cluster
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import Machine
from swftools.live import log_events
from swftools.live.events import SUBMITTED
from swftools.qbets import WaitPredictor
from swftools.trace import Trace


def replayed(
    name: str,
    log: Trace,
    predictor: WaitPredictor,
    *,
    clock_of: Callable[[float], ReplayClock],
    every: float,
    tick: float,
    begin: float,
    policy: str | None = None,
) -> Cluster:
    """Return a cluster that plays a log, from a share of its submissions on.

    Parameters
    ----------
    name : str
        Of the cluster.
    log : Trace
        Jobs with their waits.
    predictor : WaitPredictor
        How waits are bounded.
    clock_of : callable
        Makes the clock, of the second where the play begins; it runs from when that is learnt.
    every : float
        Seconds of the log after which what is known is old, five times over.
    tick : float
        Seconds of this machine between two polls.
    begin : float
        Share of the submissions that are learnt before it begins, 0 to 1.
    policy : str, optional
        As of ``Cluster``.
    """
    events = list(log_events(log, tuple(dict.fromkeys([*predictor.by, *_told_of(log)]))))
    predictor.names, predictor.start = log.known_names, log.header.unix_start_time
    submitted = [event.time for event in events if event.kind == SUBMITTED]
    first = submitted[min(int(begin * len(submitted)), len(submitted) - 1)] if submitted else 0.0
    clock = clock_of(first)
    cluster = Cluster(name, predictor, ReplaySensor(events, Machine(log.processors)), clock, every, policy=policy)
    cluster.tick = tick
    cluster.poll()
    clock.start()
    return cluster


def _told_of(log: Trace) -> list[str]:
    """Return by what jobs are told apart, of what the log has: their queue and user."""
    return [name for name, column in (("queue", "queue_id"), ("user", "user_id")) if log.jobs[column].notna().any()]
