# SPDX-License-Identifier: BSD-3-Clause
"""What section 5.2 and Figures 3 to 8d say of search algorithms by the nodes that they may visit.

Where the paper goes up to a number of nodes, here the last decides that was measured: 4,000, or 64,000 in
``chiang2008-large``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from pipelines.papers.chiang2008 import curves
from pipelines.papers.chiang2008.claims import RULES, Rule, larger, much_smaller, similar, smaller, statement
from pipelines.papers.chiang2008.claims_of_text import SLOWDOWN, WAIT, WORST
from pipelines.papers.chiang2008.curves import EXCEPTIONAL, RELAXED, STRICT_MAXW, STRICT_TW, TYPICAL, Curve, points
from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell


def statements(values: Values) -> Iterator[Cell]:
    """Yield what section 5.2 says of the four search algorithms."""
    both = (TYPICAL, EXCEPTIONAL)
    yield _narrowing(values)
    yield _converged(values, "Section 5.2: in the typical month DDS-LXF has nearly converged at L = 1,000", (TYPICAL,))
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


def relaxed_is_faster(values: Values) -> Cell:
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


def is_steady(values: Values) -> Cell:
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
    told = f"of {len(parts)} exceptional months; deviation over mean, {'; '.join(parts)}; it holds if in all of them"
    return statement(
        "Figure 8d: with L the largest bounded slowdown fluctuates least under version A",
        "the worst month",
        held,
        told,
        held == len(parts),
        unit="months",
        known=len(parts),
    )


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
    told = (
        f"of {len(parts)} ratios, greatest over least of four algorithms: {', '.join(parts)}; it holds if most shrink"
    )
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
