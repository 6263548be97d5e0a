# SPDX-License-Identifier: BSD-3-Clause
"""The command that sets policies, or changes, beside each other: compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pipelines.cli.candidates import (
    candidate_options,
    check_tables_folder,
    chosen_task,
    tables_option,
    writes_tables,
)
from pipelines.cli.completion import complete_policy
from pipelines.cli.options import (
    data_root_of_task,
    dry_run,
    flags_of_engine,
    format_of_task,
    log_first,
    log_of_task,
    report_of_task,
    runs_cells,
    says_its_progress,
)
from pipelines.cli.output import json_option
from pipelines.cli.schedules import NO_PARTITIONS, simulates, synthetic_option
from pipelines.cli.tasks import flags_of, run_task, settings_of
from swftools.output.shown_text import WIDTH


@click.command(
    short_help="Publish a table of several policies, or of changes.",
    options_metavar="[LOG] [OPTIONS]",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@log_of_task
@format_of_task
@click.option(
    "--policies",
    shell_complete=complete_policy,
    help="As fcfs,easy:reservations=2, or a JSON list; default fcfs,easy,conservative.",
)
@candidate_options
@click.option("--seeds", help="Seeds, separated by commas; default 0.")
@click.option("--rules", help="Cleaning rules, as default,cancelled:action=quarantine; default: the card's.")
@click.option("--augment", help="Augmentations to add to the jobs; default utility.")
@click.option("--set", "settings", multiple=True, metavar="AUGMENTATION.NAME=VALUE", help="One parameter of those.")
@click.option("--metrics", help="Parameters of the metrics, such as bound=60.")
@click.option("--unmeasured-queues", help="Queues simulated but left out of the metrics, such as 0.")
@click.option("--by", metavar="NAME,...", help="Also the waits of groups: partition,account,qos,processors ...")
@click.option("--data-set", help="Name to publish under; default: the log's name, with -policies.")
@data_root_of_task
@runs_cells
@simulates
@synthetic_option
@click.option("--schedules", is_flag=True, help="Also publish each schedule, as the log's name with -schedules.")
@report_of_task
@tables_option
@dry_run
@json_option
@says_its_progress
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    settings: tuple[str, ...],
    output: str | None,
    dry_run: bool,
    as_json: bool,
    workers: int | None,
    cluster: str | None,
    **options: Any,
) -> None:
    """Simulate a log under several policies and publish one table: the task ComparePolicies.

    With --change, and without --policies, each change is a candidate beside what is: the task CompareCandidates says
    what it brings, who loses, and what it costs. A candidate may be several changes, policy=NAME, or an option. With
    --policies all changes are of the machine where these run.

    \b
    Examples: swftools compare --log KTH-SP2-1996-2.1-cln.swf.gz --load 0.9 \\
                  --policies fcfs,easy,conservative --seeds 0,1,2 --workers 2
              swftools compare sacct.txt --machine site.yaml --report \\
                  --change nodes.gpu.count+=8 --change "predictor=exact"
    """
    check_tables_folder(output)
    if settings:
        options["parameters"] = json.dumps(settings_of(settings))
    _refuse_words(ctx, options["log"])
    options["log"], words = log_first(ctx.args, options["log"])
    if options.get("machine") and (options.get("anonymise") or "no") != "no":
        click.echo(click.wrap_text(NO_PARTITIONS, WIDTH), err=True)
    task = chosen_task(options)
    flags = [*flags_of(options), *flags_of_engine(workers, cluster), *words]
    run_task(task, flags, dry_run, as_json=as_json, ends=writes_tables(output))


def _refuse_words(ctx: click.Context, log: str | None) -> None:
    """Refuse words beside the log that look like more policies, or like more logs.

    Raises
    ------
    click.UsageError
        Says how several of them are written.
    """
    args = ctx.args
    words = [
        word for before, word in zip(["", *args], args, strict=False) if not word.startswith("-") and before[:1] != "-"
    ]
    if not words or (len(words) == 1 and log is None and Path(words[0]).exists()):
        return
    from swftools.parameters.spelling import as_known
    from swftools.simulator.registry import list_policies

    policies = [word for word in words if as_known(word.partition(":")[0], list_policies()) in list_policies()]
    given = [word for word in words if not (word in policies and not Path(word).exists())]
    if len(given) < len(words):
        named = ",".join(word for word in words if word not in given)
        raise click.UsageError(f"policies are separated by commas, without blanks: --policies ...,{named}", ctx)
    if len(given) + (log is not None) > 1:
        raise click.UsageError(
            "compare takes one log; for several write an experiment, which names them in its file: swftools experiment "
            "FILE.yaml",
            ctx,
        )
