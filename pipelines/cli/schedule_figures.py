# SPDX-License-Identifier: BSD-3-Clause
"""The chief measures of a simulated schedule as ``swftools simulate`` prints them, with those of the log behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.output import figure_line
from swftools.output.amounts import amount
from swftools.output.shown_text import WIDTH

if TYPE_CHECKING:
    import pandas as pd

    from swftools.simulator.metrics.beside_log import BesideLog
    from swftools.simulator.schedule import Schedule


def logged_mapping(beside: BesideLog | None) -> dict[str, Any]:
    """Return what the log itself has of the simulated jobs, for programs; nothing where it does not tell it."""
    if beside is None:
        return {}
    from swftools.simulator.metrics.measures import measure

    rows = measure(beside.logged, where=beside.is_shared).dropna(subset=["value"])
    told = rows[["measure", "statistic", "value", "unit"]].to_dict("records")
    jobs = int(beside.is_shared.sum())
    return {"logged": {"policy": "logged", "jobs": jobs, "differs": beside.sentence or None, "measures": told}}


def print_figures(schedule: Schedule, beside: BesideLog | None, *, synthetic: bool) -> None:
    """Print the chief measures of a schedule with their units; those of what is made up if they are asked for.

    Behind them stand those of the log itself, of the same jobs, and what differs.
    """
    from swftools.simulator.measures_table import SUMMARY_OF_NODES, SUMMARY_OF_OUTAGES
    from swftools.simulator.metrics.measures import SYNTHETIC, USUAL, measure

    found = _by_measure(measure(schedule))
    logged = {} if beside is None else _by_measure(measure(beside.logged, where=beside.is_shared))
    for name, statistic in (*USUAL, *SUMMARY_OF_NODES, *SUMMARY_OF_OUTAGES):
        if (name, statistic) in found and (synthetic or name not in SYNTHETIC):
            value, unit = found[name, statistic]
            title = name if statistic == "value" else f"{name}_{statistic}"
            title = f"synthetic {title}" if name in SYNTHETIC else title
            is_logged = (name, statistic) in logged and name != "wasted_load"  # a log does not tell of runs in vain
            behind = f"   logged {amount(logged[name, statistic][0], unit)}" if is_logged else ""
            click.echo(figure_line(title, value, unit) + behind)
    if beside is not None and beside.sentence:
        click.echo(click.wrap_text(beside.sentence, WIDTH, initial_indent="  ", subsequent_indent="    "))


def _by_measure(rows: pd.DataFrame) -> dict[tuple[str, str], tuple[float, str]]:
    """Return values and units by measure and statistic."""
    rows = rows.dropna(subset=["value"])
    keys = zip(rows["measure"], rows["statistic"], strict=True)
    return dict(zip(keys, zip(rows["value"].tolist(), rows["unit"].tolist(), strict=True), strict=True))
