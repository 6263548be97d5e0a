# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1 to 6: delays of blocked jobs, the logs, and what PV-EASY costs.

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
from functools import partial

from pipelines.papers.entries import Entry, made_of, read_columns
from pipelines.papers.paper import AS_WRITTEN, Run, Within
from pipelines.papers.yuan2010.populations import BETWEEN, FROM_ZERO, KEPT, POPULATION, is_other, short_name
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
    """How a row is read.

    Parameters
    ----------
    run : Run
        In which its values were measured.
    words : str
        The reading.
    is_chosen : bool
        Whether it is the one that counts.
    measures : mapping of str to str
        As what a column was measured, where that is not its name.
    subject : str
        Of what it was measured.
    name : str
        Of the row, behind the log's.
    only : tuple of str
        Columns that are read so; all where there are none.
    """

    run: Run
    words: str = AS_WRITTEN
    is_chosen: bool = True
    measures: Mapping[str, str] = field(default_factory=dict)
    subject: str = JOBS
    name: str = ""
    only: tuple[str, ...] = ()


INCREMENTS = schedule_run(policy="easy-at-events", predictor="last-model:outlived=increments")

WASTE = "mean run time waste"

READINGS = {
    "1": [
        Reading(
            run,
            f"{easy}; {sense}",
            easy == LAST and sense == ALL_LOWER,
            {"delayed jobs": f"late heads{by}", **{name: f"{name}{by}" for name in ("mean delay", "longest delay")}},
        )
        for easy, run in EASY_READINGS.items()
        for sense, by in SENSES.items()
    ],
    "2": [
        Reading(EASY_LAST, "what jobs of higher priority cause is benign", subject=VIOLATED),
        Reading(EASY_LAST, "nothing is benign: the whole delay behind the reservation", False, subject=BENIGN_TOO),
        Reading(EASY_LAST, "benign is all delay of jobs that those of higher priority delayed", False, subject=CLEAR),
        Reading(
            EASY_LAST,
            "benign is also what jobs of lower priority cause that ran before the job was blocked",
            False,
            subject=BY_LATER,
        ),
        Reading(
            INCREMENTS,
            "as chosen, but a prediction that is outlived grows by increments (Tsafrir et al. 2007), not to the "
            "request",
            False,
            subject=VIOLATED,
        ),
    ],
    "3": [
        Reading(POPULATION, KEPT, only=("jobs",)),
        Reading(POPULATION, FROM_ZERO, only=("load",)),
        Reading(POPULATION, BETWEEN, False, {"load": "load between submissions"}, only=("load",)),
        Reading(POPULATION, only=("mean parallelism", "mean run time")),
    ],
    "4": [
        *(
            Reading(run, words, words == LAST, name="EASY")
            for words, run in (EASY_READINGS | {OFTEN: EASY_OFTEN}).items()
        ),
        Reading(PV_EASY, name="PV-EASY"),
    ],
    "5": [
        Reading(PV_EASY, FROM_ZERO),
        Reading(PV_EASY, BETWEEN, False, {name: f"{name}{FROM_FIRST}" for name in ("total load", "wasted load")}),
    ],
    "6": [
        Reading(PV_EASY),
        Reading(
            PV_EASY,
            "of all preempted jobs together, by processor-seconds",
            False,
            {WASTE: "waste of all work"},
            only=(WASTE,),
        ),
    ],
}
"""How the rows of each table are read; the chosen reading first."""

COLUMNS = read_columns(__package__)

OF_SCHEDULES = [PV_EASY, EASY, EASY_LAST, EASY_OFTEN]
"""The runs of Tables 1 and 4, and of the figures that go with them."""


def entries_of(number: str, log: str, quick: bool) -> Iterator[Entry]:  # noqa: ARG001 (quick as it is)
    """Yield the cells of a table: of each log of the paper a row by each reading."""
    rule = Within(relative=0.005) if number == "3" else NEAR
    for reading in [] if is_other(log) else READINGS[number]:
        for column, (unit, definition) in COLUMNS[number].items():
            if column in reading.only or not reading.only:
                yield Entry(
                    f"{short_name(log)} {reading.name}".strip(),
                    column,
                    reading.run,
                    reading.measures.get(column, column),
                    definition,
                    unit,
                    reading.subject,
                    reading=reading.words,
                    is_chosen=reading.is_chosen,
                    rule=rule,
                )


MADE = {
    number: made_of(partial(entries_of, number), OF_SCHEDULES if number in ("1", "4") else ()) for number in READINGS
}
"""How each table is made."""
