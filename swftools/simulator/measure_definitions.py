# SPDX-License-Identifier: BSD-3-Clause
"""The measures of schedules: of each its unit, and which way it gets worse."""

from __future__ import annotations

from typing import NamedTuple

HIGHER, LOWER, NEITHER = "higher", "lower", "neither"


class Measure(NamedTuple):
    """A measure: its unit, and which of its values are worse, higher or lower ones; neither where it says nothing."""

    unit: str
    worse: str


SPREAD = {
    "wait": Measure("s", HIGHER),
    "turnaround": Measure("s", HIGHER),
    "expansion_factor": Measure("1", HIGHER),
    "requested_expansion_factor": Measure("1", HIGHER),
    "bounded_slowdown": Measure("1", HIGHER),
    "utility": Measure("value", LOWER),
    "start_value_earned": Measure("1", LOWER),
}
"""Measures of jobs of which means and percentiles are taken."""

TRUTH = {"is_backfilled": Measure("1", NEITHER), "is_blocked": Measure("1", NEITHER)}
"""Measures of jobs that are 0 or 1."""

EXCESS = {
    "preemptions": Measure("1", HIGHER),
    "kills": Measure("1", HIGHER),
    "checkpoint_restarts": Measure("1", HIGHER),
    "suspensions": Measure("1", HIGHER),
    "resizes": Measure("1", NEITHER),
    "lost_work": Measure("processor-seconds", HIGHER),
    "overhead": Measure("processor-seconds", HIGHER),
    "run_time_waste": Measure("1", HIGHER),
    "head_delay": Measure("s", HIGHER),
    "head_delay_by_later": Measure("s", HIGHER),
    "reservation_violation": Measure("s", HIGHER),
    "slowdown_of_violation": Measure("1", HIGHER),
    "excessive_wait": Measure("s", HIGHER),
    "excessive_wait_over_max": Measure("s", HIGHER),
    "excessive_wait_over_p98": Measure("s", HIGHER),
    "start_delay": Measure("s", HIGHER),
}
"""Measures that are 0 for most jobs: how many are above, how much in all, and for each of those."""

MACHINE = {
    "makespan": Measure("s", HIGHER),
    "offered_load": Measure("1", NEITHER),
    "utilization": Measure("1", LOWER),
    "queue_length": Measure("jobs", HIGHER),
    "queued_work": Measure("processor-seconds", HIGHER),
    "useful_load": Measure("1", LOWER),
    "wasted_load": Measure("1", HIGHER),
    "overhead_load": Measure("1", HIGHER),
    "excluded_jobs": Measure("jobs", NEITHER),
}
"""Measures of the machine and its queue."""

MEASURES = {**SPREAD, **TRUTH, **EXCESS, **MACHINE}
"""All of them, by name."""
