# SPDX-License-Identifier: BSD-3-Clause
"""The command that tells why a job went first: explain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.durations import Duration
from pipelines.cli.options import reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_picture, draws
from pipelines.cli.schedules import begin_simulation, policy_entry, print_assumptions, seed_option, simulates
from swftools.parameters.run_option_table import RUN_OPTIONS

if TYPE_CHECKING:
    import pandas as pd

    from swftools.simulator.schedule import Schedule
    from swftools.simulator.search.explanation import Explanation


@click.command(short_help="Explain why a search put a job first.")
@takes_a_log
@reads_a_log
@click.option(
    "--policy", default="search", show_default=True, help="A policy that searches: search:nodes=1000, genetic ..."
)
@click.option("--time", "at", type=Duration(), help="The last decision by this time since the log's start: 36000, 10h.")
@click.option("--job", type=int, metavar="NUMBER", help="The decision at which that job started.")
@draws("the decision")
@simulates
@seed_option
@says_its_progress
def explain(
    log: str,
    cleaned: bool,
    rules: str,
    policy: str,
    at: float | None,
    job: int | None,
    picture: str | None,
    **options: Any,
) -> None:
    """Replay a log under a search, and explain why a job went first at one decision (by default the last).

    \b
    Example: swftools explain KTH-SP2-1996-2.1-cln.swf.gz --job 1234 \\
                 --policy "search:objective=lexical(T_w -> avgX)"
    """
    if at is not None and job is not None:
        raise click.UsageError("give --time or --job, not both")
    if picture:
        check_picture(picture, [log])
    from pipelines.cli.progress import simulation_shown
    from swftools.simulator.registry import find_policy
    from swftools.simulator.search.decision import explain_decision
    from swftools.simulator.search.notes import recorded_search
    from swftools.simulator.search.search_parameters import Searching
    from swftools.simulator.simulation import Simulation

    entry = policy_entry(policy)
    if not issubclass(find_policy(entry["policy"]).parameters, Searching):
        raise click.UsageError(f"--policy: {entry['policy']} is not a search; use search or genetic")
    _, simulation = begin_simulation(log, cleaned, rules, {**entry, "explain": True}, **options)
    with simulation_shown() as progress:
        simulation.run(until=at, progress=progress)
        if job is not None:
            schedule = simulation.schedule()
            at = _start_of(schedule, job)
            if not _keeps(schedule.notes, job):
                again = {name: value for name, value in options.items() if name in RUN_OPTIONS}
                simulation = Simulation(simulation.trace, recorded_search(schedule), simulation.processors, **again)
                simulation.run(until=at, progress=progress)
    if job is None:
        found = explain_decision(simulation, at)
    else:
        orders = simulation.notes["orders"]  # whoever waits at a decision, and at none behind it, started there
        found = explain_decision(simulation, decision=orders["decision"][orders["job_number"] == job].max().item())
    click.echo(str(found))
    print_assumptions(simulation.assumptions, options["load"], err=True)
    if picture:
        _draw(found, picture)


def _start_of(schedule: Schedule, job: int) -> float:
    """Return when a job started.

    Raises
    ------
    UsageError
        There is no such job, it was not simulated, or there are several.
    """
    rows = schedule.jobs[schedule.jobs["job_number"] == job]
    if len(rows) > 1:
        times = ", ".join(f"{time:.10g}" for time in rows["start_time"])
        raise click.UsageError(f"--job: {job} occurs {len(rows)} times in the log, started at {times}: give --time")
    if rows.empty:
        left_out = schedule.excluded[schedule.excluded["job_number"] == job]
        why = f"was left out: {left_out['reason'].iloc[0]}" if len(left_out) else "is not in the log"
        raise click.UsageError(f"--job: {job} {why}; give the number of a job that started")
    return float(rows["start_time"].iloc[0])


def _keeps(notes: Mapping[str, pd.DataFrame], job: int) -> bool:
    """Whether notes have an order with a job: of a long run only the newest are kept."""
    return bool((notes["orders"]["job_number"] == job).any())


def _draw(found: Explanation, picture: str) -> None:
    """Write the picture of an explanation."""
    from pathlib import Path

    from swftools.output.whole_files import create_file

    figure = found.draw()
    with create_file(picture) as file:
        figure.savefig(file, format=Path(picture.lower()).suffix[1:])
    click.echo(f"{picture}: drawn", err=True)
