# SPDX-License-Identifier: BSD-3-Clause
"""The measures of schedules: of each its unit, which way it gets worse, and what it means, as the page has it too."""

from __future__ import annotations

from typing import NamedTuple

HIGHER, LOWER, NEITHER = "higher", "lower", "neither"


class Measure(NamedTuple):
    """A measure: its unit, which of its values are worse, higher or lower ones (or neither), and what it means."""

    unit: str
    worse: str
    meaning: str


SPREAD = {
    "wait": Measure(
        "s",
        HIGHER,
        "from submission to the start; for a job that was killed and began anew, to the start of its last such run",
    ),
    "turnaround": Measure("s", HIGHER, "from submission to the end (response time)"),
    "expansion_factor": Measure("1", HIGHER, "turnaround / run time (without overhead and lost work)"),
    "requested_expansion_factor": Measure(
        "1", HIGHER, "(wait + requested time) / requested time: what Lee 2009 prints in Table 4.1"
    ),
    "bounded_slowdown": Measure(
        "1", HIGHER, "turnaround / max(run time, bound), at least 1; run time without overhead and lost work"
    ),
    "utility": Measure(
        "value",
        LOWER,
        'value of its completion: its utility function at the turnaround (`utility_clock="wait"`: at the wait)',
    ),
    "start_value_earned": Measure("1", LOWER, "utility / first value of its utility function"),
}
"""Measures of jobs of which means and percentiles are taken."""

TRUTH = {
    "is_backfilled": Measure("1", NEITHER, "1 if it overtook another job"),
    "is_blocked": Measure(
        "1",
        NEITHER,
        "1 if it was ever the blocked head: still the first waiting job after everything that happened at an instant",
    ),
}
"""Measures of jobs that are 0 or 1."""

EXCESS = {
    "preemptions": Measure("1", HIGHER, "how often it was stopped, and waited again"),
    "kills": Measure("1", HIGHER, "how often it was stopped so that all work was lost"),
    "checkpoint_restarts": Measure("1", HIGHER, "how often it was stopped and its work kept up to the last checkpoint"),
    "suspensions": Measure("1", HIGHER, "how often it was stopped and all work kept"),
    "resizes": Measure("1", NEITHER, "how often its processors were changed while it ran"),
    "lost_work": Measure("processor-seconds", HIGHER, "work that was done and later lost"),
    "overhead": Measure("processor-seconds", HIGHER, "what it took to continue work done before"),
    "run_time_waste": Measure(
        "1",
        HIGHER,
        "time of lost work / run time, without overhead and lost work (Yuan et al. 2010, equation 3)",
    ),
    "head_delay": Measure(
        "s",
        HIGHER,
        "start minus the start that it would have had if all jobs submitted later had been absent from the moment at "
        "which it became the blocked head for the last time",
    ),
    "head_delay_by_later": Measure(
        "s", HIGHER, "the same, if only those of them had been absent that start after that moment"
    ),
    "reservation_violation": Measure(
        "s",
        HIGHER,
        "start minus the later of EASY's reservation at that moment and the start without later jobs, at least 0; so "
        "delays by jobs submitted earlier do not count",
    ),
    "slowdown_of_violation": Measure("1", HIGHER, "reservation_violation / max(run time, bound)"),
    "excessive_wait": Measure("s", HIGHER, "with `threshold=`: max(0, wait - threshold)"),
    "excessive_wait_over_max": Measure(
        "s", HIGHER, "with `reference=`: the same, with the longest wait of the reference schedule as threshold"
    ),
    "excessive_wait_over_p98": Measure(
        "s", HIGHER, "with `reference=`: the same, with the 98th percentile of waits of the reference schedule"
    ),
    "start_delay": Measure("s", HIGHER, "with `reference=`: start minus the start in the reference schedule"),
}
"""Measures that are 0 for most jobs: how many are above, how much in all, and for each of those."""

MACHINE = {
    "makespan": Measure("s", HIGHER, "last end minus first submission"),
    "offered_load": Measure(
        "1",
        NEITHER,
        "useful work (processors * run times) of all jobs / capacity between first and last submission; in a window, "
        "of the jobs submitted in it / its capacity",
    ),
    "utilization": Measure(
        "1", LOWER, "processors that run a job / processors of the machine, all runs included: `time_mean` and `max`"
    ),
    "queue_length": Measure("jobs", HIGHER, "jobs submitted and not running: `time_mean` and `max`"),
    "queued_work": Measure("processor-seconds", HIGHER, "their processors * requested times: `time_mean` and `max`"),
    "useful_load": Measure("1", LOWER, "useful work / capacity"),
    "wasted_load": Measure("1", HIGHER, "lost work / capacity"),
    "overhead_load": Measure(
        "1", HIGHER, "overhead / capacity; with useful and wasted load it makes the mean utilization"
    ),
    "excluded_jobs": Measure("jobs", NEITHER, "jobs of the trace that could not be simulated: `count`"),
}
"""Measures of the machine and its queue; where nothing is said their statistic is ``value``."""


def _of_group(group: str, what: str) -> Measure:
    return Measure(
        "1", LOWER, f"{what} held / {what} of the nodes, of each {group} that has any: its name is the statistic"
    )


NODES = {
    "node_utilization": Measure("1", LOWER, "nodes on which a job runs / nodes of the machine: `time_mean` and `max`"),
    "memory_utilization": Measure("1", LOWER, "memory that jobs hold / memory of all nodes: `time_mean` and `max`"),
    "gpu_utilization": Measure("1", LOWER, "GPUs that jobs hold / GPUs of all nodes: `time_mean` and `max`"),
    "fragmentation": Measure(
        "1",
        HIGHER,
        "share of the time in which the first waiting job has room in sum and not on nodes: `time_mean`",
    ),
    "away": Measure(
        "1",
        HIGHER,
        "cores of nodes that are down, drained or reserved for nobody, and that no job holds / cores of all nodes: "
        "`time_mean`; of machines with outages",
    ),
    "available_utilization": Measure(
        "1", LOWER, "cores that jobs hold / cores of all nodes that are not away, over all of the time: `time_mean`"
    ),
    "gpu_packing": Measure(
        "1",
        LOWER,
        "GPUs that jobs hold / GPUs of the nodes on which any GPU is held, both over all of the time: `time_mean`",
    ),
    "switches_spanned": Measure(
        "switches",
        HIGHER,
        "switches to which the nodes of a run are attached, over runs of several nodes that start in it: `mean`",
    ),
    "kind_utilization": _of_group("kind of nodes", "cores"),
    "kind_memory_utilization": _of_group("kind of nodes", "memory"),
    "kind_gpu_utilization": _of_group("kind of nodes", "GPUs"),
    "partition_utilization": _of_group("partition", "cores"),
    "partition_memory_utilization": _of_group("partition", "memory"),
    "partition_gpu_utilization": _of_group("partition", "GPUs"),
}
"""Measures of machines of nodes, which schedules on a pool of processors have not."""

MEASURES = {**SPREAD, **TRUTH, **EXCESS, **MACHINE, **NODES}
"""All of them, by name."""
