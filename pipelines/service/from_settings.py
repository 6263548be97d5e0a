# SPDX-License-Identifier: BSD-3-Clause
"""From settings to what they mean: sensors, and where is kept what they hear."""

from __future__ import annotations

from typing import Any

from pipelines.service.collector import Collector
from pipelines.service.kept import Kept
from pipelines.service.sensors import make_sensor
from pipelines.service.sensors.sensor import Sensor
from pipelines.service.settings import REPLAY, ClusterSettings
from swftools.errors import ParameterError, SwfToolsError
from swftools.live import JobFiles, Journal, read_journal


def kept_of(name: str, settings: ClusterSettings) -> Kept | None:
    """Return where what is heard of a cluster is kept; None where nothing is.

    Raises
    ------
    StorageError
        The journal cannot be written.
    ParameterError
        It is none, or the inbox is no folder.
    """
    if not settings.journal:
        return None
    journal = Journal(settings.journal)
    try:
        files = JobFiles(settings.inbox, name, settings.file_every, journal) if settings.inbox else None
    except SwfToolsError:
        journal.close()
        raise
    return Kept(journal, files)


def sensor_of(settings: ClusterSettings, kept: Kept | None) -> Sensor:
    """Return what hears of a cluster's batch system."""
    told: dict[str, Any] = {name: value for name, value in settings.sensor.items() if name != "kind"}
    return make_sensor(settings.sensor["kind"], told, [] if kept is None else read_journal(kept.journal.path))


def collector_of(name: str, settings: ClusterSettings) -> Collector:
    """Return what hears of a cluster and keeps what it hears.

    Raises
    ------
    ParameterError
        It has no journal, or its sensor plays a log.
    """
    if settings.sensor["kind"] == REPLAY:
        raise ParameterError(f"cluster {name}: a log is there already, and is not collected")
    kept = kept_of(name, settings)
    if kept is None:
        raise ParameterError(f"cluster {name}: name the file that keeps what is heard: journal: FILE (--journal FILE)")
    return Collector(name, sensor_of(settings, kept), kept, settings.every)
