# SPDX-License-Identifier: BSD-3-Clause
"""The command of the console script for compiled kernels: warm-up."""

from __future__ import annotations

import os

import click

from pipelines.cli.options import says_its_progress


@click.command(short_help="Compile all kernels ahead of their use.", name="warm-up")
@click.option(
    "--workers", type=click.IntRange(1), help="Kernels compiled at a time; default: the processors of this machine."
)
@says_its_progress
def warm_up_kernels(workers: int | None) -> None:
    """Compile every kernel that is not in the cache yet, so that no later command waits for it.

    You need not run this: each command compiles what it calls. It is for container images, and for many processes
    that start at once. It takes about a minute, once after an installation or a change.
    """
    from pipelines.cli.progress import warm_up_shown
    from swftools.kernel import warm_up

    with warm_up_shown() as progress:
        count = warm_up(progress, workers=workers or _processors())
    click.echo(f"kernels compiled: {count}" if count else "every kernel is in the cache already")


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
