# SPDX-License-Identifier: BSD-3-Clause
"""The command that checks schedules, check-schedule, and how what is found in one is printed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_policy
from pipelines.cli.on_nodes import as_withheld
from pipelines.cli.options import Number, load, on_nodes, reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import json_option, print_json
from pipelines.exit_statuses import FOUND_FAULTS
from swftools.output.amounts import percent
from swftools.parameters.choices import DEPENDENCIES, HEADS, OVERRUN, SEMANTICS

if TYPE_CHECKING:
    import pandas as pd

    from pipelines.logs.load import LoadedLog
    from swftools.machines.node_table import NodeTable
    from swftools.simulator.validation.report import ValidationReport
    from swftools.trace import Trace

FITS = 0.9
"""A policy fits a schedule well if it makes at least this share of its starts."""


@click.command(short_help="Check whether a schedule is possible.", name="check-schedule")
@click.argument("schedule")
@takes_a_log
@reads_a_log
@click.option("--policy", shell_complete=complete_policy, help="Also check the promises of this policy, such as easy.")
@click.option(
    "--semantics",
    type=click.Choice(list(SEMANTICS), case_sensitive=False),
    help="Order of events in that simulator.",
)
@click.option(
    "--fit", is_flag=True, help="Also try policies under each simulator's semantics, and name what fits best."
)
@click.option(
    "--overrun",
    type=click.Choice(OVERRUN, case_sensitive=False),
    default="extend",
    show_default=True,
    help="Jobs that outrun their request.",
)
@click.option(
    "--least-run-time", type=Number(0), default=0.0, show_default=True, help="Runs shorter than this last this long, s."
)
@click.option(
    "--requests", default="logged", show_default=True, help="What jobs asked for: logged, factor:factor=2, tsafrir."
)
@click.option(
    "--dependencies",
    type=click.Choice(DEPENDENCIES, case_sensitive=False),
    help="Whether jobs must wait for those that they depend on by the log; default: follow, if the schedule has "
    "ready_time.",
)
@on_nodes
@click.option(
    "--heads",
    type=click.Choice(HEADS, case_sensitive=False),
    help="On nodes, whose first waiting job promises are made to; default: that of each partition.",
)
@click.option("--tolerance", type=Number(0), default=1e-6, show_default=True, help="Times may differ by this, s.")
@json_option
@says_its_progress
def check_schedule(
    schedule: str, log: str, cleaned: bool, rules: str, policy: str | None, fit: bool, as_json: bool, **options: Any
) -> None:
    """Check a schedule of any simulator (CSV or Parquet: job_number, start_time); exit with 1 if it is impossible.

    With --machine it has a column nodes too: numbers from 0 as 0-3,7, or names as n[01-04].

    \b
    Example: swftools check-schedule easy.csv --policy easy \\
                 --log KTH-SP2-1996-2.1-cln.swf.gz
    """
    if not Path(schedule).exists():
        from swftools.errors import UnknownLogError

        raise UnknownLogError(f"there is no schedule {schedule}; check the path")
    from swftools.simulator.registry import read_policy
    from swftools.simulator.validation.report import validate

    if policy is not None:
        read_policy(policy)
    machine, changes = options.pop("machine"), options.pop("changes")
    _check_machine(machine, options["heads"], fit=fit)
    loaded = load(log, cleaned, rules)
    trace: Trace = loaded.trace
    nodes = _nodes_of(loaded, machine, changes)
    report = validate(schedule, trace=trace, policy=policy, machine=nodes, **options)
    fitted = None
    if fit:
        from swftools.simulator.questions.fit_semantics import fit_semantics

        policies = None if policy is None else [policy]
        chosen = {name: options[name] for name in ("overrun", "requests", "tolerance")}
        fitted = fit_semantics(schedule, trace, policies=policies, **chosen)
    if as_json:
        fits = {} if fitted is None else {"fit": fitted.to_dict("records")}
        print_json(report_as_mapping(report) | fits)
    else:
        print_report(report)
        if fitted is not None:
            click.echo("\n".join(_fit_lines(fitted)))
    sys.exit(0 if report.ok else FOUND_FAULTS)


def _check_machine(machine: str | None, heads: str | None, *, fit: bool) -> None:
    """Refuse options that do not go with a machine of nodes, or without one."""
    if machine is None and heads is not None:
        raise click.UsageError("--heads is of a machine of nodes; give --machine too")
    if machine is not None and fit:
        raise click.UsageError("--fit tries policies on a pool of processors; leave it out, or --machine")
    if machine is not None and click.get_current_context().meta.get("swftools.processors") is not None:
        raise click.UsageError("--processors and --machine are both given: they are two machines; give one")
    from pipelines.logs.machine import CARD, POOL

    if machine not in (None, CARD, POOL) and not machine.startswith("{") and not Path(machine).exists():
        from swftools.errors import UnreadableLogError

        raise UnreadableLogError(f"there is no machine {machine}; check the path")


def _nodes_of(loaded: LoadedLog, machine: str | None, changes: str | None) -> NodeTable | None:
    """Return the nodes of the machine that is asked for; None of a pool."""
    from pipelines.logs.machine import changes_text, chosen_machine, machine_text

    chosen = as_withheld(loaded, chosen_machine(loaded.log, machine_text(machine), changes_text(changes or "")))
    if chosen.of_policy:
        raise click.UsageError(
            "--change priority...: that is of the policy, and no machine; give it with --policy, as easy:reservations=2"
        )
    return chosen.description.simulated(loaded.trace.header) if chosen.description else None


def report_as_mapping(report: ValidationReport) -> dict[str, Any]:
    """Return what was found in a schedule, for programs."""
    return {
        "ok": report.ok,
        "jobs": report.jobs,
        "processors": report.processors,
        "policy": report.policy,
        "checked": list(report.checked),
        "violations": report.violations.to_dict("records"),
        "notes": list(report.notes),
    }


def print_report(report: ValidationReport, *, err: bool = False) -> None:
    """Print what was found in a schedule, in lines that fit the terminal."""
    first, *lines = str(report).splitlines()
    width = shutil.get_terminal_size().columns
    wrapped = [click.wrap_text(line.strip(), width, initial_indent="  ", subsequent_indent="    ") for line in lines]
    click.echo("\n".join([first, *wrapped]), err=err)


def _fit_lines(fitted: pd.DataFrame) -> list[str]:
    """Return which policies and semantics make how many of a schedule's starts, as a terminal shows it."""
    lines = [_verdict(fitted), f"  {'policy':<24}{'semantics':<11}{'same starts':>12}  first other start"]
    lines.append(f"  {'every job at once':<24}{'':<11}{percent(fitted['at_once'].iloc[0], digits=1):>12}")
    for row in fitted.to_dict("records"):
        other = ""
        if row["first_start"] == row["first_start"]:
            other = f"  job {row['first_job']}: {row['first_start']:.10g} s, here {row['first_start_here']:.10g} s"
        name = str(row["policy"])
        lines.append(f"  {name:<24}{row['semantics']:<11}{percent(row['share'], digits=1):>12}{other}")
    return lines


def _verdict(fitted: pd.DataFrame) -> str:
    """Return in a sentence what fits best, and whether that is any good."""
    best = fitted.iloc[0]
    told = f"{best['policy']} under semantics {best['semantics']}: {best['same']:,} of {best['jobs']:,} starts"
    if best["share"] == 1.0 or best["share"] >= max(best["at_once"], FITS):
        return f"fits best: {told}"
    if best["share"] > best["at_once"]:
        return f"fits best, but not well: {told}, {percent(best['share'], digits=1)}; so other rules made this schedule"
    return (
        f"nothing fits: the best is {told}, {percent(best['share'], digits=1)}, and "
        f"{percent(best['at_once'], digits=1)} of the jobs start at their "
        "submission, which any policy gets right as easily"
    )
