# SPDX-License-Identifier: BSD-3-Clause
"""What the log of a real run does not tell, and is no rule but state: by what the rules make right of the starts.

When the period of the priorities began, and who started a job, where ``sacct`` has no Flags (before Slurm 19.05) or no
Priority. A start by backfill shows when a cycle was, so that none is taken to come shortly before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from swftools.kernel import FloatArray
from swftools.machines.node_table import NodeTable
from swftools.referee.figures import judge, priorities_alike
from swftools.referee.followed import NOT_TOLD, Followed
from swftools.referee.forced import ForcedRun
from swftools.trace import Trace

_CLOCKS, _AT_FIRST = 60, 500
"""How many times of the priorities' period are tried, on how many jobs of the log's beginning."""


def logged_priorities(trace: Trace) -> FloatArray:
    """Return the priority of each job as the log has it; NaN where it has none."""
    if "priority" not in trace.jobs:
        return np.full(len(trace), np.nan)
    return trace.jobs["priority"].to_numpy(dtype=np.float64, na_value=np.nan)


def phase_of(
    trace: Trace,
    table: NodeTable,
    run: Followed,
    tolerance: float,
    compiled: bool,
    tell: Callable[[str, int, int], None],
) -> float:
    """Return the phase whose priorities are mostly those of the log; if it has none, by which most starts are right.

    The rest of the clock is seen from the starts themselves.
    """
    logged, start = logged_priorities(trace), run.logged.start
    are_told = bool(np.isfinite(logged[np.isfinite(start)]).any())
    last = np.sort(start[np.isfinite(start)])[:_AT_FIRST][-1]
    if not are_told and table.slurm is not None and not table.slurm.priority.is_multifactor:
        return 0.0
    shares = []
    for clock in range(_CLOCKS):
        tell("when priorities are computed", clock, _CLOCKS)
        decided = ForcedRun(trace, table, run, compiled=compiled, phase=clock / _CLOCKS).run(until=last).decisions()
        if are_told:
            shares.append(priorities_alike(decided, np.where(start <= last, logged, np.nan)))
        else:
            shares.append(float(judge(run, decided, tolerance).is_right.sum()))
    return int(np.argmax(shares)) / _CLOCKS


def with_starters(trace: Trace, table: NodeTable, run: Followed, tolerance: float, options: dict[str, Any]) -> Followed:
    """Return a run that tells who started each job: as the log does, else who would by the rules, if anybody."""
    by = run.logged.by
    unknown = (by == NOT_TOLD) & np.isfinite(run.logged.start)
    if not unknown.any():
        return run
    decided = ForcedRun(trace, table, run, **options).run().decisions()
    would = decided.was_tried & (decided.last >= run.logged.start - tolerance)
    return replace(run, logged=replace(run.logged, by=np.where(unknown & would, decided.by, by)))
