# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements on search algorithms by the nodes that they visit: section 5.2, Figures 3 to 8d.

Where the paper goes up to a number of nodes, here the last decides that was measured: 4,000, or 64,000 in
``chiang2008-large``.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from pipelines.papers.chiang2008 import curves
from pipelines.papers.chiang2008.curves import EXCEPTIONAL, FIGURES, STRICT_TW, TYPICAL, points
from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.statements import PAIR_RULES, Outcome, listed

MEASURES = ("mean bounded slowdown", "max wait")
"""By what the algorithms of Figures 3 and 4 are compared."""


def narrowing(values: Values) -> Outcome:
    """Return how often the algorithms come nearer to each other with more nodes: greatest over least, at both ends."""
    cases = []
    for log, kind, measure in product(values.logs, (TYPICAL, EXCEPTIONAL), MEASURES):
        every = [points(values, log, curve, kind, measure) for curve in STRICT_TW.values()]
        common = [nodes for nodes in every[0] if all(nodes in each for each in every)]
        if len(common) > 1:
            first, last = (
                max(each[nodes] for each in every) / min(each[nodes] for each in every)
                for nodes in (common[0], common[-1])
            )
            words = f"{first:.2f} to {last:.2f} at L = {common[-1]} ({short_name(log)}, {kind}, {measure})"
            cases.append((last < first, words))
    return listed(cases)


def converged(values: Values, months: list[str]) -> Outcome:
    """Return how often DDS-LXF has at L = 1,000 what it has at the end."""
    cases, at_last = [], "more"
    for log, kind, measure in product(values.logs, months, MEASURES):
        known = points(values, log, STRICT_TW["DDS-LXF"], kind, measure)
        if early := [nodes for nodes in known if nodes <= 1000]:
            ours, last = known[early[-1]], known[max(known)]
            words = f"{ours:.4g} beside {last:.4g} ({short_name(log)}, {kind}, {measure})"
            cases.append((PAIR_RULES["similar"].holds(ours, last), words))
            at_last = f"L = {max(known)}"
    return listed(cases, last=at_last)


def curves_beside(
    values: Values,
    figure: str,
    one: str,
    other: str,
    months: list[str],
    measure: str,
    each: str,
    nodes: int | None = None,
) -> Outcome:
    """Return in how many months a curve is so beside another: at a number of nodes, or the last that both have."""
    rule, cases = PAIR_RULES[each], []
    for log, kind in product(values.logs, months):
        ours, theirs = (points(values, log, FIGURES[figure].curves[name], kind, measure) for name in (one, other))
        if both := [at for at in ours if at in theirs and (nodes is None or at <= nodes)]:
            at = both[-1]
            words = f"{ours[at]:.4g} beside {theirs[at]:.4g} ({short_name(log)}, {kind}, L = {at})"
            cases.append((rule.holds(ours[at], theirs[at]), words))
    return listed(cases, rule=rule.words)


def version_a_is_steady(values: Values) -> Outcome:
    """Return in how many logs version A fluctuates least with the nodes visited, in the largest bounded slowdown."""
    cases = []
    for log in values.logs:
        spreads = {}
        for version, curve in curves.VERSIONS.items():
            known = np.array(list(points(values, log, curve, EXCEPTIONAL, "max bounded slowdown").values()))
            if len(known) > 1 and known.mean() > 0:
                spreads[version] = float(known.std() / known.mean())
        if len(spreads) == len(curves.VERSIONS):
            words = ", ".join(f"{name} {100 * value:.0f} %" for name, value in spreads.items())
            cases.append((spreads["A"] <= min(spreads.values()), f"{short_name(log)} {words}"))
    return listed(cases, "; ")
