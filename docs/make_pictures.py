"""Draw the pictures of the documentation, each from the log shipped with the package: ``make pictures``.

The files in ``docs/pictures`` are made by this and by nothing else; equal code and library versions give equal files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
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
from swftools.qbets import evaluate, replay
from swftools.qbets.plots import plot_coverage, plot_waits
from swftools.simulator import Simulation, explain_decision
from swftools.utility.functions import UtilityFunctions

PICTURES = Path(__file__).parent / "pictures"
LOG = find_log(SHIPPED_LOG)
STYLE = {
    "svg.hashsalt": "swftools",
    "svg.fonttype": "none",
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "font.size": 10,
    "legend.frameon": False,
}


def shipped() -> swftools.Trace:
    """Return the shipped log, cleaned, with its machine."""
    found = LOG
    cleaned, _ = swftools.clean(swftools.read_swf(found.path))  # type: ignore[arg-type]
    machine = found.card.machine.processors if found.card else None
    return swftools.Trace(cleaned.header, cleaned.jobs, cleaned.quarantine, machine)


def share_below(axes: Axes, values: pd.Series, label: str, style: str = "-") -> None:  # type: ignore[type-arg]
    """Draw the share of values below each value."""
    shares = np.linspace(0, 1, 201)
    axes.step(np.quantile(values.dropna().to_numpy(dtype=float), shares), shares, style, where="post", label=label)


def utility(axes: Axes, trace: swftools.Trace) -> None:
    """Draw one function of each kind."""
    ranks = LOG.card.queue_ranks if LOG.card else {}
    made = swftools.generate_utility(trace, swftools.UtilityParameters(seed=7, queue_ranks=ranks))
    functions = UtilityFunctions.from_arrow(made["utility"])
    wide = (trace.jobs["run_time"] > 3600) & (trace.jobs["width"] >= 64)
    for kind in ("linear", "exponential", "step"):
        job = int(np.flatnonzero(wide & (made["utility_decay"] == kind))[0])
        points = slice(functions.offsets[job], functions.offsets[job + 1])
        times, values = functions.times[points] / 3600, functions.values[points]
        axes.plot(np.append(times, times[-1]), np.append(values, 0) / values[0], label=kind)
    axes.set(xlabel="time since submission, hours", ylabel="share of the start value")
    axes.legend()


def checkpoints(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the intervals of a synthetic survey, and of the jobs that it was carried to."""
    made = infer_checkpoints(trace, generate_checkpoint_survey(trace)).columns
    minutes = made["checkpoint_interval"] / 60
    for source in ("survey", "inferred"):
        mine = minutes[made["checkpoint_source"] == source]
        share_below(axes, mine, f"{source}: {mine.notna().sum():,} jobs", "-" if source == "survey" else "--")
    axes.set(xlabel="checkpoint interval, minutes", ylabel="share of checkpointing jobs", xscale="log")
    axes.axvline(15, color="grey", linewidth=0.8)
    axes.annotate("15 min: median in Lee 2009", (15, 0.02), xytext=(4, 0), textcoords="offset points", fontsize=8)
    axes.legend()


def arrivals(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the arrivals over the day, as logged and under three models."""
    start = start_of_day(trace.header)
    shown = {"logged": trace.jobs["submit_time"]}
    for model in ("lublin-feitelson", "poisson", "bootstrap"):
        shown[model] = generate_arrivals(trace, ArrivalParameters(model=model))["model_submit_time"]
    for label, times in shown.items():
        counts = np.bincount(((times + start) % 86400 // 3600).astype(int), minlength=24)
        color, width = ("black", 2.5) if label == "logged" else (None, 1.5)
        axes.stairs(100 * counts / counts.sum(), np.arange(25), label=label, color=color, linewidth=width)
    axes.set(xlabel="local time, hours", ylabel="share of arrivals, %", xlim=(0, 24), ylim=(0, None))
    axes.legend()


def speedup(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the run time of a few jobs on other widths than their own."""
    made = trace.jobs.join(generate_speedup(trace))
    shown = made[(made["run_time"] > 3000) & made["width"].isin([8, 32, 128]) & (made["maximum_processors"] >= 256)]
    widths = np.unique(np.round(np.geomspace(1, 1152, 300)))
    for _, job in shown.groupby("width").head(2).iterrows():
        row = job.to_frame().T.infer_objects()
        inside = widths[(widths >= job["minimum_processors"]) & (widths <= job["maximum_processors"])]
        times = run_time(inside[np.newaxis], row)[0]
        line = axes.plot(inside, times / 3600, label=f"A = {job['downey_a']:.0f}, sigma = {job['downey_sigma']:.1f}")
        axes.plot(job["width"], job["run_time"] / 3600, "o", color=line[0].get_color())
    axes.set(xlabel="processors", ylabel="run time, hours", xscale="log", yscale="log")
    axes.legend(title="dot: as logged", fontsize=8)


def estimates(axes: Axes, trace: swftools.Trace) -> None:
    """Draw the users' estimates and those of the model."""
    for label, times in {
        "run time, logged": trace.jobs["run_time"],
        "requested time, logged": trace.jobs["requested_time"],
        "requested time, model": generate_requested_times(trace)["model_requested_time"],
    }.items():
        share_below(axes, times / 3600, label, "--" if label.startswith("run") else "-")
    axes.set(xlabel="hours", ylabel="share of jobs", xscale="log", xlim=(1 / 360, 60))
    axes.legend()


def model(axes: Axes, trace: swftools.Trace) -> None:
    """Draw run times of the log and of the model on a machine as large, by size."""
    made = lublin_feitelson.generate(20_000, processors=1152)
    for label, jobs, width, style in (
        ("log", trace.jobs, trace.jobs["width"], "-"),
        ("model", made.jobs, made.jobs["allocated_processors"], "--"),
    ):
        axes.set_prop_cycle(None)
        for low, high in ((1, 8), (9, 64), (65, 1152)):
            share_below(axes, jobs["run_time"][width.between(low, high)] / 3600, f"{label}, {low} to {high}", style)
    axes.set(xlabel="run time, hours", ylabel="share of jobs", xscale="log", xlim=(1 / 3600, 50))
    axes.legend(title="processors", fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def waits(axes: Axes, trace: swftools.Trace) -> None:
    """Draw what the jobs of one queue would have been told of their waits."""
    plot_waits(replay(trace, training=200), "3", axes)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def coverage(axes: Axes, trace: swftools.Trace) -> None:
    """Draw how often bounds with and without trimming and clusters were right."""
    bare = {"trimming": False, "clustering": False, "availability": False}
    tables = [replay(trace, training=200), replay(trace, training=200, **bare).assign(method="binomial, all history")]
    plot_coverage(evaluate(tables, grouped_by=["month"]), axes)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


DRAWN: dict[str, Callable[[Axes, swftools.Trace], None]] = {
    "utility": utility,
    "checkpoints": checkpoints,
    "arrivals": arrivals,
    "speedup": speedup,
    "estimates": estimates,
    "lublin_feitelson": model,
    "qbets": waits,
    "qbets_coverage": coverage,
}


def search(trace: swftools.Trace) -> Figure:
    """Draw one decision of a search."""
    simulation = Simulation(trace, "search", 1152, nodes=1000, explain=True).run(until=2_922_874)
    return explain_decision(simulation).draw()


def figures(trace: swftools.Trace) -> Iterator[tuple[str, Figure]]:
    """Yield every picture and its name."""
    for name, draw in DRAWN.items():
        figure = Figure(figsize=(7, 3.4))
        draw(figure.subplots(), trace)
        yield name, figure
    yield "search", search(trace)


def main() -> None:
    """Draw every picture."""
    PICTURES.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, figure in figures(shipped()):
            figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
            sys.stdout.write(f"docs/pictures/{name}.svg\n")


if __name__ == "__main__":
    main()
