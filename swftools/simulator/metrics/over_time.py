# SPDX-License-Identifier: BSD-3-Clause
"""What the machine and the queue hold over time: exact step functions, from the events of a schedule.

Every value changes only where a job is submitted or a run starts or ends, so those instants are all there is to know:
nothing is sampled. ``measure`` takes the measures of the machine from here.

References
----------
Lee 2009, section 1.4 (utilization at a point in time). Yuan et al. 2010, section 5.2.4 (wasted load).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.simulator.metrics.columns import FloatArray, column_of, rows_of
from swftools.simulator.metrics.of_jobs import Where, choose_jobs
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.metrics.step_functions import MachineOverTime
from swftools.simulator.schedule import Schedule

STEP_COLUMNS = {
    "busy_processors": np.int64,
    "lost_processors": np.int64,
    "overhead_processors": np.int64,
    "utilization": np.float64,
    "queue_length": np.int64,
    "queued_processors": np.int64,
    "queued_work": np.float64,
}
"""The step functions, with their types."""

DEMANDS = ("requested_time", "run_time")


def over_time(schedule: Schedule, *, where: Where = None, demand: str = "requested_time") -> pd.DataFrame:
    """Return how many processors and jobs run and wait, from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        Its jobs give the submissions, its segments the runs, also preempted ones.
    where : mask, name or callable, optional
        Only the part of these jobs, as in ``measure``.
    demand : {"requested_time", "run_time"}
        Time by which a waiting job's processors are multiplied in ``queued_work``: what it requests, or what it needs.

    Returns
    -------
    pandas.DataFrame
        One row for each instant at which something happens, with times increasing strictly; a row's values hold from
        its time up to the next one's. The last row is all zero and holds for ever; before the first row all are zero.

        * time: s.
        * busy_processors: processors that run a job.
        * lost_processors: busy processors whose work is lost later, when the run, or one that continues it, is stopped;
          the work done last is lost first.
        * overhead_processors: busy processors that do no work yet, during the restart overhead.
        * utilization: busy_processors / processors of the machine.
        * queue_length: jobs submitted and not running: before their first run, and from a stop to the next run.
        * queued_processors: processors that these jobs need.
        * queued_work: their processors x time, processor-seconds.

        A schedule without jobs has no rows. Nothing is missing.

    Raises
    ------
    ParameterError
        ``where`` does not choose jobs, ``demand`` is another word, or a segment belongs to an unknown job.

    Notes
    -----
    The integral of queue_length is the sum of turnaround times minus the time of all runs (Little's law); without stops
    it is the sum of waits. A run that begins and ends at the same instant does not appear.

    Examples
    --------
    >>> jobs = pd.DataFrame({"job_number": [1, 2], "job_occurrence": [0, 0], "submit_time": [0.0, 2.0],
    ...     "start_time": [0.0, 10.0], "end_time": [10.0, 15.0], "wait_time": [0.0, 8.0], "run_time": [10.0, 5.0],
    ...     "requested_time": [10.0, 6.0], "allocated_processors": [3, 4]})
    >>> segments = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]]
    >>> segments = segments.assign(work=jobs["run_time"], lost_work=0.0, overhead=0.0, ended_by="completed")
    >>> schedule = Schedule(jobs, segments, jobs[:0], 4, "easy")
    >>> over_time(schedule)[["time", "utilization", "queue_length", "queued_work"]].values.tolist()
    [[0.0, 0.75, 0.0, 0.0], [2.0, 0.75, 1.0, 24.0], [10.0, 1.0, 0.0, 0.0], [15.0, 0.0, 0.0, 0.0]]
    """
    if demand not in DEMANDS:
        raise ParameterError(f"over_time: demand={demand!r} is not one of {', '.join(DEMANDS)}")
    chosen = choose_jobs(schedule.jobs, where)
    jobs, segments = schedule.jobs, schedule.segments
    if len(chosen) < len(jobs):
        of_chosen = np.zeros(len(jobs), np.bool_)
        of_chosen[chosen] = True
        segments = segments[of_chosen[rows_of(segments, jobs)]]
        jobs = jobs.iloc[chosen]
    steps = MachineOverTime(jobs, segments, schedule.processors, demand)
    columns = {name: steps.values(name).astype(type_) for name, type_ in STEP_COLUMNS.items()}
    return pd.DataFrame({"time": steps.times, **columns})


def mean_over_time(steps: pd.DataFrame, column: str, window: tuple[float, float] | None = None) -> float | None:
    """Return the mean of a step function over time.

    Parameters
    ----------
    steps : pandas.DataFrame
        As ``over_time`` returns it.
    column : str
        One of its columns.
    window : (float, float), optional
        Begin and end, s; by default from the first to the last event.

    Returns
    -------
    float or None
        Integral divided by length; None if no time passes.

    Raises
    ------
    ParameterError
        There is no such column, or the window does not end after it begins.

    Examples
    --------
    >>> steps = pd.DataFrame({"time": [0.0, 10.0, 30.0], "queue_length": [1, 4, 0]})
    >>> mean_over_time(steps, "queue_length"), mean_over_time(steps, "queue_length", (5.0, 45.0))
    (3.0, 2.125)
    """
    values, times = _function_of(steps, column)
    return mean_of_steps(values, durations_of(times, window))


def max_over_time(steps: pd.DataFrame, column: str, window: tuple[float, float] | None = None) -> float | None:
    """Return the largest value that a step function holds for some time; parameters as in ``mean_over_time``.

    Examples
    --------
    >>> steps = pd.DataFrame({"time": [0.0, 10.0, 30.0], "queue_length": [1, 4, 0]})
    >>> max_over_time(steps, "queue_length"), max_over_time(steps, "queue_length", (0.0, 10.0))
    (4.0, 1.0)
    """
    values, times = _function_of(steps, column)
    return max_of_steps(values, durations_of(times, window))


def _function_of(steps: pd.DataFrame, column: str) -> tuple[FloatArray, FloatArray]:
    """Return the values of a step function and the times from which they hold."""
    if column not in steps or column == "time":
        raise ParameterError(f"no step function {column!r}; there are {', '.join(steps.columns.drop('time'))}")
    return column_of(steps, column), column_of(steps, "time")


def durations_of(times: FloatArray, window: tuple[float, float] | None) -> FloatArray:
    """Return how long a step function is 0 in a window before the first time, and then how long each value holds in it.

    Raises
    ------
    ParameterError
        The window does not end after it begins.
    """
    MetricParameters(window=window)  # checks it
    begin, end = window or ((times[0], times[-1]) if len(times) else (0.0, 0.0))
    edges = np.concatenate(([begin], times, [end]))
    np.clip(edges, begin, end, out=edges)
    return np.diff(edges)


def mean_of_steps(values: FloatArray, durations: FloatArray, *, spends: bool = False) -> float | None:
    """Return the mean of a step function over time; None where no time passes.

    ``spends``: the values are not needed any more, and their memory may be used where it has room for one more.
    """
    length = durations.sum()
    whole = values.base if spends else None
    has_room = isinstance(whole, np.ndarray) and whole.shape == durations.shape
    products: FloatArray = np.asarray(whole) if has_room else np.empty(len(durations))
    products[0] = 0.0 * durations[0]
    np.multiply(values, durations[1:], out=products[1:])
    return float(products.sum() / length) if length > 0 else None


def max_of_steps(values: FloatArray, durations: FloatArray) -> float | None:
    """Return the largest value that a step function holds for some time; None where no time passes."""
    held = durations > 0
    if not held.any():
        return None
    return float(values.max(initial=0.0 if held[0] else -np.inf, where=held[1:]))
