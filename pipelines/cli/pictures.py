# SPDX-License-Identifier: BSD-3-Clause
"""Commands for people to look at: report, plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.candidates_here import parts_with_candidates
from pipelines.cli.completion import (
    complete_cited,
    complete_log,
    complete_picture,
    complete_policy,
    complete_version,
)
from pipelines.cli.data_sets import open_root
from pipelines.cli.on_nodes import check_has_policy, load_on, logged_on, schedules_on
from pipelines.cli.options import (
    data_root,
    load,
    reads_a_log,
    says_its_progress,
    takes_a_log,
)
from pipelines.cli.output import check_folder_of_tables, check_output, check_picture
from pipelines.cli.schedules import policy_entry, where_it_runs
from pipelines.names import LATEST, MANIFEST
from swftools.output.shown_text import WIDTH, shown

LOGGED = "logged"
"""What the log itself tells, in the place of a policy."""

if TYPE_CHECKING:
    from pipelines.reports import Version
    from swftools.simulator.schedule import Schedule
    from swftools.trace import Trace


@click.command(short_help="Show a log or a published version as one HTML file.")
@click.argument("name", required=False, shell_complete=complete_cited)
@click.argument("version", required=False, shell_complete=complete_version)
@click.option("--log", shell_complete=complete_log, help="A log, also if a data set has its name.")
@reads_a_log
@click.option(
    "--policy",
    metavar="NAME",
    shell_complete=complete_policy,
    help="Show the schedule that this policy makes of the log.",
)
@where_it_runs
@click.option("--compare", metavar="OTHER", help="Show another version beside it: VERSION, or DATA_SET/VERSION.")
@click.option("-o", "--output", metavar="FILE", help="Default: NAME.html in the current folder.")
@click.option("--tables", metavar="FOLDER", help="On your centre: also write every table into this folder, as CSV.")
@data_root
@says_its_progress
def report(  # noqa: PLR0913, PLR0917 (an argument an option)
    name: str | None,
    version: str | None,
    log: str | None,
    cleaned: bool,
    rules: str,
    policy: str | None,
    compare: str | None,
    output: str | None,
    tables: str | None,
    data_root: str,
    **options: Any,
) -> None:
    """Write one HTML file about a published version or a log: figures, tables, pictures, how it was made.

    NAME is a data set, or the path of a version, such as data/NAME/VERSION: a trace, a comparison, an evaluation of
    waits, a history or a reproduction. Otherwise it is a log: a path, a card, a model, an https address; with --policy
    the report is on the schedule of that policy, with --machine alone on your centre as the log has it: who waits, when
    and for what; and what each --change would bring, as compare says it. The file needs no network and no scripts, and
    can be printed.

    \b
    Examples: swftools report KTH-SP2-1996-2.1-cln --output kth.html
              swftools report my.swf
              swftools report my.swf --policy easy --machine site.yaml
              swftools report sacct.txt --machine site.yaml
              swftools report sacct.txt --machine site.yaml \\
                  --change nodes.gpu.count+=8 --change predictor=exact
    """
    from pipelines.reports import report_page

    if (name is None) == (log is None):
        raise click.UsageError("name a data set or a log" if name is None else "give NAME or --log, not both")
    if log is not None or not _is_published(str(name), data_root, has_version=version is not None):
        if version or compare:
            raise click.UsageError(f"{log or name} is a log, which has no versions; leave out VERSION and --compare")
        if options["machine"] is None:
            check_has_policy(policy, options)
        if tables and (policy or options["machine"] is None):
            raise click.UsageError("--tables are those of the report on your centre; give --machine, and no --policy")
        _report_log(str(log or name), cleaned, rules, output, policy, {"tables": tables, **options})
        return
    if tables:
        raise click.UsageError(f"{name} is a data set, whose tables are published; leave out --tables, or name a log")
    if policy:
        raise click.UsageError(f"{name} is a data set, whose schedules are made; leave out --policy, or name a log")
    check_has_policy(policy, options)
    name, version = str(name), version or LATEST
    found = _version(name, version, data_root)
    click.echo(f"data set {shown(found.data_set)}, version {shown(found.version)}")
    other = None
    if compare:
        data_set, _, rest = compare.rpartition("/")
        is_path = Path(compare, MANIFEST).is_file()
        other = _version(compare if is_path else data_set or found.data_set, rest, data_root)
    path = output or f"{found.data_set}.html"
    check_output(path, (".html", ".htm"))
    _write(path, report_page(found, other))


def _report_log(
    log: str, cleaned: bool, rules: str, output: str | None, policy: str | None, options: dict[str, Any]
) -> None:
    """Write a report on a log that need not be published, or on the schedule that a policy makes of it."""
    from pipelines.reports import check_libraries, page_of_centre, page_of_log, page_of_schedule

    check_libraries()
    tables = options.pop("tables")
    if output:
        check_output(output, (".html", ".htm"), [log])
    if tables:
        check_folder_of_tables(tables)
    if policy is None and options["machine"] is not None:
        machine, changes = options.pop("machine"), options.pop("changes")
        check_has_policy(None, {"machine": None, "changes": None, **options})
        loaded, logged = logged_on(log, cleaned, rules, machine, None)
        path = output or f"{loaded.log.name}.html"
        check_output(path, (".html", ".htm"), [log])
        more = parts_with_candidates(log, cleaned, rules, machine, changes, **options) if changes else []
        _write(path, page_of_centre(loaded, logged, Path(tables) if tables else None, more))
        if tables:
            click.echo(f"tables: {shown(tables)}")
        return
    if policy is None:
        loaded = load(log, cleaned, rules)
        path = output or f"{loaded.log.name}.html"
        check_output(path, (".html", ".htm"), [log])
        _write(path, page_of_log(loaded))
        return
    from pipelines.tasks.simulate import label_of

    entry = policy_entry(policy)
    loaded, nodes = load_on(log, cleaned, rules, options.pop("machine"), options.pop("changes"))
    path = output or f"{loaded.log.name}.html"
    check_output(path, (".html", ".htm"), [log])
    parameters = {name: value for name, value in entry.items() if name != "policy"}
    (schedule,) = schedules_on(loaded, nodes, [(entry["policy"], parameters)], **options)
    _write(path, page_of_schedule(loaded, schedule, label_of(entry)))


def _write(path: str, page: str) -> None:
    """Write a page, and say where it is."""
    from swftools.output.whole_files import create_file

    with create_file(path) as file:
        file.write(page.encode())
    click.echo(f"report: {shown(path)} ({len(page.encode()) / 1e3:,.0f} kB)")


def _is_published(name: str, location: str, *, has_version: bool) -> bool:
    """Return whether a word means a published version, and not a log: a data set's name goes first, a path is a log."""
    from pipelines.logs.find import find_log
    from pipelines.store.data_root import DataRoot
    from swftools.formats.fetch import is_address

    folder = Path(name)
    if "/" in name and any((folder / each).is_file() for each in (MANIFEST, LATEST)):
        return True
    if is_address(name) or "/" in name:
        return False
    if has_version or name in DataRoot.open(location).data_sets():
        return True
    # What is neither is told as a data set that is not there.
    return name != "-" and find_log(name).problem is not None


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


def _only_lists(ctx: click.Context, _: click.Parameter, is_given: bool) -> bool:
    """Let a command do without a log where it only lists what there is."""
    ctx.meta["swftools.lists"] = is_given
    return is_given


@click.command(short_help="Draw a log, schedules or a comparison.")
@takes_a_log
@reads_a_log
@click.option(
    "--picture",
    metavar="NAME",
    shell_complete=complete_picture,
    help="Name, as arrivals:by=weekday; default: what one wants to see first.",
)
@click.option(
    "--policy",
    "policies",
    metavar="NAME,...",
    shell_complete=complete_policy,
    help="Draw the schedules that these policies make of the log.",
)
@where_it_runs
@click.option("--size", default="screen", type=click.Choice(["screen", "column"]), help="For a screen or a paper.")
@click.option("-o", "--output", metavar="FILE", help="File to write: .svg, .png or .pdf; default: NAME.svg.")
@click.option("--list", "lists", is_flag=True, is_eager=True, callback=_only_lists, help="List all pictures.")
@data_root
@says_its_progress
def plot(
    log: str | None,
    cleaned: bool,
    rules: str,
    picture: str | None,
    policies: str | None,
    size: str,
    output: str | None,
    lists: bool,
    data_root: str,
    **options: Any,
) -> None:
    """Draw a picture of LOG, of schedules of it, or of a published comparison, and say what it shows.

    Without --picture it is an overview of the log or of the policy's schedule, the waits under several policies, or the
    policies of a comparison. Waits and slowdowns under policies stand beside those of the log; every picture of
    schedules can be drawn of what the log itself tells, as --policy logged.

    \b
    Examples: swftools plot my.swf
              swftools plot my.swf --picture arrivals:by=weekday
              swftools plot my.swf --policy easy,fcfs --picture waits -o waits.png
              swftools plot my.swf --policy easy --machine m.yaml --picture gantt
              swftools plot sacct.txt --policy logged --picture queue
              swftools plot COMPARISON --picture differences
              swftools plot --list
    """
    from swftools import plots
    from swftools.output.whole_files import create_file
    from swftools.parameters.as_text import read_entries, read_entry

    if lists:
        _list_pictures(log, picture, policies, output)
        return
    comparison = None if log is None else _comparison(log, data_root)
    if comparison is not None and policies:
        raise click.UsageError(f"{log} is a comparison, which has its policies; leave out --policy")
    check_has_policy(policies, options)
    chosen = read_entries(policies) if policies else []
    usual = "policies" if comparison is not None else "waits" if len(chosen) > 1 else "overview"
    name, parameters = read_entry(picture or usual, _names_of(comparison, chosen))
    path = output or f"{name.rpartition(':')[2]}.svg"
    check_picture(path, [] if comparison is not None else [str(log)])
    if comparison is None:
        loaded, nodes = load_on(str(log), cleaned, rules, options.pop("machine"), options.pop("changes"))
        subject = _subject(loaded.trace, schedules_on(loaded, nodes, chosen, **options), name)
    else:
        subject = comparison.read("comparison")
    with plots.style(size):
        axes, told = plots.plot_and_tell(subject, name, size=size, **parameters)
        figure: Any = axes.figure
        with create_file(path) as file:
            figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=200, metadata=_no_date(path))
    click.echo(click.wrap_text(shown(told), WIDTH))
    click.echo(f"picture: {shown(path)}")


def _list_pictures(*others: str | None) -> None:
    """Print the pictures of a log, of schedules and of a comparison; nothing else may be asked for."""
    import pandas as pd

    from swftools import plots
    from swftools.plots.over_seeds import COLUMNS
    from swftools.simulator import Schedule
    from swftools.trace import Trace

    if any(each is not None for each in others):
        raise click.UsageError("--list lists all pictures and draws none; leave out the other words, or --list")
    of_tables = plots.list_pictures(pd.DataFrame)
    groups = {
        "of a log": plots.list_pictures(Trace),
        "of schedules, with --policy": plots.list_pictures(Schedule),
        "of a comparison, or of several schedules": {
            name: each for name, each in of_tables.items() if each.columns == COLUMNS
        },
    }
    for place, (of, known) in enumerate(groups.items()):
        click.echo(f"{chr(10) if place else ''}{of}:")
        for name, each in known.items():
            click.echo(f"  {name:<14} {each.title}")


def _names_of(comparison: Version | None, chosen: list[Any]) -> list[str]:
    """Return the names of the pictures that there are of what is drawn."""
    import pandas as pd

    from swftools import plots
    from swftools.simulator import Schedule
    from swftools.trace import Trace

    kind = pd.DataFrame if comparison is not None else Schedule if chosen else Trace
    return list(plots.list_pictures(kind))


def _subject(trace: Trace, made: list[Schedule], picture: str) -> Any:
    """Return what is drawn: the log, the schedule of a policy, or several; waits and slowdowns beside the log's."""
    from swftools.simulator.metrics.beside_log import beside_log

    if not made:
        return trace
    if picture == "waits" and trace.jobs["wait_time"].notna().any():
        return [trace, *(each for each in made if each.policy != LOGGED)]
    if picture == "slowdowns" and LOGGED not in {each.policy for each in made}:
        beside = beside_log(made[0], trace)
        return made if beside is None else [beside.shared, *made]
    return made if len(made) > 1 else made[0]


def _comparison(name: str, location: str) -> Version | None:
    """Return a published comparison by its name or path; None if there is none of that name."""
    folder = Path(name)
    if not any((each / LATEST).is_file() or (each / MANIFEST).is_file() for each in (folder, Path(location, name))):
        return None
    found = _version(name, LATEST, location)
    return found if found.has("comparison") else None


def _no_date(path: str) -> dict[str, None] | None:
    """Return what takes the date out of a file, so that equal pictures are equal files."""
    key = {".svg": "Date", ".pdf": "CreationDate"}.get(Path(path).suffix.lower())
    return {key: None} if key else None
