# SPDX-License-Identifier: BSD-3-Clause
"""What hears of a batch system: a file each, found by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelines.service.sensors.sensor import Sensor
    from swftools.live import JobEvent

_SENSORS = {
    "slurm": ("SlurmSettings", "SlurmSensor"),
    "pbs": ("PbsSettings", "PbsSensor"),
    "slurmrestd": ("RestSettings", "RestSensor"),
    "folder": ("FolderSettings", "FolderSensor"),
}
"""By name, which is that of their file: the settings and the sensor there."""

KINDS = tuple(_SENSORS)
"""What can be heard of."""


def make_sensor(kind: str, settings: Mapping[str, object], before: Iterable[JobEvent]) -> Sensor:
    """Return what hears of a cluster: patient while it does not answer, and never asking twice at once.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    settings : mapping of str to object
        As its file says; what is missing is as usual.
    before : iterable of JobEvent
        What was heard before, of a journal.

    Raises
    ------
    ParameterError
        There is no such kind, or a setting is not known or wrong.
    """
    from pydantic import ValidationError  # noqa: PLC0415 (the console starts without it)

    from pipelines.service.sensors.patient import PatientSensor  # noqa: PLC0415
    from swftools.errors import ParameterError  # noqa: PLC0415
    from swftools.parameters.spelling import did_you_mean  # noqa: PLC0415

    if kind not in _SENSORS:
        raise ParameterError(f"no sensor {kind!r}; there are: {', '.join(KINDS)}{did_you_mean([kind], KINDS)}")
    module = import_module(f"{__name__}.{kind}")
    model, sensor = (getattr(module, name) for name in _SENSORS[kind])
    try:
        chosen = model.model_validate(dict(settings))
    except ValidationError as error:
        problems = "; ".join(_problem(each, list(model.model_fields)) for each in error.errors())
        raise ParameterError(f"sensor {kind}: {problems}") from error
    return PatientSensor(sensor(before=before, settings=chosen))


def _problem(details: Any, known: list[str]) -> str:
    """Return what is wrong with a setting, and what to do."""
    from swftools.parameters.spelling import did_you_mean  # noqa: PLC0415

    name = ".".join(map(str, details["loc"]))
    if details["type"] == "extra_forbidden":
        return f"no setting {name!r}; there are: {', '.join(known)}{did_you_mean([name], known)}"
    if details["type"] == "missing":
        return f"{name} is missing; add it"
    if details["type"] == "value_error":
        return f"{name}: {details['ctx']['error']}" if name else str(details["ctx"]["error"])
    return f"{name}={details['input']!r:.80}: {details['msg']}"
