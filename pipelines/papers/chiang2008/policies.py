# SPDX-License-Identifier: BSD-3-Clause
"""The policies of the paper by the names that it gives them: Table 6 and what its figures compare beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pipelines.papers.chiang2008.months import HIGH_LOAD
from pipelines.papers.chiang2008.schedules import FCFS_BACKFILL, LXF_BACKFILL, SEARCH, PolicyOfPaper, policy_run
from pipelines.papers.paper import Run

NODES, NODES_SHORT, NODES_LARGE, NODES_QUICK = 4000, 1000, 64_000, 100
"""How many nodes a search may visit: mostly; in Figure 2; in Figure 9; and in any figure of a quick run."""

BACKFILL = {"FCFS-backfill": policy_run(policy=FCFS_BACKFILL), "LXF-backfill": policy_run(policy=LXF_BACKFILL)}
"""What the paper compares with."""

FCFS, LXF = BACKFILL.values()


def search(objective: str, branching: str = "lxf", **parameters: Any) -> Run:
    """Return the run of a search by DDS, with the LXF heuristic unless another is named."""
    return policy_run(objective=objective, branching=branching, **parameters)


TABLE_6 = {
    "Lexical(T_w -> avgX)": search("lexical(T_w -> avgX)"),
    "Lexical(avgX -> T_w)": search("lexical(avgX -> T_w)"),
    "Tradeoff(T_w:avgX)": search("tradeoff-a(T_w:avgX)"),
    "Lexical(T_w -> avgW)": search("lexical(T_w -> avgW)"),
    "Lexical(avgW -> T_w)": search("lexical(avgW -> T_w)"),
    "Tradeoff(T_w:avgW)": search("tradeoff-a(T_w:avgW)"),
    "Lexical(maxW -> avgX)": search("lexical(maxW -> avgX)", "fcfs"),
    "Lexical(avgX -> maxW)": search("lexical(avgX -> maxW)"),
    "Tradeoff(maxW:avgX)": search("tradeoff-a(maxW:avgX)"),
    "Lexical(maxW -> avgW)": search("lexical(maxW -> avgW)", "fcfs"),
    "Lexical(avgW -> maxW)": search("lexical(avgW -> maxW)"),
    "Tradeoff(maxW:avgW)": search("tradeoff-a(maxW:avgW)"),
}
"""All twelve, in its order; by sections 5.2 and 6.1 those with maxW first branch by FCFS, the others by LXF."""

TRADEOFF, LEXICAL = TABLE_6["Tradeoff(T_w:avgX)"], TABLE_6["Lexical(T_w -> avgX)"]
"""The two that the paper finds best."""

STRICT = {
    "Strict Lexical(T_w -> avgX)": search("strict-lexical(T_w -> avgX)"),
    "Strict Tradeoff(T_w:avgX)": search("strict-tradeoff-a(T_w:avgX)"),
}
"""Where any difference counts."""

VERSIONS = {
    "A-Tradeoff(T_w:avgX)": TRADEOFF,
    "B-Tradeoff(T_w:avgX)": search("tradeoff-b(T_w:avgX)"),
    "C-Tradeoff(T_w:avgX)": search("tradeoff-c(T_w:avgX)"),
}
"""Reference values of trade-offs."""

STARVING = {
    "Tradeoff(maxW:avgX)": TABLE_6["Tradeoff(maxW:avgX)"],
    "Tradeoff(maxW:avgX), DDS-FCFS": search("tradeoff-a(maxW:avgX)", "fcfs"),
    "Tradeoff(maxW:avgX), LDS-LXF": search("tradeoff-a(maxW:avgX)", traversal="lds"),
    "Strict Tradeoff(maxW:avgX)": search("strict-tradeoff-a(maxW:avgX)"),
    "B-Tradeoff(maxW:avgX)": search("tradeoff-b(maxW:avgX)"),
    "C-Tradeoff(maxW:avgX)": search("tradeoff-c(maxW:avgX)"),
    "Tradeoff(maxW:avgW)": TABLE_6["Tradeoff(maxW:avgW)"],
    "Tradeoff(maxE:avgX)": search("tradeoff-a(maxE:avgX)"),
}
"""Section 6.2: what makes a trade-off between the wait of one job and a mean of all."""

THRESHOLDS = {f"{hours} h": f"strict-lexical(T_w({hours}h) -> avgX)" for hours in (0, 50, 100, 300)}
"""Section 5.1: fixed thresholds of the total excessive wait."""


def with_threshold(hours: str, load: float | None) -> Run:
    """Return the run of Figure 2 with a fixed threshold, one of ``THRESHOLDS``."""
    return search(THRESHOLDS[hours], nodes=NODES_SHORT, load=load)


NAMED = {
    **{f"{hours}, original load": with_threshold(hours, None) for hours in THRESHOLDS},
    **{hours: with_threshold(hours, HIGH_LOAD) for hours in THRESHOLDS},
    **(BACKFILL | TABLE_6 | STRICT | VERSIONS | STARVING),
}
"""All policies of the paper by name; those of Figure 2 by their thresholds."""


def changed(run: Run, **changes: Any) -> Run:
    """Return the run of a policy with some of its parameters changed."""
    return replace(run, parameters=replace(run.parameters, **changes))


def made_quick(run: Run) -> Run:
    """Return the run that stands for one where all is to be quick: a search visits few nodes."""
    parameters = run.parameters
    searches = isinstance(parameters, PolicyOfPaper) and parameters.policy == SEARCH
    return changed(run, nodes=NODES_QUICK) if searches else run
