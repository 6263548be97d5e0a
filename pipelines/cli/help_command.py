# SPDX-License-Identifier: BSD-3-Clause
"""The command that shows the help of the others: help."""

from __future__ import annotations

import click


@click.command(name="help", short_help="Show the help of a command.")
@click.argument("words", nargs=-1, metavar="[COMMAND]")
@click.pass_context
def show_help(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Show the commands, or the options of one: the same as COMMAND --help.

    \b
    Example: swftools help simulate
    """
    group = ctx.parent
    assert group is not None  # noqa: S101 (it is a command of a group)
    if not words:
        click.echo(group.get_help())
        return
    name, command, _ = group.command.resolve_command(group, list(words))  # type: ignore[attr-defined]
    with click.Context(command, info_name=name, parent=group) as own:
        click.echo(command.get_help(own))
