# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a service: ``service.yaml``, each key with its default, checked with line numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, Strict
from pydantic.dataclasses import dataclass

from pipelines.service.sensors import KINDS
from pipelines.tasks.replay_predictor import ReplayOptionsParameter, groups_of
from swftools.errors import ParameterError
from swftools.output.shown_text import shown
from swftools.parameters import did_you_mean
from swftools.parameters.as_text import read_entry
from swftools.parameters.durations import seconds_of
from swftools.parameters.problems import as_value_error, validated
from swftools.parameters.strict_yaml import read_yaml_file
from swftools.qbets.methods import find_method
from swftools.simulator.registry import list_policies, read_policy

REPLAY = "replay"
"""The sensor that plays a log."""

_CLOSED = ConfigDict(extra="forbid")


def _seconds(value: Any) -> Any:
    """Return a time such as 5m as seconds."""
    seconds = seconds_of(value) if isinstance(value, str) else value
    if seconds is None:
        raise ValueError("should be a time such as 60 (seconds), 5m or 1h")
    return seconds


def _sensor(value: Any) -> Any:
    """Return what is said of a sensor as a mapping, with its kind."""
    told = {"kind": value} if isinstance(value, str) else value
    if not isinstance(told, Mapping) or not isinstance(told.get("kind"), str):
        raise ValueError("should be slurm, or a mapping such as {kind: slurmrestd, url: URL}")  # noqa: TRY004 (pydantic's)
    kinds = (*KINDS, REPLAY)
    if told["kind"] not in kinds:
        raise ValueError(
            f"no sensor {told['kind']!r}; there are {', '.join(kinds)}{did_you_mean([told['kind']], kinds)}"
        )
    return dict(told)


def _clusters(told: dict[str, Any]) -> dict[str, Any]:
    """Refuse names that cannot be shown, and none."""
    for name in told:
        if not name.strip() or shown(name) != name or "/" in name:
            raise ValueError(f"cluster {name!r}: a name has letters that can be printed, and no /")
    if not told:
        raise ValueError("should name a cluster, such as clusters: {blue: {sensor: slurm}}")
    return told


def _check_policy(text: str) -> None:
    if text:
        read_policy(*read_entry(text, list_policies()))


_Groups = Annotated[str, AfterValidator(as_value_error(lambda text: text and groups_of(text)))]
_Method = Annotated[str, AfterValidator(as_value_error(find_method))]
_Options = Annotated[dict[str, Any], AfterValidator(as_value_error(ReplayOptionsParameter().normalize))]
_Policy = Annotated[str, AfterValidator(as_value_error(_check_policy))]
Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0.01, le=1e9)]
_Count = Annotated[int, Strict(), Field(ge=0, le=1 << 31)]


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class ClusterSettings:
    """How one cluster is heard of, and how its waits are bounded."""

    sensor: Annotated[dict[str, Any], BeforeValidator(_sensor)]
    """Its kind, and the settings of that."""
    every: Seconds = 60.0
    """Between two polls, s."""
    journal: str = ""
    """File that keeps what is heard."""
    inbox: str = ""
    """Folder, or none, where files of jobs appear, for ``swftools reevaluate``."""
    file_every: Seconds = 3600.0
    """Between two of these, s."""
    method: _Method = "binomial"
    by: _Groups = ""
    """What jobs are grouped by, as queue,user; all for none; empty: queue, if there are any."""
    training: _Count = 100
    """Waits known before there are answers."""
    options: _Options = field(default_factory=dict)
    """Of the bound, as quantile and confidence."""
    policy: _Policy = ""
    """How the centre orders its queue, as easy; empty: no start is simulated."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class ServiceSettings:
    """All of them."""

    clusters: Annotated[dict[str, ClusterSettings], AfterValidator(_clusters)]
    host: str = "127.0.0.1"
    port: Annotated[int, Strict(), Field(ge=0, le=65_535)] = 8017
    allowed_hosts: tuple[str, ...] = ()
    """Names by which it may be called, beside localhost."""
    shows_users: Annotated[bool, Strict()] = False
    """Whether users are named."""
    user_header: str = ""
    """Header in which a proxy says who asks; empty: nobody is known, and ids of jobs tell all of them to anybody."""
    trusted_peers: tuple[str, ...] = ()
    """Addresses or networks of such proxies."""
    jobs_are_private: Annotated[bool, Strict()] = True
    """Whether a job is told to its user alone, where there is a header."""
    questions: str = ""
    """File that keeps what users ask, without who they are; empty: nothing is kept."""
    questions_days: Annotated[float, Field(gt=0, le=36_500)] = 90.0
    """For how long."""


def read_service_settings(path: str | Path, given: Mapping[str, Any] | None = None) -> ServiceSettings:
    """Read and check the settings of a service.

    Parameters
    ----------
    path : str or Path
        A file such as ``service.yaml``.
    given : mapping, optional
        What holds instead, such as ``port``.

    Raises
    ------
    ParameterError
        The file cannot be read or is not valid: the message lists every problem with its line.
    """
    data, content = read_yaml_file(path, ParameterError, "check the path of the settings")
    if not isinstance(content, dict):
        raise ParameterError(f"{path}: it must be a mapping such as clusters: {{blue: {{sensor: slurm}}}}")
    settings = validated(ServiceSettings, str(path), data, content)
    check_together(settings, str(path))
    return validated(ServiceSettings, "command line", b"", {**content, **given}) if given else settings


def check_together(settings: ServiceSettings, source: str) -> None:
    """Check what takes several keys.

    Raises
    ------
    ParameterError
        Two clusters write to one file, or one to an inbox without a journal.
    """
    for key in ("journal", "inbox"):
        used: dict[str, str] = {}
        for name, cluster in settings.clusters.items():
            path = str(Path(getattr(cluster, key)).absolute()) if getattr(cluster, key) else ""
            if path in used:
                raise ParameterError(f"{source}: clusters {used[path]} and {name} have one {key}; give each its own")
            if path:
                used[path] = name
    for name, cluster in settings.clusters.items():
        kind = cluster.sensor["kind"]
        if cluster.inbox and not cluster.journal:
            raise ParameterError(
                f"{source}: cluster {name}: an inbox needs a journal, lest a restart lose jobs; add one"
            )
        if kind == REPLAY and (cluster.journal or cluster.inbox):
            raise ParameterError(f"{source}: cluster {name}: a log is there already: it has no journal and no inbox")
