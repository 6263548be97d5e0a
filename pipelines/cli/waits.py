# SPDX-License-Identifier: BSD-3-Clause
"""The command for waits in queues: evaluate."""

from __future__ import annotations

from typing import Any

import click

from pipelines.cli.options import (
    data_root_of_task,
    dry_run,
    format_of_task,
    log_first,
    log_of_task,
    report_of_task,
    says_its_progress,
)
from pipelines.cli.output import json_option
from pipelines.cli.tasks import flags_of, run_task


@click.command(
    short_help="Publish how good predictions of waits are.",
    options_metavar="[LOG] [OPTIONS]",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@log_of_task
@format_of_task
@click.option(
    "--methods",
    help="As binomial,trailing; default: the five bounds of docs/wait_predictors.md. Rivals: gradient-boosting, "
    "gradient-boosting-conformal.",
)
@click.option("--by", help="Predict by group: queue, partition, user or all; default queue.")
@click.option("--options", help="Options of the replay, as quantile=0.9,clustering=false.")
@click.option(
    "--deadline",
    type=click.FloatRange(0),
    help="Also judge, for each job, whether it starts within so many seconds; default 3600.",
)
@click.option("--rules", help="Cleaning rules, as default,cancelled:action=quarantine; default: the card's.")
@click.option("--data-set", help="Name to publish under; default: the log's name, with -waits.")
@data_root_of_task
@click.option("--workers", type=click.IntRange(1), help="Replays to run at a time.")
@report_of_task
@dry_run
@json_option
@says_its_progress
@click.pass_context
def evaluate(ctx: click.Context, /, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Predict the wait of each job as if live, and score the predictions: the task EvaluateWaitPredictions.

    \b
    Example: swftools evaluate --log SDSC-BLUE-2000-4.2-cln.swf.gz \\
                 --methods binomial,lognormal --workers 2
    """
    options["log"], words = log_first(ctx.args, options["log"])
    run_task("EvaluateWaitPredictions", [*flags_of(options), *words], dry_run, as_json=as_json)
