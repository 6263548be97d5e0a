# SPDX-License-Identifier: BSD-3-Clause
"""One simulation of a log, and all that the tables ask of it.

Reading chosen
    Runs are not cut at the requested time, which is raised to the run time where that is longer (``overrun="extend"``):
    so the log has the mean run time of Table 3. Priority is order of submission. The slowdown is that of equation 1,
    (wait + max(run time, 10 s)) / max(run time, 10 s), where the wait of a job that was killed ends where its last run
    begins. Loads are over time from second 0 of the log to the last end (see ``populations``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipelines.papers.paper import Run, measured
from pipelines.papers.yuan2010.easy_at_events import named
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.parameters import Parameters, choice, number, text, truth
from swftools.selection import scale_to_load
from swftools.simulator import Schedule, simulate
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.heads import find_heads
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.of_jobs import measure_jobs
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]
Row = tuple[str, str, str, float | None]

JOBS, BLOCKED, BIG, SMALL = "jobs", "blocked jobs", "big blocked jobs", "small blocked jobs"
"""Subjects: all jobs, and those that were blocked heads, on more than a quarter of the machine, and on less."""

PARTS = 8
"""Groups of blocked jobs by processors, each of an eighth of the machine: the figures do not say which theirs are."""

BOUND = 10.0
"""Shorter run times count as this in slowdowns, s."""

CHECKPOINT_INTERVAL = 3600.0
"""Work between two checkpoints where jobs write any, s: the logs do not say."""


@dataclass(frozen=True)
class ScheduleOfPaper(Parameters):
    """How a log is scheduled: PV-EASY as in the paper where nothing is given.

    Parameters
    ----------
    policy : {"pv-easy", "easy", "easy-at-events"}
        The last is EASY as the paper's simulator runs it.
    predictor : str
        What the policy is told of run times.
    slp, venture, victims, preemption
        As those of ``pv-easy``. Where jobs are checkpointed, each writes a checkpoint every ``CHECKPOINT_INTERVAL``.
    restart_overhead : float
        What a run begins with that goes on with work done before, s.
    load : float, optional
        Times between submissions are multiplied so that the log offers this load; as logged where none is given.
    """

    NAME = "schedule"
    policy: str = choice("pv-easy", "easy", "easy-at-events")
    predictor: str = text("last-model")
    slp: bool = truth(True)
    venture: bool = truth(True)
    victims: str = choice("lowest", "spare-needless")
    preemption: str = choice("kill", "suspend", "checkpoint")
    restart_overhead: float = number(0.0, least=0, unit="s")
    load: float | None = number(None, above=0, optional=True)

    def of_policy(self) -> dict[str, Any]:
        """Return the parameters of the policy; EASY has none of these."""
        names = ("slp", "venture", "victims", "preemption") if self.policy == "pv-easy" else ()
        return {name: getattr(self, name) for name in names}


def schedule_run(**parameters: Any) -> Run:
    """Return the run of a schedule."""
    return Run("schedule", ScheduleOfPaper(**parameters))


SCHEDULES = {
    "PV-EASY": ScheduleOfPaper(),
    "EASY": ScheduleOfPaper("easy", "request"),
    "EASY-Last": ScheduleOfPaper("easy-at-events"),
}
"""What the paper compares, by its names in Figures 5 and 6."""

NAMES = {name: Run("schedule", parameters) for name, parameters in SCHEDULES.items()}
"""The runs of these."""

PV_EASY, EASY, EASY_LAST = NAMES.values()

TAKEN = {
    "excluded jobs": ("excluded_jobs", "count", 1.0),
    "MBS": ("bounded_slowdown", "mean", 1.0),
    "MWBS": ("bounded_slowdown", "mean_by_processors", 1.0),
    "backfilled jobs": ("is_backfilled", "count", 1.0),
    "blocked jobs": ("is_blocked", "count", 1.0),
    "preempted jobs": ("preemptions", "count", 1.0),
    "mean kills": ("preemptions", "mean_above_0", 1.0),
    "late heads": ("head_delay", "count", 1.0),
    "mean delay": ("head_delay", "mean_above_0", 60.0),
    "longest delay": ("head_delay", "max", 3600.0),
    "late heads by later starts": ("head_delay_by_later", "count", 1.0),
    "mean delay by later starts": ("head_delay_by_later", "mean_above_0", 60.0),
    "longest delay by later starts": ("head_delay_by_later", "max", 3600.0),
    "makespan": ("makespan", "value", 3600.0),
}
"""What is taken from ``swftools.measure``, in which unit, and what it is called here."""

FROM_FIRST = " from the first submission"
"""Stands behind the names of loads over other time than from second 0."""

VIOLATED, BENIGN_TOO, CLEAR, BY_LATER = "violated", "benign too", "clear of benign", "by later starts"
"""Subjects: starts behind the reservation by readings of what is benign; see ``_of_violations``."""


def prepared(trace: Trace, parameters: ScheduleOfPaper) -> Trace:
    """Return the jobs to be scheduled."""
    kept = kept_jobs(trace)
    if parameters.load is not None and len(kept):
        kept = scale_to_load(kept, parameters.load)
    if parameters.preemption == "checkpoint":
        kept = kept.with_jobs(kept.jobs.assign(checkpoint_interval=CHECKPOINT_INTERVAL))
    return kept


def measure_schedule(trace: Trace, parameters: ScheduleOfPaper, seed: int) -> pd.DataFrame:
    """Return what the tables ask of a schedule of the jobs that are kept."""
    jobs = prepared(trace, parameters)
    if not len(jobs):
        return measured([(JOBS, "", "jobs", 0.0)])
    schedule = simulate(
        jobs,
        named(parameters.policy),
        predictor=parameters.predictor,
        restart_overhead=parameters.restart_overhead,
        seed=seed,
        **parameters.of_policy(),
    )
    by_job = measure_jobs(schedule, bound=BOUND, slowdown="stretched")
    rows = [*_of_jobs(schedule), *_of_preempted(by_job), *_of_blocked(schedule, by_job), *_of_violations(schedule)]
    return measured(rows)


def _of_jobs(schedule: Schedule) -> Iterator[Row]:
    """Yield measures of all jobs and of the machine."""
    yield JOBS, "", "jobs", float(len(schedule))
    found = measure(schedule, bound=BOUND, slowdown="stretched").set_index(["measure", "statistic"])["value"]
    for name, (measured_as, statistic, unit) in TAKEN.items():
        yield JOBS, "", name, float(found[measured_as, statistic]) / unit
    end = float(column_of(schedule.jobs, "end_time").max())
    share = float(found["makespan", "value"]) / end if end > 0 else nan  # nothing runs before the first submission
    for where, part in (("", share), (FROM_FIRST, 1.0)):
        loads = {name: 100 * part * float(found[f"{name}_load", "value"]) for name in ("useful", "wasted", "overhead")}
        yield JOBS, "", f"total load{where}", sum(loads.values())
        yield JOBS, "", f"wasted load{where}", loads["wasted"]
        yield JOBS, "", f"overhead load{where}", loads["overhead"]


def _of_preempted(by_job: pd.DataFrame) -> Iterator[Row]:
    """Yield what stops cost the jobs that were stopped, %: the mean of equation 3, and that of all their time."""
    stopped = by_job[by_job["preemptions"] > 0]
    share = stopped["run_time_waste"]
    yield JOBS, "", "rate", 100 * len(stopped) / len(by_job)
    if len(share.dropna()):
        took = stopped["useful_work"].sum()
        yield JOBS, "", "mean run time waste", 100 * float(share.mean())
        yield JOBS, "", "waste of all work", 100 * float(stopped["lost_work"].sum() / took) if took else None


def _of_blocked(schedule: Schedule, by_job: pd.DataFrame) -> Iterator[Row]:
    """Yield the slowdowns of the blocked jobs: of all, of big and small ones, and by parts of the machine as curves."""
    width = column_of(schedule.jobs, "allocated_processors")
    slowdown, share = column_of(by_job, "bounded_slowdown"), width / schedule.processors
    is_blocked = column_of(by_job, "is_blocked") > 0
    part = np.ceil(PARTS * share)
    chosen = {
        (BLOCKED, ""): is_blocked,
        (BIG, ""): is_blocked & (share > 0.25),
        (SMALL, ""): is_blocked & (share <= 0.25),
    }
    chosen |= {(BLOCKED, str(number)): is_blocked & (part == number) for number in range(1, PARTS + 1)}
    for (subject, x), mask in chosen.items():
        yield subject, x, "jobs", float(mask.sum())
        if mask.any():
            yield subject, x, "MBS", float(slowdown[mask].mean())
            yield subject, x, "MWBS", float(np.average(slowdown[mask], weights=width[mask]))


def _of_violations(schedule: Schedule) -> Iterator[Row]:
    """Yield how far heads started behind their reservations, by each reading of what is benign.

    That is what jobs of higher priority cause beyond the reservation; nothing; all of the delay where they cause any;
    or what is not caused by jobs that started once the head was blocked.
    """
    heads = find_heads(schedule)
    at = rows_of(heads, schedule.jobs)
    width = column_of(schedule.jobs, "allocated_processors")[at]
    bounded = np.maximum(column_of(schedule.jobs, "run_time")[at], BOUND)
    start, promised = column_of(heads, "start_time"), column_of(heads, "reservation")
    alone, without_later = column_of(heads, "start_alone"), column_of(heads, "start_without_later")
    delays = {
        VIOLATED: start - np.maximum(promised, alone),
        BENIGN_TOO: start - promised,
        CLEAR: np.where(alone <= promised, start - promised, 0.0),
        BY_LATER: start - np.maximum(promised, without_later),
    }
    for subject, delay in delays.items():
        late = delay > 0
        yield subject, "", "jobs", float(late.sum())
        if late.any():
            increment = delay[late] / bounded[late]
            yield subject, "", "mean parallelism", float(width[late].mean())
            yield subject, "", "mean delay", float(delay[late].mean()) / 60
            yield subject, "", "mean slowdown increment", float(increment.mean())
            yield subject, "", "longest delay", float(delay[late].max()) / 3600
            yield subject, "", "largest slowdown increment", float(increment.max())


UNITS = {
    "jobs": "jobs",
    "excluded jobs": "jobs",
    "backfilled jobs": "jobs",
    "blocked jobs": "jobs",
    "preempted jobs": "jobs",
    "late heads": "jobs",
    "late heads by later starts": "jobs",
    "mean parallelism": "processors",
    "mean delay": "min",
    "mean delay by later starts": "min",
    "longest delay": "h",
    "longest delay by later starts": "h",
    "makespan": "h",
    "rate": "%",
    "mean run time waste": "%",
    "waste of all work": "%",
    **{f"{name} load{where}": "%" for name in ("total", "wasted", "overhead") for where in ("", FROM_FIRST)},
}
"""Of the measures; 1 of any other."""
