"""Commands for the installation itself: warm-up."""

from __future__ import annotations

import logging

import click

from pipelines.cli.options import says_its_progress

progress = logging.getLogger("pipelines")


@click.command(name="warm-up")
@says_its_progress
def warm_up() -> None:
    """Compile all that is compiled at its first use, so that no later command waits for it.

    \b
    Example: swftools warm-up
    """
    from swftools.kernel import warm_up as compile_all

    compiled = compile_all(_say)
    click.echo(f"{compiled:,} functions compiled" if compiled else "all is compiled already")


def _say(done: int, steps: int, name: str) -> None:
    """Say which step begins."""
    if name:
        progress.info("%d of %d: %s", done + 1, steps, name)
