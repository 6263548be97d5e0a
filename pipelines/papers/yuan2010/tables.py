# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1, 2, 4, 5 and 6: delays of blocked jobs, and what PV-EASY costs.

Reading chosen
    Which run times EASY is told in Tables 1 and 4 is not clear: section 5.2 makes the Last Model the default of every
    policy, and section 5.2.3 sets EASY beside "EASY-Last", as if it were told what users request. Both tables print the
    same blocked jobs, so they are of one schedule; section 5.2 speaks of Table 4 by itself, so its default is chosen,
    and the other stands beside it. The simulator asks a policy at submissions and completions (section 5.1.1), not when
    a prediction is outlived.

    A blocked job is the first in the queue after all that happens at an instant. Table 1 asks how long jobs of lower
    priority delayed it. Strict fairness (section 3.1) allows none: so it is measured against a machine from which, from
    when the job was blocked, all of lower priority are gone. That those which ran already stay is the other reading.

    Table 2 leaves out as benign what a job of higher priority causes that runs longer than predicted. So a violation is
    what remains beyond both the reservation and the start that those of higher priority allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pipelines.papers.paper import AS_WRITTEN, Cell, Measurements, Printed, Run, Within
from pipelines.papers.yuan2010.populations import BETWEEN, FROM_ZERO, is_other, logs_of_paper, short_name
from pipelines.papers.yuan2010.schedules import (
    BENIGN_TOO,
    BY_LATER,
    CLEAR,
    EASY,
    EASY_LAST,
    FROM_FIRST,
    JOBS,
    PV_EASY,
    VIOLATED,
    schedule_run,
)

NEAR = Within(relative=0.1)
"""When a value counts as reproduced: the paper leaves open what runs do that outlive their prediction, and more."""

LAST, REQUEST = (
    "EASY is told the Last Model, the default of section 5.2",
    "EASY is told what users request, as section 5.2.3 suggests",
)
EASY_READINGS = {LAST: EASY_LAST, REQUEST: EASY}

OFTEN = "as chosen, but EASY decides also when a prediction is outlived, as it does elsewhere in this package"
EASY_OFTEN = schedule_run(policy="easy")

ALL_LOWER, LATER_STARTS = (
    "delayed by any job of lower priority, also one that ran before",
    "delayed by jobs of lower priority that started later",
)
SENSES = {ALL_LOWER: "", LATER_STARTS: " by later starts"}


@dataclass(frozen=True)
class Reading:
    """How a row is read: the run, in words, what was measured in it, and as what where that is not the column."""

    run: Run
    words: str = AS_WRITTEN
    is_chosen: bool = True
    measures: Mapping[str, str] = field(default_factory=dict)
    subject: str = JOBS


INCREMENTS = schedule_run(policy="easy-at-events", predictor="last-model:outlived=increments")

UNITS = {
    "delayed jobs": "jobs",
    "blocked jobs": "jobs",
    "backfilled jobs": "jobs",
    "preempted jobs": "jobs",
    "jobs": "jobs",
    "mean delay": "min",
    "longest delay": "h",
    "mean parallelism": "processors",
    "total load": "%",
    "wasted load": "%",
    "rate": "%",
    "mean run time waste": "%",
}
"""Of the columns; 1 of any other."""


def plan_delays(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (quick as it is)
    """Return the runs of Tables 1 and 4."""
    return [] if is_other(log) else [PV_EASY, EASY, EASY_LAST, EASY_OFTEN]


def plan_violations(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (quick as it is)
    """Return the runs of Table 2."""
    return [] if is_other(log) else [EASY_LAST, INCREMENTS]


def plan_costs(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (quick as it is)
    """Return the run of Tables 5 and 6."""
    return [] if is_other(log) else [PV_EASY]


def cells_of_delays(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (as above)
    """Yield the cells of Table 1."""
    definitions = {
        "delayed jobs": "blocked jobs that jobs of lower priority delayed",
        "blocked jobs": "jobs that were the first in the queue and did not fit",
        "mean delay": "mean delay of the delayed jobs",
        "longest delay": "longest delay",
    }
    for log in logs_of_paper(found):
        for easy, run in EASY_READINGS.items():
            for sense, words in SENSES.items():
                measures = {name: f"{name}{words}" for name in definitions}
                measures |= {"delayed jobs": f"late heads{words}", "blocked jobs": "blocked jobs"}
                is_chosen = easy == LAST and sense == ALL_LOWER
                yield from _row(found, printed, log, definitions, Reading(run, f"{easy}; {sense}", is_chosen, measures))


VIOLATIONS = (
    Reading(EASY_LAST, "what jobs of higher priority cause is benign", subject=VIOLATED),
    Reading(
        EASY_LAST, "nothing is benign: the whole delay behind the reservation", is_chosen=False, subject=BENIGN_TOO
    ),
    Reading(
        EASY_LAST, "benign is all delay of jobs that those of higher priority delayed", is_chosen=False, subject=CLEAR
    ),
    Reading(
        EASY_LAST,
        "benign is also what jobs of lower priority cause that ran before the job was blocked",
        is_chosen=False,
        subject=BY_LATER,
    ),
    Reading(
        INCREMENTS,
        "as chosen, but a prediction that is outlived grows by increments (Tsafrir et al. 2007), not to the request",
        is_chosen=False,
        subject=VIOLATED,
    ),
)


def cells_of_violations(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (as above)
    """Yield the cells of Table 2."""
    definitions = {
        "jobs": "jobs that started behind their reservation and behind what jobs of higher priority allowed",
        "mean parallelism": "their mean processors",
        "mean delay": "their mean delay behind both",
        "mean slowdown increment": "mean of that delay over the run time, at least 10 s",
        "longest delay": "the longest",
        "largest slowdown increment": "the largest",
    }
    for log in logs_of_paper(found):
        for reading in VIOLATIONS:
            yield from _row(found, printed, log, definitions, reading)


def cells_of_counts(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (as above)
    """Yield the cells of Table 4."""
    definitions = {
        "backfilled jobs": "jobs whose last run began before one that was submitted earlier",
        "blocked jobs": "jobs that were the first in the queue and did not fit, nor could after preemption",
    }
    for log in logs_of_paper(found):
        for words, run in (EASY_READINGS | {OFTEN: EASY_OFTEN}).items():
            yield from _row(found, printed, log, definitions, Reading(run, words, words == LAST), "EASY")
        yield from _row(found, printed, log, definitions, Reading(PV_EASY), "PV-EASY")


def cells_of_loads(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (as above)
    """Yield the cells of Table 5."""
    definitions = {
        "total load": "share of the machine that all runs took up to the last end",
        "wasted load": "share that runs took which were killed",
    }
    for log in logs_of_paper(found):
        for words, time in {FROM_ZERO: "", BETWEEN: FROM_FIRST}.items():
            measures = {name: f"{name}{time}" for name in definitions}
            yield from _row(found, printed, log, definitions, Reading(PV_EASY, words, words == FROM_ZERO, measures))


def cells_of_kills(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (as above)
    """Yield the cells of Table 6."""
    definitions = {
        "preempted jobs": "jobs that were killed",
        "rate": "their share of all jobs",
        "mean kills": "how often they were killed",
        "mean run time waste": "time of their killed runs over their run time",
    }
    waste = {"mean run time waste": "waste of all work"}
    together = Reading(PV_EASY, "of all preempted jobs together, by processor-seconds", is_chosen=False, measures=waste)
    for log in logs_of_paper(found):
        yield from _row(found, printed, log, definitions, Reading(PV_EASY))
        yield from _row(found, printed, log, {name: definitions[name] for name in waste}, together)


def _row(
    found: Measurements, printed: Printed, log: str, definitions: Mapping[str, str], reading: Reading, name: str = ""
) -> Iterator[Cell]:
    """Yield the cells of a row by one reading, a column for each definition."""
    row = f"{short_name(log)} {name}".strip()
    for column, definition in definitions.items():
        yield Cell(
            row,
            column,
            found.value(log, reading.run, reading.subject, reading.measures.get(column, column)),
            definition,
            unit=UNITS.get(column, "1"),
            reading=reading.words,
            is_chosen=reading.is_chosen,
            printed=printed.get(row, {}).get(column),
            rule=NEAR,
        )
