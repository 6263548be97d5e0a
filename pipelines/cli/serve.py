# SPDX-License-Identifier: BSD-3-Clause
"""The command that answers users over the web: serve."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_log
from pipelines.cli.durations import Duration
from pipelines.cli.options import LOG_HELP, Number, load, reads_a_log, says_its_progress
from swftools.errors import MissingLibraryError, SwfToolsError
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from pipelines.service.clusters import Cluster
    from swftools.qbets import WaitPredictor

LIBRARIES = ("starlette", "uvicorn", "jinja2", "prometheus_client")

TICK = 1.0
"""Seconds between two polls of a log that is played."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@click.command(short_help="Answer users over the web how long jobs would wait.", name="serve")
@click.option("--slurm", is_flag=True, help="Follow the Slurm whose commands are here.")
@click.option("--replay", shell_complete=complete_log, help=f"{LOG_HELP}: it is played as if it ran now.")
@click.option("--name", help="What the cluster is called; default: slurm, or the log's name.")
@click.option(
    "--journal", type=click.Path(), help="File that keeps what is heard of Slurm, and is learnt at the start."
)
@click.option("--every", type=Duration(), default=60.0, show_default=True, help="Between two polls of Slurm: 60, 5m.")
@click.option("--speed", type=Number(0, min_open=True), default=1000.0, show_default=True, help="Of a log: s in one s.")
@click.option(
    "--begin", type=Number(0, 1), default=0.5, show_default=True, help="Share of a log's jobs that are learnt at first."
)
@click.option("--method", default="binomial", show_default=True, help="Bound of waits, as binomial or lognormal.")
@click.option("--by", help="What jobs are grouped by, as queue,user; all for none; default: queue, if there are any.")
@click.option("--training", type=click.IntRange(0), default=100, show_default=True, help="Waits known before answers.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8017, show_default=True, help="0: any that is free.")
@click.option("--allowed-host", multiple=True, help="Name by which it may be called, beside localhost; repeatable.")
@reads_a_log
@says_its_progress
def serve(slurm: bool, replay: str | None, cleaned: bool, rules: str, **options: Any) -> None:
    """Answer over the web how long a job submitted now would wait, as a Slurm or a log tells.

    A page for people is at /, JSON below /api/v1, figures for Prometheus at /metrics. Ctrl-C ends it.

    \b
    Examples: swftools serve --slurm --journal waits.jsonl
              swftools serve --replay SDSC-BLUE-2000-4.2-cln-5000-9999
    """
    if slurm == (replay is not None):
        raise click.UsageError("give --slurm, or --replay LOG")
    if replay is not None and options["journal"]:
        raise click.UsageError("--journal keeps what is heard of a Slurm; a log is there already")
    if not all(find_spec(name) for name in LIBRARIES):
        raise MissingLibraryError("serve needs a web server: pip install 'swftools[serve]'")
    from pipelines.service.app import Service, make_app
    from pipelines.service.web_server import run

    cluster = _of_slurm(options) if replay is None else _of_log(replay, cleaned, rules, options)
    app = make_app(Service([cluster], TICK if replay else options["every"]), [*LOOPBACK, *options["allowed_host"]])
    run(
        app,
        options["host"],
        options["port"],
        lambda address: click.echo(f"{shown(cluster.name)}: {address}  (Ctrl-C ends it)"),
    )


def _predictor(options: Mapping[str, Any], *, has_queues: bool = True) -> WaitPredictor:
    """Return how waits are bounded."""
    from swftools.qbets import WaitPredictor

    by = options["by"] or ("queue" if has_queues else "all")
    return WaitPredictor(options["method"], None if by == "all" else by.split(","), training=options["training"])


def _of_slurm(options: Mapping[str, Any]) -> Cluster:
    """Return a cluster that follows the Slurm of this machine, of which something was heard."""
    from pipelines.service.clocks import SystemClock
    from pipelines.service.clusters import Cluster
    from pipelines.service.sensors.slurm import SlurmSensor
    from swftools.live import Journal, read_journal

    predictor = _predictor(options)
    predictor.start = 0
    journal = Journal(options["journal"]) if options["journal"] else None
    sensor = SlurmSensor(before=[] if journal is None else read_journal(journal.path))
    name = shown(options["name"] or "slurm")
    cluster = Cluster(name, predictor, sensor, SystemClock(), options["every"], journal=journal)
    cluster.poll()
    return cluster


def _of_log(replay: str, cleaned: bool, rules: str, options: Mapping[str, Any]) -> Cluster:
    """Return a cluster that plays a log."""
    loaded = load(replay, cleaned, rules)
    from functools import partial

    from pipelines.service.clocks import ReplayClock
    from pipelines.service.clusters import replayed

    if not len(loaded.trace):
        raise SwfToolsError(f"{loaded.log.name}: it has no job, so there is nothing to play")
    return replayed(
        shown(options["name"] or loaded.log.name),
        loaded.trace,
        _predictor(options, has_queues=bool(loaded.trace.jobs["queue_id"].notna().any())),
        clock_of=partial(ReplayClock, speed=options["speed"]),
        every=max(60.0, TICK * options["speed"]),
        begin=options["begin"],
    )
