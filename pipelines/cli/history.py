# SPDX-License-Identifier: BSD-3-Clause
"""The command for histories: reevaluate."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import PROCESSORS, data_root_of_task, says_its_progress
from pipelines.cli.output import in_json, json_option, print_json
from pipelines.cli.tasks import flags_of, task_of
from pipelines.exit_statuses import FAILED, LEFT_TOLERANCE, UNREAD_INPUT
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from pipelines.history.task import ReevaluateLogs, RunOutcome

READ_NOTHING = ("unreadable", "empty")
"""What files of the inbox are that somebody must look at."""


@click.command(short_help="Add new logs from a folder to a history, evaluate it.")
@click.option("--inbox", help="Folder, or s3://bucket/prefix, where logs arrive; default: that of the settings.")
@click.option("--history", help="Name of the history; default: that of the settings, else history.")
@click.option("--format", help="Format with options, as slurm:time_zone=Europe/Berlin. See swftools formats.")
@click.option("--processors", type=PROCESSORS, help="Of the machine; default: the card's, or the logs' own.")
@click.option("--card", help="Card of the catalogue that gives machine, terms, queue ranks, cleaning and format.")
@click.option(
    "--settings",
    type=click.Path(dir_okay=False),
    help="Settings file, as reevaluate.yaml.",
)
@data_root_of_task
@json_option
@click.option("--check", is_flag=True, help="Check the settings, and stop.")
@says_its_progress
def reevaluate(as_json: bool, check: bool, **options: Any) -> None:
    """Add new logs from a folder to a history, evaluate it again, and publish it.

    \b
    Exit status, after publishing: 0 no finding; 3 a value is outside its
    tolerance; 4 a file could not be read. Findings are lines on standard error.
    Example: swftools reevaluate --inbox /srv/inbox --history blue
    """
    with task_of("ReevaluateLogs", flags_of(options)) as task:
        from pipelines.reports import check_libraries
        from pipelines.tasks.luigi_settings import run_to_end

        task.check()
        if check:
            if task.chosen.report:
                check_libraries()
            print_json(task.chosen.plan)
            return
        before = task.published()
        failed = run_to_end(task)
        if failed and task.published().version == before.version:
            sys.exit(failed)
        outcome = task.outcome_since(before)
        status = failed or status_of(outcome)
        tell(task, outcome, status, as_json=as_json)
        if outcome.findings and outcome.is_new and task.chosen.on_finding:
            status = _run(task.chosen.on_finding, as_mapping(task, outcome, status)) or status
        sys.exit(failed or status)


def status_of(outcome: RunOutcome) -> int:
    """Return the exit status of an outcome: what could not be read comes before what was found."""
    if any(row["outcome"] in READ_NOTHING for row in outcome.waiting):
        return UNREAD_INPUT
    return LEFT_TOLERANCE if outcome.findings else 0


def as_mapping(task: ReevaluateLogs, outcome: RunOutcome, status: int) -> dict[str, Any]:
    """Return what came of a run as JSON holds it, with its exit status."""
    return {
        "history": task.chosen.history,
        "version": outcome.version,
        "path": task.output().path if outcome.version else None,
        "report": outcome.report,
        "is_new": outcome.is_new,
        "ingested": outcome.taken,
        "waiting": outcome.waiting,
        "findings": [finding.to_mapping() for finding in outcome.findings],
        "exit_status": status,
    }


def tell(task: ReevaluateLogs, outcome: RunOutcome, status: int, *, as_json: bool) -> None:
    """Say what came of a run: findings and files that were left on standard error, the rest on standard output."""
    if as_json:
        print_json(as_mapping(task, outcome, status))
    elif outcome.version is None:
        click.echo(f"history {task.chosen.history}: no job has come yet; nothing was published")
    else:
        new, merged, joined, quarantined = (
            sum(int(row[name]) for row in outcome.taken) for name in ("new", "merged", "joined", "quarantined")
        )
        files = f"{len(outcome.taken)} file{'s' * (len(outcome.taken) != 1)}"
        what = (
            f"{files} taken: {new:,} new job{'s' * (new != 1)}, {merged:,} merged, "
            f"{f'{joined:,} lines joined to other records, ' if joined else ''}{quarantined:,} "
            f"line{'s' * (quarantined != 1)} quarantined by reading; of all jobs of the history cleaning removed "
            f"{_removed(task, outcome):,}"
            if outcome.is_new
            else "already complete: the inbox has nothing new"
        )
        click.echo(f"history {task.chosen.history}, version {outcome.version}: {what}")
        click.echo(f"  {task.output().path}/summary.md")
        if outcome.report:
            click.echo(f"  report: {outcome.report}")
    for row in outcome.waiting:
        click.echo(f"{row['outcome']}: {shown(row['file'])}: {shown(row['reason'])}", err=True)
    for finding in outcome.findings:
        click.echo(f"finding: {finding.kind}: {shown(finding.message)}", err=True)


def _removed(task: ReevaluateLogs, outcome: RunOutcome) -> int:
    """Return how many jobs of all months cleaning took out."""
    from pipelines.store.data_root import DataRoot

    account = DataRoot.open(task.data_root).manifest(task.chosen.history, str(outcome.version))["account"]
    return sum(account["quarantined"].values())


def _run(command: str, told: dict[str, Any]) -> int:
    """Run the user's command with the outcome on its standard input; return the status that its failure makes."""
    ended = subprocess.run(command, shell=True, input=in_json(told).encode(), check=False)  # noqa: S602 (their own)
    if ended.returncode:
        click.echo(f"error: on_finding ended with status {ended.returncode}: {command}", err=True)
        return FAILED
    return 0
