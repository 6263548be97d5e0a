# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs of a log are scheduled, and Table 3.

Reading chosen
    The jobs with a run time (0 s among them) and allocated processors, on the processors that they were allocated:
    exactly those of Table 3 of CTC, and to 0.12 % of the others. The paper counts loads from the first submission: that
    is second 0 of a log as it was recorded, and later in those that were cleaned of their first jobs. So loads are over
    time from second 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pipelines.papers.paper import Measurements, Run, measured
from swftools.offered_work import span_of, work_of
from swftools.parameters import Parameters
from swftools.trace import Trace

LOGS = {"CTC": "CTC-SP2-1996-3.1-cln", "SDSC-BLUE": "SDSC-BLUE-2000-4.2-cln", "SDSC-DS": "SDSC-DS-2004-2.1-cln"}
"""The logs of the paper, by its names for them."""

OTHER_LOGS = {"KTH-SP2": "KTH-SP2-1996-2.1-cln", "SDSC-SP2": "SDSC-SP2-1998-4.2-cln"}
"""Logs that the paper has not, by short names."""

_SHORT = {log: short for short, log in (LOGS | OTHER_LOGS).items()}


def short_name(log: str) -> str:
    """Return the paper's name for a log, or ours; of any other log its own."""
    return _SHORT.get(log, log)


def is_other(log: str) -> bool:
    """Whether a log stands beside the paper's; one that a user gives takes their place."""
    return log in OTHER_LOGS.values()


def logs_of_paper(found: Measurements) -> list[str]:
    """Return the logs of the paper, or those given in their place."""
    return [log for log in found.logs if not is_other(log)]


def kept_jobs(trace: Trace) -> Trace:
    """Return a trace of the jobs that have a run time and allocated processors."""
    jobs = trace.jobs
    ran = jobs["run_time"].ge(0).fillna(False) & jobs["allocated_processors"].gt(0).fillna(False)
    return trace.with_jobs(jobs[ran.astype(bool)].reset_index(drop=True))


@dataclass(frozen=True)
class PopulationOfPaper(Parameters):
    """Nothing can be chosen."""

    NAME = "population"


def measure_population(
    trace: Trace,
    parameters: PopulationOfPaper,  # noqa: ARG001 (as all experiments)
    seed: int,  # noqa: ARG001 (draws nothing)
) -> pd.DataFrame:
    """Return how many jobs are kept, their loads (%), and their mean width and run time."""
    kept = kept_jobs(trace)
    rows: list[tuple[str, str, str, float | None]] = [("jobs", "", "jobs", float(len(kept)))]
    if len(kept):
        arrays = kept.arrays
        rows += [("jobs", "", "mean parallelism", float(arrays.allocated_processors.mean()))]
        rows += [("jobs", "", "mean run time", float(arrays.run_time.mean()))]
        spans = {"load": float(arrays.submit_time.max()), "load between submissions": span_of(arrays.submit_time)}
        for name, span in spans.items():
            if kept.processors and span > 0:
                rows.append(("jobs", "", name, 100 * work_of(kept) / (kept.processors * span)))
    return measured(rows)


UNITS = {
    "jobs": "jobs",
    "load": "%",
    "load between submissions": "%",
    "mean parallelism": "processors",
    "mean run time": "s",
}

POPULATION = Run("population", PopulationOfPaper())


KEPT = "jobs with a run time and allocated processors"
FROM_ZERO = "over time from second 0 of the log"
BETWEEN = "over time from the first submission"
