# SPDX-License-Identifier: BSD-3-Clause
"""The command for papers: reproduce."""

from __future__ import annotations

from typing import Any

import click

from pipelines.cli.completion import complete_paper
from pipelines.cli.options import (
    data_root_of_task,
    dry_run,
    flags_of_engine,
    report_of_task,
    runs_cells,
    says_its_progress,
)
from pipelines.cli.tasks import flags_of, run_task


@click.command(
    short_help="Reproduce the tables of a paper.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("paper", shell_complete=complete_paper)
@click.option("--table", help="One table, such as 4.1; default: all.")
@click.option("--logs", help="Cards or paths of logs, separated by commas; default: the paper's.")
@click.option("--quick", is_flag=True, help="Use the shipped excerpt instead of the paper's logs; takes seconds.")
@click.option("--data-set", help="Name to publish under; default: the paper's, with -reproduction.")
@data_root_of_task
@runs_cells
@report_of_task
@dry_run
@says_its_progress
@click.pass_context
def reproduce(ctx: click.Context, /, dry_run: bool, workers: int | None, cluster: str | None, **options: Any) -> None:
    """Reproduce the tables of a paper, with the printed values beside ours: the task ReproducePaper.

    PAPER is its short name: barsanti2006, chiang2008, chiang2008-large, lee2009, nurmi2009, popa2023, weng2023,
    yuan2010; or barsanti2006-beyond, lee2009-beyond, nurmi2009-beyond, popa2023-beyond, weng2023-beyond.

    \b
    Example: swftools reproduce nurmi2009 --table 4.1 --workers 2
    """
    run_task("ReproducePaper", [*flags_of(options), *flags_of_engine(workers, cluster), *ctx.args], dry_run)
