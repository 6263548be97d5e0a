# SPDX-License-Identifier: BSD-3-Clause
"""Commands for logs: describe, estimates, validate, convert."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_log
from pipelines.cli.options import SEED, load, reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_output, json_option, print_json
from pipelines.exit_statuses import FOUND_FAULTS, MISSING_INPUT, status_of
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_text import shown, shown_lines

if TYPE_CHECKING:
    import pandas as pd

    from pipelines.logs.load import LoadedLog

FORMATS = (".parquet", ".csv", ".swf", ".swf.gz", ".swf.bz2", ".swf.xz", ".swf.zst")

STATUS = {
    -1: "unknown",
    0: "failed",
    1: "completed",
    2: "part of a job, continued",
    3: "last part, completed",
    4: "last part, failed",
    5: "cancelled",
}
"""What a status of SWF means."""

UNITS = {
    "offered_load": "of capacity",
    "mean_width": "processors",
    "cancelled": "jobs",
    "without_run_time": "jobs",
    "over_request": "jobs",
    "missing_values": "jobs",
    "jobs_by_queue": "jobs",
    "jobs_by_status": "jobs",
}
"""Units of what ``describe`` finds, where the name does not say it."""


@click.command(short_help="Summarize a log.", name="describe")
@takes_a_log
@reads_a_log
@json_option
@click.option("--flurries", is_flag=True, help="Also propose flurries: bursts of a single user's activity.")
@says_its_progress
def describe_log(log: str, cleaned: bool, rules: str, as_json: bool, flurries: bool) -> None:
    """Print what a log holds: jobs, machine, period, load, missing values.

    \b
    Example: swftools describe SDSC-BLUE-2000-4.2-cln-5000-9999 --flurries
    """
    trace = load(log, cleaned, rules, says_odd=False).trace
    from swftools.cleaning.flurries import propose_flurries
    from swftools.description import describe

    facts = describe(trace)
    if flurries:
        facts["proposed_flurries"] = json.loads(propose_flurries(trace).to_json(orient="records"))
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        _print_fact(name, value)


def _print_fact(name: str, value: Any) -> None:
    """Print one line of a description, or a table."""
    unit = UNITS.get(name, "")
    if isinstance(value, dict | list) and not value and name != "proposed_flurries":
        return  # nothing is printed above an empty list
    if name == "generated_columns":
        from swftools.fields.definition import GENERATED

        click.echo(f"{name} ({GENERATED}):")
        for column in value:
            click.echo(f"  {column}")
    elif name == "anomalies":
        click.echo(f"{name}:")
        for told, count in value.items():
            click.echo(f"  {count:,}: {shown(told)}")
    elif isinstance(value, dict):
        click.echo(f"{name}{f' ({unit})' if unit else ''}:")
        for key, count in value.items():
            meaning = f" {STATUS.get(int(key), 'not in the standard')}" if name == "jobs_by_status" else ""
            click.echo(f"  {shown(key) + meaning:<30} {count:>12,}")
    elif name == "proposed_flurries":
        click.echo(f"{name}:{'' if value else ' none'}")
        for row in value:
            click.echo(
                f"  user {row['user']:.0f}, jobs {row['first_job']:.0f} to {row['last_job']:.0f}: "
                f"{row['jobs']:,.0f} jobs, {percent(row['share'])} of all\n"
                f"    submitted from {duration(row['from_time'])} to {duration(row['to_time'])} after the log's begin"
            )
    else:
        if name.startswith("median_") and isinstance(value, int | float):
            value = duration(value)
        told = f"{value:,}" if isinstance(value, int | float) else value
        lines = [shown(line) for line in told] if isinstance(told, list) else [shown(told)]
        if value is None or (not value and not isinstance(value, int | float)):
            lines, unit = ["unknown"], ""
        lines = [f"{line} {unit}".rstrip() for line in lines]
        width = shutil.get_terminal_size().columns
        if max(map(len, lines)) > width - 27:
            click.echo(name)
            lines = [click.wrap_text(line, width, initial_indent="  ", subsequent_indent="    ") for line in lines]
            click.echo("\n".join(lines))
        else:
            for number, line in enumerate(lines):
                click.echo(f"{'' if number else name:<26} {line}")


@click.command(short_help="Show how good requested times are.", name="estimates")
@takes_a_log
@reads_a_log
@click.option(
    "--tightened", is_flag=True, help="Also study synthetic answers of users who are asked again, without being killed."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="For these answers.")
@click.option("--most", type=click.IntRange(1), default=10, show_default=True, help="Groups and requests to print.")
@json_option
@click.option("-o", "--output", metavar="FILE", help="Write the inaccuracy of every group into this CSV file.")
@says_its_progress
def study_log(
    log: str, cleaned: bool, rules: str, tightened: bool, seed: int, most: int, as_json: bool, output: str | None
) -> None:
    """Print how much of the requested times jobs use: overall, by user, queue, size and requested time.

    \b
    Example: swftools estimates SDSC-BLUE-2000-4.2-cln-5000-9999 -o estimates.csv
    """
    if output:
        check_output(output, (".csv",), [log])
    trace = load(log, cleaned, rules).trace
    from swftools.estimates import study_estimates
    from swftools.models.tightened_requests import COLUMN, tighten_requests
    from swftools.output.whole_files import create_file

    study = study_estimates(trace, tighten_requests(trace, seed)[COLUMN] if tightened else None)
    if output:
        with create_file(output) as file:
            file.write(study.inaccuracy.to_csv(index=False).encode())
    if as_json:
        print_json(study.to_mapping())
        return
    click.echo(study)
    for reason, count in study.left_out.items():
        if count:
            click.echo(f"left out: {counted(count, 'job')}, {reason}")
    tables = {"used": study.used, "requests": study.requests.head(most), "answers (synthetic)": study.answers}
    for (of, by), groups in study.inaccuracy.groupby(["of", "grouped_by"], sort=False):
        tables[f"inaccuracy, {of}, by {by}" if by != "all" else f"inaccuracy, {of}"] = groups.iloc[:most, 2:]
    for name, table in tables.items():
        if len(table):
            click.echo(f"\n{name} (%{'; used_all: jobs' if 'used_all' in table else ''}):")
            text = _for_people(table).to_string(index=False, na_rep="-", line_width=10_000)
            click.echo("\n".join(shown(line) for line in text.splitlines()))
    if output:
        click.echo(f"\nestimates: {shown(output)}")


def _for_people(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of ``estimates`` with times in units that people use, and shares in percent."""
    said = table.copy()
    for name in table:
        if name == "requested_time":
            said[name] = table[name].map(duration)
        elif table[name].dtype.kind == "f":
            said[name] = (100 * table[name]).round(1)
    return said


@click.command(short_help="Find what is wrong with logs.", name="validate")
@click.argument("logs", nargs=-1, shell_complete=complete_log)
@click.option("--log", "more", multiple=True, shell_complete=complete_log, help="A log, instead of an argument.")
@reads_a_log
@click.option("--strict", is_flag=True, help="Also count as faults the jobs that cleaning would repair or mark.")
@click.option(
    "--lines", type=click.IntRange(0), default=5, show_default=True, help="How many faulty lines of each kind to show."
)
@json_option
@says_its_progress
def validate_logs(
    logs: tuple[str, ...], more: tuple[str, ...], cleaned: bool, rules: str, strict: bool, lines: int, as_json: bool
) -> None:
    """Check logs; exit with 1 if a line is not a job or a job could not be scheduled.

    \b
    Example: swftools validate my.swf && echo sound
    """
    from swftools.errors import LogFormatError, SwfFormatError, SwfToolsError, UnknownLogError, UnreadableLogError

    logs = (*logs, *more)
    if not logs:
        raise click.UsageError("name a log: its path, or a card", click.get_current_context())
    status, found = 0, []
    for log in logs:
        try:
            loaded = load(log, cleaned, rules, says_odd=False)
        except SwfToolsError as error:
            if not isinstance(error, LogFormatError | SwfFormatError | UnreadableLogError | UnknownLogError):
                raise
            is_missing = status_of(error) == MISSING_INPUT
            status = max(status, MISSING_INPUT if is_missing else FOUND_FAULTS)
            if as_json:
                found.append({"log": log, "ok": False, "error": str(error)})
                continue
            click.echo(f"error: {shown_lines(error)}" if is_missing else shown_lines(error), err=is_missing)
            continue
        noted = loaded.report is not None and loaded.report.steps[["merged", "repaired", "flagged"]].to_numpy().any()
        is_faulty = bool(len(loaded.trace.quarantine) or (strict and noted))
        if as_json:
            found.append({"log": log, "ok": not is_faulty, **_findings(loaded, lines)})
        else:
            _print_findings(log, loaded, lines)
        if is_faulty:
            status = max(status, FOUND_FAULTS)
    if as_json:
        print_json(found)
    sys.exit(status)


def _findings(loaded: LoadedLog, lines: int) -> dict[str, Any]:
    """Return what was found in a log, for programs, with some lines of each rule."""
    quarantine, report = loaded.trace.quarantine, loaded.report
    told = quarantine.groupby("rule", sort=False).head(lines)[["rule", "line_number", "reason", "text"]]
    return {
        "jobs": len(loaded.trace),
        "to_quarantine": len(quarantine),
        "merged": len(loaded.trace.merged),
        "anomalies": loaded.trace.provenance.get("anomalies", {}),
        "unverified": loaded.trace.provenance.get("unverified"),
        "steps": report.steps.to_dict("records") if report else [],
        "lines": told.to_dict("records"),
    }


def _print_findings(log: str, loaded: LoadedLog, lines: int) -> None:
    """Print what was found in a log, by rule, with some lines of each."""
    quarantine, report = loaded.trace.quarantine, loaded.report
    merged = f", {len(loaded.trace.merged):,} merged into others" if len(loaded.trace.merged) else ""
    click.echo(
        f"{shown(log)}: {counted(len(loaded.trace), 'job', '0')}, {counted(len(quarantine), 'line', '0')} to "
        f"quarantine{merged}"
    )
    for told, count in loaded.trace.provenance.get("anomalies", {}).items():
        click.echo(f"  odd: {shown(told)}: {count:,}")
    if "unverified" in loaded.trace.provenance:
        click.echo(f"  warning: {shown(loaded.trace.provenance['unverified'])}")
    steps = report.steps.to_dict("records") if report else [{"rule": rule} for rule in quarantine["rule"].unique()]
    width = shutil.get_terminal_size().columns
    for step in steps:
        kinds = ("quarantined", "merged", "repaired", "flagged")
        counts = [f"{step[kind]:,} {kind}" for kind in kinds if step.get(kind)]
        if counts or not report:
            click.echo(f"  {step['rule']}: {', '.join(counts)}".rstrip(": "))
        for row in quarantine[quarantine["rule"] == step["rule"]].head(lines).to_dict("records"):
            said = f"    line {row['line_number']}: {shown(row['reason'])}"
            if not isinstance(row["text"], str):  # withheld
                click.echo(said)
                continue
            said, text = f"{said}: ", row["text"]
            room = max(width - len(said) - 2, 20)
            click.echo(f"{said}{text if len(text) <= room else f'{text[: room - 3]}...'!r}")


@click.command(short_help="Convert a log to SWF, Parquet or CSV.")
@click.argument("words", nargs=-1, metavar="LOG OUTPUT", shell_complete=complete_log)
@click.option("--log", shell_complete=complete_log, help="The log, instead of the first argument.")
@click.option("-o", "--output", help="The file, instead of the last argument.")
@reads_a_log
@click.option("--strict", is_flag=True, help="Fail at the first line that is not a job, instead of leaving it out.")
@click.option(
    "--as-read", is_flag=True, help="Write SWF in the dialect that the log came in: 21 fields, times since 1970."
)
@click.option("--names", help="Also write the names behind the numbers of an accounting log into this CSV file.")
@says_its_progress
def convert(
    words: tuple[str, ...],
    log: str | None,
    output: str | None,
    cleaned: bool,
    rules: str,
    strict: bool,
    as_read: bool,
    names: str | None,
) -> None:
    """Convert a log to SWF, Parquet or CSV, by the suffix of OUTPUT (.swf, .parquet, .csv; .swf.gz .bz2 .xz .zst).

    \b
    Example: swftools convert KTH-SP2-1996-2.1-cln.swf.gz kth.parquet --raw
             swftools convert history.txt history.swf \\
                 --format loadleveler:processors_per_node=8
    """
    given = [word for word in (log, *words, output) if word is not None]
    if len(given) != 2:
        raise click.UsageError("give one log and one output: LOG OUTPUT", click.get_current_context())
    source, target = given
    check_output(target, FORMATS, [source])
    if names:
        check_output(names, (".csv",), [source])
    if as_read and target.lower().endswith((".parquet", ".csv")):
        raise click.UsageError("--as-read is of SWF: name an output that ends in .swf, .swf.gz ...")
    trace = load(source, cleaned, rules, strict=strict).trace
    if target.lower().endswith(".parquet"):
        from swftools.formats.parquet import write_parquet

        write_parquet(trace, target)
    elif target.lower().endswith(".csv"):
        from swftools.output.whole_files import create_file

        with create_file(target) as file:  # a missing value is an empty cell
            trace.jobs.to_csv(file, index=False, lineterminator="\n")
    else:
        from swftools.formats.swf.writer import write_swf

        write_swf(trace, target, as_read=as_read)
    if names:
        from swftools.output.whole_files import create_file

        with create_file(names) as file:
            file.write(trace.names.to_csv(index=False).encode())
    merged = f"; {len(trace.merged):,} merged into others" if len(trace.merged) else ""
    click.echo(
        f"{shown(target)}: {counted(len(trace), 'job', '0')}; {counted(len(trace.quarantine), 'line', '0')} left "
        f"out{merged}"
    )
