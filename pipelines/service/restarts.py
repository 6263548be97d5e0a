# SPDX-License-Identifier: BSD-3-Clause
"""A cluster that goes on where its journal ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pipelines.service.clocks import Clock
from pipelines.service.clusters import Cluster
from pipelines.service.memory import read_memory
from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine, Sensor
from swftools.live import JobEvent, Journal
from swftools.live.events import in_order
from swftools.qbets import WaitPredictor


def followed(
    name: str,
    predictor: WaitPredictor,
    sensor_of: Callable[[Iterable[JobEvent]], Sensor],
    clock: Clock,
    every: float,
    journal: str | os.PathLike[str],
    **options: Any,
) -> Cluster:
    """Return a cluster that goes on where its journal ends; quickly, if what was known was written down beside it.

    Parameters
    ----------
    name, predictor, clock, every
        As of ``Cluster``.
    sensor_of : callable
        Makes the sensor, of what was heard before: of the jobs that wait, run or ended a short while ago.
    journal : str or path
        The file.
    **options
        ``ledger`` and ``policy`` of ``Cluster``.

    Raises
    ------
    ParameterError
        A line of the journal, or of the ledger, is none.
    StorageError
        One of them cannot be written.
    """
    path = Path(journal)
    memory = read_memory(path, predictor)
    kept = Journal(path, memory.mark if memory else None)
    cluster = Cluster(name, predictor, _Deaf(), clock, every, journal=kept, memory=memory, **options)
    cluster.hear_by(sensor_of(in_order(event for job in cluster.jobs.known() for event in job.events())))
    return cluster


class _Deaf:
    """Hears nothing: a cluster has it until its sensor is made, of what it knows."""

    notice = None

    def poll(self, now: float) -> list[JobEvent]:  # noqa: ARG002 (as sensors have it)
        return []

    def machine(self) -> Machine:
        return NOT_SAID

    @property
    def costs(self) -> Mapping[str, Cost]:
        return {}
