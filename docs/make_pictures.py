# SPDX-License-Identifier: BSD-3-Clause
"""Draw the pictures of the documentation, each from the log shipped with the package: ``make pictures``.

Equal code and library versions give equal files. Of the other files in ``docs/pictures`` the page that shows them says
how they are made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import swftools
from pipelines.logs.find import SHIPPED_LOG, find_log
from swftools.checkpoints.inference import infer_checkpoints
from swftools.checkpoints.synthetic_survey import generate_checkpoint_survey
from swftools.models import lublin_feitelson
from swftools.models.arrivals import ArrivalParameters, generate_arrivals, start_of_day
from swftools.models.moldability import generate_speedup
from swftools.models.requested_times import generate_requested_times
from swftools.models.speedup import run_time
from swftools.plots import plot, style
from swftools.plots.series import legend_above, look_at
from swftools.plots.style import SIZES, count_axis, duration_axis
from swftools.qbets import evaluate, replay
from swftools.simulator import Simulation, explain_decision, simulate
from swftools.utility.functions import UtilityFunctions

PICTURES = Path(__file__).parent / "pictures"
LOG = find_log(SHIPPED_LOG)


def shipped() -> swftools.Trace:
    """Return the shipped log, cleaned, with its machine."""
    found = LOG
    cleaned, _ = swftools.clean(swftools.read_swf(found.path))  # type: ignore[arg-type]
    machine = found.card.machine.processors if found.card else None
    return swftools.Trace(cleaned.header, cleaned.jobs, cleaned.quarantine, machine)


def share_below(axes: Axes, values: pd.Series, label: str, **look: Any) -> None:  # type: ignore[type-arg]
    """Draw the share of values below each value."""
    shares = np.linspace(0, 1, 201)
    axes.step(np.quantile(values.dropna().to_numpy(dtype=float), shares), shares, where="post", label=label, **look)


def utility(axes: Axes, trace: swftools.Trace) -> None:
    """Draw one function of each kind."""
    ranks = LOG.card.queue_ranks if LOG.card else {}
    made = swftools.generate_utility(trace, swftools.UtilityParameters(seed=7, queue_ranks=ranks))
    functions = UtilityFunctions.from_arrow(made["utility"])
    wide = (trace.jobs["run_time"] > 3600) & (trace.jobs["width"] >= 64)
    for kind in ("linear", "exponential", "step"):
        job = int(np.flatnonzero(wide & (made["utility_decay"] == kind))[0])
        points = slice(functions.offsets[job], functions.offsets[job + 1])
        times, values = functions.times[points], functions.values[points]
        axes.plot(np.append(times, times[-1]), np.append(values, 0) / values[0], label=kind)
    duration_axis(axes, "x", is_log=False)
    axes.set_xticks(np.arange(0, 13, 2) * 3600.0)
    axes.set(xlabel="time since submission", ylabel="share of the start value")
    axes.legend()


def checkpoints(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the intervals of a synthetic survey, and of the jobs that it was carried to."""
    made = infer_checkpoints(trace, generate_checkpoint_survey(trace)).columns
    for source in ("survey", "inferred"):
        mine = made["checkpoint_interval"][made["checkpoint_source"] == source]
        share_below(axes, mine, f"{source}: {mine.notna().sum():,} jobs")
    duration_axis(axes, "x")
    axes.set(xlabel="checkpoint interval", ylabel="share of checkpointing jobs")
    axes.axvline(900, color="grey", linewidth=0.8, linestyle="-")
    axes.annotate("15 min: median in Lee 2009", (900, 0.02), xytext=(4, 0), textcoords="offset points")
    axes.legend()


def arrivals(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the arrivals over the day, as logged and under three models."""
    start = start_of_day(trace.header)
    shown = {"as logged": trace.jobs["submit_time"]}
    for model in ("lublin-feitelson", "poisson", "bootstrap"):
        shown[f"model {model}"] = generate_arrivals(trace, ArrivalParameters(model=model))["model_submit_time"]
    for place, (label, times) in enumerate(shown.items()):
        counts = np.bincount(((times + start) % 86400 // 3600).astype(int), minlength=24)
        look = look_at(place)
        # What is drawn as stairs takes no look from the cycle: four black lines.
        drawn = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.7}
        if place == 0:
            drawn |= {"color": "black", "linewidth": 3.0}
        axes.stairs(100 * counts / counts.sum(), np.arange(25), label=label, **drawn)
    axes.set(xlabel="hour of the day (local time)", ylabel="share of arrivals, %", xlim=(0, 24), ylim=(0, None))
    axes.set_xticks(range(0, 25, 4))
    legend_above(axes)


def speedup(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the run time of a few jobs on other widths than their own."""
    made = trace.jobs.join(generate_speedup(trace))
    shown = made[(made["run_time"] > 3000) & made["width"].isin([8, 32, 128]) & (made["maximum_processors"] >= 256)]
    widths = np.unique(np.round(np.geomspace(1, 1152, 300)))
    for _, job in shown.groupby("width").head(2).iterrows():
        row = job.to_frame().T.infer_objects()
        inside = widths[(widths >= job["minimum_processors"]) & (widths <= job["maximum_processors"])]
        times = run_time(inside[np.newaxis], row)[0]
        line = axes.plot(inside, times, label=f"A = {job['downey_a']:.0f}, sigma = {job['downey_sigma']:.1f}")
        axes.plot(job["width"], job["run_time"], "o", color=line[0].get_color())
    duration_axis(axes, "y")
    axes.set(xlabel="processors", ylabel="run time", xscale="log")
    count_axis(axes, "x")
    title = "Downey's model\nA: average parallelism\nsigma: its variation\ndot: as logged\n"
    axes.legend(title=title, alignment="left", loc="upper left", bbox_to_anchor=(1, 1))


def estimates(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the users' estimates and those of the model."""
    for label, times in {
        "run time, logged": trace.jobs["run_time"],
        "requested time, logged": trace.jobs["requested_time"],
        "requested time, model": generate_requested_times(trace)["model_requested_time"],
    }.items():
        share_below(axes, times, label)
    duration_axis(axes, "x")
    axes.set(xlabel="run time, or requested time", ylabel="share of jobs", xlim=(10, 60 * 3600))
    axes.legend()


def model(axes: Axes, trace: swftools.Trace) -> None:
    """Draw run times of the log and of the model on a machine as large, by size."""
    made = lublin_feitelson.generate(20_000, processors=1152)
    for label, jobs, width, line in (
        ("log", trace.jobs, trace.jobs["width"], "-"),
        ("model", made.jobs, made.jobs["allocated_processors"], ":"),
    ):
        for place, (low, high) in enumerate(((1, 8), (9, 64), (65, 1152))):
            times = jobs["run_time"][width.between(low, high)]
            share_below(axes, times, f"{label}, {low} to {high}", color=look_at(place)["color"], linestyle=line)
    duration_axis(axes, "x")
    axes.set(xlabel="run time", ylabel="share of jobs", xlim=(1, 50 * 3600))
    axes.legend(title="processors", loc="upper left", bbox_to_anchor=(1, 1))


def waits(axes: Axes, trace: swftools.Trace) -> None:
    """Draw what the jobs of one queue would have been told of their waits."""
    plot(replay(trace, training=200), "told", queue="3", ax=axes)


def coverage(axes: Axes, trace: swftools.Trace) -> None:
    """Draw how often bounds with and without trimming and clusters were right."""
    bare = {"trimming": False, "clustering": False, "availability": False}
    tables = [replay(trace, training=200), replay(trace, training=200, **bare).assign(method="binomial, all history")]
    plot(evaluate(tables, grouped_by=["month"]), "coverage", ax=axes)


def used(axes: Axes, trace: swftools.Trace) -> None:
    """Draw how much of their requests jobs used."""
    plot(trace, "used", ax=axes)


def waiting_jobs(axes: Axes, trace: swftools.Trace) -> None:
    """Draw how many jobs wait under EASY."""
    plot(simulate(trace, "easy"), "queue", ax=axes)


def more_nodes(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the mean wait by the size of the machine."""
    shares = np.arange(0, 51, 5)
    sizes = np.round(trace.processors * (1 + shares / 100)).astype(int)  # type: ignore[operator]
    for place, policy in enumerate(("easy", "conservative")):
        waits = [simulate(trace, policy, int(size)).jobs["wait_time"].mean() for size in sizes]
        axes.plot(shares, waits, "o", label=policy, color=look_at(place)["color"], linestyle="-")
    duration_axis(axes, "y", is_log=False)
    axes.set_yticks(np.arange(0, 91, 15) * 60.0)
    axes.set(xlabel="more processors, %", ylabel="mean wait", ylim=(0, None))
    axes.legend()


DRAWN: dict[str, Callable[[Axes, swftools.Trace], None]] = {
    "utility": utility,
    "checkpoints": checkpoints,
    "arrivals": arrivals,
    "speedup": speedup,
    "estimates": estimates,
    "study_of_estimates": used,
    "lublin_feitelson": model,
    "qbets": waits,
    "qbets_coverage": coverage,
    "waiting_jobs": waiting_jobs,
    "more_nodes": more_nodes,
}


def data_flow(_: swftools.Trace) -> Figure:
    """Draw how data flows, from a log to what is published."""
    axes = SIZES["screen"].new_axes(0.42)
    axes.set(xlim=(0, 5), ylim=(0, 3))
    axes.axis("off")
    box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": "0.4"}
    boxes = {
        (column, row): axes.text(column + 0.5, row + 0.5, words, ha="center", va="center", fontsize=6.5, bbox=box)
        for (column, row), words in FLOW.items()
    }
    for begin, end in ARROWS:
        patches = {"patchA": boxes[begin].get_bbox_patch(), "patchB": boxes[end].get_bbox_patch()}
        arrow = {"arrowstyle": "-|>", "color": "0.4", "shrinkA": 1, "shrinkB": 1, **patches}
        axes.annotate("", boxes[end].get_position(), boxes[begin].get_position(), arrowprops=arrow)
    return cast("Figure", axes.figure)


FLOW = {
    (0, 2): "batch log\nSWF, Slurm, PBS, ...",
    (1, 2): "trace\nread_log",
    (2, 2): "cleaned trace\nclean",
    (3, 2): "augmented trace\nutility, speedup, ...",
    (4, 2): "data set\nversions of Parquet",
    (1, 1): "quarantine\nwhat was no job",
    (3, 1): "schedule\nsimulate, validate",
    (4, 1): "tables\nmeasure, compare",
    (2, 1): "predictions of waits\nreplay, predict",
    (4, 0): "pictures, reports,\npapers' tables",
}
"""What the parts are, by column and row from below."""

ARROWS = [
    *(((column, 2), (column + 1, 2)) for column in range(4)),
    *(((1, 2), (1, 1)), ((2, 2), (2, 1)), ((3, 2), (3, 1)), ((3, 1), (4, 1)), ((4, 1), (4, 0))),
]
"""From which to which."""


def search(trace: swftools.Trace) -> Figure:
    """Draw one decision of a search."""
    simulation = Simulation(trace, "search", 1152, nodes=1000, explain=True).run(until=2_922_874)
    return explain_decision(simulation).draw()


def figures(trace: swftools.Trace) -> Iterator[tuple[str, Figure]]:
    """Yield every picture and its name."""
    for name, draw in DRAWN.items():
        axes = SIZES["screen"].new_axes(0.5)
        draw(axes, trace)
        yield name, cast("Figure", axes.figure)
    yield "search", search(trace)
    yield "data_flow", data_flow(trace)


def main() -> None:
    """Draw every picture."""
    PICTURES.mkdir(exist_ok=True)
    with style():
        for name, figure in figures(shipped()):
            figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
            sys.stdout.write(f"docs/pictures/{name}.svg\n")


if __name__ == "__main__":
    main()
