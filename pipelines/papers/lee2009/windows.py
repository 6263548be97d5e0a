# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs are simulated, what they are worth, and on which machine.

Readings chosen
    "Jobs 5,000 through 10,000" are the lines of the log from index 5,000 to 9,999, cancelled jobs among them: then
    EASY's longest wait is the printed one to the second. The log here is the shipped excerpt of version 4.2-cln; on
    4.1-cln the 75 and 98 % marks of EASY's waits are 5,355 and 58,856 s.

    A function ends at twice the logged turnaround, and is evaluated at the turnaround got; the text says wait. Rank 0
    is worth most; equation 2.2 says least. The ranks of queues are those of the catalogue's alternative
    ``over-fitted``, which were chosen to fit Table 4.1. Other readings stand beside these.

    The survey's own workload, DataStar in April 2008, is not public. In its place stand the last jobs of the log of
    that machine, as many as there were then, on 260 nodes of 8 processors, and so close together that they offer the
    load of that workload by its printed means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swftools.selection import scale_to_load
from swftools.trace import Trace
from swftools.utility.model import DECAY_KINDS, UtilityParameters, generate_utility

BLUE = "SDSC-BLUE-2000-4.2-cln-5000-9999"
DATASTAR = "SDSC-DS-2004-2.1-cln"

NAMES = {BLUE: "SDSC-BLUE", DATASTAR: "SDSC-DS"}
"""The paper's logs, or what stands in their place, by short names."""

FIRST, JOBS = 5_000, 5_000
"""Index of the first line, and how many lines."""

SURVEYED_JOBS = 4_203
"""Jobs that were submitted in the weeks of the survey (section 6.5.3)."""

NODES, PROCESSORS_A_NODE = 260, 8
"""The machine of section 6.7.3."""

SURVEYED_LOAD = round(SURVEYED_JOBS * 7.0 * 208 / (NODES * 21 * 24 * 60), 2)
"""Their load: by mean nodes and mean run time (min), over three weeks (section 6.5.3)."""

INTERACTIVE = 0
"""The queue of jobs that are simulated, but left out of percentiles."""

_DATASTAR_RANKS = {2: 0, 5: 0, 8: 0, 11: 0, 1: 1, 4: 1, 7: 1, 10: 1, 3: 2, 6: 2, 9: 2, 12: 2, 0: 3}
FITTED, BY_PRICE, REVERSED, OF_DATASTAR, ALIKE = "fitted", "by-price", "reversed", "datastar", "alike"

RANKS: dict[str, tuple[dict[int, int], int | None]] = {
    FITTED: ({2: 0, 0: 1, 3: 2, 1: 3, 4: 4, 5: 5}, 2),
    BY_PRICE: ({2: 0, 1: 1, 3: 2, 4: 3, 5: 4, 0: 5}, 2),
    REVERSED: ({2: 5, 0: 4, 3: 3, 1: 2, 4: 1, 5: 0}, 3),
    OF_DATASTAR: (_DATASTAR_RANKS, 2),
    ALIKE: ({}, None),
}
"""Ranks of queues, and that of the others: by name."""

THIRDS = "thirds"
"""A third of the jobs by each kind of decay."""

DECAYS = (THIRDS, *DECAY_KINDS)


def short_name(log: str) -> str:
    """Return the paper's name for a log; of any other log its own."""
    return NAMES.get(log, log)


def is_of_utility(log: str) -> bool:
    """Whether chapter 4 is made anew of a log: of all but the survey's."""
    return log != DATASTAR


def is_of_checkpoints(log: str, quick: bool) -> bool:
    """Whether chapter 6 is made anew of a log: of the survey's, of one that a user gives, and of any to be quick."""
    return log != BLUE or quick


def ranks_of(log: str) -> str:
    """Return the name of a log's ranks: jobs of a log that a user gives are all alike."""
    return {BLUE: FITTED, DATASTAR: OF_DATASTAR}.get(log, ALIKE)


def window(trace: Trace) -> Trace:
    """Return the jobs of chapter 4: 5,000 lines from the paper's first; all of a log that has no more."""
    first = FIRST if len(trace) > JOBS else 0
    return trace.with_jobs(trace.jobs.iloc[first : first + JOBS].reset_index(drop=True))


def surveyed(trace: Trace) -> Trace:
    """Return the jobs of chapter 6, the last ones of the log, their widths in nodes; wider ones are not there."""
    jobs = trace.jobs.iloc[-SURVEYED_JOBS:].reset_index(drop=True)
    width = trace.with_jobs(jobs).arrays.width
    nodes = np.where(width > 0, -(-width // PROCESSORS_A_NODE), -1)
    jobs = jobs.assign(**dict.fromkeys(("allocated_processors", "requested_processors", "width"), nodes))
    return trace.with_jobs(jobs[nodes <= NODES].reset_index(drop=True))


def at_survey_load(trace: Trace) -> Trace:
    """Return jobs so close together that they offer the survey's load on its machine."""
    return scale_to_load(trace, SURVEYED_LOAD, NODES) if len(trace) > 1 else trace


def closer(trace: Trace, factor: float) -> Trace:
    """Return a trace whose times between submissions are divided by a factor; the logged waits stay as they are."""
    submit = trace.arrays.submit_time
    if not len(submit) or factor == 1:
        return trace
    return trace.with_jobs(trace.jobs.assign(submit_time=submit[0] + (submit - submit[0]) / factor))


def with_utility(trace: Trace, ranks: str, seed: int, decay: str = THIRDS, **parameters: Any) -> Trace:
    """Return a trace with a utility function for each job, drawn by a seed, and the rank of its queue.

    ``REVERSED`` turns round what jobs are worth, not which of them go first.
    """
    queue_ranks, default_rank = RANKS[ranks]
    shares: Mapping[str, float] = dict.fromkeys(DECAY_KINDS if decay == THIRDS else [decay], 1.0)
    chosen = UtilityParameters(
        seed=seed, queue_ranks=queue_ranks, default_rank=default_rank, decay_shares=shares, **parameters
    )
    drawn = generate_utility(trace, chosen)
    if ranks == REVERSED:
        drawn["priority_rank"] = chosen.rank_count - 1 - drawn["priority_rank"]
    return trace.with_jobs(trace.jobs.assign(**{str(name): column for name, column in drawn.items()}))
