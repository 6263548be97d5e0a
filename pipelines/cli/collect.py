# SPDX-License-Identifier: BSD-3-Clause
"""The command that hears of batch systems and keeps what it hears: collect."""

from __future__ import annotations

from typing import Any

import click

from pipelines.cli.sensor_options import hears_of_a_batch_system, settings_of
from swftools.output.shown_text import shown


@click.command(short_help="Keep what happens to a batch system's jobs, as it happens.", name="collect")
@hears_of_a_batch_system
def collect(**options: Any) -> None:
    """Hear of a batch system, and keep what happens to its jobs: in a journal, and in files for a history.

    A file of the inbox has each job that started, ended or left the queue since
    the file before. swftools reevaluate takes them each night, and so learns a
    wait when the job starts, not when it ends. Ctrl-C ends it.

    \b
    Example: swftools collect --slurm --journal blue.jsonl --inbox /srv/inbox
    """
    from pipelines.service import collector
    from pipelines.service.from_settings import collector_of
    from pipelines.service.listening import begin

    settings = settings_of(options, None, "")
    collectors = [collector_of(name, each) for name, each in settings.clusters.items()]
    begin(collectors)

    def say() -> None:
        for each in collectors:
            told = f"{each.events} new event{'s' * (each.events != 1)}; hears of it every {each.tick:g} s"
            click.echo(f"{shown(each.name)}: {told}  (Ctrl-C ends it)")

    collector.collect(collectors, say)
