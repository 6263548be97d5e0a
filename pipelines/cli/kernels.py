"""The command of the console script for compiled kernels: warm-up."""

from __future__ import annotations

import click

from pipelines.cli.options import says_its_progress


@click.command(short_help="Compile all kernels ahead of their use.", name="warm-up")
@says_its_progress
def warm_up_kernels() -> None:
    """Compile every kernel that is not in the cache, so that no later command waits for it.

    It takes about a minute once, after an installation or a change.
    """
    from pipelines.cli.progress import warm_up_shown
    from swftools.kernel import warm_up

    with warm_up_shown() as progress:
        count = warm_up(progress)
    click.echo(f"kernels compiled: {count}" if count else "every kernel is in the cache already")
