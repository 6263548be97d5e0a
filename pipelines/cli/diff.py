# SPDX-License-Identifier: BSD-3-Clause
"""The command that tells two versions of a data set apart: diff."""

from __future__ import annotations

import click

from pipelines.cli.completion import complete_data_set, complete_version
from pipelines.cli.data_sets import open_root
from pipelines.cli.options import data_root
from pipelines.cli.output import print_json
from pipelines.names import LATEST
from swftools.output.shown_text import shown


@click.command(short_help="Show what changed between two versions.")
@click.argument("data_set", shell_complete=complete_data_set)
@click.argument("a", required=False, shell_complete=complete_version)
@click.argument("b", default=LATEST, shell_complete=complete_version)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON; see docs/data_sets.md.")
@data_root
def diff(data_set: str, a: str | None, b: str, as_json: bool, data_root: str) -> None:
    """Show what changed from version A of DATA_SET to version B: settings, results, tables, files.

    By default A is the version before the latest, and B the latest. Both may be tags, or the beginnings of
    names. Results over several seeds are shown as mean ± standard deviation.

    \b
    Example: swftools diff KTH-SP2-1996-2.1-cln-policies paper-2026
    """
    from pipelines.store.comparison import compare_versions
    from pipelines.store.difference_text import difference_lines

    root = open_root(data_root, data_set)
    found = compare_versions(root, data_set, a or root.previous(data_set), b)
    if as_json:
        print_json(found)
    else:
        for line in difference_lines(found):
            click.echo(shown(line))
