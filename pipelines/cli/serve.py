# SPDX-License-Identifier: BSD-3-Clause
"""The command that answers users over the web: serve."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_log
from pipelines.cli.options import LOG_HELP, Number, load, reads_a_log, says_its_progress
from pipelines.cli.sensor_options import hears_of_a_batch_system, settings_of
from swftools.errors import MissingLibraryError
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from pipelines.logs.load import LoadedLog

LIBRARIES = ("starlette", "uvicorn", "jinja2", "prometheus_client")

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@click.command(short_help="Answer users over the web how long jobs would wait.", name="serve")
@hears_of_a_batch_system
@click.option("--replay", shell_complete=complete_log, help=f"{LOG_HELP}: it is played as if it ran now.")
@click.option("--speed", type=Number(0, min_open=True), help="Of a log: seconds of it in one second; default 1000.")
@click.option("--begin", type=Number(0, 1), help="Share of a log's jobs that are learnt at first; default 0.5.")
@click.option("--method", help="Bound of waits, as binomial or lognormal; default binomial.")
@click.option("--by", help="What jobs are grouped by, as queue,user; all for none; default: queue, if there are any.")
@click.option("--training", type=click.IntRange(0), help="Waits known before answers; default 100.")
@click.option("--options", help="Options of the bound, as quantile=0.9,confidence=0.9.")
@click.option("--policy", help="How the centre orders its queue, as easy: then starts are simulated too.")
@click.option("--host", help="Address to listen at; default 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default 8017; 0: any that is free.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    help="Name by which it may be called, beside localhost; repeatable.",
)
@reads_a_log
@says_its_progress
def serve(replay: str | None, cleaned: bool, rules: str, **options: Any) -> None:
    """Answer over the web how long a job submitted now would wait, as a batch system or a log tells.

    A page for people is at /, JSON below /api/v1, figures for Prometheus at /metrics. Ctrl-C ends it.

    \b
    Examples: swftools serve --slurm --journal waits.jsonl
              swftools serve --replay SDSC-BLUE-2000-4.2-cln-5000-9999
    """
    settings = settings_of({**options, "replay": replay}, _played(replay, options), "log")
    if not all(find_spec(library) for library in LIBRARIES):
        raise MissingLibraryError("serve needs a web server: pip install 'swftools[serve]'")
    from pipelines.service.app import Service, make_app
    from pipelines.service.from_settings import cluster_of
    from pipelines.service.listening import begin
    from pipelines.service.web_server import run

    named = dict(settings.clusters)
    logs: dict[str, LoadedLog] = {}
    if replay is not None and not options["name"]:  # it is called as its log, whose name is known when it is read
        logs[replay] = load(replay, cleaned, rules)
        named = {shown(logs[replay].log.name): settings.clusters["log"]}

    context = click.get_current_context()

    def load_it(log: str) -> LoadedLog:
        with context.scope(cleanup=False):  # the options of the command, in whatever thread this is called
            return logs.get(log) or load(log, cleaned, rules)

    def make() -> Starlette:
        clusters = [cluster_of(name, each, load_it) for name, each in named.items()]
        begin(clusters)
        service = Service(
            clusters,
            shows_users=settings.shows_users,
            user_header=settings.user_header or None,
            trusted_peers=settings.trusted_peers,
            jobs_are_private=settings.jobs_are_private,
            questions=settings.questions or None,
            questions_days=settings.questions_days,
        )
        return make_app(service, [*LOOPBACK, *settings.allowed_hosts])

    names = ", ".join(named)
    run(make, settings.host, settings.port, lambda address: click.echo(f"{names}: {address}  (Ctrl-C ends it)"))


def _played(replay: str | None, options: dict[str, Any]) -> dict[str, Any] | None:
    """Return the sensor that plays a log; none where no log is named.

    Raises
    ------
    click.UsageError
        How a log is played is said, and no log.
    """
    chosen = {key: options[key] for key in ("speed", "begin") if options[key] is not None}
    if replay is None and chosen:
        raise click.UsageError(f"--{next(iter(chosen))} is for --replay LOG")
    return None if replay is None else {"kind": "replay", "log": replay, **chosen}
