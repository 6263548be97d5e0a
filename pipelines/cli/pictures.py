# SPDX-License-Identifier: BSD-3-Clause
"""Commands for people to look at: report, plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completing import complete_data_set, complete_picture, complete_policy, complete_version
from pipelines.cli.data_sets import open_root
from pipelines.cli.options import data_root, load, reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_output, check_picture
from pipelines.names import LATEST, MANIFEST
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    from pipelines.reports import Version


@click.command(short_help="Show a published version as one HTML file.")
@click.argument("name", shell_complete=complete_data_set)
@click.argument("version", default=LATEST, shell_complete=complete_version)
@click.option("--compare", metavar="OTHER", help="Show another version beside it: VERSION, or DATA_SET/VERSION.")
@click.option("-o", "--output", metavar="FILE", help="Default: NAME.html in the current folder.")
@data_root
def report(name: str, version: str, compare: str | None, output: str | None, data_root: str) -> None:
    """Write one HTML file about a published version: figures, tables, pictures, how it was made.

    NAME is a data set, or the path of a version, such as data/NAME/VERSION: a trace, a comparison, an evaluation of
    waits, a history or a reproduction. The file needs no network and no scripts, and can be printed.

    \b
    Example: swftools report KTH-SP2-1996-2.1-cln --output kth.html
    """
    from pipelines.reports import report_page
    from swftools.output.whole_files import create_file

    found = _version(name, version, data_root)
    other = None
    if compare:
        data_set, _, rest = compare.rpartition("/")
        is_path = Path(compare, MANIFEST).is_file()
        other = _version(compare if is_path else data_set or found.data_set, rest, data_root)
    path = output or f"{found.data_set}.html"
    check_output(path, (".html", ".htm"))
    page = report_page(found, other)
    with create_file(path) as file:
        file.write(page.encode())
    click.echo(f"report: {shown(path)} ({len(page.encode()) / 1e3:,.0f} kB)")


def _version(name: str, version: str, location: str) -> Version:
    """Return a version by the name of its data set, or by the path of its folder."""
    from pipelines.reports import Version

    folder = Path(name).resolve()
    if "/" in name and (folder / MANIFEST).is_file():
        location, name, version = str(folder.parent.parent), folder.parent.name, folder.name
    elif "/" in name and (folder / LATEST).is_file():
        location, name = str(folder.parent), folder.name
    root = open_root(location, name)
    return Version(root, root.manifest(name, version))


@click.command(short_help="Draw a log, or a schedule.")
@takes_a_log
@reads_a_log
@click.option(
    "--picture",
    metavar="NAME",
    shell_complete=complete_picture,
    help="Name, as arrivals:by=weekday; without it, list all pictures.",
)
@click.option("--policy", shell_complete=complete_policy, help="Draw the schedule that this policy makes of the log.")
@click.option("--size", default="screen", type=click.Choice(["screen", "column"]), help="For a screen or a paper.")
@click.option("-o", "--output", metavar="FILE", help="File to write: .svg, .png or .pdf; default: NAME.svg.")
@says_its_progress
def plot(
    log: str, cleaned: bool, rules: str, picture: str | None, policy: str | None, size: str, output: str | None
) -> None:
    """Draw a picture of LOG, or of the schedule that a policy makes of it, and say what it shows.

    \b
    Examples: swftools plot my.swf --picture arrivals:by=weekday
              swftools plot my.swf --policy easy --picture gantt -o week.svg
    """
    from swftools import plots
    from swftools.output.whole_files import create_file
    from swftools.parameters.as_text import read_entry
    from swftools.simulator import Schedule, simulate
    from swftools.trace import Trace

    known = plots.list_pictures(Schedule if policy else Trace)
    if picture is None:
        for name, each in known.items():
            click.echo(f"{name:<16} {each.title}")
        return
    name, parameters = read_entry(picture, known)
    path = output or f"{name}.svg"
    check_picture(path, [log])
    loaded = load(log, cleaned, rules)
    subject: Any = loaded.trace
    if policy:
        policy_name, chosen = read_entry(policy)
        subject = simulate(loaded.trace, policy_name, **chosen)
    with plots.style(size):
        axes, told = plots.plot_and_tell(subject, name, size=size, **parameters)
        figure: Any = axes.figure
        with create_file(path) as file:
            figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=200, metadata=_no_date(path))
    click.echo(click.wrap_text(shown(told), WIDTH))
    click.echo(f"picture: {shown(path)}")


def _no_date(path: str) -> dict[str, None] | None:
    """Return what takes the date out of a file, so that equal pictures are equal files."""
    key = {".svg": "Date", ".pdf": "CreationDate"}.get(Path(path).suffix.lower())
    return {key: None} if key else None
