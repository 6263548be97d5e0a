"""The command that lists the formats of logs: formats."""

from __future__ import annotations

import json

import click


@click.command(short_help="List the formats that are read.")
@click.argument("name", required=False)
def formats(name: str | None) -> None:
    """List the formats of logs that are read; of one also its options, and the command by which a site gets such a log.

    \b
    Example: swftools formats loadleveler
    """
    import swftools.formats.detect  # noqa: F401 (registers them)
    from swftools.formats.registry import find_format, list_formats

    if name is None:
        for known, kind in list_formats().items():
            click.echo(f"{known:<14} {kind.TITLE}")
        return
    kind, _ = find_format(name)
    click.echo(f"{kind.NAME}: {kind.TITLE}\n\nget it by\n  {kind.COMMAND}")
    usual = kind().to_mapping()
    if usual:
        click.echo("\noptions")
    for option, domain in kind.domains().items():
        click.echo(f"  {option}={json.dumps(usual[option])}")
        click.echo(click.wrap_text(domain.words, 76, initial_indent="      ", subsequent_indent="      "))
    for option in sorted(set(usual) - set(kind.domains())):
        click.echo(f"  {option}={json.dumps(usual[option])}")
