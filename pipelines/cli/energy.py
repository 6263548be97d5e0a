# SPDX-License-Identifier: BSD-3-Clause
"""The command that measures the energy of schedules: energy."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from pipelines.cli.completion import complete_policy
from pipelines.cli.options import reads_a_log, says_its_progress, takes_a_log
from pipelines.cli.output import check_output, json_option, print_json
from pipelines.cli.schedules import begin_simulation, print_assumptions, seed_option, simulates, size_of
from swftools.output.shown_text import shown


@click.command(short_help="Compute energy, cost and carbon of schedules.", name="energy")
@takes_a_log
@reads_a_log
@click.option(
    "--policies",
    default="easy",
    show_default=True,
    shell_complete=complete_policy,
    help="Policies, as fcfs,easy:reservations=2.",
)
@click.option("--busy-power", type=float, help="Watts of a busy processor, for jobs without logged power.")
@click.option("--idle-power", type=float, default=0.0, show_default=True, help="Watts of an idle processor.")
@click.option("--static-power", type=float, default=0.0, show_default=True, help="Watts of all that is always on.")
@click.option("--off-after", type=float, help="On nodes: seconds without a job after which a node is switched off.")
@click.option("--off-power", type=float, default=0.0, show_default=True, help="Watts of a node that is off.")
@click.option("--boot-time", type=float, default=0.0, show_default=True, help="Seconds that a node takes to come on.")
@click.option("--boot-power", type=float, help="Watts of a node while it boots; default: as while it is idle.")
@click.option("--price", metavar="FILE", help="Prices over time: .csv or .parquet.")
@click.option("--intensity", metavar="FILE", help="Carbon intensities over time, gCO2/kWh: .csv or .parquet.")
@click.option("--time-zone", help="Zone of times without one in these files: UTC, Europe/Paris.")
@click.option(
    "--price-per",
    type=click.Choice(["kWh", "MWh"], case_sensitive=False),
    default="kWh",
    show_default=True,
    help="Unit of prices.",
)
@click.option(
    "--gaps",
    type=click.Choice(["refuse", "hold"], case_sensitive=False),
    default="refuse",
    show_default=True,
    help="Gaps in these files: refuse them, or hold the last value.",
)
@click.option("--origin", help="Moment of second 0, as 2022-01-01T00:00Z; default: the log's.")
@simulates
@seed_option
@click.option("-o", "--output", help="Write the table into this file: .csv.")
@json_option
@says_its_progress
def measure_log_energy(  # noqa: PLR0913, PLR0917 (options by name)
    log: str,
    cleaned: bool,
    rules: str,
    policies: str,
    busy_power: float | None,
    idle_power: float,
    static_power: float,
    off_after: float | None,
    off_power: float,
    boot_time: float,
    boot_power: float | None,
    price: str | None,
    intensity: str | None,
    time_zone: str | None,
    price_per: str,
    gaps: str,
    origin: str | None,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Replay a log under policies, and print energy, power over time, cost and carbon of each schedule.

    \b
    Example: swftools energy my.swf --policies fcfs,easy --busy-power 300 \\
                 --idle-power 100 --intensity carbon.parquet --time-zone UTC
    """
    if output:
        check_output(output, (".csv",), [log])
    import pandas as pd

    from pipelines.cli.progress import simulation_shown
    from pipelines.tasks.simulate import label_of
    from pipelines.tasks.simulation_parameters import PoliciesParameter
    from swftools.energy import EnergyParameters, measure_energy, powers_of, read_rates
    from swftools.output.whole_files import create_file

    parameters = EnergyParameters(
        busy_power=busy_power,
        idle_power=idle_power,
        static_power=static_power,
        off_after=off_after,
        off_power=off_power,
        boot_time=boot_time,
        boot_power=boot_power,
    )
    rates: dict[str, Any] = {
        name: read_rates(path, time_zone=time_zone, per=per, gaps=gaps)
        for name, path, per in (("price", price, price_per), ("intensity", intensity, "kWh"))
        if path
    }
    schedules, powers = {}, None
    for entry in json.loads(PoliciesParameter().normalize(policies)):
        nodes, simulation = begin_simulation(log, cleaned, rules, entry, **options)
        powers = powers_of(nodes.description) if nodes.description else None
        with simulation_shown() as progress:
            schedules[label_of(entry)] = nodes.says(simulation.run(progress=progress).schedule())
    some = next(iter(schedules.values()))
    begin = min(float(each.jobs["submit_time"].min()) for each in schedules.values())
    end = max(float(each.jobs["end_time"].max()) for each in schedules.values())
    window = (begin, end) if begin < end else None  # the same for all: who ends earlier idles until then
    tables = [
        measure_energy(schedule, parameters, powers=powers, origin=origin, label=name, window=window, **rates)
        for name, schedule in schedules.items()
    ]
    found = pd.DataFrame(pd.concat(tables, ignore_index=True))
    if output:
        with create_file(output) as file:
            file.write(found.to_csv(index=False).encode())
    if as_json:
        rows = found.drop(columns=["classed_by", "job_class", "parameter"]).to_dict("records")
        print_json({"log": log, "energy": rows, "written": [output] if output else []})
        return
    click.echo(f"{'standard input' if log == '-' else shown(log)} on {size_of(some)}")
    told = [text for text in some.assumptions if not text.startswith("machine: power:")]  # which counts here
    print_assumptions(told, options["load"])
    wide = found.pivot(index=["measure", "statistic", "unit"], columns="policy", values="value")
    order = list(dict.fromkeys(zip(found["measure"], found["statistic"], found["unit"], strict=True)))
    names = list(dict.fromkeys(found["policy"]))
    click.echo("".join([f"{'':<40}", *(f"{shown(name):>16}" for name in names)]))
    for measure, statistic, unit in order:
        values: list[float] = wide.loc[[(measure, statistic, unit)], names].to_numpy().ravel().tolist()
        cells = "".join(f"{'-':>16}" if math.isnan(value) else f"{value:>16,.6g}" for value in values)
        click.echo(f"{f'{measure} {statistic} ({unit})':<40}{cells}")
    if output:
        click.echo(f"{shown(output)}: written")
