# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the gallery of pictures, drawn from the shipped excerpt of a log."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import swftools
from pipelines.logs import load_log
from swftools import measure, scale_to_load, simulate
from swftools.cleaning import CleaningReport
from swftools.drift import measure_drift
from swftools.machines.description import MachineDescription
from swftools.output.whole_files import create_file
from swftools.plots import compare_jobs, list_pictures, plot
from swftools.qbets import WaitPredictor, evaluate, replay
from swftools.reservations import ReservedJob, plan_reservation, simulate_reservations
from swftools.simulator import Schedule
from swftools.trace import Trace

EXCERPT = "SDSC-BLUE-2000-4.2-cln-5000-9999"
DAY = 86_400.0


class Excerpt:
    """The log, its schedules, and the tables that pictures of tables are drawn from."""

    def __init__(self) -> None:
        loaded = load_log(EXCERPT)
        self.trace, self.report = loaded.trace, loaded.report
        self.easy, self.fcfs = (simulate(self.trace, policy) for policy in ("easy", "fcfs"))

    def on_nodes(self) -> Schedule:
        """Return what the schedule of EASY would be on 18 nodes of 64 processors, of which jobs share some."""
        nodes = {"kind": "node", "count": self.trace.processors // 64, "cores": 64}
        machine = MachineDescription.from_mapping({"nodes": [nodes]})
        return simulate(self.trace, "easy", machine=machine)

    def loads(self) -> pd.DataFrame:
        """Return the measures of two policies at three loads."""
        traces = {load: scale_to_load(self.trace, load) for load in (0.6, 0.7, 0.8)}
        policies = ("easy", "fcfs")
        return pd.concat(
            [measure(simulate(traces[load], name)).assign(load=load) for load in traces for name in policies]
        )

    def plan(self) -> pd.DataFrame:
        """Return how probable a start at a time is, by submission."""
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder, "blue.state")
            predictor = WaitPredictor("binomial", by="queue")
            predictor.replay(self.trace)
            predictor.save(state)
            jobs = self.trace.jobs
            start = float((jobs["submit_time"] + jobs["wait_time"]).max()) + DAY / 4
            job = ReservedJob(requested_time=3600, processors=64, group="3")
            return plan_reservation(state, job, start=start, probability=0.75).trajectory.table()

    def reserve(self, share: float) -> Any:
        """Return a simulation in which a share of the jobs asks for a reservation."""
        waits = WaitPredictor("binomial", by="queue", training=200)
        return simulate_reservations(self.trace, "easy", waits=waits, share=share, probability=0.75)

    def shares(self) -> pd.DataFrame:
        """Return what became of reservations, by the share of jobs that ask."""
        return pd.DataFrame(
            [{"share": share, "target": 0.75, **self.reserve(share).measures()} for share in (0.05, 0.5)]
        )

    def drift(self) -> pd.DataFrame:
        """Return how the last week differs from the two before."""
        jobs = self.trace.jobs
        days = {"recent_days": 7, "reference_days": 14}
        return measure_drift(jobs, self.trace.processors, now=jobs["submit_time"].max(), **days)

    def machine(self) -> MachineDescription:
        """Return a machine that somebody made up."""
        kinds = [
            {"kind": "thin", "count": 144, "cores": 8},
            {"kind": "fat", "count": 24, "cores": 32},
            {"kind": "gpu", "count": 12, "cores": 16, "gpus": 4},
        ]
        nodes = {"batch": ["thin", "fat"], "short": "ALL", "gpu": "gpu"}
        parts = [{"name": name, "nodes": nodes[name]} for name in nodes]
        return MachineDescription.from_mapping({"nodes": kinds, "partitions": parts})

    def flags(self) -> pd.DataFrame:
        """Return what cleaning flagged, by the day of submission."""
        flags = {"is_cancelled": "cancelled", "is_never_started": "never started", "is_over_request": "over request"}
        nights = self.trace.jobs["submit_timestamp"].dt.floor("7D")  # a day each would be too many to see
        jobs = self.trace.jobs.assign(night=nights).melt("night", list(flags), "kind")
        return jobs.loc[jobs["value"], ["night", "kind"]].replace({"kind": flags})


TABLES: dict[str, tuple[str, Callable[[Excerpt], Any]]] = {
    "policies": ("[easy, fcfs]", lambda log: [log.easy, log.fcfs]),
    "differences": ("[easy, fcfs]", lambda log: [log.easy, log.fcfs]),
    "sensitivity": ("pd.concat([measure(schedule).assign(load=load), ...])", Excerpt.loads),
    "against": ("compare_jobs(easy, fcfs)", lambda log: compare_jobs(log.easy, log.fcfs)),
    "told": ("replay(trace)", lambda log: replay(log.trace)),
    "coverage": ("evaluate(replay(trace))", lambda log: evaluate(replay(log.trace))),
    "reliability": ("evaluate(replay(trace))", lambda log: evaluate(replay(log.trace))),
    "tightness": ("evaluate(replay(trace))", lambda log: evaluate(replay(log.trace))),
    "trajectory": ("plan_reservation(...).trajectory.table()", Excerpt.plan),
    "promises": ("simulate_reservations(...).calibration()", lambda log: log.reserve(0.2).calibration()),
    "reserved": (
        "pd.DataFrame([{'share': 0.05, **simulate_reservations(...).measures()}, ...])",
        Excerpt.shares,
    ),
    "drift": ("measure_drift(trace.jobs, ...)", Excerpt.drift),
    "machine": ("machine.by_partition()", lambda log: log.machine().by_partition()),
    "findings": ("pd.DataFrame({'night': [...], 'kind': [...]})", Excerpt.flags),
}
"""Of each picture of a table: from which, in words or as a call, and how the excerpt gives it."""

OF_NODES = ("resources", "fragmentation", "wait-reasons")
"""Pictures that only schedules on machines of nodes have."""

SUBJECTS: dict[type, Callable[[Excerpt, str], Any]] = {
    Trace: lambda log, _: log.trace,
    Schedule: lambda log, name: log.on_nodes() if name in OF_NODES else log.easy,
    CleaningReport: lambda log, _: log.report,
    pd.DataFrame: lambda log, name: TABLES[name][1](log),
}
"""What pictures of each kind of thing are drawn from, by their name; in the order of the page."""


def file_of(kind: str, name: str) -> str:
    """Return the name of the file of a picture of a kind of thing."""
    return f"{kind.lower()}-{name}.png"


def draw(folder: Path) -> None:
    """Draw every picture into a folder; one that is there already, and newer than what draws it, stays."""
    folder.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in (Path(__file__), *Path(swftools.plots.__file__).parent.glob("*.py")))
    files = {file_of(kind.__name__, name): (kind, name) for kind in SUBJECTS for name in list_pictures(kind)}
    for old in folder.glob("*.png"):
        if old.name not in files:
            old.unlink()
    missing = [each for each in files if not (folder / each).exists() or (folder / each).stat().st_mtime < newest]
    log = Excerpt() if missing else None
    for each in missing:
        kind, name = files[each]
        axes = plot(SUBJECTS[kind](log, name), name)  # type: ignore[arg-type]
        figure: Any = axes.figure
        with create_file(folder / each) as file:
            figure.savefig(file, format="png", dpi=75)
