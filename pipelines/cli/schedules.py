"""Commands of the console script for schedules: simulate, compare, check-schedule."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import pandas as pd

from pipelines.cli.running import read_log, run_task, settings_of
from pipelines.tasks.parameters import PoliciesParameter
from pipelines.tasks.simulate import label_of
from swftools.cleaning import clean
from swftools.selection import scale_to_load
from swftools.simulator.metrics.measures import measure, summarize
from swftools.simulator.options import CANCELLED, OVERRUN, SEMANTICS
from swftools.simulator.predictors import PREDICTORS
from swftools.simulator.schedule import Schedule
from swftools.simulator.simulation import simulate
from swftools.simulator.validation.report import PROMISES, validate
from swftools.tables import to_arrow, write_table

_options = [
    click.option("--processors", type=click.IntRange(1), help="Processors of the machine; default: the log's own."),
    click.option("--overrun", type=click.Choice(OVERRUN), default="extend", show_default=True, help="Overlong jobs."),
    click.option(
        "--cancelled", type=click.Choice(CANCELLED), default="drop", show_default=True, help="Jobs without run time."
    ),
    click.option(
        "--predictor", default="request", show_default=True, help=f"What policies are told: {', '.join(PREDICTORS)}."
    ),
    click.option("--semantics", type=click.Choice(list(SEMANTICS)), default="instant", show_default=True),
    click.option("--load", type=float, help="Offered load, by scaling the times between submissions."),
]
"""What simulate and compare have in common."""


def _with_options(command: Any) -> Any:
    """Add the options that simulations have in common."""
    for option in reversed(_options):
        command = option(command)
    return command


@click.command(name="simulate")
@click.argument("log")
@click.option("--policy", default="easy", show_default=True, help="Name or module:name, also easy:reservations=2.")
@_with_options
@click.option("--seed", default=0, show_default=True, help="Seed of every random draw.")
@click.option("--raw", is_flag=True, help="Simulate the log as it is read, without cleaning.")
@click.option("--output", help="Write the schedule there: .csv or .parquet.")
def simulate_log(
    log: str,
    policy: str,
    processors: int | None,
    load: float | None,
    seed: int,
    raw: bool,
    output: str | None,
    **options: Any,
) -> None:
    """Replay a log under one policy, check the schedule, and print what came of it.

    \b
    Example: swftools simulate KTH-SP2-1996-2.1-cln.swf.gz --policy easy --output easy.csv
    """
    (entry,) = json.loads(PoliciesParameter().normalize(policy if policy.lstrip().startswith("{") else [policy]))
    trace = read_log(log)
    if not raw:
        trace, _ = clean(trace)
    if load is not None:
        trace = scale_to_load(trace, load, processors)
    parameters = {name: value for name, value in entry.items() if name != "policy"}
    schedule = simulate(trace, entry["policy"], processors, seed=seed, **options, **parameters)
    click.echo(f"{log}, {label_of(entry)} on {schedule.processors:,} processors: {len(schedule):,} jobs")
    for reason, count in schedule.excluded["reason"].value_counts().items():
        click.echo(f"  left out: {count:,} jobs, {reason}")
    figures = summarize(measure(schedule)).iloc[0].drop(["policy", "classed_by", "job_class"])
    for name, value in figures.dropna().items():
        click.echo(f"  {name:<36} {value:>16,.4g}" if abs(value) < 1000 else f"  {name:<36} {value:>16,.0f}")
    if output:
        _write(schedule, output)
        click.echo(f"  {output}: written")
    report = validate(schedule, trace=trace)
    if not report.ok:
        click.echo(str(report), err=True)
        sys.exit(1)


def _write(schedule: Schedule, output: str) -> None:
    """Write the jobs of a schedule by the suffix of the file."""
    if output.lower().endswith(".parquet"):
        write_table(to_arrow(schedule.jobs, "schedule"), Path(output), "schedule")
    elif output.lower().endswith(".csv"):
        plain = [name for name in schedule.jobs if not _is_list(schedule.jobs[name])]
        schedule.jobs[plain].to_csv(output, index=False, lineterminator="\n")
    else:
        raise click.UsageError(f"{output}: the suffix says no format; use .csv or .parquet")


def _is_list(column: pd.Series[Any]) -> bool:
    """Whether a column holds lists, for which CSV has no cell."""
    return isinstance(column.dtype, pd.ArrowDtype)


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--log", help="Path of a log, name of a card, or model:parameters; default: the shipped log.")
@click.option("--policies", help="As fcfs,easy:reservations=2, or a JSON list; default fcfs,easy,conservative.")
@click.option("--seeds", help="Seeds, separated by commas; default 0.")
@click.option("--rules", help="Cleaning rules: default,cancelled:action=quarantine, or a JSON list.")
@click.option("--augment", help="Augmentations that the jobs carry; default utility.")
@click.option("--set", "settings", multiple=True, metavar="AUGMENTATION.NAME=VALUE", help="One parameter of those.")
@click.option("--metrics", help="Parameters of the metrics, such as bound=60.")
@click.option("--unmeasured-queues", help="Queues simulated but left out of the metrics, such as 0.")
@click.option("--data-set", help="Name to publish under; default: the log's name, with -policies.")
@click.option("--data-root", help="Directory, or s3://bucket/prefix; default ./data.")
@click.option("--workers", type=click.IntRange(1), help="Simulations at a time.")
@_with_options
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_context
def compare(ctx: click.Context, /, settings: tuple[str, ...], dry_run: bool, **options: Any) -> None:
    """Simulate a log under several policies and publish one table: the task ComparePolicies.

    \b
    Example: swftools compare --log KTH-SP2-1996-2.1-cln.swf.gz --policies fcfs,easy,conservative \\
                 --seeds 0,1,2 --load 0.9 --workers 2
    """
    if settings:
        options["parameters"] = json.dumps(settings_of(settings))
    arguments: list[str] = []
    for name, value in options.items():
        if value is not None:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    run_task("ComparePolicies", [*arguments, *ctx.args], dry_run)


@click.command(name="check-schedule")
@click.argument("schedule")
@click.option("--log", required=True, help="The log it is a schedule of.")
@click.option("--processors", type=click.IntRange(1), help="Processors of the machine; default: the log's own.")
@click.option("--policy", help=f"Policy whose promise is checked too: {', '.join(PROMISES)}.")
@click.option("--semantics", type=click.Choice(list(SEMANTICS)), help="How the simulator takes one instant.")
@click.option("--overrun", type=click.Choice(OVERRUN), default="extend", show_default=True, help="Overlong jobs.")
@click.option("--least-run-time", default=0.0, show_default=True, help="Shorter runs are as long as this, s.")
@click.option("--tolerance", default=1e-6, show_default=True, help="Times may differ by this, s.")
@click.option("--clean/--no-clean", "cleaned", default=False, help="Apply the cleaning rules to the log first.")
def check_schedule(
    schedule: str, log: str, processors: int | None, policy: str | None, cleaned: bool, **options: Any
) -> None:
    """Check a schedule (CSV or Parquet: job_number, start_time), of any simulator; exit with 1 if it cannot be.

    \b
    Example: swftools check-schedule easy.csv --log KTH-SP2-1996-2.1-cln.swf.gz --policy easy
    """
    trace = read_log(log)
    if cleaned:
        trace, _ = clean(trace)
    report = validate(schedule, trace=trace, processors=processors, policy=policy, **options)
    click.echo(str(report))
    sys.exit(0 if report.ok else 1)
