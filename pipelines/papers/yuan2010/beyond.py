# SPDX-License-Identifier: BSD-3-Clause
"""What the paper has not: other logs, higher loads, other predictors, ways of preemption, and each part by itself.

EASY is ``easy`` here, which decides also when a prediction is outlived, not that of the paper's simulator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pipelines.papers.entries import Entry, made_of
from pipelines.papers.paper import Run, Within, read_printed
from pipelines.papers.yuan2010.fairness import fairness_run
from pipelines.papers.yuan2010.populations import LOGS, short_name
from pipelines.papers.yuan2010.schedules import FROM_FIRST, NAMES, ScheduleOfPaper, schedule_run
from pipelines.papers.yuan2010.tables import COLUMNS

COMPARED = {
    "PV-EASY": ScheduleOfPaper(),
    "EASY": ScheduleOfPaper("easy", "request"),
    "EASY with Last Model": ScheduleOfPaper("easy"),
}
"""What is compared."""

RUNS = {name: Run("schedule", parameters) for name, parameters in COMPARED.items()}

MEANINGS = COLUMNS["beyond"]
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


def entry_of(log: str, name: str, run: Run, measure: str, column: str = "") -> Entry:
    """Return the cell of a measure, whose column has its name unless another is given."""
    unit, definition = MEANINGS[measure]
    place = f"{short_name(log)} {name}"
    near = Within(relative=0.01)
    return Entry(place, column or measure, run, measure, definition, unit, rule=near, why=CHAOTIC)


def of_other_logs(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield Tables 4 to 6 and Figures 5 and 6 of logs that are none of the paper's."""
    for name, run in ({} if log in LOGS.values() else RUNS).items():
        yield from (entry_of(log, name, run, measure) for measure in COUNTS)


def of_fairness(log: str, quick: bool) -> Iterator[Entry]:
    """Yield delays of heads, and from submission on."""
    for name, parameters in COMPARED.items():
        yield from (entry_of(log, name, RUNS[name], measure) for measure in HEADS)
        drawn = fairness_run(parameters.policy, parameters.predictor, quick)
        for measure in ("delayed from submission", "mean delay from submission"):
            yield entry_of(log, name, drawn, measure)


def of_loads(log: str, quick: bool) -> Iterator[Entry]:
    """Yield the policies where times between submissions are scaled."""
    for load in (0.9,) if quick else LOADS:
        row = f"at load {load}"
        for name, parameters in COMPARED.items():
            other = schedule_run(policy=parameters.policy, predictor=parameters.predictor, load=load)
            for measure in ("MBS", "MWBS", "late heads"):
                yield entry_of(log, row, other, measure, f"{measure} {name}")
        kept = schedule_run(load=load, preemption="suspend")
        for measure in ("MBS", "MWBS"):
            yield entry_of(log, row, kept, measure, f"{measure} PV-EASY that suspends")
        yield entry_of(log, row, schedule_run(load=load), f"wasted load{FROM_FIRST}", "wasted load PV-EASY")


def of_predictors(log: str, quick: bool) -> Iterator[Entry]:
    """Yield both policies by what they are told."""
    told = PREDICTORS[:3] if quick else PREDICTORS
    for predictor in told if log in TOO_LONG or quick else (*told, LEARNER):
        for name, policy in (("PV-EASY", "pv-easy"), ("EASY", "easy")):
            run = schedule_run(policy=policy, predictor=predictor)
            for measure in ("MBS", "MWBS", "late heads"):
                yield entry_of(log, predictor, run, measure, f"{measure} {name}")
        pv_easy = schedule_run(predictor=predictor)
        yield from (entry_of(log, predictor, pv_easy, measure) for measure in ("preempted jobs", "wasted load"))


def of_variants(ways: Mapping[str, Mapping[str, Any]], log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield PV-EASY with some of its parameters changed."""
    yield from (entry_of(log, name, schedule_run(**way), measure) for name, way in ways.items() for measure in COSTS)


CHAOTIC = "unexplained; single kills change all that follows: without the 26 jobs of 0 s MBS is 0.3 % smaller"
"""Why a value of the other program may differ; measured on SDSC Blue Horizon, the only log where any does."""

PROGRAM = read_printed(__package__, "published/other_program.csv")


def of_other_program(log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield what another program measured too, which was written from the same rules by itself."""
    columns = ("backfilled jobs", "blocked jobs", "preempted jobs", "mean kills", "mean run time waste")
    for name, run in (NAMES if log in LOGS.values() else {}).items():
        for measure in (*columns, "total load", "wasted load", "MBS", "MWBS"):
            if PROGRAM[f"CTC {name}"][measure]:
                yield entry_of(log, name, run, measure)


MADE = {
    "fairness": made_of(of_fairness),
    "other-logs": made_of(of_other_logs),
    "load": made_of(of_loads),
    "predictors": made_of(of_predictors),
    "preemption": made_of(partial(of_variants, WAYS)),
    "parts": made_of(partial(of_variants, PARTS_OF_POLICY)),
    "other-program": made_of(of_other_program),
}
"""How each table is made."""
