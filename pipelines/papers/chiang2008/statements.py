# SPDX-License-Identifier: BSD-3-Clause
"""What the text says of its figures, one statement a line, in words of our own.

The paper says it of ten months of the IA-64 cluster at NCSA, whose log is not public, and that two other logs, those
used here, are qualitatively the same. The rule by which a statement holds stands with it; none was changed when its
outcome was known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan, nan

from pipelines.papers.chiang2008 import claims_of_text, classes, curves, decisions, efficiency
from pipelines.papers.chiang2008.claims import judge, statement
from pipelines.papers.chiang2008.figures import BEST
from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.policies import STARVING, TABLE_6, made_quick
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Measurements, Printed, Run

STARVING_LEXICAL = {name: run for name, run in TABLE_6.items() if name.startswith("Lexical(avg")}
"""Those that put a mean first."""

STARVING_TRADEOFF = {name: run for name, run in STARVING.items() if "(maxW:avgX)" in name}
"""One trade-off by different searches, differences and reference values."""


def plan(is_large: bool, log: str, quick: bool) -> list[Run]:
    """Return the runs of all statements."""
    if is_large:
        named = [run for claim in claims_of_text.LEXICAL_CLAIMS_LARGE for run in claim.runs]
        others = [run for figure in ("3", "4", "5", "7") for run in curves.plan(figure, True, log, quick)]
    else:
        named = [run for claim in claims_of_text.CLAIMS for run in claim.runs]
        named += [*BEST.values(), *STARVING_TRADEOFF.values(), *STARVING_LEXICAL.values()]
        others = [run for figure in curves.FIGURES for run in curves.plan(figure, False, log, quick)]
        others += decisions.plan(log, quick)
    return [*(made_quick(run) if quick else run for run in named), *others]


def cells(is_large: bool, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no table)
    """Yield the statements, in the order of the paper."""
    values = Values(found)
    if is_large:
        yield from efficiency.statements(values)
        yield efficiency.relaxed_is_faster(values)
        yield from (judge(values, claim) for claim in claims_of_text.LEXICAL_CLAIMS_LARGE)
        return
    yield from (judge(values, claim) for claim in claims_of_text.THRESHOLD_CLAIMS)
    yield from _waiting(found, quick)
    yield from efficiency.statements(values)
    yield from (judge(values, claim) for claim in claims_of_text.DESIGN_CLAIMS)
    yield efficiency.is_steady(values)
    yield from (judge(values, claim) for claim in claims_of_text.LEXICAL_CLAIMS)
    yield _all_starve(
        values,
        "Section 6.1: each policy that puts a mean first makes a job wait for more than 1,000 h in some month",
        STARVING_LEXICAL,
        claims_of_text.THOUSAND,
    )
    yield from (judge(values, claim) for claim in claims_of_text.TRADEOFF_CLAIMS)
    yield _all_starve(
        values,
        "Section 6.2: so it is by other searches, strict differences and other reference values",
        STARVING_TRADEOFF,
        claims_of_text.STARVED,
    )
    yield from (judge(values, claim) for claim in claims_of_text.BACKFILL_CLAIMS)
    yield from classes.statements(values)


def _waiting(found: Measurements, quick: bool) -> Iterator[Cell]:
    """Yield what section 5.2 says of how many jobs wait at decisions."""
    run = decisions.decisions_run(decisions.OBJECTIVES["Tradeoff(T_w:avgX)"], quick)
    for words, printed, measure, least in (
        ("Section 5.2: at most decisions 10 jobs wait or more", "most", "10 or more wait", 50.0),
        ("Section 5.2: at 70 % of decisions no more than 30 jobs wait", "70 %", "30 or fewer wait", 70.0),
    ):
        shares = {log: found.value(log, run, decisions.DECISIONS, measure) for log in found.logs}
        known = {log: share for log, share in shares.items() if not isnan(share)}
        told = ", ".join(f"{short_name(log)} {share:.1f} %" for log, share in known.items())
        yield statement(
            words,
            printed,
            min(known.values(), default=nan),
            f"the least of {told}, under Tradeoff(T_w:avgX); it holds from {least:g} % on",
            min(known.values(), default=0.0) >= least,
            unit="%",
            known=len(known),
        )


def _all_starve(values: Values, words: str, runs: Mapping[str, Run], limit: float) -> Cell:
    """Return whether each of some policies has a month whose longest wait is beyond a limit, h."""
    every = {name: [values.greatest(log, run, "max wait") for log in values.logs] for name, run in runs.items()}
    longest = {name: [wait for wait in waits if not isnan(wait)] for name, waits in every.items()}
    known = {name: max(waits) for name, waits in longest.items() if waits}
    held = sum(value > limit for value in known.values())
    waits = ", ".join(f"{name} {value:.0f} h" for name, value in known.items())
    told = (
        f"of {len(known)} policies; their longest waits in any month: {waits}; it holds if all are beyond {limit:g} h"
    )
    return statement(words, "all", held, told, held == len(known), unit="policies", known=len(known))
