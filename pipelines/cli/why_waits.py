# SPDX-License-Identifier: BSD-3-Clause
"""The command that says why users wait: waits."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_policy
from pipelines.cli.on_nodes import check_has_policy, load_on, logged_on, schedules_on
from pipelines.cli.options import Number, reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_folder_of_tables, json_option, print_json
from pipelines.cli.schedules import policy_entry, where_it_runs
from pipelines.cli.text_tables import text_table
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    import pandas as pd

    from pipelines.logs.load import LoadedLog
    from pipelines.logs.machine import ChosenMachine
    from swftools.simulator.schedule import Schedule
    from swftools.waits import WaitStudy

FEW = 6
"""Groups that are printed of each grouping, those that waited most."""


@click.command(short_help="Say why users wait: who, and for what.", name="waits")
@takes_a_log
@reads_a_log
@click.option("--by", metavar="NAME,...", help="Groups: partition,account,user,hour ...; default: all that are told.")
@click.option("--least", type=Number(0), default=0.0, show_default=True, help="Who waits longer than this waits, s.")
@click.option("--most", type=click.IntRange(0), default=FEW, show_default=True, help="Groups to print of each kind.")
@click.option(
    "--policy",
    metavar="NAME",
    shell_complete=complete_policy,
    help="Ask of the schedule that this policy makes of the log; default: what the log itself tells.",
)
@where_it_runs
@click.option("--exact", is_flag=True, help="Also simulate what exact requests of time would bring.")
@json_option
@click.option("-o", "--output", metavar="FOLDER", help="Write every table into this folder, as CSV.")
@says_its_progress
def why_users_wait(  # noqa: PLR0913, PLR0917 (an argument an option)
    log: str,
    cleaned: bool,
    rules: str,
    by: str | None,
    least: float,
    most: int,
    policy: str | None,
    machine: str | None,
    changes: str | None,
    exact: bool,
    as_json: bool,
    output: str | None,
    **options: Any,
) -> None:
    """Print how long jobs waited, who waited, and for what; of the log itself, or of a policy's schedule of it.

    On a machine of nodes (--machine) each wait is split: not eligible yet, a limit, nodes that were away, cores, memory
    or GPUs lacking, room that is in pieces, the turn of others, the scheduler's cycle.

    \b
    Examples: swftools waits sacct.txt --machine site.yaml
              swftools waits sacct.txt --machine site.yaml --by account -o waits
    """
    if output:
        check_folder_of_tables(output)
    if policy is None and not exact:
        check_has_policy(None, {"machine": None, "changes": None, **options})
    from swftools.waits import study_waits

    if policy is None:
        _, schedule = logged_on(log, cleaned, rules, machine, changes)
    if policy is not None or exact:
        loaded, nodes = load_on(log, cleaned, rules, machine, changes)
    if policy is not None:
        schedule = _simulated(loaded, nodes, policy, options)
    study = study_waits(schedule, None if by is None else [name.strip() for name in by.split(",")], least=least)
    exactly = _exactly(loaded, nodes, policy or "easy", options) if exact else {}
    if output:
        _write(study, Path(output))
    if as_json:
        print_json({"log": log, **study.to_mapping(), **({"exact": exactly} if exactly else {})})
        return
    click.echo("\n".join(_lines(study, shown(log), most, exactly)))
    if output:
        click.echo(f"\ntables: {shown(output)}")


def _simulated(loaded: LoadedLog, nodes: ChosenMachine, policy: str, options: dict[str, Any]) -> Schedule:
    """Return the schedule that a policy makes."""
    entry = policy_entry(policy)
    parameters = {name: value for name, value in entry.items() if name != "policy"}
    (schedule,) = schedules_on(loaded, nodes, [(entry["policy"], parameters)], **options)
    return schedule


def _exactly(loaded: LoadedLog, nodes: ChosenMachine, policy: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return mean and median waits as users asked, and if they had asked for the time that they needed."""
    found: dict[str, Any] = {"policy": policy}
    trace = loaded.trace
    needed = trace.jobs["requested_time"].where(trace.jobs["run_time"].isna(), trace.jobs["run_time"])
    exact = trace.with_jobs(trace.jobs.assign(requested_time=needed))
    for name, asked in (("as_requested", trace), ("exact_requests", exact)):
        waits = _simulated(replace(loaded, trace=asked), nodes, policy, options).jobs["wait_time"]
        found[name] = {"mean": float(waits.mean()), "median": float(waits.median())}
    return found


def _write(study: WaitStudy, folder: Path) -> None:
    """Write every table of a study as CSV."""
    from swftools.output.whole_files import create_file

    folder.mkdir(exist_ok=True)
    for name, table in study.tables.items():
        with create_file(folder / f"{name}.csv") as file:
            file.write(table.to_csv(index=False).encode())


def _lines(study: WaitStudy, log: str, most: int, exactly: dict[str, Any]) -> list[str]:
    """Return what is printed of a study."""
    if not len(study.groups):
        return [f"{log}: no jobs that waited"]
    whole = study.groups.iloc[0]
    what = "by the log itself" if study.policy == "logged" else f"under {study.policy}"
    first = (
        f"{log}, {what}: {counted(int(whole['jobs']), 'job')}, {percent(whole['waited'])} waited longer than "
        f"{duration(study.least)}; median wait {duration(whole['median'])}, 90 % within {duration(whole['p90'])}, mean "
        f"{duration(whole['mean'])}; {whole['amount']:,.0f} {study.unit} waited"
    )
    lines = click.wrap_text(first, WIDTH, "", "  ").split("\n")
    for sentence in study.told:
        lines += click.wrap_text(sentence, WIDTH, "  ", "    ").split("\n")
    lines += _reasons(study)
    for name, groups in study.groups.groupby("grouped_by", sort=False):
        if name != "all" and most and len(groups) > 1:
            lines += _groups(str(name), groups, most, study.unit)
    lines += _requests(study.requests)
    lines += _shares(study.shares)
    if exactly:
        lines += _exact_lines(exactly)
    return lines


def _reasons(study: WaitStudy) -> list[str]:
    found = study.reasons[study.reasons["amount"] > 0].sort_values("amount", ascending=False, kind="stable")
    if not len(found):
        return ["", "  nobody waited"]
    rows = [("waited for", "share", "jobs", "that is")]
    rows += [
        (each["reason"].replace("_", " "), percent(each["share"], digits=1), f"{each['jobs']:,}", each["meaning"])
        for each in found.to_dict("records")
    ]
    return ["", *text_table(rows, "<>><")]


def _groups(name: str, groups: pd.DataFrame, most: int, unit: str) -> list[str]:
    """Return the groups of a grouping that waited most, in their own order."""
    from swftools.simulator.metrics.wait_reasons import REASONS, reason_in_words

    chosen = groups.nlargest(most, "amount").index
    rows = [(f"by {name.replace('-', ' ')}", "jobs", "median", "90 %", unit, "share", "most for")]
    for each in groups[groups.index.isin(chosen)].to_dict("records"):
        reason = max(REASONS, key=lambda one: each[one])
        amounts = (f"{each['jobs']:,}", duration(each["median"]), duration(each["p90"]), f"{each['amount']:,.0f}")
        words = reason_in_words(reason) if each["amount"] > 0 else "-"
        rows.append((shown(str(each["group"])), *amounts, percent(each["share"]), words))
    left = len(groups) - len(chosen)
    more = [f"  and {left:,} more (--most, or -o for all)"] if left > 0 else []
    return ["", *text_table(rows, "<>>>>><"), *more]


def _requests(found: pd.DataFrame) -> list[str]:
    if not len(found):
        return []
    rows = [("asked for", "jobs", "used in all", "median", "half unused", "used all")]
    rows += [
        (each["resource"], f"{each['jobs']:,}", *(_share(each[name]) for name in found.columns[2:]))
        for each in found.to_dict("records")
    ]
    return ["", *text_table(rows, "<>>>>>")]


def _shares(found: pd.DataFrame) -> list[str]:
    if not len(found):
        return []
    rows = [("account", "share set", "served", "ratio", "median", "90 %")]
    for each in found.to_dict("records"):
        median, p90 = ("-" if isnan(each[name]) else duration(each[name]) for name in ("median", "p90"))
        ratio = "-" if isnan(each["ratio"]) else f"{each['ratio']:.2f}"
        rows.append((shown(each["account"]), _share(each["share"]), _share(each["served"]), ratio, median, p90))
    return ["", *text_table(rows, "<>>>>>")]


def _exact_lines(exactly: dict[str, Any]) -> list[str]:
    rows = [(f"simulated, {exactly['policy']}", "mean wait", "median")]
    for name, words in (("as_requested", "as users asked"), ("exact_requests", "with exact requests")):
        rows.append((words, duration(exactly[name]["mean"]), duration(exactly[name]["median"])))
    return ["", *text_table(rows, "<>>")]


def _share(value: float) -> str:
    return "-" if isnan(value) else percent(value, digits=1)
