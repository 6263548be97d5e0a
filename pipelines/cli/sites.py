# SPDX-License-Identifier: BSD-3-Clause
"""The command that simulates several sites and requests at them: sites."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import SEED, says_its_progress
from pipelines.cli.output import check_output, figure_line, json_option, print_json
from pipelines.cli.reservations import write_table_of
from swftools.output.amounts import counted
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    from swftools.reservations import SitesOutcome

UNITS = {
    "asked": "requests",
    "accepted": "requests",
    "copies": "jobs",
    "cancelled": "jobs",
    "mean_wait": "s",
}
"""Of measures that are no shares or ratios."""


@click.command(short_help="Simulate requests at several sites.", name="sites")
@click.argument("file")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the simulations.")
@click.option("-o", "--output", help="Write what came of each request: .csv or .parquet.")
@click.option("--copies", help="Write each job that was submitted, where and when: .csv or .parquet.")
@json_option
@says_its_progress
def sites(file: str, seed: int, output: str | None, copies: str | None, as_json: bool) -> None:
    """Simulate several sites in lockstep, and requests that are made at them; FILE (YAML) says which.

    All parts of a request shall run at one time, by CO-VARQ (mode: reserve); or each is submitted everywhere, and
    cancelled where it is not needed (mode: race).

    \b
    Example: swftools sites two.yaml --output asked.csv --copies copies.csv
    """
    for path in (output, copies):
        if path:
            check_output(path, (".csv", ".parquet"), [file])
    from pipelines.cli.progress import simulation_shown
    from pipelines.cli.sites_file import read_sites, requests_of, sites_of
    from pipelines.logs.load import load_log
    from swftools.reservations import simulate_sites

    settings = read_sites(file)
    every = sites_of(settings, lambda log, processors: load_log(log, processors=processors or None).trace)
    requests = requests_of(settings, every)
    with simulation_shown() as progress:
        found = simulate_sites(
            every,
            requests,
            seed=seed,
            progress=progress,
            mode=settings.mode,
            probability=settings.probability,
            shared=settings.shared,
            step=settings.step,
            clock=settings.clock,
        )
    written = [path for path in (output, copies) if path]
    for path, table in ((output, found.requests), (copies, found.copies)):
        if path:
            write_table_of(table, path)
    measures = found.measures()
    denied = found.requests["why_denied"].dropna().value_counts().to_dict()
    if as_json:
        told = {name: None if isnan(value) else value for name, value in measures.items()}
        print_json(
            {
                "file": file,
                "mode": settings.mode,
                "measures": told,
                "denied": denied,
                "sites": _of_sites(found),
                "written": written,
            }
        )
        return
    click.echo("\n".join(_lines(found, measures, denied)))
    for path in written:
        click.echo(click.wrap_text(f"  {shown(path)}: written", WIDTH))


def _of_sites(found: SitesOutcome) -> dict[str, dict[str, Any]]:
    """Return of each site its jobs, the jobs of requests that were submitted there, and those that were kept."""
    told = {}
    for name, schedule in found.schedules.items():
        mine = found.copies[found.copies["site"] == name]
        kept = int(mine["is_kept"].sum())
        told[name] = {"processors": schedule.processors, "jobs": len(schedule), "copies": len(mine), "kept": kept}
    return told


def _lines(found: SitesOutcome, measures: dict[str, float], denied: dict[Any, int]) -> Iterator[str]:
    """Yield what is printed."""
    for name, site in _of_sites(found).items():
        yield from click.wrap_text(
            f"{shown(name)}: {counted(site['processors'], 'processor')}, {counted(site['jobs'], 'job')}; "
            f"{site['copies']:,} of requests "
            f"were submitted, {site['kept']:,} of them kept",
            WIDTH,
            subsequent_indent="  ",
        ).splitlines()
    for name, value in measures.items():
        yield figure_line(name, value, UNITS.get(name, "1"))
    for why, count in denied.items():
        yield f"  {'denied: ' + str(why):<36} {count:>16,} requests"
