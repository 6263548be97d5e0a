# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: jobs that wait and leave, under EASY, with the six rules as placements.

Reading chosen
    The log: the last 1,500 pods of the default workload, by their own submissions and run times. The whole cluster has
    no queue of them, as at most 65 of its 6,212 GPUs are in use at once, nor have ten nodes: so they run on four that
    are drawn; who does not fit these is left out. The generated log: 800 jobs of Lublin and Feitelson's model, each
    with the request of a pod that is drawn, submitted so that they ask for 70 % of the GPUs of ten nodes. Pods request
    no time: the policy is told their run times. CPU is rounded up to whole cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run, measured
from pipelines.papers.weng2023.drawn import with_requests
from pipelines.papers.weng2023.inflations import RULES
from pipelines.papers.weng2023.tables import mean_of
from pipelines.papers.weng2023.workloads import DEFAULT, in_order, machine
from swftools.machines.node_table import NodeTable
from swftools.models.lublin_feitelson import generate
from swftools.parameters import Parameters, choice, number, whole
from swftools.simulator.stepping.gpu_queues import GpuSchedule, simulate_on_gpus
from swftools.trace import Trace

PLACEMENTS = {**RULES, "FGD, any of equal nodes": "fgd:ties=random"}

WAIT, WAITING, SLOWDOWN = "mean wait", "jobs that wait", "mean bounded slowdown"

QUEUE_UNITS = {WAIT: "s", WAITING: "%"}

DEFINITIONS = {
    WAIT: "mean wait of all jobs, mean over machines",
    WAITING: "jobs that wait, as a share of all, mean over machines",
    SLOWDOWN: "mean of (wait + run time) / run time, of which a run time below 10 s counts as 10 s; mean over machines",
}

SOURCES = {"log": "openb's own times", "generated": "a generated log"}


@dataclass(frozen=True)
class QueueOfGpus(Parameters):
    """Whose jobs; on how many machines that are drawn, of how many nodes each; ``load`` is that of generated jobs."""

    NAME = "queue"
    source: str = choice(*SOURCES)
    jobs: int = whole(1500, least=1)
    nodes: int = whole(10, least=1)
    machines: int = whole(20, least=1)
    load: float = number(0.7, above=0, most=10)


def measure_queue(trace: Trace, parameters: QueueOfGpus, seed: int) -> pd.DataFrame:
    """Return waits by placement and machine."""
    return measured(_rows(trace, parameters, seed))


def _rows(trace: Trace, parameters: QueueOfGpus, seed: int) -> Iterator[tuple[str, str, str, float]]:
    """Yield what is measured."""
    for drawn in range(parameters.machines):
        nodes = np.random.default_rng([seed, drawn]).choice(len(machine()), parameters.nodes, replace=False)
        table = in_order(machine(), nodes)
        log = jobs_of(trace, parameters, table, seed + drawn)
        for text in PLACEMENTS.values():
            for measure, value in measures_of(simulate_on_gpus(log, table, text)).items():
                yield text, str(drawn), measure, value


def jobs_of(trace: Trace, parameters: QueueOfGpus, table: NodeTable, seed: int) -> Trace:
    """Return the jobs that come to a machine."""
    if parameters.source == "log":
        return trace.with_jobs(trace.jobs.tail(parameters.jobs).reset_index(drop=True))
    made = with_requests(generate(parameters.jobs, seed=seed), seed)
    jobs = made.jobs.assign(allocated_processors=1, requested_processors=1)
    asked = float((jobs["run_time"] * jobs["requested_gpus_per_node"]).sum())
    span = asked / (parameters.load * float(table.gpus.sum()) / 1000)
    submit = jobs["submit_time"] * (span / float(jobs["submit_time"].max()))
    return made.with_jobs(jobs.assign(submit_time=np.floor(submit)))


def measures_of(found: GpuSchedule) -> dict[str, float]:
    """Return what is measured of a schedule."""
    jobs = found.schedule.jobs
    wait = jobs["wait_time"].to_numpy(dtype=float)
    run = np.maximum(jobs["run_time"].to_numpy(dtype=float), 10.0)
    slowdown = np.maximum((wait + jobs["run_time"].to_numpy(dtype=float)) / run, 1.0)
    return {WAIT: float(wait.mean()), WAITING: 100 * float((wait > 0).mean()), SLOWDOWN: float(slowdown.mean())}


def queue_run(quick: bool, source: str) -> Run:
    """Return the run of a source."""
    usual = QueueOfGpus(source, 1500, 4) if source == "log" else QueueOfGpus(source, 800, 10)
    return Run("queue", QueueOfGpus(source, 30, 4, 2) if quick else usual)


def plan_queues(log: str, quick: bool) -> list[Run]:
    """Return the runs of both sources; to be quick, of the generated one alone."""
    sources = ("generated",) if quick else (*SOURCES,) if log == DEFAULT else ()
    return [queue_run(quick, source) for source in sources]


def cells_of_queues(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield a row a source and rule; beside each mean what it is as a share of FGD's, machine by machine."""
    for log in found.logs:
        for source, told in SOURCES.items():
            run = queue_run(quick, source)
            if not found.subjects(log, run):
                continue
            own = _values(found, log, run, PLACEMENTS["FGD"], WAIT)
            for rule, text in PLACEMENTS.items():
                for measure, definition in DEFINITIONS.items():
                    value, error = mean_of(_values(found, log, run, text, measure))
                    unit = QUEUE_UNITS.get(measure, "1")
                    yield Cell(f"{told}: {rule}", measure, value, definition, unit=unit, spread=error)
                less = np.array(_values(found, log, run, text, WAIT)) - np.array(own)
                value, error = mean_of(less.tolist())
                definition = "mean wait less that under FGD on the same machine, mean over machines"
                yield Cell(f"{told}: {rule}", "beyond FGD's wait", value, definition, unit="s", spread=error)


def _values(found: Measurements, log: str, run: Run, text: str, measure: str) -> list[float]:
    """Return the values of a placement, one a machine."""
    return [
        found.value(log, run, text, measure, str(drawn)) for drawn in range(run.parameters.to_mapping()["machines"])
    ]


MADE: dict[str, tuple[Plan, Cells]] = {"queues": (plan_queues, cells_of_queues)}
"""How its table is made."""
