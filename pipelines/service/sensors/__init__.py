# SPDX-License-Identifier: BSD-3-Clause
"""What hears of a batch system: a file each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipelines.service.sensors.sensor import Sensor
from swftools.live import JobEvent

KINDS = ("slurm",)


def make_sensor(kind: str, settings: Mapping[str, object], before: Iterable[JobEvent]) -> Sensor:
    """Return a sensor."""
    from pipelines.service.sensors.slurm import SlurmSensor

    return SlurmSensor(before=before)
