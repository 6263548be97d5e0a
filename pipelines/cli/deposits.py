# SPDX-License-Identifier: BSD-3-Clause
"""Commands for what leaves the house: cite, export."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from pipelines.cli.completion import complete_cited, complete_data_set
from pipelines.cli.data_sets import open_root
from pipelines.cli.options import data_root
from pipelines.cli.output import json_option, print_json
from pipelines.names import LATEST
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    from pipelines.papers.cited import Cited


@click.command(short_help="Print what to cite, and the terms.")
@click.argument("name", shell_complete=complete_cited)
@click.option("--version", help="Version of the data set NAME: its name, its beginning, a tag or latest.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["bibtex", "text", "json"], case_sensitive=False),
    default="bibtex",
    show_default=True,
    help="Form of the answer.",
)
@data_root
def cite(name: str, version: str | None, form: str, data_root: str) -> None:
    """Print what to cite for NAME, whom to thank, and the terms of use.

    NAME is looked up among the cards of logs, then the papers of reproduce, then the data sets; with --version it
    is a data set.

    \b
    Example: swftools cite KTH-SP2-1996-2.1-cln > log.bib
    """
    from pipelines.logs.find import catalog_in_use
    from pipelines.papers.cited import find_cited
    from pipelines.store.bibtex import bibtex_text
    from pipelines.store.published import PublishedData

    # A log is cited where nothing is published yet; a version is not.
    root = PublishedData.open(data_root) if version is None else open_root(data_root, name)
    found = find_cited(name, catalog_in_use(), root, version)
    if form == "json":
        print_json(found.to_mapping())
    elif form == "text":
        click.echo("\n".join(_lines(found)))
    else:
        click.echo(bibtex_text([*found.references, *found.papers.values()], found.notes), nl=False)


def _lines(found: Cited) -> list[str]:
    """Return in words what to cite."""
    version = f", version {found.version}" if found.version else ""
    lines = [f"{found.kind} {found.name}{version}", "to cite"]
    lines += [line for reference in found.references for line in _folded(reference.text)]
    if found.papers:
        lines.append("papers whose tables are made of it (swftools reproduce)")
        lines += [line for name, reference in found.papers.items() for line in _folded(f"{name}: {reference.text}")]
    return [*lines, "terms and acknowledgements", *(line for note in found.notes for line in _folded(note))]


def _folded(text: str) -> list[str]:
    """Return a text in lines of the terminal's width."""
    return textwrap.wrap(
        shown(text),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


@click.command(short_help="Write a version into a folder, ready to deposit.")
@click.argument("data_set", shell_complete=complete_data_set)
@click.option("--version", default=LATEST, show_default=True, help="A version, its beginning, or a tag.")
@click.option(
    "-o", "--output", "--to", "folder", required=True, type=click.Path(), help="Folder to make (new or empty)."
)
@json_option
@data_root
def export(data_set: str, version: str, folder: str, as_json: bool, data_root: str) -> None:
    """Write a version of DATA_SET into a folder, with the metadata that data repositories read.

    Adds croissant.json, ro-crate-metadata.json, .zenodo.json, CITATION.bib and checksums.sha256 to its files.
    The folder appears whole or not at all.

    \b
    Example: swftools export KTH-SP2-1996-2.1-cln --to deposit
    """
    from pipelines.store.deposit import export_version

    made = export_version(open_root(data_root, data_set), data_set, folder, version)
    size = sum(entry["bytes"] for entry in made.files.values())
    if as_json:
        files = {name: dict(entry) for name, entry in made.files.items()}
        print_json({"data_set": made.data_set, "version": made.version, "path": made.path, "files": files})
        return
    click.echo(f"{shown(made.data_set)} {made.version}: {len(made.files)} files, {size:,} bytes in")
    click.echo(f"  {shown(made.path)}")
    click.echo("check them there by: sha256sum --check checksums.sha256")
