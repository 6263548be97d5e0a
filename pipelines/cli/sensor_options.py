# SPDX-License-Identifier: BSD-3-Clause
"""Options of commands that hear of a batch system: which one, how often, and where what they hear is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.durations import Duration
from pipelines.cli.options import together

if TYPE_CHECKING:
    from pipelines.service.settings import ServiceSettings

hears_of_a_batch_system = together(
    click.option("--config", type=click.Path(), help="Settings of one cluster or several, as service.yaml."),
    click.option("--slurm", is_flag=True, help="Follow the Slurm whose commands are here."),
    click.option("--pbs", is_flag=True, help="Follow the PBS whose commands are here."),
    click.option("--sensor", help="Follow another: slurmrestd:url=URL,token_file=FILE, or folder:path=FOLDER."),
    click.option("--name", help="What the cluster is called; default: slurm, pbs, or the log's name."),
    click.option("--journal", type=click.Path(), help="File that keeps what is heard, and is learnt at the start."),
    click.option(
        "--inbox",
        type=click.Path(),
        help="Folder where files of jobs appear, for swftools reevaluate; needs --journal.",
    ),
    click.option("--file-every", type=Duration(), help="Between two files in the inbox: 30m, 1d; default 1h."),
    click.option("--every", type=Duration(), help="Between two polls: 60, 5m; default 60 s."),
)

_OF_A_CLUSTER = ("journal", "inbox", "file_every", "every", "method", "by", "training", "policy")


def settings_of(options: Mapping[str, Any], sensor: Mapping[str, Any] | None, name: str) -> ServiceSettings:
    """Return settings as the options say them.

    Parameters
    ----------
    options : mapping
        Of the command; what was not given is None, or empty.
    sensor : mapping, optional
        The sensor that other options name.
    name : str
        The cluster of that, if no option names it.

    Raises
    ------
    click.UsageError
        Several things are named, or none.
    ParameterError
        A value is none.
    """
    from pipelines.service.sensors import KINDS
    from pipelines.service.settings import ServiceSettings, check_together, read_service_settings
    from swftools.errors import ParameterError
    from swftools.parameters.as_text import read_assignments, read_entry
    from swftools.parameters.problems import validated

    whole = {key: options[key] for key in ("host", "port", "allowed_hosts") if options.get(key) not in (None, ())}
    of_cluster = {key: options[key] for key in _OF_A_CLUSTER if options.get(key) is not None}
    if options.get("options"):
        of_cluster["options"] = read_assignments(options["options"])
    sensors: list[dict[str, Any]] = [{"kind": kind} for kind in ("slurm", "pbs") if options.get(kind)]
    if options.get("sensor"):
        kind, told = read_entry(options["sensor"], KINDS)
        sensors.append({**told, "kind": kind})
    sensors += [dict(sensor)] if sensor else []
    if options.get("config"):
        said = [each["kind"] for each in sensors] + [
            key for key in ("name", *of_cluster) if options.get(key) is not None
        ]
        if said:
            names = ", ".join(f"--{key.replace('_', '-')}" for key in said)
            raise click.UsageError(f"--config names the clusters: put {names} into that file")
        return read_service_settings(options["config"], whole)
    if len(sensors) != 1:
        others = ", --replay LOG" if "replay" in options else ""
        raise click.UsageError(f"give one of --config FILE, --slurm, --pbs, --sensor KIND{others}")
    called = options.get("name") or (name if sensor else sensors[0]["kind"])
    content = {**whole, "clusters": {called: {**of_cluster, "sensor": sensors[0]}}}
    try:
        settings = validated(ServiceSettings, "command line", b"", content)
    except ParameterError as error:  # it names keys of a file
        raise ParameterError(str(error).replace(f"clusters.{called}.", "--").replace("_every:", "-every:")) from error
    check_together(settings, "command line")
    return settings
