# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: what is allocated and a fragment by what has been asked for, and FGD's lead by how ties are broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pipelines.papers.looks import panels
from pipelines.papers.paper import Measurements
from pipelines.papers.weng2023.inflations import ALLOCATED, PERCENTS, RATIO, RULES, TIES, inflation_run, values_of
from pipelines.papers.weng2023.tables import mean_of
from pipelines.papers.weng2023.ties import lead_of
from pipelines.papers.weng2023.workloads import workload_of
from swftools.plots.series import look_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_demand(measurements: pd.DataFrame) -> Figure:
    """Draw both measures of the first workload over what has been asked for, a curve a rule."""
    found = Measurements(measurements)
    figure, (axes,) = panels((9.0, 4.0), 1, 2, sharex=True)
    for log in found.logs[:1]:
        quick = not any(
            values_of(found, log, inflation_run(False), text, f"{ALLOCATED} at 100 %") for text in RULES.values()
        )
        for number, (rule, text) in enumerate(RULES.items()):
            for place, measure in zip(axes, (ALLOCATED, RATIO), strict=True):
                means = [
                    mean_of(values_of(found, log, inflation_run(quick), text, f"{measure} at {percent} %"))[0]
                    for percent in PERCENTS
                ]
                look: dict[str, Any] = look_at(number)
                place.plot(PERCENTS, means, label=rule, markersize=4, **look)
        axes[0].set(title=workload_of(log), ylim=(60, 100), ylabel="GPUs allocated, %")
    axes[1].set(ylabel="fragment, % of the free GPUs")
    for place in axes:
        place.set(xlabel="GPUs asked for, % of all")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_lead(measurements: pd.DataFrame) -> Figure:
    """Draw by workload how much more FGD allocates than best fit, with its interval, a colour a way."""
    found = Measurements(measurements)
    figure, ((place,),) = panels((9.0, 4.6), 1, 1)
    run = inflation_run(False, "ties")
    quick = not any(found.subjects(log, run) for log in found.logs)
    at = np.arange(len(found.logs))
    for number, ties in enumerate(TIES):
        leads = np.array([lead_of(found, log, quick, ties) for log in found.logs]).reshape(-1, 3)
        look: dict[str, Any] = {**look_at(number), "linestyle": "none"}
        errors = [leads[:, 0] - leads[:, 1], leads[:, 2] - leads[:, 0]]
        place.errorbar(at + 0.14 * (number - 2), leads[:, 0], yerr=errors, label=ties, markersize=4, **look)
    place.axhline(0.0, color="black", linewidth=0.8)
    place.set_xticks(at, [workload_of(log) for log in found.logs], rotation=45, ha="right")
    place.set(ylabel="FGD less best fit, % of all GPUs")
    figure.legend(*place.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
