# SPDX-License-Identifier: BSD-3-Clause
"""What the paper has not: other logs, higher loads, other predictors, ways of preemption, and each part by itself.

EASY is ``easy`` here, which decides also when a prediction is outlived, not that of the paper's simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run, Within, read_printed
from pipelines.papers.yuan2010.fairness import fairness_run
from pipelines.papers.yuan2010.populations import LOGS, short_name
from pipelines.papers.yuan2010.schedules import FROM_FIRST, JOBS, NAMES, ScheduleOfPaper, schedule_run

COMPARED = {
    "PV-EASY": ScheduleOfPaper(),
    "EASY": ScheduleOfPaper("easy", "request"),
    "EASY with Last Model": ScheduleOfPaper("easy"),
}
"""What is compared."""

RUNS = {name: Run("schedule", parameters) for name, parameters in COMPARED.items()}

Entry = tuple[str, str, Run, str]
"""Of a table the name of a row, behind that of the log; a column; the run, and the measure of it that stands there."""

MEANINGS = {
    "MBS": ("1", "mean bounded slowdown"),
    "MWBS": ("1", "mean bounded slowdown, weighted by processors"),
    "backfilled jobs": ("jobs", "jobs whose last run began before one that was submitted earlier"),
    "blocked jobs": ("jobs", "jobs that were the first in the queue and did not fit, nor could after preemption"),
    "preempted jobs": ("jobs", "jobs that were stopped"),
    "mean kills": ("1", "how often those were stopped"),
    "mean run time waste": ("%", "time of work that was lost over run time, mean of the stopped jobs"),
    "total load": ("%", "share of the machine that all runs took, from second 0 of the log to the last end"),
    "wasted load": ("%", "share that work took which was lost"),
    f"wasted load{FROM_FIRST}": ("%", "share that work took which was lost, from the first submission to the last end"),
    "overhead load": ("%", "share that it took to go on with work done before"),
    "late heads": ("jobs", "blocked jobs that any job of lower priority delayed"),
    "late heads by later starts": ("jobs", "blocked jobs that jobs of lower priority delayed which started later"),
    "mean delay": ("min", "mean delay of the blocked jobs that any job of lower priority delayed"),
    "longest delay": ("h", "longest delay of a blocked job by jobs of lower priority"),
    "delayed from submission": (
        "%",
        "share of jobs that waited, of those drawn, which would have started earlier had none been submitted later",
    ),
    "mean delay from submission": ("min", "by how much, of those"),
}
"""Unit and definition of the measures."""

COUNTS = (
    *("MBS", "MWBS", "backfilled jobs", "blocked jobs", "late heads", "preempted jobs", "mean kills"),
    *("mean run time waste", "total load", "wasted load"),
)

HEADS = ("blocked jobs", "late heads", "mean delay", "longest delay", "late heads by later starts")

COSTS = ("MBS", "MWBS", "late heads", "preempted jobs", "mean kills", "wasted load", "overhead load")

PREDICTORS, LEARNER = ("request", "last-model", "user-average", "exact"), "gradient-boosting"
"""What the policies are told; the last takes minutes a run."""

TOO_LONG = (LOGS["SDSC-BLUE"], LOGS["SDSC-DS"])
"""The logs of most jobs, of which that is not asked."""

LOADS = (0.7, 0.8, 0.9, 1.0)

WAYS: dict[str, dict[str, Any]] = {
    "kill": {},
    "checkpoint": {"preemption": "checkpoint"},
    "checkpoint, 60 s a restart": {"preemption": "checkpoint", "restart_overhead": 60.0},
    "suspend": {"preemption": "suspend"},
    "suspend, 60 s a restart": {"preemption": "suspend", "restart_overhead": 60.0},
}
"""What becomes of a preempted job's work: it is lost, kept up to the last full hour, or kept."""

PARTS_OF_POLICY: dict[str, dict[str, Any]] = {
    "PV-EASY": {},
    "needless victims spared": {"victims": "spare-needless"},
    "without SLP": {"slp": False},
    "without venture": {"venture": False},
    "without both": {"slp": False, "venture": False},
}


def other_logs(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield Tables 4 to 6 and Figures 5 and 6."""
    yield from ((name, measure, run, measure) for name, run in RUNS.items() for measure in COUNTS)


def fairness(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (whichever it is)
    """Yield delays of heads, and from submission on."""
    for name, parameters in COMPARED.items():
        yield from ((name, measure, RUNS[name], measure) for measure in HEADS)
        drawn = fairness_run(parameters.policy, parameters.predictor, quick)
        for measure in ("delayed from submission", "mean delay from submission"):
            yield name, measure, drawn, measure


def loads(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (whichever it is)
    """Yield the policies where times between submissions are scaled."""
    for load in (0.9,) if quick else LOADS:
        for name, parameters in COMPARED.items():
            other = schedule_run(policy=parameters.policy, predictor=parameters.predictor, load=load)
            for measure in ("MBS", "MWBS", "late heads"):
                yield f"at load {load}", f"{measure} {name}", other, measure
        kept = schedule_run(load=load, preemption="suspend")
        for measure in ("MBS", "MWBS"):
            yield f"at load {load}", f"{measure} PV-EASY that suspends", kept, measure
        yield f"at load {load}", "wasted load PV-EASY", schedule_run(load=load), f"wasted load{FROM_FIRST}"


def predictors(log: str, quick: bool) -> Iterator[Entry]:
    """Yield both policies by what they are told."""
    told = PREDICTORS[:3] if quick else PREDICTORS
    for predictor in told if log in TOO_LONG or quick else (*told, LEARNER):
        for name, policy in (("PV-EASY", "pv-easy"), ("EASY", "easy")):
            run = schedule_run(policy=policy, predictor=predictor)
            yield from ((predictor, f"{measure} {name}", run, measure) for measure in ("MBS", "MWBS", "late heads"))
        pv_easy = schedule_run(predictor=predictor)
        yield from ((predictor, measure, pv_easy, measure) for measure in ("preempted jobs", "wasted load"))


def variants(ways: Mapping[str, Mapping[str, Any]], log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield PV-EASY with some of its parameters changed."""
    yield from ((name, measure, schedule_run(**way), measure) for name, way in ways.items() for measure in COSTS)


CHAOTIC = "unexplained; single kills change all that follows: without the 26 jobs of 0 s MBS is 0.3 % smaller"
"""Why a value of the other program may differ; measured on SDSC Blue Horizon, the only log where any does."""

PROGRAM = read_printed(__package__, "published/other_program.csv")


def other_program(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield what another program measured too, which was written from the same rules by itself."""
    columns = ("backfilled jobs", "blocked jobs", "preempted jobs", "mean kills", "mean run time waste")
    for name, run in NAMES.items():
        for measure in (*columns, "total load", "wasted load", "MBS", "MWBS"):
            if PROGRAM[f"CTC {name}"][measure]:
                yield name, measure, run, measure


def every_log(log: str) -> bool:  # noqa: ARG001 (whichever it is)
    """Whether a log belongs to a table of all."""
    return True


def is_of_paper(log: str) -> bool:
    """Whether a log is one of the paper's."""
    return log in LOGS.values()


def is_not_of_paper(log: str) -> bool:
    """Whether a log is none of the paper's."""
    return not is_of_paper(log)


def _made(
    entries: Callable[[str, bool], Iterator[Entry]], belongs: Callable[[str], bool] = every_log
) -> tuple[Plan, Cells]:
    """Return how a table is made of entries of each log that belongs to it."""

    def plan(log: str, quick: bool) -> list[Run]:
        return [run for _, _, run, _ in entries(log, quick)] if belongs(log) else []

    def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
        for log in filter(belongs, found.logs):
            for name, column, run, measure in entries(log, quick):
                unit, definition = MEANINGS[measure]
                row = f"{short_name(log)} {name}"
                yield Cell(
                    row,
                    column,
                    found.value(log, run, JOBS, measure),
                    definition,
                    unit=unit,
                    printed=printed.get(row, {}).get(column) or None,
                    rule=Within(relative=0.01),
                    why=CHAOTIC,
                )

    return plan, cells


MADE = {
    "fairness": _made(fairness),
    "other-logs": _made(other_logs, is_not_of_paper),
    "load": _made(loads),
    "predictors": _made(predictors),
    "preemption": _made(partial(variants, WAYS)),
    "parts": _made(partial(variants, PARTS_OF_POLICY)),
    "other-program": _made(other_program, is_of_paper),
}
"""How each table is made."""
