"""The console script ``swftools``: thin commands over the functions of swftools and the tasks of pipelines.

Exit status: 0 done; 1 the input has faults or the work failed; 2 the command line is wrong; and from the tasks
(augment, run) luigi's: 10 already running, 20 input missing, 25 not run, 30 failed, 35 not scheduled, 40 error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

import pipelines
from pipelines.cli.running import read_log, run_task, settings_of
from pipelines.cli.schedules import check_schedule, compare, simulate_log
from pipelines.config import setting
from pipelines.store.data_root import DataRoot
from pipelines.tasks.parameters import RulesParameter
from swftools._version import __version__
from swftools.cleaning import clean
from swftools.cleaning.flurries import propose_flurries
from swftools.description import describe
from swftools.errors import ParameterError, SwfToolsError
from swftools.formats.parquet import write_parquet
from swftools.formats.swf.writer import write_swf

_data_root = click.option(
    "--data-root", default=lambda: setting("data_root"), show_default="./data", help="Directory, or s3://bucket/prefix."
)


class _Commands(click.Group):
    """A group that shows an error a user can mend as one line, and exits with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SwfToolsError as error:
            click.echo(f"error: {error}", err=True)
            ctx.exit(2 if isinstance(error, ParameterError) else 1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="swftools")
def main() -> None:
    """Workload traces of parallel machines: read, check, clean, augment, publish.

    \b
    Look at a log:            swftools describe LOG
    Find what is wrong:       swftools validate LOG
    Change its format:        swftools convert LOG OUT.parquet
    Publish it as data set:   swftools augment --log LOG
    Simulate a policy:        swftools simulate LOG --policy easy
    Compare policies:         swftools compare --log LOG --policies fcfs,easy
    Check any schedule:       swftools check-schedule SCHEDULE.csv --log LOG
    See what is published:    swftools versions

    LOG is a path (SWF, also .gz .bz2 .xz .zst), the name of a card in the catalogue, such as
    SDSC-BLUE-2000-4.2-cln-5000-9999, which is shipped, or a model with parameters, such as
    lublin-feitelson:jobs=10000,processors=128,load=0.8,seed=3.
    """


for _command in (simulate_log, compare, check_schedule):
    main.add_command(_command)


@main.command(name="describe")
@click.argument("log")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--flurries", is_flag=True, help="Also propose flurries: bursts of a single user's activity.")
def describe_log(log: str, as_json: bool, flurries: bool) -> None:
    """Print what a log holds: jobs, machine, period, load, missing values.

    \b
    Example: swftools describe SDSC-BLUE-2000-4.2-cln-5000-9999 --flurries
    """
    trace = read_log(log)
    facts = describe(trace)
    if flurries:
        facts["proposed_flurries"] = json.loads(propose_flurries(trace).to_json(orient="records"))
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            click.echo(f"{name}:")
            for key, count in value.items():
                click.echo(f"  {key:<24} {count:>12,}")
        elif name == "proposed_flurries":
            click.echo(f"{name}: {'none' if not value else ''}")
            for row in value:
                click.echo(
                    "  "
                    + ", ".join(
                        f"{key} {cell:,.4g}" if key == "share" else f"{key} {cell:.0f}" for key, cell in row.items()
                    )
                )
        else:
            shown = "unknown" if value is None else f"{value:,}" if isinstance(value, int | float) else value
            click.echo(f"{name:<26} {', '.join(shown) if isinstance(shown, list) else shown}")


@main.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Count jobs that cleaning would repair or mark as faults too.")
@click.option("--lines", default=5, show_default=True, help="How many faulty lines to show of each kind.")
def validate(logs: tuple[str, ...], strict: bool, lines: int) -> None:
    """Check logs; exit with 1 if a line is no job or a job could not be scheduled.

    \b
    Example: swftools validate my.swf && echo sound
    """
    faulty = False
    for log in logs:
        trace, report = clean(read_log(log))
        click.echo(f"{log}: {len(trace):,} jobs, {len(trace.quarantine):,} lines to quarantine")
        for step in report.steps.to_dict("records"):
            counts = [
                f"{step[kind]:,} {kind}" for kind in ("quarantined", "merged", "repaired", "flagged") if step[kind]
            ]
            if counts:
                click.echo(f"  {step['rule']}: {', '.join(counts)}")
            for row in trace.quarantine[trace.quarantine["rule"] == step["rule"]].head(lines).to_dict("records"):
                click.echo(f"    line {row['line_number']}: {row['reason']}: {str(row['text'])[:80]!r}")
        noted = report.steps[["merged", "repaired", "flagged"]].to_numpy().any()
        faulty |= bool(len(trace.quarantine)) or (strict and bool(noted))
    sys.exit(1 if faulty else 0)


@main.command()
@click.argument("log")
@click.argument("output")
@click.option("--clean/--no-clean", "cleaned", default=False, help="Apply the cleaning rules first.")
@click.option("--rules", default="", help="Cleaning rules: default,cancelled:action=quarantine; implies --clean.")
@click.option("--strict", is_flag=True, help="Fail at the first line that is no job, instead of leaving it out.")
def convert(log: str, output: str, cleaned: bool, rules: str, strict: bool) -> None:
    """Convert a log to SWF or Parquet, by the suffix of OUTPUT (.swf, .parquet; .swf.gz .bz2 .xz .zst).

    \b
    Example: swftools convert KTH-SP2-1996-2.1-cln.swf.gz kth.parquet --clean
    """
    trace = read_log(log, strict=strict)
    if cleaned or rules:
        chosen = RulesParameter().normalize(rules)
        trace, _ = clean(trace, json.loads(chosen) if chosen else None)
    name = output.lower()
    if name.endswith(".parquet"):
        write_parquet(trace, output)
    elif name.endswith((".swf", ".swf.gz", ".swf.bz2", ".swf.xz", ".swf.zst")):
        write_swf(trace, output)
    else:
        raise click.UsageError(f"{output}: the suffix says no format; use .parquet, .swf or .swf.gz (.bz2 .xz .zst)")
    click.echo(f"{output}: {len(trace):,} jobs; {len(trace.quarantine):,} lines left out")


@main.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--log", help="Path of a log, name of a card, or model:parameters; default: the shipped log.")
@click.option("--augment", "augmentations", help="Augmentations, separated by commas.")
@click.option("--rules", help="Cleaning rules: default,cancelled:action=quarantine, or a JSON list.")
@click.option("--seed", type=int, help="Seed of every random draw; default 0.")
@click.option("--parameters", help="Parameters by augmentation: JSON, or path of a JSON or YAML file.")
@click.option(
    "--set", "settings", multiple=True, metavar="AUGMENTATION.NAME=VALUE", help="One parameter; may be repeated."
)
@click.option("--data-set", help="Name to publish under; default: the log's name.")
@click.option("--data-root", help="Directory, or s3://bucket/prefix; default ./data.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_context
def augment(
    ctx: click.Context, /, augmentations: str | None, settings: tuple[str, ...], dry_run: bool, **options: Any
) -> None:
    """Publish a log as a cleaned, augmented, versioned data set: the task BuildAugmentedTrace.

    \b
    Example: swftools augment --log KTH-SP2-1996-2.1-cln.swf.gz --seed 7 \\
                 --set utility.deadline_basis=wait
    """
    if settings:
        if options["parameters"]:
            raise click.UsageError("give --parameters or --set, not both")
        options["parameters"] = json.dumps(settings_of(settings))
    options["augment"] = augmentations
    arguments: list[str] = []
    for name, value in options.items():
        if value is not None:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    run_task("BuildAugmentedTrace", [*arguments, *ctx.args], dry_run)


@main.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("task", metavar="TASK")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_context
def run(ctx: click.Context, /, task: str, dry_run: bool) -> None:
    """Run any task with its own flags, as luigi does, with the true exit status.

    \b
    Tasks: AcquireLog ParseLog GenerateTrace CleanTrace BuildAugmentedTrace
           AddUtility AddCheckpoints AddArrivals AddSpeedup AddEstimates
           SimulatePolicy MeasureSchedule ComparePolicies CheckSource
    Example: swftools run CleanTrace --log my.swf --rules duplicates,missing-processors
    """
    if task not in pipelines.__all__:
        raise click.UsageError(f"no task {task!r}; there are: {', '.join(pipelines.__all__)}")
    run_task(task, ctx.args, dry_run)


@main.command()
@click.argument("data_set", required=False)
@_data_root
def versions(data_set: str | None, data_root: str) -> None:
    """List data sets, or the versions of one, newest first; * marks latest."""
    root = DataRoot.open(data_root)
    for name in [data_set] if data_set else root.data_sets():
        click.echo(name)
        for version in root.versions(name):
            mark = "*" if version.is_latest else " "
            jobs = "" if version.jobs is None else f"{version.jobs:>12,} jobs"
            click.echo(
                f"{mark} {version.version}  {version.published_at:%Y-%m-%d %H:%M:%S}Z {jobs} {version.bytes:>14,} bytes"
            )
            if version.damage:
                click.echo(f"    damaged manifest: {version.damage}")


@main.command()
@click.argument("data_set")
@click.argument("version", required=False)
@_data_root
def rollback(data_set: str, version: str | None, data_root: str) -> None:
    """Move latest of DATA_SET back to VERSION, or to the version published before it; nothing is removed."""
    click.echo(f"{data_set}: latest is now {DataRoot.open(data_root).rollback(data_set, version)}")


@main.command()
@click.argument("data_set")
@click.argument("version")
@_data_root
def promote(data_set: str, version: str, data_root: str) -> None:
    """Move latest of DATA_SET to VERSION, as after a rollback."""
    click.echo(f"{data_set}: latest is now {DataRoot.open(data_root).promote(data_set, version)}")


@main.command()
@click.argument("data_set")
@click.argument("version", default="latest")
@_data_root
def verify(data_set: str, version: str, data_root: str) -> None:
    """Check every file of a published version against the manifest's checksums; exit with 1 if one differs."""
    problems = DataRoot.open(data_root).verify(data_set, version)
    for problem in problems:
        click.echo(problem)
    click.echo(f"{data_set} {version}: {f'{len(problems)} problems' if problems else 'sound'}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
