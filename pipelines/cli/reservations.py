# SPDX-License-Identifier: BSD-3-Clause
"""The command that simulates jobs with reservations: reservations."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_policy
from pipelines.cli.durations import Duration
from pipelines.cli.options import load as load_trace
from pipelines.cli.options import reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_output, figure_line, json_option, print_json
from pipelines.cli.schedules import policy_entry, print_assumptions, seed_option, simulates
from swftools.output.amounts import counted
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    import pandas as pd

UNITS = {
    "asked": "jobs",
    "accepted": "jobs",
    "others": "jobs",
    "needed_hours": "processor-hours",
    "paid_hours": "processor-hours",
    "others_mean_wait": "s",
    "others_mean_wait_plain": "s",
    "makespan": "s",
    "makespan_plain": "s",
}
"""Of measures that are no shares or ratios."""

REPLANS = click.Choice(["changes", "never"], case_sensitive=False)


@click.command(short_help="Simulate jobs that reserve by predicted waits.", name="reservations")
@takes_a_log
@reads_a_log
@click.option(
    "--policy", default="easy", show_default=True, shell_complete=complete_policy, help="Name or module:name."
)
@click.option("--share", type=float, default=0.1, show_default=True, help="Share of the jobs that reserve.")
@click.option(
    "--probability", type=float, default=0.95, show_default=True, help="Probability that they ask for, up to .99."
)
@click.option("--every", type=Duration(), default="6h", show_default=True, help="Reserved times are multiples of this.")
@click.option("--ahead", type=Duration(), help="Instead, reserve this long after each job's submission.")
@click.option("--step", type=Duration(), default="30", show_default=True, help="Time between two tried submissions.")
@click.option("--replans", type=REPLANS, default="changes", show_default=True, help="When to plan held jobs anew.")
@click.option(
    "--adapt", type=float, default=0.0, show_default=True, help="Ask for so much more after each miss, such as 0.01."
)
@click.option("--waits", default="binomial", show_default=True, help="Bound of waits, as in evaluate --methods.")
@click.option("--by", default="queue", show_default=True, help="Predict by group: queue, partition, user or all.")
@click.option(
    "--training", type=click.IntRange(0), default=1000, show_default=True, help="Waits to learn before the first plan."
)
@simulates
@seed_option
@click.option("-o", "--output", help="Write each reservation and its outcome into this file: .csv, .parquet.")
@json_option
@says_its_progress
def reservations(  # noqa: PLR0913, PLR0917 (options by name)
    log: str,
    cleaned: bool,
    rules: str,
    policy: str,
    waits: str,
    by: str,
    training: int,
    load: float | None,
    seed: int,
    output: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Replay a log in which a share of the jobs reserves by predicted waits (VARQ), and once more without.

    \b
    Example: swftools reservations KTH-SP2-1996-2.1-cln.swf.gz --share .5 \\
                 --probability .75 --output asked.csv
    """
    if output:
        check_output(output, (".csv", ".parquet"), [log])
    from pipelines.cli.progress import simulation_shown
    from swftools.qbets import WaitPredictor
    from swftools.reservations import simulate_reservations
    from swftools.reservations.varq_parameters import VarqParameters, check_told
    from swftools.selection import scale_to_load
    from swftools.simulator import simulate
    from swftools.simulator.run_options import check_options

    if any([chosen.pop("machine"), chosen.pop("changes")]):
        raise click.UsageError("reservations are not simulated on machines of nodes yet; give --processors")
    entry = policy_entry(policy)
    varq: dict[str, Any] = {name: chosen.pop(name) or 0.0 for name in VarqParameters.names()}
    VarqParameters.from_mapping(varq)
    check_options(**chosen)
    check_told(chosen["predictor"])
    predictor = WaitPredictor(waits, by=None if by == "all" else by, training=training)
    trace = load_trace(log, cleaned, rules).trace
    if load is not None:
        trace = scale_to_load(trace, load)
    name = entry.pop("policy")
    options = {**chosen, **entry}
    with simulation_shown() as progress:
        found = simulate_reservations(
            trace, name, waits=predictor, seed=seed, options=options, progress=progress, **varq
        )
        plain = simulate(trace, name, seed=seed, progress=progress, **options)
    measures = found.measures(plain)
    denied = found.reservations["why_denied"].dropna().value_counts().to_dict()
    if output:
        write_table_of(found.reservations, output, "reservations")
    if as_json:
        told = {each: None if isnan(value) else value for each, value in measures.items()}
        print_json({"log": log, "policy": policy, "measures": told, "denied": denied, "written": output})
        return
    said = "standard input" if log == "-" else shown(log)
    click.echo(
        f"{said}, {policy} on {counted(found.schedule.processors, 'processor')}: {counted(len(found.schedule), 'job')}"
    )
    print_assumptions(found.schedule.assumptions, load)
    for each, value in measures.items():
        click.echo(figure_line(each, value, UNITS.get(each, "1")))
    for why, count in denied.items():
        click.echo(f"  {'denied: ' + str(why):<36} {count:>16,} jobs")
    if output:
        click.echo(click.wrap_text(f"  {shown(output)}: written", WIDTH))


def write_table_of(table: pd.DataFrame, output: str, name: str = "") -> None:
    """Write a table as its suffix says; ``name`` is that of the column dictionary, where it is one of its tables."""
    from swftools.output.whole_files import create_file
    from swftools.tables import to_arrow, to_pandas, write_table

    is_parquet = Path(output.lower()).suffix == ".parquet"
    with create_file(output) as file:
        if name and is_parquet:
            write_table(to_arrow(table, name), file, name)
        elif is_parquet:
            table.to_parquet(file, index=False)
        else:
            told = to_pandas(to_arrow(table, name), name) if name else table
            told.to_csv(file, index=False, lineterminator="\n")
