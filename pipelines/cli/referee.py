# SPDX-License-Identifier: BSD-3-Clause
"""The command that holds a real run of Slurm against its rules."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.on_nodes import load_on
from pipelines.cli.options import Number, load, on_nodes, reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import json_option, print_json
from pipelines.cli.text_tables import text_table
from swftools.output.amounts import percent
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    import pandas as pd

    from swftools.machines.description import MachineDescription
    from swftools.referee import Report
    from swftools.trace import Trace


@click.command(short_help="Hold a real run of Slurm against its rules.", name="referee")
@takes_a_log
@reads_a_log
@on_nodes
@click.option("--tolerance", type=Number(0), default=5.0, show_default=True, help="Starts may differ by this, s.")
@click.option(
    "--every",
    type=Number(0),
    default=0.0,
    show_default=True,
    help="Try the rules every so many seconds; 0: when they are due, and where the log shows a start.",
)
@click.option("--without", metavar="RULE", multiple=True, help="Also leave a rule out, or each in turn; repeatable.")
@click.option("--first", type=click.IntRange(0), default=10, show_default=True, help="Differing starts to show.")
@click.option("--phases", type=click.IntRange(0), default=0, help="Also simulate the jobs, under so many phases.")
@click.option("--also", metavar="LOG", multiple=True, help="Another real run of the same jobs; repeatable.")
@click.option(
    "--cores", metavar="FILE", default=None, help="What scontrol show job -d printed: CPUs that jobs had of each node."
)
@click.option(
    "--reservations", metavar="FILE", default=None, help="What scontrol show reservation printed, or sacctmgr -P list."
)
@click.option(
    "--priorities", metavar="FILE", default=None, help="What sprio printed now and then: priorities of waiting jobs."
)
@click.option(
    "--completing",
    type=Number(0),
    default=0.04,
    show_default=True,
    help="Nodes may clean up behind a job for so many seconds.",
)
@json_option
@says_its_progress
def hold_against(
    log: str,
    cleaned: bool,
    rules: str,
    machine: str | None,
    changes: str | None,
    also: tuple[str, ...],
    cores: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Try Slurm's rules in each state of a real run: who would start then, and where.

    LOG is what sacct prints, with NodeList; FILE of --machine says how Slurm is configured there (swftools machine
    slurm.conf).

    \b
    Example: swftools referee sacct.txt --machine site.yaml --outages events.txt \\
                 --without each --phases 20
    """
    if machine is None:
        raise click.UsageError("give --machine FILE, which swftools machine makes of slurm.conf")
    from pipelines.cli.progress import Bar
    from swftools.machines.cores_told import with_cores
    from swftools.referee import referee
    from swftools.referee.priorities import read_priorities

    keep_unended(click.get_current_context().meta.get("swftools.format") or "")
    loaded, chosen = load_on(log, cleaned, rules, machine, changes)
    if keep_unended(str(loaded.trace.provenance.get("format", ""))):
        loaded, chosen = load_on(log, cleaned, rules, machine, changes)
    if chosen.description is None:
        raise click.UsageError("--machine pool has no nodes; give a file that swftools machine makes of slurm.conf")
    description, notes = chosen.description, tuple[str, ...]()
    reservations, priorities = options.pop("reservations"), options.pop("priorities")
    if reservations is not None:
        description, notes = _with_reservations(description, reservations, loaded.trace)
    table = description.simulated(loaded.trace.header)
    others = [load(each, cleaned, rules).trace for each in also]
    bar = Bar("referee", " steps")
    try:
        report = referee(
            loaded.trace if cores is None else with_cores(loaded.trace, cores),
            table,
            also=others,
            priorities=None if priorities is None else read_priorities(priorities, loaded.trace, table),
            progress=lambda what, done, total: bar.show(done, total, what),
            **options,
        )
    finally:
        bar.close()
    report = replace(report, told=(*report.told, *notes))
    if as_json:
        print_json({"log": log, **_as_mapping(report)})
        return
    click.echo("\n".join(_lines(report, shown(log))))


def _with_reservations(
    description: MachineDescription, path: str, trace: Trace
) -> tuple[MachineDescription, tuple[str, ...]]:
    """Return a machine with the reservations of a file, whose times are in the log's zone; and what is left out."""
    from swftools.machines.reservations_told import read_reservations

    _, _, options = str(trace.provenance.get("format", "")).partition(":")
    zone = dict(word.partition("=")[::2] for word in options.split(",")).get("time_zone")
    found = read_reservations(path, description.numbered().names, time_zone=zone)
    return replace(description, outages=(*description.outages, *found.outages)), found.notes


def keep_unended(read: str) -> bool:
    """Let a log of Slurm be read with all jobs that stood in the queue; return whether it has to be read again."""
    name, _, options = read.partition(":")
    if name != "slurm" or "unended=" in options:
        return False
    click.get_current_context().meta["swftools.format"] = f"{read}{',' if options else ':'}unended=kept"
    return True


def _as_mapping(report: Report) -> dict[str, Any]:
    """Return a report for programs."""
    tables = ("schedulers", "without", "differences", "bands", "repeats")
    found = {name: value for name, value in asdict(report).items() if name not in tables}
    return found | {name: getattr(report, name).to_dict("records") for name in tables}


def _lines(report: Report, log: str) -> list[str]:
    """Return what is printed of a report."""
    from swftools.referee.likeness import likeness_defined, likeness_in_words

    own = report.figures
    lines = click.wrap_text(f"{log}: {likeness_in_words(report.likeness)}", WIDTH, "", "  ").split("\n")
    starts = f"{own['starts']:,} starts, of which {own['waited']:,} waited more than {report.tolerance:g} s"
    for sentence in filter(None, (likeness_defined(report.likeness), starts, *report.told)):
        lines += click.wrap_text(sentence, WIDTH, "  ", "    ").split("\n")
    rows = [
        ("", "of all", "of those that waited"),
        ("at the right time", _share(own["right"]), _share(own["waited_right"])),
        ("  on the real nodes", _share(own["on_nodes"]), _share(own["waited_on_nodes"])),
        ("  by the same scheduler", _share(own["by_scheduler"]), ""),
        ("too early, too late", f"{own['early']:,.0f}, {own['late']:,.0f}", ""),
        ("with the real priority", _share(own["priorities"]), ""),
    ]
    lines += ["", *text_table(rows, "<><")]
    lines += _table(report.schedulers, {"right": "right time", "on_nodes": "real nodes"}, "started by")
    wanted = {"right": "right time", "waited_right": "that waited", "on_nodes": "real nodes", "early": "early"}
    lines += _table(report.without, {**wanted, "late": "late"}, "without")
    lines += _table(report.bands, {}, "simulated, over phases")
    lines += _table(report.repeats, {}, "other real runs")
    return [*lines, *_differences(report.differences)]


def _table(found: pd.DataFrame, wanted: dict[str, str], title: str) -> list[str]:
    """Return a table in lines; shares as percent."""
    if not len(found):
        return []
    first, *others = map(str, found)
    names = [name for name in others if not wanted or name in wanted or name == "starts"]
    names = [name for name in names if not (title == "without" and name == "starts")]
    rows = [(title, *(wanted.get(name, name) for name in names))]
    records = found.to_dict("records")
    rows += [(str(row[first]), *(_figure(name, row[name]) for name in names)) for row in records]
    return ["", *text_table(rows, "<" + ">" * len(names))]


_SHARES = ("right", "waited_right", "on_nodes", "waited_on_nodes", "by_scheduler", "priorities")


def _figure(name: str, value: float) -> str:
    return (
        _share(value)
        if name in _SHARES
        else f"{value:,.0f}"
        if abs(value) >= 10 or value == int(value)
        else f"{value:.2f}"
    )


def _share(value: float) -> str:
    return "-" if isnan(value) else percent(value, digits=1)


def _differences(found: pd.DataFrame) -> list[str]:
    """Return the first starts that differ, a few lines each."""
    lines: list[str] = []
    for row in found.to_dict("records"):
        rule = "not by then" if isnan(row["rule"]) else f"at {row['rule']:,.0f} s"
        where = f" on {row['rule_nodes']}" if row["rule_nodes"] else ""
        told = (
            f"{row['what']}: job {row['job']} ({row['asks']}), which could start at {row['eligible']:,.0f} s, did at "
            f"{row['start']:,.0f} s on {row['nodes']}; by the rules {rule}{where}. Just before {row['free_nodes']:,} "
            f"nodes were idle, {row['free_cores']:,} cores free"
            + (f"; before it stood {row['before']}" if row["before"] else "")
        )
        lines += ["", *click.wrap_text(shown(told), WIDTH, "  ", "    ").split("\n")]
    return lines
