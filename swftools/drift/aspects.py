# SPDX-License-Identifier: BSD-3-Clause
"""The aspects of a workload whose drift is measured: what each takes of a job, by which statistics, up to where.

docs/drift.md tells how often each threshold was passed on logs of the Parallel Workloads Archive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.cleaning.rules import CANCELLED, FAILED
from swftools.drift.registry import CATEGORIES, NUMBERS
from swftools.offered_work import work_of_jobs

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
HOUR = 3_600.0
DAY = 24 * HOUR


class JobColumns(NamedTuple):
    """Columns of jobs as arrays, shape (jobs,): missing are NaN among times and -1 among whole numbers.

    ``width`` is as in ``swftools.trace.JobArrays``.
    """

    submit_time: FloatArray
    run_time: FloatArray
    requested_time: FloatArray
    width: IntArray
    status: IntArray
    user_id: IntArray
    queue_id: IntArray


@dataclass(frozen=True)
class Aspect:
    """One thing about a workload that may drift.

    Parameters
    ----------
    name : str
        By which thresholds name it.
    unit : str
        Of its values.
    meaning : str
        What it is, in words.
    take : callable
        Takes the columns of jobs; returns what each job says of it, missing as in the columns.
    thresholds : mapping
        The statistics that are measured, with the drift beyond which each is told.
    of : {"numbers", "categories"}
        What the values are.
    by_day : bool
        A value is the sum over the jobs submitted on one day (of 24 h, counted back from the end of the window), not
        what one job says.
    over_capacity : bool
        Such a sum is divided by what the machine can do in a day.
    needs_recent : bool
        Too few jobs in the recent window make it missing; else their fewness is what it tells.
    """

    name: str
    unit: str
    meaning: str
    take: Callable[[JobColumns], FloatArray | IntArray]
    thresholds: Mapping[str, float]
    of: str = NUMBERS
    by_day: bool = False
    over_capacity: bool = False
    needs_recent: bool = True


def _positive(values: FloatArray | IntArray) -> FloatArray:
    """Return values above 0; the others are missing."""
    return np.where(values > 0, values, np.nan)


def _accuracy(jobs: JobColumns) -> FloatArray:
    """Return run time / requested time, at most 1: how far users' estimates are from the truth."""
    return np.minimum(jobs.run_time / _positive(jobs.requested_time), 1.0)


def _never_ran(jobs: JobColumns) -> FloatArray:
    """Return 1 for jobs without a run time that failed or were cancelled, else 0; missing for other gaps."""
    left = (jobs.status == FAILED) | (jobs.status == CANCELLED)
    return np.where(np.isnan(jobs.run_time), np.where(left, 1.0, np.nan), 0.0)


def _failed(jobs: JobColumns) -> FloatArray:
    """Return 1 for jobs that ran and failed, 0 for others that ran; missing where they did not, or have no status."""
    known = ~np.isnan(jobs.run_time) & (jobs.status != -1)
    return np.where(known, (jobs.status == FAILED).astype(np.float64), np.nan)


_ASPECTS = (
    Aspect(
        "offered_load",
        "1",
        "work submitted in a day (width x run time) over what the machine can do in it",
        lambda jobs: work_of_jobs(jobs.width, jobs.run_time),
        {"ratio_of_means": 1.25},
        by_day=True,
        over_capacity=True,
    ),
    Aspect(
        "arrivals",
        "jobs a day",
        "jobs submitted in a day",
        lambda jobs: np.ones(len(jobs.submit_time)),
        {"ratio_of_means": 2.0},
        by_day=True,
        needs_recent=False,
    ),
    Aspect(
        "arrival_hours",
        "1",
        "hour of the day (UTC) of the submission",
        lambda jobs: (jobs.submit_time % DAY // HOUR).astype(np.int64),
        {"total_variation": 0.2},
        of=CATEGORIES,
    ),
    Aspect(
        "processors",
        "processors",
        "width of a job",
        lambda jobs: _positive(jobs.width),
        {"kolmogorov_smirnov": 0.25, "ratio_of_means": 2.0},
    ),
    Aspect(
        "run_time",
        "s",
        "run time of a job",
        lambda jobs: jobs.run_time,
        {"kolmogorov_smirnov": 0.2, "ratio_of_means": 2.0},
    ),
    Aspect(
        "requested_time",
        "s",
        "requested time of a job",
        lambda jobs: _positive(jobs.requested_time),
        {"population_stability": 1.0, "ratio_of_means": 1.75},
    ),
    Aspect(
        "request_accuracy",
        "1",
        "run time / requested time of a job, at most 1",
        _accuracy,
        {"difference_of_means": 0.12},
    ),
    Aspect(
        "never_started",
        "1",
        "1 for a job that left the queue without running, else 0",
        _never_ran,
        {"difference_of_means": 0.1},
    ),
    Aspect(
        "failed",
        "1",
        "1 for a job that ran and failed, 0 for another that ran",
        _failed,
        {"difference_of_means": 0.08},
    ),
    Aspect(
        "users",
        "1",
        "user of a job",
        lambda jobs: jobs.user_id,
        {"total_variation": 0.8, "difference_of_largest_shares": 0.2},
        of=CATEGORIES,
    ),
    Aspect(
        "queues",
        "1",
        "queue of a job",
        lambda jobs: jobs.queue_id,
        {"total_variation": 0.45},
        of=CATEGORIES,
    ),
)


def list_drift_aspects() -> dict[str, Aspect]:
    """Return the aspects by name, in the order of the table."""
    return {aspect.name: aspect for aspect in _ASPECTS}


def daily(values: FloatArray, ago: FloatArray, days: int) -> FloatArray:
    """Return the sums of values by day.

    Parameters
    ----------
    values, ago : numpy.ndarray of float64, shape (jobs,)
        What is summed, none missing; and how long before the end of the window the job was submitted, s.
    days : int
        Of the window, in which all jobs are.

    Returns
    -------
    numpy.ndarray of float64, shape (days,)
        The last day first.
    """
    order = np.argsort(values, kind="stable")  # sums are then the same for jobs in any order
    day = np.minimum((ago[order] // DAY).astype(np.int64), days - 1)  # a difference may be rounded up to the end
    return np.bincount(day, values[order], minlength=days).astype(np.float64)
