# SPDX-License-Identifier: BSD-3-Clause
"""The command that prices a schedule: price."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_mechanism, complete_policy
from pipelines.cli.options import reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_output, json_option, print_json
from pipelines.cli.schedules import begin_simulation, policy_entry, print_assumptions, seed_option, simulates, size_of
from swftools.named import with_number
from swftools.output.shown_text import WIDTH, shown

if TYPE_CHECKING:
    import pandas as pd

    from swftools.market.prices import Prices

MOST_USERS = 20
"""Users that are shown on the terminal: those who owe most."""

ROOM = 26
"""Letters of a user: the number, and the name that the log has."""


@click.command(short_help="Compute what users owe for a schedule.", name="price")
@takes_a_log
@reads_a_log
@click.option(
    "--policy", default="easy", show_default=True, shell_complete=complete_policy, help="Name or module:name."
)
@click.option(
    "--mechanism",
    default="fixed",
    show_default=True,
    shell_complete=complete_mechanism,
    help="How prices are set: fixed, queue, first-price, vcg:horizon=24h, or module:name of yours.",
)
@simulates
@seed_option
@click.option("--sample", type=click.IntRange(1), help="Price only this many jobs, drawn at random; default: all.")
@click.option("--processes", type=click.IntRange(1), default=1, show_default=True, help="Processes to use.")
@click.option(
    "--kept", metavar="FOLDER", help="Keep finished parts in this folder; the same command goes on from them."
)
@click.option("-o", "--output", help="Write the prices into this file: .csv or .parquet.")
@json_option
@says_its_progress
def price_log(  # noqa: PLR0913, PLR0917 (options by name)
    log: str,
    cleaned: bool,
    rules: str,
    policy: str,
    mechanism: str,
    sample: int | None,
    processes: int,
    kept: str | None,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Replay a log under a policy, price its jobs, and print what each user owes.

    \b
    Example: swftools price data/NAME/VERSION --policy genetic \\
                 --mechanism vcg --sample 100 --processes 2
    """
    if output:
        check_output(output, (".csv", ".parquet"), [log])
    from pipelines.cli.progress import simulation_shown
    from pipelines.tasks.simulate import label_of
    from swftools.market import find_mechanism, price

    find_mechanism(mechanism)
    entry = policy_entry(policy)
    nodes, simulation = begin_simulation(log, cleaned, rules, entry, **options)
    with simulation_shown() as progress:
        schedule = nodes.says(simulation.run(progress=progress).schedule())
        prices = price(
            schedule,
            mechanism,
            trace=simulation.trace,
            sample=sample,
            seed=options["seed"],
            processes=processes,
            kept=kept,
            progress=progress,
        )
    if output:
        _write(prices, output)
    if as_json:
        found = {"log": log, "policy": label_of(entry), "mechanism": prices.mechanism, "jobs": len(prices)}
        no_price = prices.jobs["no_price"].value_counts().to_dict()
        rest = {"bill": prices.bill().to_dict("records"), "written": [output] if output else []}
        print_json({**found, "no_price": no_price, **rest})
        return
    said = "standard input" if log == "-" else shown(log)
    click.echo(f"{said}, {label_of(entry)} on {size_of(schedule)}")
    print_assumptions(schedule.assumptions, options["load"])
    click.echo("\n".join(lines_of(prices, schedule.known_names.get("user", {}))))
    if output:
        click.echo(f"  {shown(output)}: written")


def lines_of(prices: Prices, names: Mapping[int, str] | None = None) -> list[str]:
    """Return prices in brief, and the bill of those who owe most, as a terminal shows them."""
    bill = prices.bill()
    lines = [click.wrap_text(line, WIDTH, subsequent_indent="  ") for line in repr(prices).splitlines()]
    lines.append(f"{'user':>{ROOM}}{'jobs':>9}{'price':>14}{'utility':>14}{'processor-hours':>17}")
    lines += [_line(row, names or {}) for _, row in bill.head(MOST_USERS).iterrows()]
    if len(bill) > MOST_USERS:
        lines.append(f"... and {len(bill) - MOST_USERS:,} who owe less")
    return lines


def _line(row: pd.Series[Any], names: Mapping[int, str]) -> str:
    """Return the line of a user, whose name is no longer than there is room."""
    user = "none" if row.isna()["user_id"] else shown(with_number(int(row["user_id"]), names))
    user = user if len(user) <= ROOM else f"{user[: ROOM - 3]}..."
    figures = "".join(f"{row[name]:>14,.6g}" for name in ("price", "utility_got"))
    return f"{user:>{ROOM}}{int(row['jobs']):>9,}{figures}{row['processor_hours']:>17,.6g}"


def _write(prices: Prices, output: str) -> None:
    """Write the table of prices."""
    from swftools.output.whole_files import create_file
    from swftools.tables import to_arrow, to_pandas, write_table

    table = to_arrow(prices.jobs, "prices")
    with create_file(output) as file:
        if Path(output.lower()).suffix == ".parquet":
            write_table(table, file, "prices")
        else:
            to_pandas(table, "prices").to_csv(file, index=False, lineterminator="\n")
