# SPDX-License-Identifier: BSD-3-Clause
"""Tables 4.1 and 4.2: four policies by percentiles of waits and expansion factors, slowdown, and what jobs earned.

Readings chosen
    Of aggregate utility, whose unit is arbitrary, the ratio to EASY's counts, draw by draw. In Table 4.2 policies are
    told the run times, and jobs that were cancelled run for all that they requested: so its waits are nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from pipelines.papers.lee2009.schedules import (
    CONSERVATIVE,
    EARNED,
    EASY,
    EXPANSION,
    GENERATIONS,
    GENERATIONS_FEW,
    GENERATIONS_QUICK,
    GENETIC,
    JOBS,
    PERCENTS,
    PRIO,
    SLOWDOWN,
    UTILITY,
    WAIT,
    policy_run,
)
from pipelines.papers.lee2009.values import SEEDS_FEW, SHORT, cell_of, logs_of_utility, ratios, seeds
from pipelines.papers.lee2009.windows import BLUE, is_of_utility, ranks_of, short_name
from pipelines.papers.paper import AS_WRITTEN, UNEXPLAINED, Cell, Cells, Measurements, Plan, Printed, Run, Within

POLICIES = (CONSERVATIVE, EASY, PRIO, GENETIC)

REQUESTED: dict[str, Any] = {}
EXACT: dict[str, Any] = {"predictor": "exact", "cancelled": "full-request"}
EXACT_AT_ONCE: dict[str, Any] = {"predictor": "exact"}
REQUESTED_FULL: dict[str, Any] = {"cancelled": "full-request"}
"""What policies are told of run times, and what becomes of cancelled jobs: Table 4.1, Table 4.2, and mixed."""

TOLD: dict[str, dict[str, Any]] = {"4.1": REQUESTED, "4.2": EXACT}

AT_ONCE = "jobs that were cancelled end at once"
FULL = "jobs that were cancelled run for all that they requested"
READING = {"4.1": AT_ONCE, "4.2": FULL}

OTHERS = {
    "reservations of conservative backfilling are made anew at each decision": "conservative-replanned",
    "reservations of conservative backfilling never move": "conservative-fixed",
}
"""Other readings of "Cons"; where run times are told, nothing ends early, and all are the same."""

NO_VARIANT = "no reading of conservative backfilling that was tried comes to these values"
BRED = (
    "orders are bred at random, and which job starves differs from draw to draw; the ratio to EASY is above the paper's"
)
MORE_SLOWDOWN = "jobs that were cancelled end at once here, and weigh most; what the paper counts of them is not known"
OWN_DRAWS = "the reading of cancelled jobs is a guess, and the functions are other draws"

MEASURES = {
    "wait": (WAIT, "s", Within(absolute=60, relative=0.05), "wait at this percentile, without interactive jobs"),
    "expansion": (EXPANSION, "1", Within(absolute=0.05, relative=0.1), "(wait + request) / request at this percentile"),
    "earned": (
        EARNED,
        "%",
        Within(absolute=2),
        "utility earned over the start value; so many jobs earned so much or more",
    ),
}
LAST = {
    "slowdown": (
        SLOWDOWN,
        Within(relative=0.1),
        "mean bounded slowdown, without the first N/101 and last N mod 100 jobs",
    ),
    "aggregate utility": (UTILITY, Within(absolute=0.02), "aggregate utility over that of EASY, draw by draw"),
}


def generations(quick: bool, *, few: bool = False) -> int:
    """Return the generations of a genetic policy."""
    return GENERATIONS_QUICK if quick else GENERATIONS_FEW if few else GENERATIONS


def told_run(log: str, policy: str, quick: bool, seed: int = 0, *, few: bool = False, **parameters: Any) -> Run:
    """Return the run of a policy with the log's ranks; ``few`` generations where a figure has many cells."""
    given = {"ranks": ranks_of(log)} | parameters
    return policy_run(policy, seed, generations=generations(quick, few=few), **given)


def runs_of_table(number: str, log: str, quick: bool) -> list[Run]:
    """Return the runs of Table 4.1 or 4.2, with further readings of conservative backfilling."""
    if not is_of_utility(log):
        return []
    policies = (*POLICIES, *(OTHERS.values() if number == "4.1" else ()))
    return [told_run(log, policy, quick, seed, **TOLD[number]) for policy, seed in product(policies, seeds(quick))]


def cells_of_table(number: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield the cells of Table 4.1 or 4.2."""
    for log in logs_of_utility(found):
        own = printed if log == BLUE and not quick else {}
        for policy in POLICIES:
            reading = READING[number] if policy != CONSERVATIVE else f"{READING[number]}; reservations are compressed"
            yield from _row(number, found, log, own, quick, policy, SHORT[policy], reading, is_chosen=True)
        for reading, policy in OTHERS.items() if number == "4.1" else ():
            yield from _row(number, found, log, own, quick, policy, SHORT[CONSERVATIVE], reading, is_chosen=False)


def _row(
    number: str,
    found: Measurements,
    log: str,
    printed: Printed,
    quick: bool,
    policy: str,
    name: str,
    reading: str,
    *,
    is_chosen: bool,
) -> Iterator[Cell]:
    """Yield the cells of a policy."""
    run = told_run(log, policy, quick, **TOLD[number])
    row = name if log == BLUE else f"{short_name(log)} {name}"
    text = printed.get(name, {})
    common: dict[str, Any] = {"reading": reading, "is_chosen": is_chosen}
    for (column, (measure, unit, rule, definition)), percent in product(MEASURES.items(), PERCENTS):
        place = f"{column} {percent} %"
        values = found.values(log, run, JOBS, measure, str(percent))
        why = why_not(number, policy, column)
        yield cell_of(row, place, values, definition, unit=unit, printed=text.get(place), rule=rule, why=why, **common)
    for column, (measure, rule, definition) in LAST.items():
        values = found.values(log, run, JOBS, measure)
        shown = text.get(column)
        if measure == UTILITY:
            values = ratios(found, log, run, told_run(log, EASY, quick, **TOLD[number]))
            shown = ratio_of(printed, name, SHORT[EASY])
        why = why_not(number, policy, column)
        yield cell_of(
            row,
            column,
            values,
            definition,
            printed=shown,
            rule=rule if policy != EASY or measure != UTILITY else None,
            why=why,
            **common,
        )


def ratio_of(printed: Printed, one: str, other: str) -> str | None:
    """Return the ratio of two printed aggregate utilities, to as many digits as these have.

    Examples
    --------
    >>> ratio_of({"GA": {"aggregate utility": "1.35e09"}, "EASY": {"aggregate utility": "1.16e09"}}, "GA", "EASY")
    '1.16'
    """
    if one not in printed or other not in printed:
        return None
    return f"{float(printed[one]['aggregate utility']) / float(printed[other]['aggregate utility']):.2f}"


def why_not(number: str, policy: str, column: str) -> str:
    """Return what is known of why a value is not reproduced."""
    if policy.startswith(CONSERVATIVE):
        return NO_VARIANT
    if number == "4.2":
        return OWN_DRAWS
    if policy == GENETIC:
        return BRED
    return MORE_SLOWDOWN if column == "slowdown" else UNEXPLAINED


READINGS: dict[str, dict[str, Any]] = {
    AS_WRITTEN: {},
    "queues ranked by price and text": {"ranks": "by-price"},
    "equation 2.2 as printed: the highest priority is worth least": {"ranks": "reversed"},
    "deadline twice the logged wait, utility at the wait, as in the text": {"clock": "wait"},
    "orders are planned by the end of what is requested": {"plan_clock": "requested"},
}
"""What else the paper may mean, and which parameters say so; the first is that of Table 4.1."""


def runs_of_readings(log: str, quick: bool) -> list[Run]:
    """Return the runs of other readings, of the paper's window alone."""
    return [
        reading_run(log, policy, parameters, quick, seed)
        for parameters in READINGS.values()
        for policy, seed in product(POLICIES, seeds(quick, SEEDS_FEW))
        if log == BLUE
    ]


def reading_run(log: str, policy: str, parameters: dict[str, Any], quick: bool, seed: int = 0) -> Run:
    """Return the run of a policy by a reading."""
    return told_run(log, policy, quick, seed, few=True, **parameters)


def cells_of_readings(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield aggregate utilities over EASY's by other readings, and what jobs earn under EASY."""
    for log in [log for log in logs_of_utility(found) if log == BLUE]:
        for words, parameters in READINGS.items():
            row = "as in Table 4.1" if words == AS_WRITTEN else words
            easy = reading_run(log, EASY, parameters, quick)
            for policy in (CONSERVATIVE, PRIO, GENETIC):
                run = reading_run(log, policy, parameters, quick)
                shown = None if quick else ratio_of(printed, SHORT[policy], SHORT[EASY])
                definition = "aggregate utility over that of EASY; published is that of Table 4.1"
                yield cell_of(row, SHORT[policy], ratios(found, log, run, easy), definition, printed=shown)
            for percent in (25, 50, 75):
                column = f"earned {percent} %"
                shown = None if quick else printed[SHORT[EASY]][column]
                values = found.values(log, easy, JOBS, EARNED, str(percent))
                yield cell_of(
                    row, f"EASY {column}", values, "share of the start value earned under EASY", unit="%", printed=shown
                )


MADE: dict[str, tuple[Plan, Cells]] = {
    **{number: (partial(runs_of_table, number), partial(cells_of_table, number)) for number in TOLD},
    "readings": (runs_of_readings, cells_of_readings),
}
"""How each table is made."""
