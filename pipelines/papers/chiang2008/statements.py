"""What the text says of its figures, one statement a line, in words of our own.

The paper says it of ten months of the IA-64 cluster at NCSA, whose log is not public, and that two other logs, those
used here, are qualitatively the same. The rule by which a statement holds stands with it, and was written before
anything was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pipelines.papers.chiang2008 import curves, decisions
from pipelines.papers.chiang2008.claims import (
    IN_EACH,
    IN_MOST,
    IN_NEARLY_ALL,
    IN_SEVERAL,
    RULES,
    Claim,
    Rule,
    judge,
    larger,
    much_smaller,
    not_larger,
    similar,
    smaller,
    statement,
)
from pipelines.papers.chiang2008.curves import EXCEPTIONAL, RELAXED, STRICT_MAXW, STRICT_TW, TYPICAL, Curve, points
from pipelines.papers.chiang2008.figures import BEST, large
from pipelines.papers.chiang2008.months import HIGH_LOAD, short_name
from pipelines.papers.chiang2008.policies import (
    FCFS,
    LEXICAL,
    LXF,
    STARVING,
    STRICT,
    TABLE_6,
    TRADEOFF,
    VERSIONS,
    made_quick,
    with_threshold,
)
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Measurements, Printed, Run

WAIT, MEAN_WAIT, SLOWDOWN, WORST = "max wait", "mean wait", "mean bounded slowdown", "max bounded slowdown"
EXCESS, BEYOND = "excess over 98 %", "jobs beyond 98 %"
EVERY = (WAIT, MEAN_WAIT, SLOWDOWN, WORST, EXCESS)

STARVED, THOUSAND = 400.0, 1000.0
"""Waits that the text calls starvation, h."""


def _fixed(hours: int, load: float | None) -> Run:
    """Return a run of Figure 2."""
    return with_threshold(f"{hours} h", load)


THRESHOLD_CLAIMS = (
    Claim(
        "Figure 2a: at the original load a threshold of 50 h keeps waits to 50 h",
        "all but one month",
        (WAIT,),
        _fixed(50, None),
        50.0,
        not_larger,
        IN_NEARLY_ALL,
    ),
    Claim(
        "Figure 2a: at the original load the longest wait is roughly 100 h by a threshold of 100 h",
        "all months",
        (WAIT,),
        _fixed(100, None),
        100.0,
        similar,
        IN_EACH,
    ),
    Claim(
        "Figure 2b: at load 0.9 a threshold of 50 h does not keep waits to 50 h",
        "most months",
        (WAIT,),
        _fixed(50, HIGH_LOAD),
        50.0,
        larger,
        IN_MOST,
    ),
    Claim(
        "Figure 2b: at load 0.9 a threshold of 100 h keeps waits to roughly 100 h",
        "each month",
        (WAIT,),
        _fixed(100, HIGH_LOAD),
        100.0,
        not_larger,
        IN_EACH,
    ),
    Claim(
        "Figure 2b: at load 0.9 the longest wait is 300 h by a threshold of 300 h",
        "all but two months",
        (WAIT,),
        _fixed(300, HIGH_LOAD),
        300.0,
        similar,
        IN_NEARLY_ALL,
    ),
    Claim(
        "Figure 2b: at load 0.9 a threshold of 50 h gives no shorter longest wait than one of 100 h",
        "most months",
        (WAIT,),
        _fixed(100, HIGH_LOAD),
        _fixed(50, HIGH_LOAD),
        not_larger,
        IN_MOST,
    ),
    Claim(
        "Figure 2c: the mean bounded slowdown is smaller with a threshold of 300 h than with one of 50 h",
        "when the longest wait is longer",
        (SLOWDOWN,),
        _fixed(300, HIGH_LOAD),
        _fixed(50, HIGH_LOAD),
        smaller,
        IN_MOST,
    ),
    Claim(
        "Figure 2c: that gain is small",
        "typically",
        (SLOWDOWN,),
        _fixed(300, HIGH_LOAD),
        _fixed(50, HIGH_LOAD),
        similar,
        IN_MOST,
    ),
    Claim(
        "Section 5.1: at load 0.9 a threshold of 0 makes single jobs wait for more than 1,000 h",
        "several months",
        (WAIT,),
        _fixed(0, HIGH_LOAD),
        THOUSAND,
        larger,
        IN_SEVERAL,
    ),
)

DESIGN_CLAIMS = (
    Claim(
        "Figure 6: strict and relaxed Lexical(T_w -> avgX) are similar",
        "but for one month",
        (WAIT, SLOWDOWN),
        LEXICAL,
        STRICT["Strict Lexical(T_w -> avgX)"],
        similar,
    ),
    Claim(
        "Section 5.3: relaxed differences improve trade-offs more often than they degrade them",
        "more improvement",
        (WAIT, MEAN_WAIT, SLOWDOWN, WORST),
        TRADEOFF,
        STRICT["Strict Tradeoff(T_w:avgX)"],
        smaller,
        IN_MOST,
    ),
    *(
        claim
        for version in ("B", "C")
        for claim in (
            Claim(
                f"Figure 8a: version {version} has the longest waits of version A",
                "each month",
                (WAIT,),
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                TRADEOFF,
                similar,
                IN_EACH,
            ),
            Claim(
                f"Section 5.4: version {version} has the mean waits and total excessive waits of version A",
                "similar",
                (MEAN_WAIT, EXCESS),
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                TRADEOFF,
                similar,
            ),
            Claim(
                f"Figure 8b: version {version} has the mean bounded slowdown of version A",
                "all but one month",
                (SLOWDOWN,),
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                TRADEOFF,
                similar,
                IN_NEARLY_ALL,
            ),
            Claim(
                f"Figure 8c: version A has a smaller largest bounded slowdown than version {version}",
                "three months of ten",
                (WORST,),
                TRADEOFF,
                VERSIONS[f"{version}-Tradeoff(T_w:avgX)"],
                much_smaller,
                IN_SEVERAL,
            ),
        )
    ),
)


def _lexical_claims(max_wait: Run, mean_wait: Run, lexical: Run) -> tuple[Claim, ...]:
    """Return what section 6.1 says of Lexical(maxW -> avgX), Lexical(T_w -> avgW) and Lexical(T_w -> avgX)."""
    return (
        Claim(
            "Figure 9a: Lexical(maxW -> avgX) has a considerably shorter longest wait than Lexical(T_w -> avgX)",
            "several months",
            (WAIT,),
            max_wait,
            lexical,
            much_smaller,
            IN_SEVERAL,
        ),
        Claim(
            "Figure 9b: Lexical(maxW -> avgX) has a larger mean bounded slowdown than Lexical(T_w -> avgX)",
            "many months",
            (SLOWDOWN,),
            max_wait,
            lexical,
            larger,
            IN_MOST,
        ),
        Claim(
            "Figure 9c: more jobs wait long under Lexical(maxW -> avgX) than under Lexical(T_w -> avgX)",
            "most months",
            (BEYOND,),
            max_wait,
            lexical,
            larger,
            IN_MOST,
        ),
        Claim(
            "Figure 9d: Lexical(maxW -> avgX) has the total excessive wait of Lexical(T_w -> avgX)",
            "most months",
            (EXCESS,),
            max_wait,
            lexical,
            similar,
            IN_MOST,
        ),
        Claim(
            "Figure 9: whether avgX or avgW comes second makes a minimal difference",
            "minimal",
            (WAIT, SLOWDOWN, BEYOND, EXCESS),
            mean_wait,
            lexical,
            similar,
        ),
    )


_OF_FIGURE_9 = (TABLE_6["Lexical(maxW -> avgX)"], TABLE_6["Lexical(T_w -> avgW)"], LEXICAL)

TRADEOFF_CLAIMS = (
    Claim(
        "Figure 10c: Tradeoff(T_w:avgX) has a much smaller mean bounded slowdown than Tradeoff(T_w:avgW)",
        "a few months",
        (SLOWDOWN,),
        TRADEOFF,
        TABLE_6["Tradeoff(T_w:avgW)"],
        much_smaller,
        IN_SEVERAL,
    ),
    Claim(
        "Figure 10d: Tradeoff(T_w:avgX) has a smaller largest bounded slowdown than Tradeoff(T_w:avgW)",
        "most months",
        (WORST,),
        TRADEOFF,
        TABLE_6["Tradeoff(T_w:avgW)"],
        smaller,
        IN_MOST,
    ),
    Claim(
        "Figures 10a and 10b: otherwise the two are similar",
        "fairly similar",
        (WAIT, MEAN_WAIT),
        TRADEOFF,
        TABLE_6["Tradeoff(T_w:avgW)"],
        similar,
    ),
    *(
        Claim(
            f"{place}: under {name} jobs starve, waiting for more than 400 h",
            "several months",
            (WAIT,),
            STARVING[name],
            STARVED,
            larger,
            IN_SEVERAL,
        )
        for place, name in (
            ("Figure 10a", "Tradeoff(maxW:avgX)"),
            ("Section 6.2", "Tradeoff(maxW:avgW)"),
            ("Section 6.2", "Tradeoff(maxE:avgX)"),
        )
    ),
)

BACKFILL_CLAIMS = (
    Claim(
        "Figures 11a and 11b: FCFS-backfill has the shorter longest wait and less excessive wait than LXF-backfill",
        "large difference",
        (WAIT, EXCESS),
        FCFS,
        LXF,
        smaller,
        IN_MOST,
    ),
    Claim(
        "Figures 11c and 11d: LXF-backfill has smaller slowdowns and mean waits than FCFS-backfill",
        "large difference",
        (MEAN_WAIT, SLOWDOWN, WORST),
        LXF,
        FCFS,
        smaller,
        IN_MOST,
    ),
    *(
        Claim(
            f"Figure 11: Tradeoff(T_w:avgX) outperforms {name} for all measures",
            "all measures",
            EVERY,
            TRADEOFF,
            run,
            smaller,
        )
        for name, run in (("FCFS-backfill", FCFS), ("LXF-backfill", LXF))
    ),
    Claim(
        "Figure 11: Lexical(T_w -> avgX) is similar to Tradeoff(T_w:avgX) but for the largest slowdown",
        "fairly similar",
        (WAIT, MEAN_WAIT, SLOWDOWN),
        LEXICAL,
        TRADEOFF,
        similar,
    ),
    Claim(
        "Figure 11d: Lexical(T_w -> avgX) has a larger largest bounded slowdown than Tradeoff(T_w:avgX)",
        "much worse",
        (WORST,),
        LEXICAL,
        TRADEOFF,
        larger,
        IN_MOST,
    ),
    Claim(
        "Figure 11d: Lexical(T_w -> avgX) has a smaller largest bounded slowdown than FCFS-backfill",
        "most months",
        (WORST,),
        LEXICAL,
        FCFS,
        smaller,
        IN_MOST,
    ),
    *(
        Claim(
            f"Section 6.3: {name} has mean waits and slowdowns as low as LXF-backfill",
            "as good",
            (MEAN_WAIT, SLOWDOWN),
            run,
            LXF,
            not_larger,
            IN_MOST,
        )
        for name, run in (("Lexical(T_w -> avgX)", LEXICAL), ("Tradeoff(T_w:avgX)", TRADEOFF))
    ),
    *(
        Claim(
            f"Section 6.3: {name} has a longest wait as short as that of FCFS-backfill",
            "most months",
            (WAIT,),
            run,
            FCFS,
            not_larger,
            IN_MOST,
        )
        for name, run in (("Lexical(T_w -> avgX)", LEXICAL), ("Tradeoff(T_w:avgX)", TRADEOFF))
    ),
)

CLAIMS = (
    *THRESHOLD_CLAIMS,
    *DESIGN_CLAIMS,
    *_lexical_claims(*_OF_FIGURE_9),
    *TRADEOFF_CLAIMS,
    *BACKFILL_CLAIMS,
)
CLAIMS_LARGE = _lexical_claims(*map(large, _OF_FIGURE_9))

STARVING_LEXICAL = [name for name in TABLE_6 if name.startswith("Lexical(avg")]
"""Those that put a mean first."""


def plan(is_large: bool, log: str, quick: bool) -> list[Run]:
    """Return the runs of all statements."""
    claims = CLAIMS_LARGE if is_large else CLAIMS
    named = [run for claim in claims for run in claim.runs]
    if not is_large:
        named += [*BEST.values(), *STARVING.values(), *(TABLE_6[name] for name in STARVING_LEXICAL)]
    figures = [figure for figure in curves.FIGURES if not is_large or figure != "8d"]
    searched = [run for figure in figures for run in curves.plan(figure, is_large, log, quick)]
    runs = [made_quick(run) if quick else run for run in named]
    return [*runs, *searched, *([] if is_large else decisions.plan(log, quick))]


def cells(is_large: bool, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no table)
    """Yield the statements, in the order of the paper."""
    values = Values(found)
    if is_large:
        yield from _efficiency(values)
        yield _relaxed_at_last(values)
        yield from (judge(values, claim) for claim in CLAIMS_LARGE)
        return
    yield from (judge(values, claim) for claim in THRESHOLD_CLAIMS)
    yield from _waiting(found, quick)
    yield from _efficiency(values)
    yield from (judge(values, claim) for claim in DESIGN_CLAIMS)
    yield _steady(values)
    yield from (judge(values, claim) for claim in _lexical_claims(*_OF_FIGURE_9))
    yield _all_starve(
        values,
        "Section 6.1: every policy that puts a mean first makes a job wait for more than 1,000 h in some month",
        {name: TABLE_6[name] for name in STARVING_LEXICAL},
        THOUSAND,
    )
    yield from (judge(values, claim) for claim in TRADEOFF_CLAIMS)
    yield _all_starve(
        values,
        "Section 6.2: whatever the search, differences and reference values, Tradeoff(maxW:avgX) starves jobs (> 400 h)",
        {name: run for name, run in STARVING.items() if "(maxW:avgX)" in name},
        STARVED,
    )
    yield from (judge(values, claim) for claim in BACKFILL_CLAIMS)
    yield from _classes(values)


def _waiting(found: Measurements, quick: bool) -> Iterator[Cell]:
    """Yield what section 5.2 says of how many jobs wait at decisions."""
    run = decisions.decisions_run(decisions.OBJECTIVES["Tradeoff(T_w:avgX)"], quick)
    for words, printed, measure, least in (
        ("Section 5.2: at most decisions 10 jobs wait or more", "most", "10 or more wait", 50.0),
        ("Section 5.2: at 70 % of decisions fewer than 30 jobs wait", "70 %", "30 or fewer wait", 70.0),
    ):
        shares = {log: found.value(log, run, decisions.DECISIONS, measure) for log in found.logs}
        known = {log: share for log, share in shares.items() if not np.isnan(share)}
        told = ", ".join(f"{short_name(log)} {share:.1f} %" for log, share in known.items())
        yield statement(
            words,
            printed,
            min(known.values(), default=float("nan")),
            f"the least of {told}, under Tradeoff(T_w:avgX); it holds from {least:g} % on",
            all(share >= least for share in known.values()),
            unit="%",
            known=len(known),
        )


Points = dict[int, float]
OfCurves = Callable[[Points, Points], bool]


def _compared(
    values: Values,
    words: str,
    printed: str,
    one: Curve,
    other: Curve,
    kinds: tuple[str, ...],
    measure: str,
    rule: Rule,
    nodes: int | None,
) -> Cell:
    """Return a statement about two curves at a number of nodes, the last that both have where none is given."""
    held, parts = 0, []
    for log in values.logs:
        for kind in kinds:
            ours, theirs = (points(values, log, curve, kind, measure) for curve in (one, other))
            both = [at for at in ours if at in theirs and (nodes is None or at <= nodes)]
            if both:
                at = both[-1]
                held += rule(ours[at], theirs[at])
                parts.append(f"{ours[at]:.4g} beside {theirs[at]:.4g} ({short_name(log)}, {kind}, L = {at})")
    told = f"of {len(parts)} months: {RULES[rule]}; {measure} {', '.join(parts)}; it holds if in all of them"
    return statement(words, printed, held, told, held == len(parts), unit="months", known=len(parts))


def _efficiency(values: Values) -> Iterator[Cell]:
    """Yield what section 5.2 says of the four search algorithms."""
    both = (TYPICAL, EXCEPTIONAL)
    yield _narrowing(values)
    yield _converged(
        values, "Section 5.2: in the typical month DDS-LXF is near its convergence from L = 1,000 on", (TYPICAL,)
    )
    yield _converged(values, "Section 5.2: L of 1,000 is nearly as good as more, where DDS-LXF is best", both)
    compared = partial(_compared, values)
    dds_lxf, dds_fcfs, lds_lxf, lds_fcfs = STRICT_TW.values()
    yield compared(
        "Figures 3b and 4b: at L = 1,000 LDS-LXF has a longer longest wait than DDS-LXF",
        "much larger L needed",
        lds_lxf,
        dds_lxf,
        both,
        WAIT,
        larger,
        1000,
    )
    yield compared(
        "Figure 3a: at L = 1,000 DDS-FCFS has a larger mean bounded slowdown than DDS-LXF",
        "much larger L needed",
        dds_fcfs,
        dds_lxf,
        both,
        SLOWDOWN,
        larger,
        1000,
    )
    yield compared(
        "Section 5.2: at L = 1,000 LDS-FCFS has a larger mean bounded slowdown than DDS-FCFS",
        "larger L needed",
        lds_fcfs,
        dds_fcfs,
        both,
        SLOWDOWN,
        larger,
        1000,
    )
    dds_lxf, dds_fcfs, lds_lxf, _ = STRICT_MAXW.values()
    yield compared(
        "Figure 5a: for Strict Lexical(maxW -> avgX) DDS-LXF has the smaller mean bounded slowdown",
        "at any L",
        dds_lxf,
        dds_fcfs,
        (EXCEPTIONAL,),
        SLOWDOWN,
        smaller,
        None,
    )
    yield compared(
        "Figure 5b: for Strict Lexical(maxW -> avgX) DDS-FCFS has the shorter longest wait",
        "at any L",
        dds_fcfs,
        dds_lxf,
        (EXCEPTIONAL,),
        WAIT,
        smaller,
        None,
    )
    yield compared(
        "Figure 5b: for Strict Lexical(maxW -> avgX) LDS-LXF has a longer longest wait than DDS-LXF",
        "less efficient",
        lds_lxf,
        dds_lxf,
        (EXCEPTIONAL,),
        WAIT,
        larger,
        1000,
    )
    yield compared(
        "Figure 7b: relaxed differences leave the longest wait of Lexical(maxW -> avgX) by DDS-FCFS as it is",
        "not much",
        RELAXED["relaxed DDS-FCFS"],
        RELAXED["strict DDS-FCFS"],
        (EXCEPTIONAL,),
        WAIT,
        similar,
        None,
    )


def _relaxed_at_last(values: Values) -> Cell:
    """Return what Figure 7a says of relaxed differences and many nodes."""
    return _compared(
        values,
        "Figure 7a: relaxed differences improve the mean bounded slowdown of Lexical(maxW -> avgX) by DDS-FCFS much",
        "for L of 16,000 or more",
        RELAXED["relaxed DDS-FCFS"],
        RELAXED["strict DDS-FCFS"],
        (EXCEPTIONAL,),
        SLOWDOWN,
        much_smaller,
        None,
    )


def _narrowing(values: Values) -> Cell:
    """Return whether the algorithms come nearer to each other with more nodes: least over greatest, first and last."""
    held, parts = 0, []
    for log in values.logs:
        for kind in (TYPICAL, EXCEPTIONAL):
            for measure in (SLOWDOWN, WAIT):
                every = [points(values, log, curve, kind, measure) for curve in STRICT_TW.values()]
                common = [nodes for nodes in every[0] if all(nodes in each for each in every)]
                if len(common) > 1:
                    first, last = (
                        max(each[nodes] for each in every) / min(each[nodes] for each in every)
                        for nodes in (common[0], common[-1])
                    )
                    held += last < first
                    parts.append(
                        f"{first:.2f} to {last:.2f} at L = {common[-1]} ({short_name(log)}, {kind}, {measure})"
                    )
    told = f"of {len(parts)} ratios of the greatest to the least of four algorithms: {', '.join(parts)}; it holds if most shrink"
    return statement(
        "Section 5.2: with larger L the algorithms differ less",
        "roughly",
        held,
        told,
        2 * held > len(parts),
        unit="ratios",
        known=len(parts),
    )


def _converged(values: Values, words: str, kinds: tuple[str, ...]) -> Cell:
    """Return whether DDS-LXF has at L = 1,000 what it has at the end."""
    held, parts = 0, []
    for log in values.logs:
        for kind in kinds:
            for measure in (SLOWDOWN, WAIT):
                known = points(values, log, STRICT_TW["DDS-LXF"], kind, measure)
                early = [nodes for nodes in known if nodes <= 1000]
                if early:
                    last = max(known)
                    held += similar(known[early[-1]], known[last])
                    parts.append(
                        f"{known[early[-1]]:.4g} beside {known[last]:.4g} ({short_name(log)}, {kind}, {measure})"
                    )
    most = f"L = {last}" if parts else "more"
    told = f"of {len(parts)} values within a tenth of those at {most}: {', '.join(parts)}; it holds if most are"
    return statement(words, "fairly similar", held, told, 2 * held > len(parts), unit="values", known=len(parts))


def _steady(values: Values) -> Cell:
    """Return whether version A fluctuates least with the nodes visited, in the largest bounded slowdown."""
    held, parts = 0, []
    for log in values.logs:
        spreads = {}
        for version, curve in curves.VERSIONS.items():
            known = np.array(list(points(values, log, curve, EXCEPTIONAL, WORST).values()))
            if len(known) > 1 and known.mean() > 0:
                spreads[version] = float(known.std() / known.mean())
        if len(spreads) == len(curves.VERSIONS):
            held += spreads["A"] <= min(spreads.values())
            parts.append(
                f"{short_name(log)} " + ", ".join(f"{name} {100 * value:.0f} %" for name, value in spreads.items())
            )
    told = f"of {len(parts)} exceptional months; standard deviation over mean, {'; '.join(parts)}; it holds if in all of them"
    return statement(
        "Figure 8d: with L the largest bounded slowdown fluctuates least under version A",
        "the worst month",
        held,
        told,
        held == len(parts),
        unit="months",
        known=len(parts),
    )


def _all_starve(values: Values, words: str, runs: dict[str, Run], limit: float) -> Cell:
    """Return whether each of some policies has a month whose longest wait is beyond a limit, h."""
    greatest = {
        name: max((values.greatest(log, run, WAIT) for log in values.logs), default=float("nan"))
        for name, run in runs.items()
    }
    known = {name: value for name, value in greatest.items() if not np.isnan(value)}
    held = sum(value > limit for value in known.values())
    told = (
        f"of {len(known)} policies; longest waits {', '.join(f'{name} {value:.0f} h' for name, value in known.items())}"
    )
    return statement(words, "all", held, told, held == len(known), unit="policies", known=len(known))


SHORT, LONG = ("<= 600", "(600, 3600]"), ("> 28800",)
NARROW, MIDDLE, WIDE = ("<= 1", "(1, 8]"), ("(8, 32]",), ("(32, 64]", "> 64")
"""Labels of the classes of Figure 12 that the text speaks of: up to 1 h, above 8 h; up to 8, up to 32, above 32."""


def class_wait(values: Values, log: str, run: Run, widths: tuple[str, ...], times: tuple[str, ...] = ()) -> float:
    """Return the mean wait, h, of the jobs of some classes, of all run times where none are given; NaN of none."""
    classes = values.classes(log, run)
    chosen = []
    for label, of_class in classes.items():
        width, time = label.split(" & ")
        if width in widths and (not times or time in times):
            chosen.append((of_class["mean wait"], of_class["jobs"]))
    jobs = sum(count for _, count in chosen)
    return sum(wait * count for wait, count in chosen) / jobs if jobs else float("nan")


def _classes(values: Values) -> Iterator[Cell]:
    """Yield what section 6.3 says of Figure 12."""
    fcfs, lxf, lexical, tradeoff = BEST.values()
    yield _of_classes(
        values,
        "Figure 12a: under FCFS-backfill wide jobs wait longer than narrow ones",
        "poor",
        [((fcfs, WIDE, ()), (fcfs, NARROW, ()))],
        larger,
    )
    yield _of_classes(
        values,
        "Figure 12b: under LXF-backfill short wide jobs wait less than under FCFS-backfill",
        "significantly",
        [((lxf, WIDE, SHORT), (fcfs, WIDE, SHORT))],
        much_smaller,
    )
    yield _of_classes(
        values,
        "Figure 12b: under LXF-backfill long wide jobs wait longer than under FCFS-backfill",
        "sacrificed",
        [((lxf, (*MIDDLE, *WIDE), LONG), (fcfs, (*MIDDLE, *WIDE), LONG))],
        larger,
    )
    yield _of_classes(
        values,
        "Figures 12c and 12d: under both searches short wide jobs wait less than under FCFS-backfill",
        "both",
        [((run, WIDE, SHORT), (fcfs, WIDE, SHORT)) for run in (lexical, tradeoff)],
        much_smaller,
    )
    yield _of_classes(
        values,
        "Figures 12c and 12d: under both searches long wide jobs wait less than under LXF-backfill",
        "not so much sacrificed",
        [((run, (*MIDDLE, *WIDE), LONG), (lxf, (*MIDDLE, *WIDE), LONG)) for run in (lexical, tradeoff)],
        smaller,
    )
    yield _of_classes(
        values,
        "Figure 12d: short wide jobs fare as well under Tradeoff(T_w:avgX) as under LXF-backfill",
        "as good",
        [((tradeoff, WIDE, SHORT), (lxf, WIDE, SHORT))],
        not_larger,
    )
    yield _of_classes(
        values,
        "Figure 12d: long narrow jobs wait longer under Tradeoff(T_w:avgX) than under both backfill policies",
        "traded",
        [((tradeoff, NARROW, LONG), (run, NARROW, LONG)) for run in (fcfs, lxf)],
        larger,
    )


OfClass = tuple[Run, tuple[str, ...], tuple[str, ...]]


def _of_classes(values: Values, words: str, printed: str, pairs: list[tuple[OfClass, OfClass]], rule: Rule) -> Cell:
    """Return a statement about mean waits of classes, h, each beside another, of each log."""
    held, parts = 0, []
    for log in values.logs:
        for one, other in pairs:
            ours, theirs = class_wait(values, log, *one), class_wait(values, log, *other)
            if not (np.isnan(ours) or np.isnan(theirs)):
                held += rule(ours, theirs)
                parts.append(f"{ours:.4g} beside {theirs:.4g} ({short_name(log)})")
    told = f"of {len(parts)} mean waits (h): {RULES[rule]}; {', '.join(parts)}; it holds if all are"
    return statement(words, printed, held, told, held == len(parts), unit="waits", known=len(parts))
