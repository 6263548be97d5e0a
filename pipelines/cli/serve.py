# SPDX-License-Identifier: BSD-3-Clause
"""The command that answers users over the web: serve."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from pipelines.cli.completion import complete_log
from pipelines.cli.options import LOG_HELP, Number, load, reads_a_log, says_its_progress
from pipelines.exit_statuses import WRONG_COMMAND
from swftools.errors import MissingLibraryError, SwfToolsError
from swftools.output.shown_text import shown

LIBRARIES = ("starlette", "uvicorn", "jinja2", "prometheus_client")

TICK = 1.0
"""Seconds between two polls of a log that is played."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@click.command(short_help="Answer users over the web how long jobs would wait.", name="serve")
@click.option(
    "--replay", required=True, shell_complete=complete_log, help=f"{LOG_HELP}: it is played as if it ran now."
)
@click.option("--speed", type=Number(0, min_open=True), default=1000.0, show_default=True, help="Seconds of it in one.")
@click.option(
    "--begin", type=Number(0, 1), default=0.5, show_default=True, help="Share of its jobs that are learnt at first."
)
@click.option("--method", default="binomial", show_default=True, help="Bound of waits, as binomial or lognormal.")
@click.option("--by", default="queue", show_default=True, help="What jobs are grouped by, as queue,user; all for none.")
@click.option("--training", type=click.IntRange(0), default=100, show_default=True, help="Waits known before answers.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8017, show_default=True, help="0: any that is free.")
@click.option("--allowed-host", multiple=True, help="Name by which it may be called, beside localhost; repeatable.")
@reads_a_log
@says_its_progress
def serve(replay: str, method: str, by: str, cleaned: bool, rules: str, **options: Any) -> None:
    """Play a log, and answer over the web how long a job submitted now would wait.

    A page for people is at /, JSON below /api/v1, figures for Prometheus at /metrics. Ctrl-C ends it.

    \b
    Example: swftools serve --replay SDSC-BLUE-2000-4.2-cln-5000-9999
    """
    if not all(find_spec(name) for name in LIBRARIES):
        raise MissingLibraryError("serve needs a web server: pip install 'swftools[serve]'")
    loaded = load(replay, cleaned, rules)
    from functools import partial

    from pipelines.service.app import Service, make_app
    from pipelines.service.clocks import ReplayClock
    from pipelines.service.clusters import replayed
    from pipelines.service.web_server import run
    from swftools.qbets import WaitPredictor

    predictor = WaitPredictor(method, None if by == "all" else by.split(","), training=options["training"])
    if not len(loaded.trace):
        raise SwfToolsError(f"{loaded.log.name}: it has no job, so there is nothing to play")
    cluster = replayed(
        shown(loaded.log.name),
        loaded.trace,
        predictor,
        clock_of=partial(ReplayClock, speed=options["speed"]),
        every=max(60.0, TICK * options["speed"]),
        begin=options["begin"],
    )
    app = make_app(Service([cluster], TICK), [*LOOPBACK, *options["allowed_host"]])
    if not run(
        app,
        options["host"],
        options["port"],
        lambda address: click.echo(f"{shown(cluster.name)}: {address}  (Ctrl-C ends it)"),
    ):
        raise click.exceptions.Exit(WRONG_COMMAND)
