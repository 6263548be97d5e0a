"""The console script ``swftools``: thin commands over the functions of swftools and the tasks of pipelines.

A file a family of commands. They import what is heavy when they run, so that help and version appear at once. Exit
statuses are listed in ``docs/pipeline.md``.
"""

from __future__ import annotations

from typing import Any

import click

from pipelines.cli.data_sets import promote, prune, rollback, tag, verify, versions
from pipelines.cli.diff import diff
from pipelines.cli.explain import explain
from pipelines.cli.formats import formats
from pipelines.cli.history import reevaluate
from pipelines.cli.kernels import warm_up_kernels
from pipelines.cli.logs import convert, describe_log, validate_logs
from pipelines.cli.papers import reproduce
from pipelines.cli.predict import predict
from pipelines.cli.schedules import check_schedule, compare, simulate_log
from pipelines.cli.tasks import augment, run
from pipelines.cli.waits import evaluate
from pipelines.config import show_progress
from pipelines.exit_statuses import INTERRUPTED, status_of
from swftools._version import __version__
from swftools.errors import SwfToolsError
from swftools.shown_text import shown_lines


class _Commands(click.Group):
    """A group that shows an error a user can mend as one line, and exits with its status."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SwfToolsError as error:
            click.echo(f"error: {shown_lines(error)}", err=True)
            ctx.exit(status_of(error))
        except click.UsageError as error:
            error.message = shown_lines(error.message)  # type: ignore[misc]
            raise
        except KeyboardInterrupt:
            click.echo("error: interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="swftools")
def main() -> None:
    """Workload traces of parallel machines: read, check, clean, augment, publish.

    \b
    Look at a log:            swftools describe LOG
    Find what is wrong:       swftools validate LOG
    Change its format:        swftools convert LOG OUT.parquet
    Which formats are read:   swftools formats
    Publish it as data set:   swftools augment --log LOG
    Simulate a policy:        swftools simulate LOG --policy easy
    Compare policies:         swftools compare --log LOG --policies fcfs,easy
    Why a search decided so:  swftools explain LOG --job 1234
    Check any schedule:       swftools check-schedule SCHEDULE.csv --log LOG
    Predict waits:            swftools evaluate --log LOG
    Of a job submitted now:   swftools predict --state STATE --queue 3
    Evaluate what arrives:    swftools reevaluate --inbox DIR --history NAME
    Make a paper's tables:    swftools reproduce nurmi2009
    See what is published:    swftools versions
    Tell two versions apart:  swftools diff NAME
    Name a version for good:  swftools tag NAME VERSION TAG

    LOG is a path (SWF, or an accounting log of a batch system, which swftools formats
    lists; also .gz .bz2 .xz .zst, a folder of daily files, a pattern; a .parquet that
    convert wrote; a published version, such as data/NAME/VERSION), - for standard input, the
    name of a card in the catalogue, such as SDSC-BLUE-2000-4.2-cln-5000-9999, which is
    shipped, or a model with parameters, such as
    lublin-feitelson:jobs=10000,processors=128,load=0.8,seed=3.

    Every command that reads a log takes its machine and cleaning rules from the log's card,
    and cleans it unless told --raw.
    """
    show_progress()


for _command in (
    *(describe_log, validate_logs, convert, formats),
    *(augment, run),
    *(simulate_log, compare, explain, check_schedule, evaluate, predict),
    *(reevaluate, reproduce),
    *(versions, diff, tag, rollback, promote, verify, prune),
    warm_up_kernels,
):
    main.add_command(_command)


if __name__ == "__main__":
    main()
