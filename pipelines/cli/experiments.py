"""The command for experiments: experiment."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import data_root_of_task, report_of_task, says_its_progress
from pipelines.cli.output import json_option, print_json
from pipelines.cli.tasks import flags_of, run_task

if TYPE_CHECKING:
    from pipelines.tasks.publish_experiment import PublishExperiment

TRIAL = 3
"""Cells that are run to say how long the rest takes."""


@click.command(
    name="experiment",
    short_help="Run logs x policies x options x seeds.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("file")
@click.option("--only", help="A subset that the file names; default: all cells.")
@click.option("--dry-run", is_flag=True, help="Say how many cells there are, how many are there, and stop.")
@click.option("--trial", is_flag=True, help=f"With --dry-run: run {TRIAL} cells, to say how long the rest takes.")
@click.option("--data-set", help="Name to publish under; default: the experiment's, with the subset's.")
@data_root_of_task
@click.option("--workers", type=click.IntRange(1), help="Cells at a time; default: one a core.")
@click.option("--cell-lines", metavar="FILE", help="Add a line in JSON for each cell: seconds, or its error.")
@report_of_task
@json_option
@says_its_progress
@click.pass_context
def run_experiment(
    ctx: click.Context,
    /,
    file: str,
    dry_run: bool,
    trial: bool,
    as_json: bool,
    workers: int | None,
    **options: Any,
) -> None:
    """Simulate all cells that FILE (YAML) names, and publish one table: the task PublishExperiment.

    What is finished is not computed again. Results are the same with any number of workers.

    \b
    Example: swftools experiment experiments/load.yaml --dry-run
             swftools experiment experiments/load.yaml --workers 2
    """
    if trial and not dry_run:
        raise click.UsageError("--trial goes with --dry-run")
    workers = workers or os.cpu_count() or 1
    flags = ["--experiment", file, *flags_of(options), *ctx.args]
    if dry_run:
        _plan(flags, workers, trial=trial, as_json=as_json)
    run_task("PublishExperiment", [*flags, "--processes", str(workers)], dry_run, as_json=as_json)


def _plan(flags: list[str], workers: int, *, trial: bool, as_json: bool) -> None:
    """Print how many cells there are and how many are done, and end the program."""
    from pipelines import PublishExperiment  # noqa: F401 (luigi knows the flags of those tasks alone that are defined)
    from pipelines.tasks.luigi_settings import task_of

    task: PublishExperiment = task_of(["--module", "pipelines", "PublishExperiment", *flags])  # type: ignore[assignment]
    left = [cell for cell in task.cells if not cell.is_done()]
    found: dict[str, Any] = {"experiment": task.planned.name, "cells": len(task.cells), "logs": len(task.log_list)}
    found["done"] = len(task.cells) - len(left)
    seconds = _tried(left) if trial and left else None
    if trial:
        left = [cell for cell in left if not cell.is_done()]
        found["done"] = len(task.cells) - len(left)
        found["seconds_left"] = None if seconds is None else seconds * len(left) / workers
    if as_json:
        print_json(found)
    else:
        click.echo(f"experiment {found['experiment']}: {found['cells']:,} cells on {found['logs']} logs")
        click.echo(f"  done: {found['done']:,}; to do: {len(left):,}")
        if seconds is not None:
            click.echo(
                f"  {seconds:.2f} s a cell in a trial; about {found['seconds_left']:,.0f} s on {workers} workers"
            )
    sys.exit(0)


def _tried(left: list[Any]) -> float | None:
    """Run a few cells from all over an experiment, and return the seconds of one; None where one failed."""
    import luigi

    chosen = list(dict.fromkeys(left[place * (len(left) - 1) // max(TRIAL - 1, 1)] for place in range(TRIAL)))
    # What they read is made first: it is done once, not once a cell.
    if not luigi.build([one for cell in chosen for one in cell.simulation.requires()], local_scheduler=True):
        return None
    begun = time.perf_counter()
    if not luigi.build(chosen, local_scheduler=True):
        return None
    return (time.perf_counter() - begun) / len(chosen)
