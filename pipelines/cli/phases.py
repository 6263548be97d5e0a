# SPDX-License-Identifier: BSD-3-Clause
"""What ``simulate --phases`` prints: how measures differ if the cycles of a policy begin at other times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.text_tables import text_table
from swftools.output.amounts import duration

if TYPE_CHECKING:
    import pandas as pd

    from swftools.simulator.simulation import Simulation


def simulate_phases(
    entry: dict[str, Any], phases: int, begin: Callable[[dict[str, Any]], Simulation]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Simulate under several phases of a policy; return the bands of its measures, and what the last run assumed.

    Parameters
    ----------
    entry : dict
        The policy, as tasks have it.
    phases : int
        How many.
    begin : callable
        Takes a policy like that, and begins its simulation.
    """
    from pipelines.cli.progress import Bar
    from swftools.simulator.metrics.measures import USUAL, measure

    found, bar = [], Bar("phases", " runs")
    assumed: tuple[str, ...] = ()
    for done, each in enumerate(entries_of(entry, phases)):
        bar.show(done, phases)
        simulation = begin(each)
        assumed = simulation.assumptions
        rows = measure(simulation.run().schedule()).dropna(subset=["value"])
        is_usual = [key in USUAL for key in zip(rows["measure"], rows["statistic"], strict=True)]
        found.append(rows[is_usual][["measure", "statistic", "value", "unit"]])
    bar.close()
    return band_rows(found), assumed


def entries_of(entry: dict[str, Any], phases: int) -> Iterator[dict[str, Any]]:
    """Yield a policy, as tasks have it, with each of so many phases.

    Raises
    ------
    click.UsageError
        It has no phase, or one is given already.
    """
    from swftools.simulator.registry import read_policy

    policy, chosen = read_policy(entry["policy"], {name: value for name, value in entry.items() if name != "policy"})
    if "phase" not in policy.chosen(chosen).to_mapping():
        raise click.UsageError(f"--phases: policy {entry['policy']!r} has no phase; slurm has")
    if "phase" in entry:
        raise click.UsageError(f"--phases says which phases: leave out phase={entry['phase']:g}")
    for phase in range(phases):
        yield {**entry, "phase": phase / phases}


def band_rows(found: Iterable[pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the least, the median and the most of each measure over runs, each given by its rows of measures."""
    import pandas as pd

    rows = pd.concat(found, ignore_index=True)
    by = rows.groupby(["measure", "statistic", "unit"], sort=False)["value"]
    bands = by.agg(["median", "min", "max"]).reset_index().rename(columns={"min": "least", "max": "most"})
    return [{str(name): value for name, value in row.items()} for row in bands.to_dict("records")]


def band_lines(rows: list[dict[str, Any]], phases: int) -> list[str]:
    """Return bands as a table of text."""
    told: list[tuple[str, ...]] = [(f"over {phases} phases", "median", "least", "most")]
    for row in rows:
        title = row["measure"] if row["statistic"] == "value" else f"{row['measure']}_{row['statistic']}"
        told.append((title, *(_words(row[name], row["unit"]) for name in ("median", "least", "most"))))
    return text_table(told, "<>>>")


def _words(value: float, unit: str) -> str:
    if isnan(value):
        return "none"
    if unit == "s":
        return duration(value)
    figure = f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return figure if unit == "1" else f"{figure} {unit}"
