# SPDX-License-Identifier: BSD-3-Clause
"""From settings to what they mean: clusters that answer, and collectors that only keep what they hear."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pipelines.logs.load import LoadedLog
from pipelines.service.clocks import ReplayClock, SystemClock
from pipelines.service.clusters import Cluster
from pipelines.service.collector import Collector
from pipelines.service.kept import Kept
from pipelines.service.replays import replayed
from pipelines.service.restarts import followed
from pipelines.service.sensors import make_sensor
from pipelines.service.sensors.sensor import Sensor
from pipelines.service.settings import REPLAY, ClusterSettings
from swftools.errors import ParameterError, SwfToolsError
from swftools.live import JobEvent, JobFiles, Journal, read_journal
from swftools.parameters import did_you_mean, is_number
from swftools.qbets import WaitPredictor

TICK = 1.0
"""Seconds between two polls of a log that is played."""

_PLAY = {"log": "", "speed": 1000.0, "begin": 0.5}
"""Settings of a log that is played: the log, seconds of it in a second, share of its jobs that are learnt at first."""

Load = Callable[[str], LoadedLog]


def collector_of(name: str, settings: ClusterSettings) -> Collector:
    """Return what hears of a cluster and keeps what it hears.

    Raises
    ------
    ParameterError
        It has no journal, or its sensor plays a log.
    StorageError
        The journal cannot be written.
    """
    if settings.sensor["kind"] == REPLAY:
        raise ParameterError(f"cluster {name}: a log is there already, and is not collected")
    if not settings.journal:
        raise ParameterError(f"cluster {name}: name the file that keeps what is heard: journal: FILE (--journal FILE)")
    journal = Journal(settings.journal)
    try:
        sensor = _sensor_of(settings, read_journal(journal.path))
        files = JobFiles(settings.inbox, name, settings.file_every, journal) if settings.inbox else None
    except SwfToolsError:
        journal.close()
        raise
    return Collector(name, sensor, Kept(journal, files), settings.every)


def cluster_of(name: str, settings: ClusterSettings, load: Load) -> Cluster:
    """Return a cluster that answers, once something is heard of it.

    Parameters
    ----------
    name : str
        By which users call it.
    settings : ClusterSettings
        How it is heard of.
    load : callable
        Returns a log by its name, for a sensor that plays one.

    Raises
    ------
    SwfToolsError
        What is heard cannot be kept.
    """
    if settings.sensor["kind"] == REPLAY:
        return _played(name, settings, load)
    predictor, policy = _predictor(settings), settings.policy or None
    predictor.start = 0
    sensor_of = partial(_sensor_of, settings)
    if settings.journal:
        told = f"{settings.journal}.told"
        cluster = followed(
            name, predictor, sensor_of, SystemClock(), settings.every, settings.journal, ledger=told, policy=policy
        )
    else:
        cluster = Cluster(name, predictor, sensor_of([]), SystemClock(), settings.every, policy=policy)
    try:
        if settings.inbox:
            cluster.write_files(settings.inbox, settings.file_every)
    except SwfToolsError:
        cluster.close()
        raise
    return cluster


def _sensor_of(settings: ClusterSettings, before: Iterable[JobEvent]) -> Sensor:
    """Return what hears of a cluster's batch system."""
    told: dict[str, Any] = {name: value for name, value in settings.sensor.items() if name != "kind"}
    return make_sensor(settings.sensor["kind"], told, before)


def _predictor(settings: ClusterSettings, *, has_queues: bool = True) -> WaitPredictor:
    """Return how waits are bounded."""
    by = settings.by or ("queue" if has_queues else "all")
    options: dict[str, Any] = {"training": settings.training, **settings.options}
    return WaitPredictor(settings.method, None if by == "all" else by.split(","), **options)


def _played(name: str, settings: ClusterSettings, load: Load) -> Cluster:
    """Return a cluster that plays a log."""
    chosen = {**_PLAY, **{key: value for key, value in settings.sensor.items() if key != "kind"}}
    if unknown := sorted(set(chosen) - set(_PLAY)):
        near = did_you_mean(unknown, _PLAY)
        raise ParameterError(f"cluster {name}: sensor: no setting {unknown[0]!r}; there are {', '.join(_PLAY)}{near}")
    for key, most in (("speed", 1e9), ("begin", 1.0)):
        value = chosen[key]
        if not is_number(value, 0.0) or value > most:
            raise ParameterError(f"cluster {name}: sensor: {key}={value!r} is not a number from 0 to {most:g}")
    if not chosen["log"] or not isinstance(chosen["log"], str):
        raise ParameterError(f"cluster {name}: sensor: name the log that is played: log: NAME")
    loaded = load(chosen["log"])
    if not len(loaded.trace):
        raise SwfToolsError(f"{loaded.log.name}: it has no job, so there is nothing to play")
    return replayed(
        name,
        loaded.trace,
        _predictor(settings, has_queues=bool(loaded.trace.jobs["queue_id"].notna().any())),
        clock_of=partial(ReplayClock, speed=chosen["speed"]),
        every=max(60.0, TICK * chosen["speed"]),
        tick=TICK,
        begin=chosen["begin"],
        policy=settings.policy or None,
    )
