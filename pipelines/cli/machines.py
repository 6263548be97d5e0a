# SPDX-License-Identifier: BSD-3-Clause
"""The command that shows what a machine has: machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_log
from pipelines.cli.options import load, outage_options, reads_as, says_its_progress, together
from pipelines.cli.output import PICTURES, check_output, check_picture, json_option, print_json
from pipelines.cli.text_tables import INDENT, text_table
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription

_MOST_OUTAGES = 3
"""That are shown one by one."""

_slurm_options = together(
    click.option("--topology", metavar="FILE", help="Slurm's switches: topology.conf, or scontrol show topology."),
    click.option(
        "--accounts", metavar="FILE", help="Slurm's accounts: what sacctmgr dump or sacctmgr -P list assoc tree prints."
    ),
    click.option("--qos", metavar="FILE", help="Slurm's QOS: what sacctmgr -P list qos prints."),
    click.option("--usage", metavar="FILE", help="Usage before the log begins: what sshare -a -l -P prints."),
    click.option("--slurm-version", metavar="VERSION", help="Of Slurm, if scontrol show config is not there: 22.05."),
)


@click.command(short_help="Show what a machine of nodes has.")
@click.argument("file", type=click.Path(), required=False)
@click.option(
    "--from",
    "log",
    metavar="LOG",
    shell_complete=complete_log,
    help="In place of FILE: guess the machine from the nodes that a log names.",
)
@click.option(
    "--absence",
    metavar="TIME",
    help="With --from: how long nobody names a node until it may have been away; never: no outages. Default: 1d.",
)
@reads_as
@says_its_progress
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="CHANGE",
    help="Change it first: nodes.KIND.count+=8, partitions.NAME.max_time=2d; repeatable.",
)
@outage_options
@_slurm_options
@click.option("--to", "output", metavar="FILE.yaml", help="Write the description into this file.")
@click.option("--plot", "picture", metavar="FILE", help=f"Draw partitions by kinds of nodes: {', '.join(PICTURES)}.")
@json_option
def machine(
    file: str | None,
    log: str | None,
    absence: str | None,
    changes: tuple[str, ...],
    output: str | None,
    picture: str | None,
    as_json: bool,
    slurm_version: str | None,
    **slurm: str | None,
) -> None:
    """Show what a machine has, by kinds of nodes and by partitions, and what simulations do not look at.

    FILE is a description (YAML); what scontrol show node, partition, reservation and config print, one after another,
    or its JSON; slurm.conf; what pbsnodes -av or pbsnodes -a -F json prints; what llstatus -l prints; a platform of
    SimGrid or Batsim (XML); the configuration of a system of RAPS; a topology of OpenDC (JSON); the list of nodes of
    Alibaba's openb; a file .machines. --outages adds when nodes were away, by what the batch system recorded.
    Of Slurm, --accounts, --qos, --usage and --topology add what policy slurm takes besides.

    \b
    Examples: swftools machine slurm.conf --to site.yaml
              swftools machine site.yaml --outages events.txt --to site2.yaml
              swftools machine slurm.conf --accounts dump.cfg --qos qos.txt
              swftools machine site.yaml --change nodes.gpu.count+=8
              swftools machine --from sacct.txt --to guess.yaml
    """
    if (file is None) == (log is None):
        which = "one of both: a FILE" if log else "a FILE"
        raise click.UsageError(f"give {which} that describes a machine, or --from LOG")
    if absence is not None and log is None:
        raise click.UsageError("--absence says something of logs; give --from LOG too")
    outages = click.get_current_context().meta.get("swftools.outages")
    of_slurm = {name: Path(path).expanduser() for name, path in slurm.items() if path is not None}
    read = [str(file or log), *([str(outages)] if outages else []), *map(str, of_slurm.values())]
    if output:
        check_output(output, (".yaml", ".yml"), read)
    if picture:
        check_picture(picture, read)
    from swftools.machines.description import read_machine

    found = read_machine(file) if file is not None else _guess(str(log), absence or "1d")
    found = _with_outages(found)
    if of_slurm or slurm_version is not None:
        found = found.with_slurm(**of_slurm, version=slurm_version)
    if changes:
        found = found.changed(changes)
    if as_json:
        print_json(_facts(found))
    else:
        for line in _lines(found):
            click.echo(shown(line))
    if output:
        from swftools.output.whole_files import create_file

        with create_file(output) as written:
            written.write(found.to_yaml().encode())
        click.echo(f"description: {shown(output)}", err=as_json)
    if picture:
        _draw(found, picture, quiet=as_json)


def _with_outages(found: MachineDescription) -> MachineDescription:
    """Return the machine with the outages of the file that an option names."""
    outages, form = (click.get_current_context().meta.get(f"swftools.{name}") for name in ("outages", "outages_format"))
    if outages is None and form is not None:
        raise click.UsageError("--outages-format says how outages are read; give --outages FILE too")
    return found if outages is None else found.with_outages(Path(outages).expanduser(), form)


def _guess(log: str, absence: str) -> MachineDescription:
    """Return a guess of the machine of a log; PBS's hosts are read, which usually nobody needs."""
    from pipelines.cli.progress import Bar
    from swftools.machines.description import MachineDescription
    from swftools.parameters.durations import seconds_of

    least = None if absence.casefold() == "never" else seconds_of(absence)
    if absence.casefold() != "never" and not (least and least > 0):
        raise click.UsageError(f"--absence {absence!r} is no time such as 3600, 12h or 1d, and not never")
    meta = click.get_current_context().meta
    given = str(meta.get("swftools.format") or "")
    if _lacks_hosts(given):
        meta["swftools.format"] = _with_hosts(given)
    trace = load(log, cleaned=False, rules="").trace
    if _lacks_hosts(read := str(trace.provenance.get("format", ""))):
        meta["swftools.format"] = _with_hosts(read)
        trace = load(log, cleaned=False, rules="").trace
    name = Path(log).name.partition(".")[0]
    bar = Bar("guessing the machine", " steps")
    try:
        return MachineDescription.guessed(trace, name=name or None, least_absence=least, progress=bar.show)
    finally:
        bar.close()


def _lacks_hosts(form: str) -> bool:
    return form.partition(":")[0] == "pbs" and "hosts=" not in form


def _with_hosts(form: str) -> str:
    return f"{form}{',' if ':' in form else ':'}hosts=yes"


def _facts(found: MachineDescription) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from swftools.machines.outage_table import largest, outage_rows, outages_by_kind

    table, kinds = found.table(), found.kinds()
    parts = found.by_partition()
    sums = parts.groupby("partition", sort=False)[["nodes", "cores", "gpus"]].sum()
    return {
        "name": found.name,
        "nodes": len(table),
        "cores": table.processors,
        "gpus": int(sum(kinds["gpus"] * kinds["nodes"])),
        "kinds": [
            {key: value for key, value in row.items() if key not in ("gpu_types", "features")}
            | {key: [*filter(None, row[key].split(","))] for key in ("gpu_types", "features")}
            for row in kinds.to_dict("records")
        ],
        "partitions": [
            {
                "name": part.name,
                "nodes": len(part.nodes),
                "cores": int(sums["cores"][part.name]),
                "gpus": int(sums["gpus"][part.name]),
                "max_time": part.max_time,
                "min_nodes": part.min_nodes or None,
                "max_nodes": part.max_nodes or None,
                "max_cores": part.max_cores or None,
                "default_memory_per_core": part.default_memory_per_core or None,
                "max_memory_per_core": part.max_memory_per_core or None,
                "is_exclusive": part.is_exclusive,
                "is_default": part.is_default,
                "tier": part.tier,
            }
            for part in table.partitions
        ],
        "outages": len(found.outages),
        "outages_by_kind": [each._asdict() for each in outages_by_kind(found)],
        "largest_outages": [
            {**row._asdict(), "node_hours": row.node_hours} for row in largest(outage_rows(found), _MOST_OUTAGES)
        ],
        "slurm": None if found.slurm is None else asdict(found.slurm),
        "not_simulated": found.not_simulated(),
        "notes": found.notes,
    }


def _lines(found: MachineDescription) -> list[str]:
    """Return what is printed for people."""
    from swftools.machines.amounts import shown_memory
    from swftools.output.amounts import counted
    from swftools.output.shown_html import shortened
    from swftools.parameters.durations import in_words

    facts = _facts(found)
    gpus = f", {counted(facts['gpus'], 'GPU')}" if facts["gpus"] else ""
    name = f"{found.name}: " if found.name else ""
    whole = f"{name}{counted(facts['nodes'], 'node')}, {counted(facts['cores'], 'core')}{gpus}"
    kinds = [("kind", "nodes", "cores", "memory", "GPUs", "weight", "features")] + [
        (
            kind["kind"],
            f"{kind['nodes']:,}",
            f"{kind['cores']:,}",
            "?" if kind["memory"] is None or str(kind["memory"]) == "<NA>" else shown_memory(int(kind["memory"])),
            f"{kind['gpus']} {'+'.join(kind['gpu_types'])}" if kind["gpus"] else "-",
            str(kind["weight"]),
            ",".join(kind["features"]) or "-",
        )
        for kind in facts["kinds"]
    ]
    parts = [("partition", "nodes", "cores", "GPUs", "longest", "nodes/job", "tier", "")] + [
        (
            f"{part['name']}{'*' * (part['is_default'] and len(facts['partitions']) > 1)}",
            f"{part['nodes']:,}",
            f"{part['cores']:,}",
            f"{part['gpus']:,}" if part["gpus"] else "-",
            "any" if part["max_time"] == float("inf") else in_words(part["max_time"]),
            _between(part["min_nodes"], part["max_nodes"]),
            str(part["tier"]),
            "whole nodes" if part["is_exclusive"] else "",
        )
        for part in facts["partitions"]
    ]
    lines = [
        shortened(whole, WIDTH),
        "",
        "each node of a kind",
        *text_table(kinds, "<>>><><"),
        "",
        *text_table(parts, "<>>>>>><"),
    ]
    if any(row[0].endswith("*") for row in parts[1:]):
        lines.append(f"{INDENT}* jobs go there that name no partition")
    lines += _outage_lines(facts)
    if found.slurm is not None:
        from pipelines.cli.slurm_tables import slurm_lines

        lines += slurm_lines(found.slurm, found.partitions)
    for title, texts in (("not simulated", facts["not_simulated"]), ("notes", facts["notes"])):
        if texts:
            lines += ["", title]
            for text in texts:
                wrapped = click.wrap_text(shown(text), WIDTH, INDENT, f"{INDENT}  ").split("\n")
                lines += [shortened(line, WIDTH) for line in wrapped]
    return lines


def _outage_lines(facts: dict[str, Any]) -> list[str]:
    """Return what is printed of outages: how many of each kind, and the largest."""
    from swftools.output.amounts import duration, number

    if not facts["outages"]:
        return []
    kinds = [("outages", "number", "nodes", "node-hours", "without end", "")] + [
        (
            each["kind"],
            f"{each['outages']:,}",
            f"{each['nodes']:,}",
            number(each["node_hours"]),
            f"{each['without_end']:,}" if each["without_end"] else "-",
            "",
        )
        for each in facts["outages_by_kind"]
    ]
    rows = [("largest", "nodes", "node-hours", "for", "begin", "reason")] + [
        (
            each["nodes"],
            f"{each['node_count']:,}",
            number(each["node_hours"]),
            duration(each["seconds"]),
            each["begin"],
            each["reason"] or "-",
        )
        for each in facts["largest_outages"]
    ]
    return ["", *text_table(kinds, "<>>>><"), *(["", *text_table(rows, "<>>><<")] if len(rows) > 1 else [])]


def _between(least: int | None, most: int | None) -> str:
    """Return how many nodes jobs may have."""
    if least is None and most is None:
        return "any"
    return f"{least or 1:,}-{most:,}" if most is not None else f"{least:,}+"


def _draw(found: MachineDescription, path: str, *, quiet: bool) -> None:
    """Draw a picture, and say what it shows."""
    from swftools import plots
    from swftools.output.whole_files import create_file

    axes, told = plots.plot_and_tell(found.by_partition(), "machine")
    figure: Any = axes.figure
    with plots.style("screen"), create_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=200)
    click.echo(click.wrap_text(shown(told), WIDTH), err=quiet)
    click.echo(f"picture: {shown(path)}", err=quiet)
