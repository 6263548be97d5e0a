# SPDX-License-Identifier: BSD-3-Clause
"""VARQ: Table 5.6, and what Tables 5.2 to 5.5 show of machines whose logs are not public, of logs that are.

Reading chosen
    Table 5.6 is of the queue normal of DataStar, in nodes of 8 processors, on 272 of them, first come first served with
    backfilling, which is EASY here, on the log that there is: it is of another period, and its queue is hardly busy on
    so many nodes. *pred.* is the mean probability when jobs are submitted, *act.* the share of accepted jobs that run
    by their deadline. Of 95 % and .75 the paper prints *pred.* .43 and *act.* .81; both are taken to stand in the
    other's column.

    In Tables 5.2 to 5.5 a process composes a job and asks for a start 6 h ahead, over and over. Here each hundredth job
    of the log asks for that, as it is; who is denied is submitted at once. *ratio* is what accepted jobs are charged
    divided by what they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipelines.papers.nurmi2009.populations import ANY, OTHER_PERIOD, POPULATIONS, population_of
from pipelines.papers.paper import Cell, Measurements, Printed, Run, Within, measured
from swftools.parameters import Parameters, choice, number, whole
from swftools.qbets import WaitPredictor
from swftools.reservations import simulate_reservations
from swftools.simulator import simulate
from swftools.trace import Trace

NORMAL = "datastar"
"""The population whose queue normal Table 5.6 is of."""

NODE = 8
"""Processors of a node of DataStar."""

NODES = 272
"""Of the paper's machine."""

OWN_NODES = 164
"""That the queue normal had in the period of the log: another reading, of a machine that is busier."""

SHARES = (10, 50, 95)
TARGETS = (0.5, 0.75, 0.95)

UNITS = {"accepted": "jobs", "asked": "jobs", "others_mean_wait": "s", "others_mean_wait_plain": "s", "makespan": "s"}

MEASURES = (
    *("asked", "accepted", "met", "predicted", "predicted_at_submission", "needed_hours", "paid_hours"),
    *("paid_over_needed", "others_mean_wait", "others_mean_wait_plain", "makespan", "makespan_plain"),
)

WHY = (
    "the log is of another period than the paper's (which is not public, had about 3,700 such jobs, and by the counts "
    "was busier): on 272 nodes the load of its queue normal is .39, and half of its jobs wait for nothing"
)


@dataclass(frozen=True)
class VarqOfPaper(Parameters):
    """Who asks for what, on which machine."""

    NAME = "varq"
    population: str = choice(ANY, *POPULATIONS)
    nodes: int = whole(0, least=0)
    percent: int = whole(10, least=0, most=100)
    probability: float = number(0.5, above=0, most=0.99)
    ahead: float = number(0.0, least=0)
    training: int = whole(1000, least=0)


def measure_varq(trace: Trace, parameters: VarqOfPaper, seed: int) -> pd.DataFrame:
    """Return the measures of one simulation with reservations, beside the plain one."""
    processors = None
    if parameters.nodes:
        trace, processors = _in_nodes(trace, parameters.population), parameters.nodes
    waits = WaitPredictor("binomial", by="queue", training=parameters.training)
    found = simulate_reservations(
        trace,
        "easy",
        processors,
        waits=waits,
        seed=seed,
        share=parameters.percent / 100.0,
        probability=parameters.probability,
        ahead=parameters.ahead,
    ).measures(simulate(trace, "easy", processors, seed=seed))
    return measured((parameters.population, "", name, found[name]) for name in MEASURES if not np.isnan(found[name]))


def _in_nodes(trace: Trace, population: str) -> Trace:
    """Return the jobs of the queue normal that ran, in nodes."""
    jobs = trace.jobs
    queue = next(each for each, name in POPULATIONS[population].queues.items() if name == "normal")
    chosen = ((jobs["queue_id"] == queue) & (jobs["run_time"] > 0)).fillna(False).to_numpy(dtype=bool)
    width = jobs["allocated_processors"].fillna(jobs["requested_processors"])
    nodes = (width + NODE - 1) // NODE
    part = jobs.assign(allocated_processors=nodes, requested_processors=nodes)[chosen]
    return trace.with_jobs(part.reset_index(drop=True))


# ---------------------------------------------------------------- Table 5.6


def _run(log: str, quick: bool, percent: int, target: float, nodes: int = NODES) -> Run:
    """Return the run of a cell of Table 5.6."""
    name = population_of(log)
    training = 200 if quick else 1000
    return Run("varq", VarqOfPaper(name, nodes if name == NORMAL else 0, percent, target, training=training))


def plan_shares(log: str, quick: bool) -> list[Run]:
    """Return the runs of Table 5.6: of DataStar alone, and of an excerpt where it is to be quick."""
    if population_of(log) == NORMAL:
        usual = [_run(log, quick, percent, target) for percent in SHARES for target in TARGETS]
        return usual + [_run(log, quick, 50, target, OWN_NODES) for target in TARGETS]
    return [_run(log, quick, 50, 0.75)] if quick else []


def cells_shares(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the cells of Table 5.6."""
    for log in found.logs:
        runs = {run.text for run in plan_shares(log, quick)}
        for percent in SHARES:
            for target in TARGETS:
                usual = _run(log, quick, percent, target)
                if usual.text in runs:
                    yield from _share_cells(found, printed, log, usual, percent, target)
                other = _run(log, quick, percent, target, OWN_NODES)
                if other.text in runs and other.text != usual.text:
                    yield from _share_cells(found, printed, log, other, percent, target, f"on {OWN_NODES} nodes")


def _share_cells(
    found: Measurements, printed: Printed, log: str, run: Run, percent: int, target: float, reading: str = ""
) -> Iterator[Cell]:
    """Yield the three cells of a share and a target."""
    name = population_of(log)
    words = f"{target:g}".removeprefix("0")
    columns = {
        "pred.": ("predicted_at_submission", "mean probability when accepted jobs were submitted", Within(0.05)),
        "act.": ("met", "share of accepted jobs that ran by their deadline", Within(0.05)),
        "count": ("accepted", "accepted jobs", None),
    }
    for column, (measure, definition, rule) in columns.items():
        yield Cell(
            f"{percent}" if name == NORMAL else f"{log}/{percent}",
            f"{words} {column}",
            found.value(log, run, name, measure),
            definition,
            unit="jobs" if column == "count" else "1",
            reading=reading or (f"queue normal, on {NODES} nodes" if name == NORMAL else "all jobs"),
            is_chosen=not reading,
            printed=printed.get(f"{percent}", {}).get(f"{words} {column}") if name == NORMAL else None,
            rule=rule if name == NORMAL else None,
            note=_SWAPPED if (percent, target) == (95, 0.75) and column != "count" and name == NORMAL else None,
            why=WHY,
        )


_SWAPPED = (
    ".43 and .81 are printed in each other's columns: no accepted job is promised less than the target, and the text "
    "says that the guarantee breaks down here, and only here"
)


# ---------------------------------------------------------------- Tables 5.2 to 5.5


def _probe(log: str, quick: bool, target: float) -> Run:
    """Return the run of a machine and a target."""
    percent, training = (10, 200) if quick else (1, 1000)
    return Run("varq", VarqOfPaper(population_of(log), 0, percent, target, 21_600.0, training))


def plan_probes(log: str, quick: bool) -> list[Run]:
    """Return the runs of Tables 5.2 to 5.5."""
    return [_probe(log, quick, target) for target in (TARGETS[1:2] if quick else TARGETS)]


def cells_probes(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield a row a log, and what is printed of all machines together beside our logs together."""
    for target in TARGETS:
        words = f"{target:g}".removeprefix("0")
        sums: dict[str, float] = dict.fromkeys(("accepted", "met", "told", "needed", "paid"), 0.0)
        for log in found.logs:
            run, name = _probe(log, quick, target), population_of(log)
            values = {each: found.value(log, run, name, each) for each in MEASURES}
            count = values["accepted"]
            if np.isnan(count):
                continue
            for column, value, definition in _probe_columns(values):
                unit = "jobs" if column == "count" else "1"
                yield Cell(log, f"{words} {column}", value, definition, unit=unit, note=_OTHER_MACHINES)
            if count:
                sums["accepted"] += count
                sums["met"] += count * values["met"]
                sums["told"] += count * values["predicted_at_submission"]
                sums["needed"] += values["needed_hours"]
                sums["paid"] += values["paid_hours"]
        if not sums["accepted"]:
            continue
        together = {
            "predicted_at_submission": sums["told"] / sums["accepted"],
            "met": sums["met"] / sums["accepted"],
            "accepted": sums["accepted"],
            "paid_over_needed": sums["paid"] / sums["needed"],
        }
        for column, value, definition in _probe_columns(together):
            unit, theirs = "jobs" if column == "count" else "1", printed["all"][f"{words} {column}"]
            yield Cell("all", f"{words} {column}", value, definition, unit=unit, printed=theirs, note=_OTHER_MACHINES)


def _probe_columns(values: dict[str, float]) -> Iterator[tuple[str, float, str]]:
    """Yield column, value and definition."""
    yield "pred.", values["predicted_at_submission"], "mean probability when accepted jobs were submitted"
    yield "act.", values["met"], "share of accepted jobs that ran 6 h after they asked"
    yield "count", values["accepted"], "accepted jobs"
    yield "ratio", values["paid_over_needed"], "processor-hours charged / needed, of accepted jobs"


_OTHER_MACHINES = f"the paper's machines are others, and their logs not public; {OTHER_PERIOD}, where it is DataStar"
