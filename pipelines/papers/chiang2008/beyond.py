# SPDX-License-Identifier: BSD-3-Clause
"""What the figures do not show: all twelve policies, starvation, other run times told, utility, another program."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.papers.chiang2008 import decisions
from pipelines.papers.chiang2008.figures import BEST, GREATEST, cells_of, planned, told
from pipelines.papers.chiang2008.months import LOGS, STANDARD, SUMMER, short_name
from pipelines.papers.chiang2008.policies import BACKFILL, STARVING, TABLE_6, TRADEOFF, changed, search
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run, Within, read_printed

TOLD = {"run times": "exact", "requested times": "request", "predictions": "last-model"}
"""What policies are told of run times."""

ESTIMATES = {
    f"{name}, told {words}": changed(run, predictor=predictor)
    for words, predictor in TOLD.items()
    for name, run in BEST.items()
}

AS_LOGGED = {name: changed(run, load=None) for name, run in {**TABLE_6, **BACKFILL}.items()}
"""All of them at the original load, at which the paper shows fixed thresholds only, since policies differ less."""

UTILITY = {
    name: changed(run, utility=True)
    for name, run in {
        **BEST,
        "Lexical(lost-utility -> avgX)": search("lexical(lost-utility -> avgX)"),
        "Lexical(T_w -> lost-utility)": search("lexical(T_w -> lost-utility)"),
        "Tradeoff(T_w:lost-utility)": search("tradeoff-a(T_w:lost-utility)"),
    }.items()
}
"""Lee 2009 asks for the greatest utility of all jobs; here the same is asked of search."""

PROTOTYPE = read_printed(__package__, "published/other_program.csv")
"""What an independent program found by the same rules: means over the same months, at load 0.9."""

COMPARED = {**BEST, "Tradeoff(maxW:avgX)": TABLE_6["Tradeoff(maxW:avgX)"]}

READINGS = {STANDARD: "months begin by standard time", SUMMER: "months begin by clocks that are put forward in summer"}

RUNS = {
    **{(name, STANDARD): run for name, run in COMPARED.items()},
    **{
        (name, SUMMER): changed(run, clock=SUMMER) for name, run in {**BACKFILL, "Tradeoff(T_w:avgX)": TRADEOFF}.items()
    },
}
"""What is compared, by name and reading: of the other reading enough to see how far an hour moves means."""

NEAR = Within(absolute=0.5, relative=0.01)
"""When a value of the other program counts as met: it is printed in whole hours, and schedules are chaotic."""

CHAOTIC = (
    "schedules are chaotic: what moves a few jobs from one month to the next, as summer time does, moves means as far"
)


def plan_of_program(log: str, quick: bool) -> list[Run]:
    """Return the runs that the other program made too, by both readings."""
    if quick or log not in LOGS.values():
        return []
    return [*RUNS.values()]


def cells_of_program(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (not of a quick run)
    """Yield our values beside those of the other program."""
    values = Values(found)
    for log in (log for log in found.logs if log in LOGS.values()):
        for (name, clock), run in RUNS.items():
            row = f"{short_name(log)} {name}"
            for column, its in printed[row].items():
                ours, definition, unit = told(values, log, run, column)
                yield Cell(
                    row,
                    column,
                    ours,
                    definition,
                    unit=unit,
                    reading=READINGS[clock],
                    is_chosen=clock == STANDARD,
                    printed=its,
                    rule=NEAR,
                    why=CHAOTIC,
                )


OF_UTILITY = ("utility", "max wait", GREATEST, "mean wait", "mean bounded slowdown", "excess over 98 %")

MADE: dict[str, tuple[Plan, Cells]] = {
    "table-6": (planned(TABLE_6), cells_of(TABLE_6)),
    "original-load": (planned(AS_LOGGED), cells_of(AS_LOGGED)),
    "starvation": (planned(STARVING), cells_of(STARVING)),
    "estimates": (planned(ESTIMATES), cells_of(ESTIMATES)),
    "utility": (planned(UTILITY), cells_of(UTILITY, OF_UTILITY)),
    "decisions": decisions.MADE,
    "other-program": (plan_of_program, cells_of_program),
}
"""How each table is made."""
