# SPDX-License-Identifier: BSD-3-Clause
"""What the runs of a schedule were spent on: work that counts, work that was lost, and overhead.

A run begins with its overhead; then comes work, and of work what was done last is lost first. So each run is three
stretches, one behind the other: overhead, useful, lost. ``of_jobs.py`` and ``over_time.py`` take the measures of
stopped jobs from here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import TinyArray, untouched_zeros
from swftools.simulator.metrics.columns import FloatArray, column_of, rows_of
from swftools.simulator.schedule import Schedule, ends_of

BoolArray = npt.NDArray[np.bool_]

STOPS = ("kills", "checkpoint_restarts", "suspensions", "resizes")
"""The measures that count how often jobs are stopped, in the order of ``ENDS``."""


_QUANTITIES = ("start_time", "end_time", "allocated_processors", "overhead", "work", "lost_work")


class Stretches(NamedTuple):
    """The runs of a schedule, by the rows of its segments.

    ``overhead``, ``useful`` and ``lost`` (s) are the three stretches of the run; ``how`` is the place in ``ENDS``.
    """

    start: FloatArray
    end: FloatArray
    processors: FloatArray
    overhead: FloatArray
    useful: FloatArray
    lost: FloatArray
    how: TinyArray

    @property
    def is_stopped(self) -> BoolArray:
        """Which runs ended before the job was done."""
        return (self.how >= 0) & (self.how < len(STOPS))


def were_plain(segments: pd.DataFrame) -> bool:
    """Whether all runs did work that counts, from their beginning to the end of their job: nothing is to be split.

    Raises
    ------
    ParameterError
        The segments lack a column.
    """
    require_columns(segments)
    if any((column_of(segments, name) != 0).any() for name in ("overhead", "lost_work")):
        return False
    how = ends_of(segments)
    return not ((how >= 0) & (how < len(STOPS))).any()


def stretches_of(segments: pd.DataFrame) -> Stretches:
    """Return what the runs of a schedule's segments were spent on.

    Raises
    ------
    ParameterError
        The segments lack a column.
    """
    require_columns(segments)
    start, end, processors, overhead, work, lost_work = (column_of(segments, name) for name in _QUANTITIES)
    share = np.zeros(len(segments))
    np.divide(lost_work, work, out=share, where=work > 0)
    worked = end - start - overhead
    useful = worked * (1.0 - share)
    return Stretches(
        start, end, processors, overhead, useful, np.where(share > 0, worked - useful, 0.0), ends_of(segments)
    )


def require_columns(segments: pd.DataFrame) -> None:
    """Refuse segments that lack columns."""
    if missing := [name for name in (*_QUANTITIES, "ended_by") if name not in segments]:
        raise ParameterError(f"schedule.segments has no columns {', '.join(missing)}")


class Spent(NamedTuple):
    """What each job's runs were spent on.

    ``lost_time`` (s) and ``lost_work``, ``overhead`` and ``useful_work`` (processor-seconds) are of all its runs;
    ``in_vain`` (s) is what its run time has of lost time and overhead; ``stops`` says how often it was stopped, by way.
    """

    lost_time: FloatArray
    lost_work: FloatArray
    overhead: FloatArray
    useful_work: FloatArray
    in_vain: FloatArray
    stops: dict[str, FloatArray]


def spent_by_jobs(schedule: Schedule) -> Spent:
    """Return what each job's runs were spent on.

    Raises
    ------
    ParameterError
        The segments lack a column, or one is of a job that is not there.
    """
    jobs = schedule.jobs
    runs = None if were_plain(schedule.segments) else stretches_of(schedule.segments)
    whole = column_of(jobs, "allocated_processors") * column_of(jobs, "run_time")
    is_odd = np.zeros(0, np.bool_) if runs is None else runs.is_stopped | (runs.overhead > 0) | (runs.lost > 0)
    if runs is None or not is_odd.any():
        zero = untouched_zeros(len(jobs))
        return Spent(zero, zero, zero, whole, zero, dict.fromkeys(STOPS, zero))
    row = rows_of(schedule.segments, jobs)

    def total(values: FloatArray | BoolArray) -> FloatArray:
        """Return the sum of a quantity over the runs of each job."""
        return np.bincount(row, values, minlength=len(jobs)).astype(np.float64)

    is_counted = runs.start >= column_of(jobs, "start_time")[row]
    return Spent(
        total(runs.lost),
        total(runs.lost * runs.processors),
        total(runs.overhead * runs.processors),
        np.where(total(is_odd) > 0, total(runs.useful * runs.processors), whole),
        total((runs.overhead + runs.lost) * is_counted),
        {name: total(runs.how == place) for place, name in enumerate(STOPS)},
    )
