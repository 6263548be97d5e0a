# SPDX-License-Identifier: BSD-3-Clause
"""The command that lists the formats of logs: formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from pipelines.cli.completion import complete_format
from pipelines.cli.output import check_output, json_option, print_json
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from swftools.formats.registry import LogFormat

_PROPOSE = "propose"


@click.command(short_help="List the formats that can be read; propose a mapping for a table.")
@click.argument("name", required=False, shell_complete=complete_format)
@click.argument("file", required=False)
@click.option("-o", "--output", metavar="MAPPING.yaml", help="Of propose: write the mapping into this file.")
@json_option
def formats(name: str | None, file: str | None, output: str | None, as_json: bool) -> None:
    """List the formats of logs that can be read; for one format, its options and the command that exports such a log.

    With propose FILE write a mapping for a table that no format knows, and say what it is unsure of.

    \b
    Example: swftools formats loadleveler
             swftools formats propose jobs.csv -o mine.yaml
             swftools describe jobs.csv --format table:mapping=mine.yaml
    """
    import swftools.formats.detect  # noqa: F401 (registers them)
    from swftools.formats.registry import find_format, list_formats

    if (name == _PROPOSE) != (file is not None):
        context = click.get_current_context()
        raise click.UsageError("a file goes with propose alone: formats propose FILE, or formats NAME", context)
    if output and (file is None or as_json):
        raise click.UsageError("-o is of formats propose FILE, without --json")
    if file is not None:
        _propose(file, output, as_json=as_json)
    elif as_json:
        kinds = list_formats() if name is None else {name: find_format(name)[0]}
        print_json([{**_facts(kind), "options": kind().to_mapping()} for kind in kinds.values()])
    elif name is None:
        for known, kind in list_formats().items():
            click.echo(f"{known:<14} {kind.TITLE}")
    else:
        _print_format(find_format(name)[0])


def _propose(file: str, output: str | None, *, as_json: bool) -> None:
    """Print or write a mapping, and on the other stream what it is unsure of."""
    from swftools.formats.tables.mapping_proposal import propose_mapping
    from swftools.output.whole_files import create_file

    if output:
        check_output(output, (".yaml", ".yml"), [file])
    proposal = propose_mapping(file)
    if as_json:
        print_json({"mapping": proposal.text, "unsure": proposal.unsure})
        return
    if output:
        with create_file(output) as written:
            written.write(f"{proposal.text.rstrip()}\n".encode())
        click.echo(f"mapping: {shown(output)}")
    for line in proposal.text.splitlines() if not output else ():
        click.echo(shown(line))
    for each in proposal.unsure:
        click.echo(shown(f"unsure of {each}"), err=True)


def _facts(kind: type[LogFormat]) -> dict[str, str]:
    """Return what a format is, and how to get such a log."""
    return {"format": kind.NAME, "title": kind.TITLE, "command": kind.COMMAND}


def _print_format(kind: type[LogFormat]) -> None:
    """Print a format, its options and how to get such a log."""
    click.echo(f"{kind.NAME}: {kind.TITLE}\n\nget it by\n  {kind.COMMAND}")
    usual = kind().to_mapping()
    if usual:
        click.echo("\noptions")
    for option, domain in kind.domains().items():
        click.echo(f"  {option}={json.dumps(usual[option])}")
        click.echo(click.wrap_text(domain.words, 76, initial_indent="      ", subsequent_indent="      "))
    for option in sorted(set(usual) - set(kind.domains())):
        click.echo(f"  {option}={json.dumps(usual[option])}")
