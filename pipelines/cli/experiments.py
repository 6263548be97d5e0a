# SPDX-License-Identifier: BSD-3-Clause
"""The command for experiments: experiment."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import data_root_of_task, flags_of_engine, report_of_task, runs_cells, says_its_progress
from pipelines.cli.output import json_option, print_json
from pipelines.cli.tasks import flags_of, run_task, task_of
from swftools.output.amounts import counted, duration

if TYPE_CHECKING:
    from pipelines.experiments.memory import MemoryPlan

TRIAL = 3
"""Cells that are run to say how long the rest takes."""


@click.command(
    name="experiment",
    short_help="Run logs x policies x options x seeds.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("file")
@click.option("--only", help="A subset that the file names; default: all cells.")
@click.option("--dry-run", is_flag=True, help="Say how many cells there are and how many are finished, then stop.")
@click.option("--trial", is_flag=True, help=f"With --dry-run: run {TRIAL} cells, to estimate how long the rest takes.")
@click.option("--data-set", help="Name to publish under; default: the experiment's, with the subset's.")
@data_root_of_task
@runs_cells
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
    cluster: str | None,
    **options: Any,
) -> None:
    """Simulate all cells that FILE (YAML) names, and publish one table: the task PublishExperiment.

    What is finished is not computed again. Results are the same with any number of workers, and on a cluster.

    \b
    Example: swftools experiment experiments/load.yaml --dry-run
             swftools experiment experiments/load.yaml --workers 2
             swftools experiment experiments/load.yaml --cluster tcp://head:8786
    """
    if trial and not dry_run:
        raise click.UsageError("--trial goes with --dry-run")
    flags = ["--experiment", file, *flags_of(options), *flags_of_engine(workers or os.cpu_count() or 1, cluster)]
    flags += ctx.args
    if dry_run:
        _plan(flags, trial=trial, as_json=as_json)
    run_task("PublishExperiment", flags, dry_run, as_json=as_json)


def _plan(flags: list[str], *, trial: bool, as_json: bool) -> None:
    """Print how many cells there are, how many are done and how long the rest takes, and end the program."""
    from pipelines.tasks.cells import work_of
    from pipelines.tasks.one_look import one_look

    with one_look(), task_of("PublishExperiment", flags) as task:
        left = [cell for cell in task.cells if not cell.is_done()]
        seconds = sum(map(work_of, left))
    pace = _tried(left) if trial and left else None
    if pace is not None:
        with one_look():
            left = [cell for cell in left if not cell.is_done()]
            seconds = pace * sum(map(work_of, left))
    _check_logs(task.cells)
    script = getattr(task.engine, "job_script", None)
    memory = _memory_of(task.cells)
    repetitions, needed = task.repetitions
    found: dict[str, Any] = {
        "experiment": task.planned.name,
        "cells": len(task.cells),
        "logs": len(task.log_list),
        "done": len(task.cells) - len(left),
        "seconds_of_one_worker": round(seconds, 3),
        "is_tried": pace is not None,
        "memory": {
            "bytes_of_a_worker": memory.a_worker,
            "log": memory.log.name,
            "jobs": memory.log.jobs,
            "jobs_are_estimated": memory.log.is_estimated,
            "bytes_free_here": memory.available,
            "workers_that_fit_here": memory.fit,
        },
        "repetitions": repetitions,
        "repetitions_needed": needed,
        **({"job_script": script(str(task.data_root))} if script else {}),
    }
    if as_json:
        print_json(found)
    else:
        cells, logs = (counted(found[name], name.removesuffix("s")) for name in ("cells", "logs"))
        click.echo(f"experiment {found['experiment']}: {cells} on {logs}")
        click.echo(f"  done: {found['done']:,}; to do: {len(left):,}")
        if left:
            click.echo(f"  {_time_left(found, task.processes)}")
            for line in memory.told(0 if task.cluster else min(task.processes, len(left))):
                click.echo(f"  {line}")
        if repetitions < needed:
            click.echo(f"  {counted(repetitions, 'repetition')} a setting: too few to tell a policy from the baseline")
            click.echo(f"  with so many; give {needed} seeds or shakes at least")
        if script:
            click.echo(f"\nA job of the cluster:\n\n{found['job_script']}", nl=False)
    sys.exit(0)


def _check_logs(cells: Sequence[Any]) -> None:
    """Raise if the log of a cell is not there, or cannot be read: what is planned cannot be run."""
    from swftools.errors import UnknownLogError, UnreadableLogError

    for found in {cell.log: cell.found for cell in cells}.values():
        if found.problem:
            raise UnknownLogError(found.problem)
        if found.damage:
            raise UnreadableLogError(found.damage)


def _memory_of(cells: Sequence[Any]) -> MemoryPlan:
    """Return how much memory a worker needs, by the logs of the cells."""
    from pipelines.experiments.memory import LogSize, plan_of

    each = {(cell.log, cell.augment): cell for cell in cells}.values()
    return plan_of(LogSize.of(cell.found, cell.augment) for cell in each)


def _time_left(found: dict[str, Any], workers: int) -> str:
    """Return about how long the rest takes, and how that is known."""
    seconds = found["seconds_of_one_worker"]
    told = f"about {duration(seconds)} of one worker"
    if workers > 1:
        told += f", {duration(seconds / workers)} of {workers}"
    how = f"by a trial of {TRIAL} cells" if found["is_tried"] else "guessed from numbers of jobs; --trial measures it"
    return f"{told} ({how})"


def _tried(left: list[Any]) -> float | None:
    """Run a few cells from all over an experiment; return their seconds by those guessed, None where one failed."""
    import luigi

    from pipelines.tasks.cells import shared_of, work_of
    from pipelines.tasks.engines import CellOutcome
    from pipelines.tasks.engines.pool import Pool

    chosen = list(dict.fromkeys(left[place * (len(left) - 1) // max(TRIAL - 1, 1)] for place in range(TRIAL)))
    # What they read is made first: it is done once, not once a cell.
    if not luigi.build([one for cell in chosen for one in shared_of(cell)], local_scheduler=True):
        return None
    told: list[CellOutcome] = []
    Pool(1).run(chosen, told.append)
    if any(each.error for each in told):
        return None
    # The first one may compile kernels, which is done once too.
    timed = told[1:] or told
    return sum(each.seconds for each in timed) / sum(work_of(chosen[each.number]) for each in timed)
